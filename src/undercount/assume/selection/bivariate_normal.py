"""Bivariate normal distribution: its CDF for many rows at once, by Owen's T function."""

from typing import cast

import numpy as np
from scipy.special import log_ndtr, ndtr, owens_t

from undercount.curve import FloatArray

LOG_ROOT_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# Owen's T gives an absolute error near 1e-16; below this the relative error would matter.
LEAST_PROBABILITY = 1e-7
# Beyond this width, or this many factors of e, nothing is left of the tail's integrand.
TAIL_WIDTH = 14.0
DECADES = 38.0
_TAIL_NODES, _TAIL_WEIGHTS = np.polynomial.legendre.leggauss(64)
TAIL_NODES = 0.5 * (_TAIL_NODES + 1)
TAIL_NODE_WEIGHTS = 0.5 * _TAIL_WEIGHTS * 3 * TAIL_NODES**2


def log_density(x: FloatArray) -> FloatArray:
    """Logarithm of the standard normal density."""
    return -0.5 * x * x - LOG_ROOT_TWO_PI


def binormal_cdf(x: FloatArray, y: FloatArray, correlation: float | FloatArray) -> FloatArray:
    """Probability that two standard normal variables lie below `x` and `y`.

    Owen (1956): Φ₂(h, k; r) = ½Φ(h) + ½Φ(k) - T(h, a_h) - T(k, a_k) - δ, exact to about 1e-15.

    Parameters
    ----------
    x, y : array
        Upper limits of the two variables.
    correlation : float or array
        Their correlation, strictly between -1 and 1.
    """
    h, k, r = np.broadcast_arrays(
        np.asarray(x, dtype=float), np.asarray(y, dtype=float), np.asarray(correlation, dtype=float)
    )
    root = np.sqrt((1 - r) * (1 + r))
    # T is even in h, so a limit of 0 may be replaced by the smallest number of a fixed sign.
    h = np.where(h == 0, np.finfo(float).tiny, h)
    k = np.where(k == 0, np.finfo(float).tiny, k)
    with np.errstate(over="ignore", invalid="ignore"):
        slope_h, slope_k = (k / h - r) / root, (h / k - r) / root
    # By sign, not by product: the product of two tiny limits is 0.
    opposite = np.where((h < 0) != (k < 0), 0.5, 0.0)
    value = 0.5 * (ndtr(h) + ndtr(k)) - owens_t(h, slope_h) - owens_t(k, slope_k) - opposite
    infinite = np.isinf(h) | np.isinf(k)
    if infinite.any():
        # One variable is then certain: Φ₂(∞, k) = Φ(k), Φ₂(-∞, k) = 0.
        limits = np.where(np.minimum(h, k) == -np.inf, 0.0, ndtr(np.minimum(h, k)))
        value = np.where(infinite, limits, value)
    return cast("FloatArray", np.clip(value, 0.0, 1.0))


def log_binormal_cdf(x: FloatArray, y: FloatArray, correlation: FloatArray) -> FloatArray:
    """Logarithm of `binormal_cdf` for finite limits, also where the probability is tiny."""
    value = binormal_cdf(x, y, correlation)
    result = np.log(np.maximum(value, LEAST_PROBABILITY))
    tail = np.flatnonzero(value < LEAST_PROBABILITY)
    if len(tail):
        result[tail] = _log_tail(x[tail], y[tail], correlation[tail])
    return result


def _log_tail(x: FloatArray, y: FloatArray, r: FloatArray) -> FloatArray:
    """Integrate φ(t)Φ((k-rt)/√(1-r²)) over t < h in logarithms, h the smaller limit."""
    h, k = np.minimum(x, y), np.maximum(x, y)
    root = np.sqrt((1 - r) * (1 + r))
    edge = (k - r * h) / root
    # The integrand is log-concave: it falls from h at least as fast as exp(-fall · distance).
    fall = -h - r / root * np.exp(log_density(edge) - log_ndtr(edge))
    width = np.clip(DECADES / np.maximum(fall, 1e-3), 0.0, TAIL_WIDTH)[:, None]
    # Cubing crowds the nodes at the edge, where Φ bends within √(1-r²).
    t = h[:, None] - width * TAIL_NODES**3
    parts = log_density(t) + log_ndtr((k[:, None] - r[:, None] * t) / root[:, None])
    top = parts.max(axis=1, keepdims=True)
    total = (np.exp(parts - top) * TAIL_NODE_WEIGHTS).sum(axis=1) * width[:, 0]
    return cast("FloatArray", top[:, 0] + np.log(total))
