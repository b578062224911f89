"""Read curve and metrics over the observed scores of all rows (the default third step)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from undercount.assume.selection.column_model import ColumnModel, Masses
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.sample import SelectionSample, UnitSquares
from undercount.curve import FloatArray, OperatingCurve
from undercount.infer.mass_gradients import MassGradient, mass_gradient
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import Target

SCORES_PER_CHUNK = 1 << 15
# Half-width, in false-positive rate, over which the slope of the ROC curve is taken.
SLOPE_REACH = 0.03
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


class Contributions(NamedTuple):
    """Hold what each row adds to a metric, and the variance that the class of a row leaves."""

    influence: FloatArray
    noise: FloatArray


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
    _gradients: dict[MetricAt, MassGradient] = field(default_factory=dict)

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

    def value(self, at: MetricAt) -> float:
        """Value of a metric."""
        return float(self.gradient(at).value)

    def variance(self, at: MetricAt, target: Target = "population") -> float:
        """Delta-method variance of a metric: rows and coefficients vary together.

        Where labels count themselves, few of them hardly show the spread that they have; so it is
        at least the variance averaged over the labels that the model expects. Of an area under
        weighted labels it is the mean of the two: a heavy one to be expected moves it less far than
        its influence says.
        """
        found = self.found_variance(at, target)
        if target == "dataset" or not self.expects_other_labels:
            return found
        effect = self.sample.cluster_effect(self.weight, self.contributions(at).influence)
        expected = effect * expected_variance([SignedReader(1.0, self, at)])
        return join_variances(found, expected, at.metric, weighted=self.weighs)

    @property
    def expects_other_labels(self) -> bool:
        """Whether labels count themselves, so that others might have been found."""
        return not isinstance(self.model, HiddenModel) and self.model.keeps_labels

    @property
    def weighs(self) -> bool:
        """Whether labels are weighted by the chance of being looked at."""
        return isinstance(self.model, ColumnModel) and self.model.selection is not None

    def found_variance(self, at: MetricAt, target: Target = "population") -> float:
        """Delta-method variance by the labels found alone."""
        contributions = self.contributions(at, target)
        return self.sample.variance(self.weight, contributions.influence, contributions.noise)

    def contributions(self, at: MetricAt, target: Target = "population") -> "Contributions":
        """Return what each row adds to a metric, and the variance that its own class leaves open.

        For a population rows are drawn anew. Of these very rows nothing but their classes is
        unknown: what is estimated of a row less its class, which the label tells or chance.
        """
        gradient, total = self.gradient(at), float(self.weight.sum())
        if target == "population":
            return Contributions(self.influence(gradient, self._parts), np.zeros(len(self.weight)))
        cell, chance = self.sample.cell, self.model.positive_chance()
        looked, label = self.sample.looked == 1, self.sample.label
        expected = np.where(looked, label, chance)
        parts = self._parts._replace(
            positive=self._parts.positive - expected, negative=self._parts.negative - 1 + expected
        )
        turned = total * (gradient.positive - gradient.negative)[cell]
        noise = np.where(looked, 0.0, turned**2 * chance * (1 - chance))
        return Contributions(self.influence(gradient, parts), noise)

    def influence(self, gradient: MassGradient, rows: RowParts) -> FloatArray:
        """First-order share in a metric of each row, as it is or as it might have been."""
        cell, total = self.sample.cell, float(self.weight.sum())
        by_positive, by_negative = gradient.positive[cell], gradient.negative[cell]
        positive, negative = self._slopes
        drift = (self.weight * by_positive) @ positive + (self.weight * by_negative) @ negative
        own: FloatArray = total * (rows.positive * by_positive + rows.negative * by_negative)
        return own + rows.drift @ drift

    def gradient(self, at: MetricAt) -> MassGradient:
        """Return a metric of the cells' masses, here or where another share is positive."""
        if at not in self._gradients:
            self._gradients[at] = self._find_gradient(at)
        return self._gradients[at]

    def _find_gradient(self, at: MetricAt) -> MassGradient:
        positive, negative = self.cell_masses
        counts, name = self.sample.counts, at.metric
        if at.prevalence is None:
            return mass_gradient(counts, positive, positive + negative, name, **at.place)
        shares, parts = (at.prevalence, 1 - at.prevalence), []
        scaled = [
            share * mass / mass.sum()
            for share, mass in zip(shares, (positive, negative), strict=True)
        ]
        there = mass_gradient(counts, scaled[0], scaled[0] + scaled[1], name, **at.place)
        for slope, share, mass in zip(
            (there.positive, there.negative), shares, (positive, negative), strict=True
        ):
            total = mass.sum()
            parts.append(share / total * (slope - (mass / total) @ slope))
        return MassGradient(there.value, parts[0], parts[1], there.rounding)

    @cached_property
    def cell_masses(self) -> Masses:
        """Masses of each distinct score."""
        size = len(self.sample.counts.score)
        sums = [np.bincount(self.sample.cell, self.weight * mass, size) for mass in self.masses]
        return Masses(np.asarray(sums[0], dtype=float), np.asarray(sums[1], dtype=float))

    def roc(self, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
        """True-positive rates at given false-positive rates, and their covariance."""
        curve, place = self._every, self._place(grid)
        reach = np.minimum(SLOPE_REACH, np.minimum(grid, 1 - grid))
        low, high = grid - reach, grid + reach
        rise = np.interp(high, curve.fpr, curve.tpr) - np.interp(low, curve.fpr, curve.tpr)
        slope = rise / (high - low)
        sums = UnitSquares(self.sample.unit, len(grid))
        for start in range(0, len(self.weight), SCORES_PER_CHUNK):
            part = slice(start, start + SCORES_PER_CHUNK)
            tpr, fpr = self._rate_influence(place, self._parts.only(part), part)
            sums.add(part, self.weight[part], tpr - slope * fpr)
        covariance = sums.total() / self.weight.sum() ** 2
        return np.interp(grid, curve.fpr, curve.tpr), covariance

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
    def alternatives(self) -> list[tuple[FloatArray, RowParts]]:
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


class SignedReader(NamedTuple):
    """Hold a term of a sum of metrics: plus or minus what a reader says of a metric at a place."""

    sign: float
    reader: EmpiricalReader
    at: MetricAt


def expected_variance(terms: Sequence[SignedReader]) -> float:
    """Return the variance of a sum of metrics over what each row might have been.

    Chances of models on the same rows differ a little; their mean is taken.
    """
    first, variance = terms[0].reader, 0.0
    for states in zip(*(term.reader.alternatives for term in terms), strict=True):
        chance = np.mean([share for share, _ in states], axis=0)
        influence = np.zeros(len(chance))
        for (sign, reader, at), (_, parts) in zip(terms, states, strict=True):
            influence += sign * reader.influence(reader.gradient(at), parts)
        variance += first.sample.row_variance(first.weight, np.sqrt(chance) * influence)
    return variance


def join_variances(found: float, expected: float, metric: str, *, weighted: bool) -> float:
    """Return the variance by the labels found and by those that were to be expected."""
    return (found + expected) / 2 if weighted and metric in _AREAS else max(found, expected)
