"""DistCurve: the share of positives from distances of greedy matching [Zeiberg 2020]."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from undercount.prevalence.base import Fitted, ScoreEstimator
from undercount.prevalence.matching import Array, matching_curve
from undercount.prevalence.ranks import merged, ranked_shares
from undercount.prevalence.resampling import resampled_counts

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts

N_RUNS = 10
# Distances shrink with more rows, so that the regression would have to know their number: from
# here on evenly spaced quantiles stand for the rows, in training and in use.
MAX_ROWS = 2000
# Keeps the logarithm of a match finite: a hundredth of the curve's mean.
FLOOR = 1e-4


def ranked_curve(
    counts: ScoreCounts, rng: np.random.Generator, *, n_runs: int = N_RUNS, max_rows: int = MAX_ROWS
) -> Array:
    """Return the matching curve of scores on the balanced mid-rank scale.

    Parameters
    ----------
    counts : ScoreCounts
    rng : numpy.random.Generator
    n_runs : int
        Matchings averaged.
    max_rows : int
        More unlabeled rows (or weighted ones) are represented by evenly spaced quantiles.

    Returns
    -------
    ndarray of length 100

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
    shares = ranked_shares(counts)
    width = (shares.labelled + shares.unlabeled) / 2
    sizes = [
        int(min(max_rows, max(1, round(size)))) for size in (shares.n_labelled, shares.n_unlabeled)
    ]
    labelled, unlabeled = (
        _spread_rows(shares.rank - width / 2, width, share, size)
        for share, size in zip((shares.labelled, shares.unlabeled), sizes, strict=True)
    )
    draws = rng.integers(sizes[0], size=(n_runs, sizes[1]))
    return matching_curve(labelled, unlabeled, draws)


def _spread_rows(low: Array, width: Array, share: Array, n_rows: int) -> Array:
    """Return n rows at evenly spaced levels: the sample itself when each row has weight 1/n.

    Tied rows are spread over the ranks that their tie covers, so ties and bins leave the curve
    smooth; a row without a tie sits in the middle, at its mid-rank.
    """
    level = (np.arange(n_rows) + 0.5) / n_rows
    edge = np.concatenate([[0.0], np.cumsum(share)])
    cell = np.flatnonzero(share)
    at = cell[np.minimum(np.searchsorted(edge[cell + 1], level), cell.size - 1)]
    return np.asarray(low[at] + width[at] * np.clip((level - edge[at]) / share[at], 0, 1))


def curve_inputs(curve: Array) -> Array:
    """Return what the regression reads: the curve's logarithm."""
    return np.asarray(np.log(curve + FLOOR))


class _Regression(NamedTuple):
    """What standardises the inputs, and networks (layers of weights and biases) to average."""

    centre: Array
    spread: Array
    networks: tuple[tuple[tuple[Array, Array], ...], ...]


@cache
def _trained() -> _Regression:
    text = files("undercount.prevalence").joinpath("distance_curve.json").read_text("utf-8")
    values = json.loads(text)
    networks = tuple(
        tuple((np.array(weight), np.array(bias)) for weight, bias in network)
        for network in values["networks"]
    )
    return _Regression(np.array(values["centre"]), np.array(values["spread"]), networks)


def share_of_curve(curve: Array) -> float:
    """Return the share of positives that the trained regression reads off a curve."""
    trained = _trained()
    inputs = (curve_inputs(curve) - trained.centre) / trained.spread
    answers = []
    for network in trained.networks:
        values = inputs
        for weight, bias in network[:-1]:
            values = np.tanh(values @ weight + bias)
        weight, bias = network[-1]
        answers.append(values @ weight + bias)
    return float(np.clip(np.mean(answers), 0, 1))


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
    sampling, confidence_level, n_resamples, random_state
        As in every estimator here.

    Attributes
    ----------
    unlabeled_prevalence_ : float
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

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import DistCurve
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1.0, np.nan], [200, 1000])
    >>> score = rng.normal(np.where(np.arange(1200) < 500, 4, 0))  # 300 of 1000 are positive
    >>> found = DistCurve(n_resamples=0, random_state=0).fit(y, score)
    >>> round(found.unlabeled_prevalence_, 1)
    0.3
    """

    def __init__(
        self,
        *,
        n_runs: int = N_RUNS,
        sampling: str = "single-sample",
        confidence_level: float = 0.95,
        n_resamples: int = 100,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            sampling=sampling,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        self.n_runs = n_runs

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        rng = self._rng()
        curve = ranked_curve(counts, rng, n_runs=self.n_runs)
        return Fitted(share_of_curve(curve), diagnostics={"curve": curve})

    def _resample(self, counts: ScoreCounts) -> Array:
        """Return estimates on resampled counts, the matching drawn anew each time."""
        rng, cells = self._rng(), merged(counts, self._resample_cells)
        found = []
        for _ in range(self.n_resamples):
            drawn = resampled_counts(cells, rng, self.sampling)
            curve = ranked_curve(drawn, rng, n_runs=self.n_runs)
            found.append(share_of_curve(curve))
        return np.array(found)
