"""Verdicts that are yet to come, drawn by what is supposed of the rows.

Read as if they were there, they say how sharp the library's own answer would be. Draws, not mean
verdicts: ten verdicts stand for thousands of low scores, and whether one of them is positive makes
an interval several times as wide.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from undercount.assume.reviews import CrossedCells, IntArray, Reviews
from undercount.curve import FloatArray


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
        self, reviews: Reviews, further: IntArray, n_draws: int, seed: int
    ) -> list[tuple[IntArray, Reviews]]:
        """Draw verdicts several times: the unit of each, and the reviews that they are.

        Rows of a stratum are drawn evenly over it. Positives are so many in all draws together as
        are expected, within one, whichever draw they fall into: the mean of a few draws is that of
        many.
        """
        rng, design = np.random.default_rng(seed), reviews.design
        stratum = design.stratum_of(self.score)
        each = np.arange(design.n_strata)
        first, after = (np.searchsorted(stratum, each, side=side) for side in ("left", "right"))
        ends = np.append(0.0, np.cumsum(self.unlabeled))
        of = np.repeat(each, np.where(ends[after] > ends[first], further, 0))
        turn = np.arange(len(of)) - np.searchsorted(of, of)
        part = (turn + rng.random((n_draws, len(of)))) / np.maximum(further[of], 1)
        at = ends[first][of] + part * (ends[after] - ends[first])[of]
        unit = np.clip(np.searchsorted(ends, at, side="right") - 1, first[of], after[of] - 1)
        verdict = _spread_positives(self.chance[unit], np.broadcast_to(of, unit.shape), rng)
        return [
            (place, Reviews(None, found, self.score[place], of, design))
            for place, found in zip(unit, verdict, strict=True)
        ]


def _spread_positives(
    chance: FloatArray, stratum: IntArray, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Draw verdicts of these chances, of all draws of a stratum systematically in random order."""
    order = np.lexsort((rng.random(chance.size), stratum.ravel()))
    sums = np.floor(np.append(0.0, np.cumsum(chance.ravel()[order])) + rng.random())
    found = np.empty(chance.size, dtype=np.int8)
    found[order] = np.diff(sums) > 0
    return found.reshape(chance.shape)


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
    def unlabeled(self) -> FloatArray:  # type: ignore[override] # a field in place of a cache
        """Unlabeled rows that each row stands for."""
        return self.rows_each
