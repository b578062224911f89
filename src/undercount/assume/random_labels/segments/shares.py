"""The hidden share of each segment, as random labels have it."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from undercount.assume.base import ReportOptions, Unknowns
from undercount.assume.segments import PooledShares, SegmentDoubt
from undercount.counts import ScoreCounts
from undercount.errors import Check

if TYPE_CHECKING:
    from undercount.assume.random_labels.assumption import RandomLabels

# Name of each model → its counts of the rows of one segment, sized as independent rows.
Models: TypeAlias = Mapping[str, ScoreCounts]


@dataclass(frozen=True, eq=False)
class SegmentShares(ABC):
    """How the share of any segment is found.

    Attributes
    ----------
    labels : RandomLabels
        What is said of the shares.
    wanted : ReportOptions
        Level and target of every segment.
    parts : mapping
        Segment → its counts, by model.
    """

    labels: "RandomLabels"
    wanted: ReportOptions
    parts: Mapping[Hashable, Models]

    @abstractmethod
    def find(self, segment: Hashable, *, limits: bool = True) -> dict[str, Unknowns]:
        """Return the share of one segment; the limits that its scores set cost most of it."""

    @property
    def pooled(self) -> PooledShares | None:
        """The shares as they were pooled."""
        return None

    @property
    def checks(self) -> tuple[Check, ...]:
        """Whether segments are labelled alike, as far as that is asked."""
        return ()

    @property
    def unlike(self) -> bool:
        """Whether the scores contradict the one label frequency by which shares are known."""
        return False

    def doubt(self, segment: Hashable) -> SegmentDoubt:  # noqa: ARG002 - of any segment
        """Say what the share of a segment rests on."""
        return SegmentDoubt()


def first_of(models: Models) -> ScoreCounts:
    """Return the counts of the first model: labels are the same in all."""
    return next(iter(models.values()))
