"""Choose how the rows of a frame are counted: in memory, by a group-by, in batches, or binned."""

import importlib.util
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from undercount.count.batches import count_compactly, merge_bare, summary
from undercount.count.binned import count_binned
from undercount.count.grid import Cells
from undercount.count.groups import (
    UNLABELED,
    Columns,
    exact_counts,
    exact_groups,
    plain,
    refuse_bad_rows,
    refuse_long_integers,
    split_by,
)
from undercount.count.kernel.table import Table
from undercount.count.progress import Progress
from undercount.count.queries import (
    CODE,
    NAME,
    ROWS,
    SCORE,
    Arrays,
    Frame,
    collect,
    first_rows,
    told,
)
from undercount.counts import ScoreCounts

# More distinct scores than this are merged where the rows live before anything travels.
EXACT_LIMIT = 2**21
# So many labelled rows fit well into memory.
LABELLED_LIMIT = 2**23
DEFAULT_BINS = 2**16
PROBE_ROWS = 2**16
# A probe with a larger share of distinct scores is taken for a continuous score.
CONTINUOUS_SHARE = 0.5

ByGroup = dict[Hashable, ScoreCounts]
Found = dict[str, ByGroup]


@dataclass(frozen=True)
class Fineness:
    """How finely scores are kept apart."""

    bins: int | None
    compact: bool | None
    knots: tuple[float, ...]
    progress: Progress

    def binned(self, counts: ScoreCounts) -> ScoreCounts:
        """Merge cells into bins if they are wanted."""
        if self.bins is None:
            return counts
        weight = np.stack([counts.positive, counts.negative, counts.unlabeled])[:, ::-1]
        score = counts.score[::-1]
        table = Cells(score, score, weight).fewer(self.bins).table()
        return ScoreCounts._from_table(table, counts.squared_weight)  # noqa: SLF001 - our own

    def merged(self, counts: ScoreCounts) -> ScoreCounts:
        """Merge cells without a labelled row if compact counts are wanted."""
        if not self.compact:
            return counts
        table = Table(
            counts.score, counts.positive, counts.negative, counts.unlabeled, counts.merged
        )
        table = merge_bare(table, self.knots)
        return ScoreCounts._from_table(table, counts.squared_weight)  # noqa: SLF001 - our own


def count_eager(table: nw.DataFrame[Any], columns: Columns, how: Fineness) -> Found:
    """Count rows that are in memory already, by the same code as arrays."""
    parts: dict[Hashable, nw.DataFrame[Any]] = {(): table}
    if columns.by:
        parts = {}
        for key, part in table.group_by(*columns.by):
            values = tuple(plain(value) for value in key)
            parts[values if len(values) > 1 else values[0]] = part
    found: Found = {name: {} for name in columns.scores}
    with how.progress.step(1.0):
        for key, part in parts.items():
            for name in columns.scores:
                found[name][key] = _count_rows(part, columns, name, how)
                how.progress.rows(1, len(parts) * len(columns.scores))
    return found


def _count_rows(part: nw.DataFrame[Any], columns: Columns, name: str, how: Fineness) -> ScoreCounts:
    counts = ScoreCounts.from_rows(
        part[columns.label].to_native(),
        part[name].to_native(),
        unlabeled=columns.unlabeled,
        sample_weight=part[columns.weight].to_native() if columns.weight else None,
        compact=bool(how.compact) and how.bins is None,
        knots=how.knots,
    )
    return how.binned(counts)


def count_lazy(frame: Frame, columns: Columns, how: Fineness) -> Found:
    """Count rows by queries, and let only groups travel."""
    refuse_long_integers(frame, columns)
    frame = told(frame, how.progress)
    if how.bins is not None:
        return _count_binned(frame, columns, how)
    if how.compact is False:
        return _count_exactly(frame, columns, how)
    if not any(_looks_continuous(frame, name) for name in columns.scores):
        # The first rows may deceive; then too many groups come back.
        with how.progress.step(0.99):
            groups = exact_groups(frame, columns, EXACT_LIMIT)
        if len(groups[CODE]) <= EXACT_LIMIT:
            return _exact(frame, columns, how, groups)
    if frame.implementation.is_duckdb() and not columns.by:
        return _count_locally(frame, columns, how)
    if int(collect(frame.select(nw.len().alias(ROWS)))[ROWS][0]) <= EXACT_LIMIT:
        return _count_exactly(frame, columns, how)
    return _count_binned(frame, columns, how)


def _count_locally(frame: Frame, columns: Columns, how: Fineness) -> Found:
    """Count with DuckDB: exactly if it can be afforded, compactly if labels are few, or binned."""
    rows, labelled, distinct = 0.0, 0.0, 0.0
    with how.progress.step(0.15):
        found = summary(frame, columns)
    for name, (groups, scores) in found.items():
        refuse_bad_rows(frame, columns, groups, name)
        rows, distinct = float(groups[ROWS].sum()), max(distinct, scores)
        labelled = float(groups[ROWS][groups[CODE] != UNLABELED].sum())
    if min(distinct, rows) <= EXACT_LIMIT:
        return _count_exactly(frame, columns, how)
    if labelled <= LABELLED_LIMIT:
        if importlib.util.find_spec("pyarrow") is None:
            # Batches travel as Arrow; without it DuckDB sorts everything out, on disk if it must.
            return _count_exactly(frame, columns, replace(how, compact=True))
        tables = count_compactly(frame, columns, int(rows), how.knots, how.progress)
        return {name: {(): counts} for name, counts in tables.items()}
    return _count_binned(frame, columns, how)


def _count_binned(frame: Frame, columns: Columns, how: Fineness) -> Found:
    return count_binned(frame, columns, how.bins or DEFAULT_BINS, how.progress)


def _count_exactly(frame: Frame, columns: Columns, how: Fineness) -> Found:
    """Count at every distinct score."""
    with how.progress.step(1.0):
        groups = exact_groups(frame, columns)
    return _exact(frame, columns, how, groups)


def _exact(frame: Frame, columns: Columns, how: Fineness, groups: Arrays) -> Found:
    found: Found = {}
    for name, part in _split_names(groups, columns).items():
        refuse_bad_rows(frame, columns, part, name)
        parts = split_by(part, columns.by) if columns.by else {(): part}
        found[name] = {key: how.merged(exact_counts(arrays)) for key, arrays in parts.items()}
    return found


def _looks_continuous(frame: Frame, name: str) -> bool:
    """Tell from the first rows whether there may be too many distinct scores."""
    head = first_rows(frame.select(nw.col(name).cast(nw.Float64)), PROBE_ROWS)[name]
    return len(head) == PROBE_ROWS and len(np.unique(head)) > CONTINUOUS_SHARE * PROBE_ROWS


def _split_names(groups: Arrays, columns: Columns) -> dict[str, Arrays]:
    if len(columns.scores) == 1:
        groups[SCORE] = groups.pop(f"{SCORE}0")
        return {columns.scores[0]: groups}
    found = {}
    for place, name in enumerate(columns.scores):
        mine = groups[NAME] == f"{SCORE}{place}"
        found[name] = {key: values[mine] for key, values in groups.items() if key != NAME}
    return found
