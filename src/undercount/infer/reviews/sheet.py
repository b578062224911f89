"""A design and its verdicts as a file, and whether the rows are still those of the plan."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from undercount.count.draw import DrawnRows
from undercount.count.review_file import FORMAT, OF_DATA, ReviewSheet, read_review_files
from undercount.counts import ScoreCounts
from undercount.errors import InputError, named
from undercount.infer.reviews.verdicts import ReviewDesign, Reviews

CLASS_WORDS = {
    "positive": "labelled positive",
    "negative": "labelled negative",
    "unlabeled": "unlabeled",
}


def make_sheet(
    design: ReviewDesign,
    drawn: DrawnRows,
    counts: ScoreCounts,
    columns: Mapping[str, Any] | None = None,
) -> ReviewSheet:
    """Make the sheet of rows that were drawn by a design from counted rows.

    Parameters
    ----------
    design, drawn : ReviewDesign, DrawnRows
        How rows were chosen, and which, in the order of the design.
    counts : ScoreCounts
        Counts of the rows by the score that makes the strata.
    columns : mapping, optional
        More to write down, such as the names of columns.
    """
    n = len(design.order)
    chance = design.sizes() / np.maximum(design.n_unlabeled, 1)
    facts = {
        **(columns or {}),
        "format": FORMAT,
        "scores": list(drawn.scores),
        "edges": [_number(edge) for edge in design.edges],
        "n_unlabeled": [int(number) for number in design.n_unlabeled],
        "unlabeled_prevalence": float(design.unlabeled_prevalence),
        "seed": int(design.seed),
        "goal": list(design.goal),
        "threshold": None if design.threshold is None else _number(design.threshold),
        "rows": describe_rows(counts),
    }
    return ReviewSheet(
        facts,
        np.arange(1, n + 1),
        drawn.stratum,
        drawn.scores,
        np.full(n, np.nan),
        drawn.row,
        np.asarray(chance[drawn.stratum]),
        drawn.kept,
    )


def join_rounds(earlier: ReviewSheet, later: ReviewSheet) -> ReviewSheet:
    """Put the answered cases of earlier rounds before the cases of a new one.

    A second model's scores stay only if earlier rounds have them: rows of a file are found without.
    """
    done = np.flatnonzero(~np.isnan(earlier.verdict))
    stratum = np.append(earlier.stratum[done], later.stratum)
    rows = np.array(later.design["n_unlabeled"], np.float64)
    chance = np.bincount(stratum, minlength=len(rows)) / np.maximum(rows, 1)
    kept = _join_kept(earlier, later, done.tolist())
    names = [name for name in later.scores if name in earlier.scores]
    return ReviewSheet(
        {**later.design, "scores": names},
        np.arange(1, len(stratum) + 1),
        stratum,
        {name: np.append(earlier.scores[name][done], later.scores[name]) for name in names},
        np.append(earlier.verdict[done], later.verdict),
        np.append(earlier.row[done], later.row),
        np.asarray(chance[stratum]),
        kept,
    )


def _join_kept(earlier: ReviewSheet, later: ReviewSheet, done: list[int]) -> dict[str, list[str]]:
    """Join the columns that are kept now, and those that people added, which are of no plan."""
    old, new = earlier.kept or {}, later.kept or {}
    planned = earlier.design.get("keep", list(old))
    added = set(old) - {*planned, *(f"{name}{OF_DATA}" for name in planned)}
    joined = {}
    for name in [*new, *(name for name in old if name in added and name not in new)]:
        before = old.get(name, old.get(f"{name}{OF_DATA}"))
        first = [before[at] if before else "" for at in done]
        joined[name] = [*first, *(new[name] if name in new else [""] * len(later.case))]
    return joined


def describe_rows(counts: ScoreCounts) -> dict[str, Any]:
    """Say of rows what tells them from others: how many of each kind, and the labelled scores."""
    labelled = (counts.positive > 0) | (counts.negative > 0)
    cells = [counts.score[labelled], counts.positive[labelled], counts.negative[labelled]]
    # Bins are not the same in every count; labelled scores of other counts are kept apart.
    digest = "" if counts.auc_error else hashlib.sha256(np.array(cells).tobytes()).hexdigest()[:16]
    return {**{name: getattr(counts, f"n_{name}") for name in CLASS_WORDS}, "labelled": digest}


def check_same_rows(design: Mapping[str, Any], counts: ScoreCounts) -> None:
    """Refuse rows other than those the plan was made for."""
    planned, counted = design["rows"], describe_rows(counts)
    for name, words in CLASS_WORDS.items():
        if planned[name] != counted[name]:
            _refuse(f"{planned[name]:,.0f} rows {words}, and now there are {counted[name]:,.0f}")
    if planned["labelled"] and counted["labelled"] and planned["labelled"] != counted["labelled"]:
        _refuse("labelled rows with other scores")


def _refuse(what: str) -> None:
    raise InputError(
        f"the plan was made for other data: {what}. Verdicts hold for the rows and labels of the "
        f"plan: pass these as they were, with the verdicts in {named('reviews')} alone; or plan "
        "anew",
        argument="reviews",
    )


def read_design(design: Mapping[str, Any], order: Sequence[int] | Any) -> ReviewDesign:
    """Return the design that a sheet holds."""
    threshold = design["threshold"]
    return ReviewDesign(
        np.array([float(edge) for edge in design["edges"]]),
        np.array(design["n_unlabeled"], np.intp),
        np.asarray(order, np.intp),
        float(design["unlabeled_prevalence"]),
        int(design["seed"]),
        tuple(design["goal"]),
        None if threshold is None else float(threshold),
    )


def sheet_reviews(sheet: ReviewSheet) -> Reviews:
    """Return the verdicts of a sheet."""
    rows = sheet.row if (sheet.row > 0).all() else sheet.case
    return Reviews(
        rows.astype(np.intp) - 1,
        np.where(np.isnan(sheet.verdict), -1, sheet.verdict).astype(np.int8),
        next(iter(sheet.scores.values())),
        sheet.stratum.astype(np.intp),
        read_design(sheet.design, sheet.stratum),
    )


def read_reviews(path: str | Path | Sequence[str | Path]) -> Reviews:
    r"""Read the verdicts of a review file, or of its parts, as a spreadsheet has saved them.

    Parameters
    ----------
    path : path or sequence of paths
        CSV with any separator; rows in any order. A verdict is 1, yes or true, 0, no or false, or
        empty where nobody looked yet. Only the columns verdict, key and design are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([1, np.nan], 500, p=[0.1, 0.9])
    >>> frame = pd.DataFrame({"y": y, "s": rng.random(500)})
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory, "review.csv")
    ...     plan = uc.plan_reviews(frame, "s", label="y", budget=20, goal="prevalence")
    ...     plan.to_csv(file)
    ...     answered = file.read_text("utf-8-sig").replace(",,", ",yes,", 1)
    ...     _ = file.write_text(answered)
    ...     uc.read_reviews(file).n_answered
    1
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    return sheet_reviews(read_review_files(paths))


def as_reviews(source: Any) -> Reviews:
    """Return verdicts as they are, or read them where a file of them is named."""
    if isinstance(source, Reviews):
        return source
    if isinstance(source, str | Path):
        return read_reviews(source)
    raise InputError(
        f"{named('reviews')} must be Reviews or the path of an answered review file; got "
        f"{type(source).__name__}",
        argument="reviews",
        hint="plan.answered(verdicts) and read_reviews(path) return Reviews",
    )


def _number(value: float) -> float | str:
    """Write a score so that JSON can hold it."""
    return float(value) if np.isfinite(value) else str(float(value))
