"""The loss of all pairs of rows from sums over rows, and its ridge solutions."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from undercount.curve import FloatArray


@dataclass(frozen=True)
class PairMoments:
    """Weight, sum and sum of outer products of the basis functions over some rows.

    PairMoments of parts add up to the moments of the whole, so rows can come in blocks and folds
    can be left out without a second pass.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn.pairs import PairMoments
    >>> moments = PairMoments.of(np.array([[1.0], [3.0]]), np.array([1.0, 1.0]))
    >>> moments.mean.tolist(), moments.covariance.tolist()
    ([2.0], [[1.0]])
    """

    weight: float
    total: FloatArray
    product: FloatArray

    @classmethod
    def none(cls, n_functions: int) -> Self:
        """Return the moments of no rows."""
        return cls(0.0, np.zeros(n_functions), np.zeros((n_functions, n_functions)))

    @classmethod
    def of(cls, values: FloatArray, weight: FloatArray) -> Self:
        """Return the moments of rows with the given values of the basis functions."""
        weighted = values * weight[:, None]
        return cls(float(weight.sum()), weighted.sum(axis=0), weighted.T @ values)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.weight + other.weight, self.total + other.total, self.product + other.product
        )

    @property
    def mean(self) -> FloatArray:
        """Mean of each basis function."""
        return self.total / self.weight

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the basis functions, divided by the weight."""
        return self.product / self.weight - np.outer(self.mean, self.mean)


@dataclass(frozen=True)
class PairLoss:
    """Mean of (1 - (g(x) - g(x')))² over pairs, as a quadratic form in the coefficients w.

    The loss of g = w·φ is constant - 2 w·target + w·curvature·w.
    """

    constant: float
    target: FloatArray
    curvature: FloatArray

    @classmethod
    def of_pairs(cls, upper: PairMoments, lower: PairMoments) -> Self:
        """Average over all pairs of a row of `upper` (to be ranked higher) and one of `lower`.

        E(1 - w·(φ - φ'))² = 1 - 2 w·d + w·(S + S' + d d)·w with d the difference of the means and
        S, S' the covariances: a sum over pairs from sums over rows.

        Examples
        --------
        >>> import numpy as np
        >>> from undercount.learn.pairs import PairMoments, PairLoss
        >>> upper = PairMoments.of(np.array([[2.0], [1.0]]), np.ones(2))
        >>> lower = PairMoments.of(np.array([[0.0]]), np.ones(1))
        >>> PairLoss.of_pairs(upper, lower).at(np.array([1.0]))  # of (1 - 2)² and (1 - 1)²
        0.5
        """
        gap = upper.mean - lower.mean
        curvature = upper.covariance + lower.covariance + np.outer(gap, gap)
        return cls(1.0, gap, curvature)

    def at(self, coefficients: FloatArray) -> float:
        """Return the loss of these coefficients."""
        quadratic = coefficients @ self.curvature @ coefficients
        return float(self.constant - 2 * coefficients @ self.target + quadratic)

    def plus(self, other: Self, times: float) -> Self:
        """Return this loss plus another one times a number."""
        return type(self)(
            self.constant + times * other.constant,
            self.target + times * other.target,
            self.curvature + times * other.curvature,
        )


@dataclass(frozen=True)
class RidgePath:
    """Minimise loss(w) + penalty · unit · |v|², w = root · v, for any penalty by one factorisation.

    ``unit`` is the mean eigenvalue of the loss's curvature in v, so that a penalty means the same
    for any basis and scale. The curvature of a loss over pairs has no eigenvalue below zero; where
    an estimate of it has some (PU-AUC subtracts two estimates), they are set to zero, which gives
    the nearest matrix without.
    """

    values: FloatArray
    vectors: FloatArray
    target: FloatArray
    unit: float

    @classmethod
    def of(cls, loss: PairLoss, root: FloatArray | None = None) -> Self:
        """Factorise the curvature once.

        Examples
        --------
        >>> import numpy as np
        >>> from undercount.learn.pairs import PairLoss, RidgePath
        >>> loss = PairLoss(1.0, np.array([1.0, 0.0]), np.eye(2))
        >>> RidgePath.of(loss).solve([0.0, 1.0]).tolist()  # one column a penalty
        [[1.0, 0.5], [0.0, 0.0]]
        """
        curvature, target = loss.curvature, loss.target
        if root is not None:
            curvature, target = root.T @ curvature @ root, root.T @ target
        values, vectors = eigh(curvature)
        values = np.maximum(values, 0)
        unit = float(values.mean())
        back = vectors if root is None else root @ vectors
        return cls(values, back, vectors.T @ target, unit if unit > 0 else 1.0)

    def solve(self, penalties: FloatArray | list[float]) -> FloatArray:
        """Return the coefficients, a column for each penalty."""
        ridge = np.asarray(penalties, float) * self.unit
        # A penalty of zero leaves directions without curvature out, as a pseudo-inverse does.
        floor = self.values.max(initial=0.0) * self.values.size * np.finfo(float).eps
        bottom = self.values[:, None] + ridge
        shares = np.divide(
            self.target[:, None], bottom, out=np.zeros_like(bottom), where=bottom > floor
        )
        return np.asarray(self.vectors @ shares, float)
