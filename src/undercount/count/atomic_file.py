"""Write a file whole or not at all."""

import errno
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from undercount.errors import InputError

# The device's name too: redirected to a file it would be that file, and be replaced.
STANDARD_OUTPUT = ("-", "/dev/stdout")
# What must go if the program is stopped in the middle; the lock keeps more from being begun then.
_UNFINISHED: set[Path] = set()
_BEGINNING = threading.Lock()


@contextmanager
def remove_if_stopped(path: Path) -> Iterator[None]:
    """Keep a file or folder in mind that must not outlive the program."""
    with _BEGINNING:
        _UNFINISHED.add(path)
    try:
        yield
    finally:
        _UNFINISHED.discard(path)


def remove_unfinished() -> None:
    """Remove what is half-written, and let nothing more be begun: the program must end now."""
    import shutil  # noqa: PLC0415 - slow, and Ctrl-C is to be heard early

    _BEGINNING.acquire()
    for path in tuple(_UNFINISHED):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def name_process() -> str:
    """Name this process and machine, so that a later one can tell what was left behind."""
    return f"{_name_machine()}-{os.getpid()}-{os.urandom(4).hex()}"


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove temporary files and folders of processes that were killed on this machine."""
    import re  # noqa: PLC0415 - slow, and Ctrl-C is to be heard early
    import shutil  # noqa: PLC0415

    for path in folder.glob(pattern):
        owner = re.search(rf"{_name_machine()}-([0-9]+)-[0-9a-f]{{8}}", path.name)
        if owner is None or _is_alive(int(owner[1])):
            continue
        with suppress(OSError):  # somebody else's, or just removed by another
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _name_machine() -> str:
    import platform  # noqa: PLC0415 - slow, and Ctrl-C is to be heard early
    import zlib  # noqa: PLC0415

    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # asking would end the process there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # alive, and not ours
        return True
    return True


@contextmanager
def replace_when_complete(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside a file, which gets its own name when all has gone well.

    Of a link the target is replaced.
    """
    import glob  # noqa: PLC0415 - slow, and Ctrl-C is to be heard early

    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink():  # even when followed to the end
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # noqa: TRY301 - as the system says
        remove_leftovers(target.parent, f".{glob.escape(target.name)}.*.tmp")
        temporary = target.with_name(f".{target.name}.{name_process()}.tmp")
        with remove_if_stopped(temporary):
            try:
                yield temporary
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def write_text(path: str | Path, text: str) -> None:
    """Write a file; "-" is standard output. Pipes and devices are written to, not replaced."""
    if str(path) in STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    # Asked of the name itself: links of open pipes lead to no name that could be looked up.
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        try:
            Path(path).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None
        return
    with replace_when_complete(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
