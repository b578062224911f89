"""Lines of plain text that fit a terminal: names beside texts, and tables that stack."""

import shutil
import textwrap
from collections.abc import Sequence

# Of text that goes to a file or a notebook; the most of a terminal.
WIDTH = 100
# Narrower than this there is no room for a text beside its name; narrower terminals are not served.
BESIDE, NARROWEST = 60, 40


def terminal_width() -> int:
    """Return the columns that may be filled: those of the terminal, or of COLUMNS."""
    return min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDTH)


def line(name: str, text: str, indent: int = 19, width: int = WIDTH) -> str:
    """Write a name and a text, wrapped beside it; below it where there is no room."""
    if width < BESIDE:
        return f" {name}\n{wrap(text, width, ' ' * 3)}"
    first = f" {name:<{indent - 2}} "
    return wrap(text, width, " " * indent, first)


def wrap(text: str, width: int = WIDTH, indent: str = " ", first: str | None = None) -> str:
    """Wrap a text; words such as paths and commands, which are copied, stay whole."""
    return textwrap.fill(
        text,
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def too_wide(lines: Sequence[str], width: int) -> bool:
    """Whether a table does not fit a terminal; a file takes it as it is."""
    return width < WIDTH and max(map(len, lines)) > width


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
