"""What a number of reviews buys: how sharp the library's own answer to likely verdicts is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from undercount.assume.reviewed.differences import ReviewedModel, difference_ends, drawn_variance
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, check_name
from undercount.estimate import Interval
from undercount.infer.mass_gradients import MassGradient, mass_gradient
from undercount.infer.reviews.drawn_verdicts import DrawnCells, DrawnVerdicts, Pool, SampledCells
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.stratum_shares import likely_chances
from undercount.infer.reviews.verdicts import (
    IntArray,
    ReviewDesign,
    ReviewedCells,
    Reviews,
    largest_share,
    share_of_slope,
    supposed_posterior,
    working_posterior,
)
from undercount.read.allocation import FLOOR, fill
from undercount.read.joined_cells import join_cells
from undercount.read.review_goals import SUFFIX, half_range, metric_of, threshold_of
from undercount.read.rival import Rival, RivalMoves, RivalRows
from undercount.read.supposed_share import LikelyShares

# Rise of the log odds of a label with each standard deviation of the score that may well be.
SLOPES = (1.0, -1.0)
# Cells that prices are read from; more say nothing more of a width.
MOST_CELLS = 1024
# Normal scores of shares that are supposed: the middles of fifths of what is likely.
SHARES = (0.0, -0.524, 0.524, -1.282, 1.282)
# One that may be as well: where classes overlap, estimates of a share are its upper limits.
LEAST_SHARE = (-1.96,)
# What verdicts leave open, of which each may come by itself.
OUTER_SHARES = SHARES[-2:]
# Draws of verdicts by all shares together, at the budget asked for and at others.
DRAWS, FEW_DRAWS, SEED = 15, 5, 20
# Quantiles of them that are the least and the most that may well be.
TAILS = (0.1, 0.9)
# How far promises were off where labels were random and the share was known: 10 % at most.
OWN_ERROR = 1.1
# The same of further rounds, which verdicts so far price: 25 %.
FURTHER_ERROR = 1.25
# Budgets at which verdicts are drawn: the one asked for, and each so many times another.
TIMES = 4
# The former in a further round, which is shared out anew for each budget.
USUAL = 100


@dataclass(frozen=True, eq=False)
class Prices:
    """Say how narrow a number of reviews would make the interval of each goal.

    Verdicts are drawn by what is supposed of the rows, and read by the code that is to read the
    real ones. The answer is the mean over draws, by shares as likely as their estimate makes them
    (or by the likeliest, if that is larger) and random labels; its range holds four draws in five,
    labels that prefer some scores, and far fewer hidden positives. A further round goes by what the
    verdicts so far leave open of the share of each stratum.

    Attributes
    ----------
    design : ReviewDesign
        How rows are drawn.
    suppositions : tuple of Supposition
        What may be true of the rows if labels are random, or of those that verdicts leave open, the
        likeliest first; each is as likely.
    unlikely : tuple of Supposition
        What cannot be excluded: labels that prefer some scores, and far fewer hidden positives.
    confidence_level : float
        Of the intervals.
    further : FurtherRound, optional
        Shares out each budget anew, beside verdicts that are there.
    guessed : bool
        Whether the share is supposed for the plan alone: labels and scores leave it open.

    Notes
    -----
    Assumes: labels prefer no score by more than a factor e of the odds a standard deviation, and
    the hidden share lies where it is supposed.
    Wrong when: there are far more or fewer hidden positives, or labels prefer the highest scores
    alone. A further round goes by verdicts, and is priced well then too.
    """

    design: ReviewDesign
    suppositions: "tuple[Supposition, ...]"
    confidence_level: float = 0.95
    further: "FurtherRound | None" = None
    unlikely: "tuple[Supposition, ...]" = ()
    guessed: bool = False
    _known: dict[tuple[str, int], FloatArray] = field(default_factory=dict, repr=False)
    _ends: dict[tuple[str, int], FloatArray] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        counts: ScoreCounts,
        design: ReviewDesign,
        confidence_level: float = 0.95,
        earlier: Reviews | None = None,
        rival: Rival | None = None,
        span: Interval | None = None,
    ) -> "Prices":
        """Suppose what verdicts showed; without any, the plan's share and that labels may prefer.

        `span` are shares one standard error off; one that labels told is another if they prefer.
        """
        counts, share = coarse_counts(counts, design), design.unlabeled_prevalence
        if earlier is None:
            none = np.zeros(0, dtype=np.intp)
            empty = Reviews(None, none.astype(np.int8), np.zeros(0), none, design)
            both = None if rival is None else RivalRows.of(rival, counts, design)
            supposed, unlikely = (
                tuple(Supposition(counts, empty, *each, rival, both) for each in likely)
                for likely in (
                    [(each, 0.0) for each in _likely_shares(counts, share, span, SHARES)],
                    [(_share_of(counts, share, span, slope), slope) for slope in SLOPES]
                    + [(each, 0.0) for each in _likely_shares(counts, share, span, LEAST_SHARE)],
                )
            )
            guessed = isinstance(span, LikelyShares) and span.open
            return cls(design, supposed, confidence_level, unlikely=unlikely, guessed=guessed)
        # Labels that prefer some scores mislead the first plan, which cannot know it; what was
        # found sets that right.
        cells = ReviewedCells(counts, earlier, working_posterior(counts, share))
        both = None if rival is None else RivalRows.of(rival, counts, design)
        there = earlier.answered
        verdict, score = earlier.verdict[there], earlier.score[there]
        seen = Reviews(None, verdict, score, earlier.stratum[there], earlier.design)
        supposed, unlikely = (
            tuple(
                Supposition.told(counts, seen, chance, rival, both)
                for chance in likely_chances(cells, scores)
            )
            for scores in (SHARES, OUTER_SHARES)
        )
        further = FurtherRound.of(counts, earlier, rival)
        return cls(design, supposed, confidence_level, further, unlikely)

    @property
    def supposed(self) -> float:
        """Share of positives among the unlabeled rows that is likeliest."""
        known = self.suppositions[0].share
        return self.design.unlabeled_prevalence if self.further is None else known

    @property
    def value(self) -> dict[str, float]:
        """Likeliest value of each goal."""
        return {goal: self.suppositions[0].value(goal) for goal in self.design.goal}

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
        return (
            self._least(goal, half_width, lambda budget: self.span(goal, budget).low),
            self._least(goal, half_width, lambda budget: self.span(goal, budget).high),
        )

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
        below, above = (drawn(goal, each) * each**0.5 for each in (least, most))
        return ((1 - part) * below + part * above) / budget**0.5

    @property
    def _anchor(self) -> int:
        """The budget at which most verdicts are drawn: the plan's, if budgets go by its order."""
        return max(len(self.design.order), 1) if self.further is None else USUAL

    def _nodes(self, budget: int) -> tuple[int, int]:
        """Return the budgets around one at which verdicts are drawn."""
        rows = int(self.design.n_unlabeled.sum())
        low = high = min(self._anchor, rows)
        while high < budget and high < rows:
            low, high = high, min(high * TIMES, rows)
        while low > budget:
            low, high = max(low // TIMES, 1), low
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
            few = self._draws(budget, 2 * FEW_DRAWS) // len(SHARES)
            ends = [np.quantile(self._likely(goal, budget), TAILS)]
            if self.unlikely:
                found = self._half_widths(self.unlikely, goal, budget, few)
                ends += list(np.quantile(found, TAILS, axis=1).T)
            most = max(np.max(ends), self._drawn_mean(goal, budget))
            off = OWN_ERROR if self.further is None else FURTHER_ERROR
            self._ends[goal, budget] = np.array([np.min(ends) / off, most * off])
        return self._ends[goal, budget]

    def _likely(self, goal: str, budget: int) -> FloatArray:
        """Return half-widths that likely shares lead to: a row a share, a column a draw."""
        if (goal, budget) not in self._known:
            each = self._draws(budget, FEW_DRAWS) // len(self.suppositions)
            self._known[goal, budget] = self._half_widths(self.suppositions, goal, budget, each)
        return self._known[goal, budget]

    def _draws(self, budget: int, few: int) -> int:
        """Return how many draws are made; in a further round one positive may decide a width."""
        return DRAWS if self.further is not None or budget == self._anchor else few

    def _half_widths(
        self, suppositions: "Sequence[Supposition]", goal: str, budget: int, n_draws: int
    ) -> FloatArray:
        """Return half the width of a goal's interval: a row a supposition, a column a draw."""
        options = goal, self._sizes(budget), self.confidence_level, n_draws
        if goal.endswith(SUFFIX):
            return np.array([each.difference_widths(*options) for each in suppositions])
        return half_widths(suppositions, *options)

    def _sizes(self, budget: int) -> IntArray:
        """Share out a budget: a beginning of the plan, or the whole of it enlarged."""
        if self.further is not None:
            return self.further.sizes(budget)
        if budget <= len(self.design.order):
            return self.design.sizes(budget)
        rows = self.design.n_unlabeled
        return fill(self.design.sizes().astype(float), 0, rows, min(budget, int(rows.sum())))


def _likely_shares(
    counts: ScoreCounts, share: float, span: Interval | None, scores: Sequence[float]
) -> list[float]:
    """Return shares by their normal scores, where `span` are those one standard error off.

    None is more than the surest rows can hold: of such shares nothing is left open by a review.
    """
    if span is None:
        return [share]
    low, high = (np.log(max(end, 1e-12) / share) for end in (span.low, span.high))
    found = (share * np.exp(z * high if z > 0 else -z * low) for z in scores)
    most = largest_share(counts)
    return [min(float(each), most) for each in found if 0 < each < 1]


def _share_of(counts: ScoreCounts, share: float, span: Interval | None, slope: float) -> float:
    """Return the share if labels prefer some scores: another where labels told it."""
    by_labels = isinstance(span, LikelyShares) and span.by_labels
    return share_of_slope(counts, share, slope) if by_labels else share


@dataclass(frozen=True, eq=False)
class Supposition:
    """Hold what may be true of the hidden positives, and what verdicts would then make of a goal.

    Attributes
    ----------
    counts : ScoreCounts
        The rows.
    reviews : Reviews
        Verdicts that are there, if any, and the strata.
    share : float
        Of positives among the unlabeled rows.
    slope : float
        How much labels prefer high scores: log odds a standard deviation.
    found : array, optional
        Chance that an unlabeled row of each cell is positive, if verdicts told it.
    rival : Rival, optional
        The second model of goals that are differences.
    both : RivalRows, optional
        Rows by both models.
    """

    counts: ScoreCounts
    reviews: Reviews
    share: float
    slope: float = 0.0
    rival: Rival | None = None
    both: RivalRows | None = None
    found: FloatArray | None = None
    _moves: dict[str, RivalMoves] = field(default_factory=dict, repr=False)

    @classmethod
    def told(
        cls,
        counts: ScoreCounts,
        reviews: Reviews,
        chance: FloatArray,
        rival: Rival | None,
        both: RivalRows | None,
    ) -> "Supposition":
        """Suppose what verdicts leave open."""
        share = float(np.clip(chance @ counts.unlabeled / counts.n_unlabeled, 1e-9, 1 - 1e-9))
        return cls(counts, reviews, share, rival=rival, both=both, found=chance)

    @cached_property
    def chance(self) -> FloatArray:
        """Chance that an unlabeled row of each cell is positive."""
        if self.found is not None:
            return self.found
        return supposed_posterior(self.counts, self.share, self.slope)

    @cached_property
    def posterior(self) -> FloatArray:
        """The working posterior, by which verdicts are read whatever is supposed."""
        return working_posterior(self.counts, self.reviews.design.unlabeled_prevalence)

    def gradient(self, metric: str) -> MassGradient:
        """Return the first model's metric with its gradient."""
        counts, at = self.counts, threshold_of(metric, self.reviews.design.threshold)
        positive = counts.positive + self.chance * counts.unlabeled
        everyone = counts.positive + counts.negative + counts.unlabeled
        return mass_gradient(counts, positive, everyone, metric, threshold=at)

    def value(self, goal: str) -> float:
        """Return the value of a goal."""
        if goal.endswith(SUFFIX):
            return self.moves(goal).value
        return float(self.gradient(goal).value)

    def moves(self, goal: str) -> RivalMoves:
        """Return a difference of two models, and how far the draw of the rows moves it."""
        if self.rival is None:
            raise InputError(f"the goal {goal} needs the scores of two models", argument="goal")
        if goal not in self._moves:
            metric = metric_of(goal)
            at = threshold_of(metric, self.reviews.design.threshold)
            second = self.rival.gradient(
                metric, self._rival_chance, None if at is None else self.rival.threshold
            )
            first = self.gradient(metric)
            self._moves[goal] = self.rival.moves(
                self.counts, first, second, self.chance, self._rival_chance, at
            )
        return self._moves[goal]

    @cached_property
    def _rival_chance(self) -> FloatArray:
        """Chance that an unlabeled row of each cell of the second model is positive."""
        return supposed_posterior(cast("Rival", self.rival).counts, self.share, self.slope)

    def draw(self, sizes: IntArray, n_draws: int) -> DrawnVerdicts:
        """Draw so many more verdicts a stratum, as they may well be."""
        pool = Pool(self.counts.score, self.counts.unlabeled, self.chance)
        return pool.draw(self.reviews.design, sizes, n_draws, SEED)

    def difference_widths(
        self, goal: str, sizes: IntArray, confidence_level: float, n_draws: int
    ) -> FloatArray:
        """Return half the width of a difference's interval, in draws of so many more verdicts.

        The difference of two models is meant where rows come from, as `compare` has it.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = list(self._differences(goal, sizes, confidence_level, n_draws))
        return _no_wider(np.array(ends), goal)

    def _differences(
        self, goal: str, sizes: IntArray, level: float, n_draws: int
    ) -> Iterator[tuple[float, float]]:
        """Read a difference of two models by drawn verdicts, all of them.

        Those that are there are drawn anew, by the chances that they showed: where they lie by the
        second model's score is not known.
        """
        metric, row_variance = metric_of(goal), self.moves(goal).row_variance
        rival, both = cast("Rival", self.rival), cast("RivalRows", self.both)
        design, threshold = self.reviews.design, self.reviews.design.threshold
        pool = Pool(both.score, both.rows_each, both.chance(self.chance, self._rival_chance))
        drawn = pool.draw(design, sizes + self.reviews.sizes, n_draws, SEED)
        for place, reviews in drawn.as_reviews(both.score, design):
            plan = ReviewedCells(self.counts, reviews, self.posterior)
            models = (
                self._model(self.counts, both.plan_cell, plan, place, level, threshold),
                self._model(rival.counts, both.own_cell, plan, place, level, rival.threshold),
            )
            gradients = (models[0].gradient(metric), models[1].gradient(metric))
            variance, freedom = drawn_variance(models, gradients, metric)
            variance += row_variance
            yield difference_ends(models, gradients, metric, level, variance, freedom)

    def _model(
        self,
        counts: ScoreCounts,
        own_cell: IntArray,
        plan: ReviewedCells,
        place: IntArray,
        level: float,
        threshold: float | None,
    ) -> ReviewedModel:
        """Return what verdicts on rows by both models say of one of them."""
        both = cast("RivalRows", self.both)
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
    suppositions: Sequence[Supposition],
    goal: str,
    sizes: IntArray,
    confidence_level: float,
    n_draws: int,
) -> FloatArray:
    """Return half the width of a metric's interval: a row a supposition, a column a draw.

    So many more verdicts a stratum are drawn by each supposition, and all read in one go.
    """
    first = suppositions[0]
    drawn = [each.draw(sizes, n_draws) for each in suppositions]
    cells = DrawnCells(first.counts, first.reviews, first.posterior, drawn=drawn)
    metrics = ReviewedMetrics(cells, confidence_level=confidence_level)
    at = threshold_of(goal, first.reviews.design.threshold)
    # Of a few rows all may be drawn positive, and none is left to be ranked below them.
    with np.errstate(invalid="ignore", divide="ignore"):
        _, low, high, _ = metrics.intervals(goal, at)
    found = _no_wider(np.stack([low, high], axis=-1), goal)
    return found.reshape(len(suppositions), n_draws)


def _no_wider(ends: FloatArray, goal: str) -> FloatArray:
    """Return half the widths of intervals, none more than half of a goal's range."""
    # Of a few rows all may be drawn positive: such verdicts tell nothing of an area.
    widest, widths = half_range(goal), (ends[:, 1] - ends[:, 0]) / 2
    return np.fmin(np.where(np.isnan(widths), widest, widths), widest)


def coarse_counts(counts: ScoreCounts, design: ReviewDesign) -> ScoreCounts:
    """Join neighbouring cells of a stratum, and of one side of the threshold, if there are many."""
    return join_cells(counts, MOST_CELLS, design.threshold, design.edges)


@dataclass(frozen=True, eq=False)
class FurtherRound:
    """What every stratum should have in the end, less what it has, whatever the budget."""

    part: FloatArray  # of all verdicts, those that are there included
    drawn: IntArray
    rows: IntArray

    @classmethod
    def of(
        cls, counts: ScoreCounts, reviews: Reviews, rival: Rival | None = None
    ) -> "FurtherRound":
        """Read from the verdicts where further ones say most."""
        design = reviews.design
        posterior = working_posterior(counts, design.unlabeled_prevalence)
        found = ReviewedMetrics(ReviewedCells(counts, reviews, posterior))
        group, rows = found.cells.group, found.cells.unlabeled_rows
        # By what all verdicts together showed: were strata that showed nothing left alone, what
        # they hide would be missed on average.
        smooth = replace(found.shares, share=found.cells.recalibrated)
        wanted = np.zeros(len(rows))
        for goal in design.goal:
            name = metric_of(goal)
            at = threshold_of(name, design.threshold)
            gradient = found.gradient(name, at)
            own = smooth.variance(gradient.turned, len(rows))
            if goal.endswith(SUFFIX):
                own = _difference_variance(found.cells, gradient, name, at, rival)
            total = float(rows @ np.sqrt(own))
            wanted += own / total**2 if total > 0 else 0.0
        part = np.asarray(design.n_unlabeled * np.sqrt(wanted)[group], dtype=float)
        even = np.asarray(design.n_unlabeled / design.n_unlabeled.sum(), dtype=float)
        total = float(part.sum())
        part = (1 - FLOOR) * part / total + FLOOR * even if total > 0 else even
        return cls(part, reviews.sizes, design.n_unlabeled)

    def sizes(self, budget: int) -> IntArray:
        """Share out a budget of new verdicts; no stratum is asked for more rows than it has."""
        budget = int(min(budget, (self.rows - self.drawn).sum()))
        return fill(self.part, self.drawn, self.rows, budget + int(self.drawn.sum())) - self.drawn


def _difference_variance(
    cells: ReviewedCells,
    first: MassGradient,
    metric: str,
    threshold: float | None,
    rival: Rival | None,
) -> FloatArray:
    """Return of each stratum what one more verdict on its rows varies a difference of two models.

    Where the second model scores the rows of a stratum high is known of a sample of them.
    """
    if rival is None:
        raise InputError(
            f"the goal {metric}{SUFFIX} needs the scores of two models", argument="goal"
        )
    share, rows = cells.recalibrated, cells.unlabeled
    known = working_posterior(rival.counts, float(share @ rows) / float(rows.sum()))
    second = rival.gradient(metric, known, None if threshold is None else rival.threshold)
    squares = rival.squares(cells.counts, first, second, known, threshold)
    sums = np.bincount(
        cells.stratum, rows * squares * share * (1 - share), len(cells.unlabeled_rows)
    )
    return np.asarray(sums / np.maximum(cells.unlabeled_rows, 1.0))
