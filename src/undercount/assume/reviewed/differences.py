"""Differences of models on rows that were looked at: what a verdict adds to one less the other."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from undercount.count.kernel.rows import cell_places
from undercount.curve import NO_ROWS_ROUNDING, FloatArray
from undercount.errors import InputError, named
from undercount.estimate import Estimate
from undercount.infer.difference import Chance, Difference, Question, better_chance, possible_ends
from undercount.infer.mass_gradients import MassGradient, metric_values, without_rounding
from undercount.infer.reviews.audited_rows import AuditedRows, chance_by_models
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.ends import PATH, moved_interval, sides_of
from undercount.infer.reviews.intervals import METHOD, ReviewedMetrics
from undercount.infer.reviews.verdicts import AuditedCells, Reviews
from undercount.infer.scored_rows import ScoredRows
from undercount.metric_facts import FACTS

# A pair of models, and of their metrics with gradients.
Models = tuple["ReviewedModel", "ReviewedModel"]
Gradients = tuple[MassGradient, MassGradient]
# Where p-values are searched: an interval of level 0 is a point.
MOST_P_VALUE, P_VALUE_HALVINGS = 0.999, 12


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
    """One model's estimator on the rows that were looked at, and the cells of all rows.

    Attributes
    ----------
    prevalence : float, optional
        Share of positives where metrics are to hold; None: these rows.
    """

    metrics: ReviewedMetrics
    labels: NDArray[np.int8]
    cell: NDArray[np.intp]
    threshold: float | None
    weights: FloatArray | None = field(default=None, kw_only=True)
    prevalence: float | None = field(default=None, kw_only=True)

    def of_metric(self, metric: str) -> "ReviewedModel":
        """Return the model as a metric needs it."""
        own = self.metrics.of_metric(metric)
        return self if own is self.metrics else replace(self, metrics=own)

    def gradient(self, metric: str) -> MassGradient:
        """Return a metric with its gradient."""
        return self.metrics.gradient(metric, **self._place(metric))

    def _place(self, metric: str) -> dict[str, Any]:
        at = self.threshold if FACTS[metric].family == "threshold" else None
        return {"threshold": at, "prevalence": self.prevalence}

    def along(self, metric: str, more: FloatArray) -> FloatArray:
        """Return how far a metric moves along the way to so many more positives among the rows."""
        cells = self.metrics.cells
        way = np.multiply.outer(np.array([0.0, *PATH]), self.metrics.more_by_cell(more))
        at = self.metrics.positives(metric) + way
        if metric == "average_precision":  # read where rows can have positives, as its value is
            at = np.clip(at, 0.0, cells.everyone)
        values = metric_values(cells.counts, at, cells.everyone, metric, **self._place(metric))
        return np.asarray(values[1:] - values[0])

    def moves(self, gradient: MassGradient, metric: str) -> FloatArray:  # noqa: ARG002 - any metric
        """Return how far a metric moves if a row of each unit turns out to be positive."""
        return self.metrics.moves(gradient)

    def spreads(self, metric: str) -> bool:  # noqa: ARG002 - where they are found
        """Whether verdicts count where their whole stratum is, not where they are."""
        return False

    def shown_errors(self, gradient: MassGradient) -> FloatArray | None:  # noqa: ARG002
        """Return what each verdict errs by, as verdicts show it, if that is looked at."""
        return None


@dataclass(frozen=True, eq=False)
class AuditedModel(ReviewedModel):
    """One model's estimator on audited rows, each of which stands for others of its scores."""

    finer: "AuditedModel | None" = None

    def of_metric(self, metric: str) -> "AuditedModel":
        """Return the model with as many cells as a metric needs."""
        return self.finer if metric == "average_precision" and self.finer else self

    @property
    def rows(self) -> AuditedRows:
        """What the audit says row by row."""
        return cast("AuditedRows", self.metrics.cells)

    def moves(self, gradient: MassGradient, metric: str) -> FloatArray:
        """Return how far a metric moves if a row turns out to be positive.

        Average precision is read where verdicts are spread over their stratum, so that it moves by
        the mean there.
        """
        moves = self.rows.moves(gradient.turned)
        return self.rows.stratum_means(moves) if self.spreads(metric) else moves

    def spreads(self, metric: str) -> bool:
        """Whether verdicts count where their whole stratum is, not where they are."""
        return metric == "average_precision"

    def shown_errors(self, gradient: MassGradient) -> FloatArray:
        """Return what each verdict errs by, as verdicts themselves show it.

        Either model has strata of its own, and where two models are nearly alike, what these
        differ by is much of the error: with the strata of one model alone the errors of models that
        share nine tenths of their noise were .9 of what they are, with these 1.1.
        """
        rows = self.rows
        stratum, drawn = rows.verdict_stratum, rows.reviewed_rows
        moves = rows.moves(gradient.turned)[rows.place]
        excess = (rows.verdict - rows.at_verdicts(rows.posterior)) * moves * rows.weight
        middle = np.bincount(stratum, excess, len(drawn)) / drawn
        beside = (drawn / np.maximum(drawn - 1, 1))[stratum]
        error = rows.stands_for * (rows.stands_for + 1) * beside
        return np.sqrt(error) * (excess - middle[stratum])


def audited_models(
    cells: Mapping[str, AuditedCells],
    models: Mapping[str, ScoredRows],
    thresholds: Mapping[str, float],
    confidence_level: float,
    clusters: ReviewClusters | None = None,
) -> dict[str, AuditedModel]:
    """Put what the audited rows say of every row beside each model's cells."""
    rows = {name: model.rows("assume") for name, model in models.items()}
    first = next(iter(rows.values()))
    scores = {name: np.asarray(each.scores) for name, each in rows.items()}
    chance = chance_by_models(cells, scores, first.labels, first.weights)
    found = {}
    for name, whole in cells.items():
        finer = None
        for part in (whole.finer, whole):
            units = AuditedRows.of(part, first.labels, scores[name], chance, first.weights)
            level = confidence_level
            metrics = ReviewedMetrics(units, confidence_level=level, clusters=clusters)
            place = cell_places(part.counts.score, scores[name].astype(np.float64))
            about = metrics, first.labels, place, thresholds.get(name)
            finer = AuditedModel(*about, finer, weights=first.weights)
        found[name] = cast("AuditedModel", finer)
    return found


def reviewed_differences(
    models: Mapping[str, ReviewedModel],
    metric: str,
    values: Mapping[str, float],
    level: float,
    question: Question,
    needs: tuple[str, ...],
) -> list[Difference]:
    """Return the difference of each pair of models in one metric.

    Both metrics are sums over the same rows that were looked at, each of which stands for others:
    what it adds to the one less what it adds to the other is what a difference varies by.

    Parameters
    ----------
    models : mapping
        Name of each model → what verdicts say of it.
    metric : str
    values : mapping
        Name of each model → its own estimate.
    level : float
    question : {"population", "rows"}
    needs : tuple of str
        What differences rest on.

    Notes
    -----
    Assumes: rows were drawn by the plan, or at random by the audit, and verdicts are right.
    Wrong when: somebody chose which rows to look at, by another model's score say.
    """
    asked = {name: model.of_metric(metric) for name, model in models.items()}
    gradients = {name: model.gradient(metric) for name, model in asked.items()}
    differences = []
    for one, other in itertools.combinations(models, 2):
        value = values[one] - values[other]
        pair = PairedModels(
            metric,
            (asked[one], asked[other]),
            (gradients[one], gradients[other]),
            0.0 if abs(value) <= NO_ROWS_ROUNDING else value,
            population=question == "population",
        )
        differences.append(pair.difference((one, other), level, question, needs))
    return differences


@dataclass(frozen=True, eq=False)
class PairedModels:
    """Two models in one metric."""

    metric: str
    models: Models
    gradients: Gradients
    value: float
    population: bool

    @cached_property
    def moves(self) -> FloatArray:
        """How far the difference moves if a row turns out to be positive, as verdicts show it."""
        one, other = (
            model.moves(gradient, self.metric)
            for model, gradient in zip(self.models, self.gradients, strict=True)
        )
        return without_rounding(one - other, sum(g.rounding for g in self.gradients))

    @cached_property
    def drawn(self) -> tuple[float, float, ReviewedModel]:
        """Variance by the draw of the rows, its freedom, and the model of the wider one.

        Positives are looked for by the plan's score and each model's: the wider answer counts.
        """
        found = [(*model.metrics.drawn_variance(self.moves), model) for model in self.models]
        variance, freedom, model = found[wider_of(*(float(each[0]) for each in found))]
        return float(variance), float(freedom), model

    @cached_property
    def row_variance(self) -> float:
        """Variance that rows add: where positives lie in a stratum, and that other rows differ."""
        one, share = self.models[0], self._share
        found = 0.0
        if one.spreads(self.metric):
            pairs = zip(self.models, self.gradients, strict=True)
            within = np.subtract(*(m.metrics.cells.moves(g.turned) for m, g in pairs)) - self.moves
            unlabeled = one.metrics.cells.unlabeled
            found += float(unlabeled**2 * share * (1 - share) @ within**2)
        if self.population:
            positive, negative = self._adds
            chance = self._row_chance
            found += float(chance @ positive**2 + (1 - chance) @ negative**2)
        return found

    @property
    def _share(self) -> FloatArray:
        """How likely each unit is positive, after what strata showed."""
        return self.drawn[2].metrics.shares.share

    @cached_property
    def _row_chance(self) -> FloatArray:
        """How likely each row is positive: labels say so, or verdicts on others."""
        labels, share = self.models[0].labels, self._share
        chance = np.where(labels == 1, 1.0, 0.0)
        chance[labels == -1] = share[labels == -1] if len(share) == len(labels) else share
        return chance

    @cached_property
    def _adds(self) -> tuple[FloatArray, FloatArray]:
        """What each row adds to the difference if it is positive, and if it is negative."""
        one, other = self.models
        positive, negative = (
            getattr(self.gradients[0], kind)[one.cell]
            - getattr(self.gradients[1], kind)[other.cell]
            for kind in ("positive", "negative")
        )
        weights = 1.0 if one.weights is None else one.weights
        return weights * positive, weights * negative

    @cached_property
    def _verdict_variance(self) -> float:
        """Variance by the draw of the rows, as strata leave it open and verdicts show it."""
        drawn, _, wider = self.drawn
        pairs = zip(self.models, self.gradients, strict=True)
        one, other = (model.shown_errors(gradient) for model, gradient in pairs)
        if one is None or other is None or wider.spreads(self.metric):
            return drawn
        return (drawn + wider.metrics.sum_of_squares(one - other)) / 2

    @cached_property
    def chance(self) -> Chance:
        """How the difference varies."""
        variance, freedom = self._verdict_variance + self.row_variance, self.drawn[1]
        metrics = self.drawn[2].metrics
        if self.population and metrics.clusters is not None:
            variance, freedom = metrics.widened(variance, freedom, *self._adds)
        return Chance(math.sqrt(variance), freedom)

    def difference(
        self, names: tuple[str, str], level: float, question: Question, needs: tuple[str, ...]
    ) -> Difference:
        """Return the difference with its interval and p-value."""
        value, chance = self.value, self.chance
        low, high = math.nan, math.nan
        rows = max(chance.error**2 - self._verdict_variance, 0.0)
        if not math.isnan(value):
            low, high = self.ends(level, chance, rows)
        p_value = chance.p_value(chance.score(value))
        if low <= 0 <= high:  # nor does a test reject what the interval holds
            alike = chance.error == low == high == 0
            p_value = 1.0 if alike else self._agreeing(p_value, level, rows)
        estimate = Estimate(value, low, high, chance.error, level, needs, METHOD)
        better = better_chance(value if FACTS[self.metric].higher_is_better else -value, p_value)
        return Difference(
            self.metric,
            *names,
            difference=estimate,
            better_probability=better,
            p_value=p_value,
            adjusted_p_value=p_value,
            depends_on_prevalence=False,
            crossover=math.nan,
            question=question,
        )

    def _agreeing(self, p_value: float, level: float, rows: float) -> float:
        """Return the p-value of an interval that holds 0: 1 less the level at which it ends there.

        That of the linear test, where it says the same.
        """
        least, most = 1 - level, MOST_P_VALUE
        if p_value >= least:
            return p_value
        for _ in range(P_VALUE_HALVINGS):
            middle = (least + most) / 2
            low, high = self.ends(1 - middle, self.chance, rows)
            least, most = (middle, most) if low <= 0 <= high else (least, middle)
        return least

    def ends(self, level: float, chance: Chance, rows: float) -> tuple[float, float]:
        """Return the ends: linear ones, or those of moved hidden positives where these are wider.

        `rows` is the part of the variance that other rows add. Where a handful of positives that
        one model alone flags makes a difference lopsided, linear ends cover .88 with 100 reviews.
        """
        risk = (1 - level) / 2
        student = float(stdtrit(chance.freedom, 1 - risk))
        wider, half = self.drawn[2], student * chance.error
        metrics, far = wider.metrics, student * math.sqrt(rows)

        def read(more: FloatArray) -> FloatArray:
            one, other = (model.along(self.metric, more) for model in self.models)
            return np.asarray(one - other)

        spread = wider.spreads(self.metric)
        gaps = moved_interval(
            sides_of(metrics.cells, metrics.shares, self.moves, spread=spread),
            read,
            risk,
            metrics.draw_effect(self.moves)[0] * (student / float(ndtri(1 - risk))) ** 2,
            (-far, far),
        )
        low, high = min(-half, float(gaps.low)), max(half, float(gaps.high))
        return possible_ends(self.metric, self.value, self.value + low, self.value + high)


def difference_ends(
    models: Models, gradients: Gradients, metric: str, level: float, variance: float, freedom: float
) -> tuple[float, float]:
    """Return the ends of a difference's interval if its variance is known."""
    value = float(gradients[0].value - gradients[1].value)
    pair = PairedModels(metric, models, gradients, value, population=False)
    rows = max(variance - pair.drawn[0], 0.0)
    return pair.ends(level, Chance(math.sqrt(variance), freedom), rows)


def drawn_variance(models: Models, gradients: Gradients, metric: str) -> tuple[float, float]:
    """Return the variance that the draw of reviews causes, and its degrees of freedom."""
    return PairedModels(metric, models, gradients, 0.0, population=False).drawn[:2]


def wider_of(one: float, other: float) -> int:
    """Return the place of the larger variance; of two that only rounding tells apart the first."""
    return int(other > one * (1 + NO_ROWS_ROUNDING))
