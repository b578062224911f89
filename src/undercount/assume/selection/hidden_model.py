"""The model of a choice that rested on something unseen: Cook's eq. 15."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from undercount.assume.selection.binary_regression import inverse
from undercount.assume.selection.biprobit import (
    BiprobitFit,
    CensoredRows,
    fit_biprobit,
    fit_given_correlation,
    refit_biprobit,
    row_expansion,
)
from undercount.assume.selection.bivariate_normal import log_density
from undercount.assume.selection.column_model import Masses
from undercount.assume.selection.sample import SelectionSample, StandardColumns
from undercount.curve import FloatArray


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
    def log_likelihood(self) -> float:
        """Of labels and choice together."""
        return self.fit.log_likelihood

    @property
    def outcome_places(self) -> slice:
        """Which coefficients belong to the outcome."""
        size = self.rows.selection.shape[1]
        return slice(size, size + self.rows.outcome.shape[1])

    @property
    def column_strength(self) -> float:
        """Wald's statistic of the columns that moved the choice alone, for each of them; 0 if none.

        Below about 10 such columns are too weak to lean on (Staiger and Stock 1997).
        """
        places = slice(self.rows.outcome.shape[1], self.rows.selection.shape[1])
        moved = self.coefficients[places]
        if not len(moved):
            return 0.0
        return float(moved @ np.linalg.solve(self.covariance[places, places], moved)) / len(moved)

    def positive_chance(self) -> FloatArray:
        """Chance that a row is positive, whatever its label."""
        return self.masses().positive

    def masses(self) -> Masses:
        """Probability of each class, for every row, looked at or not."""
        positive: FloatArray = ndtr(self.rows.outcome @ self.coefficients[self.outcome_places])
        return Masses(positive, 1 - positive)

    def slopes(self) -> Masses:
        """Differentiate the masses with respect to the coefficients."""
        slope = np.zeros((len(self.rows.label), len(self.coefficients)))
        predictor = self.rows.outcome @ self.coefficients[self.outcome_places]
        slope[:, self.outcome_places] = np.exp(log_density(predictor))[:, None] * self.rows.outcome
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

    @cached_property
    def whitening(self) -> FloatArray:
        """Symmetric root of the covariance of all coefficients but the error correlation."""
        values, vectors = np.linalg.eigh(inverse(-self.fit.hessian[:-1, :-1]))
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

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
    design, kept = columns.design, weight > 0
    rows = CensoredRows(design, design[:, :2].copy(), sample.label, sample.looked, weight)
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
