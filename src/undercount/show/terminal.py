"""Colours, bars and spinners on the terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from undercount.read.evaluation import Evaluation
from undercount.show.text import as_text

# Seconds of work before a bar is drawn.
PATIENCE = 2.0


def print_evaluation(evaluation: Evaluation, *, heading: bool = False) -> None:
    """Print an evaluation; colours follow NO_COLOR and whether stdout is a terminal."""
    console = Console(highlight=False, soft_wrap=True)
    console.print()
    if heading:
        console.print(Text(f" {evaluation.name}", style="bold underline"))
    for line in as_text(evaluation).split("\n"):
        style = "bold" if line.lstrip().startswith(("precision@", "ROC AUC", "In plain")) else ""
        if line[:7].strip().startswith("UC0"):
            style = "yellow"
        console.print(Text(line, style=style))


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on stderr if the work takes longer than two seconds.

    The function takes the share done.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=console, transient=True)
    task, started = progress.add_task(what, total=1.0), time.monotonic()

    def tell(done: float) -> None:
        if not progress.live.is_started and time.monotonic() - started > PATIENCE:
            progress.start()
        progress.update(task, completed=done)

    try:
        yield tell
    finally:
        progress.stop()


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show on stderr that something goes on."""
    with Console(stderr=True).status(what):
        yield
