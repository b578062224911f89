"""Write a file whole or not at all."""

import os
import sys
import tempfile
from pathlib import Path

from undercount.errors import InputError


def write_text(path: str | Path, text: str) -> None:
    """Write to a temporary name beside the file and rename it; "-" is standard output."""
    if str(path) == "-":
        sys.stdout.write(text)
        return
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp's files are private; the user's are as usual
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
