"""Intervals of a selection model's metrics: scales, delta method, bootstrap."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from undercount.assume.selection.column_model import ColumnModel
from undercount.assume.selection.fit import SelectionFit
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate, delta_interval
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import Target
from undercount.metric_facts import FACTS, SCALE_RANGES, Scale

# What a selection model tells beside metrics.
MODEL_SCALES: dict[str, Scale] = {"prevalence": "logit", "correlation": "symmetric"}
# So many resamples must have a maximum; else the data are too thin for the model.
MIN_SHARE_OF_RESAMPLES = 0.8
# Next to the end of a metric's range, by how much an end may be farther than the plain one: the
# exact limits of one Poisson case are 1 + 4.57, the plain ones 1 + 1.96.
FARTHEST = 2.5


def metric_scale(metric: str) -> Scale:
    """Return the scale on which a metric's errors are nearly normal."""
    return MODEL_SCALES.get(metric) or FACTS[metric].scale


def interval_scale(metric: str, *values: float) -> Scale:
    """Choose the scale of a metric's interval; at the very end of its range, the plain one."""
    scale = metric_scale(metric)
    low, high = SCALE_RANGES[scale]
    return scale if all(low < value < high for value in values) else "plain"


def rival_estimate(
    fits: Sequence[SelectionFit], at: MetricAt, level: float, target: Target = "population"
) -> Estimate:
    """Value of the first fit, and an interval that holds those of all that are as likely."""
    estimates = [delta_estimate(fit, at, level, target) for fit in fits]
    ends = [estimate.low for estimate in estimates], [estimate.high for estimate in estimates]
    return replace(estimates[0], low=min(ends[0]), high=max(ends[1]))


def delta_estimate(
    fit: SelectionFit, at: MetricAt, level: float, target: Target = "population"
) -> Estimate:
    """Interval from the delta method on the metric's own scale."""
    reader = fit.reader(at.metric)
    value = reader.value(at)
    error = float(np.sqrt(reader.variance(at, target)))
    if np.isnan(value):
        return Estimate(value, value, value, value, level)
    if isinstance(fit.model, ColumnModel) and fit.model.keeps_labels:
        return _student_estimate(fit, at.metric, value, error, level)
    low, high = delta_interval(value, error, interval_scale(at.metric, value), reach_of(fit, level))
    return Estimate(value, float(low), float(high), error, level)


def reach_of(fit: SelectionFit, level: float, freedom: float = np.inf) -> float:
    """Return how many standard errors an interval reaches to either side.

    Where rows come in clusters Student's quantile is larger by as much as fewer units make it.
    """
    upper = 0.5 + level / 2
    rows, units = fit.sample.degrees()
    fewer = float(stdtrit(max(units - 1, 1.0), upper) / stdtrit(max(rows - 1, 1.0), upper))
    own = float(ndtri(upper)) if freedom == np.inf else float(stdtrit(freedom, upper))
    return own * fewer


def _student_estimate(
    fit: SelectionFit, metric: str, value: float, error: float, level: float
) -> Estimate:
    """Interval where labels count themselves: the rarer class decides how well its error is known.

    A metric at, or beyond, the end of its range is moved by half a positive, so that its scale
    still tells how far the truth may lie.

    Next to an end the scale stretches any error beyond bounds, since labels that stand for other
    rows may put a value there whose error is not small. No end is then farther from the value than
    `FARTHEST` times the plain interval's, which is beyond the exact limits of even one case.
    """
    counts = fit.sample.counts
    reach = reach_of(fit, level, 2 * min(counts.n_positive, counts.n_negative))
    centre, scale = value, interval_scale(metric, value)
    ends = SCALE_RANGES[metric_scale(metric)]
    if scale == "plain" and np.isfinite([value, *ends]).all():
        inside = np.clip(value, *ends)
        inside += (sum(ends) / 2 - inside) / (counts.n_positive + 1)
        centre, scale = float(inside), interval_scale(metric, float(inside))
    low, high = (float(end) for end in delta_interval(centre, error, scale, reach))
    if np.isfinite(ends).all():
        moved = (ends[1] - ends[0]) / 2 / (counts.n_positive + 1)
        low, high = unstretched_interval(value, (low, high), reach * error, ends, moved)
    return Estimate(value, min(low, value), max(high, value), error, level)


def unstretched_interval(
    value: float,
    interval: tuple[float, float],
    half: float,
    ends: tuple[float, float],
    moved: float,
) -> tuple[float, float]:
    """Return an interval that an end of the range has not stretched; it goes as far as that end."""
    (low, high), (least, most) = interval, ends
    inside, farthest = min(max(value, least), most), max(FARTHEST * half, moved)
    if low < inside - farthest and inside + half > most:
        return inside - farthest, most
    if high > inside + farthest and inside - half < least:
        return least, inside + farthest
    return low, high


def draw_weights(
    fit: SelectionFit, n_resamples: int, random_state: int | None
) -> Iterator[FloatArray]:
    """Draw rows, or whole units, anew: how often each of them is there, times what it weighs."""
    generator, unit = np.random.default_rng(random_state), fit.sample.unit
    for _ in range(n_resamples):
        if unit is None:
            total = round(float(fit.weight.sum()))
            yield generator.multinomial(total, fit.weight / fit.weight.sum()).astype(float)
        else:
            size = int(unit.max()) + 1
            yield fit.weight * generator.multinomial(size, np.full(size, 1 / size))[unit]


def draw_fits(
    fit: SelectionFit, n_resamples: int, random_state: int | None
) -> list[SelectionFit | None]:
    """Fit the model again to resampled rows; None where a resample has no maximum."""
    fits: list[SelectionFit | None] = []
    for weight in draw_weights(fit, n_resamples, random_state):
        try:
            fits.append(fit.refit(weight))
        except InputError:  # a resample without one class, or separated
            fits.append(None)
    fitted = sum(refit is not None for refit in fits)
    if fitted < MIN_SHARE_OF_RESAMPLES * n_resamples:
        raise InputError(
            f"only {fitted} of {n_resamples} resamples could be fitted; too few labels for a "
            "bootstrap. Look at more rows"
        )
    return fits


def drawn_interval(value: float, drawn: FloatArray, level: float) -> tuple[float, float, float]:
    """Return the ends of a percentile interval, which holds the value, and the standard error."""
    tail = (1 - level) / 2
    low, high = (float(end) for end in np.nanquantile(drawn, [tail, 1 - tail]))
    return min(low, value), max(high, value), float(np.nanstd(drawn))


def bootstrap_estimate(
    fit: SelectionFit, at: MetricAt, level: float, drawn: Sequence[SelectionFit | None]
) -> Estimate:
    """Percentile interval of a metric over models fitted again to resampled rows."""
    value = fit.reader(at.metric).value(at)
    values = np.array([refit.reader(at.metric).value(at) for refit in drawn if refit is not None])
    return Estimate(value, *drawn_interval(value, values, level), level)
