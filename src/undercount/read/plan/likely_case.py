"""What may be true of the hidden positives, and how sharp the library's answer would then be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from undercount.assume.reviewed.differences import ReviewedModel, difference_ends, drawn_variance
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer.mass_gradients import MassGradient
from undercount.infer.reviews.drawn_verdicts import DrawnCells, DrawnVerdicts, Pool, SampledCells
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.verdicts import (
    IntArray,
    ReviewDesign,
    ReviewedCells,
    Reviews,
    working_posterior,
)
from undercount.read.plan.goals import SUFFIX, gradient_at, half_range, metric_of, threshold_of
from undercount.read.plan.second_model import RowsByBoth, SecondModel, require_second

LIKELY_DRAW_SEED = 20


class TwoModels(NamedTuple):
    """The second model of goals that are differences, some rows by both, and its own chances."""

    model: SecondModel
    rows: RowsByBoth
    own_chance: FloatArray


@dataclass(frozen=True, eq=False)
class LikelyCase:
    """Hold what may be true of the hidden positives, and what verdicts would then make of a goal.

    Attributes
    ----------
    counts : ScoreCounts
        The rows.
    reviews : Reviews
        Verdicts that are there, if any, and the strata.
    chance : array
        Chance that an unlabeled row of each cell is positive.
    second : TwoModels, optional
        The second model of goals that are differences.
    """

    counts: ScoreCounts
    reviews: Reviews
    chance: FloatArray
    second: TwoModels | None = None
    _row_variances: dict[str, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        counts: ScoreCounts,
        reviews: Reviews,
        chance: FloatArray,
        second: tuple[SecondModel, RowsByBoth] | None = None,
        slope: float = 0.0,
        share: float | None = None,
    ) -> "LikelyCase":
        """Suppose these chances, and of the second model's cells the same share and slope."""
        if second is None:
            return cls(counts, reviews, chance)
        if share is None:
            share = float(np.clip(chance @ counts.unlabeled / counts.n_unlabeled, 1e-9, 1 - 1e-9))
        own_chance = second[0].supposed_chance(share, slope)
        return cls(counts, reviews, chance, TwoModels(*second, own_chance))

    @property
    def design(self) -> ReviewDesign:
        """How rows are drawn."""
        return self.reviews.design

    @property
    def share(self) -> float:
        """Share of positives among the unlabeled rows."""
        return float(self.chance @ self.counts.unlabeled) / self.counts.n_unlabeled

    @cached_property
    def posterior(self) -> FloatArray:
        """The working posterior, by which verdicts are read whatever is supposed."""
        return working_posterior(self.counts, self.design.unlabeled_prevalence)

    def gradient(self, metric: str) -> MassGradient:
        """Return the first model's metric with its gradient."""
        at = threshold_of(metric, self.design.threshold)
        return gradient_at(self.counts, self.chance, metric, at)

    def value(self, goal: str) -> float:
        """Return the value of a goal."""
        metric = metric_of(goal)
        value = float(self.gradient(metric).value)
        if not goal.endswith(SUFFIX):
            return value
        return value - float(self._second_gradient(metric, self._models(goal)).value)

    def draw(self, sizes: IntArray, n_draws: int) -> DrawnVerdicts:
        """Draw so many more verdicts of each stratum, as they may well be."""
        pool = Pool(self.counts.score, self.counts.unlabeled, self.chance)
        return pool.draw(self.design, sizes, n_draws, LIKELY_DRAW_SEED)

    def difference_widths(
        self, goal: str, sizes: IntArray, confidence_level: float, n_draws: int
    ) -> FloatArray:
        """Return half the width of a difference's interval, in draws of so many more verdicts.

        The difference of two models is meant where rows come from, as `compare` has it.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = list(self._differences(goal, sizes, confidence_level, n_draws))
        return _no_wider(np.array(ends), goal)

    def _models(self, goal: str) -> TwoModels:
        require_second(None if self.second is None else self.second.model, goal)
        assert self.second is not None  # noqa: S101 - for types alone
        return self.second

    def _second_gradient(self, metric: str, second: TwoModels) -> MassGradient:
        at_threshold = threshold_of(metric, self.design.threshold) is not None
        return second.model.gradient(metric, second.own_chance, at_threshold=at_threshold)

    def _row_variance(self, goal: str) -> float:
        """Return how far the draw of the rows moves a difference."""
        if goal not in self._row_variances:
            metric, second = metric_of(goal), self._models(goal)
            gradients = self.gradient(metric), self._second_gradient(metric, second)
            chances = self.chance, second.own_chance
            at = threshold_of(metric, self.design.threshold)
            self._row_variances[goal] = second.model.row_variance(
                self.counts, gradients, chances, at
            )
        return self._row_variances[goal]

    def _differences(
        self, goal: str, sizes: IntArray, level: float, n_draws: int
    ) -> Iterator[tuple[float, float]]:
        """Read a difference of two models by drawn verdicts, all of them.

        Those that are there are drawn anew, by the chances that they showed: where they lie by the
        second model's score is not known.
        """
        metric, row_variance, second = metric_of(goal), self._row_variance(goal), self._models(goal)
        both, model, design = second.rows, second.model, self.design
        pool = Pool(both.score, both.rows_each, both.chance(self.chance, second.own_chance))
        drawn = pool.draw(design, sizes + self.reviews.sizes, n_draws, LIKELY_DRAW_SEED)
        for place, reviews in drawn.as_reviews(both.score, design):
            plan = ReviewedCells(self.counts, reviews, self.posterior)
            cells = (self.counts, both.plan_cell), (model.counts, both.own_cell)
            thresholds = design.threshold, model.threshold
            models = [
                _reviewed_model(counts, own_cell, plan, place, both, level, at)
                for (counts, own_cell), at in zip(cells, thresholds, strict=True)
            ]
            pair = models[0], models[1]
            gradients = pair[0].gradient(metric), pair[1].gradient(metric)
            variance, freedom = drawn_variance(pair, gradients, metric)
            variance += row_variance
            yield difference_ends(pair, gradients, metric, level, variance, freedom)


def _reviewed_model(
    counts: ScoreCounts,
    own_cell: IntArray,
    plan: ReviewedCells,
    place: IntArray,
    both: RowsByBoth,
    level: float,
    threshold: float | None,
) -> ReviewedModel:
    """Return what verdicts on rows by both models say of one of them."""
    cells = SampledCells(
        counts,
        plan.reviews,
        plan.posterior[both.plan_cell],
        plan=plan,
        plan_cell=both.plan_cell,
        own_cell=own_cell,
        reviewed=place,
        rows_each=both.rows_each,
    )
    labels = np.full(len(own_cell), -1, dtype=np.int8)
    metrics = ReviewedMetrics(cells, confidence_level=level)
    return ReviewedModel(metrics, labels, own_cell, threshold)


def half_widths(
    cases: Sequence[LikelyCase],
    goal: str,
    sizes: IntArray,
    confidence_level: float,
    n_draws: Sequence[int],
) -> list[FloatArray]:
    """Return half the width of a metric's interval in each draw of each case.

    So many more verdicts of each stratum are drawn, as often as is said of each case, and all read
    in one go.
    """
    first = cases[0]
    drawn = [case.draw(sizes, number) for case, number in zip(cases, n_draws, strict=True)]
    cells = DrawnCells(first.counts, first.reviews, first.posterior, drawn=drawn)
    metrics = ReviewedMetrics(cells, confidence_level=confidence_level)
    at = threshold_of(goal, first.design.threshold)
    # Of a few rows all may be drawn positive, and none is left to be ranked below them.
    with np.errstate(invalid="ignore", divide="ignore"):
        _, low, high, _ = metrics.intervals(goal, at)
    widths = _no_wider(np.stack([low, high], axis=-1), goal)
    return np.split(widths, np.cumsum(n_draws)[:-1])


def _no_wider(ends: FloatArray, goal: str) -> FloatArray:
    """Return half the widths of intervals, none more than half of a goal's range."""
    # Of a few rows all may be drawn positive: such verdicts tell nothing of an area.
    widest, widths = half_range(goal), (ends[:, 1] - ends[:, 0]) / 2
    return np.fmin(np.where(np.isnan(widths), widest, widths), widest)
