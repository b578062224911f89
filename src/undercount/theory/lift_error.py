"""How far the area under the lift curve of a few labels may be off (the AUL paper, 2021)."""

import math
from typing import Any, Literal, TypeAlias

import numpy as np

from undercount.counts import ScoreCounts
from undercount.errors import InputError, real_number
from undercount.estimate import check_confidence_level
from undercount.theory.numbers import read_share

TailBound: TypeAlias = Literal["serfling", "chebyshev"]
_LEAST_ERROR = 1e-9  # fewer rows than its inverse squared exist
LARGEST_VARIANCE = 0.25  # of any numbers between 0 and 1


def lift_variance(counts: ScoreCounts, *, labelled: int) -> float:
    """Compute the exact variance of AUL^PU when `labelled` of the positives get a label.

    Parameters
    ----------
    counts : ScoreCounts
        Of completely labelled rows: the positives in it are all the positives there are.
    labelled : int
        How many of them will carry a label, each subset equally likely.

    Returns
    -------
    float

    Notes
    -----
    Assumes: labels are given at random among positives, a fixed number of them.
    Wrong when: unlabeled rows hold more positives than those counted as positive.

    AUL paper, Theorem 1: (n_P - n_L)/(n_P - 1) σ²/n_L, σ² the variance of the positives' t,
    the share of rows below (half of those level with) each of them.

    Examples
    --------
    >>> import undercount as uc
    >>> complete = uc.ScoreCounts.from_rows([1, 1, 0, 1], [0.9, 0.7, 0.4, 0.1])
    >>> round(uc.theory.lift_variance(complete, labelled=2), 6)
    0.024306
    """
    counts.require("positive")
    if counts.weighted:
        raise InputError("lift_variance counts subsets of rows, so rows may not carry weights")
    labelled, positives = _labels_among(labelled, round(counts.n_positive))
    level = counts.positive + counts.negative + counts.unlabeled
    position = (np.cumsum(level[::-1])[::-1] - level / 2) / counts.n_rows
    share = counts.positive / counts.n_positive
    spread = float(share @ (position - share @ position) ** 2)
    return _sampling_variance(spread, labelled, positives)


def lift_tail_bound(
    error: float,
    *,
    labelled: int,
    positives: int | None = None,
    prevalence: float | None = None,
    method: TailBound = "serfling",
) -> float:
    """Bound the probability that AUL^PU is off by `error` or more, whatever the scores.

    Parameters
    ----------
    error : float
        Absolute error ε, above 0.
    labelled : int
        Number of labelled positives.
    positives : int, optional
        Number of all positives; without it the bound holds for any number.
    prevalence : float, optional
        Share of positives among all rows; sharpens Chebyshev's bound.
    method : {"serfling", "chebyshev"}, default="serfling"
        Serfling's exponential bound, or Chebyshev's.

    Returns
    -------
    float
        At most 1.

    Notes
    -----
    Assumes: labels are given at random among positives.
    Wrong when: positives with high scores are labelled more often than others.

    Serfling: 2 exp(-2 n_L ε²/(1 - (n_L - 1)/n_P)). Chebyshev: Var/ε², where the paper prints
    Var/ε, with σ² ≤ 1/4, or σ² ≤ (3 - 3π + π²)/12 for a known prevalence π.

    Examples
    --------
    >>> import undercount as uc
    >>> round(uc.theory.lift_tail_bound(0.1, labelled=200, positives=1000), 4)
    0.0136
    >>> round(uc.theory.lift_tail_bound(0.1, labelled=200, positives=1000, method="chebyshev"), 4)
    0.1001
    """
    labelled, total = _labels_among(labelled, positives)
    error = _above_zero(error)
    if labelled == total:
        return 0.0  # every positive is labelled, so nothing is left to chance
    if _method(method) == "serfling":
        sampled = 1 - (labelled - 1) / total
        return min(1.0, 2 * math.exp(-2 * labelled * error**2 / sampled))
    return min(1.0, _sampling_variance(_widest(prevalence), labelled, total) / error**2)


def required_labels(
    error: float,
    *,
    positives: int | None = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    method: TailBound = "serfling",
) -> int:
    """Find how many labels keep the error of AUL^PU below `error`, whatever the scores.

    Parameters
    ----------
    error : float
        Absolute error, above 0.
    positives, prevalence : optional
        As in `lift_tail_bound`.
    confidence_level : float, default=0.95
        Probability that the error stays below `error`.
    method : {"serfling", "chebyshev"}, default="serfling"
        Which bound to solve.

    Returns
    -------
    int
        The smallest number of labels for which `lift_tail_bound` is at most
        ``1 - confidence_level``.

    Notes
    -----
    Assumes: labels are given at random among positives.
    Wrong when: positives with high scores are labelled more often than others.

    In units of AUC the error is larger by 1/(1 - prevalence).

    Examples
    --------
    >>> import undercount as uc
    >>> uc.theory.required_labels(0.05, positives=1000), uc.theory.required_labels(0.05)
    (425, 738)
    """
    error = _above_zero(error)
    confidence_level = check_confidence_level(confidence_level)
    total = math.inf if positives is None else _labels_among(1, positives)[1]
    risk = 1 - confidence_level
    if _method(method) == "serfling":
        needed = math.log(2 / risk) / (2 * error**2)
    else:
        needed = _widest(prevalence) / (risk * error**2)
    # Both bounds solved for n_L: n n_P/(n_P - n + 1) = needed, and n (n_P - 1)/(n_P - n) = needed.
    if total < math.inf:
        extra = 1 if method == "serfling" else 0
        needed = needed * (total + extra) / (total + needed - 1 + extra)
    # Rounding may put an exact solution a hair above the whole number.
    number = max(1, math.ceil(needed - 1e-9 * needed))
    return int(min(number, total))


def _sampling_variance(spread: float, labelled: int, positives: float) -> float:
    """Variance of the mean of `labelled` of `positives` numbers whose variance is `spread`."""
    if labelled == positives:
        return 0.0
    left = 1.0 if positives == math.inf else (positives - labelled) / (positives - 1)
    return left * spread / labelled


def _widest(prevalence: float | None) -> float:
    if prevalence is None:
        return LARGEST_VARIANCE
    share = read_share("prevalence", prevalence)
    return (3 - 3 * share + share**2) / 12  # half of the positives on top, half at the bottom


def _method(method: str) -> str:
    if not isinstance(method, str) or method not in ("serfling", "chebyshev"):
        raise InputError(f"method must be 'serfling' or 'chebyshev'; got {method!r}")
    return method


def _labels_among(labelled: Any, positives: Any) -> tuple[int, float]:
    total = math.inf if positives is None else float(_whole("positives", positives, math.inf))
    return _whole("labelled", labelled, total), total


def _whole(name: str, value: Any, most: float) -> int:
    number = real_number(value)
    if number != np.floor(number) or not 1 <= number <= most or number == math.inf:
        span = "of at least 1" if most == math.inf else f"from 1 to {most:.0f} (all positives)"
        raise InputError(f"{name} must be a whole number {span}; got {value!r}")
    return int(value)


def _above_zero(error: Any) -> float:
    if not _LEAST_ERROR <= real_number(error) <= 1 / _LEAST_ERROR:
        least = f". The least is {_LEAST_ERROR:g}" if real_number(error) > 0 else ""
        raise InputError(f"error must be above 0; got {error!r}{least}")
    return float(error)
