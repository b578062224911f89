"""One group-by of score and label that every engine runs, and the table that it makes."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from undercount.count.arrays import (
    LARGEST_EXACT_INTEGER,
    LARGEST_WEIGHT,
    WORDS,
    check_integer_size,
    check_unlabeled,
    describe_labels,
    is_missing,
)
from undercount.count.keys import fine_times
from undercount.count.partitions import read_partition
from undercount.count.queries import (
    CODE,
    COUNTED_COLUMN,
    NAME_COLUMN,
    ROWS,
    SCORE,
    SQUARE,
    WEIGHT,
    Arrays,
    Frame,
    Sums,
    collect,
    group,
    stack_columns,
    transform_rows,
)
from undercount.count.stored_columns import is_number, stored_type
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named

POSITIVE, NEGATIVE, UNLABELED, UNKNOWN, BAD_WEIGHT = 1, 0, -1, 2, 3
CLASS_CODES = (POSITIVE, NEGATIVE, UNLABELED)
# Only these integers can lie beyond ±2**53, where floats no longer keep neighbours apart.
FRAME_LONG_INTEGERS = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)


# How the names of columns begin that queries make.
OWN_NAMES = "undercount_"


class ColumnRoles(NamedTuple):
    """Which columns are counted, and which label value means unlabeled."""

    label: str
    scores: tuple[str, ...]
    weight: str | None
    unlabeled: float | None
    by: tuple[str, ...]


def check_types(table: Any, columns: ColumnRoles) -> None:
    """Raise unless labels, scores and weights are numbers, and groups are single values.

    In memory each row of a column that may hold anything is looked at.
    """
    check_unlabeled(columns.unlabeled)
    schema = table.collect_schema()
    anything = (nw.Object, nw.Categorical) if isinstance(table, nw.DataFrame) else ()
    rules = [(columns.label, WORDS.rule)]
    rules += [(name, "score must hold real numbers") for name in columns.scores]
    rules += [(columns.weight, "weight must hold real numbers")] if columns.weight else []
    for name, rule in rules:
        # A column of nothing but missing values has no type of its own.
        if not (is_number(table, name) or schema[name] in anything):
            kind = schema[name]
            hint = "; cast it to numbers" if kind in (nw.Categorical, nw.Enum) else ""
            words = stored_type(table, name) if kind == nw.Unknown else str(kind).lower()
            raise InputError(f"{rule}; got {words} in column {name!r}{hint}")
    _check_groups(table, schema, columns.by)


def _check_groups(table: Any, schema: Mapping[str, Any], by: tuple[str, ...]) -> None:
    for name in by:
        kind = stored_type(table, name) if schema[name] == nw.Unknown else ""
        if schema[name].is_nested() or kind.startswith(("map", "struct", "union")):
            raise nested_group_error(name, kind or str(schema[name]).lower())
        if name.startswith(OWN_NAMES):
            raise InputError(
                f"columns of {named('by')} must not begin with {OWN_NAMES!r}, as those do that "
                f"counting makes; got {name!r}. Rename it",
                argument="by",
            )
        if by.count(name) > 1:
            raise InputError(
                f"{named('by')} must name a column once; got {name!r} {by.count(name)} times",
                argument="by",
            )


def nested_group_error(name: str, kind: str) -> InputError:
    """Say that a group must be one value."""
    return InputError(
        f"{named('by')} must hold text, numbers or dates; got {kind} in column {name!r}. Make a "
        "text of it, or take one part",
        argument="by",
    )


def code_labels(frame: Frame, columns: ColumnRoles, *, narrow: bool = False) -> Frame:
    """Select the group columns, the scores as float64, the label's code and the weight.

    Single precision is kept where it is asked for (`narrow`), and with it -0.0.
    """
    frame = read_partition(frame, columns)
    if frame.implementation.is_pandas():  # a partition of Dask's
        coded = _code_arrays(frame.collect().to_native(), columns)
        if coded is not None:
            result: Frame = nw.from_native(coded).lazy()
            return result
    positive, negative, missing = _classes(frame, columns)
    # Missing first: comparisons with what is missing are missing, and so would be the code.
    rest = nw.when(negative).then(nw.lit(NEGATIVE)).otherwise(nw.lit(UNKNOWN))
    rest = nw.when(positive).then(nw.lit(POSITIVE)).otherwise(rest)
    code = nw.when(missing).then(nw.lit(UNLABELED)).otherwise(rest)
    picked = [nw.col(name) for name in columns.by]
    single = frame.collect_schema() if narrow else {}
    picked += [
        nw.col(name).alias(f"{SCORE}{place}")
        if single.get(name) == nw.Float32
        else (nw.col(name).cast(nw.Float64) + 0.0).alias(f"{SCORE}{place}")  # without -0.0
        for place, name in enumerate(columns.scores)
    ]
    if columns.weight is not None:
        weight = nw.col(columns.weight).cast(nw.Float64)
        summable = (weight >= 1 / LARGEST_WEIGHT) & (weight <= LARGEST_WEIGHT)
        usable = (weight == 0.0) | summable
        code = nw.when(usable).then(code).otherwise(nw.lit(BAD_WEIGHT))
        counts = nw.when(weight > 0.0).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Float64)
        picked += [
            weight.alias(WEIGHT),
            (weight * weight).alias(SQUARE),
            counts.alias(COUNTED_COLUMN),
        ]
    return frame.select(*picked, code.cast(nw.Int8).alias(CODE))


def _code_arrays(part: Any, columns: ColumnRoles) -> Any:
    """Do the same to a pandas frame of plain arrays, without large arrays on the way."""
    numbers = [columns.label, *columns.scores, *([columns.weight] if columns.weight else [])]
    if not all(isinstance(part[name].dtype, np.dtype) for name in numbers):
        return None
    label = part[columns.label].to_numpy()
    code = np.full(label.size, UNKNOWN, np.int8)
    code[label == 0] = NEGATIVE
    if label.dtype.kind == "f":
        code[np.isnan(label)] = UNLABELED
    if columns.unlabeled is not None:
        code[label == columns.unlabeled] = UNLABELED
    code[label == 1] = POSITIVE
    table = part[list(columns.by)].copy()
    for place, name in enumerate(columns.scores):
        table[f"{SCORE}{place}"] = part[name].to_numpy(np.float64, copy=True)
        table[f"{SCORE}{place}"] += 0.0  # without -0.0
    if columns.weight is not None:
        weight = part[columns.weight].to_numpy(np.float64)
        summable = (weight >= 1 / LARGEST_WEIGHT) & (weight <= LARGEST_WEIGHT)
        code[~((weight == 0.0) | summable)] = BAD_WEIGHT
        table[WEIGHT], table[SQUARE] = weight, weight * weight
        table[COUNTED_COLUMN] = (weight > 0).astype(np.float64)
    table[CODE] = code
    return table


def _classes(frame: Frame, columns: ColumnRoles) -> tuple[nw.Expr, nw.Expr, nw.Expr]:
    """Write as conditions which labels are positive, negative and missing."""
    label, kind = nw.col(columns.label), frame.collect_schema()[columns.label]
    missing = label.is_null()
    if kind == nw.Boolean:  # not every database casts or compares it as a number
        return label, ~label, missing | ~label if columns.unlabeled == 0 else missing
    if kind in (nw.Float32, nw.Float64):
        missing = missing | is_nan(label)
    if columns.unlabeled is not None:
        missing = missing | (label == columns.unlabeled)
    return label == 1, label == 0, missing


def is_nan(value: nw.Expr) -> nw.Expr:
    """Tell NaN by arithmetic.

    DuckDB believes the least and largest value in a Parquet file's statistics, which leave NaN
    out, and takes ``isnan`` of such a column for false.
    """
    infinity = float("inf")
    return ((value - value) != 0.0) & (value != infinity) & (value != -infinity)


def exact_groups(frame: Frame, columns: ColumnRoles, limit: int | None = None) -> Arrays:
    """Group by every distinct score; a limit stops groups from travelling, one is let over it."""
    most = None if limit is None else limit + 1
    if len(columns.scores) > 1 or columns.weight is not None:
        return collect(_long_query(frame, columns, most))
    table = transform_rows(frame, _mark_classes, columns)
    marks = {f"{CODE}{code}": (f"{CODE}{code}", "count") for code in _codes(columns)}
    keys = [*columns.by, f"{SCORE}0"]
    return _to_long(collect(group(table, keys, weighted=False, extra=marks, most=most)))


def _codes(columns: ColumnRoles) -> list[int]:
    return [POSITIVE, UNLABELED, *([NEGATIVE] if columns.unlabeled != 0 else [])]


def _mark_classes(frame: Frame, columns: ColumnRoles) -> Frame:
    """Mark the classes side by side, which engines count fastest."""
    frame, score = read_partition(frame, columns), nw.col(columns.scores[0])
    if not frame.collect_schema()[columns.scores[0]].is_float():
        score = score.cast(nw.Float64)
    positive, negative, missing = _classes(frame, columns)
    conditions = {POSITIVE: positive, UNLABELED: missing, NEGATIVE: negative}
    marks = [
        nw.when(conditions[code]).then(nw.lit(1)).alias(f"{CODE}{code}") for code in _codes(columns)
    ]
    return frame.select(*columns.by, score.alias(f"{SCORE}0"), *marks)


def _to_long(groups: Arrays) -> Arrays:
    """Turn classes side by side into groups of one class each; what is left over is unknown."""
    rows = groups.pop(ROWS).astype(np.int64)
    codes = [code for code in CLASS_CODES if f"{CODE}{code}" in groups]
    counts = {code: groups.pop(f"{CODE}{code}").astype(np.int64) for code in codes}
    counts[UNKNOWN] = rows - np.sum(list(counts.values()), axis=0)
    places = {code: np.flatnonzero(rows_of_class) for code, rows_of_class in counts.items()}
    long = {
        name: np.concatenate([values[place] for place in places.values()])
        for name, values in groups.items()
    }
    long[CODE] = np.repeat(list(places), [place.size for place in places.values()])
    long[ROWS] = np.concatenate([counts[code][place] for code, place in places.items()])
    return long


def _long_query(frame: Frame, columns: ColumnRoles, most: int | None) -> Frame:
    """Group by score and class, several score columns in one pass."""
    weighted = columns.weight is not None
    extra: Sums = {COUNTED_COLUMN: (COUNTED_COLUMN, "sum")} if weighted else {}
    table = transform_rows(frame, code_labels, columns)
    keys = [*columns.by, f"{SCORE}0", CODE]
    if len(columns.scores) > 1:
        table = transform_rows(table, stack_scores, columns)
        keys = [*columns.by, NAME_COLUMN, SCORE, CODE]
    return group(table, keys, weighted=weighted, extra=extra, most=most)


def stack_scores(table: Frame, columns: ColumnRoles) -> Frame:
    """Stack the coded score columns."""
    kept = [*columns.by, CODE, *([WEIGHT, SQUARE, COUNTED_COLUMN] if columns.weight else [])]
    return stack_columns(table, [f"{SCORE}{place}" for place in range(len(columns.scores))], kept)


def check_labels_and_scores(frame: Frame, columns: ColumnRoles, groups: Arrays, name: str) -> None:
    """Raise what `ScoreCounts.from_rows` would raise about these rows."""
    rows, code = groups[ROWS].astype(np.float64), groups[CODE]
    if rows.sum() == 0:
        raise InputError("y and score must hold at least one row; got none")
    missing = int(rows[np.isnan(groups[SCORE])].sum())
    if missing:
        raise InputError(
            f"score must not be missing; got {missing} NaN in column {name!r}. "
            "Drop these rows or score them",
            code="missing-score",
            argument="score",
        )
    bad = int(rows[code == BAD_WEIGHT].sum())
    if bad:
        raise InputError(
            f"weight must be finite and not negative, and 0 or between {1 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}, so that squares can be summed; got {bad} rows where it is not in "
            f"column {columns.weight!r}"
        )
    if (code == UNKNOWN).any():
        labels = _find_labels(frame, columns.label)
        raise InputError(describe_labels(labels, columns.unlabeled), argument="label")


def check_score_digits(frame: Frame, columns: ColumnRoles) -> None:
    """Raise if whole or decimal scores are too large to be told apart as floats."""
    if frame.implementation.is_dask():  # whose partitions look for themselves
        return
    schema = frame.collect_schema()
    long = [name for name in columns.scores if _may_be_long(schema[name])]
    if not long:
        return
    # As text, since some drivers would hand numbers of more than 64 bits over as floats.
    ends = [nw.col(name).min().cast(nw.String).alias(f"low{i}") for i, name in enumerate(long)]
    ends += [nw.col(name).max().cast(nw.String).alias(f"high{i}") for i, name in enumerate(long)]
    ends_of_columns = (end[0] for end in collect(frame.select(*ends)).values())
    values = [abs(Decimal(end)) for end in ends_of_columns if not is_missing(end)]
    check_integer_size(max((math.ceil(value) for value in values if value.is_finite()), default=0))


def _may_be_long(kind: Any) -> bool:
    """Tell types of whole and decimal numbers that may lie beyond ±2**53."""
    if kind != nw.Decimal:
        return kind in FRAME_LONG_INTEGERS
    precision, scale = (getattr(kind, name, None) for name in ("precision", "scale"))
    if precision is None or scale is None:  # older versions of narwhals do not tell
        return True
    return bool(10 ** (precision - scale) > LARGEST_EXACT_INTEGER)


def check_time_precision(frame: Frame, columns: ColumnRoles) -> None:
    """Raise if groups are times that Python, which has no nanoseconds, would merge."""
    schema = frame.collect_schema()
    for name in columns.by:
        if getattr(schema[name], "time_unit", "") == "ns":
            times = collect(frame.group_by(name).agg(nw.len().alias(ROWS)))[name].tolist()
            if len(set(times)) < len(times):
                raise InputError(fine_times("by"), argument="by")


def _find_labels(frame: Frame, label: str) -> Counter[Any]:
    """Count the rows of each label value, the most frequent first."""
    rows_by_label = collect(frame.group_by(label).agg(nw.len().alias(ROWS)))
    pairs = zip(rows_by_label[label].tolist(), rows_by_label[ROWS].tolist(), strict=True)
    counter = Counter({value: rows for value, rows in pairs if not is_missing(value)})
    return Counter(dict(counter.most_common()))


def amounts(groups: Arrays) -> tuple[FloatArray, FloatArray]:
    """Return the weight and the squared weight of each group; rows count 1 if unweighted."""
    if WEIGHT in groups:
        weight, square = (groups[name].astype(np.float64) for name in (WEIGHT, SQUARE))
        if np.isnan(weight).any():
            raise InputError("weight must be finite and not negative; got NaN")
        return weight, square
    rows = groups[ROWS].astype(np.float64)
    return rows, rows


def sum_squares(groups: Arrays) -> tuple[float, float, float]:
    """Sum the squared weights of positive, negative and unlabeled rows."""
    square = amounts(groups)[1]
    squares = [float(square[groups[CODE] == kind].sum()) for kind in CLASS_CODES]
    return squares[0], squares[1], squares[2]


def exact_counts(groups: Arrays) -> ScoreCounts:
    """Make the table from groups of one score column."""
    weight, _ = amounts(groups)
    if not weight.any():
        raise InputError("weight must not be 0 for every row")
    parts = [np.where(groups[CODE] == kind, weight, 0.0) for kind in CLASS_CODES]
    squares, rows = sum_squares(groups), None
    counted = groups[COUNTED_COLUMN].astype(np.float64) if COUNTED_COLUMN in groups else weight
    if not all(np.array_equal(counted, amount) for amount in amounts(groups)):  # not each weighs 1
        rows = np.stack([np.where(groups[CODE] == kind, counted, 0.0) for kind in CLASS_CODES])
    return ScoreCounts.from_counts(groups[SCORE], *parts, squared_weight=squares, rows=rows)


def split_by(groups: Arrays, by: tuple[str, ...]) -> dict[Hashable, Arrays]:
    """Split groups by the group columns; one column gives plain keys, several give tuples."""
    if len(by) == 1:
        keys: list[Hashable] = [plain(value) for value in groups[by[0]].tolist()]
    else:
        keys = list(zip(*([plain(v) for v in groups[name].tolist()] for name in by), strict=True))
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        try:
            places.setdefault(key, []).append(place)
        except TypeError:  # of a type that the engine has and narwhals does not know
            raise nested_group_error(", ".join(by), type(key).__name__) from None
    rest = [name for name in groups if name not in by]
    return {key: {name: groups[name][place] for name in rest} for key, place in places.items()}


def plain(value: Any) -> Hashable:
    """Return a group's value as Python has it; every kind of missing is None."""
    value = value.as_py() if hasattr(value, "as_py") else value
    value = value.item() if isinstance(value, np.generic) else value
    return None if is_missing(value) else value
