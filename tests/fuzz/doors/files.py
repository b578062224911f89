"""CSV files, against Python's `csv`."""

import csv
import io
import math
import random
from decimal import Decimal
from pathlib import Path

import undercount as uc
from undercount.count.csv_layout import MISSING_WORDS
from undercount.errors import InputError

HEADERS = (("y", "s"), ("y", "s", "note"), ("s", "y", "y"), ("y", "s", ""), ("Y", "s", "y"))
GOOD = {"y": ("0", "1"), "s": ("0", "1", "0.5", "2", "-1.25", "3e-2")}
NUMBERS = ("0", "1", "", "0.5", "-2e3", "1e999", " 1", "nan", "NaN", "inf", "9007199254740993")
NUMBERS = (*NUMBERS, "true", "a", "NA", "1 ", "+1", "0x1", "1_0", "1,5", "#")
NUMBERS = (*NUMBERS, "9007199254740993.0", "9007199254740993e0", "9007199254740994.0", "1e+20")
NOTES = ("", "a", "#", "a,b", 'a"b', "a;b", "é", "\t", "'", "-- x", "line\nline", "=1+1", " ")
MARKS = ('"', ",", "#", "\n", "\x00", "'", ";", "\r", "\\", "//")


def draw(dice: random.Random) -> str:
    """Roll a CSV file with quotes, comment signs, ragged lines and odd numbers."""
    header = dice.choice([*HEADERS, *HEADERS[:2] * 3])
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=dice.choice(",,;\t|"),
        quoting=dice.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        lineterminator=dice.choice(["\n", "\r\n"]),
    )
    writer.writerow(header)
    odd = 0.2 if dice.random() < 0.3 else 0.0
    for _ in range(dice.choice([0, 1, 2, 3, 6, 12])):
        writer.writerow(
            [dice.choice(NUMBERS if dice.random() < odd else GOOD.get(n, NOTES)) for n in header]
        )
    text = out.getvalue()
    if dice.random() < 0.2:
        at = dice.randrange(len(text) + 1)
        text = text[:at] + dice.choice(MARKS) + text[at:]
    return ("\ufeff" if dice.random() < 0.2 else "") + text


def knock(text: str, folder: Path) -> str:
    """Count a file; where Python's `csv` reads the same numbers, the counts must be equal."""
    path = folder / "fuzzed.csv"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        found = uc.read_counts(path, label="y", score="s", unlabeled=0)
    except InputError:
        return "refused"
    bare = text.removeprefix("\ufeff").lstrip("\r\n")  # empty lines above the header
    separator = max(",;\t|", key=lambda mark: len({"y", "s"} & {*_names(bare, mark)}))
    _, *body = csv.reader(io.StringIO(bare, newline=""), delimiter=separator)
    label, score = (_names(bare, separator).index(name) for name in ("y", "s"))
    values = [(row[label], row[score]) for row in body if row]
    assert found.n_rows == len(values), (found, values)
    assert found.n_positive == sum(1 for y, _ in values if number(y) == 1), (found, values)
    assert sorted(set(found.score)) == sorted({number(s) for _, s in values})
    long = {float(s): s.strip() for _, s in values if 2**53 <= abs(number(s)) < math.inf}
    # Of whole numbers that floats merge only the one that is written for a float may be there.
    assert all(Decimal(repr(value)) == Decimal(text) for value, text in long.items()), values
    return "counted"


def _names(text: str, separator: str) -> list[str]:
    head = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    return [name.strip() for name in head]


def number(text: str) -> float:
    """Read a cell as the reader of files says that it does."""
    if text in MISSING_WORDS:
        return math.nan
    words = {"true": 1.0, "false": 0.0}
    return words.get(text.strip().lower()) or float(text)
