"""Counts inside a real PostgreSQL, through Ibis; skipped aloud where there is no server."""

import json

import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count import frames

from .conftest import FIELDS, arrow

ibis = pytest.importorskip("ibis")
pytest.importorskip("psycopg")


def columns_of_table():
    rng = np.random.default_rng(0)
    n = 3000
    score = np.round(rng.normal(size=n), 3)
    score[:20], score[20:40] = np.inf, -0.0
    label = np.where(rng.random(n) < 0.05, 1.0, np.nan)
    label[rng.random(n) < 0.02] = 0.0
    return {
        "label": label,
        "score": score,
        "other": rng.random(n),
        "weight": rng.integers(0, 3, n).astype(float),
        "day": rng.integers(0, 2, n),
        "fraud": rng.random(n) < 0.1,
    }


# As long as the server, which workers that share out the tests may come back to.
@pytest.fixture(scope="session")
def connection(server):
    made = ibis.connect(server)
    try:
        made.create_table("scored", arrow(columns_of_table()))
        yield made
    finally:
        made.disconnect()


def assert_same(found, expected):
    for field in FIELDS:
        np.testing.assert_allclose(getattr(found, field), getattr(expected, field), rtol=1e-12)
    assert found.squared_weight == expected.squared_weight


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("compact", [True, False])
def test_counts_equal_those_of_arrays(connection, compact, weight):
    held = columns_of_table()
    knots = [0.25, 0.2505, -9.0] if compact else []
    options = {"compact": compact, "knots": knots}
    found = uc.count_scores(
        connection.table("scored"),
        label="label",
        score=["score", "other"],
        weight=weight,
        **options,
    )
    weights = None if weight is None else held[weight]
    for name, counts in found.items():
        expected = uc.ScoreCounts.from_rows(
            held["label"], held[name], sample_weight=weights, **options
        )
        assert_same(counts, expected)
        np.testing.assert_array_equal(counts.merged, expected.merged)
        if not compact:
            np.testing.assert_array_equal(counts.cell_rows, expected.cell_rows)


def test_bins_hold_every_row_and_their_bound(connection):
    held = columns_of_table()
    counts = uc.count_scores(connection.table("scored"), label="label", score="other", bins=64)
    exact = uc.ScoreCounts.from_rows(held["label"], held["other"])
    assert counts.n_rows == exact.n_rows
    assert len(counts.score) <= 64
    error = abs(counts.auc("positive", "unlabeled") - exact.auc("positive", "unlabeled"))
    assert error <= counts.auc_error < 0.02


def test_groups_and_boolean_labels(connection):
    held = columns_of_table()
    options = {"unlabeled": 0, "compact": True}
    found = uc.count_scores(
        connection.table("scored"), label="fraud", score="score", by="day", **options
    )
    for day, counts in found.items():
        mine = held["day"] == day
        expected = uc.ScoreCounts.from_rows(held["fraud"][mine], held["score"][mine], **options)
        assert_same(counts, expected)


def test_compact_counts_send_no_more_than_labelled_scores(connection, monkeypatch):
    travelled = []

    def collect(frame):
        found = original(frame)
        travelled.append(len(next(iter(found.values()))))
        return found

    original = frames.collect
    monkeypatch.setattr("undercount.count.windows.collect", collect)
    held = columns_of_table()
    counts = uc.count_scores(connection.table("scored"), label="label", score="other", compact=True)
    labelled = int(np.count_nonzero(~np.isnan(held["label"])))
    assert max(travelled) == len(counts.score) <= 2 * labelled + 1 < len(held["other"]) / 5


def test_bad_rows_are_refused_where_they_live(connection):
    table = connection.table("scored")
    for compact in (True, False):
        with pytest.raises(uc.InputError, match="labels must be 1"):
            uc.count_scores(table, label="weight", score="score", compact=compact)
        with pytest.raises(uc.InputError, match="score must not be missing; got"):
            uc.count_scores(table, label="fraud", score="label", unlabeled=0, compact=compact)


def test_the_command_evaluates_a_table_and_a_query(connection, server, capsys, tmp_path):
    del connection  # it has made the table
    columns = ["--label", "fraud", "--score", "score", "--prevalence", "0.3", "--from", server]
    report = tmp_path / "found.json"
    given = (
        ["--table", "scored"],
        ["--table", "public.scored"],
        ["--query", "SELECT * FROM scored"],
    )
    for where in given:
        assert main(["evaluate", *columns, *where, "--json", str(report)]) == 0
        printed = capsys.readouterr()
        assert "3,000 rows read" in printed.out
        assert "hush" not in printed.out + printed.err + report.read_text()
    held = columns_of_table()
    expected = uc.evaluate(held["fraud"], held["score"], unlabeled=0, prevalence=0.3)
    found = json.loads(report.read_text())
    assert found["models"][0]["metrics"][0]["estimate"] == pytest.approx(
        expected.rows[0].estimate.value
    )


def test_what_the_database_refuses_is_one_line_without_the_password(connection, server, capsys):
    del connection
    columns = ["--label", "fraud", "--score", "score"]
    wrong = server.replace("auditor:", "nobody:")
    for command in (
        [*columns, "--from", server, "--table", "nothing"],
        [*columns, "--from", server, "--query", "SELECT broken"],
        [*columns, "--from", wrong, "--table", "scored"],
        [*columns, "--from", "nosuch://ann:hush@host/x", "--table", "scored"],
        [*columns, "--from", server],
        [*columns, "--table", "scored"],
        ["--label", "fraud", "--score", "scores", "--from", server, "--table", "scored"],
    ):
        assert main(["evaluate", *command]) == 2
        printed = capsys.readouterr()
        assert len(printed.err.splitlines()) == 1, printed.err
        assert "hush" not in printed.err + printed.out


@pytest.fixture(scope="session")
def odd(server, connection):
    """Make a table of columns that PostgreSQL compares or holds in ways of its own."""
    for statement in (
        "CREATE EXTENSION IF NOT EXISTS citext",
        "CREATE COLLATION fold (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        """CREATE TABLE odd AS SELECT (i % 4 = 0)::int AS y, i / 2.0::float8 AS s,
            (CASE WHEN i % 2 = 0 THEN 'A' ELSE 'a' END)::citext AS c,
            (CASE WHEN i % 2 = 0 THEN 'A' ELSE 'a' END) COLLATE "fold" AS f,
            9007199254740992::numeric + i AS long, ARRAY[i] AS list, i % 3 = 0 AS flag,
            CASE WHEN i % 4 = 0 THEN 1 ELSE 'NaN'::numeric END AS n,
            CASE WHEN i % 2 = 0 THEN '0.5' ELSE '1.5' END AS word
        FROM generate_series(0, 399) AS i""",
    ):
        connection.raw_sql(statement).close()
    connection.con.commit()
    return server


@pytest.mark.parametrize("column", ["c", "f"])
def test_spellings_that_compare_equal_are_segments_of_their_own(odd, connection, column):
    del odd
    for compact in (True, None):
        options = {"label": "y", "score": "s", "unlabeled": 0, "compact": compact}
        found = uc.count_scores(connection.table("odd"), by=column, **options)
        numbers = {name: (counts.n_rows, counts.n_positive) for name, counts in found.items()}
        assert numbers == {"A": (200, 100), "a": (200, 0)}


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["--label", "y", "--score", "long"], "stay within ±2**53"),
        (["--label", "y", "--score", "word"], 'CAST("word" AS DOUBLE PRECISION)'),
        (["--label", "y", "--score", "s", "--by", "list"], "in column 'list'"),
    ],
)
def test_columns_that_cannot_be_counted_are_named(odd, columns, words, capsys):
    assert main(["evaluate", "--from", odd, "--table", "odd", *columns]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_numeric_labels_that_are_nan_are_missing_and_truth_values_are_scores(odd, capsys):
    columns = ["--label", "n", "--score", "flag", "--prevalence", "0.3"]
    assert main(["evaluate", "--from", odd, "--table", "odd", *columns]) == 0
    assert "labelled positive 100 · unlabeled 300" in capsys.readouterr().out


def test_a_sample_that_is_drawn_anew_each_time_is_refused(odd, capsys):
    query = ["--query", "SELECT y, s FROM odd TABLESAMPLE bernoulli (50)"]
    columns = ["--label", "y", "--score", "s", "--prevalence", "0.3"]
    assert main(["evaluate", "--from", odd, *query, *columns]) == 2
    assert "gave other rows when it was read again" in capsys.readouterr().err
