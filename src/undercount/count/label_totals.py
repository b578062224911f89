"""How many rows of each label a table of a database has, and whether it has them still.

A query with random(), or a table somebody writes to, gives other rows each time it is run, and
counting runs it more than once.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from undercount.count.arrays import is_missing, row_words
from undercount.count.groups import is_nan
from undercount.count.queries import ROWS, SCORE, Frame, collect
from undercount.errors import InputError

SCORED = "undercount_scored"
# Beyond, scores are left out of their sum, which must stay finite.
LARGEST_SUMMED_SCORE = 1e100
# Engines add up in any order.
ROUNDING = 1e-9


class LabelTotals(NamedTuple):
    """Hold the number of rows, and of each label the rows that have every score, and their sums."""

    rows: int
    scored: dict[Any, int]
    sums: dict[Any, list[float]]

    def check_any_rows(self, scores: Sequence[str], place: str) -> None:
        """Raise if there are no rows, or none that has every score."""
        if self.rows == 0:
            raise InputError(f"{place} has no rows")
        if not self.scored:
            columns = " and ".join(f"column {name!r}" for name in scores)
            raise InputError(f"no row of {place} has a score in {columns}; name another --score")

    def check_unchanged(self, later: "LabelTotals", place: str) -> None:
        """Raise unless the rows are still those that they were."""
        if self.rows != later.rows or sum(self.scored.values()) != sum(later.scored.values()):
            raise other_rows(place, self.rows, later.rows)
        before, after = _by_label(self.scored), _by_label(later.scored)
        sums, again = _by_label(self.sums), _by_label(later.sums)
        if before != after or any(not _alike(sums[label], again[label]) for label in before):
            raise other_rows(place)


def other_rows(place: str, before: float | None = None, after: float | None = None) -> InputError:
    """Say that a table gave other rows when it was read again."""
    numbers = ""
    if before is not None and after is not None and before != after:
        numbers = f": {row_words(before)} at first, {row_words(after)} later"
    return InputError(
        f"{place} gave other rows when it was read again{numbers}. Does it draw them at random, "
        "take some without an order, or does somebody write to it? Keep its rows first, by "
        "CREATE TABLE … AS, and count that table"
    )


def keep_scored(frame: Frame, scores: Sequence[str]) -> Frame:
    """Leave out the rows that lack a score."""
    return frame.filter(*(_is_there(name) for name in scores))


def total_labels(frame: Frame, label: str, scores: Sequence[str]) -> LabelTotals:
    """Count the rows of each label, those with every score, and sum the scores, in one query."""
    scored = _is_there(scores[0])
    for name in scores[1:]:
        scored = scored & _is_there(name)
    sizes = []
    for number, name in enumerate(scores):
        score = nw.col(name).cast(nw.Float64)
        finite = (score > -LARGEST_SUMMED_SCORE) & (score < LARGEST_SUMMED_SCORE)
        sizes.append(nw.when(finite).then(score).abs().alias(f"{SCORE}{number}"))
    marked = nw.when(scored).then(nw.lit(1)).otherwise(nw.lit(0)).alias(SCORED)
    names = [SCORED, *(f"{SCORE}{number}" for number in range(len(scores)))]
    table = frame.select(label, marked, *sizes).group_by(label)
    totals = collect(table.agg(nw.len().alias(ROWS), *(nw.col(name).sum() for name in names)))
    rows, labels = int(sum(totals[ROWS].tolist())), totals[label].tolist()
    pairs = zip(labels, totals[SCORED].tolist(), strict=True)
    rows_by_label = {value: int(number) for value, number in pairs if number > 0}
    sums = zip(*(totals[name].tolist() for name in names[1:]), strict=True)
    return LabelTotals(rows, rows_by_label, dict(zip(labels, map(list, sums), strict=True)))


def _is_there(name: str) -> nw.Expr:
    return ~(nw.col(name).is_null() | is_nan(nw.col(name)))


def _by_label(found: Mapping[Any, Any]) -> dict[Any, Any]:
    """Name what is missing by one name; it may be so in two ways, which add up."""
    grouped: dict[Any, Any] = {}
    for label, value in found.items():
        name = None if is_missing(label) else label
        grouped[name] = grouped[name] + value if name in grouped else value
    return grouped


def _alike(sums: Sequence[Any], again: Sequence[Any]) -> bool:
    """Tell whether sums are the same but for rounding; of no rows there is none."""
    own, other = (
        [0.0 if is_missing(total) else float(total) for total in some] for some in (sums, again)
    )
    return len(own) == len(other) and bool(np.allclose(own, other, rtol=ROUNDING, atol=0.0))
