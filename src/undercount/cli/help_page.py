"""Help that fits a narrow terminal: what an option does stands below its name, not beside it."""

from collections.abc import Iterable

import click

from undercount.show.layout import LETTERS_BESIDE, terminal_width, wrap


class HelpPage(click.HelpFormatter):
    """The help of a command; click alone writes no line for fewer than 50 columns."""

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None
    ) -> None:
        if width is None:  # click would not see the terminal, whose stream is no longer its own
            width = terminal_width()
            width -= 2 if width >= LETTERS_BESIDE else 0
        super().__init__(indent_increment, width, max_width)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names and what they mean, below each other where there is no room beside."""
        if self.width >= LETTERS_BESIDE - 2:  # click leaves two columns free
            super().write_dl(list(rows), col_max, col_spacing)
            return
        margin = " " * self.current_indent
        for name, meaning in rows:
            self.write(f"{wrap(name, self.width, f'{margin}  ', margin)}\n")
            if meaning:
                self.write(f"{wrap(meaning, self.width, f'{margin}    ')}\n")


class Context(click.Context):
    """What a command runs in, with help that fits."""

    formatter_class = HelpPage
