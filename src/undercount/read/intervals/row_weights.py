"""Weights of single rows, from what counts keep: sums in cells, and one sum of squares."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from undercount.curve import FloatArray

# Relative rounding of sums of squares.
_ROUNDING = 1e-9


def row_weights(cells: FloatArray, squares: float) -> FloatArray:
    """Return the weight of a row in each cell, such that squared weights of all rows add up.

    Parameters
    ----------
    cells : array
        Sums of the weights of the rows in each cell.
    squares : float
        Sum of the squared weights of all rows.

    Returns
    -------
    array
        The whole cell up to a common largest weight, so that the sum of cell times weight is
        `squares`. Exact if no two rows share a cell, whatever their weights, and if all weights
        are equal, however many rows share one.

    Notes
    -----
    Assumes: rows that share a cell with others weigh about the same everywhere.
    Wrong when: most cells hold several rows and weights go with the score; then a row's weight is
    about Kish's mean, squares over sum, in all of them.
    """
    total = float(cells.sum())
    filled = cells[cells > 0]
    if total <= 0 or squares >= float(filled @ filled) * (1 - _ROUNDING):
        return cells
    if squares <= total * float(filled.min()) * (1 + _ROUNDING):
        return np.where(cells > 0, squares / total, 0.0)
    rising = np.sort(filled)
    within = np.cumsum(rising * rising)  # squares if all up to here are single rows
    above = total - np.cumsum(rising)
    place = int(np.searchsorted(within + rising * above, squares))
    return np.asarray(np.minimum(cells, (squares - within[place - 1]) / above[place - 1]))


@dataclass(frozen=True)
class RowWeights:
    """Say how much heavier than Kish's mean single rows are, and what that does to a mean of them.

    Kish's effective size supposes that weights have nothing to do with what is averaged. Squares of
    the rows' own weights need no such thing, but a few heavy rows make them so uncertain that
    intervals miss (a ROC AUC with 90 labels and log-normal weights: .89 instead of .95). So
    relative weights are drawn towards 1 the more, the less the rows show that weights go with the
    score.

    Parameters
    ----------
    mass : array
        Share of the weight of all rows in each cell.
    relative : array
        Weight of a row in each cell over Kish's mean, drawn towards 1.
    effective : float
        Kish's effective number of rows.
    """

    mass: FloatArray
    relative: FloatArray
    effective: float

    @classmethod
    def of(cls, mass: FloatArray, total: float, unit: float) -> "RowWeights | None":
        """Return the weights of rows of this total and Kish's mean; None if all are equal."""
        if total <= 0 or unit <= total * float(mass.min(where=mass > 0, initial=1.0)):
            return None  # no row of Kish's mean weight is too heavy for its cell
        own = row_weights(mass * total, total * unit)
        mean = float(mass @ own)
        if np.all(np.abs(own[mass > 0] - mean) <= _ROUNDING * mean):
            return None
        return cls(mass, 1 + score_link(own[mass > 0]) * (own / mean - 1), total / mean)

    def mean(self, value: Any, power: int) -> float:
        """Return the mean of a value times this power of the relative weight."""
        return float(self.mass @ (self.relative**power * value))

    def around(self, value: Any) -> FloatArray:
        """Return how far a value lies from its mean."""
        return np.asarray(value - self.mass @ value)

    def inflation(self, value: Any) -> float:
        """Return the variance of a mean over the variance it has at Kish's effective size.

        Σ h² (v - mean)² / (1 - 2h + Σh²) with shares h = w/Σw: each row's square is divided by
        what is left of it on average after its own mean has been taken off, so that the variance
        is right on average if weights have nothing to do with the value, however unequal.
        """
        squares = self.around(value) ** 2
        plain = self.mean(squares, 0)
        left = 1 - (2 * self.relative - 1) / self.effective
        if plain <= 0 or self.effective <= 1:
            return 1.0
        return self.mean(squares / left, 1) * (1 - 1 / self.effective) / plain


def score_link(own: FloatArray) -> float:
    """Return how surely weights of rows by falling score go with it: 0 not at all, 1 beyond doubt.

    One less the mean square of log weights within √n blocks of neighbouring scores over that
    between the blocks; chance alone makes the two alike.
    """
    logs = np.log(own)
    if np.ptp(logs) <= _ROUNDING:
        return 0.0
    n_blocks = max(round(len(own) ** 0.5), 2)
    if len(own) <= n_blocks:
        return 1.0
    block = np.arange(len(own)) * n_blocks // len(own)
    number = np.bincount(block)
    means = np.bincount(block, logs) / number
    between = float(number @ (means - logs.mean()) ** 2) / (n_blocks - 1)
    within = float(((logs - means[block]) ** 2).sum()) / (len(own) - n_blocks)
    return max(1 - within / between, 0.0) if between > 0 else 0.0
