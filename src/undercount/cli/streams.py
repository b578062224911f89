r"""What reaches a terminal: signs that it can write, and no commands to it.

Names of columns and files are the user's or somebody else's. A control character among them would
move the cursor, change colours or set titles; it is written as Python writes it, `\x1b`.
"""

import codecs
import io
import os
import sys
from typing import Any

import click

from undercount.show.layout import WIDTH, terminal_width, wrap

# Signs of our texts in letters that every encoding has.
PLAIN = {
    "≥": ">=",
    "≤": "<=",
    "–": "-",
    "—": "-",
    "−": "-",  # noqa: RUF001 - the minus sign
    "·": "-",
    "…": "...",
    "→": "->",
    "←": "<-",
    "±": "+/-",
    "×": "x",
    "√": "sqrt ",
    "Γ": "Gamma",
    "γ": "gamma",
    "κ": "kappa",
    "π": "pi",
    "α": "alpha",
    "β": "beta",
    "²": "^2",
    "½": "1/2",
}
# All but tab and line feed; and those that turn the direction of writing.
CONTROL = [
    *range(9),
    *range(11, 32),
    *range(127, 160),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]
HARMLESS = {code: chr(code).encode("unicode_escape").decode() for code in CONTROL}
REPLACE = "undercount-plain"


def neutralise(text: str) -> str:
    r"""Write control characters as Python writes them.

    Examples
    --------
    >>> from undercount.cli.streams import neutralise
    >>> print(neutralise("\x1b[31mred"))
    \x1b[31mred
    """
    return text.translate(HARMLESS)


def fit(text: str) -> str:
    """Wrap the lines that are longer than a narrow terminal; those of a file stay as they are."""
    width = terminal_width()
    if width >= WIDTH:
        return text
    lines = text.split("\n")
    return "\n".join(wrap(line, width, "  ", "") if len(line) > width else line for line in lines)


def print_text(text: str) -> None:
    """Print a result. The stream is named, since Click takes another one where ours is ASCII."""
    click.echo(text, file=sys.stdout)


def tell(text: str) -> None:
    """Say something on standard error, which is for talk; results go to standard output."""
    click.echo(fit(text), file=sys.stderr)


class Output(io.TextIOWrapper):
    """Standard output without control characters."""

    def write(self, text: str) -> int:
        """Write text; what a control character would do is shown instead."""
        return super().write(neutralise(text))


def open_streams() -> None:
    """Make standard output and error able to take whatever is said; one that is closed is empty."""
    codecs.register_error(REPLACE, _write_plain)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - kept
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors=REPLACE)
    if isinstance(sys.stdout, io.TextIOWrapper):
        stream = sys.stdout
        buffered = stream.line_buffering
        encoding = stream.encoding
        sys.stdout = Output(
            stream.detach(),
            encoding,
            REPLACE,
            newline="\n" if os.name == "posix" else None,
            line_buffering=buffered,
        )


def _write_plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found: Any = error.object[error.start : error.end]
    plain = "".join(PLAIN.get(sign, sign) for sign in found)
    return plain.encode("ascii", "backslashreplace").decode(), error.end
