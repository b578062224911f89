"""Verification bias: imputation (Begg and Greenes), inverse weighting, and both together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercount.assume.selection.bivariate_normal import log_density
from undercount.assume.selection.latent_models import Masses
from undercount.assume.selection.probit import ProbitFit, fit_probit, residual
from undercount.assume.selection.sample import SelectionSample, StandardColumns
from undercount.curve import FloatArray
from undercount.errors import InputError

# A stretch of the population that nobody looked at makes inverse weights meaningless there.
EMPTY_SHARE = 0.05
# With so many looked-at rows expected there, finding none has a chance of 1 in 1,000.
EXPECTED = 7.0


@dataclass(frozen=True, eq=False)
class VerificationModel:
    """Probits of the label and of being looked at, given score, selecting score and X.

    One of them may be absent: Begg and Greenes need the first, inverse weighting the second.

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
    def propensity(self) -> FloatArray:
        """Probability of being looked at."""
        if self.selection is None:
            return np.full(len(self.weight), np.nan)
        return self.selection.probability(self.design)

    @property
    def inverse_chance(self) -> FloatArray:
        """Weight of each row looked at: one over its propensity, or 1 if that is not modelled."""
        looked = self.sample.looked
        return looked if self.selection is None else looked / self.propensity

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

    def influence(self) -> FloatArray:
        """First-order share of each row in the coefficients: their mean is estimate - truth."""
        parts = []
        total = self.weight.sum()
        if self.outcome is not None:
            slope = residual(self.design @ self.outcome.coefficients, self.sample.label)
            scores = (self.sample.looked * slope)[:, None] * self.design
            parts.append(scores @ self.outcome.covariance * total)
        if self.selection is not None:
            slope = residual(self.design @ self.selection.coefficients, self.sample.looked)
            parts.append(slope[:, None] * self.design @ self.selection.covariance * total)
        return np.column_stack(parts)

    @property
    def _fits(self) -> list[ProbitFit]:
        return [fit for fit in (self.outcome, self.selection) if fit is not None]


def fit_verification(
    sample: SelectionSample, weight: FloatArray, columns: StandardColumns, method: str
) -> VerificationModel:
    """Fit "begg-greenes", "ipw" or "doubly-robust"."""
    design = columns.design(other=True, extra=True)
    kept = weight > 0
    seen = kept & (sample.looked == 1)
    labels = ["intercept", "score", *(["selection score"] if columns.other is not None else [])]
    labels += sample.names
    names: list[str] = []
    outcome = selection = None
    if method != "ipw":
        outcome = fit_probit(design[seen], sample.label[seen], weight[seen])
        names += [f"outcome: {label}" for label in labels]
    if method != "begg-greenes":
        selection = _fit_selection(sample, weight, design, kept, method)
        names += [f"selection: {label}" for label in labels]
    return VerificationModel(sample, weight, design, outcome, selection, tuple(names))


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
