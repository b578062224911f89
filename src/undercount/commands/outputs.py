"""Where commands write: never onto what they read, and each result to a place of its own."""

import glob
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from undercount.errors import InputError
from undercount.report.files import STANDARD_OUTPUT

# A file that exists is known by device and number, which its links share; others by their path.
Place = tuple[int, int] | str


def refuse_overwriting(inputs: Iterable[str], outputs: Mapping[str, str]) -> None:
    """Refuse results that would replace their own data or each other, or have no folder.

    Parameters
    ----------
    inputs : iterable of str
        Files, patterns and folders to be read, and "-" for standard input.
    outputs : mapping of str
        Option → file to be written, or "-" for standard output.
    """
    read = {_place(file) for path in inputs for file in files_of(path)}
    written: dict[Place, str] = {}
    for option, path in outputs.items():
        place = _place(path) if path not in STANDARD_OUTPUT else "-"
        if place is None:  # pipes and devices take anything
            continue
        if place in written and place == "-":
            raise InputError(
                f"{written[place]} and {option} cannot both go to standard output; name a file "
                "for one of them"
            )
        if place in written:
            raise InputError(
                f"{written[place]} and {option} would write to the same file, {path}; name two"
            )
        if place in read:
            raise InputError(
                f"{option} {path} would overwrite the data it is made from; name another file"
            )
        folder = Path(os.path.realpath(path)).parent
        if place != "-" and not folder.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {folder}")
        written[place] = option


def files_of(path: str) -> list[str]:
    """Return the files that a name, a pattern or a folder stands for."""
    if path == "-":
        return ["/dev/stdin"]  # the file itself, if one was redirected
    if Path(path).is_dir():
        return sorted(str(file) for file in Path(path).rglob("*.*") if _is_data(file))
    if Path(path).exists():
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]  # noqa: PTH207 - may be absolute


def _is_data(file: Path) -> bool:
    """Tell files that are read as part of a folder from the reports that stand in it."""
    from undercount.sources import KINDS  # noqa: PLC0415 - DuckDB, only when needed

    return file.is_file() and any(part in KINDS for part in file.name.casefold().split(".")[1:])


def _place(path: str) -> Place | None:
    try:
        state = os.stat(path)  # noqa: PTH116 - links of open pipes lead to no name to look up
    except OSError:
        return os.path.realpath(path)
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None
