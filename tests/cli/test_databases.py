"""Commands on the rows of a database, against the same rows in a file."""

import csv
import io
import shlex
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count.counts_file import open_counts
from undercount.read.plan import unlabeled_rows

ibis = pytest.importorskip("ibis")
# Ibis calls what pandas 3 and DuckDB 1.4 say is deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table"),
]
COLUMNS = ["--label", "fraud", "--score", "good"]


@pytest.fixture(scope="module", params=["duckdb", "sqlite"])
def database(request, rows, folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("database") / f"rows.{request.param}"
    if request.param == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE scored AS FROM '{folder}/rows.csv'")
    else:
        lines = list(zip(*(column.tolist() for column in rows[:3]), strict=True))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE scored (fraud INTEGER, good DOUBLE, poor DOUBLE)")
            connection.executemany("INSERT INTO scored VALUES (?, ?, ?)", lines)
            connection.commit()
    return f"{request.param}://{path}"


def test_compare_says_what_it_says_of_the_file(database, folder, capsys):
    options = [*COLUMNS, "--score", "poor", "--threshold", "1.2", "--prevalence", "30%"]
    assert main(["compare", str(folder / "rows.csv"), *options]) == 0
    expected = capsys.readouterr().out
    assert main(["compare", "--from", database, "--table", "scored", *options]) == 0
    assert capsys.readouterr().out == expected
    query = ["--query", "SELECT * FROM scored WHERE good > 0"]
    assert main(["compare", "--from", database, *query, *options]) == 0
    assert capsys.readouterr().out != expected


def test_plan_draws_rows_of_the_table(database, rows, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(unlabeled_rows, "N_KNOTS", 64)  # the last test asks for all of them
    out = tmp_path / "review.csv"
    options = ["--threshold", "1.2", "--budget", "40", "--keep", "poor", "--out", str(out)]
    table = ["--from", database, "--table", "scored"]
    assert main(["plan", *table, *COLUMNS, *options]) == 0
    found, score, other, _ = rows
    assert f"40 of {(found == 0).sum():,} rows without a label" in capsys.readouterr().out
    cases = list(csv.DictReader(io.StringIO(out.read_text("utf-8-sig"), newline="")))
    unlabeled = set(zip(score[found == 0].tolist(), other[found == 0].tolist(), strict=True))
    assert len(cases) == 40
    assert {(float(case["good"]), float(case["poor"])) for case in cases} <= unlabeled
    again = ["plan", *table, *COLUMNS, "--budget", "10", "--reviews", str(out)]
    assert main(again) == 2
    assert "a further round needs the rows in a file" in capsys.readouterr().err


def test_count_writes_the_counts_of_the_file(database, folder, tmp_path):
    out, expected = tmp_path / "table.parquet", tmp_path / "file.parquet"
    table = ["--from", database, "--table", "scored"]
    assert main(["count", *table, *COLUMNS, "-o", str(out), "--quiet"]) == 0
    command = ["count", str(folder / "rows.csv"), *COLUMNS, "-o", str(expected), "--quiet"]
    assert main(command) == 0
    made, known = (open_counts(path).counts for path in (out, expected))
    for field in ("score", "positive", "unlabeled", "negative"):
        np.testing.assert_array_equal(getattr(made, field), getattr(known, field))


def test_the_weakest_link_names_a_command_that_runs(database, capsys, monkeypatch):
    table = ["--table", "scored", *COLUMNS, "--threshold", "1.2"]
    assert main(["evaluate", "--from", database, *table]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"undercount plan --from {shlex.quote(database)} --table scored --label fraud" in printed
    assert "uc.plan_reviews" not in printed
    monkeypatch.setenv("UNDERCOUNT_FROM", database)
    assert main(["evaluate", *table]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "undercount plan --table scored --label fraud" in printed


def test_a_plan_of_an_ibis_table_has_as_many_knots_as_any(database, rows):
    table = ibis.connect(database).table("scored")
    made = uc.plan_reviews(table, "good", label="fraud", unlabeled=0, threshold=1.2, budget=30)
    assert len(set(made.sheet.row.tolist())) == 30
    assert made.counts.n_unlabeled == (rows[0] == 0).sum()


def test_models_are_compared_by_reviews_of_a_table(database, rows, folder, tmp_path, capsys):
    """Reviewed rows are found by their scores, as the same rows of the file are by their place."""
    table, models = ["--from", database, "--table", "scored"], [*COLUMNS, "--score", "poor"]
    out, cut = tmp_path / "review.csv", ["--threshold", "1.2"]
    asked = ["plan", *table, *models, *cut, "--budget", "40", "--goal", "difference"]
    assert main([*asked, "--out", str(out)]) == 0
    lines = list(csv.DictReader(io.StringIO(out.read_text("utf-8-sig"), newline="")))
    truth = dict(zip(zip(rows[1].tolist(), rows[2].tolist(), strict=True), rows[3], strict=True))
    for line in lines:
        line["verdict"] = int(truth[float(line["good"]), float(line["poor"])])
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    capsys.readouterr()
    assert main(["compare", *table, *models, *cut, "--reviews", str(out)]) == 0
    found = capsys.readouterr().out
    assert "40 reviewed rows" in found
    if lines[0]["row"]:  # DuckDB numbers the rows, too
        assert (
            main(["compare", str(folder / "rows.csv"), *models, *cut, "--reviews", str(out)]) == 0
        )
        assert capsys.readouterr().out == found
    lacking = ["compare", *table, *COLUMNS, "--score", "fraud", *cut, "--reviews", str(out)]
    assert main(lacking) == 2
    assert "the reviews lack 'fraud'; plan with --score good" in capsys.readouterr().err


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Make a database of columns that are no plain numbers, and of rows that change."""
    path = tmp_path_factory.mktemp("odd") / "odd.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            CREATE TABLE t AS SELECT (i % 5 = 0)::INTEGER AS y, (i * 37 % 101)::DOUBLE AS s,
                NULL::DOUBLE AS none, (i % 7)::VARCHAR AS word, TIMESTAMP '2024-03-09' AS seen,
                i % 3 = 0 AS flag, [i] AS list, i + 9007199254740992 AS long,
                (i + 9007199254740992)::HUGEINT AS huge, 1e200 AS weight,
                (i % 5 = 0)::INTEGER::DECIMAL(20, 2) AS decimal
            FROM range(4000) r(i)
        """)
        connection.execute("CREATE VIEW drawn AS SELECT * FROM t WHERE random() < 0.5")
    return f"duckdb://{path}"


def said(capsys, command, *options):
    shared = ["--prevalence", "30%", "--quiet"]
    assert main([command, *options, *shared]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("--label y --score none", "no row of t has a score in column 'none'"),
        ("--label word --score s", "column 'word' of t must hold numbers; its type is string"),
        ("--label word --score s", 'CASE WHEN "word" = … THEN 1 ELSE 0 END AS "word"'),
        ("--label y --score word", 'CAST("word" AS DOUBLE PRECISION) AS "word"'),
        ("--label y --score seen", 'EXTRACT(EPOCH FROM "seen") AS "seen"'),
        ("--label y --score s --weight word", "column 'word' of t must hold numbers"),
        ("--label y --score s --weight weight", "not in column 'weight'"),
        ("--label y --score s --by list", "list(int64) in column 'list'"),
        ("--label y --score huge", "stay within ±2**53"),
        ("--label y --score long", "stay within ±2**53"),
    ],
)
def test_a_column_that_is_no_plain_number_is_named_with_what_helps(odd, columns, words, capsys):
    table = ["--from", odd, "--table", "t"]
    assert words in said(capsys, "evaluate", *table, *shlex.split(columns))


@pytest.mark.parametrize("column", ["long", "huge", "word"])
def test_compare_refuses_what_evaluate_refuses(odd, column, capsys):
    table = ["--from", odd, "--table", "t", "--label", "y"]
    one = said(capsys, "evaluate", *table, "--score", column)
    assert said(capsys, "compare", *table, "--score", column, "--score", "s") == one


def test_truth_values_are_scores_and_decimals_labels(odd, capsys):
    table = ["--from", odd, "--prevalence", "30%"]
    printed = []
    for where in (
        ["--table", "t", "--label", "y", "--score", "flag"],
        ["--table", "t", "--label", "decimal", "--score", "flag"],
        ["--query", "SELECT y, flag::INTEGER AS flag FROM t", "--label", "y", "--score", "flag"],
    ):
        assert main(["evaluate", *table, *where, "--csv", "-"]) == 0
        printed.append(capsys.readouterr().out)
    assert "flag,roc_auc," in printed[0]
    assert printed[0] == printed[1] == printed[2]


@pytest.mark.parametrize(
    "rows",
    [
        ["--table", "drawn"],
        ["--query", "SELECT * FROM t WHERE random() < 0.5"],
        ["--query", "SELECT * FROM t ORDER BY random() LIMIT 1000"],
        ["--query", "SELECT y, random() AS s FROM t"],
        ["--query", "SELECT y, s FROM t USING SAMPLE 50% (bernoulli)"],
    ],
)
@pytest.mark.parametrize("by", [[], ["--by", "y"]])
def test_rows_that_change_from_one_look_to_the_next_are_refused(odd, rows, by, capsys):
    table = ["--from", odd, *rows, "--label", "y", "--score", "s", *by]
    assert "gave other rows when it was read again" in said(capsys, "evaluate", *table)


def test_the_sql_that_a_message_names_reads_the_numbers_of_sqlite(tmp_path, capsys):
    path, place = tmp_path / "gaps.db", range(400)
    rows = [(int(i % 4 == 0), "" if i % 5 == 0 else i * 37 % 101) for i in place]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (y INTEGER, s REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        connection.commit()
    options = ["--label", "y", "--score", "s"]
    where = ["--from", f"sqlite://{path}"]
    line = said(capsys, "evaluate", *where, "--table", "t", *options)
    assert "column 's' must hold what its type, float64, says; 80 rows" in line
    mended = line[line.index("CASE") :]  # the first row has no score, so that nothing tells a type
    query = f"SELECT y, {mended} FROM t"  # noqa: S608 - the program's own words
    assert main(["evaluate", *where, "--query", query, *options, "--prevalence", "30%"]) == 0
    printed = capsys.readouterr().out
    assert "400 rows read, 80 dropped (missing score)" in printed
