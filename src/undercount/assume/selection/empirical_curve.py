"""Read curve and metrics over the observed scores of all rows (the default third step)."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from undercount.assume.selection.column_model import ColumnModel, Masses
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.sample import SelectionSample
from undercount.curve import FloatArray, OperatingCurve, OperatingPoint

CHUNK = 1 << 15
# Half-width, in false-positive rate, over which the slope of the ROC curve is taken.
REACH = 0.03
STEP = 1e-6
_AREAS = ("roc_auc", "lift_auc")
RowModel: TypeAlias = ColumnModel | HiddenModel


class RowParts(NamedTuple):
    """Hold the masses of each row, and its first-order share in the coefficients (drift)."""

    positive: FloatArray
    negative: FloatArray
    drift: FloatArray

    def only(self, part: slice) -> "RowParts":
        """Return some of the rows."""
        return RowParts(*(column[part] for column in self))


@dataclass(frozen=True, eq=False)
class EmpiricalReader:
    """Average a model's masses over the rows, and follow each row's share in the result.

    Notes
    -----
    Assumes: the rows are a random sample of the population.
    Wrong when: rows were left out before anybody scored them.
    """

    sample: SelectionSample
    weight: FloatArray
    model: RowModel

    @cached_property
    def masses(self) -> Masses:
        """Masses of the model."""
        return self.model.masses()

    @cached_property
    def _every(self) -> OperatingCurve:
        """Rates at every distinct score; prevalence is the mean mass."""
        positive, negative = (self.sample.heads(self.weight * mass) for mass in self.masses)
        return OperatingCurve(
            np.append(np.inf, self.sample.counts.score),
            positive / positive[-1],
            negative / negative[-1],
            float(positive[-1] / (positive[-1] + negative[-1])),
        )

    @cached_property
    def curve(self) -> OperatingCurve:
        """Rates at every distinct score that carries any mass."""
        every = self._every
        moved = (np.diff(every.tpr) != 0) | (np.diff(every.fpr) != 0)
        if moved.all():
            return every
        kept = np.append(True, moved)
        return OperatingCurve(
            every.threshold[kept], every.tpr[kept], every.fpr[kept], every.prevalence
        )

    def value(self, metric: str, threshold: float | None) -> float:
        """Value of a metric."""
        source = self.curve if threshold is None else self.curve.at(threshold)
        return float(getattr(source, metric))

    def variance(self, metric: str, threshold: float | None) -> float:
        """Delta-method variance of a metric: rows and coefficients vary together.

        Where labels count themselves, few of them hardly show the spread that they have; so it is
        at least the variance averaged over the labels that the model expects. Of an area under
        weighted labels it is the mean of the two: a heavy one to be expected moves it less far than
        its influence says.
        """
        found = self.found_variance(metric, threshold)
        if isinstance(self.model, HiddenModel) or not self.model.keeps_labels:
            return found
        squares = [
            (self.weight * chance) @ self.influence(metric, threshold, rows) ** 2
            for chance, rows in self._alternatives
        ]
        expected = float(sum(squares) / self.weight.sum() ** 2)
        weighted = self.model.selection is not None
        return (found + expected) / 2 if weighted and metric in _AREAS else max(found, expected)

    def found_variance(self, metric: str, threshold: float | None) -> float:
        """Delta-method variance by the labels found alone."""
        influence = self.influence(metric, threshold, self._parts)
        return float(self.weight @ influence**2 / self.weight.sum() ** 2)

    def influence(self, metric: str, threshold: float | None, rows: RowParts) -> FloatArray:
        """First-order share in a metric of each row, as it is or as it might have been."""
        if threshold is not None:
            return self._point_influence(metric, threshold, rows)
        prevalence = self._prevalence_influence(rows)
        if metric == "prevalence":
            return prevalence
        area = self._auc_influence(rows)
        if metric == "roc_auc":
            return area
        # lift_auc = π/2 + (1-π) AUC
        share = self.curve.prevalence
        return (0.5 - self.curve.roc_auc) * prevalence + (1 - share) * area

    def roc(self, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
        """True-positive rates at given false-positive rates, and their covariance."""
        curve, place = self._every, self._place(grid)
        reach = np.minimum(REACH, np.minimum(grid, 1 - grid))
        low, high = grid - reach, grid + reach
        rise = np.interp(high, curve.fpr, curve.tpr) - np.interp(low, curve.fpr, curve.tpr)
        slope = rise / (high - low)
        covariance = np.zeros((len(grid), len(grid)))
        for start in range(0, len(self.weight), CHUNK):
            part = slice(start, start + CHUNK)
            tpr, fpr = self._rate_influence(place, self._parts.only(part), part)
            influence = tpr - slope * fpr
            covariance += (influence.T * self.weight[part]) @ influence
        return np.interp(grid, curve.fpr, curve.tpr), covariance / self.weight.sum() ** 2

    def effective_labels(self, grid: FloatArray) -> FloatArray:
        """Count the labelled positives that the rows beyond each point are worth.

        A positive that happened not to be looked at would have come with the weight that rows have
        there, so that few of them can hide where weights are small and many where they are large.
        Infinitely many where a smooth model speaks of every row and shows all the spread it has.
        """
        if not isinstance(self.model, ColumnModel) or self.model.selection is None:
            return np.full(len(grid), np.inf)
        curve = self._every
        place = self._place(grid)
        inverse = self.model.inverse_chance
        first, second = (self.sample.heads(self.weight * part) for part in (inverse, inverse**2))
        with np.errstate(invalid="ignore"):
            above = second[place] / first[place]
            below = (second[-1] - second[place]) / (first[-1] - first[place])
        typical = np.where(curve.tpr[place] > 0.5, below, above)  # noqa: PLR2004 - the rarer side
        total = self.weight.sum() * self._totals[0]
        return np.asarray(total / np.where(np.isfinite(typical), typical, inverse.max()))

    @cached_property
    def _slopes(self) -> Masses:
        return self.model.slopes()

    @cached_property
    def _parts(self) -> RowParts:
        return self._parts_of(self.model)

    @cached_property
    def _alternatives(self) -> list[tuple[FloatArray, RowParts]]:
        """What each row might have been, with its chance."""
        if isinstance(self.model, HiddenModel):
            return []
        found = self.model.alternatives()
        return [(chance, self._parts_of(model)) for chance, model in found]

    def _parts_of(self, model: RowModel) -> RowParts:
        drift = model.scores() @ self.model.covariance * self.weight.sum()
        return RowParts(*model.masses(), drift)

    @cached_property
    def _totals(self) -> tuple[float, float]:
        total = self.weight.sum()
        return tuple(float(self.weight @ mass / total) for mass in self.masses)  # type: ignore[return-value]

    @cached_property
    def _slope_heads(self) -> tuple[FloatArray, FloatArray]:
        """Mean derivative of the mass at or above each distinct score, for both classes."""
        positive, negative = (
            np.column_stack([self.sample.heads(self.weight * slope) for slope in slopes.T])
            for slopes in self._slopes
        )
        return positive / self.weight.sum(), negative / self.weight.sum()

    def _place(self, grid: FloatArray) -> np.ndarray:
        """Find the corner at or beyond each false-positive rate."""
        curve = self._every
        return np.minimum(np.searchsorted(curve.fpr, grid), len(curve.threshold) - 1)

    def _rate_influence(
        self, place: np.ndarray, rows: RowParts, part: slice
    ) -> tuple[FloatArray, FloatArray]:
        """Shares of some rows in both rates at several corners of the curve."""
        result = []
        above = self.sample.cell[part][:, None] < place
        rates = (self._every.tpr[place], self._every.fpr[place])
        parts = zip(rows[:2], self._totals, self._slope_heads, rates, strict=True)
        for mass, total, heads, rate in parts:
            own = mass[:, None] * (above - rate)
            result.append((own + rows.drift @ (heads[place] - rate[:, None] * heads[-1]).T) / total)
        return result[0], result[1]

    def _prevalence_influence(self, rows: RowParts) -> FloatArray:
        positive, negative = (
            mass + rows.drift @ heads[-1]
            for mass, heads in zip(rows[:2], self._slope_heads, strict=True)
        )
        share = self.curve.prevalence
        return np.asarray(((1 - share) * positive - share * negative) / sum(self._totals))

    def _auc_influence(self, rows: RowParts) -> FloatArray:
        """DeLong's placement values, plus what the coefficients add."""
        curve, cell, total = self._every, self.sample.cell, self.weight.sum()
        positive, negative = self._totals
        # Share of negatives below a score, and of positives above it, ties counting one half.
        below = 1 - 0.5 * (curve.fpr[cell] + curve.fpr[cell + 1])
        above = 0.5 * (curve.tpr[cell] + curve.tpr[cell + 1])
        own_positive = (below - curve.roc_auc) / positive
        own_negative = (above - curve.roc_auc) / negative
        by_positive, by_negative = self._slopes
        drift = (self.weight * own_positive) @ by_positive
        drift += (self.weight * own_negative) @ by_negative
        result: FloatArray = rows.positive * own_positive
        result = result + rows.negative * own_negative
        result += rows.drift @ (drift / total)
        return result

    def _point_influence(self, metric: str, threshold: float, rows: RowParts) -> FloatArray:
        place = np.array([np.count_nonzero(self.sample.counts.score >= threshold)])
        tpr, fpr = self._rate_influence(place, rows, slice(None))
        by_tpr, by_fpr, by_prevalence = point_gradient(self.curve.at(threshold), metric)
        result: FloatArray = by_tpr * tpr[:, 0] + by_fpr * fpr[:, 0]
        result += by_prevalence * self._prevalence_influence(rows)
        return result


def point_gradient(point: OperatingPoint, metric: str) -> FloatArray:
    """Differentiate a metric by true-positive rate, false-positive rate and prevalence."""
    centre = np.array([point.tpr, point.fpr, point.prevalence])
    result = np.empty(3)
    for i in range(3):
        low, high = centre.copy(), centre.copy()
        low[i], high[i] = max(centre[i] - STEP, 0.0), min(centre[i] + STEP, 1.0)
        ends = [
            float(getattr(OperatingPoint(point.threshold, *map(float, end)), metric))
            for end in (low, high)
        ]
        result[i] = (ends[1] - ends[0]) / (high[i] - low[i])
    return result
