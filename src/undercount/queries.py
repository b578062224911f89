"""Steps of a query that every engine runs: transform rows, stack columns, group, collect."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.partitions import Made, change_partitions, group_partitions
from undercount.progress import Progress

SCORE, CODE, ROWS = "undercount_score", "undercount_code", "undercount_rows"
WEIGHT, SQUARE, NAME = "undercount_weight", "undercount_square", "undercount_name"
SUMS_OF_WEIGHTS: Made = {WEIGHT: (WEIGHT, "sum"), SQUARE: (SQUARE, "sum")}

Arrays = dict[str, NDArray[Any]]
Frame = nw.LazyFrame[Any]


def transformed(frame: Frame, function: Callable[..., Frame], *arguments: Any) -> Frame:
    """Apply a function of a frame that works row by row; in Dask on each partition, in one step."""
    if not frame.implementation.is_dask():
        return function(frame, *arguments)
    changed = change_partitions(frame.to_native(), function, arguments)
    result: Frame = nw.from_native(changed)
    return result


def group(
    frame: Frame,
    keys: Sequence[str],
    *,
    weighted: bool,
    extra: Made | None = None,
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


def stacked(frame: Frame, names: Sequence[str], kept: Sequence[str]) -> Frame:
    """Stack score columns, so that data is read once: one row for each row and name."""
    # Some engines leave missing values out when they stack columns.
    frame = frame.with_columns(nw.col(name).fill_null(float("nan")) for name in names)
    if not frame.implementation.is_duckdb():
        return frame.unpivot(list(names), index=list(kept), variable_name=NAME, value_name=SCORE)
    # narwhals unpivots by the default connection, which cannot see relations of others.
    picked = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in kept)
    columns = ", ".join(f'"{name}"' for name in names)
    texts = ", ".join(f"'{name}'" for name in names)
    sql = f'SELECT {picked}, unnest([{texts}]) AS "{NAME}", unnest([{columns}]) AS "{SCORE}" FROM undercount_rows'  # noqa: S608, E501 - quoted names
    result: Frame = nw.from_native(frame.to_native().query("undercount_rows", sql))
    return result


def told(frame: Frame, progress: Progress) -> Frame:
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
        found = collect(nw.from_native(native.partitions[[0]]).head(most))
        if native.npartitions == 1 or len(next(iter(found.values()))) == most:
            return found
    return collect(frame.head(most))


def collect(frame: Frame) -> Arrays:
    """Run a query; the result is as small as the number of groups."""
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        with interrupts():
            return {name: unmasked(values) for name, values in native.fetchnumpy().items()}
    options = _streaming(native) if frame.implementation.is_polars() else {}
    table = frame.collect(**options)
    return {name: _column(table[name]) for name in table.columns}


def _streaming(native: Any) -> dict[str, Any]:
    """Ask polars not to hold all rows at once; before 1.25 it has another word for that."""
    if "streaming" in signature(type(native).collect).parameters:
        return {"streaming": True}
    return {"engine": "streaming"}


@contextmanager
def interrupts() -> Iterator[None]:
    """Make an interrupted query of DuckDB, which has words of its own, a KeyboardInterrupt."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "InterruptException" or str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


def unmasked(values: NDArray[Any]) -> NDArray[Any]:
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
