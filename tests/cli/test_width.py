"""Whatever is printed fits the terminal."""

import io
import shlex
from pathlib import Path

import click
import numpy as np
import pytest

from undercount.cli.commands import commands
from undercount.cli.main import main
from undercount.show.layout import line, stack, terminal_width

N = 1500
NAMES = commands.list_commands(click.Context(commands))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    truth = rng.random(N) < 0.15
    label = truth & (rng.random(N) < 0.5)
    score = rng.normal(2.0 * truth)
    looked = rng.random(N) < 1 / (1 + np.exp(-score))
    path = tmp_path_factory.mktemp("width") / "rows.csv"
    lines = ["label,looked,score,other,group,observed,found"]
    for i, (known, true, seen, value) in enumerate(zip(label, truth, looked, score, strict=True)):
        dates = f"2024-{1 + i % 9:02}-01,{'2024-10-15' if known else ''}"
        scores = f"{value:.5f},{-value:.4f}"
        lines.append(f"{int(known)},{int(true) if seen else ''},{scores},{'ab'[i % 2]},{dates}")
    path.write_text("\n".join(lines))
    return path


COMMANDS = {
    "evaluate": ["--label", "label", "--score", "score", "--threshold", "1", "--top", "5%"],
    "prevalence": ["--label", "label", "--score", "score"],
    "compare": ["--label", "label", "--score", "score", "--score", "other", "--prevalence", ".2"],
    "monitor": ["--score", "score", "--observed", "observed", "--found", "found"],
    "select": ["--label", "looked", "--score", "score"],
    "plan": ["--label", "label", "--score", "score", "--threshold", "1", "--budget", "40"],
}


@pytest.mark.parametrize(
    ("command", "width"),
    [*((command, 40) for command in COMMANDS), ("evaluate", 80), ("plan", 80)],
)
def test_lines_fit(
    rows: Path,
    command: str,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(rows.parent)  # paths are copied, and never broken
    monkeypatch.setenv("COLUMNS", str(width))
    options = [*COMMANDS[command]]
    if command == "plan":
        options += ["--out", "sheet.csv"]
    if command == "monitor":
        options += ["--threshold", "1"]
    young = command == "monitor"  # its labels are still arriving: no number may be reported
    assert main([command, "rows.csv", *options]) == (3 if young else 0)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width


def test_segments_and_explanations_fit(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(rows.parent)
    monkeypatch.setenv("COLUMNS", "40")
    options = [*COMMANDS["evaluate"][:6], "--prevalence", ".2", "--by", "group"]
    assert main(["evaluate", "rows.csv", *options]) == 0
    said = capsys.readouterr().out
    assert main(["explain", "precision"]) == 0
    assert main(["explain"]) == 0
    said += capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 40
    for word in ("all rows", "hidden positives", "precision@1", "750"):
        assert word in said


def test_every_number_is_kept_when_the_table_stacks(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(rows.parent)
    said = {}
    for width in (40, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["evaluate", "rows.csv", *COMMANDS["evaluate"]]) == 0
        said[width] = set(capsys.readouterr().out.split())
    numbers = {word for word in said[100] if word.strip("~()").replace(".", "", 1).isdigit()}
    assert len(numbers) > 20
    assert numbers <= said[40]


def test_width_follows_the_terminal_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, wanted in (("10", 40), ("72", 72), ("300", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        assert terminal_width() == wanted


def test_text_stands_below_its_name_where_there_is_no_room_beside() -> None:
    assert line("Read", "some words", width=40) == " Read\n   some words"
    assert line("Read", "some words", width=100) == " Read              some words"
    assert stack("recall", [("naive", "0.1"), ("at least", "")], 40) == [" recall", "   naive  0.1"]


def find_long(said: str, width: int = 40) -> list[str]:
    """Return the lines that are too long though they could have been broken."""
    return [line for line in said.splitlines() if len(line) > width and " " in line.strip()]


@pytest.mark.parametrize("command", [None, *NAMES])
def test_help_fits(
    command: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--help"] if command is None else [command, "--help"]
    said = {}
    for width in (40, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(asked) == 0
        said[width] = capsys.readouterr().out
        assert max(len(line) for line in said[width].splitlines()) <= width
    # Nothing is left out where room is short, and no word is broken.
    assert sorted(said[40].split()) == sorted(said[100].split())


@pytest.mark.parametrize(
    "asked",
    [
        ["evaluate", "--nothing-of-this-name-is-here"],
        ["evaluate", "no_such_file.csv", "--label", "y", "--score", "s"],
        ["evaluate", "rows.csv", "--label", "labels", "--score", "score"],
        ["evaluate", "rows.csv", "--label", "label", "--score", "score", "--prevalence", "1.5"],
        ["evaluate", "rows.csv", "--label", "label", "--score", "score", "--require", "precision"],
        ["plan", "rows.csv", "--label", "label", "--score", "score", "--budget", "many"],
        ["merge", "rows.csv", "--output", "sum.parquet"],
        ["monitor", "rows.csv"],
        ["nothing"],
        ["guide"],
    ],
)
def test_errors_fit(
    rows: Path,
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(rows.parent)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert said.strip()
    assert not find_long(said), find_long(said)


def test_the_guide_fits_and_its_commands_can_be_copied(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {}
    for width in (40, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr("sys.stdin", io.StringIO("n\nn\ny\n"))
        assert main(["guide", "rows.csv", "--label", "y", "--score", "s"]) == 0
        found = capsys.readouterr()
        said[width] = found.out.split("Assumes")[0]
        if width == 40:
            assert not find_long(found.out + found.err)
    # A shell joins what a backslash ends.
    joined = said[40].strip().replace("\\\n", "")
    assert [shlex.split(each) for each in joined.splitlines()] == [
        shlex.split(each) for each in said[100].strip().splitlines()
    ]


def test_the_demo_and_a_verdict_fit(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(rows.parent)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["demo", "--html", "demo.html"]) == 0
    options = ["--label", "label", "--score", "score", "--prevalence", ".2"]
    required = ["--require", "precision@1 >= 0.1", "--require", "recall@1 >= 0.1"]
    assert main(["evaluate", "rows.csv", *options, *required]) == 0
    assert main(["count", "rows.csv", *options[:4], "--output", "counts.parquet"]) == 0
    assert main(["reproduce"]) == 0
    said = "".join(capsys.readouterr())
    for part in ("The hidden truth", "met", "wrote", "jain2017"):
        assert part in said
    assert not find_long(said), find_long(said)
