"""A partition of Dask's as numbers: it may hold something else than the frame's schema says."""

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from undercount.count.arrays import check_integer_size, is_missing, read_floats
from undercount.count.queries import Frame
from undercount.curve import FloatArray
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.count.groups import ColumnRoles

META = "The schema of the Dask frame says otherwise: give the right meta, or cast the column"


def read_partition(frame: Frame, columns: "ColumnRoles") -> Frame:
    """Make numbers of a partition's labels, scores and weights; other frames are left as they are.

    Objects become floats, and decimal numbers the nearest float, which Arrow's own cast is not.
    """
    if not frame.implementation.is_pandas():
        return frame
    part: Any = frame.collect().to_native()
    numbers = [columns.label, *columns.scores, *([columns.weight] if columns.weight else [])]
    for name in (*numbers, *columns.by):
        if name not in part.columns:
            raise InputError(
                f"a partition has no column {name!r}; it has {list(part.columns)}. {META}"
            )
    made = {}
    for name in dict.fromkeys(numbers):
        series = nw.from_native(part[name], series_only=True)
        if name in columns.scores:
            _check_exact_as_floats(series)
        values = _other_numbers(series)
        if values is not None:
            made[name] = values
    result: Frame = nw.from_native(part.assign(**made) if made else part).lazy()
    return result


def _other_numbers(series: nw.Series[Any]) -> FloatArray | None:
    """Return numbers as floats that arithmetic would not take rightly; None for all others."""
    kind = series.dtype
    if kind != nw.Decimal and (kind.is_numeric() or kind == nw.Boolean):
        return None
    if series.is_null().all():
        return np.full(len(series), np.nan)
    if kind in (nw.Decimal, nw.Object):
        values = np.array([*series.to_list(), None], object)[:-1]
        return read_floats(values, f"column {series.name!r}")
    raise InputError(
        f"column {series.name!r} must hold numbers; a partition holds "
        f"{series.to_native().dtype}. {META}"
    )


def _check_exact_as_floats(series: nw.Series[Any]) -> None:
    """Refuse whole and decimal numbers that floats do not keep apart."""
    if len(series) and (series.dtype.is_integer() or series.dtype == nw.Decimal):
        ends = [end for end in (series.min(), series.max()) if not is_missing(end)]
        check_integer_size(max((math.ceil(abs(end)) for end in ends), default=0))
