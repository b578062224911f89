"""The share of each segment estimated from its scores, and pooled with those of the others."""

import heapq
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from undercount.assume.base import ReportOptions, Unknowns
from undercount.assume.random_labels.segments.pooled import SegmentShare, pool_shares
from undercount.assume.random_labels.segments.shares import Models, SegmentShares, first_of
from undercount.assume.segments import PooledShares, share_of
from undercount.errors import InputError, collect_warnings
from undercount.infer.clusters import ClusterRows
from undercount.infer.segmented_rows import FEWEST_LABELS, why_not

if TYPE_CHECKING:
    from undercount.assume.random_labels.assumption import RandomLabels

# Segments whose own share is estimated, those of most labels; the others get the distribution of
# these. With so many its centre and spread are known better than any one share.
MOST_ESTIMATED = 32


@dataclass(frozen=True, eq=False)
class EstimatedShares(SegmentShares):
    """Shares that were estimated, and drawn towards each other."""

    by_segment: PooledShares

    @classmethod
    def of(
        cls,
        labels: "RandomLabels",
        wanted: ReportOptions,
        parts: Mapping[Hashable, Models],
        overall: Unknowns,
        clusters: Mapping[Hashable, Mapping[str, ClusterRows | None]],
    ) -> "EstimatedShares":
        """Estimate the shares of the largest segments, and pool them."""
        own, level = {}, wanted.confidence_level
        for segment in _largest(parts):
            try:
                with collect_warnings():  # the segment's evaluation tells them
                    own_clusters = clusters[segment]
                    found = labels.find_shares(parts[segment], wanted, clusters=own_clusters)
            except InputError:  # its row will say so
                continue
            own[segment] = share_of(next(iter(found.values())), level)
        others = tuple(segment for segment in parts if segment not in own)
        sizes = {segment: first_of(parts[segment]).effective_size("positive") for segment in own}
        whole = share_of(overall, level)
        pooled = pool_shares(own, sizes, whole, others, confidence_level=level)
        return cls(labels, wanted, parts, pooled)

    def find(self, segment: Hashable, *, limits: bool = True) -> dict[str, Unknowns]:  # noqa: ARG002
        """Return the pooled share of one segment."""
        share = SegmentShare(self.by_segment.pooled[segment])
        labels = replace(self.labels.with_shares(unlabeled_prevalence=share), interval=None)
        source, part = "pooled over segments", self.by_segment.label_parts.get(segment)
        return {
            name: replace(known, label_part=part, source=source, estimated=True)
            for name, known in labels.find_shares(self.parts[segment], self.wanted).items()
        }

    @property
    def pooled(self) -> PooledShares | None:
        """The shares as they were pooled."""
        return self.by_segment


def _largest(parts: Mapping[Hashable, Models]) -> list[Hashable]:
    """Return the segments whose own share is estimated: those of most labels."""
    counts = {segment: first_of(models) for segment, models in parts.items()}
    labels = {
        segment: part.effective_size("positive")
        for segment, part in counts.items()
        if not why_not(part)
    }
    enough = [segment for segment, number in labels.items() if number >= FEWEST_LABELS]
    chosen = set(heapq.nlargest(MOST_ESTIMATED, enough, key=labels.__getitem__))
    return [segment for segment in enough if segment in chosen]
