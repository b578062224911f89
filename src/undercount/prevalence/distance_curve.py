"""DistCurve: the share of positives from distances of greedy matching [Zeiberg 2020]."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.networks import TrainedNetworks
from undercount.prevalence.ranks import rank_shares
from undercount.prevalence.upper_bound import effective_sizes

N_PERCENTILES = 100
N_RUNS = 10
# Distances shrink with more rows, so that the regression would have to know their number: from
# here on evenly spaced quantiles stand for the rows, in training and in use.
MAX_ROWS = 2000
# Keeps the logarithm of a match finite: a hundredth of the curve's mean.
LEAST_MATCH = 1e-4


def ranked_curve(
    counts: ScoreCounts, rng: np.random.Generator, *, n_runs: int = N_RUNS, max_rows: int = MAX_ROWS
) -> FloatArray:
    """Return the matching curve of scores on the balanced mid-rank scale, the mean of `n_runs`.

    More than `max_rows` unlabeled rows (or weighted ones) are represented by evenly spaced
    quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> from undercount.prevalence.distance_curve import ranked_curve
    >>> counts = uc.ScoreCounts.from_counts([2.0, 1.0], [50, 0], [0, 0], [40, 60])
    >>> curve = ranked_curve(counts, np.random.default_rng(0))
    >>> bool(curve[30] < curve[45] / 3)  # 40 % of the unlabeled find a near match
    True
    """
    shares = rank_shares(counts)
    width = (shares.labelled + shares.unlabeled) / 2
    sizes = [int(min(max_rows, max(1, round(size)))) for size in effective_sizes(counts)]
    labelled, unlabeled = (
        _spread_rows(shares.rank - width / 2, width, share, size)
        for share, size in zip((shares.labelled, shares.unlabeled), sizes, strict=True)
    )
    draws = rng.integers(sizes[0], size=(n_runs, sizes[1]))
    return matching_curve(labelled, unlabeled, draws)


def _spread_rows(low: FloatArray, width: FloatArray, share: FloatArray, n_rows: int) -> FloatArray:
    """Return n rows at evenly spaced levels: the sample itself when each row has weight 1/n.

    Tied rows are spread over the ranks that their tie covers, so ties and bins leave the curve
    smooth; a row without a tie sits in the middle, at its mid-rank.
    """
    level = (np.arange(n_rows) + 0.5) / n_rows
    edge = np.concatenate([[0.0], np.cumsum(share)])
    cell = np.flatnonzero(share)
    at = cell[np.minimum(np.searchsorted(edge[cell + 1], level), cell.size - 1)]
    return np.asarray(low[at] + width[at] * np.clip((level - edge[at]) / share[at], 0, 1))


def curve_inputs(curve: FloatArray) -> FloatArray:
    """Return what the regression reads: the curve's logarithm."""
    return np.asarray(np.log(curve + LEAST_MATCH))


@cache
def _load_networks() -> TrainedNetworks:
    return TrainedNetworks.from_file("distance_curve.json")


def share_of_curve(curve: FloatArray) -> float:
    """Return the share of positives that the trained regression reads off a curve."""
    answers = _load_networks().outputs(curve_inputs(curve))
    return float(np.clip(np.mean(answers), 0, 1))


@estimator
class DistCurve(ScoreEstimator):
    """Estimate the share of positives among the unlabeled from a matching curve.

    A labelled score is drawn and takes the nearest unlabeled one that is still free, until none
    is left: hidden positives go first and near, negatives last and far, so the curve of
    distances bends where the positives are used up. A small network, trained on simulated
    problems by ``benchmarks/train_distance_curve.py``, reads the share off the curve
    (Zeiberg, Jain, Radivojac 2020, "Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting"; their network's weights are not used).

    Parameters
    ----------
    n_runs : int
        Matchings averaged into one curve.

    Attributes
    ----------
    interval_ : Interval or None
        Bootstrap of the counts and of the matching: sampling noise only. The network's bias,
        which grows with the overlap of the classes and above shares of .6, is not in it, so it
        often misses the truth; for an interval that means to cover take `Consensus`.
    diagnostics_ : dict
        ``curve``, the 100 percentiles.

    Notes
    -----
    Assumes: labels given at random among the positives, some region without negatives, and class
    shapes like those of the simulations (normal, uniform, beta, logistic).
    Wrong when: the scores separate the classes in steps that the simulations have not; then
    prefer a method without training.
    """

    _by_order = True

    n_runs: int = N_RUNS
    n_resamples: int = 100

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        rng = self._rng()
        curve = ranked_curve(counts, rng, n_runs=self.n_runs)
        return Fitted(share_of_curve(curve), diagnostics={"curve": curve})

    def _resampling_method(self, _counts: ScoreCounts, rng: np.random.Generator) -> ScoreEstimator:
        """Return the same method with a running generator: each resample is matched anew."""
        return DistCurve(n_runs=self.n_runs, random_state=rng)


def match_distances(
    labelled: FloatArray, unlabeled: FloatArray, draws: NDArray[np.integer]
) -> FloatArray:
    """Return the distance of each drawn labelled point to the nearest unlabeled one still free.

    Parameters
    ----------
    labelled : ndarray
    unlabeled : ndarray, ascending
    draws : ndarray of int
        Which labelled point is drawn; one draw for each unlabeled point.

    Notes
    -----
    A union-find forest over the gaps between neighbouring free points: taking a point merges the
    gaps on both its sides, and a gap knows the free points at its ends, so a curve costs almost
    constant time a draw. A tie between both sides takes the lower one.
    """
    place: list[float] = [-np.inf, *unlabeled.tolist(), np.inf]
    # Gap g ends below at point g - 1 and above at point g.
    parent = list(range(len(place) + 1))
    below, above = [gap - 1 for gap in parent], parent.copy()
    start = (np.searchsorted(unlabeled, labelled) + 1)[draws].tolist()
    distances = []
    for point, first in zip(labelled[draws].tolist(), start, strict=True):
        gap = first
        while parent[gap] != gap:  # path halving
            parent[gap] = gap = parent[parent[gap]]
        lower, upper = point - place[below[gap]], place[above[gap]] - point
        # The large gap among the taken points stays the root, so paths are short.
        if lower <= upper:
            distances.append(lower)
            side = below[gap]
            while parent[side] != side:
                side = parent[side]
            below[gap] = below[side]
        else:
            distances.append(upper)
            side = above[gap] + 1
            while parent[side] != side:
                side = parent[side]
            above[gap] = above[side]
        parent[side] = gap
    return np.array(distances)


def matching_curve(
    labelled: FloatArray, unlabeled: FloatArray, draws: NDArray[np.integer]
) -> FloatArray:
    """Return the percentiles of the mean matched distances, scaled to sum 1.

    Parameters
    ----------
    labelled, unlabeled : ndarray
    draws : ndarray of int, shape (n_runs, n_unlabeled)

    Returns
    -------
    ndarray of length 100
        Percentiles 0, 1, … 99; zeros when every labelled point meets an equal one.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.distance_curve import matching_curve
    >>> curve = matching_curve(np.array([0.0]), np.array([0.0, 1.0]), np.array([[0, 0]]))
    >>> bool(curve[0] == 0), round(float(curve.sum()), 6)
    (True, 1.0)
    """
    ordered = np.sort(unlabeled)
    mean = np.mean([match_distances(labelled, ordered, run) for run in draws], axis=0)
    curve = np.quantile(mean, np.arange(N_PERCENTILES) / N_PERCENTILES)
    total = curve.sum()
    return np.asarray(curve / total if total > 0 else curve)
