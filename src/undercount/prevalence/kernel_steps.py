"""The steps in which KM1 and KM2 answer: their search stops at cells of 1 / (1 - share)."""

from __future__ import annotations

import math
import warnings

from undercount.curve import Interval
from undercount.errors import MisfitWarning
from undercount.prevalence.kernel_distance import LARGEST, RESOLUTION

# What is left of [1, LARGEST] when it has been halved until it is no wider than RESOLUTION.
CELL = (LARGEST - 1) / 2 ** math.ceil(math.log2((LARGEST - 1) / RESOLUTION))

LEAST = 1e-6  # of a share: rounding


def cell(share: float) -> Interval:
    """Return the shares that the search does not tell from its answer.

    Examples
    --------
    >>> from undercount.prevalence.kernel_steps import cell
    >>> lowest, middle = cell(0.0135), cell(0.5)
    >>> round(lowest.low, 3), round(lowest.high, 3)
    (0.0, 0.027)
    >>> round(middle.low, 3), round(middle.high, 3)
    (0.497, 0.503)
    """
    middle = 1 / (1 - share)
    low, high = max(1.0, middle - CELL / 2), middle + CELL / 2
    # In the last cell the search was stopped by its limit: any larger share would end there too.
    stopped = middle > LARGEST - CELL
    return Interval(1 - 1 / low, 1.0 if stopped else 1 - 1 / high)


def in_steps(
    share: float, interval: Interval | None, error: float
) -> tuple[Interval | None, float]:
    """Widen an interval of answers, and their standard error, by the steps between answers."""
    if interval is None:
        return None, error
    own, low, high = cell(share), cell(interval.low), cell(interval.high)
    step = (own.high - own.low) / math.sqrt(12)  # of a number that was rounded
    return Interval(min(own.low, low.low), max(own.high, high.high)), math.hypot(error, step)


def warn_about_steps(name: str, share: float) -> None:
    """Warn of the lowest answer, which stands for every share below it."""
    if cell(share).low < LEAST:
        warnings.warn(
            f"{share:.1%} is the lowest answer that {name} can give: it stands for every share"
            f" from 0 to {cell(share).high:.1%}",
            MisfitWarning,
            stacklevel=3,
        )
