"""One SELECT that only reads: what passes, what does not, and how that is said."""

import pytest

import undercount as uc
from undercount.count.one_select import read_select

pytest.importorskip("sqlglot")


@pytest.mark.parametrize(
    ("dialect", "query", "text"),
    [
        ("postgres", "SELECT 1;", "SELECT 1"),
        ("postgres", " SELECT 1 ; ; \n", "SELECT 1"),
        ("duckdb", "SELECT 'ü;é' AS \"a;ß\" ; -- DROP TABLE t;", "SELECT 'ü;é' AS \"a;ß\""),
        ("sqlite", "SELECT ';'", "SELECT ';'"),
        ("postgres", "SELECT ';' AS \";\"", "SELECT ';' AS \";\""),
        ("postgres", "SELECT 1 /* ; */ -- ;", "SELECT 1 /* ; */ -- ;"),
        ("postgres", "SELECT $$;$$ AS a; /* ; */", "SELECT $$;$$ AS a"),
    ],
)
def test_semicolons_at_the_end_are_left_out_and_others_left(dialect, query, text):
    assert read_select(query, dialect) == text


@pytest.mark.parametrize(
    ("dialect", "query", "words"),
    [
        ("postgres", "", "is empty"),
        ("postgres", " ; -- nothing\n ;", "is empty"),
        ("duckdb", "SELECT 1; SELECT 2", "got 2 statements"),
        ("sqlite", "SELECT * FROM t; DROP TABLE t; --", "got 2 statements"),
        ("postgres", "DROP TABLE t", "only reads; got DROP"),
        ("postgres", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "got DELETE"),
        ("postgres", "TRUNCATE t", "got TRUNCATE"),
        ("postgres", "SELECT a INTO copy FROM t", "got INTO, which makes a table"),
        ("postgres", "SELECT a FROM (SELECT * FROM t FOR SHARE) AS q", "got FOR UPDATE or another"),
        ("postgres", "DO $$ BEGIN DELETE FROM t; END $$", "got DO"),
        ("duckdb", "CHECKPOINT", "must be a SELECT; got CHECKPOINT"),
        ("duckdb", "LOAD httpfs", "got LOAD"),
        ("duckdb", "PIVOT t ON a USING sum(b)", "got PIVOT. If the database takes it"),
        (
            "postgres",
            "SELECT a FROM t ORDER BY a USING >",
            "make a view of it there and name it by",
        ),
        ("postgres", "SELECT 'open", "cannot be read as a SELECT"),
        ("postgres", "SELECT " + "(" * 5000 + "1" + ")" * 5000, "cannot be read as a SELECT"),
    ],
)
def test_what_is_refused_is_named_on_one_line(dialect, query, words, capfd):
    with pytest.raises(uc.InputError) as error:
        read_select(query, dialect)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_the_place_of_a_mistake_is_said_but_not_what_the_query_holds():
    with pytest.raises(uc.InputError, match=r"\(line 2, column \d+\)") as error:
        read_select("SELECT a FROM dblink('password=hush')\nWHERE ORDER (", "postgres")
    assert "hush" not in str(error.value)
