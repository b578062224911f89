"""Checks that a threshold flags some rows, not all, and those that it is meant to flag."""

import numpy as np

from undercount.count.arrays import row_words
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import CODES, Check, named
from undercount.read.metric_name import short_number


def flagged_check(counts: ScoreCounts, threshold: float) -> Check:
    """UC013: a threshold should flag some rows, and not all."""
    at = short_number(threshold)
    columns = counts.positive, counts.negative, counts.unlabeled
    end = len(counts.score) - int(np.searchsorted(counts.score[::-1], threshold))
    flagged = sum(float(column[:end].sum()) for column in columns)
    if flagged == 0:
        return Check(
            CODES["flagged"],
            "warn",
            f"no row scores {at} or more, so nothing is flagged: recall is 0, and precision and "
            "MCC do not exist",
            f"lower the threshold; the highest score is {_highest(counts)}",
        )
    if not any(float(column[end:].sum()) for column in columns):
        return Check(
            CODES["flagged"],
            "warn",
            f"every row scores {at} or more, so all are flagged: a recall of 1 means nothing here, "
            "and precision is the prevalence",
            f"raise the threshold; the lowest score is {_filled(counts)[-1]:.6g}",
        )
    words = row_words(flagged, weighted=counts.weighted)
    return Check(CODES["flagged"], "ok", f"{words} at {at} or above")


def rounding_check(counts: ScoreCounts, threshold: float) -> list[Check]:
    """UC024: rows that score what the threshold is in single precision, just below it.

    Nothing is said where counts have merged these rows with others.
    """
    at = short_number(threshold)
    rows = {near: _rows_at(counts, near) for near in nearest_below(threshold)}
    found = next((near for near in rows if rows[near]), None)
    if found is None or _rows_at(counts, threshold):
        return []
    words = row_words(rows[found], weighted=counts.weighted)
    return [
        Check(
            CODES["rounding"],
            "warn",
            f"{words} at {found!r}, which is {at} in the precision that these scores seem to have, "
            f"lie below {at} and are not flagged",
            f"pass {named('threshold', repr(found))} to flag them too",
        )
    ]


def nearest_below(threshold: float) -> list[float]:
    """Return what a threshold is in single and half precision, where that is less.

    Examples
    --------
    >>> from undercount.read.flagged_check import nearest_below
    >>> nearest_below(0.7), nearest_below(0.5)
    ([0.699999988079071], [])
    """
    with np.errstate(over="ignore"):
        rounded = [float(kind(threshold)) for kind in (np.float32, np.float16)]
    return [each for each in rounded if -np.inf < each < threshold]


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
