"""What a command reads: files, the coding of their labels, and what had to be dropped."""

import glob
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import numpy as np

from undercount.count_files import is_counts_file, read_counts_file
from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.files import read_columns, refuse_text, relation_of
from undercount.frames import count_scores
from undercount.rates import FloatArray
from undercount.rows import row_words
from undercount.sources import open_source, quoted

# Label values that a message lists at most.
SHOWN = 5


@dataclass(frozen=True)
class Reading:
    """Hold the counts of each score column and what was inferred on the way."""

    counts: dict[str, ScoreCounts]
    sampling: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Columns:
    """Hold rows: labels (1, 0, NaN) and the scores of each column."""

    labels: FloatArray
    scores: dict[str, FloatArray]
    notes: list[str] = field(default_factory=list)


def read_counted(
    paths: Sequence[str],
    label: str,
    scores: Sequence[str],
    *,
    unlabeled: float | None = None,
    negative: float | None = None,
    weight: str | None = None,
    knots: Sequence[float] = (),
    progress: Any = None,
    compact: bool | None = True,
) -> Reading:
    """Count the rows of files where they lie; rows without a score are dropped and said."""
    numbers = list(dict.fromkeys([label, *scores, *([weight] if weight else [])]))
    with open_source(list(paths), numbers) as source:
        try:
            relation = relation_of(source, numbers, [])
            total = relation.count("*").fetchall()[0][0]
            if total == 0:
                raise InputError(f"{source.place} has no rows")
            missing = " OR ".join(
                f"{quoted(s)} IS NULL OR isnan({quoted(s)}::DOUBLE)" for s in scores
            )
            kept = relation.filter(f"NOT ({missing})")
            found = kept.aggregate(f"{quoted(label)} AS value, count(*) AS number").fetchall()
            coding, notes = infer_coding(dict(found), unlabeled, negative)
            dropped = total - sum(number for _, number in found)
            notes.insert(0, read_words(total, dropped))
            counted = count_scores(
                kept,
                label=label,
                score=list(scores),
                weight=weight,
                unlabeled=coding,
                compact=compact,
                knots=knots,
                progress=progress,
            )
        except duckdb.ConversionException as error:
            _refuse_text(source, label, numbers, error)
    return Reading(dict(counted), "single-sample", notes)


def _refuse_text(source: Any, label: str, numbers: Sequence[str], error: Exception) -> NoReturn:
    """Say which column holds text; labels in words need another remedy than scores."""
    try:
        refuse_text(source, numbers, error)
    except InputError as told:
        if not str(told).startswith(f"column {label!r} "):
            raise
        what = str(told).partition(". ")[0]
        raise InputError(
            f"{what}. Recode positives as 1 and unlabeled rows as 0 or empty, or name another "
            "column of labels with --label"
        ) from None


def read_rows(
    paths: Sequence[str],
    label: str,
    scores: Sequence[str],
    *,
    unlabeled: float | None = None,
    negative: float | None = None,
) -> Columns:
    """Read rows, for what needs several scores of the same row."""
    refuse_repeats(paths)
    columns = read_columns(list(paths), [label, *scores])
    labels = np.asarray(columns[label], dtype=float)
    complete = np.all([~np.isnan(columns[name].astype(float)) for name in scores], axis=0)
    values, numbers = np.unique(labels[complete], return_counts=True)
    table = {
        None if np.isnan(v) else float(v): int(n) for v, n in zip(values, numbers, strict=True)
    }
    coding, notes = infer_coding(table, unlabeled, negative)
    dropped = int(np.count_nonzero(~complete))
    notes.insert(0, read_words(len(labels), dropped))
    if coding is not None:
        labels = np.where(labels == coding, np.nan, labels)
    return Columns(labels[complete], {n: columns[n].astype(float)[complete] for n in scores}, notes)


def read_words(total: int, dropped: int) -> str:
    """Say how many rows were read, and how many of them were dropped."""
    words = f"{row_words(total)} read"
    return words + (f", {dropped:,} dropped (missing score)" if dropped else "")


def read_case_control(
    positives: Sequence[str],
    unlabeled: Sequence[str],
    scores: Sequence[str],
    knots: Sequence[float],
) -> Reading:
    """Count two files: rows known to be positive, and rows drawn apart without labels."""
    counted, notes = {}, []
    rows = {}
    for kind, paths in (("positive", positives), ("unlabeled", unlabeled)):
        columns = read_columns(list(paths), list(scores))
        rows[kind] = {name: columns[name].astype(float) for name in scores}
        n_rows = len(next(iter(rows[kind].values())))
        notes.append(f"{n_rows:,} {kind} row{'' if n_rows == 1 else 's'} read")
    for name in scores:
        score = np.concatenate([rows["positive"][name], rows["unlabeled"][name]])
        y = np.repeat([1.0, np.nan], [len(rows[k][name]) for k in ("positive", "unlabeled")])
        known = ~np.isnan(score)
        if not known.all():
            notes.append(f"{int((~known).sum()):,} dropped (missing {name})")
        counted[name] = ScoreCounts.from_rows(y[known], score[known], compact=True, knots=knots)
    return Reading(counted, "case-control", notes)


def infer_coding(
    found: dict[Any, int], unlabeled: float | None, negative: float | None
) -> tuple[float | None, list[str]]:
    """Return the value that means unlabeled, and what was inferred."""
    values = {
        float(value): number
        for value, number in found.items()
        if value is not None and not math.isnan(value)
    }
    missing = sum(found.values()) - sum(values.values())
    most = sorted(values.items(), key=lambda item: -item[1])[:SHOWN]
    shown = ", ".join(f"{value:g}: {number:,}" for value, number in sorted(most))
    shown += ", …" if len(values) > SHOWN else ""
    shown += f", missing: {missing:,}" if missing else ""
    if not values.get(1.0):
        raise InputError(
            f"no row is labelled positive (1); the label column holds {{{shown}}}. Name the column "
            "of labels with --label, or recode positives as 1 and unlabeled rows as 0 or empty"
        )
    if unlabeled is not None:
        return unlabeled, [f"1 = positive, {unlabeled:g} = unlabeled (as told)"]
    others = sorted(set(values) - {1.0})
    if negative is not None:
        others = [value for value in others if value != negative]
        if negative != 0:
            raise InputError(f"verified negatives must be coded 0; got --negative {negative:g}")
    if missing and set(others) <= {0.0}:
        known = ", 0 = verified negative" if others or negative is not None else ""
        return None, [f"1 = positive{known}, missing = unlabeled"]
    if negative is None and others == [0.0]:
        return 0.0, [
            "1 = positive, 0 = unlabeled (no label is missing; --negative 0 says otherwise)"
        ]
    if others == [-1.0]:
        return -1.0, ["1 = positive, -1 = unlabeled"]
    if others == [-1.0, 0.0]:
        return -1.0, ["1 = positive, 0 = verified negative, -1 = unlabeled"]
    if not others:
        raise InputError(f"no row is unlabeled; the label column holds {{{shown}}}")
    raise InputError(
        f"the label column holds {{{shown}}}; which value means unlabeled? 1 means positive: if it "
        "does here, pass --unlabeled VALUE; if not, recode positives as 1 and unlabeled rows as 0 "
        "or empty"
    )


def read_any(
    data: Sequence[str],
    options: dict[str, Any],
    knots: Sequence[float],
    progress: Any = None,
    *,
    compact: bool | None = True,
) -> Reading:
    """Read files of rows, the two files of a case-control sample, or counts files."""
    scores = list(options["scores"])
    if options["positives"]:
        if not options["unlabeled"] or not scores:
            raise InputError("--positives FILE goes with --unlabeled FILE and --score COLUMN")
        return read_case_control([options["positives"]], [options["unlabeled"]], scores, knots)
    if not data:
        raise InputError("name a file of scores and labels, or - for standard input")
    refuse_repeats(data)
    if options["label"] is None and not scores and all(is_counts_file(path) for path in data):
        return read_counts_files(data)
    if options["label"] is None or not scores:
        raise InputError(
            "name the columns: --label COLUMN --score COLUMN. "
            f"{data[0]} has the columns {', '.join(map(repr, column_names(data)))}"
        )
    return read_counted(
        data,
        options["label"],
        scores,
        unlabeled=unlabeled_value(options["unlabeled"]),
        negative=options["negative"],
        weight=options["weight"],
        knots=knots,
        progress=progress,
        compact=compact,
    )


def refuse_repeats(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice: its rows would count twice."""
    seen: set[Path] = set()
    for path in paths:
        for name in sorted(glob.glob(path)) or [path]:  # noqa: PTH207 - may be absolute
            place = Path(name).resolve()
            if place in seen:
                raise InputError(
                    f"each file may be named once, or its rows count twice; got {name} again"
                )
            seen.add(place)


def unlabeled_value(text: str | None) -> float | None:
    """Read the label value that means unlabeled."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"--unlabeled must be a number (or a file, with --positives); got {text!r}"
        ) from None


def read_counts_files(paths: Sequence[str]) -> Reading:
    """Read counts files, each as a model named by its file."""
    counts = {Path(path).stem: read_counts_file(path) for path in paths}
    return Reading(counts, "single-sample", [f"{path}: counts" for path in paths])


def refuse_counts(paths: Sequence[str]) -> None:
    """Say why counts files cannot be compared."""
    counted = [path for path in paths if is_counts_file(path)]
    if counted:
        raise InputError(
            f"{counted[0]} is a counts file, and models are compared row by row: counts of two "
            "scores do not say which rows they share. Pass the file of rows with --label and a "
            "--score for each model; or judge each counts file by itself with undercount evaluate"
        )


def column_names(paths: Sequence[str]) -> list[str]:
    """Return the names of a file's columns."""
    with open_source(list(paths), []) as source:
        return list(source.types)
