"""Differences of models on audited rows: what each known row adds to the one less to the other."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from scipy.special import ndtri, stdtrit

from undercount.assume.reviewed.differences import ReviewedModel, wider_of
from undercount.count.kernel.rows import cell_places
from undercount.curve import FloatArray
from undercount.estimate import Estimate
from undercount.infer.difference import Chance, Difference, Question, better_chance, possible_ends
from undercount.infer.mass_gradients import MassGradient, without_rounding
from undercount.infer.reviews.audited_rows import AuditedRows, chance_by_models
from undercount.infer.reviews.ends import moved_interval, sides_of
from undercount.infer.reviews.intervals import METHOD, ReviewedMetrics
from undercount.infer.reviews.verdicts import AuditedCells
from undercount.infer.scored_rows import ScoredRows
from undercount.metric_facts import FACTS, RANDOM_AUDIT


@dataclass(frozen=True, eq=False)
class AuditedModel(ReviewedModel):
    """One model's estimator on the audited rows, with the table of its evaluation."""

    table: Mapping[str, Estimate]
    finer: "AuditedModel | None" = None

    def asked(self, metric: str) -> "AuditedModel":
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
        return self.rows.stratum_means(moves) if metric == "average_precision" else moves


def audited_models(
    cells: Mapping[str, AuditedCells],
    models: Mapping[str, ScoredRows],
    tables: Mapping[str, Mapping[str, Estimate]],
    thresholds: Mapping[str, float],
    confidence_level: float,
) -> dict[str, AuditedModel]:
    """Put what the audited rows say of every row beside each model's cells and estimates."""
    rows = {name: model.rows("RandomAudit") for name, model in models.items()}
    labels = next(iter(rows.values())).labels
    scores = {name: np.asarray(each.scores) for name, each in rows.items()}
    chance = chance_by_models(cells, scores, labels)
    found = {}
    for name, whole in cells.items():
        made: list[AuditedModel] = []
        for part in (whole.finer, whole):
            units = AuditedRows.of(part, labels, scores[name], chance)
            metrics = ReviewedMetrics(units, confidence_level=confidence_level)
            place = cell_places(part.counts.score, scores[name].astype(np.float64))
            finer, at = made[0] if made else None, thresholds.get(name)
            made.append(AuditedModel(metrics, labels, place, at, tables[name], finer))
        found[name] = made[-1]
    return found


def audited_differences(
    models: Mapping[str, AuditedModel], metric: str, level: float, question: Question
) -> list[Difference]:
    """Return the difference of each pair of models in one metric.

    Both metrics are sums over the same audited rows, each of which stands for others of its scores:
    what it adds to the one less what it adds to the other is what a difference varies by.

    Parameters
    ----------
    models : mapping
        Name of each model → what the audited rows say of it.
    metric : str
    level : float
    question : {"population", "rows"}

    Notes
    -----
    Assumes: the audited rows are a random sample of all rows, and their verdicts are right.
    Wrong when: somebody chose which rows to look at, by another model's score say.
    """
    asked = {name: model.asked(metric) for name, model in models.items()}
    gradients = {name: model.gradient(metric) for name, model in asked.items()}
    return [
        _difference(metric, names, asked, gradients, level, question)
        for names in itertools.combinations(models, 2)
    ]


def _difference(
    metric: str,
    names: tuple[str, str],
    models: Mapping[str, AuditedModel],
    gradients: Mapping[str, MassGradient],
    level: float,
    question: Question,
) -> Difference:
    pair = _Pair(
        metric,
        (models[names[0]], models[names[1]]),
        (gradients[names[0]], gradients[names[1]]),
        population=question == "population",
    )
    value, chance = pair.value, pair.chance
    low, high = pair.ends(chance, level) if not math.isnan(value) else (math.nan, math.nan)
    p_value = chance.p_value(chance.score(value))
    if low <= 0 <= high:  # nor does a test reject what the interval holds
        p_value = max(p_value, 1 - level)
    if chance.error == 0 and low == high == 0:
        p_value = 1.0
    estimate = Estimate(value, low, high, chance.error, level, ("reviews", RANDOM_AUDIT), METHOD)
    better = better_chance(value if FACTS[metric].higher_is_better else -value, p_value)
    return Difference(
        metric,
        *names,
        difference=estimate,
        better_probability=better,
        p_value=p_value,
        adjusted_p_value=p_value,
        depends_on_prevalence=False,
        crossover=math.nan,
        question=question,
    )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two models in one metric."""

    metric: str
    models: tuple[AuditedModel, AuditedModel]
    gradients: tuple[MassGradient, MassGradient]
    population: bool

    @property
    def value(self) -> float:
        """The difference of the two evaluations."""
        one, other = (model.table[self.metric].value for model in self.models)
        return one - other

    @cached_property
    def moves(self) -> FloatArray:
        """How far the difference moves if a row turns out to be positive, as verdicts show it."""
        one, other = (
            m.moves(g, self.metric) for m, g in zip(self.models, self.gradients, strict=True)
        )
        return without_rounding(one - other, sum(g.rounding for g in self.gradients))

    @cached_property
    def drawn(self) -> tuple[float, float, AuditedModel]:
        """Variance by the draw of the audited rows, its freedom, and the model of the wider one.

        Either model's strata may be those in which verdicts count.
        """
        found = [(*model.metrics.drawn_variance(self.moves), model) for model in self.models]
        variance, freedom, model = found[wider_of(*(float(each[0]) for each in found))]
        return float(variance), float(freedom), model

    @cached_property
    def row_variance(self) -> float:
        """Variance that rows add: where positives lie in a stratum, and that other rows differ."""
        one, other = self.models
        share = self.drawn[2].metrics.shares.share
        found = 0.0
        if self.metric == "average_precision":
            pairs = zip(self.models, self.gradients, strict=True)
            within = np.subtract(*(m.rows.moves(g.turned) for m, g in pairs)) - self.moves
            found += float(one.rows.unlabeled * share * (1 - share) @ within**2)
        if self.population:
            positive, negative = (
                getattr(self.gradients[0], kind)[one.cell]
                - getattr(self.gradients[1], kind)[other.cell]
                for kind in ("positive", "negative")
            )
            share = np.where(one.labels == 1, 1.0, np.where(one.labels == 0, 0.0, share))
            found += float(share @ positive**2 + (1 - share) @ negative**2)
        return found

    @cached_property
    def chance(self) -> Chance:
        """How the difference varies."""
        drawn, freedom, _ = self.drawn
        if self.metric != "average_precision":
            drawn = (drawn + self._shown_variance()) / 2
        return Chance(math.sqrt(drawn + self.row_variance), freedom)

    def _shown_variance(self) -> float:
        """Return the variance by the draw as the audited rows themselves show it.

        Either metric has strata of its own, and where two models are nearly alike, what these
        differ by is much of the error: with the strata of one model alone the errors of models that
        share nine tenths of their noise were .9 of what they are, with these 1.1.
        """
        adds = np.zeros(len(self.models[0].rows.verdict))
        for sign, model, gradient in zip((1, -1), self.models, self.gradients, strict=True):
            rows = model.rows
            moves = rows.moves(gradient.turned)[rows.place]
            excess = (rows.verdict - rows.at_verdicts(rows.posterior)) * moves
            stratum, drawn = rows.verdict_stratum, rows.reviewed_rows
            middle = np.bincount(stratum, excess, len(drawn)) / drawn
            error = (
                rows.stands_for
                * (rows.stands_for + 1)
                * (drawn / np.maximum(drawn - 1, 1))[stratum]
            )
            adds += sign * np.sqrt(error) * (excess - middle[stratum])
        return float(adds @ adds)

    def ends(self, chance: Chance, level: float) -> tuple[float, float]:
        """Return the ends: linear ones, or those of moved hidden positives where these are wider.

        Where a handful of positives that one model alone flags makes a difference lopsided, linear
        ends miss it.
        """
        value, risk = self.value, (1 - level) / 2
        half = chance.quantile(level) * chance.error
        _, freedom, model = self.drawn
        student = float(stdtrit(freedom, 1 - risk))
        rows = student * math.sqrt(self.row_variance)

        def read(more: FloatArray) -> FloatArray:
            one, other = (each.along(self.metric, more) for each in self.models)
            return np.asarray(one - other)

        spread = self.metric == "average_precision"
        gaps = moved_interval(
            sides_of(model.rows, model.metrics.shares, self.moves, spread=spread),
            read,
            risk,
            (student / float(ndtri(1 - risk))) ** 2,
            (-rows, rows),
        )
        low, high = value + min(-half, float(gaps.low)), value + max(half, float(gaps.high))
        return possible_ends(self.metric, value, low, high)
