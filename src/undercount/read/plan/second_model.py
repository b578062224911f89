"""A second model whose difference to the first a plan of reviews is to make sharp."""

from dataclasses import dataclass

import numpy as np

from undercount.assume.base import LieLike
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.infer.mass_gradients import MassGradient
from undercount.infer.reviews.verdicts import (
    MOST_SURE,
    IntArray,
    ReviewDesign,
    supposed_posterior,
    working_posterior,
)
from undercount.read.plan.goals import gradient_at

# How much farther each row of a stratum lies from the highest score of the second model than the
# one before, where few rows stand for all: those that it flags matter most.
FARTHER = 1.15
# Sampled rows over which the squares of what a verdict moves are averaged.
ROWS_PER_MEAN = 64


@dataclass(frozen=True, eq=False)
class SecondModel:
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
    lie_like : callable
        Returns counts whose labelled positives lie as the hidden ones do, by this model's scores.
    """

    counts: ScoreCounts
    threshold: float | None
    score: FloatArray
    own_score: FloatArray
    lie_like: LieLike

    def working_chance(self, share: float) -> FloatArray:
        """Return the working posterior of the cells at a share of hidden positives."""
        return working_posterior(self.lie_like(self.counts), share)

    def supposed_chance(self, share: float, slope: float) -> FloatArray:
        """Return the posterior that is supposed if labels prefer some scores by a slope."""
        return supposed_posterior(self.lie_like(self.counts), share, slope)

    def gradient(self, metric: str, chance: FloatArray, *, at_threshold: bool) -> MassGradient:
        """Read the second model's metric where unlabeled rows of its cells have these chances."""
        return gradient_at(self.counts, chance, metric, self.threshold if at_threshold else None)

    def row_variance(
        self,
        counts: ScoreCounts,
        gradients: tuple[MassGradient, MassGradient],
        chances: tuple[FloatArray, FloatArray],
        threshold: float | None,
    ) -> float:
        """Return the variance of the difference that the draw of the rows themselves causes.

        `counts` are the first model's, `chances` what each model's cells say of an unlabeled row.
        Labelled positives are taken to be like the hidden ones, by how much they move the
        difference.
        """
        (first, second), (chance, own_chance) = gradients, chances
        cell, own_cell = self._cells(counts)
        positive, negative = (
            (getattr(first, kind)[cell] - getattr(second, kind)[own_cell]) ** 2
            for kind in ("positive", "negative")
        )
        positives, weight = chance * counts.unlabeled, own_chance[own_cell]
        ends = _first_cells(counts, threshold)
        squares = _local_means(cell, positive, weight, len(chance), ends)
        labelled = 1 + counts.n_positive / max(float(positives.sum()), 1e-9)
        variance = labelled * float(positives @ squares)
        squares = _local_means(cell, negative, 1 - weight, len(chance), ends)
        return variance + float((counts.negative + counts.unlabeled - positives) @ squares)

    def _cells(self, counts: ScoreCounts) -> tuple[IntArray, IntArray]:
        """Return the cells of the sampled rows by both models, in the first one's order."""
        order = np.argsort(-self.score, kind="stable")
        return cell_of(counts, self.score[order]), cell_of(self.counts, self.own_score[order])

    def squares(
        self,
        counts: ScoreCounts,
        first: MassGradient,
        second: MassGradient,
        own_chance: FloatArray,
        threshold: float | None,
    ) -> FloatArray:
        """Return the mean square of what a verdict moves the difference, by the first's cells.

        Rows that the second model takes for positive count the more (by the root, since models
        share much of what they know): among rows that the first scores alike, these are the
        positive ones.
        """
        cell, own_cell = self._cells(counts)
        squares = (first.turned[cell] - second.turned[own_cell]) ** 2
        weight = np.sqrt(own_chance[own_cell])
        ends = _first_cells(counts, threshold)
        return _local_means(cell, squares, weight, len(counts.score), ends)


@dataclass(frozen=True, eq=False)
class RowsByBoth:
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
    def of(cls, model: SecondModel, counts: ScoreCounts, design: ReviewDesign) -> "RowsByBoth":
        """Choose of the sampled rows; nearly all that the second model scores high in a stratum."""
        stratum = design.stratum_of(model.score)
        order = np.lexsort((-model.own_score, stratum))
        starts = np.searchsorted(stratum[order], np.arange(design.n_strata + 1))
        chosen, stands_for = [], []
        for h, (first, many) in enumerate(zip(starts[:-1], np.diff(starts), strict=True)):
            if many == 0:
                continue
            steps = np.floor(FARTHER ** np.arange(np.log(many) / np.log(FARTHER)))
            ends = np.unique([0.0, *steps, many]).astype(np.intp)
            chosen.append(order[first + (ends[:-1] + ends[1:] - 1) // 2])
            stands_for.append(np.diff(ends) * (design.n_unlabeled[h] / many))
        rows, number = np.concatenate(chosen), np.concatenate(stands_for)
        order = np.argsort(-model.score[rows], kind="stable")
        rows, number = rows[order], number[order]
        score, own_score = model.score[rows], model.own_score[rows]
        cells = cell_of(counts, score), cell_of(model.counts, own_score)
        return cls(score, stratum[rows], *cells, number)

    def chance(self, plan_chance: FloatArray, own_chance: FloatArray) -> FloatArray:
        """Return the chance of each row by both models' cells; its mean in a stratum is kept.

        The second model's counts by the root, since models share much of what they know.
        """
        by_plan, factor = plan_chance[self.plan_cell], np.sqrt(own_chance[self.own_cell])
        before, after = (
            np.bincount(self.stratum, self.rows_each * chance)
            for chance in (by_plan, by_plan * factor)
        )
        kept = (before / np.maximum(after, 1e-300))[self.stratum]
        return np.minimum(by_plan * factor * kept, MOST_SURE)


def require_second(second: SecondModel | None, goal: str) -> SecondModel:
    """Return the second model of a goal that is a difference; raise if there is none."""
    if second is None:
        raise InputError(f"the goal {goal} needs the scores of two models", argument="goal")
    return second


def cell_of(counts: ScoreCounts, score: FloatArray) -> IntArray:
    """Return the cell of each score, the last one of those below all cells."""
    return np.minimum(np.searchsorted(-counts.score, -score), len(counts.score) - 1)


def _first_cells(counts: ScoreCounts, threshold: float | None) -> list[int]:
    """Return the first cells of what lies on either side of the threshold."""
    return [0] if threshold is None else [0, counts.head_cells(threshold).stop]


def _local_means(
    cell: IntArray, value: FloatArray, weight: FloatArray, n_cells: int, ends: list[int]
) -> FloatArray:
    """Return the weighted mean of a value over neighbouring rows, for each cell between ends."""
    means = np.zeros(n_cells)
    for low, high in zip(ends, [*ends[1:], n_cells], strict=True):
        inside = np.flatnonzero((cell >= low) & (cell < high))
        if not len(inside):
            continue
        starts = np.arange(0, len(inside), ROWS_PER_MEAN)
        sizes = np.diff(np.append(starts, len(inside)))
        middle = np.add.reduceat(cell[inside], starts) / sizes
        total = np.add.reduceat(weight[inside], starts)
        sums = np.add.reduceat((weight * value)[inside], starts)
        means[low:high] = np.interp(np.arange(low, high), middle, sums / np.maximum(total, 1e-300))
    return means
