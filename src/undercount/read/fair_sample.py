"""Are the labelled positives a fair sample of all positives? What rows beside the scores tell."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.errors import CODES, Check, InputError, named
from undercount.prevalence.fair_scores import ScoreTest
from undercount.prevalence.upper_bound import upper_bound
from undercount.shares import Shares

# Groups that a column of numbers is cut into, if it has more values than `MANY`.
PARTS, MANY = 4, 10
LEVEL = 0.95


def groups_check(
    labels: NDArray[Any], score: NDArray[Any], covariates: Any, shares: Shares
) -> Check:
    """UC022: in no group may random labels need more hidden positives than its scores allow.

    If every positive is as likely to be labelled, a group with many labels holds many hidden
    positives: (1/c - 1) for each label, c being the label frequency of all rows. A group whose
    scores rule so many out (`upper_bound`, exact at any sample size) is labelled more often than
    others. Groups are values of a covariate, quarters of one with many values; the chance of a
    false alarm is at most 5 % over all of them.

    Notes
    -----
    Assumes: the share of hidden positives, at the lower end of its interval, and pure labels.
    Wrong when: that share is too high; a group then fails for the share, not for its labels.
    """
    whole = ScoreCounts.from_rows(labels, score, unlabeled=-1, compact=True)
    span = shares.unlabeled_prevalence_interval
    least = shares.unlabeled_prevalence if span is None else span.low
    # Hidden positives for each label, as few as the share's interval allows.
    each = least * whole.n_unlabeled / whole.n_positive
    groups = list(_groups(covariates, len(labels)))
    level = 1 - (1 - LEVEL) / max(len(groups), 1)
    worst, tested = (0.0, "", 0.0, 0.0), 0
    for group, inside in groups:
        n_labelled, n_unlabeled = (np.count_nonzero(labels[inside] == kind) for kind in (1, -1))
        if n_labelled == 0 or n_unlabeled == 0:
            continue
        tested += 1
        counts = ScoreCounts.from_rows(labels[inside], score[inside], unlabeled=-1, compact=True)
        needed = float(each * n_labelled / n_unlabeled)
        allowed = upper_bound(counts, level)
        worst = max(worst, (needed - allowed, group, needed, allowed))
    if worst[0] <= 0:
        return Check(
            CODES["fair-sample"],
            "ok",
            f"labels may be a fair sample in each of {tested} groups by the covariates: their "
            "scores allow the hidden positives that would need. That is no proof",
        )
    _, name, needed, allowed = worst
    return Check(
        CODES["fair-sample"],
        "warn",
        f"labels are no fair sample: with as many labels as it has, {100 * needed:.2g} % of the "
        f"unlabeled rows with {name} would be positive, and their scores allow at most "
        f"{100 * allowed:.2g} %; such rows are labelled more often than others",
        f"find out the chances of a label and pass {named('propensity')}",
    )


def found_check(found: ScoreTest) -> Check:
    """UC022: labels should score alike, however and whenever they were found."""
    test = f"p = {found.p_value:.2g}, {found.n_rows:,} labels"
    if found.p_value > 1 - LEVEL:
        return Check(
            CODES["fair-sample"],
            "ok",
            f"positives score alike whenever and by whom they were found ({test}); what nobody "
            "has found may differ",
        )
    return Check(
        CODES["fair-sample"],
        "warn",
        f"labels are no fair sample: {found.words} ({test})",
        "review some rows without a label; they tell what nobody has found",
    )


def _groups(covariates: Any, n_rows: int) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each group of rows with its name, for every column."""
    columns = np.asarray(covariates)
    columns = columns[:, np.newaxis] if columns.ndim == 1 else columns
    if len(columns) != n_rows:
        raise InputError(
            f"{named('covariates')} must have a row for each of {n_rows:,} rows; "
            f"got shape {columns.shape}",
            argument="covariates",
        )
    for place, column in enumerate(columns.T):
        name = "the covariate" if columns.shape[1] == 1 else f"covariate {place}"
        values = np.unique(column)
        if len(values) <= MANY:
            for value in values:
                yield f"{name} = {value}", column == value
            continue
        numbers = column.astype(float)
        ends = np.quantile(numbers, np.linspace(0, 1, PARTS + 1))
        part = np.clip(np.searchsorted(ends, numbers, side="right") - 1, 0, PARTS - 1)
        for index in range(PARTS):
            words = f"{name} from {ends[index]:.3g} to {ends[index + 1]:.3g}"
            yield words, part == index


def mature_checks(estimator: Any) -> tuple[Check, ...]:
    """UC023: a share told by the dates of labels is none while the oldest ones are arriving."""
    if getattr(estimator, "mature_", True):
        return ()
    return (
        Check(
            CODES["mature"],
            "fail",
            f"do not report these numbers: {estimator.unripe_words()}",
            "wait, or add rows that are older",
        ),
    )


def chances_check(score: NDArray[Any], stands_for: NDArray[Any]) -> Check:
    """UC022: labels of known chances should prefer neither high nor low scores.

    The mean rank of the labelled rows, weighted by what they stand for, against the plain one.
    """
    rank = np.searchsorted(np.sort(score), score, side="right") / len(score)
    share = stands_for / stands_for.sum()
    weighted, plain = float(share @ rank), float(rank.mean())
    parts = share * (rank - weighted) - (rank - plain) / len(rank)
    error = math.sqrt(float(parts @ parts))
    distance = (weighted - plain) / error if error > 0 else 0.0
    p_value = math.erfc(abs(distance) / math.sqrt(2))
    if p_value > 1 - LEVEL:
        return Check(
            CODES["fair-sample"],
            "ok",
            "by their chances the labels prefer neither high nor low scores "
            f"(p = {p_value:.2g}); other labels may",
        )
    prefer = "low" if weighted > plain else "high"
    return Check(
        CODES["fair-sample"],
        "info",
        f"labels are no fair sample of the positives: they prefer {prefer} scores "
        f"(p = {p_value:.2g}), which the chances allow for",
        "do not read labels alone",
    )
