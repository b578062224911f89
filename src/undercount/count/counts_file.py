"""Keep counts in Parquet files that any SQL engine can make, and add them up.

A counts file has the columns ``score``, ``positive``, ``negative`` and ``unlabeled``, one row for
each distinct score or cell. If cells stand for several scores, a column ``merged`` says which, and
their score is a lower end; a row without counts then keeps a threshold apart. If the counts are
sums of weights, ``positive_rows``, ``negative_rows`` and ``unlabeled_rows`` may say how many rows
they are of, without which the highest rows cannot be told. What the table is
stands in the file's metadata under the key "undercount", as JSON; a file without it holds exact
counts.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercount.count.atomic_file import replace_when_complete
from undercount.count.kernel.cluster_pairs import ClusterPairs
from undercount.count.kernel.table import Table
from undercount.count.progress import Progress, open_progress
from undercount.count.queries import fill_masked
from undercount.count.sources import input_errors
from undercount.count.sql import allow_only, open_database, quote_file, quote_text
from undercount.counts import CLASSES, ScoreCounts
from undercount.errors import InputError, MisfitWarning, real_number, warn, wording

VERSION = 1
METADATA_KEY = "undercount"
COUNTS_KINDS = ("exact", "compact", "binned")
COUNTS_COLUMNS = ("score", *CLASSES)
ROW_COLUMNS = tuple(f"{name}_rows" for name in CLASSES)
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class CountsFile:
    """A table with what its file says of it: sources, parts of the sum, sampling, score column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> from undercount.count.counts_file import open_counts
    >>> counts = uc.ScoreCounts.from_rows([1, None], [0.9, 0.2])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "counts.parquet")
    ...     uc.write_counts(counts, path, source="monday")
    ...     open_counts(path).sources
    ('monday',)
    """

    counts: ScoreCounts
    sources: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    sampling: str | None = None
    score: str | None = None


def write_counts(
    counts: ScoreCounts,
    path: str | os.PathLike[str],
    *,
    source: str | Sequence[str] = (),
    parts: Sequence[str] = (),
    sampling: str | None = None,
    score: str | None = None,
) -> None:
    """Write counts to a Parquet file, whole or not at all.

    Parameters
    ----------
    counts : ScoreCounts
        What to keep.
    path : path
        Ends in .parquet or .pq. The file appears under this name when it is complete.
    source : str or sequence of str
        Fingerprints of the rows, by which `merge_counts` notices what is counted twice.
    parts : sequence of str
        Parts that are in the sum already, for a merge that was interrupted.
    sampling : {"single-sample", "case-control"}, optional
        How the rows were drawn, if known; the commands then take it from the file.
    score : str, optional
        Column of the scores, if known: `merge_counts` refuses to add up two different ones.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [0.9, 0.9, 0.2])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "counts.parquet")
    ...     uc.write_counts(counts, path)
    ...     uc.load_counts(path)
    ScoreCounts: 3 rows: 1 labelled positive, 0 labelled negative, 2 unlabeled;
    2 distinct scores from 0.2 to 0.9
    """
    names = [*COUNTS_COLUMNS, *(["merged"] if counts.compact else [])]
    arrays = {name: np.asarray(getattr(counts, name)) for name in names}
    if counts.rows is not None:
        arrays |= dict(zip(ROW_COLUMNS, counts.rows, strict=True))
    meta = {
        "version": VERSION,
        "kind": _kind(counts),
        "cells": len(counts.score),
        "auc_error": counts.auc_error,
        "grid": grid_name(counts),
        "squared_weight": list(counts.squared_weight) if counts.weighted else None,
        "source": [source] if isinstance(source, str) else list(source),
        "parts": list(parts),
        "sampling": sampling,
        "score": score,
        "clusters": None if counts.clusters is None else counts.clusters.to_document(),
    }
    if not parts:  # what an interrupted merge keeps beside its sum is named as such
        check_name(path)
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise InputError(f"cannot write {place}: there is no folder {place.parent}")
    try:
        with replace_when_complete(place) as target, open_database() as connection:
            connection.register("undercount_cells", arrays)
            connection.execute(
                f"COPY (SELECT * FROM undercount_cells) TO {quote_text(str(target))} "  # noqa: S608 - quoted
                "(FORMAT parquet, COMPRESSION zstd, "
                f"KV_METADATA {{{METADATA_KEY}: {quote_text(json.dumps(meta))}}})"
            )
    except duckdb.IOException as error:
        raise InputError(f"cannot write {place}: {str(error).splitlines()[0]}") from error


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name by which no command would know a counts file again."""
    name = Path(path)
    if name.exists() and not name.is_file():
        raise InputError(f"counts are written to a file; {path} is none")
    if name.suffix.casefold() not in SUFFIXES:
        raise InputError(
            f"a counts file is Parquet, and commands know it by its name: write to "
            f"{name.with_suffix('.parquet')}; got {path}"
        )


def load_counts(path: str | os.PathLike[str]) -> ScoreCounts:
    """Read counts from a file that `write_counts` or a query of any SQL engine has made.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [0.9, 0.9, 0.2])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "counts.parquet")
    ...     uc.write_counts(counts, path)
    ...     uc.load_counts(path).n_unlabeled
    2.0
    """
    return open_counts(path).counts


def open_counts(
    path: str | os.PathLike[str], connection: duckdb.DuckDBPyConnection | None = None
) -> CountsFile:
    """Read counts with the sources and parts that the file names."""
    if connection is None:
        with open_database() as opened:
            allow_only(opened, [path])
            return open_counts(path, opened)
    file = quote_file(path)
    if not Path(path).exists():
        raise InputError(f"there is no counts file {str(path)!r}")
    with input_errors(str(path)):
        arrays = connection.sql(f"SELECT * FROM read_parquet({file})").fetchnumpy()  # noqa: S608 - quoted
        kept = connection.sql(
            f"SELECT value FROM parquet_kv_metadata({file}) WHERE key = '{METADATA_KEY}'::BLOB"  # noqa: S608 - quoted
        ).fetchall()
    # Some SQL engines write names in capitals.
    columns = {name.casefold(): fill_masked(values) for name, values in arrays.items()}
    missing = ", ".join(name for name in COUNTS_COLUMNS if name not in columns)
    if missing:
        raise InputError(
            f"a counts file has the columns {', '.join(COUNTS_COLUMNS)}; {path} lacks {missing}"
        )
    meta = _meta(kept, len(columns["score"]), path)
    try:
        counts = _counts(columns, meta)
    except InputError as error:
        raise InputError(f"{path}: {error.message.marked}") from None
    if meta and meta["grid"] != grid_name(counts):
        raise _damaged(path)
    sources, parts = (tuple(meta.get(name, ())) for name in ("source", "parts"))
    return CountsFile(counts, sources, parts, meta.get("sampling"), meta.get("score"))


def is_counts_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a Parquet file has the columns of a counts file."""
    if Path(path).suffix.casefold() not in SUFFIXES or not Path(path).is_file():
        return False
    try:
        with open_database() as connection:
            allow_only(connection, [path])
            columns = connection.sql(f"DESCRIBE SELECT * FROM read_parquet({quote_file(path)})")  # noqa: S608 - quoted
            names = {row[0].casefold() for row in columns.fetchall()}
    except duckdb.Error:
        return False
    return names - {"merged"} in (set(COUNTS_COLUMNS), {*COUNTS_COLUMNS, *ROW_COLUMNS})


# How parts that always add up are counted.
RECOUNT_ADVICE = "again with undercount count … --round 4 (each of them), or --exact"
# Counts of so many scores are not the same by chance.
TELLING_SCORES = 20
# Bytes of either end of a file by which it is known again.
KNOWN_BY = 2**16
# What begins the fingerprint of a table, whose rows may be others the next day.
TABLE = "table "
# What begins the name of a table by its counts, and how rows are spoken of.
COUNTS_PREFIX = "counts "
_WEIGHING = {True: "have weights", False: "have none"}


def fingerprint(path: str | os.PathLike[str]) -> str:
    """Name a file of rows by its name, size and both ends, whatever is counted of it.

    Two score columns of one file, or labels read in two ways, are the same rows.
    """
    with Path(path).open("rb") as file:
        seen = hashlib.sha256(file.read(KNOWN_BY))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - KNOWN_BY))
        seen.update(file.read(KNOWN_BY))
    seen.update(json.dumps([Path(path).name, size]).encode())
    return seen.hexdigest()[:32]


def table_fingerprints(place: str, counts: ScoreCounts) -> tuple[str, str]:
    """Name the rows of a database's table by where it is, alone and with what was counted."""
    seen = hashlib.sha256(place.encode())
    name = seen.hexdigest()[:32]
    for column in (counts.score, *counts.table.classes):
        seen.update(np.ascontiguousarray(column).tobytes())
    return f"{TABLE}{name}", seen.hexdigest()[:32]


def grid_name(counts: ScoreCounts) -> str | None:
    """Name the grid of counts in which every cell is an interval of a grid."""
    if not (counts.merged.size and counts.merged.all()):
        return None
    return hashlib.sha256(counts.score.tobytes()).hexdigest()[:32]


def _kind(counts: ScoreCounts) -> str:
    if not counts.compact:
        return "exact"
    return "binned" if counts.auc_error else "compact"


def _meta(kept: list[tuple[bytes]], cells: int, path: str | os.PathLike[str]) -> dict[str, Any]:
    if not kept:
        return {}
    try:
        meta: dict[str, Any] = json.loads(kept[0][0], parse_constant=_check_finite_number)
        newer = meta["version"] > VERSION
        if not newer:
            _check_meta(meta, cells)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _damaged(path) from None
    if newer:
        raise InputError(
            f"{path} was written by a newer version (format {meta['version']}, this one reads up "
            f"to {VERSION}); upgrade undercount"
        )
    return meta


def _damaged(path: str | os.PathLike[str]) -> InputError:
    return InputError(
        f"{path} is no counts file of this program: what it says of itself is damaged; count the "
        "rows again"
    )


def _check_finite_number(name: str) -> float:
    """Refuse NaN and Infinity, which `json` reads although no JSON has them."""
    raise ValueError(name)


def _check_meta(meta: dict[str, Any], cells: int) -> None:
    """Raise an error of Python unless all is there that a file says of itself, and can be true."""
    squares, grid = meta["squared_weight"], meta["grid"]
    sound = (
        type(meta["version"]) is int
        and meta["version"] > 0
        and meta["kind"] in COUNTS_KINDS
        and meta["cells"] == cells
        and (squares is None or _are_squares(squares))
        and real_number(meta["auc_error"]) >= 0
        and (grid is None or isinstance(grid, str))
        and meta["sampling"] in (None, "single-sample", "case-control")
        and isinstance(meta.get("score"), str | None)
        and all(isinstance(meta[key], list) for key in ("source", "parts"))
        and all(isinstance(name, str) for key in ("source", "parts") for name in meta[key])
    )
    if not sound:
        raise ValueError(meta)
    if meta["clusters"] is not None:
        ClusterPairs.from_document(meta["clusters"])


def _are_squares(squares: Any) -> bool:
    return len(squares) == len(CLASSES) and all(real_number(square) >= 0 for square in squares)


def _counts(columns: dict[str, Any], meta: dict[str, Any]) -> ScoreCounts:
    squares = meta.get("squared_weight")
    squared_weight = (squares[0], squares[1], squares[2]) if squares else None
    has_rows = set(ROW_COLUMNS) <= set(columns)
    rows = np.stack([columns[name] for name in ROW_COLUMNS]) if has_rows else None
    counts = ScoreCounts.from_counts(
        *(columns[name] for name in COUNTS_COLUMNS),
        merged=None if "merged" not in columns else _as_flags(columns["merged"]),
        squared_weight=squared_weight,
        rows=rows,
    )
    if meta.get("clusters") is not None:
        counts = replace(counts, clusters=ClusterPairs.from_document(meta["clusters"]))
    if meta.get("grid") is None:
        return counts
    # Cells of a grid are kept where they are empty, because another part may fill them.
    score, positive, negative, unlabeled = (
        np.asarray(columns[name], np.float64) for name in COUNTS_COLUMNS
    )
    table = Table(score, positive, negative, unlabeled, np.ones(score.size, bool))
    return replace(ScoreCounts.from_table(table, counts.squared_weight), clusters=counts.clusters)


def _as_flags(merged: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the column `merged`; text, of which any would be true, and gaps are refused."""
    numbers = merged.dtype.kind in "biuf"
    if not numbers or not np.isin(merged, [0, 1]).all():
        wrong = next(flag for flag in merged if not numbers or flag not in (0, 1))
        raise InputError(f"merged must hold true and false, or 1 and 0; got {wrong!r}")
    return merged.astype(bool)


# Seconds between two notes of what is done.
NOTE_EVERY = 10.0


def merge_counts(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    progress: Callable[[float], None] | bool | None = None,
) -> ScoreCounts:
    """Add up any number of counts files, one at a time.

    Parameters
    ----------
    paths : sequence of paths
        Counts files.
    output : path, optional
        The sum is written there when it is complete. Until then what is done stands in a file
        beside it, so that a merge that was stopped goes on where it was.
    progress : callable or bool, optional
        Called with the share of the files done; True draws a bar on stderr.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> monday = uc.ScoreCounts.from_rows([1, None], [0.9, 0.2])
    >>> tuesday = uc.ScoreCounts.from_rows([None, None], [0.9, 0.1])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     first, second = (pathlib.Path(directory, f"{day}.parquet") for day in (1, 2))
    ...     uc.write_counts(monday, first)
    ...     uc.write_counts(tuesday, second)
    ...     uc.merge_counts([first, second])
    ScoreCounts: 4 rows: 1 labelled positive, 0 labelled negative, 3 unlabeled;
    3 distinct scores from 0.1 to 0.9
    """
    if not paths:
        raise InputError("at least one counts file is needed; got none")
    if output is not None:
        check_name(output)
    notes = None if output is None else Path(f"{os.fspath(output)}.unfinished")
    with (
        open_database() as connection,
        open_progress(progress, "merging") as steps,
        steps.step(1.0),
    ):
        allow_only(connection, paths)
        total = _merge_files(paths, notes, connection, steps)
    if output is not None:
        write_counts(
            total.counts, output, source=total.sources, sampling=total.sampling, score=total.score
        )
    if notes is not None:
        notes.unlink(missing_ok=True)
    return total.counts


def _merge_files(
    paths: Sequence[str | os.PathLike[str]],
    notes: Path | None,
    connection: duckdb.DuckDBPyConnection,
    progress: Progress,
) -> CountsFile:
    total = _resume(notes, paths)
    done = set() if total is None else set(total.parts)
    seen = {}
    if total is not None:
        seen = dict.fromkeys((*total.sources, *total.parts), "a finished part")
    noted = time.monotonic()
    for path in paths:
        part_name = _part_name(path)
        if part_name in done:
            done.discard(part_name)  # named twice it is refused, as in one go
        else:
            total = _add_part(total, open_counts(path, connection), seen, str(path), part_name)
            if notes is not None and time.monotonic() - noted > NOTE_EVERY:
                write_counts(
                    total.counts,
                    notes,
                    source=total.sources,
                    parts=total.parts,
                    sampling=total.sampling,
                    score=total.score,
                )
                noted = time.monotonic()
        progress.rows(1, len(paths))
    assert total is not None  # noqa: S101 - there is at least one path
    return total


def _add_counts(left: ScoreCounts, right: ScoreCounts) -> ScoreCounts:
    """Add two tables; binned ones must be on one grid."""
    grid = grid_name(left)
    if (left.auc_error or right.auc_error) and (grid is None or grid != grid_name(right)):
        remedy = "exactly, or put all of them on the grid of one (align_counts)"
        raise InputError(
            "binned counts can be added only if they are on the same grid: count the parts "
            + wording(remedy, RECOUNT_ADVICE)
        )
    return left + right


def align_counts(counts: ScoreCounts, edges: ArrayLike) -> ScoreCounts:
    """Put counts on a grid, so that parts counted apart can be added.

    Parameters
    ----------
    counts : ScoreCounts
        Exact counts, or compact counts with the edges as knots.
    edges : array-like
        Lower ends of the cells, for example the ``score`` of the first part's binned counts; rows
        below all of them get a cell at -inf.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [0.9, 0.7, 0.2])
    >>> aligned = uc.align_counts(counts, [0.0, 0.5])
    >>> aligned.score, aligned.unlabeled
    (array([ 0.5,  0. , -inf]), array([1., 1., 0.]))
    """
    grid = np.unique(np.append(np.asarray(edges, np.float64) + 0.0, -np.inf))
    place = np.searchsorted(grid, counts.score, "right") - 1
    # A cell reaches up to the next one's score; it must not reach over an edge.
    above = np.append(np.inf, counts.score[:-1])
    last = np.searchsorted(grid, above, "left") - 1
    if (counts.merged & (last > place)).any():
        raise InputError(
            "a merged cell of these counts reaches over an edge of the grid; count exactly, or "
            "compactly with the edges as knots"
        )
    sums = [
        np.asarray(np.bincount(place, column, grid.size)[::-1], np.float64)
        for column in counts.table.classes
    ]
    merged = np.ones(grid.size, bool)
    table = Table(grid[::-1], sums[0], sums[1], sums[2], merged)
    return ScoreCounts.from_table(table, counts.squared_weight)


def _add_part(
    total: CountsFile | None, part: CountsFile, seen: dict[str, str], path: str, part_name: str
) -> CountsFile:
    for source in (*part.sources, part_name):
        if source in seen and source.startswith(TABLE):
            warn(
                MisfitWarning(
                    f"{path} and {seen[source]} count the same table of a database: unless its "
                    "rows are others now, they count twice"
                )
            )
        elif source in seen:
            raise InputError(
                f"{path} counts the same rows as {seen[source]}; leave one of them out"
            )
        seen[source] = path
    _warn_copy(part.counts, seen, path)
    if total is None:
        return replace(part, parts=(part_name,))
    if part.sampling != total.sampling:
        raise InputError(
            f"{path} cannot be added: labelled and unlabeled rows drawn apart (case-control) and "
            "rows of one sample do not make one table"
        )
    if None not in (part.score, total.score) and part.score != total.score:
        raise InputError(
            f"{path} cannot be added: it counts the score {part.score!r} and the others "
            f"{total.score!r}, and two scores do not make one table"
        )
    if part.counts.weighted != total.counts.weighted:
        warn(
            MisfitWarning(
                f"rows of {path} {_WEIGHING[part.counts.weighted]}, those of the files before it "
                f"{_WEIGHING[total.counts.weighted]}: unless all of these weigh 1, count them alike"
            )
        )
    try:
        counts = _add_counts(total.counts, part.counts)
    except InputError as error:
        raise InputError(f"{path} cannot be added: {error.message.marked}") from None
    sources, parts = total.sources + part.sources, (*total.parts, part_name)
    return CountsFile(counts, sources, parts, total.sampling, total.score or part.score)


def _warn_copy(counts: ScoreCounts, seen: dict[str, str], path: str) -> None:
    """Warn of counts that another file holds too: a copy has a name of its own."""
    content = _content(counts)
    if content in seen:
        warn(
            MisfitWarning(
                f"{path} holds the very counts of {seen[content]}: if it counts a copy of the same "
                "rows, they count twice"
            )
        )
    elif content:
        seen[content] = path


def _content(counts: ScoreCounts) -> str:
    """Name a table of many scores by what it holds, which other rows would hardly make the same."""
    if len(counts.score) < TELLING_SCORES:
        return ""
    seen = hashlib.sha256(np.ascontiguousarray(counts.score).tobytes())
    for column in counts.table.classes:
        seen.update(np.ascontiguousarray(column).tobytes())
    return f"{COUNTS_PREFIX}{seen.hexdigest()}"


def _part_name(path: str | os.PathLike[str]) -> str:
    try:
        state = Path(path).stat()
    except FileNotFoundError:
        raise InputError(f"there is no counts file {str(path)!r}") from None
    return f"{Path(path).resolve()}:{state.st_size}:{state.st_mtime_ns}"


def _resume(notes: Path | None, paths: Sequence[str | os.PathLike[str]]) -> CountsFile | None:
    """Read what an earlier merge has done, unless it was a merge of other parts."""
    if notes is None or not notes.exists():
        return None
    try:
        partial = open_counts(notes)
    except InputError:
        aside = notes.with_name(f"{notes.name}.damaged")
        notes.replace(aside)
        warn(
            MisfitWarning(
                f"{notes} cannot be read, so the merge begins anew; it is kept as {aside.name}"
            )
        )
        return None
    part_names = {_part_name(path) for path in paths}
    return partial if set(partial.parts) <= part_names else None
