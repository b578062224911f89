"""Files, columns, segments and options of the same name: none is left out without a word."""

import csv
import io
from collections import Counter

import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count.paths import name_files

COLUMNS = ["--label", "y", "--score", "s"]
SHARE = ["--prevalence", "0.3", "--metric", "roc_auc"]


@pytest.fixture
def months(drawn, tmp_path, monkeypatch):
    """Counts of a bad model in one folder and of a good one in another, under the same name."""
    monkeypatch.chdir(tmp_path)
    labels, score = drawn
    for month, sign in (("jan", -1), ("feb", 1)):
        (tmp_path / month).mkdir()
        counts = uc.ScoreCounts.from_rows(labels, sign * score, unlabeled=0)
        uc.write_counts(counts, tmp_path / month / "counts.parquet")
    return ["jan/counts.parquet", "feb/counts.parquet"]


@pytest.mark.parametrize("pattern", [False, True])
def test_counts_files_of_one_name_in_two_folders_are_two_models(months, pattern, capsys):
    data = ["*/counts.parquet"] if pattern else months
    assert main(["evaluate", *data, *SHARE, "--csv", "-"]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert Counter(row["model"] for row in found) == {"jan/counts": 1, "feb/counts": 1}
    assert {row["model"]: float(row["estimate"]) > 0.5 for row in found} == {
        "jan/counts": False,
        "feb/counts": True,
    }


def test_no_gate_passes_by_the_last_of_them(months, capsys):
    assert main(["evaluate", *months, *SHARE, "--require", "roc_auc >= 0.6"]) == 1
    said = capsys.readouterr().out
    assert "failed: jan/counts" in said
    assert "met: feb/counts" in said
    one = ["--require", "feb/counts.roc_auc >= 0.6"]
    assert main(["evaluate", *months, *SHARE, "--quiet", *one]) == 0


def test_names_take_as_much_of_the_path_as_they_need(tmp_path):
    files = ["a/x.parquet", "b/x.parquet", "b/y.parquet", "b/y.pq", "1/c/z.pq", "2/c/z.pq"]
    named = name_files([str(tmp_path / file) for file in files])
    assert list(named) == ["a/x", "b/x", "y.parquet", "y.pq", "1/c/z", "2/c/z"]
    assert list(named.values()) == [str(tmp_path / file) for file in files]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", *COLUMNS, "--weight", "w", "--weight", "s"], "--weight takes one value"),
        (["evaluate", *COLUMNS, *SHARE, "--prevalence", "0.4"], "--prevalence takes one value"),
        (["count", *COLUMNS, "-o", "a.parquet", "--out", "b.parquet"], "--out takes one value"),
        (["evaluate", *COLUMNS, "--label", "y"], "'y' is named twice"),
        (["compare", *COLUMNS, "--score", "w", "--score", "s"], "'s' is named twice"),
        (["evaluate", *COLUMNS, "--by", "w", "--by", "w"], "'w' is named twice"),
        (["plan", *COLUMNS, "--score", "s", "--budget", "9"], "'s' is named twice"),
        (["evaluate", *COLUMNS, "--by", "w", "--prevalence", "a=3%,b=2%,a=4%"], "two shares"),
    ],
)
def test_what_is_said_twice_is_refused(arguments, said, small, capsys):
    assert main([arguments[0], small, *arguments[1:]]) == 2
    assert said in capsys.readouterr().err


def test_a_flag_may_be_repeated(small):
    assert main(["evaluate", small, *COLUMNS, *SHARE, "--quiet", "--quiet"]) == 0


def test_columns_to_keep_add_up(small, tmp_path):
    sheet = tmp_path / "sheet.csv"
    plan = ["plan", small, *COLUMNS, "--budget", "9", "--prevalence", "0.3", "--out", str(sheet)]
    assert main([*plan, "--keep", "w", "--keep", "y"]) == 0
    assert sheet.read_text(encoding="utf-8-sig").startswith("case,row,w,y,s,")


@pytest.mark.parametrize("kept", [[], ["--cluster", "c"]])
def test_segments_that_are_one_number_in_two_spellings_lose_no_row(kept, drawn, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    names = ["1", "1.0", "2", "2.00"]
    lines = [f"{y},{s},{names[i % 4]},{i}" for i, (y, s) in enumerate(zip(*drawn, strict=True))]
    path.write_text("\n".join(["y,s,g,c", *lines]) + "\n")
    assert main(["evaluate", str(path), *COLUMNS, *SHARE, "--by", "g", *kept, "--csv", "-"]) == 0
    found = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert {row["g"]: float(row["rows"]) for row in found} == dict.fromkeys(names, 100.0)


def test_a_column_of_rows_is_not_asked_of_counts(months, capsys):
    assert main(["evaluate", months[0], "--cluster", "c", *SHARE]) == 2
    said = capsys.readouterr().err
    assert "--cluster" in said
    assert "compared" not in said


@pytest.mark.parametrize("command", ["evaluate", "compare", "plan", "count"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_no_row_with_a_score_is_said_as_such(command, ending, tmp_path, capsys):
    path = tmp_path / f"rows.{ending}"
    text = {"csv": "y,s,t\n1,,1\n0,,2\n", "jsonl": '{"y":1,"s":null,"t":1}\n{"y":0,"t":2}\n'}
    path.write_text(text[ending])
    more = {"plan": ["--budget", "1"], "count": ["-o", str(tmp_path / "c.parquet")]}
    more["compare"] = ["--score", "t"]
    assert main([command, str(path), *COLUMNS, *more.get(command, [])]) == 2
    assert "has a score in column 's'" in capsys.readouterr().err
