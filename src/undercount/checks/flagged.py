"""Checks that a threshold flags some rows, not all, and those that it is meant to flag."""

import numpy as np

from undercount.checks.outcomes import passes, warns
from undercount.count.arrays import row_words
from undercount.count.knots import nearest_below
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import ROUNDED_SCORES, Check, MisfitWarning, named, warn
from undercount.infer.metric_name import short_number


def flagged_check(counts: ScoreCounts, threshold: float) -> Check:
    """UC013: a threshold should flag some rows, and not all."""
    at = short_number(threshold)
    columns = counts.positive, counts.negative, counts.unlabeled
    end = len(counts.score) - int(np.searchsorted(counts.score[::-1], threshold))
    flagged = sum(float(column[:end].sum()) for column in columns)
    if flagged == 0:
        return warns(
            "flagged",
            f"no row scores {at} or more, so nothing is flagged: recall is 0, and precision and "
            "MCC do not exist",
            f"lower the threshold; the highest score is {_highest(counts)}",
        )
    if not any(float(column[end:].sum()) for column in columns):
        return warns(
            "flagged",
            f"every row scores {at} or more, so all are flagged: a recall of 1 means nothing here, "
            "and precision is the prevalence",
            f"raise the threshold; the lowest score is {_filled(counts)[-1]:.6g}",
        )
    words = row_words(flagged, weighted=counts.weighted)
    return passes("flagged", f"{words} at {at} or above")


def rounding_check(counts: ScoreCounts, threshold: float, *, own: bool = True) -> list[Check]:
    """UC024: rows that score what the threshold is in single precision, just below it.

    Nothing is said where counts have merged these rows with others. One that is not the
    evaluation's `own` was written beside a metric.
    """
    at, rounded = short_number(threshold), rounded_threshold(counts, threshold)
    if rounded is None:
        return []
    words = row_words(_rows_at(counts, rounded), weighted=counts.weighted)
    advised = f"pass {named('threshold', repr(rounded))}" if own else f"write @{rounded!r}"
    return [
        warns(
            "rounding",
            f"{words} at {rounded!r}, which is {at} in the precision that these scores seem to "
            f"have, lie below {at} and are not flagged",
            f"{advised} to flag them too",
        )
    ]


def rounded_threshold(counts: ScoreCounts, threshold: float) -> float | None:
    """Return what the threshold is in lower precision, if rows score that, and none itself.

    Examples
    --------
    >>> from undercount import ScoreCounts
    >>> from undercount.checks.flagged import rounded_threshold
    >>> counts = ScoreCounts.from_counts([0.75, 0.699999988079071], [2, 1], [0, 0], [1, 3])
    >>> rounded_threshold(counts, 0.7), rounded_threshold(counts, 0.6)
    (0.699999988079071, None)
    """
    rounded = next((near for near in nearest_below(threshold) if _rows_at(counts, near)), None)
    return None if _rows_at(counts, threshold) else rounded


def warn_rounding(counts: ScoreCounts, threshold: float, stacklevel: int = 1) -> None:
    """Warn of what UC024 says, where a number is asked for that no list of checks goes with."""
    for check in rounding_check(counts, threshold, own=False):
        warn(MisfitWarning(check.message, code=ROUNDED_SCORES, hint=check.advice), stacklevel + 1)


def _rows_at(counts: ScoreCounts, score: float) -> float:
    """Return the rows with just this score; 0 if they are merged with others."""
    place = len(counts.score) - int(np.searchsorted(counts.score[::-1], score, "right"))
    if place == len(counts.score) or counts.score[place] != score or counts.merged[place]:
        return 0.0
    return sum(float(column[place]) for column in counts.table.classes)


def _highest(counts: ScoreCounts) -> str:
    """Write the highest score; a merged cell knows the lowest score in it alone."""
    filled = counts.positive + counts.negative + counts.unlabeled > 0
    more = " or more" if counts.merged[filled][0] else ""
    return f"{counts.score[filled][0]:.6g}{more}"


def _filled(counts: ScoreCounts) -> FloatArray:
    """Return the scores that rows have; a threshold may have an empty cell of its own."""
    return counts.score[counts.positive + counts.negative + counts.unlabeled > 0]
