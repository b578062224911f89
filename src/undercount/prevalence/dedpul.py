"""DEDPUL: posteriors from a ratio of two densities (Ivanov 2020)."""

from bisect import insort
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import median_filter

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.ranks import Places, on_scale
from undercount.prevalence.upper_bound import effective_sizes

# Points of the kernel densities' grid, and the reach of a kernel in standard deviations.
KERNEL_GRID_POINTS = 1 << 14
KERNEL_REACH = 6.0
# exp(-½ SILENT²) is below the least positive number.
SILENT = 39.0
QUOTIENT_GUARD = 1e-5  # keeps quotients finite, as in the authors' code
LARGEST_RATIO = 50.0
TREND_POINTS = 10_000
MAX_POINTS = 20_000
DENSITY_SHARE_STEP = 0.001
MAX_GAP = 0.05
MAX_ROUNDS = 1000
FIXED_POINT_TOLERANCE = 1e-5
NO_VOTES = 1e-9  # sums of 0.2 are not exact
# The ratios that were last made: the estimate with a monotone trend asks for the same ones.
_LAST: "WeakKeyDictionary[ScoreCounts, tuple[Any, FloatArray]]" = WeakKeyDictionary()


@estimator
class Dedpul(ScoreEstimator):
    """Estimate the share of positives by the fixed point of their posterior.

    Kernel densities of labelled and unlabeled scores on the logit scale give r = f_L / f_U at
    the unlabeled scores, smoothed by running medians. Were a the share of positives, a row
    would be negative with chance max(0, 1 - a r); the estimate is the a at which these chances
    average to 1 - a, found by expectation maximisation, or the elbow of the gap when that slides
    to the trivial answer.

    Parameters
    ----------
    monotone : bool
        Also force a monotone trend on the ratio, as published. Without it the method is faster
        and its measured error is smaller.
    scale : {"rank", "score"}
        Balanced mid-ranks (any increasing transform gives the same answer), or the scores
        themselves, which must then be probabilities of a class-balanced classifier.
    bandwidths : (float, float)
        Of the labelled and the unlabeled kernel, in standard deviations.

    Attributes
    ----------
    diagnostics_ : dict
        ``converged`` says which of the two rules gave the answer.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and nearly only positives reach the
    highest scores.
    Wrong when: negatives resemble positives everywhere (too high) or labels prefer some
    positives (too low); in-sample scores send it to 0.

    References
    ----------
    Ivanov (2020), DEDPUL: difference-of-estimated-densities-based positive-unlabeled learning.
    """

    _by_order = True

    monotone: bool = False
    scale: str = "rank"
    bandwidths: tuple[float, float] = (0.1, 0.05)

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        position, labelled, unlabeled = on_scale(counts, self.scale)
        if position[0] < 0 or position[-1] > 1:
            raise InputError(
                f"with scale='score' scores must be probabilities; got {position[0]:g} to"
                f" {position[-1]:g}: use scale='rank'"
            )
        n_labelled, n_unlabeled = effective_sizes(counts)
        limit = TREND_POINTS if self.monotone else MAX_POINTS
        n_points = min(max(round(n_unlabeled), 1), limit)
        settings = self.scale, self.bandwidths, n_points
        cached = _LAST.get(counts)
        if cached is None or cached[0] != settings:
            ratio = density_ratio(
                1 - position[::-1],
                labelled[::-1],
                unlabeled[::-1],
                n_labelled=n_labelled,
                bandwidths=self.bandwidths,
                n_points=n_points,
            )
            _LAST[counts] = cached = settings, ratio
        ratio = monotone_trend(cached[1][::-1]) if self.monotone else cached[1]
        value, converged = posterior_share(np.sort(ratio)[::-1])
        return Fitted(value, diagnostics={"converged": converged})


def density_ratio(
    chance: FloatArray,
    labelled: FloatArray,
    unlabeled: FloatArray,
    *,
    n_labelled: float,
    bandwidths: tuple[float, float],
    n_points: int,
) -> FloatArray:
    """Return f_L / f_U at n_points equally likely unlabeled scores from the lowest on, smoothed.

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
    """
    logit = np.log((chance + 1e-7) / (1 - chance + QUOTIENT_GUARD))
    slope = chance * (1 - chance) + QUOTIENT_GUARD
    over = kernel_density(logit, labelled, bandwidths[0], n_labelled) / slope
    under = kernel_density(logit, unlabeled, bandwidths[1], n_points) / slope
    at_cell = np.minimum(over / (under + QUOTIENT_GUARD), LARGEST_RATIO)
    place = quantile_places(unlabeled, n_points)
    ratio = running_median(at_cell[place], 5)
    middle = (labelled @ chance + unlabeled @ chance) / 2
    low = int(np.searchsorted(chance[place], middle, side="right"))
    # Where positives dwell the ratio must not fall towards the most positive scores.
    ratio[:low] = np.maximum.accumulate(ratio[:low][::-1])[::-1]
    return running_median(ratio, n_points // 20)


def quantile_places(share: FloatArray, n_points: int) -> Places:
    """Return the cells of n_points equally likely draws: the rows themselves when each is one."""
    height = np.cumsum(share)
    middle = (np.arange(n_points) + 0.5) / n_points
    return np.asarray(np.searchsorted(height, middle * height[-1]))


def kernel_density(
    position: FloatArray, share: FloatArray, bandwidth: float, n_rows: float
) -> FloatArray:
    """Return a Gaussian kernel density at the positions (ascending), by binning and FFT.

    ``bandwidth`` counts in sample standard deviations, as scipy's ``gaussian_kde`` does.
    """
    mean = share @ position
    variance = share @ (position - mean) ** 2 * n_rows / max(n_rows - 1, 1)
    width = bandwidth * max(float(np.sqrt(variance)), 1e-9)
    low = position[0] - KERNEL_REACH * width
    step = (position[-1] + KERNEL_REACH * width - low) / (KERNEL_GRID_POINTS - 1)
    place = (position - low) / step
    left = np.minimum(place.astype(int), KERNEL_GRID_POINTS - 2)
    right_part = place - left
    cells = np.bincount(left, share * (1 - right_part), KERNEL_GRID_POINTS)
    cells += np.bincount(left + 1, share * right_part, KERNEL_GRID_POINTS)
    size = next_fast_len(2 * KERNEL_GRID_POINTS, real=True)
    spectrum = rfft(cells, size)
    # Beyond this frequency the kernel is 0 in floating point, and most frequencies are.
    last = min(int(SILENT * step / width * size / (2 * np.pi)) + 1, spectrum.size)
    frequency = np.arange(last) * (2 * np.pi / size)
    spectrum[:last] *= np.exp(-0.5 * (frequency * width / step) ** 2)
    spectrum[last:] = 0
    smooth = irfft(spectrum, size)
    smooth = np.maximum(smooth[:KERNEL_GRID_POINTS], 0) / step
    return np.asarray(smooth[left] * (1 - right_part) + smooth[left + 1] * right_part)


def running_median(values: FloatArray, n_neighbours: int) -> FloatArray:
    """Return medians of n_neighbours on each side; near an end the window shrinks evenly."""
    k = min(n_neighbours, (len(values) - 1) // 2)
    if k < 1:
        return values.copy()
    medians = median_filter(values, 2 * k + 1, mode="nearest")
    medians[:k] = _prefix_medians(values[: 2 * k])
    medians[-k:] = _prefix_medians(values[: -2 * k - 1 : -1])[::-1]
    return medians


def _prefix_medians(values: FloatArray) -> FloatArray:
    """Return medians of the first 1, 3, 5, … values."""
    seen: list[float] = []
    medians = []
    for count, value in enumerate(values.tolist()):
        insort(seen, value)
        if count % 2 == 0:
            medians.append(seen[count // 2])
    return np.array(medians)


def monotone_trend(values: FloatArray, decay: float = 0.2) -> FloatArray:
    """Raise values to the highest level that later values keep confirming (Ivanov 2020).

    Each level met gains one vote with every value at or above it and loses ``decay`` with every
    value below it; it dies without votes. The result is the larger of value and highest level.
    """
    levels, place = np.unique(values, return_inverse=True)
    # Votes less one for every value met, so that levels which gain one need no change; without
    # votes a level has infinitely many, which no least one sees.
    votes = np.full(levels.size, np.inf)
    raised = values.copy()
    top = -1
    for met, level in enumerate(place.tolist(), 1):
        if level < top:
            raised[met - 1] = levels[top]
            missed = votes[level + 1 : top + 1]
            missed -= 1 + decay
            if missed.min() + met <= NO_VOTES:
                missed[missed + met <= NO_VOTES] = np.inf
        if not 1 - met <= votes[level] < np.inf:
            votes[level] = 1 - met
        top = max(top, level)
        while votes[top] == np.inf:
            top -= 1
    return raised


def posterior_share(ratio: FloatArray) -> tuple[float, bool]:
    """Return (share of positives, whether the fixed point gave it) from descending ratios."""
    ratio = ratio[::-1]
    heads = np.concatenate([[0.0], np.cumsum(ratio)])

    def mean_negative(positive: Any) -> Any:
        """Mean of max(0, 1 - positive · ratio): only ratios below 1 / positive contribute."""
        alive = np.searchsorted(ratio, 1 / np.maximum(positive, 1e-12))
        return (alive - positive * heads[alive]) / ratio.size

    fixed = _fixed_point(mean_negative, float(ratio[-1]))
    grid = np.arange(0, 1, DENSITY_SHARE_STEP)
    gap = mean_negative(1 - grid) - grid
    inside = gap[1:-1] < MAX_GAP
    if not inside.any():
        return 1 - fixed, True
    elbow = float(grid[1:-1][inside][np.argmax(np.diff(gap, 2)[inside])])
    crosses = np.count_nonzero(gap < 0) > 1 and fixed < 1 - DENSITY_SHARE_STEP
    return (1 - fixed, True) if elbow >= fixed or crosses else (1 - elbow, False)


def _fixed_point(mean_negative: Any, largest: float) -> float:
    """Iterate the share of negatives from 0, as published, until it reproduces itself."""
    if largest < 1:  # labelled rows are nowhere dense among the unlabeled: each round loses some
        return 1.0
    negative = 0.0
    for _ in range(MAX_ROUNDS):
        updated = float(mean_negative(1 - negative))
        if abs(updated - negative) < FIXED_POINT_TOLERANCE or 1 - largest * (1 - negative) > 0:
            break
        negative = updated
    return negative
