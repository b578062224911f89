"""The best and the worst labelling a band allows, and the curve through them."""

from typing import Literal, TypeAlias

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
from undercount.counts import ScoreCounts
from undercount.curve import Interval
from undercount.rates import FloatArray
from undercount.shares import Shares

Basis: TypeAlias = Literal["positive", "negative"]


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
    warn_misfit(max(attainable(counts, end)[2] for end in (worst, best)), stacklevel=2)
    ends = (
        path_tables(counts, shares, attainable(counts, worst)[0], worst.low, worst.n_hidden),
        path_tables(counts, shares, attainable(counts, best)[1], best.high, best.n_hidden),
    )
    return Interval(ends[0].curve.roc_auc, ends[1].curve.roc_auc)


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


def path_tables(
    counts: ScoreCounts,
    shares: Shares,
    path: FloatArray,
    wanted: FloatArray,
    n_hidden: float,
    *,
    basis: Basis = "positive",
    row_by_row: bool = False,
) -> ContingencyTables:
    """Build the tables along a path of hidden positives, also inside merged cells.

    A merged cell has no labelled row, so the band is flat in it: the hidden positives first catch
    up with the number `wanted` at its end, then stand still, then take what is left. (With
    `basis` "negative" the same is said of the hidden negatives.) Inside stand the two corners of
    that walk, enough for a monotone path, or every row of it. They carry the cell's threshold and
    are marked as merged, so nobody can read a threshold inside.
    """
    if not counts.compact:
        return tables(counts, shares, path, n_hidden)
    heads = counts.cumulative()[2]
    # Follow the class of the basis; the other one has what remains of the unlabeled rows.
    mine, target = (path, wanted) if basis == "positive" else (heads[1:] - path, heads[1:] - wanted)
    before = np.append(0.0, mine[:-1])
    catch_up = np.clip(target, before, mine) - before
    stand_still = counts.unlabeled - (mine - before)
    bare = counts.merged & (counts.positive + counts.negative == 0)
    if row_by_row and not counts.weighted:
        length = np.where(bare, counts.unlabeled, 1).astype(np.int64)
        place = np.repeat(np.arange(len(path)), length)
        step = 1.0 + np.arange(len(place)) - np.repeat(np.cumsum(length) - length, length)
        step[~bare[place]] = counts.unlabeled[~bare]
    else:
        stops = np.column_stack([catch_up, catch_up + stand_still, counts.unlabeled])
        kept = np.column_stack([bare, bare, np.ones_like(bare)])
        place, step = np.nonzero(kept)[0], stops[kept]
    taken = np.minimum(step, catch_up[place])
    taken += np.maximum(step - catch_up[place] - stand_still[place], 0)
    unlabeled, followed = heads[:-1][place] + step, before[place] + taken
    # Whole cells of labelled rows may jump, so they are not walked but set.
    followed = np.where(bare[place], followed, mine[place])
    hidden = followed if basis == "positive" else unlabeled - followed
    return tables(counts, shares, hidden, n_hidden, place=place, unlabeled=unlabeled)
