"""Labellings that stay within the limits: their paths through the scores, and the area's bounds.

A path tells how many hidden positives stand above each rank, also inside cells that merge several
scores.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercount.assume.bounds.hidden_limits import (
    HiddenLimits,
    Rounding,
    limits_at_ends,
    warn_misfit,
)
from undercount.assume.bounds.tables import ContingencyTables, add_hidden
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.estimate import Interval
from undercount.shares import Shares

Side: TypeAlias = Literal["positive", "negative"]
# Points that may be spent on the inside of merged cells.
MOST_INNER_POINTS = 50_000


class PathStops(NamedTuple):
    """Points to read a path at: the number of the cell, and unlabeled rows of it passed there."""

    cell: NDArray[np.int64]
    rows: FloatArray


class HiddenPath(NamedTuple):
    """Hidden positives above each rank.

    A merged cell has no labelled row, so the band is flat in it: the hidden rows of the class the
    band is made of first catch up with the number wanted there, then stand still while the other
    class passes, then take what is left.
    """

    counts: ScoreCounts
    side: Side
    before: FloatArray
    catch_up: FloatArray
    rest: FloatArray

    @classmethod
    def follow(
        cls, counts: ScoreCounts, path: FloatArray, wanted: FloatArray, side: Side = "positive"
    ) -> Self:
        """Follow `path`, the hidden positives above each score, towards those `wanted`."""
        if side == "negative":
            heads = np.cumsum(counts.unlabeled)
            path, wanted = heads - path, heads - wanted
        before = np.append(0.0, path[:-1])
        catch_up = np.maximum(np.minimum(wanted, path) - before, 0)
        return cls(counts, side, before, catch_up, path - before - catch_up)

    def hidden_positives(self, stops: PathStops) -> FloatArray:
        """Return the hidden positives above each stop."""
        cell, rows = stops
        passed = self.counts.unlabeled[cell]
        taken = np.minimum(rows, self.catch_up[cell])
        taken += np.clip(self.rest[cell] + rows - passed, 0, self.rest[cell])
        # Labelled rows may move the band by more than the unlabeled rows beside them.
        whole = rows == passed
        taken[whole] = (self.catch_up + self.rest)[cell[whole]]
        mine = self.before[cell] + taken
        return mine if self.side == "positive" else self.heads(stops) - mine

    def heads(self, stops: PathStops) -> FloatArray:
        """Return the unlabeled rows above each stop."""
        return (np.cumsum(self.counts.unlabeled) - self.counts.unlabeled)[stops.cell] + stops.rows


def path_stops(paths: Sequence[HiddenPath], *, row_by_row: bool) -> PathStops:
    """Return the stops that show the whole of the paths: every score, and more in merged cells.

    Merged cells are read at their corners and, between corners, at whole rows as far as they
    are few; or row by row, unless rows are weighted.
    """
    counts = paths[0].counts
    if not counts.compact:
        return PathStops(np.arange(len(counts.score)), counts.unlabeled)
    bare = np.flatnonzero(counts.merged & (counts.positive + counts.negative == 0))
    size = counts.unlabeled[bare]
    if row_by_row and not counts.weighted:
        inside = [_every_row(bare, size)]
    else:
        inside = [part for path in paths for part in _corners(path, bare, size)]
    cells = np.concatenate([np.arange(len(counts.score)), *(part.cell for part in inside)])
    rows = np.concatenate([counts.unlabeled, *(part.rows for part in inside)])
    order = np.lexsort((rows, cells))
    cells, rows = cells[order], rows[order]
    # Each stop once, and none at a cell's start, which is the end of the one before.
    new = np.append(True, (np.diff(cells) > 0) | (np.diff(rows) > 0))
    last = np.append(np.diff(cells) > 0, True)
    kept = new & ((rows > 0) | last)
    return PathStops(cells[kept], rows[kept])


def _every_row(bare: NDArray[np.int64], size: FloatArray) -> PathStops:
    length = size.astype(np.int64)
    start = np.repeat(np.cumsum(length) - length, length)
    return PathStops(np.repeat(bare, length), 1.0 + np.arange(length.sum()) - start)


def _corners(path: HiddenPath, bare: NDArray[np.int64], size: FloatArray) -> list[PathStops]:
    """Return stops along the runs in which hidden positives pass; the ends are the corners."""
    catch_up, rest = path.catch_up[bare], path.rest[bare]
    runs = [(np.zeros_like(size), catch_up), (size - rest, rest)]
    if path.side == "negative":
        runs = [(catch_up, size - catch_up - rest)]
    longest = max(float(length.max(initial=1)) for _, length in runs)
    pieces = int(min(max(MOST_INNER_POINTS // max(len(bare), 1), 1), np.ceil(longest)))
    part = np.arange(pieces + 1) / pieces
    corners = []
    for start, length in runs:
        passed = np.ceil(length[:, np.newaxis] * part - 1e-9)
        rows = start[:, np.newaxis] + np.minimum(passed, length[:, np.newaxis])
        corners.append(
            PathStops(np.repeat(bare, pieces + 1), np.minimum(rows, size[:, np.newaxis]).ravel())
        )
    return corners


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
    >>> from undercount.assume.bounds.attainable import bound_roc_auc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None, None], [4, 3, 2, 1])
    >>> bound_roc_auc(
    ...     counts, uc.Shares(1 / 3), lower_cdf=[0, 0, 1, 1], upper_cdf=[0, 1, 1, 1]
    ... )
    Interval(low=0.75, high=1.0)
    """
    ends = limits_at_ends(counts, shares, lower_cdf, upper_cdf, rounding)
    (least, _, worst_misfit), (_, most, best_misfit) = (tighten(counts, end) for end in ends)
    warn_misfit(min(worst_misfit, best_misfit), stacklevel=2)
    areas = []
    for path, end, wanted in ((least, ends[0], ends[0].low), (most, ends[1], ends[1].high)):
        way = HiddenPath.follow(counts, path, wanted)
        stops = path_stops([way], row_by_row=False)
        areas.append(path_tables(way, shares, end.n_hidden, stops).curve.roc_auc)
    return Interval(areas[0], areas[1])


def tighten(counts: ScoreCounts, wanted: HiddenLimits) -> tuple[FloatArray, FloatArray, float]:
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
    path: HiddenPath, shares: Shares, n_hidden: float, stops: PathStops
) -> ContingencyTables:
    """Build the tables at the stops of a path.

    Stops inside a merged cell carry its threshold and are marked as merged, so nobody can read a
    threshold there.
    """
    hidden, heads = path.hidden_positives(stops), path.heads(stops)
    return add_hidden(path.counts, shares, hidden, n_hidden, cell=stops.cell, unlabeled=heads)
