"""Ask who labelled which rows, and answer with the command that fits."""

import sys
from dataclasses import dataclass

import click

from undercount.cli.command import ALL_FINE, Command
from undercount.cli.options import DEBUG
from undercount.cli.streams import fit, print_text, tell
from undercount.errors import InputError
from undercount.show.layout import terminal_columns, terminal_width, wrap

DATA_ARGUMENTS = "DATA --label LABEL --score SCORE"
PAGES = "the page 'Which assumption do I make?' of the documentation says more"


@dataclass(frozen=True)
class Question:
    """Hold a question, and what a yes leads to."""

    text: str
    commands: tuple[str, ...]
    assumes: str


# The first yes decides. The page docs/guide.md has the same questions, and a test compares them.
QUESTIONS = (
    Question(
        "Did somebody verify a random sample of all rows?",
        (f"undercount evaluate {DATA_ARGUMENTS} --audited",),
        "nobody chose them, and verdicts are right",
    ),
    Question(
        "Are both classes labelled, but only where somebody looked?",
        (f"undercount select {DATA_ARGUMENTS}",),
        "how the rows were chosen; undercount explain selection names the methods",
    ),
    Question(
        "Can somebody look at some rows now?",
        (
            f"undercount plan {DATA_ARGUMENTS} --threshold THRESHOLD --budget 100 --out review.csv",
            f"undercount evaluate {DATA_ARGUMENTS} --threshold THRESHOLD --reviews review.csv",
        ),
        "verdicts are right",
    ),
    Question(
        "Do you know each row's chance of being labelled, had it been positive?",
        (f"undercount evaluate {DATA_ARGUMENTS} --chance CHANCE --threshold THRESHOLD",),
        "those chances, not merely their ratio; every positive has one",
    ),
    Question(
        "Are the labelled positives a fair sample of all positives?",
        (f"undercount evaluate {DATA_ARGUMENTS}",),
        "labels are a random sample of the positives",
    ),
)
PREVALENCE_QUESTION = "Do you know roughly what share of all rows is positive? (3%, 3%-5%, or no)"
NO_QUESTION_FITS = Question(
    "None of these",
    (f"undercount evaluate {DATA_ARGUMENTS} --threshold THRESHOLD --gamma 2",),
    "some positives have up to 2 times the odds of a label that others have; put the factor that "
    "you fear. Trust only these bounds, and 'at least'; 'What would change' says which factor (Γ) "
    "a conclusion survives",
)
YES_ANSWERS, NO_ANSWERS = ("y", "yes", "1", "true"), ("n", "no", "0", "false", "")


@click.command(cls=Command, short_help="Ask a few questions that end in a command.")
@click.argument("data_name", metavar="[DATA]", default="DATA")
@click.option("--label", default="LABEL", help="Column of labels, for the command that is printed.")
@click.option("--score", default="SCORE", help="Column of scores, likewise.")
@click.option(
    "--threshold", default="THRESHOLD", help="Score from which rows are flagged, likewise."
)
@DEBUG
def guide(data_name: str, label: str, score: str, threshold: str) -> int:
    """Ask which labels you have, and print the command that fits.

    DATA is the file of rows, for the command that is printed; it is not opened. Answers are
    read from standard input, one a line: y or n, and at the end a prevalence.
    """
    found = next((question for question in QUESTIONS if _ask(question.text)), NO_QUESTION_FITS)
    given = ""
    if found in (QUESTIONS[-1], NO_QUESTION_FITS):
        answer = _read(PREVALENCE_QUESTION)
        given = "" if answer.lower() in (*NO_ANSWERS, "?") else f" --prevalence {answer}"
    print_text("")
    for line in found.commands:
        takes = "--threshold" not in line and threshold != "THRESHOLD"
        command = f"{line} --threshold THRESHOLD" if takes else line
        # Word by word: a name that a user gave may hold another's placeholder.
        words = {"DATA": data_name, "LABEL": label, "SCORE": score, "THRESHOLD": threshold}
        named = " ".join(words.get(word, word) for word in command.split(" "))
        print_text(_fit_command(f"{named}{given}"))
    print_text(fit(f"\nAssumes: {found.assumes}.\n{PAGES[0].upper()}{PAGES[1:]}."))
    return ALL_FINE


def _fit_command(command: str) -> str:
    """Write a command to be copied, in lines that a shell joins again where room is short."""
    if len(command) + 2 <= terminal_columns():
        return f"  {command}"
    # Room for the sign that joins.
    lines = wrap(command, terminal_width() - 2, "    ", "  ").split("\n")
    return " \\\n".join(lines)


def _ask(question: str) -> bool:
    while True:
        answer = _read(f"{question} (y/n)").lower()
        if answer in YES_ANSWERS or answer in NO_ANSWERS:
            return answer in YES_ANSWERS
        tell(f"Please answer y or n, not {answer!r}.")


def _read(question: str) -> str:
    """Ask on stderr, so that stdout holds the answer alone; the end of the input is an error."""
    click.echo(f"{fit(question, sys.stderr)} ", file=sys.stderr, nl=False)
    line = sys.stdin.readline()
    if not sys.stdin.isatty():  # nobody pressed a key that ends the line
        tell("")
    if not line:
        raise InputError(f"standard input ended before the question: {question}")
    return line.strip()
