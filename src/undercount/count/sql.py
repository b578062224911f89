"""Names, strings and files as SQL writes them, and which options a DuckDB has."""

import glob
import os
from functools import cache

import duckdb


def quote_name(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(value: str) -> str:
    """Quote a string for SQL."""
    return "'" + value.replace("'", "''") + "'"


def quote_file(file: str | os.PathLike[str]) -> str:
    """Quote a file's name for SQL; DuckDB must not take marks in it for a pattern."""
    name = os.fspath(file)
    return quote_text(name if "://" in name else glob.escape(name))


@cache
def knows_option(function: str, option: str) -> bool:
    """Tell whether a function of the DuckDB that is installed has an option."""
    sql = f"SELECT parameters FROM duckdb_functions() WHERE function_name = '{function}'"  # noqa: S608 - ours
    with duckdb.connect() as connection:
        return any(option in row[0] for row in connection.sql(sql).fetchall())
