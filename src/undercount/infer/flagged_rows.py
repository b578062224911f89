"""Which rows models flag, and how many rows each two of them flag."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.rows import round_up_knots
from undercount.curve import FloatArray
from undercount.infer.mixture import LABELLED, NEGATIVE, UNLABELED

# Rows looked at at once, which stay in the cache.
FLAGGED_ROWS_PER_BLOCK = 1 << 15


@dataclass(frozen=True)
class Cut:
    """Say which rows are flagged: those above a score, and a share of those that have it.

    Parameters
    ----------
    threshold : float
        The score.
    share : float
        Share of the rows with this score that are flagged, any as likely as another.
    densities : array, optional
        If the number of flagged rows is fixed: the density of each kind's rows at the score over
        that of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.flagged_rows import Cut
    >>> Cut(0.5, 0.25).flag(np.array([0.4, 0.5, 0.6])).tolist()
    [0.0, 0.25, 1.0]
    """

    threshold: float
    share: float = 1.0
    densities: FloatArray | None = None

    @property
    def shares(self) -> list[float]:
        """How much of the rows of each part is flagged."""
        return [1.0] if self.share == 1 else [1.0, self.share]

    def parts(self, score: NDArray[Any]) -> list[NDArray[np.bool_]]:
        """Return which rows are flagged wholly, and which in part, if any are."""
        at = _lowest_flagged(self.threshold, score.dtype)
        return [score >= at] if self.share == 1 else [score > at, score == at]

    def flag(self, score: NDArray[Any]) -> FloatArray:
        """Return 1 for flagged rows, 0 for others, the share between for ties at the cut."""
        parts = zip(self.shares, self.parts(score), strict=True)
        return np.asarray(sum(share * part for share, part in parts), dtype=float)


@lru_cache(maxsize=64)  # every block of rows asks again
def _lowest_flagged(threshold: float, dtype: np.dtype[Any]) -> Any:
    """Return the lowest score that is flagged; 0.7, say, is no number of single precision."""
    return round_up_knots(np.array([threshold]), dtype)[0]


@dataclass(frozen=True, eq=False)
class KindScores:
    """Hold one model's scores, and take those of a kind when they are asked for.

    Parameters
    ----------
    score : array
        Of all rows.
    places : sequence of three arrays
        Where the labelled positive, unlabeled and labelled negative rows are; for all models.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.flagged_rows import KindScores
    >>> places = [np.array([1]), np.array([0, 2]), np.array([], int)]
    >>> scores = KindScores(np.array([0.4, 0.5, 0.6]), places)
    >>> scores.part(1).tolist(), scores.size(1)
    ([0.4, 0.6], 2)
    """

    score: NDArray[Any]
    places: Sequence[NDArray[np.intp]]

    def size(self, kind: int) -> int:
        """Return the number of rows of a kind."""
        return len(self.places[kind])

    def part(self, kind: int, first: int = 0, last: int | None = None) -> NDArray[Any]:
        """Return the scores of the rows of a kind, or of some of them."""
        return np.asarray(self.score.take(self.places[kind][first:last]))


class FlagSums(NamedTuple):
    """How many rows each model flags, and each two of them: sums of flags and of products."""

    flagged: FloatArray
    both: FloatArray


def count_flags(cuts: Sequence[Cut], scores: Sequence[KindScores], kind: int) -> FlagSums:
    """Count the rows of a kind that models flag, each at its own cut."""
    if kind == UNLABELED:  # most rows: what the others leave, so that none need be picked out
        counts = _count_parts(cuts, [model.score for model in scores])
        for other in (LABELLED, NEGATIVE):
            counts -= _count_parts(cuts, [model.part(other) for model in scores])
    else:
        counts = _count_parts(cuts, [model.part(kind) for model in scores])
    shares = np.zeros((len(cuts), len(counts)))
    last = 0
    for model, cut in enumerate(cuts):
        first, last = last, last + len(cut.shares)
        shares[model, first:last] = cut.shares
    return FlagSums(shares @ np.diagonal(counts), shares @ counts @ shares.T)


def _count_parts(cuts: Sequence[Cut], scores: Sequence[NDArray[Any]]) -> FloatArray:
    """Count the rows that are in each two parts of the cuts."""
    size = sum(len(cut.shares) for cut in cuts)
    counts = np.zeros((size, size))
    for blocks in _blocks(scores):
        rows = [part for cut, block in zip(cuts, blocks, strict=True) for part in cut.parts(block)]
        for place, one in enumerate(rows):
            for other in range(place, size):
                counts[place, other] += np.count_nonzero(one & rows[other])
    return counts + np.triu(counts, 1).T


def weigh_flags(
    cuts: Sequence[Cut], scores: Sequence[KindScores], kind: int, weights: FloatArray
) -> FlagSums:
    """Add up the weights of the rows of a kind that models flag, each at its own cut."""
    sums = FlagSums(np.zeros(len(cuts)), np.zeros((len(cuts), len(cuts))))
    for *blocks, weight in _blocks([*(model.part(kind) for model in scores), weights]):
        flags = np.stack([cut.flag(block) for cut, block in zip(cuts, blocks, strict=True)])
        heavy = flags * weight
        sums.flagged[:] += heavy.sum(axis=1)
        sums.both[:] += heavy @ flags.T
    return sums


def _blocks(columns: Sequence[NDArray[Any]]) -> Iterator[list[NDArray[Any]]]:
    for start in range(0, len(columns[0]), FLAGGED_ROWS_PER_BLOCK):
        yield [column[start : start + FLAGGED_ROWS_PER_BLOCK] for column in columns]
