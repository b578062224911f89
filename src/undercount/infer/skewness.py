"""The skewness of an estimate over its standard error, and what it does to quantiles."""

from dataclasses import dataclass

import numpy as np

_STRAIGHT = 1e-8


@dataclass(frozen=True)
class Skewness:
    """Hold the third moments of an estimate's error, in units of its standard error.

    An estimate whose rows are skewed misses on one side: with few of them a low mean comes with a
    low standard error (ten exponential rows: 90 % instead of 95 %). Hall 1992 (JRSS B 54): for
    the error over its standard error T, P(T ≤ x) = Φ(x) + (A x² + B) φ(x) to first order, and then
    g(T) = ((1 + A T)³ - 1)/(3 A) + B is normal up to a second order; its inverse is closed.

    Parameters
    ----------
    third : float
        Third cumulant of the error.
    joint : float
        Covariance of the error with the estimate of its variance; as `third` for a mean of
        independent rows.

    Examples
    --------
    >>> from undercount.infer.skewness import Skewness
    >>> skewness = Skewness(0.2, 0.2)
    >>> skewness.quantile(2.0) < 2.0 < -skewness.quantile(-2.0)
    True
    >>> round(skewness.score(skewness.quantile(2.0)), 12)
    2.0
    """

    third: float = 0.0
    joint: float = 0.0

    @property
    def bend(self) -> float:
        """How far the quantiles bend: A above."""
        return self.joint / 2 - self.third / 6

    @property
    def shift(self) -> float:
        """How far they are moved: B above."""
        return self.third / 6

    def quantile(self, normal: float) -> float:
        """Return the quantile of error over standard error where a normal one has this."""
        moved = normal - self.shift
        if abs(self.bend) <= _STRAIGHT:
            return moved
        return float(np.cbrt(1 + 3 * self.bend * moved) - 1) / self.bend

    def score(self, ratio: float) -> float:
        """Return the normal quantile of an error over its standard error."""
        if abs(self.bend) <= _STRAIGHT:
            return ratio + self.shift
        return ((1 + self.bend * ratio) ** 3 - 1) / (3 * self.bend) + self.shift


# Errors that are as likely above as below.
SYMMETRIC = Skewness()
