"""From scores to probabilities, and to the threshold that matches a prevalence."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from undercount.counts import BoolArray
from undercount.curve import FloatArray

MOST_CALIBRATION_CELLS = 2048
# Separable scores would want an infinite slope; a wide normal prior keeps it finite.
PRIOR_SPREAD = 10.0
LEAST_SLOPE = 1e-3
LEAST_CALIBRATED_CHANCE = 1e-12


@dataclass(frozen=True)
class Calibration:
    """Probability = logistic(slope · score + offset)."""

    slope: float
    offset: float

    def probability(self, score: FloatArray) -> FloatArray:
        """Return the probability of each score."""
        return np.asarray(expit(self.slope * score + self.offset), float)

    @property
    def middle(self) -> float:
        """Score at which the probability is one half."""
        return -self.offset / self.slope


def fit_calibration(
    labelled: BoolArray, score: FloatArray, weight: FloatArray, *, factor: float, saturation: float
) -> Calibration:
    """Fit a logistic curve p(score) of the hidden label by the likelihood of the seen one.

    A row is labelled with chance factor · p / (1 + saturation · p): label frequency and 0 in one
    sample (Elkan and Noto 2008), n_L/(a n_U) twice in case-control samples, 1 and 0 if the labels
    are taken as they are (Platt 2000).
    """
    centre, spread = float(np.mean(score)), float(np.std(score)) or 1.0
    place, upper, lower = _group_rows((score - centre) / spread, labelled, weight)

    def cost(parameters: FloatArray) -> float:
        slope, offset = parameters
        chance = np.clip(
            expit(slope * place + offset), LEAST_CALIBRATED_CHANCE, 1 - LEAST_CALIBRATED_CHANCE
        )
        seen = factor * chance / (1 + saturation * chance)
        fit = upper @ np.log(seen) + lower @ np.log1p(
            -np.minimum(seen, 1 - LEAST_CALIBRATED_CHANCE)
        )
        return float(-fit + (slope**2 + offset**2) / (2 * PRIOR_SPREAD**2))

    optimum = minimize(
        cost, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(LEAST_SLOPE, None), (None, None)]
    )
    slope, offset = optimum.x
    return Calibration(float(slope / spread), float(offset - slope * centre / spread))


def _group_rows(
    score: FloatArray, labelled: BoolArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean score, labelled weight and other weight of neighbouring rows put together."""
    order = np.argsort(score)
    starts = np.unique(
        np.linspace(0, score.size, min(MOST_CALIBRATION_CELLS, score.size) + 1).astype(int)[:-1]
    )
    sums = [
        np.add.reduceat(values[order], starts)
        for values in (score, np.ones(score.size), weight * labelled, weight * ~labelled)
    ]
    return sums[0] / sums[1], sums[2], sums[3]


def matching_threshold(score: FloatArray, weight: FloatArray, share: float) -> float:
    """Return the threshold above which lies the given share of the weight, or nearly.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn.calibration import matching_threshold
    >>> matching_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 0.25)
    3.5
    """
    order = np.argsort(-score)
    heads = np.cumsum(weight[order])
    descending = score[order]
    n_above = min(int(np.argmin(np.abs(heads - share * heads[-1]))) + 1, score.size - 1)
    return float((descending[n_above - 1] + descending[n_above]) / 2)
