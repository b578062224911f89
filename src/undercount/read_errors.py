"""Say what is wrong with a file that DuckDB cannot read: file, line, rule, value, hint."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from undercount.errors import InputError
from undercount.queries import interrupts

# A line is shown up to so many characters.
SHOWN_LINE = 60


@contextmanager
def input_errors(place: str) -> Iterator[None]:
    """Turn DuckDB's errors into one line that names the file."""
    try:
        with interrupts():
            yield
    except duckdb.Error as error:
        raise InputError(read_error(place, str(error))) from error


def read_error(place: str, message: str) -> str:
    """Write the message for what DuckDB says about a file."""
    file = _found(r"^\s+file = (.+)$", message) or place
    if "CSV Error on Line" in message:
        return _csv_error(file, message)
    if "Malformed JSON" in message or "JSON" in message.split("\n", 1)[0]:
        return _json_error(_found(r'in file "(.+?)"', message) or place, message)
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
    reason = _found(r"in (?:line|record/value) \d+: (.+?)\.?(?: Try .*)?\s*$", message)
    where, what = file, reason or _first_line(message)
    number, line = _broken_line(file)
    if number:
        # Where DuckDB did not read line by line, its reason may be about another one.
        reason = f"{what} in " if "in line" in message else ""
        where, what = f"{file}, line {number}", f"{reason}{_shown(line)}"
    return (
        f"{where}: every line must hold one JSON object; got {what}. Mend the line, or write one "
        "object a line"
    )


def _broken_line(file: str) -> tuple[int, str]:
    """Find the first line that is no JSON, from 1; 0 if there is none or the file is an array.

    DuckDB's own number leaves blank lines out, and in some versions is one too high.
    """
    sql = """
        SELECT number, line FROM (
            SELECT row_number() OVER () AS number, line
            FROM read_csv(
                $file, columns={'line': 'VARCHAR'}, auto_detect=false, header=false,
                delim='\x01', quote='', escape=''
            )
        ) WHERE trim(line) <> '' AND NOT json_valid(line) ORDER BY number LIMIT 1
    """
    try:
        with duckdb.connect() as connection:
            found = connection.execute(sql, {"file": file}).fetchone()
    except duckdb.Error:  # bytes that are no text, or no such file: then the rest must do
        return 0, ""
    if found is None or (found[0] == 1 and found[1].lstrip().startswith("[")):
        return 0, ""
    return int(found[0]), str(found[1])


def _shown(line: str) -> str:
    return repr(line[:SHOWN_LINE] + ("…" if len(line) > SHOWN_LINE else ""))


def _csv_error(file: str, message: str) -> str:
    number = _found(r"CSV Error on Line: (\d+)", message)
    where = f"{file}, line {number}"
    line = _found(r"^Original Line: ?(.*)$", message) or ""
    shown = _shown(line)
    wanted = _found(r"Expected Number of Columns: (\d+)", message)
    got = _found(r"Found: (\d+)", message)
    if wanted and got:
        more = " or more" if int(got) > int(wanted) else ""
        return (
            f"{where}: a row must have as many values as the header has names, {wanted}; got "
            f"{got}{more} in {shown}. Mend the row, or put text that holds the separator into "
            "double quotes"
        )
    if "quote" in message.split("Possible", 1)[0] or _left_open(message):
        return (
            f'{where}: a value that begins with " must end with " and double every " inside; '
            f"got {shown}. Close or double the quote"
        )
    if "unicode" in message or "utf-8" in message:
        return (
            f"{where}: text must be UTF-8; got other bytes. Convert the file, for example by "
            "iconv -f latin1 -t utf8"
        )
    if "Maximum line size" in message:
        return f"{where}: a line is too long; got {shown}. Is a quote or an end of line missing?"
    return f"{where} cannot be read: {_first_line(message.split(chr(10), 1)[-1])}"


def _left_open(message: str) -> bool:
    """Tell a quote left open that DuckDB 1.1 takes for bad bytes; it shows the row up to the end.

    Of bytes that are truly bad, newer versions say that the file is not UTF-8.
    """
    if "Invalid unicode" not in message or "not utf-8" in message:
        return False
    row = message.split("Original Line:", 1)[-1].split("Invalid unicode", 1)[0]
    return row.count('"') % 2 == 1


def _found(pattern: str, message: str) -> str | None:
    match = re.search(pattern, message, re.MULTILINE)
    return None if match is None else match.group(1)


def _first_line(message: str) -> str:
    """Return the first line without the kind of error before it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return re.sub(r"^[A-Za-z ]*Error: ", "", lines[0] if lines else "no reason given").rstrip(". ")
