"""Differences of two scores on the same rows: standard errors that use the pairing.

What a row adds to a difference is what it adds to the one estimate minus what it adds to the
other, so the variance of a difference follows from its influence like that of a single estimate,
for every way of drawing rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.rates import FloatArray
from undercount.uncertainty import areas
from undercount.uncertainty.design import LABELLED, Design
from undercount.uncertainty.thresholds import HeadCounts, head_spread
from undercount.uncertainty.variance import CellRows, Influence, Spread

# How labels say labelled positive, unlabeled and labelled negative, in the order of a design.
LABELS = (1, -1, 0)


@dataclass(frozen=True)
class PairedRows:
    """Hold rows that several models have scored.

    Parameters
    ----------
    design : Design
        How the rows were drawn, what is known of the positives, what the metric is a metric of.
    rows : CellRows
        Each row in a cell of its own.
    """

    design: Design
    rows: CellRows

    @classmethod
    def of(cls, labels: NDArray[np.int8], design: Design) -> "PairedRows":
        """Take labels as `rows.read_labels` returns them."""
        kinds = np.stack([labels == label for label in LABELS])
        return cls(design, CellRows(kinds / np.maximum(kinds.sum(axis=1, keepdims=True), 1)))

    def heads(self, flagged: NDArray[np.bool_]) -> FloatArray:
        """Return the rows of each kind that are predicted positive."""
        return np.rint(self.design.sizes * self.rows.means(flagged))

    def influence(self, score: FloatArray, metric: str, threshold: float | None) -> Influence:
        """Return what each row adds to a metric of one model; an area has no threshold."""
        if threshold is not None:
            flagged = score >= threshold
            counts = HeadCounts(self.heads(flagged), self.design)
            found = head_spread(counts, metric).influence
            return _of_rows(found, lambda if_flagged: if_flagged * flagged)
        cells, place = np.unique(-score, return_inverse=True)
        masses = [np.bincount(place, kind, len(cells)) for kind in self.rows.masses]
        rows = CellRows(np.array(masses, dtype=np.float64))
        mass = areas.recovered(rows, self.design.mixing())
        if metric == "average_precision":
            found = _average_precision(mass, self.design)
        else:
            found = {"roc_auc": areas.roc_auc, "lift_auc": areas.lift_auc}[metric](mass)
        return _of_rows(found, lambda cell: cell[place] if np.ndim(cell) else cell)

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


def _average_precision(mass: areas.Recovered, design: Design) -> Influence:
    """Return what one labelled row more adds, its own place above itself counting once.

    Average precision sums products of two rows, so its derivative counts that place twice: with
    200 labels standard errors would be a quarter too large. If the row is one more row of the
    target as well, it takes about as much off again.
    """
    mixing, flagged = design.mixing(), np.cumsum(mass.everyone)
    found = areas.average_precision(mass, float(mixing.prevalence))
    if design.target == "population" and design.sampling == "single-sample":
        return found
    own = mixing.prevalence * mixing.positive[LABELLED] / design.sizes[LABELLED]
    own = np.divide(own, flagged, out=np.zeros_like(flagged), where=flagged > 0)
    return replace(found, positive=found.positive - own)


def _of_rows(influence: Influence, read: Callable[[Any], Any]) -> Influence:
    """Give an influence on cells, or on rows predicted positive, one value a row."""
    parts = {name: read(getattr(influence, name)) for name in ("positive", "negative", "everyone")}
    return replace(influence, **parts)
