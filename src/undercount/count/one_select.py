"""Check that a query is one SELECT that changes nothing, before any of it is run."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from undercount.errors import InputError

# What sqlglot calls the parts that change data, lock rows or set something, not by one name in
# every version. They may stand inside a SELECT, after WITH for example.
CHANGING_STATEMENTS = (
    *("DML", "DDL", "Command", "Into", "Lock", "Drop", "TruncateTable", "Alter", "AlterTable"),
    *("Set", "Pragma", "Attach", "Detach", "Use", "Install", "Analyze", "Cache", "LoadData"),
    *("Transaction", "Commit", "Rollback", "Kill", "Comment", "Grant", "Revoke"),
)
# Those of which the name is not what somebody wrote.
WRITTEN = {
    "into": "INTO, which makes a table",
    "lock": "FOR UPDATE or another lock of rows",
    "truncatetable": "TRUNCATE",
    "altertable": "ALTER",
    "loaddata": "LOAD",
}
WAY_ROUND = "If the database takes it as a query, make a view of it there and name it by --table"


def read_select(query: str, dialect: Any) -> str:
    """Return a query without its last semicolon; refuse all but one SELECT that only reads.

    Parameters
    ----------
    query : str
    dialect : str or class
        As sqlglot has it.

    Raises
    ------
    InputError
        No statement or several, another than SELECT, one inside a SELECT that changes something or
        locks rows, or text that cannot be read.

    Examples
    --------
    >>> from undercount.count.one_select import read_select
    >>> read_select("SELECT y, ';' AS s FROM t; -- all", "postgres")
    "SELECT y, ';' AS s FROM t"
    """
    from sqlglot import expressions as exp  # noqa: PLC0415 - an extra

    statements = _parse(query, dialect)
    if not statements:
        raise InputError("--query is empty; write one SELECT")
    if len(statements) > 1:
        raise InputError(
            f"--query must be one SELECT; got {len(statements)} statements. Leave out the others"
        )
    statement = statements[0]
    changes = tuple(getattr(exp, name) for name in CHANGING_STATEMENTS if hasattr(exp, name))
    for part in statement.walk():
        if isinstance(part, changes):
            raise InputError(f"--query must be one SELECT that only reads; got {_name(part)}")
    words = _tokens(query, dialect)
    if not isinstance(statement, (exp.Query, exp.Values)):
        raise InputError(f"--query must be a SELECT; got {words[0].text.upper()}. {WAY_ROUND}")
    end = len(query)
    while words[-1].token_type.name == "SEMICOLON":
        end = words.pop().start
    return query[:end].strip()


def _parse(query: str, dialect: Any) -> list[Any]:
    """Return the statements; say where the text cannot be read, but not what it says."""
    import sqlglot  # noqa: PLC0415 - an extra
    from sqlglot import errors, expressions  # noqa: PLC0415

    try:
        with _silence():
            statements = sqlglot.parse(query, read=dialect)
    except (errors.SqlglotError, RecursionError) as error:
        places = getattr(error, "errors", None) or [{}]
        line, column = (places[0].get(name) for name in ("line", "col"))
        where = f" (line {line}, column {column})" if line else ""
        raise InputError(f"--query cannot be read as a SELECT{where}. {WAY_ROUND}") from None
    # A comment after the last semicolon is a statement there.
    empty = (type(None), getattr(expressions, "Semicolon", type(None)))
    return [statement for statement in statements if not isinstance(statement, empty)]


def _tokens(query: str, dialect: Any) -> list[Any]:
    from sqlglot import Dialect  # noqa: PLC0415 - an extra

    return list(Dialect.get_or_raise(dialect).tokenize(query))


@contextmanager
def _silence() -> Iterator[None]:
    """Keep sqlglot from warning of statements that it cannot read in full: they are refused."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _name(part: Any) -> str:
    """Name a statement or clause as it is written."""
    if part.key == "command":
        return str(part.this).upper()
    key = str(part.key)
    return WRITTEN.get(key, key.upper())
