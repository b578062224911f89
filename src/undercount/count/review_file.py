"""The file in which people answer: one case a row, a place for the verdict, and the whole design.

People open it in a spreadsheet, sort it, answer some rows and save it in the manner of their
country. So nothing that is needed again stands in a number or a date: each row has a key, a word
that spreadsheets leave alone, and the design is text in the first row. Only these and the verdicts
are read; every other column is for the people who answer.
"""

import csv
import hashlib
import io
import json
import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.atomic_file import write_text
from undercount.curve import FloatArray
from undercount.errors import InputError

IntArray = NDArray[np.int64]
FORMAT = 1
BEFORE, AFTER = ("case", "row"), ("verdict", "stratum", "chance", "key", "design")
# Behind the name of a user's column that has the name of one of ours.
OF_DATA = " (data)"
NEEDED_COLUMNS = ("verdict", "key")
# What people and spreadsheets write; all in lower case.
POSITIVE_VERDICTS = frozenset(
    ["1", "true", "t", "yes", "y", "ja", "j", "oui", "sí", "sì", "si", "x", "✓", "✔", "positive",
     "wahr", "vrai", "verdadero", "vero", "waar"]
)  # fmt: skip
NEGATIVE_VERDICTS = frozenset(
    ["0", "false", "f", "no", "n", "nein", "non", "nee", "negative",
     "falsch", "faux", "falso", "onwaar"]
)  # fmt: skip
OPEN_WORDS = frozenset(["", "?", "-", "–", "na", "n/a", "nan", "null", "none", "skip", "unknown"])
# Marks by which people tick rows: what they mean where nothing stands is not known.
TICK_MARKS = frozenset(("x", "✓", "✔"))
# So many times nothing but yes, with as many empty cells between them, are a way of ticking too.
FEWEST_YES = 5
SEPARATORS = ",;\t|"
# Places where a spreadsheet may begin to read a cell, and the signs that make it a formula
# there (the wide ones too).
_PLACE, _FORMULA = r'(?:^|(?<=[;,|"\t\r\n]))', "(?='* *[=+\\-@\uff1d\uff0b\uff0d\uff20])"
_ESCAPE, _UNESCAPE = re.compile(_PLACE + _FORMULA), re.compile(f"{_PLACE}'{_FORMULA}")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
_KEY = re.compile(r"p([0-9a-f]{8})-(\d+)-(\d+)-(\d*)-([0-9a-f.]+)-([0-9a-f]{4})")
# A whole number as a spreadsheet may show it: 1000, 1,000, 1.000, 1000.0.
_PLAIN = re.compile(r"\d+([., '\u00a0\u202f]\d+)*")
# Words that a message lists at most.
MOST_WORDS_LISTED = 5


@dataclass(frozen=True)
class ReviewSheet:
    """Hold cases to look at, what is known of each, and the verdicts given so far.

    Attributes
    ----------
    design : mapping
        Everything by which the cases were chosen, as JSON holds it.
    case : array of int
        Number of each case in the order of the plan, from 1.
    stratum : array of int
        Stratum from which each was drawn.
    scores : mapping
        Name of each model → its score of each case.
    verdict : array
        1 positive, 0 negative, NaN not answered.
    row : array of int
        Position in the data from 1; 0 where rows have no order.
    chance : array, optional
        Chance of each case to be chosen; written for the reader, never read.
    kept : mapping
        Columns of the user's, as text.
    """

    design: Mapping[str, Any]
    case: IntArray
    stratum: IntArray
    scores: Mapping[str, FloatArray]
    verdict: FloatArray
    row: IntArray
    chance: FloatArray | None = None
    kept: Mapping[str, Sequence[str]] | None = None

    @property
    def plan(self) -> str:
        """A short name of the design: eight hexadecimal digits."""
        return name_plan(self.design)

    @property
    def n_answered(self) -> int:
        """Cases with a verdict."""
        return int(np.count_nonzero(~np.isnan(self.verdict)))


def name_plan(design: Mapping[str, Any]) -> str:
    """Name a design by what it says."""
    return hashlib.sha256(_dump(design).encode()).hexdigest()[:8]


def write_review_file(sheet: ReviewSheet, path: str | Path) -> None:
    """Write the file, whole or not at all; never over verdicts that it does not hold itself."""
    _check_no_answers_lost(sheet, Path(path))
    write_text(path, as_review_csv(sheet))


def _check_no_answers_lost(sheet: ReviewSheet, path: Path) -> None:
    """Refuse to write over answers, readable or not: they are somebody's work."""
    if not path.is_file() or not _is_review_file(path):
        return
    try:
        answered = read_review_files([path])
    except InputError as error:
        raise InputError(
            f"{path} is a review file whose verdicts cannot be read, and would be overwritten; "
            f"name another file, or move this one away. {error}"
        ) from None
    given = _verdicts_by_row(sheet)
    lost = sum(given.get(row) != verdict for row, verdict in _verdicts_by_row(answered).items())
    if lost:
        raise InputError(
            f"{path} holds {lost:,} verdict{'s' * (lost > 1)} that the plan would overwrite; name "
            "another file, or move this one away"
        )


def _is_review_file(path: Path) -> bool:
    """Whether a file has the columns in which people answer."""
    try:
        return any(_is_header(cells) for _, cells in _split_lines(path))
    except InputError:  # no text
        return False


def _verdicts_by_row(sheet: ReviewSheet) -> dict[tuple[float, ...], float]:
    """Return the verdicts that were given, by row and scores: rounds name a case differently."""
    places = np.where(sheet.row > 0, sheet.row, -sheet.case)
    rows = zip(places.tolist(), *(column.tolist() for column in sheet.scores.values()), strict=True)
    both = zip(rows, sheet.verdict.tolist(), strict=True)
    return {row: verdict for row, verdict in both if not math.isnan(verdict)}


def as_review_csv(sheet: ReviewSheet) -> str:
    """Write the cases as CSV with the mark by which spreadsheets know UTF-8."""
    kept = sheet.kept or {}
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(review_header(sheet))
    keys = review_keys(sheet)
    for place in range(len(sheet.case)):
        row, answer = int(sheet.row[place]), float(sheet.verdict[place])
        writer.writerow(
            [
                int(sheet.case[place]),
                row or "",
                *(escape_formula(column[place]) for column in kept.values()),
                *(f"{score[place]:.7g}" for score in sheet.scores.values()),
                "" if np.isnan(answer) else int(answer),
                int(sheet.stratum[place]),
                "" if sheet.chance is None else f"{sheet.chance[place]:.6g}",
                keys[place],
                _dump(sheet.design) if place == 0 else "",
            ]
        )
    return "\ufeff" + lines.getvalue()


def review_header(sheet: ReviewSheet) -> list[str]:
    """Name the columns; one of the user's that has a name of ours is told apart."""
    ours = {*BEFORE, *AFTER, *sheet.scores}
    users = [f"{name}{OF_DATA}" if name in ours else name for name in sheet.kept or ()]
    return [*BEFORE, *map(escape_formula, users), *map(escape_formula, sheet.scores), *AFTER]


def review_keys(sheet: ReviewSheet) -> list[str]:
    """Write for each case what must survive a spreadsheet: plan, place, stratum, row and scores."""
    plan, columns = sheet.plan, [np.asarray(score, np.float64) for score in sheet.scores.values()]
    keys = []
    for place, case in enumerate(sheet.case):
        bits = ".".join(struct.pack(">d", float(column[place])).hex() for column in columns)
        row = int(sheet.row[place]) or ""
        text = f"p{plan}-{int(case)}-{int(sheet.stratum[place])}-{row}-{bits}"
        keys.append(f"{text}-{_check_sum(text)}")
    return keys


def escape_formula(text: str) -> str:
    """Put ' before what a spreadsheet would run as a formula; numbers stay.

    Examples
    --------
    >>> from undercount.count.review_file import escape_formula
    >>> escape_formula("=1+1"), escape_formula("-5.2"), escape_formula("a-b")
    ("'=1+1", '-5.2', 'a-b')
    """
    return text if _NUMBER.fullmatch(text) else _ESCAPE.sub("'", text)


def unescape_formula(text: str) -> str:
    """Take away what `escape_formula` put there."""
    return _UNESCAPE.sub("", text)


class Answer(NamedTuple):
    """One row of a file: where it stands, its key, what was answered, and the user's columns."""

    place: str
    case: int
    stratum: int
    row: int
    scores: tuple[float, ...]
    word: str
    verdict: float
    kept: dict[str, str]


def read_review_files(paths: Sequence[str | Path]) -> ReviewSheet:
    """Read answered files of one plan, as they come back from any spreadsheet.

    Rows may stand in any order and be spread over files; those that are not there have no verdict.
    """
    designs: dict[str, Any] = {}
    answers: dict[int, Answer] = {}
    plans: dict[str, str] = {}
    for path in paths:
        for place, cells in _read_cells(path):
            if cells.get("design", "").strip():
                design = _read_design(cells["design"], place)
                designs[name_plan(design)] = design
            answer, plan = _read_answer(cells, place)
            if answer is None:
                continue
            plans.setdefault(plan, place)
            _check_one_plan(plans, designs)
            _add_answer(answers, answer)
    if not answers:
        raise InputError(f"{paths[0]} holds no case of a plan; name a file that plan has written")
    plan = next(iter(plans))
    if plan not in designs:
        raise InputError(
            f"the design is missing: it stands in the last column of the first case of the file "
            f"that plan wrote, and {' and '.join(map(str, paths))} lacks it. Name the file with "
            "that row too"
        )
    _check_empty_answers(answers.values())
    return _make_sheet(designs[plan], sorted(answers.values(), key=lambda answer: answer.case))


def read_verdict(word: str) -> float | None:
    """Read what somebody wrote: 1, 0, NaN for nothing yet, None if it is not known what it means.

    Examples
    --------
    >>> from undercount.count.review_file import read_verdict
    >>> [read_verdict(word) for word in ("Ja", "0,0", "?", "maybe")]
    [1.0, 0.0, nan, None]
    """
    text = word.strip().casefold()
    if text in OPEN_WORDS:
        return float("nan")
    if text in POSITIVE_VERDICTS or text in NEGATIVE_VERDICTS:
        return float(text in POSITIVE_VERDICTS)
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if number in (0.0, 1.0) else None


def _read_cells(path: str | Path) -> Iterable[tuple[str, dict[str, str]]]:
    """Yield where each row stands and its cells by the name of their column."""
    lines = list(_split_lines(path))
    start = next((place for place, (_, cells) in enumerate(lines) if _is_header(cells)), None)
    if start is None:
        raise InputError(
            f"{path} must have the columns {' and '.join(NEEDED_COLUMNS)}, as plan wrote them; got "
            f"{', '.join(map(repr, lines[0][1][:MOST_WORDS_LISTED])) if lines else 'no rows'}"
        )
    header = [_column_name(name) for name in lines[start][1]]
    twice = [name for name in (*NEEDED_COLUMNS, "design") if header.count(name) > 1]
    if twice:
        raise InputError(
            f"{path} has {header.count(twice[0])} columns {twice[0]!r}: which of them counts is "
            "not known. Leave one"
        )
    for line, cells in lines[start + 1 :]:
        if any(cell.strip() for cell in cells):
            yield f"{path}, line {line}", dict(zip(header, cells, strict=False))


def _column_name(name: str) -> str:
    """Return the name of a column of ours in lower case, of the user's as it is."""
    plain = name.strip().casefold()
    return plain if plain in (*BEFORE, *AFTER) else unescape_formula(name.strip())


def _is_header(cells: Sequence[str]) -> bool:
    return {*NEEDED_COLUMNS} <= {cell.strip().casefold() for cell in cells}


def _split_lines(path: str | Path) -> Iterable[tuple[int, list[str]]]:
    """Split a file at the separator by which its header is there; lines count from 1."""
    text = _read_text(path)
    for separator in SEPARATORS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            lines = [(reader.line_num, cells) for cells in reader]
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num} cannot be read: {error}") from None
        if any(_is_header(cells) for _, cells in lines):
            return lines
    return [(1, text.splitlines()[0].split(","))] if text.strip() else []


def _read_text(path: str | Path) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if content.startswith(b"PK"):
        raise InputError(f"{path} is a workbook; save it as CSV and name that file")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:  # as spreadsheets on Windows save; keys and verdicts are ASCII
        return content.decode("cp1252", errors="replace")


def _read_design(text: str, place: str) -> dict[str, Any]:
    try:
        design = json.loads(text)
    except json.JSONDecodeError:
        design = None
    if not isinstance(design, dict) or "format" not in design:
        raise InputError(
            f"{place}: the column design was changed and cannot be read; copy it from the file "
            "that plan wrote"
        )
    if design["format"] > FORMAT:
        raise InputError(
            f"{place}: the plan was made by a newer version (format {design['format']}, this one "
            f"reads up to {FORMAT}); upgrade undercount"
        )
    return design


def _read_answer(cells: Mapping[str, str], place: str) -> tuple[Answer | None, str]:
    """Read one row; one that only has notes of the user's is none."""
    key, word = cells.get("key", "").strip(), cells.get("verdict", "")
    verdict = read_verdict(word)
    if verdict is None:
        raise InputError(
            f"{place}: a verdict is 1 or yes, 0 or no, or empty where nobody looked; got {word!r}"
        )
    match = _KEY.fullmatch(key)
    if match is None or _check_sum(key[:-5]) != match[6]:
        if not key and np.isnan(verdict):
            return None, ""
        what = f"got {key!r}" if key else "it has none"
        raise InputError(
            f"{place}: a verdict counts only for a case of the plan, which its key names; {what}. "
            "Take the row out, or copy its key from the file that plan wrote"
        )
    _check_whole_row(cells, place, {"case": int(match[2]), "row": int(match[4] or 0)})
    scores = tuple(struct.unpack(">d", bytes.fromhex(bits))[0] for bits in match[5].split("."))
    row = int(match[4] or 0)
    ours = (*BEFORE, *AFTER)
    kept = {name: unescape_formula(text) for name, text in cells.items() if name not in ours}
    return Answer(place, int(match[2]), int(match[3]), row, scores, word, verdict, kept), match[1]


def _check_whole_row(cells: Mapping[str, str], place: str, known: Mapping[str, int]) -> None:
    """Refuse a row whose left half is of another case than its key: half a table was sorted."""
    for name, number in known.items():
        text = cells.get(name, "").strip()
        if not number or not _PLAIN.fullmatch(text):
            continue  # dropped, or rounded by a spreadsheet
        whole = re.sub(r"[.,]0+$", "", text)
        if number not in (int(re.sub(r"\D", "", text)), int(re.sub(r"\D", "", whole) or -1)):
            raise InputError(
                f"{place}: the column {name} says {text}, the key {number}: some columns were "
                "sorted without the others. Sort whole rows of the file that plan wrote, or take "
                f"the column {name} out if only its numbers were changed"
            )


def _check_one_plan(plans: Mapping[str, str], designs: Mapping[str, Any]) -> None:
    """Refuse cases of two plans, and say how verdicts of one go on; it speaks of every model."""
    if len(plans) < 2:  # noqa: PLR2004 - two plans
        return
    names = [str(designs[plan]["scores"][0]) for plan in plans if plan in designs]
    models = list(dict.fromkeys(names))
    advice = "Name the files of one of them; more rows for it come from plan … --reviews FILE"
    if len(models) > 1:
        every = " ".join(f"--score {name}" for name in models)
        advice = (
            f"They were planned by the scores {' and '.join(map(repr, models))}, and each tells of "
            "every model: compare with the files of one of them, and for more rows plan on from "
            f"it: plan … {every} --goal difference --reviews FILE"
        )
    first, second = list(plans.values())[:2]
    raise InputError(
        f"cases of two plans do not make one sample: {first} and {second} are of different plans. "
        f"{advice}"
    )


def _add_answer(answers: dict[int, Answer], answer: Answer) -> None:
    """Add a case; one that is there twice must not have two answers.

    Two further rounds may give one number to two rows, so that the row tells cases apart.
    """
    number = answer.row or -answer.case
    earlier = answers.get(number)
    if earlier is None or np.isnan(earlier.verdict):
        answers[number] = answer
    elif not np.isnan(answer.verdict) and answer.verdict != earlier.verdict:
        raise InputError(
            f"case {answer.case} has two verdicts: {earlier.word.strip()!r} in {earlier.place} and "
            f"{answer.word.strip()!r} in {answer.place}. Decide which is right, and leave one"
        )


def _check_empty_answers(answers: Iterable[Answer]) -> None:
    """Refuse ticks beside nothing: whether an empty row is a no or was not looked at is open."""
    ordered = sorted(answers, key=lambda answer: answer.case)
    words = [answer.word.strip().casefold() for answer in ordered]
    given = {word for word in words if word not in OPEN_WORDS}
    ticks = given <= TICK_MARKS and any(word in OPEN_WORDS for word in words)
    if given and (ticks or _only_yes(words)):
        raise InputError(
            f"verdicts are marked {' and '.join(sorted(given))} or empty: does empty mean no, or "
            "that nobody looked? Write 0 or no where the case was looked at and is negative, ? "
            "where nobody looked"
        )


def _only_yes(words: Sequence[str]) -> bool:
    """Whether nothing but yes was written, and as often nothing before the last of them.

    Who looks at one case after the other leaves the rest empty, not every second one.
    """
    answered = [place for place, word in enumerate(words) if word not in OPEN_WORDS]
    passed = sum(not word for word in words[: answered[-1]]) if answered else 0
    only = {words[place] for place in answered} <= POSITIVE_VERDICTS
    return only and len(answered) >= FEWEST_YES and passed >= len(answered)


def _make_sheet(design: Mapping[str, Any], answers: Sequence[Answer]) -> ReviewSheet:
    names = list(design["scores"])
    if any(len(answer.scores) != len(names) for answer in answers):
        raise InputError(f"keys must hold the scores of {', '.join(names)}; some hold others")
    columns = np.array([answer.scores for answer in answers], np.float64).reshape(-1, len(names))
    return ReviewSheet(
        design,
        np.array([answer.case for answer in answers], np.int64),
        np.array([answer.stratum for answer in answers], np.int64),
        {name: columns[:, place] for place, name in enumerate(names)},
        np.array([answer.verdict for answer in answers], np.float64),
        np.array([answer.row for answer in answers], np.int64),
        kept={
            name: [answer.kept.get(name, "") for answer in answers]
            for name in dict.fromkeys(name for answer in answers for name in answer.kept)
            if name not in names
        },
    )


def _dump(design: Mapping[str, Any]) -> str:
    """Write a design as ASCII that no separator but the comma cuts: a name may hold one."""
    text = json.dumps(design, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return text.replace(";", "\\u003b").replace("|", "\\u007c")


def _check_sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:4]
