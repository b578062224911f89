"""Variance of any estimate from what one row of each kind adds to it, for each way of drawing rows.

An estimate moves by the mean of phi[0] over labelled rows, of phi[1] over unlabeled rows and of
phi[2] over known negatives (its influence functions), and with the sizes of the three groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from undercount.rates import FloatArray
from undercount.uncertainty.design import LABELLED, NEGATIVE, UNLABELED, Design, Mixing

KINDS = (LABELLED, UNLABELED, NEGATIVE)


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
    """Hold the variance of an estimate and how it moves with the two shares."""

    variance: FloatArray
    share_slope: FloatArray
    purity_slope: FloatArray


def spread(design: Design, rows: Rows, influence: Influence) -> Spread:
    """Return the variance of the distance between estimate and target, and the shares' slopes."""
    mixing = design.mixing()
    phi = [
        mixing.positive[kind] * influence.positive
        + mixing.negative[kind] * influence.negative
        + mixing.everyone[kind] * influence.everyone
        for kind in KINDS
    ]
    means = [
        rows.means(function)
        for function in (influence.positive, influence.negative, influence.everyone)
    ]

    def along(change: Mixing) -> Any:
        moved = sum(
            change.positive[kind] * means[0][kind]
            + change.negative[kind] * means[1][kind]
            + change.everyone[kind] * means[2][kind]
            for kind in KINDS
        )
        return moved + change.prevalence * influence.prevalence

    size_slope = [along(change) for change in design.size_slopes()]
    return Spread(
        _variance(design, rows, phi, size_slope, influence.prevalence),
        np.asarray(along(design.share_slope())),
        np.asarray(along(design.purity_slope())),
    )


def _variance(
    design: Design, rows: Rows, phi: Sequence[Any], size_slope: Sequence[Any], prevalence_slope: Any
) -> FloatArray:
    """Return the variance for the design.

    `phi` says what a labelled, an unlabeled and a known negative row adds to the estimate,
    `size_slope` how it moves with the three sizes while the distributions stay.
    """
    if design.target == "population":
        return _population(design, rows, phi, size_slope, prevalence_slope)
    if design.sampling == "case-control":
        return _unlabeled_rows(design, rows, phi)
    return _labelling(design, rows, phi, size_slope)


def _mean_variance(design: Design, rows: Rows, value: Any, kind: int) -> Any:
    """Return the variance of a mean over the rows of one kind; 0 if there are none."""
    size = design.effective[kind]
    least = 1.0 if rows.centred else 0.0
    spread_of_rows = rows.moments(value, _unit(kind))[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = spread_of_rows / (size - least)
    # A single row says nothing about its spread.
    return np.where(size > least, found, np.where(size > 0, np.nan, 0.0))


def _unit(kind: int) -> FloatArray:
    return np.asarray(np.eye(3)[kind])


def _population(
    design: Design, rows: Rows, phi: Sequence[Any], size_slope: Sequence[Any], prevalence_slope: Any
) -> FloatArray:
    sizes, effective = design.sizes, design.effective
    total: Any = sum(_mean_variance(design, rows, phi[kind], kind) for kind in KINDS)
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
        composition = prevalence_slope**2 * pi * (1 - pi) * inflation / n
        return np.asarray(np.maximum(total + composition, 0.0))
    # Sizes of the groups are multinomial.
    squares = sum(sizes[k] * design.units[k] * size_slope[k] ** 2 for k in KINDS)
    mean = sum(sizes[k] * size_slope[k] for k in KINDS)
    inflation = (sizes * design.units).sum(axis=0) / n
    return np.asarray(total + np.maximum(squares - inflation * mean**2 / n, 0.0))


def _labelling(
    design: Design, rows: Rows, phi: Sequence[Any], size_slope: Sequence[Any]
) -> FloatArray:
    """Only which positives carry a label is random: a label more is an unlabeled row less."""
    mixing = design.mixing()
    labelled, unlabeled = design.sizes[LABELLED], design.sizes[UNLABELED]
    moved = phi[LABELLED] - (labelled / unlabeled) * phi[UNLABELED]
    kept = _unlabelled_shares(design, mixing)
    mean_moved, var_moved = rows.moments(moved, _unit(LABELLED))
    purity = design.label_purity
    if design.share_known and design.given == "label_frequency":
        # Each positive was labelled by itself, so the number of labels is random as well.
        mean = (
            (
                mean_moved
                - rows.moments(phi[LABELLED], _unit(LABELLED))[0]
                + (labelled / unlabeled) * rows.moments(phi[UNLABELED], _unit(UNLABELED))[0]
            )
            / labelled
            + size_slope[LABELLED]
            - size_slope[UNLABELED]
        )
        fraction = purity * kept[0] + (1 - purity) * kept[1]
        number = labelled * design.units[LABELLED]
        return np.asarray(fraction * number * (var_moved / labelled**2 + mean**2))
    if np.all(purity == 1):
        return np.asarray(kept[0] * _mean_variance(design, rows, moved, LABELLED))
    among_positives = rows.moments(moved, mixing.positive)[1]
    among_negatives = rows.moments(moved, mixing.negative)[1]
    of_rows = purity * kept[0] * among_positives + (1 - purity) * kept[1] * among_negatives
    return np.asarray(of_rows / design.effective[LABELLED])


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


def _unlabeled_rows(design: Design, rows: Rows, phi: Sequence[Any]) -> FloatArray:
    """Labelled rows stand for the positives among these very unlabeled rows.

    Both are samples of one population, so the distance has the variances of both.
    """
    mixing = design.mixing()
    share, purity = mixing.unlabeled_prevalence, design.label_purity
    value = phi[LABELLED]
    of_mean = _mean_variance(design, rows, value, LABELLED)
    hidden = design.effective[UNLABELED] * np.asarray(share)
    among_positives = rows.moments(value, mixing.positive)[1]
    among_negatives = rows.moments(value, mixing.negative)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        more = purity**2 * np.where(hidden > 0, among_positives / hidden, 0.0)
    others = design.effective[UNLABELED] - hidden
    more = more + (1 - purity) ** 2 * among_negatives / np.maximum(others, 1e-300)
    return np.asarray(of_mean + more)
