"""Verdicts that are yet to come, each the chance that its row is positive.

Read as if they were there, they say how sharp the library's own answer would be.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from undercount.assume.reviews import IntArray, ReviewedCells, review_groups
from undercount.curve import FloatArray


@dataclass(frozen=True, eq=False)
class ExpectedCells(ReviewedCells):
    """Hold what labels, reviews and further expected verdicts would say of each cell.

    The rows that a stratum is yet to have reviewed are spread evenly over its unlabeled rows, and
    the verdict on each is the mean chance of the rows that it stands for.

    Attributes
    ----------
    chance : array
        That an unlabeled row of each cell is positive, as it is supposed.
    further : array of int
        Verdicts that each stratum is yet to have.
    """

    chance: FloatArray = field(kw_only=True)
    further: IntArray = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", review_groups(self.sizes))

    @property
    def sizes(self) -> IntArray:
        """How many rows of each stratum would have a verdict."""
        return np.asarray(self.reviews.sizes + self.further)

    @cached_property
    def reviewed_rows(self) -> FloatArray:
        """Rows with a verdict in each group of strata."""
        return np.asarray(np.bincount(self.group, self.sizes), dtype=float)

    @cached_property
    def place(self) -> IntArray:
        """Cell of each row with a verdict, there already or expected."""
        return np.concatenate([super().place, self._expected[0]])

    @cached_property
    def verdict(self) -> FloatArray:
        """Verdict of each such row."""
        return np.concatenate([super().verdict, self._expected[1]])

    @cached_property
    def row_weight(self) -> FloatArray:
        """Weight of each such row; an expected one weighs what its stratum does on average."""
        design, unlabeled = self.reviews.design, self.counts.unlabeled
        total = np.bincount(design.stratum_of(self.counts.score), unlabeled, design.n_strata)
        mean = total / np.maximum(design.n_unlabeled, 1)
        reviews = self.reviews
        known = np.ones(len(reviews.score)) if reviews.weight is None else reviews.weight
        return np.concatenate([known[reviews.answered], np.repeat(mean, self.further)])

    @cached_property
    def weight(self) -> FloatArray:
        """Weight with which each such row counts for spread.

        Verdicts vary around their own mean by less than around a chance, 1 - 1/n of it in n rows,
        for which whoever reads real verdicts makes up.
        """
        seen, own = self.reviewed_rows, self.stratum[self.place]
        part = np.sqrt(1 - 1 / np.maximum(seen, 2))[own]
        part[: self.reviews.n_answered] = 1.0
        return np.asarray(self.row_weight * part)

    @cached_property
    def excess(self) -> FloatArray:
        """Positives beyond the working posterior for which each verdict stands."""
        return self.row_weight * (self.verdict - self.posterior[self.place]) * self.stands_for

    @cached_property
    def _expected(self) -> tuple[IntArray, FloatArray]:
        """Cell and verdict of each expected row.

        It stands in the cell, among those of its rows, whose posterior is nearest to their mean:
        where the posterior is right, so that a verdict does not differ from it.
        """
        unlabeled, further = self.counts.unlabeled, self.further
        stratum = self.reviews.design.stratum_of(self.counts.score)
        ends = np.append(0.0, np.cumsum(unlabeled))
        each = np.arange(len(further))
        first, after = (np.searchsorted(stratum, each, side=side) for side in ("left", "right"))
        of = np.repeat(each, further)
        turn = np.arange(len(of)) - np.repeat(np.cumsum(further) - further, further)
        size = np.maximum((ends[after] - ends[first])[of] / further[of], 1e-12)
        low, high = ends[first][of] + turn * size, ends[first][of] + (turn + 1) * size
        posterior, chance = (
            (np.interp(high, ends, sums) - np.interp(low, ends, sums)) / size
            for sums in (
                np.append(0.0, np.cumsum(unlabeled * each))
                for each in (self.posterior, self.chance)
            )
        )
        first_cell, last_cell = first[of], after[of] - 1
        from_cell = np.clip(np.searchsorted(ends, low, side="right") - 1, first_cell, last_cell)
        to_cell = np.clip(np.searchsorted(ends, high) - 1, from_cell, last_cell)
        nearest = np.searchsorted(-self.posterior, -posterior)
        return np.clip(nearest, from_cell, to_cell), np.clip(chance, 0.0, 1.0)
