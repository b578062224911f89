"""How likely unlabeled rows are positive after what each stratum of a review showed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr

from undercount.curve import FloatArray
from undercount.infer.reviews.verdicts import (
    MOST_SURE,
    SHIFT,
    SLOPE,
    IntArray,
    ReviewedCells,
    normal_rank,
    sum_by,
)

# Verdicts that the recalibrated posterior counts for where a stratum's variance is estimated: as
# many as hold half a positive (or a negative), in these limits. Strata without a positive would
# have no variance otherwise, and where positives are rare, two verdicts would leave a sixth of it.
PRIOR_POSITIVES, LEAST_WEIGHT, MOST_WEIGHT = 0.5, 2.0, 6.0
# Half a positive is left open in a stratum that showed none, as far as it has so large a part of
# all verdicts (beyond those that the posterior counts for) that no neighbours tell of it.
LONELY = (0.1, 0.2)
# Expected coefficients of the labels' log odds and the rank of the score, and their spreads.
RANK_COEFFICIENTS = np.array([0.0, 1.0, 0.0]), np.array([SHIFT, SLOPE, 1.0])
LEAST_STRATUM_SHARE = 1e-9
# A variance is nothing beside the mean square of which it is so small a part.
VARIANCE_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class StratumShares:
    """Say how likely the unlabeled rows of each cell are positive, after what strata showed.

    Only for variances. The share of a stratum is that of its verdicts and some more that the
    recalibrated posterior gives, and within the stratum it moves like the posterior, on the scale
    of log odds.
    """

    stratum: IntArray  # of each unit, a cell or a row
    unlabeled: FloatArray  # rows in each unit
    posterior: FloatArray  # of each unit, what verdicts are compared with
    share: FloatArray  # of each unit
    prior_weight: FloatArray  # verdicts that the posterior counts for, in each stratum

    @classmethod
    def of(cls, cells: ReviewedCells) -> "StratumShares":
        """Read the verdicts."""
        # Verdicts on most scores cannot tell that the highest hold no negative of their own kind.
        guess = np.minimum(cells.recalibrated, MOST_SURE)
        prior, weight = _priors(cells, guess)
        positives = sum_by(cells.verdict_stratum, cells.verdict, len(cells.unlabeled_rows))
        share = (positives + weight * prior) / (cells.reviewed_rows + weight)
        share = _left_open(share, positives, cells.reviewed_rows)
        chance = _tilted(guess, prior, share, cells.stratum)
        return cls(cells.stratum, cells.unlabeled, cells.posterior, chance, weight)

    @property
    def spread(self) -> FloatArray:
        """Variance of one verdict on a row of each unit."""
        return self.share * (1 - self.share)

    def correction(self, drawn: FloatArray) -> FloatArray:
        """Return what variances of strata are multiplied with, given how many verdicts there are.

        p(1-p) at an estimated p is too small on average by the part of p's own variance.
        """
        counted = drawn + self.prior_weight
        return np.asarray(counted**2 / (counted**2 - drawn))

    def variance(self, moves: FloatArray, n_strata: int) -> FloatArray:
        """Return, for each stratum, the variance of what one row's verdict adds.

        A row adds its verdict less the posterior, times what a positive in its cell moves.
        """
        spread = _means(self.stratum, self.unlabeled, moves**2 * self.spread, n_strata)
        return np.asarray(spread + self._mismatch(moves, self.share, n_strata))

    def flat_mismatch(self, moves: FloatArray, n_strata: int) -> FloatArray:
        """Return the part of it that a posterior adds which moves where the rows do not.

        Rows of a stratum are taken to be alike: where no positive was seen, none need be where the
        posterior is high.
        """
        share = _means(self.stratum, self.unlabeled, self.share, n_strata)[..., self.stratum]
        return self._mismatch(moves, share, n_strata)

    def _mismatch(self, moves: FloatArray, share: FloatArray, n_strata: int) -> FloatArray:
        excess = moves * (share - self.posterior)
        middle = _means(self.stratum, self.unlabeled, excess, n_strata)
        squares = _means(self.stratum, self.unlabeled, excess**2, n_strata)
        variance = squares - middle**2
        # Where all rows of a stratum are alike nothing is open, not what rounding leaves.
        return np.asarray(np.where(variance > VARIANCE_ROUNDING * squares, variance, 0.0))


def likely_chances(cells: ReviewedCells, scores: Sequence[float]) -> Iterator[FloatArray]:
    """Return how likely rows of each unit are positive where all strata hold more, or fewer.

    Each stratum's share has the beta distribution that its verdicts leave open, and `scores` are
    the normal scores of its quantiles. What is drawn towards follows the rank of the score beside
    the labels: where labels prefer the highest scores alone, their own posterior is as low just
    below these as anywhere, and half of all low scores were taken for positive.
    """
    log_odds = np.log(cells.posterior) - np.log1p(-cells.posterior)
    columns = np.stack([np.ones(len(log_odds)), log_odds, normal_rank(cells.counts)], axis=1)
    guess = np.minimum(cells.fit_verdicts(columns, *RANK_COEFFICIENTS), MOST_SURE)
    prior, weight = _priors(cells, guess)
    positives = sum_by(cells.verdict_stratum, cells.verdict, len(cells.unlabeled_rows))
    yes, no = positives + weight * prior, cells.reviewed_rows - positives + weight * (1 - prior)
    for score in scores:
        share = np.asarray(betaincinv(yes, no, ndtr(score)), dtype=np.float64)
        share = np.clip(share, LEAST_STRATUM_SHARE, 1 - LEAST_STRATUM_SHARE)
        chance = _tilted(guess, prior, share, cells.stratum)
        yield np.clip(chance, LEAST_STRATUM_SHARE, 1 - LEAST_STRATUM_SHARE)


def _priors(cells: ReviewedCells, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of a guess in each stratum, and the verdicts that it counts for."""
    prior = _means(cells.stratum, cells.unlabeled, guess, len(cells.unlabeled_rows))
    prior = np.clip(
        prior, LEAST_STRATUM_SHARE, 1 - LEAST_STRATUM_SHARE
    )  # a stratum may have no unlabeled row left
    weight = PRIOR_POSITIVES / np.minimum(prior, 1 - prior)
    return prior, np.clip(weight, LEAST_WEIGHT, MOST_WEIGHT)


def _left_open(share: FloatArray, found: FloatArray, drawn: FloatArray) -> FloatArray:
    """Keep shares of strata with one kind of verdicts as far from 0 and 1 as these leave open.

    Where scores make many small strata, a stratum that showed no positive is told by its
    neighbours, through the posterior that all of them recalibrate. A large tie is one stratum with
    many verdicts: beside these a wrong posterior counts for next to nothing, and so did what the
    tie may hide, though none of 100 verdicts leaves 3 % open.
    """
    alone = np.maximum(drawn - MOST_WEIGHT, 0.0) / drawn.sum()
    half = PRIOR_POSITIVES / (drawn + 2 * PRIOR_POSITIVES) * np.interp(alone, LONELY, (0.0, 1.0))
    share = np.where(found <= 0, np.maximum(share, half), share)
    return np.asarray(np.where(found >= drawn, np.minimum(share, 1 - half), share))


def _tilted(
    guess: FloatArray, prior: FloatArray, share: FloatArray, stratum: IntArray
) -> FloatArray:
    """Move the log odds of a guess in each stratum by as much as its share differs."""
    tilt = (np.log(share / (1 - share)) - np.log(prior / (1 - prior)))[..., stratum]
    odds = guess / (1 - guess) * np.exp(tilt)
    return np.asarray(odds / (1 + odds))


def _means(stratum: IntArray, weight: FloatArray, value: FloatArray, n: int) -> FloatArray:
    """Return the mean of a value over the rows of each stratum."""
    rows = np.bincount(stratum, weight, n)
    sums = sum_by(stratum, weight * value, n)
    return np.divide(sums, rows, out=np.zeros(sums.shape), where=rows > 0)
