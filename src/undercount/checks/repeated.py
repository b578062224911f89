"""Whether every row is there several times, as a join that went wrong leaves them."""

import numpy as np

from undercount.checks.outcomes import fails
from undercount.counts import ScoreCounts
from undercount.curve import blocks
from undercount.errors import Check, named

# Other rows would not have multiples of one number at so many scores by chance.
FEWEST_SCORES = 20


def repeated_check(counts: ScoreCounts) -> Check | None:
    """UC025: the rows at every score should not all be multiples of one number.

    Rows that are there three times are no three rows: an interval would be √3 too narrow.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.checks.repeated import repeated_check
    >>> y, score = [1, None] * 30, range(60)
    >>> repeated_check(uc.ScoreCounts.from_rows(y, score)) is None
    True
    >>> repeated_check(uc.ScoreCounts.from_rows([*y, *y], [*score, *score])).level
    'fail'
    """
    if counts.weighted:
        return None
    times, scores = 0, 0
    for part in blocks(len(counts.score)):
        rows = np.stack([column[part] for column in counts.table.classes])
        if (rows % 1).any():  # sums of weights
            return None
        times = int(np.gcd(times, np.gcd.reduce(rows.astype(np.int64), axis=None)))
        scores += int(np.count_nonzero(rows.any(axis=0)))
        if times == 1:
            return None
    if times == 0 or scores < FEWEST_SCORES:
        return None
    return fails(
        "repeated",
        f"every score is there {times} times or a multiple of it, with each label: the rows seem "
        "to be repeated, and count for more than they are",
        "leave each row once (a join may have multiplied them), or say which rows belong together "
        f"by {named('cluster')}",
    )
