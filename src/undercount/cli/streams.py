r"""What reaches a terminal: signs that it can write, and no commands to it.

Names of columns and files are the user's or somebody else's. A control character among them would
move the cursor, change colours or set titles; it is written as Python writes it, `\x1b`. Our own
styles are put around a text after that, so that nothing inside the text can be taken for one.
"""

import codecs
import io
import os
import sys
from typing import Any, Literal, TextIO, TypeAlias

import click

from undercount.show.layout import neutralise, terminal_columns, terminal_width, wrap

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
REPLACE = "undercount-plain"
Style: TypeAlias = Literal["plain", "main", "warning", "heading"]
# What a terminal is told to do for a style (ECMA-48, select graphic rendition).
BOLD, UNDERLINED, YELLOW, NORMAL = "\x1b[1m", "\x1b[4m", "\x1b[33m", "\x1b[0m"
STYLES = {"plain": "", "main": BOLD, "warning": YELLOW, "heading": BOLD + UNDERLINED}


def fit(text: str, stream: TextIO | None = None) -> str:
    """Wrap the lines that are longer than a terminal; those of a file stay as they are."""
    columns, width = terminal_columns(stream), terminal_width(stream)
    lines = neutralise(text).split("\n")  # first, since it makes a text longer
    return "\n".join(wrap(line, width, "  ", "") if len(line) > columns else line for line in lines)


def print_text(text: str) -> None:
    """Print a result. The stream is named, since Click takes another one where ours is ASCII."""
    click.echo(neutralise(text), file=sys.stdout)


def print_styled(text: str, style: Style) -> None:
    """Print a line of a result; it is styled where a person looks at it."""
    if not STYLES[style] or not styles_are_shown():
        print_text(text)
        return
    line = f"{STYLES[style]}{neutralise(text)}{NORMAL}\n"
    if isinstance(sys.stdout, Output):
        sys.stdout.write_as_is(line)
    else:
        sys.stdout.write(line)


def styles_are_shown() -> bool:
    """Whether standard output is a terminal that knows styles, and NO_COLOR does not forbid them.

    See https://no-color.org: the variable counts where it is not empty.
    """
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
    return not refused and sys.stdout.isatty()


def tell(text: str) -> None:
    """Say something on standard error, which is for talk; results go to standard output."""
    click.echo(fit(text, sys.stderr), file=sys.stderr)


class Output(io.TextIOWrapper):
    """Standard output without control characters, but for those of our own styles."""

    def write(self, text: str) -> int:
        """Write text; what a control character would do is shown instead."""
        return super().write(neutralise(text))

    def write_as_is(self, text: str) -> int:
        """Write a line that was neutralised before a style was put around it."""
        return super().write(text)


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
    characters: Any = error.object[error.start : error.end]
    plain = "".join(PLAIN.get(sign, sign) for sign in characters)
    return plain.encode("ascii", "backslashreplace").decode(), error.end
