"""Count the rows of files through DuckDB, out of core."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import duckdb
import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import LARGEST_WEIGHT, WEIGHT_RULE, check_exact_as_floats
from undercount.count.csv_layout import MISSING_WORDS
from undercount.count.frames import count_scores
from undercount.count.long_integers import has_long_integers
from undercount.count.paths import Paths
from undercount.count.queries import fill_masked
from undercount.count.sources import Source, open_source
from undercount.count.sql import quote_name
from undercount.errors import InputError, named

# Beginnings and endings of the names that DuckDB gives to types of numbers.
DUCKDB_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "FLOAT",
    "DOUBLE",
    "BOOLEAN",
)

# How a time that names its zone ends, and what a date may look like as text. DuckDB itself passes
# over what it does not know (PM, EST), and takes "epoch" and the year 24.
ZONE = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"
DATE = (
    r"^\d{4}[-/]\d{1,2}[-/]\d{1,2}"
    r"([ T]\d{1,2}:\d\d(:\d\d(\.\d+)?)?\s*(Z|UTC|GMT|[+-]\d\d(:?\d\d)?)?)?$"
)


def read_counts(
    paths: Paths,
    *,
    label: str,
    score: str | Sequence[str],
    weight: str | None = None,
    unlabeled: float | None = None,
    bins: int | None = None,
    by: str | Sequence[str] | None = None,
    compact: bool | None = None,
    knots: Sequence[float] = (),
    digits: int | None = None,
    cluster: str | None = None,
    progress: Callable[[float], None] | bool | None = None,
) -> Any:
    r"""Count the rows of files without loading them.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV, TSV, Parquet or JSON lines, possibly compressed (.gz, .zst); a glob; a directory, also
        one of hive partitions; or "-" for standard input. Only the columns needed are read.
    label, score, weight, unlabeled, bins, by, compact, knots, digits, cluster, progress
        As for `count_scores`.

    Returns
    -------
    ScoreCounts, or a dict of them
        As for `count_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import undercount as uc
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "scored.csv")
    ...     _ = path.write_text("fraud,risk\n1,0.9\n,0.9\n,0.2\n")
    ...     uc.read_counts(path, label="fraud", score="risk")
    ScoreCounts: 3 rows: 1 labelled positive, 0 labelled negative, 2 unlabeled;
    2 distinct scores from 0.2 to 0.9
    """
    scores = [score] if isinstance(score, str) else list(score)
    groups = [by] if isinstance(by, str) else list(by or ())
    numbers = list(dict.fromkeys([label, *scores, *([weight] if weight else [])]))
    options: dict[str, Any] = {"label": label, "score": score, "weight": weight, "by": by}
    options |= {"unlabeled": unlabeled, "bins": bins, "compact": compact, "knots": knots}
    options |= {"digits": digits, "cluster": cluster}
    others = [*groups, *([cluster] if cluster else [])]
    texts = [name for name in groups if name not in numbers]
    with open_source(paths, [*numbers, *others], texts=texts) as source:
        relation = relation_of(source, numbers, others)
        try:
            return count_scores(relation, **options, progress=progress)
        except duckdb.ConversionException as error:
            raise_text_column(source, numbers, error)
        except InputError as error:
            if weight is not None:
                raise_bad_weight(source, weight, scores)
            raise _locate(source, error, label, scores) from None


def read_numbers(
    paths: Paths,
    names: Sequence[str],
    hints: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    words: Mapping[str, str] | None = None,
    dates: Sequence[str] = (),
    texts: Sequence[str] = (),
    tell_plain_days: Callable[[str], None] | None = None,
) -> dict[str, NDArray[Any]]:
    r"""Read whole columns of numbers, with NaN where a value is missing.

    Parameters
    ----------
    paths : path or sequence of paths
        As for `read_counts`.
    names : sequence of str
    hints : mapping of str, optional
        What to do where the column of that name holds something else.
    groups : sequence of str
        Columns to read as they are, text or numbers; None where a value is missing.
    words : mapping of str, optional
        Columns that are 1 where they hold this value, and 0 at any other.
    dates : sequence of str
        Columns of dates, to be read as days since 1970.
    texts : sequence of str
        Those of the groups in which words such as NA are no missing values of CSV files.
    tell_plain_days : callable, optional
        Told the name of each column of dates that holds numbers, which are days already.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from undercount.count.files import read_numbers
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "scored.csv")
    ...     _ = path.write_text("fraud,risk\n1,0.9\n,0.2\n")
    ...     read_numbers(path, ["fraud"])
    {'fraud': array([ 1., nan])}
    """
    number_names = list(dict.fromkeys(names))
    others = [name for name in groups if name not in number_names]
    texts = [name for name in texts if name in others]
    with open_source(paths, [*number_names, *others, *dates], words, texts) as source:
        try:
            columns = relation_of(source, number_names, others, dates).fetchnumpy()
        except duckdb.ConversionException as error:
            raise_text_column(source, number_names, error, hints)
        for name in number_names:
            check_exact_as_floats(columns[name])
        for name in dates:
            if tell_plain_days is not None and _has_plain_days(source, name):
                tell_plain_days(name)
        kept = {
            name: fill_masked(columns[name].astype(np.float64)) for name in [*number_names, *dates]
        }
        return kept | {name: _with_none(columns[name]) for name in others}


def _with_none(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as they are, None in the place of masked ones."""
    filled: NDArray[Any] = np.asarray(values)
    masked = np.ma.getmaskarray(values)
    if masked.any():
        filled = filled.astype(object)
        filled[masked] = None
    return filled


def read_dated(
    paths: Paths,
    numbers: Sequence[str],
    dates: Sequence[str],
    tell_plain_days: Callable[[str], None] | None = None,
) -> dict[str, NDArray[np.float64]]:
    r"""Read columns of numbers, and columns of dates as days since 1970; NaN where missing.

    `tell_plain_days` is called with the name of each column of dates that holds numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from undercount.count.files import read_dated
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "scored.csv")
    ...     _ = path.write_text("risk,seen\n0.5,1970-01-03\n0.2,\n")
    ...     read_dated(path, ["risk"], ["seen"])["seen"]
    array([ 2., nan])
    """
    return read_numbers(paths, numbers, dates=dates, tell_plain_days=tell_plain_days)


def _has_plain_days(source: Source, name: str) -> bool:
    """Whether a column of dates holds numbers, in text files too, whose columns are all text."""
    if source.types[name] != "VARCHAR":
        return _holds_numbers(source, name)
    column = quote_name(name)
    return _first(source, f"isfinite(TRY_CAST({column} AS DOUBLE))", column) is not None


def _holds_numbers(source: Source, name: str) -> bool:
    kind = source.types[name]
    return kind.removeprefix("U") in DUCKDB_NUMBERS or kind.startswith("DECIMAL")


def _days(source: Source, name: str) -> str:
    """Write a date as days since 1970, in UTC where it has a zone; numbers are days already."""
    kind, column = source.types[name], quote_name(name)
    if _holds_numbers(source, name):
        return f"CAST({column} AS DOUBLE)"
    if "TIME ZONE" in kind:
        return f"epoch({column}) / 86400.0"  # a cast would take the zone of this machine
    if kind != "VARCHAR":
        return f"epoch(CAST({column} AS TIMESTAMP)) / 86400.0"
    text = f"NULLIF(trim({column}), '')"
    zoned = f"regexp_matches({text}, '{ZONE}')"
    joined = rf"regexp_replace({text}, '\s+([+-])', '\1')"
    days = (
        f"CASE WHEN NOT regexp_matches({text}, '{DATE}') THEN NULL "
        f"WHEN {zoned} THEN epoch(TRY_CAST({joined} AS TIMESTAMPTZ)) / 86400.0 "
        f"ELSE epoch(TRY_CAST({text} AS TIMESTAMP)) / 86400.0 END"
    )
    either = f"COALESCE(TRY_CAST({text} AS DOUBLE), {days})"
    bad_row = _first(source, f"{text} IS NOT NULL AND {either} IS NULL", column)
    if bad_row is not None:
        raise InputError(
            f"column {name!r} of {bad_row[0]} must hold dates, 2024-03-09 or 2024-03-09 23:00+01 "
            "say; got "
            f"{str(bad_row[2])!r} in row {bad_row[1]}"
        )
    return either


def relation_of(
    source: Source, numbers: Sequence[str], groups: Sequence[str], dates: Sequence[str] = ()
) -> duckdb.DuckDBPyRelation:
    """Select the columns, those of numbers as numbers and those of dates as days."""
    picked = [f"{_number(source, name)} AS {quote_name(name)}" for name in numbers]
    picked += [quote_name(name) for name in groups if name not in numbers]
    picked += [f"{_days(source, name)} AS {quote_name(name)}" for name in dates]
    return source.query(f"SELECT {', '.join(picked)} FROM {source.table}")  # noqa: S608 - quoted names


def _number(source: Source, name: str) -> str:
    kind, column = source.types[name], quote_name(name)
    if name in source.words:
        return source.number(name)
    if kind == "VARCHAR":
        # A cast that fails, so that a number too long to be kept apart ends the query as text does.
        long, number = source.long_integer(name), source.number(name)
        return f"CASE WHEN {long} THEN CAST({column} AS TINYINT) ELSE {number} END"
    if has_long_integers(kind):
        refused = f"CAST(CAST({column} AS VARCHAR) AS TINYINT)"
        long = source.long_integer(name)
        return f"CASE WHEN {long} THEN {refused} ELSE CAST({column} AS DOUBLE) END"
    if kind.removeprefix("U") in DUCKDB_NUMBERS or kind.startswith("DECIMAL"):
        return column
    bad_row = _first(source, f"{column} IS NOT NULL", column)
    if bad_row is None:
        return "CAST(NULL AS DOUBLE)"
    raise InputError(
        f"column {name!r} of {bad_row[0]} must hold numbers, not {kind.lower()}; "
        f"got {str(bad_row[2])!r} in row {bad_row[1]}. Name another column, or write it as a number"
    )


def raise_text_column(
    source: Source, numbers: Sequence[str], error: Exception, hints: Mapping[str, str] | None = None
) -> NoReturn:
    """Say which column holds text, or a number too long, and where."""
    for name in numbers:
        bad_row = _first(source, source.no_number(name), quote_name(name))
        if bad_row:
            hint = (hints or {}).get(name) or _hint(str(bad_row[2]))
            raise InputError(
                f"column {name!r} of {bad_row[0]} must hold numbers, not text; "
                f"got {bad_row[2]!r} in row {bad_row[1]}. {hint}"
            ) from None
        bad_row = _first(source, source.long_integer(name), quote_name(name))
        if bad_row:
            raise InputError(
                f"whole numbers must stay within ±2**53 to be kept apart; got {bad_row[2]} in "
                f"column {name!r} of {bad_row[0]}, row {bad_row[1]}. Divide them or use their ranks"
            ) from None
    raise InputError(f"{source.place} cannot be read: {error}") from error


def raise_bad_weight(source: Source, weight: str, scores: Sequence[str]) -> None:
    """Say which weight of a row that has its scores cannot be used, and where."""
    value, column = source.number(weight), quote_name(weight)
    ends = f"{1 / LARGEST_WEIGHT!r} AND {LARGEST_WEIGHT!r}"
    numbers = [f"CAST({source.number(name)} AS DOUBLE)" for name in scores]
    counted = " AND ".join(f"NOT coalesce(isnan({number}), true)" for number in numbers)
    usable = f"coalesce(CAST({value} AS DOUBLE) = 0 OR {value} BETWEEN {ends}, false)"
    bad_row = _first(source, f"NOT {usable} AND {counted}", column)
    if bad_row is not None:
        raise InputError(
            f"{named('weight')} must be {WEIGHT_RULE}; got {bad_row[2]} in column {weight!r} of "
            f"{bad_row[0]}, row {bad_row[1]}"
        ) from None


def _hint(value: str) -> str:
    if re.fullmatch(r"[+-]?\d*,\d+", value.strip()):
        return "Write numbers with a decimal point"
    if value.strip() in MISSING_WORDS:  # in a format that has a null of its own
        return "Write null where nothing is known"
    return "Name another column, or leave the value empty where it is not known"


def _locate(source: Source, error: InputError, label: str, scores: Sequence[str]) -> InputError:
    """Add the file, and where a score is missing its first row."""
    text = f"{source.place}: {error.message.marked}"
    if error.argument == "label":
        text = f"column {label!r} of {text}"
    for name in scores if error.code == "missing-score" else ():
        column, value = quote_name(name), source.number(name)
        bad_row = _first(source, f"{column} IS NULL OR isnan({value})", column)
        if bad_row:
            text = f"{error.message.marked} (first in {bad_row[0]}, row {bad_row[1]})"
            break
    return InputError(text, code=error.code, argument=error.argument)


def _first(source: Source, condition: str, column: str) -> tuple[str, int, Any] | None:
    """Find the first file, row (from 1, without a header) and value that meet a condition."""
    for file in source.files:
        table = source.table_of([file])
        sql = (
            f"SELECT place, value FROM (SELECT row_number() OVER () AS place, {column} AS value, "  # noqa: S608 - quoted names
            f"{condition} AS found FROM {table}) WHERE found LIMIT 1"
        )
        rows = source.query(sql).fetchall()
        if rows:
            return file, int(rows[0][0]), rows[0][1]
    return None
