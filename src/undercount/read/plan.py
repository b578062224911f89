"""Which unlabeled rows to look at, and what that will buy."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import Assumption
from undercount.assume.builder import assumption_of, supposed_by
from undercount.checks.flagged import rounding_check
from undercount.count.arrays import read_labels, read_pair, read_scores, read_weights
from undercount.count.knots import rounded_knots
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import Check, InputError, named, read_threshold
from undercount.estimate import Interval, check_confidence_level
from undercount.infer.clusters import read_clusters
from undercount.infer.mass_gradients import mass_gradient
from undercount.infer.reviews.verdicts import (
    IntArray,
    ReviewDesign,
    Reviews,
    check_scores,
    working_posterior,
)
from undercount.infer.scored_rows import UNLABELED, count_model
from undercount.read.allocation import FLOOR, allocate, interleave
from undercount.read.evaluation import render
from undercount.read.joined_cells import join_cells
from undercount.read.prices import FurtherRound, Prices
from undercount.read.review_goals import SUFFIX, metric_of, read_goals, threshold_of
from undercount.read.rival import Rival
from undercount.read.supposed_share import suppose_share
from undercount.read.unlabeled_rows import UnlabeledRows
from undercount.shares import Shares

# Budgets for which the price list says what they buy, beside the one asked for.
BUDGETS = (25, 50, 100, 200, 500, 1000, 2000, 5000)
# Strata at 500 reviews (10 rows each), and how their number grows with the budget.
MOST_STRATA, FULL_BUDGET, GROWTH = 50, 500, 0.65
# Strata at any budget: a spreadsheet cuts what a cell holds at 32,767 characters, and the design
# stands in one.
STRATA_A_CELL = 800
# Cells that strata are made of; more cut them nowhere better.
MOST_CELLS = 8192


@dataclass(frozen=True, eq=False)
class ReviewPlan:
    """Hold which rows to look at, best first, and what that buys.

    Attributes
    ----------
    design : ReviewDesign
        Strata and order.
    rows : array of int
        Positions in the data, best first.
    score : array
        Their scores.
    weight : array or None
        Their weights.
    prices : Prices
        Answers what any number of reviews buys.
    earlier : Reviews or None
        What was found before this round.
    cluster : array or None
        Whose each row is. Rows are drawn one by one, not by cluster: a verdict on each is worth
        as much whoever else is in the plan.
    checks : tuple of Check
        Whether rows score just what a threshold is in single precision (UC024).

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.1
    >>> y = np.where(truth & (rng.random(5000) < 0.3), 1, 0)
    >>> plan = uc.plan_reviews(y, rng.normal(2 * truth), unlabeled=0, budget=50, threshold=1.5)
    >>> len(plan.rows), plan.expected[100]["f1"] < plan.expected[50]["f1"]
    (50, True)
    """

    design: ReviewDesign
    rows: IntArray
    score: FloatArray
    weight: FloatArray | None
    prices: Prices = field(repr=False)
    confidence_level: float = 0.95
    earlier: Reviews | None = field(default=None, repr=False)
    cluster: NDArray[Any] | None = field(default=None, repr=False)
    checks: tuple[Check, ...] = ()

    def __str__(self) -> str:
        return str(render("plan text", self))

    @property
    def stratum(self) -> IntArray:
        """Stratum of each row."""
        return self.design.order

    @property
    def chance(self) -> FloatArray:
        """Chance that each row had of being chosen."""
        share = self.design.sizes() / np.maximum(self.design.n_unlabeled, 1)
        return np.asarray(share[self.stratum])

    @property
    def budgets(self) -> list[int]:
        """Numbers of reviews that the price list names."""
        seen = 0 if self.earlier is None else self.earlier.n_answered
        left = int(self.design.n_unlabeled.sum()) - seen
        return sorted({*(b for b in BUDGETS if b < left), len(self.rows)})

    @cached_property
    def expected(self) -> dict[int, dict[str, float]]:
        """Budget → goal → expected half-width of its interval; worked out when it is read."""
        return self.prices.table(self.budgets)

    @cached_property
    def expected_range(self) -> dict[int, dict[str, Interval]]:
        """Budget → goal → least and largest half-width that may well be.

        Labels may prefer some positives, the hidden share is not known, and which rows are drawn
        is left to chance.
        """
        return self.prices.ranges(self.budgets)

    def budget_for(self, metric: str, half_width: float) -> int:
        """Return how many reviews make the interval of a goal that narrow."""
        return self.prices.budget_for(metric, half_width)

    def to_frame(self) -> dict[str, Any]:
        """Return the plan as columns, ready for any data frame's constructor."""
        return {
            "row": self.rows,
            "score": self.score,
            "stratum": self.stratum,
            "chance": self.chance,
            **({} if self.cluster is None else {"cluster": self.cluster}),
        }

    def answered(self, verdicts: Any) -> Reviews:
        """Join verdicts, in the order of the plan: 1, 0, or missing; the last may be left out.

        Those of earlier rounds that the plan was made with are among them.
        """
        answers = np.full(len(self.rows), -1, dtype=np.int8)
        given = read_labels(verdicts, -1)
        if len(given) > len(answers):
            raise InputError(f"{len(given)} verdicts for a plan of {len(answers)} rows")
        answers[: len(given)] = given
        found = Reviews(self.rows, answers, self.score, self.stratum, self.design, self.weight)
        return found if self.earlier is None else self.earlier + found


def design_reviews(
    counts: ScoreCounts,
    *,
    budget: int,
    goal: str | Sequence[str] = "f1",
    threshold: float | None = None,
    unlabeled_prevalence: float,
    random_state: int = 0,
    rival: Rival | None = None,
) -> ReviewDesign:
    """Choose strata of the unlabeled rows and how many rows to review in each, from counts alone.

    Each stratum is to be reviewed by about as many rows: strata are narrow where a verdict says
    much (Neyman's allocation: spread of a verdict times what it moves the goal) and wide elsewhere.

    Parameters
    ----------
    counts : ScoreCounts
        Strata are made of its cells.
    budget : int
        Number of rows to review.
    goal : str or sequence of str
        Metrics to make sharp, or "prevalence".
    threshold : float, optional
        At which goals that need one are meant.
    unlabeled_prevalence : float
        A guess of the share of positives among the unlabeled rows.
    random_state : int
        Seed of the order, and of the draw of rows.
    rival : Rival, optional
        The second model, for goals that are differences ("f1_difference").

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_counts([3, 2, 1], [20, 10, 5], [0, 0, 0], [30, 50, 900])
    >>> design = uc.design_reviews(counts, budget=12, threshold=2, unlabeled_prevalence=0.1)
    >>> design.edges, design.sizes()
    (array([2., 1.]), array([3, 9]))
    """
    threshold = None if threshold is None else read_threshold(threshold)
    goals = read_goals(goal, threshold)
    unlabeled_prevalence = Shares(unlabeled_prevalence).unlabeled_prevalence
    if not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(f"random_state must be a whole number, not below 0; got {random_state!r}")
    if counts.weighted:
        raise InputError(
            "a plan needs to know how many rows there are, and these counts are sums of weights; "
            "plan from the rows, or from counts without weights",
            argument="counts",
        )
    budget = _check_budget(budget, counts)
    counts = join_cells(counts, MOST_CELLS, threshold)
    posterior = working_posterior(counts, unlabeled_prevalence)
    guess = Guess.of(counts, goals, threshold, posterior, rival)
    wanted = guess.allocation()
    first = _cut(counts, wanted, budget, threshold)
    rows = np.rint(np.add.reduceat(counts.unlabeled, first))
    last = np.append(first[1:], len(wanted)) - 1
    sizes = allocate(np.add.reduceat(wanted, first), rows, budget)
    return ReviewDesign(
        counts.score[last],
        rows.astype(np.intp),
        interleave(sizes, random_state),
        unlabeled_prevalence,
        random_state,
        goals,
        threshold,
    )


def with_goal(reviews: Reviews, goal: str | Sequence[str] | None) -> Reviews:
    """Return reviews whose further rounds are to make another goal sharp; None: the same.

    How rows were drawn stays true, whatever they are to tell next.
    """
    if goal is None:
        return reviews
    goals = read_goals(goal, reviews.design.threshold)
    return replace(reviews, design=replace(reviews.design, goal=goals))


def next_design(
    counts: ScoreCounts, reviews: Reviews, *, budget: int, rival: Rival | None = None
) -> ReviewDesign:
    """Share out a further budget over the strata of a plan, with what its verdicts showed.

    Strata stay as they are, and the rows of the new round are drawn from those not answered yet, so
    that within each stratum all verdicts are one random sample without replacement. How many a
    stratum gets depends on what all verdicts together showed, never on its own alone, which would
    bias the estimate.

    Notes
    -----
    Assumes: the verdicts that shared out the round say little of the strata that it goes to.
    Wrong when: an estimate must be unbiased over the draws. It is for a fixed plan, of which any
    beginning is valid; a round that verdicts have shared out is so in large rounds only.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_counts([3, 2, 1], [20, 10, 5], [0, 0, 0], [30, 50, 900])
    >>> design = uc.design_reviews(counts, budget=12, threshold=2, unlabeled_prevalence=0.1)
    >>> reviews = uc.Reviews(None, [1, 0] * 6, [2] * 3 + [1] * 9, [0] * 3 + [1] * 9, design)
    >>> from undercount.read.plan import next_design
    >>> int(next_design(counts, reviews, budget=8).sizes().sum())
    8
    """
    design, drawn = reviews.design, reviews.sizes
    sizes = FurtherRound.of(counts, reviews, rival).sizes(_check_budget(budget, counts))
    seed = design.seed + 1 + int(drawn.sum())
    return replace(design, order=interleave(sizes, seed), seed=seed)


@dataclass(frozen=True, eq=False)
class Guess:
    """What is supposed of each cell before anything is reviewed."""

    counts: ScoreCounts
    posterior: FloatArray
    values: dict[str, float]
    squares: dict[str, FloatArray]  # of what a verdict on a row of each cell moves each goal

    @classmethod
    def of(
        cls,
        counts: ScoreCounts,
        goals: Sequence[str],
        threshold: float | None,
        posterior: FloatArray,
        rival: Rival | None = None,
    ) -> "Guess":
        """Read the goals where each unlabeled row of a cell is positive by this chance."""
        positive = counts.positive + posterior * counts.unlabeled
        everyone = counts.positive + counts.negative + counts.unlabeled
        share = float(posterior @ counts.unlabeled) / counts.n_unlabeled
        values, squares = {}, {}
        for name in goals:
            metric = metric_of(name)
            at = threshold_of(metric, threshold)
            first = mass_gradient(counts, positive, everyone, metric, threshold=at)
            values[name], squares[name] = first.value, first.turned**2
            if name.endswith(SUFFIX):
                if rival is None:
                    raise InputError(
                        f"the goal {name} needs the scores of two models", argument="goal"
                    )
                known = working_posterior(rival.counts, share)
                second = rival.gradient(metric, known, None if at is None else rival.threshold)
                values[name] -= second.value
                squares[name] = rival.squares(counts, first, second, known, at)
        return cls(counts, posterior, values, squares)

    def variance(self, name: str) -> FloatArray:
        """Return the variance of what a verdict on a row of each cell adds to a goal."""
        return self.posterior * (1 - self.posterior) * self.squares[name]

    def allocation(self) -> FloatArray:
        """Return the part of the budget that each cell should get; goals count alike."""
        unlabeled = self.counts.unlabeled
        even = unlabeled / self.counts.n_unlabeled
        density = np.zeros(len(even))
        for name in self.squares:
            own = self.variance(name)
            total = float(unlabeled @ np.sqrt(own))
            density += own / total**2 if total > 0 else 0.0
        wanted = unlabeled * np.sqrt(density)
        total = float(wanted.sum())
        return np.asarray((1 - FLOOR) * wanted / total + FLOOR * even if total > 0 else even)


def _check_budget(budget: int, counts: ScoreCounts) -> int:
    if not isinstance(budget, int | np.integer) or budget < 1:
        raise InputError(f"{named('budget')} must be a whole number of rows; got {budget!r}")
    counts.require("positive", "unlabeled")
    return min(int(budget), round(counts.n_unlabeled))


def _cut(counts: ScoreCounts, wanted: FloatArray, budget: int, threshold: float | None) -> IntArray:
    """Return the first cell of each stratum, such that each gets about as many reviews."""
    number = round(MOST_STRATA * (budget / FULL_BUDGET) ** GROWTH)
    number = int(np.clip(number, 1, min(max(budget // 2, 1), STRATA_A_CELL)))
    above = np.cumsum(wanted) - wanted
    at = np.floor(above / max(wanted.sum(), 1e-300) * number * (1 + 1e-12)).astype(np.intp)
    first = np.flatnonzero(np.append(True, np.diff(at) > 0))
    if threshold is not None:
        split = int(np.searchsorted(-counts.score, -threshold, side="right"))
        first = np.union1d(first, [split]) if 0 < split < len(wanted) else first
    # A stratum has rows to review.
    filled = np.add.reduceat(counts.unlabeled, first) > 0
    kept = first[filled]
    return np.asarray(np.append(0, kept[1:]), dtype=np.intp)


def plan_reviews(
    y: Any,
    score: Any,
    *,
    budget: int,
    assume: Assumption | None = None,
    goal: str | Sequence[str] | None = None,
    threshold: float | None = None,
    unlabeled: float | None = None,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    sample_weight: Any = None,
    reviews: Reviews | None = None,
    other: Any = None,
    other_threshold: float | None = None,
    cluster: Any = None,
    random_state: int = 0,
    confidence_level: float = 0.95,
) -> ReviewPlan:
    """Plan which unlabeled rows to look at, best first.

    Parameters
    ----------
    y, score, unlabeled, sample_weight
        As in `evaluate`.
    budget : int
        Number of rows that somebody can look at.
    assume : Assumption, optional
        How the labels came about, as in `evaluate`: the plan supposes the share that it tells, or
        goes on from the verdicts of `Reviewed`.
    goal : str or sequence of str
        Metrics to make sharp, or "prevalence"; with `other`, "difference" or "f1_difference".
        None: F1, or the goal of `reviews`.
    threshold : float, optional
        At which goals that need one are meant.
    prevalence, unlabeled_prevalence : number, (low, high) or Estimate, optional
        What is supposed of the share of positives among all rows, or among the unlabeled ones;
        None: estimated as in `evaluate`. A wrong one makes the plan less sharp and nothing wrong.
    reviews : Reviews, optional
        What was found so far: strata and threshold stay, and rows of the plan are new ones,
        shared out by what was found.
    other : array-like, optional
        Scores of a second model, whose difference to the first is a goal.
    other_threshold : float, optional
        The second model's threshold, by default the same.
    cluster : array-like, optional
        Whose each row is, if rows come in clusters: the plan then says it beside each row. Pass
        it to `evaluate` with the reviews, too.
    random_state : int
        Seed of the draw.

    Notes
    -----
    Wrong when: rows of unequal `sample_weight` are planned by what the plan promises. Strata, order
    and expected half-widths take every row for one, since a budget buys rows, whatever they weigh;
    weights of which few rows hold most make the intervals of the weighted evaluation wider than
    promised. The evaluation itself uses the weights.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.1
    >>> y = np.where(truth & (rng.random(5000) < 0.3), 1, 0)
    >>> score = rng.normal(2 * truth)
    >>> plan = uc.plan_reviews(y, score, unlabeled=0, budget=50, threshold=1.5)
    >>> reviews = plan.answered(truth[plan.rows])
    >>> reviews.n_answered
    50
    """
    labels, scores = read_pair(
        y, score, unlabeled, sample_weight=sample_weight, cluster=cluster, other=other
    )
    confidence_level = check_confidence_level(confidence_level)
    if assume is not None:
        shares = {"prevalence": prevalence, "unlabeled_prevalence": unlabeled_prevalence}
        assumption = assumption_of(assume, reviews=reviews, **shares)
        model = count_model(labels, scores, UNLABELED, None, None, compact=True)
        told = supposed_by(assumption, model)
        reviews = told.get("reviews")
        prevalence, unlabeled_prevalence = map(told.get, ("prevalence", "unlabeled_prevalence"))
    if reviews is not None and not isinstance(reviews, Reviews):
        raise InputError(f"reviews must be Reviews; got {reviews!r}", argument="reviews")
    weights = None if sample_weight is None else read_weights(sample_weight, len(scores))
    if cluster is not None:
        read_clusters(cluster, len(scores))  # refuses what names no cluster for each row
    seen = None if reviews is None else with_goal(replace(reviews, weight=None), goal)
    rows = UnlabeledRows(labels, scores, _answered_rows(reviews, scores))
    stated = [each for each in (prevalence, unlabeled_prevalence) if each is not None]
    known = bool(stated) and not any(hasattr(each, "fit") for each in stated)
    # A budget buys rows, whatever they weigh.
    counts = _count(rows, threshold, seen, coarse=known)
    rival = None
    if other is not None:
        at = threshold if other_threshold is None else read_threshold(other_threshold)
        rival = _rival(rows, read_scores(other), at)
    span = None
    if seen is None:
        counts.require("positive", "unlabeled")
        supposed = suppose_share(
            {"": counts},
            prevalence=prevalence,
            unlabeled_prevalence=unlabeled_prevalence,
            random_state=random_state,
        )
        span = supposed.span
        design = design_reviews(
            counts,
            budget=budget,
            goal="f1" if goal is None else goal,
            threshold=threshold,
            unlabeled_prevalence=supposed.value,
            random_state=random_state,
            rival=rival,
        )
    else:
        design = next_design(counts, seen, budget=budget, rival=rival)
    drawn = rows.draw(design)
    return ReviewPlan(
        design,
        drawn,
        scores[drawn].astype(np.float64),
        None if weights is None else weights[drawn],
        Prices.of(counts, design, confidence_level, seen, rival, span),
        confidence_level,
        reviews,
        None if cluster is None else np.asarray(cluster)[drawn],
        check_places(counts, design, rival),
    )


def check_places(
    counts: ScoreCounts, design: ReviewDesign, rival: Rival | None
) -> tuple[Check, ...]:
    """Check the thresholds of a plan, that of the second model too (UC024)."""
    places = [(counts, design.threshold)]
    places += [] if rival is None else [(rival.counts, rival.threshold)]
    found = [each for held, at in places if at is not None for each in rounding_check(held, at)]
    return tuple(dict.fromkeys(found))


def _answered_rows(reviews: Reviews | None, scores: NDArray[Any]) -> IntArray:
    """Return positions of the rows that have a verdict; rows that stand elsewhere are refused."""
    if reviews is None:
        return np.zeros(0, dtype=np.intp)
    if reviews.rows is None:
        raise InputError(
            f"{named('reviews')} must know which rows were reviewed", argument="reviews"
        )
    check_scores(reviews, scores)
    return reviews.rows[reviews.answered]


def _count(
    rows: UnlabeledRows, threshold: float | None, reviews: Reviews | None, *, coarse: bool
) -> ScoreCounts:
    """Count rows where strata may be cut, and around labelled ones if a share is to be found."""
    knots = rows.knots
    knots += [] if threshold is None else [read_threshold(threshold)]
    at = threshold if reviews is None else reviews.design.threshold
    knots += rounded_knots(rows.score, at)
    if coarse and rows.many and reviews is None:
        return rows.count_between(knots)
    knots += [] if reviews is None else [float(edge) for edge in reviews.design.edges]
    return ScoreCounts.from_rows(rows.label, rows.score, unlabeled=-1, compact=True, knots=knots)


def _rival(rows: UnlabeledRows, own: Any, threshold: float | None) -> Rival:
    """Count the second model's rows, and take some unlabeled ones by both models."""
    if len(own) != len(rows.score):
        raise InputError(
            f"{named('other')} must have a score for each of {len(rows.score):,} rows; got "
            f"{len(own):,}",
            argument="other",
        )
    second = replace(rows, score=own)
    counts = _count(second, threshold, None, coarse=False)
    some = rows.some
    return Rival(counts, threshold, rows.score[some].astype(float), own[some].astype(float))
