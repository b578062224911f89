"""Count rows segment by segment."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import Assumption, Recovery, Unknowns, Wanted
from undercount.assume.builder import assumption_of, shares_of
from undercount.assume.random_labels.recovery import RandomLabelsRecovery
from undercount.count.columns import is_eager, take_columns
from undercount.count.frames import count_scores
from undercount.count.kernel.array_library import is_tensor
from undercount.count.kernel.rows import POSITIVE, UNLABELED
from undercount.count.keys import read_keys
from undercount.count.knots import knots_at
from undercount.count.label_totals import other_rows
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import MISSING_DATA, InputError, named, read_threshold
from undercount.estimate import Estimate
from undercount.infer.clusters import read_clusters
from undercount.infer.scored_rows import (
    RecountableRows,
    ScoredRows,
    count_column,
    count_model,
    take_column,
)
from undercount.read.one_label_frequency import frequency_edges, keeps_apart, tabulate
from undercount.read.segments import name_segments, sort_segments, split_rows, why_not
from undercount.shares import Sampling


@dataclass(frozen=True)
class SegmentModels:
    """Hold the counts of all rows, of each segment, and what the segments are called."""

    overall: ScoredRows
    parts: dict[Hashable, ScoredRows]
    column: str
    places: Mapping[Hashable, NDArray[np.intp]] = field(default_factory=dict)  # rows, if kept
    recovery: Recovery | None = None  # of all rows, if chances tell the share
    assumption: Assumption = field(default_factory=lambda: assumption_of({}))

    @property
    def shares(self) -> dict[str, Any]:
        """What is said of shares, by argument."""
        return shares_of(self.assumption) or {}

    def recover(self, segment: Hashable, find: Callable[[], Unknowns], wanted: Wanted) -> Recovery:
        """Return the recovery of one segment, with what is found of its share."""
        part, target = self.parts[segment], wanted.target or "dataset"
        if self.recovery is None:
            return RandomLabelsRecovery(part, find(), target, wanted.confidence_level)
        own = self.recovery.take(part, self.places[segment], target)
        return replace(own, unknowns=find())

    def shares_by_chances(self) -> dict[Hashable, Estimate]:
        """Return the shares that chances tell; a segment whose labels stand for too many has none.

        It is refused, and says so, when it is evaluated.
        """
        found = {}
        for segment, part in self.parts.items():
            if self.recovery is None or why_not(part.counts):
                continue
            try:
                own = self.recovery.take(part, self.places[segment], "dataset")
            except InputError:
                continue
            found[segment] = own.share
        return found

    def counts_for_shares(self, sampling: Sampling) -> dict[Hashable, ScoreCounts]:
        """Return the counts of each segment with effective sizes of independent rows."""
        return {
            key: model.counts if why_not(model.counts) else model.counts_for_share(sampling)
            for key, model in self.parts.items()
        }

    def tables_at(self, edges: FloatArray) -> dict[Hashable, FloatArray]:
        """Return each segment's labelled and unlabeled rows between edges; nothing if unknown."""
        found = {}
        for key, model in self.parts.items():
            rows, counts = model.recount, model.counts
            if isinstance(rows, RecountableRows):  # already read: 1 positive, -1 unlabeled
                weights = 1.0 if rows.weights is None else rows.weights
                kinds = [(rows.labels == kind) * weights for kind in (POSITIVE, UNLABELED)]
                found[key] = tabulate(edges, rows.scores, *kinds)
            elif not keeps_apart(counts, edges):
                return {}
            else:
                found[key] = tabulate(edges, counts.score, counts.positive, counts.unlabeled)
        return found


@dataclass(frozen=True)
class SegmentedRows:
    """Hold rows that are to be counted segment by segment, or counts of segments."""

    y: Any
    score: Any
    label: str | None
    unlabeled: float | None
    weight: Any
    cluster: Any = None
    assumption: Assumption = field(default_factory=lambda: assumption_of({}))

    def count(
        self, by: Any, threshold: float | None, wanted: Wanted, *, compact: bool
    ) -> SegmentModels:
        """Count all rows and those of each segment."""
        if isinstance(self.y, Mapping):
            self._refuse_rows()
            return replace(self._take_counts(by, threshold), assumption=self.assumption)
        if self.label is None:
            model = count_model(
                self.y, self.score, self.unlabeled, self.weight, threshold, compact=compact
            )
            return split_rows_of(model, self.assumption, wanted, by, "segment", self.cluster)
        columns = [by] if isinstance(by, str) else by
        model = count_column(
            self.y, self.label, self.score, self.unlabeled, self.weight, threshold, compact=compact
        )
        if not is_eager(self.y):
            self._refuse_rows()
            counted = self._count_where_they_are(model, columns, compact=compact)
            return replace(counted, assumption=self.assumption)
        found = [read_keys(values, "by") for values in take_columns(self.y, columns).values()]
        whose = take_column(self.y, "cluster", self.cluster)
        values = found[0] if len(found) == 1 else found
        return split_rows_of(model, self.assumption, wanted, values, ", ".join(columns), whose)

    def _refuse_rows(self) -> None:
        whose = {"cluster": self.cluster, **self.assumption.columns}
        if self.assumption.by_segment == "rows" and not self.assumption.columns:
            raise InputError(
                f"verdicts with {named('by')} need the rows themselves: counts of segments do not "
                "say which of their rows were looked at. Pass arrays, or a frame in memory",
                code=MISSING_DATA,
                argument="by",
            )
        for argument, what in (
            ("cluster", "which rows belong together"),
            ("propensity", "which chance a row had"),
        ):
            if whose.get(argument) is not None:
                raise InputError(
                    f"{named(argument)} with {named('by')} needs the rows themselves: counts of "
                    f"segments do not say {what}. Pass arrays, or a frame in memory",
                    argument=argument,
                )

    def _count_where_they_are(
        self, overall: ScoredRows, columns: list[str], *, compact: bool
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
            knots=(
                *knots_at(overall.threshold),
                *frequency_edges(overall.counts),
            ),
        )
        segments = sum(each.n_rows for each in counted.values())
        if not math.isclose(segments, overall.counts.n_rows, rel_tol=1e-9):
            raise other_rows("the frame", overall.counts.n_rows, segments)
        alone = [key[0] if isinstance(key, tuple) and len(key) == 1 else key for key in counted]
        found = dict(zip(alone, counted.values(), strict=True))
        return SegmentModels(overall, name_parts(found, overall.threshold), ", ".join(columns))

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
        parts = name_parts(found, cut)
        column = by if isinstance(by, str) else "segment"
        return SegmentModels(ScoredRows(whole, cut), parts, column)


def name_parts(
    counted: Mapping[Any, ScoreCounts], threshold: float | None
) -> dict[Hashable, ScoredRows]:
    """Call counted segments as those of rows are called; one by two kinds of missing is one."""
    parts: dict[Hashable, ScoreCounts] = {}
    for name, counts in zip(name_segments(list(counted)), counted.values(), strict=True):
        parts[name] = parts[name] + counts if name in parts else counts
    return {name: ScoredRows(parts[name], threshold) for name in sort_segments(list(parts))}


def _describe_values(found: Mapping[Any, Any]) -> str:
    kinds = sorted({type(each).__name__ for each in found.values()})
    return f"values of {', '.join(kinds)}" if kinds else "none"


def split_rows_of(
    model: ScoredRows,
    assumption: Assumption,
    wanted: Wanted,
    by: Any,
    column: str,
    cluster: Any = None,
) -> SegmentModels:
    """Split rows by segment, with the part that each has in chances of a label, if there are any.

    Only rows that count are split, which chances may leave some out of.
    """
    if assumption.by_segment != "rows":
        return replace(split_model(model, by, column, cluster), assumption=assumption)
    whole = model if cluster is None else model.with_clusters(cluster)
    assumption.check_rows(whole)
    (recovery,) = assumption.recover({"": whole}, wanted).values()
    found = split_model(recovery.used, by, column, cluster, recovery.usable)
    return replace(found, recovery=recovery, assumption=assumption)


def split_model(
    model: ScoredRows,
    by: Any,
    column: str,
    cluster: Any = None,
    usable: NDArray[np.bool_] | None = None,
) -> SegmentModels:
    """Count the rows of each segment, which the model holds, each with its own clusters."""
    rows = model.recount
    if not isinstance(rows, RecountableRows) or is_tensor(rows.scores):
        raise InputError(f"{named('by')} needs the rows themselves, in memory", argument="by")
    parts, codes = {}, None
    if cluster is not None:
        codes = read_clusters(cluster, len(rows.scores) if usable is None else len(usable))
        codes = codes if usable is None else codes[usable]
    places = _split_usable(by, rows, usable)
    for key, place in places.items():
        if not place.size:  # all of its rows are too recent: its line says so
            parts[key] = ScoredRows(ScoreCounts.from_counts([], [], [], []), model.threshold)
            continue
        weights = None if rows.weights is None else rows.weights[place]
        some = replace(rows, labels=rows.labels[place], scores=rows.scores[place], weights=weights)
        part = ScoredRows(some([]), model.threshold, some, model.backend)
        parts[key] = part if codes is None else part.with_clusters(codes[place])
    return SegmentModels(model.with_clusters(codes), parts, column, places)


def _split_usable(
    by: Any, rows: RecountableRows, usable: NDArray[np.bool_] | None
) -> dict[Hashable, NDArray[np.intp]]:
    """Return the rows of each segment among those that the model holds.

    Dates of labels leave out the rows that are too recent, while `by` names a segment for every
    row.
    """
    if usable is None:
        return split_rows(by, len(rows.scores))
    new_place = np.cumsum(usable) - 1
    return {
        key: new_place[place[usable[place]]] for key, place in split_rows(by, len(usable)).items()
    }
