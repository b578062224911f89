"""Plan which unlabeled rows to look at, best first, wherever the rows are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from undercount.assume.base import Assumption, LieLike
from undercount.assume.builder import planned_assumption
from undercount.checks.flagged import rounding_check
from undercount.count.arrays import check_row_order
from undercount.counts import ScoreCounts
from undercount.errors import Check, InputError, named, real_number
from undercount.estimate import check_confidence_level
from undercount.infer.reviews.verdicts import ReviewDesign, Reviews
from undercount.infer.scored_rows import take_column
from undercount.read.plan.expected_width import ExpectedWidths
from undercount.read.plan.goals import read_goals
from undercount.read.plan.hidden_positives import HiddenPositives, as_labelled, suppose_hidden
from undercount.read.plan.review_plan import ReviewPlan
from undercount.read.plan.row_source import RowColumns, RowSource, open_rows
from undercount.read.plan.second_model import SecondModel
from undercount.read.plan.strata import first_design, next_design, with_goal

# Reviews whose widths are asked first where only a half-width is given, how often a budget is
# tried, and how many times what is needed it may be.
FIRST_BUDGET, TRIALS, NEAR = 100, 4, 1.05


@dataclass(frozen=True)
class PlanRequest:
    """Say what a plan is to make sharp, by how many reviews or down to which half-width.

    Attributes
    ----------
    budget : int, optional
        Number of rows to review; None: as many as make every goal as sharp as `half_width`.
    goal : str or sequence of str, optional
        Metrics to make sharp; None: F1, or the goal of the reviews so far.
    """

    budget: int | None
    goal: str | Sequence[str] | None = None
    half_width: float = 0.0
    random_state: int = 0
    confidence_level: float = 0.95


def plan_reviews(
    y: Any,
    score: Any,
    *,
    budget: int,
    assume: Assumption | None = None,
    label: str | None = None,
    goal: str | Sequence[str] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    unlabeled: float | None = None,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    reviews: Any = None,
    sample_weight: Any = None,
    cluster: Any = None,
    keep: Sequence[str] = (),
    random_state: int = 0,
    confidence_level: float = 0.95,
) -> ReviewPlan:
    """Plan which unlabeled rows to look at, best first.

    Parameters
    ----------
    y : array-like or frame
        Labels as in `evaluate`, or a frame of pandas, polars, pyarrow, DuckDB, Ibis, Dask or
        PySpark. Of a frame that is not in memory only counts and the rows of the plan leave the
        engine, in three passes.
    score : array-like, mapping, str or list of str
        Higher means more positive; of a frame the column's name. With a second model its scores
        too, by name or as a list of columns: the first model makes the strata, the difference of
        both is a goal, and those of more are written down.
    budget : int
        Number of rows that somebody can look at.
    assume : Assumption, optional
        How the labels came about, as in `evaluate`: the plan goes by the hidden positives that it
        says, or goes on from the verdicts of `Reviewed`.
    label : str, optional
        Of a frame the column of labels. `sample_weight` and `cluster` then are columns' names too.
    goal : str or sequence of str
        Metrics to make sharp, or "prevalence"; with two models "difference" or "f1_difference".
        None: F1, or the goal of `reviews`.
    threshold : float or mapping, optional
        At which goals that need one are meant: one for both models, or one for each by its name.
    unlabeled, sample_weight
        As in `evaluate`.
    prevalence, unlabeled_prevalence : number, (low, high) or Estimate, optional
        What is supposed of the share of positives among all rows, or among the unlabeled ones;
        None: estimated as in `evaluate`. A wrong one makes the plan less sharp and nothing wrong.
    reviews : Reviews or path, optional
        What was found so far: strata and threshold stay, and rows of the plan are new ones,
        shared out by what was found.
    cluster : array-like or str, optional
        Whose each row is, if rows come in clusters: the plan then says it beside each row. Pass
        it to `evaluate` with the reviews, too.
    keep : sequence of str
        Columns of the frame that the people who answer shall see.
    random_state : int
        Seed of the draw.
    confidence_level : float
        Of the intervals that are foretold.

    Notes
    -----
    Assumes: the labels came about as the assumption says.
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
    level = check_confidence_level(confidence_level)
    if isinstance(unlabeled_prevalence, int | float):
        _check_share(unlabeled_prevalence)
    shares = {"prevalence": prevalence, "unlabeled_prevalence": unlabeled_prevalence}
    assumption = planned_assumption(assume, reviews, shares)
    check_row_order(y=y, **assumption.columns)
    columns = RowColumns(label, unlabeled, keep, sample_weight, cluster)
    source = open_rows(y, score, threshold, columns)
    taken = {name: take_column(y, name, values) for name, values in assumption.columns.items()}
    request = PlanRequest(budget, goal, 0.0, random_state, level)
    plan = make_plan(source, assumption.with_columns(taken), request)
    return replace(plan, columns={"label": label, "unlabeled": unlabeled, "keep": list(keep)})


def _check_share(share: float) -> None:
    if not 0 < real_number(share) < 1:
        raise InputError(f"{named('unlabeled_prevalence')} must be in (0, 1); got {share}")


def make_plan(source: RowSource, assumption: Assumption, request: PlanRequest) -> ReviewPlan:
    """Count rows, suppose what the assumption says, choose strata, and draw.

    Parameters
    ----------
    source : RowSource
        The rows.
    assumption : Assumption
        How the labels came about.
    request : PlanRequest
        What is to be made sharp, and how sharp.
    """
    earlier = assumption.further_plan
    goes_on = None if earlier is None else with_goal(replace(earlier, weight=None), request.goal)
    rows = source.count(0, goes_on, coarse=assumption.share_source == "assumption")
    counts = rows.counts
    counts.require("positive", "unlabeled")
    if goes_on is None:
        hidden = suppose_hidden(assumption, rows, request.random_state)
        second = _second_model(source, hidden.lie_like)
        design = _first_design(counts, hidden, source.thresholds[0], request, second)
        widths = ExpectedWidths.of_first(counts, design, hidden, request.confidence_level, second)
    else:
        second = _second_model(source, as_labelled, goes_on)
        design = _next_design(counts, goes_on, request, second)
        design = replace(design, seed=request.random_state) if source.by_key else design
        level = request.confidence_level
        widths = ExpectedWidths.of_further(counts, design, goes_on, level, second)
    drawn = source.draw(design, goes_on)
    weight, cluster = source.beside("weight", drawn), source.beside("cluster", drawn)
    checks = _check_places(counts, design, second)
    return ReviewPlan(design, drawn, counts, widths, earlier, None, weight, cluster, checks)


def _second_model(
    source: RowSource, lie_like: LieLike, earlier: Reviews | None = None
) -> SecondModel | None:
    """Count the second model's rows, and take some unlabeled ones by both models."""
    if len(source.names) == 1:
        return None
    rows = source.count(1, earlier, coarse=False)
    first, own = source.sample()[:2]
    lies = partial(lie_like, scores=getattr(rows.recount, "scores", None))
    return SecondModel(rows.counts, rows.threshold, first, own, lies)


def _first_design(
    counts: ScoreCounts,
    hidden: HiddenPositives,
    threshold: float | None,
    request: PlanRequest,
    second: SecondModel | None,
) -> ReviewDesign:
    """Choose strata for the budget, or for one that makes every goal as sharp as asked."""
    goals = read_goals("f1" if request.goal is None else request.goal, threshold)

    def design_for(budget: int) -> ReviewDesign:
        seed = request.random_state
        return first_design(counts, hidden, goals, threshold, budget, seed, second)

    if request.budget is not None:
        return design_for(request.budget)
    budget, level = FIRST_BUDGET, request.confidence_level
    for trial in range(TRIALS):  # strata are those of the budget, and widths depend on them
        design = design_for(budget)
        widths = ExpectedWidths.of_first(counts, design, hidden, level, second)
        needed = max(widths.budget_for(goal, request.half_width) for goal in goals)
        if needed <= budget <= NEAR * needed:
            return design
        # Where widths and strata chase each other, the middle of what would do ends it.
        budget = needed if 2 * trial < TRIALS - 1 else math.ceil(needed * (1 + NEAR) / 2)
    return design_for(budget)


def _next_design(
    counts: ScoreCounts, earlier: Reviews, request: PlanRequest, second: SecondModel | None
) -> ReviewDesign:
    """Share out a further budget, or one that makes every goal as sharp as asked."""
    budget, design = request.budget, earlier.design
    if budget is None:
        level = request.confidence_level
        widths = ExpectedWidths.of_further(counts, design, earlier, level, second)
        budget = max(widths.budget_for(goal, request.half_width) for goal in design.goal)
    return next_design(counts, earlier, budget=budget, second=second)


def _check_places(
    counts: ScoreCounts, design: ReviewDesign, second: SecondModel | None
) -> tuple[Check, ...]:
    """Check the thresholds of a plan, that of the second model too (UC024)."""
    places = [(counts, design.threshold)]
    places += [] if second is None else [(second.counts, second.threshold)]
    checks = [check for rows, at in places if at is not None for check in rounding_check(rows, at)]
    return tuple(dict.fromkeys(checks))
