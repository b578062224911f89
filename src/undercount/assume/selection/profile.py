"""Profile likelihood of the error correlation of eq. 15, and the intervals that follow it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from undercount.assume.selection.biprobit import LIMIT, BiprobitFit
from undercount.assume.selection.critical_values import LikelihoodField, likelihood_field
from undercount.assume.selection.fit import CurveReader, SelectionFit
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.intervals import interval_scale
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate, Interval, from_scale, scale_slope, to_scale
from undercount.infer.metric_at import MetricAt

COARSE = 17
FINE_POINTS = 25
PROFILE_HALVINGS = 3
# Twice the log-likelihood lost where the scan ends: beyond what any interval needs.
FAR = 16.0
# In units of log-likelihood: a profile that decides between 0 and 4 needs no more.
ROUGH = 1e-5
TRIED_VALUES, FEWEST_POINTS = 800, 3
SAME = 1e-6
STEP = 1e-5


@dataclass(frozen=True, eq=False)
class ProfilePoint:
    """Hold a fit at a given error correlation and twice the log-likelihood it loses."""

    loss: float
    model: HiddenModel

    @property
    def angle(self) -> float:
        """Error correlation on the scale on which it is scanned."""
        return float(np.arctanh(self.model.fit.error_correlation))


def scan_profile(fit: SelectionFit) -> "Profile":
    """Fit the model at error correlations all along, and sum up how their likelihoods vary."""
    if not isinstance(fit.model, HiddenModel):
        raise InputError(f"only 'unobserved' has an error correlation; got {fit.method!r}")
    points = profile_points(fit.model)
    return Profile(fit, points, likelihood_field([point.model for point in points]))


def profile_points(model: HiddenModel) -> list[ProfilePoint]:
    """Fits at all error correlations that the data do not make absurd.

    The whole range is scanned, because the profile may have several humps.
    """
    best = model.fit

    def fit(angle: float, near: BiprobitFit) -> ProfilePoint:
        fitted = model.at_correlation(float(np.tanh(angle)), near, ROUGH)
        loss = 2 * (best.log_likelihood - fitted.fit.log_likelihood)
        return ProfilePoint(max(loss, 0.0), fitted)

    peak = fit(float(np.arctanh(best.error_correlation)), best)
    coarse = [peak]
    for side in (-1.0, 1.0):
        latest = peak
        for angle in np.linspace(-1, 1, COARSE) * np.arctanh(LIMIT) * side:
            if side * angle <= side * peak.angle:
                continue
            try:
                latest = fit(float(angle), latest.model.fit)
            except InputError:  # no maximum so far out: the range ends here
                break
            coarse.append(latest)
    coarse.sort(key=lambda point: point.angle)
    points = [peak]
    for angle in np.linspace(*_scanned_ends(coarse, fit), FINE_POINTS):
        near = min(coarse, key=lambda point: abs(point.angle - angle))
        points.append(fit(float(angle), near.model.fit))
    points.sort(key=lambda point: point.angle)
    # The peak may be one of the others.
    apart = np.diff([point.angle for point in points]) > SAME
    return [points[0], *(point for point, new in zip(points[1:], apart, strict=True) if new)]


def _scanned_ends(
    coarse: Sequence[ProfilePoint], fit: Callable[[float, BiprobitFit], ProfilePoint]
) -> tuple[float, float]:
    """Outermost angles of the scan, refined by halving towards the rejected neighbour."""
    ends = []
    for ordered in (list(coarse), list(coarse)[::-1]):
        place = next(i for i, point in enumerate(ordered) if point.loss <= FAR)
        inside = ordered[place]
        if place > 0:
            outside = ordered[place - 1].angle
            for _ in range(PROFILE_HALVINGS):
                middle = 0.5 * (outside + inside.angle)
                point = fit(middle, inside.model.fit)
                if point.loss <= FAR:
                    inside = point
                else:
                    outside = middle
        ends.append(inside.angle)
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class Profile:
    """Hold a scan of the error correlation, and how its log-likelihoods vary together."""

    fit: SelectionFit
    points: Sequence[ProfilePoint]
    likelihoods: LikelihoodField
    _readers: dict[bool, list[CurveReader]] = field(default_factory=dict)

    @property
    def angle(self) -> FloatArray:
        """Error correlations on the scale on which they are scanned."""
        return np.array([point.angle for point in self.points])

    @property
    def loss(self) -> FloatArray:
        """Twice the log-likelihood that each point loses to the best."""
        return np.array([point.loss for point in self.points])

    def readers(self, metric: str) -> list[CurveReader]:
        """Return what reads a metric at each point; kept, for they are costly."""
        latent = metric == "correlation"
        if latent not in self._readers:
            self._readers[latent] = [self.fit.reader(metric, point.model) for point in self.points]
        return self._readers[latent]

    def estimate(self, at: MetricAt, level: float) -> Estimate:
        """Interval of a metric that follows the likelihood along the error correlation.

        Along r the likelihood is used as it is; across r, where it is close to a parabola, by the
        delta method: the statistic of a value x is the smallest, over r, of
        loss(r) + ((x - g(r)) / se(r))². It is compared with its simulated quantile at the r that
        attains the minimum.
        """
        value = self.fit.reader(at.metric).value(at)
        readers = self.readers(at.metric)
        values = np.array([reader.value(at) for reader in readers])
        scale = interval_scale(at.metric, float(values.min()), float(values.max()))
        centre, slope = to_scale(values, scale), scale_slope(values, scale)
        error = np.sqrt([reader.variance(at) for reader in readers]) * slope
        error = np.maximum(error, 1e-9)
        drift = slope[:, None] * self._drift(values, at)
        critical = self.likelihoods.critical_values(centre, error, drift, level)
        ends = self._accept(centre, error, critical, float(to_scale(value, scale)))
        low, high = (float(end) for end in from_scale(ends, scale))
        reach = 2 * float(ndtri(0.5 + level / 2))
        return Estimate(value, min(low, value), max(high, value), (high - low) / reach, level)

    def _drift(self, values: FloatArray, at: MetricAt) -> FloatArray:
        """Differentiate the metric by each whitened score, at each point."""
        result = np.empty((len(values), len(self.points[0].model.fit.coefficients)))
        for i, point in enumerate(self.points):
            # The coefficients of the choice move no metric.
            places = range(result.shape[1])[point.model.outcome_places]
            values_moved = [
                self.fit.reader(at.metric, point.model.move(place, STEP)).value(at)
                for place in places
            ]
            result[i] = (np.array(values_moved) - values[i]) / STEP @ point.model.whitening[places]
        return result

    def _accept(
        self, centre: FloatArray, error: FloatArray, critical: FloatArray, value: float
    ) -> tuple[float, float]:
        """Outermost values whose statistic is below its critical value."""
        angle, fine = self.angle, self.likelihoods.fine
        loss_at, centre_at, error_at, critical_at = (
            interpolate(angle, column, fine) for column in (self.loss, centre, error, critical)
        )
        reach = np.sqrt(FAR) * error_at
        tried = np.linspace((centre_at - reach).min(), (centre_at + reach).max(), TRIED_VALUES)
        statistic = loss_at + ((np.append(tried, value)[:, None] - centre_at) / error_at) ** 2
        place = statistic.argmin(axis=1)
        kept = np.append(tried, value)[statistic.min(axis=1) <= critical_at[place]]
        return float(min(kept.min(), value)), float(max(kept.max(), value))

    def interval(self, level: float) -> Interval:
        """Error correlations that the likelihood does not reject."""
        angle, critical = self.angle, self.likelihoods.critical_losses(level)
        fine = np.unique(np.concatenate([angle, np.linspace(angle[0], angle[-1], TRIED_VALUES)]))
        kept = fine[interpolate(angle, self.loss, fine) <= interpolate(angle, critical, fine)]
        kept = np.append(kept, angle[self.loss.argmin()])
        return Interval(float(np.tanh(kept.min())), float(np.tanh(kept.max())))


def interpolate(at: FloatArray, values: FloatArray, wanted: FloatArray) -> FloatArray:
    """Interpolate smoothly without inventing humps."""
    if len(at) < FEWEST_POINTS:
        return np.interp(wanted, at, values)
    return np.asarray(PchipInterpolator(at, values)(wanted))
