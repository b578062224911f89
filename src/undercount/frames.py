"""Count rows where they live: frames of every engine that narwhals knows."""

import difflib
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, overload

import narwhals as nw
import numpy as np

from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.groups import (
    NAME,
    SCORE,
    Arrays,
    Columns,
    Frame,
    check_types,
    collect,
    exact_counts,
    exact_query,
    plain,
    refuse_bad_rows,
    refuse_long_integers,
    split_by,
)

# More distinct scores than this are binned where the rows live before anything travels.
EXACT_LIMIT = 2**21
DEFAULT_BINS = 2**16
PROBE_ROWS = 2**16
# A probe with a larger share of distinct scores is taken for a continuous score.
CONTINUOUS_SHARE = 0.5

ByGroup = dict[Hashable, ScoreCounts]


@overload
def count_scores(
    frame: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    unlabeled: float | None = None,
    bins: int | None = None,
    by: None = None,
) -> ScoreCounts: ...
@overload
def count_scores(
    frame: Any,
    *,
    label: str,
    score: list[str] | tuple[str, ...],
    weight: str | None = None,
    unlabeled: float | None = None,
    bins: int | None = None,
    by: None = None,
) -> dict[str, ScoreCounts]: ...
@overload
def count_scores(
    frame: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    unlabeled: float | None = None,
    bins: int | None = None,
    by: str | list[str] | tuple[str, ...],
) -> ByGroup: ...
@overload
def count_scores(
    frame: Any,
    *,
    label: str,
    score: list[str] | tuple[str, ...],
    weight: str | None = None,
    unlabeled: float | None = None,
    bins: int | None = None,
    by: str | list[str] | tuple[str, ...],
) -> dict[str, ByGroup]: ...
def count_scores(
    frame: Any,
    *,
    label: str,
    score: str | Sequence[str],
    weight: str | None = None,
    unlabeled: float | None = None,
    bins: int | None = None,
    by: str | Sequence[str] | None = None,
) -> ScoreCounts | dict[str, ScoreCounts] | ByGroup | dict[str, ByGroup]:
    """Count the rows of a data frame of any engine, where they live.

    Parameters
    ----------
    frame : pandas, polars (eager or lazy), pyarrow (table or dataset), DuckDB, Ibis, Dask, PySpark
        Only the small table of counts leaves the engine.
    label : str
        Column of labels: 1 positive, 0 negative, missing unlabeled.
    score : str or list of str
        Column of scores; several are counted in one pass and give a dict with one table each.
    weight : str, optional
        Column of row weights, finite and not negative.
    unlabeled : number, optional
        The label value that means unlabeled, usually 0 or -1.
    bins : int, optional
        Merge scores into at most so many cells, chosen from the data; ``auc_error`` of the result
        is a guaranteed bound on what that costs. Without it counts are exact, unless a lazy frame
        has more than two million distinct scores, which are then merged into 65,536 cells.
    by : str or list of str, optional
        Group columns: one table for each group, in a dict by the group's value (or tuple).

    Returns
    -------
    ScoreCounts, or a dict of them
        For several scores and groups, a dict by score of dicts by group.

    Examples
    --------
    >>> import pandas as pd
    >>> import undercount as uc
    >>> frame = pd.DataFrame({"y": [1, None, None], "s": [0.9, 0.9, 0.2], "day": [1, 1, 2]})
    >>> uc.count_scores(frame, label="y", score="s")
    ScoreCounts: 3 rows: 1 labelled positive, 0 labelled negative, 2 unlabeled; \
2 distinct scores from 0.2 to 0.9
    >>> sorted(uc.count_scores(frame, label="y", score="s", by="day"))
    [1, 2]
    """
    scores = (score,) if isinstance(score, str) else tuple(score)
    groups = (by,) if isinstance(by, str) else tuple(by or ())
    columns = Columns(label, scores, weight, unlabeled, groups)
    if bins is not None and bins < 1:
        raise InputError(f"bins must be at least 1; got {bins}")
    table = open_frame(frame)
    schema = table.collect_schema()
    check_columns(
        [label, *scores, *groups, *([weight] if weight else [])], schema.names(), "the frame"
    )
    check_types(schema, columns)
    if isinstance(table, nw.DataFrame):
        found = _count_eager(table, columns, bins)
    else:
        found = _count_lazy(table, columns, bins)
    tables = {name: parts if groups else parts[()] for name, parts in found.items()}
    return tables[score] if isinstance(score, str) else tables  # type: ignore[return-value]


def open_frame(frame: Any) -> nw.DataFrame[Any] | Frame:
    """Wrap a frame; pyarrow datasets are read by DuckDB, which streams them."""
    if type(frame).__module__.startswith("pyarrow") and hasattr(frame, "scanner"):
        import duckdb  # noqa: PLC0415 - heavy, and only datasets need it

        frame = duckdb.from_arrow(frame)
    try:
        return nw.from_native(frame)  # type: ignore[no-any-return]
    except TypeError:
        raise InputError(
            "frame must be a pandas, polars, pyarrow, DuckDB, Ibis, Dask or PySpark frame; "
            f"got {type(frame).__module__}.{type(frame).__qualname__}. For arrays use "
            "ScoreCounts.from_rows, for files read_counts"
        ) from None


def check_columns(wanted: Iterable[str], names: Sequence[str], place: str) -> None:
    """Raise if a column is missing, with the nearest names."""
    for name in wanted:
        if name in names:
            continue
        folded = {other.casefold(): other for other in names}
        near = difflib.get_close_matches(name.casefold(), folded, n=3)
        hint = " or ".join(repr(folded[other]) for other in near)
        listed = ", ".join(repr(other) for other in names[:20]) + (", …" if len(names) > 20 else "")  # noqa: PLR2004 - a readable line
        raise InputError(
            f"there is no column {name!r} in {place}; "
            + (f"did you mean {hint}? " if near else "")
            + f"It has {listed or 'no columns'}"
        )


def _count_eager(
    table: nw.DataFrame[Any], columns: Columns, bins: int | None
) -> dict[str, dict[Hashable, ScoreCounts]]:
    """Count rows that are in memory already, by the same code as arrays."""
    parts: dict[Hashable, nw.DataFrame[Any]] = {(): table}
    if columns.by:
        parts = {}
        for key, part in table.group_by(*columns.by):
            values = tuple(plain(value) for value in key)
            parts[values if len(values) > 1 else values[0]] = part
    found: dict[str, dict[Hashable, ScoreCounts]] = {name: {} for name in columns.scores}
    for key, part in parts.items():
        for name in columns.scores:
            counts = ScoreCounts.from_rows(
                part[columns.label].to_native(),
                part[name].to_native(),
                unlabeled=columns.unlabeled,
                sample_weight=part[columns.weight].to_native() if columns.weight else None,
            )
            found[name][key] = counts if bins is None else counts.coarsened(bins)
    return found


def _count_lazy(
    frame: Frame, columns: Columns, bins: int | None
) -> dict[str, dict[Hashable, ScoreCounts]]:
    refuse_long_integers(frame, columns)
    if bins is None:
        exact = _count_exactly(frame, columns)
        if exact is not None:
            return exact
    from undercount.grid import count_binned  # noqa: PLC0415 - only long tables need it

    return {
        name: count_binned(frame, columns._replace(scores=(name,)), bins or DEFAULT_BINS)
        for name in columns.scores
    }


def _count_exactly(frame: Frame, columns: Columns) -> dict[str, dict[Hashable, ScoreCounts]] | None:
    """Count every distinct score, or return None if there are too many."""
    if any(_looks_continuous(frame, name) for name in columns.scores):
        n_rows = int(collect(frame.select(nw.len().alias("n")))["n"][0])
        if n_rows > EXACT_LIMIT:
            return None
    groups = collect(exact_query(frame, columns))
    found = {}
    for name, part in _split_names(groups, columns).items():
        refuse_bad_rows(frame, columns, part, name)
        parts = split_by(part, columns.by) if columns.by else {(): part}
        found[name] = {key: exact_counts(arrays) for key, arrays in parts.items()}
    return found


def _looks_continuous(frame: Frame, name: str) -> bool:
    head = collect(frame.select(nw.col(name).cast(nw.Float64)).head(PROBE_ROWS))[name]
    return len(head) == PROBE_ROWS and len(np.unique(head)) > CONTINUOUS_SHARE * PROBE_ROWS


def _split_names(groups: Arrays, columns: Columns) -> dict[str, Arrays]:
    if len(columns.scores) == 1:
        groups[SCORE] = groups.pop(f"{SCORE}0")
        return {columns.scores[0]: groups}
    found = {}
    for place, name in enumerate(columns.scores):
        mine = groups[NAME] == f"{SCORE}{place}"
        found[name] = {key: values[mine] for key, values in groups.items() if key != NAME}
    return found
