"""Count rows where they live: frames of every engine that narwhals knows.

How is chosen here: rows in memory as arrays are, others by a group-by at every distinct score,
in batches, or into bins.
"""

import importlib.util
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack, overload

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from undercount.count.arrays import read_pair, read_weights
from undercount.count.batches import count_compactly, summarise
from undercount.count.binned import count_binned
from undercount.count.clusters import pair_clusters
from undercount.count.groups import (
    UNLABELED,
    ColumnRoles,
    check_labels_and_scores,
    check_score_digits,
    check_time_precision,
    check_types,
    exact_counts,
    exact_groups,
    plain,
    split_by,
)
from undercount.count.kernel.rows import count_distinct
from undercount.count.kernel.table import coarsen, insert_knots, merge_bare
from undercount.count.keys import read_keys, split_places
from undercount.count.partitions import read_partition
from undercount.count.progress import Progress, open_progress
from undercount.count.queries import (
    CODE,
    NAME_COLUMN,
    ROWS,
    SCORE,
    Arrays,
    Frame,
    collect,
    first_rows,
    report_rows,
    transform_rows,
)
from undercount.count.rounding import check_digits, round_columns
from undercount.count.stored_columns import check_group_collation, check_names, prepare_columns
from undercount.count.windows import count_by_windows
from undercount.counts import ScoreCounts
from undercount.errors import CompactCountsWarning, InputError, named, suggest, warn, wording

# Column names shown in a message.
LONGEST_COLUMN_NAME = 60
SHOWN_NAMES = 20
# More distinct scores than this are merged where the rows live before anything travels.
EXACT_LIMIT = 2**21
# So many labelled rows fit well into memory.
LABELLED_LIMIT = 2**23
DEFAULT_BINS = 2**16
CONTINUITY_PROBE_ROWS = 2**16
# A probe with a larger share of distinct scores is taken for a continuous score.
CONTINUOUS_SHARE = 0.5

ByGroup = dict[Hashable, ScoreCounts]
CountsByScore = dict[str, ByGroup]
Names = list[str] | tuple[str, ...]
CountResult = ScoreCounts | dict[str, ScoreCounts] | ByGroup | dict[str, ByGroup]


class CountOptions(TypedDict, total=False):
    """Arguments that do not decide what is returned."""

    weight: str | None
    unlabeled: float | None
    bins: int | None
    compact: bool | None
    knots: Sequence[float]
    digits: int | None
    cluster: str | None
    progress: Callable[[float], None] | bool | None


@overload
def count_scores(
    frame: Any, *, label: str, score: str, by: None = None, **options: Unpack[CountOptions]
) -> ScoreCounts: ...
@overload
def count_scores(
    frame: Any, *, label: str, score: Names, by: None = None, **options: Unpack[CountOptions]
) -> dict[str, ScoreCounts]: ...
@overload
def count_scores(
    frame: Any, *, label: str, score: str, by: str | Names, **options: Unpack[CountOptions]
) -> ByGroup: ...
@overload
def count_scores(
    frame: Any, *, label: str, score: Names, by: str | Names, **options: Unpack[CountOptions]
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
    digits: int | None = None,
    cluster: str | None = None,
    progress: Callable[[float], None] | bool | None = None,
) -> CountResult:
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
        into 65,536 bins, with a `CompactCountsWarning`. False keeps every distinct score, whatever
        that costs.
    knots : sequence of float
        Thresholds that will be asked for, kept apart in compact counts.
    digits : int, optional
        Round scores to so many decimals (halves up) before they are counted: a small table then
        keeps every score, and parts always add up. Thresholds then mean the rounded scores.
    cluster : str, optional
        Column that says whose each row is. The counts then say how many pairs of rows share a
        cluster, by bins of the score, and `evaluate` widens their intervals by it. Such counts
        do not add up with others; name the thresholds that will be asked for as `knots`.
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
    scores, groups = _names_of(score), _names_of(by)
    columns = ColumnRoles(label, scores, weight, unlabeled, groups)
    if bins is not None and bins < 1:
        raise InputError(f"bins must be at least 1; got {bins}")
    check_digits(digits)
    table = open_frame(frame)
    schema = table.collect_schema()
    named_columns = [label, *scores, *groups, *(column for column in (weight, cluster) if column)]
    check_columns(named_columns, schema.names(), "the frame")
    check_names(table, named_columns)
    if cluster is not None and (weight is not None or groups):
        raise InputError(
            f"{named('cluster')} is counted for all rows together, each of weight 1; leave out "
            f"{named('by') if groups else named('weight')}",
            argument="cluster",
        )
    check_types(table, columns)
    if isinstance(table, nw.LazyFrame):
        table = prepare_columns(table, columns, [*groups, *([cluster] if cluster else [])])
    if digits is not None:
        table = round_columns(table, scores, digits)
    with open_progress(progress, "counting") as steps:
        how = Fineness(bins, compact, tuple(knots), steps)
        if isinstance(table, nw.DataFrame):
            counts_by_score = _count_eager(table, columns, how)
        else:
            counts_by_score = _count_lazy(table, columns, how)
        if cluster is not None:
            counts_by_score = _with_clusters(
                table.lazy(), columns, counts_by_score, cluster, how.knots
            )
    check_group_collation(table, groups, counts_by_score[scores[0]])
    if bins is None and compact is None:
        _warn_merged(
            [counts for parts in counts_by_score.values() for counts in parts.values()], how.knots
        )
    tables = {name: parts if groups else parts[()] for name, parts in counts_by_score.items()}
    return tables[score] if isinstance(score, str) else tables  # type: ignore[return-value]


def _warn_merged(tables: list[ScoreCounts], knots: Sequence[float]) -> None:
    """Warn that scores were merged although nobody asked for it; say what that costs."""
    merged = [counts for counts in tables if counts.compact]
    if not merged:
        return
    error = max(counts.auc_error for counts in merged)
    # More labels than memory holds, or an engine that only groups: thresholds are not kept apart.
    binned = error > 0
    if binned:
        most = max(len(counts.score) for counts in merged)
        cost = (
            f"merged into {most:,} cells: areas are within {error:.1g} of those of the rows, and "
            "thresholds inside a cell cannot be asked for"
        )
    else:
        others = ", ".join(dict.fromkeys(f"{knot:g}" for knot in knots))
        cost = (
            "merged where no row between them is labelled: curves are exact, and with pure labels "
            "areas too, but losses cannot be asked for, nor thresholds"
            f"{f' other than {others}' if others else ''}"
        )
    python = ["digits=4 to round scores", "compact=False to keep every score"]
    terminal = ["--round 4 to round scores", "--exact to keep every score"]
    if not binned and not knots:
        python.insert(0, "knots=[…] with the thresholds that you will ask for")
        terminal.insert(0, "--threshold T for each threshold that you will ask for")
    if binned:
        python.append(f"bins={DEFAULT_BINS} to accept cells")
    else:
        python.append("compact=True to accept this")
    advice = wording(f"pass {_either(python)}", f"pass {_either(terminal)}")
    warn(
        CompactCountsWarning(
            f"there are more than {EXACT_LIMIT:,} distinct scores, which were {cost}; parts "
            f"counted like this may not add up. To choose, {advice}",
            argument="compact",
        ),
        stacklevel=3,
    )


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _names_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of one column or of several; what is no name is refused with the others."""
    if given is None:
        return ()
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return tuple(given) if several else (given,)  # type: ignore[return-value]


def _with_clusters(
    table: Frame, columns: ColumnRoles, found: CountsByScore, cluster: str, knots: Sequence[float]
) -> CountsByScore:
    """Say of each score's counts how many pairs of rows share a cluster."""
    for name, parts in found.items():
        counts = parts[()]
        pairs = pair_clusters(table, columns, name, cluster, counts, knots)
        parts[()] = replace(counts, clusters=pairs)
    return found


def open_frame(frame: Any) -> nw.DataFrame[Any] | Frame:
    """Wrap a frame; pyarrow datasets are read by DuckDB, which streams them."""
    if type(frame).__module__.startswith("pyarrow") and hasattr(frame, "scanner"):
        import duckdb  # noqa: PLC0415 - heavy, and only datasets need it

        frame = duckdb.from_arrow(frame)
    if type(frame).__module__.startswith("pyarrow") and type(frame).__name__ == "RecordBatch":
        import pyarrow as pa  # noqa: PLC0415 - at hand, since the batch is its

        frame = pa.Table.from_batches([frame])
    if type(frame).__module__.startswith("dask") and frame.columns.has_duplicates:
        names = ", ".join(
            sorted({repr(name) for name in frame.columns[frame.columns.duplicated()]})
        )
        raise InputError(f"each column must have a name of its own; {names} names several")
    try:
        return nw.from_native(frame)  # type: ignore[no-any-return]
    except DuplicateError as error:
        raise InputError(
            f"each column must have a name of its own; {' '.join(str(error).split())}"
        ) from None
    except TypeError:
        raise unknown_frame(
            frame, "For arrays use ScoreCounts.from_rows, for files read_counts"
        ) from None


def unknown_frame(frame: Any, otherwise: str) -> InputError:
    """Say which frames are known, and what to do with this one, or otherwise."""
    kind = type(frame)
    hint = _HINT_BY_PACKAGE.get(kind.__module__.partition(".")[0], otherwise)
    return InputError(
        "frame must be a pandas, polars, pyarrow, DuckDB, Ibis, Dask or PySpark frame; "
        f"got {kind.__module__}.{kind.__qualname__}. {hint}"
    )


# What to do with frames that narwhals does not know, by their package.
_HINT_BY_PACKAGE = {
    "ray": (
        "Count its batches and add them up: sum the tables of count_scores(batch, …) over "
        'dataset.iter_batches(batch_format="pyarrow"), or write Parquet and use read_counts'
    ),
    "daft": (
        "Count its partitions and add them up: sum the tables of count_scores(part, …) over "
        "frame.to_arrow_iter(), or write Parquet and use read_counts"
    ),
}


def check_columns(wanted: Iterable[str], names: Sequence[str], place: str) -> None:
    """Raise if a column is missing, with the nearest names."""
    for name in wanted:
        if not isinstance(name, str):
            raise InputError(
                f"columns are named by text; got {name!r}. Give the columns names, for example by "
                "frame.columns = ['y', 'score']"
            )
        if name in names:
            continue
        hint = suggest(name, names)
        listed = ", ".join(_shorten(other) for other in names[:SHOWN_NAMES]) + (
            ", …" if len(names) > SHOWN_NAMES else ""
        )
        raise InputError(
            f"there is no column {_shorten(name)} in {place}"
            + (f"; {hint} " if hint else ". ")
            + f"It has {listed or 'no columns'}"
        )


def _shorten(name: object) -> str:
    """Write a name as Python writes it, without the end of a very long one; pandas has numbers."""
    long = isinstance(name, str) and len(name) > LONGEST_COLUMN_NAME
    return repr(f"{str(name)[:LONGEST_COLUMN_NAME]}…" if long else name)


@dataclass(frozen=True)
class Fineness:
    """How finely scores are kept apart, and who is told how far the count is."""

    bins: int | None
    compact: bool | None
    knots: tuple[float, ...]
    progress: Progress

    def bin_cells(self, counts: ScoreCounts) -> ScoreCounts:
        """Merge cells into bins if they are wanted."""
        if self.bins is None:
            return counts
        return counts.in_cells(coarsen(counts.table, self.bins, keep_heavy=True))

    def merge_bare(self, counts: ScoreCounts) -> ScoreCounts:
        """Merge cells without a labelled row if compact counts are wanted."""
        if not self.compact:
            return counts
        table = insert_knots(merge_bare(counts.table, self.knots), self.knots)
        return counts.in_cells(table)


def _count_eager(table: nw.DataFrame[Any], columns: ColumnRoles, how: Fineness) -> CountsByScore:
    """Count rows that are in memory already, by the same code as arrays."""
    counts_by_score: CountsByScore = {name: {} for name in columns.scores}
    places = _split_rows(table, columns.by)
    weight = columns.weight and table[columns.weight].to_native()
    with how.progress.step(1.0):
        for name, parts in counts_by_score.items():
            y, score = (table[column].to_native() for column in (columns.label, name))
            if not columns.by:
                parts[()] = _count_rows(y, score, columns.unlabeled, weight, how)
            elif places:
                labels, scores = read_pair(y, score, columns.unlabeled)
                weights = None if weight is None else read_weights(weight, len(scores))
                for key, place in places.items():
                    some = None if weights is None else weights[place]
                    parts[key] = _count_rows(labels[place], scores[place], UNLABELED, some, how)
                    how.progress.rows(1, len(places) * len(columns.scores))
    return counts_by_score


def _split_rows(table: nw.DataFrame[Any], by: tuple[str, ...]) -> dict[Hashable, NDArray[np.intp]]:
    """Return the rows of each group, by the values that Python has for it."""
    if not by or not len(table):
        return {}
    keys = [read_keys(table[name].to_native(), "by") for name in by]
    return split_places(keys, lambda held: [plain(value) for value in held], "by")


def _count_rows(
    y: Any, score: Any, unlabeled: float | None, weight: Any, how: Fineness
) -> ScoreCounts:
    counts = ScoreCounts.from_rows(
        y,
        score,
        unlabeled=unlabeled,
        sample_weight=weight,
        compact=bool(how.compact) and how.bins is None,
        knots=how.knots,
    )
    return how.bin_cells(counts)


def _count_lazy(frame: Frame, columns: ColumnRoles, how: Fineness) -> CountsByScore:
    """Count rows by queries, and let only groups travel."""
    check_score_digits(frame, columns)
    check_time_precision(frame, columns)
    frame = report_rows(frame, how.progress)
    if how.bins is not None:
        return count_binned(frame, columns, how.bins, how.progress)
    if how.compact is False:
        return _count_exactly(frame, columns, how)
    if how.compact and frame.implementation.is_ibis():  # a database, perhaps far away
        with how.progress.step(1.0):
            return count_by_windows(frame, columns, how.knots)
    return _count_by_looking(frame, columns, how)


def _count_by_looking(frame: Frame, columns: ColumnRoles, how: Fineness) -> CountsByScore:
    """Count exactly what has few distinct scores, and the rest as it can be afforded."""
    if not any(_looks_continuous(frame, columns, name) for name in columns.scores):
        # The first rows may deceive; then too many groups come back.
        with how.progress.step(0.99):
            groups = exact_groups(frame, columns, EXACT_LIMIT)
        if len(groups[CODE]) <= EXACT_LIMIT:
            return _make_tables(frame, columns, how, groups)
    if frame.implementation.is_duckdb() and not columns.by:
        return _count_locally(frame, columns, how)
    if int(collect(frame.select(nw.len().alias(ROWS)))[ROWS][0]) <= EXACT_LIMIT:
        return _count_exactly(frame, columns, how)
    if how.knots and frame.implementation.is_ibis():  # bins would not keep thresholds apart
        with how.progress.step(1.0):
            return count_by_windows(frame, columns, how.knots)
    return count_binned(frame, columns, DEFAULT_BINS, how.progress)


def _count_locally(frame: Frame, columns: ColumnRoles, how: Fineness) -> CountsByScore:
    """Count with DuckDB: exactly if it can be afforded, compactly if labels are few, or binned."""
    rows, labelled, distinct = 0.0, 0.0, 0.0
    with how.progress.step(0.15):
        summary = summarise(frame, columns)
    for name, (groups, scores) in summary.items():
        check_labels_and_scores(frame, columns, groups, name)
        rows, distinct = float(groups[ROWS].sum()), max(distinct, scores)
        labelled = float(groups[ROWS][groups[CODE] != UNLABELED].sum())
    if min(distinct, rows) <= EXACT_LIMIT:
        return _count_exactly(frame, columns, how)
    if labelled <= LABELLED_LIMIT:
        if importlib.util.find_spec("pyarrow") is None:
            # Batches travel as Arrow; without it DuckDB sorts everything out, on disk if it must.
            return _count_exactly(frame, columns, replace(how, compact=True))
        tables = count_compactly(frame, columns, int(rows), how.knots, how.progress)
        return {name: {(): counts} for name, counts in tables.items()}
    return count_binned(frame, columns, DEFAULT_BINS, how.progress)


def _count_exactly(frame: Frame, columns: ColumnRoles, how: Fineness) -> CountsByScore:
    """Count at every distinct score."""
    with how.progress.step(1.0):
        groups = exact_groups(frame, columns)
    return _make_tables(frame, columns, how, groups)


def _make_tables(
    frame: Frame, columns: ColumnRoles, how: Fineness, groups: Arrays
) -> CountsByScore:
    counts_by_score: CountsByScore = {}
    for name, part in _split_names(groups, columns).items():
        check_labels_and_scores(frame, columns, part, name)
        parts = split_by(part, columns.by) if columns.by else {(): part}
        counts_by_score[name] = {
            key: how.merge_bare(exact_counts(arrays)) for key, arrays in parts.items()
        }
    return counts_by_score


def _looks_continuous(frame: Frame, columns: ColumnRoles, name: str) -> bool:
    """Tell from the first rows whether there may be too many distinct scores."""
    head = first_rows(transform_rows(frame, _take_score, columns, name), CONTINUITY_PROBE_ROWS)[
        name
    ]
    return (
        len(head) == CONTINUITY_PROBE_ROWS
        and count_distinct(head) > CONTINUOUS_SHARE * CONTINUITY_PROBE_ROWS
    )


def _take_score(frame: Frame, columns: ColumnRoles, name: str) -> Frame:
    return read_partition(frame, columns).select(nw.col(name).cast(nw.Float64))


def _split_names(groups: Arrays, columns: ColumnRoles) -> dict[str, Arrays]:
    if len(columns.scores) == 1:
        groups[SCORE] = groups.pop(f"{SCORE}0")
        return {columns.scores[0]: groups}
    parts = {}
    for place, name in enumerate(columns.scores):
        mine = groups[NAME_COLUMN] == f"{SCORE}{place}"
        parts[name] = {key: values[mine] for key, values in groups.items() if key != NAME_COLUMN}
    return parts
