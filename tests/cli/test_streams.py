"""The program as a process: encodings, full disks, closed streams, and names that are commands."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from undercount.cli.main import main
from undercount.show.layout import neutralise

COLUMNS = ["--label", "y", "--score", "s", "--prevalence", "0.3"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.3
    labels = truth & (rng.random(300) < 0.5)
    scores = rng.normal(2.0 * truth)
    path = tmp_path_factory.mktemp("streams") / "rows.csv"
    lines = [f"{int(y)},{s}" for y, s in zip(labels, scores, strict=True)]
    path.write_text("y,s\n" + "\n".join(lines) + "\n")
    return path


def run(*arguments, encoding="utf-8", **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "undercount", *map(str, arguments)]
    return subprocess.run(command, check=False, env=environment, **options)  # noqa: S603 - ours


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_an_encoding_without_our_signs_gets_plain_ones(rows, tmp_path, encoding):
    file = tmp_path / "facts.json"
    done = run("evaluate", rows, *COLUMNS, "--threshold", "1", "--json", file, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b">= " in done.stdout
    assert file.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_said_and_is_no_verdict(rows, tmp_path):
    file = tmp_path / "facts.json"
    with Path("/dev/full").open("wb") as full:
        done = run("evaluate", rows, *COLUMNS, "--json", file, stdout=full)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert file.exists()


def test_a_closed_error_stream_changes_nothing(rows):
    arguments = ["-m", "undercount", "evaluate", str(rows), *COLUMNS]
    command = f"{shlex.join([sys.executable, *arguments])} 2>&-"
    done = subprocess.run(command, shell=True, check=False, stdout=subprocess.PIPE)  # noqa: S602 - ours
    assert done.returncode == 0
    assert b"ROC AUC" in done.stdout


def test_names_give_no_commands_to_a_terminal(rows, tmp_path, capsys):
    evil = tmp_path / "\x1b[31mevil.csv"
    evil.write_text(rows.read_text().replace("s\n", "\x1b]0;title\x07s\n", 1))
    assert main(["evaluate", str(evil), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\\x1b[31mevil.csv" in said
    done = run(
        "evaluate", evil, "--label", "y", "--score", "\x1b]0;title\x07s", "--prevalence", ".3"
    )
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout


def test_neutralising_keeps_lines_and_letters():
    assert neutralise("a\tb\né ≥ Γ") == "a\tb\né ≥ Γ"
    assert neutralise("\r\x9b\u202e\x7f") == "\\r\\x9b\\u202e\\x7f"


@pytest.mark.parametrize(
    "option", ["--json", "--html", "--label", "--score", "--seed", "--markdown"]
)
def test_an_option_without_a_value_is_refused(rows, option, capsys):
    assert main(["evaluate", str(rows), *COLUMNS, option, ""]) == 2
    assert option in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seed", "-1"], "--seed"),
        (["--threshold", "inf"], "finite"),
        (["--score", "x" * 100_000], "there is no column"),
    ],
)
def test_odd_values_get_a_short_message(rows, arguments, said, capsys):
    assert main(["evaluate", str(rows), *COLUMNS, *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error) < 500


@pytest.mark.parametrize("address", ["http://example.com/a.csv", "s3://bucket/a.parquet"])
def test_addresses_are_not_fetched(address, capsys):
    assert main(["evaluate", address, *COLUMNS]) == 2
    assert "only files of this machine are read" in capsys.readouterr().err


def test_a_file_does_not_go_with_a_database_unless_the_environment_names_it(
    rows, capsys, monkeypatch
):
    assert main(["evaluate", str(rows), *COLUMNS, "--from", "sqlite:///x.db"]) == 2
    assert "DATA do not go with --from" in capsys.readouterr().err
    monkeypatch.setenv("UNDERCOUNT_FROM", "sqlite:///x.db")
    assert main(["evaluate", str(rows), *COLUMNS]) == 0


def test_words_of_a_message_are_options_only_where_they_are(rows, tmp_path, capsys):
    assert main(["evaluate", str(rows), *COLUMNS, "--threshold", "nan"]) == 2
    assert "--threshold must be a number; got nan" in capsys.readouterr().err
    counts = tmp_path / "counts.parquet"
    duckdb.sql(
        f"COPY (SELECT 1.0 AS score, -5.0 AS positive, 0.0 AS negative, 3.0 AS unlabeled) "
        f"TO '{counts}'"
    )
    assert main(["evaluate", str(counts), "--prevalence", "0.3"]) == 2
    assert "counts.parquet: positive must be finite and not negative" in capsys.readouterr().err


def test_pipes_and_devices_are_no_files(tmp_path, capsys):
    os.mkfifo(tmp_path / "rows.csv")
    for path in (tmp_path / "rows.csv", Path("/dev/zero")):
        assert main(["evaluate", str(path), *COLUMNS]) == 2
        assert "pipe or a device" in capsys.readouterr().err


def test_empty_standard_input_is_said():
    done = run("evaluate", "-", *COLUMNS, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr == b"undercount: standard input is empty\n"


def test_rows_of_many_keys_are_rows(tmp_path):
    rng = np.random.default_rng(1)
    many = ", ".join(f'"k{i}": {i}' for i in range(220))
    lines = [f'{{{many}, "y": {i % 3 == 0:d}, "s": {rng.normal(i % 3 == 0)}}}' for i in range(90)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines))
    assert main(["evaluate", str(path), "--label", "y", "--score", "s", "--prevalence", ".5"]) == 0
