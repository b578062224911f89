"""Differences of models on the same rows looked at, and what one threshold gains over another."""

import itertools
import math
from collections.abc import Mapping

import numpy as np

from undercount.assume.selection.empirical_curve import (
    EmpiricalReader,
    SignedReader,
    expected_variance,
    join_variances,
)
from undercount.assume.selection.fit import SelectionFit
from undercount.assume.selection.intervals import drawn_interval
from undercount.assume.selection.model import SelectedModel
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.decisions import BestThreshold, Goal
from undercount.infer.difference import (
    TARGET_OF,
    Chance,
    Difference,
    Question,
    better_chance,
    possible_ends,
)
from undercount.infer.heads import RatePoint
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_name import short_number
from undercount.infer.mixture import Target


def selected_differences(
    models: Mapping[str, SelectedModel], places: Mapping[str, MetricAt], question: Question
) -> list[Difference]:
    """Return the difference of each pair of models in one metric.

    What a row adds to the one model less what it adds to the other, squared and added up, is the
    variance of the difference. Where something unseen chose, whose likelihood is no parabola, both
    models are fitted again to the same resampled rows.

    Parameters
    ----------
    models : mapping
        Name of each model → its fit, to the same rows in the same order.
    places : mapping
        Name of each model → the metric, at its place.
    question : {"population", "rows"}

    Notes
    -----
    Assumes: what the models assume, for each of them.
    Wrong when: one of the models chose the rows, and the others do not know its score.
    """
    return [
        _difference((one, other), models, places, question)
        for one, other in itertools.combinations(models, 2)
    ]


def _difference(
    names: tuple[str, str],
    models: Mapping[str, SelectedModel],
    places: Mapping[str, MetricAt],
    question: Question,
) -> Difference:
    one, other = (models[name] for name in names)
    at = [places[name] for name in names]
    pairs = list(zip((one, other), at, strict=True))
    first, second = (model.fit.reader(at.metric).value(at) for model, at in pairs)
    error = (
        _drawn_error(pairs) if one.resampled else math.sqrt(_variance(pairs, TARGET_OF[question]))
    )
    chance, value = Chance(error, _freedom(one)), first - second
    metric, level = at[0].metric, one.confidence_level
    half = chance.quantile(level) * chance.error
    ends = possible_ends(metric, value, value - half, value + half)
    needs = tuple(dict.fromkeys((*one.needs, *other.needs)))
    estimate = Estimate(value, *ends, chance.error, level, needs, "paired, rows looked at")
    p_value = chance.p_value(chance.score(value))
    better = better_chance(value, p_value)
    return Difference(
        metric, *names, estimate, better, p_value, p_value, depends_on_prevalence=False,
        crossover=math.nan, question=question,
    )  # fmt: skip


def _variance(pairs: list[tuple[SelectedModel, MetricAt]], target: Target) -> float:
    """Return the variance of a difference: by the labels found, and by those to be expected."""
    readers = [model.fit.reader(at.metric) for model, at in pairs]
    parts = [
        reader.contributions(at, target) for reader, (_, at) in zip(readers, pairs, strict=True)
    ]
    sample, weight = readers[0].sample, readers[0].weight
    gap = parts[0].influence - parts[1].influence
    # The class of a row moves both models at once.
    noise = (np.sqrt(parts[0].noise) - np.sqrt(parts[1].noise)) ** 2
    variance = sample.variance(weight, gap, noise)
    terms = [
        SignedReader(sign, reader, at)
        for sign, reader, (_, at) in zip((1.0, -1.0), readers, pairs, strict=True)
        if isinstance(reader, EmpiricalReader) and reader.expects_other_labels
    ]
    if target == "dataset" or len(terms) < len(pairs):
        return variance
    expected = sample.cluster_effect(weight, gap) * expected_variance(terms)
    weighted = any(term.reader.weighs for term in terms)
    return join_variances(variance, expected, pairs[0][1].metric, weighted=weighted)


def _drawn_error(pairs: list[tuple[SelectedModel, MetricAt]]) -> float:
    """Return the standard error of a difference over the same resamples of the rows."""
    drawn = [_drawn_values(model, at) for model, at in pairs]
    return float(np.nanstd(drawn[0] - drawn[1]))


def _drawn_values(model: SelectedModel, at: MetricAt) -> FloatArray:
    return np.array(
        [math.nan if fit is None else fit.reader(at.metric).value(at) for fit in model.drawn]
    )


def _freedom(model: SelectedModel) -> float:
    """Return how many independent values the error of a difference rests on."""
    rows, units = model.sample.degrees()
    reader = model.fit.reader()
    if isinstance(reader, EmpiricalReader) and reader.expects_other_labels:
        counts = model.sample.counts
        own = 2 * min(counts.n_positive, counts.n_negative)
        return float(min(own, own * units / rows))
    return max(units - 1, 1.0)


def gain_of(model: SelectedModel, goal: Goal, over: float | None) -> BestThreshold:
    """Return the best threshold for a goal, and what it gains over another.

    Choosing the best of many thresholds flatters it: by how much, models tell that are fitted again
    to resampled rows, each of which chooses by itself.
    """
    curve = model.curve
    points = _points(curve)
    place = int(goal.choose(points))
    if place < 0:
        wanted = " and ".join(f"{name} >= {short_number(least)}" for name, least in goal.at_least)
        raise InputError(
            f"no threshold reaches {wanted or 'a possible value'}", argument="at_least"
        )
    threshold = float(curve.threshold[place])
    rates = float(curve.tpr[place]), float(curve.fpr[place]), curve.prevalence
    best = BestThreshold(threshold, *rates)
    values = goal.value(points)
    if over is None and goal.metric == "expected_cost":
        over = math.inf if values[0] >= values[-1] else -math.inf
    if over is None:
        return best
    other = _place(curve, over)
    if not np.isfinite([values[place], values[other]]).all():
        return best
    return BestThreshold(threshold, *rates, _gain(model, goal, place, over), over)


def _gain(model: SelectedModel, goal: Goal, place: int, over: float) -> Estimate:
    """Estimate what the best threshold gains; its interval holds the chance of the search."""
    curve = model.curve
    values, base = goal.value(_points(curve)), _place(curve, over)
    raw = float(values[place] - values[base])
    errors = [_error(fit, goal, curve, over) for fit in model.drawn if fit is not None]
    flattery = np.array([error for error in errors if np.isfinite(error)] or [0.0])
    value, level = raw - float(flattery.mean()), model.confidence_level
    low, high, error = drawn_interval(value, raw - flattery, level)
    return Estimate(value, low, high, error, level, model.needs, "rows drawn anew")


def _error(fit: SelectionFit, goal: Goal, truth: OperatingCurve, over: float) -> float:
    """Return by how much the best point of a resample looks better there than it is."""
    drawn = fit.reader().curve
    points = _points(drawn)
    chosen = int(goal.choose(points))
    if chosen < 0:
        return math.nan
    seen, real = goal.value(points), goal.value(_points(truth))
    threshold = float(drawn.threshold[chosen])
    gained = seen[chosen] - seen[_place(drawn, over)]
    return float(gained - (real[_place(truth, threshold)] - real[_place(truth, over)]))


def _points(curve: OperatingCurve) -> RatePoint:
    flagged = curve.prevalence * curve.tpr + (1 - curve.prevalence) * curve.fpr
    return RatePoint(curve.tpr, curve.fpr, curve.prevalence, flagged)


def _place(curve: OperatingCurve, threshold: float) -> int:
    """Return the corner of a curve at a threshold, whose first corner flags no row."""
    return int(np.count_nonzero(curve.threshold >= threshold)) - 1 if threshold < math.inf else 0
