"""Functions of the features whose weighted sum is the score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from undercount.counts import BoolArray
from undercount.curve import FloatArray

# Rows whose distances to the centres set the scale of the widths.
WIDTH_ROWS = 1000
LEAST_EIGENVALUE = 1e-8


@dataclass(frozen=True)
class LinearBasis:
    """The standardised features themselves."""

    n_functions: int

    def root(self) -> None:
        """Penalise the coefficients as they are."""

    def values(self, rows: Any) -> FloatArray:
        """Return the features as a dense array."""
        return dense(rows)


@dataclass(frozen=True)
class GaussianBasis:
    """One Gaussian bump exp(-|x - centre|² / (2 width²)) around each centre."""

    centres: Any
    width: float

    @property
    def n_functions(self) -> int:
        """Number of centres."""
        return int(self.centres.shape[0])

    def root(self) -> FloatArray:
        """Return R with R R' = K⁻¹, K the bumps' values at the centres.

        With coefficients R v the squared norm of the score in the kernel's function space is |v|²,
        so a ridge penalty on v smooths the score and not its expansion.
        """
        values, vectors = eigh(self.values(self.centres))
        # Centres that nearly coincide make K singular; the floor leaves them one direction.
        return np.asarray(vectors / np.sqrt(np.maximum(values, values[-1] * LEAST_EIGENVALUE)))

    def values(self, rows: Any) -> FloatArray:
        """Return the height of each bump at each row."""
        heights = squared_distances(rows, self.centres)
        heights *= -0.5 / self.width**2
        return np.exp(heights, out=heights)


def squared_distances(rows: Any, centres: Any) -> FloatArray:
    """Return |row - centre|² by one matrix product, never below zero."""
    distances = dense(safe_sparse_dot(rows, centres.T, dense_output=True))
    distances *= -2
    distances += row_norms(rows, squared=True)[:, None]
    distances += row_norms(centres, squared=True)
    np.maximum(distances, 0, out=distances)
    return distances


def dense(rows: Any) -> FloatArray:
    """Return sparse or dense rows as a dense array of doubles."""
    full = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(full, np.float64)


def choose_centres(labelled: BoolArray, n_centres: int, rng: np.random.Generator) -> Any:
    """Draw the rows that become centres: half labelled, half not, as far as there are.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn.basis import choose_centres
    >>> labelled = np.arange(100) < 3
    >>> chosen = choose_centres(labelled, 10, np.random.default_rng(0))
    >>> chosen.size, int(labelled[chosen].sum())
    (10, 3)
    """
    kinds = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    from_labelled = min(kinds[0].size, max(n_centres // 2, n_centres - kinds[1].size))
    from_others = min(kinds[1].size, n_centres - from_labelled)
    drawn = [
        rng.choice(rows, size, replace=False)
        for rows, size in zip(kinds, (from_labelled, from_others), strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def median_distance(rows: Any, centres: Any) -> float:
    """Return the median distance of rows to centres, 1 if all coincide."""
    squared = squared_distances(rows, centres)
    apart = squared[squared > 0]
    return float(np.sqrt(np.median(apart))) if apart.size else 1.0
