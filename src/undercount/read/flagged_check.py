"""The check that a threshold flags some rows, and not all."""

from undercount.count.arrays import row_words
from undercount.counts import ScoreCounts
from undercount.errors import CODES, Check


def flagged_check(counts: ScoreCounts, threshold: float) -> Check:
    """UC013: a threshold should flag some rows, and not all."""
    head = counts.score >= threshold
    rows = counts.positive + counts.negative + counts.unlabeled
    flagged = float(rows[head].sum())
    if flagged == 0:
        return Check(
            CODES["flagged"],
            "warn",
            f"no row scores {threshold:g} or more, so nothing is flagged: recall is 0, and "
            "precision and MCC do not exist",
            f"lower the threshold; the highest score is {counts.score[rows > 0][0]:.6g}",
        )
    if flagged == float(rows.sum()):
        return Check(
            CODES["flagged"],
            "warn",
            f"every row scores {threshold:g} or more, so all are flagged: a recall of 1 means "
            "nothing here, and precision is the prevalence",
            f"raise the threshold; the lowest score is {counts.score[rows > 0][-1]:.6g}",
        )
    words = row_words(flagged, weighted=counts.weighted)
    return Check(CODES["flagged"], "ok", f"{words} at {threshold:g} or above")
