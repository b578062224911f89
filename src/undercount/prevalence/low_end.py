"""How far below an estimate from scores the share of hidden positives may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undercount.prevalence.upper_bound import effective_sizes

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts

# What an estimate by the shape of scores needs beyond random labels.
SCORES_ALONE = "scores that only positives reach"
# Part of the overlap of the classes that may lie evenly under the positives. Of 277 scores of 27
# real sets, 98 in 100 need no more than .2 for 90 % coverage, and the worst needs .49
# (docs/evidence/hidden-share.md).
EVEN_OVERLAP = 0.4


def lower_end(low: float, counts: ScoreCounts, label_purity: float = 1.0) -> float:
    """Lower the low end of a share that was estimated from scores by part of the classes' overlap.

    Scores bound the share from above only: f_U/f_P = a + (1 - a) f_N/f_P, and every estimate
    assumes that some score is reached by nearly no negative. The smallest f_N/f_P is at most
    2(1 - AUC) of positives against negatives. If a part λ of that maximum lies evenly under the
    positives, every head shows (1 - λ) a + λ 2(1 - A) instead of a, with A the AUC of labelled
    against unlabeled rows; solved for a, that is the low end. It is 0 where less than one row is
    left.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and no more than λ = .4 of the largest
    possible overlap lies evenly under them.
    Wrong when: more of it does (naive Bayes on few columns): the low end is then too high.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.low_end import lower_end
    >>> apart = uc.ScoreCounts.from_counts([2, 1], [50, 0], [0, 0], [200, 800])
    >>> weak = uc.ScoreCounts.from_counts([2, 1], [50, 50], [0, 0], [400, 600])
    >>> round(lower_end(0.18, apart), 3), lower_end(0.3, weak)
    (0.167, 0.0)
    """
    overlap = label_purity + 1 - 2 * counts.auc("positive", "unlabeled")
    lowered = (low - EVEN_OVERLAP * max(overlap, 0.0)) / (1 - EVEN_OVERLAP)
    return min(lowered, low) if lowered * effective_sizes(counts)[1] >= 1 else 0.0
