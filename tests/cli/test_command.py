"""What every command keeps to: exit codes, and results beside the data, never onto it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import undercount as uc
from undercount.cli.commands import commands
from undercount.cli.main import main
from undercount.errors import InputError

COLUMNS = ["--label", "y", "--score", "s"]


COUNTS = uc.ScoreCounts.from_rows([1, None], [2, 1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.3
    found, score = truth & (rng.random(400) < 0.5), rng.normal(1.5 * truth)
    lines = [f"{int(y)},{s:.4f},{-s:.4f}" for y, s in zip(found, score, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,s,t", *lines]) + "\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.csv").write_bytes((tmp_path / "rows.csv").read_bytes())
    (tmp_path / "link.csv").symlink_to("rows.csv")
    os.link(tmp_path / "rows.csv", tmp_path / "hard.csv")
    for name, label in (("positives", 1), ("unlabeled", 0)):
        scores = [f"{s:.4f}" for s in score[found == label]]
        (tmp_path / f"{name}.csv").write_text("\n".join(["s", *scores]) + "\n")
    for name in ("a.parquet", "b.parquet"):
        uc.write_counts(COUNTS, tmp_path / name)
    uc.write_counts(COUNTS, tmp_path / "sum.parquet.unfinished", parts=["another"])
    return tmp_path


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


GIVEN = [*COLUMNS, "--prevalence", "0.3"]


CASE_CONTROL = ["--positives", "positives.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]


ONTO_DATA = [
    ["evaluate", "rows.csv", *GIVEN, "--html", "rows.csv"],
    ["evaluate", "rows.csv", *GIVEN, "--json", "./parts/../rows.csv"],
    ["evaluate", "rows.csv", *GIVEN, "--markdown", "link.csv"],
    ["evaluate", "link.csv", *GIVEN, "--json", "rows.csv"],
    ["evaluate", "rows.csv", *GIVEN, "--json", "hard.csv"],
    ["evaluate", "r*.csv", *GIVEN, "--json", "rows.csv"],
    ["evaluate", "parts", *GIVEN, "--json", "parts/one.csv"],
    ["evaluate", "**/*.csv", *GIVEN, "--json", "parts/one.csv"],
    ["evaluate", "a.parquet", "--prevalence", "0.6", "--json", "a.parquet"],
    ["evaluate", *CASE_CONTROL, "--json", "positives.csv"],
    ["evaluate", *CASE_CONTROL, "--html", "unlabeled.csv"],
    ["prevalence", "rows.csv", *COLUMNS, "--json", "rows.csv"],
    ["compare", "rows.csv", *GIVEN, "--score", "t", "--html", "rows.csv"],
    ["compare", "rows.csv", *GIVEN, "--score", "t", "--json", "rows.csv"],
    ["select", "rows.csv", *COLUMNS, "--json", "rows.csv"],
    ["count", "a.parquet", *COLUMNS, "-o", "a.parquet"],
    ["merge", "a.parquet", "b.parquet", "-o", "a.parquet"],
    ["merge", "a.parquet", "sum.parquet.unfinished", "-o", "sum.parquet"],
]


@pytest.mark.parametrize("arguments", ONTO_DATA, ids=" ".join)
def test_no_result_is_written_onto_its_data(arguments, folder, capsys):
    before = contents(folder)
    assert main(arguments) == 2
    assert "would overwrite the data it is made from; name another file" in capsys.readouterr().err
    assert contents(folder) == before


def test_standard_input_is_not_overwritten_either(folder):
    command = [sys.executable, "-m", "undercount", "evaluate", "-", *GIVEN]
    before = contents(folder)
    with (folder / "rows.csv").open("rb") as file:
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, "--json", "rows.csv"], stdin=file, capture_output=True, check=False
        )
    assert done.returncode == 2
    assert b"would overwrite the data" in done.stderr
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (["--json", "x", "--html", "x"], "--html and --json would write to the same file, x"),
        (["--json", "x", "--markdown", "./x"], "--json and --markdown would write to the same"),
        (["--json", "-", "--markdown", "-"], "cannot both go to standard output"),
        (["--json", "/dev/stdout", "--markdown", "-"], "cannot both go to standard output"),
        (["--json", "-", "--html", "-"], "cannot both go to standard output"),
    ],
)
def test_two_results_need_two_places(outputs, said, folder, capsys):
    before = contents(folder)
    assert main(["evaluate", "rows.csv", *GIVEN, *outputs]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert contents(folder) == before


@pytest.mark.usefixtures("folder")
def test_results_may_stand_beside_their_data_and_be_made_again():
    outputs = ["--json", "out.json", "--html", "parts/out.html", "--markdown", "/dev/null"]
    for _ in range(2):
        assert main(["evaluate", "parts", *GIVEN, *outputs, "--quiet"]) == 0
    assert main(["evaluate", "rows.csv", *GIVEN, "--quiet", "--json", "/dev/null"]) == 0
    for _ in range(2):
        assert main(["merge", "a.parquet", "b.parquet", "-o", "total.parquet"]) == 0
    assert uc.load_counts("total.parquet").n_unlabeled == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["count", "rows.csv", *COLUMNS, "-o", "missing/x.parquet"],
        ["merge", "a.parquet", "b.parquet", "-o", "missing/x.parquet"],
        ["evaluate", "rows.csv", *GIVEN, "--html", "missing/x.html"],
        # Refused before the data are looked at.
        ["evaluate", "nothing.csv", *GIVEN, "--json", "missing/x.json"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_that_is_not_there_is_said(arguments, folder, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"undercount: cannot write {arguments[-1]}: there is no folder ")
    assert len(said.splitlines()) == 1
    assert not (folder / "missing").exists()


def test_the_library_refuses_what_the_commands_refuse(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        uc.write_counts(COUNTS, tmp_path / "missing" / "x.parquet")
    with pytest.raises(InputError, match=r"write to .*x\.parquet; got .*x\.csv"):
        uc.write_counts(COUNTS, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_what_the_system_refuses_is_an_input_error(tmp_path):
    name = "x" * 240 + ".parquet"  # a temporary name beside it is too long for any file system
    with pytest.raises(InputError, match="cannot write"):
        uc.write_counts(COUNTS, tmp_path / name)


@pytest.mark.usefixtures("folder")
def test_a_document_on_standard_output_stands_alone(monkeypatch, capsys):
    one = {"ROC slope": ("RocSlope", {})}  # all methods take seconds
    monkeypatch.setattr("undercount.read.estimator_table.ESTIMATOR_BY_METHOD", one)
    require = ["--require", "roc_auc >= 0.99"]
    for place in ("-", "/dev/stdout"):
        assert main(["evaluate", "rows.csv", *GIVEN, *require, "--json", place]) == 1
        printed = capsys.readouterr()
        assert json.loads(printed.out)["models"][0]["name"] == "s"
        assert "failed: s: roc_auc >= 0.99" in printed.err
    assert main(["evaluate", "rows.csv", *GIVEN, *require, "--html", "-"]) == 1
    printed = capsys.readouterr()
    assert printed.out.lower().startswith("<!doctype html>")
    assert printed.out.rstrip().endswith("</html>")
    assert main(["evaluate", "rows.csv", *GIVEN, *require]) == 1
    assert "failed: s: roc_auc >= 0.99" in capsys.readouterr().out
    assert main(["prevalence", "rows.csv", *COLUMNS, "--json", "/dev/stdout"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"s"}


@pytest.mark.parametrize("name", ["parts/*.csv", "parts"])
def test_counts_of_a_pattern_know_their_files(name, folder):
    (folder / "parts" / "two.csv").write_bytes((folder / "rows.csv").read_bytes())
    for output in ("one.parquet", "again.parquet"):
        assert main(["count", name, *COLUMNS, "-o", output, "--quiet"]) == 0
    counts = uc.load_counts("one.parquet")
    assert counts.n_positive + counts.n_unlabeled == 800
    # The same rows would count twice; other rows under the same names would not.
    assert main(["merge", "one.parquet", "again.parquet", "-o", "sum.parquet"]) == 2
    for part, code in (("two", 2), ("one", 0)):  # as long as one of them is the same
        with (folder / "parts" / f"{part}.csv").open("a") as file:
            file.write("1,2,3\n")
        assert main(["count", name, *COLUMNS, "-o", "again.parquet", "--quiet"]) == 0
        assert main(["merge", "one.parquet", "again.parquet", "-o", "sum.parquet"]) == code


ROWS = "y,s\n" + "1,5\n0,6\n1,3\n0,4\n0,2\n0,1\n" * 20


@pytest.fixture
def broken(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)

    def fail(*_, **__):
        raise KeyError("deep inside")

    monkeypatch.setattr("undercount.cli.inputs.count_rows", fail)
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


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["evaluate", "--help"]])
def test_help_without_a_reader_or_room_is_no_verdict(arguments):
    command = [sys.executable, "-m", "undercount", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 - our own
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 141
    assert not said
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603 - our own
        assert ended.returncode == 2
        assert (
            ended.stderr == b"undercount: cannot write standard output: No space left on device\n"
        )


def test_files_are_written_although_the_reader_has_gone(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    options = ["--label", "y", "--score", "s", "--prevalence", "0.5", "--json", "o.json"]
    options += ["--markdown", "o.md", "--html", "o.html", "--require", "roc_auc >= 0.999"]
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "undercount", "evaluate", str(path), *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        process.stderr.read()
        assert process.wait() == 141
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"rows.csv", "o.json", "o.md", "o.html"}


@pytest.mark.parametrize(
    ("command", "advice"), [("evaluate", "undercount count"), ("compare", "drawn at random")]
)
def test_too_little_memory_gets_advice_that_the_command_can_take(
    command, advice, folder, monkeypatch, capsys
):
    def starve(**_options):
        raise MemoryError

    monkeypatch.setattr(commands.commands[command], "callback", starve)
    assert main([command, str(folder / "rows.csv"), *COLUMNS]) == 2
    assert advice in capsys.readouterr().err
