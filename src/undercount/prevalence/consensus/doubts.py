"""Why scores bound the share of hidden positives from above only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from undercount.prevalence.upper_bound import effective_sizes

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts

Doubt: TypeAlias = Literal["", "ties", "overtaken", "many", "overlap"]
# Part of the labelled rows at one score from which no shape is left to be read.
MOST_AT_ONE_SCORE = 0.5
# The upper part of the labelled rows, in which unlabeled ones should not stand higher, and the
# chance of an alarm where they do not.
HEAD = 0.5
FALSE_ALARM = 0.01
# Label frequencies below which an estimated share is more likely one of negatives that score like
# positives: at any share, and at one below `SMALL_SHARE`. Chosen on half of 27 real sets
# (docs/evidence/hidden-share.md has the other half).
RARELY_LABELLED, SELDOM_LABELLED, SMALL_SHARE = 0.05, 0.15, 0.15


def find_doubt(counts: ScoreCounts, share: float, sampling: str) -> Doubt:
    """Return what shows that negatives share the best scores of the positives; "" if nothing does.

    Every estimate takes the unlabeled rows that score like labelled ones for hidden positives, if
    only at some scores. "ties": so many labelled rows share one score that no scores are left
    which positives alone could reach. "overtaken": among rows that score as high as the upper
    half of the labelled ones, the unlabeled stand higher. Rows of both kinds alike would not, and
    negatives below the positives make it the other way round, so that there are negatives above.
    "many": the estimated share supposes more hidden positives than is likely (of one sample).

    Notes
    -----
    Assumes: labels are a random sample of the positives.
    Wrong when: negatives are spread over the scores of the positives in the same way as these:
    nothing shows then.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.consensus.doubts import find_doubt
    >>> def doubt(labelled, unlabeled):
    ...     rows = [3, 2, 1, 0], labelled, [0] * 4, unlabeled
    ...     return find_doubt(uc.ScoreCounts.from_counts(*rows), 0.3, "single-sample")
    >>> doubt([0, 80, 18, 2], [0, 200, 40, 700]), doubt([0, 49, 49, 2], [90, 60, 50, 700])
    ('ties', 'overtaken')
    >>> doubt([33, 33, 33, 1], [33, 33, 33, 700]), doubt([33, 33, 33, 1], [330, 330, 3300, 9700])
    ('', 'many')
    """
    single = ~counts.merged
    if counts.positive[single].max(initial=0.0) > MOST_AT_ONE_SCORE * counts.n_positive:
        return "ties"
    if _overtaken_chance(counts) < FALSE_ALARM:
        return "overtaken"
    many = sampling == "single-sample" and supposes_too_many(counts, share)
    return "many" if many else ""


def _overtaken_chance(counts: ScoreCounts) -> float:
    """Return how often rows alike would place unlabeled ones so high by chance."""
    positive, _, unlabeled = counts.cumulative()
    last = int(np.searchsorted(positive, HEAD * counts.n_positive * (1 - 1e-12))) + 1
    labelled_head, unlabeled_head = positive[last - 1], unlabeled[last - 1]
    if unlabeled_head == 0:
        return 1.0
    ahead = unlabeled[:last] / unlabeled_head - positive[:last] / labelled_head
    sizes = effective_sizes(counts)
    m, n = (
        size * head / total
        for size, head, total in zip(
            sizes,
            (labelled_head, unlabeled_head),
            (counts.n_positive, counts.n_unlabeled),
            strict=True,
        )
    )
    # Smirnov's one-sided test of two samples.
    return float(np.exp(-2 * m * n / (m + n) * max(float(ahead.max()), 0.0) ** 2))


def supposes_too_many(counts: ScoreCounts, share: float) -> bool:
    """Whether each label would stand for so many hidden positives that negatives are likelier.

    Negatives that score like positives are as many as they are, however few the positives. Where
    these are rare, they are most of what any method counts.

    Notes
    -----
    Assumes: one sample, in which every positive could have been labelled.
    Wrong when: so few of the positives carry a label, which may be known from elsewhere.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.consensus.doubts import supposes_too_many
    >>> counts = uc.ScoreCounts.from_counts([1, 0], [34, 0], [0, 0], [5_000, 35_000])
    >>> supposes_too_many(counts, 0.1), supposes_too_many(counts, 0.001)
    (True, False)
    """
    hidden = share * counts.n_unlabeled
    frequency = counts.n_positive / (counts.n_positive + hidden)
    return frequency < (SELDOM_LABELLED if share < SMALL_SHARE else RARELY_LABELLED)


def open_ends(low: float, high: float, doubt: Doubt, bound: float) -> tuple[float, float]:
    """Return the ends of the share's interval that a doubt leaves.

    Examples
    --------
    >>> from undercount.prevalence.consensus.doubts import open_ends
    >>> open_ends(0.2, 0.3, "overtaken", 0.4), open_ends(0.2, 0.3, "ties", 0.4)
    ((0.0, 0.3), (0.0, 0.4))
    """
    if doubt == "ties":  # methods that read a shape answer at random
        return 0.0, bound
    return (0.0, high) if doubt in ("overtaken", "many") else (low, high)
