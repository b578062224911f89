"""One fixed set of rows, with its truth, and every kind of incomplete label on it.

The rows are the same on every machine and under every version of NumPy: chance comes from integer
arithmetic (splitmix64), and scores are multiples of 1/512, so that some of them tie.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

import undercount as uc

N_ROWS = 400
THRESHOLD = 0.5
TOP = 60
# Share of positives where a classifier is supposed to work.
ELSEWHERE = 0.2
_STEP, _MIXERS = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def _chance(stream: int) -> NDArray[np.float64]:
    """Return independent numbers in [0, 1), one for each row; other ones for each stream."""
    place = np.arange(1, N_ROWS + 1, dtype=np.uint64) + np.uint64(stream * 1_000_003)
    mixed = place * np.uint64(_STEP)
    for shift, factor in _MIXERS:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)) / 2.0**53


def _score(signal: float, *streams: int) -> NDArray[np.float64]:
    noise = np.mean([_chance(stream) for stream in streams], axis=0)
    return np.round(512 * (signal * TRUTH + (1 - signal) * noise)) / 512


def _labels(known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the class of the known rows, and missing values elsewhere."""
    return np.where(known, TRUTH.astype(float), np.nan)


TRUTH = _chance(0) < 0.35
SCORE, OTHER = _score(0.3, 1, 2), _score(0.2, 2, 3)
CLUSTER = (_chance(4) * 150).astype(int)
WEIGHT = np.round(2 + 6 * _chance(5)) / 4
SEGMENT = np.where(_chance(6) < 0.5, "a", "b")
COVARIATE = (_chance(7) < 0.5).astype(float)

# Labels are a fair sample of the positives, and by chance an ordinary one: among the highest rows
# of either score there are about as many labelled as of all positives.
FAIR = _labels(TRUTH & (_chance(27) < 0.5))
# Some of the rows labelled positive are negative.
IMPURE = np.where((FAIR == 1) | (~TRUTH & (_chance(9) < 0.03)), 1.0, np.nan)
# Each positive has a labelling chance of its own; or somebody looked at rows with that chance.
CHANCE = np.where(COVARIATE == 1, 0.7, 0.3)
BY_CHANCE = _labels(TRUTH & (_chance(10) < CHANCE))
LOOKED_BY_CHANCE = _labels(_chance(10) < CHANCE)
# Labels arrive within 60 days of their rows; labels are complete up to day 300.
LAST_DAY = 300
OBSERVED = np.floor(LAST_DAY * _chance(11))
ARRIVAL = OBSERVED + np.floor(60 * _chance(12) ** 2)
FOUND = np.where(TRUTH & (ARRIVAL <= LAST_DAY), ARRIVAL, np.nan)
# Known rows of both classes: a random sample, and those of high scores more often.
AUDITED = _labels(_chance(13) < 0.35)
LOOKED_BY_SCORE = _labels(_chance(14) < 0.15 + 0.8 * SCORE)
# Two independent ways of finding positives.
FIRST, SECOND = TRUTH & (_chance(15) < 0.5), TRUTH & (_chance(16) < 0.5)

PREVALENCE = float(TRUTH.mean())
HIDDEN = float(TRUTH[np.isnan(FAIR)].mean())
PURITY = float(TRUTH[IMPURE == 1].mean())


@cache
def make_reviews(share: float, times: int = 1) -> uc.Reviews:
    """Return verdicts on a part of the rows without a label, drawn at random from four strata.

    With every row `times` as often, all copies of a reviewed row are reviewed.
    """
    pool = np.flatnonzero(np.isnan(FAIR))
    edges = np.sort(np.quantile(SCORE[pool], [0, 0.4, 0.7, 0.9], method="lower"))[::-1]
    stratum = np.minimum(np.searchsorted(-edges, -SCORE), len(edges) - 1)
    sizes = np.bincount(stratum[pool])
    in_order = pool[np.argsort(_chance(17)[pool])]
    drawn = np.concatenate(
        [in_order[stratum[in_order] == k][: round(share * size)] for k, size in enumerate(sizes)]
    )
    place = np.repeat(drawn, times)
    order = stratum[place]
    design = uc.ReviewDesign(edges, times * sizes, order, HIDDEN, goal=("f1",), threshold=THRESHOLD)
    rows = times * place + np.tile(np.arange(times), len(drawn))
    return uc.Reviews(rows, TRUTH[place].astype(int), SCORE[place], order, design)
