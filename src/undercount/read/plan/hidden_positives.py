"""What a plan of reviews supposes of the hidden positives: how many there are, and where."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from undercount.assume.base import (
    RANDOM_LABELS_PLAN,
    Assumption,
    LieLike,
    PlanWords,
    Recovery,
    ReportOptions,
)
from undercount.counts import ScoreCounts
from undercount.errors import collect_warnings
from undercount.estimate import Interval
from undercount.infer.reviews.verdicts import largest_share, share_of_slope
from undercount.infer.scored_rows import ScoredRows
from undercount.shares import Shares

# Labelled positives from which a share can be estimated, and what is supposed at least below.
FEWEST_LABELS, LEAST_GUESS = 10, 0.01
# An end of an interval that is smaller by more than this says nothing.
SMALLEST_PART = 0.05
# Normal scores of shares that are supposed: the middles of fifths of what is likely.
LIKELY_SCORES = (0.0, -0.524, 0.524, -1.282, 1.282)


def as_labelled(counts: ScoreCounts, scores: Any = None) -> ScoreCounts:  # noqa: ARG001 - of any
    """Return counts as they are: hidden positives lie as labelled ones do."""
    return counts


@dataclass(frozen=True)
class LikelyShares(Interval):
    """Hold ends of shares that are likely, and whether random labels alone told them.

    The ends of a range that was given, or one standard error below and above an estimate, on the
    scale of logarithms. `open` says that even 0 is possible, or labels are too few: what is
    supposed is no estimate.
    """

    by_labels: bool = False
    open: bool = False


@dataclass(frozen=True, eq=False)
class HiddenPositives:
    """Hold what is supposed of the positives among the unlabeled rows.

    Attributes
    ----------
    share : float
        Of positives among the unlabeled rows.
    likely : Interval, optional
        Ends of shares that are likely too; None if the share is known.
    lie_like : callable
        Returns counts whose labelled positives lie as the hidden ones do.
    words : PlanWords
        How the assumption says it.
    """

    share: float
    likely: Interval | None = None
    lie_like: LieLike = as_labelled
    words: PlanWords = RANDOM_LABELS_PLAN

    @classmethod
    def of(cls, recovery: Recovery, *, by_labels: bool) -> "HiddenPositives":
        """Ask the recovery of the rows; a plan that expects no positive would look nowhere."""
        shares, least = recovery.shares, 1 / max(recovery.counts.n_unlabeled, 2.0)
        share = min(max(shares.unlabeled_prevalence, least), 1 - least)
        likely = likely_shares(shares, by_labels=by_labels)
        return cls(share, likely, recovery.lie_like, recovery.basis.plan_words)

    def shares_at(self, counts: ScoreCounts, scores: tuple[float, ...]) -> list[float]:
        """Return shares by their normal scores; none is more than the surest rows can hold."""
        if self.likely is None:
            return [self.share]
        low, high = (
            np.log(max(end, 1e-12) / self.share) for end in (self.likely.low, self.likely.high)
        )
        shares = (self.share * np.exp(z * high if z > 0 else -z * low) for z in scores)
        most = largest_share(self.lie_like(counts))
        return [min(float(share), most) for share in shares if 0 < share < 1]

    def share_if_preferred(self, counts: ScoreCounts, slope: float) -> float:
        """Return the share if labels prefer some scores: another where labels told it."""
        if isinstance(self.likely, LikelyShares) and self.likely.by_labels:
            return share_of_slope(self.lie_like(counts), self.share, slope)
        return self.share

    @property
    def guessed(self) -> bool:
        """Whether the share is supposed for the plan alone: labels and scores leave it open."""
        return isinstance(self.likely, LikelyShares) and self.likely.open


def suppose_hidden(
    assumption: Assumption, rows: ScoredRows, random_state: int = 0
) -> HiddenPositives:
    """Apply an assumption to the rows.

    Too few labels to estimate the share are no reason not to look: as many again are supposed
    hidden.
    """
    counts, by_labels = rows.counts, assumption.share_source == "labels"
    if by_labels and counts.n_positive < FEWEST_LABELS:
        share = min(max(2 * counts.n_positive / counts.n_unlabeled, LEAST_GUESS), 0.5)
        return HiddenPositives(share, LikelyShares(share / 2, 2 * share, by_labels=True, open=True))
    assumption.check_rows(rows)
    with collect_warnings():
        (recovery,) = assumption.recover(
            {"": rows}, ReportOptions(random_state=random_state)
        ).values()
    return HiddenPositives.of(recovery, by_labels=by_labels)


def likely_shares(shares: Shares, *, by_labels: bool = False) -> LikelyShares | None:
    """Return the ends of a range, or one standard error to either side; None if one is known."""
    interval, value = shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence
    if interval is None or not interval.high > interval.low or value <= 0:
        return None
    nothing = by_labels and interval.low <= 0
    low, high = max(interval.low, SMALLEST_PART * value), min(interval.high, 1 - 1e-9)
    if shares.unlabeled_prevalence_error == 0:
        return LikelyShares(low, high, by_labels, nothing)
    normal = float(ndtri(0.975))
    return LikelyShares(
        value * math.exp(-max(math.log(value / low), 0.0) / normal),
        value * math.exp(max(math.log(high / value), 0.0) / normal),
        by_labels,
        nothing,
    )
