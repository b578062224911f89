"""Models of the class, of the choice, or of both, given the columns.

Cook's eq. 14 and appendix B, and verification bias: imputation (Begg and Greenes), inverse
weighting, and both together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.assume.selection.binary_regression import LINKS, BinaryFit, fit_binary
from undercount.assume.selection.sample import SelectionSample, StandardColumns
from undercount.curve import FloatArray
from undercount.errors import InputError

# A stretch of the population that nobody looked at makes inverse weights meaningless there.
EMPTY_SHARE = 0.05
# With so many looked-at rows expected there, finding none has a chance of 1 in 1,000.
EXPECTED = 7.0
# Labels expected beyond a chance below which weights are taken to grow no further.
RARELY = 0.25


class Masses(NamedTuple):
    """Hold positive and negative mass a row, or their derivatives (one column a coefficient)."""

    positive: FloatArray
    negative: FloatArray


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """Regressions of the label and of being looked at on score, selecting score and X.

    One of them may be absent: inverse weighting needs the second alone, the other methods the
    first, and double robustness both.

    Attributes
    ----------
    outcome, selection : BinaryFit or None
        The two of them; the latter is a probit.
    keeps_labels : bool
        Whether a label found counts itself; Cook's methods take the model for every row.
    names : tuple of str
        Of the coefficients: those of the outcome, then those of the selection.
    least_chance : float
        Chances of being looked at below this count as this.

    Notes
    -----
    Assumes: given the columns, rows looked at and others have the same share of positives
    (missing at random).
    Wrong when: whoever chose knew more about the class than the columns say.
    """

    sample: SelectionSample
    weight: FloatArray
    design: FloatArray
    outcome: BinaryFit | None
    selection: BinaryFit | None
    keeps_labels: bool
    names: tuple[str, ...]
    least_chance: float = 0.0

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the outcome, then of the selection."""
        return np.concatenate([fit.coefficients for fit in self._fits])

    @property
    def covariance(self) -> FloatArray:
        """Inverse of the observed information; the two fits are independent of each other."""
        size = self.design.shape[1]
        result = np.zeros((size * len(self._fits),) * 2)
        for i, fit in enumerate(self._fits):
            result[i * size : (i + 1) * size, i * size : (i + 1) * size] = fit.covariance
        return result

    @property
    def log_likelihood(self) -> float:
        """Of the labels, of the choice, or of both, as far as they are modelled."""
        return sum(fit.log_likelihood for fit in self._fits)

    @property
    def outcome_places(self) -> slice:
        """Which coefficients belong to the outcome."""
        return slice(0, 0 if self.outcome is None else self.design.shape[1])

    @cached_property
    def propensity(self) -> FloatArray:
        """Probability of being looked at; 1 if that is not modelled."""
        if self.selection is None:
            return np.ones(len(self.weight))
        return np.maximum(self.selection.probability(self.design), self.least_chance)

    @property
    def inverse_chance(self) -> FloatArray:
        """Weight of each label: one over its propensity, or none if the model speaks instead."""
        return self.keeps_labels * self.sample.looked / self.propensity

    def masses(self) -> Masses:
        """Observed label where looked at, else the model; or weights 1/propensity; or both."""
        label, inverse = self.sample.label, self.inverse_chance
        if self.outcome is None:
            return Masses(inverse * label, inverse * (1 - label))
        expected = self.outcome.probability(self.design)
        positive = expected + inverse * (label - expected)
        return Masses(positive, 1 - positive)

    def slopes(self) -> Masses:
        """Differentiate the masses with respect to the coefficients."""
        label, inverse = self.sample.label, self.inverse_chance
        by_selection = []
        if self.selection is not None:
            density = self.selection.density(self.design)
            by_selection = [-inverse / self.propensity * density]
        if self.outcome is None:
            slope = by_selection[0][:, None] * self.design
            return Masses(label[:, None] * slope, (1 - label)[:, None] * slope)
        density = self.outcome.density(self.design)
        gap = label - self.outcome.probability(self.design)
        parts = [density * (1 - inverse), *(slope * gap for slope in by_selection)]
        slope = np.column_stack([part[:, None] * self.design for part in parts])
        return Masses(slope, -slope)

    def scores(self, column: int = 0, shift: float = 0.0) -> FloatArray:
        """Gradient of each row's log-likelihood, with one column moved by `shift`."""
        design = self.design.copy() if shift else self.design
        design[:, column] += shift
        parts = []
        if self.outcome is not None:
            slope = self.outcome.residual(design, self.sample.label)
            parts.append((self.sample.looked * slope)[:, None] * design)
        if self.selection is not None:
            slope = self.selection.residual(design, self.sample.looked)
            parts.append(slope[:, None] * design)
        return np.column_stack(parts)

    def alternatives(self) -> Iterator[tuple[FloatArray, "ColumnModel"]]:
        """Yield what each row might have been, with its chance: not looked at, positive, negative.

        Of the labels that a sample like this one might have held, the rarest carry the largest
        weights, and the sample itself mostly lacks them. Where fewer than `RARELY` labels were to
        be expected in all, weights are taken to grow no further: almost no sample holds one.
        """
        looked, chance, least = self.sample.looked, self.sample.looked, 0.0
        if self.selection is not None:
            chance = self.propensity
            order = np.argsort(chance)
            sums = np.cumsum((self.weight * chance)[order])
            least = float(chance[order][np.searchsorted(sums[:-1], RARELY)])
        positive = self.positive_chance()
        states = ((1 - chance, 0.0, 0.0), (chance * positive, 1.0, 1.0))
        for share, seen, label in (*states, (chance * (1 - positive), 1.0, 0.0)):
            rows = replace(
                self.sample, looked=np.full_like(looked, seen), label=np.full_like(looked, label)
            )
            yield share, replace(self, sample=rows, least_chance=least)

    def positive_chance(self) -> FloatArray:
        """Chance that a row is positive; inverse weighting borrows it for its error alone."""
        if self.outcome is not None:
            return self.outcome.probability(self.design)
        seen = (self.sample.looked == 1) & (self.weight > 0)
        design, label, weight = self.design[seen], self.sample.label[seen], self.weight[seen]
        try:
            fit = fit_binary(design, label, weight)
        except InputError:
            # One more row, spread over all labels and both classes, makes separated ones finite.
            twice, more = np.vstack([design, design]), 0.5 * weight / weight.sum()
            fit = fit_binary(twice, np.append(label, 1 - label), np.append(weight + more, more))
        return fit.probability(self.design)

    @property
    def _fits(self) -> list[BinaryFit]:
        return [fit for fit in (self.outcome, self.selection) if fit is not None]


def fit_columns(
    sample: SelectionSample,
    weight: FloatArray,
    columns: StandardColumns,
    method: str,
    link: str = "probit",
    near: ColumnModel | None = None,
) -> ColumnModel:
    """Fit any method but "unobserved"; a fit of the same rows under other weights speeds it up."""
    design, kept = columns.design, weight > 0
    seen = kept & (sample.looked == 1)
    labels = ["intercept", "score", *(["selection score"] if columns.other is not None else [])]
    labels += sample.names
    names: list[str] = []
    outcome = selection = None
    if method != "ipw":
        start = None if near is None or near.outcome is None else near.outcome.coefficients
        rows = (design[seen], sample.label[seen], weight[seen])
        outcome = fit_binary(*rows, link=LINKS[link], start=start)
        names += [f"outcome: {label}" for label in labels]
    if method in ("ipw", "doubly-robust"):
        selection = _fit_selection(sample, weight, design, kept, method)
        names += [f"selection: {label}" for label in labels]
    keeps_labels = method not in ("own-score", "observed-score")
    return ColumnModel(sample, weight, design, outcome, selection, keeps_labels, tuple(names))


def _fit_selection(
    sample: SelectionSample, weight: FloatArray, design: FloatArray, kept: np.ndarray, method: str
) -> BinaryFit:
    what = "which rows were looked at"
    try:
        fit = fit_binary(design[kept], sample.looked[kept], weight[kept], what=what)
    except InputError as error:
        raise InputError(
            f"{method} weighs each row by one over its chance of being looked at, and here some "
            f"rows had no chance at all ({error.message.marked}). Use 'own-score' or "
            "'begg-greenes', which extrapolate by a model and say so"
        ) from None
    chance = fit.probability(design)
    for name, ruler in (("score", design[:, 1]), ("fitted chance of being looked at", chance)):
        empty = empty_stretch(ruler, sample.looked, weight)
        share = float(weight[empty].sum() / weight.sum())
        expected = float(weight[empty] @ chance[empty])
        if share > EMPTY_SHARE and expected > EXPECTED:
            raise InputError(
                f"{method} needs every kind of row to have some chance of being looked at; got "
                f"{share:.0%} of the rows at one end of the {name} where nobody "
                "looked, as a hard cutoff makes. Use 'own-score' or 'begg-greenes', which "
                "extrapolate by a model and say so"
            )
    return fit


def empty_stretch(ruler: FloatArray, looked: FloatArray, weight: FloatArray) -> NDArray[np.bool_]:
    """Mark the rows beyond the lowest or the highest row looked at, whichever are more."""
    seen = ruler[(looked == 1) & (weight > 0)]
    below, above = ruler < seen.min(), ruler > seen.max()
    result: NDArray[np.bool_] = below if weight[below].sum() >= weight[above].sum() else above
    return result
