"""Probit with sample selection: labels where an unseen rule looked (Cook 2016, eq. 15)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from undercount.assume.selection.binary_regression import (
    CONVERGED,
    Expansion,
    fit_binary,
    maximise,
    residual,
)
from undercount.assume.selection.bivariate_normal import log_binormal_cdf, log_density
from undercount.curve import FloatArray
from undercount.errors import InputError, named

# Given the correlation the log-likelihood is concave, so each start below finds the one maximum
# there and only this one dimension can hide several (at γ = 0, r = 0 is stationary).
LIMIT = 0.999
STARTS = (0.5, 0.9, LIMIT)  # on both sides of 0
BOUNDARY = 0.99
MAX_REFINEMENTS = 60
CLOSE = 1e-8


@dataclass(frozen=True, eq=False)
class CensoredRows:
    """Hold the rows of eq. 15: two designs, and labels where somebody looked."""

    selection: FloatArray
    outcome: FloatArray
    label: FloatArray
    looked: FloatArray
    weight: FloatArray

    @cached_property
    def seen(self) -> "CensoredRows":
        """Rows looked at; kept, because each step of each fit needs them."""
        return self.only(self.looked == 1)

    @cached_property
    def away(self) -> "CensoredRows":
        """The others."""
        return self.only(self.looked != 1)

    def only(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> "CensoredRows":
        """Return some of the rows."""
        columns = (self.selection, self.outcome, self.label, self.looked, self.weight)
        return CensoredRows(*(column[kept] for column in columns))


@dataclass(frozen=True)
class BiprobitFit:
    """Hold the maximum of eq. 15, or its maximum at a given error correlation.

    Attributes
    ----------
    coefficients : array
        Those of the selection rule, then those of the outcome.
    error_correlation : float
        Between what is unseen in selection and in outcome, r = ρ_εp / √(1-ρ_ap²).
    log_likelihood, slope : float
        Value of the profile log-likelihood at r, and its derivative there.
    hessian : array
        With respect to the coefficients and r.
    modes : tuple of float
        Error correlations of all local maxima found.
    """

    coefficients: FloatArray
    error_correlation: float
    log_likelihood: float
    slope: float
    hessian: FloatArray
    modes: tuple[float, ...] = ()

    @property
    def at_boundary(self) -> bool:
        """Whether the data push the error correlation to ±1."""
        return abs(self.error_correlation) >= BOUNDARY

    @property
    def drift(self) -> FloatArray:
        """How the coefficients fall with the error correlation along the profile."""
        # Of a few rows the curvature may leave a direction open: the shortest way then.
        block, side = self.hessian[:-1, :-1], self.hessian[:-1, -1]
        return np.asarray(np.linalg.lstsq(block, side, rcond=None)[0], dtype=float)

    def towards(self, r: float) -> FloatArray:
        """Guess the coefficients at another error correlation: along the tangent of the profile."""
        guess: FloatArray = self.coefficients - (r - self.error_correlation) * self.drift
        return guess


def fit_biprobit(rows: CensoredRows) -> BiprobitFit:
    """Maximise eq. 15 from several starts of the error correlation; the highest maximum wins."""
    first = _separate_start(rows)
    grid = [fit_given_correlation(rows, 0.0, first)]
    for side in (-1.0, 1.0):
        latest = grid[0]
        for r in STARTS:
            # Each side continues from its neighbour nearer to 0, as far as there are maxima.
            try:
                latest = fit_given_correlation(rows, side * r, latest.towards(side * r))
            except InputError:
                break
            grid.append(latest)
    grid.sort(key=lambda fit: fit.error_correlation)
    maxima = list(_local_maxima(rows, grid))
    best = max(maxima, key=lambda fit: fit.log_likelihood)
    return replace(best, modes=tuple(fit.error_correlation for fit in maxima))


def fit_given_correlation(
    rows: CensoredRows, r: float, start: FloatArray, tolerance: float = CONVERGED
) -> BiprobitFit:
    """Maximise eq. 15 over all but the error correlation: a point of the profile likelihood."""
    latest = Expansion(0.0, np.empty(0), np.empty((0, 0)))

    def expand(point: FloatArray) -> Expansion:
        nonlocal latest
        latest = expand_likelihood(rows, point, r)
        return Expansion(latest.value, latest.gradient[:-1], latest.hessian[:-1, :-1])

    point, _, converged = maximise(expand, start, tolerance)
    if not converged:
        raise InputError(
            f"eq. 15 did not converge at error correlation {r:.3g}. The score or a column of "
            f"{named('X')} may separate the rows looked at from the others; then use method "
            "'own-score' or 'observed-score'"
        )
    return BiprobitFit(point, r, latest.value, float(latest.gradient[-1]), latest.hessian)


def refit_biprobit(rows: CensoredRows, near: BiprobitFit) -> BiprobitFit:
    """Maximise eq. 15 again on resampled rows, from the maxima already known and the two ends."""
    starts = sorted({-LIMIT, *near.modes, LIMIT})
    grid = [fit_given_correlation(rows, r, near.coefficients) for r in starts]
    return max(_local_maxima(rows, grid), key=lambda fit: fit.log_likelihood)


def _separate_start(rows: CensoredRows) -> FloatArray:
    """Fit the two equations separately, which is right at error correlation 0."""
    seen = rows.seen
    try:
        selection = fit_binary(
            rows.selection, rows.looked, rows.weight, what="which rows were looked at"
        )
    except InputError as error:
        raise InputError(
            f"eq. 15 needs a choice that the score and {named('X')} do not decide completely "
            f"({error.message.marked}). If the score itself chose, use 'own-score'"
        ) from None
    outcome = fit_binary(seen.outcome, seen.label, seen.weight)
    return np.concatenate([selection.coefficients, outcome.coefficients])


def _local_maxima(rows: CensoredRows, grid: list[BiprobitFit]) -> Iterator[BiprobitFit]:
    """Find where the profile's slope changes from up to down, and maxima at the two ends."""
    if grid[0].slope <= 0:
        yield grid[0]
    for left, right in pairwise(grid):
        if left.slope > 0 >= right.slope:
            yield _refine(rows, left, right)
    if grid[-1].slope > 0:
        yield grid[-1]


def _refine(rows: CensoredRows, left: BiprobitFit, right: BiprobitFit) -> BiprobitFit:
    """Solve for the zero of the profile's slope between two correlations: Newton, else halving."""
    low, high = (float(np.arctanh(end.error_correlation)) for end in (left, right))
    here = left if left.log_likelihood > right.log_likelihood else right
    for _ in range(MAX_REFINEMENTS):
        angle = float(np.arctanh(here.error_correlation))
        low, high = (angle, high) if here.slope > 0 else (low, angle)
        step = _profile_step(here)
        guess = angle + step
        if not low < guess < high:
            guess = 0.5 * (low + high)
        r = float(np.tanh(guess))
        here = fit_given_correlation(rows, r, here.towards(r))
        if abs(guess - angle) < CLOSE:
            break
    return here


def _profile_step(here: BiprobitFit) -> float:
    """Newton step of the profile on the scale atanh(r), where it is closer to a parabola."""
    scale = 1 - here.error_correlation**2
    curvature = here.hessian[-1, -1] - here.hessian[:-1, -1] @ here.drift
    bend = curvature * scale**2 - 2 * here.error_correlation * scale * here.slope
    return float(-here.slope * scale / bend) if bend < 0 else float("inf")


class _Terms(NamedTuple):
    """First and second derivatives of a row's log-likelihood in (h, k, r), k the outcome's."""

    log: FloatArray
    first: tuple[FloatArray, FloatArray, FloatArray]
    second: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def _looked_terms(h: FloatArray, predictor: FloatArray, label: FloatArray, r: float) -> _Terms:
    """Differentiate log Φ₂(h, qk; qr), q = ±1 the label: Owen's derivatives of Φ₂."""
    q = 2 * label - 1
    k, qr = q * predictor, q * r
    square = (1 - r) * (1 + r)
    root = np.sqrt(square)
    log = log_binormal_cdf(h, k, qr)
    u, v = (k - qr * h) / root, (h - qr * k) / root
    by_h = np.exp(log_density(h) + log_ndtr(u) - log)
    by_k = np.exp(log_density(k) + log_ndtr(v) - log)
    density = np.exp(log_density(h) + log_density(u) - log) / root
    by_r = q * density
    hh = -h * by_h - qr * density - by_h**2
    kk = -k * by_k - qr * density - by_k**2
    hk = density - by_h * by_k
    hr = by_r * (-v / root - by_h)
    kr = by_r * (-u / root - by_k)
    bend = qr / square + (h * k * (1 + r * r) - qr * (h * h + k * k)) / square**2
    rr = density * bend - by_r**2
    # The chain rule for k = q·predictor puts q before each derivative in k once.
    return _Terms(log, (by_h, q * by_k, by_r), (hh, kk, q * hk, hr, q * kr, rr))


def expand_likelihood(rows: CensoredRows, point: FloatArray, r: float) -> Expansion:
    """Log-likelihood of eq. 15 with analytic gradient and Hessian, r last."""
    z, x, w = rows.seen.selection, rows.seen.outcome, rows.seen.weight
    z_away, w_away = rows.away.selection, rows.away.weight
    size = z.shape[1]
    terms = _looked_terms(z @ point[:size], x @ point[size:], rows.seen.label, r)
    index_away = z_away @ point[:size]
    log_away = log_ndtr(-index_away)
    slope_away = -np.exp(log_density(index_away) - log_away)
    value = float(w @ terms.log + w_away @ log_away)
    by_h, by_k, by_r = (w * part for part in terms.first)
    gradient = np.concatenate(
        [z.T @ by_h + z_away.T @ (w_away * slope_away), x.T @ by_k, [by_r.sum()]]
    )
    hh, kk, hk, hr, kr, rr = (w * part for part in terms.second)
    hessian = np.empty((len(gradient), len(gradient)))
    hessian[:size, :size] = (z.T * hh) @ z
    hessian[:size, :size] -= (z_away.T * (w_away * slope_away * (slope_away + index_away))) @ z_away
    hessian[:size, size:-1] = (z.T * hk) @ x
    hessian[size:-1, :size] = hessian[:size, size:-1].T
    hessian[size:-1, size:-1] = (x.T * kk) @ x
    hessian[-1, :-1] = hessian[:-1, -1] = np.concatenate([z.T @ hr, x.T @ kr])
    hessian[-1, -1] = rr.sum()
    return Expansion(value, gradient, hessian)


def row_expansion(rows: CensoredRows, point: FloatArray, r: float) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of each row (unweighted) and its gradient, r last."""
    seen = rows.looked == 1
    size = rows.selection.shape[1]
    h = rows.selection @ point[:size]
    scores = np.zeros((len(h), len(point) + 1))
    terms = _looked_terms(h[seen], rows.outcome[seen] @ point[size:], rows.label[seen], r)
    by_h, by_k, by_r = terms.first
    scores[seen, :size] = by_h[:, None] * rows.selection[seen]
    scores[seen, size:-1] = by_k[:, None] * rows.outcome[seen]
    scores[seen, -1] = by_r
    slope_away = residual(h[~seen], np.zeros(int((~seen).sum())))
    scores[~seen, :size] = slope_away[:, None] * rows.selection[~seen]
    logs = log_ndtr(-h)
    logs[seen] = terms.log
    return logs, scores
