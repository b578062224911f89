"""Metrics of reviewed rows with their intervals: gradients meet the strata of the review."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from undercount.assume.mixture import Target
from undercount.assume.reviews import IntArray, ReviewedCells
from undercount.curve import FloatArray
from undercount.estimate import Estimate, check_confidence_level, delta_interval
from undercount.metric_facts import FACTS, Scale
from undercount.read.intervals.mass_gradients import MassGradient, mass_gradient

# Verdicts that the working posterior counts for where a stratum's variance is estimated: strata
# without a positive (or a negative) would have none otherwise.
PRIOR_WEIGHT = 2.0


@dataclass(frozen=True, eq=False)
class StratumShares:
    """Say how likely the unlabeled rows of each cell are positive, after what strata showed.

    Only for variances. The share of a stratum is that of its verdicts and one more that the working
    posterior gives, and within the stratum it moves like the posterior, on the scale of log odds.
    """

    stratum: IntArray  # of each cell
    unlabeled: FloatArray  # in each cell
    posterior: FloatArray  # of each cell, what verdicts are compared with
    share: FloatArray  # of each cell

    @classmethod
    def of(cls, cells: ReviewedCells) -> "StratumShares":
        """Read the verdicts."""
        stratum, unlabeled = cells.stratum, cells.counts.unlabeled
        guess = cells.recalibrated
        prior = _means(stratum, unlabeled, guess, len(cells.unlabeled_rows))
        found = np.bincount(cells.stratum[cells.place], cells.verdict, len(prior))
        share = (found + PRIOR_WEIGHT * prior) / (cells.reviewed_rows + PRIOR_WEIGHT)
        tilt = (np.log(share / (1 - share)) - np.log(prior / (1 - prior)))[stratum]
        odds = guess / (1 - guess) * np.exp(tilt)
        return cls(stratum, unlabeled, cells.posterior, odds / (1 + odds))

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

    def __post_init__(self) -> None:
        check_confidence_level(self.confidence_level)

    @cached_property
    def shares(self) -> StratumShares:
        """What strata showed, for variances."""
        return StratumShares.of(self.cells)

    def gradient(self, name: str, threshold: float | None = None, **options: Any) -> MassGradient:
        """Return a metric with its gradient by masses."""
        cells = self.cells
        return mass_gradient(
            cells.counts, cells.positive, cells.everyone, name, threshold=threshold, **options
        )

    def variance(self, gradient: MassGradient) -> tuple[float, float]:
        """Return the variance of an estimate, and its degrees of freedom."""
        cells = self.cells
        rows, drawn = cells.unlabeled_rows, cells.reviewed_rows
        one = self.shares.variance(gradient.turned, len(rows))
        each = rows * np.maximum(rows - drawn, 0.0) * one / drawn
        total = float(each.sum())
        freedom = total**2 / max(float((each**2 / drawn).sum()), 1e-300) if total > 0 else np.inf
        if self.target == "population":
            positive = np.clip(cells.positive, 0.0, cells.everyone)
            total += float(positive @ gradient.positive**2)
            total += float((cells.everyone - positive) @ gradient.negative**2)
        return total, freedom

    def estimate(self, name: str, threshold: float | None = None, **options: Any) -> Estimate:
        """Estimate a metric with its interval."""
        gradient = self.gradient(name, threshold, **options)
        variance, freedom = self.variance(gradient)
        return make_estimate(name, gradient.value, variance, freedom, self.confidence_level)


def make_estimate(
    name: str, value: float, variance: float, freedom: float, confidence_level: float
) -> Estimate:
    """Make the interval on the metric's scale, with Student's quantile."""
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
        ("reviews drawn by the plan",),
        "strata of reviews",
    )
