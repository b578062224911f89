"""An assumption applied to segments: what all rows and each part of them are recovered from."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from undercount.errors import MISSING_DATA, Check, InputError, named
from undercount.estimate import Estimate
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target
from undercount.infer.segmented_rows import Places, SegmentPart
from undercount.infer.shared_labels import LabelPart

if TYPE_CHECKING:
    from undercount.assume.base import Recovery, Unknowns


@dataclass(frozen=True)
class PooledShares:
    """Hold the share of each segment, and the distribution that the segments seem to come from.

    Attributes
    ----------
    own : mapping
        What each segment says by itself, for those that were asked.
    pooled : mapping
        The same drawn towards the centre, for every segment.
    centre : Estimate
        The middle segment: the share at the mean of the log odds.
    spread : float
        Standard deviation of the true log odds between segments (τ).
    label_parts : mapping
        How far each segment's own labels are in its share, for those that were asked.
    """

    own: Mapping[Hashable, Estimate] = field(repr=False)
    pooled: Mapping[Hashable, Estimate] = field(repr=False)
    centre: Estimate
    spread: float
    label_parts: Mapping[Hashable, LabelPart] = field(default_factory=dict, repr=False)


class SegmentDoubt(NamedTuple):
    """Hold what the share of a segment rests on, and whether that is contradicted.

    Attributes
    ----------
    words : str
        What its line says of it; empty if nothing.
    withheld : bool
        Whether the share, and the numbers that rest on it, are not said.
    """

    words: str = ""
    withheld: bool = False


class SegmentLine(NamedTuple):
    """Hold the share and the metrics of a segment that needs no evaluation of its own."""

    share: Estimate
    rows: tuple[MetricRow, ...]


@dataclass(frozen=True, eq=False)
class SegmentRecoveries:
    """An assumption applied to all rows of each model, and to those of each segment.

    Each segment takes its part of what is known of all rows. An assumption under which segments
    share something says more.

    Attributes
    ----------
    whole : mapping
        Name of each model → the recovery of all its rows.
    parts : mapping
        Name of each model → segment → its rows.
    """

    whole: "Mapping[str, Recovery]"
    parts: Mapping[str, Mapping[Hashable, SegmentPart]]

    @property
    def segments(self) -> Mapping[Hashable, SegmentPart]:
        """The rows of each segment, of the first model: they are the same rows."""
        return next(iter(self.parts.values()))

    @property
    def checks(self) -> tuple[Check, ...]:
        """What is found of all rows because they come in segments."""
        return ()

    @property
    def pooled(self) -> PooledShares | None:
        """The shares of segments as they were pooled, if they were estimated."""
        return None

    @property
    def shared_out(self) -> bool:
        """Whether a share of all rows was shared out among the segments."""
        return False

    @property
    def unlike_labels(self) -> bool:
        """Whether the rows contradict that segments are labelled alike, on which shares rest."""
        return False

    def doubt(self, segment: Hashable) -> SegmentDoubt:  # noqa: ARG002 - of any segment
        """Say what the share of a segment rests on."""
        return SegmentDoubt()

    def lines(
        self,
        metrics: Sequence[str],  # noqa: ARG002 - whichever metrics
        target: Target,  # noqa: ARG002
    ) -> Mapping[Hashable, SegmentLine]:
        """Return the lines of segments whose metrics are estimated at once: none, or some."""
        return {}

    def recover(self, segment: Hashable, target: Target) -> "dict[str, Recovery]":
        """Return the recovery of one segment under each model."""
        recoveries = {}
        for name, recovery in self.whole.items():
            rows, place = self.parts[name][segment]
            recoveries[name] = recovery.take(rows, require_place(place), target)
        return recoveries


def require_place(place: Places | None) -> Places:
    """Return which rows a segment has; raise where only counts of it are here."""
    if place is None:
        raise InputError(
            f"counts of segments do not say which rows they are; with {named('by')} pass the "
            "rows themselves, as arrays or a frame in memory",
            code=MISSING_DATA,
            argument="by",
        )
    return place


def share_of(known: "Unknowns", confidence_level: float) -> Estimate:
    """Return the share of hidden positives with its interval, and an error if it is no range."""
    shares = known.shares
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    if span is None:
        return Estimate(value, value, value, confidence_level=confidence_level)
    error = shares.unlabeled_prevalence_error
    return Estimate(value, span.low, span.high, error, confidence_level)
