"""Where the program begins: Ctrl-C is heard before anything else is loaded."""

import sys
from collections.abc import Sequence

from undercount.cli.interrupt import stop_at_interrupts


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; bad input is one message on stderr and exit code 2."""
    if argv is None:  # the process is ours
        stop_at_interrupts()
    from undercount.cli.commands import run  # noqa: PLC0415 - see above
    from undercount.cli.streams import open_streams  # noqa: PLC0415

    if argv is None:
        open_streams()
    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
