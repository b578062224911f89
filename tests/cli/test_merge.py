"""Counts that are added up: rows count once, of one score, whatever was asked of them."""

import sqlite3

import duckdb
import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.errors import InputError

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table"),
]


@pytest.fixture
def folder(drawn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{y},{s},{-s}" for y, s in zip(*drawn, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,s,t", *lines]) + "\n")
    for name, some in (("a", lines[:250]), ("b", lines[250:])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text("\n".join(["y,s,t", *some]) + "\n")
    with sqlite3.connect(tmp_path / "rows.db") as database:
        database.execute("CREATE TABLE rows (y INTEGER, s REAL, t REAL)")
        rows = [line.split(",") for line in lines]
        database.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
    database.close()
    return tmp_path


def same(left, right):
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)


def count(name, *arguments, score="s"):
    named = ["--label", "y", "--score", score, "--quiet", "-o", f"{name}.parquet"]
    assert main(["count", *arguments, *named]) == 0


def merge(*names):
    return main(["merge", *(f"{name}.parquet" for name in names), "-o", "sum.parquet"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "other", [["rows.csv", "--unlabeled", "0"], ["rows.csv", "--negative", "0", "--label", "v"]]
)
def test_rows_count_once_however_their_labels_are_read(other, drawn, capsys):
    lines = [f"{y},{s},{y or ''}" for y, s in zip(*drawn, strict=True)]
    with open("rows.csv", "w", encoding="utf-8") as file:  # noqa: PTH123 - of this folder
        file.write("\n".join(["y,s,v", *lines]) + "\n")
    count("one", "rows.csv")
    label = [] if "--label" in other else ["--label", "y"]
    named = [*label, "--score", "s", "--quiet", "-o", "two.parquet"]
    assert main(["count", *other, *named]) == 0
    assert merge("one", "two") == 2
    assert "two.parquet counts the same rows as one.parquet" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_two_scores_make_no_table(capsys):
    count("one", "a/rows.csv")
    count("two", "b/rows.csv", score="t")
    assert merge("one", "two") == 2
    said = capsys.readouterr().err
    assert "it counts the score 't' and the others 's'" in said


def test_a_copy_under_another_name_and_parts_without_weights_are_added_with_a_word(folder, capsys):
    (folder / "copy.csv").write_bytes((folder / "a" / "rows.csv").read_bytes())
    count("one", "a/rows.csv")
    count("two", "b/rows.csv")
    count("three", "copy.csv")
    assert merge("one", "two", "three") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "three.parquet holds the very counts of one.parquet" in said
    text = (folder / "b" / "rows.csv").read_text().splitlines()
    lines = [f"{line},{1 + place % 3}" for place, line in enumerate(text[1:])]
    (folder / "weighed.csv").write_text("\n".join(["y,s,t,w", *lines]) + "\n")
    count("four", "weighed.csv", "--weight", "w")
    assert merge("one", "four") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "rows of four.parquet have weights, those of the files before it have none" in said


@pytest.mark.usefixtures("folder")
def test_a_file_is_known_again_inside_a_sum_and_a_folder(capsys):
    count("all", "a", "b")
    count("some", "b/rows.csv")
    assert merge("all", "some") == 2
    assert "the same rows" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_shards_of_one_name_add_up_also_by_a_pattern():
    count("part1", "a/rows.csv")
    count("part2", "b/rows.csv")
    count("whole", "rows.csv")
    assert merge("part?") == 0
    same(uc.load_counts("sum.parquet"), uc.load_counts("whole.parquet"))
    assert merge("part1", "sum") == 2  # the sum knows its parts


@pytest.mark.usefixtures("folder")
def test_a_table_is_counted_once_and_parts_of_it_add_up(capsys):
    pytest.importorskip("ibis")
    table = ["--from", "sqlite://rows.db"]
    count("one", *table, "--table", "rows")
    count("two", *table, "--table", "rows", "--unlabeled", "0")
    assert merge("one", "two") == 2
    assert "the same rows" in capsys.readouterr().err
    queries = {"low": "SELECT * FROM rows WHERE s < 1", "high": "SELECT * FROM rows WHERE s >= 1"}
    for name, query in queries.items():
        count(name, *table, "--query", query, "--unlabeled", "0")
    assert merge("low", "high") == 0
    same(uc.load_counts("sum.parquet"), uc.load_counts("one.parquet"))


def test_a_table_that_has_changed_is_added_with_a_word(folder, capsys):
    pytest.importorskip("ibis")
    table = ["--from", f"sqlite:///{folder}/rows.db", "--table", "rows"]
    count("one", *table)
    with sqlite3.connect(folder / "rows.db") as database:
        database.execute("DELETE FROM rows WHERE s < 0")
    database.close()
    count("two", *table)
    assert merge("one", "two") == 0
    assert "count the same table" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["'false'", "NULL::BOOLEAN", "2", "0.5", "'1'::BLOB"])
def test_merged_is_true_or_false(value, tmp_path):
    path = tmp_path / "counts.parquet"
    rows = f"(0.9, 1, 0, 0, {value}), (0.1, 0, 0, 3, {value})"
    names = "score, positive, negative, unlabeled, merged"
    duckdb.sql(f"COPY (FROM (VALUES {rows}) t({names})) TO '{path}'")
    with pytest.raises(InputError, match="merged must hold true and false"):
        uc.load_counts(path)


@pytest.mark.parametrize("value", ["false", "0", "0.0"])
def test_merged_may_be_a_number(value, tmp_path):
    path = tmp_path / "counts.parquet"
    rows = f"(0.9, 1, 0, 0, {value}), (0.1, 0, 0, 3, {value})"
    names = "score, positive, negative, unlabeled, merged"
    duckdb.sql(f"COPY (FROM (VALUES {rows}) t({names})) TO '{path}'")
    assert not uc.load_counts(path).merged.any()


@pytest.mark.parametrize("weight", ["1e200", "1e-200", "-1", "inf", ""])
@pytest.mark.parametrize("command", ["evaluate", "count", "compare"])
def test_a_weight_that_cannot_be_used_is_told_with_its_row(weight, command, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    lines = [f"{i % 2},{i},{-i},{weight if i == 7 else 1}" for i in range(40)]
    lines[3] = f"0,,3,{weight}"  # without a score it is left out
    path.write_text("\n".join(["y,s,t,w", *lines]) + "\n")
    more = {"count": ["-o", str(tmp_path / "c.parquet")], "compare": ["--score", "t"]}
    named = ["--label", "y", "--score", "s", "--weight", "w", *more.get(command, [])]
    assert main([command, str(path), *named]) == 2
    said = capsys.readouterr().err
    assert "--weight must be 0 or lie between" in said
    assert "row 8" in said
