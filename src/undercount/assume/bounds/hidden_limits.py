"""How many hidden positives may stand above each score, by a band and by what is possible."""

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, check_choice, named, warn
from undercount.shares import Shares
from undercount.theory.numbers import read_along_scores

Rounding: TypeAlias = Literal["sharp", "paper", "none"]
ROUNDINGS = get_args(Rounding)
# Rounding of floating-point products, in rows; always given to the wider side.
ROWS_TOLERANCE = 1e-6


class HiddenLimits(NamedTuple):
    """Hidden positives wanted above each score by the two ends of a band, and what is possible."""

    n_hidden: float
    low: FloatArray
    high: FloatArray
    least: FloatArray
    most: FloatArray

    def clip(self, wanted: FloatArray) -> FloatArray:
        """Move to what is possible: eq. 11."""
        return np.clip(wanted, self.least, self.most)

    @property
    def misfit(self) -> float:
        """Rows by which the whole band misses what is possible."""
        too_many, too_few = (self.low - self.most).max(), (self.least - self.high).max()
        missing = float(max(too_many, too_few))
        return missing if missing > ROWS_TOLERANCE else 0.0

    @property
    def clipping(self) -> float:
        """Rows by which an end of the band was moved."""
        over, under = self.high - self.most, self.least - self.low
        return float(max(over.max(), under.max(), self.misfit, 0))


def hidden_limits(
    counts: ScoreCounts, share: float, lower: FloatArray, upper: FloatArray, rounding: Rounding
) -> HiddenLimits:
    """Turn limits of the hidden positives' distribution into numbers of rows (eqs 10, 11, 13)."""
    heads = np.cumsum(counts.unlabeled)
    n_hidden = hidden_rows(counts, share, rounding)
    low, high = lower * n_hidden, upper * n_hidden
    if counts.weighted or rounding == "none":
        pass
    elif rounding == "paper":
        low, high = np.floor(low), np.ceil(high)
    else:
        inner_low, inner_high = np.ceil(low - ROWS_TOLERANCE), np.floor(high + ROWS_TOLERANCE)
        # A band narrower than a row may hold no whole number; then both neighbours are possible.
        empty = inner_low > inner_high
        low = np.where(empty, np.floor(low), inner_low)
        high = np.where(empty, np.ceil(high), inner_high)
    tail = counts.n_unlabeled - heads
    least, most = np.maximum(0, n_hidden - tail), np.minimum(heads, n_hidden)
    return HiddenLimits(n_hidden, low, high, least, most)


def hidden_rows(counts: ScoreCounts, share: float, rounding: Rounding) -> float:
    """Return the number of hidden positives, |P_U|: whole unless rows are weighted."""
    hidden = share * counts.n_unlabeled
    if counts.weighted or rounding == "none":
        return hidden
    return float(int(hidden) if rounding == "paper" else int(hidden + 0.5))


def check_setting(counts: ScoreCounts, shares: Shares, rounding: str) -> None:
    """Raise unless bounds can be made from these counts and shares."""
    counts.require("unlabeled")
    if shares.label_purity_interval is not None:
        raise InputError(
            f"bounds need one number for the {named('purity')}; got "
            f"{shares.label_purity_interval}. Ask at both of its ends"
        )
    check_choice("rounding", rounding, ROUNDINGS)


def share_ends(shares: Shares) -> tuple[float, float]:
    """Return the ends of the share of positives among the unlabeled rows, equal if it is known."""
    interval = shares.unlabeled_prevalence_interval
    if interval is None:
        return shares.unlabeled_prevalence, shares.unlabeled_prevalence
    return interval.low, interval.high


def limits_at_ends(
    counts: ScoreCounts,
    shares: Shares,
    lower_cdf: ArrayLike,
    upper_cdf: ArrayLike,
    rounding: Rounding,
) -> tuple[HiddenLimits, HiddenLimits]:
    """Check what was given, and return the limits at the least and at the largest share."""
    check_setting(counts, shares, rounding)
    if shares.label_purity != 1:
        raise InputError(
            f"tables add labels to hidden positives, which needs {named('purity')} 1; got "
            f"{shares.label_purity}. bound_curve takes impure ones"
        )
    lower, upper = read_cdfs(lower_cdf, upper_cdf, counts)
    low, high = share_ends(shares)
    worst = hidden_limits(counts, low, lower, upper, rounding)
    if low == high:
        return worst, worst
    return worst, hidden_limits(counts, high, lower, upper, rounding)


def warn_misfit(misfit: float, stacklevel: int) -> None:
    """Warn if the whole band lies outside what is possible."""
    if misfit > 0:
        warn(
            MisfitWarning(
                f"at some score the band asks for {misfit:.6g} hidden positives more or fewer than "
                "there can be: the prevalence is wrong, or the labelled positives are not a random "
                "sample of the positives, or the band is too narrow"
            ),
            stacklevel=stacklevel + 1,
        )


def read_cdfs(
    lower_cdf: ArrayLike, upper_cdf: ArrayLike, counts: ScoreCounts
) -> tuple[FloatArray, FloatArray]:
    """Check the two limits of a distribution along the scores."""
    lower, upper = (
        _read_cdf(values, name, counts)
        for values, name in ((lower_cdf, "lower_cdf"), (upper_cdf, "upper_cdf"))
    )
    if (lower > upper + ROWS_TOLERANCE).any():
        raise InputError("lower_cdf must not exceed upper_cdf; it does at some score")
    return lower, upper


def _read_cdf(values: ArrayLike, name: str, counts: ScoreCounts) -> FloatArray:
    cdf = read_along_scores(name, values, counts)
    if not ((cdf >= -ROWS_TOLERANCE) & (cdf <= 1 + ROWS_TOLERANCE)).all():
        raise InputError(f"{name} must be in [0, 1]; got {cdf.min()} to {cdf.max()}")
    if (np.diff(cdf) < -ROWS_TOLERANCE).any():
        raise InputError(f"{name} must not fall from a higher score to a lower one")
    return np.clip(cdf, 0, 1)
