"""Names, strings and files as SQL writes them, and which options a DuckDB has."""

import glob
import os
from functools import cache
from typing import Any

import duckdb

# No extension is fetched or loaded unasked, and none may come from elsewhere.
CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}


def quote_name(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(value: str) -> str:
    """Quote a string for SQL."""
    return "'" + value.replace("'", "''") + "'"


def quote_file(file: str | os.PathLike[str]) -> str:
    """Quote a file's name for SQL; DuckDB must not take marks in it for a pattern."""
    return quote_text(glob.escape(os.fspath(file)))


def open_database(**settings: Any) -> duckdb.DuckDBPyConnection:
    """Open a database in memory that fetches nothing: all connections are made here."""
    return duckdb.connect(config={**CLOSED, **settings})


@cache
def knows_option(function: str, option: str) -> bool:
    """Tell whether a function of the DuckDB that is installed has an option."""
    sql = f"SELECT parameters FROM duckdb_functions() WHERE function_name = '{function}'"  # noqa: S608 - ours
    with open_database() as connection:
        return any(option in row[0] for row in connection.sql(sql).fetchall())
