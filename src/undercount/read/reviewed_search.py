"""Where to set the threshold by reviewed rows, nothing being supposed of the labels."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.assume.reviews import CrossedCells, ReviewedCells
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.read.decisions import MOST_CELLS, N_DRAWS, Goal, ThresholdSearch
from undercount.read.intervals.heads import RatePoint
from undercount.read.intervals.review_intervals import METHOD, ReviewedMetrics
from undercount.read.intervals.review_labels import BOTH, CombinedMetrics
from undercount.read.intervals.stratum_shares import StratumShares
from undercount.shares import Shares


@dataclass(frozen=True)
class ReviewedSearch(ThresholdSearch):
    """Search thresholds of reviewed rows; verdicts drawn anew show how much searching flatters.

    Verdicts are drawn by the smoothed share of positives of their cells, which then is the truth.
    With random labels the thresholds are those of labels and reviews together. The value of the
    gain is corrected for draws that vary by as much less as the two together say more of it; its
    ends are those of reviews alone, since ends by such draws held the truth in .91 of samples.

    Notes
    -----
    Assumes: reviews were drawn by the design, for the scores that are searched.
    Wrong when: few verdicts fall near the best threshold; the interval of the gain tells.
    """

    metrics: ReviewedMetrics | CombinedMetrics = field(kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.cells, CrossedCells):
            raise InputError("the best threshold is searched by the model that planned the reviews")

    @property
    def cells(self) -> ReviewedCells:
        """What verdicts say of each cell."""
        metrics = self.metrics
        return metrics.strata.cells if isinstance(metrics, CombinedMetrics) else metrics.cells

    @property
    def positive(self) -> FloatArray:
        """Positives of each cell, by the answer that leads."""
        if isinstance(self.metrics, CombinedMetrics):
            return self.metrics.strata.positive
        return self.metrics.cells.positive

    def _points(self, counts: ScoreCounts, shares: Shares) -> RatePoint:  # noqa: ARG002 - by verdicts
        found = self._rates_of(np.append(0.0, np.cumsum(self.positive)))
        return replace(found, prevalence=float(found.prevalence[0]))

    def _rates_of(self, hits: FloatArray, at: NDArray[np.intp] | None = None) -> RatePoint:
        """Return rates of numbers of positives above thresholds; the last is that of all."""
        rows = np.append(0.0, np.cumsum(self.cells.everyone))
        rows = rows if at is None else rows[at]
        total = hits[..., -1:]
        with np.errstate(
            divide="ignore", invalid="ignore"
        ):  # a draw may leave a class without rows
            recall, alarms = hits / total, (rows - hits) / (rows[-1] - total)
        return RatePoint(recall, alarms, total / rows[-1], rows / rows[-1])

    def _gain(self, goal: Goal, threshold: float, over: float) -> Estimate:
        """Estimate what the threshold gains; its interval holds the chance of the search."""
        ends = [int(np.count_nonzero(self.counts.score >= each)) for each in (threshold, over)]
        values = goal.value(self._points(self.counts, self.shares))
        raw = float(values[ends[0]] - values[ends[1]])
        errors = self._drawn_errors(goal, ends[1])
        part = self._joined_part(goal, threshold, over)
        flattery = errors if part == 1 else self._drawn_errors(goal, ends[1], part)
        tail = (1 - self.confidence_level) / 2
        value = raw - float(flattery.mean())
        low, high = raw - np.quantile(errors, [1 - tail, tail])
        rows = self._row_error(goal, threshold, over)
        reach = rows * float(ndtri(1 - tail))
        return Estimate(
            value,
            value - math.hypot(max(value - float(low), 0.0), reach),
            value + math.hypot(max(float(high) - value, 0.0), reach),
            math.hypot(float(errors.std()), rows),
            self.confidence_level,
            BOTH if isinstance(self.metrics, CombinedMetrics) else ("reviews",),
            METHOD,
        )

    def _row_error(self, goal: Goal, threshold: float, over: float) -> float:
        """Return the error that the draw of rows or clusters adds if a population is meant."""
        if self.target == "dataset":
            return 0.0
        metrics = self.metrics
        alone = metrics.alone if isinstance(metrics, CombinedMetrics) else metrics
        moves = alone.gradient(goal.metric, threshold, beta=goal.beta)
        moves = moves - alone.gradient(goal.metric, over, beta=goal.beta)
        return float(goal.scale * alone.row_variance(moves) ** 0.5)

    def _joined_part(self, goal: Goal, threshold: float, over: float) -> float:
        """Return the error of labels and reviews together, as a part of that of reviews alone."""
        metrics = self.metrics
        if not isinstance(metrics, CombinedMetrics):
            return 1.0
        joined, alone = (
            each.gradient(goal.metric, threshold, beta=goal.beta)
            - each.gradient(goal.metric, over, beta=goal.beta)
            for each in (metrics, metrics.alone)
        )
        together, _ = metrics.strata.variance(joined.turned)
        verdicts, _ = metrics.alone.drawn_variance(self.cells.moves(alone.turned))
        return min(together / float(verdicts), 1.0) ** 0.5 if verdicts > 0 else 1.0

    def _drawn_errors(self, goal: Goal, over: int, part: float = 1.0) -> FloatArray:
        """Return by how much the best point of other verdicts looks better there than it is.

        Of what verdicts miss only a part is left, if labels say something too.
        """
        cells, rng = self.cells, np.random.default_rng(self.random_state)
        last = len(cells.counts.score)
        at = np.unique(np.append(np.linspace(0, last, MOST_CELLS).astype(np.intp), over))
        share = StratumShares.of(cells).share
        known = np.zeros(last) if cells.apart else cells.counts.positive
        smooth, base = (
            np.append(0.0, np.cumsum(known + each * cells.unlabeled))[at]
            for each in (share, cells.posterior)
        )
        order = np.argsort(cells.place, kind="stable")
        place = cells.place[order]
        drawn = rng.random((N_DRAWS, len(place))) < share[place]
        excess = (drawn - cells.posterior[place]) * (cells.weight * cells.stands_for)[order]
        added = np.concatenate([np.zeros((N_DRAWS, 1)), np.cumsum(excess, axis=1)], axis=1)
        drawn_hits = base + added[:, np.searchsorted(place, at)]
        seen = self._rates_of(smooth + part * (drawn_hits - smooth), at)
        real = goal.value(self._rates_of(smooth, at))
        # A share of flagged rows is the same in every draw.
        chosen, looks = goal.choose(seen), np.broadcast_to(goal.value(seen), (N_DRAWS, len(at)))
        there = int(np.searchsorted(at, over))
        rows = np.arange(N_DRAWS)
        errors = (looks[rows, chosen] - looks[:, there]) - (real[chosen] - real[there])
        found = errors[(chosen >= 0) & np.isfinite(errors)]
        return found if len(found) else np.zeros(1)
