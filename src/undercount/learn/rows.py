"""The rows to learn from, handed out in blocks that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from undercount.learn.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from undercount.curve import FloatArray
    from undercount.learn.basis import GaussianBasis, LinearBasis
    from undercount.learn.labels import Mask

    Block = tuple[slice, FloatArray]

BLOCK = 8192
# Values of basis functions kept rather than computed again: 128 MB.
KEPT_VALUES = 2**24


def fitted_scaler(X: Any, weight: FloatArray, *, standardise: bool) -> StandardScaler:
    """Learn mean and spread of the features, a block at a time."""
    # Sparse rows stay sparse; every loss here is of differences, so a shift changes nothing.
    scaler = StandardScaler(with_mean=not sparse.issparse(X), with_std=standardise)
    for part in slices(X.shape[0]):
        scaler.partial_fit(X[part], sample_weight=weight[part])
    return scaler


def slices(n_rows: int) -> Iterator[slice]:
    """Cut 0 … n_rows into blocks."""
    for start in range(0, n_rows, BLOCK):
        yield slice(start, min(start + BLOCK, n_rows))


def basis_blocks(X: Any, scaler: Any, basis: GaussianBasis | LinearBasis) -> Iterator[Block]:
    """Yield the values of the basis functions, block by block."""
    for part in slices(X.shape[0]):
        yield part, basis.values(scaler.transform(X[part]))


@dataclass(frozen=True)
class TrainingRows:
    """Features, labels, weights, and the fold in which each row is held out."""

    X: Any
    labelled: Mask
    weight: FloatArray
    fold: NDArray[np.intp]
    n_folds: int
    scaler: Any

    def blocks(self, basis: GaussianBasis | LinearBasis) -> Iterable[Block]:
        """Return the blocks: a list if they fit in memory, else made anew at each pass."""
        if self.labelled.size * basis.n_functions <= KEPT_VALUES:
            return list(basis_blocks(self.X, self.scaler, basis))
        return _Again(self, basis)

    def moments(self, blocks: Iterable[Block], n_functions: int) -> list[tuple[Moments, Moments]]:
        """Return (labelled, other) moments of each fold, in one pass."""
        group = 2 * self.fold + self.labelled
        found = [Moments.none(n_functions) for _ in range(2 * self.n_folds)]
        for part, values in blocks:
            for place in range(2 * self.n_folds):
                chosen = np.flatnonzero(group[part] == place)
                if chosen.size:
                    found[place] += Moments.of(values[chosen], self.weight[part][chosen])
        return [(found[2 * fold + 1], found[2 * fold]) for fold in range(self.n_folds)]

    def held_out_scores(
        self, blocks: Iterable[Block], solved: list[tuple[FloatArray, FloatArray]]
    ) -> FloatArray:
        """Score each row by the fold that held it out: a column for each of its solutions.

        A fold is solved by coefficients, one column a solution, and one intercept each.
        """
        scores = np.empty((self.labelled.size, solved[0][1].size))
        for part, values in blocks:
            for fold in range(self.n_folds):
                chosen = np.flatnonzero(self.fold[part] == fold)
                coefficients, intercepts = solved[fold]
                scores[part][chosen] = values[chosen] @ coefficients + intercepts
        return scores


@dataclass(frozen=True)
class _Again:
    rows: TrainingRows
    basis: GaussianBasis | LinearBasis

    def __iter__(self) -> Iterator[Block]:
        return basis_blocks(self.rows.X, self.rows.scaler, self.basis)


def drawn_folds(labelled: Mask, n_folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Assign each row to a fold at random, labelled rows and others evenly.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn.rows import drawn_folds
    >>> labelled = np.arange(8) < 2
    >>> fold = drawn_folds(labelled, 2, np.random.default_rng(0))
    >>> sorted(fold[labelled].tolist()), sorted(fold[~labelled].tolist())
    ([0, 1], [0, 0, 0, 1, 1, 1])
    """
    fold = np.empty(labelled.size, np.intp)
    for kind in (labelled, ~labelled):
        fold[kind] = rng.permutation(np.arange(kind.sum()) % n_folds)
    return fold
