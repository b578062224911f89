"""Whether labelled positives score like the positives that reviews found: an exact comparison.

Of the positives that are known at all, some carry a label and some were found by a review. Were
labels random, the odds of having been found would be the chance of a review there, times one number
that is the same for all. Given how many were found, which of them were is then a draw with known
odds, however few they are, however unequal the chances, and whatever scores positives have.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from undercount.count.kernel.rows import cell_places
from undercount.curve import FloatArray
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.verdicts import IntArray, ReviewedCells, sum_by

# What the test must know (its information on a slope of the log odds of a label, in standard
# deviations of the score) to notice a slope of 1 about four times in five, and one of a half.
INFORMED, WELL_INFORMED = 12.0, 48.0
# Positives found for which the plan's guess of the hidden ones counts.
GUESSED = 2.0
# The draw of rows takes no more than so much of the variance away.
LEAST_PART = 0.2
# Nearer to the middle than this, the normal score is read without what curves it.
MIDDLE = 0.01
# How far a sum at its very end is moved inwards, in steps from one rank to the next.
INWARDS = 0.25
_LIKELIHOOD_ROUNDS, _ODDS_HALVINGS, _CONVERGED = 100, 30, 1e-13


@dataclass(frozen=True, eq=False)
class LabelTest:
    """Compare labelled positives with those that reviews found, in score.

    The statistic is the sum of the ranks of the positives found, among all that are known. Its
    distribution given their number has the saddle point approximation of Booth and Butler (1990).
    Rows of a stratum are drawn without replacement, so that the number found varies less where
    most rows are positive: the normal score is enlarged by that.

    Attributes
    ----------
    cells : ReviewedCells
        Labels and verdicts.
    clusters : ReviewClusters, optional
        Whose each row is, if labels come in clusters: their variance is larger then.

    Notes
    -----
    Assumes: the plan drew its rows at random within strata, and scores do not depend on which
    positives carry a label.
    Wrong when: rows are scored by a model that was trained on their own labels: labelled rows then
    score higher than hidden positives, and random labels are rejected. Strata and their sizes
    follow the labels a little, so that the test is exact only nearly.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.reviews.verdicts import ReviewedCells
    >>> from undercount.infer.reviews.label_test import LabelTest
    >>> y, score = [1, 1, 1] + [None] * 7, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    >>> counts = uc.ScoreCounts.from_rows(y, score)
    >>> design = uc.ReviewDesign([1], [7], order=[0] * 3, unlabeled_prevalence=0.5)
    >>> reviews = uc.Reviews([3, 6, 9], [0, 1, 1], [7, 4, 1], [0] * 3, design)
    >>> test = LabelTest(ReviewedCells(counts, reviews, counts.unlabeled * 0 + 0.5))
    >>> test.n_found, round(test.p_value, 2)  # the two lowest of five; any two are as likely
    (2, 0.14)
    """

    cells: ReviewedCells
    clusters: ReviewClusters | None = None

    @cached_property
    def _scores(self) -> tuple[FloatArray, IntArray]:
        """Scores at which positives are known, and the place of each cell's and each verdict's."""
        reviews = self.cells.reviews
        scores = np.concatenate([self.cells.counts.score, reviews.score[reviews.answered]])
        distinct, place = np.unique(scores, return_inverse=True)
        return distinct, np.asarray(place)

    @cached_property
    def _stratum(self) -> IntArray:
        return self.cells.reviews.design.stratum_of(self._scores[0])

    @cached_property
    def chance(self) -> FloatArray:
        """Chance of a verdict for an unlabeled row of each score."""
        return self._chance_by(self.cells.reviews.sizes)

    def _chance_by(self, sizes: NDArray[Any]) -> FloatArray:
        """Return the same if so many rows of each stratum had a verdict."""
        rows = np.maximum(self.cells.reviews.design.n_unlabeled, 1)
        return np.asarray(np.minimum(sizes / rows, 1.0)[self._stratum])

    @cached_property
    def labelled_positives(self) -> FloatArray:
        """Labelled positives of each score."""
        scores, place = self._scores
        positive = self.cells.counts.cell_rows[0]
        return sum_by(place[: len(positive)], positive, len(scores))

    @cached_property
    def reviewed_positives(self) -> FloatArray:
        """Positives of each score that reviews found."""
        scores, place = self._scores
        return sum_by(place[len(self.cells.counts.score) :], self.cells.verdict, len(scores))

    @property
    def n_found(self) -> int:
        """Number of positives that reviews found."""
        return round(float(self.reviewed_positives.sum()))

    @cached_property
    def _comparable(self) -> FloatArray:
        """Known positives of each score where reviews have looked at all."""
        return np.where(self.chance > 0, self.labelled_positives + self.reviewed_positives, 0.0)

    @cached_property
    def _rank(self) -> FloatArray:
        """Rank of each score among the known positives, from 0 to 1."""
        number = self._comparable
        return np.asarray((np.cumsum(number) - number / 2) / max(float(number.sum()), 1.0))

    @cached_property
    def p_value(self) -> float:
        """Chance of labels as unlike the positives found, were they random; NaN if none tell."""
        number, reviewed = self._comparable, self.reviewed_positives
        places = np.count_nonzero(number)
        if not 0 < self.n_found < round(float(number.sum())) or places == 1:
            return float("nan")
        draw = _Draw(self.chance, number, self._rank, float(self.n_found))
        score = draw.normal_score(float(reviewed @ self._rank))
        return float(2 * ndtr(-abs(score) / self._variance_ratio(draw) ** 0.5))

    def _variance_ratio(self, draw: "_Draw") -> float:
        """Return what the variance is beside that of positives that are found independently.

        A stratum of which most rows are positive gives nearly as many positives as it has verdicts.
        What one known positive says of itself is left out: it would be counted as many there.
        """
        sizes, stratum = self.cells.reviews.sizes, self._stratum
        share, middle = draw.share, draw.centred
        adds, n_strata = draw.number * share * (1 - share) * middle, len(sizes)
        own = sum_by(stratum, draw.number * (share * (1 - share) * middle) ** 2, n_strata)
        expected = sum_by(stratum, draw.number * share, n_strata)
        part = np.minimum(1.0, sizes / np.maximum(expected, 1e-300))
        squares = np.maximum((part * sum_by(stratum, adds, n_strata)) ** 2 - own, 0.0)
        drawn = np.maximum(sizes, 1)
        left = np.maximum(1 - sizes / np.maximum(self.cells.reviews.design.n_unlabeled, 1), 0.0)
        fewer = float((squares / drawn) @ left)
        ratio = (draw.variance - fewer + self._by_cluster(draw)) / draw.variance
        return max(ratio, LEAST_PART)

    def _by_cluster(self, draw: "_Draw") -> float:
        """Return what labels that come in clusters add to the variance."""
        if self.clusters is None:
            return 0.0
        adds = draw.centred * draw.share
        cells = cell_places(self.cells.counts.score, self.clusters.labelled_score)
        effect = max(self.clusters.label_effect(adds[self._scores[1][cells]]), 1.0)
        spread = float(self.labelled_positives @ adds**2) * (1 + math.exp(draw.shift))
        return (effect - 1) * spread

    def information(self, sizes: NDArray[Any]) -> float:
        """Return what so many verdicts in each stratum tell of a slope, if labels are random.

        Labelled positives stand for all of them. The slope is that of the log odds of a label, for
        one standard deviation of their scores (of normal ranks).
        """
        labelled, odds = self.labelled_positives, self._hidden_odds * self._chance_by(sizes)
        middle = (np.cumsum(labelled) - labelled / 2) / labelled.sum()
        score = ndtri(np.clip(middle, 1e-9, 1 - 1e-9))
        weight = labelled * odds / (1 + odds)
        total = max(float(weight.sum()), 1e-300)
        return float(weight @ (score - float(weight @ score) / total) ** 2)

    @cached_property
    def _hidden_odds(self) -> float:
        """Hidden positives for each labelled one: what the plan supposed, and what was found.

        A handful of verdicts moves the guess only a little.
        """
        counts, design = self.cells.counts, self.cells.reviews.design
        guess = design.unlabeled_prevalence * counts.n_unlabeled / counts.n_positive
        expected = guess * float(self.labelled_positives @ self.chance)
        return float(guess * (self.n_found + GUESSED) / (expected + GUESSED))

    @cached_property
    def known_information(self) -> float:
        """What the verdicts so far tell of a slope; nothing if they found no positive."""
        return 0.0 if np.isnan(self.p_value) else self.information(self.cells.reviews.sizes)

    @property
    def informed(self) -> bool:
        """Whether a slope of 1 would be noticed about four times in five."""
        return self.known_information >= INFORMED

    @property
    def well_informed(self) -> bool:
        """Whether a slope of a half would be."""
        return self.known_information >= WELL_INFORMED

    @cached_property
    def further_verdicts(self) -> int | None:
        """Verdicts beyond those so far, by the plan's shares, with which it will be `informed`.

        None if no number would do, since there are too few labels.
        """
        reviews = self.cells.reviews
        planned = reviews.design.sizes()
        if self.information(reviews.design.n_unlabeled * (planned > 0)) < INFORMED:
            return None
        low, high = 0.0, 1.0
        while self.information(high * planned) < INFORMED:
            low, high = high, 2 * high
        for _ in range(_ODDS_HALVINGS):
            middle = (low + high) / 2
            enough = self.information(middle * planned) >= INFORMED
            low, high = (low, middle) if enough else (middle, high)
        rows = np.minimum(high * planned, reviews.design.n_unlabeled).sum()
        return max(int(np.ceil(float(rows))) - reviews.n_answered, 1)

    @property
    def words(self) -> str:
        """Say what there is to compare."""
        if not self.n_found:
            return "no positive found yet"
        number = f"{self.n_found:,} positive{'s' if self.n_found > 1 else ''} found"
        if np.isnan(self.p_value):
            return f"{number}, and no labelled one to compare among those scores"
        return f"{number}, p = {self.p_value:.2g}"

    @property
    def further_words(self) -> str:
        """Say how many more verdicts would show that labels strongly prefer some scores."""
        if self.further_verdicts is None:
            return "there are too few labels to show even a strong preference for some scores"
        many = (
            f"about {self.further_verdicts:,} more review{'s' if self.further_verdicts > 1 else ''}"
        )
        return f"{many} from the same plan would show a strong preference for some scores"


@dataclass(frozen=True, eq=False)
class _Draw:
    """Which of the known positives were found, given how many: independent but for their number.

    Attributes
    ----------
    odds : array
        Odds of having been found at each score, up to one factor.
    number : array
        Known positives of each score.
    rank : array
        What each of them adds to the statistic.
    drawn : float
        How many were found.
    """

    odds: FloatArray
    number: FloatArray
    rank: FloatArray
    drawn: float

    @cached_property
    def _log_odds(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.odds))

    @cached_property
    def shift(self) -> float:
        """Log of the factor with which as many are expected as were found."""
        start = np.array([np.log(self.drawn / float(self.odds @ self.number))])
        return float(self._solve(np.ones((1, len(self.odds))), np.array([self.drawn]), start)[0])

    @cached_property
    def share(self) -> FloatArray:
        """How likely a known positive of each score is one that was found."""
        return np.asarray(expit(self._log_odds + self.shift))

    @cached_property
    def _spread(self) -> FloatArray:
        return np.asarray(self.number * self.share * (1 - self.share))

    @cached_property
    def centred(self) -> FloatArray:
        """Rank less what the number of those found explains of it."""
        return np.asarray(self.rank - float(self._spread @ self.rank) / float(self._spread.sum()))

    @cached_property
    def variance(self) -> float:
        """Variance of the sum of ranks, given how many were found."""
        return float(self._spread @ self.centred**2)

    def normal_score(self, total: float) -> float:
        """Return the normal score of a sum of ranks of those found.

        By Barndorff-Nielsen's form of the tail: the signed root of the likelihood ratio, corrected.
        """
        middle = float(self.rank[0] - self.centred[0])
        value = self._inside(total) - self.drawn * middle
        expected = float((self.number * self.share) @ self.centred)
        plain = (value - expected) / math.sqrt(self.variance)
        if abs(plain) < MIDDLE:
            return plain
        columns, sums = np.stack([np.ones(len(self.rank)), self.centred]), [self.drawn, value]
        point = self._solve(columns, np.array(sums), np.array([self.shift, 0.0]))
        gain = self._depth(columns, np.array(sums), np.array([self.shift, 0.0]))
        gain -= self._depth(columns, np.array(sums), point)
        root = math.copysign(math.sqrt(max(2 * gain, MIDDLE**2 / 4)), plain)
        share = expit(self._log_odds + point @ columns)
        bend = (columns * (self.number * share * (1 - share))) @ columns.T
        slope = abs(point[1]) * math.sqrt(max(np.linalg.det(bend), 0.0) / self._spread.sum())
        return root + math.log(max(slope, 1e-300) / abs(root)) / root

    def _inside(self, total: float) -> float:
        """Keep a sum off its least and largest value, at which no saddle point is."""
        order = np.argsort(self.rank, kind="stable")
        rank, number = self.rank[order], self.number[order]
        ends = [_first_sum(rank, number, self.drawn)]
        ends.append(_first_sum(rank[::-1], number[::-1], self.drawn))
        others = float(number.sum()) - self.drawn
        step = INWARDS * (ends[1] - ends[0]) / (self.drawn * others)
        return float(np.clip(total, ends[0] + step, ends[1] - step))

    def _depth(self, columns: FloatArray, sums: FloatArray, point: FloatArray) -> float:
        """Return the log likelihood of a point, turned upside down."""
        odds = self._log_odds + point @ columns
        return float(self.number @ np.logaddexp(0.0, odds) - point @ sums)

    def _solve(self, columns: FloatArray, sums: FloatArray, point: FloatArray) -> FloatArray:
        """Find the coefficients of columns at which their sums over those found are expected."""
        depth = self._depth(columns, sums, point)
        for _ in range(_LIKELIHOOD_ROUNDS):
            share = expit(self._log_odds + point @ columns)
            slope = sums - columns @ (self.number * share)
            bend = (columns * (self.number * share * (1 - share))) @ columns.T
            step = np.linalg.lstsq(bend, slope, rcond=None)[0]
            for _ in range(_ODDS_HALVINGS):
                lower = self._depth(columns, sums, point + step)
                if lower <= depth:
                    break
                step = step / 2
            point, depth = point + step, min(lower, depth)
            if float(step @ slope) < _CONVERGED * max(self.drawn, 1.0):
                break
        return point


def _first_sum(rank: FloatArray, number: FloatArray, drawn: float) -> float:
    """Return the sum of the first ranks, so many."""
    before = np.cumsum(number) - number
    return float(np.clip(drawn - before, 0.0, number) @ rank)
