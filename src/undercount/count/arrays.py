"""Read labels, scores and weights from whatever array, list, series or column a user has."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Rational, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.array_library import is_tensor, tensor_to_host
from undercount.curve import FloatArray
from undercount.errors import InputError, named, real_number, wording

# Beyond this, neighbouring 64-bit integers are the same float64.
LARGEST_EXACT_INTEGER = 2**53
DOUBLE = 8  # bytes
# Beyond, squared weights could not be summed.
LARGEST_WEIGHT = 1e100
WEIGHT_RULE = f"0 or lie between {1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
LISTED_VALUES = 5
# Of two indexes that share more of their rows than this, both name rows of one table.
MOST_SHARED = 0.5
SIGNED = {-1, 0, 1}
# What NumPy turns into floats without a word.
UNREAL = (np.complexfloating, np.datetime64, np.timedelta64)


class LabelWords(NamedTuple):
    """Say in messages what a missing label means, and how to recode labels."""

    missing: str = "unlabeled"
    recode: str = "numpy.where(y == 'yes', 1, numpy.nan)"
    other: str = f"If {{0}} means unlabeled pass {named('unlabeled', '{0}')}"

    @property
    def rule(self) -> str:
        """Which values labels may have."""
        return f"labels must be 1 (positive), 0 (negative) or missing ({self.missing})"


WORDS = LabelWords()


def amount(value: float) -> str:
    """Write a number of rows, or a sum of weights with as many digits as one reads."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004 - readability


def row_words(number: float, *, weighted: bool = False) -> str:
    """Say how many rows there are, or their total weight, which is no number of rows.

    Examples
    --------
    >>> from undercount.count.arrays import row_words
    >>> row_words(1), row_words(2000), row_words(0.5, weighted=True)
    ('1 row', '2,000 rows', 'rows of total weight 0.5')
    """
    if weighted:
        return f"rows of total weight {amount(number)}"
    return f"{amount(number)} row{'' if number == 1 else 's'}"


def read_pair(
    y: Any,
    score: Any,
    unlabeled: float | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
    others: Mapping[str, Any] | None = None,
) -> tuple[NDArray[np.int8], NDArray[np.floating[Any]]]:
    """Return labels and scores of the same rows; arguments that changed places are recognised.

    The order of whatever else has a value for each row, `others` by name, is checked as well.
    """
    columns = {"sample_weight": sample_weight, "cluster": cluster, **(others or {})}
    check_row_order(y=y, score=score, **columns)
    try:
        labels, scores = read_labels(y, unlabeled), read_scores(score)
    except InputError:
        if _looks_swapped(y, score):
            raise InputError(
                "score looks like labels and y like scores: labels come first, "
                f"{wording('(y, score)', '--label COLUMN --score COLUMN')}",
                argument="y",
            ) from None
        raise
    if len(labels) != len(scores):
        raise InputError(
            f"y and score must have the same length; got {len(labels)} and {len(scores)} rows"
        )
    return labels, scores


def _looks_swapped(y: Any, score: Any) -> bool:
    """Whether the scores are labels, and the labels are anything but."""
    distinct = []
    for values in (y, score):
        try:
            array = _as_numbers(_as_array(values, ""), "")
        except InputError:
            return False
        present = array[~np.isnan(array)] if array.dtype.kind == "f" else array
        distinct.append(set(np.unique(present).tolist()))
    return distinct[1] <= SIGNED and not distinct[0] <= SIGNED and len(distinct[0]) > len(SIGNED)


def check_row_order(**columns: Any) -> None:
    """Refuse series whose rows have the same index in another order: pairs would be wrong."""
    first: Any = None
    first_name = ""
    for name, values in columns.items():
        index: Any = getattr(values, "index", None)
        if not hasattr(index, "equals"):  # lists have a method of that name
            continue
        if first is None:
            first, first_name = index, name
        elif len(first) == len(index) and not first.equals(index):
            shared = _shared_out_of_order(first, index)
            if not shared:
                continue
            raise InputError(
                f"{first_name} and {name} have {'' if shared == 1 else 'mostly '}the same index in "
                "different orders, so that it is open which rows belong together; pass "
                f"{name}.loc[{first_name}.index], or both as arrays if "
                "their rows are in the same order",
                argument=name,
            )


def _shared_out_of_order(first: Any, index: Any) -> float:
    """Return the part of two indexes that is the same at other places; 0 if that says nothing.

    Rows that are merely numbered share numbers with every other index, and mean nothing by it.
    """
    shared, numbers = float(index.isin(first).mean()), np.arange(len(index))
    numbered = any(
        np.array_equal(np.asarray(index_values), numbers) for index_values in (first, index)
    )
    return shared if shared == 1 or (shared > MOST_SHARED and not numbered) else 0.0


def read_floats(values: Any, name: str) -> FloatArray:
    """Return any column of numbers as float64; NaN where a value is missing."""
    return np.asarray(_as_numbers(_as_array(values, name), name), np.float64)


def read_scores(score: Any) -> NDArray[np.floating[Any]]:
    """Return scores as contiguous float32 or float64 without NaN."""
    array = _as_array(score, "score")
    check_exact_as_floats(_unmerged(score, array))
    array = _as_numbers(array, "score")
    precision = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.ascontiguousarray(array, dtype=precision)
    # The maximum propagates NaN, so one pass without a temporary finds it.
    if len(array) and np.isnan(array.max()):
        missing = np.flatnonzero(np.isnan(array))
        raise InputError(
            f"score must not be missing; got {len(missing)} NaN, first at row "
            f"{_row_list(missing)}. Drop these rows or score them"
        )
    return array


def _unmerged(score: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of a list that NumPy may have merged as they were."""
    listed = isinstance(score, list | tuple) and array.dtype == np.float64
    if listed and array.size and np.abs(array).max() >= LARGEST_EXACT_INTEGER:
        return np.array(score, dtype=object)
    return array


def check_integer_size(largest: Any) -> None:
    """Raise if integer scores are too large to be told apart as floats."""
    if largest > LARGEST_EXACT_INTEGER:
        raise InputError(
            f"integer scores must stay within ±2**53 to be kept apart; got {largest}. "
            "Divide them or use their ranks"
        )


def check_exact_as_floats(array: NDArray[Any]) -> None:
    """Raise if float64 would merge numbers of another type: whole ones, decimals, wider floats."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "O":
        _check_distinct_floats([value for value in array.flat if _is_exact(value)])
    elif kind in "iu" and size == DOUBLE and array.size:
        check_integer_size(max(int(array.max()), -int(array.min())))
    elif kind == "f" and size > DOUBLE:
        distinct = np.unique(array[np.isfinite(array)])
        with np.errstate(over="ignore"):
            narrow = distinct.astype(np.float64)
        if (narrow[1:] == narrow[:-1]).any():
            _check_distinct_floats([int(each) if each == int(each) else each for each in distinct])


def _is_exact(value: object) -> bool:
    """Whether a value is a number that may have more digits than a float."""
    exact = isinstance(value, Rational | Decimal | np.longdouble)
    is_number = exact and not isinstance(value, UNREAL) and not is_missing(value)
    return is_number and abs(value) != math.inf  # type: ignore[arg-type]


def _check_distinct_floats(values: list[Any]) -> None:
    """Raise if exact numbers are whole and too long, or if two of them are one float."""
    whole = (abs(value) for value in values if not isinstance(value, np.floating))
    check_integer_size(max(whole, default=0))
    held: dict[float, Any] = {}
    for value in values:
        other = held.setdefault(float(value), value)
        if other != value:
            raise InputError(
                "scores must differ in their first 15 digits to be kept apart; got "
                f"{min(other, value)!s} and {max(other, value)!s}. Use their ranks"
            )


def check_unlabeled(unlabeled: object) -> None:
    """Raise unless the value that means unlabeled is a number, and not the one of positives.

    Anything else would equal no label, and the rows it means would become verified negatives.
    """
    if unlabeled is None:
        return
    whole = isinstance(unlabeled, int) and math.isnan(real_number(unlabeled))  # 10**400, say
    if whole or not isinstance(unlabeled, Real | np.bool_):
        raise InputError(
            f"{named('unlabeled')} must be one number, usually 0 or -1; got {unlabeled!r}",
            argument="unlabeled",
        )
    if unlabeled == 1:
        raise InputError(f"{named('unlabeled')} must not be 1, which always means positive")


def read_labels(
    y: Any, unlabeled: float | None = None, words: LabelWords = WORDS
) -> NDArray[np.int8]:
    """Return labels as 1 positive, 0 negative, -1 unlabeled."""
    check_unlabeled(unlabeled)
    hint = f"; recode, for example {words.recode}"
    array = _as_numbers(_as_array(y, "y"), "y", words.rule, hint)
    positive = array == 1
    if unlabeled == 0:
        negative = np.zeros(0, dtype=bool)
        labels: NDArray[np.int8] = positive.view(np.int8) * np.int8(2) - np.int8(1)
        n_known = int(np.count_nonzero(positive)) + int(np.count_nonzero(array == 0))
    else:
        negative = array == 0
        labels = positive.view(np.int8) * np.int8(2) + negative.view(np.int8) - np.int8(1)
        n_known = int(np.count_nonzero(positive)) + int(np.count_nonzero(negative))
        if unlabeled is not None:
            n_known += int(np.count_nonzero(array == unlabeled))
    if n_known < len(array) and array.dtype.kind == "f":
        n_known += int(np.count_nonzero(np.isnan(array)))
    if n_known < len(array):
        present = array[~np.isnan(array)] if array.dtype.kind == "f" else array
        raise InputError(describe_labels(Counter(present.tolist()), unlabeled, words))
    return labels


def read_weights(
    weight: Any, n_rows: int, *, name: str = "sample_weight", allow_zero_sum: bool = False
) -> FloatArray:
    """Return finite weights that are not negative."""
    said = named(name) if name == "sample_weight" else name  # a column of counts is no option
    array = _as_numbers(_as_array(weight, name), name)
    if len(array) != n_rows:
        raise InputError(f"{name} must have one value a row; got {len(array)} for {n_rows} rows")
    array = np.ascontiguousarray(array, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(wrong):
        raise InputError(
            f"{said} must be finite and not negative; got {array[wrong[0]]} at row "
            f"{_row_list(wrong)}"
        )
    far = np.flatnonzero((array > LARGEST_WEIGHT) | ((array > 0) & (array < 1 / LARGEST_WEIGHT)))
    if len(far):
        raise InputError(
            f"{said} must be {WEIGHT_RULE}, so that squares can be summed; got {array[far[0]]} at "
            f"row {_row_list(far)}. Divide the weights by a constant"
        )
    if not allow_zero_sum and not array.any():
        raise InputError(f"{said} must not be 0 for every row")
    return array


def _as_numbers(array: NDArray[Any], name: str, rule: str = "", hint: str = "") -> NDArray[Any]:
    """Return an array of real numbers of any type."""
    if array.dtype == object:
        array = _as_floats(array, name, hint)
    if array.dtype.kind not in "fiub":
        rule = rule or f"{name} must hold real numbers"
        raise InputError(f"{rule}; got {_kind_name(array)}{hint}")
    return array


def _as_array(values: Any, name: str) -> NDArray[Any]:
    """Return a 1-D array; missing values become NaN, or None in an object array."""
    if values is None or isinstance(values, str):
        raise InputError(
            f"{name} must hold one number a row; got {values!r}. For columns of a frame "
            "pass the frame and label=, score="
        )
    if np.ma.isMaskedArray(values):
        array = _without_mask(values)
    elif isinstance(values, np.ndarray):
        array = values
    else:
        array = _from_sequence(
            values if isinstance(values, list | tuple) else _unwrap(values), name
        )
    if array.ndim != 1:
        hint = ""
        if array.ndim == 2 and array.shape[1] == 2 and name == "score":  # noqa: PLR2004 - columns
            hint = ". For predict_proba pass the column of the positive class, score[:, 1]"
        elif array.ndim == 2 and name == "y":  # noqa: PLR2004 - a table
            hint = ". Labels come first; of a frame name the columns, label='is_fraud', score='p'"
        elif array.ndim == 0 and isinstance(values, Iterable):  # a generator, a set, a dict
            hint = f". Pass list({name}{'.values()' if isinstance(values, Mapping) else ''})"
        raise InputError(f"{name} must be 1-D; got shape {array.shape}{hint}")
    return array


def _without_mask(values: Any) -> NDArray[Any]:
    """Return a masked array with NaN where it is masked."""
    if not np.ma.is_masked(values) or values.dtype.kind not in "fiubO":
        return np.asarray(values.data)
    plain_values = values.data.astype(object if values.dtype.kind == "O" else np.float64)
    plain_values[np.ma.getmaskarray(values)] = np.nan
    return np.asarray(plain_values)


def _unwrap(values: Any) -> Any:
    """Take the values out of a series of any library; anything else is left as it is."""
    if is_tensor(values):
        return tensor_to_host(values)
    import narwhals as nw  # noqa: PLC0415 - a fifth of the time to import this module

    if hasattr(values, "dictionary_decode"):  # pyarrow's, whose nulls NumPy takes for a category
        values = values.dictionary_decode()
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    if series.dtype in (nw.Categorical, nw.Enum, nw.Int128, nw.UInt128):
        return np.array([*series.to_list(), None], dtype=object)[:-1]
    if (series.dtype.is_numeric() or series.dtype == nw.Boolean) and series.null_count() > 0:
        dtype = nw.Float32 if series.dtype == nw.Float32 else nw.Float64
        series = series.cast(dtype).fill_null(float("nan"))
    return series.to_numpy()


def _from_sequence(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be 1-D; got nested values of different lengths") from None


def _as_floats(array: NDArray[Any], name: str, hint: str) -> NDArray[Any]:
    """Turn an object array of numbers and missing values into floats."""
    flat = array.ravel()
    missing = np.array([is_missing(value) for value in flat], dtype=bool)
    strings = [value for value in flat[~missing] if isinstance(value, str | bytes)]
    if strings:
        raise InputError(
            f"{name} must hold numbers, not text; got {strings[0]!r} in "
            f"{row_words(len(strings))}{hint}"
        )
    unreal = [value for value in flat[~missing] if isinstance(value, UNREAL)]
    if unreal:
        raise InputError(f"{name} must hold real numbers; got {_kind_name(np.array(unreal[:1]))}")
    result = np.full(len(flat), np.nan)
    try:
        result[~missing] = flat[~missing].astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        value = flat[~missing][0]
        raise InputError(
            f"{name} must hold real numbers; got {type(value).__name__} {value!r}"
        ) from None
    return result.reshape(array.shape)


def is_missing(value: object) -> bool:
    """Tell None, NaN and NA from values."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN is the value unequal to itself
    except (TypeError, ArithmeticError):  # pandas.NA has no truth value, a signalling NaN no order
        return True
    except ValueError:  # an array inside an array: not missing, but refused later
        return False


def _kind_name(array: NDArray[Any]) -> str:
    names = {"U": "text", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations"}
    example = f", for example {array.flat[0:1].tolist()[0]!r}" if array.size else ""
    return names.get(array.dtype.kind, str(array.dtype)) + example


def _row_list(positions: NDArray[np.intp]) -> str:
    shown = ", ".join(str(int(position)) for position in positions[:LISTED_VALUES])
    return shown + (", …" if len(positions) > LISTED_VALUES else "")


def _brief(value: float) -> str:
    """Write a label with few digits, if it is that number."""
    text = f"{value:g}"
    return text if float(text) == value or value != value else repr(float(value))  # noqa: PLR0124 - NaN


def describe_labels(found: Counter[Any], unlabeled: float | None, words: LabelWords = WORDS) -> str:
    """Say which label values were found, how often, and what to pass."""
    shown = ", ".join(
        f"{_brief(value)}: {count}" for value, count in found.most_common(LISTED_VALUES)
    )
    more = ", …" if len(found) > LISTED_VALUES else ""
    other = next(value for value in found if value not in (0, 1, unlabeled))
    hint = words.other.format(_brief(other))
    return (
        f"{words.rule}; got {{{shown}{more}}}. {hint}; if it means verified negative recode it as 0"
    )
