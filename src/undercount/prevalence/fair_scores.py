"""Compare the scores of labelled positives that were found sooner or later, by one or by both.

A label that prefers high scores shows where there is something to compare it with: the labels of
the same positives that came later, or those that a second source gave.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from undercount.curve import FloatArray


@dataclass(frozen=True)
class ScoreTest:
    """Hold a comparison of scores.

    Attributes
    ----------
    p_value : float
        Chance of scores that differ as much if nothing prefers some of them; two-sided.
    statistic : float
        Standard normal if nothing does; which way it points stands in `words`.
    words : str
        What scores higher, if the test rejects.
    n_rows : int
        Labelled rows that were compared.
    """

    p_value: float
    statistic: float
    words: str
    n_rows: int


def compare_delays(score: FloatArray, delay: FloatArray, window: FloatArray) -> ScoreTest:
    """Test whether the scores of labels that came sooner differ from those that came later.

    Delays are seen only if they are no longer than the time since the row, so that each label is
    compared with those that could have come as late and came no later: the score test of Cox's
    model in reverse time (Lagakos, Barraj and De Gruttola 1988), with the rank of the score.

    Notes
    -----
    Assumes: the delay has one distribution whenever the row was.
    Wrong when: labelling became faster while scores moved.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.fair_scores import compare_delays
    >>> rng = np.random.default_rng(0)
    >>> score, window = rng.random(400), rng.uniform(50, 100, 400)
    >>> delay = window * rng.random(400) ** (1 + 3 * score)  # high scores come sooner
    >>> found = compare_delays(score, delay, window)
    >>> found.p_value < 0.001, found.words
    (True, 'labels of high scores come sooner')
    """
    rank = rankdata(score) / len(score)
    moments = np.stack([np.ones(len(rank)), rank, rank**2])
    came_before, gone_before = (_running_sums(moments, time) for time in (delay, window))
    came = np.searchsorted(np.sort(delay), delay, side="right")
    gone = np.searchsorted(np.sort(window), delay, side="left")
    number, first, second = came_before[:, came] - gone_before[:, gone]
    mean = first / number
    variance = float(np.sum(np.maximum(second / number - mean**2, 0.0)))
    if variance <= 0:
        return ScoreTest(1.0, 0.0, "", len(rank))
    statistic = float(np.sum(rank - mean)) / math.sqrt(variance)
    words = f"labels of high scores come {'later' if statistic > 0 else 'sooner'}"
    return ScoreTest(float(2 * ndtr(-abs(statistic))), statistic, words, len(rank))


def _running_sums(moments: FloatArray, by: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, … rows, in the order of a column."""
    order = np.argsort(by, kind="stable")
    return np.concatenate([np.zeros((len(moments), 1)), np.cumsum(moments[:, order], axis=1)], 1)


def compare_sources(
    score: FloatArray, first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> ScoreTest:
    """Test whether one source of labels prefers high or low scores among what the other found.

    Of the positives that one source found, those that the other found too should score like those
    that it did not (rank sum with ties); the smaller of the two p-values counts double.

    Notes
    -----
    Assumes: which of its own positives a source shares with the other depends on nothing but the
    score.
    Wrong when: both sources prefer the same scores equally for a reason that hides in neither.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.fair_scores import compare_sources
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(2000)
    >>> first, second = rng.random(2000) < 0.3, rng.random(2000) < score
    >>> found = compare_sources(score, first, second)
    >>> found.p_value < 0.001, found.words
    (True, 'the second source finds positives of high scores more often')
    """
    tests = []
    for name, source, other in (("first", first, second), ("second", second, first)):
        statistic = _rank_sum(score[other], source[other])
        more = "high" if statistic > 0 else "low"
        words = f"the {name} source finds positives of {more} scores more often"
        tests.append((float(2 * ndtr(-abs(statistic))), statistic, words))
    p_value, statistic, words = min(tests)
    return ScoreTest(min(2 * p_value, 1.0), statistic, words, int(np.count_nonzero(first | second)))


def _rank_sum(score: FloatArray, chosen: NDArray[np.bool_]) -> float:
    """Return Wilcoxon's rank sum of the chosen rows, less its mean, over its deviation."""
    n, m = len(score), int(np.count_nonzero(chosen))
    if not 0 < m < n:
        return 0.0
    rank = rankdata(score)
    spread = float(np.var(rank)) * m * (n - m) / (n - 1)
    return float(rank[chosen].sum() - m * (n + 1) / 2) / math.sqrt(spread) if spread > 0 else 0.0
