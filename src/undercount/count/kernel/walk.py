"""One walk along a table of many cells: the sums that areas need, and a thinner table.

A table may have as many cells as there are labelled rows. Areas need every cell, but only sums
over them, and how far an estimate varies hardly depends on single cells: a table of some ten
thousand of them, cut where each class has its quantiles, tells the same standard error. Both are
found in one walk, part by part, so that nothing as long as the table is made.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.table import FloatArray, Table, add_up
from undercount.curve import dot

# A table with more cells is read thinned where only errors and limits are asked for.
THIN_FROM = 2**15
# Quantiles of each class at which a thinned table is cut; a multiple of 32, so that limits of the
# share, which look at every 32nd part of the labels, find the very same places.
_QUANTILES = 2**12
# Ratio of neighbouring ranks at which it is cut besides: the highest rows decide most.
_PART_RATIO = 1.01
# Cells that are worked on at once, and cells that are worth a thread of their own.
_PART = 2**15
_SHARE_OF_THREAD = 2**20
_POSITIVE, _UNLABELED = 0, 2  # places of the classes in a table


@dataclass(frozen=True)
class Walk:
    """Sums over all cells, p and u labelled and unlabeled rows there, P, U and M rows up to there.

    Attributes
    ----------
    pairs : float
        Σ p (U - u/2): unlabeled rows above labelled ones, ties one half.
    precision, inverse : float
        Σ p P/M and Σ p/M, M counting all rows at least as high.
    cuts : array of int
        Cells after which the thinned table is cut.
    heads : array of shape (3, cuts)
        Positive, negative and unlabeled rows up to there.
    """

    pairs: float
    precision: float
    inverse: float
    cuts: NDArray[np.intp]
    heads: FloatArray

    def __add__(self, below: "Walk") -> "Walk":
        return Walk(
            self.pairs + below.pairs,
            self.precision + below.precision,
            self.inverse + below.inverse,
            np.append(self.cuts, below.cuts),
            np.append(self.heads, below.heads, axis=1),
        )

    def thin(self, table: Table) -> Table:
        """Return the table with all cells between two cuts as one; a cell between two stays."""
        first = np.append(0, self.cuts[:-1] + 1)
        classes = self.heads.copy()
        classes[:, 1:] -= self.heads[:, :-1]
        merged = (self.cuts > first) | table.merged[self.cuts]
        return Table(table.score[self.cuts], classes[0], classes[1], classes[2], merged)


def walk_table(table: Table, totals: Sequence[float]) -> Walk:
    """Walk along a table whose classes have these totals, in threads if it is very long."""
    ranks = [_cut_ranks(total) for total in totals]
    size = len(table.score)
    ends = np.linspace(0, size, max(size // _SHARE_OF_THREAD, 1) + 1).astype(int)
    parts = [slice(*pair) for pair in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    if len(parts) == 1:
        return _walk_part(table, parts[0], np.zeros(3), totals, ranks)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - few tables are so long

    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as threads:
        sums = list(threads.map(lambda part: [c[part].sum() for c in table.classes], parts))
        above = np.cumsum([np.zeros(3), *sums[:-1]], axis=0)
        walks = threads.map(
            lambda part, head: _walk_part(table, part, head, totals, ranks), parts, above
        )
        return reduce(Walk.__add__, walks)


def _cut_ranks(total: float) -> FloatArray:
    """Return the rows of a class at which a thinned table is cut: quantiles, and both tails."""
    if total <= 0:
        return np.empty(0)
    quantiles = np.arange(1, _QUANTILES + 1) * (total / _QUANTILES)
    tail = _PART_RATIO ** np.arange(0.0, np.log(total / _QUANTILES * 8 + 2) / np.log(_PART_RATIO))
    # Three runs: a stable sort merges them.
    ranks = np.sort(np.concatenate([quantiles, tail, (total - tail)[::-1]]), kind="stable")
    # A little less than the rank, which may have been rounded up; rows are whole.
    return np.asarray(ranks[ranks > 0] - 1e-9)


def _walk_part(
    table: Table, part: slice, above: FloatArray, totals: Sequence[float], ranks: list[FloatArray]
) -> Walk:
    """Walk along some cells, so many rows of each class being above them."""
    pairs = precision = inverse = 0.0
    cuts, heads = [], []
    present = [kind for kind, targets in enumerate(ranks) if len(targets)]
    head = above.copy()
    for start in range(part.start, part.stop, _PART):
        here = slice(start, min(start + _PART, part.stop))
        rows = {kind: table.classes[kind][here] for kind in present}
        running = {kind: add_up(rows[kind], head[kind], totals[kind]) for kind in present}
        place = _cuts(running, ranks, head, last=here.stop == len(table.score))
        cuts.append(place + start)
        values = np.zeros((3, len(place)))
        for kind in present:
            values[kind] = running[kind][place]
            head[kind] = running[kind][-1]
        heads.append(values)
        if _POSITIVE in present:
            positive, flagged = rows[_POSITIVE], reduce(np.add, running.values())
            if _UNLABELED in present:
                pairs += dot(positive, running[_UNLABELED]) - dot(positive, rows[_UNLABELED]) / 2
            if flagged[0] == 0:  # cells without any row, above all others
                flagged[flagged == 0] = 1.0
            weight = positive / flagged
            inverse += float(weight.sum())
            precision += dot(weight, running[_POSITIVE])
    return Walk(pairs, precision, inverse, np.concatenate(cuts), np.concatenate(heads, axis=1))


def _cuts(
    running: dict[int, FloatArray], ranks: list[FloatArray], head: FloatArray, *, last: bool
) -> NDArray[np.intp]:
    """Return the cells that reach a rank of their class, those before them, and the last of all.

    A cell before the first one here stands in the part above, which need not be cut there.
    """
    size = len(next(iter(running.values())))
    chosen = np.zeros(size + 1, bool)
    for kind, heads in running.items():
        low, high = np.searchsorted(ranks[kind], [head[kind], heads[-1]], side="right")
        reached = np.searchsorted(heads, ranks[kind][low:high])
        chosen[reached] = chosen[reached - 1] = True  # the place before the first is beyond the end
    chosen[size - 1] |= last
    return np.flatnonzero(chosen[:size])
