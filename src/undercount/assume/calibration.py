"""Critical values of a profile likelihood that is no parabola: simulated instead of 3.84."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from undercount.assume.biprobit import row_expansion
from undercount.assume.latent import HiddenModel
from undercount.assume.probit import inverse
from undercount.rates import FloatArray

DRAWS = 1000
CHUNK = 1 << 14
# Quantiles come from draws; the same ones each time, so that the same data give the same interval.
SEED = 0


@dataclass(frozen=True, eq=False)
class LikelihoodField:
    """Describe how log-likelihoods along a profile vary together if one of them is true.

    Let l(r) be the log-likelihood at error correlation r, all else fitted. If r₀ is true, then
    l(r) - l(r₀) is close to a Gaussian variable, whose variance is that of the rows' differences
    and whose mean is minus half of it, plus what fitting the other coefficients adds: ½Z'C⁻¹Z at r
    less the same at r₀, Z the score of these coefficients and C their information. Near r₀ the
    supremum is half a χ² with one degree of freedom; at the end of the range, or with several
    humps, it is something else, and that is simulated.

    Attributes
    ----------
    products : array of shape (m (1+k), m (1+k))
        Sums over rows of the products of their log-likelihoods at the m points, and of their k
        whitened scores there.
    size : int
        Number of points m.
    """

    products: FloatArray
    size: int

    @cached_property
    def losses(self) -> FloatArray:
        """Draws of what each point loses to the best one; axes: true point, draw, point."""
        values, vectors = np.linalg.eigh(self.products)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        draws = np.random.default_rng(SEED).standard_normal((DRAWS, len(values))) @ factor.T
        logs, scores = draws[:, : self.size], draws[:, self.size :]
        fitted = 0.5 * (scores.reshape(DRAWS, self.size, -1) ** 2).sum(axis=2)
        result = np.empty((self.size, DRAWS, self.size))
        for true, row in enumerate(self.products[: self.size, : self.size]):
            spread = np.diag(self.products)[: self.size] - 2 * row + row[true]
            heights = logs - logs[:, [true]] - 0.5 * spread + fitted - fitted[:, [true]]
            result[true] = 2 * (heights.max(axis=1, keepdims=True) - heights)
        return result

    def critical_losses(self, level: float) -> FloatArray:
        """Quantile, for each point taken as true, of what it loses to the best point."""
        own = np.diagonal(self.losses, axis1=0, axis2=2)
        return np.asarray(np.quantile(own, level, axis=0))

    def critical_values(self, centre: FloatArray, error: FloatArray, level: float) -> FloatArray:
        """Quantile, for each point taken as true, of the statistic that `Profile.span` uses.

        Parameters
        ----------
        centre, error : array
            Metric at each point, and its standard error there.
        level : float
            Confidence level.
        """
        noise = np.random.default_rng([SEED, 1]).standard_normal(DRAWS)[:, None]
        result = np.empty(len(centre))
        for i, losses in enumerate(self.losses):
            # The other coefficients err alike at all points, and independently of the differences.
            gap = (centre - centre[i] + error[i] * noise) / error
            result[i] = np.quantile((losses + gap**2).min(axis=1), level)
        return result


def likelihood_field(models: Sequence[HiddenModel]) -> LikelihoodField:
    """Sum the rows' products of log-likelihoods and scores at all points of a profile."""
    size, width = len(models), len(models[0].fit.coefficients)
    products = np.zeros((size * (1 + width),) * 2)
    rows = models[0].rows
    white = [_root(inverse(-model.fit.hessian[:-1, :-1])) for model in models]
    for start in range(0, len(rows.label), CHUNK):
        part = rows.only(np.arange(start, min(start + CHUNK, len(rows.label))))
        found = [
            row_expansion(part, model.fit.coefficients, model.fit.error_correlation)
            for model in models
        ]
        logs = np.column_stack([log for log, _ in found])
        # Differences are small beside the values; taken now they keep their digits.
        logs -= logs.mean(axis=1, keepdims=True)
        scores = [score[:, :-1] @ root for (_, score), root in zip(found, white, strict=True)]
        table = np.column_stack([logs, *scores])
        products += (table.T * part.weight) @ table
    return LikelihoodField(products, size)


def _root(matrix: FloatArray) -> FloatArray:
    """Symmetric square root."""
    values, vectors = np.linalg.eigh(matrix)
    result: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return result
