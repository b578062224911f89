"""Consensus: the default estimate, combining methods that fail differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, ScoreEstimator
from undercount.prevalence.consensus.evidence import EDGE, LARGEST, gather
from undercount.prevalence.networks import load_quantile_net
from undercount.prevalence.upper_bound import effective_sizes

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.curve import FloatArray

FILE = "consensus/consensus.json"
# Chosen by trial on synthetic problems and five real sets: beyond these limits the mean error of
# the real ones was .06 to .08, within them .03.
WIDEST = 0.4
LEAST_AUC = 0.85
# Quantiles shy away from the ends, where few simulated truths lie.
LOW_END, HIGH_END = 0.015, 0.9
TINY = 1e-3


class Consensus(ScoreEstimator):
    """Estimate the share of positives by a model of how six methods err together.

    DEDPUL (with and without its monotone step), best bin, ROC slope, AlphaMax and Patra-Sen are
    run on the ranks of the scores. Each errs in its own way, depending on the sizes and on how far
    the classes overlap. Small neural networks, trained on simulated problems of known truth
    (out-of-fold scores of classifiers on simulated features, and normal, uniform, beta and
    logistic scores, mixtures, noisy scores, ties; fitted to no real data), read the six answers,
    the ROC of labelled against unlabeled rows, what a binormal ROC would say, and the sizes, and
    answer with the median and quantiles of the true share given all that. Beyond the sizes that
    were simulated the answer, where identified, goes over to that of DEDPUL, which more rows keep
    sharpening.

    Parameters
    ----------
    sampling, confidence_level, n_resamples, random_state
        As in every prevalence estimator; the interval comes from the network, so nothing is
        resampled.

    Attributes
    ----------
    unlabeled_prevalence_ : float
    interval_ : Interval
        Quantiles of the true share among simulated problems that look like this one: it holds
        what sampling noise and the methods' biases leave open.
    upper_bound_ : float
        Largest feasible share: the distribution-free upper confidence bound of the ROC slope.
    diagnostics_ : dict
        ``estimates``: each method's answer; ``range``: smallest and largest of them; ``spread``:
        their difference; ``outside``: whether the estimate lies outside that range (the network
        then corrects a bias that all six share; say so where the number is shown);
        ``identified``: False when the central 90 % of the quantiles span more than .40 or the
        implied AUC of positives against negatives is under .85: the data do not settle the share.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and some scores are reached by positives
    only, or nearly.
    Wrong when: labels prefer some positives (then all methods err alike and no agreement shows
    it), or negatives that look like positives at every score are common.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import Consensus
    >>> rng = np.random.default_rng(0)
    >>> score = np.concatenate([rng.normal(4, 1, 700), rng.normal(0, 1, 700)])
    >>> y = np.where(np.arange(1400) < 400, 1, -1)  # 300 of the 1,000 unlabeled are positive
    >>> consensus = Consensus().fit(y, score, unlabeled=-1)
    >>> round(consensus.unlabeled_prevalence_, 1), 0.3 in consensus.interval_
    (0.3, True)
    >>> consensus.diagnostics_["identified"]
    True
    """

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        evidence, net = gather(counts), load_quantile_net(FILE)
        quantiles = net.quantiles(evidence.inputs)
        tail = (1 - self.confidence_level) / 2
        ends = np.array([net.at(quantiles, level) for level in (tail, 0.5, 1 - tail)])
        width = net.at(quantiles, 0.95) - net.at(quantiles, 0.05)
        auc = 0.5 + (counts.auc("positive", "unlabeled") - 0.5) / max(1 - ends[1], TINY)
        identified = bool(width <= WIDEST and auc >= LEAST_AUC)
        sizes = effective_sizes(counts)
        if identified:
            ends = _sharpen(ends, evidence.estimates["Dedpul"], sizes)
        # No share is known better than the unlabeled rows, each looked at, would tell it.
        noise = ndtri(1 - tail) * np.sqrt(ends[1] * (1 - ends[1]) / sizes[1])
        low, high = min(ends[0], ends[1] - noise), max(ends[2], ends[1] + noise)
        bound = 1.0 if evidence.upper_bound is None else evidence.upper_bound
        value = float(min(ends[1], bound))  # with many rows the bound may be the sharper of the two
        interval = _reach_ends(low, high, value, bound)
        least, most = min(evidence.estimates.values()), max(evidence.estimates.values())
        return Fitted(
            value,
            interval=interval,
            upper_bound=evidence.upper_bound,
            diagnostics={
                "estimates": evidence.estimates,
                "range": (least, most),
                "spread": most - least,
                "outside": not least <= value <= most,
                "identified": identified,
            },
        )


def _sharpen(ends: FloatArray, other: float, sizes: tuple[float, float]) -> FloatArray:
    """Move the networks' interval and median towards another share, beyond the simulated sizes.

    Up to those they stay as they are; beyond, their weight falls with the root of the rows.
    """
    simulated, here = (m * n / (m + n) for m, n in (LARGEST, sizes))
    if here <= simulated:
        return ends
    places = logit(np.clip([*ends, other], EDGE, 1 - EDGE))
    shift = (1 - np.sqrt(simulated / here)) * (places[-1] - places[1])
    return np.asarray(expit(places[:-1] + shift))


def _reach_ends(low: float, high: float, value: float, bound: float) -> Interval:
    """Let an interval reach to 0 or 1 where it comes close, stop at the bound, hold the value."""
    low = 0.0 if low < LOW_END else low
    high = 1.0 if high > HIGH_END else high
    return Interval(float(min(low, value)), float(max(min(high, bound), value)))
