"""What a command reads: files, the coding of their labels, and what had to be dropped."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from undercount.count.arrays import row_words
from undercount.count.counts_file import is_counts_file, open_counts
from undercount.count.files import read_numbers, refuse_text, relation_of
from undercount.count.frames import count_scores
from undercount.count.paths import expand_paths
from undercount.count.sources import open_source, quote_name
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError

RECODE = (
    "Recode positives as 1 and unlabeled rows as 0 or empty, or name another column of labels "
    "with --label"
)
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
                f"{quote_name(s)} IS NULL OR isnan({quote_name(s)}::DOUBLE)" for s in scores
            )
            kept = relation.filter(f"NOT ({missing})")
            found = kept.aggregate(f"{quote_name(label)} AS value, count(*) AS number").fetchall()
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
            refuse_text(source, numbers, error, {label: RECODE})
    return Reading(dict(counted), "single-sample", notes)


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
    columns = read_numbers(list(paths), [label, *scores], {label: RECODE})
    labels = columns[label]
    complete = np.all([~np.isnan(columns[name]) for name in scores], axis=0)
    values, numbers = np.unique(labels[complete], return_counts=True)
    table = {
        None if np.isnan(v) else float(v): int(n) for v, n in zip(values, numbers, strict=True)
    }
    coding, notes = infer_coding(table, unlabeled, negative)
    dropped = int(np.count_nonzero(~complete))
    notes.insert(0, read_words(len(labels), dropped))
    if coding is not None:
        labels = np.where(labels == coding, np.nan, labels)
    return Columns(labels[complete], {name: columns[name][complete] for name in scores}, notes)


def read_words(total: int, dropped: int) -> str:
    """Say how many rows were read, and how many of them were dropped."""
    words = f"{row_words(total)} read"
    return words + (f", {dropped:,} dropped (missing score)" if dropped else "")


def read_case_control(
    positives: str,
    unlabeled: str,
    scores: Sequence[str],
    *,
    knots: Sequence[float] = (),
    compact: bool | None = True,
) -> Reading:
    """Count two files: rows known to be positive, and rows drawn apart without labels."""
    rows = _two_samples(positives, unlabeled, scores)
    counted, notes = {}, list(rows.notes)
    for name, score in rows.scores.items():
        known = ~np.isnan(score)
        if not known.all():
            notes.append(f"{int((~known).sum()):,} dropped (missing {name})")
        counted[name] = ScoreCounts.from_rows(
            rows.labels[known], score[known], compact=bool(compact), knots=knots
        )
    return Reading(counted, "case-control", notes)


def read_case_control_rows(positives: str, unlabeled: str, scores: Sequence[str]) -> Columns:
    """Read the rows of two files, for what needs several scores of the same row."""
    rows = _two_samples(positives, unlabeled, scores)
    complete = np.all([~np.isnan(score) for score in rows.scores.values()], axis=0)
    dropped = int(np.count_nonzero(~complete))
    notes = [*rows.notes, *([f"{dropped:,} dropped (missing score)"] if dropped else [])]
    kept = {name: score[complete] for name, score in rows.scores.items()}
    return Columns(rows.labels[complete], kept, notes)


def _two_samples(positives: str, unlabeled: str, scores: Sequence[str]) -> Columns:
    """Put the rows of two files under each other, those without labels last."""
    parts, notes, sizes = [], [], []
    for kind, path in (("positive", positives), ("unlabeled", unlabeled)):
        parts.append(read_numbers([path], scores))
        sizes.append(len(parts[-1][scores[0]]))
        notes.append(f"{sizes[-1]:,} {kind} row{'' if sizes[-1] == 1 else 's'} read")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in scores}
    return Columns(np.repeat([1.0, np.nan], sizes), columns, notes)


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


def refuse_repeats(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice: its rows would count twice."""
    expand_paths(paths)


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


def all_counts_files(paths: Sequence[str]) -> bool:
    """Tell whether every path names a counts file."""
    return all(is_counts_file(path) for path in paths)


def read_counts_files(paths: Sequence[str]) -> Reading:
    """Read counts files, each as a model named by its file."""
    files = {path: open_counts(path) for path in paths}
    samplings = {file.sampling or "single-sample" for file in files.values()}
    if len(samplings) > 1:
        raise InputError(
            "some of the counts files are of rows drawn apart (case-control) and some are not; "
            "judge them one by one"
        )
    counts = {Path(path).stem: file.counts for path, file in files.items()}
    return Reading(counts, samplings.pop(), [f"{path}: counts" for path in paths])


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
