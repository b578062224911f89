"""Read curve and metrics of normal scores: Cook's third step (eqs 11 and 12), and a copula."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from undercount.assume.selection.bivariate_normal import binormal_cdf, log_density
from undercount.assume.selection.column_model import ColumnModel
from undercount.assume.selection.empirical_curve import Contributions
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.sample import SelectionSample, StandardColumns, mid_ranks
from undercount.curve import FloatArray, OperatingCurve, OperatingPoint, read_metric
from undercount.infer.heads import threshold_of_top, top_parts
from undercount.infer.mass_gradients import metric_values
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import Target

# Metrics of the whole curve that have a closed form.
CLOSED_FORM_METRICS = ("roc_auc", "lift_auc", "prevalence", "correlation")
CUTOFFS = np.linspace(8.0, -8.0, 2001)
MOST_EXACT_SCORES = 10_000
# On this interval the normal density carries all but 1e-16 of the mass.
_CURVE_NODES, _CURVE_WEIGHTS = np.polynomial.legendre.leggauss(256)
NODES, NODE_WEIGHTS = 8.5 * _CURVE_NODES, 8.5 * _CURVE_WEIGHTS
STEP = 1e-5


def gaussian_rates(
    cutoff: FloatArray, correlation: float, latent_threshold: float
) -> tuple[FloatArray, FloatArray]:
    """Compute true- and false-positive rates at standardised cutoffs: eqs 11 and 12 as Φ₂."""
    star = np.full_like(cutoff, latent_threshold)
    tpr = binormal_cdf(-cutoff, -star, correlation) / ndtr(-latent_threshold)
    fpr = binormal_cdf(-cutoff, star, -correlation) / ndtr(latent_threshold)
    return tpr, fpr


def gaussian_auc(correlation: float, latent_threshold: float) -> float:
    """Area under the ROC curve of eqs 11 and 12; ½ + (2/π) asin(ρ/√2) at p* = 0.

    Examples
    --------
    >>> round(gaussian_auc(0.7, 0.0), 4)
    0.8296
    """
    tpr, _ = gaussian_rates(NODES, correlation, latent_threshold)
    root = np.sqrt((1 - correlation) * (1 + correlation))
    density = np.exp(log_density(NODES)) * ndtr((latent_threshold - correlation * NODES) / root)
    return float(NODE_WEIGHTS @ (tpr * density) / ndtr(latent_threshold))


@dataclass(frozen=True, eq=False)
class GaussianReader:
    """Turn probit coefficients into (ρ, p*) and these into rates.

    Notes
    -----
    Assumes: score (after ranks became normal quantiles, if `ranks`) and propensity are jointly
    normal.
    Wrong when: scores are skewed or lumpy and `ranks` is off; then the curve is off although the
    probit may be right.
    """

    sample: SelectionSample
    weight: FloatArray
    model: ColumnModel | HiddenModel
    columns: StandardColumns
    ranks: bool

    @cached_property
    def _parameters(self) -> FloatArray:
        """Coefficients, moments (unless ranks) and the correlation of the two scores, if any."""
        parts = [self.model.coefficients]
        if not self.ranks:
            parts.append(self.columns.moments)
        if self._n_scores > 1:
            parts.append(np.array([self._score_correlation]))
        return np.concatenate(parts)

    @property
    def _n_scores(self) -> int:
        return len(self.model.coefficients[self.model.outcome_places]) - 1

    @cached_property
    def _score_correlation(self) -> float:
        if self.columns.other is None:
            return 0.0
        a, b = self.columns.score, self.columns.other
        return float(self.weight @ (a * b) / np.sqrt((self.weight @ a**2) * (self.weight @ b**2)))

    def latent(self, parameters: FloatArray | None = None) -> tuple[float, float]:
        """Correlation ρ_ap and threshold p* (maths: probit rescaled to unit variance)."""
        given = self._parameters if parameters is None else parameters
        k = given[self.model.outcome_places].copy()
        if not self.ranks:
            size = len(self.model.coefficients)
            moments, now = self.columns.moments, given[size:]
            # The same probit for a score standardised by other moments.
            for i in range(self._n_scores):
                k[0] += k[i + 1] * (now[2 * i] - moments[2 * i]) / moments[2 * i + 1]
                k[i + 1] *= now[2 * i + 1] / moments[2 * i + 1]
        k_b, r_ab = (k[2], given[-1]) if self._n_scores > 1 else (0.0, 0.0)
        sigma = 1 / np.sqrt(1 + k[1] ** 2 + k_b**2 + 2 * k[1] * k_b * r_ab)
        return float(sigma * (k[1] + k_b * r_ab)), float(-sigma * k[0])

    @cached_property
    def curve(self) -> OperatingCurve:
        """Rates at the observed scores (copula), or on a fine grid of normal cutoffs."""
        return self._curve_at(self._parameters, self._thresholds)

    @cached_property
    def _thresholds(self) -> FloatArray:
        """Thresholds of the curve: observed scores and, without ranks, a grid of cutoffs."""
        scores, scale = self.sample.counts.score, self.columns.scales[0]
        if self.ranks:
            return scores
        mean, spread = self.columns.moments[:2]
        thresholds = scale.unmap(mean + spread * CUTOFFS)
        if len(scores) <= MOST_EXACT_SCORES:
            thresholds = np.concatenate([thresholds, scores])
        return np.unique(thresholds)[::-1]

    def _curve_at(self, parameters: FloatArray, thresholds: FloatArray) -> OperatingCurve:
        """Return the curve at parameters; the shares of rows at each rank are taken as known."""
        rho, star = self.latent(parameters)
        scores = self.sample.counts.score
        if self.ranks:
            mass = np.bincount(self.sample.cell, self.weight, len(scores))
            cutoffs = -ndtri(np.cumsum(mass)[:-1] / mass.sum())
        else:
            mean, spread = parameters[len(self.model.coefficients) :][:2]
            cutoffs = (self.columns.scales[0].map(thresholds[:-1]) - mean) / spread
        tpr, fpr = gaussian_rates(cutoffs, rho, star)
        # Differences of 1e-16 between neighbours may have either sign.
        return OperatingCurve(
            np.concatenate([[np.inf], thresholds]),
            np.maximum.accumulate(np.concatenate([[0.0], tpr, [1.0]])),
            np.maximum.accumulate(np.concatenate([[0.0], fpr, [1.0]])),
            float(ndtr(-star)),
        )

    def value(self, at: MetricAt) -> float:
        """Value of a metric."""
        if at.metric == "correlation":
            return self.latent()[0]
        if at.threshold is None and at.prevalence is None and at.metric in CLOSED_FORM_METRICS:
            return float(getattr(self.curve, at.metric))
        share = 0.5 if self._cut(at) is None else self._flagged_share(at)
        return self._smooth(at, np.append(self._parameters, share))

    def variance(self, at: MetricAt, target: Target = "population") -> float:
        """Delta-method variance of a metric: rows and coefficients vary together."""
        contributions = self.contributions(at, target)
        return self.sample.variance(self.weight, contributions.influence, contributions.noise)

    def contributions(self, at: MetricAt, target: Target = "population") -> Contributions:  # noqa: ARG002 - of a population
        """Return what each row adds to a metric of the population that the normal shape is of."""
        share = 0.5 if self._cut(at) is None else self._flagged_share(at)
        centre = np.append(self._parameters, share)
        unit = np.clip(np.abs(centre), 1e-3, 1.0)
        if not self.ranks:  # means and spreads of scores, which may be of any size
            first, moments = len(self.model.coefficients), self.columns.moments
            unit[first : first + len(moments)] = np.repeat(moments[1::2], 2)
        step = STEP * unit
        gradient = _gradient(lambda here: self._smooth(at, here), centre, step)
        influence = self._influence @ gradient[:-1]
        if self._cut(at) is not None and self.ranks:
            influence = influence + gradient[-1] * (self._flagged(at) - share)
        return Contributions(influence, np.zeros(len(influence)))

    def roc(self, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
        """True-positive rates at given false-positive rates, and their covariance."""
        rho, star = self.latent()
        gradient = _gradient(lambda at: _roc(grid, *at), np.array([rho, star]), np.full(2, STEP))
        centre = self._parameters
        by_parameter = _gradient(
            lambda here: np.array(self.latent(here)), centre, np.full(len(centre), STEP)
        )
        spread = self.sample.covariance(self.weight, self._influence @ by_parameter.T)
        return _roc(grid, rho, star), gradient @ spread @ gradient.T

    def effective_labels(self, grid: FloatArray) -> FloatArray:
        """Return infinitely many: a smooth curve shows all the spread it has."""
        return np.full(len(grid), np.inf)

    def _cut(self, at: MetricAt) -> float | None:
        """Return the lowest score that is flagged; None where a metric is of the whole curve."""
        if at.top is None:
            return at.threshold
        return threshold_of_top(self.sample.counts, at.top)[0]

    def _flagged(self, at: MetricAt) -> FloatArray:
        """Return which part of each row is flagged."""
        if at.threshold is not None:
            return np.asarray(self.sample.score >= at.threshold, dtype=float)
        if at.top is None:
            return np.ones(len(self.sample.cell))
        return top_parts(self.sample.counts, at.top)[self.sample.cell]

    def _flagged_share(self, at: MetricAt) -> float:
        """Share of rows at or above a threshold, kept off 0 and 1."""
        total = float(self.weight.sum())
        share = float(self.weight @ self._flagged(at) / total)
        return min(max(share, 0.25 / total), 1 - 0.25 / total)

    def _point(
        self, threshold: float, parameters: FloatArray, share: float, prevalence: float | None
    ) -> OperatingPoint:
        rho, star = self.latent(parameters)
        if self.ranks:
            cutoff = -float(ndtri(share))
        else:
            size = len(self.model.coefficients)
            cutoff = (self.columns.scales[0].cutoff(threshold) - parameters[size]) / parameters[
                size + 1
            ]
        tpr, fpr = gaussian_rates(np.array([cutoff]), rho, star)
        positive = float(ndtr(-star)) if prevalence is None else prevalence
        return OperatingPoint(threshold, float(tpr[0]), float(fpr[0]), positive)

    def _smooth(self, at: MetricAt, centre: FloatArray) -> float:
        """Evaluate a metric as a smooth function of the parameters and the flagged share."""
        parameters, cut = centre[:-1], self._cut(at)
        if cut is not None:
            point = self._point(cut, parameters, float(centre[-1]), at.prevalence)
            return float(read_metric([point], at.metric, at.beta)[0])
        rho, star = self.latent(parameters)
        prevalence = float(ndtr(-star)) if at.prevalence is None else at.prevalence
        if at.metric in {"correlation", "prevalence"}:
            return float(rho if at.metric == "correlation" else prevalence)
        if at.metric not in CLOSED_FORM_METRICS:
            return self._of_masses(at, parameters, prevalence)
        area = gaussian_auc(rho, star)
        return area if at.metric == "roc_auc" else prevalence / 2 + (1 - prevalence) * area

    def _of_masses(self, at: MetricAt, parameters: FloatArray, prevalence: float) -> float:
        """Read a metric of every score, as average precision, from steps at observed scores."""
        counts = self.sample.counts
        curve = self._curve_at(parameters, counts.score)
        positive = prevalence * np.diff(curve.tpr)
        everyone = positive + (1 - prevalence) * np.diff(curve.fpr)
        return float(metric_values(counts, positive, everyone, at.metric, max_fpr=at.max_fpr))

    @cached_property
    def _influence(self) -> FloatArray:
        """Each row's share in the parameters."""
        theta = self.model.scores()
        if self.ranks:
            theta = theta + self._rank_scores(self.sample.score, self.columns.score, 1)
            if self._n_scores > 1 and self.columns.other is not None:
                other = np.asarray(self.sample.selection_score)
                theta = theta + self._rank_scores(other, self.columns.other, 2)
        parts = [theta @ self.model.covariance * self.weight.sum()]
        a, b = self.columns.score, self.columns.other
        if not self.ranks:
            for column, spread in zip((a, b), self.columns.moments[1::2], strict=False):
                if column is not None:
                    parts.append((spread * column)[:, None])
                    parts.append((spread * (column**2 - 1) / 2)[:, None])
        if self._n_scores > 1 and b is not None:
            r = self._score_correlation
            parts.append((a * b - 0.5 * r * (a**2 + b**2))[:, None])
        return np.column_stack(parts)

    def _rank_scores(self, values: FloatArray, column: FloatArray, place: int) -> FloatArray:
        """Find what a row adds to the others' log-likelihood gradients by shifting their ranks."""
        bend = (self.model.scores(place, STEP) - self.model.scores(place, -STEP)) / (2 * STEP)
        bend *= (self.weight / np.exp(log_density(column)) / self.weight.sum())[:, None]
        cell, middle = mid_ranks(values, self.weight)
        shifts = np.empty((len(middle), bend.shape[1]))
        for i, part in enumerate(bend.T):
            level = np.bincount(cell, part, len(middle))
            # A row moves up the ranks of all rows above it, and by one half those tied with it.
            shifts[:, i] = level.sum() - np.cumsum(level) + 0.5 * level - level @ middle
        return shifts[cell]


def _gradient(
    function: Callable[[FloatArray], float | FloatArray], centre: FloatArray, step: FloatArray
) -> FloatArray:
    """Differentiate by central differences; the last axis counts the parameters."""
    pairs = [(function(centre + move), function(centre - move)) for move in np.diag(step)]
    return np.stack([np.subtract(*pair) for pair in pairs], axis=-1) / (2 * step)


def _roc(grid: FloatArray, rho: float, star: float) -> FloatArray:
    tpr, fpr = gaussian_rates(CUTOFFS, min(max(rho, -1 + 1e-9), 1 - 1e-9), star)
    return np.interp(grid, fpr, tpr)
