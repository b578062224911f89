"""What commands say: exit codes, and bars on stderr."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

FINE, REQUIREMENT_FAILS, BAD_INPUT, INCONCLUSIVE = 0, 1, 2, 3
# As by convention: an error in the program itself, and a pipe whose reader has gone.
UNEXPECTED, READER_GONE = 70, 141


def progress(what: str, options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Show a bar on stderr if work takes long, unless quiet or not a terminal."""
    if options.get("quiet") or not sys.stderr.isatty():
        return nullcontext()
    from undercount.report.terminal import progress_bar  # noqa: PLC0415 - rich, only when needed

    return progress_bar(what)


def working(what: str, options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Show that something goes on."""
    if options.get("quiet") or not sys.stderr.isatty():
        return nullcontext()
    from undercount.report.terminal import spinner  # noqa: PLC0415 - rich, only when needed

    return spinner(what)
