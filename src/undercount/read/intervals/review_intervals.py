"""Metrics of reviewed rows with their intervals: gradients meet the strata of the review."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from undercount.assume.mixture import Target
from undercount.assume.reviews import CrossedCells, IntArray, ReviewedCells
from undercount.curve import FloatArray
from undercount.estimate import Estimate, check_confidence_level, delta_interval
from undercount.metric_facts import FACTS, Scale
from undercount.read.intervals.mass_gradients import MassGradient, mass_gradient
from undercount.read.intervals.review_clusters import ReviewClusters

# Verdicts that the recalibrated posterior counts for where a stratum's variance is estimated: as
# many as hold half a positive (or a negative), in these limits. Strata without a positive would
# have no variance otherwise, and where positives are rare, two verdicts would leave a sixth of it.
PRIOR_POSITIVES, LEAST_WEIGHT, MOST_WEIGHT = 0.5, 2.0, 6.0
METHOD = "strata of reviews"


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
        stratum, unlabeled = cells.stratum, cells.unlabeled
        guess = cells.recalibrated
        prior = _means(stratum, unlabeled, guess, len(cells.unlabeled_rows))
        found = np.bincount(cells.stratum[cells.place], cells.verdict, len(prior))
        prior = np.clip(prior, 1e-9, 1 - 1e-9)  # a stratum may have no unlabeled row left
        weight = PRIOR_POSITIVES / np.minimum(prior, 1 - prior)
        weight = np.clip(weight, LEAST_WEIGHT, MOST_WEIGHT)
        share = (found + weight * prior) / (cells.reviewed_rows + weight)
        tilt = (np.log(share / (1 - share)) - np.log(prior / (1 - prior)))[stratum]
        odds = guess / (1 - guess) * np.exp(tilt)
        return cls(stratum, unlabeled, cells.posterior, odds / (1 + odds), weight)

    def variance(self, moves: FloatArray, n_strata: int) -> FloatArray:
        """Return, for each stratum, the variance of what one row's verdict adds.

        A row adds its verdict less the posterior, times what a positive in its cell moves.
        """
        spread = _means(
            self.stratum,
            self.unlabeled,
            moves**2 * self.share * (1 - self.share),
            n_strata,
        )
        excess = moves * (self.share - self.posterior)
        middle = _means(self.stratum, self.unlabeled, excess, n_strata)
        squares = _means(self.stratum, self.unlabeled, excess**2, n_strata)
        return np.asarray(spread + np.maximum(squares - middle**2, 0.0))


def _means(stratum: IntArray, weight: FloatArray, value: FloatArray, n: int) -> FloatArray:
    """Return the mean of a value over the rows of each stratum."""
    rows = np.bincount(stratum, weight, n)
    sums = np.bincount(stratum, weight * value, n)
    return np.divide(sums, rows, out=np.zeros(n), where=rows > 0)


@dataclass(frozen=True, eq=False)
class ReviewedMetrics:
    """Metrics of one model on reviewed rows, nothing being assumed of the labels."""

    cells: ReviewedCells
    target: Target = "dataset"
    confidence_level: float = 0.95
    sequential: bool = False
    clusters: ReviewClusters | None = None

    def __post_init__(self) -> None:
        check_confidence_level(self.confidence_level)

    @cached_property
    def shares(self) -> StratumShares:
        """What strata showed, for variances."""
        return StratumShares.of(self.cells)

    def gradient(self, name: str, threshold: float | None = None, **options: Any) -> MassGradient:
        """Return a metric with its gradient by masses.

        In average precision a verdict that stands for many rows would count itself as ranked above
        each of them, which flatters. It is read where what verdicts add is spread over their
        strata, and moved from there by the gradient to where the verdicts are.
        """
        cells = self.cells
        moved = cells.hidden - cells.spread_hidden if name == "average_precision" else None
        positive = cells.positive if moved is None else cells.positive - moved
        found = mass_gradient(
            cells.counts, positive, cells.everyone, name, threshold=threshold, **options
        )
        if moved is None:
            return found
        return replace(found, value=found.value + float(found.turned @ moved))

    def variance(self, gradient: MassGradient) -> tuple[float, float]:
        """Return the variance of an estimate, and its degrees of freedom."""
        cells = self.cells
        total, freedom = self.drawn_variance(cells.moves(gradient.turned))
        if self.target == "population":
            positive = np.clip(cells.positive, 0.0, cells.everyone)
            total += float(positive @ gradient.positive**2)
            total += float((cells.everyone - positive) @ gradient.negative**2)
            if self.clusters is not None:
                parts = self._row_parts(self.clusters, gradient)
                return self.clusters.widened(total, freedom, *parts)
        return total, freedom

    def _row_parts(
        self, clusters: ReviewClusters, gradient: MassGradient
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each row adds to a metric as expected, and each verdict beyond that."""
        cells, place = self.cells, clusters.row_cells(self.cells.counts)
        share = np.where(clusters.labels == 1, 1.0, 0.0)
        unlabeled = clusters.labels == -1
        known = self.shares.share
        share[unlabeled] = known if isinstance(cells, CrossedCells) else known[place[unlabeled]]
        adds = share * gradient.positive[place] + (1 - share) * gradient.negative[place]
        if cells.apart:  # labelled rows are no part of the target
            adds = np.where(unlabeled, adds, 0.0)
        at = clusters.reviewed
        excess = (cells.verdict - share[at]) * cells.weight * cells.stands_for
        return adds, excess * gradient.turned[place[at]]

    def drawn_variance(self, moves: FloatArray) -> tuple[float, float]:
        """Return the variance that the draw of reviews causes, and its degrees of freedom.

        `moves` is how much the estimate moves if a row of each unit turns out to be positive.
        """
        cells = self.cells
        rows, drawn = cells.unlabeled_rows, cells.reviewed_rows
        one = self.shares.variance(moves, len(rows))
        known = drawn + self.shares.prior_weight
        # p(1-p) at an estimated p is too small on average by the part of p's own variance.
        one = one * known**2 / (known**2 - drawn)
        each = rows * np.maximum(rows - drawn, 0.0) * one * cells.squared_weight / drawn
        total = float(each.sum())
        freedom = total**2 / max(float((each**2 / known).sum()), 1e-300) if total > 0 else np.inf
        return total, freedom

    def estimate(self, name: str, threshold: float | None = None, **options: Any) -> Estimate:
        """Estimate a metric with its interval."""
        gradient = self.gradient(name, threshold, **options)
        variance, freedom = self.variance(gradient)
        widened = stretch(self.cells, self.confidence_level) if self.sequential else 1.0
        return make_estimate(
            name, gradient.value, variance * widened, freedom, self.confidence_level
        )


def stretch(cells: ReviewedCells, confidence_level: float) -> float:
    """Return by what a variance is multiplied so that intervals hold at every look at once.

    The normal mixture boundary (Robbins 1970; asymptotically for means of other kinds, Waudby-Smith
    et al. 2024): √((1 + 1/(n r)) log((n r + 1)/α²)) errors in place of the normal quantile, at all
    numbers n of verdicts together. It is narrowest at the number that was planned.

    Notes
    -----
    Assumes: verdicts come in the order of the plan, and there are enough for the estimate to be
    nearly normal at the first look.
    Wrong when: the first look is after a handful of verdicts.
    """
    risk = 1 - confidence_level
    planned, seen = len(cells.reviews.design.order), len(cells.verdict)
    # Narrowest where n r = -W(-α²/e) - 1 ≈ 2 log(1/α) + log(1 + 2 log(1/α)).
    best = 2 * math.log(1 / risk) + math.log(1 + 2 * math.log(1 / risk))
    ratio = best * seen / max(planned, 1)
    boundary = (1 + 1 / ratio) * math.log((ratio + 1) / risk**2)
    return float(max(boundary / ndtri(1 - risk / 2) ** 2, 1.0))


def make_estimate(
    name: str,
    value: float,
    variance: float,
    freedom: float,
    confidence_level: float,
    needs: tuple[str, ...] = ("reviews",),
) -> Estimate:
    """Make the interval on the metric's scale, with Student's quantile.

    The first few verdicts may put a value where none can be: then they say nothing yet, and the
    interval holds every value.
    """
    least, most = FACTS[name].range if name in FACTS else (0.0, 1.0)
    if math.isnan(value) or not least <= value <= most:
        inside = min(max(value, least), most)
        return Estimate(inside, least, most, math.nan, confidence_level, needs, METHOD)
    scale: Scale = "logit" if name == "prevalence" else FACTS[name].scale
    if name == "average_precision":
        scale = "logit"
    error = variance**0.5
    quantile = float(stdtrit(freedom, (1 + confidence_level) / 2))
    low, high = (float(end) for end in delta_interval(value, error, scale, quantile))
    return Estimate(
        value,
        min(low, value),
        max(high, value),
        error,
        confidence_level,
        needs,
        METHOD,
    )
