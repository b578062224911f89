"""Open files of rows with DuckDB: CSV, TSV, Parquet, JSON lines, compressed, many, partitioned."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

import duckdb

from undercount.count.arrays import LARGEST_EXACT_INTEGER
from undercount.count.atomic_file import name_process, remove_if_stopped, remove_leftovers
from undercount.count.csv_layout import read_layout, read_lines
from undercount.count.frames import check_columns
from undercount.count.long_integers import has_long_integers, long_text
from undercount.count.parquet_layout import pick_columns, read_layouts, too_like
from undercount.count.paths import PACKED, STANDARD_INPUT, Paths, expand_paths, find_format
from undercount.count.progress import watch_queries
from undercount.count.queries import pass_interrupts
from undercount.count.sql import (
    allow_only,
    knows_option,
    list_files,
    open_database,
    quote_name,
    quote_text,
)
from undercount.count.zstandard_frames import check_whole
from undercount.errors import InputError, suggest

# How far a query is can be asked only where a bar is kept; it is not printed.
PROGRESS = (
    "SET enable_progress_bar=true; SET enable_progress_bar_print=false; SET progress_bar_time=0"
)
PARTITION = re.compile(r"(?:^|[/\\])([^/\\=]+)=[^/\\]*(?=[/\\])")
# Values that a message lists at most.
SHOWN_VALUES = 5
# Writes the FROM clause of some files.
Reader = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Source:
    """Files as one table: the connection, what writes the FROM clause, and column types.

    `words` are the columns that are 1 where they hold one of certain values, written as text, and
    0 at any other. `digits` says whether text has all the digits that the files have.
    """

    connection: duckdb.DuckDBPyConnection
    table_of: Reader
    types: dict[str, str]
    files: tuple[str, ...]
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    digits: bool = True

    @property
    def table(self) -> str:
        """The FROM clause of all files."""
        return self.table_of(self.files)

    @property
    def place(self) -> str:
        """Name the files in messages."""
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more}"

    def query(self, sql: str) -> duckdb.DuckDBPyRelation:
        """Make a relation; what DuckDB says about the files becomes an input error."""
        with input_errors(self.place):
            return self.connection.sql(sql)

    def number(self, name: str, cast: str = "CAST") -> str:
        """Write a column as a number; text that is none raises (or with TRY_CAST is missing)."""
        column = quote_name(name)
        if name in self.words:
            return (
                f"CASE WHEN {column} IS NOT NULL THEN CAST({self.holds_word(name)} AS DOUBLE) END"
            )
        if self.types[name] != "VARCHAR":
            return column
        # A cast would read 1_0 as 10.
        text = f"CASE WHEN contains({column}, '_') THEN '_' ELSE {column} END"
        return (
            f"CASE lower({column}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 "
            f"ELSE {cast}({text} AS DOUBLE) END"
        )

    def holds_word(self, name: str) -> str:
        """Write the condition that a column holds one of its words."""
        spellings = ", ".join(map(quote_text, self.words[name]))
        return f"(CAST({quote_name(name)} AS VARCHAR) IN ({spellings}))"

    def no_number(self, name: str) -> str:
        """Write the condition that a column holds something that is no number."""
        return f"{quote_name(name)} IS NOT NULL AND {self.number(name, 'TRY_CAST')} IS NULL"

    def long_integer(self, name: str) -> str:
        """Write the condition that a column holds a whole number that floats do not keep apart."""
        column = quote_name(name)
        if name in self.words:
            return "false"
        if has_long_integers(self.types[name]):
            return f"{column} NOT BETWEEN -{LARGEST_EXACT_INTEGER} AND {LARGEST_EXACT_INTEGER}"
        return long_text(column, digits=self.digits) if self.types[name] == "VARCHAR" else "false"


@contextmanager
def open_source(
    paths: Paths,
    wanted: Sequence[str],
    words: Mapping[str, str] | None = None,
    texts: Sequence[str] = (),
) -> Iterator[Source]:
    """Open files for reading some of their columns; spilled rows go to a temporary directory.

    Columns of text (`texts`) are read as they are: words such as NA mean missing in others of CSV.
    """
    remove_leftovers(Path(tempfile.gettempdir()), "undercount-*")
    with (
        tempfile.TemporaryDirectory(prefix=f"undercount-{name_process()}-") as spill,
        remove_if_stopped(Path(spill)),
    ):
        files = _list_files(paths, spill)
        before = [_state(file) for file in files]
        kind = find_format(files)
        connection = open_database(temp_directory=spill)  # nothing in the working directory
        connection.execute(PROGRESS)
        allow_only(connection, files, [spill])
        try:
            with input_errors(", ".join(files[:3])), watch_queries(connection):
                source = _open_files(connection, files, kind, wanted, texts)
                given = (words or {}).items()
                spelt = {name: find_spellings(source, name, word) for name, word in given}
                yield replace(source, words=spelt)
            _check_files_unchanged(files, before)
        finally:
            connection.close()


def find_spellings(source: Source, name: str, word: str) -> list[str]:
    """Return the values of a column, as text, that are a certain word; refuse one never held.

    They are compared here, not by SQL, whose lower case is not that of `str.casefold`.
    """
    column = quote_name(name)
    sql = f"SELECT CAST({column} AS VARCHAR) FROM {source.table} WHERE {column} IS NOT NULL"  # noqa: S608 - quoted
    spellings: list[str] = []
    most: list[str] = []
    boolean = source.types[name] == "BOOLEAN"
    result = source.connection.execute(f"{sql} GROUP BY 1 ORDER BY count(*) DESC, 1")
    while rows := result.fetchmany(2**16):  # the column may be one of names, each its own
        most = most or [value for (value,) in rows[: SHOWN_VALUES + 1]]
        spellings += [value for (value,) in rows if is_word(value, word, boolean=boolean)]
    if spellings:
        return spellings
    hint = suggest(word, most)
    raise InputError(
        f"no row of column {name!r} of {source.place} holds {word!r}; it holds "
        f"{', '.join(map(repr, most[:SHOWN_VALUES]))}{', …' if len(most) > SHOWN_VALUES else ''}"
        + (f"; {hint}" if hint else "")
    )


def is_word(value: str, word: str, *, boolean: bool = False) -> bool:
    """Whether a label is the word that somebody named: in any case, and numbers by their value.

    Examples
    --------
    >>> from undercount.count.sources import is_word
    >>> is_word(" STRASSE", "Straße"), is_word("2.0", "2"), is_word("true", "1", boolean=True)
    (True, True, True)
    >>> is_word("9007199254740992", "9007199254740993")  # one number as floats
    False
    """
    if value.strip().casefold() == word.strip().casefold():
        return True
    numbers = [_exact_number(value), _exact_number(word)]
    if boolean:  # true and false are 1 and 0
        numbers[0] = Decimal(value == "true")
    return None not in numbers and numbers[0] == numbers[1]


def _exact_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip()) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    return None if number is None or number.is_nan() else number


def _state(file: str) -> tuple[int, ...]:
    """Return what changes when a file is written to or replaced."""
    try:
        state = Path(file).stat()
    except OSError:
        return ()
    return state.st_ino, state.st_size, state.st_mtime_ns


def _check_files_unchanged(files: Sequence[str], before: Sequence[tuple[int, ...]]) -> None:
    """Refuse what was read while somebody wrote: each look at it may have seen other rows."""
    for file, state in zip(files, before, strict=True):
        if _state(file) != state:
            raise InputError(
                f"{file} changed while it was read; wait until it is whole, or copy it first"
            )


def _list_files(paths: Paths, spill: str) -> tuple[str, ...]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = expand_paths(given)
    for path in set(files).intersection(map(os.fspath, given)):  # parts of a folder may be empty
        if Path(path).exists() and not Path(path).is_file():
            raise InputError(
                f"{path} is a pipe or a device, which can be read only once; name a file, or pipe "
                "it into standard input (-)"
            )
        if Path(path).exists() and Path(path).stat().st_size == 0:
            raise InputError(f"{path} is empty")
    found = tuple(_spool(spill) if file == STANDARD_INPUT else file for file in files)
    for file in found:
        if file.casefold().endswith(".zst"):
            check_whole(file)
    return found


def _spool(spill: str) -> str:
    """Copy standard input to a file, because it can be read only once."""
    target = Path(spill, "standard-input")
    with target.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with target.open("rb") as file:
        start = file.read(64).lstrip()
    if not start:
        raise InputError("standard input is empty")
    ending = ".parquet" if start.startswith(b"PAR1") else ".csv"
    ending = ".jsonl" if start[:1] in (b"{", b"[") else ending
    ending += next((f".{kind}" for kind, magic in PACKED.items() if start.startswith(magic)), "")
    return str(target.rename(f"{target}{ending}"))


def _open_files(
    connection: duckdb.DuckDBPyConnection,
    files: tuple[str, ...],
    kind: str,
    wanted: Sequence[str],
    texts: Sequence[str],
) -> Source:
    if kind in ("csv", "tsv"):
        return _open_csv(connection, files, "\t" if kind == "tsv" else "", wanted, texts)
    if kind == "parquet":
        return _open_parquet(connection, files, wanted)
    return _open_json(connection, files, wanted)


def _open_json(
    connection: duckdb.DuckDBPyConnection, files: tuple[str, ...], wanted: Sequence[str]
) -> Source:
    # Rows of many keys are rows all the same, not maps.
    apart = ", hive_partitioning=false, map_inference_threshold=-1"
    names = [*_types(connection, f"read_json({list_files(files)}{apart})")]
    folders = _folder_keys(files)
    if not {*wanted} <= {*names, *folders}:  # a key may be absent where DuckDB looks first
        names = [*_types(connection, f"read_json({list_files(files)}{apart}, sample_size=-1)")]
    _check_key_case(connection, files, wanted, names)
    _check_folder_keys(files, names, wanted)
    lower_names = {name.casefold() for name in names}
    names += [key for key in folders if key.casefold() not in lower_names]
    check_columns(wanted, names, files[0])
    columns = ", ".join(f"{quote_name(name)}: 'VARCHAR'" for name in names)
    reader = _make_reader("json", wanted, f", columns={{{columns}}}")
    # Numbers that are not whole come as what a float makes of them.
    return Source(connection, reader, dict.fromkeys(names, "VARCHAR"), files, digits=False)


def _check_key_case(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[str],
    wanted: Sequence[str],
    names: Sequence[str],
) -> None:
    """Refuse a key that DuckDB renames because another differs only in case."""
    folded = {name.casefold() for name in names}
    for name in wanted:
        if name in names or name.casefold() not in folded:
            continue
        sql = (
            f"SELECT 1 FROM read_json_objects({list_files(files)}, format='auto') "  # noqa: S608 - quoted
            f"WHERE list_contains(json_keys(json), {quote_text(name)}) LIMIT 1"
        )
        if connection.sql(sql).fetchall():
            raise too_like(files[0], name)


def _folder_keys(files: Sequence[str]) -> list[str]:
    """Return the keys of hive folders, g of g=1."""
    return list(dict.fromkeys(key for file in files for key in PARTITION.findall(file)))


def _check_folder_keys(files: Sequence[str], names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a wanted column that both a file and the folder it lies in have a value of."""
    folded = {name.casefold() for name in wanted}
    by_folded = {name.casefold(): name for name in names if name.casefold() in folded}
    for file in files if by_folded else ():
        for key in PARTITION.findall(file):
            if unquote(key).casefold() in by_folded:
                raise InputError(
                    f"{file} has a column {by_folded[unquote(key).casefold()]!r} and lies in a "
                    f"folder {key}=…, and it is not said which is meant; rename one of them"
                )


def _open_parquet(
    connection: duckdb.DuckDBPyConnection, files: tuple[str, ...], wanted: Sequence[str]
) -> Source:
    """Open Parquet files, each by its own types."""
    # Statistics in Parquet files leave NaN out, and DuckDB would believe that there is none.
    nan = knows_option("read_parquet", "can_have_nan")
    reader = _make_reader("parquet", wanted, ", can_have_nan=true" if nan else "")
    layouts = read_layouts(connection, files, wanted)
    for layout in layouts:
        _check_folder_keys(layout.files, [*layout.types], wanted)
        check_columns(wanted, [*layout.types, *_folder_keys(layout.files[:1])], layout.files[0])
    if len(layouts) == 1 or not wanted:
        return Source(connection, reader, _types(connection, reader(files)), files)
    picked = pick_columns(layouts, wanted)
    layout_of = {file: place for place, each in enumerate(layouts) for file in each.files}

    def table_of(some: Sequence[str]) -> str:
        # Neighbours together: rows keep their places.
        parts = [
            f"SELECT {picked[place]} FROM {reader(list(group))}"  # noqa: S608 - quoted
            for place, group in groupby(some, layout_of.__getitem__)
        ]
        return f"({' UNION ALL '.join(parts)})"

    return Source(connection, table_of, _types(connection, table_of(files)), files)


def _make_reader(kind: str, wanted: Sequence[str], more: str) -> Reader:
    return lambda files: f"read_{kind}({list_files(files)}{_partition(files, wanted)}{more})"


def _partition(files: Sequence[str], wanted: Sequence[str]) -> str:
    """Let folders be columns where one of them is wanted; all of them if no column is named."""
    keys = {*_folder_keys(files)}
    return f", hive_partitioning={'true' if keys & {*(wanted or keys)} else 'false'}"


def _open_csv(
    connection: duckdb.DuckDBPyConnection,
    files: tuple[str, ...],
    separator: str,
    wanted: Sequence[str],
    texts: Sequence[str],
) -> Source:
    """Open CSV files, each by its own header; columns may stand in another order in each."""
    layouts = {}
    for file in files:
        with input_errors(file):
            layouts[file] = read_layout(connection, file, wanted, separator)
        _check_folder_keys([file], layouts[file].names, wanted)
        check_columns(wanted, [*layouts[file].names, *_folder_keys([file])], file)

    def table_of(some: Sequence[str]) -> str:
        # Neighbours together: rows keep their places.
        alike = groupby(some, lambda file: (layouts[file], _partition([file], wanted)))
        parts = [
            layout.reader(list_files(group), wanted, more, texts) for (layout, more), group in alike
        ]
        return f"({' UNION ALL '.join(parts)})"

    if wanted:
        return Source(connection, table_of, _types(connection, table_of(files)), files)
    names = (name for layout in layouts.values() for name in layout.names)
    return Source(connection, table_of, dict.fromkeys(names, "VARCHAR"), files)


def _types(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    described = connection.sql(f"DESCRIBE SELECT * FROM {table}").fetchall()  # noqa: S608 - quoted
    return {row[0]: row[1] for row in described}


# A line is shown up to so many characters.
SHOWN_LINE = 60


@contextmanager
def input_errors(place: str) -> Iterator[None]:
    """Turn DuckDB's errors into one line that names the file."""
    try:
        with pass_interrupts():
            yield
    except duckdb.Error as error:
        raise InputError(read_error(place, str(error))) from error


def read_error(place: str, message: str) -> str:
    """Write the message for what DuckDB says about a file.

    DuckDB tells file, line and reason in its text and nowhere else, so the text is read.
    """
    file = _search(r"^\s+file = (.+)$", message) or place
    if "CSV Error on Line" in message:
        return _csv_error(file, message)
    if "Malformed JSON" in message or "JSON" in message.split("\n", 1)[0]:
        return _json_error(_search(r'in file "(.+?)"', message) or place, message)
    if "invalid state" in message:
        return (
            f"{place}: every line must end in the same way and every quote must be closed. Does "
            "it mix the line ends of Windows and Unix? Convert it, for example by dos2unix"
        )
    if "arquet file" in message or "magic bytes" in message:
        return (
            f"{place} is no complete Parquet file: {_first_line(message)}. "
            "Was it copied whole, and is it named for what it is?"
        )
    if "GZIP stream" in message or "ZSTD" in message:
        return (
            f"{place} is not compressed as its name says: {_first_line(message)}. "
            "Name it for what it is"
        )
    return f"{place} cannot be read: {_first_line(message)}"


def _json_error(file: str, message: str) -> str:
    reason = _search(r"in (?:line|record/value) \d+: (.+?)\.?(?: Try .*)?\s*$", message)
    where, what = file, reason or _first_line(message)
    number, line = _broken_line(file)
    if number:
        # Where DuckDB did not read line by line, its reason may be about another one.
        reason = f"{what} in " if "in line" in message else ""
        where, what = f"{file}, line {number}", f"{reason}{_shorten(line)}"
    return (
        f"{where}: every line must hold one JSON object; got {what}. Mend the line, or write one "
        "object a line"
    )


def _broken_line(file: str) -> tuple[int, str]:
    """Find the first line that is no JSON, from 1; 0 if there is none or the file is an array.

    DuckDB's own number leaves blank lines out, and in some versions is one too high.
    """
    sql = f"""
        SELECT number, line FROM (
            SELECT row_number() OVER () AS number, line FROM {read_lines(file)}
        ) WHERE trim(line) <> '' AND NOT json_valid(line) ORDER BY number LIMIT 1
    """  # noqa: S608 - quoted
    try:
        with open_database() as connection:
            allow_only(connection, [file])
            row = connection.execute(sql).fetchone()
    except duckdb.Error:  # bytes that are no text, or no such file: then the rest must do
        return 0, ""
    if row is None or (row[0] == 1 and row[1].lstrip().startswith("[")):
        return 0, ""
    return int(row[0]), str(row[1])


def _shorten(line: str) -> str:
    return repr(line[:SHOWN_LINE] + ("…" if len(line) > SHOWN_LINE else ""))


def _csv_error(file: str, message: str) -> str:
    number = _search(r"CSV Error on Line: (\d+)", message)
    where = f"{file}, line {number}"
    line = _search(r"^Original Line: ?(.*)$", message) or ""
    shown = _shorten(line)
    n_columns = _search(r"Expected Number of Columns: (\d+)", message)
    got = _search(r"Found: (\d+)", message)
    if n_columns and got:
        more = " or more" if int(got) > int(n_columns) else ""
        return (
            f"{where}: a row must have as many values as the header has names, {n_columns}; got "
            f"{got}{more} in {shown}. Mend the row, or put text that holds the separator into "
            "double quotes"
        )
    if "quote" in message.split("Possible", 1)[0] or _left_open(message):
        return (
            f'{where}: a value that begins with " must end with " and double every " inside; '
            f"got {shown}. Close or double the quote"
        )
    if "unicode" in message or "utf-8" in message:
        return f"{where}: text must be UTF-8; got {_other_bytes(file)}"
    if "Maximum line size" in message:
        return f"{where}: a line is too long; got {shown}. Is a quote or an end of line missing?"
    return f"{where} cannot be read: {_first_line(message.split(chr(10), 1)[-1])}"


def _other_bytes(file: str) -> str:
    """Say what the bytes of a file look like, and what to do."""
    try:
        with Path(file).open("rb") as opened:
            start = opened.read(256)
    except OSError:
        start = b""
    for kind, magic in PACKED.items():
        if start.startswith(magic):
            return f"a compressed file. Let its name end in .{kind}"
    name = "utf-16" if b"\x00" in start else "latin1"
    return f"other bytes. Convert the file, for example by iconv -f {name} -t utf8"


def _left_open(message: str) -> bool:
    """Tell a quote left open that DuckDB 1.1 takes for bad bytes; it shows the row up to the end.

    Of bytes that are truly bad, newer versions say that the file is not UTF-8.
    """
    if "Invalid unicode" not in message or "not utf-8" in message:
        return False
    row = message.split("Original Line:", 1)[-1].split("Invalid unicode", 1)[0]
    return row.count('"') % 2 == 1


def _search(pattern: str, message: str) -> str | None:
    match = re.search(pattern, message, re.MULTILINE)
    return None if match is None else match.group(1)


def _first_line(message: str) -> str:
    """Return the first line without the kind of error before it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return re.sub(r"^[A-Za-z ]*Error: ", "", lines[0] if lines else "no reason given").rstrip(". ")
