"""Scores with fewer decimals: few distinct ones, so that a small table keeps every one.

Halves are rounded up by arithmetic that every engine does alike: the rounding of an engine takes
them up, to the even neighbour, or away from zero.
"""

from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np

from undercount.errors import InputError, named

# More decimals than a float has.
MOST_DIGITS = 15


def check_digits(digits: int | None) -> None:
    """Raise unless this is a number of decimals, or none is given."""
    whole = isinstance(digits, Integral) and not isinstance(digits, bool)
    if digits is not None and not (whole and 0 <= digits <= MOST_DIGITS):
        raise InputError(
            f"{named('digits')} must be a whole number from 0 to {MOST_DIGITS}, the decimals that "
            f"scores keep; got {digits!r}",
            argument="digits",
        )


def round_columns(table: Any, names: tuple[str, ...], digits: int) -> Any:
    """Round columns of a frame of any engine."""
    return table.with_columns(*(_rounded(nw.col(name), digits).alias(name) for name in names))


def _rounded(column: nw.Expr, digits: int) -> nw.Expr:
    scaled = column.cast(nw.Float64) * 10.0**digits
    whole = scaled.round(0)
    whole = nw.when(scaled - whole >= 0.5).then(whole + 1.0).otherwise(whole)  # noqa: PLR2004 - half
    # Polars divides by a constant by multiplying with its inverse, which rounds otherwise. Divided
    # by a column the quotient is that of every engine; infinities, which have no 0, stay.
    unit = nw.when(scaled - scaled == 0.0).then(whole * 0.0 + 10.0**digits).otherwise(1.0)
    return whole / unit


def round_array(score: Any, digits: int) -> Any:
    """Round an array.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.count.rounding import round_array
    >>> round_array(np.array([0.125, 0.375, -0.125, 0.5, np.inf]), 2).tolist()
    [0.13, 0.38, -0.12, 0.5, inf]
    """
    scaled = np.asarray(score, np.float64) * 10.0**digits
    whole = np.floor(scaled)
    # A difference of infinities is NaN, which is below one half.
    with np.errstate(invalid="ignore"):
        whole[scaled - whole >= 0.5] += 1.0  # noqa: PLR2004 - half
    return whole / 10.0**digits
