"""A further round of a plan: what every stratum should have in the end, less what it has."""

from dataclasses import dataclass, replace

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer.mass_gradients import MassGradient
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.verdicts import IntArray, ReviewedCells, Reviews, working_posterior
from undercount.read.plan.allocation import fill, spread_evenly
from undercount.read.plan.goals import SUFFIX, metric_of, threshold_of
from undercount.read.plan.second_model import SecondModel, require_second


@dataclass(frozen=True, eq=False)
class FurtherRound:
    """Share out any budget of further verdicts, with what those that are there showed.

    Attributes
    ----------
    part : array
        Part of each stratum of all verdicts, those that are there included.
    drawn, rows : array of int
        Verdicts that are there, and unlabeled rows, of each stratum.
    """

    part: FloatArray
    drawn: IntArray
    rows: IntArray

    @classmethod
    def of(
        cls, counts: ScoreCounts, reviews: Reviews, second: SecondModel | None = None
    ) -> "FurtherRound":
        """Read from the verdicts where further ones say most."""
        design = reviews.design
        posterior = working_posterior(counts, design.unlabeled_prevalence)
        reviewed = ReviewedMetrics(ReviewedCells(counts, reviews, posterior))
        group, rows = reviewed.cells.group, reviewed.cells.unlabeled_rows
        # By what all verdicts together showed: were strata that showed nothing left alone, what
        # they hide would be missed on average.
        smooth = replace(reviewed.shares, share=reviewed.cells.recalibrated)
        density = np.zeros(len(rows))
        for goal in design.goal:
            metric = metric_of(goal)
            at = threshold_of(metric, design.threshold)
            gradient = reviewed.gradient(metric, at)
            variance = smooth.variance(gradient.turned, len(rows))
            if goal.endswith(SUFFIX):
                model = require_second(second, goal)
                variance = _difference_variance(reviewed.cells, gradient, metric, at, model)
            total = float(rows @ np.sqrt(variance))
            density += variance / total**2 if total > 0 else 0.0
        part = np.asarray(design.n_unlabeled * np.sqrt(density)[group], dtype=float)
        even = np.asarray(design.n_unlabeled / design.n_unlabeled.sum(), dtype=float)
        return cls(spread_evenly(part, even), reviews.sizes, design.n_unlabeled)

    def sizes(self, budget: int) -> IntArray:
        """Share out a budget of new verdicts; no stratum is asked for more rows than it has."""
        budget = int(min(budget, (self.rows - self.drawn).sum()))
        return fill(self.part, self.drawn, self.rows, budget + int(self.drawn.sum())) - self.drawn


def _difference_variance(
    cells: ReviewedCells,
    first: MassGradient,
    metric: str,
    threshold: float | None,
    model: SecondModel,
) -> FloatArray:
    """Return of each stratum what one more verdict on its rows varies a difference of two models.

    Where the second model scores the rows of a stratum high is known of a sample of them.
    """
    share, rows = cells.recalibrated, cells.unlabeled
    chance = model.working_chance(float(share @ rows) / float(rows.sum()))
    second = model.gradient(metric, chance, at_threshold=threshold is not None)
    squares = model.squares(cells.counts, first, second, chance, threshold)
    spread = rows * squares * share * (1 - share)
    sums = np.bincount(cells.stratum, spread, len(cells.unlabeled_rows))
    return np.asarray(sums / np.maximum(cells.unlabeled_rows, 1.0))
