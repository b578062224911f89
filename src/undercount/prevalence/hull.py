"""The nearest point of a convex hull in a kernel's feature space, by two exact solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

Array = NDArray[np.float64]

# Added to a Gram matrix's diagonal: points of a smooth kernel are nearly dependent.
JITTER = {"float64": 1e-11, "float32": 1e-6}
# Pair steps that a well-conditioned problem needs, per point; beyond it the kernel is smooth
# and the active set, whose size is then small, is the faster solver.
PAIR_STEPS = 5
CHECK_EVERY = 32


@dataclass(frozen=True)
class Target:
    """A point t of the feature space, known by its inner products.

    Attributes
    ----------
    product : ndarray
        <phi(x_i), t> for each point x_i whose hull is searched.
    square : float
        <t, t>.
    """

    product: Array
    square: float


@dataclass(frozen=True)
class Nearest:
    """Weights of the nearest point found, its squared distance, and how far it is from optimal."""

    weight: Array
    squared_distance: float
    gap: float


def gap_tolerance(squared_distance: float) -> float:
    """Return the duality gap at which a distance is exact enough for its slope.

    A pair solver's true error is hundreds of times below its gap (measured), so five per cent of
    the squared distance leaves about 1e-4 of the distance itself.
    """
    return min(1e-6, max(0.05 * squared_distance, 1e-8))


def nearest_by_pairs(
    kernel: NDArray[np.floating], target: Target, start: Array, *, enough: float = 0.0
) -> Nearest | None:
    """Shift weight between the best pair of points until the gap closes.

    Sequential minimal optimisation with the second-order choice of the pair (Fan, Chen, Lin
    2005); right for kernels of many features, whose matrices are near a multiple of the identity.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        With a unit diagonal.
    target : Target
    start : ndarray
        Weights on the simplex.
    enough : float
        Stop as soon as the squared distance is at most this.

    Returns
    -------
    Nearest or None
        None when the steps allowed do not suffice.
    """
    weight = start.copy()
    slope = kernel @ weight.astype(kernel.dtype) - target.product
    for step in range(PAIR_STEPS * weight.size + 1):
        rising = int(np.argmin(slope))
        drop = slope - slope[rising]
        if step % CHECK_EVERY == 0:
            squared = float(weight @ (slope - target.product)) + target.square
            gap = 2 * float(weight @ drop)
            if gap <= gap_tolerance(squared) or squared <= enough:
                return Nearest(weight, squared, gap)
        column = kernel[rising]
        bend = np.maximum(2 - 2 * column, 1e-12)
        falling = int(np.argmax(np.where(weight > 0, drop * drop / bend, -1.0)))
        moved = min(weight[falling], drop[falling] / bend[falling])
        weight[rising] += moved
        weight[falling] = max(weight[falling] - moved, 0.0)
        slope += moved * (column - kernel[falling])
    return None


class ActiveSet:
    """Add and drop support points until none improves: Lawson and Hanson's algorithm.

    With p_i = phi(x_i) - t, minimising |Σ x_i p_i|² + (Σ x_i - 1)² over x ≥ 0 and dividing x by its
    sum gives the hull's nearest point to t, so non-negative least squares on the Gram matrix
    <p_i, p_j> + 1 solves the problem exactly; smooth kernels need a few dozen points only.
    """

    def __init__(self, kernel: NDArray[np.floating], target: Target) -> None:
        self.kernel, self.target = kernel, target
        first = int(np.argmax(target.product))
        self.support = [first]
        self.rows = kernel[[first]].astype(float)
        distance = 1 - 2 * target.product[first] + target.square
        self.share = np.array([1 / (1 + max(distance, 0.0))])
        self.factor = self._factored()

    def solve(self, *, enough: float = 0.0) -> Nearest:
        """Return the nearest point of the hull."""
        for _ in range(3 * self.kernel.shape[0]):
            found, slope = self._state()
            entering = int(np.argmin(slope))
            done = found.gap <= 1e-3 * gap_tolerance(found.squared_distance) + 1e-10
            if done or found.squared_distance <= enough or entering in self.support:
                break
            self._enter(entering)
        return found

    def _state(self) -> tuple[Nearest, Array]:
        weight = self.share / self.share.sum()
        slope = weight @ self.rows - self.target.product
        at = slope[self.support]
        squared = float(weight @ (at - self.target.product[self.support])) + self.target.square
        gap = 2 * float(weight @ at - slope.min())
        full = np.zeros(slope.size)
        full[self.support] = weight
        return Nearest(full, squared, gap), slope

    def _gram(self, points: list[int], row: Array) -> Array:
        """Return <p_i, p_j> + 1 of some points against one whose kernel row is given."""
        product = self.target.product
        return np.asarray(row[points] - product[points] + self.target.square + 1)

    def _factored(self) -> Array:
        product = self.target.product[self.support]
        gram = self.rows[:, self.support] - product - product[:, None] + self.target.square + 1
        gram[np.diag_indices_from(gram)] += JITTER[self.kernel.dtype.name]
        return np.asarray(dpotrf(gram, lower=1)[0])

    def _enter(self, point: int) -> None:
        row = self.kernel[point].astype(float)
        product = self.target.product[point]
        side = dtrtrs(self.factor, self._gram(self.support, row) - product, lower=1)[0].ravel()
        jitter = JITTER[self.kernel.dtype.name]
        corner = float(row[point]) - 2 * product + self.target.square + 1 + jitter - side @ side
        size = len(self.support)
        factor = np.zeros((size + 1, size + 1), order="F")
        factor[:size, :size] = self.factor
        factor[size, :size] = side
        factor[size, size] = np.sqrt(max(corner, jitter))
        self.factor = factor
        self.support.append(point)
        self.rows = np.vstack([self.rows, row])
        self.share = np.append(self.share, 0.0)
        self._settle()

    def _settle(self) -> None:
        """Solve on the support; while a share is negative, go to the boundary and drop it."""
        while True:
            wanted = dpotrs(self.factor, np.ones(len(self.support)), lower=1)[0].ravel()
            bad = wanted <= 0
            if not bad.any():
                self.share = wanted
                return
            reach = np.min(self.share[bad] / (self.share[bad] - wanted[bad]))
            self.share = self.share + reach * (wanted - self.share)
            keep = self.share > 1e-14  # noqa: PLR2004 - rounding of a share that has reached 0
            self.support = [p for p, kept in zip(self.support, keep, strict=True) if kept]
            self.rows, self.share = self.rows[keep], self.share[keep]
            self.factor = self._factored()
