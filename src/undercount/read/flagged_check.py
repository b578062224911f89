"""The check that a threshold flags some rows, and not all."""

import numpy as np

from undercount.count.arrays import row_words
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import CODES, Check
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


def _highest(counts: ScoreCounts) -> str:
    """Write the highest score; a merged cell knows the lowest score in it alone."""
    filled = counts.positive + counts.negative + counts.unlabeled > 0
    more = " or more" if counts.merged[filled][0] else ""
    return f"{counts.score[filled][0]:.6g}{more}"


def _filled(counts: ScoreCounts) -> FloatArray:
    """Return the scores that rows have; a threshold may have an empty cell of its own."""
    return counts.score[counts.positive + counts.negative + counts.unlabeled > 0]
