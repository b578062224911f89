"""Rows and counts out of files, the coding of their labels, and what had to be dropped.

This imports DuckDB: `reading` decides what to read, and loads it only when a command runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

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
RECODE_LOOKED = (
    "Recode positives as 1 and negatives as 0 and leave the label empty where nobody looked, or "
    "name another column of labels with --label"
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
class ScoredRows:
    """Hold rows: labels (1, 0, NaN) and the scores of each column."""

    labels: FloatArray
    scores: dict[str, FloatArray]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LookedRows:
    """Hold rows of which some were looked at: the score, and what may have chosen them."""

    labels: FloatArray
    score: FloatArray
    chooser: FloatArray | None
    features: FloatArray | None
    notes: list[str]


def count_rows(
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
) -> ScoredRows:
    """Read rows, for what needs several scores of the same row."""
    refuse_repeats(paths)
    columns = read_numbers(list(paths), [label, *scores], {label: RECODE})
    complete = _complete(columns, scores)
    labels = columns[label][complete]
    values, numbers = np.unique(labels, return_counts=True)
    found = {
        None if np.isnan(v) else float(v): int(n) for v, n in zip(values, numbers, strict=True)
    }
    coding, notes = infer_coding(found, unlabeled, negative)
    notes.insert(0, read_words(len(complete), len(complete) - len(labels)))
    if coding is not None:
        labels = np.where(labels == coding, np.nan, labels)
    return ScoredRows(labels, {name: columns[name][complete] for name in scores}, notes)


def _complete(columns: dict[str, FloatArray], names: Sequence[str]) -> NDArray[np.bool_]:
    """Tell the rows that have a number in each of some columns."""
    return np.asarray(np.all([~np.isnan(columns[name]) for name in names], axis=0))


def read_words(total: int, dropped: int) -> str:
    """Say how many rows were read, and how many of them were dropped."""
    words = f"{row_words(total)} read"
    return words + (f", {dropped:,} dropped (missing score)" if dropped else "")


def count_two_samples(
    positives: str,
    unlabeled: str,
    scores: Sequence[str],
    *,
    knots: Sequence[float] = (),
    compact: bool | None = True,
) -> Reading:
    """Count two files: rows known to be positive, and rows drawn apart without labels."""
    labels, columns, notes = _read_two_samples(positives, unlabeled, scores)
    counted = {}
    for name, score in columns.items():
        scored = ~np.isnan(score)
        if not scored.all():
            notes.append(f"{int((~scored).sum()):,} dropped (missing {name})")
        counted[name] = ScoreCounts.from_rows(
            labels[scored], score[scored], compact=bool(compact), knots=knots
        )
    return Reading(counted, "case-control", notes)


def read_two_samples(positives: str, unlabeled: str, scores: Sequence[str]) -> ScoredRows:
    """Read the rows of two files, for what needs several scores of the same row."""
    labels, columns, notes = _read_two_samples(positives, unlabeled, scores)
    complete = _complete(columns, scores)
    dropped = int(np.count_nonzero(~complete))
    notes += [f"{dropped:,} dropped (missing score)"] if dropped else []
    kept = {name: score[complete] for name, score in columns.items()}
    return ScoredRows(labels[complete], kept, notes)


def _read_two_samples(
    positives: str, unlabeled: str, scores: Sequence[str]
) -> tuple[FloatArray, dict[str, FloatArray], list[str]]:
    """Put the rows of two files under each other, those without labels last."""
    parts = [read_numbers([path], scores) for path in (positives, unlabeled)]
    sizes = [len(part[scores[0]]) for part in parts]
    notes = [
        f"{size:,} {kind} row{'' if size == 1 else 's'} read"
        for size, kind in zip(sizes, ("positive", "unlabeled"), strict=True)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in scores}
    return np.repeat([1.0, np.nan], sizes), columns, notes


def read_looked(
    paths: Sequence[str],
    label: str,
    score: str,
    *,
    chooser: str | None = None,
    features: Sequence[str] = (),
) -> LookedRows:
    """Read rows of which some were looked at; those without a score are dropped and said."""
    refuse_repeats(paths)
    chosen_by = [chooser] if chooser else []
    read = read_numbers(list(paths), [label, score, *features, *chosen_by], {label: RECODE_LOOKED})
    complete = _complete(read, [score, *chosen_by])
    if not complete.any():
        if np.isnan(read[score]).all():
            raise InputError(f"no row has a score in column {score!r}")
        raise InputError(f"no row has a score in both columns, {score!r} and {chooser!r}")
    columns = {name: values[complete] for name, values in read.items()}
    labels, coding = _uncode_looked(columns[label])
    for name in features:
        if not np.isfinite(columns[name]).all():
            raise InputError(
                f"column {name!r} of --features must hold a finite number in every row; fill in "
                "what is missing, or leave these rows out"
            )
    dropped = int(np.count_nonzero(~complete))
    looked = f"{np.count_nonzero(~np.isnan(labels)):,} of {'the others' if dropped else 'them'}"
    return LookedRows(
        labels,
        columns[score],
        columns[chooser] if chooser else None,
        np.column_stack([columns[name] for name in features]) if features else None,
        [f"{read_words(len(complete), dropped)}, {looked} looked at", *coding],
    )


def _uncode_looked(labels: FloatArray) -> tuple[FloatArray, list[str]]:
    """Read -1 as not looked at where it stands beside 1 and 0, as evaluate does."""
    if set(np.unique(labels[~np.isnan(labels)])) != {-1.0, 0.0, 1.0}:
        return labels, []
    note = "1 = positive, 0 = negative, -1 = not looked at"
    return np.where(labels == -1, np.nan, labels), [note]


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
        verified = ", 0 = verified negative" if others or negative is not None else ""
        return None, [f"1 = positive{verified}, missing = unlabeled"]
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
