"""Differences of models where positives are rarer or more frequent than in these rows.

Each model's rates are carried over to the prevalence there, as `Deployment` does for one, and what
a row adds to the one metric less what it adds to the other tells how the difference varies.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from undercount.assume.mixture import MixtureDesign, design_of
from undercount.curve import FloatArray
from undercount.read.chance_differences import paired_by_row
from undercount.read.deployed import (
    SAME_RATES,
    Deployment,
    at_cells,
    carried_precision,
    carried_rates,
)
from undercount.read.differences import AREAS, POINTS, Difference, Model, Paired, holm_adjusted
from undercount.read.evaluation import Evaluation
from undercount.read.intervals.clusters import ClusterRows, centred_parts
from undercount.read.intervals.heads import HeadCounts, RatePoint
from undercount.read.intervals.paired import ModelPairs, ModelRows, PairRows, SharedRows
from undercount.read.intervals.variance import Influence, Spread

if TYPE_CHECKING:
    from undercount.read.chances import Chances

# With the prevalence there given, no share of hidden positives here turns the order in these:
# precision follows from the ratio of the two rates, and that from the ratio of flagged rows.
FIXED_THERE = frozenset({"recall", "precision", "roc_auc", "lift_auc"})


@dataclass(frozen=True, eq=False)
class DeployedRows(ModelRows):
    """Hold the rows of a model whose average precision is that at another prevalence.

    Parameters
    ----------
    prevalence : float
        Share of positives there.
    """

    prevalence: float = math.nan

    @cached_property
    def by_jackknife(self) -> bool:
        """No row is left out: its influence is carried over."""
        return False

    @cached_property
    def precision(self) -> Influence:
        """What a row adds to average precision as a positive and, second, as a negative."""
        found = carried_precision(self.cells, self.design, self.prevalence)
        return Influence(0.0, found.positive, everyone=found.negative)


class DeployedModel(Model):
    """One model's rows, and what its metrics there are read from at any hidden share here."""

    def __init__(self, model: Model, prevalence: float) -> None:
        evaluation, rows = model.evaluation, model.rows
        self.prevalence = prevalence
        super().__init__(
            evaluation,
            DeployedRows(
                rows.counts,
                rows.scores,
                _population(evaluation),
                rows.cuts,
                rows.weights,
                prevalence,
            ),
        )
        self.table = {row.metric: row.estimate for row in evaluation.deployed(prevalence)}

    @cached_property
    def _there(self) -> Deployment:
        return Deployment(self.evaluation.counts, self.shares, self.prevalence)

    def _at(self, metric: str, cut: int | None, shares: FloatArray) -> FloatArray:
        if cut is not None:
            here = self._point(cut, shares)
            there = RatePoint(here.tpr, here.fpr, np.full(len(shares), self.prevalence))
            return there.metric(metric)
        if metric == "average_precision":
            designs = [self._there.design(self.shares.exact(float(s))) for s in shares]
            return np.array([self._there.mean_precision(each) for each in designs])
        found = super()._at("roc_auc", None, shares)
        low, scale = _on_lift(metric, self.prevalence)
        return low + scale * found

    def cluster_parts(self, metric: str, cut: int | None) -> list[FloatArray]:
        """Return what each row of a kind, if rows come in clusters, moves a metric there by."""
        at = None if cut is None else self.rows.cuts[cut].threshold
        counts = self.evaluation.counts_at(at)
        moves = Deployment(counts, self.shares, self.prevalence).moves(self.rows.design, metric, at)
        flagged = None if at is None else counts.score >= at
        parts = centred_parts(counts, moves, lambda value: at_cells(counts, value, flagged))
        return cast("ClusterRows", self.evaluation.clusters).of_rows(counts, parts)


class DeployedPairs(ModelPairs):
    """Standard errors of differences there."""

    def __init__(
        self,
        models: Sequence[ModelRows],
        prevalence: float,
        rows: SharedRows | None = None,
        design: MixtureDesign | None = None,
    ) -> None:
        super().__init__(models, rows, design)
        self.prevalence = prevalence

    def at(self, share: float) -> "DeployedPairs":
        """Return the same rows at another share of positives among the unlabeled ones."""
        design = replace(self.design, given="unlabeled_prevalence", value=share)
        moved = DeployedPairs(self.models, self.prevalence, self.rows, design)
        moved.flags = self.flags
        return moved

    def area_error(self, metric: str, one: int, other: int) -> float:
        """Return the standard error of the difference in an area there."""
        if metric != "average_precision":
            return _on_lift(metric, self.prevalence)[1] * super().area_error("roc_auc", one, other)
        positive, negative = np.eye(self.rows.functions)[-2:]
        gap = Influence(0.0, positive, negative, np.zeros(self.rows.functions))
        pair = PairRows(self.rows, one, other)
        return math.sqrt(float(Spread(self.design, pair, gap).variance))

    def _flag_influence(self, place: int, metric: str, cut: int) -> Influence:
        heads = HeadCounts(self.models[place].heads[cut], self.design)
        return carried_rates(heads, metric, self.prevalence)


class DeployedPaired(Paired):
    """Differences of every pair of models there, of the population behind these rows.

    Notes
    -----
    Assumes: positives there score as positives here, negatives as negatives, for every model.
    Wrong when: one of the models feels what else differs there more than another does.
    """

    def __init__(self, models: Mapping[str, Model], prevalence: float) -> None:
        made = {name: DeployedModel(model, prevalence) for name, model in models.items()}
        super().__init__(made, "population")
        self.errors = DeployedPairs([model.rows for model in made.values()], prevalence)
        self.fixed = self.fixed & FIXED_THERE


def deployed_differences(paired: Paired, prevalence: float) -> tuple[Difference, ...]:
    """Return the differences of every pair, metric by metric, at another prevalence."""
    first = next(iter(paired.models.values())).evaluation
    metrics = (*AREAS, *POINTS) if first.threshold is not None else AREAS
    if first.chances is not None:
        known = {name: model.evaluation for name, model in paired.models.items()}
        found = [_chance_differences(known, metric, prevalence) for metric in metrics]
    else:
        there = DeployedPaired(paired.models, prevalence)
        # A metric may not exist where rows allow a share that the population does not.
        held = [m for m in metrics if all(m in model.table for model in there.models.values())]
        found = [there.differences(m, 0 if m in POINTS else None) for m in held]
    return tuple(_named(each) for some in found for each in some)


def _named(found: Difference) -> Difference:
    """Return a difference that names what it needs beyond those of these rows."""
    gap = found.difference
    gap = replace(gap, needs=(*gap.needs, SAME_RATES), method=f"{gap.method}, carried over")
    return replace(found, difference=gap)


def _chance_differences(
    models: Mapping[str, Evaluation], metric: str, prevalence: float
) -> list[Difference]:
    """Return the differences there of models whose labels have chances of their own."""
    found = {name: _carried(each, metric, prevalence) for name, each in models.items()}
    values = {name: each[0] for name, each in found.items()}
    moves = {name: each[1] for name, each in found.items()}
    drawn = {name: each[2] for name, each in found.items()}
    return holm_adjusted(paired_by_row(metric, values, moves, drawn, "population"))


def _carried(
    evaluation: Evaluation, metric: str, prevalence: float
) -> "tuple[float, FloatArray, Chances]":
    """Return a metric there, what each row adds to it, and the rows with their chances."""
    at = evaluation.threshold if metric in POINTS else None
    there = Deployment.of_chances(cast("Chances", evaluation.chances), prevalence, at)
    chances, counts = cast("Chances", there.chances), there.counts
    flagged = None if at is None else counts.score >= at
    moves = there.moves(chances.design(counts), metric, at)
    rows = chances.influence_of(counts, moves, lambda value: at_cells(counts, value, flagged))
    return there.estimate(metric, at).value, _on_lift(metric, prevalence)[1] * rows, chances


def _on_lift(metric: str, prevalence: float) -> tuple[float, float]:
    """Return what is added to the ROC AUC, and what it is multiplied by, to have an area there."""
    return (prevalence / 2, 1 - prevalence) if metric == "lift_auc" else (0.0, 1.0)


def _population(evaluation: Evaluation) -> MixtureDesign:
    shares = evaluation.shares
    return design_of(evaluation.counts, shares, shares.sampling, "population")
