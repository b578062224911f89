"""Differences of two scores on the same rows: standard errors that use the pairing.

What a row adds to a difference is what it adds to the one estimate minus what it adds to the
other, so the variance of a difference follows from its influence like that of a single estimate,
for every way of drawing rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.assume.mixture import LABELLED, NEGATIVE, UNLABELED, MixtureDesign
from undercount.count.kernel.rows import cell_places
from undercount.curve import FloatArray
from undercount.read.intervals import area_gradients as areas
from undercount.read.intervals.heads import HeadCounts, head_spread
from undercount.read.intervals.variance import CellRows, Influence, Spread
from undercount.shares import Shares

# How labels say labelled positive, unlabeled and labelled negative, in the order of a design.
LABELS = (1, -1, 0)
# A jackknife of fewer labels says nothing: leaving one out leaves no pair.
FEWEST = 3


@dataclass(frozen=True)
class PairedRows:
    """Hold rows that several models have scored.

    Parameters
    ----------
    labels : array
        Labels as `read_labels` returns them.
    design : MixtureDesign
        How the rows were drawn, what is known of the positives, what the metric is a metric of.
    """

    labels: NDArray[np.int8]
    design: MixtureDesign

    @cached_property
    def kinds(self) -> NDArray[np.bool_]:
        """Which rows are labelled positive, unlabeled, labelled negative."""
        return np.stack([self.labels == label for label in LABELS])

    @cached_property
    def rows(self) -> CellRows:
        """Each row in a cell of its own."""
        return CellRows(self.kinds / np.maximum(self.kinds.sum(axis=1, keepdims=True), 1))

    def scored(self, score: FloatArray, threshold: float = np.inf) -> "PlacedRows":
        """Put the rows into the cells of one model's score."""
        size, place = cell_places(score)
        cells = np.stack([np.bincount(place[kind], minlength=size) for kind in self.kinds])
        return PlacedRows(self, place, cells.astype(np.float64), score >= threshold)

    def error(self, one: Influence, other: Influence) -> float:
        """Return the standard error of the difference of two models in a metric.

        Notes
        -----
        Assumes: rows are independent, and labelled rows a random sample of the positives (and, at
        1 - purity, negatives).
        Wrong when: so few rows decide that the metric is not straight within its error.
        """
        gap = Influence(*(getattr(one, name) - getattr(other, name) for name in vars(one)))
        return float(np.sqrt(Spread(self.design, self.rows, gap).variance))


@dataclass(frozen=True)
class PlacedRows:
    """Hold the same rows in the cells of one model's score, highest first.

    Parameters
    ----------
    place : array
        The cell of each row.
    cells : array of shape (3, cells)
        Rows of each kind in each cell.
    flagged : array
        Which rows are predicted positive.
    """

    paired: PairedRows
    place: NDArray[np.intp]
    cells: FloatArray
    flagged: NDArray[np.bool_]

    @cached_property
    def heads(self) -> FloatArray:
        """The rows of each kind that are predicted positive."""
        return np.asarray((self.paired.kinds & self.flagged).sum(axis=1), dtype=np.float64)

    def influence(self, metric: str, *, at_threshold: bool) -> Influence:
        """Return what each row adds to a metric of this model."""
        design = self.paired.design
        if at_threshold:
            found = head_spread(HeadCounts(self.heads, design), metric).influence
            return _of_rows(found, lambda if_flagged: if_flagged * self.flagged)
        if metric == "average_precision":
            found = _average_precision(self._mass, design)
        else:
            found = {"roc_auc": areas.roc_auc, "lift_auc": areas.lift_auc}[metric](self._mass)
        return _of_rows(found, lambda cell: cell[self.place] if np.ndim(cell) else cell)

    @cached_property
    def _mass(self) -> areas.Recovered:
        sizes = np.maximum(self.cells.sum(axis=1, keepdims=True), 1)
        return areas.recovered(CellRows(self.cells / sizes), self.paired.design.mixing)


def _average_precision(mass: areas.Recovered, design: MixtureDesign) -> Influence:
    """Return what one labelled row more adds, its own place above itself counting once.

    Average precision sums products of two rows, so its derivative counts that place twice: with
    200 labels standard errors would be a quarter too large. If the row is one more row of the
    target as well, it takes about as much off again.
    """
    mixing, flagged = design.mixing, np.cumsum(mass.everyone)
    found = areas.average_precision(mass)
    if design.target == "population" and design.sampling == "single-sample":
        return found
    own = mixing.prevalence * mixing.positive[LABELLED] / design.sizes[LABELLED]
    own = np.divide(own, flagged, out=np.zeros_like(flagged), where=flagged > 0)
    return replace(found, positive=found.positive - own)


def _of_rows(influence: Influence, read: Callable[[Any], Any]) -> Influence:
    """Give an influence on cells, or on rows predicted positive, one value a row."""
    parts = {name: read(getattr(influence, name)) for name in ("positive", "negative", "everyone")}
    return replace(influence, **parts)


class LeftOutPrecision:
    """Hold the unbiased average precision of one model without each row in turn.

    Each row is left out of both models' estimates at once, so that what they share cancels. For
    these very rows only labels are left out (their rows stay), and the variance is multiplied by
    the share of positives without a label. If the label frequency is known, the number of labels
    is random too, so that deviations are those from the estimate itself and not from their mean.
    The estimate is a mean of pairs of labelled rows, so all leave-one-out values follow from
    running sums over the cells: no loop.

    Notes
    -----
    Assumes: a single sample, pure labels, random labels.
    Wrong when: there are very few labels.
    """

    def __init__(self, model: PlacedRows, shares: Shares) -> None:
        self.design, self.known = model.paired.design, shares.given == "label_frequency"
        self.values, self.whole = np.empty(0), float("nan")
        labelled = model.cells[LABELLED]
        self.size, self.n_rows = int(labelled.sum()), len(model.place)
        unlabeled = float(model.cells[UNLABELED].sum())
        self.positives = self.size + shares.unlabeled_prevalence * unlabeled
        if self.size < FEWEST:
            return
        self.labelled = labelled
        self.heads, self.flagged = np.cumsum(labelled), np.cumsum(model.cells.sum(axis=0))
        found = 1 + (self.heads - 1) * (self.positives - 1) / (self.size - 1)
        self.whole = float(labelled @ (found / self.flagged)) / self.size
        kinds, place = model.paired.kinds, model.place
        lost = _lost(shares, self.positives, self.size, self.n_rows)
        if self.design.target == "dataset":
            fewer = self.positives - lost[LABELLED] if self.known else self.positives
            self.values = self._without_label(fewer)[place[kinds[LABELLED]]]
            return
        self.values = np.empty(self.n_rows)
        for kind in (LABELLED, UNLABELED, NEGATIVE):
            found = self._without_row(self.positives - lost[kind], labelled=kind == LABELLED)
            self.values[kinds[kind]] = found[place[kinds[kind]]]

    def error(self, other: "LeftOutPrecision") -> float:
        """Return the standard error of the difference of two models on the same rows."""
        if self.size < FEWEST:
            return float("nan")
        left, size = self.values - other.values, self.size
        squares = float(np.sum((left - left.mean()) ** 2))
        if self.design.target != "dataset":
            return float(np.sqrt((self.n_rows - 1) / self.n_rows * squares))
        chance = max(1 - size / self.positives, 0.0)
        if self.known:
            whole = self.whole - other.whole
            return float(np.sqrt(chance * np.sum((left - whole) ** 2)))
        return float(np.sqrt(chance * (size - 1) / size * squares))

    def _without_label(self, positives: float) -> FloatArray:
        """Return the estimate without a label of each cell, its row staying as an unlabeled one."""
        inverse = 1 / self.flagged
        above = (self.heads - 1) * inverse
        # Other labelled rows at least as low lose this one from their heads.
        pairs = self.labelled @ above - above - (self._from(inverse) - inverse)
        scale = (positives - 1) / (self.size - 2)
        return np.asarray((self.labelled @ inverse - inverse + scale * pairs) / (self.size - 1))

    def _without_row(self, positives: float, *, labelled: bool) -> FloatArray:
        """Return the estimate without a row of each cell, labelled or not."""
        own = int(labelled)
        inverse, fewer = 1 / self.flagged, _safe_inverse(self.flagged - 1)
        above, less = (self.heads - 1) * inverse, (self.heads - 1 - own) * fewer
        # The row itself is none of those that are left, if it is labelled.
        single = self._above(inverse) + self._from(fewer) - own * fewer
        pairs = self._above(above) + self._from(less) - own * less
        left = self.size - own
        return np.asarray((single + (positives - 1) / (left - 1) * pairs) / left)

    def _above(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labelled rows above each cell."""
        return np.append(0.0, np.cumsum(self.labelled * values)[:-1])

    def _from(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labelled rows of each cell and below."""
        return np.cumsum((self.labelled * values)[::-1])[::-1]


def _lost(shares: Shares, positives: float, n_labelled: int, n_rows: int) -> list[float]:
    """Return the positives that go with a row of each kind, if the share that was given stays."""
    if shares.given == "prevalence":
        return [positives / n_rows] * 3
    if shares.given == "label_frequency":
        return [positives / n_labelled, 0.0, 0.0]
    return [1.0, shares.unlabeled_prevalence, 0.0]


def _safe_inverse(values: FloatArray) -> FloatArray:
    """Return 1/x, and 0 where no row is left (never asked for but in its own place)."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
