"""Bivariate normal distribution: its CDF for many rows at once, by Owen's T function."""

from typing import cast

import numpy as np
from scipy.special import log_ndtr, ndtr, owens_t

from undercount.rates import FloatArray

LOG_ROOT_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# Owen's T gives an absolute error near 1e-16; below this the relative error would matter.
SMALL = 1e-7
# The integrand below is log-concave with its peak at 0, so nothing is left beyond this width.
WIDTH = 14.0
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(96)


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
    opposite = np.where(h * k < 0, 0.5, 0.0) + np.where((h * k == 0) & (h + k < 0), 0.5, 0.0)
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
    result = np.log(np.maximum(value, SMALL))
    tail = np.flatnonzero(value < SMALL)
    if len(tail):
        result[tail] = _log_tail(x[tail], y[tail], correlation[tail])
    return result


def _log_tail(x: FloatArray, y: FloatArray, r: FloatArray) -> FloatArray:
    """Integrate φ(t)Φ((k-rt)/√(1-r²)) over t < h in logarithms, h the smaller limit."""
    h, k = np.minimum(x, y)[:, None], np.maximum(x, y)[:, None]
    # The density falls like exp(h u) away from the limit h, so far tails need a narrow window.
    width = WIDTH / np.maximum(1.0, -h / 3)
    t = h - 0.5 * width * (NODES + 1)
    root = np.sqrt((1 - r) * (1 + r))[:, None]
    parts = log_density(t) + log_ndtr((k - r[:, None] * t) / root)
    top = parts.max(axis=1, keepdims=True)
    total = (np.exp(parts - top) * NODE_WEIGHTS).sum(axis=1) * 0.5 * width[:, 0]
    return cast("FloatArray", top[:, 0] + np.log(total))
