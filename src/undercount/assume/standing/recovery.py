"""Rows whose labels stand for positives, with every question they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import Basis, Recovery, ReportOptions, Unknowns
from undercount.assume.random_labels.hidden_share import known_of_part, shared_share
from undercount.assume.random_labels.recovery import threshold_checks
from undercount.assume.standing.deployed import StandingDeployment
from undercount.assume.standing.labels import LabelWeights, StandingLabels
from undercount.checks.checklist import checklist, clusters_check, fit_check, with_warnings
from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import CODES, Check, LibraryWarning
from undercount.estimate import Estimate, Interval
from undercount.infer.decisions import BestThreshold, Goal, ThresholdSearch
from undercount.infer.difference import Contributions
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.sensitivity import BreakEven
from undercount.metric_facts import FACTS
from undercount.shares import Shares

# Labels that stand for every row that may be positive, or more.
ALL_BUT_NONE = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class StandingRecovery(Recovery):
    """Labelled rows that stand for as many positives as an assumption says.

    Attributes
    ----------
    standing : StandingLabels
        The rows with what each label stands for, and what is read from them.
    about : Basis
        What the numbers rest on, in facts and words.

    Notes
    -----
    Assumes: each positive was labelled by itself, as often as what its label stands for says.
    Wrong when: some positives never carry a label, or labels stand for other numbers than is said.
    """

    standing: StandingLabels
    about: Basis = field(default_factory=Basis)

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        return self.about

    def take(self, used: ScoredRows, place: NDArray[np.intp], target: Target) -> Self:
        """Return the recovery of some of the rows, which are a part of these."""
        standing = self.standing.take(place, target)
        known = known_of_part(used, standing.share, self.target, self.confidence_level)
        return replace(self, used=used, unknowns=known, standing=standing, target=target)

    def lie_like(self, counts: ScoreCounts, scores: Any = None) -> ScoreCounts:
        """Return counts of these rows whose labelled positives lie as the hidden ones do."""
        if scores is None:
            return self.standing.lie_like(counts)
        own = scores if self.usable is None else scores[self.usable]
        return replace(self.standing, score=own).lie_like(counts)

    def for_target(self, target: Target) -> Self:
        """Return the recovery with intervals that speak of another target."""
        return replace(self, target=target, standing=replace(self.standing, target=target))

    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:  # noqa: ARG002 - by row
        """Estimate one metric."""
        if at.max_fpr is not None:
            raise self.not_identified(f"a part of {at.metric}", "ask for roc_auc")
        return self.standing.estimate(at.metric, at.threshold, top=at.top, beta=at.beta)

    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the curve, which answers at a threshold."""
        return self.standing.curve(threshold)

    def floors(self, counts: ScoreCounts) -> bool:  # noqa: ARG002 - whatever the rows
        """Whether naive values are below the true: labels may prefer low scores."""
        return False

    def carry(self, at: MetricAt, prevalence: float) -> Estimate:
        """Estimate a metric where another share of rows is positive."""
        there = StandingDeployment.of(self.standing, prevalence, at.threshold)
        return there.estimate(at.metric, at.threshold)

    def contributions(self, at: MetricAt) -> Contributions:
        """Return what each independent unit of the rows adds to a metric."""
        standing = self.standing
        if at.prevalence is not None:
            return StandingDeployment.of(standing, at.prevalence, at.threshold).contributions(at)
        if at.top is not None:
            adds = standing.top_influence(at.metric, at.top), standing.top_adds(at.metric, at.top)
        else:
            place = at.metric, at.threshold
            adds = standing.influence(*place), standing.label_adds(*place)
        return standing.contributions(*adds)

    def break_even(self, at: MetricAt, value: float) -> BreakEven:
        """Find the largest factor of wrong odds at which metric >= value."""
        return self.standing.break_even(at.metric, value, at.threshold)

    def bias_bound(self, row: MetricRow, odds_ratio: float) -> Interval:
        """Bound a row of the table if the odds of each chance are wrong by up to a factor."""
        standing, estimate = self.standing, row.estimate
        found = self.odds_bound(MetricAt(row.metric, row.threshold), odds_ratio)
        least, most = FACTS[row.metric].range
        if row.threshold is not None:
            known = standing.certain_limits(row.metric, row.threshold)
            least, most = (least, most) if known is None else map(float, known)
        low = found.low - (estimate.value - estimate.low)
        high = found.high + (estimate.high - estimate.value)
        return Interval(max(low, least), min(high, most))

    def odds_bound(self, at: MetricAt, odds_ratio: float) -> Interval:
        """Bound the value of a metric alone, without the chance of the labels."""
        return self.standing.bounds(at.metric, odds_ratio, at.threshold)

    @property
    def not_by_labels(self) -> str:
        """Why labels alone do not answer a question under this assumption."""
        return "would suppose that labels are random, and theirs is a chance of its own here"

    def best_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold of what labels stand for, beside all rows."""
        counts, whole = self.standing.search_counts(over), self.standing.prevalence
        shares = Shares(whole, 1.0, "case-control")
        search = ThresholdSearch(counts, shares, "population", self.confidence_level)
        best = search.best(goal, over)
        gain = None if best.gain is None else replace(best.gain, needs=self.standing.needs)
        return replace(best, gain=gain)

    def negatives(self, counts: ScoreCounts) -> FloatArray:
        """Return the negatives of each cell: its rows less what labels stand for."""
        standing = self.standing
        cell = cell_places(counts.score, standing.score[standing.labelled])
        stands_for = np.bincount(cell, standing.stands_for, len(counts.score))
        return np.asarray(counts.positive + counts.negative + counts.unlabeled - stands_for)

    def checks(
        self,
        rows: Sequence[MetricRow],  # noqa: ARG002 - labels may prefer low scores
        warned: Sequence[LibraryWarning],
    ) -> tuple[Check, ...]:
        """Check the rows as their labels weigh them."""
        standing = self.standing
        counts, shares = standing.counts_at(), Shares(standing.prevalence, 1.0, "case-control")
        found = [
            check
            for check in checklist(counts, shares)
            if check.code != CODES["selection"]  # labels may prefer some positives
        ]
        if self.counts.n_negative > 0:  # which no label may stand for
            possible = standing.possible_counts()
            share = min(standing.positives / possible.n_unlabeled, ALL_BUT_NONE)
            fit = fit_check(possible, Shares(share, 1.0, "case-control"))
            found = [fit if check.code == fit.code else check for check in found]
        found += self._own_checks
        if self.clusters is not None:
            found.append(clusters_check(standing.clustered_design(), self.clusters))
        found += threshold_checks(self.counts, None, self.used.threshold)
        return with_warnings(found, warned, given=True)

    @property
    def _own_checks(self) -> list[Check]:
        """What else speaks against what labels stand for."""
        return []


def recover_weights(
    models: Mapping[str, ScoredRows],
    stands_for: FloatArray,
    error: FloatArray,
    wanted: ReportOptions,
    about: Basis,
) -> dict[str, StandingRecovery]:
    """Recover rows each of which stands for so many positives, were it labelled.

    Parameters
    ----------
    models : mapping
        Name of each model → its rows, in memory.
    stands_for, error : array
        For how many positives each row stands, and the standard error by which that was labelled:
        1/e and √(1 - e)/e for a label of chance e.
    wanted : ReportOptions
        What is asked of every model.
    about : Basis
        What the numbers rest on.
    """
    standing = {}
    for name, model in models.items():
        rows = model.rows("assume")
        standing[name] = LabelWeights(
            rows.labels,
            rows.scores,
            stands_for,
            error,
            (about.determined_by,),
            target=wanted.target or "dataset",
            confidence_level=wanted.confidence_level,
            weight=rows.weights,
            cluster=model.cluster_codes,
        )
    known = shares_told(models, standing, wanted)
    return {
        name: StandingRecovery(
            model,
            known[name],
            wanted.target or "dataset",
            wanted.confidence_level,
            standing[name],
            about,
        )
        for name, model in models.items()
    }


def shares_told(
    models: Mapping[str, ScoredRows], standing: Mapping[str, StandingLabels], wanted: ReportOptions
) -> dict[str, Unknowns]:
    """Return what labels that stand for positives tell of the share of hidden ones."""
    for model in models.values():
        model.counts.require("positive", "unlabeled")
    return shared_share(
        {name: model.counts for name, model in models.items()},
        unlabeled_prevalence=next(iter(standing.values())).share,
        target=wanted.target or "dataset",
        confidence_level=wanted.confidence_level,
        random_state=wanted.random_state,
    )
