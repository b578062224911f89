"""Count rows segment by segment."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from undercount.count.columns import is_eager, take_columns
from undercount.count.frames import count_scores
from undercount.count.kernel.array_library import is_tensor
from undercount.counts import ScoreCounts
from undercount.errors import InputError, named, read_threshold
from undercount.read.counted_model import CountedModel, RecountableRows, count_column, count_model
from undercount.read.segments import (
    sort_segments,
    split_rows,
)


@dataclass(frozen=True)
class SegmentModels:
    """Hold the counts of all rows, of each segment, and what the segments are called."""

    overall: CountedModel
    parts: dict[Hashable, CountedModel]
    column: str


@dataclass(frozen=True)
class SegmentedRows:
    """Hold rows that are to be counted segment by segment, or counts of segments."""

    y: Any
    score: Any
    label: str | None
    unlabeled: float | None
    weight: Any

    def count(self, by: Any, threshold: float | None, *, compact: bool) -> SegmentModels:
        """Count all rows and those of each segment."""
        if isinstance(self.y, Mapping):
            return self._take_counts(by, threshold)
        if self.label is None:
            model = count_model(
                self.y, self.score, self.unlabeled, self.weight, threshold, compact=compact
            )
            return _split_model(model, by, "segment")
        columns = [by] if isinstance(by, str) else by
        model = count_column(
            self.y, self.label, self.score, self.unlabeled, self.weight, threshold, compact=compact
        )
        if not is_eager(self.y):
            return self._count_where_they_are(model, columns, compact=compact)
        found = [np.asarray(values) for values in take_columns(self.y, columns).values()]
        return _split_model(model, found[0] if len(found) == 1 else found, ", ".join(columns))

    def _count_where_they_are(
        self, overall: CountedModel, columns: list[str], *, compact: bool
    ) -> SegmentModels:
        """Count the rows of a frame elsewhere, which only small tables leave."""
        counted: Any = count_scores(
            self.y,
            label=str(self.label),
            score=self.score,
            weight=self.weight,
            unlabeled=self.unlabeled,
            by=columns,
            compact=True if compact else None,
            knots=() if overall.threshold is None else (overall.threshold,),
        )
        keys = {key[0] if isinstance(key, tuple) and len(key) == 1 else key: key for key in counted}
        parts = {
            key: CountedModel(counted[keys[key]], overall.threshold)
            for key in sort_segments([*keys])
        }
        return SegmentModels(overall, parts, ", ".join(columns))

    def _take_counts(self, by: Any, threshold: float | None) -> SegmentModels:
        """Take a mapping of segment → counts."""
        found = dict(self.y)
        if not found or not all(isinstance(each, ScoreCounts) for each in found.values()):
            raise InputError(
                "a mapping must hold counts of one score by segment, as count_scores(…, by=…) "
                f"makes them; got {_describe_values(found)}",
                hint="of several scores evaluate each by itself: evaluate(counted['score'])",
            )
        cut = None if threshold is None else read_threshold(threshold)
        whole = sum(list(found.values())[1:], next(iter(found.values())))
        parts = {key: CountedModel(found[key], cut) for key in sort_segments(list(found))}
        column = by if isinstance(by, str) else "segment"
        return SegmentModels(CountedModel(whole, cut), parts, column)


def _describe_values(found: Mapping[Any, Any]) -> str:
    kinds = sorted({type(each).__name__ for each in found.values()})
    return f"values of {', '.join(kinds)}" if kinds else "none"


def _split_model(model: CountedModel, by: Any, column: str) -> SegmentModels:
    """Count the rows of each segment, which the model holds."""
    rows = model.recount
    if not isinstance(rows, RecountableRows) or is_tensor(rows.scores):
        raise InputError(f"{named('by')} needs the rows themselves, in memory", argument="by")
    parts = {}
    for key, place in split_rows(by, len(rows.scores)).items():
        weights = None if rows.weights is None else rows.weights[place]
        some = replace(rows, labels=rows.labels[place], scores=rows.scores[place], weights=weights)
        parts[key] = CountedModel(some([]), model.threshold, some, model.backend)
    return SegmentModels(model, parts, column)
