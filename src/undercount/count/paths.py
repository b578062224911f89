"""Which files a name, a pattern or a folder stands for."""

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from undercount.errors import InputError

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

STANDARD_INPUT = "-"
# Endings of names, and the formats they mean.
FORMAT_BY_ENDING = {
    "csv": "csv",
    "txt": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
}
# Endings of packed files, and how they begin.
PACKED = {"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd"}


def find_files(path: str) -> list[str]:
    """Return the files that a name, a pattern or a folder stands for; none if there are none.

    What exists is that file and nothing else, whatever marks of a pattern its name holds. In a
    folder names that begin with . or _ are passed over, as engines that write parts do. Standard
    input ("-") and addresses ("://") stand for themselves.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from undercount.count.paths import find_files
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     for name in ("a1.csv", "a[1].csv", "notes.md"):
    ...         pathlib.Path(directory, name).touch()
    ...     found = [find_files(str(pathlib.Path(directory, name))) for name in ("", "a[1].csv")]
    >>> [[pathlib.Path(file).name for file in files] for files in found]
    [['a1.csv', 'a[1].csv'], ['a[1].csv']]
    """
    if path == STANDARD_INPUT or "://" in path:
        return [path]
    if Path(path).is_dir():
        inside = sorted(map(str, Path(path).rglob("*.*")))
        seen = [file for file in inside if not _is_put_away(Path(file).relative_to(path))]
        return [file for file in seen if _is_part(Path(file)) and _suffix(file) in FORMAT_BY_ENDING]
    if Path(path).exists():
        return [path]
    return sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - patterns may be absolute


def _is_put_away(path: Path) -> bool:
    """Whether a name in a folder begins with . or _, as copies of editors and unfinished parts do.

    A folder of a partition is none: _day=3 is a value of a column.
    """
    *folders, name = path.parts
    hidden = [folder.startswith((".", "_")) and "=" not in folder for folder in folders]
    return any(hidden) or name.startswith((".", "_"))


def _is_part(path: Path) -> bool:
    """Whether a path in a folder should be a file; a link that leads nowhere should."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def expand_paths(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the files that all names stand for, each of them once.

    A file that is found twice, as in a folder and by its own name, is refused: its rows would
    count twice.
    """
    files: dict[str, str] = {}
    for path in paths:
        for file in _find_some(os.fspath(path)):
            place = os.path.realpath(file)
            if place in files:
                raise InputError(
                    f"each file may be named once, or its rows count twice; got {file} again"
                )
            files[place] = file
    return list(files.values())


def _find_some(path: str) -> list[str]:
    files = find_files(path)
    if "://" in path:
        raise InputError(
            f"only files of this machine are read, and the tables of a database that --from names; "
            f"got the address {path!r}. Download it first"
        )
    if not files and Path(path).is_dir():
        raise InputError(f"the directory {path} holds no CSV, TSV, Parquet or JSON lines file")
    if not files:
        rule = "no file matches" if glob.has_magic(path) else "there is no file"
        raise InputError(f"{rule} {path!r}; the working directory is {Path.cwd()}")
    for file in files:
        if Path(file).is_symlink() and not Path(file).exists():
            raise InputError(f"{file} is a link that leads to no file; mend or remove it")
    return files


def name_files(files: Sequence[str]) -> dict[str, str]:
    """Return a name for each file, and the file: its own without its ending if that is enough.

    Of files with one name in two folders it takes as much of their paths as tells them apart.

    Examples
    --------
    >>> from undercount.count.paths import name_files
    >>> list(name_files(["a/may.parquet", "2024/jan/all.parquet", "2024/feb/all.parquet"]))
    ['may', 'jan/all', 'feb/all']
    """
    alike: dict[str, list[str]] = {}
    for file in files:
        alike.setdefault(Path(file).stem, []).append(file)
    names = {file: name for group in alike.values() for file, name in _name_apart(group).items()}
    return {names[file]: file for file in files}


def _name_apart(files: Sequence[str]) -> dict[str, str]:
    """Name files of one name by the last parts of their paths, as many as all of them need."""
    paths = [Path(file).absolute() for file in files]
    for ends in ([""] * len(files), [path.suffix for path in paths]):  # or by .pq and .parquet
        for length in range(1, max(len(path.parts) for path in paths)):
            names = [
                "/".join([*path.parts[-length:-1], path.stem]) + end
                for path, end in zip(paths, ends, strict=True)
            ]
            if len({*names}) == len(files):
                return dict(zip(files, names, strict=True))
    return {file: file for file in files}


def find_format(files: Iterable[str]) -> str:
    """Tell the format of files from their names: all must have the same."""
    kinds = {_kind(file) for file in files}
    if not kinds:
        raise InputError("at least one file is needed; got none")
    if len(kinds) > 1:
        raise InputError(
            f"files read together must have one format; got {', '.join(sorted(kinds))}"
        )
    return kinds.pop()


def _kind(path: str) -> str:
    kind = FORMAT_BY_ENDING.get(_suffix(path))
    if kind is None:
        raise InputError(
            f"the format of {path} is not known from its name; use one of "
            f"{', '.join('.' + ending for ending in FORMAT_BY_ENDING)}, possibly with .gz or .zst"
        )
    return kind


def _suffix(path: str) -> str:
    parts = Path(path).name.casefold().split(".")
    if parts[-1] in PACKED:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""
