"""The ratio of labelled to unlabeled density at the unlabeled scores, smoothed as DEDPUL does."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import median_filter

if TYPE_CHECKING:
    from undercount.prevalence.ranks import Array, Places

GRID = 1 << 14
REACH = 6.0  # standard deviations of a kernel
TINY = 1e-5  # keeps quotients finite, as in the authors' code
LARGEST_RATIO = 50.0
TREND_POINTS = 10_000


def density_ratio(
    chance: Array,
    labelled: Array,
    unlabeled: Array,
    *,
    n_labelled: float,
    bandwidths: tuple[float, float],
    n_points: int,
    monotone: bool,
) -> Array:
    """Return f_L / f_U at n_points equally likely unlabeled scores, smoothed, descending.

    Parameters
    ----------
    chance : ndarray
        Ascending chance, in [0, 1], that a row at this score is unlabeled rather than labelled.
    labelled, unlabeled : ndarray
        Shares of each sample there.
    n_labelled : float
        Labelled rows.
    bandwidths : (float, float)
        Of the labelled and the unlabeled kernel, in standard deviations of the logit.
    n_points : int
    monotone : bool
        Whether to force a monotone trend at the end (Ivanov 2020, section 3.3).
    """
    logit = np.log((chance + 1e-7) / (1 - chance + TINY))
    slope = chance * (1 - chance) + TINY
    over = kernel_density(logit, labelled, bandwidths[0], n_labelled) / slope
    under = kernel_density(logit, unlabeled, bandwidths[1], n_points) / slope
    at_cell = np.minimum(over / (under + TINY), LARGEST_RATIO)
    place = quantile_places(unlabeled, n_points)
    ratio = running_median(at_cell[place], 5)
    middle = (labelled @ chance + unlabeled @ chance) / 2
    low = int(np.searchsorted(chance[place], middle, side="right"))
    # Where positives dwell the ratio must not fall towards the most positive scores.
    ratio[:low] = np.maximum.accumulate(ratio[:low][::-1])[::-1]
    ratio = running_median(ratio, n_points // 20)
    if monotone:
        ratio = monotone_trend(ratio[::-1])
    return np.sort(ratio)[::-1]


def quantile_places(share: Array, n_points: int) -> Places:
    """Return the cells of n_points equally likely draws: the rows themselves when each is one."""
    height = np.cumsum(share)
    middle = (np.arange(n_points) + 0.5) / n_points
    return np.asarray(np.searchsorted(height, middle * height[-1]))


def kernel_density(position: Array, share: Array, bandwidth: float, n_rows: float) -> Array:
    """Return a Gaussian kernel density at the positions (ascending), by binning and FFT.

    ``bandwidth`` counts in sample standard deviations, as scipy's ``gaussian_kde`` does.
    """
    mean = share @ position
    variance = share @ (position - mean) ** 2 * n_rows / max(n_rows - 1, 1)
    width = bandwidth * max(float(np.sqrt(variance)), 1e-9)
    low = position[0] - REACH * width
    step = (position[-1] + REACH * width - low) / (GRID - 1)
    place = (position - low) / step
    left = np.minimum(place.astype(int), GRID - 2)
    right_part = place - left
    cells = np.bincount(left, share * (1 - right_part), GRID)
    cells += np.bincount(left + 1, share * right_part, GRID)
    size = next_fast_len(2 * GRID, real=True)
    frequency = np.arange(size // 2 + 1) * (2 * np.pi / size)
    smooth = irfft(rfft(cells, size) * np.exp(-0.5 * (frequency * width / step) ** 2), size)
    smooth = np.maximum(smooth[:GRID], 0) / step
    return np.asarray(smooth[left] * (1 - right_part) + smooth[left + 1] * right_part)


def running_median(values: Array, n_neighbours: int) -> Array:
    """Return medians of n_neighbours on each side; near an end the window shrinks evenly."""
    k = min(n_neighbours, (len(values) - 1) // 2)
    if k < 1:
        return values.copy()
    found = median_filter(values, 2 * k + 1, mode="nearest")
    found[:k] = _prefix_medians(values[: 2 * k])
    found[-k:] = _prefix_medians(values[: -2 * k - 1 : -1])[::-1]
    return found


def _prefix_medians(values: Array) -> Array:
    """Return medians of the first 1, 3, 5, … values."""
    seen: list[float] = []
    medians = []
    for count, value in enumerate(values.tolist()):
        insort(seen, value)
        if count % 2 == 0:
            medians.append(seen[count // 2])
    return np.array(medians)


def monotone_trend(values: Array, decay: float = 0.2) -> Array:
    """Raise values to the highest level that later values keep confirming (Ivanov 2020).

    Each level met gains one vote with every value at or above it and loses ``decay`` with every
    value below it; it dies without votes. The result is the larger of value and highest level.
    """
    levels, place = np.unique(values, return_inverse=True)
    votes = np.full(levels.size, -np.inf)  # -inf: not alive
    raised = values.copy()
    top = -1
    for index, level in enumerate(place.tolist()):
        if level < top:
            raised[index] = levels[top]
            votes[level + 1 : top + 1] -= decay
            dead = votes[level + 1 : top + 1] <= 1e-12  # noqa: PLR2004 - sums of 0.2 are not exact
            votes[level + 1 : top + 1][dead] = -np.inf
        votes[: level + 1] += 1
        votes[level] = max(votes[level], 1.0)
        top = max(top, level)
        while votes[top] == -np.inf:
            top -= 1
    return raised
