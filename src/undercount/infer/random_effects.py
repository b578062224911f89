"""How far the truths behind some values spread, beyond the errors of the values."""

from scipy.optimize import brentq

from undercount.curve import FloatArray
from undercount.errors import InputError

WIDEST_SPREAD = 100.0


def spread_between(value: FloatArray, noise: FloatArray) -> float:
    """Return the variance of the truths behind values of known noise (Paule and Mandel 1982).

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.random_effects import spread_between
    >>> spread_between(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))  # their variance less the noise
    1.5
    """
    if len(value) != len(noise):
        raise InputError(f"one noise a value; got {len(noise)} for {len(value)}")

    def excess(between: float) -> float:
        weight = 1 / (noise + between)
        centre = weight @ value / weight.sum()
        return float(weight @ (value - centre) ** 2) - (len(value) - 1)

    if len(value) == 1 or excess(0.0) <= 0:
        return 0.0
    return (
        float(brentq(excess, 0.0, WIDEST_SPREAD, xtol=1e-12))
        if excess(WIDEST_SPREAD) < 0
        else (WIDEST_SPREAD)
    )
