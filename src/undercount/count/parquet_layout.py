"""How the columns of Parquet files are named and typed, and how DuckDB is kept from changing that.

Of several files DuckDB takes the types of the first for all, so that scores of 0.4 after a file of
whole numbers would become 0. And what it does not keep apart it renames: of two columns `s`, or `s`
and `S`, the second is called `s_1`, even where another column has that name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import duckdb

from undercount.count.arrays import LARGEST_EXACT_INTEGER
from undercount.count.csv_layout import check_unique_columns
from undercount.count.long_integers import has_long_integers
from undercount.count.sql import list_files, quote_name, quote_text
from undercount.errors import InputError

PARQUET_FLOATS = ("FLOAT", "DOUBLE")
PARQUET_LONG_INTEGERS = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")
PARQUET_NUMBERS = (
    *PARQUET_FLOATS,
    *PARQUET_LONG_INTEGERS,
    "BOOLEAN",
    *(f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER")),
)
TOO_LONG = f"whole numbers must stay within ±2**53 to be kept apart; got one beyond {2**53}"


class ParquetLayout(NamedTuple):
    """Files whose columns have the same names and types, as the files have them."""

    files: tuple[str, ...]
    types: Mapping[str, str]


def read_layouts(
    connection: duckdb.DuckDBPyConnection, files: Sequence[str], wanted: Sequence[str]
) -> list[ParquetLayout]:
    """Group files by the names and types of their columns; refuse names that are not clear."""
    about = "name, type, type_length, num_children, converted_type, scale, precision, logical_type"
    table = f"SELECT *, row_number() OVER () AS place FROM parquet_schema({list_files(files)})"  # noqa: S608 - quoted
    schemas = dict(
        connection.sql(
            f"SELECT file_name, string_agg(({about})::VARCHAR ORDER BY place) FROM ({table}) "  # noqa: S608 - quoted
            "GROUP BY file_name"
        ).fetchall()
    )
    alike: dict[str, list[str]] = {}
    for file in files:  # by its own name, should it be called otherwise there
        alike.setdefault(schemas.get(file, file), []).append(file)
    return [
        ParquetLayout(tuple(group), _types(connection, group[0], wanted))
        for group in alike.values()
    ]


def _types(
    connection: duckdb.DuckDBPyConnection, file: str, wanted: Sequence[str]
) -> dict[str, str]:
    """Return the type of each column by the file's own name for it."""
    one = list_files([file])
    schema = connection.sql(
        f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({one})"  # noqa: S608 - quoted
    ).fetchall()
    names = list(_without_nested(iter(schema[1:])))
    check_unique_columns(file, names, wanted)
    relation = connection.sql(f"FROM read_parquet({one}, hive_partitioning=false)")
    given = dict(zip(names, relation.columns, strict=True))
    for name in wanted:
        if given.get(name, name) != name:
            raise too_like(file, name)
    return {name: str(kind) for name, kind in zip(names, relation.types, strict=True)}


def too_like(file: str, name: str) -> InputError:
    """Say that a column cannot be told from another."""
    return InputError(
        f"the name of column {name!r} of {file} is too like another's, from which it differs only "
        "in case, say: DuckDB does not keep them apart; rename one"
    )


def _without_nested(schema: Iterator[tuple[str, int]]) -> Iterator[str]:
    """Pass over children, which follow their parent, each with its own."""
    left = 0
    for name, children in schema:
        if left == 0:
            yield name
            left = children
        else:
            left += children - 1


def pick_columns(layouts: Sequence[ParquetLayout], wanted: Sequence[str]) -> list[str]:
    """Write for each group of files what to select, such that numbers are of one type."""
    columns = []
    for layout in layouts:
        picked = []
        for name in dict.fromkeys(wanted):
            kinds = {item.types[name] for item in layouts if name in item.types}
            column, kind = quote_name(name), layout.types.get(name, "")
            numbers = all(item in PARQUET_NUMBERS or item.startswith("DECIMAL") for item in kinds)
            if len(kinds) > 1 and numbers and kinds & {*PARQUET_FLOATS}:
                picked.append(f"{_as_double(column, kind)} AS {column}")
            elif len(kinds) > 1 and kind == "FLOAT":  # as text its digits would be other ones
                picked.append(f"CAST({column} AS DOUBLE) AS {column}")
            else:
                picked.append(column)
        columns.append(", ".join(picked))
    return columns


def _as_double(column: str, kind: str) -> str:
    """Write an integer or float as a double, which keeps integers apart up to 2⁵³."""
    if kind not in PARQUET_LONG_INTEGERS and not has_long_integers(kind):
        return f"CAST({column} AS DOUBLE)"
    inside = f"{column} BETWEEN -{LARGEST_EXACT_INTEGER} AND {LARGEST_EXACT_INTEGER}"
    return (
        f"CASE WHEN {column} IS NULL OR {inside} THEN CAST({column} AS DOUBLE) "
        f"ELSE CAST(error({quote_text(TOO_LONG)}) AS DOUBLE) END"
    )
