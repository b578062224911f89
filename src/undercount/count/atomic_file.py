"""Write a file whole or not at all."""

import errno
import os
import sys
import tempfile
from pathlib import Path

from undercount.errors import InputError

# The device's name too: redirected to a file it would be that file, and be replaced.
STANDARD_OUTPUT = ("-", "/dev/stdout")


def write_text(path: str | Path, text: str) -> None:
    """Write to a temporary name beside the file and rename it; "-" is standard output.

    Of a link the target is replaced. Pipes and devices are written to, not replaced.
    """
    if str(path) in STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        # Asked of the name itself: links of open pipes lead to no name that could be looked up.
        special = os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113
        if special:
            _write(os.open(path, os.O_WRONLY), text)
        else:
            _replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _replace(target: Path, text: str) -> None:
    if target.is_symlink():  # even when followed to the end
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        _write(handle, text)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp's files are private; the user's are as usual
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write(handle: int, text: str) -> None:
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
