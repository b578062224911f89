"""Count the rows of a model, and say how they fall into segments."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from undercount.assume.base import Assumption
from undercount.count.columns import is_eager, take_columns
from undercount.count.frames import count_scores
from undercount.count.keys import read_keys
from undercount.count.knots import knots_at
from undercount.count.label_totals import other_rows
from undercount.counts import ScoreCounts
from undercount.errors import InputError, named, read_threshold
from undercount.infer.scored_rows import (
    ScoredRows,
    count_column,
    count_model,
    keep_apart,
    take_column,
)
from undercount.infer.segment_tables import frequency_edges
from undercount.infer.segmented_rows import CountedSegmentation, RowSegmentation, Segmentation


@dataclass(frozen=True)
class SegmentedRows:
    """Hold rows that are to be counted segment by segment, or counts of segments."""

    y: Any
    score: Any
    label: str | None
    unlabeled: float | None
    weight: Any
    cluster: Any
    assumption: Assumption
    name: str

    def count(
        self, by: Any, threshold: float | None, further: tuple[float, ...] = (), *, compact: bool
    ) -> tuple[ScoredRows, Segmentation]:
        """Count all rows, and say how they fall into segments; `further` are other thresholds."""
        if isinstance(self.y, Mapping):
            self._check_no_clusters()
            return self._take_counts(by, threshold)
        knots_of = keep_apart(self.assumption.knots, further)
        place = self.unlabeled, self.weight, threshold, knots_of
        if self.label is None:
            model = count_model(self.y, self.score, *place, compact=compact)
            return model.with_clusters(self.cluster), RowSegmentation(by)
        model = count_column(self.y, self.label, self.score, *place, compact=compact)
        columns = [by] if isinstance(by, str) else by
        if not is_eager(self.y):
            self._check_no_clusters()
            knots = [*knots_of(None), *knots_at(threshold), *frequency_edges(model.counts)]
            return model, self._count_where_they_are(model, columns, knots, compact=compact)
        cluster = take_column(self.y, "cluster", self.cluster)
        return model.with_clusters(cluster), segment_columns(self.y, columns)

    def _check_no_clusters(self) -> None:
        if self.cluster is not None:
            raise InputError(
                f"{named('cluster')} with {named('by')} needs the rows themselves: counts of "
                "segments do not say which rows belong together. Pass arrays, or a frame in memory",
                argument="cluster",
            )

    def _count_where_they_are(
        self, overall: ScoredRows, columns: list[str], knots: list[float], *, compact: bool
    ) -> Segmentation:
        """Count the rows of a frame elsewhere, which only small tables leave."""
        counted: Any = count_scores(
            self.y,
            label=str(self.label),
            score=self.score,
            weight=self.weight,
            unlabeled=self.unlabeled,
            by=columns,
            compact=True if compact else None,
            knots=knots,
        )
        segments = sum(counts.n_rows for counts in counted.values())
        if not math.isclose(segments, overall.counts.n_rows, rel_tol=1e-9):
            raise other_rows("the frame", overall.counts.n_rows, segments)
        alone = [key[0] if isinstance(key, tuple) and len(key) == 1 else key for key in counted]
        parts = dict(zip(alone, counted.values(), strict=True))
        return CountedSegmentation({self.name: parts}, ", ".join(columns))

    def _take_counts(self, by: Any, threshold: float | None) -> tuple[ScoredRows, Segmentation]:
        """Take a mapping of segment → counts."""
        parts = dict(self.y)
        if not parts or not all(isinstance(counts, ScoreCounts) for counts in parts.values()):
            raise InputError(
                "a mapping must hold counts of one score by segment, as count_scores(…, by=…) "
                f"makes them; got {_describe_values(parts)}",
                hint="of several scores evaluate each by itself: evaluate(counted['score'])",
            )
        cut = None if threshold is None else read_threshold(threshold)
        whole = sum(list(parts.values())[1:], next(iter(parts.values())))
        column = by if isinstance(by, str) else "segment"
        return ScoredRows(whole, cut), CountedSegmentation({self.name: parts}, column)


def segment_columns(frame: Any, columns: list[str]) -> RowSegmentation:
    """Take the columns of segments out of a frame in memory."""
    values = [read_keys(column, "by") for column in take_columns(frame, columns).values()]
    return RowSegmentation(values[0] if len(values) == 1 else values, ", ".join(columns))


def _describe_values(parts: Mapping[Any, Any]) -> str:
    kinds = sorted({type(value).__name__ for value in parts.values()})
    return f"values of {', '.join(kinds)}" if kinds else "none"
