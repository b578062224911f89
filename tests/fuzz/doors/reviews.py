"""Answered review files, as a spreadsheet or a hand leaves them."""

import contextlib
import csv
import io
import random
from pathlib import Path

from tests.fuzz.doors import options

from undercount.cli.main import main

VERDICTS = ("1", "0", "", "yes", "no", "TRUE", "2", "maybe", " 1 ", "=1", "x", "ja")
EDITS = ("none", "none", "shuffle", "drop", "double", "column", "semicolons", "noise", "bom")
ROWS = ("--label", "y", "--score", "s", "--threshold", "1")


def draw(dice: random.Random) -> tuple[list[str], str, int]:
    """Roll verdicts and an edit; most files are answered in full."""
    known = 2 if dice.random() < 0.7 else len(VERDICTS)
    verdicts = [dice.choice(VERDICTS[:known]) for _ in range(12)]
    return verdicts, dice.choice(EDITS), dice.randrange(12)


def plan_file(folder: Path) -> Path:
    """Return a review file of the rows, planned once."""
    path = folder / "plan.csv"
    if not path.exists():
        rows = [str(folder / "rows.csv"), *ROWS]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert main(["plan", *rows, "--budget", "12", "--out", str(path)]) == 0
    return path


def knock(case: tuple[list[str], str, int], folder: Path) -> str:
    """Evaluate with an answered review file that was edited; never a wrong kind of end."""
    verdicts, edit, place = case
    with plan_file(folder).open(encoding="utf-8-sig", newline="") as file:
        header, *body = csv.reader(file)
    at = header.index("verdict")
    for row, verdict in zip(body, verdicts, strict=False):
        row[at] = verdict
    header, body = _edit(header, body, edit, place % len(body))
    path = folder / "answered.csv"
    encoding = "utf-8-sig" if edit == "bom" else "utf-8"
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=";" if edit == "semicolons" else ",")
        writer.writerows([header, *body])
    arguments = ["evaluate", "rows.csv", *ROWS, "--reviews", str(path), "--quiet"]
    return options.knock(arguments, folder)


def _edit(
    header: list[str], body: list[list[str]], edit: str, place: int
) -> tuple[list[str], list[list[str]]]:
    at = header.index("verdict")
    if edit == "shuffle":
        body.reverse()
    elif edit == "drop":
        del body[place]
    elif edit == "double":
        body.append([*body[place][:at], "0", *body[place][at + 1 :]])
    elif edit == "column":
        gone = place % len(header)
        header = [*header[:gone], *header[gone + 1 :]]
        body = [[*row[:gone], *row[gone + 1 :]] for row in body]
    elif edit == "noise":
        body[place] = [cell[: len(cell) // 2] for cell in body[place]]
    return header, body
