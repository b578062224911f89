"""Random labels applied to segments: shares that are given, shared out, or estimated and pooled."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from undercount.assume.base import Recovery, ReportOptions, Unknowns
from undercount.assume.random_labels.recovery import RandomLabelsRecovery
from undercount.assume.random_labels.segments.estimated import EstimatedShares
from undercount.assume.random_labels.segments.given import PARTS, GivenShares, name_of_mapping
from undercount.assume.random_labels.segments.line_table import LineTable
from undercount.assume.random_labels.segments.shared_out import KnownShare, SharedOutShares
from undercount.assume.random_labels.segments.shares import SegmentShares
from undercount.assume.segments import (
    PooledShares,
    SegmentDoubt,
    SegmentLine,
    SegmentRecoveries,
    share_of,
)
from undercount.counts import ScoreCounts
from undercount.errors import Check, InputError, collect_warnings
from undercount.infer.metric_name import MetricName, parse_metric
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.segmented_rows import SegmentPart, why_not

if TYPE_CHECKING:
    from undercount.assume.random_labels.assumption import RandomLabels


@dataclass(frozen=True, eq=False)
class OneSegment(SegmentRecoveries):
    """One segment, which is all rows: nothing is shared."""

    def recover(self, segment: Hashable, target: Target) -> dict[str, Recovery]:  # noqa: ARG002
        """Return the recoveries of all rows."""
        return {name: replace(recovery, target=target) for name, recovery in self.whole.items()}


@dataclass(frozen=True, eq=False)
class RandomLabelsSegments(SegmentRecoveries):
    """Segments whose labels are a random sample of their positives, with a share each.

    Attributes
    ----------
    shares : SegmentShares
        How the share of any segment is found.
    """

    shares: SegmentShares

    @classmethod
    def of(
        cls,
        labels: "RandomLabels",
        whole: Mapping[str, Recovery],
        parts: Mapping[str, Mapping[Hashable, SegmentPart]],
        wanted: ReportOptions,
    ) -> SegmentRecoveries:
        """Find how the share of any segment is found, by what is known of all rows."""
        if len(next(iter(parts.values()))) == 1:
            return OneSegment(whole, parts)
        target = next(iter(whole.values())).target
        rows = {name: {k: part.rows for k, part in each.items()} for name, each in parts.items()}
        shares = find_segment_shares(labels, whole, rows, wanted._replace(target=target))
        return cls(whole, parts, shares)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Whether segments are labelled alike, as far as that is asked."""
        return self.shares.checks

    @property
    def pooled(self) -> PooledShares | None:
        """The shares of segments as they were pooled, if they were estimated."""
        return self.shares.pooled

    @property
    def shared_out(self) -> bool:
        """Whether a share of all rows was shared out among the segments."""
        return isinstance(self.shares, SharedOutShares)

    @property
    def unlike_labels(self) -> bool:
        """Whether the scores contradict the one label frequency by which shares are known."""
        return self.shares.unlike

    def doubt(self, segment: Hashable) -> SegmentDoubt:
        """Say what the share of a segment rests on."""
        return self.shares.doubt(segment)

    def recover(self, segment: Hashable, target: Target) -> dict[str, Recovery]:
        """Return the recovery of one segment under each model, which have one share."""
        level, known = self.shares.wanted.confidence_level, self.shares.find(segment)
        return {
            name: RandomLabelsRecovery(parts[segment].rows, known[name], target, level)
            for name, parts in self.parts.items()
        }

    def lines(self, metrics: Sequence[str], target: Target) -> Mapping[Hashable, SegmentLine]:
        """Return the lines of all segments of the plain case, which are estimated at once."""
        threshold = next(iter(self.whole.values())).used.threshold
        names = [parse_metric(text) for text in metrics]
        places = [threshold if name.threshold is None else name.threshold for name in names]
        if threshold is None or any(name.top is not None for name in names):
            return {}
        columns: dict[int, Mapping[Hashable, MetricRow]] = {}
        for place in dict.fromkeys(places):
            columns |= self._columns_at(place, names, places, target)
        level = self.shares.wanted.confidence_level
        return {
            key: SegmentLine(
                share_of(known, level), tuple(columns[i][key] for i in range(len(names)))
            )
            for key, known in self._plain_shares.items()
            if all(key in columns.get(i, {}) for i in range(len(names)))
        }

    def _columns_at(
        self,
        place: float | None,
        names: Sequence[MetricName],
        places: Sequence[float | None],
        target: Target,
    ) -> dict[int, Mapping[Hashable, MetricRow]]:
        """Return the columns of metrics at one threshold, by their number."""
        at = [i for i, other in enumerate(places) if other == place]
        known, level = self._plain_shares, self.shares.wanted.confidence_level
        parts = {key: self.segments[key].rows.counts for key in known}
        try:
            table = LineTable.of(parts, known, cast("float", place), target, level)
        except InputError:  # counts that cannot be split there are counted again, one by one
            return {}
        rows = table.rows([names[i].metric for i in at])
        return {i: {key: row[n] for key, row in rows.items()} for n, i in enumerate(at)}

    @cached_property
    def _plain_shares(self) -> dict[Hashable, Unknowns]:
        """The shares of the segments whose lines may be made at once, for every target."""
        known: dict[Hashable, Unknowns] = {}
        for key, part in self.segments.items():
            if why_not(part.rows.counts) or part.rows.clusters is not None:
                continue
            try:
                with collect_warnings():  # the segment's evaluation has them as checks
                    known[key] = next(iter(self.shares.find(key, limits=False).values()))
            except InputError:  # its row will say so
                continue
        return known


def find_segment_shares(
    labels: "RandomLabels",
    whole: Mapping[str, Recovery],
    rows: Mapping[str, Mapping[Hashable, ScoredRows]],
    wanted: ReportOptions,
) -> SegmentShares:
    """Return the shares of segments: given for each, shared out, or estimated and pooled."""
    parts = {
        key: {name: _sized(rows[name][key], labels) for name in rows}
        for key in next(iter(rows.values()))
    }
    given = labels.given
    estimator = given["unlabeled_prevalence"]
    unfitted = hasattr(estimator, "fit") and not hasattr(estimator, "unlabeled_prevalence_")
    if unfitted or all(share is None for share in given.values()):
        overall = next(iter(whole.values())).unknowns
        clusters = {key: {name: rows[name][key].row_clusters for name in rows} for key in parts}
        return EstimatedShares.of(labels, wanted, parts, overall, clusters)
    if name_of_mapping(labels) is not None or all(given[name] is None for name in PARTS):
        return GivenShares(labels, wanted, parts)
    sharpest = max(whole, key=lambda name: whole[name].counts.auc("positive", "unlabeled"))
    known = KnownShare(whole[sharpest].shares, whole[sharpest].counts)
    return SharedOutShares.of(labels, wanted, parts, known, rows, sharpest)


def _sized(rows: ScoredRows, labels: "RandomLabels") -> ScoreCounts:
    """Return counts with effective sizes of independent rows."""
    return rows.counts if why_not(rows.counts) else rows.counts_for_share(labels.sampling)
