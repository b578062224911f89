"""How many hidden positives stand above the h-th labelled one: exact limits and their level.

If the labelled positives are a random sample of all positives, every order of labelled and hidden
ones is equally likely, whatever the scores. So the number of hidden positives above the h-th
labelled one is negative hypergeometric, and a whole band is a lattice path between two walls.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from undercount.curve import FloatArray

IntArray = NDArray[np.int64]
# Beyond this many labels the limits are computed on a grid, dense at both ends, and read between.
MOST_EXACT_LABELS = 1024
# Paths are counted exactly up to this size; beyond it the level follows its known rate.
COUNTED, PILOT = 2000, 200
MOST_SIZE_RATIO, MOST_PATH_STEPS = 25, 20_000
# Rounding of a counted probability near 1 must not look like a failure.
PATH_ERROR = 1e-9


def hidden_heads(n_labelled: int, n_hidden: int, local_level: float) -> tuple[IntArray, IntArray]:
    """Return the least and the most hidden positives above a rank with h = 0, 1, ... labels above.

    Each limit is wrong with probability at most `local_level` / 2: it inverts the hypergeometric
    distribution of the labels among the positives above the rank.
    """
    low = _least(n_labelled, n_hidden, local_level / 2)
    return low, n_hidden - low[::-1]


def _least(n_labelled: int, n_hidden: int, tail: float) -> IntArray:
    if n_hidden == 0 or n_labelled == 0:
        return np.zeros(n_labelled + 1, dtype=np.int64)
    if n_labelled <= MOST_EXACT_LABELS:
        heads = np.arange(1, n_labelled + 1)
    else:
        angle = np.linspace(0, np.pi / 2, MOST_EXACT_LABELS)
        heads = np.unique(np.rint(1 + (n_labelled - 1) * np.sin(angle) ** 2).astype(np.int64))
    least = _quantile(heads.astype(float), n_labelled, n_hidden, tail)
    every = np.arange(n_labelled + 1)
    # The limit is convex in h and smooth on this grid: the error stays far below one row.
    read = np.interp(every, np.append(0, heads), np.append(0.0, least))
    floored: IntArray = np.floor(read + 1e-9).astype(np.int64)
    return floored


def _quantile(head: FloatArray, n_labelled: int, n_hidden: int, tail: float) -> FloatArray:
    """Find the least k with P(at most k hidden above the head-th label) > tail.

    Newton's method on the logarithm of the distribution function, which is concave: after one
    step it climbs without overshooting. Single steps finish on the integer.
    """
    k = np.floor(n_hidden * special.betaincinv(head, n_labelled + 1 - head, tail))
    log_target = math.log(tail)
    for _ in range(60):
        log_cdf, log_pmf = _log_probabilities(k, head, n_labelled, n_hidden)
        step = np.trunc((log_target - log_cdf) * np.exp(np.minimum(log_cdf - log_pmf, 700)))
        moved = np.clip(k + step, 0, n_hidden)
        if (moved == k).all():
            break
        k = moved
    log_cdf, log_pmf = _log_probabilities(k, head, n_labelled, n_hidden)
    cdf, pmf = np.exp(log_cdf), np.exp(log_pmf)
    limit = tail * (1 + 1e-10)
    while (up := (cdf <= limit) & (k < n_hidden)).any():
        # P(k + 1) / P(k) of the negative hypergeometric distribution.
        after = np.maximum(n_labelled - head + n_hidden - k, 1)
        grown = (n_hidden - k) * (head + k) / ((k + 1) * after)
        pmf = np.where(up, pmf * grown, pmf)
        cdf, k = np.where(up, cdf + pmf, cdf), k + up
    while (down := (cdf - pmf > limit) & (k > 0)).any():
        before = np.maximum(head + k - 1, 1)
        shrunk = k * (n_labelled + 1 - head + n_hidden - k) / (before * (n_hidden - k + 1))
        cdf = np.where(down, cdf - pmf, cdf)
        pmf, k = np.where(down, pmf * shrunk, pmf), k - down
    return k


def _log_probabilities(
    k: FloatArray, head: FloatArray, n_labelled: int, n_hidden: int
) -> tuple[FloatArray, FloatArray]:
    """Return log P(at most k) and log P(exactly k) hidden positives above the head-th label.

    "At most k" means at least `head` labels among the first head + k positives, a hypergeometric
    tail whose terms are summed by their ratio: about 2.5 √min(labelled, hidden) of them.
    """
    drawn, others = head + k, n_labelled + n_hidden - head - k
    log_first = (
        _log_choose(float(n_labelled), head)
        + _log_choose(float(n_hidden), k)
        - _log_choose(float(n_labelled + n_hidden), drawn)
    )
    total, term, x = np.ones_like(head), np.ones_like(head), head.copy()
    while True:
        term = term * ((drawn - x) * (n_labelled - x)) / ((x + 1) * (others - n_labelled + x + 1))
        total += term
        x += 1
        if (term <= 1e-13 * total).all():
            break
    return log_first + np.log(total), log_first + np.log(head / drawn)


def _log_choose(n: float, k: float | FloatArray) -> FloatArray:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


@lru_cache(maxsize=64)
def path_probability(n_labelled: int, n_hidden: int, local_level: float) -> float:
    """Return the probability that all limits of `hidden_heads` hold at once, by counting paths.

    With k_i the hidden positives above the i-th label, all limits hold exactly if
    least(i) <= k_i <= most(i - 1) for every i; nondecreasing sequences within such walls are
    counted by one cumulative sum a label.
    """
    least, most = hidden_heads(n_labelled, n_hidden, local_level)
    floor, ceiling = least[1:], most[:-1]
    if (floor > ceiling).any():
        return 0.0
    ways, start, log_scale = np.ones(ceiling[0] - floor[0] + 1), floor[0], 0.0
    for low, high in zip(floor[1:].tolist(), ceiling[1:].tolist(), strict=True):
        total = np.cumsum(ways)
        scale = total[-1]
        log_scale += math.log(scale)
        grown = np.ones(high - low + 1)  # all ways so far, where the old window has ended
        inside = total[low - start :]
        grown[: len(inside)] = inside / scale
        ways, start = grown, low
    log_all = _log_choose(n_labelled + n_hidden, n_labelled)
    return float(np.exp(log_scale + math.log(ways.sum()) - log_all))


@lru_cache(maxsize=256)
def local_level(n_labelled: int, n_hidden: int, confidence_level: float) -> float:
    """Return the level at which each pair of limits may fail so that all hold at once.

    The largest equal local level (to one per cent) whose band keeps `confidence_level`
    simultaneously, by counting paths exactly while the smaller group has at most 2,000 rows.
    Beyond, the level goes on falling like 1 / log² n, faster than its limiting rate
    1 / (log n · log log n), so on the safe side.

    Examples
    --------
    >>> from undercount.theory.hidden_heads import local_level, path_probability
    >>> level = local_level(20, 50, 0.95)
    >>> 0.001 < level < 0.02, path_probability(20, 50, level) >= 0.95
    (True, True)
    """
    small, large = sorted((n_labelled, n_hidden))
    if small == 0:
        return 1 - confidence_level
    size = min(small, COUNTED)
    # The larger group matters through its ratio to the smaller, and hardly beyond MOST_SIZE_RATIO.
    ratio = min(large / small, max(MOST_SIZE_RATIO, MOST_PATH_STEPS / size))
    level = _largest_level(size, round(size * ratio), confidence_level)
    return level if small == size else level * (math.log(size) / math.log(small)) ** 2


def _largest_level(n_small: int, n_large: int, confidence_level: float) -> float:
    """Search the largest local level whose path probability is at least the confidence level.

    The logarithm of the chance to fail is almost linear in that of the level: false position
    with a guard, because for few rows the probability is a staircase.
    """
    error = 1 - confidence_level

    def excess(log_level: float) -> float:
        failing = 1 - path_probability(n_small, n_large, math.exp(log_level))
        return math.log(max(failing, 1e-15) / error)

    low, high = _bracket(excess, n_small, n_large, confidence_level)
    if high[1] <= PATH_ERROR:
        return math.exp(high[0])
    while high[0] - low[0] > 0.01:  # noqa: PLR2004 - one per cent of the level
        share = min(max(-low[1] / (high[1] - low[1]), 0.04), 0.96)
        for trial in (share - 0.03, share + 0.03):
            log_level = low[0] + trial * (high[0] - low[0])
            value = excess(log_level)
            if value > PATH_ERROR:
                high = (log_level, value)
                break
            low = (log_level, value)
    return math.exp(low[0])


def _bracket(
    excess: Callable[[float], float], n_small: int, n_large: int, confidence_level: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return a log level that is low enough and one that is too high, with their excesses."""
    error = 1 - confidence_level
    low, high = math.log(error / (4 * (n_small + 1))), math.log(error)
    if n_small > 2 * PILOT:
        # A smaller problem of the same ratio says where to look.
        pilot = _largest_level(PILOT, round(PILOT * n_large / n_small), confidence_level)
        guess = math.log(pilot) + 2 * math.log(math.log(PILOT) / math.log(n_small))
        if excess(guess - 0.15) <= PATH_ERROR < excess(guess + 0.2):
            low, high = guess - 0.15, guess + 0.2
    return (low, excess(low)), (high, excess(high))
