"""Rows whose labels were given with chances of their own, with every question they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import Basis, OddsWords, Pairing, Recovery
from undercount.assume.propensity.chances import NEEDS, Chances
from undercount.assume.propensity.deployed import ChancesDeployment
from undercount.assume.propensity.differences import (
    chance_differences,
    deployed_chance_differences,
    top_differences,
)
from undercount.assume.random_labels.hidden_share import known_of_part
from undercount.assume.random_labels.recovery import estimate_top, threshold_checks
from undercount.checks.checklist import checklist, clusters_check, fit_check, with_warnings
from undercount.checks.fair_sample import (
    balance_check,
    chances_check,
    found_check,
    mature_checks,
)
from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import CODES, Check, LibraryWarning
from undercount.estimate import Estimate, Interval
from undercount.infer.decisions import BestThreshold, Goal, ThresholdSearch
from undercount.infer.difference import TARGET_OF, Difference, Question, carried_over, holm_adjusted
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target, design_of
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.sensitivity import BreakEven
from undercount.infer.workload import WORKLOAD_METRICS, Workload, cut_models
from undercount.metric_facts import FACTS
from undercount.shares import Shares

# Labels that stand for every row that may be positive, or more.
ALL_BUT_NONE = 1 - 1e-6
LIGHTS = {
    "given": "if the chances of a label are right",
    "open": "the chance of the labels leaves it open",
}
ODDS = OddsWords(
    "more labels, or other chances of a label",
    "{name} holds however wrong the odds of a label are",
    "{name} holds while the odds of a label are wrong by less than Γ = {gamma}",
)


@dataclass(frozen=True, eq=False)
class ChancesRecovery(Recovery):
    """Labelled rows that stand for as many positives as their chance of a label says.

    Attributes
    ----------
    chances : Chances
        The rows with their chances, and what is read from them.
    of_every_row : array, optional
        The chances that were given, of unlabeled rows too.

    Notes
    -----
    Assumes: each positive was labelled by itself with its chance, and none of them is 0.
    Wrong when: chances were estimated from few rows, or miss what decided who was looked at.
    """

    chances: Chances
    of_every_row: FloatArray | None = None

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        late = self.chances.late is not None
        how = "estimated" if self.chances.estimated else "given"
        return Basis(
            determined_by="dates of labels" if late else "labelling chances",
            source="dates of labels" if late else f"labelling chances {how}",
            limited=False,
            premise="If the chances of a label are right, ",
            question=f"Are the chances of a label right?{self._certain_words}",
            lights=LIGHTS,
            odds_words=ODDS,
            bias_premise="if the odds of each chance of a label are wrong by a factor of up to Γ = "
            "{gamma:g}",
            reviewable=False,
            sliders=False,
        )

    @property
    def usable(self) -> NDArray[np.bool_] | None:
        """Which of the rows that were given are old enough; None: all."""
        return None if self.chances.late is None else self.chances.late.usable_

    @property
    def label_chances(self) -> FloatArray | None:
        """The chances of independent rows without weights, if all of them have one."""
        alone = self.used.clusters is None and not self.counts.weighted
        known = self.of_every_row is not None and bool(np.isfinite(self.of_every_row).all())
        return self.of_every_row if alone and known else None

    def take(self, used: ScoredRows, place: NDArray[np.intp], target: Target) -> "ChancesRecovery":
        """Return the recovery of some of the rows, which are a part of these."""
        chances = self.chances.take(place, target)
        known = known_of_part(used, chances.share, self.target, self.confidence_level)
        every = None if self.of_every_row is None else self.of_every_row[place]
        return replace(
            self, used=used, unknowns=known, target=target, chances=chances, of_every_row=every
        )

    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:  # noqa: ARG002 - by row
        """Estimate one metric."""
        if at.max_fpr is not None:
            raise self.not_identified(f"a part of {at.metric}", "ask for roc_auc")
        return self.chances.estimate(at.metric, at.threshold, top=at.top, beta=at.beta)

    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the curve, which answers at a threshold."""
        return self.chances.curve(threshold)

    def floors(self, counts: ScoreCounts) -> bool:  # noqa: ARG002 - whatever the rows
        """Whether naive values are below the true: labels may prefer low scores."""
        return False

    def carry(self, at: MetricAt, prevalence: float) -> Estimate:
        """Estimate a metric where another share of rows is positive."""
        there = ChancesDeployment.of(self.chances, prevalence, at.threshold)
        return there.estimate(at.metric, at.threshold)

    def break_even(self, at: MetricAt, value: float) -> BreakEven:
        """Find the largest factor of wrong odds at which metric >= value."""
        return self.chances.break_even(at.metric, value, at.threshold)

    def bias_bound(self, row: MetricRow, odds_ratio: float) -> Interval:
        """Bound a row of the table if the odds of each chance are wrong by up to a factor."""
        chances, estimate = self.chances, row.estimate
        found = self.odds_bound(MetricAt(row.metric, row.threshold), odds_ratio)
        least, most = FACTS[row.metric].range
        if row.threshold is not None:
            known = chances.certain_limits(row.metric, row.threshold)
            least, most = (least, most) if known is None else map(float, known)
        low = found.low - (estimate.value - estimate.low)
        high = found.high + (estimate.high - estimate.value)
        return Interval(max(low, least), min(high, most))

    def odds_bound(self, at: MetricAt, odds_ratio: float) -> Interval:
        """Bound the value of a metric alone, without the chance of the labels."""
        return self.chances.bounds(at.metric, odds_ratio, at.threshold)

    @property
    def no_gamma_words(self) -> str:
        """Why nothing is followed along a labelling bias."""
        return (
            f"a sweep over gamma supposes random labels, and the {self.basis.determined_by} say "
            "that some are likelier; bias_bounds() has the ends if the odds of each chance are "
            "wrong by Γ"
        )

    @property
    def not_by_labels(self) -> str:
        """Why labels alone do not answer a question under this assumption."""
        return "would suppose that labels are random, and theirs is a chance of its own here"

    def best_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold of what labels stand for, beside all rows."""
        counts, whole = self.chances.search_counts(over), self.chances.prevalence
        shares = Shares(whole, 1.0, "case-control")
        search = ThresholdSearch(counts, shares, "population", self.confidence_level)
        best = search.best(goal, over)
        gain = None if best.gain is None else replace(best.gain, needs=NEEDS)
        return replace(best, gain=gain)

    def negatives(self, counts: ScoreCounts) -> FloatArray:
        """Return the negatives of each cell: its rows less what labels stand for."""
        chances = self.chances
        cell = cell_places(counts.score, chances.score[chances.labelled])
        stands_for = np.bincount(cell, chances.stands_for, len(counts.score))
        return np.asarray(counts.positive + counts.negative + counts.unlabeled - stands_for)

    @property
    def _certain_words(self) -> str:
        """Say what a chance of 1 claims where others are less: it may be the top of a ratio."""
        given = self.chances.chance[self.chances.labelled]
        if given.max() < 1 or given.min() == 1:
            return ""
        return (
            " Where they are 1, no positive is hidden; if only ratios are known, scale them until "
            "the labels give a known prevalence (undercount explain 'labelling chances')."
        )

    def checks(
        self,
        rows: Sequence[MetricRow],  # noqa: ARG002 - labels may prefer low scores
        warned: Sequence[LibraryWarning],
    ) -> tuple[Check, ...]:
        """Check the rows as chances weigh them."""
        chances = self.chances
        counts, shares = chances.counts_at(), Shares(chances.prevalence, 1.0, "case-control")
        found = [
            check
            for check in checklist(counts, shares)
            if check.code != CODES["selection"]  # chances may differ
        ]
        if self.counts.n_negative > 0:  # which no label may stand for
            possible = chances.possible_counts()
            share = min(chances.positives / possible.n_unlabeled, ALL_BUT_NONE)
            fit = fit_check(possible, Shares(share, 1.0, "case-control"))
            found = [fit if check.code == fit.code else check for check in found]
        found.append(chances.check())
        if chances.late is None:
            unbalanced = balance_check(chances.score, chances.looked, chances.chance)
            fair = chances_check(chances.score[chances.labelled], chances.stands_for)
            found.append(unbalanced or fair)
        else:
            found += [found_check(chances.compare_late_scores()), *mature_checks(chances.late)]
        if self.clusters is not None:
            found.append(clusters_check(chances.clustered_design(), self.clusters))
        found += threshold_checks(self.counts, None, self.used.threshold)
        return with_warnings(found, warned, given=True)

    def pair(
        self,
        models: Mapping[str, Recovery],
        tables: Mapping[str, Mapping[str, Estimate]],  # noqa: ARG002 - read from the rows
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "ChancesPairing":
        """Put models side by side."""
        known = {name: cast("ChancesRecovery", each) for name, each in models.items()}
        return ChancesPairing(known, thresholds, question, top)


@dataclass(frozen=True, eq=False)
class ChancesPairing(Pairing):
    """Models whose labels have chances of their own, side by side."""

    recoveries: Mapping[str, ChancesRecovery]
    thresholds: Mapping[str, float]
    question: Question
    top: Any

    @cached_property
    def models(self) -> dict[str, Chances]:
        """The rows of each model with their chances."""
        return {name: each.chances for name, each in self.recoveries.items()}

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        about = self.thresholds, self.question
        found = [chance_differences(self.models, metric, *about) for metric in metrics]
        return tuple(difference for each in found for difference in holm_adjusted(each))

    def workload(self) -> Workload | None:
        """Compare what models find among as many flagged rows, if a number was asked for."""
        if self.top is None:
            return None
        first = next(iter(self.recoveries.values()))
        shares, target = first.shares, TARGET_OF[self.question]
        design = design_of(first.counts, shares, shares.sampling, target)
        used = {name: each.used for name, each in self.recoveries.items()}
        cut = cut_models(used, design, self.thresholds, self.top)
        estimates = {
            name: {metric: estimate_top(each, metric, cut.size) for metric in WORKLOAD_METRICS}
            for name, each in self.recoveries.items()
        }
        values = {
            name: {metric: estimate.value for metric, estimate in each.items()}
            for name, each in estimates.items()
        }
        found = [
            difference
            for metric in WORKLOAD_METRICS
            for difference in holm_adjusted(
                top_differences(self.models, metric, cut.size, self.question)
            )
        ]
        about = cut.last, cut.tied, tuple(found)
        return Workload(cut.size, cut.chosen, values, *about, estimates)

    def carried(self, metrics: Sequence[str], prevalence: float) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive."""
        found = [
            deployed_chance_differences(self.models, metric, self.thresholds, prevalence)
            for metric in metrics
        ]
        return tuple(carried_over(each) for some in found for each in holm_adjusted(some))
