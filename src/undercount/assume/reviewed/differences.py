"""Differences of models on reviewed rows: what each verdict adds to the one less to the other."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from undercount.curve import ROUNDING, FloatArray
from undercount.errors import InputError, named
from undercount.estimate import Estimate
from undercount.infer.difference import Difference, Question, possible_ends
from undercount.infer.mass_gradients import MassGradient, metric_values, without_rounding
from undercount.infer.reviews.ends import PATH, Gaps, moved_interval, sides_of
from undercount.infer.reviews.intervals import METHOD, ReviewedMetrics
from undercount.infer.reviews.verdicts import Reviews
from undercount.metric_facts import FACTS


def plan_model(reviews: Reviews, scores: Mapping[str, NDArray[Any]]) -> str:
    """Return the model by whose scores the reviews were planned."""
    if reviews.rows is None:
        raise InputError(
            f"comparing models needs {named('reviews')} that know which rows were reviewed",
            argument="reviews",
        )
    for name, score in scores.items():
        inside = reviews.rows.max(initial=-1) < len(score)
        if inside and np.array_equal(score[reviews.rows].astype(np.float64), reviews.score):
            return name
    raise InputError(
        f"the {named('reviews')} were planned by the scores of none of {', '.join(scores)}; pass "
        "the model's scores that the plan was made with among them, and rows in the order that "
        "they had then",
        argument="reviews",
    )


@dataclass(frozen=True, eq=False)
class ReviewedModel:
    """One model's estimator on the reviewed rows, and the cells of all rows."""

    metrics: ReviewedMetrics
    labels: NDArray[np.int8]
    cell: NDArray[np.intp]
    threshold: float | None
    weights: FloatArray | None = field(default=None, kw_only=True)

    def gradient(self, metric: str) -> MassGradient:
        """Return a metric with its gradient."""
        return self.metrics.gradient(metric, self._place(metric))

    def _place(self, metric: str) -> float | None:
        return self.threshold if FACTS[metric].family == "threshold" else None

    def along(self, metric: str, more: FloatArray) -> FloatArray:
        """Return how far a metric moves along the way to so many more positives among the rows."""
        cells = self.metrics.cells
        way = np.multiply.outer(np.array([0.0, *PATH]), cells.by_cell(more))
        at = self.metrics.positives(metric) + way
        place = self._place(metric)
        found = metric_values(cells.counts, at, cells.everyone, metric, threshold=place)
        return np.asarray(found[1:] - found[0])


def reviewed_differences(
    models: Mapping[str, ReviewedModel], metric: str, level: float, question: Question
) -> list[Difference]:
    """Return the difference of each pair of models in one metric."""
    gradients = {name: model.gradient(metric) for name, model in models.items()}
    found = []
    for one, other in itertools.combinations(models, 2):
        pair = (models[one], models[other]), (gradients[one], gradients[other])
        variance, freedom = _variance(*pair, population=question == "population")
        value, error = _value(pair[1]), math.sqrt(variance)
        ends = difference_ends(*pair, metric, level, variance, freedom)
        estimate = Estimate(value, *ends, error, level, ("reviews",), METHOD)
        better = value if FACTS[metric].higher_is_better else -value
        if error > 0:
            chance = float(stdtr(freedom, better / error))
            p_value = 2 * float(stdtr(freedom, -abs(value) / error))
            if ends[0] <= 0 <= ends[1]:  # nor does a test reject what the interval holds
                p_value = max(p_value, 1 - level)
        else:
            chance = 0.5 + 0.5 * float(np.sign(better))
            p_value = 1.0 if value == 0 else 0.0
        names = (metric, one, other)
        found.append(
            Difference(*names, estimate, chance, p_value, p_value, False, math.nan, question)  # noqa: FBT003 - fields of a dataclass
        )
    return found


def difference_ends(
    models: tuple[ReviewedModel, ReviewedModel],
    gradients: tuple[MassGradient, MassGradient],
    metric: str,
    level: float,
    variance: float,
    freedom: float,
) -> tuple[float, float]:
    """Return the ends of a difference's interval: linear ones, or moved ones if these are wider."""
    value = _value(gradients)
    half = float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(variance)
    moved = _moved_ends(models, gradients, metric, level, variance, freedom)
    low, high = min(-half, float(moved.low)), max(half, float(moved.high))
    return possible_ends(metric, value, value + low, value + high)


def _moved_ends(
    models: tuple[ReviewedModel, ReviewedModel],
    gradients: tuple[MassGradient, MassGradient],
    metric: str,
    level: float,
    variance: float,
    freedom: float,
) -> Gaps:
    """Return how far a difference may lie below and above its value, by moving hidden positives.

    As for one metric, where a handful of positives that one model alone flags make it lopsided:
    linear intervals covered .88 with 100 reviews.
    """
    moves, risk = _moves(models, gradients), (1 - level) / 2
    found = [float(m.metrics.drawn_variance(moves)[0]) for m in models]
    drawn, wider = max(found), models[wider_of(*found)].metrics
    student = float(stdtrit(freedom, 1 - risk))
    rows = student * math.sqrt(max(variance - drawn, 0.0))

    def read(more: FloatArray) -> FloatArray:
        one, other = (model.along(metric, more) for model in models)
        return np.asarray(one - other)

    return moved_interval(
        sides_of(wider.cells, wider.shares, moves),
        read,
        risk,
        (student / float(ndtri(1 - risk))) ** 2,
        (-rows, rows),
    )


def _variance(
    models: tuple[ReviewedModel, ReviewedModel],
    gradients: tuple[MassGradient, MassGradient],
    *,
    population: bool,
) -> tuple[float, float]:
    """Return the variance of a difference and its degrees of freedom."""
    one, other = models
    variance, freedom = drawn_variance(models, gradients)
    if population:
        labels = one.labels
        positive, negative = (
            _gap(one.cell, other.cell, *(getattr(g, kind) for g in gradients))
            for kind in ("positive", "negative")
        )
        if one.weights is not None:
            positive, negative = one.weights * positive, one.weights * negative
        share = np.where(labels == 1, 1.0, 0.0)
        share[labels == -1] = one.metrics.shares.share
        variance += float(share @ positive**2 + (1 - share) @ negative**2)
        clusters, cells = one.metrics.clusters, one.metrics.cells
        if clusters is not None:
            at = clusters.reviewed
            excess = (cells.verdict - share[at]) * cells.stands_for * (positive - negative)[at]
            adds = share * positive + (1 - share) * negative
            return clusters.widened(variance, freedom, adds, excess)
    return variance, freedom


def drawn_variance(
    models: tuple[ReviewedModel, ReviewedModel], gradients: tuple[MassGradient, MassGradient]
) -> tuple[float, float]:
    """Return the variance that the draw of reviews causes, and its degrees of freedom."""
    moves = _moves(models, gradients)
    # Positives are looked for by the plan's score and each model's: the wider answer counts.
    found = [m.metrics.drawn_variance(moves) for m in models]
    return found[wider_of(*(float(variance) for variance, _ in found))]


def wider_of(one: float, other: float) -> int:
    """Return the place of the larger variance; of two that only rounding tells apart the first."""
    return int(other > one * (1 + ROUNDING))


def _value(gradients: tuple[MassGradient, MassGradient]) -> float:
    """Return the difference, 0 where only rounding tells two models apart."""
    value = float(gradients[0].value - gradients[1].value)
    return 0.0 if abs(value) <= ROUNDING else value


def _moves(
    models: tuple[ReviewedModel, ReviewedModel], gradients: tuple[MassGradient, MassGradient]
) -> FloatArray:
    """Return how far a difference moves if a row of each unit turns out to be positive."""
    one, other = (m.metrics.cells.moves(g.turned) for m, g in zip(models, gradients, strict=True))
    return without_rounding(one - other, gradients[0].rounding + gradients[1].rounding)


def _gap(one: NDArray[np.intp], other: NDArray[np.intp], *by_cell: FloatArray) -> FloatArray:
    return np.asarray(by_cell[0][one] - by_cell[1][other])
