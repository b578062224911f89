"""A second model whose difference to the first a plan of reviews is to make sharp."""

from dataclasses import dataclass

import numpy as np

from undercount.assume.reviews import working_posterior
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.read.intervals.mass_gradients import MassGradient, mass_gradient

SUFFIX = "_difference"
# Sampled rows over which the squares of what a verdict moves are averaged.
ROWS_A_MEAN = 64


def metric_of(goal: str) -> str:
    """Return the metric that a goal is, or is the difference of."""
    return goal.removesuffix(SUFFIX)


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

    def gradient(self, metric: str, share: float, threshold: float | None) -> MassGradient:
        """Read the second model's metric where the same share is hidden."""
        counts = self.counts
        positive = counts.positive + working_posterior(counts, share) * counts.unlabeled
        everyone = counts.positive + counts.negative + counts.unlabeled
        return mass_gradient(counts, positive, everyone, metric, threshold=threshold)

    def squares(
        self, counts: ScoreCounts, first: MassGradient, second: MassGradient, at: float | None
    ) -> FloatArray:
        """Return the mean square of what a verdict moves the difference, by the first's cells."""
        order = np.argsort(-self.score, kind="stable")
        own, other = (
            np.minimum(np.searchsorted(-each.score, -score[order]), len(each.score) - 1)
            for each, score in ((counts, self.score), (self.counts, self.own_score))
        )
        squares = (first.turned[own] - second.turned[other]) ** 2
        ends = [0, len(counts.score)] if at is None else [0, counts.head_cells(at).stop]
        found = np.zeros(len(counts.score))
        for low, high in zip(ends, [*ends[1:], len(found)], strict=True):
            inside = (own >= low) & (own < high)
            number = max(int(inside.sum()) // ROWS_A_MEAN, 1)
            parts = np.array_split(np.flatnonzero(inside), number)
            middle = [own[part].mean() for part in parts if len(part)]
            mean = [squares[part].mean() for part in parts if len(part)]
            if middle:
                found[low:high] = np.interp(np.arange(low, high), middle, mean)
        return found
