"""Work on the partitions of Dask frames, which are pandas frames, and add up what they give.

Dask would move rows between workers for a group-by, and plan a hundred small steps. Here each
partition is one task, the tables of groups are added in a tree on the workers, and only the last
one travels. Workers give memory back at once, so that large arrays cost more than arithmetic: they
are avoided.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

# Tables of groups that a worker adds at once.
TABLES_AT_ONCE = 4
# Whole numbers as keys are counted in an array if it has at most so many places for each row.
PLACES_A_ROW = 4
# How a column of a table of groups is made, by name: from which column, and by which sum.
Made = Mapping[str, tuple[str, str]]


def change_partitions(native: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Apply a function of narwhals frames to each partition, as one step."""
    change = partial(_changed, function=function, arguments=arguments)
    return native.map_partitions(change, meta=change(native._meta))  # noqa: SLF001 - its schema


def _changed(part: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    if len(part):
        return function(nw.from_native(part).lazy(), *arguments).collect().to_native()
    from dask.dataframe.dispatch import meta_nonempty  # noqa: PLC0415 - only Dask's frames come here

    # Old versions of narwhals cannot spread a literal over no rows: a made-up one stands in.
    return _changed(meta_nonempty(part).head(1), function, arguments).iloc[:0]


def group_partitions(native: Any, keys: list[str], made: Made, most: int | None) -> Any:
    """Group partitions and add up their groups; those beyond a limit are left out evenly."""
    again = {
        name: (name, how if how in ("min", "max") else "sum") for name, (_, how) in made.items()
    }
    first = partial(_grouped, keys=keys, made=made, most=most)
    rest = partial(_grouped, keys=keys, made=again, most=most)
    meta = rest(first(native._meta))  # noqa: SLF001 - how Dask calls its schema
    return native.reduction(
        first, aggregate=rest, combine=rest, meta=meta, split_every=TABLES_AT_ONCE
    )


def _grouped(part: Any, keys: list[str], made: Made, most: int | None) -> Any:
    """Group a pandas frame."""
    place = _places(part, keys)
    if place is None or any(how == "count" for _, how in made.values()):
        grouped = part.groupby(keys, sort=False, dropna=False, observed=True)
        table = grouped.agg(**made).reset_index()
    else:
        table = _dense(part, keys, made, place)
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


def _dense(part: Any, keys: list[str], made: Made, place: NDArray[np.int64]) -> Any:
    """Add up rows by the number of their group."""
    rows = np.bincount(place)
    held = np.flatnonzero(rows)
    row_of = np.zeros(rows.size, np.int64)
    row_of[place] = np.arange(place.size)  # any row of a group knows its keys
    table = part.iloc[row_of[held]][keys].reset_index(drop=True)
    for name, (source, how) in made.items():
        if how == "size":
            table[name] = rows[held]
            continue
        values = part[source].to_numpy()
        if how == "sum":
            table[name] = np.bincount(place, values)[held].astype(values.dtype)
            continue
        smaller, start = (np.minimum, np.inf) if how == "min" else (np.maximum, -np.inf)
        ends = np.full(rows.size, start)
        smaller.at(ends, place, values)
        table[name] = ends[held]
    return table
