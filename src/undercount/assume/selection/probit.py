"""Probit regression by Newton's method, and a test of its shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, log_ndtr, ndtr

from undercount.assume.selection.bivariate_normal import log_density
from undercount.curve import FloatArray
from undercount.errors import InputError

# Half the Newton decrement, in units of log-likelihood: far below any statistical meaning, so
# that after the last, quadratically convergent step the maximum is exact to rounding.
TOLERANCE = 1e-9
MAX_STEPS = 100
MAX_HALVINGS = 30


class Expansion(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood at one point."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


def maximise(
    expand: Callable[[FloatArray], Expansion], start: FloatArray, tolerance: float = TOLERANCE
) -> tuple[FloatArray, Expansion, bool]:
    """Climb a concave log-likelihood; return the point, its expansion, and whether it converged."""
    point = np.array(start, dtype=float)
    here = expand(point)
    for _ in range(MAX_STEPS):
        step = _ascent(here)
        gain = 0.5 * float(step @ here.gradient)
        shrink = 1.0
        there = expand(point + step)
        # Rounding can hide the last gains, so a fall of that size is no failure.
        while there.value < here.value - 1e-10 * (1 + abs(here.value)) or np.isnan(there.value):
            shrink /= 2
            if shrink < 0.5**MAX_HALVINGS:
                return point, here, False
            there = expand(point + shrink * step)
        point, here = point + shrink * step, there
        if gain < tolerance and shrink == 1.0:
            return point, here, True
    return point, here, False


def _ascent(here: Expansion) -> FloatArray:
    """Newton step; where the curvature is not negative, along it but uphill."""
    values, vectors = np.linalg.eigh(-here.hessian)
    floor = 1e-12 * max(float(np.abs(values).max()), 1e-300)
    step: FloatArray = vectors @ ((vectors.T @ here.gradient) / np.maximum(np.abs(values), floor))
    return step


# A linear predictor beyond this has probability 1 - 1e-50: the classes are separated.
SEPARATED = 15.0


@dataclass(frozen=True)
class ProbitFit:
    """Hold coefficients of P(y = 1 | x) = Φ(x'b) and what their uncertainty needs.

    Attributes
    ----------
    coefficients : array
        One per column of the design.
    hessian : array
        Of the weighted log-likelihood at the maximum.
    log_likelihood : float
        At the maximum.
    """

    coefficients: FloatArray
    hessian: FloatArray
    log_likelihood: float

    @property
    def covariance(self) -> FloatArray:
        """Inverse of the observed information."""
        return inverse(-self.hessian)

    def probability(self, design: FloatArray) -> FloatArray:
        """P(y = 1 | x) for each row."""
        return np.asarray(ndtr(design @ self.coefficients))


def inverse(matrix: FloatArray) -> FloatArray:
    """Invert a symmetric matrix; directions without information get a huge variance."""
    values, vectors = np.linalg.eigh(matrix)
    floor = 1e-14 * max(float(values.max()), 1e-300)
    return np.asarray((vectors / np.maximum(values, floor)) @ vectors.T)


def residual(predictor: FloatArray, outcome: FloatArray) -> FloatArray:
    """Differentiate a row's log-likelihood with respect to its linear predictor."""
    sign = 2 * outcome - 1
    return np.asarray(sign * np.exp(log_density(predictor) - log_ndtr(sign * predictor)))


def fit_probit(
    design: FloatArray,
    outcome: FloatArray,
    weight: FloatArray,
    *,
    what: str = "the labels",
    start: FloatArray | None = None,
) -> ProbitFit:
    """Maximise the probit log-likelihood; for (1, a) among the looked-at rows this is eq. 14.

    Parameters
    ----------
    design : array of shape (n, k)
        First column ones.
    outcome : array
        1 or 0.
    weight : array
        Number of rows that each row stands for.
    what : str
        Name of the outcome for error messages.
    start : array, optional
        Where to begin; zeros by default.

    Raises
    ------
    InputError
        If one class is missing, or the classes are separated so that no maximum exists.
    """
    positive = float(weight @ outcome)
    if positive <= 0 or positive >= float(weight.sum()):
        only = "positive" if positive > 0 else "negative"
        raise InputError(
            f"a probit needs both classes among {what}; got only {only} rows. "
            "Look at more rows, or use bounds instead of a model"
        )

    def expand(coefficients: FloatArray) -> Expansion:
        predictor = design @ coefficients
        value = float(weight @ log_ndtr((2 * outcome - 1) * predictor))
        slope = residual(predictor, outcome)
        bend = weight * slope * (slope + predictor)
        return Expansion(value, design.T @ (weight * slope), -(design.T * bend) @ design)

    first = np.zeros(design.shape[1]) if start is None else start
    point, here, converged = maximise(expand, first)
    _refuse_separation(design @ point, outcome, converged=converged, what=what)
    return ProbitFit(point, here.hessian, here.value)


def _refuse_separation(
    predictor: FloatArray, outcome: FloatArray, *, converged: bool, what: str
) -> None:
    """Raise if the coefficients ran away to infinity."""
    sides = np.where(outcome == 1, predictor, -predictor)
    if sides.min() > 0 and (not converged or sides.max() > SEPARATED or sides.min() > 1):
        raise InputError(
            f"a probit of {what} has no maximum: the columns separate the two classes perfectly "
            f"(smallest margin {sides.min():.3g}). Look at rows on both sides, or drop a column"
        )
    if not converged:
        raise InputError(
            f"a probit of {what} did not converge. Columns may be copies of each other, or a few "
            "values may set one class apart; drop or merge such columns"
        )


def reset_p_value(
    fit: ProbitFit, design: FloatArray, outcome: FloatArray, weight: FloatArray
) -> float:
    """Test a probit's shape: do η² and η³ add anything? (RESET, as a score test).

    Returns
    -------
    float
        p-value, or NaN if the score takes too few values for the test.
    """
    predictor = design @ fit.coefficients
    extra = np.column_stack([design, predictor**2, predictor**3])
    extra /= np.maximum(np.abs(extra).max(axis=0), 1e-300)
    slope = residual(predictor, outcome)
    bend = weight * slope * (slope + predictor)
    gradient = extra.T @ (weight * slope)
    information = (extra.T * bend) @ extra
    if np.linalg.cond(information) > 1e14:  # noqa: PLR2004 - singular to rounding
        return float("nan")
    statistic = float(gradient @ np.linalg.solve(information, gradient))
    return float(chdtrc(2, max(statistic, 0.0)))
