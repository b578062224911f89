"""Average precision without one row, for every row: the errors of paired differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer.mixture import LABELLED, ROW_KINDS, UNLABELED, MixtureDesign

# A jackknife of fewer labels says nothing: leaving one out leaves no pair.
MIN_JACKKNIFE_LABELS = 3


@dataclass(frozen=True)
class Jackknife:
    """Hold the unbiased average precision of one model without a row of each cell.

    Each row is left out of both models' estimates at once, so that what they share cancels. For
    these very rows only labels are left out (their rows stay). The estimate is a mean of pairs of
    labelled rows, so all leave-one-out values follow from running sums over the cells: no loop.

    Parameters
    ----------
    whole : float
        The estimate with all rows.
    without : sequence of arrays
        Without a labelled row of each cell, an unlabeled one, a known negative.

    Notes
    -----
    Assumes: pure labels, random labels.
    Wrong when: there are very few labels.
    """

    whole: float
    without: Sequence[FloatArray]

    @classmethod
    def of(cls, counts: ScoreCounts, design: MixtureDesign) -> "Jackknife":
        """Leave out each row, or for these very rows each label."""
        sums, lost = _PrecisionSums(counts, design), _lost_positives(design)
        positives = float(design.mixing.positives)
        whole = float(sums.without(positives, sums.flagged, sums.flagged, own=0)[0])
        if design.target == "dataset":
            fewer = positives - lost[LABELLED] * design.frequency_known
            return cls(whole, [sums.without(fewer, sums.flagged, sums.flagged, own=1)])
        without = [
            sums.without(positives - lost[kind], *sums.flagged_without(kind), own=kind == LABELLED)
            for kind in ROW_KINDS
        ]
        return cls(whole, without)


class _PrecisionSums:
    """Running sums over the cells of a table, from which every leave-one-out value follows."""

    def __init__(self, counts: ScoreCounts, design: MixtureDesign) -> None:
        # Rows lie in the middle of a cell of several scores: half of its others are above.
        blended = counts.merged & (counts.positive > 0)
        self.labelled = counts.positive
        self.beside = blended * (counts.positive - 1) / 2
        self.unlabeled = np.cumsum(counts.unlabeled) - blended * counts.unlabeled / 2
        self.heads, self.size = np.cumsum(self.labelled) - self.beside, float(counts.n_positive)
        self.n_unlabeled, self.apart = counts.n_unlabeled, design.sampling == "case-control"
        if self.apart:
            self.flagged = self._beside_itself(self.unlabeled, self.n_unlabeled)
        else:
            negatives = np.cumsum(counts.negative) - blended * counts.negative / 2
            self.flagged = self.heads + self.unlabeled + negatives

    @staticmethod
    def _beside_itself(unlabeled: FloatArray, total: float) -> FloatArray:
        """Return the rows of the target above a labelled row, which takes the place of one."""
        return np.asarray(1 + unlabeled * max(1 - 1 / total, 0.0))

    def flagged_without(self, kind: int) -> tuple[FloatArray, FloatArray]:
        """Return the rows flagged at each cell without a row below it, and without one above."""
        if not self.apart:
            return self.flagged, self.flagged - 1
        if kind != UNLABELED:
            return self.flagged, self.flagged
        total = max(self.n_unlabeled - 1, 1.0)
        return self._beside_itself(self.unlabeled, total), self._beside_itself(
            self.unlabeled - 1, total
        )

    def without(
        self, positives: float, flagged: FloatArray, fewer: FloatArray, *, own: int
    ) -> FloatArray:
        """Return the estimate without a row of each cell, a labelled one if `own` is 1.

        Labelled rows above the row have `flagged` rows above them, those of its cell and below
        `fewer`; the row itself is none of those that are left, if it is labelled.
        """
        inverse, less = _safe_inverse(flagged), _safe_inverse(fewer)
        single = self._above(inverse) + self._from(less) - own * less
        if self.apart:  # as in `unbiased_average_precision`
            inverse, less = _safe_inverse(flagged + 1), _safe_inverse(fewer + 1)
        lower = (self.heads - 1 - own) * less
        pairs = self._above((self.heads - 1) * inverse) + self._from(lower) - own * lower
        left = self.size - own
        return np.asarray((single + max(positives - 1, 0.0) / (left - 1) * pairs) / left)

    def _above(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labelled rows above each cell."""
        return np.append(0.0, np.cumsum(self.labelled * values)[:-1]) + self.beside * values

    def _from(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labelled rows of each cell and below."""
        return np.cumsum((self.labelled * values)[::-1])[::-1] - self.beside * values


def _lost_positives(design: MixtureDesign) -> list[float]:
    """Return the positives that go with a row of each kind, if the share that was given stays."""
    positives, share = float(design.mixing.positives), float(design.mixing.unlabeled_prevalence)
    if design.sampling == "case-control":
        return [0.0, share, 0.0]
    if design.given == "prevalence":
        return [positives / float(design.sizes.sum())] * 3
    if design.given == "label_frequency":
        return [positives / float(design.sizes[LABELLED]), 0.0, 0.0]
    return [1.0, share, 0.0]


def _safe_inverse(values: FloatArray) -> FloatArray:
    """Return 1/x, and 0 where no row is left (never asked for but in its own place)."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def jackknife_error(
    design: MixtureDesign, means: FloatArray, variances: FloatArray, whole: float
) -> float:
    """Return the standard error of a difference in average precision.

    For these very rows the variance over labels is multiplied by the share of positives without
    a label. If the label frequency is known, the number of labels is random too, so that
    deviations are those from the estimate itself and not from their mean.

    Parameters
    ----------
    design : MixtureDesign
        How the rows were drawn.
    means, variances : arrays
        Of the difference without a row, among the rows of each kind.
    whole : float
        The difference with all rows.
    """
    size = float(design.sizes[LABELLED])
    offs = _offs(design, means, whole)
    if design.target == "dataset":
        size -= not design.frequency_known
        return math.sqrt(_hidden(design) * size * (variances[LABELLED] + offs[LABELLED] ** 2))
    sizes = design.sizes
    if design.sampling == "case-control":
        return math.sqrt(float(np.maximum(sizes - 1, 0.0) @ variances))
    n = sizes.sum()
    return math.sqrt(float(sizes @ (variances + offs**2)) * (n - 1) / n)


def jackknife_skewness(design: MixtureDesign, third: float) -> tuple[float, float]:
    """Return the third cumulant of the same difference, and its covariance with its variance.

    A few labels near the top make a difference, and its standard error with it. Both are those
    given the number of labels; other rows are left out, since each of them does little.

    Parameters
    ----------
    design : MixtureDesign
        How the rows were drawn.
    third : float
        Third central moment of the difference without a labelled row.
    """
    # Without a row the difference lacks what the row adds.
    moment, left = -float(design.sizes[LABELLED]) * third, _hidden(design)
    if design.target == "population":
        return moment, moment
    # As in `area_intervals.third_moments`.
    if design.sampling == "case-control":
        return moment * left * (2 - left), moment * left
    return moment * left * (2 * left - 1), moment * left**2


def _offs(design: MixtureDesign, means: FloatArray, whole: float) -> FloatArray:
    """Return how far the means of each kind are from what they vary around."""
    if design.target == "dataset":
        return means - whole if design.frequency_known else np.zeros(len(means))
    if design.sampling == "case-control":
        return np.zeros(len(means))
    return np.asarray(means - design.sizes @ means / design.sizes.sum())


def _hidden(design: MixtureDesign) -> float:
    """Return what is left of the labels' variance for these very rows.

    Positives with a label are certain. Labels drawn apart stand for hidden positives that are a
    sample of their own.
    """
    if design.sampling == "single-sample":
        return float(design.unlabelled_share)
    hidden = float(design.mixing.positives)
    return 1 + float(design.sizes[LABELLED]) / hidden if hidden > 0 else 1.0
