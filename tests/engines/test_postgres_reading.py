"""A real PostgreSQL is read and never written to, also by who may only read, and on a standby."""

import pytest

import undercount as uc
from undercount.cli import inputs
from undercount.cli.main import main
from undercount.count import databases
from undercount.count.databases import open_table

from .conftest import execute, programs, server_user

pytest.importorskip("ibis")
psycopg = pytest.importorskip("psycopg")
sqlglot = pytest.importorskip("sqlglot")

COLUMNS = ["--label", "y", "--score", "s", "--prevalence", "30%"]
ATTACKS = [
    "SELECT * FROM t; DROP TABLE t",
    "SELECT * FROM t; COMMIT; DELETE FROM t; COMMIT",
    "SELECT 1) AS a; COMMIT; DROP TABLE t; --",
    "SELECT 1) AS a; COMMIT; DROP TABLE t; SELECT * FROM (SELECT 1",
    "SELECT $a$;$a$; COMMIT; DROP TABLE t",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE t SET s = 0 RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO t SELECT * FROM t RETURNING *) TABLE x",
    "SELECT * FROM (WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x) AS q",
    "SELECT * INTO more FROM t",
    "SELECT * INTO TEMPORARY more FROM t",
    "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t FOR NO KEY UPDATE SKIP LOCKED",
    "SELECT * FROM (SELECT * FROM t FOR SHARE) AS q",
    "SELECT * FROM t FOR KEY SHARE",
    "DROP TABLE t",
    "DELETE FROM t RETURNING *",
    "TRUNCATE t",
    "CREATE TABLE more AS TABLE t",
    "CREATE TEMPORARY VIEW more AS TABLE t",
    "ALTER TABLE t ADD z integer",
    "GRANT ALL ON t TO PUBLIC",
    "COPY t TO '/tmp/undercount-attack'",
    "COPY t TO PROGRAM 'touch /tmp/undercount-attack'",
    "COPY t FROM PROGRAM 'echo 1'",
    "SET default_transaction_read_only = off",
    "RESET ALL",
    "CALL wipe_all()",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "LOCK TABLE t",
    "BEGIN",
    "COMMIT",
    "PREPARE p AS DELETE FROM t",
    "EXECUTE p",
    "EXPLAIN ANALYZE DELETE FROM t",
    "VACUUM t",
    "REINDEX TABLE t",
    "REFRESH MATERIALIZED VIEW t",
    "LISTEN a",
    "LOAD 'plpgsql'",
    "DISCARD ALL",
    "COMMENT ON TABLE t IS 'x'",
    "MERGE INTO t USING t AS u ON t.y = u.y WHEN MATCHED THEN DELETE",
]
# These are SELECTs; what they call is stopped or undone by the transaction.
CALLS = [
    "SELECT nextval('numbers') AS y",
    "SELECT setval('numbers', 99) AS y",
    "SELECT wipe() AS y",
    "SELECT y, wipe() AS s FROM t",
    "SELECT set_config('transaction_read_only', 'off', false), wipe() AS y",
    "SELECT * FROM set_config('transaction_read_only', 'off', true) AS a, wipe() AS y",
    "SELECT lo_create(77777) AS y",
    "SELECT lo_from_bytea(77778, 'x') AS y",
]
ESCAPES = pytest.mark.skipif(
    int(sqlglot.__version__.partition(".")[0]) < 30, reason="older ones refuse E'\\''"
)
READ = [
    "VALUES (1, 2.5::float8), (3, 4.5)",
    pytest.param("SELECT E'\\'; COMMIT; DROP TABLE t; --' AS a FROM t", marks=ESCAPES),
    "SELECT * FROM t; -- DROP TABLE t;",
    "SELECT ';' AS a, $$;'$$ AS b, \"s\" FROM t -- a comment at the end",
    "SELECT DISTINCT ON (y) y::text AS y, s FROM t ORDER BY y, s DESC, word",
    "SELECT y FROM t WHERE word ILIKE 'A%' AND word !~ 'c$' AND '{\"a\": 1}'::jsonb @> '{}'",
    "SELECT '{\"a\": {\"b\": 1}}'::json -> 'a' ->> 'b' AS a, '{1,2}'::int[] AS b FROM t",
    "WITH x AS MATERIALIZED (SELECT y FROM t) SELECT y, count(*) AS n FROM x GROUP BY y",
    "SELECT y FROM t UNION ALL SELECT y + 1 FROM t",
    "SELECT s, row_number() OVER w AS n FROM t WINDOW w AS (PARTITION BY y ORDER BY s, word)",
    "SELECT count(*) FILTER (WHERE y = 1) AS n FROM t GROUP BY GROUPING SETS ((y), ())",
    "SELECT t.y, z.n FROM t LEFT JOIN LATERAL (SELECT t.y + 1 AS n) AS z ON true",
    "SELECT y FROM t ORDER BY s FETCH FIRST 3 ROWS WITH TIES",
    "SELECT -2 ^ 2 AS a, -7 % 3 AS b, 7 / 2 AS c, 5 # 3 AS d, 'a%s' AS e FROM t LIMIT 1",
]


# As long as the server, which workers that share out the tests may come back to.
@pytest.fixture(scope="session")
def url(server):
    """Make a table, a sequence and functions that write; return the URL."""
    with psycopg.connect(server, autocommit=True) as connection:
        for statement in (
            """CREATE TABLE t AS SELECT (i % 5 = 0)::int AS y, (i * 37 % 101)::float8 AS s,
                (ARRAY['ab', 'abc', 'b;', 'é'])[1 + i % 4] AS word
            FROM generate_series(0, 399) AS i""",
            "CREATE SEQUENCE numbers",
            "CREATE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM t; SELECT 1'",
            "CREATE PROCEDURE wipe_all() LANGUAGE sql AS 'DELETE FROM t'",
            "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
            "CREATE ROLE reader LOGIN",
            "ALTER ROLE reader SET default_transaction_read_only = on",
            "GRANT SELECT ON t TO reader",
        ):
            connection.execute(statement)
    return server


def contents(url):
    """Return all rows, in their places, and all that has a name."""
    with psycopg.connect(url) as connection:
        return [
            connection.execute(query).fetchall()
            for query in (
                "SELECT ctid::text, xmin::text, xmax::text, * FROM t ORDER BY ctid",
                "SELECT last_value, is_called FROM numbers",
                "SELECT oid, relname, relacl::text, reltuples FROM pg_class ORDER BY oid",
                "SELECT oid FROM pg_largeobject_metadata",
                "SELECT rolname, rolconfig FROM pg_roles ORDER BY 1",
            )
        ]


@pytest.mark.filterwarnings("ignore:.*was deleted while still open:ResourceWarning")
@pytest.mark.parametrize(
    ("query", "checked"),
    [*((query, True) for query in ATTACKS), *((query, False) for query in [*ATTACKS, *CALLS])],
)
def test_no_query_changes_a_row(url, query, checked, monkeypatch):
    """What the check of the query lets through, if it ever does, the transaction stops."""
    before = contents(url)
    if not checked:
        monkeypatch.setattr(databases, "read_select", lambda query, _: query)
    message = None
    try:
        with open_table(url, None, query) as table:
            table.to_pyarrow()
    except uc.InputError as error:
        message = str(error)
    assert message or query in CALLS
    assert "\n" not in (message or "")
    assert contents(url) == before


@pytest.mark.filterwarnings("ignore:.*was deleted while still open:ResourceWarning")
@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT y, wipe() AS s FROM t", "in a read-only transaction"),
        ("SELECT y, 1 / (y - y) AS s FROM t", "division by zero"),
    ],
)
def test_what_the_server_says_of_a_query_is_said(url, query, why):
    with pytest.raises(uc.InputError, match=why), open_table(url, None, query) as table:
        table.to_pyarrow()


@pytest.mark.parametrize("query", READ)
def test_a_query_gives_the_rows_that_the_server_gives(url, query):
    with psycopg.connect(url) as connection:
        expected = connection.execute(query).fetchall()
    with open_table(url, None, query) as table:
        columns = table.to_pyarrow().to_pydict().values()
    assert expected
    assert sorted(map(str, zip(*columns, strict=True))) == sorted(map(str, expected))


def test_a_query_has_the_types_of_the_table(url):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute(
            "CREATE TABLE kinds (a smallint, b bigint, c numeric(9, 2), d numeric, e real, "
            "f boolean, g varchar(7), h date, i timestamp(3), j timestamptz, k jsonb, l int[], "
            "m mood, o uuid)"
        )
    with (
        open_table(url, "kinds", None) as table,
        open_table(url, None, "SELECT * FROM kinds") as query,
    ):
        assert dict(query.schema()) == dict(table.schema())


@pytest.mark.parametrize("where", [["--table", "t"], ["--query", "SELECT * FROM t"]])
def test_rows_that_arrive_between_two_passes_are_not_seen(url, where, capsys, monkeypatch):
    def count_scores(*positional, **named):
        with psycopg.connect(url) as writer:  # beside the command, between two of its queries
            writer.execute("INSERT INTO t SELECT 1, 1000, 'new' FROM generate_series(1, 50)")
        return original(*positional, **named)

    before = printed(capsys, url, where)
    original = inputs.count_scores
    monkeypatch.setattr(inputs, "count_scores", count_scores)
    try:
        assert printed(capsys, url, where) == before
        monkeypatch.undo()
        assert printed(capsys, url, where) != before
    finally:
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM t WHERE word = 'new'")


@pytest.mark.parametrize(
    "where", [["--table", "t"], ["--query", "SELECT y, s FROM t WHERE word ILIKE '%b%'"]]
)
def test_who_may_only_read_can_count(url, where, capsys):
    reader = url.replace("auditor:hush@", "reader@")
    with psycopg.connect(reader, autocommit=True) as connection:
        for forbidden in ("CREATE TEMPORARY VIEW v AS SELECT 1", "DELETE FROM t"):
            with pytest.raises(psycopg.Error):
                connection.execute(forbidden)
    assert printed(capsys, reader, where) == printed(capsys, url, where)


def printed(capsys, url, where):
    assert main(["evaluate", "--from", url, *where, *COLUMNS, "--csv", "-"]) == 0
    return capsys.readouterr().out


@pytest.fixture
def standby(url):
    """Copy the server while it runs, and start the copy as its hot standby."""
    home, folder = programs(), url.partition("host=")[2]
    run = server_user(folder)
    copied = ["-h", folder, "-U", "auditor", "-D", "standby", "-R", "-c", "fast", "--no-sync"]
    execute(run, home / "pg_basebackup", *copied)
    settings = f"-k {folder} -c listen_addresses='' -c fsync=off -p 5433"
    execute(run, home / "pg_ctl", "-D", "standby", "-w", "-l", "log2", "-o", settings, "start")
    try:
        yield f"{url}&port=5433"
    finally:
        execute(run, home / "pg_ctl", "-D", "standby", "-w", "-m", "immediate", "stop")


@pytest.mark.slow  # copies a server
def test_a_hot_standby_is_counted_as_its_server(url, standby, capsys):
    with psycopg.connect(standby) as connection:
        assert connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)
    for where in (["--table", "t"], ["--query", "SELECT y, s FROM t WHERE word ILIKE '%b%'"]):
        assert printed(capsys, standby, where) == printed(capsys, url, where)
