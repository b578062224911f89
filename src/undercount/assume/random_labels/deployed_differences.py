"""Differences of models where positives are rarer or more frequent than in these rows.

Each model's rates are carried over to the prevalence there, as `Deployment` does for one, and what
a row adds to the one metric less what it adds to the other tells how the difference varies.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from undercount.assume.base import Recovery
from undercount.assume.random_labels.differences import Model, Paired
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.clusters import ClusterRows, centred_parts
from undercount.infer.deployed import (
    Deployment,
    carried_precision,
    carried_rates,
    cell_values,
    lift_scale,
)
from undercount.infer.difference import AREAS, POINTS, Difference, carried_over
from undercount.infer.flagged_rows import Cut
from undercount.infer.heads import HeadCounts, RatePoint
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import MixtureDesign, design_of
from undercount.infer.paired import ModelPairs, ModelRows, PairRows, SharedRows
from undercount.infer.variance import Influence, Spread

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
        recovery, rows = model.recovery, model.rows
        self.prevalence = prevalence
        super().__init__(
            recovery,
            carried_table(recovery, prevalence, model.threshold),
            DeployedRows(
                rows.counts,
                rows.scores,
                _population(recovery),
                rows.cuts,
                rows.weights,
                prevalence,
            ),
        )

    @cached_property
    def _there(self) -> Deployment:
        return Deployment(self.recovery.counts, self.shares, self.prevalence)

    def _at(self, metric: str, cut: int | None, shares: FloatArray) -> FloatArray:
        if cut is not None:
            here = self._point(cut, shares)
            there = RatePoint(here.tpr, here.fpr, np.full(len(shares), self.prevalence))
            return there.metric(metric)
        if metric == "average_precision":
            designs = [self._there.design(self.shares.exact(float(s))) for s in shares]
            return np.array([self._there.mean_precision(each) for each in designs])
        found = super()._at("roc_auc", None, shares)
        low, scale = lift_scale(metric, self.prevalence)
        return low + scale * found

    def cluster_parts(self, metric: str, cut: int | None) -> list[FloatArray]:
        """Return what each row of a kind, if rows come in clusters, moves a metric there by."""
        at = None if cut is None else self.rows.cuts[cut].threshold
        counts = self.recovery.counts_at(at)
        moves = Deployment(counts, self.shares, self.prevalence).moves(self.rows.design, metric, at)
        parts = centred_parts(counts, moves, cell_values(counts, at))
        return cast("ClusterRows", self.recovery.clusters).of_rows(counts, parts)


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
            return lift_scale(metric, self.prevalence)[1] * super().area_error(
                "roc_auc", one, other
            )
        positive, negative = np.eye(self.rows.functions)[-2:]
        gap = Influence(0.0, positive, negative, np.zeros(self.rows.functions))
        pair = PairRows(self.rows, one, other)
        return math.sqrt(float(Spread(self.design, pair, gap).variance))

    def _flag_influence(self, heads: HeadCounts, cut: Cut) -> Influence:  # noqa: ARG002 - as here
        found = carried_rates(heads, POINTS, self.prevalence)
        none = np.zeros(len(POINTS))
        return replace(found, everyone=none, prevalence=none)


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


def deployed_differences(
    paired: Paired, metrics: Sequence[str], prevalence: float
) -> tuple[Difference, ...]:
    """Return the differences of every pair, metric by metric, at another prevalence."""
    there = DeployedPaired(paired.models, prevalence)
    # A metric may not exist where rows allow a share that the population does not.
    held = [m for m in metrics if all(m in model.table for model in there.models.values())]
    found = [there.differences(m, 0 if m in POINTS else None) for m in held]
    return tuple(carried_over(difference) for some in found for difference in some)


def carried_table(
    recovery: Recovery, prevalence: float, threshold: float | None
) -> dict[str, Estimate]:
    """Return a model's metrics there by name, without those that do not exist there."""
    places = [MetricAt(metric, prevalence=prevalence) for metric in AREAS]
    if threshold is not None:
        places += [MetricAt(metric, threshold, prevalence=prevalence) for metric in POINTS]
    table = {}
    for at in places:
        try:
            table[at.metric] = recovery.estimate(at)
        except InputError as error:
            if error.code != "misfit":  # these rows allow the shares, the population less so
                raise
    return table


def _population(recovery: Recovery) -> MixtureDesign:
    shares = recovery.shares
    return design_of(recovery.counts, shares, shares.sampling, "population")
