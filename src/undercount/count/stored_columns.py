"""Columns of databases and engines as they can be counted.

What a declared type hides is refused, numbers of unusual types are cast, and text that names groups
is compared character by character, whatever the column's collation says.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import narwhals as nw

from undercount.count.arrays import row_words
from undercount.count.queries import ROWS, Frame, collect
from undercount.count.sql import quote_name
from undercount.errors import InputError, named

if TYPE_CHECKING:
    from undercount.count.groups import ColumnRoles

# How engines call the type of a column that holds nothing but missing values.
EMPTY_COLUMN_TYPES = ("null", '"null"', "void")
# Values whose kind SQLite may store in a column of numbers, whatever the column was declared as.
NO_NUMBERS = ("text", "blob")
# So a message names a type in a CAST that nearly every database understands.
NUMBER_TYPE = "DOUBLE PRECISION"


def stored_type(frame: Any, name: str) -> str:
    """Name a column's type as its engine does, in small letters; nothing if it is in memory.

    Examples
    --------
    >>> import duckdb, narwhals as nw
    >>> from undercount.count.stored_columns import stored_type
    >>> stored_type(nw.from_native(duckdb.sql("SELECT '101'::BIT AS b")), "b")
    'bit'
    """
    engine, native = frame.implementation, frame.to_native()
    if engine.is_duckdb():
        return str(dict(zip(native.columns, native.types, strict=True))[name]).lower()
    if engine.is_ibis():
        kind = native.schema()[name]
        raw: Any = getattr(kind, "raw_type", None)  # of what Ibis has no word for
        return str(raw.sql() if hasattr(raw, "sql") else raw or kind).lower()
    if _is_spark(frame):
        return str(native.schema[name].dataType.simpleString())
    return ""


def check_names(frame: Any, wanted: Sequence[str]) -> None:
    """Refuse columns that Spark cannot find by their name, or finds twice."""
    if not _is_spark(frame):
        return
    native = frame.to_native()
    for name in wanted:
        if "." in name or "`" in name:
            simple = name.replace(".", "_").replace("`", "_")
            raise InputError(
                f"Spark takes a point or a backtick in a column's name for its own signs; got "
                f"{name!r}. Rename the column: frame.withColumnRenamed({name!r}, {simple!r})"
            )
        alike = [column for column in native.columns if column.lower() == name.lower()]
        if len(alike) > 1 and (alike.count(name) > 1 or not _minds_case(native)):
            raise InputError(
                f"each column must have a name of its own, not in case alone; {name!r} may be any "
                f"of {', '.join(map(repr, alike))}. Rename one, for example by frame.toDF(…)"
            )


def _minds_case(native: Any) -> bool:
    return bool(native.sparkSession.conf.get("spark.sql.caseSensitive") == "true")


def _is_spark(frame: Any) -> bool:
    return bool(frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect())


def is_number(frame: Any, name: str) -> bool:
    """Tell whether a column holds numbers, truth values, or nothing at all."""
    kind = frame.collect_schema()[name]
    if kind != nw.Unknown:
        return bool(kind.is_numeric() or kind == nw.Boolean)
    return stored_type(frame, name) in ("", *EMPTY_COLUMN_TYPES)


def check_number_columns(frame: Frame, label: str, others: Sequence[str], place: str) -> None:
    """Refuse columns of a database that hold no numbers, and say what SQL makes numbers of them."""
    for name in (label, *others):
        if is_number(frame, name):
            continue
        kind, column = stored_type(frame, name), quote_name(name)
        cast = f"CAST({column} AS {NUMBER_TYPE})"
        if frame.collect_schema()[name].is_temporal():
            cast = f"EXTRACT(EPOCH FROM {column})"
        elif name == label and "int" not in kind:
            cast = f"CASE WHEN {column} = … THEN 1 ELSE 0 END"
        raise InputError(
            f"column {name!r} of {place} must hold numbers; its type is {kind}. Make numbers of it "
            f"in --query, as {cast} AS {column}"
        )


def numbers_of(
    frame: Frame, label: str, scores: Sequence[str], others: Sequence[str], place: str
) -> Frame:
    """Make numbers of the columns of a database that is named in a command, or refuse them."""
    check_number_columns(frame, label, [*scores, *others], place)
    check_stored_numbers(frame, [label, *scores, *others])
    return as_numbers(frame, scores, [label, *others])


def prepare_columns(frame: Frame, columns: "ColumnRoles", groups: Sequence[str]) -> Frame:
    """Make the columns of an engine what counting takes them for, or refuse them."""
    others = [columns.label, *([columns.weight] if columns.weight else [])]
    check_stored_numbers(frame, [*others, *columns.scores])
    return tell_apart(as_numbers(frame, columns.scores, others), groups)


def as_numbers(frame: Frame, scores: Sequence[str], others: Sequence[str]) -> Frame:
    """Cast truth values among scores, which not every database subtracts, to numbers.

    Of labels and weights long decimal numbers are cast too: some hold a NaN that does not travel.
    """
    if frame.implementation.is_dask() or frame.implementation.is_polars():
        return frame
    schema = frame.collect_schema()
    columns = []
    for name in scores:
        if schema[name] == nw.Boolean:
            value = nw.col(name)
            false = nw.when(~value).then(nw.lit(0))
            number = nw.when(value).then(nw.lit(1)).otherwise(false)
            columns.append(number.cast(nw.Float64).alias(name))
    long = (nw.Decimal, nw.Int128, nw.UInt128)
    # SQLite tells a query's types by its first row, which may hold nothing.
    empty = [
        name
        for name in (*scores, *others)
        if schema[name] == nw.Unknown and stored_type(frame, name) in EMPTY_COLUMN_TYPES
    ]
    columns += [nw.col(name).cast(nw.Float64) for name in others if schema[name] in long]
    columns += [nw.col(name).cast(nw.Float64) for name in dict.fromkeys(empty)]
    return frame.with_columns(*columns) if columns else frame


def tell_apart(frame: Frame, names: Sequence[str]) -> Frame:
    """Compare text in these columns by its characters.

    A column whose collation takes A for a is grouped under either, so that which rows a segment
    has would be left to chance: SQLite's NOCASE, citext of PostgreSQL.
    """
    schema, native = frame.collect_schema(), frame.to_native()
    texts = [name for name in dict.fromkeys(names) if schema[name] == nw.String]
    if texts and frame.implementation.is_duckdb():
        said = ", ".join(f"{quote_name(name)} COLLATE C AS {quote_name(name)}" for name in texts)
        native = native.project(f"* REPLACE ({said})")
    elif texts and frame.implementation.is_ibis():
        change = _BY_CHARACTER.get(native.get_backend().name, lambda column: column)
        native = native.mutate(**{name: change(native[name]) for name in texts})
    else:
        return frame
    result: Frame = nw.from_native(native)
    return result


@cache
def _function(name: str, takes: tuple[str, ...], gives: str) -> Any:
    """Declare a function that a database has."""
    from ibis import udf  # noqa: PLC0415 - only frames of Ibis come here

    def of_one(value: Any) -> None:
        """Stand for the database's own."""

    def of_two(value: Any, encoding: Any) -> None:
        """Stand for the database's own."""

    declared = of_one if len(takes) == 1 else of_two
    return udf.scalar.builtin(declared, name=name, signature=(takes, gives))


def _of_postgres(column: Any) -> Any:
    """Take the characters through bytes, which have no collation."""
    code = _function("convert_to", ("string", "string"), "binary")(column.cast("string"), "UTF8")
    return _function("convert_from", ("binary", "string"), "string")(code, "UTF8")


def _of_duckdb(column: Any) -> Any:
    code = _function("encode", ("string",), "binary")(column)
    return _function("decode", ("binary",), "string")(code)


# What forgets the collation of a column, by database. A cast would keep it.
_BY_CHARACTER = {
    "sqlite": lambda column: column.concat(""),
    "duckdb": _of_duckdb,
    "postgres": _of_postgres,
}


def check_group_collation(frame: Any, by: Sequence[str], keys: Iterable[Any]) -> None:
    """Refuse groups of which a database has fewer, because its collation takes some for one.

    Asked only of databases whose columns cannot be compared by character here, and only if there
    are groups that may be such.
    """
    if not (by and frame.implementation.is_ibis()):
        return
    if frame.to_native().get_backend().name in _BY_CHARACTER:
        return
    tuples = [key if isinstance(key, tuple) else (key,) for key in keys]
    if len({tuple(map(_fold, key)) for key in tuples}) == len(tuples):
        return
    groups = collect(frame.group_by(*by).agg(nw.len().alias(ROWS)))
    if len(groups[ROWS]) < len(tuples):
        raise InputError(
            f"{named('by')} must name columns whose values the database tells apart; that of "
            f"{', '.join(map(repr, by))} takes some spellings for one. Cast the column to binary, "
            "or write all in small letters, by SQL",
            argument="by",
        )


def _fold(value: Any) -> Any:
    """Write text as the widest collation compares it: without case, accents and spaces after."""
    if not isinstance(value, str):
        return value
    letters = unicodedata.normalize("NFKD", value).casefold().rstrip()
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def check_stored_numbers(frame: Frame, names: Sequence[str]) -> None:
    """Refuse what SQLite stores in a column of numbers and reads as another number.

    Its columns take any value: '' and 'n/a' would count as 0, and 2 in a BOOLEAN as true.
    """
    if not frame.implementation.is_ibis():
        return
    native: Any = frame.to_native()
    if native.get_backend().name != "sqlite":
        return
    hidden = {name: _is_hidden(native[name]) for name in dict.fromkeys(names)}
    aggregates = {
        f"hidden{place}": condition.cast("int64").sum()
        for place, condition in enumerate(hidden.values())
    }
    found = collect(nw.from_native(native.aggregate(**aggregates)))
    for place, (name, condition) in enumerate(hidden.items()):
        number = found[f"hidden{place}"][0]
        if number is None or not number > 0:  # no rows have no sum
            continue
        some = native.filter(condition).select(value=native[name].cast("string")).limit(1)
        value = collect(nw.from_native(some))["value"][0]
        column = quote_name(name)
        raise InputError(
            f"column {name!r} must hold what its type, {native.schema()[name]}, says; "
            f"{row_words(int(number))} of it hold{'s' if number == 1 else ''} something else, "
            f"{value!r} say, which SQLite would read as a number. Make it missing or what it means "
            f"by SQL, as CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS "
            f"REAL) END AS {column}"
        )


def _is_hidden(column: Any) -> Any:
    """Write the condition that a column of SQLite holds what its type does not let one expect."""
    stored, value = column.typeof(), column.cast("float64")
    hidden = stored.isin(NO_NUMBERS)
    if column.type().is_integer():
        hidden = hidden | (stored == "real")
    if column.type().is_boolean():
        hidden = hidden | ((value != 0.0) & (value != 1.0))
    return hidden.fill_null(False)  # noqa: FBT003 - Ibis's
