"""An evaluation on the terminal, with colours."""

from rich.console import Console
from rich.text import Text

from undercount.read.evaluation import Evaluation
from undercount.show.text import styled_lines

STYLES = {"plain": "", "main": "bold", "warning": "yellow"}


def print_evaluation(evaluation: Evaluation, *, heading: bool = False) -> None:
    """Print an evaluation; colours follow NO_COLOR and whether stdout is a terminal."""
    console = Console(highlight=False, soft_wrap=True)
    console.print()
    if heading:
        console.print(Text(f" {evaluation.name}", style="bold underline"))
    for line, style in styled_lines(evaluation):
        console.print(Text(line, style=STYLES[style]))
