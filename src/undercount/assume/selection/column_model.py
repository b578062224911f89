"""Models of the class, of the choice, or of both, given the columns.

Cook's eq. 14 and appendix B, and verification bias: imputation (Begg and Greenes), inverse
weighting, and both together.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.assume.selection.bivariate_normal import log_density
from undercount.assume.selection.probit import ProbitFit, fit_probit, residual
from undercount.assume.selection.sample import SelectionSample, StandardColumns
from undercount.curve import FloatArray
from undercount.errors import InputError

# A stretch of the population that nobody looked at makes inverse weights meaningless there.
EMPTY_SHARE = 0.05
# With so many looked-at rows expected there, finding none has a chance of 1 in 1,000.
EXPECTED = 7.0


class Masses(NamedTuple):
    """Hold positive and negative mass a row, or their derivatives (one column a coefficient)."""

    positive: FloatArray
    negative: FloatArray


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """Probits of the label and of being looked at, given score, selecting score and X.

    One of them may be absent: inverse weighting needs the second alone, the other methods the
    first, and double robustness both.

    Attributes
    ----------
    outcome, selection : ProbitFit or None
        The two probits.
    keeps_labels : bool
        Whether a label found counts itself; Cook's methods take the model for every row.
    names : tuple of str
        Of the coefficients: those of the outcome, then those of the selection.

    Notes
    -----
    Assumes: given the columns, rows looked at and others have the same share of positives
    (missing at random).
    Wrong when: whoever chose knew more about the class than the columns say.
    """

    sample: SelectionSample
    weight: FloatArray
    design: FloatArray
    outcome: ProbitFit | None
    selection: ProbitFit | None
    keeps_labels: bool
    names: tuple[str, ...]

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the outcome, then of the selection."""
        return np.concatenate([fit.coefficients for fit in self._fits])

    @property
    def covariance(self) -> FloatArray:
        """Inverse of the observed information; the two probits are independent of each other."""
        size = self.design.shape[1]
        result = np.zeros((size * len(self._fits),) * 2)
        for i, fit in enumerate(self._fits):
            result[i * size : (i + 1) * size, i * size : (i + 1) * size] = fit.covariance
        return result

    @property
    def outcome_places(self) -> slice:
        """Which coefficients belong to the outcome."""
        return slice(0, 0 if self.outcome is None else self.design.shape[1])

    @cached_property
    def propensity(self) -> FloatArray:
        """Probability of being looked at; 1 if that is not modelled."""
        if self.selection is None:
            return np.ones(len(self.weight))
        return self.selection.probability(self.design)

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
            density = np.exp(log_density(self.design @ self.selection.coefficients))
            by_selection = [-inverse / self.propensity * density]
        if self.outcome is None:
            slope = by_selection[0][:, None] * self.design
            return Masses(label[:, None] * slope, (1 - label)[:, None] * slope)
        density = np.exp(log_density(self.design @ self.outcome.coefficients))
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
            slope = residual(design @ self.outcome.coefficients, self.sample.label)
            parts.append((self.sample.looked * slope)[:, None] * design)
        if self.selection is not None:
            slope = residual(design @ self.selection.coefficients, self.sample.looked)
            parts.append(slope[:, None] * design)
        return np.column_stack(parts)

    @property
    def _fits(self) -> list[ProbitFit]:
        return [fit for fit in (self.outcome, self.selection) if fit is not None]


def fit_columns(
    sample: SelectionSample,
    weight: FloatArray,
    columns: StandardColumns,
    method: str,
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
        outcome = fit_probit(design[seen], sample.label[seen], weight[seen], start=start)
        names += [f"outcome: {label}" for label in labels]
    if method in ("ipw", "doubly-robust"):
        selection = _fit_selection(sample, weight, design, kept, method)
        names += [f"selection: {label}" for label in labels]
    keeps_labels = method not in ("own-score", "observed-score")
    return ColumnModel(sample, weight, design, outcome, selection, keeps_labels, tuple(names))


def _fit_selection(
    sample: SelectionSample, weight: FloatArray, design: FloatArray, kept: np.ndarray, method: str
) -> ProbitFit:
    what = "which rows were looked at"
    try:
        fit = fit_probit(design[kept], sample.looked[kept], weight[kept], what=what)
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
