"""Databases by URL: they are read and not written to, and what is not there is not made."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count import databases
from undercount.count.databases import open_table

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")

# Ibis calls what pandas 3 and DuckDB 1.4 say is deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table"),
]
COLUMNS = ["--label", "y", "--score", "s", "--prevalence", "30%"]
# Of any database; {other} is a file that is not there.
ATTACKS = [
    "SELECT * FROM t; DROP TABLE t",
    "DROP TABLE t; SELECT * FROM t",
    "SELECT * FROM t; COMMIT; DELETE FROM t; COMMIT",
    "SELECT * FROM t /* ; */; /**/ UPDATE t SET y = 1 -- ",
    "SELECT 1) AS a; DROP TABLE t; --",
    "SELECT * FROM t) AS a; COMMIT; DROP TABLE t; SELECT * FROM (SELECT 1",
    "DROP TABLE t",
    "DELETE FROM t",
    "UPDATE t SET s = 0",
    "INSERT INTO t VALUES (1, 1, 'x')",
    "INSERT INTO t SELECT * FROM t RETURNING *",
    "WITH x AS (SELECT 1) DELETE FROM t",
    "CREATE TABLE more AS SELECT * FROM t",
    "CREATE VIEW more AS SELECT * FROM t",
    "CREATE TRIGGER more AFTER INSERT ON t BEGIN DELETE FROM t; END",
    "ALTER TABLE t ADD COLUMN z INTEGER",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "ATTACH '{other}' AS other",
    "VACUUM",
    "ANALYZE",
    "EXPLAIN DELETE FROM t",
]
ATTACKS_OF = {
    "duckdb": [
        "COPY t TO '{other}'",
        "EXPORT DATABASE '{other}'",
        "IMPORT DATABASE '{other}'",
        "SET enable_external_access = true",
        "RESET enable_external_access",
        "PRAGMA enable_external_access = true",
        "CALL force_checkpoint()",
        "FROM force_checkpoint()",
        "SELECT nextval('numbers') AS y, 1 AS s",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CHECKPOINT",
        "USE t",
        "TRUNCATE t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "PREPARE p AS DELETE FROM t",
        "COMMENT ON TABLE t IS 'x'",
        "CREATE OR REPLACE MACRO more(a) AS a",
        "MERGE INTO t USING t AS u ON t.y = u.y WHEN MATCHED THEN DELETE",
    ],
    "sqlite": [
        "PRAGMA user_version = 7",
        "PRAGMA query_only = off",
        "PRAGMA writable_schema = on",
        "PRAGMA journal_mode = wal",
        "VACUUM INTO '{other}'",
        "REINDEX",
        "REPLACE INTO t VALUES (1, 1, 'x')",
        "SAVEPOINT a",
        "SELECT load_extension('{other}')",
    ],
}


def make_table(kind, path):
    words = ["ab", "abc", "b;", "é"]
    rows = [(int(i % 5 == 0), i * 37 % 101 / 10, words[i % 4]) for i in range(400)]
    if kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t (y INTEGER, s DOUBLE, word VARCHAR)")
            connection.execute(f"INSERT INTO t VALUES {str(rows)[1:-1]}")  # noqa: S608 - ours
            connection.execute("CREATE SEQUENCE numbers")
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (y INTEGER, s DOUBLE, word TEXT)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
            connection.commit()
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Make a database of each kind, which no test changes."""
    folder = tmp_path_factory.mktemp("databases")
    (folder / "duckdb").mkdir()
    (folder / "sqlite").mkdir()
    return {kind: make_table(kind, folder / kind / "rows.db") for kind in ("duckdb", "sqlite")}


def contents(path):
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def of_kinds(shared, own):
    return [(kind, query) for kind in ("duckdb", "sqlite") for query in [*shared, *own[kind]]]


@pytest.mark.parametrize("checked", [True, False], ids=["checked", "unchecked"])
@pytest.mark.parametrize(("kind", "attack"), of_kinds(ATTACKS, ATTACKS_OF))
def test_no_query_changes_a_bit_of_a_database(kind, attack, checked, files, tmp_path, monkeypatch):
    """What the check of the query lets through, if it ever does, the database refuses."""
    before = contents(files[kind])
    if not checked:
        monkeypatch.setattr(databases, "read_select", lambda query, _: query)
    query = attack.format(other=tmp_path / "other.db")
    message = None
    try:
        with open_table(f"{kind}://{files[kind]}", None, query) as table:
            table.to_pyarrow()
    except uc.InputError as error:
        message = str(error)
    assert message or not checked
    assert "\n" not in (message or "")
    assert contents(files[kind]) == before
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_the_command_refuses_what_follows_a_select(kind, files, capsys):
    before = contents(files[kind])
    query = "SELECT * FROM t; DROP TABLE t"
    assert main(["evaluate", "--from", f"{kind}://{files[kind]}", "--query", query, *COLUMNS]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--query must be one SELECT; got 2 statements" in line
    assert contents(files[kind]) == before


READ = [
    "SELECT * FROM t",
    "SELECT * FROM t;",
    "SELECT * FROM t ; -- DROP TABLE t;",
    "SELECT word FROM t WHERE word = 'b;' -- a comment at the end",
    '/* ; */ SELECT word AS "a;b -- c" FROM t /* ; DROP TABLE t; */',
    "WITH x AS (SELECT y FROM t), z AS (SELECT * FROM x) SELECT y, count(*) AS n FROM z GROUP BY y",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n",
    "SELECT y FROM t UNION SELECT 7 AS y",
    "SELECT y FROM t EXCEPT SELECT 0",
    "SELECT s, row_number() OVER (PARTITION BY y ORDER BY s, word) AS place FROM t",
    "SELECT * FROM (VALUES (1, 2.5), (3, 4.5)) AS v",
    "VALUES (1, 'a'), (2, 'b;')",
    "SELECT y FROM t WHERE s > (SELECT avg(s) FROM t)",
    "SELECT CASE WHEN word LIKE 'a%' THEN 1 ELSE 0 END AS y FROM t",
    "SELECT y FROM t WHERE NOT EXISTS (SELECT 1 FROM t WHERE s < 0)",
    "SELECT y, s FROM t ORDER BY s, y LIMIT 7 OFFSET 3",
    "SELECT -7 % 3 AS a, 7 / 2 AS b, round(2.5) AS c FROM t LIMIT 1",
]
READ_OF = {
    "duckdb": [
        "FROM t",
        "FROM t SELECT y WHERE y = 1",
        "SELECT * EXCLUDE (word) FROM t",
        "SELECT * REPLACE (s + 1 AS s) FROM t",
        "SELECT y, s FROM t QUALIFY row_number() OVER (PARTITION BY y ORDER BY s, word) = 1",
        "SELECT COLUMNS('[ys]') FROM t",
        "SELECT y::BOOLEAN AS y, s::DECIMAL(9, 1) AS s FROM t",
        "SELECT max(s) AS s, y FROM t GROUP BY ALL ORDER BY ALL",
        "SELECT word FROM t WHERE word ~ 'ab'",
        "SELECT 2 ** 3 ** 2 AS a, 7 // 2 AS b, {'k': 1}.k AS c FROM t LIMIT 1",
        "SELECT [i + 1 for i in [1, 2] if i > 1] AS a FROM t LIMIT 1",
    ],
    "sqlite": [
        "SELECT \"s\" FROM [t] WHERE `word` GLOB 'a*'",
        "SELECT y IS NOT 1 AS y, '{\"a\": 2}' -> '$.a' AS a FROM t",
    ],
}


@pytest.mark.parametrize(("kind", "query"), of_kinds(READ, READ_OF))
def test_a_query_gives_the_rows_that_the_database_itself_gives(kind, query, files):
    path = files[kind]
    if kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            expected = connection.execute(query).fetchall()
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA case_sensitive_like = ON")  # as Ibis has it
            expected = connection.execute(query).fetchall()
    with open_table(f"{kind}://{path}", None, query) as table:
        columns = table.to_pyarrow().to_pydict().values()
    assert expected
    key = [str(row) for row in expected]
    assert sorted(map(str, zip(*columns, strict=True))) == sorted(key)


def test_a_query_that_is_not_read_leads_to_a_view(tmp_path, capsys):
    path = make_table("duckdb", tmp_path / "rows.db")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW counted AS SELECT y, s FROM t WHERE y >= 0")
    url = ["--from", f"duckdb://{path}"]
    assert main(["evaluate", *url, "--query", "PIVOT t ON y USING sum(s)", *COLUMNS]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "make a view of it there and name it by --table" in line
    assert main(["evaluate", *url, "--table", "counted", *COLUMNS]) == 0


@pytest.fixture
def secret(tmp_path):
    """Write a file that the user has, and nobody named."""
    path = tmp_path / "secret.csv"
    path.write_text("y,s\n" + "1,0.5\n,0.25\n" * 40)
    return path


@pytest.mark.parametrize("reader", ["read_csv", "read_text", "glob", "bare"])
@pytest.mark.parametrize("how", ["view", "macro", "query"])
def test_nothing_in_a_duckdb_file_reads_another_file(reader, how, secret, tmp_path):
    path = make_table("duckdb", tmp_path / "stranger.db")
    read = f"'{secret}'" if reader == "bare" else f"{reader}('{secret}')"
    columns = "y, s" if reader in ("read_csv", "bare") else "1 AS y, 0.5 AS s"
    select = f"SELECT {columns} FROM {read}"  # noqa: S608 - the test's own
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW stranger AS {select}")
        connection.execute(f"CREATE MACRO peek() AS TABLE {select}")
    where = {
        "view": ("stranger", None),
        "macro": (None, "SELECT * FROM peek()"),
        "query": (None, select),
    }
    with pytest.raises(uc.InputError) as error:  # noqa: SIM117 - either may refuse
        with open_table(f"duckdb://{path}", *where[how]) as table:
            table.to_pyarrow()
    asks = "its own tables are read; this query or a view in it asks for another file"
    assert asks in str(error.value) or "secret.csv does not exist" in str(error.value)


def test_a_duckdb_file_is_open_for_nothing_else(tmp_path):
    path = make_table("duckdb", tmp_path / "rows.db")
    with open_table(f"duckdb://{path}?read_only=false&enable_external_access=true", "t", None) as t:
        connection = t.get_backend().con
        for setting in (
            "enable_external_access",
            "autoinstall_known_extensions",
            "autoload_known_extensions",
            "allow_community_extensions",
        ):
            (value,) = connection.execute(f"SELECT current_setting('{setting}')").fetchone()
            assert value is False, setting
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute("DELETE FROM t")


def test_two_jobs_read_one_duckdb_file_at_once(tmp_path):
    path = make_table("duckdb", tmp_path / "rows.db")
    options = ["evaluate", "--from", f"duckdb://{path}", "--table", "t", *COLUMNS]
    command = [sys.executable, "-m", "undercount", *options]
    with open_table(f"duckdb://{path}", None, "SELECT * FROM t") as table:
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ours
        assert table.count().to_pyarrow().as_py() == 400
    assert "400 rows read" in done.stdout, done.stderr


@pytest.mark.parametrize("where", [("t", None), (None, "SELECT * FROM t")])
def test_rows_that_arrive_between_two_looks_are_not_seen(where, tmp_path):
    path = make_table("sqlite", tmp_path / "rows.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        with open_table(f"sqlite://{path}", *where) as table:
            first = table.count().to_pyarrow().as_py()
            writer.execute("INSERT INTO t VALUES (1, 1, 'x')")
            writer.commit()
            assert table.count().to_pyarrow().as_py() == first == 400
        with open_table(f"sqlite://{path}", *where) as table:
            assert table.count().to_pyarrow().as_py() == 401


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", ["a b.db", "a%20b.db", "a#b.db"])
def test_names_of_files_with_signs_are_those_of_the_url(kind, name, tmp_path):
    path = make_table(kind, tmp_path / name)
    address = str(path).replace("#", "%23")
    for url in (f"{kind}://{address}", f"{kind}:///{address}"):
        with open_table(url, "t", None) as table:
            assert table.count().to_pyarrow().as_py() == 400
    assert {file.name for file in tmp_path.iterdir()} == {name}


def test_a_bare_path_is_protected_too(tmp_path):
    path = make_table("duckdb", tmp_path / "rows.duckdb")
    before = contents(path)
    with open_table(str(path), "t", None) as table, pytest.raises(duckdb.Error, match="read-only"):
        table.get_backend().con.execute("DROP TABLE t")
    assert contents(path) == before
    table = open_table("rows.csv", "rows", None)
    with pytest.raises(uc.InputError, match="Name files of rows as DATA"):
        table.__enter__()


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_file_that_is_not_there_is_refused_and_not_made(kind, tmp_path):
    path = tmp_path / "scores.db"
    table = open_table(f"{kind}://{path}", "monthly", None)
    with pytest.raises(uc.InputError, match="names no file"):
        table.__enter__()
    assert not path.exists()


def test_a_table_that_is_not_there_is_called_one(tmp_path):
    path = tmp_path / "scores.db"
    duckdb.connect(str(path)).close()
    table = open_table(f"duckdb://{path}", "monthly", None)
    with pytest.raises(uc.InputError, match="NotFound: monthly"):
        table.__enter__()
