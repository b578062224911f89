"""The scale on which a score enters a regression: itself, or the logit or probit of a probability.

A score that is a probability bends in any regression but one on its own logit or probit; the
likelihood of the labels says which scale describes them best.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from undercount.curve import FloatArray

# With more rows than this at exactly 0 or 1, where to put them would decide the fit.
FEW_AT_ENDS = 0.05
MAPS: dict[str, tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]] = {
    "score": (np.asarray, np.asarray),
    "logit": (logit, expit),
    "probit": (ndtri, ndtr),
}


@dataclass(frozen=True)
class ScoreScale:
    """Hold an increasing map of the score, and where scores of exactly 0 and 1 are moved."""

    name: str = "score"
    low: float = 0.0
    high: float = 1.0

    def map(self, values: FloatArray) -> FloatArray:
        """Map scores; those at the very ends are moved inside."""
        if self.name == "score":
            return values
        return np.asarray(MAPS[self.name][0](np.clip(values, self.low, self.high)))

    def cutoff(self, threshold: float) -> float:
        """Map a threshold; one that every row reaches, or none, has an infinite cutoff."""
        if self.name == "score":
            return threshold
        if not 0 < threshold <= 1:
            return float("-inf") if threshold <= 0 else float("inf")
        return float(MAPS[self.name][0](np.array(min(threshold, self.high))))

    def unmap(self, values: FloatArray) -> FloatArray:
        """Map back."""
        return MAPS[self.name][1](values)


def possible_scales(values: FloatArray, weight: FloatArray, asked: str) -> list[ScoreScale]:
    """Return the scales that a column allows: more than its own only for probabilities.

    Parameters
    ----------
    values, weight : array
        Scores, and how many rows each stands for.
    asked : str
        "auto" for all of them, or the name of one; none is returned where the column has no such
        scale.
    """
    inside = (values > 0) & (values < 1)
    ends = float(weight[~inside].sum() / weight.sum())
    if values.min() < 0 or values.max() > 1 or ends > FEW_AT_ENDS:
        return [ScoreScale()] if asked in ("auto", "score") else []
    # Half a row: as near to the end as so many rows can tell.
    half = 0.5 / float(weight.sum())
    low, high = min(half, float(values[inside].min())), max(1 - half, float(values[inside].max()))
    every = [ScoreScale(), ScoreScale("logit", low, high), ScoreScale("probit", low, high)]
    return [scale for scale in every if asked in ("auto", scale.name)]
