"""Count rows where they live: frames of every engine that narwhals knows."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict, Unpack, overload

import narwhals as nw

from undercount.count.engines import ByGroup, Fineness, count_eager, count_lazy
from undercount.count.groups import Columns, check_types
from undercount.count.progress import telling
from undercount.count.queries import Frame
from undercount.counts import ScoreCounts
from undercount.errors import InputError

# Column names shown in a message.
SHOWN_NAMES = 20

Names = list[str] | tuple[str, ...]
Counted = ScoreCounts | dict[str, ScoreCounts] | ByGroup | dict[str, ByGroup]


class Options(TypedDict, total=False):
    """Arguments that do not decide what is returned."""

    weight: str | None
    unlabeled: float | None
    bins: int | None
    compact: bool | None
    knots: Sequence[float]
    progress: Callable[[float], None] | bool | None


@overload
def count_scores(
    frame: Any, *, label: str, score: str, by: None = None, **options: Unpack[Options]
) -> ScoreCounts: ...
@overload
def count_scores(
    frame: Any, *, label: str, score: Names, by: None = None, **options: Unpack[Options]
) -> dict[str, ScoreCounts]: ...
@overload
def count_scores(
    frame: Any, *, label: str, score: str, by: str | Names, **options: Unpack[Options]
) -> ByGroup: ...
@overload
def count_scores(
    frame: Any, *, label: str, score: Names, by: str | Names, **options: Unpack[Options]
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
    compact: bool | None = None,
    knots: Sequence[float] = (),
    progress: Callable[[float], None] | bool | None = None,
) -> Counted:
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
        is a guaranteed bound on what that costs.
    by : str or list of str, optional
        Group columns: one table for each group, in a dict by the group's value (or tuple).
    compact : bool, optional
        Merge neighbouring scores without a labelled row, which is exact for every curve and, if
        labels are pure, for every area and interval; losses need every score, and bounds
        (`bound_curve`) stay valid but may be wider. By default a lazy frame with more than two
        million distinct scores is counted compactly by DuckDB if its labels are few, and otherwise
        into 65,536 bins. False keeps every distinct score, whatever that costs.
    knots : sequence of float
        Thresholds that will be asked for, kept apart in compact counts.
    progress : callable or bool, optional
        Called with the share of the work done, now and then; True draws a bar on stderr.

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
    with telling(progress, "counting") as steps:
        how = Fineness(bins, compact, tuple(knots), steps)
        if isinstance(table, nw.DataFrame):
            found = count_eager(table, columns, how)
        else:
            found = count_lazy(table, columns, how)
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
        listed = ", ".join(repr(other) for other in names[:SHOWN_NAMES]) + (
            ", …" if len(names) > SHOWN_NAMES else ""
        )
        raise InputError(
            f"there is no column {name!r} in {place}"
            + (f"; did you mean {hint}? " if near else ". ")
            + f"It has {listed or 'no columns'}"
        )
