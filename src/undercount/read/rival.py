"""A second model whose difference to the first a plan of reviews is to make sharp."""

from dataclasses import dataclass

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer.mass_gradients import MassGradient, mass_gradient
from undercount.infer.reviews.verdicts import MOST, IntArray, ReviewDesign

# How much farther each row of a stratum lies from the highest score of the second model than the
# one before, where few rows stand for all: those that it flags matter most.
FARTHER = 1.15
# Sampled rows over which the squares of what a verdict moves are averaged.
ROWS_A_MEAN = 64


@dataclass(frozen=True, eq=False)
class RivalMoves:
    """Hold a difference of two models, and how far the draw of the rows moves it.

    Attributes
    ----------
    value : float
        The difference.
    row_variance : float
        Variance that the draw of the rows themselves causes.
    """

    value: float
    row_variance: float


@dataclass(frozen=True, eq=False)
class Rival:
    """Hold the second model's counts, and the scores of some unlabeled rows by both models.

    Strata are made of the first model's scores, and a row says the more of the difference the
    more it moves the one model's metric and not the other's. A sample of rows tells how much that
    is on average at each score of the first; a poor sample makes the plan less sharp, and nothing
    wrong.

    Attributes
    ----------
    counts : ScoreCounts
        Counts of all rows by the second model's scores.
    threshold : float or None
        At which its metrics are meant.
    score, own_score : array
        First and second model's scores of the sampled rows.
    """

    counts: ScoreCounts
    threshold: float | None
    score: FloatArray
    own_score: FloatArray

    def gradient(self, metric: str, posterior: FloatArray, threshold: float | None) -> MassGradient:
        """Read the second model's metric where unlabeled rows of its cells have these chances."""
        counts = self.counts
        positive = counts.positive + posterior * counts.unlabeled
        everyone = counts.positive + counts.negative + counts.unlabeled
        return mass_gradient(counts, positive, everyone, metric, threshold=threshold)

    def moves(
        self,
        counts: ScoreCounts,
        first: MassGradient,
        second: MassGradient,
        chance: FloatArray,
        likely: FloatArray,
        at: float | None,
    ) -> RivalMoves:
        """Return the difference, and what moves it.

        `chance` and `likely` are what each model's cells say of an unlabeled row. Labelled
        positives are taken to be like the hidden ones, by how much they move the difference.
        """
        own, other = self._cells(counts)
        positive, negative = (
            (getattr(first, kind)[own] - getattr(second, kind)[other]) ** 2
            for kind in ("positive", "negative")
        )
        positives, weight = chance * counts.unlabeled, likely[other]
        each = _local_means(own, positive, weight, len(chance), self._ends(counts, at))
        labelled = 1 + counts.n_positive / max(float(positives.sum()), 1e-9)
        found = labelled * float(positives @ each)
        each = _local_means(own, negative, 1 - weight, len(chance), self._ends(counts, at))
        found += float((counts.negative + counts.unlabeled - positives) @ each)
        return RivalMoves(first.value - second.value, found)

    def _cells(self, counts: ScoreCounts) -> tuple[IntArray, IntArray]:
        """Return the cells of the sampled rows by both models, in the first one's order."""
        order = np.argsort(-self.score, kind="stable")
        own, other = (
            np.minimum(np.searchsorted(-each.score, -score[order]), len(each.score) - 1)
            for each, score in ((counts, self.score), (self.counts, self.own_score))
        )
        return own, other

    def _ends(self, counts: ScoreCounts, at: float | None) -> list[int]:
        """Return the first cells of what lies on either side of the threshold."""
        return [0] if at is None else [0, counts.head_cells(at).stop]

    def squares(
        self,
        counts: ScoreCounts,
        first: MassGradient,
        second: MassGradient,
        likely: FloatArray,
        at: float | None,
    ) -> FloatArray:
        """Return the mean square of what a verdict moves the difference, by the first's cells.

        Rows that the second model takes for positive count the more (by the root, since models
        share much of what they know): among rows that the first scores alike, these are the
        positive ones.
        """
        own, other = self._cells(counts)
        squares = (first.turned[own] - second.turned[other]) ** 2
        ends = self._ends(counts, at)
        return _local_means(own, squares, np.sqrt(likely[other]), len(counts.score), ends)


@dataclass(frozen=True, eq=False)
class RivalRows:
    """Hold some unlabeled rows by both models, which stand for all of their stratum.

    Attributes
    ----------
    score : array
        By the first model, descending.
    stratum : array of int
        By that score.
    plan_cell, own_cell : array of int
        Cells by the first model's counts and by the second's.
    rows_each : array
        Rows that each stands for.
    """

    score: FloatArray
    stratum: IntArray
    plan_cell: IntArray
    own_cell: IntArray
    rows_each: FloatArray

    @classmethod
    def of(cls, rival: Rival, counts: ScoreCounts, design: ReviewDesign) -> "RivalRows":
        """Choose of the sampled rows; nearly all that the second model scores high in a stratum."""
        stratum = design.stratum_of(rival.score)
        order = np.lexsort((-rival.own_score, stratum))
        starts = np.searchsorted(stratum[order], np.arange(design.n_strata + 1))
        chosen, each = [], []
        for h, (first, many) in enumerate(zip(starts[:-1], np.diff(starts), strict=True)):
            if many == 0:
                continue
            steps = np.floor(FARTHER ** np.arange(np.log(many) / np.log(FARTHER)))
            ends = np.unique([0.0, *steps, many]).astype(np.intp)
            chosen.append(order[first + (ends[:-1] + ends[1:] - 1) // 2])
            each.append(np.diff(ends) * (design.n_unlabeled[h] / many))
        rows, number = np.concatenate(chosen), np.concatenate(each)
        order = np.argsort(-rival.score[rows], kind="stable")
        rows, number = rows[order], number[order]
        own, other = (
            np.minimum(np.searchsorted(-each.score, -score[rows]), len(each.score) - 1)
            for each, score in ((counts, rival.score), (rival.counts, rival.own_score))
        )
        return cls(rival.score[rows], stratum[rows], own, other, number)

    def chance(self, plan_chance: FloatArray, own_chance: FloatArray) -> FloatArray:
        """Return the chance of each row by both models' cells; its mean in a stratum is kept.

        The second model's counts by the root, since models share much of what they know.
        """
        known, more = plan_chance[self.plan_cell], np.sqrt(own_chance[self.own_cell])
        had, got = (
            np.bincount(self.stratum, self.rows_each * each) for each in (known, known * more)
        )
        return np.minimum(known * more * (had / np.maximum(got, 1e-300))[self.stratum], MOST)


def _local_means(
    cell: IntArray, value: FloatArray, weight: FloatArray, n_cells: int, ends: list[int]
) -> FloatArray:
    """Return the weighted mean of a value over neighbouring rows, for each cell between ends."""
    found = np.zeros(n_cells)
    for low, high in zip(ends, [*ends[1:], n_cells], strict=True):
        inside = np.flatnonzero((cell >= low) & (cell < high))
        if not len(inside):
            continue
        starts = np.arange(0, len(inside), ROWS_A_MEAN)
        sizes = np.diff(np.append(starts, len(inside)))
        middle = np.add.reduceat(cell[inside], starts) / sizes
        total = np.add.reduceat(weight[inside], starts)
        sums = np.add.reduceat((weight * value)[inside], starts)
        found[low:high] = np.interp(np.arange(low, high), middle, sums / np.maximum(total, 1e-300))
    return found
