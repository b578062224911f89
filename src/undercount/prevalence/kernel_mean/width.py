"""A Gaussian kernel matrix whose width is the best of five around the median distance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray

# Widths 10^(1), 10^(1/2), … 10^(-1) medians: each kernel is the tenth power of the one before.
N_WIDTHS = 5
KERNEL_ROWS_PER_BLOCK = 512
# Beyond this many rows double precision would need more than half a gigabyte.
DOUBLE_ROWS = 7000
# Rows whose distances to all others give the median in large samples.
KERNEL_MEDIAN_ROWS = 1000


@dataclass(frozen=True)
class WidthKernel:
    """A kernel matrix and its width."""

    matrix: NDArray[np.floating]
    width: float


def point_kernel(
    location: FloatArray, labelled: FloatArray, unlabeled: FloatArray, weight: FloatArray
) -> WidthKernel:
    """Choose the width for weighted points on a line, given in ascending order.

    Parameters
    ----------
    location : ndarray, ascending
    labelled, unlabeled : ndarray
        Each sample's share at each point.
    weight : ndarray
        Rows of both samples at each point; decides the median distance.
    """
    median = _median_distance(location, weight)
    squared = np.square(location[:, None] - location)
    return _best(np.exp(-squared / (2 * (10 * median) ** 2)), unlabeled - labelled, median)


def row_kernel(rows: FloatArray, labelled: FloatArray, unlabeled: FloatArray) -> WidthKernel:
    """Choose the width for rows of features; shares as in ``point_kernel``."""
    dtype = np.float64 if len(rows) <= DOUBLE_ROWS else np.float32
    rows = np.asarray(rows - rows.mean(axis=0), dtype)
    norms = np.einsum("ij,ij->i", rows, rows)
    some = np.linspace(0, len(rows) - 1, min(len(rows), 3 * KERNEL_MEDIAN_ROWS)).astype(int)
    if len(rows) > 3 * KERNEL_MEDIAN_ROWS:
        some = some[::3]
    sample = rows[some] @ rows.T
    sample *= -2
    sample += norms + norms[some, None]
    np.maximum(sample, 0, out=sample)
    median = float(np.sqrt(np.median(sample)))
    if median == 0:  # most rows are equal: their distance 0 is no scale, so leave it out
        median = float(np.sqrt(np.median(sample[sample > 0])))
    del sample
    matrix = np.empty((len(rows), len(rows)), dtype)
    for start in range(0, len(rows), KERNEL_ROWS_PER_BLOCK):
        block = matrix[start : start + KERNEL_ROWS_PER_BLOCK]
        np.matmul(rows[start : start + KERNEL_ROWS_PER_BLOCK], rows.T, out=block)
        block *= -2
        block += norms + norms[start : start + KERNEL_ROWS_PER_BLOCK, None]
        np.maximum(block, 0, out=block)
        block /= -2 * (10 * median) ** 2
        np.exp(block, out=block)
    np.fill_diagonal(matrix, 1)
    return _best(matrix, unlabeled - labelled, median)


def _best(widest: NDArray[np.floating], difference: FloatArray, median: float) -> WidthKernel:
    """Return the power of the widest kernel that tells the samples apart best (largest MMD)."""
    spread = np.zeros(N_WIDTHS)
    for start in range(0, len(widest), KERNEL_ROWS_PER_BLOCK):
        block = widest[start : start + KERNEL_ROWS_PER_BLOCK].copy()
        for place in range(N_WIDTHS):
            if place:
                _tenth_power(block)
            spread[place] += difference[start : start + KERNEL_ROWS_PER_BLOCK] @ (
                block @ difference
            )
    best = int(np.argmax(spread))
    for _ in range(best):
        for start in range(0, len(widest), KERNEL_ROWS_PER_BLOCK):
            _tenth_power(widest[start : start + KERNEL_ROWS_PER_BLOCK])
    return WidthKernel(widest, median * 10 ** (1 - best / 2))


def _tenth_power(block: NDArray[np.floating]) -> None:
    square = block * block
    np.square(square, out=block)
    block *= block
    block *= square


def _median_distance(location: FloatArray, weight: FloatArray) -> float:
    """Return the weighted median of |x_i - x_j| over all ordered pairs, a point with itself too."""
    below = np.concatenate([[0.0], np.cumsum(weight)])
    half = below[-1] ** 2 / 2

    def pairs_within(distance: float) -> float:
        last = np.searchsorted(location, location + distance, side="right")
        first = np.searchsorted(location, location - distance, side="left")
        return float(weight @ (below[last] - below[first]))

    equal = pairs_within(0.0)
    if equal >= half:  # most rows tie: their distance 0 is no scale, so leave it out
        half = (below[-1] ** 2 + equal) / 2
    low, high = 0.0, float(location[-1] - location[0])
    while high - low > 1e-9 * (location[-1] - location[0]):
        middle = (low + high) / 2
        if pairs_within(middle) < half:
            low = middle
        else:
            high = middle
    return high
