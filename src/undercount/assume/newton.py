"""Newton's method for a smooth log-likelihood, with step halving."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from undercount.rates import FloatArray

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
