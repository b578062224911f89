"""Unlabeled rows in memory: where strata of them may be cut, and which of them are drawn."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.buckets import BorderRanks
from undercount.count.kernel.rows import NEGATIVE, POSITIVE, UNLABELED, round_up_knots
from undercount.counts import ScoreCounts
from undercount.infer.reviews.verdicts import IntArray, ReviewDesign

# Quantiles of the unlabeled scores at which strata may be cut, and of how many rows.
N_KNOTS, SUBSAMPLE = 512, 65_536
# The same of labelled rows' scores, where rows are too many to be counted around each label.
N_LABELLED_KNOTS = 2048
# Of more rows than this, most are drawn from a random sample of at most so many.
MANY_ROWS, SAMPLE = 2**20, 2**18
# How many more rows than wanted a sample holds: standard deviations of their number, and some.
SPARE, MORE = 6.0, 16.0


@dataclass(frozen=True, eq=False)
class UnlabeledRows:
    """Hold labels and scores of rows, of which the unlabeled ones may be drawn.

    Attributes
    ----------
    label : array
        1, 0, or -1 for unlabeled.
    score : array
        Of each row.
    seen : array of int
        Positions of rows that must not be drawn.
    """

    label: NDArray[np.int8]
    score: NDArray[np.floating[Any]]
    seen: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @property
    def many(self) -> bool:
        """Whether to look at every row takes longer than all that is done with those drawn."""
        return len(self.score) > MANY_ROWS

    @cached_property
    def some(self) -> IntArray:
        """Positions of unlabeled rows: all, or some at equal distances where there are many."""
        step = max(len(self.label) // SUBSAMPLE, 1)
        return np.flatnonzero(self.label[::step] == UNLABELED) * step

    @property
    def knots(self) -> list[float]:
        """Scores at which strata may be cut."""
        return knots_of(self.score[self.some])

    def count_between(self, knots: list[float]) -> ScoreCounts:
        """Count rows of each class between these scores and some of labelled rows.

        Half the work of counts around every labelled row; who plans needs no more of them.
        """
        labelled = self.score[self.label != UNLABELED]
        step = max(len(labelled) // N_LABELLED_KNOTS, 1)
        ends = np.concatenate([labelled[::step], self.score.min(keepdims=True)])
        border = np.unique(np.append(round_up_knots(np.array(knots), self.score.dtype), ends))
        place = BorderRanks(border, self.score)(self.score) - 1
        place *= 4
        place += self.label + 1
        sums = np.bincount(place, minlength=4 * len(border)).reshape(-1, 4)
        sums = sums[:, [code + 1 for code in (POSITIVE, NEGATIVE, UNLABELED)]]
        filled = sums.any(axis=1)
        return ScoreCounts.from_counts(border[filled], *sums[filled].T)

    def draw(self, design: ReviewDesign) -> IntArray:
        """Draw rows at random within strata, in the order of the design."""
        rng, sizes = np.random.default_rng(design.seed), design.sizes()
        found = self._draw_some(design, rng) if self.many else {}
        lacking = np.array([h not in found for h in range(design.n_strata)])
        for first, last in _runs(lacking):
            places = self._between(design, first, last)
            stratum = design.stratum_of(self.score[places])
            # Short integers are sorted by their digits, several times as fast.
            places = places[np.argsort(stratum.astype(np.int16), kind="stable")]
            starts = np.append(0, np.cumsum(np.bincount(stratum, minlength=design.n_strata)))
            for h in range(first, last + 1):
                own = places[starts[h] : starts[h + 1]]
                found[h] = rng.choice(own, sizes[h], replace=False)
        rows = np.empty(len(design.order), dtype=np.intp)
        for h, places in found.items():
            rows[design.order == h] = places
        return rows

    def _between(self, design: ReviewDesign, first: int, last: int) -> IntArray:
        """Return the rows of neighbouring strata, in the order of the rows."""
        within = np.ones(len(self.score), dtype=bool)
        if last < design.n_strata - 1:
            within &= self.score >= design.edges[last]
        if first > 0:
            within &= self.score < design.edges[first - 1]
        return self._only_open(np.flatnonzero(within))

    def _only_open(self, places: IntArray) -> IntArray:
        """Keep rows that are unlabeled and were not seen, in their order."""
        places = places[self.label[places] == UNLABELED]
        return places[~np.isin(places, self.seen)] if len(self.seen) else places

    def _draw_some(self, design: ReviewDesign, rng: np.random.Generator) -> dict[int, IntArray]:
        """Draw the rows of strata that a random sample of all rows holds enough of, in its order.

        To sort ten million rows by stratum takes longer than to count them.
        """
        sizes = design.sizes()
        drawn = rng.integers(0, len(self.score), self._sample_size(design))
        some = self._only_open(drawn)
        stratum = design.stratum_of(self.score[some]).astype(np.int16)
        some = some[np.argsort(stratum, kind="stable")]
        starts = np.append(0, np.cumsum(np.bincount(stratum, minlength=design.n_strata)))
        found = {}
        for h, size in enumerate(sizes):
            own = _first_of_each(some[starts[h] : starts[h + 1]], size)
            if len(own) == size:
                found[h] = own
        return found

    def _sample_size(self, design: ReviewDesign) -> int:
        """Return how many rows hold enough of all strata that are not too small to be sampled."""
        sizes, rows = design.sizes(), np.maximum(design.n_unlabeled, 1)
        enough = (sizes + SPARE * np.sqrt(sizes) + MORE) * (len(self.score) / rows)
        return int(max(enough[enough <= SAMPLE], default=0.0)) + 1


def knots_of(scores: Any) -> list[float]:
    """Return quantiles of the unlabeled scores, of a part of them if there are many."""
    if len(scores) == 0:
        return []
    step = max(len(scores) // SUBSAMPLE, 1)
    some = np.sort(scores[::step])
    at = np.linspace(0, len(some) - 1, min(N_KNOTS, len(some))).astype(np.intp)
    return [float(value) for value in np.unique(some[at])]


def _first_of_each(drawn: IntArray, size: int) -> IntArray:
    """Return the first so many distinct rows of those drawn with replacement."""
    for end in (2 * size, len(drawn)):  # repeats are rare
        _, first = np.unique(drawn[:end], return_index=True)
        if len(first) >= size:
            break
    return drawn[np.sort(first)[:size]]


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last of each run of neighbours that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(start), int(end) - 1) for start, end in edges.reshape(-1, 2)]
