"""Where to set the threshold by reviewed rows, nothing being supposed of the labels."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.decisions import MOST_CANDIDATE_CELLS, N_DRAWS, Goal, ThresholdSearch
from undercount.infer.heads import RatePoint
from undercount.infer.reviews.ends import PATH, Gaps, moved_interval, sides_of
from undercount.infer.reviews.intervals import METHOD, OPEN_AT, ReviewedMetrics, range_of, stretch
from undercount.infer.reviews.stratum_shares import StratumShares
from undercount.infer.reviews.verdicts import CrossedCells, ReviewedCells
from undercount.infer.reviews.with_labels import BOTH, CombinedMetrics
from undercount.shares import Shares


@dataclass(frozen=True)
class ReviewedSearch(ThresholdSearch):
    """Search thresholds of reviewed rows; verdicts drawn anew show how much searching flatters.

    Verdicts are drawn by the smoothed share of positives of their cells, which then is the truth.
    With random labels the thresholds are those of labels and reviews together. The value of the
    gain is corrected for draws that vary by as much less as the two together say more of it; its
    ends are those of reviews alone, since ends by such draws held the truth in .91 of samples.
    Neither lies nearer than those of two thresholds that were given before: a plan for precision
    hardly looks below its threshold, and draws suppose the little it saw there. Where nearly the
    whole range of the metric is left open the gain has no value (`Estimate.open`).

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
        return self.metrics.positives("recall")

    def _points(self, counts: ScoreCounts, shares: Shares) -> RatePoint:  # noqa: ARG002 - by verdicts
        rates = self._rates_of(np.append(0.0, np.cumsum(self.positive)))
        return replace(rates, prevalence=float(rates.prevalence[0]))

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
        ends = [int(np.count_nonzero(self.counts.score >= place)) for place in (threshold, over)]
        values = goal.value(self._points(self.counts, self.shares))
        raw = float(values[ends[0]] - values[ends[1]])
        errors = self._drawn_errors(goal, ends[1])
        part = self._joined_part(goal, threshold, over)
        flattery = errors if part == 1 else self._drawn_errors(goal, ends[1], part)
        tail = (1 - self.confidence_level) / 2
        value = raw - float(flattery.mean())
        low, high = raw - np.quantile(errors, [1 - tail, tail])
        gaps = self._left_open(goal, (threshold, over), ends)
        low, high = min(low, raw + gaps.low), max(high, raw + gaps.high)
        rows = self._row_error(goal, threshold, over)
        reach = rows * float(ndtri(1 - tail))
        gain = Estimate(
            value,
            value - math.hypot(max(value - float(low), 0.0), reach),
            value + math.hypot(max(float(high) - value, 0.0), reach),
            math.hypot(float(errors.std()), rows),
            self.confidence_level,
            self._needs_of(goal.metric),
            METHOD,
        )
        return self._in_range(goal, gain)

    def _needs_of(self, metric: str) -> tuple[str, ...]:
        if isinstance(self.metrics, CombinedMetrics):
            return BOTH
        given = self.metrics.of_metric(metric).prevalence is not None
        return ("reviews", "prevalence") if given else ("reviews",)

    def _left_open(self, goal: Goal, thresholds: tuple[float, float], ends: list[int]) -> Gaps:
        """Return how far the gain of two given thresholds may lie below and above its value.

        Verdicts drawn anew take the strata for what they showed; where few verdicts say how many
        positives there are at all, that is the larger doubt.
        """
        metrics, cells, risk = self.metrics, self.cells, (1 - self.confidence_level) / 2
        one, other = (metrics.gradient(goal.metric, at, beta=goal.beta) for at in thresholds)
        turned = goal.scale * (one.turned - other.turned)
        widened = stretch(cells, self.confidence_level) if metrics.sequential else 1.0
        if isinstance(metrics, CombinedMetrics):  # labels tell of rows at which few verdicts look
            variance, freedom = metrics.strata.variance(turned)
            half = float(stdtrit(freedom, 1 - risk)) * math.sqrt(widened * variance)
            return Gaps(-half, half)
        moves = cells.moves(turned)
        freedom = float(metrics.drawn_variance(moves)[1])
        at = np.array([*ends, len(cells.counts.score)])
        parts = np.array([[0.0], *([part] for part in PATH)])

        def read(more: FloatArray) -> FloatArray:
            positive = cells.positive + parts * cells.by_cell(more)
            hits = np.append(np.zeros((len(parts), 1)), np.cumsum(positive, axis=-1), axis=-1)
            values = goal.value(self._rates_of(hits[:, at], at))
            gains = values[:, 0] - values[:, 1]
            return np.asarray(gains[1:] - gains[0])

        student, normal = float(stdtrit(freedom, 1 - risk)), float(ndtri(1 - risk))
        widened *= (student / normal if normal > 0 else 1.0) ** 2
        return moved_interval(sides_of(cells, metrics.shares, moves), read, risk, widened)

    def _in_range(self, goal: Goal, found: Estimate) -> Estimate:
        """Keep a gain in its range; where nearly all of the metric's is open it has no value."""
        least, most = (goal.scale * end for end in range_of(goal.metric))
        if not math.isfinite(most - least):
            return found
        low, high = max(found.low, least - most), min(found.high, most - least)
        if high - low >= OPEN_AT * (most - least):
            return replace(found, value=math.nan, low=low, high=high, standard_error=math.nan)
        return replace(found, low=min(low, found.value), high=max(high, found.value))

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
            part.gradient(goal.metric, threshold, beta=goal.beta)
            - part.gradient(goal.metric, over, beta=goal.beta)
            for part in (metrics, metrics.alone)
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
        at = np.unique(np.append(np.linspace(0, last, MOST_CANDIDATE_CELLS).astype(np.intp), over))
        share = StratumShares.of(cells).share
        labelled = np.zeros(last) if cells.apart else cells.counts.positive
        smooth, base = (
            np.append(0.0, np.cumsum(labelled + chance * cells.unlabeled))[at]
            for chance in (share, cells.posterior)
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
        finite = errors[(chosen >= 0) & np.isfinite(errors)]
        return finite if len(finite) else np.zeros(1)
