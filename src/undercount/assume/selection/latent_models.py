"""Fit the models with a latent propensity (Cook's step 2): eq. 14, appendix B and eq. 15."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from undercount.assume.selection.biprobit import (
    BiprobitFit,
    CensoredRows,
    fit_biprobit,
    fit_given_correlation,
    refit_biprobit,
    row_expansion,
)
from undercount.assume.selection.bivariate_normal import log_density
from undercount.assume.selection.probit import ProbitFit, fit_probit, inverse, residual
from undercount.assume.selection.sample import SelectionSample, StandardColumns
from undercount.curve import FloatArray


class Masses(NamedTuple):
    """Hold positive and negative mass a row, or their derivatives (one column a coefficient)."""

    positive: FloatArray
    negative: FloatArray


@dataclass(frozen=True, eq=False)
class OutcomeModel:
    """Probit of the label on (1, a) or (1, a, b) among the rows looked at: eq. 14, appendix B.

    Notes
    -----
    Assumes: a row was chosen by the columns alone, and the class follows a probit in them.
    Wrong when: whoever chose knew more about the class than the columns say.
    """

    sample: SelectionSample
    weight: FloatArray
    design: FloatArray
    fit: ProbitFit
    names: tuple[str, ...]

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the probit."""
        return self.fit.coefficients

    @property
    def covariance(self) -> FloatArray:
        """Inverse of the observed information."""
        return self.fit.covariance

    @property
    def outcome(self) -> slice:
        """Which coefficients belong to the outcome."""
        return slice(0, len(self.coefficients))

    def masses(self) -> Masses:
        """Probability of each class, for every row, looked at or not."""
        positive = self.fit.probability(self.design)
        return Masses(positive, 1 - positive)

    def slopes(self) -> Masses:
        """Differentiate the masses with respect to the coefficients."""
        slope = np.exp(log_density(self.design @ self.coefficients))[:, None] * self.design
        return Masses(slope, -slope)

    def scores(self, column: int = 0, shift: float = 0.0) -> FloatArray:
        """Gradient of each row's log-likelihood, with one column moved by `shift`."""
        design = self.design.copy() if shift else self.design
        design[:, column] += shift
        slope = residual(design @ self.coefficients, self.sample.label)
        result: FloatArray = (self.sample.looked * slope)[:, None] * design
        return result

    def influence(self, scores: FloatArray | None = None) -> FloatArray:
        """First-order share of each row in the coefficients: their mean is estimate - truth."""
        given = self.scores() if scores is None else scores
        result: FloatArray = given @ self.covariance * self.weight.sum()
        return result


def fit_outcome(
    sample: SelectionSample,
    weight: FloatArray,
    columns: StandardColumns,
    *,
    other: bool,
    start: FloatArray | None,
) -> OutcomeModel:
    """Fit own-score (``other=False``) or observed-score (``other=True``)."""
    design = columns.design(other=other, extra=False)
    seen = (sample.looked == 1) & (weight > 0)
    fit = fit_probit(design[seen], sample.label[seen], weight[seen], start=start)
    names = ("outcome: intercept", "outcome: score", "outcome: selection score")
    return OutcomeModel(sample, weight, design, fit, names[: design.shape[1]])


@dataclass(frozen=True, eq=False)
class HiddenModel:
    """Bivariate probit of being looked at and of the label: eq. 15.

    With `fixed`, the error correlation is taken as known: a point of the profile.

    Notes
    -----
    Assumes: the unseen parts of the choice and of the class are jointly normal, and X moves the
    choice but, given the score, not the class.
    Wrong when: those shapes fail; then the data, through the shape alone, mislead.
    """

    rows: CensoredRows
    fit: BiprobitFit
    names: tuple[str, ...]
    fixed: bool = False

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of selection, outcome and, unless fixed, the error correlation."""
        if self.fixed:
            return self.fit.coefficients
        return np.append(self.fit.coefficients, self.fit.error_correlation)

    @property
    def covariance(self) -> FloatArray:
        """Inverse of the observed information."""
        size = len(self.coefficients)
        return inverse(-self.fit.hessian[:size, :size])

    @property
    def outcome(self) -> slice:
        """Which coefficients belong to the outcome."""
        size = self.rows.selection.shape[1]
        return slice(size, size + self.rows.outcome.shape[1])

    def masses(self) -> Masses:
        """Probability of each class, for every row, looked at or not."""
        positive: FloatArray = ndtr(self.rows.outcome @ self.coefficients[self.outcome])
        return Masses(positive, 1 - positive)

    def slopes(self) -> Masses:
        """Differentiate the masses with respect to the coefficients."""
        slope = np.zeros((len(self.rows.label), len(self.coefficients)))
        predictor = self.rows.outcome @ self.coefficients[self.outcome]
        slope[:, self.outcome] = np.exp(log_density(predictor))[:, None] * self.rows.outcome
        return Masses(slope, -slope)

    def scores(self, column: int = 0, shift: float = 0.0) -> FloatArray:
        """Gradient of each row's log-likelihood, with one column moved by `shift`."""
        rows = self.rows
        if shift:
            selection, outcome = rows.selection.copy(), rows.outcome.copy()
            selection[:, column] += shift
            outcome[:, column] += shift
            rows = replace(rows, selection=selection, outcome=outcome)
        _, scores = row_expansion(rows, self.fit.coefficients, self.fit.error_correlation)
        return scores[:, : len(self.coefficients)]

    def influence(self, scores: FloatArray | None = None) -> FloatArray:
        """First-order share of each row in the coefficients: their mean is estimate - truth."""
        given = self.scores() if scores is None else scores
        result: FloatArray = given @ self.covariance * self.rows.weight.sum()
        return result

    @cached_property
    def whitening(self) -> FloatArray:
        """Symmetric root of the covariance of all coefficients but the error correlation."""
        values, vectors = np.linalg.eigh(inverse(-self.fit.hessian[:-1, :-1]))
        result: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return result

    def move(self, place: int, step: float) -> "HiddenModel":
        """Return the model with one coefficient moved."""
        coefficients = self.fit.coefficients.copy()
        coefficients[place] += step
        return replace(self, fit=replace(self.fit, coefficients=coefficients))

    def at_correlation(self, r: float, near: BiprobitFit, tolerance: float) -> "HiddenModel":
        """Fit everything else at a given error correlation, starting from a fit at another."""
        fit = fit_given_correlation(self.rows, r, near.towards(r), tolerance)
        return HiddenModel(self.rows, fit, self.names[: len(fit.coefficients)], fixed=True)


def fit_hidden(
    sample: SelectionSample,
    weight: FloatArray,
    columns: StandardColumns,
    near: "HiddenModel | None",
) -> HiddenModel:
    """Fit eq. 15; a fit of the same rows under other weights speeds it up."""
    selection = columns.design(other=False, extra=True)
    outcome = columns.design(other=False, extra=False)
    kept = weight > 0
    rows = CensoredRows(selection, outcome, sample.label, sample.looked, weight)
    used = rows if kept.all() else rows.only(kept)
    fit = fit_biprobit(used) if near is None else refit_biprobit(used, near.fit)
    labels = ("intercept", "score", *sample.names)
    names = (
        *(f"selection: {name}" for name in labels),
        "outcome: intercept",
        "outcome: score",
        "error correlation",
    )
    model = HiddenModel(rows, fit, names)
    # At the boundary the likelihood is no parabola in r, so r is held there.
    return replace(model, fixed=True, names=names[:-1]) if fit.at_boundary else model
