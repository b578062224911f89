"""A metric as a number of the positives and negatives in each cell, with its gradient.

Where an assumption knows the positives cell by cell (reviews, say), a metric moves with the mass of
each cell by its gradient; the variance of an estimate is then that of a sum over rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, read_metric
from undercount.errors import InputError
from undercount.infer.area_gradients import (
    AREA_GRADIENTS,
    Recovered,
    mean_loss,
    partial_roc_auc,
    read_max_fpr,
)
from undercount.infer.heads import RatePoint, top_parts
from undercount.infer.variance import Influence
from undercount.metric_facts import FACTS

# Areas that are sums over pairs of rows: read where cells may have fewer positives than none.
SUMS_OVER_PAIRS = ("roc_auc", "lift_auc")
# Relative step of central differences.
_CELL_STEP = 1e-5
_SLOPE_ROUNDING = 1e-8
# How far rounding may put a derivative off, as a part of the largest one: of a formula, and of sums
# over ranks.
_EXACT, _SUMMED = 1e-12, 1e-10
# How far it may put a metric of a table off, in units of the last place.
_ULPS = 16
# What each part of a table (true and false positives, false and true negatives) counts in metrics
# that are means over rows.
_COUNTED: dict[str, Callable[[float], tuple[float, ...]]] = {
    "predicted_positive_rate": lambda _: (1, 1, 0, 0),
    "accuracy": lambda _: (1, 0, 0, 1),
    "expected_cost": lambda weight: (0, weight, 1 - weight, 0),
    "net_benefit": lambda exchange: (1, -exchange, 0, 0),
}
_NO_NEGATIVES = 1e-12  # of the rows: where all are positive, negatives still have a distribution


@dataclass(frozen=True)
class MassGradient:
    """Hold a metric and how much a positive or a negative more in each cell would move it.

    Attributes
    ----------
    value : float
        The metric; an array if it was read of several sets of masses.
    positive, negative : array
        Its derivatives by the positives and the negatives of each cell.
    rounding : float
        How far rounding may put a derivative off; an array of one column for several sets.
    """

    value: Any
    positive: FloatArray
    negative: FloatArray
    rounding: Any = 0.0

    @property
    def turned(self) -> FloatArray:
        """How much it moves if a negative row of each cell turns out to be positive."""
        return without_rounding(self.positive - self.negative, self.rounding)

    def __sub__(self, other: "MassGradient") -> "MassGradient":
        return MassGradient(
            self.value - other.value,
            self.positive - other.positive,
            self.negative - other.negative,
            self.rounding + other.rounding,
        )


def without_rounding(moves: FloatArray, rounding: Any) -> FloatArray:
    """Return how far rows move a metric, 0 where that may be rounding.

    Which way a row moves it, and how many rows do, is a matter of its sign: an unflagged row that
    moved the net benefit by 1e-14 would be counted among those that leave it open.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.mass_gradients import without_rounding
    >>> without_rounding(np.array([0.1, -1e-14]), 1e-12)
    array([0.1, 0. ])
    """
    return np.asarray(np.where(np.abs(moves) <= rounding, 0.0, moves))


def mass_gradient(
    counts: ScoreCounts,
    positive: FloatArray,
    everyone: FloatArray,
    name: str,
    *,
    threshold: float | None = None,
    top: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    prevalence: float | None = None,
) -> MassGradient:
    """Return a metric of the positives among all rows of each cell, with its gradient.

    Parameters
    ----------
    counts : ScoreCounts
        The cells.
    positive, everyone : array
        Positives and all rows in each cell; positives may be several sets, a row each.
    name : str
        A metric of `FACTS`, or "prevalence".
    threshold, top, beta, max_fpr
        As in `estimate_metric`.
    prevalence : float, optional
        Share of positives where the metric is to hold, the rates being those of these masses.
    """
    if prevalence is not None:
        there = carried_masses(positive, everyone, prevalence)
        place: dict[str, Any] = {"threshold": threshold, "beta": beta, "max_fpr": max_fpr}
        areas = mass_gradient(counts, *there, name, **place)
        return _carried_back(areas, positive, everyone, prevalence)
    if name == "prevalence":
        rows, ones = float(everyone.sum()), np.ones(len(everyone))
        share = positive.sum(axis=-1) / rows
        by_cell = np.multiply.outer((1 - share) / rows, ones), np.multiply.outer(share / rows, ones)
        return MassGradient(share, by_cell[0], -by_cell[1], _EXACT / rows)
    if FACTS[name].family != "threshold":
        if positive.ndim == 1 or name != "partial_roc_auc":
            return _area(counts, positive, everyone, name, max_fpr)
        found_each = [_area(counts, row, everyone, name, max_fpr) for row in positive]
        parts = ("value", "positive", "negative", "rounding")
        return MassGradient(*(np.array([getattr(e, part) for e in found_each]) for part in parts))
    return _point(positive, everyone, _flagged(counts, name, threshold, top), name, beta)


def metric_values(
    counts: ScoreCounts,
    positive: FloatArray,
    everyone: FloatArray,
    name: str,
    *,
    threshold: float | None = None,
    top: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    prevalence: float | None = None,
) -> FloatArray:
    """Return a metric at several numbers of positives in the cells, a row of `positive` each."""
    if prevalence is not None:
        positive, everyone = carried_masses(positive, everyone, prevalence)
    if name == "prevalence":
        return np.asarray(positive.sum(axis=-1) / everyone.sum(axis=-1))
    if name == "partial_roc_auc":
        rows = positive.reshape(-1, positive.shape[-1])
        beside = np.broadcast_to(everyone, positive.shape).reshape(rows.shape)
        values = [
            partial_roc_auc(_masses(row, other), read_max_fpr(max_fpr)).value
            for row, other in zip(rows, beside, strict=True)
        ]
        return np.array(values).reshape(positive.shape[:-1])
    if name == "average_precision":
        return np.asarray(_mean_precision(_masses(positive, everyone))[0])
    if FACTS[name].family != "threshold":
        return np.asarray(_influence(counts, _masses(positive, everyone), name, max_fpr).value)
    above = _flagged(counts, name, threshold, top)
    return _of_table(_table(positive, everyone, above), name, beta)


def carried_masses(
    positive: FloatArray, everyone: FloatArray, prevalence: float
) -> tuple[FloatArray, FloatArray]:
    """Return as many rows of which another share is positive, each class scoring as it does here.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.mass_gradients import carried_masses
    >>> carried_masses(np.array([1.0, 1.0]), np.array([1.0, 3.0]), 0.25)
    (array([0.5, 0.5]), array([0.5, 3.5]))
    """
    rows, total, others = _totals(positive, everyone)
    found = positive * (prevalence * rows / total)
    return found, found + (everyone - positive) * ((1 - prevalence) * rows / others)


def _carried_back(
    there: MassGradient, positive: FloatArray, everyone: FloatArray, prevalence: float
) -> MassGradient:
    """Return how a metric there moves with the masses here: only where each class lies counts."""
    rows, total, others = _totals(positive, everyone)
    scales = prevalence * rows / total, (1 - prevalence) * rows / others
    return MassGradient(
        there.value,
        scales[0] * _centred(there.positive, positive / total),
        scales[1] * _centred(there.negative, (everyone - positive) / others),
        np.maximum(*scales) * there.rounding,
    )


def _totals(
    positive: FloatArray, everyone: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the numbers of all rows, of positives and of negatives, in one column each."""
    rows, total = everyone.sum(axis=-1, keepdims=True), positive.sum(axis=-1, keepdims=True)
    return rows, total, np.maximum(rows - total, _NO_NEGATIVES * rows)


def _flagged(
    counts: ScoreCounts, name: str, threshold: float | None, top: float | None
) -> FloatArray:
    """Return which part of each cell is flagged."""
    if top is not None:
        return top_parts(counts, top)
    if threshold is None:
        raise InputError(f"{name} needs a threshold; rows with at least this score count")
    above = np.zeros(len(counts.score))
    above[counts.head_cells(threshold)] = 1.0
    return above


def _area(
    counts: ScoreCounts,
    positive: FloatArray,
    everyone: FloatArray,
    name: str,
    max_fpr: float | None,
) -> MassGradient:
    """Turn derivatives towards distributions into derivatives by masses."""
    rows, total, others = _totals(positive, everyone)
    mass = _masses(positive, everyone)
    area = _influence(counts, mass, name, max_fpr)
    everywhere = _centred(area.everyone, mass.everyone) / rows
    share, rate = total / rows, np.asarray(area.prevalence)[..., None]
    by_positive = _centred(area.positive, mass.positive) / total + everywhere
    by_negative = _centred(area.negative, mass.negative) / others + everywhere
    slopes = by_positive + rate * (1 - share) / rows, by_negative - rate * share / rows
    return MassGradient(area.value, *slopes, _SUMMED * _largest(np.array(slopes), (0, -1)))


def _influence(counts: ScoreCounts, mass: Recovered, name: str, max_fpr: float | None) -> Influence:
    """Return an area or a mean loss with its derivatives towards the distributions."""
    if name == "average_precision":
        return _precision_influence(mass)
    if FACTS[name].family == "loss":
        return mean_loss(counts, mass, name)
    if name == "partial_roc_auc":
        return partial_roc_auc(mass, read_max_fpr(max_fpr))
    return AREA_GRADIENTS[name](mass)


def _mean_precision(mass: Recovered) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return average precision, the precision at each cell, and prevalence over flagged share."""
    tpr, flagged = np.cumsum(mass.positive, axis=-1), np.cumsum(mass.everyone, axis=-1)
    share = np.asarray(mass.prevalence)[..., None]
    inverse = np.divide(share, flagged, out=np.zeros(tpr.shape), where=flagged > 0)
    precision = np.where(flagged > 0, inverse * tpr, tpr > 0)
    return (mass.positive * precision).sum(axis=-1), precision, inverse


def _precision_influence(mass: Recovered) -> Influence:
    """Return average precision by plugging in, of several sets at once."""
    value, precision, inverse = _mean_precision(mass)
    share = np.asarray(mass.prevalence)
    # A row adds to recall and flagged share at its own cell and all lower ones.
    lower_recall, lower_flagged = (
        np.cumsum((each * mass.positive)[..., ::-1], axis=-1)[..., ::-1]
        for each in (inverse, inverse * precision)
    )
    return Influence(
        value[()],
        positive=lower_recall + precision,
        everyone=-lower_flagged / share[..., None],
        prevalence=(value / share)[()],
    )


def _largest(values: FloatArray, axis: Any) -> FloatArray:
    """Return the largest finite size of values, in one column."""
    size = np.abs(values)
    return np.asarray(np.where(np.isfinite(size), size, 0.0).max(axis=axis)[..., None])


def _masses(positive: FloatArray, everyone: FloatArray) -> Recovered:
    """Return the distributions of positives, negatives and all rows over the cells."""
    rows, total, others = _totals(positive, everyone)
    share = (total / rows)[..., 0][()]
    return Recovered(positive / total, (everyone - positive) / others, everyone / rows, share)


def _centred(influence: Any, mass: FloatArray) -> FloatArray:
    """Return how a distribution's point mass moves the value, since all masses add up to one."""
    value = np.asarray(influence, dtype=float) + np.zeros(mass.shape)
    return np.asarray(value - (mass * value).sum(axis=-1, keepdims=True))


def _point(
    positive: FloatArray, everyone: FloatArray, above: FloatArray, name: str, beta: float
) -> MassGradient:
    """Return a metric of flagged rows (a part of each cell), with its gradient."""
    table, outer = _table(positive, everyone, above), np.multiply.outer
    slopes, rounding = _slopes(table, name, beta)
    return MassGradient(
        _of_table(table, name, beta)[()],
        outer(slopes[0], above) + outer(slopes[2], 1 - above),
        outer(slopes[1], above) + outer(slopes[3], 1 - above),
        rounding,
    )


def _slopes(table: FloatArray, name: str, beta: float) -> tuple[FloatArray, FloatArray]:
    """Return how a metric moves with each part of its table, and how far rounding puts that off."""
    rows, total = table.sum(axis=0), table[0] + table[2]
    if name in _COUNTED:
        # What a part counts does not depend on the others: parts that count alike do so exactly.
        counts = np.array(_COUNTED[name](beta), dtype=float)
        slopes = np.subtract.outer(counts, counts @ table / rows) / rows
        return slopes, _EXACT * _largest(slopes, 0)
    # Positives may be none, or fewer, by the chance of the draw: a step must still be felt.
    step = _CELL_STEP * np.maximum(np.minimum(total, rows - total), _CELL_STEP * rows)
    # Where a cell is empty the slope is that on the side where tables exist.
    inside = np.maximum(table, step)
    steps = np.multiply.outer(np.eye(4)[:, :, None] * np.array([1.0, -1.0]), step)
    ends = _of_table(inside[:, None, None] + steps, name, beta)
    # A step down to an empty cell may have no end, that of a ratio; then a step up tells.
    ended = np.isfinite(ends[:, 1])
    lower = np.where(ended, ends[:, 1], _of_table(inside, name, beta))
    with np.errstate(invalid="ignore"):
        slopes = (ends[:, 0] - lower) / np.where(ended, 2 * step, step)
    slopes = np.nan_to_num(slopes, posinf=0.0, neginf=0.0)
    # A part of the table that is not in the metric moves it by rounding alone, which would leave a
    # variance of 1e-24 where every flagged row was looked at.
    slopes = np.where(np.abs(slopes) < _SLOPE_ROUNDING * np.abs(slopes).max(axis=0), 0.0, slopes)
    off = _ULPS * np.finfo(float).eps * _largest(ends, (0, 1)) / np.asarray(step)[..., None]
    return slopes, off + _SUMMED * _largest(slopes, 0)


def _table(positive: FloatArray, everyone: FloatArray, above: FloatArray) -> FloatArray:
    """Return true and false positives, false and true negatives; a column for each row."""
    # Each part is a sum of its own: as a difference it would be 0 up to rounding alone, and what
    # is 0/0 where all rows are flagged would be a number on one machine and none on another.
    others, below = everyone - positive, 1 - above
    return np.array([positive @ above, others @ above, positive @ below, others @ below])


def _of_table(table: FloatArray, name: str, beta: float) -> FloatArray:
    tp, fp, fn, tn = table
    size = table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = RatePoint(tp / (tp + fn), fp / (fp + tn), (tp + fn) / size, (tp + fp) / size)
        return read_metric([rates], name, beta)[0]
