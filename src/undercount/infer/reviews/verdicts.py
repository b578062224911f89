"""Unlabeled rows that somebody looked at by design, and the curve that they make certain."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit, ndtri

from undercount.count.arrays import read_labels, read_scores, read_weights, row_words
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import MISSING_DATA, InputError, named

IntArray = NDArray[np.intp]
NOT_ANSWERED = -1
# No row is taken for surely positive by its score alone.
MOST_SURE = 0.95
# Part of the working posterior that is smooth, and how steep that is beside the labels.
GUARD, GUARD_SLOPE = 0.2, 0.5
# How sure a row may be where verdicts are foretold, and parts of the positives in surest rows.
SUREST, POSTERIOR_HEADS = 0.995, (0.1, 0.5)
# Where labels are supposed to prefer some scores: least spread of labelled ranks, and how far log
# odds are moved at most.
LEAST_SPREAD, FARTHEST_LOG_ODDS = 0.3, 6.0
# Spread of what verdicts may add to the log odds of the posterior, and of their slope around 1.
SHIFT, SLOPE = 2.0, 0.5
# The same of what the plan's and another model's score say together: a shift, and both slopes.
OTHER_SCORE = np.array([0.0, 1.0, 0.5]), np.array([SHIFT, SLOPE, SLOPE])
# Known rows of an audit in each stratum, and how many strata there are at most.
ROWS_A_STRATUM, MOST_AUDIT_STRATA = 10, 50
# Spread of the slope of an audit's log odds by the rank of the score, around 1.
AUDIT_SLOPE = 2.0
# Parts of the rows between two known ones. Positives are at least about as many as such rows.
AUDIT_PARTS = 20
# Part of the recalibrated posterior that is spread as its square root.
EVEN = 0.05
# Farthest that log odds are moved so that a stratum has as many positives as were found: to none.
FARTHEST_TILT, _TILT_HALVINGS = 80.0, 60
_ROUNDING = 1e-9
_OVERFLOW_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class ReviewDesign:
    """Say how rows to review are drawn: strata of the unlabeled rows by score, and in which order.

    Within a stratum rows are drawn at random without replacement; `order` names the stratum of the
    first row of the plan, of the second, and so on, so that any beginning of the plan is a
    stratified random sample whose sizes are known. Nothing else of the plan is needed to read the
    verdicts, neither rows nor their positions.

    Attributes
    ----------
    edges : array
        Lowest score of each stratum, descending: stratum 0 holds the unlabeled rows that score
        ``edges[0]`` or more, stratum 1 those from ``edges[1]`` up to it, and so on. Scores below
        the last edge belong to the last stratum.
    n_unlabeled : array of int
        Unlabeled rows in each stratum.
    order : array of int
        Stratum of each row of the plan, best first.
    unlabeled_prevalence : float
        The share of positives among the unlabeled rows that the plan supposed. A wrong one makes
        the plan less sharp and nothing wrong.
    seed : int
        Of the draw within strata.
    goal : tuple of str
        What the plan makes sharp.
    threshold : float, optional
        At which a goal that needs one is meant; always an edge of strata.

    Examples
    --------
    >>> import undercount as uc
    >>> design = uc.ReviewDesign([0.6, 0.1], [20, 80], order=[0, 1, 0, 0], unlabeled_prevalence=0.1)
    >>> design.stratum_of([0.9, 0.6, 0.5]), design.sizes(3)
    (array([0, 0, 1]), array([2, 1]))
    """

    edges: FloatArray
    n_unlabeled: IntArray
    order: IntArray
    unlabeled_prevalence: float
    seed: int = 0
    goal: tuple[str, ...] = ()
    threshold: float | None = None

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.float64)
        number, order = (np.asarray(part, dtype=np.intp) for part in (self.n_unlabeled, self.order))
        for name, value in (("edges", edges), ("n_unlabeled", number), ("order", order)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "goal", tuple(self.goal))
        if edges.ndim != 1 or len(edges) == 0 or np.any(np.diff(edges) >= 0):
            raise InputError(f"edges of strata must be scores that descend; got {edges}")
        if number.shape != edges.shape or np.any(number < 0):
            raise InputError(
                f"n_unlabeled must say how many rows each of {len(edges)} strata has; got {number}"
            )
        if len(order) and not 0 <= order.min() <= order.max() < len(edges):
            raise InputError(f"order must name strata from 0 to {len(edges) - 1}")
        if np.any(np.bincount(order, minlength=len(edges)) > number):
            raise InputError("order must not draw more rows of a stratum than there are")

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.edges)

    def stratum_of(self, score: ArrayLike) -> IntArray:
        """Return the stratum of each score."""
        place = np.searchsorted(-self.edges, -np.asarray(score, dtype=np.float64))
        return np.minimum(place, self.n_strata - 1)

    def sizes(self, budget: int | None = None) -> IntArray:
        """Return how many rows of each stratum the first rows of the plan are; None: all."""
        return np.bincount(self.order[:budget], minlength=self.n_strata)


@dataclass(frozen=True, eq=False)
class Reviews:
    """Hold the verdicts on rows that were drawn by a design.

    Parameters
    ----------
    rows : array of int or None
        Positions of the reviewed rows in the data; None where only their scores are known.
    verdict : array-like
        1 positive, 0 negative, missing (None, NaN, -1) not answered.
    score : array-like
        Score of each row.
    stratum : array-like of int
        Stratum of each row.
    design : ReviewDesign
        How they were drawn.
    weight : array-like, optional
        Weight of each row, if rows have weights.

    Notes
    -----
    Assumes: verdicts are right, and rows without one yet are a random part of their stratum (the
    last rows of the plan are).
    Wrong when: rows are skipped because they are hard.

    Examples
    --------
    >>> import undercount as uc
    >>> design = uc.ReviewDesign([0.6, 0.1], [20, 80], order=[0, 1, 0], unlabeled_prevalence=0.1)
    >>> reviews = uc.Reviews([4, 7, 9], [1, 0, None], [0.9, 0.2, 0.7], [0, 1, 0], design)
    >>> reviews.n_answered, reviews.chance
    (2, array([0.05  , 0.0125, 0.05  ]))
    """

    rows: IntArray | None
    verdict: NDArray[np.int8]
    score: FloatArray
    stratum: IntArray
    design: ReviewDesign
    weight: FloatArray | None = None

    def __post_init__(self) -> None:
        verdict = read_labels(self.verdict, NOT_ANSWERED)
        score = np.asarray(read_scores(self.score), dtype=np.float64)
        stratum = np.asarray(self.stratum, dtype=np.intp)
        rows = None if self.rows is None else np.asarray(self.rows, dtype=np.intp)
        weight = self.weight  # of a round for which no row was left there are none
        if weight is not None:
            weight = read_weights(weight, len(score)) if len(score) else np.zeros(0)
        columns: list[NDArray[Any]] = [verdict, stratum, *([] if rows is None else [rows])]
        if any(len(column) != len(score) for column in columns):
            raise InputError(
                "rows, verdict, score and stratum of reviews must have the same length; got "
                f"{', '.join(str(len(column)) for column in [*columns, score])}"
            )
        moved = np.flatnonzero(stratum != self.design.stratum_of(score))
        if moved.size:
            raise InputError(
                f"a reviewed row of score {score[moved[0]]:.6g} is not in stratum "
                f"{stratum[moved[0]]} of the plan: its score, or the plan, was changed"
            )
        kept = _once(rows, verdict)
        for name, value in (
            ("rows", rows), ("verdict", verdict), ("score", score), ("stratum", stratum),
            ("weight", weight),
        ):  # fmt: skip
            object.__setattr__(self, name, None if value is None else value[kept])
        over = np.flatnonzero(self.sizes > self.design.n_unlabeled)
        if over.size:
            raise InputError(
                f"{self.sizes[over[0]]} verdicts in stratum {over[0]}, which has "
                f"{row_words(self.design.n_unlabeled[over[0]])}: some rows are there twice"
            )

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """Which rows have a verdict."""
        return np.asarray(self.verdict != NOT_ANSWERED)

    @property
    def n_answered(self) -> int:
        """How many rows have a verdict."""
        return int(np.count_nonzero(self.answered))

    @cached_property
    def sizes(self) -> IntArray:
        """How many rows of each stratum have a verdict."""
        return np.bincount(self.stratum[self.answered], minlength=self.design.n_strata)

    @property
    def mostly(self) -> bool:
        """Whether a third of the unlabeled rows or more have a verdict.

        Hardly any error is left then, and pairs of rows that merged scores count one half would be
        a larger one.
        """
        return self.n_answered * MOSTLY >= float(np.sum(self.design.n_unlabeled))

    @cached_property
    def knots(self) -> FloatArray:
        """Scores that counts keep apart: edges of strata, and reviewed rows from their neighbours.

        A verdict then stands where it was found, however else rows were counted.
        """
        seen = self.score[self.answered]
        return np.concatenate([self.design.edges, seen, np.nextafter(seen, np.inf)])

    @property
    def chance(self) -> FloatArray:
        """Chance that a row of the same stratum had of being among those answered."""
        share = self.sizes / np.maximum(self.design.n_unlabeled, 1)
        return np.asarray(share[self.stratum])

    def __add__(self, other: "Reviews") -> "Reviews":
        """Join the verdicts of two rounds with the same strata."""
        if not isinstance(other, Reviews):
            return NotImplemented
        same = np.array_equal(self.design.edges, other.design.edges)
        if not same or not np.array_equal(self.design.n_unlabeled, other.design.n_unlabeled):
            raise InputError(
                "rounds of reviews can be joined only if their strata are the same; those of "
                "plan_reviews(…, reviews=EARLIER) are"
            )
        joined = [_join([getattr(r, name) for r in (self, other)]) for name in _COLUMNS]
        rows, verdict, score, stratum, weight = joined
        kept = _once(rows, verdict)
        design = replace(self.design, order=stratum[kept])
        return Reviews(rows, verdict, score, stratum, design, weight)


MOSTLY = 3
_COLUMNS = ("rows", "verdict", "score", "stratum", "weight")


def check_scores(reviews: Reviews, scores: NDArray[Any]) -> Reviews:
    """Return reviews whose rows have the scores of the data; refuse others."""
    if reviews.rows is None or not len(reviews.rows):
        return reviews
    if reviews.rows.max() >= len(scores) or reviews.rows.min() < 0:
        raise InputError(
            f"a review speaks of row {reviews.rows.max()}; the data have {row_words(len(scores))}",
            argument="reviews",
        )
    differ = np.flatnonzero(scores[reviews.rows].astype(np.float64) != reviews.score)
    if differ.size:
        row = reviews.rows[differ[0]]
        raise InputError(
            f"row {row} was reviewed at score {reviews.score[differ[0]]:.6g} and has "
            f"{float(scores[row]):.6g} now: the plan was made for other data or another model",
            argument="reviews",
        )
    return reviews


def _join(parts: list[Any]) -> Any:
    return None if any(part is None for part in parts) else np.concatenate(parts)


def _once(rows: IntArray | None, verdict: NDArray[np.int8]) -> NDArray[Any]:
    """Return which entries to keep so that each row is there once; refuse two answers."""
    if rows is None:
        return np.arange(len(verdict))
    answered = verdict != NOT_ANSWERED
    order = np.lexsort((~answered, rows))
    first = np.append(True, np.diff(rows[order]) != 0)[: len(order)]
    leader = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    leading = verdict[order][leader]
    differ = (verdict[order] != leading) & answered[order]
    if differ.any():
        row = rows[order][int(np.argmax(differ))]
        raise InputError(
            f"row {row} was reviewed twice with different answers; keep the right one",
            argument="reviews",
        )
    return np.sort(order[first])


def working_posterior(counts: ScoreCounts, unlabeled_prevalence: float) -> FloatArray:
    """Guess the probability that an unlabeled row of each cell is positive.

    Of the unlabeled rows of a score, a share in proportion to labelled over unlabeled rows is
    positive: a f_L/f_U, which never falls with the score (pool adjacent violators). A part of it is
    a logistic curve of the rank of the score, half as steep as the labels say, so that positives
    are expected below the lowest labelled one too. A guess to plan with and to spread within a
    stratum what was found there: estimates from reviews hold however wrong it is.
    """
    odds, smooth = _guesses(counts)
    hidden = unlabeled_prevalence * counts.n_unlabeled
    return np.asarray(np.clip(hidden * ((1 - GUARD) * odds + GUARD * smooth), 1e-9, MOST_SURE))


def design_posterior(counts: ScoreCounts, design: ReviewDesign) -> FloatArray:
    """Guess the same by the share that a plan supposed, however rows were counted."""
    whole = counts.canonical_between(design.edges)
    return working_posterior(whole, design.unlabeled_prevalence)[places_in(whole, counts)]


def places_in(counts: ScoreCounts, finer: ScoreCounts) -> IntArray:
    """Return in which cell of some counts each cell of finer ones lies."""
    place = np.searchsorted(-counts.score, -finer.score)
    return np.minimum(place, len(counts.score) - 1)


def supposed_posterior(
    counts: ScoreCounts, unlabeled_prevalence: float, slope: float = 0.0
) -> FloatArray:
    """Guess the same if labels prefer some scores, to say what a plan may come to.

    The log odds of carrying a label rise by `slope` with each standard deviation of the scores of
    labelled positives (of their normal ranks): the hidden ones then lie as much lower. Nothing is
    estimated with it, so that rows may be as sure as labels show them.
    """
    guess = _supposed_guess(counts, slope)
    hidden = min(unlabeled_prevalence, SUREST) * counts.n_unlabeled
    scale = hidden
    for _ in range(_OVERFLOW_ROUNDS):  # what the surest rows cannot hold lies lower
        chances = np.minimum(scale * guess, SUREST)
        scale *= hidden / max(float(chances @ counts.unlabeled), 1e-300)
    return np.asarray(np.clip(scale * guess, 1e-9, SUREST))


def largest_share(counts: ScoreCounts) -> float:
    """Return the share of hidden positives at which the surest half of them is sure."""
    guess = _supposed_guess(counts, 0.0)
    return SUREST / (_head(guess, counts.unlabeled, POSTERIOR_HEADS[1]) * counts.n_unlabeled)


def share_of_slope(counts: ScoreCounts, unlabeled_prevalence: float, slope: float) -> float:
    """Return the share that labels would stand for if they preferred some scores.

    Labels tell a share by how many of the surest rows are positive. Where they prefer high scores
    those seem surer than they are, and a share that supposes random labels is too low; where they
    prefer low ones, few of them are there, and half of the positives are looked at.
    """
    part = POSTERIOR_HEADS[0] if slope > 0 else POSTERIOR_HEADS[1]
    own, random = (
        _head(_supposed_guess(counts, each), counts.unlabeled, part) for each in (slope, 0.0)
    )
    return float(min(unlabeled_prevalence * random / own, SUREST))


def _supposed_guess(counts: ScoreCounts, slope: float) -> FloatArray:
    """Return how hidden positives lie if labels prefer some scores; over all rows it sums to one.

    The more labels there are, the less of it is the smooth curve, which expects positives low down
    anyway and is not pulled lower.
    """
    odds, smooth = _guesses(counts)
    tilt = np.exp(np.clip(-slope * _standard_rank(counts), -FARTHEST_LOG_ODDS, FARTHEST_LOG_ODDS))
    part = min(GUARD, 1.0 / math.sqrt(counts.n_positive))
    if slope >= 0:
        return (1 - part) * _scaled(odds * tilt, counts.unlabeled) + part * smooth
    return _scaled(((1 - part) * odds + part * smooth) * tilt, counts.unlabeled)


def _head(guess: FloatArray, unlabeled: FloatArray, part: float) -> float:
    """Return the mean of a guess over the surest rows, which hold this part of the positives."""
    order = np.argsort(-guess, kind="stable")
    rows, sums = unlabeled[order], np.cumsum((guess * unlabeled)[order])
    last = int(np.searchsorted(sums, part * sums[-1]))
    return float(sums[last] / max(float(rows[: last + 1].sum()), 1e-300))


def _guesses(counts: ScoreCounts) -> tuple[FloatArray, FloatArray]:
    """Return the odds of a label by isotonic regression, and by a smooth curve; sums are one."""
    labelled, unlabeled = counts.positive, counts.unlabeled
    rows = labelled + unlabeled
    at = rows > 0
    share = np.zeros(len(rows))
    share[at] = isotonic_regression(labelled[at] / rows[at], weights=rows[at], increasing=False).x
    share[~at] = np.interp(np.flatnonzero(~at), np.flatnonzero(at), share[at])
    # Half a row less is sure, or cells of labelled rows alone would have infinite odds.
    n_rows = counts.n_rows / (sum(counts.squared_weight) / counts.n_rows)  # Kish's, of any unit
    odds = share / np.maximum(1 - share, 0.5 / max(n_rows, 1.0))
    smooth = np.exp(GUARD_SLOPE * _log_odds_slope(counts) * normal_rank(counts))
    return _scaled(odds, unlabeled), _scaled(smooth, unlabeled)


def _fit_logistic(
    columns: FloatArray,
    verdict: FloatArray,
    expected: FloatArray,
    spread: FloatArray,
) -> FloatArray:
    """Fit verdicts by logistic regression, drawn towards expected coefficients.

    Several sets of verdicts at once: the last axis but one of `columns` are the verdicts.
    """
    prior, turned = spread**-2.0, columns.swapaxes(-1, -2)
    theta = np.broadcast_to(expected, (*verdict.shape[:-1], len(expected)))
    for _ in range(50):
        share = expit((columns @ theta[..., None])[..., 0])
        score = (turned @ (verdict - share)[..., None])[..., 0] - prior * (theta - expected)
        bend = (turned * (share * (1 - share))[..., None, :]) @ columns + np.diag(prior)
        step = np.linalg.solve(bend, score[..., None])[..., 0]
        theta = theta + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-10:  # noqa: PLR2004 - converged
            break
    return theta


def _tilt(
    chance: FloatArray, rows: FloatArray, stratum: IntArray, wanted: FloatArray
) -> FloatArray:
    """Move log odds of chances alike in each stratum, so that so many of its rows are positive.

    Of fewer than none there are none, of more than there are rows all are positive.
    """
    low, high = np.full(wanted.shape, -FARTHEST_TILT), np.full(wanted.shape, FARTHEST_TILT)
    odds = logit(chance)
    for _ in range(_TILT_HALVINGS):
        middle = (low + high) / 2
        sums = sum_by(stratum, rows * expit(odds + middle[..., stratum]), wanted.shape[-1])
        low, high = np.where(sums < wanted, middle, low), np.where(sums < wanted, high, middle)
    return np.asarray(expit(odds + low[..., stratum]))


def sum_by(place: IntArray, value: FloatArray, number: int) -> FloatArray:
    """Add up values by their places, of several sets (rows of `value`) at once."""
    if value.ndim == 1:
        return np.asarray(np.bincount(place, value, number), dtype=float)
    # Each set has places of its own behind those of the set before.
    sets = value.reshape(-1, value.shape[-1])
    shifted = np.arange(len(sets))[:, None] * number + place
    sums = np.bincount(shifted.ravel(), sets.ravel(), len(sets) * number).astype(float)
    return sums.reshape(*value.shape[:-1], number)


def _scaled(odds: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """Return odds such that they add up to one over the unlabeled rows."""
    total = float(odds @ unlabeled)
    return odds / total if total > 0 else odds


def normal_rank(counts: ScoreCounts) -> FloatArray:
    """Return the normal quantile of the middle of each cell among all rows."""
    rows = counts.positive + counts.unlabeled
    middle = np.cumsum(rows[::-1])[::-1] - rows / 2
    return np.asarray(ndtri(np.clip(middle / rows.sum(), 1e-9, 1 - 1e-9)))


def _standard_rank(counts: ScoreCounts) -> FloatArray:
    """Return the normal rank of each cell in standard deviations of the labelled positives."""
    rank = normal_rank(counts)
    middle = float(counts.positive @ rank) / counts.n_positive
    spread = float(counts.positive @ (rank - middle) ** 2) / counts.n_positive
    return np.asarray((rank - middle) / max(spread, LEAST_SPREAD**2) ** 0.5)


def _log_odds_slope(counts: ScoreCounts) -> float:
    """Return how fast the log odds of being labelled grow with the normal rank.

    Of two normal distributions of equal spread: difference of means over variance.
    """
    rank = normal_rank(counts)
    middle = float(counts.positive @ rank) / counts.n_positive
    spread = float(counts.positive @ (rank - middle) ** 2) / counts.n_positive
    return float(np.clip(middle / max(spread, 0.25), 0.0, 4.0))


def keep_apart(counts: ScoreCounts, reviews: Reviews) -> ScoreCounts:
    """Split merged cells without a label at the reviewed scores in them.

    Tied with their neighbours, the few positives at the top would lose their order, and average
    precision a third of its value. The other rows of such a cell are taken to lie evenly between
    the reviewed ones, which were drawn among them at random; of a stratum whose rows all have a
    verdict nothing is left to take.
    """
    score = reviews.score[reviews.answered]
    cell = np.minimum(np.searchsorted(-counts.score, -score), len(counts.score) - 1)
    bare = counts.merged & (counts.positive + counts.negative == 0)
    if not np.any(bare[cell] & (score != counts.score[cell])):
        return counts
    weight = np.ones(len(score))
    if reviews.weight is not None:
        weight = reviews.weight[reviews.answered]
    inside = bare[cell]
    # The lowest score of a cell is one of its parts, whether it has a verdict or not.
    parts, place = np.unique(
        np.concatenate([score[inside], counts.score[bare]]), return_inverse=True
    )
    weights = np.bincount(place, np.concatenate([weight[inside], np.zeros(np.sum(bare))]))
    whole = np.searchsorted(-counts.score, -parts)
    n_cells = len(counts.score)
    rest = np.maximum(counts.unlabeled - np.bincount(whole, weights, n_cells), 0.0)
    rows = weights + (rest / np.maximum(np.bincount(whole, minlength=n_cells), 1))[whole]
    return _put_parts(counts, bare, parts, rows)


def split_merged(counts: ScoreCounts, parts: int) -> ScoreCounts:
    """Split merged cells without a label into equal parts, whose scores are between their ends.

    Only ranks are meant: that rows of different scores are in some order.
    """
    split = counts.merged & (counts.positive + counts.negative == 0)
    score, place = counts.score, np.linspace(0.0, 1.0, parts, endpoint=False)
    with np.errstate(over="ignore", invalid="ignore"):  # scores near the largest number
        above = np.append(score[:1] + 1 + np.abs(score[:1]), score[:-1])[split]
        inside = score[split, None] + (above - score[split])[:, None] * place
        apart = np.all(np.diff(inside, append=above[:, None]) > 0, axis=1)
    split[split], inside = apart, inside[apart]
    if not np.any(split):
        return counts
    rows = np.repeat(counts.unlabeled[split] / parts, parts)
    return _put_parts(counts, split, inside.ravel(), rows)


def _put_parts(
    counts: ScoreCounts, split: NDArray[np.bool_], score: FloatArray, rows: FloatArray
) -> ScoreCounts:
    """Put parts of unlabeled rows in the place of the cells that were split."""
    none, kept = np.zeros(len(score)), ~split
    finer = ScoreCounts.from_counts(
        np.concatenate([counts.score[kept], score]),
        np.concatenate([counts.positive[kept], none]),
        np.concatenate([counts.negative[kept], none]),
        np.concatenate([counts.unlabeled[kept], rows]),
        merged=np.concatenate([counts.merged[kept], none == 0]),
        squared_weight=counts.squared_weight if counts.weighted else None,
    )
    return replace(finer, clusters=counts.clusters)


@dataclass(frozen=True, eq=False)
class ReviewedCells:
    """Hold what labels and reviews together say of each cell of the counts.

    The positives of a set of cells are the labelled ones, plus the working posterior of each
    unlabeled row, plus, for every reviewed row, its verdict less the posterior over its chance of
    having been reviewed: right on average over the draws whatever the posterior is.

    Attributes
    ----------
    counts, reviews
        What was counted, and what was found.
    posterior : array
        Working posterior of each cell.
    apart : bool
        Whether labelled rows were drawn apart (case-control) and are no part of the target.
    """

    counts: ScoreCounts
    reviews: Reviews
    posterior: FloatArray
    apart: bool = False
    group: IntArray = field(init=False)  # of each stratum: those without a verdict join others

    def __post_init__(self) -> None:
        check_unchanged(self.counts, self.reviews)
        object.__setattr__(self, "group", review_groups(self.reviews.sizes))

    @property
    def unlabeled(self) -> FloatArray:
        """Unlabeled rows of each unit; units are cells here, and rows in `CrossedCells`."""
        return self.counts.unlabeled

    def moves(self, by_cell: FloatArray) -> FloatArray:
        """Return for each unit what is known of each cell."""
        return by_cell

    @cached_property
    def stratum(self) -> IntArray:
        """Group of strata that each unit belongs to."""
        return np.asarray(self.group[self.reviews.design.stratum_of(self.counts.score)])

    @cached_property
    def unlabeled_rows(self) -> FloatArray:
        """Unlabeled rows in each group of strata."""
        return np.asarray(np.bincount(self.group, self.reviews.design.n_unlabeled), dtype=float)

    @cached_property
    def reviewed_rows(self) -> FloatArray:
        """Rows with a verdict in each group of strata."""
        return np.asarray(np.bincount(self.group, self.reviews.sizes), dtype=float)

    @cached_property
    def place(self) -> IntArray:
        """Unit of each row with a verdict."""
        score = self.reviews.score[self.reviews.answered]
        cell = np.searchsorted(-self.counts.score, -score)
        return np.minimum(cell, len(self.counts.score) - 1)

    @cached_property
    def verdict_stratum(self) -> IntArray:
        """Group of strata that each such row belongs to."""
        return np.asarray(self.stratum[self.place])

    def at_verdicts(self, by_unit: FloatArray) -> FloatArray:
        """Return for each such row what is known of its unit."""
        return by_unit[self.place]

    def sum_verdicts(self, by_verdict: FloatArray) -> FloatArray:
        """Sum up over the verdicts on each unit."""
        return sum_by(self.place, by_verdict, len(self.unlabeled))

    @cached_property
    def verdict(self) -> FloatArray:
        """Verdict of each such row."""
        return self.reviews.verdict[self.reviews.answered].astype(float)

    @cached_property
    def weight(self) -> FloatArray:
        """Weight of each such row."""
        if self.reviews.weight is None:
            return np.ones(len(self.verdict))
        return self.reviews.weight[self.reviews.answered]

    @cached_property
    def stands_for(self) -> FloatArray:
        """Rows of its stratum for which each such row stands."""
        ratio = self.unlabeled_rows / np.maximum(self.reviewed_rows, 1)
        return np.asarray(ratio[self.verdict_stratum])

    @property
    def beyond(self) -> FloatArray:
        """The same without itself: rows of which nobody has seen any."""
        return self.stands_for - 1

    @cached_property
    def squared_weight(self) -> FloatArray:
        """Mean square of the weight of an unlabeled row in each group of strata.

        The mean weight is known; the spread around it is taken to be the same in all strata.
        """
        rows = np.maximum(self.unlabeled_rows, 1.0)
        mean = np.bincount(self.stratum, self.unlabeled, len(rows)) / rows
        if not self.counts.weighted:
            return np.ones(len(rows))
        spread = self.counts.squared_weight[2] * float(rows.sum()) / self.counts.n_unlabeled**2
        return np.asarray(mean**2 * max(spread, 1.0))

    @cached_property
    def recalibrated(self) -> FloatArray:
        """The working posterior of each unit after a look at all verdicts.

        Its log odds are shifted and stretched (logistic regression of the verdicts, drawn towards
        leaving them as they are), which is what labels that prefer high or low scores would need.
        A part is spread more evenly, so that strata where no positive was found are not taken for
        empty.
        """
        logit = np.log(self.posterior) - np.log1p(-self.posterior)
        columns = np.stack([np.ones(len(logit)), logit], axis=1)
        return self.fit_verdicts(columns, np.array([0.0, 1.0]), np.array([SHIFT, SLOPE]))

    def fit_verdicts(
        self, columns: FloatArray, expected: FloatArray, spread: FloatArray
    ) -> FloatArray:
        """Fit the verdicts by log odds that are linear in some columns, a part more evenly."""
        theta = _fit_logistic(columns[self.place], self.verdict, expected, spread)
        chances = 1 / (1 + np.exp(-np.clip(theta @ columns.T, -30, 30)))
        # As many positives, spread more evenly.
        even = np.sqrt(chances)
        ratio = (chances @ self.unlabeled) / np.maximum(even @ self.unlabeled, 1e-300)
        even *= ratio[..., None]
        return np.asarray((1 - EVEN) * chances + EVEN * np.minimum(even, MOST_SURE))

    @cached_property
    def hidden(self) -> FloatArray:
        """Positives among the unlabeled rows of each cell; negative in some by chance."""
        return self.by_cell(self.unlabeled * self.posterior + self.sum_verdicts(self.excess))

    @cached_property
    def excess(self) -> FloatArray:
        """Positives beyond the working posterior for which each verdict stands."""
        return self.weight * (self.verdict - self.at_verdicts(self.posterior)) * self.stands_for

    @cached_property
    def unseen(self) -> FloatArray:
        """Unlabeled rows of each unit that have no verdict."""
        seen = self.sum_verdicts(self.weight * np.ones(self.verdict.shape))
        return np.asarray(np.maximum(self.unlabeled - seen, 0.0))

    @cached_property
    def found(self) -> FloatArray:
        """Positives that verdicts found in each unit."""
        return self.sum_verdicts(self.weight * self.verdict)

    @cached_property
    def spread_hidden(self) -> FloatArray:
        """The same where rows can have them: in no cell less than none, or more than it has rows.

        A stratum has as many among its rows without a verdict as verdicts say, as far as it can,
        and they lie where the recalibrated posterior says.
        """
        return self.by_cell(self.found + self.spread_unseen)

    @cached_property
    def spread_unseen(self) -> FloatArray:
        """Positives among the rows of each unit that have no verdict, spread in the same way."""
        many, excess = len(self.unlabeled_rows), self.verdict - self.at_verdicts(self.posterior)
        expected = sum_by(self.stratum, self.unseen * self.posterior, many)
        totals = expected + sum_by(self.verdict_stratum, self.weight * excess * self.beyond, many)
        chance = _tilt(np.minimum(self.ordered, MOST_SURE), self.unseen, self.stratum, totals)
        return np.asarray(self.unseen * chance)

    @property
    def ordered(self) -> FloatArray:
        """How likely each unit is positive beside others of its stratum."""
        return self.recalibrated

    @property
    def finer(self) -> "ReviewedCells":
        """The same with as many cells as the order of rows needs."""
        return self

    def by_cell(self, by_unit: FloatArray) -> FloatArray:
        """Sum up over the units of each cell."""
        return by_unit

    @cached_property
    def everyone(self) -> FloatArray:
        """All rows of the target in each cell."""
        unlabeled = self.counts.unlabeled
        if self.apart:
            return unlabeled
        return np.asarray(self.counts.positive + self.counts.negative + unlabeled)

    @cached_property
    def positive(self) -> FloatArray:
        """Positives of the target in each cell."""
        return self.hidden if self.apart else np.asarray(self.counts.positive + self.hidden)

    @property
    def possible(self) -> Any:
        """Whether there are positives and negatives; the first few verdicts may deny it."""
        total = self.positive.sum(axis=-1)
        return (total > 0) & (total < self.everyone.sum())

    @property
    def likely(self) -> FloatArray:
        """Positives of the target in each cell by the recalibrated posterior: always possible."""
        hidden = self.by_cell(self.unlabeled * self.recalibrated)
        return hidden if self.apart else np.asarray(self.counts.positive + hidden)


@dataclass(frozen=True, eq=False)
class CrossedCells(ReviewedCells):
    """Hold what reviews planned by one model's scores say of the cells of another's.

    Units are the unlabeled rows: their strata and working posterior are those of the plan, while
    what their verdicts add stands in the cells of this model.

    Attributes
    ----------
    plan : ReviewedCells
        The cells of the model by which the reviews were planned.
    plan_cell, own_cell : array of int
        Cell of each unlabeled row by the plan's model, and by this one.
    reviewed : array of int
        Unlabeled row of each verdict, as a place in the two above.
    row_weight : array, optional
        Weight of each unlabeled row.
    """

    plan: ReviewedCells = field(kw_only=True)
    plan_cell: IntArray = field(kw_only=True)
    own_cell: IntArray = field(kw_only=True)
    reviewed: IntArray = field(kw_only=True)
    row_weight: FloatArray | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", self.plan.group)

    @classmethod
    def of(
        cls,
        counts: ScoreCounts,
        scores: NDArray[Any],
        plan: ReviewedCells,
        plan_scores: NDArray[Any],
        labels: NDArray[Any],
        weights: FloatArray | None = None,
    ) -> "CrossedCells":
        """Read the scores of the rows by both models; labels are 1, 0, or -1 without one."""
        rows = plan.reviews.rows
        if rows is None:
            raise InputError("comparing needs to know which rows were reviewed", argument="reviews")
        own_place, plan_place = (
            np.searchsorted(-table.score, -score.astype(np.float64))
            for table, score in ((counts, scores), (plan.counts, plan_scores))
        )
        pool = np.flatnonzero(labels == NOT_ANSWERED)
        own, other = own_place[pool], plan_place[pool]
        return cls(
            counts,
            plan.reviews,
            plan.posterior[other],
            plan=plan,
            plan_cell=other,
            own_cell=own,
            reviewed=np.searchsorted(pool, rows[plan.reviews.answered]),
            row_weight=None if weights is None else weights[pool],
        )

    @cached_property
    def unlabeled(self) -> FloatArray:
        """Weight of each unlabeled row."""
        return np.ones(len(self.own_cell)) if self.row_weight is None else self.row_weight

    def moves(self, by_cell: FloatArray) -> FloatArray:
        """Return for each unlabeled row what is known of its cell."""
        return by_cell[self.own_cell]

    @cached_property
    def stratum(self) -> IntArray:
        """Group of strata that each unlabeled row belongs to."""
        return np.asarray(self.plan.stratum[self.plan_cell])

    @cached_property
    def place(self) -> IntArray:
        """Unlabeled row of each verdict."""
        return self.reviewed

    @cached_property
    def recalibrated(self) -> FloatArray:
        """The plan's, row by row, and by this model's score as far as verdicts follow it.

        Of rows that the plan's model scores alike, those that this one scores high are more often
        positive. By the plan's score alone, a few positives low down that this model flags were
        overlooked: differences of two models that share no noise covered .76.
        """
        planned, own = self.plan.recalibrated[self.plan_cell], self._own_posterior[self.own_cell]
        if self.follows_plan:
            return np.asarray(planned)
        logits = [np.log(chances) - np.log1p(-chances) for chances in (planned, own)]
        middle = float(np.mean(logits[1]))
        columns = np.stack([np.ones(len(planned)), logits[0], logits[1] - middle], axis=1)
        return self.fit_verdicts(columns, *OTHER_SCORE)

    @cached_property
    def _own_posterior(self) -> FloatArray:
        """The working posterior of each cell of this model."""
        return design_posterior(self.counts, self.reviews.design)

    @property
    def follows_plan(self) -> bool:
        """Whether this model puts the rows in the plan's order."""
        return np.array_equal(self._own_posterior[self.own_cell], self.posterior)

    def by_cell(self, by_unit: FloatArray) -> FloatArray:
        """Sum up over the rows of each cell."""
        return np.asarray(np.bincount(self.own_cell, by_unit, len(self.counts.score)), float)


@dataclass(frozen=True, eq=False)
class AuditedCells(ReviewedCells):
    """Hold what a random sample of all rows, verified in both classes, says of each cell.

    The known rows count as what they are, and stand for the unlabeled rows of their stratum: the
    design's strata, made after the draw, hold all rows.

    Attributes
    ----------
    split : bool
        Whether the rows between two known ones are in parts already.
    """

    split: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", review_groups(self.reviews.sizes))

    @cached_property
    def stands_for(self) -> FloatArray:
        """Unlabeled rows of its stratum for which each known row stands."""
        ratio = self.unlabeled_rows / np.maximum(self.reviewed_rows, 1) - 1
        return np.asarray(ratio[self.verdict_stratum])

    @property
    def beyond(self) -> FloatArray:
        """The same: a known row is none of them."""
        return self.stands_for

    @cached_property
    def squared_weight(self) -> FloatArray:
        """Mean square of the weight of an unlabeled row in each stratum."""
        rows = np.maximum(self.unlabeled_rows - self.reviewed_rows, 1.0)
        mean = np.bincount(self.stratum, self.unlabeled, len(rows)) / rows
        if not self.counts.weighted:
            return np.ones(len(rows))
        number = float(np.sum(self.unlabeled_rows - self.reviewed_rows))
        spread = self.counts.squared_weight[2] * number / self.counts.n_unlabeled**2
        return np.asarray(mean**2 * max(spread, 1.0))

    @property
    def unseen(self) -> FloatArray:
        """All unlabeled rows: the known ones are none of them."""
        return self.unlabeled

    @property
    def found(self) -> FloatArray:
        """Positives that verdicts found among unlabeled rows: none, the known ones are others."""
        return np.zeros(len(self.posterior))

    @cached_property
    def finer(self) -> "AuditedCells":
        """The same with the rows between two known ones in parts."""
        counts = self.counts if self.split else split_merged(self.counts, AUDIT_PARTS)
        if counts is self.counts:
            return self
        share = np.full(len(counts.score), self.reviews.design.unlabeled_prevalence)
        return AuditedCells(counts, self.reviews, share, split=True)

    @cached_property
    def ordered(self) -> FloatArray:
        """How likely each unit is positive by the known rows, along the rank of its score.

        Shares of whole strata would leave their rows unordered, and of rare positives nearly all
        lie in the first stratum: average precision was half of what it is.
        """
        rows = self.everyone
        middle = 1 - (np.cumsum(rows) - rows / 2) / rows.sum()
        rank = ndtri(np.clip(middle, _ROUNDING, 1 - _ROUNDING))
        columns = np.stack([np.ones(len(rank)), rank], axis=1)
        share = logit(self.reviews.design.unlabeled_prevalence)
        return self.fit_verdicts(columns, np.array([share, 1.0]), np.array([SHIFT, AUDIT_SLOPE]))


def audit_reviews(
    counts: ScoreCounts, rows: tuple[NDArray[Any], NDArray[Any], FloatArray | None] | None = None
) -> Reviews:
    """Return rows known in both classes as a review of a random sample of all rows.

    Labels, scores and weights of the rows say which of them are known, where that matters. Strata
    are made after the draw, of neighbouring scores with about ten known rows each, since how many
    rows have each score is known.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.reviews.verdicts import audit_reviews
    >>> counts = uc.ScoreCounts.from_counts([2, 1], [3, 1], [1, 5], [40, 60])
    >>> reviews = audit_reviews(counts)
    >>> reviews.n_answered, reviews.design.n_unlabeled
    (10, array([110]))
    """
    counts.require("positive", "negative")
    if counts.weighted and rows is None:
        raise InputError(
            "an audit of weighted rows needs the rows themselves: sums of weights do not say what "
            "each known row weighs. Pass arrays, or a frame in memory",
            code=MISSING_DATA,
            argument="assume",
        )
    positive, negative, unlabeled = counts.cell_rows
    verified = positive + negative
    number = int(np.clip(verified.sum() // ROWS_A_STRATUM, 1, MOST_AUDIT_STRATA))
    above = np.cumsum(verified) - verified / 2
    at = np.floor(above / verified.sum() * number).astype(np.intp)
    last = np.append(np.flatnonzero(np.diff(at) > 0), len(at) - 1)
    edges = counts.score[last]
    place = np.searchsorted(-edges, -counts.score)
    sizes = np.rint(np.bincount(place, verified + unlabeled, len(edges))).astype(np.intp)
    share = float(positive.sum() / verified.sum())
    if rows is None:
        which, weight = None, None
        score = np.repeat(counts.score, np.rint(verified).astype(np.intp))
        one_by_one = np.rint(np.stack([positive, negative], axis=1)).astype(np.intp).ravel()
        verdict = np.repeat(np.tile([1, 0], len(counts.score)), one_by_one)
    else:
        labels, scores, weights = rows
        which = np.flatnonzero(labels != NOT_ANSWERED)
        verdict, score = labels[which], scores[which].astype(np.float64)
        weight = None if weights is None else weights[which]
    stratum = np.searchsorted(-edges, -score)
    design = ReviewDesign(edges, sizes, stratum, share, goal=("audit",))
    return Reviews(which, verdict, score, stratum, design, weight)


def check_unchanged(counts: ScoreCounts, reviews: Reviews) -> None:
    """Refuse counts of which the plan was not made, as far as strata and weights can tell."""
    design = reviews.design
    planned = float(design.n_unlabeled.sum())
    own = reviews.weight
    if own is None if counts.weighted else own is not None and bool(np.any(own != 1)):
        given, planned_so = ("with", "without") if counts.weighted else ("without", "with")
        raise InputError(
            f"the rows come {given} weights ({named('sample_weight')}) and the plan of these "
            f"reviews was made {planned_so}, so that nothing says for how much a verdict stands; "
            "give weights to both or to neither",
            argument="sample_weight",
        )
    if counts.weighted:
        return  # sums of weights are no numbers of rows
    counted = np.bincount(design.stratum_of(counts.score), counts.unlabeled, design.n_strata)
    whole = bool(np.isin(design.edges, counts.score).all())
    differ = np.abs(counted - design.n_unlabeled) > _ROUNDING * planned + 0.5
    if abs(counts.n_unlabeled - planned) > 0.5 or (whole and differ.any()):  # noqa: PLR2004 - a row
        raise InputError(
            f"the plan was made for {row_words(planned)} without a label; the data have "
            f"{counts.n_unlabeled:,.6g}, or their scores have changed. Pass the data and labels "
            f"as they were when the plan was made, and the verdicts by {named('reviews')} alone",
            argument="reviews",
        )


def review_groups(sizes: IntArray) -> IntArray:
    """Return the numbers of groups of neighbouring strata of which each has a verdict."""
    if not sizes.any():
        raise InputError("no row of the plan has a verdict yet", argument="reviews")
    filled = sizes > 0
    group = np.cumsum(filled) - 1
    return np.asarray(np.maximum(group, 0))


def review_curve(
    counts: ScoreCounts, reviews: Reviews, *, sampling: str = "single-sample"
) -> OperatingCurve:
    """Recover the curve from reviewed rows, whatever rows were labelled and why.

    Recall may fall somewhere by chance, since what a reviewed row stands for is more or less than
    its cell holds.

    Notes
    -----
    Assumes: labelled rows are what their labels say, and reviews were drawn by the design.
    Wrong when: verdicts are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, None, 1, None, None, None], [6, 5, 4, 3, 2, 1]
    >>> counts = uc.ScoreCounts.from_rows(y, score)
    >>> design = uc.ReviewDesign([3, 1], [2, 2], order=[0, 1, 0, 1], unlabeled_prevalence=0.2)
    >>> reviews = uc.Reviews([1, 3, 4, 5], [1, 0, 0, 0], [5, 3, 2, 1], [0, 0, 1, 1], design)
    >>> uc.review_curve(counts, reviews).at(4).recall  # every row was looked at
    1.0
    """
    posterior = design_posterior(counts, reviews.design)
    return curve_of(ReviewedCells(counts, reviews, posterior, sampling == "case-control"))


def curve_of(cells: ReviewedCells, positive: FloatArray | None = None) -> OperatingCurve:
    """Return the curve of the positives found (or of these) among all rows."""
    mass = cells.positive if positive is None else positive
    positives, rows = (np.append(0.0, np.cumsum(column)) for column in (mass, cells.everyone))
    if not 0 < positives[-1] < rows[-1]:
        raise InputError(
            f"{len(cells.verdict)} verdicts are too few to say how many of {row_words(rows[-1])} "
            "are positive; review more rows",
            argument="reviews",
        )
    merged = np.append(False, cells.counts.merged) if cells.counts.compact else None
    return OperatingCurve(
        threshold=np.append(np.inf, cells.counts.score),
        tpr=positives / positives[-1],
        fpr=(rows - positives) / (rows[-1] - positives[-1]),
        prevalence=float(positives[-1] / rows[-1]),
        merged=merged,
        flagged=rows / rows[-1],
    )
