"""Open a table or a query of a database through Ibis, to read it and nothing else.

What is said of it never holds the password.
"""

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from undercount.count.atomic_file import name_process, remove_if_stopped
from undercount.count.one_select import read_select
from undercount.count.sql import CLOSED, close_files
from undercount.errors import InputError

# Parameters of a URL that may hold a secret.
SECRET = re.compile(r"pass|secret|token|key|credential", re.IGNORECASE)
# Whose URL names a file, and how Ibis takes a bare path for one of them.
FILE_DATABASES = ("duckdb", "sqlite")
ENDINGS = {".duckdb": "duckdb", ".sqlite": "sqlite", ".db": "sqlite"}
# MotherDuck, which is no file although its URL begins as those of files.
REMOTE = ("md:", "motherduck:")
# How a database without a file is called.
MEMORY = ":memory:"
# What PostgreSQL calls the types of columns; Ibis has one word for all enumerations.
POSTGRES_TYPES = """
    SELECT CASE t.typtype WHEN 'e' THEN 'enum' ELSE pg_catalog.format_type(t.oid, c.modifier) END
    FROM unnest(%s::oid[], %s::integer[]) WITH ORDINALITY AS c(type, modifier, place)
    JOIN pg_catalog.pg_type AS t ON t.oid = c.type
    ORDER BY c.place
"""


@contextmanager
def open_table(url: str, table: str | None, query: str | None) -> Iterator[Any]:
    """Connect, and return the table or the result of the query, as Ibis has it.

    DuckDB, SQLite and PostgreSQL are opened for reading alone, and until the end every query sees
    the rows of one moment, whoever writes meanwhile.

    Parameters
    ----------
    url : str
        As `ibis.connect` takes it: ``postgres://user@host/database``, ``duckdb://file.db``.
    table : str, optional
        Name, perhaps with its schema before a point.
    query : str, optional
        A SELECT, instead of a table.

    Raises
    ------
    InputError
        A query that is not one SELECT, or whatever the database refuses, without a password.
    """
    if (table is None) == (query is None):
        raise InputError("name either --table or --query beside --from")
    try:
        import ibis  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise InputError("--from needs Ibis: pip install 'undercount[sql]'") from None
    with _without_secrets(url), _connect(url) as connection:
        if query is None:
            rows = _find_table(connection, str(table))
        else:
            rows = _run_query(connection, read_select(query, connection.dialect))
        if connection.name == "sqlite":  # Ibis ends the transaction in which it looks for types
            connection.con.execute("BEGIN")
        yield rows


def _connect(url: str) -> AbstractContextManager[Any]:
    """Connect in the way that protects this kind of database best."""
    kind, path = _find_file(url)
    if kind == "duckdb":
        return _open_duckdb(path, dict(parse_qsl(urlsplit(url).query)))
    if kind == "sqlite":
        return _open_sqlite(path)
    if urlsplit(url).scheme in ("postgres", "postgresql"):
        return _open_postgres(url)
    return _open_other(url)


def _find_file(url: str) -> tuple[str, str]:
    """Return the kind and path of a database that is a file, or nothing; refuse what is missing."""
    parts = urlsplit(url)
    kind, path = parts.scheme, parts.netloc + parts.path
    if len(kind) == 1:  # a letter of Windows
        kind, path = "file", url
    if kind in ("", "file"):
        ending = Path(path).suffix
        if ending not in ENDINGS:
            raise InputError(
                f"--from must be the URL of a database, duckdb://scores.db say; got {path}. Name "
                "files of rows as DATA"
            )
        kind = ENDINGS[ending]
    if kind not in FILE_DATABASES or path.startswith(REMOTE):
        return "", ""
    if path in ("", MEMORY):
        return kind, MEMORY
    for name in (path, unquote(path)):
        if Path(name).exists():
            return kind, name
    raise InputError(  # the engine would make an empty database of it
        f"--from names no file: {unquote(path)}. {kind}://scores.db is a file of this folder, "
        f"{kind}:///data/scores.db one of the folder /data"
    )


@contextmanager
def _open_duckdb(path: str, options: dict[str, Any]) -> Iterator[Any]:
    """Open a DuckDB file for reading; its views, perhaps a stranger's, reach no other file."""
    import ibis  # noqa: PLC0415 - an extra

    with (
        tempfile.TemporaryDirectory(prefix=f"undercount-{name_process()}-") as spill,
        remove_if_stopped(Path(spill)),
    ):
        # Beside the database two jobs would spill into one folder.
        options |= {**CLOSED, "temp_directory": spill, "read_only": path != MEMORY}
        connection = ibis.duckdb.connect(path, **options)
        try:
            if path != MEMORY:  # else there is nothing but the files that the query names
                close_files(connection.con, spill)
            connection.con.execute("BEGIN TRANSACTION READ ONLY")
            yield connection
        finally:
            connection.disconnect()


@contextmanager
def _disconnect_after(connection: Any) -> Iterator[Any]:
    try:
        yield connection
    finally:
        connection.disconnect()


def _open_sqlite(path: str) -> AbstractContextManager[Any]:
    """Open an SQLite file for reading."""
    import ibis  # noqa: PLC0415 - an extra

    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    return _disconnect_after(ibis.sqlite.from_connection(sqlite3.connect(address, uri=True)))


@contextmanager
def _open_postgres(url: str) -> Iterator[Any]:
    """Connect to PostgreSQL for one transaction that reads, and is rolled back."""
    with _open_other(url) as connection:
        from psycopg import IsolationLevel  # noqa: PLC0415 - at hand since Ibis has connected

        connection.con.read_only = True
        connection.con.isolation_level = IsolationLevel.REPEATABLE_READ
        with connection.con.transaction(force_rollback=True):
            yield connection


def _open_other(url: str) -> AbstractContextManager[Any]:
    """Connect as Ibis does; only the rights of the user protect the database."""
    import ibis  # noqa: PLC0415 - an extra

    return _disconnect_after(ibis.connect(url))


def _find_table(connection: Any, name: str) -> Any:
    schema, _, bare = name.rpartition(".")
    return connection.table(bare, database=schema) if schema else connection.table(name)


def _run_query(connection: Any, query: str) -> Any:
    """Take the result of a query for a table; no row is read before it is counted."""
    if connection.name == "sqlite":
        schema = connection.sql(query).schema()
    elif connection.name in KNOWS_TYPES:
        types = KNOWS_TYPES[connection.name](connection.con, query)
        read = connection.compiler.type_mapper.from_string
        schema = {name: read(kind) for name, kind in types.items()}
    else:
        return connection.sql(query)
    _leave_queries(connection)
    return connection.sql(query, schema=schema)


def _look_at_none(query: str) -> str:
    return f"SELECT * FROM {_embed(query)} LIMIT 0"  # noqa: S608 - one SELECT, as was checked


def _embed(query: str) -> str:
    """Write a query inside another; on lines of its own, for a comment may end it."""
    return f"(\n{query}\n) AS undercount_query"


def _duckdb_types(connection: Any, query: str) -> dict[str, str]:
    """Return the types of a query's columns, after DuckDB too has read it as one statement."""
    if len(connection.extract_statements(query)) != 1:
        raise InputError("--query must be one SELECT; DuckDB reads it as several statements")
    columns = connection.execute(f"DESCRIBE {_look_at_none(query)}").fetchall()
    return {name: kind for name, kind, *_ in columns}


def _postgres_types(connection: Any, query: str) -> dict[str, str]:
    """Return the types of a query's columns."""
    with connection.cursor() as cursor:
        # What is prepared can be one statement only, as the server reads it.
        cursor.execute(_look_at_none(query), prepare=True)
        names = [column.name for column in cursor.description]
        oids = [column.type_code for column in cursor.description]
        modifiers = [cursor.pgresult.fmod(place) for place in range(len(names))]
        types = cursor.execute(POSTGRES_TYPES, [oids, modifiers]).fetchall()
    return {name: kind for name, (kind,) in zip(names, types, strict=True)}


KNOWS_TYPES = {"duckdb": _duckdb_types, "postgres": _postgres_types}


def _leave_queries(connection: Any) -> None:
    """Let Ibis hand on queries as they are written.

    It would write them anew from what sqlglot has read, and not always the same: of DuckDB 1's
    ``word ~ 'ab'``, which asks of the whole word, it makes one that asks of any part.
    """
    import sqlglot  # noqa: PLC0415 - an extra

    class Compiler(type(connection.compiler)):  # type: ignore[misc]  # the class of this database
        __slots__ = ()

        def visit_SQLQueryResult(self, _: Any, *, query: str, **__: Any) -> Any:  # noqa: N802 - Ibis's
            text = sqlglot.expressions.Var(this=_embed(query))
            return sqlglot.select("*").from_(text).subquery(copy=False)

    connection.compiler = Compiler()


@contextmanager
def _without_secrets(url: str) -> Iterator[None]:
    """Turn what a driver raises into one line, in which no secret of the URL is left."""
    try:
        yield
    except (InputError, KeyboardInterrupt, GeneratorExit):
        raise
    except ModuleNotFoundError as error:
        kind = urlsplit(url).scheme
        raise InputError(
            f"this database needs a driver, {error.name}: pip install 'ibis-framework[{kind}]'"
        ) from None
    except Exception as error:  # noqa: BLE001 - each driver has errors of its own
        # What a query failed of stands behind the cursor that Ibis then looks for in vain.
        cursor = type(error).__name__ == "InvalidCursorName"
        cause = error.__context__ or error if cursor else error
        if type(cause).__name__ == "PermissionException":  # DuckDB's
            raise InputError(
                "of a DuckDB database its own tables are read; this query or a view in it asks "
                "for another file. Put the rows of that file into a table first"
            ) from None
        lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
        kind = type(cause).__name__  # some say no more than the name of the table
        words = lines[0] if lines and " " in lines[0] else ": ".join([kind, *lines[:1]])
        what = redact(words, url)
        raise InputError(
            f"the database says: {what}. Look at --from, --table or --query, and at the columns"
        ) from None


def redact(text: str, url: str) -> str:
    """Take the secrets of a URL out of a text.

    Examples
    --------
    >>> from undercount.count.databases import redact
    >>> redact("no route to postgres://ann:h%40sh@db/x", "postgres://ann:h%40sh@db/x")
    'no route to postgres://ann:***@db/x'
    """
    parts = urlsplit(url)
    secrets = [parts.password or ""]
    secrets += [value for name, value in parse_qsl(parts.query) if SECRET.search(name)]
    for secret in {form for word in secrets for form in (word, unquote(word)) if form}:
        text = text.replace(secret, "***")
    # What is not spelt as in the URL stands between a name and the @.
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)
