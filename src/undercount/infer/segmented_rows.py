"""Split the rows of a model by segment: rows that are here, or counts of each segment."""

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import is_missing
from undercount.count.kernel.array_library import is_tensor
from undercount.count.keys import read_keys, split_places
from undercount.counts import ScoreCounts
from undercount.errors import InputError, named
from undercount.infer.clusters import ClusterRows, Codes
from undercount.infer.scored_rows import RecountableRows, ScoredRows

Places = NDArray[np.intp]
# Labels from which a segment's own share is estimated, and its interval is known to hold.
FEWEST_LABELS = 20


class SegmentPart(NamedTuple):
    """Hold the rows of one segment, and which of all rows they are; None of counts."""

    rows: ScoredRows
    place: Places | None = None


class Segmentation(ABC):
    """How rows fall into segments; `column` is what the segments are called together."""

    column: str

    @abstractmethod
    def split(
        self, name: str, model: ScoredRows, usable: NDArray[np.bool_] | None = None
    ) -> dict[Hashable, SegmentPart]:
        """Return the rows of each segment of a model.

        `usable` says which of the rows that were given the model holds; None: all.
        """


@dataclass(frozen=True, eq=False)
class RowSegmentation(Segmentation):
    """Rows that are here, with one value for each row, or several columns of them."""

    by: Any
    column: str = "segment"

    @cached_property
    def _places(self) -> dict[int, dict[Hashable, Places]]:
        return {}

    def split(
        self, name: str, model: ScoredRows, usable: NDArray[np.bool_] | None = None
    ) -> dict[Hashable, SegmentPart]:
        """Count the rows of each segment, each with its own clusters."""
        del name
        rows = model.recount
        if not isinstance(rows, RecountableRows) or is_tensor(rows.scores):
            raise InputError(f"{named('by')} needs the rows themselves, in memory", argument="by")
        codes = None
        if model.clusters is not None:
            codes = cast("Codes", cast("ClusterRows", model.clusters).by_row)
        places = self._places_of(len(rows.scores) if usable is None else len(usable), usable)
        return {
            key: SegmentPart(_take_rows(model, rows, place, codes), place)
            for key, place in places.items()
        }

    def _places_of(self, n_rows: int, usable: NDArray[np.bool_] | None) -> dict[Hashable, Places]:
        """Return the rows of each segment among those that count; `by` names one for every row."""
        if n_rows not in self._places:  # models on the same rows are split once
            self._places[n_rows] = split_rows(self.by, n_rows)
        places = self._places[n_rows]
        if usable is None:
            return places
        new_place = np.cumsum(usable) - 1
        return {key: new_place[place[usable[place]]] for key, place in places.items()}


def _take_rows(
    model: ScoredRows, rows: RecountableRows, place: Places, codes: Codes | None
) -> ScoredRows:
    """Count some of the rows."""
    if not place.size:  # all rows of the segment are too recent: its line says so
        return ScoredRows(ScoreCounts.from_counts([], [], [], []), model.threshold)
    weights = None if rows.weights is None else rows.weights[place]
    some = replace(rows, labels=rows.labels[place], scores=rows.scores[place], weights=weights)
    part = ScoredRows(some([]), model.threshold, some, model.backend)
    return part if codes is None else part.with_clusters(codes[place])


@dataclass(frozen=True, eq=False)
class CountedSegmentation(Segmentation):
    """Counts of each segment, by the name of the model."""

    counts: Mapping[str, Mapping[Any, ScoreCounts]]
    column: str = "segment"

    def split(
        self,
        name: str,
        model: ScoredRows,
        usable: NDArray[np.bool_] | None = None,  # noqa: ARG002 - counts leave no row out
    ) -> dict[Hashable, SegmentPart]:
        """Call counted segments as those of rows are called; two kinds of missing are one."""
        counted = self.counts[name]
        parts: dict[Hashable, ScoreCounts] = {}
        for key, counts in zip(name_segments(list(counted)), counted.values(), strict=True):
            parts[key] = parts[key] + counts if key in parts else counts
        return {
            key: SegmentPart(ScoredRows.of_counts(parts[key], model.threshold))
            for key in sort_segments(list(parts))
        }


def split_rows(by: Any, n_rows: int) -> dict[Hashable, Places]:
    """Return the rows of each segment, in the order of the segments.

    `by` is one value a row; every kind of missing is one segment, None.

    Examples
    --------
    >>> from undercount.infer.segmented_rows import split_rows
    >>> {key: rows.tolist() for key, rows in split_rows(["b", "a", None, "b"], 4).items()}
    {'a': [1], 'b': [0, 3], None: [2]}
    """
    columns = by if isinstance(by, list) and by and isinstance(by[0], np.ndarray) else [by]
    keys = [read_keys(column, "by") for column in columns]
    for column in keys:
        if column.ndim != 1:
            raise InputError(
                f"{named('by')} must hold one value a row; got shape {column.shape}", argument="by"
            )
        if len(column) != n_rows:
            raise InputError(
                f"{named('by')} must hold one value a row; got {len(column):,} for {n_rows:,} rows",
                argument="by",
            )
    parts = split_places(keys, name_segments, "by")
    return {key: parts[key] for key in sort_segments(list(parts))}


def name_segments(values: Sequence[Any]) -> list[Hashable]:
    """Return values as segments are called: all that is missing None, midnights dates.

    Of several columns each has its own names.

    Examples
    --------
    >>> import datetime as dt
    >>> from undercount.infer.segmented_rows import name_segments
    >>> name_segments([("a", float("nan")), ("b", dt.datetime(2024, 3, 1))])
    [('a', None), ('b', datetime.date(2024, 3, 1))]
    """
    if values and all(isinstance(value, tuple) for value in values):
        return list(zip(*map(name_segments, zip(*values, strict=True)), strict=True))
    return _without_midnight([_plain(value) for value in values])


def _plain(value: Any) -> Hashable:
    """Return a value as Python has it, and None for what is missing."""
    if is_missing(value):
        return None
    kept = isinstance(value, str | int | float | dt.date | tuple)
    name: Hashable = value if kept else str(value)
    return name


def _without_midnight(values: list[Hashable]) -> list[Hashable]:
    """Turn times into dates if all of them are at midnight."""
    times = [value for value in values if isinstance(value, dt.datetime)]
    if any(time.time() != dt.time() for time in times):
        return values
    return [value.date() if isinstance(value, dt.datetime) else value for value in values]


def sort_segments(segments: Sequence[Hashable]) -> list[Hashable]:
    """Sort segments as their values do, text that cannot be compared by its words, None last."""
    named_ones: list[Any] = [segment for segment in segments if segment is not None]
    try:
        named_ones = sorted(named_ones)
    except TypeError:
        named_ones = sorted(named_ones, key=str)
    return named_ones + [None] * (len(segments) - len(named_ones))


def why_not(counts: ScoreCounts) -> str:
    """Say why a segment cannot be evaluated at all; empty if it can."""
    if counts.n_rows == 0:
        return "all of its rows are too recent: their labels have had no time to arrive"
    if counts.n_positive == 0:
        return "no row is labelled positive: neither recall nor what follows from it is known"
    if counts.n_unlabeled == 0:
        return "no row is unlabeled: nothing is hidden, and its labels speak for themselves"
    return ""
