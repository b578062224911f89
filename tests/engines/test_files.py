"""Files of all formats are counted as arrays are, and errors name file, column and row."""

import gzip
import io
import json
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest

from undercount.count.files import read_counts, read_numbers
from undercount.count.sources import open_source, read_error
from undercount.counts import ScoreCounts
from undercount.errors import InputError

ROWS = {"fraud": [1.0, np.nan, 0.0, np.nan], "risk": [0.9, 0.9, -0.0, np.inf]}
EXPECTED = ScoreCounts.from_rows(ROWS["fraud"], ROWS["risk"])
CSV = "fraud,risk,note\n1,0.9,a\n,0.9,b\n0,-0.0,c\nNA,inf,d\n"


def save(path, sql):
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({sql}) TO '{path}'")


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


JSON_ROWS = [{"fraud": 1, "risk": 0.9}, {"risk": 0.9}, {"fraud": 0, "risk": -0.0}, {"risk": 1e400}]


def write(directory, kind):
    path = directory / f"rows.{kind}"
    if kind == "csv":
        path.write_text(CSV)
    elif kind == "tsv":
        path.write_text(CSV.replace(",", "\t"))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(CSV.encode()))
    elif kind in ("csv.zst", "parquet"):
        values = "(1, 0.9::FLOAT8, 'a'), (NULL, 0.9, 'b'), (0, '-0.0', 'c'), (NULL, 'inf', 'd')"
        save(path, f"SELECT * FROM (VALUES {values}) t(fraud, risk, note)")  # noqa: S608
    else:
        path.write_text(lines(JSON_ROWS).replace("Infinity", '"inf"'))
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "csv.zst", "parquet", "jsonl", "ndjson"])
def test_formats(tmp_path, kind, same):
    same(read_counts(write(tmp_path, kind), label="fraud", score="risk"), EXPECTED)


def test_true_and_false(tmp_path, same):
    path = tmp_path / "rows.csv"
    path.write_text("y;s\nTrue;2\nFALSE;1\n")
    counts = read_counts(path, label="y", score="s")
    same(counts, ScoreCounts.from_counts([2, 1], [1, 0], [0, 1], [0, 0]))


def test_labels_that_come_late(tmp_path):
    # DuckDB guesses types from the first 20,480 rows; a label may come after them.
    path = tmp_path / "rows.csv"
    path.write_text("y,s\n" + ",1\n" * 30_000 + "1,0.5\n" + '"0",0.25\n')
    counts = read_counts(path, label="y", score="s")
    assert (counts.n_positive, counts.n_negative, counts.n_unlabeled) == (1, 1, 30_000)
    keys = tmp_path / "rows.jsonl"
    keys.write_text(lines([{"s": 1}] * 30_000 + [{"s": 0.5, "y": 1}]))
    assert read_counts(keys, label="y", score="s").n_positive == 1


def test_globs_lists_and_directories(tmp_path):
    for day in (1, 2, 3):
        (tmp_path / f"day{day}.csv").write_text(f"risk,fraud\n0.{day},1\n0.25,\n")
    whole = read_counts(str(tmp_path / "day*.csv"), label="fraud", score="risk")
    listed = read_counts(
        [tmp_path / f"day{day}.csv" for day in (3, 1, 2)], label="fraud", score="risk"
    )
    folder = read_counts(tmp_path, label="fraud", score="risk")
    for counts in (whole, listed, folder):
        np.testing.assert_array_equal(counts.score, whole.score)
        np.testing.assert_array_equal(counts.positive, whole.positive)
    np.testing.assert_array_equal(whole.score, [0.3, 0.25, 0.2, 0.1])
    np.testing.assert_array_equal(whole.positive, [1, 0, 1, 1])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_hive_partitions(tmp_path, kind):
    for day in (1, 2):
        folder = tmp_path / f"day={day}"
        folder.mkdir()
        save(folder / f"part.{kind}", f"SELECT 1 AS y, {day} / 4 AS s")
    found = read_counts(tmp_path, label="y", score="s", by="day")
    assert {key: float(counts.score[0]) for key, counts in found.items()} == {1: 0.25, 2: 0.5}


def test_weights_groups_and_several_scores(tmp_path, columns, same):
    path = tmp_path / "rows.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    found = read_counts(path, label="y", score=["s", "t"], weight="w", by="g")
    mine = columns["g"] == "south"
    y, t, w = (columns[name][mine] for name in ("y", "t", "w"))
    same(found["t"]["south"], ScoreCounts.from_rows(y, t, sample_weight=w))


def test_standard_input(tmp_path, monkeypatch, same):
    parquet = write(tmp_path, "parquet").read_bytes()
    for data in (CSV.encode(), parquet, gzip.compress(CSV.encode())):
        stream = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", stream)
        same(read_counts("-", label="fraud", score="risk"), EXPECTED)


def test_names_that_need_quotes(tmp_path):
    path = tmp_path / "it's.parquet"
    place = str(path).replace("'", "''")
    sql = """COPY (SELECT 1 AS "a b", 0.5 AS "s's") TO """
    with duckdb.connect() as connection:
        connection.execute(sql + f"'{place}'")
    assert read_counts(path, label="a b", score="s's").n_positive == 1


def test_rows(tmp_path):
    columns = read_numbers(write(tmp_path, "csv"), ["risk", "fraud", "risk"])
    assert list(columns) == ["risk", "fraud"]
    for name, expected in ROWS.items():
        np.testing.assert_array_equal(columns[name], expected)


def message(path, label="fraud", score="risk"):
    with pytest.raises(InputError) as caught:
        read_counts(path, label=label, score=score)
    return str(caught.value)


def test_missing_files_and_columns(tmp_path):
    assert "there is no file" in message(tmp_path / "no.csv")
    assert "no file matches" in message(str(tmp_path / "*.csv"))
    path = write(tmp_path, "csv")
    found = message(path, score="risc")
    assert f"there is no column 'risc' in {path}; did you mean 'risk'?" in found
    assert "not known from its name" in message(path.rename(tmp_path / "rows.xyz"))


def test_a_file_without_the_label_is_not_read_as_unlabeled(tmp_path):
    write(tmp_path, "csv")
    other = tmp_path / "rows2.csv"
    other.write_text("risk,frauds\n0.5,1\n")
    assert f"there is no column 'fraud' in {other}" in message([tmp_path / "rows.csv", other])
    first, second = write(tmp_path, "parquet"), tmp_path / "rows2.parquet"
    save(second, "SELECT 0.5 AS risk")
    assert "rows2.parquet" in message([first, second])


def test_text_is_named_with_its_row(tmp_path):
    good, path = write(tmp_path, "csv"), tmp_path / "rows2.csv"
    path.write_text("fraud,risk,note\n1,0.5,a\n,high,b\n")
    assert message([good, path]) == (
        f"column 'risk' of {path} must hold numbers, not text; got 'high' in row 2. "
        "Name another column, or leave the value empty where it is not known"
    )
    path.write_text("fraud;risk\n1;0,5\n")
    assert message(path).endswith("got '0,5' in row 1. Write numbers with a decimal point")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            "('1', 0.5), (NULL, 0.2), ('no', 0.1), ('no', 0.2), ('1', 0.3)",
            (
                "must hold numbers, not text; got 'no' in row 3. "
                "Name another column, or leave the value empty where it is not known"
            ),
        ),
        ("('1', 0.5), ('', 0.1)", "got '' in row 2. Write null where nothing is known"),
        (
            "(NULL, 0.5), (DATE '2024-02-29', 0.1)",
            (
                "must hold numbers, not date; got '2024-02-29' in row 2. "
                "Name another column, or write it as a number"
            ),
        ),
    ],
)
def test_text_in_parquet_is_named_with_its_row(tmp_path, values, told):
    path = tmp_path / "typed.parquet"
    save(path, f"SELECT * FROM (VALUES {values}) t(fraud, risk)")  # noqa: S608
    found = message(path)
    assert found.startswith(f"column 'fraud' of {path} must hold numbers, not ")
    assert found.endswith(told)


def test_numbers_written_as_text_are_numbers_in_every_format(tmp_path, same):
    values = "('1', '0.9'), (NULL, '9e-1'), ('0', '-0.0'), (NULL, 'inf')"
    path = tmp_path / "typed.parquet"
    save(path, f"SELECT * FROM (VALUES {values}) t(fraud, risk)")  # noqa: S608
    same(read_counts(path, label="fraud", score="risk"), EXPECTED)
    np.testing.assert_array_equal(read_numbers(path, ["fraud"])["fraud"], ROWS["fraud"])
    save(path, f"SELECT * FROM (VALUES {values}, ('1', 'nan')) t(fraud, risk)")  # noqa: S608
    assert "got 1 NaN in column 'risk'" in message(path)
    assert f"(first in {path}, row 5)" in message(path)


def test_columns_of_numbers_say_what_to_do_with_text(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("fraud,risk\n1,0.5\nno,0.1\n")
    assert read_numbers(path, ["risk"])["risk"].tolist() == [0.5, 0.1]
    with pytest.raises(InputError) as caught:
        read_numbers(path, ["risk", "fraud"], {"fraud": "Write 0 for no"})
    assert str(caught.value) == (
        f"column 'fraud' of {path} must hold numbers, not text; got 'no' in row 2. Write 0 for no"
    )


def test_missing_scores_are_named_with_their_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("fraud,risk\n1,0.5\n,\n,nan\n")
    found = message(path)
    assert "score must not be missing; got 2 NaN in column 'risk'" in found
    assert f"(first in {path}, row 2)" in found


def test_unknown_labels_name_the_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("fraud,risk\n1,0.5\n7,0.5\n")
    found = message(path)
    assert found.startswith(f"column 'fraud' of {path}: labels must be 1")
    assert "pass unlabeled=7" in found


MANY = "fraud,risk,note\n" + "1,0.5,a\n" * 30_000
BROKEN = [
    ("rows.csv", "fraud,risk\n1,0.5\n1,0.5,9\n0,0.1\n", ", line 3: a row must have as many"),
    ("rows.csv", "fraud,risk\n1,0.5\n1,0.5,9\n0,0.1\n", "2; got 3 or more in '1,0.5,9'. Mend"),
    ("rows.csv", "fraud,risk,note\n1,0.5,a\n1,0.5\n", ", line 3: "),
    ("rows.csv", MANY + "1,0.5\n1,0.5,b\n", ", line 30002: a row must have as many values"),
    ("rows.csv", 'fraud,risk,note\n1,0.5,"open\n0,0.1,b\n', ", line 2: a value that begins with"),
    ("rows.csv", MANY + '1,0.5,"open\n0,0.1,b\n', ", line 30002: a value that begins with"),
    ("rows.csv", b"fraud,risk,note\n1,0.5,caf\xe9\n0,0.1,b\n", ", line 2: text must be UTF-8"),
    ("rows.csv", "fraud,risk\n1,0.5\n0,0.1\n".encode("utf-16"), "iconv -f utf-16 -t utf8"),
    ("rows.csv", "fraud,risk\n1,0.5\n0,0.1\n".encode("utf-16-le"), "iconv -f utf-16 -t utf8"),
    ("rows.csv", gzip.compress(b"fraud,risk\n1,0.5\n0,0.1\n", mtime=0), "Let its name end in .gz"),
    ("rows.csv", "fraud,risk\n", "at least one row"),
    ("rows.csv", "", "is empty"),
    ("rows.csv.gz", "fraud,risk\n1,0.5\n", "is not compressed as its name says"),
    ("rows.parquet", "no parquet at all", "is no complete Parquet file"),
    (
        "rows.jsonl",
        '{"fraud": 1, "risk": 0.5}\n{"risk": \n',
        "every line must hold one JSON object",
    ),
]


@pytest.mark.parametrize(("name", "data", "words"), BROKEN)
def test_broken_files(tmp_path, name, data, words):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = message(path)
    assert words in found
    assert str(path) in found
    assert "\n" not in found


def test_a_link_that_leads_nowhere_is_no_file_to_pass_over(tmp_path):
    write(tmp_path, "csv")
    link = tmp_path / "later.csv"
    link.symlink_to(link)
    for path in (link, tmp_path, tmp_path / "*.csv"):
        assert message(path) == f"{link} is a link that leads to no file; mend or remove it"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, kind):
    path = write(tmp_path, kind)
    (tmp_path / "new").mkdir()
    for change in (lambda: write(tmp_path / "new", kind).replace(path), path.unlink):
        with pytest.raises(InputError, match="changed while it was read"), open_source(path, []):
            change()


def test_a_ragged_file_among_good_ones_is_named(tmp_path):
    good, bad = write(tmp_path, "csv"), tmp_path / "rows2.csv"
    bad.write_text("fraud,risk,note\n1,0.5,a\n1,0.5\n" + "1,0.5,b\n" * 30_000)
    found = message([good, bad])
    assert str(bad) in found
    assert "line 3" in found


def test_what_duckdb_says_else_is_one_line():
    found = read_error("rows.csv", "IO Error: Disk quota exceeded\nsecond line")
    assert found == "rows.csv cannot be read: Disk quota exceeded"
    other = "Invalid Input Error: CSV Error on Line: 7\nSomething new.\nPossible fixes:\n"
    assert read_error("rows.csv", other) == "rows.csv, line 7 cannot be read: Something new"


@pytest.mark.parametrize(
    ("row", "more", "words"),
    [
        ('1,0.5,"open\n0,0.1,b\n', "", "a value that begins with"),
        ('1,0.5,"closed"', "", "text must be UTF-8"),
        ('1,0.5,3" nail', " This file is not utf-8 encoded.", "text must be UTF-8"),
    ],
)
def test_a_quote_left_open_is_no_bad_byte(row, more, words):
    # DuckDB 1.1 says the same of both.
    said = f"CSV Error on Line: 2\nOriginal Line: {row}\nInvalid unicode (...) detected.{more}\n"
    assert words in read_error("rows.csv", f"Invalid Input Error: {said}\nPossible Solution: ...")


def test_mixed_formats_are_refused(tmp_path):
    assert "one format" in message([write(tmp_path, "csv"), write(tmp_path, "parquet")])


def test_nothing_is_left_in_the_working_directory(tmp_path):
    data, here = tmp_path / "data", tmp_path / "here"
    data.mkdir()
    here.mkdir()
    path = write(data, "parquet")
    code = "import sys; from undercount.count.files import read_counts\n"
    code += "read_counts(sys.argv[1], label='fraud', score='risk')"
    subprocess.run([sys.executable, "-c", code, str(path)], cwd=here, check=True)  # noqa: S603
    assert list(here.iterdir()) == []
    assert list(data.iterdir()) == [path]
