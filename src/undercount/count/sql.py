"""Names, strings and files as SQL writes them, and which options a DuckDB has."""

import glob
import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def list_files(files: Iterable[str | os.PathLike[str]]) -> str:
    """Write a list of files for SQL."""
    return "[" + ", ".join(map(quote_file, files)) + "]"


def open_database(temp_directory: str | None = None) -> "duckdb.DuckDBPyConnection":
    """Open a database in memory that fetches nothing: all connections are made here.

    What does not fit into memory goes to `temp_directory`, if one is named.
    """
    import duckdb  # noqa: PLC0415 - heavy, and names are quoted without it

    spill = {} if temp_directory is None else {"temp_directory": temp_directory}
    return duckdb.connect(config={**CLOSED, **spill})


def allow_only(
    connection: "duckdb.DuckDBPyConnection",
    files: Iterable[str | os.PathLike[str]],
    folders: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Let a connection open these files and folders and nothing else; it cannot be undone.

    DuckDB has this since 1.2; an older one opens what its queries name, as it always did.
    """
    if not _can_allow():
        return
    names = [os.fspath(file) for file in files]
    # A name with marks is asked for in both ways, escaped and found.
    paths = ", ".join(quote_text(name) for name in [*names, *map(glob.escape, names)])
    inside = ", ".join(quote_text(os.fspath(folder)) for folder in folders)
    connection.execute(
        f"SET allowed_paths = [{paths}]; SET allowed_directories = [{inside}]; "
        "SET enable_external_access = false"
    )


def close_files(connection: "duckdb.DuckDBPyConnection", folder: str) -> None:
    """Let a connection open no file but its own database and those of this folder."""
    if _can_allow():
        allow_only(connection, (), [folder])
    else:
        connection.execute("SET enable_external_access = false")


@cache
def _can_allow() -> bool:
    sql = "SELECT count(*) FROM duckdb_settings() WHERE name = 'allowed_paths'"
    with open_database() as connection:
        return bool(connection.sql(sql).fetchall()[0][0])


@cache
def knows_option(function: str, option: str) -> bool:
    """Tell whether a function of the DuckDB that is installed has an option."""
    sql = f"SELECT parameters FROM duckdb_functions() WHERE function_name = '{function}'"  # noqa: S608 - ours
    with open_database() as connection:
        return any(option in row[0] for row in connection.sql(sql).fetchall())
