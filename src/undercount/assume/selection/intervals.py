"""Intervals of a selection model's metrics: delta method, profile likelihood, bootstrap."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from undercount.assume.selection.biprobit import LIMIT, BiprobitFit
from undercount.assume.selection.critical_values import LikelihoodField
from undercount.assume.selection.empirical_curve import EmpiricalReader
from undercount.assume.selection.gaussian_curve import GaussianReader
from undercount.assume.selection.latent_models import HiddenModel
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import (
    Estimate,
    Interval,
    delta_interval,
    from_scale,
    scale_slope,
    to_scale,
)
from undercount.metric_facts import SCALE_RANGES, Scale, metric_facts

CurveReader: TypeAlias = EmpiricalReader | GaussianReader
# What a selection model tells beside metrics.
MODEL_SCALES: dict[str, Scale] = {"prevalence": "logit", "correlation": "symmetric"}
COARSE = 17
FINE = 25
HALVINGS = 3
# Twice the log-likelihood lost where the scan ends: beyond what any interval needs.
FAR = 16.0
# In units of log-likelihood: a profile that decides between 0 and 4 needs no more.
ROUGH = 1e-5
TRIED, FEWEST_POINTS = 800, 3
SAME = 1e-6
STEP = 1e-5
FEWEST_RESAMPLES = 20
# So many resamples must have a maximum; else the data are too thin for the model.
ENOUGH = 0.8


def interval_scale(metric: str, *values: float) -> Scale:
    """Choose the scale of a metric's interval; at the very end of its range, the plain one."""
    scale = MODEL_SCALES.get(metric) or metric_facts(metric).scale
    low, high = SCALE_RANGES[scale]
    return scale if all(low < value < high for value in values) else "plain"


def delta_estimate(
    reader: CurveReader, metric: str, threshold: float | None, level: float
) -> Estimate:
    """Interval from the delta method on the metric's own scale."""
    value = reader.value(metric, threshold)
    error = float(np.sqrt(reader.variance(metric, threshold)))
    reach = ndtri(0.5 + level / 2)
    low, high = delta_interval(value, error, interval_scale(metric, value), reach)
    return Estimate(value, float(low), float(high), error, level)


@dataclass(frozen=True, eq=False)
class ProfilePoint:
    """Hold a fit at a given error correlation and twice the log-likelihood it loses."""

    error_correlation: float
    loss: float
    model: HiddenModel


def profile_points(model: HiddenModel) -> list[ProfilePoint]:
    """Fits at all error correlations that the data do not make absurd.

    The whole range is scanned, because the profile may have several humps.
    """
    best = model.fit

    def fit(angle: float, near: BiprobitFit) -> ProfilePoint:
        fitted = model.at_correlation(float(np.tanh(angle)), near, ROUGH)
        loss = 2 * (best.log_likelihood - fitted.fit.log_likelihood)
        return ProfilePoint(float(np.tanh(angle)), max(loss, 0.0), fitted)

    peak = fit(float(np.arctanh(best.error_correlation)), best)
    coarse = [peak]
    for side in (-1.0, 1.0):
        latest = peak
        for angle in np.linspace(-1, 1, COARSE) * np.arctanh(LIMIT) * side:
            if side * angle <= side * np.arctanh(peak.error_correlation):
                continue
            try:
                latest = fit(float(angle), latest.model.fit)
            except InputError:  # no maximum so far out: the range ends here
                break
            coarse.append(latest)
    coarse.sort(key=lambda point: point.error_correlation)
    ends = _scanned_ends(coarse, fit)
    inner = np.linspace(np.arctanh(ends[0]), np.arctanh(ends[1]), FINE)
    points = [peak]
    for angle in inner:
        near = min(coarse, key=lambda point: abs(np.arctanh(point.error_correlation) - angle))
        points.append(fit(float(angle), near.model.fit))
    points.sort(key=lambda point: point.error_correlation)
    # The peak may be one of the others.
    apart = np.diff([np.arctanh(point.error_correlation) for point in points]) > SAME
    return [points[0], *(point for point, new in zip(points[1:], apart, strict=True) if new)]


def _scanned_ends(
    coarse: Sequence[ProfilePoint],
    fit: Callable[[float, BiprobitFit], ProfilePoint],
) -> tuple[float, float]:
    """Outermost correlations of the scan, refined by halving towards the rejected neighbour."""
    ends = []
    for ordered in (list(coarse), list(coarse)[::-1]):
        place = next(i for i, point in enumerate(ordered) if point.loss <= FAR)
        inside = ordered[place]
        if place > 0:
            outside = float(np.arctanh(ordered[place - 1].error_correlation))
            for _ in range(HALVINGS):
                middle = 0.5 * (outside + float(np.arctanh(inside.error_correlation)))
                point = fit(middle, inside.model.fit)
                if point.loss <= FAR:
                    inside = point
                else:
                    outside = middle
        ends.append(inside.error_correlation)
    return ends[0], ends[1]


class ProfileReaders(NamedTuple):
    """Hold what reads metrics: at the maximum, along the profile, and at any other model."""

    best: CurveReader
    along: Sequence[CurveReader]
    read: Callable[[HiddenModel], CurveReader]


@dataclass(frozen=True, eq=False)
class Profile:
    """Hold a scan of the error correlation, and how its log-likelihoods vary together."""

    points: Sequence[ProfilePoint]
    field: LikelihoodField

    @property
    def angle(self) -> FloatArray:
        """Error correlations on the scale on which they are scanned."""
        return np.arctanh([point.error_correlation for point in self.points])

    @property
    def loss(self) -> FloatArray:
        """Twice the log-likelihood that each point loses to the best."""
        return np.array([point.loss for point in self.points])

    def estimate(
        self, readers: "ProfileReaders", metric: str, threshold: float | None, level: float
    ) -> Estimate:
        """Interval of a metric that follows the likelihood along the error correlation.

        Along r the likelihood is used as it is; across r, where it is close to a parabola, by the
        delta method: the statistic of a value x is the smallest, over r, of
        loss(r) + ((x - g(r)) / se(r))². It is compared with its simulated quantile at the r that
        attains the minimum.

        Parameters
        ----------
        readers : ProfileReaders
            At the maximum and at each point of the scan.
        """
        value = readers.best.value(metric, threshold)
        values = np.array([reader.value(metric, threshold) for reader in readers.along])
        scale = interval_scale(metric, float(values.min()), float(values.max()))
        centre, slope = to_scale(values, scale), scale_slope(values, scale)
        error = np.sqrt([reader.variance(metric, threshold) for reader in readers.along]) * slope
        error = np.maximum(error, 1e-9)
        drift = slope[:, None] * self._drift(readers, values, metric, threshold)
        critical = self.field.critical_values(centre, error, drift, level)
        ends = self._accept(centre, error, critical, float(to_scale(value, scale)))
        low, high = (float(end) for end in from_scale(ends, scale))
        reach = 2 * float(ndtri(0.5 + level / 2))
        return Estimate(value, min(low, value), max(high, value), (high - low) / reach, level)

    def _drift(
        self, readers: "ProfileReaders", values: FloatArray, metric: str, threshold: float | None
    ) -> FloatArray:
        """Differentiate the metric by each whitened score, at each point."""
        result = np.empty((len(values), len(self.points[0].model.fit.coefficients)))
        for i, point in enumerate(self.points):
            # The coefficients of the choice move no metric.
            places = range(result.shape[1])[point.model.outcome]
            found = [
                readers.read(point.model.move(place, STEP)).value(metric, threshold)
                for place in places
            ]
            result[i] = (np.array(found) - values[i]) / STEP @ point.model.whitening[places]
        return result

    def _accept(
        self, centre: FloatArray, error: FloatArray, critical: FloatArray, value: float
    ) -> tuple[float, float]:
        """Outermost values whose statistic is below its critical value."""
        angle, fine = self.angle, self.field.fine
        loss_at, centre_at, error_at, critical_at = (
            interpolate(angle, column, fine) for column in (self.loss, centre, error, critical)
        )
        reach = np.sqrt(FAR) * error_at
        tried = np.linspace((centre_at - reach).min(), (centre_at + reach).max(), TRIED)
        statistic = loss_at + ((np.append(tried, value)[:, None] - centre_at) / error_at) ** 2
        place = statistic.argmin(axis=1)
        kept = np.append(tried, value)[statistic.min(axis=1) <= critical_at[place]]
        return float(min(kept.min(), value)), float(max(kept.max(), value))

    def interval(self, level: float) -> Interval:
        """Error correlations that the likelihood does not reject."""
        angle, critical = self.angle, self.field.critical_losses(level)
        fine = np.unique(np.concatenate([angle, np.linspace(angle[0], angle[-1], TRIED)]))
        kept = fine[interpolate(angle, self.loss, fine) <= interpolate(angle, critical, fine)]
        best = float(angle[self.loss.argmin()])
        low, high = (
            min(float(kept.min(initial=best)), best),
            max(float(kept.max(initial=best)), best),
        )
        return Interval(float(np.tanh(low)), float(np.tanh(high)))


def interpolate(at: FloatArray, values: FloatArray, wanted: FloatArray) -> FloatArray:
    """Interpolate smoothly without inventing humps."""
    if len(at) < FEWEST_POINTS:
        return np.interp(wanted, at, values)
    result: FloatArray = PchipInterpolator(at, values)(wanted)
    return result


def bootstrap_estimate(
    value_at: Callable[[FloatArray], float],
    weight: FloatArray,
    value: float,
    level: float,
    n_resamples: int,
    random_state: int | np.random.Generator | None,
) -> Estimate:
    """Percentile interval of a metric over refitted resamples.

    Parameters
    ----------
    value_at : callable
        From weights of the rows to the metric of a model fitted to them.
    weight : array
        How many rows each row stands for.
    value : float
        The metric on the data themselves.
    level : float
        Confidence level.
    n_resamples : int
        How often to resample.
    random_state : int, generator or None
        Seed.
    """
    if n_resamples < FEWEST_RESAMPLES:
        raise InputError(f"n_resamples must be at least {FEWEST_RESAMPLES}; got {n_resamples}")
    generator = np.random.default_rng(random_state)
    total = round(float(weight.sum()))
    found = []
    for _ in range(n_resamples):
        drawn = generator.multinomial(total, weight / weight.sum()).astype(float)
        try:
            found.append(value_at(drawn))
        except InputError:  # a resample without one class, or separated
            continue
    if len(found) < ENOUGH * n_resamples:
        raise InputError(
            f"only {len(found)} of {n_resamples} resamples could be fitted; too few labels for a "
            "bootstrap. Use method='delta' or look at more rows"
        )
    tail = (1 - level) / 2
    low, high = (float(end) for end in np.quantile(found, [tail, 1 - tail]))
    return Estimate(value, min(low, value), max(high, value), float(np.std(found)), level)
