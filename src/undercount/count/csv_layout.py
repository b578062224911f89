"""How a CSV file is laid out, and how DuckDB is told so: nothing that drops rows is left to guess.

DuckDB's own guesses take lines that begin with a sign for comments, skip lines above what they
take for the header, and rename columns. So the separator and the header are read here, as Python's
`csv` reads them, and DuckDB gets every option.
"""

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

import duckdb

from undercount.count.sql import knows_option, quote_file, quote_name, quote_text
from undercount.errors import InputError

# What people write into a CSV file where nothing is known.
MISSING_WORDS = ("", "NA", "N/A", "<NA>", "null", "NULL", "None", "NaN", "nan")
SEPARATORS = ",;\t|"
# Lines that may hold the header: empty ones before it, and ends of lines inside quotes.
HEAD_LINES = 256
# Bytes of the longest line; what is longer has most likely lost a quote.
LONGEST_LINE = 2**21
# Before 1.3.1 DuckDB passed over empty lines above the header, and did not count them as skipped.
PASSES_EMPTY = tuple(map(int, re.findall(r"\d+", duckdb.__version__)[:3])) < (1, 3, 1)


class CsvLayout(NamedTuple):
    """The separator of a CSV file, the names in its header, and the empty lines above it."""

    separator: str
    names: tuple[str, ...]
    skip: int

    def reader(
        self, files: str, wanted: Sequence[str], more: str = "", texts: Sequence[str] = ()
    ) -> str:
        """Select the wanted columns of files (a list in SQL) that all look like this.

        In columns of text only empty cells are missing: NA may be Namibia.
        """
        columns = ", ".join(f"{_place(place)}: 'VARCHAR'" for place in range(len(self.names)))
        missing = ", ".join(map(quote_text, MISSING_WORDS[:1] if texts else MISSING_WORDS))
        # Since DuckDB 1.2; before, it was always strict with quotes.
        more += ", strict_mode=true" if knows_option("read_csv", "strict_mode") else ""
        skip = 0 if PASSES_EMPTY else self.skip
        numbers = {*wanted} - {*texts} if texts else ()
        picked = [self._pick(name, number=name in numbers) for name in dict.fromkeys(wanted)]
        picked = picked or [_place(0)]
        return (
            f"SELECT {', '.join(picked)} FROM read_csv({files}, auto_detect=false, "  # noqa: S608 - quoted
            f"header=true, skip={skip}, delim={quote_text(self.separator)}, quote='\"', "
            f"escape='\"', comment='', columns={{{columns}}}, nullstr=[{missing}], "
            "allow_quoted_nulls=true, null_padding=false, ignore_errors=false, "
            f"max_line_size={LONGEST_LINE}{more})"
        )

    def _pick(self, name: str, *, number: bool) -> str:
        """Select a column; of numbers with all that means missing beside columns of text."""
        if name not in self.names:
            return quote_name(name)
        # Columns have numbers there: DuckDB takes names that differ in case for the same.
        place = _place(self.names.index(name))
        if number:
            missing = ", ".join(map(quote_text, MISSING_WORDS))
            place = f"CASE WHEN {place} NOT IN ({missing}) THEN {place} END"
        return f"{place} AS {quote_name(name)}"


def _place(place: int) -> str:
    """Call a column by its place, and by no name that a folder such as c0=1 could have."""
    return quote_name(f"/{place}")


def read_layout(
    connection: duckdb.DuckDBPyConnection, file: str, wanted: Sequence[str], separator: str = ""
) -> CsvLayout:
    """Read the header of a file and find the separator.

    It is the one by which most of the wanted columns are there, or else most columns.
    """
    relation = connection.sql(f"SELECT line FROM {read_lines(file)} LIMIT {HEAD_LINES}")  # noqa: S608 - quoted
    lines = [line or "" for (line,) in relation.fetchall()]
    skip = next((place for place, line in enumerate(lines) if line), 0)
    headers = {mark: _header(lines[skip:], mark) for mark in separator or SEPARATORS}
    if any("\0" in line for line in lines[skip : skip + 1]):
        raise InputError(
            f"{file}, line 1: text must be UTF-8; got bytes of zero, as in UTF-16. Convert the "
            "file, for example by iconv -f utf-16 -t utf8"
        )
    best = max(headers, key=lambda mark: (len({*wanted} & {*headers[mark]}), len(headers[mark])))
    check_unique_columns(file, headers[best], wanted)
    return CsvLayout(best, headers[best], skip)


def read_lines(file: str) -> str:
    """Write a table of the whole lines of a file, however they end."""
    more = ", strict_mode=false" if knows_option("read_csv", "strict_mode") else ""
    return (
        f"read_csv({quote_file(file)}, columns={{line: 'VARCHAR'}}, auto_detect=false, "
        f"header=false, delim='\x01', quote='', escape='', max_line_size={LONGEST_LINE}{more})"
    )


def _header(lines: Sequence[str], separator: str) -> tuple[str, ...]:
    text = (f"{line}\n" for line in lines)
    try:
        names = next(csv.reader(text, delimiter=separator, skipinitialspace=True), [""])
    except csv.Error as error:
        raise InputError(f"the header cannot be read: {error}") from None
    return tuple(name.strip() or f"column{place}" for place, name in enumerate(names))


def check_unique_columns(file: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse wanted columns whose names do not say which is meant."""
    for name in wanted:
        if names.count(name) > 1:
            raise InputError(
                f"{file} has {names.count(name)} columns named {name!r}, and it is not said which "
                "is meant; give each a name of its own"
            )
    folded = {name.casefold(): name for name in wanted}
    for name in wanted:
        if folded[name.casefold()] != name:
            raise InputError(
                f"columns {name!r} and {folded[name.casefold()]!r} differ only in case, which "
                "DuckDB does not keep apart; rename one"
            )
