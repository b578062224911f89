"""Where to set the threshold: by a metric, under conditions, or by costs; and what that gains."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingPoint, metric_names, read_metric
from undercount.errors import InputError, real_number
from undercount.estimate import Estimate
from undercount.infer.clusters import Clusters, cell_parts
from undercount.infer.heads import RatePoint
from undercount.infer.metric_name import name_metric, short_number
from undercount.infer.mixture import LABELLED, UNLABELED, MixtureDesign, Target, design_of
from undercount.infer.sensitivity import ROUNDING
from undercount.infer.shared_labels import over_share
from undercount.metric_facts import FACTS
from undercount.shares import Shares

DECISION_METRICS = (*metric_names(), "tpr", "fpr")
COSTS = ("false_positive", "false_negative")
# Draws of the labels, and the cells among which a threshold is searched in each.
N_DRAWS, MOST_CANDIDATE_CELLS = 400, 2048
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

    Notes
    -----
    Assumes: labels random among the positives, and the prevalence.
    Wrong when: the point's own metrics are read as if it had been fixed before; few rows, some
    sixty, are labelled: the interval of the gain then holds the truth somewhat less often.

    Examples
    --------
    >>> from undercount.infer.decisions import BestThreshold
    >>> BestThreshold(threshold=0.5, tpr=0.8, fpr=0.1, prevalence=0.2).gain is None
    True
    """

    gain: Estimate | None = None
    over: float | None = None

    def without_share(self, *, recall_known: bool) -> "BestThreshold":
        """Return the point without rates that depend on a share to which the data do not point.

        Recall depends on it only where labels may be wrong.
        """
        recall = self.tpr if recall_known else math.nan
        return replace(self, tpr=recall, fpr=math.nan, prevalence=math.nan)


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
    any_share : bool
        Whether metric and conditions are the same at every share of hidden positives, so that a
        point is chosen wherever one makes it possible.
    """

    metric: str
    beta: float = 1.0
    scale: float = 1.0
    at_least: tuple[tuple[str, float], ...] = ()
    any_share: bool = False

    @classmethod
    def of(cls, metric: str, at_least: Mapping[str, float] | None, cost: Costs | None) -> "Goal":
        """Read what a user asked for."""
        conditions_given = {} if at_least is None else at_least
        if not isinstance(conditions_given, Mapping) or any(
            math.isnan(real_number(v)) for v in conditions_given.values()
        ):
            raise InputError(
                f"at_least must say which metric may be how low, {{'precision': 0.6}} say; got "
                f"{at_least!r}",
                argument="at_least",
            )
        conditions = tuple(
            (name_metric(n, DECISION_METRICS), float(v)) for n, v in conditions_given.items()
        )
        if cost is None:
            return cls(name_metric(metric, DECISION_METRICS), at_least=conditions)
        weight, scale = cost_weight(cost)
        return cls("expected_cost", weight, scale, conditions)

    def value(self, points: RatePoint) -> FloatArray:
        """Return how good each point is: larger is better."""
        values = self.scale * read_metric([points], self.metric, self.beta)[0]
        return values if FACTS[self.metric].higher_is_better else -values

    def choose(self, points: RatePoint) -> NDArray[np.intp]:
        """Return the place of the best point along the last axis; the first of equal ones."""
        values = self.value(points)
        possible = (points.fpr >= -ROUNDING) | self.any_share
        possible = possible & (points.tpr <= 1 + ROUNDING) & ~np.isnan(values)
        if self.metric != "expected_cost":
            possible[..., 0] = False  # above all scores nothing is predicted positive
        for name, least in self.at_least:
            possible &= points.metric(name) >= least - ROUNDING
        chosen = np.argmax(np.where(possible, values, -np.inf), axis=-1)
        return np.where(possible.any(axis=-1), chosen, -1)


# Squares of more could not be summed.
LARGEST_COST = 1e100


def cost_weight(cost: Costs) -> tuple[float, float]:
    """Return the share of a false positive in the sum of both costs, and the sum."""
    if not isinstance(cost, Mapping) or not cost or set(cost) - set(COSTS):
        raise InputError(
            f"cost must name what errors cost, {{'false_positive': 5, 'false_negative': 100}} say; "
            f"got {cost!r}",
            argument="cost",
        )
    wrong, missed = (real_number(cost.get(name, 0.0)) for name in COSTS)
    if not (wrong >= 0 and missed >= 0 and 0 < wrong + missed <= LARGEST_COST):
        raise InputError(
            f"costs must be finite and not negative, one above 0 and none above {LARGEST_COST:g}; "
            f"got {dict(cost)}",
            argument="cost",
        )
    return wrong / (wrong + missed), wrong + missed


def exchange_rate(chance: float) -> float:
    """Return what a false positive costs of a true one, if flagging just pays at a chance."""
    if not 0 < real_number(chance) < 1:
        raise InputError(f"chance must be in (0, 1); got {chance}", argument="chance")
    return float(chance / (1 - chance))


def scale_estimate(found: Estimate, scale: float) -> Estimate:
    """Return an estimate in other units."""
    return replace(
        found,
        value=scale * found.value,
        low=scale * found.low,
        high=scale * found.high,
        standard_error=scale * found.standard_error,
    )


@dataclass(frozen=True)
class ThresholdSearch:
    """Search thresholds of counted rows; labels drawn anew show how much searching flatters.

    Notes
    -----
    Assumes: labels random among the positives, whose scores have a smooth distribution apart from
    cells that hold many of them; the prevalence.
    Wrong when: the distribution has gaps or peaks narrower than n^(2/3) labelled rows.
    """

    counts: ScoreCounts
    shares: Shares
    target: Target
    confidence_level: float
    random_state: int = 0
    clusters: Clusters | None = field(default=None, kw_only=True)

    def best(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold, with what it gains over another."""
        points = self._points(self.counts, self.shares)
        place = int(goal.choose(points))
        if place < 0:
            limits = " and ".join(
                f"{name} >= {short_number(least)}" for name, least in goal.at_least
            )
            raise InputError(
                f"no threshold reaches {limits or 'a possible value'}; {self._reach(points, goal)}",
                argument="at_least",
            )
        threshold = float(np.append(np.inf, self.counts.score)[place])
        best_one = BestThreshold(
            threshold, float(points.tpr[place]), float(points.fpr[place]), float(points.prevalence)
        )
        if over is None and goal.metric == "expected_cost":
            values = goal.value(points)
            over = math.inf if values[0] >= values[-1] else -math.inf
        if over is None:
            return best_one
        pair = goal.value(points)[[place, _place(self.counts, over)]]
        if not np.isfinite(pair).all():  # a ratio without end has no difference to another
            return best_one
        return replace(best_one, gain=self._gain(goal, threshold, over), over=over)

    def _reach(self, points: RatePoint, goal: Goal) -> str:
        best = {name: float(np.nanmax(points.metric(name)[1:])) for name, _ in goal.at_least}
        return "the largest estimate is " + ", ".join(f"{n} {v:.3f}" for n, v in best.items())

    def _points(self, counts: ScoreCounts, shares: Shares) -> RatePoint:
        design = design_of(counts, shares, shares.sampling, self.target)
        rates = _rates(counts)
        tpr, fpr, flagged = design.mixing.exact_rates(*rates)
        return RatePoint(tpr, fpr, float(design.mixing.prevalence), flagged)

    def _gain(self, goal: Goal, threshold: float, over: float) -> Estimate:
        """Estimate what the threshold gains; its interval holds the chance of the search.

        Labels of clusters are drawn as the number of independent labels that tell as much of the
        difference between the two thresholds.
        """
        counts, clusters = self.counts, math.inf
        if self.clusters is not None:
            counts, clusters = self._discounted(self.clusters, goal, threshold, over)
        if len(counts.score) > MOST_CANDIDATE_CELLS:
            counts = counts.coarsened(MOST_CANDIDATE_CELLS)
        places = [_place(counts, place) for place in (threshold, over)]
        points = self._points(counts, self.shares)
        values = goal.value(points)
        raw = float(values[places[0]] - values[places[1]])
        errors = self._errors(goal, counts, places[1])
        tail = (1 - self.confidence_level) / 2
        size = min(counts.effective_size("positive"), clusters)
        wider = _small_sample_factor(size, self.confidence_level)
        spread = errors.mean() + wider * (errors - errors.mean())
        low, high = raw - np.quantile(spread, [1 - tail, tail])
        value = raw - float(errors.mean())
        ends = [
            goal.value(self._points(counts, moved))[places] @ [1.0, -1.0] - raw
            for moved in _share_ends(self.shares)
        ]
        if ends:
            low, high = over_share(value, (low, high), [value + end for end in ends])
        return Estimate(
            value,
            float(min(low, value)),
            float(max(high, value)),
            float(errors.std()),
            self.confidence_level,
            FACTS[goal.metric].needs,
            "labels drawn anew",
        )

    def _discounted(
        self, clusters: Clusters, goal: Goal, threshold: float, over: float
    ) -> tuple[ScoreCounts, float]:
        """Return counts of as many independent rows as tell as much, and how many clusters do."""
        counts = self.counts
        design = design_of(counts, self.shares, self.shares.sampling, self.target)
        best, other = (
            cell_parts(counts, design, goal.metric, threshold=place, beta=goal.beta)
            for place in (threshold, over)
        )
        parts = [one - another for one, another in zip(best, other, strict=True)]
        clustered = clusters.with_cell_parts(counts, design, parts)
        return clusters.shrunk(counts, clustered), clustered.clusters

    def _errors(self, goal: Goal, counts: ScoreCounts, over: int) -> FloatArray:
        """Return by how much the best point of other draws looks better there than it is."""
        rng = np.random.default_rng(self.random_state)
        drawn, truth = _draw(counts, self.shares, self.target, rng)
        chosen = goal.choose(drawn)
        rows = np.arange(len(chosen))
        seen, real = goal.value(drawn), goal.value(truth)
        errors = (seen[rows, chosen] - seen[:, over]) - (real[rows, chosen] - real[:, over])
        finite = errors[(chosen >= 0) & np.isfinite(errors)]
        return finite if len(finite) else np.zeros(1)


def _small_sample_factor(rows: float, level: float) -> float:
    """Return how much wider an interval is if the spread of so many rows is itself estimated.

    Rows drawn anew vary less than those they are drawn from, by (n - 1)/n; and Student's quantile
    takes the place of the normal one.
    """
    free = max(rows - 1, 1.0)
    half = (1 + level) / 2
    return float(stdtrit(free, half) / ndtri(half) * math.sqrt((free + 1) / free))


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
) -> tuple[RatePoint, RatePoint]:
    """Draw labels anew; return the rates that are seen and those that are true, a row a draw.

    Rows that carry a label and, for these very rows, the hidden positives are drawn from the
    smoothed distribution of the labelled ones: drawn from themselves, the peaks that searching
    finds by chance would be there in every draw, and true. For a population the unlabeled rows are
    drawn as well, and the smoothed rates are the truth.
    """
    design = design_of(counts, shares, shares.sampling, target)
    _, unlabeled, negative = _rates(counts)
    cells = _smoothed(counts, design)
    base = np.append(0.0, np.cumsum(cells))
    size = max(round(float(design.effective[LABELLED])), 1)
    labelled = _accumulate(rng.multinomial(size, cells, N_DRAWS))
    seen, truth, other = labelled / size, np.broadcast_to(base, labelled.shape), unlabeled
    if target == "dataset":
        purity, apart = float(design.label_purity), design.sampling == "case-control"
        known = 0.0 if apart else purity * float(design.sizes[LABELLED])
        # In rows like those labelled, whose number is an effective one too.
        unit = float(design.inflation[LABELLED])
        hidden = max(round((float(design.mixing.positives) - known) / unit), 1)
        more = _accumulate(rng.multinomial(hidden, cells, N_DRAWS))
        truth = more / hidden if apart else (labelled + more) / (size + hidden)
    else:
        rows = max(round(float(design.effective[UNLABELED])), 1)
        other = _accumulate(rng.multinomial(rows, np.diff(unlabeled), N_DRAWS)) / rows
    # Of these very rows those flagged are the same in every draw.
    flagged = design.mixing.exact_rates(_rates(counts)[0], unlabeled, negative)[2]
    here = flagged if target == "dataset" else None
    return (
        _recovered(design, (seen, other, negative), here),
        _recovered(design, (truth, unlabeled, negative), here),
    )


def _recovered(
    design: MixtureDesign, rates: tuple[FloatArray, ...], flagged: FloatArray | None
) -> RatePoint:
    """Return the rates that follow from those of the three kinds of rows."""
    tpr, _, share = design.mixing.exact_rates(*rates)
    share = share if flagged is None else flagged + 0.0 * tpr
    prevalence = float(design.mixing.prevalence)
    return RatePoint(tpr, (share - prevalence * tpr) / (1 - prevalence), prevalence, share)


def _accumulate(drawn: NDArray[np.int64]) -> FloatArray:
    return np.concatenate([np.zeros((len(drawn), 1)), np.cumsum(drawn, axis=1)], axis=1)


def _smoothed(counts: ScoreCounts, design: MixtureDesign) -> FloatArray:
    """Return the share of the positives in each cell, smoothed over n^(2/3) labelled rows around.

    What is smoothed is how many labelled rows there are for each row of the target; a cell that
    holds as many labelled rows by itself keeps its own.
    """
    rows = counts.unlabeled + counts.positive
    rows = rows if design.sampling == "case-control" else rows + counts.negative
    total = counts.n_positive
    reach = total / max(float(design.effective[LABELLED]), 1.0) ** (1 / 3)
    ends, places = np.cumsum(counts.positive), np.cumsum(rows)
    middle = ends - counts.positive / 2
    labelled = counts.positive > 0
    sums = np.concatenate([[0.0], middle[labelled], [total]])
    at = np.concatenate([[0.0], (places - rows / 2)[labelled], [places[-1]]])
    low, high = np.maximum(middle - reach, 0.0), np.minimum(middle + reach, total)
    span = np.maximum(np.interp(high, sums, at) - np.interp(low, sums, at), 1e-300)
    density = np.where(
        counts.positive >= reach,
        counts.positive / np.where(rows > 0, rows, 1.0),
        (high - low) / span,
    )
    mass = density * rows
    return np.asarray(mass / mass.sum())
