"""CSV files against Python's csv: the same rows, or a refusal; never fewer and never others."""

import collections
import csv
import io
import random

import numpy as np
import pytest

import undercount as uc
from undercount.count.csv_layout import MISSING_WORDS
from undercount.count.files import read_dated, read_numbers
from undercount.errors import InputError

SEPARATORS = ",;\t|"
NOTES = ["a", "#", "# x", 'say "hi"', "x,y", "two\nlines", "", "é", ";", "'"]
HOSTILE = ["", "", "", "comment", "short", "long", "text", "quote", "integer", "blank", "preamble"]


def written(rng):
    """A file with quotes, byte-order marks, ends of lines and at most one thing that is hostile."""
    separator, end, hostile = (
        rng.choice(SEPARATORS),
        rng.choice(["\n", "\r\n", "\r"]),
        rng.choice(HOSTILE),
    )
    names = ["y", "s", *rng.sample(["note", "#id", "", "a b", "S", 'q"t', "y"], rng.randint(0, 3))]
    rng.shuffle(names)

    def quoted(value):
        if rng.random() < 0.2 or any(mark in value for mark in separator + '"\r\n'):
            return '"' + value.replace('"', '""') + '"'
        return value

    rows = [
        [
            rng.choice(["1", "0", "", "NA", "1.0", "true"])
            if name == "y"
            else rng.choice([str(rng.randint(0, 9)), repr(rng.random()), "-0.5", " 2", "inf"])
            if name == "s"
            else rng.choice(NOTES)
            for name in names
        ]
        for _ in range(rng.randint(1, 25))
    ]
    row = rng.choice(rows)
    if hostile == "short":
        row.pop()
    elif hostile == "long":
        row.append(rng.choice(["", "z"]))
    elif hostile == "text":
        row[names.index("s")] = rng.choice(["high", "0,5", "1 2"])
    elif hostile == "integer":
        row[names.index("s")] = str(2**53 + rng.randint(-1, 2))
    lines = [separator.join(map(quoted, each)) for each in (names, *rows)]
    place = rng.randrange(len(lines))
    if hostile == "comment":
        lines[place] = rng.choice(["#", "# ", "//", ";"]) + lines[place]
    elif hostile == "quote":
        lines[place] += '"'
    elif hostile in ("blank", "preamble"):
        lines.insert(place if hostile == "blank" else 0, "# made" if hostile == "preamble" else "")
    mark = b"\xef\xbb\xbf" if rng.random() < 0.2 else b""
    return mark + (end.join(lines) + rng.choice(["", end])).encode()


def number(text):
    """What a value means; text that is no number, or is merged with another, raises."""
    text = {"true": "1", "false": "0"}.get(text.lower(), text)
    if text.strip().lstrip("-").isdigit() and abs(int(text)) > 2**53:
        raise ValueError(text)
    return float(text)


def rows_of(data):
    """Count (score, label) as csv has them; None if the file must be refused."""
    for separator in SEPARATORS:
        text = io.StringIO(data.decode("utf-8-sig"), newline="")
        try:
            rows = [row for row in csv.reader(text, delimiter=separator, strict=True) if row]
        except csv.Error:
            continue
        head = rows[0]
        if {"y", "s"} <= {*head}:
            break
    else:
        return None
    # An empty value at the end of a row is the trailing separator that some programs write.
    rows = [row[:-1] if len(row) == len(head) + 1 and not row[-1] else row for row in rows[1:]]
    if head.count("y") > 1 or any(len(row) != len(head) for row in rows):
        return None
    found = collections.Counter()
    try:
        for row in rows:
            label = row[head.index("y")]
            found[
                number(row[head.index("s")]), None if label in MISSING_WORDS else number(label)
            ] += 1
    except ValueError:
        return None
    return found if found and {label for _, label in found} <= {0, 1, None} else None


def counted(path):
    try:
        counts = uc.read_counts(path, label="y", score="s")
    except InputError as error:
        return str(error)
    columns = {1: counts.positive, 0: counts.negative, None: counts.unlabeled}
    cells = {
        (float(score), label): int(number)
        for label, column in columns.items()
        for score, number in zip(counts.score, column, strict=True)
    }
    return collections.Counter({cell: number for cell, number in cells.items() if number})


@pytest.mark.parametrize(
    "seeds",
    [range(30), pytest.param(range(30, 3000), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_rows_are_those_of_csv_or_refused(tmp_path, seeds):
    path, seen = tmp_path / "rows.csv", collections.Counter()
    for seed in seeds:
        data = written(random.Random(seed))  # noqa: S311 - a test
        path.write_bytes(data)
        expected, found = rows_of(data), counted(path)
        if expected is None:
            assert isinstance(found, str), (seed, data)
        else:
            assert found == expected, (seed, data)
        seen[expected is None] += 1
    assert min(seen.values()) > 0.2 * len(seeds)


@pytest.mark.parametrize("sign", ["#", "%", "//", ";"])
def test_no_sign_makes_a_row_a_comment(tmp_path, sign):
    path = tmp_path / "rows.csv"
    rows = "".join(f"{sign}{row},{row % 2},0.{row}\n" for row in range(9))
    path.write_text(f"note,y,s\na,1,0.5\n{rows}")
    assert uc.read_counts(path, label="y", score="s").n_rows == 10
    path.write_text(f"y,s\n1,0.5\n{sign}1,0.4\n0,0.3\n")
    assert f"got '{sign}1' in row 2" in counted(path)


def test_lines_above_the_header_do_not_vanish(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("# made on monday\ny,s\n1,0.5\n0,0.4\n")
    assert counted(path) == f"there is no column 'y' in {path}. It has '# made on monday'"


def test_a_name_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,s,y\n1,0.5,0\n,0.4,1\n")
    assert "has 2 columns named 'y'" in counted(path)
    path.write_text("y,s,Y,x,x\n1,0.5,0,1,2\n,0.4,1,3,4\n")  # none of them is asked for twice
    assert counted(path) == {(0.5, 1): 1, (0.4, None): 1}
    assert read_numbers(path, ["Y"])["Y"].tolist() == [0, 1]
    with pytest.raises(InputError, match="differ only in case"):
        read_numbers(path, ["y", "Y"])


def test_columns_may_stand_in_another_order_in_each_file(tmp_path):
    for name, text in (("a", "y,s\n1,0.5\n"), ("b", "s;note;y\n0.4;#;\n"), ("c", "s,y\n0.3,0\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    assert counted(tmp_path) == {(0.5, 1): 1, (0.4, None): 1, (0.3, 0): 1}


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.parquet"])
def test_integers_that_floats_merge_are_refused(tmp_path, name):
    path, duckdb = tmp_path / name, pytest.importorskip("duckdb")
    rows = f"SELECT * FROM (VALUES (1, {2**53 + 1}), (0, {2**53})) t(y, s)"  # noqa: S608
    duckdb.sql(f"COPY ({rows}) TO '{path}'")
    assert "must stay within ±2**53 to be kept apart; got 9007199254740993" in counted(path)
    with pytest.raises(InputError, match="within ±2"):
        read_numbers(path, ["s"])


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("1970-01-02", 24),
        ("1970/1/2", 24),
        ("1970-01-02 06:30", 30.5),
        ("1970-01-02T06:00:00.5Z", 30 + 0.5 / 3600),
        ("1970-01-02 06:00:00 UTC", 30),
        ("1970-01-02 06:00:00+02", 28),
        ("1970-01-02 06:00:00 -05:30", 35.5),
        ("1970-01-02T06:00:00+0200", 28),
    ],
)
def test_a_date_is_the_moment_that_it_says(tmp_path, text, hours):
    path = tmp_path / "rows.csv"
    path.write_text(f"s,day\n1,{text}\n")
    assert read_dated(path, ["s"], ["day"])["day"] * 24 == pytest.approx(hours)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-09 11:00:00 PM",
        "2024-03-09 11:00 Europe/Berlin",
        "2024-03-09 11:00:00 EST",
        "2024-03-09 11:00:00 foo",
        "24-03-09",
        "09/03/2024",
        "2024-03",
        "epoch",
    ],
)
def test_what_else_stands_beside_a_date_is_not_passed_over(tmp_path, text):
    """11 in the evening was taken for 11 in the morning, and New York for Greenwich."""
    path = tmp_path / "rows.csv"
    path.write_text(f"s,day\n1,2024-03-08\n1,{text}\n")
    with pytest.raises(InputError, match=f"must hold dates.*got '{text}' in row 2"):
        read_dated(path, ["s"], ["day"])


def test_segments_are_called_what_the_file_calls_them(tmp_path):
    """NA is Namibia, None an answer; only an empty cell is nothing. Labels and scores have both."""
    path = tmp_path / "rows.csv"
    lines = ["1,0.9,NA", "0,0.8,NA", "1,0.7,None", "NA,0.6,None", "0,0.5,null", "1,0.4,", "1,NA,DE"]
    path.write_text("y,s,c\n" + "\n".join(lines[:-1]) + "\n")
    found = uc.read_counts(path, label="y", score="s", by="c")
    assert {name: each.n_rows for name, each in found.items()} == {
        "NA": 2, "None": 2, "null": 1, None: 1,
    }  # fmt: skip
    assert found["None"].n_unlabeled == 1
    path.write_text("y,s,c\n" + "\n".join(lines) + "\n")
    read = read_numbers(path, ["y", "s"], groups=["c"], texts=["c"])
    assert read["c"].tolist() == ["NA", "NA", "None", "None", "null", None, "DE"]
    assert np.isnan(read["s"]).tolist() == [False] * 6 + [True]


@pytest.mark.parametrize("column", ["y", "s"])
def test_an_underscore_makes_no_number(tmp_path, column):
    path = tmp_path / "rows.csv"
    path.write_text("y,s\n" + ("1_0,2\n" if column == "y" else "1,1_0.5\n") + "0,2\n")
    with pytest.raises(InputError, match=f"column '{column}' of .* must hold .*got '1_0"):
        uc.read_counts(path, label="y", score="s")
