"""How narrow a number of reviews makes an interval: the library's own answer to likely verdicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from undercount.assume.base import RANDOM_LABELS_PLAN, PlanWords
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, check_name
from undercount.estimate import Interval
from undercount.infer.reviews.stratum_shares import likely_chances
from undercount.infer.reviews.verdicts import (
    IntArray,
    ReviewDesign,
    ReviewedCells,
    Reviews,
    supposed_posterior,
    working_posterior,
)
from undercount.read.plan.allocation import fill
from undercount.read.plan.further_round import FurtherRound
from undercount.read.plan.goals import SUFFIX, half_range
from undercount.read.plan.hidden_positives import LIKELY_SCORES, HiddenPositives
from undercount.read.plan.likely_case import LikelyCase, half_widths
from undercount.read.plan.merged_cells import merge_cells
from undercount.read.plan.second_model import RowsByBoth, SecondModel

# Rise of the log odds of a label with each standard deviation of the score that may well be.
SLOPES = (1.0, -1.0)
# Cells that widths are read from; more say nothing more of a width.
MOST_CELLS_OF_WIDTHS = 1024
# One that may be as well: where classes overlap, estimates of a share are its upper limits.
LEAST_SCORE = (-1.96,)
# What verdicts leave open, of which each may come by itself.
OUTER_SCORES = LIKELY_SCORES[-2:]
# Draws of verdicts by all shares together, at the budget asked for and at others.
MANY_DRAWS, FEW_DRAWS = 15, 5
# Quantiles of them that are the least and the most that may well be.
TAILS = (0.1, 0.9)
# How far promises were off where labels were random and the share was known: 10 % at most.
FIRST_ROUND_ERROR = 1.1
# The same of further rounds, which verdicts so far tell: 25 %.
FURTHER_ROUND_ERROR = 1.25
# Budgets at which verdicts are drawn: the one asked for, and each so many times another.
BUDGET_RATIO = 4
# The former in a further round, which is shared out anew for each budget.
FURTHER_BUDGET = 100


@dataclass(frozen=True, eq=False)
class ExpectedWidths:
    """Say how narrow a number of reviews would make the interval of each goal.

    Verdicts are drawn by what is supposed of the rows, and read by the code that is to read the
    real ones. The answer is the mean over draws, by shares as likely as their estimate makes them
    (or by the likeliest, if that is larger) and labels as the assumption has them; its range holds
    four draws in five, labels that prefer some scores beyond that, and far fewer hidden positives.
    A further round goes by what the verdicts so far leave open of the share of each stratum.

    Attributes
    ----------
    design : ReviewDesign
        How rows are drawn.
    cases : tuple of LikelyCase
        What may be true of the rows if the assumption is, or of those that verdicts leave open, the
        likeliest first; each is as likely.
    unlikely : tuple of LikelyCase
        What cannot be excluded: labels that prefer some scores, and far fewer hidden positives.
    confidence_level : float
        Of the intervals.
    further : FurtherRound, optional
        Shares out each budget anew, beside verdicts that are there.
    guessed : bool
        Whether the share is supposed for the plan alone: labels and scores leave it open.
    words : PlanWords
        How the assumption says what is supposed.

    Notes
    -----
    Assumes: labels prefer no score, beyond what the assumption says, by more than a factor e of the
    odds per standard deviation, and the hidden share lies where it is supposed.
    Wrong when: there are far more or fewer hidden positives, or labels prefer the highest scores
    alone. A further round goes by verdicts, and its widths come true then too.
    """

    design: ReviewDesign
    cases: tuple[LikelyCase, ...]
    confidence_level: float = 0.95
    further: FurtherRound | None = None
    unlikely: tuple[LikelyCase, ...] = ()
    guessed: bool = False
    words: PlanWords = RANDOM_LABELS_PLAN
    _widths: dict[tuple[str, int], FloatArray] = field(default_factory=dict, repr=False)
    _ends: dict[tuple[str, int], FloatArray] = field(default_factory=dict, repr=False)

    @classmethod
    def of_first(
        cls,
        counts: ScoreCounts,
        design: ReviewDesign,
        hidden: HiddenPositives,
        confidence_level: float = 0.95,
        second: SecondModel | None = None,
    ) -> "ExpectedWidths":
        """Suppose what the assumption says, and that labels may prefer some scores all the same."""
        counts = coarse_counts(counts, design)
        none = np.zeros(0, dtype=np.intp)
        empty = Reviews(None, none.astype(np.int8), np.zeros(0), none, design)
        both = _by_both(counts, design, second)

        def case(share: float, slope: float) -> LikelyCase:
            chance = supposed_posterior(hidden.lie_like(counts), share, slope)
            return LikelyCase.of(counts, empty, chance, both, slope, share)

        cases = [case(share, 0.0) for share in hidden.shares_at(counts, LIKELY_SCORES)]
        unlikely = [case(hidden.share_if_preferred(counts, slope), slope) for slope in SLOPES]
        unlikely += [case(share, 0.0) for share in hidden.shares_at(counts, LEAST_SCORE)]
        likeliest, others = tuple(cases), tuple(unlikely)
        level, guessed = confidence_level, hidden.guessed
        return cls(design, likeliest, level, None, others, guessed, hidden.words)

    @classmethod
    def of_further(
        cls,
        counts: ScoreCounts,
        design: ReviewDesign,
        earlier: Reviews,
        confidence_level: float = 0.95,
        second: SecondModel | None = None,
    ) -> "ExpectedWidths":
        """Suppose what verdicts showed.

        Labels that prefer some scores mislead the first plan, which cannot know it; what was found
        sets that right.
        """
        counts = coarse_counts(counts, design)
        further, both = FurtherRound.of(counts, earlier, second), _by_both(counts, design, second)
        posterior = working_posterior(counts, design.unlabeled_prevalence)
        cells = ReviewedCells(counts, earlier, posterior)
        answered = {
            name: getattr(earlier, name)[earlier.answered]
            for name in ("verdict", "score", "stratum")
        }
        seen = replace(earlier, rows=None, weight=None, **answered)
        cases, unlikely = (
            tuple(
                LikelyCase.of(counts, seen, chance, both)
                for chance in likely_chances(cells, scores)
            )
            for scores in (LIKELY_SCORES, OUTER_SCORES)
        )
        return cls(design, cases, confidence_level, further, unlikely)

    @property
    def supposed(self) -> float:
        """Share of positives among the unlabeled rows that is likeliest."""
        likeliest = self.cases[0].share
        return self.design.unlabeled_prevalence if self.further is None else likeliest

    @property
    def other_threshold(self) -> float | None:
        """Threshold of the second model of goals that are differences."""
        second = self.cases[0].second
        return self.design.threshold if second is None else second.model.threshold

    @property
    def value(self) -> dict[str, float]:
        """Likeliest value of each goal."""
        return {goal: self.cases[0].value(goal) for goal in self.design.goal}

    def table(self, budgets: Sequence[int]) -> dict[int, dict[str, float]]:
        """Return budget → goal → expected half-width."""
        return {b: {goal: self.half_width(goal, b) for goal in self.design.goal} for b in budgets}

    def ranges(self, budgets: Sequence[int]) -> dict[int, dict[str, Interval]]:
        """Return budget → goal → least and largest half-width that may well be."""
        return {b: {goal: self.span(goal, b) for goal in self.design.goal} for b in budgets}

    def half_width(self, goal: str, budget: int) -> float:
        """Return the expected half-width of a goal's interval."""
        return float(self._between(goal, budget, self._drawn_mean))

    def span(self, goal: str, budget: int) -> Interval:
        """Return the least and the largest half-width that may well come of it."""
        low, high = self._between(goal, budget, self._drawn_ends)
        return Interval(float(low), min(float(high), half_range(goal)))

    def budget_for(self, goal: str, half_width: float) -> int:
        """Return the least budget whose half-width is at most this."""
        return self._least(goal, half_width, lambda budget: self.half_width(goal, budget))

    def budget_span(self, goal: str, half_width: float) -> tuple[int, int]:
        """Return the same at best and at worst."""
        best = self._least(goal, half_width, lambda budget: self.span(goal, budget).low)
        return best, self.budget_at_worst(goal, half_width)

    def budget_at_worst(self, goal: str, half_width: float) -> int:
        """Return the same at worst."""
        return self._least(goal, half_width, lambda budget: self.span(goal, budget).high)

    def _least(self, goal: str, half_width: float, width: Callable[[int], float]) -> int:
        check_name("metric", goal)
        if goal not in self.design.goal:
            raise InputError(f"the plan's goals are {', '.join(self.design.goal)}; got {goal!r}")
        if not half_width > 0:
            raise InputError(f"half_width must be above 0; got {half_width}")
        low, high = 1, int(self.design.n_unlabeled.sum())
        while low < high:
            middle = (low + high) // 2
            if width(middle) <= half_width:
                high = middle
            else:
                low = middle + 1
        return low

    def _between(self, goal: str, budget: int, drawn: Callable[[str, int], Any]) -> Any:
        """Return half-widths at a budget, from those at budgets for which verdicts are drawn.

        Between these, half-widths times the root of the budget are taken to be linear in its
        logarithm: the noise of draws is no reason to review more.
        """
        least, most = self._nodes(budget)
        if least == most:
            return drawn(goal, least)
        part = np.log(budget / least) / np.log(most / least)
        below, above = (drawn(goal, node) * node**0.5 for node in (least, most))
        return ((1 - part) * below + part * above) / budget**0.5

    @property
    def _anchor(self) -> int:
        """The budget at which most verdicts are drawn: the plan's, if budgets go by its order."""
        return max(len(self.design.order), 1) if self.further is None else FURTHER_BUDGET

    def _nodes(self, budget: int) -> tuple[int, int]:
        """Return the budgets around one at which verdicts are drawn."""
        rows = int(self.design.n_unlabeled.sum())
        low = high = min(self._anchor, rows)
        while high < budget and high < rows:
            low, high = high, min(high * BUDGET_RATIO, rows)
        while low > budget:
            low, high = max(low // BUDGET_RATIO, 1), low
        budget = min(budget, rows)
        return (budget, budget) if budget in (low, high) else (low, high)

    def _drawn_mean(self, goal: str, budget: int) -> float:
        """Return the expected half-width from draws."""
        likely = self._likely(goal, budget)
        usual = likely.mean()
        if self.further is not None:
            # A handful of verdicts leaves shares open that differ by tens: so do half-widths, and
            # the largest of them are not what usually comes.
            usual = np.exp(np.log(np.maximum(likely, 1e-300)).mean())
        # Fewer hidden positives than are likeliest are nothing to promise by.
        return float(max(usual, likely[0].mean()))

    def _drawn_ends(self, goal: str, budget: int) -> FloatArray:
        """Return the least and largest half-width that may well be, from draws."""
        if (goal, budget) not in self._ends:
            likely, unlikely = self._both(goal, budget)
            ends = [np.quantile(likely, TAILS)]
            ends += [np.quantile(widths, TAILS) for widths in unlikely]
            most = max(np.max(ends), self._drawn_mean(goal, budget))
            off = FIRST_ROUND_ERROR if self.further is None else FURTHER_ROUND_ERROR
            self._ends[goal, budget] = np.array([np.min(ends) / off, most * off])
        return self._ends[goal, budget]

    def _likely(self, goal: str, budget: int) -> FloatArray:
        """Return half-widths that likely shares lead to: a row a share, a column a draw."""
        if (goal, budget) not in self._widths:
            n_draws = self._n_draws(budget, FEW_DRAWS) // len(self.cases)
            widths = self._half_widths(self.cases, goal, budget, [n_draws] * len(self.cases))
            self._widths[goal, budget] = np.array(widths)
        return self._widths[goal, budget]

    def _both(self, goal: str, budget: int) -> tuple[FloatArray, list[FloatArray]]:
        """Return the same, and those of what is unlikely, all verdicts being read in one go."""
        few = self._n_draws(budget, 2 * FEW_DRAWS) // len(LIKELY_SCORES)
        draws = [few] * len(self.unlikely)
        if not draws or (goal, budget) in self._widths:
            widths = self._half_widths(self.unlikely, goal, budget, draws) if draws else []
            return self._likely(goal, budget), widths
        number = len(self.cases)
        draws = [self._n_draws(budget, FEW_DRAWS) // number] * number + draws
        widths = self._half_widths((*self.cases, *self.unlikely), goal, budget, draws)
        self._widths[goal, budget] = np.array(widths[:number])
        return self._widths[goal, budget], widths[number:]

    def _n_draws(self, budget: int, few: int) -> int:
        """Return how many draws are made; in a further round one positive may decide a width."""
        return MANY_DRAWS if self.further is not None or budget == self._anchor else few

    def _half_widths(
        self, cases: Sequence[LikelyCase], goal: str, budget: int, n_draws: Sequence[int]
    ) -> list[FloatArray]:
        """Return half the width of a goal's interval in each draw of each case."""
        options = goal, self._sizes(budget), self.confidence_level
        if goal.endswith(SUFFIX):
            pairs = zip(cases, n_draws, strict=True)
            return [case.difference_widths(*options, number) for case, number in pairs]
        return half_widths(cases, *options, n_draws)

    def _sizes(self, budget: int) -> IntArray:
        """Share out a budget: a beginning of the plan, or the whole of it enlarged."""
        if self.further is not None:
            return self.further.sizes(budget)
        if budget <= len(self.design.order):
            return self.design.sizes(budget)
        rows = self.design.n_unlabeled
        return fill(self.design.sizes().astype(float), 0, rows, min(budget, int(rows.sum())))


def _by_both(
    counts: ScoreCounts, design: ReviewDesign, second: SecondModel | None
) -> tuple[SecondModel, RowsByBoth] | None:
    return None if second is None else (second, RowsByBoth.of(second, counts, design))


def coarse_counts(counts: ScoreCounts, design: ReviewDesign) -> ScoreCounts:
    """Merge neighbouring cells of a stratum and of one side of the threshold, if there are many."""
    return merge_cells(counts, MOST_CELLS_OF_WIDTHS, design.threshold, design.edges)
