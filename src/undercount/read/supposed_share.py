"""The share of hidden positives that a plan of reviews supposes, and which others are likely."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

from undercount.assume.random_labels.hidden_share import shared_share
from undercount.counts import ScoreCounts
from undercount.errors import InputError, collect_warnings, named, real_number
from undercount.estimate import Interval
from undercount.shares import Shares

# Labelled positives from which a share can be estimated, and what is supposed at least below.
FEWEST_LABELS, LEAST_GUESS = 10, 0.01
# An end of an interval that is smaller by more than this says nothing.
SMALLEST_PART = 0.05


@dataclass(frozen=True)
class LikelyShares(Interval):
    """Hold ends of shares that are likely, and whether labels alone told them.

    `open` says that even 0 is possible, or labels are too few: what is supposed is no estimate.
    """

    by_labels: bool = False
    open: bool = False


@dataclass(frozen=True)
class SupposedShare:
    """Hold a share of positives among the unlabeled rows, and ends of shares that are likely too.

    The ends of a range that was given, or one standard error below and above an estimate, on the
    scale of logarithms.
    """

    value: float
    span: Interval | None = None


def suppose_share(
    models: Mapping[str, ScoreCounts],
    *,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    random_state: int = 0,
) -> SupposedShare:
    """Take the share that was given, or estimate it as `evaluate` does.

    Too few labels to estimate it are no reason not to look: as many again are supposed hidden.
    """
    counts = next(iter(models.values()))
    given = prevalence is not None or unlabeled_prevalence is not None
    if (
        isinstance(unlabeled_prevalence, int | float)
        and not 0 < real_number(unlabeled_prevalence) < 1
    ):
        raise InputError(
            f"{named('unlabeled_prevalence')} must be in (0, 1); got {unlabeled_prevalence}"
        )
    # A plan that expects no positive would look nowhere.
    least = 1 / max(counts.n_unlabeled, 2.0)
    if not given and counts.n_positive < FEWEST_LABELS:
        value = min(max(2 * counts.n_positive / counts.n_unlabeled, LEAST_GUESS), 0.5)
        return SupposedShare(value, LikelyShares(value / 2, 2 * value, by_labels=True, open=True))
    with collect_warnings():
        found = shared_share(
            models,
            prevalence=prevalence,
            unlabeled_prevalence=unlabeled_prevalence,
            random_state=random_state,
        )
    shares = next(iter(found.values())).shares
    value = min(max(shares.unlabeled_prevalence, least), 1 - least)
    return SupposedShare(value, likely_span(shares, by_labels=not given))


def likely_span(shares: Shares, *, by_labels: bool = False) -> LikelyShares | None:
    """Return the ends of a range, or one standard error to either side; None if one is known."""
    known, value = shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence
    if known is None or not known.high > known.low or value <= 0:
        return None
    nothing = by_labels and known.low <= 0
    low, high = max(known.low, SMALLEST_PART * value), min(known.high, 1 - 1e-9)
    if shares.unlabeled_prevalence_error == 0:
        return LikelyShares(low, high, by_labels, nothing)
    normal = float(ndtri(0.975))
    return LikelyShares(
        value * math.exp(-max(math.log(value / low), 0.0) / normal),
        value * math.exp(max(math.log(high / value), 0.0) / normal),
        by_labels,
        nothing,
    )
