"""The program as a user starts it: help, other commands, and one message for bad input."""

import os
import subprocess
import sys
import time
import types
from importlib.metadata import EntryPoint, EntryPoints

import click
import pytest

import undercount as uc
from undercount.cli.command import Command
from undercount.cli.main import main
from undercount.cli.options import DEBUG
from undercount.errors import named

HEAVY = {"sklearn", "pandas", "matplotlib", "scipy", "polars", "pyarrow", "duckdb", "rich", "numpy"}


COLUMNS = ["--label", "fraud", "--score", "good"]


BAD = {
    "no such file": (["evaluate", "nothing.csv", *COLUMNS], "nothing.csv"),
    "no columns named": (["evaluate", "{rows}"], "--label COLUMN"),
    "column misspelt": (
        ["evaluate", "{rows}", "--label", "frad", "--score", "good"],
        "did you mean 'fraud'",
    ),
    "empty": (["evaluate", "{empty}", *COLUMNS], "empty.csv"),
    "binary": (["evaluate", "{binary}", *COLUMNS], "binary.csv"),
    "header alone": (["evaluate", "{header}", *COLUMNS], "has no rows"),
    "broken parquet": (["evaluate", "{broken}", *COLUMNS], "broken.parquet"),
    "text in scores": (["evaluate", "{mixed}", *COLUMNS], "good"),
    "prevalence": (["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.01"], "must be in"),
    "two prevalences": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.3", "--label-frequency", "0.5"],
        "give one of",
    ),
    "requirement": (["evaluate", "{rows}", *COLUMNS, "--require", "good"], "reads like"),
    "unwritable": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.3", "--json", "/no/such/place.json"],
        "cannot write",
    ),
    "share": (["evaluate", "{rows}", *COLUMNS, "--prevalence", "30"], "30 % is 0.3"),
    "backward range": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.5-0.2"],
        "starts with its lower end",
    ),
    "no share": (["evaluate", "{rows}", *COLUMNS, "--prevalence", "few"], "no share like 0.03"),
    "percentage": (
        ["evaluate", "{rows}", *COLUMNS, "--require", "precision@0.8 >= 72"],
        "72 % is 0.72",
    ),
    "counts compared": (["compare", "{counts}", "{counts}"], "compared row by row"),
    "words compared": (
        ["compare", "{words}", *COLUMNS, "--score", "poor"],
        "recode positives as 1",
    ),
    "thresholds compared": (
        ["compare", "{rows}", *COLUMNS, "--threshold", "1", "--threshold", "2"],
        "one a --score",
    ),
    "deployed range": (
        ["evaluate", "{rows}", *COLUMNS, "--deploy-prevalence", "2%-5%"],
        "no single share like 0.03",
    ),
    "deployed percentage": (
        ["evaluate", "{rows}", *COLUMNS, "--deploy-prevalence", "2"],
        "2 % is 0.02",
    ),
    "a file twice": (["evaluate", "{rows}", "{rows}", *COLUMNS], "named once"),
    "1 and 2": (["evaluate", "{twos}", *COLUMNS], "recode positives as 1 and unlabeled"),
    "yes and no": (["evaluate", "{words}", *COLUMNS], "recode positives as 1 and unlabeled"),
    "counts as csv": (["count", "{rows}", *COLUMNS, "-o", "out.csv"], "out.parquet"),
    "unknown option": (["evaluate", "--colour"], "No such option"),
    "unknown command": (["evalute"], "No such command"),
    "term": (["explain", "precison"], "did you mean precision"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_2(case, folder, tmp_path, capsys):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "header.csv").write_text("fraud,good\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really PAR1")
    (tmp_path / "mixed.csv").write_text("fraud,good\n1,0.5\n0,high\n0,0.3\n")
    (tmp_path / "twos.csv").write_text("fraud,good\n1,0.5\n2,0.4\n2,0.3\n")
    (tmp_path / "words.csv").write_text("fraud,good,poor\nyes,0.5,1\nno,0.4,2\nno,0.3,3\n")
    places = {
        "{twos}": tmp_path / "twos.csv",
        "{words}": tmp_path / "words.csv",
        "{rows}": folder / "rows.csv",
        "{empty}": tmp_path / "empty.csv",
        "{binary}": tmp_path / "binary.csv",
        "{header}": tmp_path / "header.csv",
        "{broken}": tmp_path / "broken.parquet",
        "{mixed}": tmp_path / "mixed.csv",
        "{counts}": tmp_path / "counts.parquet",
    }
    uc.write_counts(uc.ScoreCounts.from_rows([1, None], [2, 1]), places["{counts}"])
    arguments, message = BAD[case]
    code = main([str(places.get(argument, argument)) for argument in arguments])
    captured = capsys.readouterr()
    assert code == 2
    assert message in captured.err
    assert "Traceback" not in captured.err


def run(*arguments, **environment):
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "undercount", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_and_version_are_light():
    for flag in ("--help", "--version"):
        code = (
            "import sys, undercount.cli.main\n"
            f"undercount.cli.main.main(['{flag}'])\n"
            "print('\\n'.join(sys.modules), file=sys.stderr)"
        )
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert not HEAVY & set(done.stderr.split())


@pytest.mark.slow
def test_help_takes_little_time():
    best = min(_seconds() for _ in range(5))
    assert best < 0.2


def _seconds():
    started = time.perf_counter()
    run("--help")
    return time.perf_counter() - started


def test_python_runs_the_program():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"undercount {uc.__version__}\n")


@click.command(cls=Command)
@DEBUG
def twice(**_):
    """Count everything twice."""
    raise uc.InputError(f"nothing may be counted twice; give {named('debug')}")


def test_another_package_adds_a_command(monkeypatch, capsys):
    found = EntryPoints([EntryPoint("twice", "added:twice", "undercount.commands")])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: found)
    monkeypatch.setitem(sys.modules, "added", types.SimpleNamespace(twice=twice))
    assert main(["--help"]) == 0
    assert "twice       Count everything twice." in capsys.readouterr().out
    assert main(["twice"]) == 2
    said = capsys.readouterr().err
    assert said == "undercount: nothing may be counted twice; give --debug\n"


def test_only_a_name_that_is_not_built_in_is_looked_up(monkeypatch):
    def fail(**_):
        raise AssertionError

    monkeypatch.setattr("importlib.metadata.entry_points", fail)
    assert main(["explain", "recall"]) == 0
    with pytest.raises(AssertionError):
        main(["evalute"])
