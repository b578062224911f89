"""Commands with random options: every option that a command has, sound values for the most part."""

import contextlib
import csv
import io
import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from undercount.cli.commands import commands
from undercount.cli.main import main

EXIT_CODES = {0, 1, 2, 3}
# Sound values; a name with "@" before it is a file of the folder.
SOUND = {
    "--prevalence": ["0.4", "40%", "0.3-0.6", "0.35:0.5"],
    "--unlabeled-prevalence": ["0.2", "0.1-0.3"],
    "--label-frequency": ["0.5", "0.4-0.6"],
    "--label-purity": ["1", "0.9", "0.8-0.9"],
    "--threshold": ["0.5", "1", "-3", "99"],
    "--round": ["0", "2", "9"],
    "--confidence-level": ["0.9", "0.5"],
    "--seed": ["0", "7"],
    "--unlabeled": ["0", "-1"],
    "--negative": ["0", "2"],
    "--positive-label": ["1", "a"],
    "--positives": ["@positives.csv"],
    "--weight": ["w"],
    "--label": ["y", "v"],
    "--score": ["s", "t"],
    "--json": ["-", "@made.json"],
    "--markdown": ["-", "@made.md"],
    "--csv": ["-", "@made.csv"],
    "--html": ["@made.html"],
    "--junit": ["@made.xml"],
    "--output": ["@counts.parquet"],
    "--out": ["@sheet.csv"],
    "--title": ["a", "\x1b[31m"],
    "--top": ["5", "10%", "20/80"],
    "--cost": ["5:100", "1:1", "0:3"],
    "--metric": ["f1", "recall@0.5", "ROC AUC"],
    "--by": ["g", "w"],
    "--rank-by": ["f1", "roc_auc"],
    "--deploy-prevalence": ["0.01", "0.9"],
    "--cluster": ["c", "g"],
    "--chance": ["p"],
    "--dependence": ["1", "0.5-2"],
    "--gamma": ["2", "1", "1000"],
    "--resamples": ["2", "5"],
    "--budget": ["5", "40", "1000000"],
    "--goal": ["precision", "prevalence", "roc_auc"],
    "--half-width": ["0.1", "0.3"],
    "--keep": ["w", "g"],
    "--reviews": ["@answered.csv", "@rows.csv"],
    "--observed": ["d"],
    "--found": ["e"],
    "--until": ["2024-06-01", "2024-09-30"],
    "--baseline": ["2024-01", "2024-02-01"],
    "--found-eventually": ["0.5", "0.9"],
    "--risk": ["0.05", "0.5"],
    "--selection-score": ["t", "w"],
    "--features": ["w", "t"],
    "--from": ["sqlite://@rows.db", "duckdb://@nothing.db"],
    "--table": ["rows", "nothing"],
    "--query": ["SELECT y, s, t, w FROM rows WHERE s > -1", "DROP TABLE rows"],
}
REQUIRED = {
    "compare": ["s.f1 > t.f1", "s.roc_auc >= t.roc_auc - 0.02", "s.f1 >= 0.3"],
    "others": ["precision >= 0.1", "roc_auc > 0.5 and f1 < 1", "recall@1 >= 2", "fpr@top 9 < 1"],
}
ODD = ("", "x", "z", "nan", "inf", "-1", "0", "2", "1e999", "é", "@nowhere/a", "a" * 300, "'", "--")
# Takes minutes or a screen.
LEFT_OUT = ("demo", "reproduce", "prevalence")
# What each needs to come to its end. The shares are given: to estimate one takes seconds.
NEEDED = {
    "evaluate": ["@rows.csv", "--label", "y", "--score", "s", "--prevalence", "0.4"],
    "compare": ["@rows.csv", "--label", "y", "--score", "s", "--score", "t", "--prevalence", "0.4"],
    "count": ["@rows.csv", "--label", "y", "--score", "s", "--output", "@counts.parquet"],
    "plan": ["@rows.csv", "--label", "y", "--score", "s", "--budget", "9"],
    "merge": ["@part.parquet", "@more/part.parquet", "--output", "@counts.parquet"],
    "monitor": ["@rows.csv", "--score", "s", "--observed", "d", "--found", "e", "--threshold", "1"],
    "select": ["@rows.csv", "--label", "v", "--score", "s"],
    "explain": [],
    "guide": [],
}
TERMS = ("precision", "UC022", "selection", "", "x", "\x1b")


def options_of(command: str) -> list[click.Option]:
    """Return the options that a command has."""
    found = commands.get_command(click.Context(commands), command)
    assert found is not None
    return [each for each in found.params if isinstance(each, click.Option)]


OPTIONS = {command: options_of(command) for command in NEEDED}


def values_of(command: str, option: click.Option) -> list[str]:
    """Return sound values of an option."""
    name = option.opts[-1]
    if name == "--require":
        return REQUIRED.get(command, REQUIRED["others"])
    if isinstance(option.type, click.Choice):
        return [str(each) for each in option.type.choices]
    return SOUND[name]


def draw(dice: random.Random) -> list[str]:
    """Roll a command with some options, and answers to its questions."""
    command = dice.choice([*NEEDED, "evaluate", "evaluate", "evaluate"])
    arguments = [command, *NEEDED[command]]
    if command in ("explain", "guide"):
        arguments += [dice.choice(TERMS)] * dice.choice([0, 1, 1, 1])
    if command == "evaluate" and dice.random() < 0.15:
        parts = dice.choice([["@part.parquet"], ["@part.parquet", "@more/part.parquet"]])
        arguments = [command, *parts, *NEEDED[command][-2:]]
    if command in ("evaluate", "compare", "count", "plan") and dice.random() < 0.05:
        arguments[1:2] = ["--from", "sqlite://@rows.db", "--table", "rows"]
    if dice.random() < 0.05:
        arguments = arguments[: dice.randrange(1, len(arguments) + 1)]
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        option = dice.choice(OPTIONS[command])
        if not option.multiple and dice.random() < 0.9:  # twice it is refused
            _leave_out(arguments, option)
        arguments.append(option.opts[-1])
        if not option.is_flag:
            odd = dice.random() < 0.15
            arguments.append(dice.choice(ODD if odd else values_of(command, option)))
    if dice.random() < 0.02:
        arguments.append(dice.choice(ODD))
    if command == "guide":
        arguments.append("<" + "".join(dice.choice("ynnn\n3?") for _ in range(dice.randrange(9))))
    return arguments


def _leave_out(arguments: list[str], option: click.Option) -> None:
    for name in option.opts:
        if name in arguments:
            place = arguments.index(name)
            del arguments[place : place + (1 if option.is_flag else 2)]


def _repeats(arguments: list[str]) -> bool:
    """Whether an option that takes one value is given twice, before a -- that ends them."""
    single = [
        each
        for each in OPTIONS[arguments[0]]
        if not (each.multiple or each.is_flag) and "--" not in arguments
    ]
    return any(sum(arguments.count(name) for name in each.opts) > 1 for each in single)


def write_rows(folder: Path) -> None:
    """Write the rows that commands read: a file, a database, counts, positives."""
    rng = np.random.default_rng(0)
    truth = rng.random(80) < 0.4
    labels, scores = truth & (rng.random(80) < 0.5), rng.normal(2.0 * truth)
    lines = []
    for i, (y, s) in enumerate(zip(labels, scores, strict=True)):
        verified = "" if i % 3 else int(truth[i])
        dates = f"2024-01-{1 + i % 28:02}," + (f"2024-0{2 + i % 5}-15" if y else "")
        others = f"{1 + i % 3},{'ab'[i % 2]},{dates},{-s * (i % 2):.2f},{0.2 + i % 5 / 10},{i % 20}"
        lines.append(f"{int(y)},{verified},{s:.3f},{others}")
    header = "y,v,s,w,g,d,e,t,p,c"
    (folder / "rows.csv").write_text(f"{header}\n" + "\n".join(lines) + "\n")
    known = [line.split(",")[2] for line, y in zip(lines, labels, strict=True) if y]
    (folder / "positives.csv").write_text("s\n" + "\n".join(known) + "\n")
    _write_database(folder / "rows.db", header, lines)
    named = ["@rows.csv", "--label", "y", "--score", "s", "--quiet"]
    planned = ["--threshold", "1", "--budget", "12", "--out", "@answered.csv"]
    assert knock(["count", *named, "--output", "@part.parquet"], folder) == "count exit 0"
    (folder / "more").mkdir(exist_ok=True)
    (folder / "more" / "rows.csv").write_text(f"{header}\n" + "\n".join(lines[::-1]) + "\n")
    more = ["@more/rows.csv", *named[1:], "--output", "@more/part.parquet"]
    assert knock(["count", *more], folder) == "count exit 0"
    assert knock(["plan", *named, *planned], folder) == "plan exit 0"
    answer_all(folder / "answered.csv", ["1", "0"] * 6)


def answer_all(path: Path, verdicts: list[str]) -> None:
    """Fill in the verdicts of a review file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *body = csv.reader(file)
    for row, verdict in zip(body, verdicts, strict=True):
        row[header.index("verdict")] = verdict
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *body])


def _write_database(path: Path, header: str, lines: list[str]) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        columns = [f"{name} {'TEXT' if name in 'gde' else 'REAL'}" for name in header.split(",")]
        database.execute(f"CREATE TABLE rows ({', '.join(columns)})")
        filled = ", ".join("?" for _ in columns)
        rows = [[cell or None for cell in line.split(",")] for line in lines]
        database.executemany(f"INSERT INTO rows VALUES ({filled})", rows)  # noqa: S608 - signs
        database.commit()


def knock(arguments: list[str], folder: Path) -> str:
    """Run a command; its code must be a documented one, and bad input one message."""
    out, err = io.StringIO(), io.StringIO()
    asked = [each for each in arguments if not each.startswith("<")]
    said = "\n".join("".join(set(arguments) - set(asked))[1:])
    answers = io.TextIOWrapper(io.BytesIO(said.encode()), encoding="utf-8")
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _answered(answers),
        contextlib.chdir(folder),  # a review file has a name of its own if none is given
    ):
        code = main([_place(each, folder) for each in asked])
    assert code in EXIT_CODES, (code, err.getvalue())
    assert "Traceback" not in err.getvalue() or "--debug" in arguments, err.getvalue()
    assert "\x1b" not in err.getvalue() or "--debug" in arguments, arguments
    assert code == 2 or not _repeats(asked), asked
    if code == 2:
        assert err.getvalue().strip(), arguments
    return f"{asked[0]} exit {code}"


def _place(argument: str, folder: Path) -> str:
    return argument.replace("@", f"{folder}/") if "@" in argument[:10] else argument


@contextlib.contextmanager
def _answered(answers: io.TextIOWrapper) -> Iterator[None]:
    """Let commands read answers instead of the terminal."""
    before, sys.stdin = sys.stdin, answers
    try:
        yield
    finally:
        sys.stdin = before
