"""Columns of databases: what a type hides is refused, and text is compared by its characters."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest

import undercount as uc
from undercount.count import stored_columns

# Ibis calls what pandas 3 and DuckDB 1.4 say is deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table"),
]
ROWS = 400
PLACE = np.arange(ROWS)
LABEL, SCORE = (PLACE % 4 == 0).astype(int), PLACE * 0.5


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory):
    """Hold a table of SQLite with values that its types do not let one expect."""
    ibis = pytest.importorskip("ibis")
    path = tmp_path_factory.mktemp("sqlite") / "scores.db"
    rows = [
        (
            int(label),
            float(score),
            "" if place % 5 == 0 else float(score),
            b"\x01" if place == 7 else 1.0,
            2 if place % 8 == 0 else int(label),
            1.5 if place % 4 == 1 else 1,
            "Aa"[place % 2],
        )
        for place, label, score in zip(PLACE.tolist(), LABEL, SCORE, strict=True)
    ]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE t (y INTEGER, s REAL, gaps REAL, bytes REAL, flag BOOLEAN, "
            "whole INTEGER, g TEXT COLLATE NOCASE)"
        )
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    database = ibis.connect(f"sqlite://{path}")
    yield database.table("t")
    database.disconnect()


@pytest.mark.parametrize(
    ("label", "score", "words"),
    [
        ("y", "gaps", "column 'gaps' must hold what its type, float64, says; 80 rows .* ''"),
        ("y", "bytes", "column 'bytes' .* 1 row of it holds something else"),
        ("flag", "s", "column 'flag' .* boolean, says; 50 rows .* '2'"),
        ("whole", "s", "column 'whole' .* int64, says; 100 rows .* '1.5'"),
    ],
)
def test_what_sqlite_would_read_as_another_number_is_refused(sqlite, label, score, words):
    with pytest.raises(uc.InputError, match=words):
        uc.count_scores(sqlite, label=label, score=score, unlabeled=0)


def in_segments(frame, **options):
    options = {"label": "y", "score": "s", "unlabeled": 0, **options}
    return {
        name: (counts.n_rows, counts.n_positive)
        for name, counts in uc.count_scores(frame, **options).items()
    }


# Of the even rows every second one is labelled, of the odd ones none.
SEGMENTS = {"A": (200, 100), "a": (200, 0)}


@pytest.mark.parametrize("compact", [True, None])
def test_spellings_that_a_collation_takes_for_one_are_segments_of_their_own(sqlite, compact):
    assert in_segments(sqlite, by="g", compact=compact) == SEGMENTS


def test_a_database_that_cannot_be_told_to_compare_characters_is_asked(sqlite, monkeypatch):
    monkeypatch.setattr(stored_columns, "_BY_CHARACTER", {})
    with pytest.raises(uc.InputError, match="'g' takes some spellings for one"):
        in_segments(sqlite, by="g", compact=True)
    apart = sqlite.mutate(g=sqlite.g.concat(""))
    assert in_segments(apart, by="g", compact=True) == SEGMENTS


NOCASE = """
    CREATE TABLE t (y INTEGER, s DOUBLE, g VARCHAR COLLATE NOCASE);
    INSERT INTO t SELECT (i % 4 = 0)::INTEGER, i / 2.0, CASE WHEN i % 2 = 0 THEN 'A' ELSE 'a' END
    FROM range(400) r(i)
"""


def test_collations_of_duckdb_are_left_out_too(tmp_path):
    ibis = pytest.importorskip("ibis")
    path = tmp_path / "scores.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(NOCASE)
        assert in_segments(connection.sql("SELECT * FROM t"), by="g") == SEGMENTS
    database = ibis.connect(f"duckdb://{path}")
    for compact in (True, None):
        assert in_segments(database.table("t"), by="g", compact=compact) == SEGMENTS
    database.disconnect()


def made_of(columns):
    """Make eight rows of which the first and the fifth are labelled."""
    return duckdb.sql(f"SELECT (i % 4 = 0)::INTEGER AS y, {columns} FROM range(8) r(i)")  # noqa: S608 - ours


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT", "DECIMAL(38,0)", "DECIMAL(38,2)"])
def test_long_numbers_of_any_type_are_refused_as_scores_and_kept_as_segments(kind):
    frame = made_of(f"i AS s, ({2**53} + i % 2)::{kind} AS g")
    with pytest.raises(uc.InputError, match=rf"stay within ±2\*\*53 .* got {2**53 + 1}"):
        uc.count_scores(frame, label="y", score="g", unlabeled=0)
    if not kind.endswith("2)"):
        assert in_segments(frame, by="g") == {2**53: (4, 2), 2**53 + 1: (4, 0)}


def test_decimal_numbers_of_many_places_are_no_long_numbers():
    frame = made_of("(i / 8)::DECIMAL(38,20) AS s")
    assert uc.count_scores(frame, label="y", score="s", unlabeled=0).score[0] == 7 / 8


@pytest.mark.parametrize("value", ["[i]", "{'a': i}", "map {1: i}", "union_value(a := i)"])
def test_segments_are_single_values(value):
    frame = made_of(f"i AS s, {value} AS g")
    with pytest.raises(uc.InputError, match="in column 'g'"):
        uc.count_scores(frame, label="y", score="s", unlabeled=0, by="g")


@pytest.mark.parametrize(("value", "kind"), [("'101'::BIT", "bit"), ("uuid()", "uuid")])
def test_types_that_are_no_numbers_are_named(value, kind):
    frame = made_of(f"{value} AS z, i AS s")
    with pytest.raises(uc.InputError, match=f"labels must be .* got {kind} in column 'z'"):
        uc.count_scores(frame, label="z", score="s", unlabeled=0)


@pytest.mark.parametrize("weight", [1e200, 1e-200])
@pytest.mark.parametrize("compact", [True, False])
def test_weights_whose_squares_cannot_be_summed_are_refused_by_their_column(weight, compact):
    ibis = pytest.importorskip("ibis")
    columns = {"y": LABEL, "s": SCORE, "w": np.full(ROWS, weight)}
    with pytest.raises(uc.InputError, match="got 400 rows where it is not in column 'w'"):
        uc.count_scores(
            ibis.memtable(columns), label="y", score="s", weight="w", unlabeled=0, compact=compact
        )
