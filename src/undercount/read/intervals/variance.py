"""Rows of the three kinds: means and variances of a function of a row."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from undercount.curve import FloatArray
from undercount.read.intervals.design import LABELLED, NEGATIVE, UNLABELED, Design, Mixing
from undercount.read.intervals.row_weights import RowWeights


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


KINDS = (LABELLED, UNLABELED, NEGATIVE)
__all__ = ["CellRows", "HeadRows", "Influence", "Rows", "Spread", "unlabelled_share"]


@dataclass(frozen=True)
class Influence:
    """Hold an estimate and its derivatives by the distributions and the number it is made of.

    Parameters
    ----------
    value : number
        The estimate.
    positive, negative, everyone : functions of a row
        Its derivatives towards one more positive, one more negative, one more row of any class;
        one value a cell, or the value for rows predicted positive.
    prevalence : number
        Its derivative by the prevalence, the three distributions held fast.
    """

    value: Any
    positive: Any
    negative: Any = 0.0
    everyone: Any = 0.0
    prevalence: Any = 0.0


@dataclass(frozen=True)
class Spread:
    """Say how an estimate varies: by chance, and with the shares it was made with.

    Slopes are worked out when they are asked for; most designs need few of them.
    """

    design: Design
    rows: Rows
    influence: Influence

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the distance between estimate and target."""
        return _variance(self)

    @cached_property
    def share_slope(self) -> FloatArray:
        """Derivative by the share of positives among the unlabeled rows."""
        return np.asarray(self.along(self.design.share_slope()))

    @cached_property
    def purity_slope(self) -> FloatArray:
        """Derivative by the purity of the labels, the given share held fast."""
        return np.asarray(self.along(self.design.purity_slope()))

    @cached_property
    def size_slopes(self) -> list[Any]:
        """Derivatives by the three sizes while the distributions stay."""
        return [self.along(change) for change in self.design.size_slopes()]

    @cached_property
    def phi(self) -> list[Any]:
        """What a labelled, an unlabeled and a known negative row adds to the estimate."""
        mixing, influence = self.design.mixing(), self.influence
        return [
            mixing.positive[kind] * influence.positive
            + mixing.negative[kind] * influence.negative
            + mixing.everyone[kind] * influence.everyone
            for kind in KINDS
        ]

    def from_shares(self, errors: tuple[float, float]) -> float:
        """Return the variance that standard errors of share and purity add."""
        added = 0.0
        if errors[0] > 0:
            added += (float(self.share_slope) * errors[0]) ** 2
        if errors[1] > 0:
            added += (float(self.purity_slope) * errors[1]) ** 2
        return added

    @cached_property
    def weights(self) -> RowWeights | None:
        """Weights of the labelled rows; None if all are equal or rows are not in cells."""
        if not isinstance(self.rows, CellRows):
            return None
        total, unit = self.design.sizes[LABELLED], self.design.units[LABELLED]
        return RowWeights.of(self.rows.masses[LABELLED], float(total), float(unit))

    def inflation(self, value: Any) -> float:
        """Return the variance of a mean over labelled rows over that at Kish's effective size."""
        return 1.0 if self.weights is None else self.weights.inflation(value)

    def lean(self, value: Any) -> float:
        """Return how far heavy labelled rows lie from the mean, each counted as it weighs."""
        return 0.0 if self.weights is None else self.weights.mean(self.weights.around(value), 1)

    @cached_property
    def moved(self) -> Any:
        """What moving a label to a row adds: a labelled row more is an unlabeled row less."""
        labelled, unlabeled = self.design.sizes[LABELLED], self.design.sizes[UNLABELED]
        return self.phi[LABELLED] - (labelled / unlabeled) * self.phi[UNLABELED]

    @cached_property
    def number_slope(self) -> Any:
        """What one label more adds on average, if each positive was labelled by itself."""
        rows, labelled, unlabeled = self.rows, *self.design.sizes[:NEGATIVE]
        mean = (
            rows.moments(self.moved, _unit(LABELLED))[0]
            - rows.moments(self.phi[LABELLED], _unit(LABELLED))[0]
            + (labelled / unlabeled) * rows.moments(self.phi[UNLABELED], _unit(UNLABELED))[0]
        )
        return mean / labelled + self.size_slopes[LABELLED] - self.size_slopes[UNLABELED]

    @cached_property
    def _means(self) -> list[FloatArray]:
        parts = (self.influence.positive, self.influence.negative, self.influence.everyone)
        return [self.rows.means(part) for part in parts]

    def along(self, change: Mixing) -> Any:
        """Return how fast the estimate moves when the weights do."""
        moved = sum(
            change.positive[kind] * self._means[0][kind]
            + change.negative[kind] * self._means[1][kind]
            + change.everyone[kind] * self._means[2][kind]
            for kind in KINDS
        )
        return moved + change.prevalence * self.influence.prevalence


def _variance(moves: Spread) -> FloatArray:
    """Return the variance for the design."""
    if moves.design.target == "population":
        return _population(moves)
    if moves.design.sampling == "case-control":
        return _unlabeled_rows(moves)
    return _labelling(moves)


def _mean_variance(moves: Spread, value: Any, kind: int) -> Any:
    """Return the variance of a mean over the rows of one kind; 0 if there are none."""
    size = moves.design.effective[kind]
    least = 1.0 if moves.rows.centred else 0.0
    spread_of_rows = moves.rows.moments(value, _unit(kind))[1]
    if kind == LABELLED:
        spread_of_rows = spread_of_rows * moves.inflation(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = spread_of_rows / (size - least)
    # A single row says nothing about its spread.
    return np.where(size > least, found, np.where(size > 0, np.nan, 0.0))


def _unit(kind: int) -> FloatArray:
    return np.asarray(np.eye(3)[kind])


def _population(moves: Spread) -> FloatArray:
    design, rows, phi = moves.design, moves.rows, moves.phi
    sizes, effective = design.sizes, design.effective
    total: Any = sum(_mean_variance(moves, phi[kind], kind) for kind in KINDS)
    if design.sampling == "case-control":
        return np.asarray(total)
    n = sizes.sum(axis=0)
    if design.given == "positives":
        # The class composition of the unlabeled rows is known, so it adds nothing by chance;
        # that of the whole sample differs from the population's.
        mixing = design.mixing()
        share = mixing.unlabeled_prevalence
        gap = (
            rows.moments(phi[UNLABELED], mixing.positive)[0]
            - rows.moments(phi[UNLABELED], mixing.negative)[0]
        )
        total = total - share * (1 - share) * gap**2 / effective[UNLABELED]
        pi = mixing.prevalence
        inflation = (sizes * design.units).sum(axis=0) / n
        composition = moves.influence.prevalence**2 * pi * (1 - pi) * inflation / n
        return np.asarray(np.maximum(total + composition, 0.0))
    # Sizes of the groups are multinomial.
    size_slope = moves.size_slopes
    squares = sum(sizes[k] * design.units[k] * size_slope[k] ** 2 for k in KINDS)
    mean = sum(sizes[k] * size_slope[k] for k in KINDS)
    inflation = (sizes * design.units).sum(axis=0) / n
    # A heavy labelled row moves both the distribution and the size of its kind.
    both = 2 * design.units[LABELLED] * size_slope[LABELLED] * moves.lean(phi[LABELLED])
    return np.asarray(
        np.maximum(total + both, 0.0) + np.maximum(squares - inflation * mean**2 / n, 0.0)
    )


def _labelling(moves: Spread) -> FloatArray:
    """Only which positives carry a label is random: a label more is an unlabeled row less."""
    design, rows, moved = moves.design, moves.rows, moves.moved
    purity, mixing = design.label_purity, design.mixing()
    labelled, free = design.sizes[LABELLED], unlabelled_share(design)
    if design.share_known and design.given == "label_frequency":
        # Each positive was labelled by itself, so the number of labels is random as well.
        number = labelled * design.units[LABELLED]
        of_rows = rows.moments(moved, _unit(LABELLED))[1] * moves.inflation(moved) / labelled**2
        both = 2 * moves.number_slope * moves.lean(moved) / labelled
        return np.asarray(free * number * np.maximum(of_rows + both + moves.number_slope**2, 0.0))
    if np.all(purity == 1):
        return np.asarray(free * _mean_variance(moves, moved, LABELLED))
    kept = _unlabelled_shares(design, mixing)
    among_positives = rows.moments(moved, mixing.positive)[1]
    among_negatives = rows.moments(moved, mixing.negative)[1]
    of_rows = purity * kept[0] * among_positives + (1 - purity) * kept[1] * among_negatives
    return np.asarray(moves.inflation(moved) * of_rows / design.effective[LABELLED])


def unlabelled_share(design: Design) -> Any:
    """Return the finite-population correction of a mean over labelled rows."""
    positive, negative = _unlabelled_shares(design, design.mixing())
    return design.label_purity * positive + (1 - design.label_purity) * negative


def _unlabelled_shares(design: Design, mixing: Mixing) -> tuple[Any, Any]:
    """Return the finite-population corrections: shares of positives and negatives not labelled.

    With P positives, S of them labelled, (1 - S/P) P/(P-1) times the variance with divisor P.
    """
    if not design.share_known:
        return 1.0, 1.0
    positives = np.maximum(mixing.positives, 1e-300)
    labelled = design.sizes[LABELLED]
    hidden_negatives = design.sizes.sum(axis=0) - positives
    impure = (1 - design.label_purity) * labelled
    first = np.clip(1 - design.label_purity * labelled / positives, 0.0, 1.0)
    second = np.clip(1 - impure / np.maximum(hidden_negatives, 1e-300), 0.0, 1.0)
    return first, second


def _unlabeled_rows(moves: Spread) -> FloatArray:
    """Labelled rows stand for the positives among these very unlabeled rows.

    Both are samples of one population, so the distance has the variances of both.
    """
    design, rows, phi = moves.design, moves.rows, moves.phi
    mixing = design.mixing()
    share, purity = mixing.unlabeled_prevalence, design.label_purity
    value = phi[LABELLED]
    of_mean = _mean_variance(moves, value, LABELLED)
    hidden = design.effective[UNLABELED] * np.asarray(share)
    among_positives = rows.moments(value, mixing.positive)[1]
    among_negatives = rows.moments(value, mixing.negative)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        more = purity**2 * np.where(hidden > 0, among_positives / hidden, 0.0)
    others = design.effective[UNLABELED] - hidden
    more = more + (1 - purity) ** 2 * among_negatives / np.maximum(others, 1e-300)
    # Weights of the hidden positives go with the score as those of the labelled ones do.
    return np.asarray(of_mean + moves.inflation(value) * more)
