"""Rows of the three kinds: means and variances of a function of a row."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from undercount.rates import FloatArray


class Rows(Protocol):
    """Give mean and variance of a function of a row under a mixture of the three kinds."""

    @property
    def centred(self) -> bool:
        """Whether variances are taken around means of the same rows, hence too small by 1/n."""

    def moments(self, value: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance; `weights` has one entry a kind."""

    def means(self, value: Any) -> FloatArray:
        """Return the mean among the rows of each kind."""


@dataclass(frozen=True)
class CellRows:
    """Rows in cells: a function has one value a cell."""

    masses: FloatArray  # shape (3, cells), each kind sums to 1 (or 0 if there is none)
    centred: bool = True

    def moments(self, value: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance."""
        mass = np.asarray(weights) @ self.masses
        mean = mass @ value
        return mean, np.maximum(mass @ (value * value) - mean * mean, 0.0)

    def means(self, value: Any) -> FloatArray:
        """Return the mean among the rows of each kind."""
        if np.ndim(value) == 0:
            return np.asarray(value * self.masses.sum(axis=1))
        return np.asarray(self.masses @ value)


@dataclass(frozen=True)
class HeadRows:
    """Rows predicted positive or not: a function is its value for the former, 0 for the others."""

    rates: FloatArray  # shape (3, ...): share predicted positive in each kind
    centred: bool = False  # the rates are smoothed, which does more than 1/n

    def moments(self, value: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance."""
        weights = np.asarray(weights)
        weights = weights.reshape(weights.shape + (1,) * (self.rates.ndim - weights.ndim))
        rate = np.clip((weights * self.rates).sum(axis=0), 0.0, 1.0)
        return value * rate, value * value * rate * (1 - rate)

    def means(self, value: Any) -> FloatArray:
        """Return the mean among the rows of each kind."""
        return np.asarray(value * np.clip(self.rates, 0.0, 1.0))
