"""Scores around thresholds that counts keep apart, and those that single precision would blur."""

from typing import Any

import numpy as np

from undercount.count.kernel.array_library import is_tensor


def knots_at(threshold: float | None) -> list[float]:
    """Return what counts keep apart for a threshold: its rows, and those that UC024 asks for."""
    return [] if threshold is None else [float(threshold), *nearest_below(threshold)]


def rounded_knots(scores: Any, *thresholds: float | None) -> list[float]:
    """Return what thresholds are in lower precision, if some of these rows score just that.

    Rows of a device are not looked through for it.
    """
    near = [knot for at in thresholds if at is not None for knot in nearest_below(at)]
    return [knot for knot in near if is_tensor(scores) or (scores == knot).any()]


def nearest_below(threshold: float) -> list[float]:
    """Return what a threshold is in single and half precision, where that is less.

    Examples
    --------
    >>> from undercount.count.knots import nearest_below
    >>> nearest_below(0.7), nearest_below(0.5)
    ([0.699999988079071], [])
    """
    with np.errstate(over="ignore"):
        rounded = [float(kind(threshold)) for kind in (np.float32, np.float16)]
    return [value for value in rounded if -np.inf < value < threshold]
