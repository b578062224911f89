"""Steps of a query that every engine runs: transform rows, stack columns, group, collect."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.count.progress import Progress
from undercount.count.sql import quote_name

# How the columns of a table of groups are made, by name: from which column, and by which sum.
Sums = Mapping[str, tuple[str, str]]

SCORE, CODE, ROWS = "undercount_score", "undercount_code", "undercount_rows"
WEIGHT, SQUARE, NAME_COLUMN = "undercount_weight", "undercount_square", "undercount_name"
# 1 for a row of a weight above 0, 0 for one that does not count.
COUNTED_COLUMN = "undercount_counts"
SUMS_OF_WEIGHTS: Sums = {WEIGHT: (WEIGHT, "sum"), SQUARE: (SQUARE, "sum")}

# How our own columns begin.
OURS = "undercount_"
# Types of DuckDB's whole numbers of more than 64 bits, which NumPy has not.
LONG_NUMBER = re.compile(r"U?HUGEINT|DECIMAL\((19|[23]\d),0\)")

Arrays = dict[str, NDArray[Any]]
Frame = nw.LazyFrame[Any]


def transform_rows(frame: Frame, function: Callable[..., Frame], *arguments: Any) -> Frame:
    """Apply a function of a frame that works row by row; in Dask on each partition, in one step."""
    if not frame.implementation.is_dask():
        return function(frame, *arguments)
    native, change = (
        frame.to_native(),
        partial(_change_part, function=function, arguments=arguments),
    )
    schema = change(native._meta)  # noqa: SLF001 - how Dask calls it
    result: Frame = nw.from_native(native.map_partitions(change, meta=schema))
    return result


def group(
    frame: Frame,
    keys: Sequence[str],
    *,
    weighted: bool,
    extra: Sums | None = None,
    most: int | None = None,
) -> Frame:
    """Count rows and sum weights in each group; let at most so many groups travel."""
    made = {**(SUMS_OF_WEIGHTS if weighted else {}), **(extra or {})}
    if frame.implementation.is_dask():
        made = {ROWS: (keys[0], "size"), **made}
        result: Frame = nw.from_native(group_partitions(frame.to_native(), list(keys), made, most))
        return result
    sums = [getattr(nw.col(source), how)().alias(name) for name, (source, how) in made.items()]
    query = frame.group_by(*keys).agg(nw.len().alias(ROWS), *sums)
    return query if most is None else query.head(most)


def stack_columns(frame: Frame, names: Sequence[str], kept: Sequence[str]) -> Frame:
    """Stack score columns, so that data is read once: one row for each row and name."""
    # Some engines leave missing values out when they stack columns.
    frame = frame.with_columns(nw.col(name).fill_null(float("nan")) for name in names)
    if frame.implementation.is_ibis():  # unpivots by JSON, which has no infinity
        parts = [
            frame.select(*kept, nw.lit(name).alias(NAME_COLUMN), nw.col(name).alias(SCORE))
            for name in names
        ]
        stacked: Frame = nw.concat(parts)
        return stacked
    if not frame.implementation.is_duckdb():
        return frame.unpivot(
            list(names), index=list(kept), variable_name=NAME_COLUMN, value_name=SCORE
        )
    # narwhals unpivots by the default connection, which cannot see relations of others.
    picked = ", ".join(map(quote_name, kept))
    columns = ", ".join(f'"{name}"' for name in names)
    texts = ", ".join(f"'{name}'" for name in names)
    pairs = f'unnest([{texts}]) AS "{NAME_COLUMN}", unnest([{columns}]) AS "{SCORE}"'
    # A projection: a query has a name, and another query by that name would change these rows.
    result: Frame = nw.from_native(frame.to_native().project(f"{picked}, {pairs}"))
    return result


def report_rows(frame: Frame, progress: Progress) -> Frame:
    """Let a polars frame tell how many rows have gone by; DuckDB is asked, others tell nothing."""
    if progress.tell is None or not frame.implementation.is_polars():
        return frame
    total = int(collect(frame.select(nw.len().alias(ROWS)))[ROWS][0])

    def look(batch: Any) -> Any:
        progress.rows(len(batch), total)
        return batch

    result: Frame = nw.from_native(frame.to_native().map_batches(look, streamable=True))
    return result


def first_rows(frame: Frame, most: int) -> Arrays:
    """Take the first rows; Dask would read every partition for them, although one may do."""
    if frame.implementation.is_dask():
        native = frame.to_native()
        head = collect(nw.from_native(native.partitions[[0]]).head(most))
        if native.npartitions == 1 or len(next(iter(head.values()))) == most:
            return head
    return collect(frame.head(most))


def collect(frame: Frame) -> Arrays:
    """Run a query; the result is as small as the number of groups."""
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        with pass_interrupts():
            return _fetch(native)
    options = _streaming(frame) if frame.implementation.is_polars() else {}
    table = frame.collect(**options)
    return {name: _column(table[name]) for name in table.columns}


def _fetch(relation: Any) -> Arrays:
    """Fetch a relation; the user's whole numbers that are too long for NumPy come as text.

    Sums of ours may have such a type too, but are never so long.
    """
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    long = [
        name
        for name, kind in types.items()
        if LONG_NUMBER.fullmatch(kind) and not name.startswith(OURS)
    ]
    if long:
        texts = ", ".join(f"{quote_name(name)}::VARCHAR AS {quote_name(name)}" for name in long)
        relation = relation.project(f"* REPLACE ({texts})")
    columns = {name: fill_masked(values) for name, values in relation.fetchnumpy().items()}
    for name in long:
        values = [None if text is None else int(text) for text in columns[name].tolist()]
        columns[name] = np.array([*values, None], object)[:-1]  # long or short, they stay Python's
    return columns


def _streaming(frame: Frame) -> dict[str, Any]:
    """Ask polars not to hold all rows at once; before 1.25 it has another word for that.

    Python's objects are in memory anyway, and polars 1.0 counts groups of them wrongly in streams.
    """
    if nw.Object in frame.collect_schema().dtypes():
        return {}
    if "streaming" in signature(type(frame.to_native()).collect).parameters:
        return {"streaming": True}
    return {"engine": "streaming"}


@contextmanager
def pass_interrupts() -> Iterator[None]:
    """Make an interrupted query of DuckDB, which has words of its own, a KeyboardInterrupt."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "InterruptException" or str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


def fill_masked(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column of DuckDB with NaN or None where it is missing."""
    if not np.ma.isMaskedArray(values):
        return values
    if values.dtype.kind == "f":
        return np.ma.filled(values, np.nan)
    filled = values.data.astype(object)
    filled[np.ma.getmaskarray(values)] = None
    return filled


def _column(series: nw.Series[Any]) -> NDArray[Any]:
    if series.dtype.is_float():
        return np.asarray(series.fill_null(float("nan")).to_numpy(), dtype=np.float64)
    if series.dtype.is_integer() and not series.is_null().any():
        return np.asarray(series.to_numpy())
    result = np.empty(len(series), dtype=object)
    result[:] = series.to_list()
    return result


# Tables of groups that a worker adds at once.
TABLES_AT_ONCE = 4
# Whole numbers as keys are counted in an array if it has at most so many places for each row.
PLACES_A_ROW = 4


def _change_part(part: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    if len(part):
        return function(nw.from_native(part).lazy(), *arguments).collect().to_native()
    from dask.dataframe.dispatch import meta_nonempty  # noqa: PLC0415 - only Dask's frames come here

    # Old versions of narwhals cannot spread a literal over no rows: a made-up one stands in.
    return _change_part(meta_nonempty(part).head(1), function, arguments).iloc[:0]


def group_partitions(native: Any, keys: list[str], made: Sums, most: int | None) -> Any:
    """Group partitions and add up their groups; those beyond a limit are left out evenly."""
    again = {
        name: (name, how if how in ("min", "max") else "sum") for name, (_, how) in made.items()
    }
    first = partial(_group_part, keys=keys, made=made, most=most)
    rest = partial(_group_part, keys=keys, made=again, most=most)
    meta = rest(first(native._meta))  # noqa: SLF001 - how Dask calls its schema
    return native.reduction(
        first, aggregate=rest, combine=rest, meta=meta, split_every=TABLES_AT_ONCE
    )


def _group_part(part: Any, keys: list[str], made: Sums, most: int | None) -> Any:
    """Group a pandas frame."""
    place = _places(part, keys)
    if place is None or any(how == "count" for _, how in made.values()):
        grouped = part.groupby(keys, sort=False, dropna=False, observed=True)
        table = grouped.agg(**made).reset_index()
    else:
        table = _group_by_place(part, keys, made, place)
    if most is None or len(table) <= most:
        return table
    return table.iloc[np.linspace(0, len(table) - 1, most).astype(np.int64)]


def _places(part: Any, keys: list[str]) -> NDArray[np.int64] | None:
    """Give each row the number of its group if keys are whole numbers of a small range."""
    if not len(part) or not all(part[key].dtype in (np.int8, np.int64) for key in keys):
        return None
    place, size = np.zeros(len(part), np.int64), 1
    for key in keys:
        values = part[key].to_numpy()
        lowest = int(values.min())
        span = int(values.max()) - lowest + 1
        size *= span
        if size > PLACES_A_ROW * len(part):
            return None
        place *= span
        place += values
        place -= lowest
    return place


def _group_by_place(part: Any, keys: list[str], made: Sums, place: NDArray[np.int64]) -> Any:
    """Add up rows by the number of their group."""
    rows = np.bincount(place)
    places = np.flatnonzero(rows)
    row_of = np.zeros(rows.size, np.int64)
    row_of[place] = np.arange(place.size)  # any row of a group knows its keys
    table = part.iloc[row_of[places]][keys].reset_index(drop=True)
    for name, (source, how) in made.items():
        if how == "size":
            table[name] = rows[places]
            continue
        values = part[source].to_numpy()
        if how == "sum":
            table[name] = np.bincount(place, values)[places].astype(values.dtype)
            continue
        smaller, start = (np.minimum, np.inf) if how == "min" else (np.maximum, -np.inf)
        ends = np.full(rows.size, start)
        smaller.at(ends, place, values)
        table[name] = ends[places]
    return table
