"""Critical values of a profile likelihood that is no parabola: simulated instead of 3.84."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from undercount.assume.selection.biprobit import row_expansion
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.curve import FloatArray

PROFILE_DRAWS = 1000
POINTS_BETWEEN_ANGLES = 120
BOOTSTRAP_ROWS_PER_CHUNK = 1 << 14
# Quantiles come from draws; the same ones each time, so that the same data give the same interval.
QUANTILE_SEED = 0


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
    angle : array of shape (m,)
        The points, on the scale on which they are scanned.
    """

    products: FloatArray
    angle: FloatArray

    @cached_property
    def fine(self) -> FloatArray:
        """Points between the points: a minimum over the latter alone would be too large."""
        between = np.linspace(self.angle[0], self.angle[-1], POINTS_BETWEEN_ANGLES)
        return np.unique(np.concatenate([self.angle, between]))

    @cached_property
    def weights(self) -> FloatArray:
        """Matrix that interpolates along straight lines; a smoother one could invent humps."""
        unit = np.eye(len(self.angle))
        return np.array([np.interp(self.fine, self.angle, row) for row in unit])

    @cached_property
    def _draws(self) -> tuple[FloatArray, FloatArray]:
        """Heights of the likelihood, up to what depends on the true point; whitened scores."""
        size = len(self.angle)
        values, vectors = np.linalg.eigh(self.products)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        draws = (
            np.random.default_rng(QUANTILE_SEED).standard_normal((PROFILE_DRAWS, len(values)))
            @ factor.T
        )
        scores = draws[:, size:].reshape(PROFILE_DRAWS, size, -1)
        heights = draws[:, :size] + 0.5 * ((scores**2).sum(axis=2) - np.diag(self.products)[:size])
        return heights @ self.weights, scores

    def losses(self, true: int) -> FloatArray:
        """Draws of twice what each fine point loses to the best if one of the points is true."""
        size = len(self.angle)
        heights: FloatArray = self._draws[0] + self.products[true, :size] @ self.weights
        heights -= heights.max(axis=1, keepdims=True)
        heights *= -2
        return heights

    def critical_losses(self, level: float) -> FloatArray:
        """Quantile, for each point taken as true, of what it loses to the best point."""
        places = np.searchsorted(self.fine, self.angle)
        own = [self.losses(true)[:, place] for true, place in enumerate(places)]
        return np.asarray(np.quantile(own, level, axis=1))

    def critical_values(
        self, centre: FloatArray, error: FloatArray, drift: FloatArray, level: float
    ) -> FloatArray:
        """Quantile, for each point taken as true, of the statistic that `Profile.estimate` uses.

        Parameters
        ----------
        centre, error : array
            Metric at each point, and its standard error there.
        drift : array of shape (m, k)
            What one unit of each whitened score adds to the metric.
        level : float
            Confidence level.
        """
        spread = error @ self.weights
        noise = (self._noise(error, drift) + centre) @ self.weights / spread
        result = np.empty(len(centre))
        for true, here in enumerate(centre):
            gap = noise - here / spread
            gap *= gap
            gap += self.losses(true)
            result[true] = np.quantile(gap.min(axis=1), level)
        return result

    def _noise(self, error: FloatArray, drift: FloatArray) -> FloatArray:
        """Errors of the metric at each point: through the coefficients, and through the rows.

        The former move with the likelihood; the latter, the rows' scores, say nothing of r.
        """
        size = len(self.angle)
        scores = self.products[size:, size:].reshape(size, -1, size, drift.shape[1])
        by_coefficients = np.einsum("ri,rirj,rj->r", drift, scores, drift)
        rest = np.sqrt(np.maximum(error**2 - by_coefficients, 0.0))
        plain = np.random.default_rng([QUANTILE_SEED, 1]).standard_normal(PROFILE_DRAWS)
        return np.asarray(np.einsum("drk,rk->dr", self._draws[1], drift) + np.outer(plain, rest))


def likelihood_field(models: Sequence[HiddenModel]) -> LikelihoodField:
    """Sum the rows' products of log-likelihoods and scores at all points of a profile."""
    size, width = len(models), len(models[0].fit.coefficients)
    products = np.zeros((size * (1 + width),) * 2)
    rows = models[0].rows
    white = [model.whitening for model in models]
    for start in range(0, len(rows.label), BOOTSTRAP_ROWS_PER_CHUNK):
        part = rows.only(np.arange(start, min(start + BOOTSTRAP_ROWS_PER_CHUNK, len(rows.label))))
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
    return LikelihoodField(products, np.arctanh([model.fit.error_correlation for model in models]))
