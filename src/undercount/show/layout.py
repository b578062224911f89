"""Lines of plain text that fit a terminal: names beside texts, and tables that stack."""

import os
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

# Of text that goes to a file or a notebook; the most of a terminal.
TEXT_WIDTH = 100
# Narrower than this there is no room for a text beside its name; narrower terminals are not served.
LETTERS_BESIDE, NARROWEST_TEXT = 60, 40
# All but tab and line feed; and those that turn the direction of writing.
CONTROL = [
    *range(9),
    *range(11, 32),
    *range(127, 160),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]
HARMLESS = {code: chr(code).encode("unicode_escape").decode() for code in CONTROL}


def neutralise(text: str) -> str:
    r"""Write control characters as Python writes them.

    Examples
    --------
    >>> from undercount.show.layout import neutralise
    >>> print(neutralise("\x1b[31mred"))
    \x1b[31mred
    """
    return text.translate(HARMLESS)


def terminal_columns(stream: TextIO | None = None) -> int:
    """Return the columns that a line may fill: COLUMNS, or those of the terminal.

    Parameters
    ----------
    stream : file, optional
        Where the text goes; standard output if none is named. A file takes any line.
    """
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named) > 0:
        return max(int(named), NARROWEST_TEXT)
    # `shutil` asks only the stream that the process began with, which may be detached by now.
    try:
        columns = os.get_terminal_size((stream or sys.stdout).fileno()).columns
    except (AttributeError, OSError, ValueError):  # a notebook, a file, a closed stream
        return sys.maxsize
    return max(columns, NARROWEST_TEXT) if columns > 0 else sys.maxsize


def terminal_width(stream: TextIO | None = None) -> int:
    """Return the columns in which text is wrapped; long lines are hard to read."""
    return min(terminal_columns(stream), TEXT_WIDTH)


def line(name: str, text: str, indent: int = 19, width: int = TEXT_WIDTH) -> str:
    """Write a name and a text, wrapped beside it; below it where there is no room."""
    if width < LETTERS_BESIDE:
        return f" {name}\n{wrap(text, width, ' ' * 3)}"
    first = f" {name:<{indent - 2}} "
    return wrap(text, width, " " * indent, first)


def wrap(text: str, width: int = TEXT_WIDTH, indent: str = " ", first: str | None = None) -> str:
    """Wrap a text; words such as paths and commands, which are copied, stay whole."""
    lines = textwrap.wrap(
        join_percents(neutralise(text)),  # before it is measured, since that makes it longer
        width,
        initial_indent=indent if first is None else neutralise(first),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return part_percents("\n".join(lines))


# A space at which no line is broken.
UNBROKEN = "\N{NO-BREAK SPACE}"


def join_percents(text: str) -> str:
    """Keep every number and its percent sign on one line while a text is wrapped."""
    return re.sub(r"(?<=\d) %", f"{UNBROKEN}%", text)


def part_percents(text: str) -> str:
    """Write numbers and percent signs as they were before the text was wrapped."""
    return text.replace(f"{UNBROKEN}%", " %")


def too_wide(lines: Sequence[str], width: int) -> bool:
    """Whether a table does not fit a terminal; a file takes it as it is."""
    return max(map(len, lines)) > (width if width < TEXT_WIDTH else terminal_columns())


def stack(name: str, cells: Sequence[tuple[str, str]], width: int) -> list[str]:
    r"""Write a row of a table below its name, one cell a line; empty cells are left out.

    Examples
    --------
    >>> from undercount.show.layout import stack
    >>> print("\n".join(stack("precision@0.5", [("naive", "0.291"), ("at least", "")], 40)))
     precision@0.5
       naive  0.291
    """
    cells = [(label, text) for label, text in cells if text]
    room = max((len(label) for label, _ in cells), default=0)
    if room + max((len(text) for _, text in cells), default=0) + 5 > width:
        room = 0  # labels of their own length: the cells need not stand below each other
    lines = [wrap(name, width)]
    for label, text in cells:
        lines += wrap(text, width, " " * 5, f"   {label:<{room}}  ").split("\n")
    return lines
