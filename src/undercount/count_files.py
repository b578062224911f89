"""Keep counts in Parquet files that any SQL engine can make, and add them up.

A counts file has the columns ``score``, ``positive``, ``negative`` and ``unlabeled``, one row for
each distinct score or cell. If cells stand for several scores, a column ``merged`` says which, and
their score is a lower end; a row without counts then keeps a threshold apart. What the table is
stands in the file's metadata under the key "undercount", as JSON; a file without it holds exact
counts.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from undercount.counts import CLASSES, ScoreCounts
from undercount.errors import InputError
from undercount.queries import unmasked
from undercount.read_errors import input_errors
from undercount.sources import text
from undercount.tally import Table

VERSION = 1
KEY = "undercount"
COLUMNS = ("score", *CLASSES)
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class CountsFile:
    """A table with what its file says of it: sources, parts that it is the sum of, sampling.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> from undercount.count_files import open_counts
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


def write_counts(
    counts: ScoreCounts,
    path: str | os.PathLike[str],
    *,
    source: str | Sequence[str] = (),
    parts: Sequence[str] = (),
    sampling: str | None = None,
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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [0.9, 0.9, 0.2])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "counts.parquet")
    ...     uc.write_counts(counts, path)
    ...     uc.read_counts_file(path)
    ScoreCounts: 3 rows: 1 labelled positive, 0 labelled negative, 2 unlabeled;
    2 distinct scores from 0.2 to 0.9
    """
    names = [*COLUMNS, *(["merged"] if counts.compact else [])]
    arrays = {name: np.asarray(getattr(counts, name)) for name in names}
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
    }
    if not parts:  # what an interrupted merge keeps beside its sum is named as such
        check_name(path)
    with _complete(Path(path)) as target, duckdb.connect() as connection:
        connection.register("undercount_cells", arrays)
        connection.execute(
            f"COPY (SELECT * FROM undercount_cells) TO {text(str(target))} "  # noqa: S608 - quoted
            f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{KEY}: {text(json.dumps(meta))}}})"
        )


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


def read_counts_file(path: str | os.PathLike[str]) -> ScoreCounts:
    """Read counts from a file that `write_counts` or a query of any SQL engine has made.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [0.9, 0.9, 0.2])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "counts.parquet")
    ...     uc.write_counts(counts, path)
    ...     uc.read_counts_file(path).n_unlabeled
    2.0
    """
    return open_counts(path).counts


def open_counts(
    path: str | os.PathLike[str], connection: duckdb.DuckDBPyConnection | None = None
) -> CountsFile:
    """Read counts with the sources and parts that the file names."""
    if connection is None:
        with duckdb.connect() as opened:
            return open_counts(path, opened)
    file = text(os.fspath(path))
    if not Path(path).exists():
        raise InputError(f"there is no counts file {str(path)!r}")
    with input_errors(str(path)):
        arrays = connection.sql(f"SELECT * FROM read_parquet({file})").fetchnumpy()  # noqa: S608 - quoted
        kept = connection.sql(
            f"SELECT value FROM parquet_kv_metadata({file}) WHERE key = '{KEY}'::BLOB"  # noqa: S608 - quoted
        ).fetchall()
    meta = _meta(kept, path)
    # Some SQL engines write names in capitals.
    columns = {name.casefold(): unmasked(values) for name, values in arrays.items()}
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise InputError(
            f"a counts file has the columns {', '.join(COLUMNS)}; {path} lacks {', '.join(missing)}"
        )
    try:
        counts = _counts(columns, meta)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    sources, parts = (tuple(meta.get(name, ())) for name in ("source", "parts"))
    return CountsFile(counts, sources, parts, meta.get("sampling"))


def is_counts_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a Parquet file has the columns of a counts file."""
    if Path(path).suffix.casefold() not in SUFFIXES or not Path(path).is_file():
        return False
    try:
        with duckdb.connect() as connection:
            found = connection.sql(f"DESCRIBE SELECT * FROM read_parquet({text(os.fspath(path))})")  # noqa: S608 - quoted
            names = {row[0].casefold() for row in found.fetchall()}
    except duckdb.Error:
        return False
    return names in (set(COLUMNS), {*COLUMNS, "merged"})


def fingerprint(paths: Sequence[str | os.PathLike[str]], *question: object) -> str:
    """Name rows by their files' names, sizes and times, and by what is counted of them.

    Examples
    --------
    >>> from undercount.count_files import fingerprint
    >>> len(fingerprint([], "label", "score"))
    32
    """
    seen: list[Any] = [repr(part) for part in question]
    for path in paths:
        state = Path(path).stat()
        seen.append([Path(path).name, state.st_size, state.st_mtime_ns])
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:32]


def grid_name(counts: ScoreCounts) -> str | None:
    """Name the grid of counts in which every cell is an interval of a grid."""
    if not (counts.merged.size and counts.merged.all()):
        return None
    return hashlib.sha256(counts.score.tobytes()).hexdigest()[:32]


def _kind(counts: ScoreCounts) -> str:
    if not counts.compact:
        return "exact"
    return "binned" if counts.auc_error else "compact"


def _meta(kept: list[tuple[bytes]], path: str | os.PathLike[str]) -> dict[str, Any]:
    if not kept:
        return {}
    meta: dict[str, Any] = json.loads(kept[0][0])
    if meta["version"] > VERSION:
        raise InputError(
            f"{path} was written by a newer version (format {meta['version']}, this one reads up "
            f"to {VERSION}); upgrade undercount"
        )
    return meta


def _counts(columns: dict[str, Any], meta: dict[str, Any]) -> ScoreCounts:
    squares = meta.get("squared_weight")
    squared_weight = (squares[0], squares[1], squares[2]) if squares else None
    merged = columns.get("merged")
    counts = ScoreCounts.from_counts(
        *(columns[name] for name in COLUMNS),
        merged=None if merged is None else merged.astype(bool),
        squared_weight=squared_weight,
    )
    if meta.get("grid") is None:
        return counts
    # Cells of a grid are kept where they are empty, because another part may fill them.
    score, positive, negative, unlabeled = (
        np.asarray(columns[name], np.float64) for name in COLUMNS
    )
    table = Table(score, positive, negative, unlabeled, np.ones(score.size, bool))
    return ScoreCounts._from_table(table, counts.squared_weight)  # noqa: SLF001 - our own


@contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """Give a temporary name beside a file, which gets its own name when all has gone well."""
    path = path.resolve()  # of a link the target is replaced
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")
    target = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield target
        target.replace(path)
    except (OSError, duckdb.IOException) as error:
        raise InputError(f"cannot write {path}: {str(error).splitlines()[0]}") from error
    finally:
        with suppress(OSError):
            target.unlink(missing_ok=True)
