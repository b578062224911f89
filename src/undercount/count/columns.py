"""Take columns out of a frame of any engine, row by row, and put results into a frame again."""

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from undercount.count.frames import check_columns, open_frame
from undercount.count.queries import collect, first_rows
from undercount.count.stored_columns import check_names
from undercount.errors import InputError

# Libraries that hold a small table, in the order in which one is looked for.
EAGER = ("pandas", "polars", "pyarrow")


def is_frame(values: Any) -> bool:
    """Whether these are rows with named columns, of any library that is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from undercount.count.columns import is_frame
    >>> is_frame(pd.DataFrame({"y": [1]})), is_frame(pd.Series([1])), is_frame([1, 0])
    (True, False, False)
    """
    if isinstance(values, list | tuple) or type(values).__module__.split(".")[0] == "numpy":
        return False
    wrapped = nw.from_native(values, pass_through=True)
    dataset = type(values).__module__.startswith("pyarrow") and hasattr(values, "scanner")
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame) or dataset


def is_eager(frame: Any) -> bool:
    """Whether the rows of a frame are in memory already."""
    return isinstance(open_frame(frame), nw.DataFrame)


def take_columns(frame: Any, names: Sequence[str], most: int | None = None) -> dict[str, Any]:
    """Return columns in the order of the rows: series of a frame in memory, arrays of another.

    `most` is how many rows are wanted, the first ones; None for all.
    """
    table = open_frame(frame)
    check_columns(names, table.collect_schema().names(), "the frame")
    check_names(table, names)
    if isinstance(table, nw.DataFrame):
        return {name: table[name].to_native() for name in names}
    chosen = table.select(*dict.fromkeys(names))
    return dict(collect(chosen) if most is None else first_rows(chosen, most))


def backend_of(frame: Any) -> str:
    """Name the library that a small table made of this frame should have."""
    name = open_frame(frame).implementation.value
    return name if name in EAGER else ""


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """Make a frame of a library: pandas, polars or pyarrow; the first that is installed.

    Examples
    --------
    >>> from undercount.count.columns import make_frame
    >>> make_frame({"metric": ["recall"], "value": [0.5]}, "polars").shape
    (1, 2)
    """
    installed = [name for name in EAGER if importlib.util.find_spec(name) is not None]
    if not backend and not installed:
        raise InputError("a frame needs pandas, polars or pyarrow; none of them is installed")
    package = backend or installed[0]
    if package not in installed:
        raise InputError(
            f"backend must be one of {', '.join(installed)}, which are installed; got {package!r}"
        )
    return nw.from_dict(dict(columns), backend=package).to_native()  # type: ignore[arg-type]
