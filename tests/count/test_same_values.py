"""Values of files that must not be taken for one another: long numbers, words, folders, keys."""

import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.errors import InputError

LONG = "within ±2\\*\\*53"
COLUMNS = {"label": "y", "score": "s"}


def write_csv(path, scores):
    path.write_text("\n".join(["y,s", *(f"{i % 2},{s}" for i, s in enumerate(scores))]) + "\n")
    return path


@pytest.mark.parametrize(
    "scores",
    [
        ["900719925474099300.0", "900719925474099301.0"],
        ["9007199254740993e0", "1"],
        ["9007199254740993.00", "1"],
        ["-9.0071992547409930123E+17", "1"],
        ["9007199254740993", "1"],
        ["1" * 400, "1"],
    ],
)
def test_whole_numbers_that_floats_merge_are_refused_in_text(scores, tmp_path):
    path = write_csv(tmp_path / "rows.csv", scores)
    with pytest.raises(InputError, match=LONG):
        uc.read_counts(path, **COLUMNS)


def test_floats_are_read_as_programs_write_them(tmp_path):
    numbers = [9007199254740994.0, 1e20, 1.7976931348623157e308, -(2.0**60), 1 / 3, 2.0**53]
    numbers += [1.2345678901234567e-05, 123456789012345.75]
    path = write_csv(tmp_path / "rows.csv", map(repr, numbers))
    assert uc.read_counts(path, **COLUMNS).score.tolist() == sorted(numbers, reverse=True)


@pytest.mark.parametrize("score", ["900719925474099301.0", "9007199254740993e0", "2e0"])
def test_in_json_too_whose_numbers_come_as_floats(score, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"y": 1, "s": {score}}}\n{{"y": 0, "s": 1.5}}\n')
    if score == "2e0":
        assert uc.read_counts(path, **COLUMNS).score.tolist() == [2.0, 1.5]
        return
    with pytest.raises(InputError, match=LONG):
        uc.read_counts(path, **COLUMNS)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("command", ["count", "compare"])
def test_long_decimals_of_parquet_are_refused(beside, command, tmp_path, capsys):
    decimals = pa.array([Decimal(2**53 + 1), Decimal(2**53)], pa.decimal128(38, 0))
    tables = [pa.table({"y": [1, 0], "s": decimals, "t": [1.0, 2.0]})]
    tables += [pa.table({"y": [1, 0], "s": [0.5, 0.25], "t": [1.0, 2.0]})] * beside
    for place, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{place}.parquet")
    more = {"count": ["-o", str(tmp_path / "c.parquet")], "compare": ["--score", "t"]}
    named = ["--label", "y", "--score", "s", *more[command]]
    assert main([command, str(tmp_path / "?.parquet"), *named]) == 2
    assert "within ±2**53" in capsys.readouterr().err


def test_other_decimals_of_parquet_are_exact(tmp_path):
    path = tmp_path / "rows.parquet"
    values = [Decimal("0.9"), Decimal(2**53), Decimal("-12.345")]
    scores = pa.array(values, pa.decimal128(38, 20))
    pq.write_table(pa.table({"y": [1, 0, 0], "s": scores}), path)
    assert uc.read_counts(path, **COLUMNS).score.tolist() == [2.0**53, 0.9, -12.345]


@pytest.mark.parametrize(
    ("labels", "word", "positive"),
    [
        (["Straße", "STRASSE", "N", "N"], "Straße", 2),
        (["Straße", "N", "N", "N"], "straße", 1),
        (["İ", "N", "N", "N"], "İ", 1),
        (["ΟΔΟΣ", "οδος", "οδοσ", "N"], "οδος", 3),
        (["9007199254740993", "9007199254740992", "0", "0"], "9007199254740993", 1),
        ([" Y ", "y", "Yes", "N"], "Y", 2),
        (["2.0", "02", "2", "3"], "2", 3),
        (["\uff11\uff10", "1_0", "10", "N"], "10", 1),
        (["O'K", "N", "N", "N"], "o'k", 1),
    ],
)
def test_the_label_that_is_named_is_the_one_that_is_read(labels, word, positive, tmp_path):
    path, counts = tmp_path / "rows.csv", tmp_path / "counts.parquet"
    text = "\n".join(["y,s", *(f"{label},{i}" for i, label in enumerate(labels))])
    path.write_text(text + "\n", encoding="utf-8")
    named = ["--label", "y", "--score", "s", "--positive-label", word, "--quiet"]
    assert main(["count", str(path), *named, "-o", str(counts)]) == 0
    assert uc.load_counts(counts).n_positive == positive


@pytest.mark.parametrize("word", ["1", "true", "True"])
def test_a_boolean_is_a_number_and_a_word(word, tmp_path):
    path, counts = tmp_path / "rows.parquet", tmp_path / "counts.parquet"
    pq.write_table(pa.table({"y": [True, False, False], "s": [1.0, 2.0, 3.0]}), path)
    named = ["--label", "y", "--score", "s", "--positive-label", word, "--quiet"]
    assert main(["count", str(path), *named, "-o", str(counts)]) == 0
    assert uc.load_counts(counts).n_positive == 1


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("key", ["g", "G"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_folder_does_not_speak_for_a_column(ending, key, absolute, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = (tmp_path if absolute else type(tmp_path)()) / f"{key}=x"
    folder.mkdir()
    rows = {"y": [1, 0], "s": [1.0, 2.0], "g": [0, 1]}
    if ending == "parquet":
        pq.write_table(pa.table(rows), folder / "rows.parquet")
    elif ending == "csv":
        (folder / "rows.csv").write_text("y,s,g\n1,1.0,0\n0,2.0,1\n")
    else:
        lines = [json.dumps({"y": 1 - i, "s": 1.0 + i, "g": i}) for i in (0, 1)]
        (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    file = folder / f"rows.{ending}"
    with pytest.raises(InputError, match="not said which is meant"):
        uc.read_counts(file, **COLUMNS, by="g")
    assert uc.read_counts(file, **COLUMNS).n_rows == 2


def test_a_folder_is_no_column_of_a_csv_file(tmp_path):
    folder = tmp_path / "c0=7" / "=1=3"
    folder.mkdir(parents=True)
    (folder / "rows.csv").write_text("y,s\n1,0.5\n0,0.25\n")
    found = uc.read_counts(folder / "rows.csv", **COLUMNS)
    assert (found.n_positive, found.score.tolist()) == (1, [0.5, 0.25])


def test_keys_of_json_that_differ_in_case_are_told_apart_or_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"y": 1, "S": 0.9, "s": 0.1}\n{"y": 0, "S": 0.2, "s": 0.8}\n')
    with pytest.raises(InputError, match="differs only in case"):
        uc.read_counts(path, label="y", score="s")
    assert uc.read_counts(path, label="y", score="S").score.tolist() == [0.9, 0.2]
    path.write_text('{"y": 1, "S": 0.9}\n')
    with pytest.raises(InputError, match="did you mean 'S'"):
        uc.read_counts(path, label="y", score="s")
