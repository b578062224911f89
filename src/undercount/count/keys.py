"""Whose or where each row is: read a column of groups of any type, and number the groups."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import is_missing
from undercount.count.kernel.array_library import is_tensor, tensor_to_host
from undercount.errors import InputError, named

Keys = NDArray[Any]
Codes = NDArray[np.intp]
# Python's times know no smaller step than a microsecond.
STEP_BY_TIME_KIND = {"M": "datetime64[us]", "m": "timedelta64[us]"}
UNITS_BELOW_MICROSECONDS = ("ns", "ps", "fs", "as")


def read_keys(values: Any, argument: str) -> Keys:
    """Return one value a row as an array; what is missing is None, NaN or NaT there.

    Whole numbers stay whole beside missing ones, masks are heard, and values of several types are
    not made one, as `numpy.asarray` does.

    Examples
    --------
    >>> from undercount.count.keys import read_keys
    >>> read_keys([1, "1", None], "by").tolist()
    [1, '1', None]
    """
    try:
        return _as_keys(values)
    except ValueError as error:  # lists of different lengths; times that pyarrow cannot write
        raise InputError(
            f"{named(argument)} must hold one value a row; {error}", argument=argument
        ) from None


def _as_keys(values: Any) -> Keys:
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        plain_values: Keys = values.data.astype(
            values.dtype if values.dtype.kind in STEP_BY_TIME_KIND else object
        )
        plain_values[np.ma.getmaskarray(values)] = None  # among times NaT
        return plain_values
    if isinstance(values, list | tuple):
        array = np.asarray(values) if len(set(map(type, values))) == 1 else None
        # Whole numbers that no type holds together become floats.
        whole = array is None or array.dtype.kind != "f" or isinstance(values[0], float)
        return array if array is not None and whole else _as_objects(values)
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if is_tensor(values):
        return np.asarray(tensor_to_host(values))
    return _from_column(values)


def _from_column(values: Any) -> Keys:
    """Take the values out of a series or column of any library."""
    import narwhals as nw  # noqa: PLC0415 - a fifth of the time to import this module

    if hasattr(values, "to_pylist") and not hasattr(values, "chunks"):
        import pyarrow as pa  # noqa: PLC0415 - at hand, since the array is its

        values = pa.chunked_array([values])
    if hasattr(values, "isna") and not hasattr(values, "index"):  # an array of pandas
        return np.asarray(values.astype(object))
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return np.asarray(values)
    # NumPy makes floats of whole numbers beside nulls, and a category of pyarrow's nulls.
    holes = series.dtype.is_integer() and series.null_count() > 0
    if holes or series.dtype in (nw.Int128, nw.UInt128, nw.Categorical, nw.Enum):
        return _as_objects(series.to_list())
    return np.asarray(values)


def _as_objects(values: Sequence[Any]) -> Keys:
    result = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # at once, NumPy would take lists for dimensions
        result[place] = value
    return result


def code_keys(keys: Keys, argument: str) -> tuple[Codes, list[Any]]:
    """Return a number for each row, and the value that each number stands for.

    Equal values of Python are one (1, 1.0 and True); kinds of missing may have several numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.count.keys import code_keys
    >>> codes, held = code_keys(np.array(["b", "a", "b"]), "by")
    >>> codes.tolist(), held
    ([0, 1, 0], ['b', 'a'])
    """
    kind = keys.dtype.kind
    close = kind in "iu" and keys.dtype != np.uint64 and len(keys) > 0
    if close and int(keys.max()) - int(keys.min()) < len(keys):
        return _count_integers(keys.astype(np.int64))
    if kind in "biuf":
        distinct, codes = np.unique(keys, return_inverse=True)
        return codes, distinct.tolist()
    listed = _as_steps(keys, argument).tolist() if kind in STEP_BY_TIME_KIND else keys.tolist()
    try:
        first_seen = list(dict.fromkeys(listed))
    except TypeError:
        raise InputError(
            f"{named(argument)} must hold text, numbers or dates; got {_unhashable(listed)}. Make "
            "a text of it, or take one part",
            argument=argument,
        ) from None
    number = dict(zip(first_seen, range(len(first_seen)), strict=True)).__getitem__
    return np.fromiter(map(number, listed), np.intp, len(listed)), first_seen


def _unhashable(values: Sequence[Any]) -> str:
    value = next(
        (value_of_row for value_of_row in values if type(value_of_row).__hash__ is None), values[0]
    )
    return f"{type(value).__name__} {str(value)[:60]}"


def _as_steps(keys: Keys, argument: str) -> Keys:
    """Return times as Python can hold them; refuse those that differ by less than it can tell."""
    if np.datetime_data(keys.dtype)[0] not in UNITS_BELOW_MICROSECONDS:
        return keys
    rounded = keys.astype(STEP_BY_TIME_KIND[keys.dtype.kind])
    if np.unique(rounded).size < np.unique(keys).size:
        raise InputError(fine_times(argument), argument=argument)
    return rounded


def fine_times(argument: str) -> str:
    """Say that times are too close to be told apart."""
    return (
        f"times in {named(argument)} must differ by a microsecond to be kept apart; some differ "
        "by less. Round them, or write them as text"
    )


def _count_integers(values: NDArray[np.int64]) -> tuple[Codes, list[Any]]:
    """Do what `np.unique` does by sorting."""
    low = values.min()
    present = np.bincount(values - low) > 0
    return (np.cumsum(present) - 1)[values - low], (np.flatnonzero(present) + low).tolist()


def split_places(
    columns: Sequence[Keys], name_keys: Callable[[list[Any]], list[Hashable]], argument: str
) -> dict[Hashable, Codes]:
    """Return the rows of each group; of several columns a group is a tuple of values.

    Values that `name_keys` gives one name are one group.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.count.keys import split_places
    >>> found = split_places([np.array([1.0, 2.0, 1.0])], list, "by")
    >>> {key: rows.tolist() for key, rows in found.items()}
    {1.0: [0, 2], 2.0: [1]}
    """
    codes, names = _name_codes(*code_keys(columns[0], argument), name_keys)
    for column in columns[1:]:
        more, others = _name_codes(*code_keys(column, argument), name_keys)
        pairs, codes = np.unique(codes * len(others) + more, return_inverse=True)
        firsts = [names[pair // len(others)] for pair in pairs]
        names = [
            (*(first if isinstance(first, tuple) else (first,)), others[pair % len(others)])
            for first, pair in zip(firsts, pairs, strict=True)
        ]
    # Short numbers are sorted in one pass over the rows.
    short = codes.astype(np.uint16) if len(names) <= np.iinfo(np.uint16).max else codes
    order = np.argsort(short, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
    return dict(zip(names, np.split(order, ends), strict=True))


def _name_codes(
    codes: Codes, held: list[Any], name_keys: Callable[[list[Any]], list[Hashable]]
) -> tuple[Codes, list[Hashable]]:
    called = name_keys(held)
    names = list(dict.fromkeys(called))
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[each] for each in called], np.intp)[codes], names


def missing_rows(codes: Codes, held: Sequence[Any]) -> int:
    """Count the rows whose value is missing."""
    missing = np.array([is_missing(value) for value in held], dtype=bool)
    return int(np.count_nonzero(missing[codes]))
