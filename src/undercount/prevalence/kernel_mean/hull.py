"""The nearest point of a convex hull in a kernel's feature space, by two exact solvers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from undercount.curve import FloatArray

# Added to a Gram matrix's diagonal: points of a smooth kernel are nearly dependent.
JITTER = {"float64": 1e-11, "float32": 1e-6}
# Duality gaps between which the pair solver stops.
LEAST_DUALITY_GAP, LARGEST_GAP = 1e-9, 1e-6
# Pair steps per point before the pair solver gives up on closing its gap.
PAIR_STEPS = 20
CHECK_EVERY = 32
KERNEL_ROWS_PER_BLOCK = 512


@dataclass(frozen=True)
class HullTarget:
    """A point t of the feature space, known by its inner products.

    Attributes
    ----------
    product : ndarray
        <phi(x_i), t> for each point x_i whose hull is searched.
    square : float
        <t, t>.
    """

    product: FloatArray
    square: float


@dataclass(frozen=True)
class NearestPoint:
    """Weights of the nearest point found, its squared distance, and how far it is from optimal."""

    weight: FloatArray
    squared_distance: float
    gap: float


def gap_tolerance(squared_distance: float) -> float:
    """Return the duality gap at which a distance is exact enough for its slope.

    A pair solver's true error is hundreds of times below its gap (measured), so half of the
    squared distance leaves about 1e-3 of the distance itself.
    """
    return min(LARGEST_GAP, max(0.5 * squared_distance, LEAST_DUALITY_GAP))


def nearest_by_pairs(
    kernel: NDArray[np.floating], target: HullTarget, start: FloatArray, *, enough: float = 0.0
) -> NearestPoint:
    """Shift weight between the best pair of points until the gap closes.

    Sequential minimal optimisation with the second-order choice of the pair (Fan, Chen, Lin
    2005); right for kernels of many features, whose matrices are near a multiple of the identity.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        With a unit diagonal.
    target : HullTarget
    start : ndarray
        Weights on the simplex.
    enough : float
        Stop as soon as the squared distance is at most this.
    """
    weight = start.copy()
    slope = double_product(kernel, weight) - target.product
    for step in range(PAIR_STEPS * weight.size + 1):
        rising = int(np.argmin(slope))
        drop = slope - slope[rising]
        if step % CHECK_EVERY == 0:
            squared = float(weight @ (slope - target.product)) + target.square
            gap = 2 * float(weight @ drop)
            if gap <= gap_tolerance(squared) or squared <= enough:
                break
        column = kernel[rising]
        bend = np.maximum(2 - 2 * column, 1e-12)
        falling = int(np.argmax(np.where(weight > 0, drop * drop / bend, -1.0)))
        moved = min(weight[falling], drop[falling] / bend[falling])
        weight[rising] += moved
        weight[falling] = max(weight[falling] - moved, 0.0)
        slope += moved * (column - kernel[falling])
    return NearestPoint(weight, squared, gap)


def double_product(kernel: NDArray[np.floating], vector: FloatArray) -> FloatArray:
    """Return kernel @ vector in double precision, without a double copy of a single kernel."""
    if kernel.dtype == vector.dtype:
        return np.asarray(kernel @ vector)
    parts = [
        kernel[at : at + KERNEL_ROWS_PER_BLOCK] @ vector
        for at in range(0, len(kernel), KERNEL_ROWS_PER_BLOCK)
    ]
    return np.concatenate(parts)


class ActiveSet:
    """Add and drop support points until none improves: Lawson and Hanson's algorithm.

    With p_i = phi(x_i) - t, minimising |Σ x_i p_i|² + (Σ x_i - 1)² over x ≥ 0 and dividing x by its
    sum gives the hull's nearest point to t, so non-negative least squares on the Gram matrix
    <p_i, p_j> + 1 solves the problem exactly; smooth kernels need a few dozen points only.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        With a unit diagonal.
    target : HullTarget
    """

    def __init__(self, kernel: NDArray[np.floating], target: HullTarget) -> None:
        self.kernel, self.target = kernel, target
        first = int(np.argmax(target.product))
        self.support = np.array([first])
        self._buffer = np.empty((16, kernel.shape[0]))
        self._buffer[0] = kernel[first]
        distance = 1 - 2 * target.product[first] + target.square
        self.share = np.array([1 / (1 + max(distance, 0.0))])
        self._jitter = JITTER[kernel.dtype.name]
        self.factor = self._factorise()

    def solve(self, *, enough: float = 0.0, largest: int | None = None) -> NearestPoint | None:
        """Return the hull's nearest point, or None when it needs more than ``largest`` points."""
        largest = self.kernel.shape[0] if largest is None else largest
        for _ in range(3 * self.kernel.shape[0]):
            state, slope = self._state()
            entering = int(np.argmin(slope))
            done = state.gap <= max(1e-4 * state.squared_distance, 1e-10)
            # A point of the support that still seems to improve is rounding.
            if done or state.squared_distance <= enough or entering in self.support:
                break
            if self.support.size >= largest:
                return None
            self._enter(entering)
        return state

    @property
    def _rows(self) -> FloatArray:
        """The support's rows of the kernel."""
        return self._buffer[: self.support.size]

    def _state(self) -> tuple[NearestPoint, FloatArray]:
        weight = self.share / self.share.sum()
        slope = weight @ self._rows - self.target.product
        at = slope[self.support]
        squared = float(weight @ (at - self.target.product[self.support])) + self.target.square
        gap = 2 * float(weight @ at - slope.min())
        full = np.zeros(slope.size)
        full[self.support] = weight
        return NearestPoint(full, squared, gap), slope

    def _factorise(self) -> FloatArray:
        product = self.target.product[self.support]
        gram = self._rows[:, self.support] - product - product[:, None] + self.target.square + 1
        gram[np.diag_indices_from(gram)] += self._jitter
        return np.asarray(dpotrf(gram, lower=1)[0])

    def _enter(self, point: int) -> None:
        size, product = self.support.size, self.target.product
        row = self.kernel[point].astype(float)
        base = self.target.square + 1 - product[point]
        side = dtrtrs(self.factor, row[self.support] - product[self.support] + base, lower=1)[0]
        side = side.ravel()
        corner = row[point] - product[point] + base + self._jitter - side @ side
        factor = np.zeros((size + 1, size + 1), order="F")
        factor[:size, :size] = self.factor
        factor[size, :size] = side
        factor[size, size] = np.sqrt(max(corner, self._jitter))
        self.factor = factor
        if size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._buffer[size] = row
        self.support = np.append(self.support, point)
        self.share = np.append(self.share, 0.0)
        self._settle()

    def _settle(self) -> None:
        """Solve on the support; while a share is negative, go to the boundary and drop it."""
        while True:
            direction = dpotrs(self.factor, np.ones(self.support.size), lower=1)[0].ravel()
            bad = direction <= 0
            if not bad.any():
                self.share = direction
                return
            reach = np.min(self.share[bad] / (self.share[bad] - direction[bad]))
            share = self.share + reach * (direction - self.share)
            keep = share > 1e-14  # noqa: PLR2004 - rounding of a share that has reached 0
            rows = self._rows[keep]
            self.support, self.share = self.support[keep], share[keep]
            self._buffer[: len(rows)] = rows
            self.factor = self._factorise()
