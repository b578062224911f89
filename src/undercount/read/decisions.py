"""Where to set the threshold: by a metric, under conditions, or by costs; and what that gains."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.assume.mixture import LABELLED, MixtureDesign, Target, design_of
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingPoint, metric_names, read_metric
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.metric_facts import FACTS
from undercount.read.intervals.heads import RatePoint
from undercount.read.sensitivity import ROUNDING
from undercount.shares import Shares

POINTS = (*metric_names(), "tpr", "fpr")
COSTS = ("false_positive", "false_negative")
# Draws of the labels, and the cells among which a threshold is searched in each.
N_DRAWS, MOST_CELLS = 400, 2048
Costs: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class BestThreshold(OperatingPoint):
    """Hold the best point, and what it gains over another threshold, if there is one to compare.

    Attributes
    ----------
    gain : Estimate, optional
        How much better the metric is, or how much less a row costs, than at `over`. Choosing the
        best of many thresholds on these rows flatters it; the value is corrected for that.
    over : float, optional
        The threshold it is compared with: infinity flags no row, minus infinity all.

    Examples
    --------
    >>> from undercount.read.decisions import BestThreshold
    >>> BestThreshold(threshold=0.5, tpr=0.8, fpr=0.1, prevalence=0.2).gain is None
    True
    """

    gain: Estimate | None = None
    over: float | None = None


@dataclass(frozen=True)
class Goal:
    """Say what is wanted of a threshold: the best of a metric, or the least cost, under conditions.

    Attributes
    ----------
    metric, beta : str, float
        The metric and its own number; for costs the weight of a false positive in their sum.
    scale : float
        What the metric is multiplied with: the sum of the costs.
    at_least : mapping
        Metric → the least value it may have.
    """

    metric: str
    beta: float = 1.0
    scale: float = 1.0
    at_least: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, metric: str, at_least: Mapping[str, float] | None, cost: Costs | None) -> "Goal":
        """Read what a user asked for."""
        conditions = tuple((at_least or {}).items())
        for name in (metric, *(name for name, _ in conditions)):
            if name not in POINTS:
                raise InputError(f"metric must be one of {', '.join(POINTS)}; got {name!r}")
        if cost is None:
            return cls(metric, at_least=conditions)
        weight, scale = cost_weight(cost)
        return cls("expected_cost", weight, scale, conditions)

    def value(self, points: RatePoint) -> FloatArray:
        """Return how good each point is: larger is better."""
        found = self.scale * read_metric([points], self.metric, self.beta)[0]
        return found if FACTS[self.metric].higher_is_better else -found

    def choose(self, points: RatePoint) -> NDArray[np.intp]:
        """Return the place of the best point along the last axis; the first of equal ones."""
        values = self.value(points)
        possible = (points.fpr >= -ROUNDING) & (points.tpr <= 1 + ROUNDING) & ~np.isnan(values)
        if self.metric != "expected_cost":
            possible[..., 0] = False  # above all scores nothing is predicted positive
        for name, least in self.at_least:
            possible &= points.metric(name) >= least - ROUNDING
        chosen = np.argmax(np.where(possible, values, -np.inf), axis=-1)
        return np.where(possible.any(axis=-1), chosen, -1)


def cost_weight(cost: Costs) -> tuple[float, float]:
    """Return the share of a false positive in the sum of both costs, and the sum."""
    unknown = sorted(set(cost) - set(COSTS))
    if unknown or not cost:
        raise InputError(
            f"cost must name false_positive and false_negative; got {', '.join(map(repr, cost))}",
            argument="cost",
        )
    wrong, missed = (float(cost.get(name, 0.0)) for name in COSTS)
    if not (wrong >= 0 and missed >= 0 and 0 < wrong + missed < math.inf):
        raise InputError(
            f"costs must be finite and not negative, and one above 0; got {dict(cost)}",
            argument="cost",
        )
    return wrong / (wrong + missed), wrong + missed


@dataclass(frozen=True)
class ThresholdSearch:
    """Search thresholds of counted rows; labels drawn anew show how much searching flatters."""

    counts: ScoreCounts
    shares: Shares
    target: Target
    confidence_level: float
    random_state: int = 0

    def best(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold, with what it gains over another."""
        points = self._points(self.counts, self.shares)
        place = int(goal.choose(points))
        if place < 0:
            wanted = " and ".join(f"{name} >= {least:g}" for name, least in goal.at_least)
            raise InputError(
                f"no threshold reaches {wanted or 'a possible value'}; {self._reach(points, goal)}",
                argument="at_least",
            )
        threshold = float(np.append(np.inf, self.counts.score)[place])
        found = BestThreshold(
            threshold, float(points.tpr[place]), float(points.fpr[place]), float(points.prevalence)
        )
        if over is None and goal.metric == "expected_cost":
            values = goal.value(points)
            over = math.inf if values[0] >= values[-1] else -math.inf
        if over is None:
            return found
        return replace(found, gain=self._gain(goal, threshold, over), over=over)

    def _reach(self, points: RatePoint, goal: Goal) -> str:
        best = {name: float(np.nanmax(points.metric(name)[1:])) for name, _ in goal.at_least}
        return "the largest estimate is " + ", ".join(f"{n} {v:.3f}" for n, v in best.items())

    def _points(self, counts: ScoreCounts, shares: Shares) -> RatePoint:
        design = design_of(counts, shares, shares.sampling, self.target)
        rates = _rates(counts)
        tpr, fpr, flagged = design.mixing.exact_rates(*rates)
        return RatePoint(tpr, fpr, float(design.mixing.prevalence), flagged)

    def _gain(self, goal: Goal, threshold: float, over: float) -> Estimate:
        """Estimate what the threshold gains; its interval holds the chance of the search."""
        counts = self.counts
        if len(counts.score) > MOST_CELLS:
            counts = counts.coarsened(MOST_CELLS)
        places = [_place(counts, each) for each in (threshold, over)]
        points = self._points(counts, self.shares)
        values = goal.value(points)
        raw = float(values[places[0]] - values[places[1]])
        errors = self._errors(goal, counts, points, places[1])
        tail = (1 - self.confidence_level) / 2
        low = raw - float(np.quantile(errors, 1 - tail))
        high = raw - float(np.quantile(errors, tail))
        value = raw - float(errors.mean())
        ends = [
            goal.value(self._points(counts, moved))[places] @ [1.0, -1.0] - raw
            for moved in _share_ends(self.shares)
        ]
        low = value - math.hypot(value - low, max(0.0, -min(ends, default=0.0)))
        high = value + math.hypot(high - value, max(0.0, max(ends, default=0.0)))
        return Estimate(
            value,
            float(min(low, value)),
            float(max(high, value)),
            float(errors.std()),
            self.confidence_level,
            FACTS[goal.metric].needs,
            "labels drawn anew",
        )

    def _errors(self, goal: Goal, counts: ScoreCounts, points: RatePoint, over: int) -> FloatArray:
        """Return by how much the best point of other draws looks better there than it is here."""
        drawn = _draw(counts, self.shares, self.target, np.random.default_rng(self.random_state))
        chosen = goal.choose(drawn)
        rows = np.arange(len(chosen))
        seen, truth = goal.value(drawn), goal.value(points)
        errors = (seen[rows, chosen] - seen[:, over]) - (truth[chosen] - truth[over])
        found = errors[(chosen >= 0) & np.isfinite(errors)]
        return found if len(found) else np.zeros(1)


def _rates(counts: ScoreCounts) -> list[FloatArray]:
    positive, negative, unlabeled = counts.cumulative()
    return [heads / (heads[-1] or 1.0) for heads in (positive, unlabeled, negative)]


def _place(counts: ScoreCounts, threshold: float) -> int:
    return int(np.count_nonzero(counts.score >= threshold))


def _share_ends(shares: Shares) -> list[Shares]:
    span = shares.unlabeled_prevalence_interval
    if span is None:
        return []
    return [shares.exact(float(shares.clip(end))) for end in (span.low, span.high)]


def _draw(
    counts: ScoreCounts, shares: Shares, target: Target, rng: np.random.Generator
) -> RatePoint:
    """Draw labels anew, and for a population the other rows too; one row of rates a draw.

    For these very rows all stay where they are, and labels vary by as much less as positives are
    labelled already (the finite-population correction).
    """
    design = design_of(counts, shares, shares.sampling, target)
    labelled, unlabeled, negative = _rates(counts)
    shaken = _shake(labelled, float(design.effective[LABELLED]), rng)
    if target == "dataset":
        moved = design.mixing.positive[LABELLED] * math.sqrt(_left(design)) * shaken
        base = design.mixing.exact_rates(labelled, unlabeled, negative)
        tpr, flagged = base[0] + moved, base[2] + 0.0 * moved
    else:
        other = unlabeled + _shake(unlabeled, float(design.effective[1]), rng)
        tpr, _, flagged = design.mixing.exact_rates(labelled + shaken, other, negative)
    prevalence = float(design.mixing.prevalence)
    return RatePoint(tpr, (flagged - prevalence * tpr) / (1 - prevalence), prevalence, flagged)


def _left(design: MixtureDesign) -> float:
    """Return the share of the variance that labels of these rows still have."""
    if design.sampling == "case-control":
        hidden = float(design.mixing.positives)
        return 1 + float(design.sizes[LABELLED]) / max(hidden, 1.0)
    return float(np.clip(design.unlabelled_share, 0.0, 1.0))


def _shake(rate: FloatArray, size: float, rng: np.random.Generator) -> FloatArray:
    """Return how far rates of so many rows, drawn anew, lie from the rates they are drawn from."""
    n_rows = max(round(size), 1)
    cells = np.maximum(np.diff(rate), 0.0)
    drawn = rng.multinomial(n_rows, cells / cells.sum(), N_DRAWS)
    heads = np.concatenate([np.zeros((N_DRAWS, 1)), np.cumsum(drawn, axis=1)], axis=1)
    return np.asarray(heads / n_rows - rate)
