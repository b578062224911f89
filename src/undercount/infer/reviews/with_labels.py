"""Reviews and labels together, if labels are a random sample of the positives.

Stratum by stratum the reviews count hidden positives, and the labels, each drawn with the same
chance, tell how positives are spread over the strata. What each says badly the other says well.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from undercount.curve import FloatArray
from undercount.estimate import Estimate
from undercount.infer.mass_gradients import MassGradient, mass_gradient
from undercount.infer.mixture import Target
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.intervals import ReviewedMetrics, make_estimate, mean_weight, stretch
from undercount.infer.reviews.part_of_rows import PartCells
from undercount.infer.reviews.stratum_shares import LEAST_WEIGHT
from undercount.infer.reviews.verdicts import ReviewedCells

BOTH = ("reviews", "random labels")
_SHARING_ROUNDS = 8
# Least and largest share of the positives that may carry a label.
_FREQUENCIES = (1e-6, 1 - 1e-6)
# With fewer labels average precision, which hangs on the order of a handful of rows at the top, is
# that of reviews alone: labels that say nothing of it narrowed intervals that then held .79.
FEW_RANKED = 60
# With fewer labels a part of the rows has the interval of its reviews alone: joined ones held .82
# to .90 in segments of which twice as many rows are positive as of all.
FEW_IN_PART = 150


@dataclass(frozen=True, eq=False)
class LabelledStrata:
    """Positives of each stratum from both sources, by weighted least squares.

    Of P_h positives in stratum h, L_h carry a label, each with the chance c: L_h/c has the variance
    P_h (1-c)/c; labelled rows and what reviews found, L_h + T_h, has the variance V_h of the draw.
    The chance c is the one that fits both best over all strata.

    Notes
    -----
    Assumes: every positive had the same chance of carrying a label, and was labelled by itself, or
    with `clusters` together with the other positives of its cluster.
    Wrong when: labels prefer some scores; `LabelTest` tests that.
    """

    cells: ReviewedCells
    clusters: ReviewClusters | None = None

    @cached_property
    def n_strata(self) -> int:
        """Number of strata that have a verdict."""
        return len(self.cells.unlabeled_rows)

    def _sums(self, by_cell: FloatArray) -> FloatArray:
        """Sum up over the cells of each stratum."""
        return np.asarray(np.bincount(self.cells.stratum, by_cell, self.n_strata), dtype=float)

    @cached_property
    def unit(self) -> float:
        """Mean weight of a unit of weight among the labelled rows; 1 where rows have none."""
        counts = self.cells.counts
        return counts.squared_weight[0] / counts.n_positive if counts.weighted else 1.0

    @cached_property
    def unlabeled(self) -> FloatArray:
        """Unlabeled rows in each stratum, or the sum of their weights."""
        return self._sums(self.cells.unlabeled)

    @cached_property
    def labelled(self) -> FloatArray:
        """Labelled positives in each stratum."""
        return self._sums(self.cells.counts.positive)

    @cached_property
    def hidden(self) -> FloatArray:
        """Hidden positives in each stratum, by the reviews alone."""
        return self._sums(self.cells.hidden)

    @cached_property
    def _fitted(self) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """The label frequency, and of each stratum: positives, guessed ones, variance of reviews.

        Weights rest on posteriors that are smooth over the strata: weights that follow what a
        stratum showed would favour those that showed little. What reviews vary is that of the
        posterior after a look at the verdicts. How many positives vary with the labels is taken
        from the labels: that posterior follows a handful of verdicts on thousands of low scores,
        and would take from the labels what they say.
        """
        labelled, counted = self.labelled, self.labelled + self.hidden
        rows, drawn = self.cells.unlabeled_rows, self.cells.reviewed_rows
        unlabeled = self.cells.unlabeled
        likely = self._sums(self.cells.recalibrated * unlabeled)
        mass = np.maximum(self.unlabeled, self.unit)
        share = np.minimum(likely / mass, 1 - 0.5 / (rows + 1))
        reviewed = rows * np.maximum(rows - drawn, 0.0) * share * (1 - share) / drawn
        reviewed = reviewed * self.cells.squared_weight
        spread = self._sums(self.cells.posterior * unlabeled)
        spread *= float(labelled.sum()) / max(float(spread.sum()), 1e-300)
        chance = float(np.clip(labelled.sum() / (labelled.sum() + likely.sum()), *_FREQUENCIES))
        for _ in range(_SHARING_ROUNDS):
            guess = np.maximum(spread / chance, 1e-9)
            weight = guess / self._spread_of(chance, guess, reviewed)
            chance = float(np.clip(weight @ labelled / (weight @ counted), *_FREQUENCIES))
        guess = np.maximum(spread / chance, 1e-9)
        part = self._part(chance, guess, reviewed)
        total = part * counted + (1 - part) * labelled / chance
        return chance, total, guess, reviewed

    def _spread_of(self, chance: float, positives: FloatArray, reviewed: FloatArray) -> FloatArray:
        """Return the variance of labels less so many times what reviews say, in each stratum."""
        return np.asarray(chance**2 * reviewed + chance * (1 - chance) * positives * self.unit)

    def _part(self, chance: float, positives: FloatArray, reviewed: FloatArray) -> FloatArray:
        """Return the part of each stratum's answer that its reviews give, by inverse variances."""
        by_labels = positives * (1 - chance) / chance * self.unit
        return np.asarray(by_labels / (by_labels + reviewed))

    @property
    def few_in_part(self) -> bool:
        """Whether these are a part of the rows, with so few labels that reviews alone answer."""
        part = isinstance(self.cells, PartCells) and not self.cells.has_all
        return part and float(self.labelled.sum()) < FEW_IN_PART * self.unit

    @property
    def label_frequency(self) -> float:
        """Share of the positives that carry a label."""
        return self._fitted[0]

    @cached_property
    def positive(self) -> FloatArray:
        """Positives of the target in each cell: those found where they are, others as labels say.

        Were all spread, the few at the top would lose their order, which verdicts have told, and
        average precision a tenth of its value.
        """
        cells = self.cells
        others = self._spread(self._hidden - self._found, cells.unseen)
        return np.asarray(cells.counts.positive + cells.by_cell(cells.found + others))

    @cached_property
    def _found(self) -> FloatArray:
        """Positives that verdicts found in each stratum."""
        return self._by_verdict(self.cells.weight * self.cells.verdict)

    def _by_verdict(self, by_verdict: FloatArray) -> FloatArray:
        """Sum up over the verdicts of each stratum."""
        sums = np.bincount(self.cells.verdict_stratum, by_verdict, self.n_strata)
        return np.asarray(sums, dtype=float)

    @cached_property
    def _hidden(self) -> FloatArray:
        """Hidden positives in each stratum by both sources.

        No stratum holds fewer than were found in it, nor more than are not known for negative.
        """
        cells, positives = self.cells, self._found
        most = self.unlabeled - (self._by_verdict(cells.weight) - positives)
        return np.clip(self._fitted[1] - self.labelled, positives, np.maximum(most, positives))

    def _spread(self, hidden: FloatArray, rows: FloatArray) -> FloatArray:
        """Spread positives of each stratum over rows of its cells, as the labels say.

        No cell gets more than it has rows: average precision would be more than one.
        """
        stratum, scale = self.cells.stratum, np.ones(self.n_strata)
        for _ in range(_SHARING_ROUNDS):
            sums = self._sums(rows * np.minimum(self.cells.posterior * scale[stratum], 1.0))
            scale *= np.divide(hidden, sums, out=np.zeros(len(sums)), where=sums > 0)
        return np.asarray(rows * np.minimum(self.cells.posterior * scale[stratum], 1.0))

    def variance(self, moves: FloatArray) -> tuple[float, float]:
        """Return the variance of a sum over positives, each counting what it moves; its freedom."""
        chance, _, total, reviewed = self._fitted
        cells = self.cells
        likely = cells.posterior * cells.unlabeled
        sums = np.maximum(self._sums(likely), 1e-300)
        middle = self._sums(likely * moves) / sums
        squares = self._sums(likely * moves**2) / sums
        part = self._part(chance, total, reviewed)
        weight = total / self._spread_of(chance, total, reviewed)
        lever = weight / float(weight @ total)
        common = float(middle @ ((1 - part) * total)) / chance
        by_reviews = middle * part + chance * lever * common
        by_labels = middle * (1 - part) / chance - lever * common
        each = by_reviews**2 * reviewed
        total_variance = float(each.sum())
        effect, freedom = self._by_cluster(by_labels)
        labels = float(by_labels**2 @ (chance * (1 - chance) * total)) * self.unit
        total_variance += effect * labels
        # Within a stratum the positives are spread as those that were seen there.
        seen = (self.labelled / max(effect, 1.0) + self._found) / self.unit
        hidden = np.maximum(total - self.labelled - self._found, 0.0)
        inside = hidden**2 * np.maximum(squares - middle**2, 0.0) / (seen + 1)
        # Where nearly all rows are positive, hardly any place is left open.
        inside *= np.clip(1 - hidden / np.maximum(self.unlabeled, self.unit), 0.0, 1.0)
        total_variance += float(inside.sum())
        counted = cells.reviewed_rows + LEAST_WEIGHT
        # Of one label by itself the variance is known; what clusters add to it, they tell.
        parts = float((each**2 / counted).sum()) + ((effect - 1) * labels) ** 2 / freedom
        return total_variance, total_variance**2 / max(parts, 1e-300)

    def _by_cluster(self, by_stratum: FloatArray) -> tuple[float, float]:
        """Return the effect of clusters on a sum over labelled rows, and its freedom."""
        if self.clusters is None:
            return 1.0, np.inf
        design = self.cells.reviews.design
        place = self.cells.group[design.stratum_of(self.clusters.labelled_score)]
        adds = by_stratum[place]
        return self.clusters.label_effect(adds), self.clusters.label_freedom(adds)


@dataclass(frozen=True, eq=False)
class CombinedMetrics:
    """Metrics of one model from reviews and random labels together."""

    strata: LabelledStrata
    target: Target = "dataset"
    confidence_level: float = 0.95
    sequential: bool = False

    def gradient(self, name: str, threshold: float | None = None, **options: Any) -> MassGradient:
        """Return a metric with its gradient by masses."""
        cells = self.strata.cells
        return mass_gradient(
            cells.counts, self.strata.positive, cells.everyone, name, threshold=threshold, **options
        )

    def variance(self, gradient: MassGradient) -> tuple[float, float]:
        """Return the variance of an estimate, and its degrees of freedom."""
        total, freedom = self.strata.variance(self.strata.cells.moves(gradient.turned))
        if self.target == "population" and self.strata.clusters is not None:
            return self.alone.with_rows(total, freedom, gradient)
        if self.target == "population":
            positive, everyone = self.strata.positive, self.strata.cells.everyone
            rows = float(positive @ gradient.positive**2)
            rows += float(np.maximum(everyone - positive, 0.0) @ gradient.negative**2)
            total += mean_weight(self.strata.cells) * rows
        return total, freedom

    def estimate(self, name: str, threshold: float | None = None, **options: Any) -> Estimate:
        """Estimate a metric with its interval.

        Both this interval and that of reviews alone hold if labels are random; the narrower one is
        taken. Near 1 the scale of log odds stretches this one: of average precision beyond
        all that reviews leave open.
        """
        alone = self.alone.estimate(name, threshold, **options)
        few = self.strata.labelled.sum() < FEW_RANKED * self.strata.unit
        if few and name == "average_precision":
            return replace(alone, needs=BOTH)
        gradient = self.gradient(name, threshold, **options)
        variance, freedom = self.variance(gradient)
        if self.sequential:
            variance *= stretch(self.strata.cells, self.confidence_level)
        result = make_estimate(
            name, gradient.value, variance, freedom, self.confidence_level, needs=BOTH
        )
        holds = alone.low <= result.value <= alone.high
        if holds and alone.high - alone.low < result.high - result.low:
            return replace(result, low=alone.low, high=alone.high)
        return result

    @property
    def alone(self) -> ReviewedMetrics:
        """What reviews say without the labels."""
        return ReviewedMetrics(
            self.strata.cells,
            self.target,
            self.confidence_level,
            self.sequential,
            self.strata.clusters,
        )
