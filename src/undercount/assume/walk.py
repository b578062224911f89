"""The way of the hidden rows through the scores, also inside cells that merge several scores."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.rates import FloatArray

Side: TypeAlias = Literal["positive", "negative"]
# Points that may be spent on the inside of merged cells.
POINTS = 50_000


class Stops(NamedTuple):
    """Points to read a walk at: the number of the cell, and unlabeled rows of it passed there."""

    cell: NDArray[np.int64]
    rows: FloatArray


class Walk(NamedTuple):
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
    def along(
        cls, counts: ScoreCounts, path: FloatArray, wanted: FloatArray, side: Side = "positive"
    ) -> "Walk":
        """Follow `path`, the hidden positives above each score, towards those `wanted`."""
        if side == "negative":
            heads = np.cumsum(counts.unlabeled)
            path, wanted = heads - path, heads - wanted
        before = np.append(0.0, path[:-1])
        catch_up = np.maximum(np.minimum(wanted, path) - before, 0)
        return cls(counts, side, before, catch_up, path - before - catch_up)

    def hidden(self, stops: Stops) -> FloatArray:
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

    def heads(self, stops: Stops) -> FloatArray:
        """Return the unlabeled rows above each stop."""
        return (np.cumsum(self.counts.unlabeled) - self.counts.unlabeled)[stops.cell] + stops.rows


def all_stops(walks: Sequence[Walk], *, row_by_row: bool) -> Stops | None:
    """Return the stops that show the whole way of the walks, or None if every score is a cell.

    Merged cells are read at their corners and, between corners, at whole rows as far as they
    are few; or row by row, unless rows are weighted.
    """
    counts = walks[0].counts
    if not counts.compact:
        return None
    bare = np.flatnonzero(counts.merged & (counts.positive + counts.negative == 0))
    size = counts.unlabeled[bare]
    if row_by_row and not counts.weighted:
        inside = [_every_row(bare, size)]
    else:
        inside = [part for walk in walks for part in _corners(walk, bare, size)]
    cells = np.concatenate([np.arange(len(counts.score)), *(part.cell for part in inside)])
    rows = np.concatenate([counts.unlabeled, *(part.rows for part in inside)])
    order = np.lexsort((rows, cells))
    cells, rows = cells[order], rows[order]
    # Each stop once, and none at a cell's start, which is the end of the one before.
    new = np.append(True, (np.diff(cells) > 0) | (np.diff(rows) > 0))
    last = np.append(np.diff(cells) > 0, True)
    kept = new & ((rows > 0) | last)
    return Stops(cells[kept], rows[kept])


def _every_row(bare: NDArray[np.int64], size: FloatArray) -> Stops:
    length = size.astype(np.int64)
    start = np.repeat(np.cumsum(length) - length, length)
    return Stops(np.repeat(bare, length), 1.0 + np.arange(length.sum()) - start)


def _corners(walk: Walk, bare: NDArray[np.int64], size: FloatArray) -> list[Stops]:
    """Return stops along the runs in which hidden positives pass; the ends are the corners."""
    catch_up, rest = walk.catch_up[bare], walk.rest[bare]
    runs = [(np.zeros_like(size), catch_up), (size - rest, rest)]
    if walk.side == "negative":
        runs = [(catch_up, size - catch_up - rest)]
    longest = max(float(length.max(initial=1)) for _, length in runs)
    pieces = int(min(max(POINTS // max(len(bare), 1), 1), np.ceil(longest)))
    part = np.arange(pieces + 1) / pieces
    found = []
    for start, length in runs:
        passed = np.ceil(length[:, np.newaxis] * part - 1e-9)
        rows = start[:, np.newaxis] + np.minimum(passed, length[:, np.newaxis])
        found.append(
            Stops(np.repeat(bare, pieces + 1), np.minimum(rows, size[:, np.newaxis]).ravel())
        )
    return found
