"""Open a table or a query of a database through Ibis; what it says never holds the password."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from undercount.errors import InputError

# Parameters of a URL that may hold a secret.
SECRET = re.compile(r"pass|secret|token|key|credential", re.IGNORECASE)
# Whose URL names a file.
FILE_DATABASES = ("duckdb", "sqlite")
# Lives as long as the connection.
VIEW = "undercount_query"


@contextmanager
def open_table(url: str, table: str | None, query: str | None) -> Iterator[Any]:
    """Connect, and return the table or the result of the query, as Ibis has it.

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
        Whatever the database refuses, without a password.
    """
    if (table is None) == (query is None):
        raise InputError("name either --table or --query beside --from")
    try:
        import ibis  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("--from needs Ibis: pip install 'undercount[sql]'") from None
    _refuse_missing_file(url)
    with _without_secrets(url):
        connection = ibis.connect(url)
    try:
        with _without_secrets(url):
            yield _run_query(connection, query) if query else _find_table(connection, str(table))
    finally:
        connection.disconnect()


def _refuse_missing_file(url: str) -> None:
    """Refuse a file that is not there: the engine would make an empty database of it."""
    parts = urlsplit(url)
    path = unquote(parts.netloc + parts.path)
    if parts.scheme in FILE_DATABASES and path and ":" not in path and not Path(path).exists():
        raise InputError(
            f"--from names no file: {path}. {parts.scheme}://scores.db is a file of this folder, "
            f"{parts.scheme}:///data/scores.db one of the folder /data"
        )


def _find_table(connection: Any, name: str) -> Any:
    schema, _, bare = name.rpartition(".")
    return connection.table(bare, database=schema) if schema else connection.table(name)


def _run_query(connection: Any, query: str) -> Any:
    """Take the result of a query for a table; nothing is run before it is counted."""
    try:
        return connection.sql(query)
    except Exception:  # noqa: BLE001 - some pairs of Ibis and sqlglot fail to describe a query
        connection.raw_sql(f"CREATE TEMPORARY VIEW {VIEW} AS {query}")
        return connection.table(VIEW)


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
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        kind = type(error).__name__  # some say no more than the name of the table
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
    for secret in {form for each in secrets for form in (each, unquote(each)) if form}:
        text = text.replace(secret, "***")
    # What is not spelt as in the URL stands between a name and the @.
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)
