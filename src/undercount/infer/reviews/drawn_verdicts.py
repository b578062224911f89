"""Verdicts that are yet to come, drawn by what is supposed of the rows.

Read as if they were there, they say how sharp the library's own answer would be. Draws, not mean
verdicts: ten verdicts stand for thousands of low scores, and whether one of them is positive makes
an interval several times as wide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray
from undercount.infer.reviews.verdicts import (
    CrossedCells,
    IntArray,
    ReviewDesign,
    ReviewedCells,
    Reviews,
    review_groups,
)


@dataclass(frozen=True, eq=False)
class DrawnVerdicts:
    """Hold several sets of drawn verdicts, a row of the arrays each.

    Attributes
    ----------
    unit : array of int
        Of the pool, of each verdict.
    verdict : array
        1 positive, 0 negative.
    stratum : array of int
        Of each verdict, the same in every set.
    """

    unit: IntArray
    verdict: NDArray[np.int8]
    stratum: IntArray

    def as_reviews(
        self, score: FloatArray, design: ReviewDesign
    ) -> Iterator[tuple[IntArray, Reviews]]:
        """Return the units of each set, and the reviews that it is; `score` is that of units."""
        for unit, verdict in zip(self.unit, self.verdict, strict=True):
            yield unit, Reviews(None, verdict, score[unit], self.stratum, design)


@dataclass(frozen=True, eq=False)
class Pool:
    """Hold the units of which rows are drawn: cells, or some rows that stand for others.

    Attributes
    ----------
    score : array
        Score of each by the plan's model, descending.
    unlabeled : array
        Unlabeled rows in each.
    chance : array
        That such a row is positive, as it is supposed.
    """

    score: FloatArray
    unlabeled: FloatArray
    chance: FloatArray

    def draw(
        self, design: ReviewDesign, further: IntArray, n_draws: int, seed: int
    ) -> DrawnVerdicts:
        """Draw so many verdicts of each stratum, several times.

        Rows of a stratum are drawn evenly over it. Positives are so many in all draws together as
        are expected, within one, whichever draw they fall into: the mean of a few draws is that of
        many.
        """
        rng = np.random.default_rng(seed)
        stratum = design.stratum_of(self.score)
        strata = np.arange(design.n_strata)
        first, after = (np.searchsorted(stratum, strata, side=side) for side in ("left", "right"))
        ends = np.append(0.0, np.cumsum(self.unlabeled))
        of = np.repeat(strata, np.where(ends[after] > ends[first], further, 0))
        turn = np.arange(len(of)) - np.searchsorted(of, of)
        part = (turn + rng.random((n_draws, len(of)))) / np.maximum(further[of], 1)
        at = ends[first][of] + part * (ends[after] - ends[first])[of]
        unit = np.clip(np.searchsorted(ends, at, side="right") - 1, first[of], after[of] - 1)
        verdict = _spread_positives(self.chance[unit], np.broadcast_to(of, unit.shape), rng)
        return DrawnVerdicts(unit, verdict, of)


def _spread_positives(
    chance: FloatArray, stratum: IntArray, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Draw verdicts of these chances, of all draws of a stratum systematically in random order."""
    order = np.lexsort((rng.random(chance.size), stratum.ravel()))
    sums = np.floor(np.append(0.0, np.cumsum(chance.ravel()[order])) + rng.random())
    verdicts = np.empty(chance.size, dtype=np.int8)
    verdicts[order] = np.diff(sums) > 0
    return verdicts.reshape(chance.shape)


@dataclass(frozen=True, eq=False)
class DrawnCells(ReviewedCells):
    """Hold what several sets of verdicts would say of each cell, beside those that are there.

    What verdicts decide has an axis more, the first, for the sets; strata and how many verdicts
    each has are the same in all of them.

    Attributes
    ----------
    drawn : sequence of DrawnVerdicts
        The sets, whose units are the cells of the counts.
    """

    drawn: Sequence[DrawnVerdicts] = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", review_groups(self._sizes))

    @property
    def _sizes(self) -> IntArray:
        """Verdicts in each stratum, those that are there and drawn ones."""
        further = np.bincount(self.drawn[0].stratum, minlength=self.reviews.design.n_strata)
        return np.asarray(self.reviews.sizes + further)

    @cached_property
    def reviewed_rows(self) -> FloatArray:
        """Rows with a verdict in each group of strata."""
        return np.asarray(np.bincount(self.group, self._sizes), dtype=float)

    @cached_property
    def _there(self) -> ReviewedCells | None:
        """The verdicts that are there."""
        if not self.reviews.n_answered:
            return None
        return ReviewedCells(self.counts, self.reviews, self.posterior)

    def _behind(self, there: NDArray[Any] | None, drawn: list[NDArray[Any]]) -> NDArray[Any]:
        """Set drawn columns behind those of the verdicts that are there."""
        sets = np.concatenate(drawn)
        if there is None:
            return sets
        return np.concatenate([np.broadcast_to(there, (len(sets), len(there))), sets], axis=1)

    @cached_property
    def place(self) -> IntArray:
        """Cell of each verdict."""
        earlier = None if self._there is None else self._there.place
        return self._behind(earlier, [draw.unit for draw in self.drawn])

    @cached_property
    def verdict_stratum(self) -> IntArray:
        """Group of strata that each verdict belongs to."""
        earlier = self.reviews.stratum[self.reviews.answered]
        return np.asarray(self.group[np.append(earlier, self.drawn[0].stratum)])

    @cached_property
    def verdict(self) -> FloatArray:
        """The verdicts."""
        earlier = None if self._there is None else self._there.verdict
        return self._behind(earlier, [draw.verdict for draw in self.drawn]).astype(float)

    @cached_property
    def weight(self) -> FloatArray:
        """Weight of each verdict: a plan counts rows."""
        return np.ones(len(self.verdict_stratum))

    def at_verdicts(self, by_unit: FloatArray) -> FloatArray:
        """Return for each verdict what is known of its cell."""
        if by_unit.ndim == 1:
            return by_unit[self.place]
        return np.take_along_axis(by_unit, self.place, axis=-1)


@dataclass(frozen=True, eq=False)
class SampledCells(CrossedCells):
    """Hold what verdicts say of one model's cells, by some rows that stand for the others.

    Attributes
    ----------
    rows_each : array
        Unlabeled rows that each stands for.
    """

    rows_each: FloatArray = field(kw_only=True)

    @property
    def unlabeled(self) -> FloatArray:
        """Unlabeled rows that each row stands for."""
        return self.rows_each
