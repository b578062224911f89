"""Intervals of a selection model's metrics: scales, delta method, bootstrap."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from undercount.assume.selection.column_model import ColumnModel
from undercount.assume.selection.fit import SelectionFit
from undercount.errors import InputError
from undercount.estimate import Estimate, delta_interval
from undercount.metric_facts import FACTS, SCALE_RANGES, Scale

# What a selection model tells beside metrics.
MODEL_SCALES: dict[str, Scale] = {"prevalence": "logit", "correlation": "symmetric"}
FEWEST_RESAMPLES = 20
# So many resamples must have a maximum; else the data are too thin for the model.
ENOUGH = 0.8


def interval_scale(metric: str, *values: float) -> Scale:
    """Choose the scale of a metric's interval; at the very end of its range, the plain one."""
    scale = MODEL_SCALES.get(metric) or FACTS[metric].scale
    low, high = SCALE_RANGES[scale]
    return scale if all(low < value < high for value in values) else "plain"


def rival_estimate(
    fits: Sequence[SelectionFit], metric: str, threshold: float | None, level: float
) -> Estimate:
    """Value of the first fit, and an interval that holds those of all that are as likely."""
    found = [delta_estimate(fit, metric, threshold, level) for fit in fits]
    low, high = min(each.low for each in found), max(each.high for each in found)
    return replace(found[0], low=low, high=high)


def delta_estimate(
    fit: SelectionFit, metric: str, threshold: float | None, level: float
) -> Estimate:
    """Interval from the delta method on the metric's own scale."""
    reader = fit.reader(metric)
    value = reader.value(metric, threshold)
    error = float(np.sqrt(reader.variance(metric, threshold)))
    if isinstance(fit.model, ColumnModel) and fit.model.keeps_labels:
        return _student_estimate(fit, metric, value, error, level)
    reach = ndtri(0.5 + level / 2)
    low, high = delta_interval(value, error, interval_scale(metric, value), reach)
    return Estimate(value, float(low), float(high), error, level)


def _student_estimate(
    fit: SelectionFit, metric: str, value: float, error: float, level: float
) -> Estimate:
    """Interval where labels count themselves: the rarer class decides how well its error is known.

    A metric at, or beyond, the end of its range is moved by half a positive, so that its scale
    still tells how far the truth may lie.
    """
    counts = fit.sample.counts
    reach = stdtrit(2 * min(counts.n_positive, counts.n_negative), 0.5 + level / 2)
    centre, scale = value, interval_scale(metric, value)
    ends = SCALE_RANGES[MODEL_SCALES.get(metric) or FACTS[metric].scale]
    if scale == "plain" and np.isfinite([value, *ends]).all():
        inside = np.clip(value, *ends)
        inside += (sum(ends) / 2 - inside) / (counts.n_positive + 1)
        centre, scale = float(inside), interval_scale(metric, float(inside))
    low, high = (float(end) for end in delta_interval(centre, error, scale, reach))
    return Estimate(value, min(low, value), max(high, value), error, level)


def bootstrap_estimate(
    fit: SelectionFit,
    metric: str,
    threshold: float | None,
    level: float,
    n_resamples: int,
    random_state: int | np.random.Generator | None,
) -> Estimate:
    """Percentile interval of a metric over models fitted again to resampled rows."""
    if n_resamples < FEWEST_RESAMPLES:
        raise InputError(f"n_resamples must be at least {FEWEST_RESAMPLES}; got {n_resamples}")
    value = fit.reader(metric).value(metric, threshold)
    generator = np.random.default_rng(random_state)
    total = round(float(fit.weight.sum()))
    found = []
    for _ in range(n_resamples):
        drawn = generator.multinomial(total, fit.weight / fit.weight.sum()).astype(float)
        try:
            found.append(fit.refit(drawn).reader(metric).value(metric, threshold))
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
