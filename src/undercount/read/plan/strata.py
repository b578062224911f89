"""Strata of the unlabeled rows, and how many rows to review in each."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named, read_threshold
from undercount.infer.reviews.verdicts import IntArray, ReviewDesign, Reviews, working_posterior
from undercount.read.plan.allocation import allocate, interleave, spread_evenly
from undercount.read.plan.further_round import FurtherRound
from undercount.read.plan.goals import SUFFIX, gradient_at, metric_of, read_goals, threshold_of
from undercount.read.plan.hidden_positives import HiddenPositives
from undercount.read.plan.merged_cells import merge_cells
from undercount.read.plan.second_model import SecondModel, require_second
from undercount.shares import Shares

# Strata at 500 reviews (10 rows each), and how their number grows with the budget.
MOST_STRATA, FULL_BUDGET, GROWTH = 50, 500, 0.65
# Strata at any budget: a spreadsheet cuts what a cell holds at 32,767 characters, and the design
# stands in one.
STRATA_PER_CELL = 800
# Cells that strata are made of; more cut them nowhere better.
MOST_CELLS_OF_STRATA = 8192


def design_reviews(
    counts: ScoreCounts,
    *,
    budget: int,
    goal: str | Sequence[str] = "f1",
    threshold: float | None = None,
    unlabeled_prevalence: float,
    random_state: int = 0,
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

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_counts([3, 2, 1], [20, 10, 5], [0, 0, 0], [30, 50, 900])
    >>> design = uc.design_reviews(counts, budget=12, threshold=2, unlabeled_prevalence=0.1)
    >>> design.edges, design.sizes()
    (array([2., 1.]), array([3, 9]))
    """
    hidden = HiddenPositives(Shares(unlabeled_prevalence).unlabeled_prevalence)
    threshold = None if threshold is None else read_threshold(threshold)
    goals = read_goals(goal, threshold)
    return first_design(counts, hidden, goals, threshold, budget, random_state)


def first_design(
    counts: ScoreCounts,
    hidden: HiddenPositives,
    goals: tuple[str, ...],
    threshold: float | None,
    budget: int,
    random_state: int,
    second: SecondModel | None = None,
) -> ReviewDesign:
    """Choose strata and their sizes by what is supposed of the hidden positives."""
    if not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(f"random_state must be a whole number, not below 0; got {random_state!r}")
    if counts.weighted:
        raise InputError(
            "a plan needs to know how many rows there are, and these counts are sums of weights; "
            "plan from the rows, or from counts without weights",
            argument="counts",
        )
    budget = check_budget(budget, counts)
    counts = merge_cells(counts, MOST_CELLS_OF_STRATA, threshold)
    parts = verdict_parts(counts, goals, threshold, hidden, second)
    first = _first_cells(counts, parts, budget, threshold)
    rows = np.rint(np.add.reduceat(counts.unlabeled, first))
    last = np.append(first[1:], len(parts)) - 1
    sizes = allocate(np.add.reduceat(parts, first), rows, budget)
    return ReviewDesign(
        counts.score[last],
        rows.astype(np.intp),
        interleave(sizes, random_state),
        hidden.share,
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
    counts: ScoreCounts, reviews: Reviews, *, budget: int, second: SecondModel | None = None
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
    >>> from undercount.read.plan.strata import next_design
    >>> int(next_design(counts, reviews, budget=8).sizes().sum())
    8
    """
    design, drawn = reviews.design, reviews.sizes
    sizes = FurtherRound.of(counts, reviews, second).sizes(check_budget(budget, counts))
    seed = design.seed + 1 + int(drawn.sum())
    return replace(design, order=interleave(sizes, seed), seed=seed)


def verdict_parts(
    counts: ScoreCounts,
    goals: Sequence[str],
    threshold: float | None,
    hidden: HiddenPositives,
    second: SecondModel | None = None,
) -> FloatArray:
    """Return the part of the budget that each cell should get; goals count alike.

    Goals are read where unlabeled rows are as likely positive as is supposed; a verdict on a row of
    a cell varies each of them by how likely it is either, and by how far it moves it.
    """
    posterior = working_posterior(hidden.lie_like(counts), hidden.share)
    unlabeled, even = counts.unlabeled, counts.unlabeled / counts.n_unlabeled
    density = np.zeros(len(even))
    for name in goals:
        metric = metric_of(name)
        at = threshold_of(metric, threshold)
        first = gradient_at(counts, posterior, metric, at)
        squares = first.turned**2
        if name.endswith(SUFFIX):
            model = require_second(second, name)
            chance = model.working_chance(float(posterior @ unlabeled) / counts.n_unlabeled)
            other = model.gradient(metric, chance, at_threshold=at is not None)
            squares = model.squares(counts, first, other, chance, at)
        variance = posterior * (1 - posterior) * squares
        total = float(unlabeled @ np.sqrt(variance))
        density += variance / total**2 if total > 0 else 0.0
    return spread_evenly(unlabeled * np.sqrt(density), even)


def check_budget(budget: int, counts: ScoreCounts) -> int:
    """Return how many rows can be reviewed; raise unless a budget is a number of rows."""
    if not isinstance(budget, int | np.integer) or budget < 1:
        raise InputError(f"{named('budget')} must be a whole number of rows; got {budget!r}")
    counts.require("positive", "unlabeled")
    return min(int(budget), round(counts.n_unlabeled))


def _first_cells(
    counts: ScoreCounts, parts: FloatArray, budget: int, threshold: float | None
) -> IntArray:
    """Return the first cell of each stratum, such that each gets about as many reviews."""
    number = round(MOST_STRATA * (budget / FULL_BUDGET) ** GROWTH)
    number = int(np.clip(number, 1, min(max(budget // 2, 1), STRATA_PER_CELL)))
    above = np.cumsum(parts) - parts
    at = np.floor(above / max(parts.sum(), 1e-300) * number * (1 + 1e-12)).astype(np.intp)
    first = np.flatnonzero(np.append(True, np.diff(at) > 0))
    if threshold is not None:
        split = int(np.searchsorted(-counts.score, -threshold, side="right"))
        first = np.union1d(first, [split]) if 0 < split < len(parts) else first
    # A stratum has rows to review.
    filled = np.add.reduceat(counts.unlabeled, first) > 0
    return np.asarray(np.append(0, first[filled][1:]), dtype=np.intp)
