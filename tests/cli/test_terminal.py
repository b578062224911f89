"""Every command on a real terminal: styles are styles, and no line is wider than it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from tests.cli.pseudo_terminal import run_all

from undercount.cli.commands import commands

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals here")
N = 1500
STYLE = re.compile(r"\x1b\[[0-9;]*m")
COLUMNS = ["rows.csv", "--label", "label", "--score", "score", "--prevalence", "0.2"]
EVIL = "\x1b[1mbold\x1b[0m"
# Each command with what makes its printout long. Exit codes are 0 unless said.
CASES = {
    "demo": ["--html", "demo.html"],
    "evaluate": [
        *(*COLUMNS, "--threshold", "1", "--cost", "5:100", "--gamma", "2"),
        *("--require", "precision >= 0.1", "--require", "recall@0.5 >= 0.1"),
    ],
    "compare": [*COLUMNS, "--score", "other", "--threshold", "1"],
    "plan": [*COLUMNS, "--threshold", "1", "--budget", "40", "--out", "sheet.csv"],
    "monitor": [
        *("rows.csv", "--score", "score", "--observed", "observed", "--found", "found"),
        *("--threshold", "1"),
    ],
    "prevalence": ["few.csv", *COLUMNS[1:5]],
    "select": ["rows.csv", "--label", "looked", "--score", "score"],
    "count": [*COLUMNS[:5], "--output", "counts.parquet"],
    "merge": ["one.parquet", "other.parquet", "--output", "sum.parquet"],
    "explain": ["precision"],
    "guide": ["rows.csv", "--label", "label", "--score", "score"],
    "reproduce": [],
}
MORE = {
    "help": ["evaluate", "--help"],
    "terms": ["explain"],
    "segments": ["evaluate", *COLUMNS, "--threshold", "1", "--by", "group"],
    "reviewed": ["evaluate", *COLUMNS[:5], "--threshold", "1", "--reviews", "verdicts.csv"],
    "refused": ["evaluate", "rows.csv", "--label", "labels", "--score", "score"],
    "usage": ["evaluate", "--nothing-of-this-name-is-here"],
}
CODES = {"monitor": 3, "refused": 2, "usage": 2}  # monitor: labels are still arriving
SIZES = (60, 100)
STYLED = ["evaluate", *COLUMNS, "--threshold", "1"]
EVIL_COLUMNS = ["evil.csv", "--label", "label", "--score", EVIL, *COLUMNS[5:]]
SINGLE = {  # name → arguments, columns, environment
    "narrow": (STYLED, 40, {}),
    "wide": (STYLED, 140, {}),
    "no colour": (STYLED, 140, {"NO_COLOR": "1"}),
    "empty": (STYLED, 140, {"NO_COLOR": ""}),
    "dumb": (STYLED, 140, {"TERM": "dumb"}),
    "evil evaluate": (["evaluate", *EVIL_COLUMNS, "--score", "other"], 60, {}),
    "evil compare": (["compare", *EVIL_COLUMNS, "--score", "other", "--threshold", "1"], 60, {}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    truth = rng.random(N) < 0.15
    label = truth & (rng.random(N) < 0.5)
    score = rng.normal(2.0 * truth)
    looked = rng.random(N) < 1 / (1 + np.exp(-score))
    lines = ["label,looked,score,other,group,observed,found"]
    for i, (known, true, seen, value) in enumerate(zip(label, truth, looked, score, strict=True)):
        dates = f"2024-{1 + i % 9:02}-01,{'2024-10-15' if known else ''}"
        scores = f"{value:.5f},{-value:.4f}"
        lines.append(f"{int(known)},{int(true) if seen else ''},{scores},{'ab'[i % 2]},{dates}")
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "rows.csv").write_text("\n".join(lines))
    evil = [lines[0].replace("score,other", f"{EVIL},other"), *lines[1:]]
    (folder / "few.csv").write_text("\n".join(lines[:301]))
    (folder / "evil.csv").write_text("\n".join(evil))
    write_parts(folder, truth)
    return folder


def write_parts(folder: Path, truth: np.ndarray) -> None:
    """Write two files of counts, and a sheet of reviews that somebody has filled in."""
    columns, plan = COLUMNS[1:5], [*CASES["plan"][:-1], "verdicts.csv"]
    made = [
        ["count", "few.csv", *columns, "--output", "one.parquet"],
        ["count", "rows.csv", *columns, "--output", "other.parquet"],
        ["plan", *plan],
    ]
    done = run_all([{"arguments": each, "columns": 100} for each in made], folder)
    assert [each["code"] for each in done] == [0, 0, 0]
    sheet = folder / "verdicts.csv"
    head, *lines = sheet.read_text().splitlines()
    row, verdict = (head.split(",").index(name) for name in ("row", "verdict"))
    filled = []
    for line in lines:
        cells = line.split(",")
        cells[verdict] = str(int(truth[int(cells[row])]))
        filled.append(",".join(cells))
    sheet.write_text("\n".join([head, *filled]) + "\n")


@pytest.fixture(scope="module")
def printouts(folder: Path) -> dict[tuple[str, int], dict]:
    """Run everything at once, since starting the program costs more than most commands."""
    named = {name: [name, *options] for name, options in CASES.items()} | MORE
    asked = {(name, size): (named[name], size, {}) for size in SIZES for name in named}
    asked |= {(name, each[1]): each for name, each in SINGLE.items()}
    results = run_all(
        [
            {
                "arguments": arguments,
                "columns": columns,
                "environment": environment,
                "answers": "n\nn\ny\n" if arguments[0] == "guide" else "",
            }
            for arguments, columns, environment in asked.values()
        ],
        folder,
    )
    return dict(zip(asked, results, strict=True))


def find_lines(said: str) -> list[str]:
    return STYLE.sub("", said).replace("\r", "").split("\n")


def find_wide(said: str, columns: int) -> list[str]:
    """Return the lines that are wider than a terminal though they could have been broken."""
    return [line for line in find_lines(said) if len(line) > columns and " " in line.strip()]


def test_no_command_is_left_out() -> None:
    assert set(CASES) == set(commands.list_commands(click.Context(commands)))


def test_every_command_fits_the_terminal(printouts) -> None:
    for (name, columns), done in printouts.items():
        said = done["said"]
        assert done["code"] == CODES.get(name, 0), (name, said)
        assert said.strip(), name
        assert "\x1b" not in STYLE.sub("", said), name
        if "evil" not in name:
            assert "\\x1b" not in said, name
        if name == "guide":  # answers typed ahead leave no line behind a question
            said = said.replace("(y/n) ", "(y/n)\n")
        assert not find_wide(said, columns), (name, columns)


@pytest.mark.parametrize("columns", SIZES)
def test_what_leads_is_bold_and_a_warning_is_yellow(printouts, columns) -> None:
    said = printouts["demo", columns]["said"]
    for start in ("\x1b[1m precision@0.5", "\x1b[1m Verdict", "\x1b[33m UC004"):
        assert start in said
    assert "\x1b[1m\x1b[4m p_fraud\x1b[0m\r\n" in said
    styled = [line for line in said.split("\r\n") if "\x1b" in line]
    assert all(line.endswith("\x1b[0m") and line.count("\x1b[0m") == 1 for line in styled)
    assert "\x1b[1m Verdict" in printouts["evaluate", columns]["said"]


def test_the_width_is_that_of_the_terminal(printouts) -> None:
    asked = {40: "narrow", 60: "evaluate", 100: "evaluate"}
    longest = {
        columns: max(map(len, find_lines(printouts[name, columns]["said"])))
        for columns, name in asked.items()
    }
    assert longest[40] <= 40 < longest[60] <= 60 < longest[100] <= 100
    beside = "unlabeled = negative  true value (95 %)"
    assert beside not in printouts["narrow", 40]["said"]
    assert beside in printouts["evaluate", 100]["said"]
    # Text is wrapped at 100; a table may use the room there is.
    widest = max(find_lines(printouts["wide", 140]["said"]), key=len)
    assert widest.endswith("random labels, prevalence")
    assert 100 < len(widest) <= 140


@pytest.mark.parametrize("name", ["evil evaluate", "evil compare"])
def test_a_name_cannot_style_anything(printouts, name) -> None:
    said = printouts[name, 60]["said"]
    assert r"\x1b[1mbold\x1b[0m" in said
    assert EVIL not in said
    if name == "evil evaluate":  # the heading is styled as a whole, the name inside it shown
        assert "\x1b[1m\x1b[4m \\x1b[1mbold\\x1b[0m\x1b[0m\r\n" in said


def test_nothing_is_styled_where_nobody_wants_it(printouts, folder: Path) -> None:
    plain, empty, dumb = (printouts[name, 140]["said"] for name in ("no colour", "empty", "dumb"))
    assert "\x1b" not in plain + dumb
    assert "\x1b[1m" in empty  # the variable counts where it is not empty
    assert STYLE.sub("", empty) == plain == dumb
    # A file gets the same text: nothing there is too wide.
    command = [sys.executable, "-m", "undercount", *STYLED]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(  # noqa: S603 - ours
        command, cwd=folder, check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout == plain.replace("\r\n", "\n")
