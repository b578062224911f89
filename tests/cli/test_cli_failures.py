"""A failure of the program is never taken for a requirement that failed."""

import subprocess
import sys

import pytest

from undercount.cli.main import commands, main

ROWS = "y,s\n" + "1,5\n0,6\n1,3\n0,4\n0,2\n0,1\n" * 20


@pytest.fixture
def broken(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)

    def fail(*_, **__):
        raise KeyError("deep inside")

    monkeypatch.setattr("undercount.cli.inputs.read_counted", fail)
    monkeypatch.setattr("undercount.show.terms.explanation", fail)
    monkeypatch.setattr("undercount.count.counts_file.merge_counts", fail)
    monkeypatch.setattr("undercount.cli.demo.evaluate_fraud", fail)
    return [str(path), "--label", "y", "--score", "s"]


def test_the_unexpected_has_its_own_exit_code(broken, capsys):
    arguments = ["evaluate", *broken, "--require", "roc_auc >= 0.5"]
    assert main(arguments) == 70
    said = capsys.readouterr().err
    assert said.startswith("undercount: ")
    assert "KeyError: 'deep inside'" in said
    assert "report" in said
    assert "--debug" in said
    assert "Traceback" not in said
    assert main([*arguments, "--debug"]) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "in fail" in said


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    "arguments", [["explain"], ["merge", "a", "-o", "a.parquet"], ["demo"]], ids=lambda a: a[0]
)
def test_every_command_can_say_where(arguments, capsys):
    assert main(arguments) == 70
    assert "Traceback" not in capsys.readouterr().err
    assert main([*arguments, "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_no_command_goes_without_the_guard():
    for name, command in commands.commands.items():
        assert type(command).__module__.startswith("undercount."), name
        assert any("--debug" in parameter.opts for parameter in command.params), name


def test_bad_input_keeps_its_code_with_a_traceback(capsys):
    assert main(["evaluate", "nothing.csv", "--label", "y", "--score", "s", "--debug"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "there is no file 'nothing.csv'" in said


def test_a_reader_that_has_gone_is_no_verdict(tmp_path):
    program = "import sys; from undercount.cli.main import main; sys.exit(main(sys.argv[1:]))"
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    arguments = ["evaluate", str(path), "--label", "y", "--score", "s", "--prevalence", "0.5"]
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-u", "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 141
    assert b"Traceback" not in said
