"""Numbers that a caller gives: read, or refused with the rule and the value got."""

from typing import Any

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, real_number


def read_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return int(value)


def read_share(name: str, value: Any) -> float:
    """Return a number between 0 and 1."""
    if not 0 <= real_number(value) <= 1:
        raise InputError(f"{name} must be between 0 and 1; got {value!r}")
    return float(value)


def read_numbers(name: str, values: Any, kind: str = "numbers") -> FloatArray:
    """Return an array of floats of any shape."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must hold {kind}; got {values!r}") from None


def read_along_scores(name: str, values: Any, counts: ScoreCounts) -> FloatArray:
    """Return one number a distinct score."""
    numbers = read_numbers(name, values)
    if numbers.shape != counts.score.shape:
        raise InputError(
            f"{name} must hold one value a distinct score, {len(counts.score)}; "
            f"got shape {numbers.shape}"
        )
    return numbers
