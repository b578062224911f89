"""From gradient and source to variance: how an estimate varies under a design.

An estimate moves when a row more or less is there, by its gradient (`Influence`); a design names
which rows were drawn at random. Their meeting is the variance, one function a source.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray, blocks, dot
from undercount.infer.mixture import (
    LABELLED,
    NEGATIVE,
    ROW_KINDS,
    UNLABELED,
    Misfit,
    Mixing,
    MixtureDesign,
    Source,
)

# Relative rounding of sums of squares.
_ROUNDING = 1e-9
_ALONE = 1e-6  # effective rows beyond one, below which rounding is all that others leave


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
    filled = cells if len(cells) and cells.min() > 0 else cells[cells > 0]
    if total <= 0 or squares >= dot(filled, filled) * (1 - _ROUNDING):
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
        filled = mass[mass > 0]
        if total <= 0 or unit <= total * float(filled.min(initial=1.0)) * (1 + _ROUNDING):
            return None  # no row of Kish's mean weight is too heavy for its cell
        own = row_weights(mass * total, total * unit)
        mean = dot(mass, own)
        if np.all(np.abs(own[mass > 0] - mean) <= _ROUNDING * mean):
            return None
        return cls(mass, 1 + score_link(own[mass > 0]) * (own / mean - 1), total / mean)

    def mean(self, value: Any, power: int) -> float:
        """Return the mean of a value times this power of the relative weight."""
        return dot(self.mass, self.relative**power * value)

    def around(self, value: Any) -> FloatArray:
        """Return how far a value lies from its mean."""
        return np.asarray(value - dot(self.mass, value))

    def inflation(self, value: Any) -> float:
        """Return the variance of a mean over the variance it has at Kish's effective size.

        Σ h² (v - mean)² / (1 - 2h + Σh²) with shares h = w/Σw: each row's square is divided by
        what is left of it on average after its own mean has been taken off, so that the variance
        is right on average if weights have nothing to do with the value, however unequal.
        """
        squares = self.around(value) ** 2
        plain = self.mean(squares, 0)
        left = 1 - (2 * self.relative - 1) / self.effective
        if plain <= 0 or self.effective <= 1 + _ALONE:
            return 1.0
        return self.mean(squares / left, 1) * (1 - 1 / self.effective) / plain


def score_link(own: FloatArray) -> float:
    """Return how surely weights of rows by falling score go with it: 0 not at all, 1 beyond doubt.

    One less the mean square of log weights within √n blocks of neighbouring scores over that
    between the blocks; chance alone makes the two alike.
    """
    if np.ptp(own) == 0:
        return 0.0
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


class RowMoments(Protocol):
    """Rows of three kinds, and how a function of a row is spread among them."""

    @property
    def centred(self) -> bool:
        """Whether variances are taken around means of the same rows, so too small by 1/n."""

    def moments(self, value: Any, weights: Any) -> tuple[Any, Any]:
        """Return mean and variance under a mixture; `weights` has one entry a kind."""

    def means(self, value: Any) -> FloatArray:
        """Return the mean among the rows of each kind."""


@dataclass(frozen=True, eq=False)
class CellRows:
    """Rows in cells: a function has one value a cell."""

    masses: FloatArray  # shape (3, cells), each kind sums to 1 (or 0 if there is none)
    centred: bool = True  # variances are taken around means of the same rows: too small by 1/n
    weighted: bool = True  # cells tell which weights single rows have
    counted: FloatArray | None = None  # shape (3, cells + 1): rows above each border, if counted
    # Which cells hold labels of several scores, if any: half of its others are above a row there.
    blended: NDArray[np.bool_] | None = None
    labelled_row: float = 0.0  # share that one labelled row is of all of them, where that matters
    _known: dict[tuple[float, float], RowWeights | None] = field(
        default_factory=dict, init=False, repr=False
    )

    def mixed(self, weights: Any) -> FloatArray:
        """Return the mixture of the kinds: a weight of 0 costs no pass, a kind alone no copy."""
        return _mixed(weights, self.masses)

    @cached_property
    def heads(self) -> FloatArray:
        """Each kind's share above each border between cells, from 0 to 1."""
        if self.counted is not None:
            return self.counted
        heads = np.zeros((len(ROW_KINDS), self.masses.shape[1] + 1))
        np.cumsum(self.masses, axis=1, out=heads[:, 1:])
        return heads

    def mixed_heads(self, weights: Any) -> FloatArray:
        """Return the share of a mixture above each border between cells."""
        return _mixed(weights, self.heads)

    def moments(self, value: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance under a mixture; `weights` has one entry a kind."""
        mass = self.mixed(np.asarray(weights))
        value = np.broadcast_to(value, mass.shape)
        mean: Any = 0.0
        square: Any = 0.0
        for part in blocks(len(mass)):
            product = mass[part] * value[part]
            mean += product.sum()
            square += product @ value[part]
        return mean, np.maximum(square - mean * mean, 0.0)

    def means(self, value: Any) -> FloatArray:
        """Return the mean among the rows of each kind."""
        if np.ndim(value) == 0:
            return np.asarray(value * self.masses.sum(axis=1))
        return np.array([dot(mass, value) for mass in self.masses])

    def labelled_weights(self, total: float, unit: float) -> RowWeights | None:
        """Return the weights of labelled rows of this total and Kish's mean, found but once."""
        if (total, unit) not in self._known:
            self._known[total, unit] = RowWeights.of(self.masses[LABELLED], total, unit)
        return self._known[total, unit]


def _mixed(weights: Any, tables: FloatArray) -> FloatArray:
    kinds = [kind for kind in ROW_KINDS if weights[kind] != 0]
    if len(kinds) == 1 and weights[kinds[0]] == 1:
        return np.asarray(tables[kinds[0]])
    sums = np.zeros(tables.shape[1])
    for part in blocks(len(sums)):
        for kind in kinds:
            sums[part] += weights[kind] * tables[kind, part]
    return sums


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
        rates = np.clip(self.rates, 0.0, 1.0)
        several = np.ndim(value) - rates.ndim + 1  # functions of the rows of one threshold
        return np.asarray(value * rates.reshape(rates.shape + (1,) * max(several, 0)))


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
class Found:
    """Hold value, interval and standard error of a metric, and how badly the shares misfit."""

    value: float
    low: float
    high: float
    standard_error: float
    method: str
    misfit: Misfit | None = None


@dataclass(frozen=True)
class Spread:
    """Say how an estimate varies: by chance, and with the shares it was made with.

    Slopes are worked out when they are asked for; most designs need few of them.
    """

    design: MixtureDesign
    rows: RowMoments
    influence: Influence

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the distance between estimate and target."""
        total: Any = sum(_OF_SOURCE[source](self) for source in self.design.sources)
        return np.asarray(np.maximum(total, 0.0))

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
        return [self.along(change) for change in self.design.size_slopes]

    @cached_property
    def phi(self) -> list[Any]:
        """What a labelled, an unlabeled and a known negative row adds to the estimate."""
        mixing, sizes = self.design.mixing, self.design.sizes
        return [
            self._added(mixing.positive[kind], mixing.negative[kind], mixing.everyone[kind])
            if np.asarray(sizes[kind] > 0).any()
            else 0.0
            for kind in ROW_KINDS
        ]

    def _added(self, *shares: Any) -> Any:
        """Return what a row adds that is so much of a positive, a negative and of any row.

        Parts that add nothing cost no pass over the cells.
        """
        influence = self.influence
        parts = influence.positive, influence.negative, influence.everyone
        added = [
            (share, part)
            for share, part in zip(shares, parts, strict=True)
            if np.asarray(share).any() and (np.ndim(part) or part)
        ]
        if not isinstance(self.rows, CellRows) or not added:
            return sum(share * part for share, part in added)
        sums = np.zeros(self.rows.masses.shape[1])
        for block in blocks(len(sums)):
            for share, part in added:
                sums[block] += share * part[block]
        return sums

    def from_shares(self, errors: tuple[float, float]) -> Any:
        """Return the variance that standard errors of share and purity add."""
        added: Any = 0.0
        for name, error in zip(("share_slope", "purity_slope"), errors, strict=True):
            if error > 0:
                move = getattr(self, name) * error
                added = added + move * move
        return added

    @cached_property
    def weights(self) -> RowWeights | None:
        """Weights of the labelled rows; None if all are equal or rows are not in cells."""
        if not isinstance(self.rows, CellRows) or not self.rows.weighted:
            return None
        total, unit = self.design.sizes[LABELLED], self.design.units[LABELLED]
        return self.rows.labelled_weights(float(total), float(unit))

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
        mixing, less = self.design.mixing, labelled / unlabeled
        weights = mixing.positive, mixing.negative, mixing.everyone
        return self._added(*(weight[LABELLED] - less * weight[UNLABELED] for weight in weights))

    @cached_property
    def label_variance(self) -> Any:
        """Variance of the labels' part if they were drawn from a population."""
        label = self.moved if self.design.counted else self.phi[LABELLED]
        return _mean_variance(self, label, LABELLED)

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
            for kind in ROW_KINDS
        )
        return moved + change.prevalence * self.influence.prevalence


_UNITS = np.eye(len(ROW_KINDS))


def _unit(kind: int) -> FloatArray:
    return np.asarray(_UNITS[kind])


def _mean_variance(moves: Spread, value: Any, kind: int) -> Any:
    """Return the variance of a mean over the rows of one kind; 0 if there are none."""
    effect = moves.design.cluster_effect
    size = moves.design.effective[kind] * effect
    # Without rows, or without influence (a sum of no parts is 0), nothing varies.
    if not np.asarray(size > 0).any() or (np.ndim(value) == 0 and value == 0):
        return 0.0
    least = 1.0 if moves.rows.centred else 0.0
    spread_of_rows = moves.rows.moments(value, _unit(kind))[1]
    if kind == LABELLED:
        spread_of_rows = spread_of_rows * moves.inflation(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = effect * spread_of_rows / (size - least)
    # A single row says nothing about its spread.
    return np.where(size > least, variance, np.where(size > 0, np.nan, 0.0))


def _rows(moves: Spread) -> Any:
    """Rows of each kind are independent draws, their numbers fixed."""
    return sum(_mean_variance(moves, moves.phi[kind], kind) for kind in ROW_KINDS)


def _composition(moves: Spread) -> Any:
    """Chance is how many rows of a population are positive, if here their number is known.

    The class composition of the unlabeled rows is known, so it adds nothing by chance, and what
    independent draws would have added is taken off.
    """
    design, rows, phi = moves.design, moves.rows, moves.phi
    mixing, sizes = design.mixing, design.sizes
    share, pi, n = mixing.unlabeled_prevalence, mixing.prevalence, sizes.sum(axis=0)
    gap = (
        rows.moments(phi[UNLABELED], mixing.positive)[0]
        - rows.moments(phi[UNLABELED], mixing.negative)[0]
    )
    inflation = (sizes * design.inflation).sum(axis=0) / n
    of_sample = moves.influence.prevalence**2 * pi * (1 - pi) * inflation / n
    return of_sample - share * (1 - share) * gap**2 / design.effective[UNLABELED]


def _rows_and_numbers(moves: Spread) -> Any:
    """Rows are independent draws, and how many of each kind there are is multinomial."""
    design, sizes, size_slope = moves.design, moves.design.sizes, moves.size_slopes
    n = sizes.sum(axis=0)
    squares = sum(sizes[k] * design.inflation[k] * size_slope[k] ** 2 for k in ROW_KINDS)
    mean = sum(sizes[k] * size_slope[k] for k in ROW_KINDS)
    inflation = (sizes * design.inflation).sum(axis=0) / n
    # A heavy labelled row moves both the distribution and the size of its kind.
    both = 2 * design.inflation[LABELLED] * size_slope[LABELLED] * moves.lean(moves.phi[LABELLED])
    of_numbers = np.maximum(squares - inflation * mean**2 / n, 0.0)
    return np.maximum(_rows(moves) + both, 0.0) + of_numbers


def _labels(moves: Spread) -> Any:
    """Only which positives carry a label is random: a label more is an unlabeled row less."""
    design, rows, moved = moves.design, moves.rows, moves.moved
    if design.pure:
        return design.unlabelled_share * _mean_variance(moves, moved, LABELLED)
    purity, mixing, kept = design.label_purity, design.mixing, design.unlabelled_shares
    among_positives = rows.moments(moved, mixing.positive)[1]
    among_negatives = rows.moments(moved, mixing.negative)[1]
    of_rows = purity * kept[0] * among_positives + (1 - purity) * kept[1] * among_negatives
    return moves.inflation(moved) * of_rows / design.effective[LABELLED]


def _labels_and_number(moves: Spread) -> Any:
    """Each positive was labelled by itself, so the number of labels is random as well."""
    design, moved, slope = moves.design, moves.moved, moves.number_slope
    labelled = design.sizes[LABELLED]
    number = labelled * design.inflation[LABELLED]
    of_rows = moves.rows.moments(moved, _unit(LABELLED))[1] * moves.inflation(moved) / labelled**2
    both = 2 * slope * moves.lean(moved) / labelled
    return design.unlabelled_share * number * np.maximum(of_rows + both + slope**2, 0.0)


def _hidden_positives(moves: Spread) -> Any:
    """Labelled rows stand for the positives among these very unlabeled rows.

    Both are samples of one population, so the distance has the variances of both.
    """
    design, rows, value = moves.design, moves.rows, moves.phi[LABELLED]
    mixing, purity = design.mixing, design.label_purity
    hidden = design.effective[UNLABELED] * np.asarray(mixing.unlabeled_prevalence)
    among_positives = rows.moments(value, mixing.positive)[1]
    among_negatives = rows.moments(value, mixing.negative)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        more = purity**2 * np.where(hidden > 0, among_positives / hidden, 0.0)
    others = design.effective[UNLABELED] - hidden
    more = more + (1 - purity) ** 2 * among_negatives / np.maximum(others, 1e-300)
    # Weights of the hidden positives go with the score as those of the labelled ones do.
    return _mean_variance(moves, value, LABELLED) + moves.inflation(value) * more


_OF_SOURCE: dict[Source, Callable[[Spread], Any]] = {
    "rows": _rows,
    "rows and numbers": _rows_and_numbers,
    "composition": _composition,
    "labels": _labels,
    "labels and number": _labels_and_number,
    "hidden positives": _hidden_positives,
}
