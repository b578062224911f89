"""The best and the worst labelling a band allows, and the curve through them."""

import numpy as np
from numpy.typing import ArrayLike

from undercount.assume.tables import (
    ContingencyTables,
    Rounding,
    Targets,
    check_setting,
    read_cdfs,
    share_ends,
    tables,
    targets,
    warn_misfit,
)
from undercount.assume.walk import Stops, Walk, all_stops
from undercount.counts import ScoreCounts
from undercount.curve import Interval
from undercount.rates import FloatArray
from undercount.shares import Shares


def bound_roc_auc(
    counts: ScoreCounts,
    shares: Shares,
    *,
    lower_cdf: ArrayLike,
    upper_cdf: ArrayLike,
    rounding: Rounding = "sharp",
) -> Interval:
    """Bound the ROC AUC over all labellings of the unlabeled rows that stay within a band.

    Tight: both ends are reached by a labelling, found greedily. The area under the tables of
    Theorem 1, which bound each score alone, is wider.

    Parameters
    ----------
    counts, shares, lower_cdf, upper_cdf, rounding
        As in `bound_tables`.

    Notes
    -----
    Assumes: the band holds at all scores at once, labels are right, and the share of hidden
    positives is right.
    Wrong when: the band holds only at each score alone, or labels are not given at random.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.assume.greedy import bound_roc_auc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None, None], [4, 3, 2, 1])
    >>> bound_roc_auc(
    ...     counts, uc.Shares(1 / 3), lower_cdf=[0, 0, 1, 1], upper_cdf=[0, 1, 1, 1]
    ... )
    Interval(low=0.75, high=1.0)
    """
    check_setting(counts, shares, rounding)
    lower, upper = read_cdfs(lower_cdf, upper_cdf, counts)
    low, high = share_ends(shares)
    worst = targets(counts, low, lower, upper, rounding)
    best = worst if low == high else targets(counts, high, lower, upper, rounding)
    warn_misfit(min(attainable(counts, end)[2] for end in (worst, best)), stacklevel=2)
    walks = (
        Walk.along(counts, attainable(counts, worst)[0], worst.low),
        Walk.along(counts, attainable(counts, best)[1], best.high),
    )
    areas = [
        walk_tables(walk, shares, end.n_hidden, all_stops([walk], row_by_row=False)).curve.roc_auc
        for walk, end in zip(walks, (worst, best), strict=True)
    ]
    return Interval(areas[0], areas[1])


def attainable(counts: ScoreCounts, wanted: Targets) -> tuple[FloatArray, FloatArray, float]:
    """Return the fewest and most hidden positives above each score that one labelling can have.

    Going down the scores, the most are what was there plus the unlabeled rows of the score, but
    no more than the band's upper end: TP(r) = min(TP(r-1) + u_r, high_r). That recursion is a
    running minimum of high_r - |head_r|. The fewest follow the same way from the bottom. The third
    value is the misfit: rows missing between them.
    """
    heads = counts.cumulative()[2][1:]
    # What holds for a score holds for those above (fewer) or below (more).
    ceiling = np.minimum.accumulate(wanted.high[::-1])[::-1]
    floor = np.maximum.accumulate(wanted.low)
    floor[-1] = max(floor[-1], wanted.n_hidden)
    most = heads + np.minimum(0, np.minimum.accumulate(ceiling - heads))
    least = heads + np.maximum.accumulate((floor - heads)[::-1])[::-1]
    most, least = wanted.clip(most), wanted.clip(least)
    missing = max(wanted.misfit, float((least - most).max(initial=0)))
    return np.minimum(least, most), np.maximum(least, most), missing


def walk_tables(
    walk: Walk, shares: Shares, n_hidden: float, stops: Stops | None
) -> ContingencyTables:
    """Build the tables at the stops of a walk, by default at every score.

    Stops inside a merged cell carry its threshold and are marked as merged, so nobody can read a
    threshold there.
    """
    if stops is None:
        cells = np.arange(len(walk.counts.score))
        return tables(
            walk.counts, shares, walk.hidden(Stops(cells, walk.counts.unlabeled)), n_hidden
        )
    hidden, heads = walk.hidden(stops), walk.heads(stops)
    return tables(walk.counts, shares, hidden, n_hidden, cell=stops.cell, unlabeled=heads)
