"""Add counts files in a stream, and go on where a merge was stopped."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import numpy as np

from undercount.count_files import CountsFile, check_name, grid_name, open_counts, write_counts
from undercount.counts import CLASSES, ScoreCounts
from undercount.errors import InputError
from undercount.progress import Progress, telling
from undercount.tally import Table

# Seconds between two notes of what is done.
NOTE_EVERY = 10.0

Path_ = str | os.PathLike[str]


def merge_counts(
    paths: Sequence[Path_],
    output: Path_ | None = None,
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
    with duckdb.connect() as connection, telling(progress, "merging") as steps, steps.step(1.0):
        total = _merged(paths, notes, connection, steps)
    if output is not None:
        write_counts(total.counts, output, source=total.sources, sampling=total.sampling)
    if notes is not None:
        notes.unlink(missing_ok=True)
    return total.counts


def _merged(
    paths: Sequence[Path_],
    notes: Path | None,
    connection: duckdb.DuckDBPyConnection,
    progress: Progress,
) -> CountsFile:
    total = _resumed(notes, paths)
    done = set() if total is None else set(total.parts)
    seen = {} if total is None else dict.fromkeys(total.sources, "a finished part")
    noted = time.monotonic()
    for path in paths:
        part_name = _part_name(path)
        if part_name not in done:
            total = _with(total, open_counts(path, connection), seen, str(path), part_name)
            if notes is not None and time.monotonic() - noted > NOTE_EVERY:
                _note(total, notes)
                noted = time.monotonic()
        progress.rows(1, len(paths))
    assert total is not None  # noqa: S101 - there is at least one path
    return total


def _note(total: CountsFile, notes: Path) -> None:
    write_counts(
        total.counts,
        notes,
        source=total.sources,
        parts=total.parts,
        sampling=total.sampling,
    )


def add_counts(left: ScoreCounts, right: ScoreCounts) -> ScoreCounts:
    """Add two tables; binned ones must be on one grid."""
    grids = grid_name(left), grid_name(right)
    if grids[0] is not None and grids[0] == grids[1]:
        sums = [getattr(left, name) + getattr(right, name) for name in CLASSES]
        squares = np.add(left.squared_weight, right.squared_weight).tolist()
        table = Table(left.score, sums[0], sums[1], sums[2], left.merged)
        return ScoreCounts._from_table(table, (squares[0], squares[1], squares[2]))  # noqa: SLF001 - our own
    if left.auc_error or right.auc_error:
        raise InputError(
            "binned counts can be added only if they are on the same grid: count the parts "
            "exactly, or put all of them on the grid of one (align_counts)"
        )
    return left + right


def _with(
    total: CountsFile | None, part: CountsFile, seen: dict[str, str], path: str, part_name: str
) -> CountsFile:
    for source in part.sources:
        if source in seen:
            raise InputError(
                f"{path} counts the same rows as {seen[source]}; leave one of them out"
            )
        seen[source] = path
    if total is None:
        return CountsFile(part.counts, part.sources, (part_name,), part.sampling)
    if part.sampling != total.sampling:
        raise InputError(
            f"{path} cannot be added: labelled and unlabeled rows drawn apart (case-control) and "
            "rows of one sample do not make one table"
        )
    try:
        counts = add_counts(total.counts, part.counts)
    except InputError as error:
        raise InputError(f"{path} cannot be added: {error}") from None
    sources, parts = total.sources + part.sources, (*total.parts, part_name)
    return CountsFile(counts, sources, parts, total.sampling)


def _part_name(path: Path_) -> str:
    try:
        state = Path(path).stat()
    except FileNotFoundError:
        raise InputError(f"there is no counts file {str(path)!r}") from None
    return f"{Path(path).resolve()}:{state.st_size}:{state.st_mtime_ns}"


def _resumed(notes: Path | None, paths: Sequence[Path_]) -> CountsFile | None:
    """Read what an earlier merge has done, unless it was a merge of other parts."""
    if notes is None or not notes.exists():
        return None
    found = open_counts(notes)
    wanted = {_part_name(path) for path in paths}
    return found if set(found.parts) <= wanted else None
