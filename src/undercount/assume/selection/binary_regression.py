"""Probit and logit regression by Newton's method, and a test of their shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, expit, log_expit, log_ndtr, ndtr

from undercount.assume.selection.bivariate_normal import log_density
from undercount.curve import FloatArray
from undercount.errors import InputError

# Half the Newton decrement, in units of log-likelihood: far below any statistical meaning, so
# that after the last, quadratically convergent step the maximum is exact to rounding.
CONVERGED = 1e-9
MAX_NEWTON_STEPS = 100
MAX_HALVINGS = 30


class Expansion(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood at one point."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


def maximise(
    expand: Callable[[FloatArray], Expansion], start: FloatArray, tolerance: float = CONVERGED
) -> tuple[FloatArray, Expansion, bool]:
    """Climb a concave log-likelihood; return the point, its expansion, and whether it converged."""
    point = np.array(start, dtype=float)
    here = expand(point)
    for _ in range(MAX_NEWTON_STEPS):
        step = _ascent(here)
        gain = 0.5 * float(step @ here.gradient)
        shrink = 1.0
        expansion = expand(point + step)
        # Rounding can hide the last gains, so a fall of that size is no failure.
        while expansion.value < here.value - 1e-10 * (1 + abs(here.value)) or np.isnan(
            expansion.value
        ):
            shrink /= 2
            if shrink < 0.5**MAX_HALVINGS:
                return point, here, False
            expansion = expand(point + shrink * step)
        point, here = point + shrink * step, expansion
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
class Link:
    """Hold a symmetric distribution F with P(y = 1 | x) = F(x'b)."""

    name: str
    cdf: Callable[[FloatArray], FloatArray]
    log_cdf: Callable[[FloatArray], FloatArray]
    log_density: Callable[[FloatArray], FloatArray]
    # Second derivative of a row's log-likelihood, with a minus: of predictor and first derivative.
    bend: Callable[[FloatArray, FloatArray], FloatArray]


PROBIT = Link("probit", ndtr, log_ndtr, log_density, lambda at, slope: slope * (slope + at))
LOGIT = Link(
    "logit",
    expit,
    log_expit,
    lambda at: log_expit(at) + log_expit(-at),
    lambda _, slope: np.abs(slope) * (1 - np.abs(slope)),
)
LINKS = {link.name: link for link in (PROBIT, LOGIT)}


@dataclass(frozen=True)
class BinaryFit:
    """Hold coefficients of P(y = 1 | x) = F(x'b) and what their uncertainty needs.

    Attributes
    ----------
    link : Link
        The distribution F.
    coefficients : array
        One per column of the design.
    hessian : array
        Of the weighted log-likelihood at the maximum.
    log_likelihood : float
        At the maximum.
    """

    link: Link
    coefficients: FloatArray
    hessian: FloatArray
    log_likelihood: float

    @property
    def covariance(self) -> FloatArray:
        """Inverse of the observed information."""
        return inverse(-self.hessian)

    def probability(self, design: FloatArray) -> FloatArray:
        """P(y = 1 | x) for each row."""
        return np.asarray(self.link.cdf(design @ self.coefficients))

    def density(self, design: FloatArray) -> FloatArray:
        """Differentiate the probability with respect to the linear predictor."""
        return np.exp(self.link.log_density(design @ self.coefficients))

    def residual(self, design: FloatArray, outcome: FloatArray) -> FloatArray:
        """Differentiate each row's log-likelihood with respect to its linear predictor."""
        return residual(design @ self.coefficients, outcome, self.link)


def inverse(matrix: FloatArray) -> FloatArray:
    """Invert a symmetric matrix; directions without information get a huge variance."""
    values, vectors = np.linalg.eigh(matrix)
    floor = 1e-14 * max(float(values.max()), 1e-300)
    return np.asarray((vectors / np.maximum(values, floor)) @ vectors.T)


def residual(predictor: FloatArray, outcome: FloatArray, link: Link = PROBIT) -> FloatArray:
    """Differentiate a row's log-likelihood with respect to its linear predictor."""
    sign = 2 * outcome - 1
    return np.asarray(sign * np.exp(link.log_density(predictor) - link.log_cdf(sign * predictor)))


def fit_binary(
    design: FloatArray,
    outcome: FloatArray,
    weight: FloatArray,
    *,
    link: Link = PROBIT,
    what: str = "the labels",
    start: FloatArray | None = None,
) -> BinaryFit:
    """Maximise the log-likelihood; a probit on (1, a) among the looked-at rows is eq. 14.

    Parameters
    ----------
    design : array of shape (n, k)
        First column ones.
    outcome : array
        1 or 0.
    weight : array
        Number of rows that each row stands for.
    link : Link
        Probit or logit.
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
            f"a {link.name} needs both classes among {what}; got only {only} rows. "
            "Look at more rows, or use bounds instead of a model"
        )

    sign = 2 * outcome - 1

    def expand(coefficients: FloatArray) -> Expansion:
        predictor = design @ coefficients
        logs = link.log_cdf(sign * predictor)
        slope = sign * np.exp(link.log_density(predictor) - logs)
        bend = weight * link.bend(predictor, slope)
        return Expansion(
            float(weight @ logs), design.T @ (weight * slope), -(design.T * bend) @ design
        )

    first = np.zeros(design.shape[1]) if start is None else start
    point, here, converged = maximise(expand, first)
    what = f"a {link.name} of {what}"
    _check_separation(design @ point, outcome, converged=converged, what=what)
    return BinaryFit(link, point, here.hessian, here.value)


def _check_separation(
    predictor: FloatArray, outcome: FloatArray, *, converged: bool, what: str
) -> None:
    """Raise if the coefficients ran away to infinity."""
    sides = np.where(outcome == 1, predictor, -predictor)
    if sides.min() > 0 and (not converged or sides.max() > SEPARATED or sides.min() > 1):
        raise InputError(
            f"{what} has no maximum: the columns separate the two classes perfectly "
            f"(smallest margin {sides.min():.3g}). Look at rows on both sides, or drop a column"
        )
    if not converged:
        raise InputError(
            f"{what} did not converge. Columns may be copies of each other, or a few "
            "values may set one class apart; drop or merge such columns"
        )


def reset_p_value(
    fit: BinaryFit, design: FloatArray, outcome: FloatArray, weight: FloatArray
) -> float:
    """Test a fit's shape: do η² and η³ add anything? (RESET, as a score test).

    Returns
    -------
    float
        p-value, or NaN if the score takes too few values for the test.
    """
    predictor = design @ fit.coefficients
    extra = np.column_stack([design, predictor**2, predictor**3])
    extra /= np.maximum(np.abs(extra).max(axis=0), 1e-300)
    slope = fit.residual(design, outcome)
    bend = weight * fit.link.bend(predictor, slope)
    gradient = extra.T @ (weight * slope)
    information = (extra.T * bend) @ extra
    if np.linalg.cond(information) > 1e14:  # noqa: PLR2004 - singular to rounding
        return float("nan")
    statistic = float(gradient @ np.linalg.solve(information, gradient))
    return float(chdtrc(2, max(statistic, 0.0)))
