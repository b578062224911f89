"""Consensus: the default estimate, combining methods that fail differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, ScoreEstimator
from undercount.prevalence.consensus.correction import (
    BASE_PLACE,
    LARGEST_SIZES,
    LEAST_CORRECTED_SHARE,
    Correction,
    gather_relative,
    head_rise,
    load_correction,
)
from undercount.prevalence.consensus.doubts import find_doubt, open_ends
from undercount.prevalence.low_end import lower_end
from undercount.prevalence.upper_bound import effective_sizes

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.curve import FloatArray

WIDEST_SETTLED = 0.4
# Classes overlap too much under this AUC of theirs, unless the top of the scores is flat: then
# some positives score like negatives and the others are well apart.
LEAST_AUC, FLAT_HEAD_RISE = 0.85, 0.2
LEAST_NEGATIVE_SHARE = 1e-3
# A correction is made only as far as it exceeds this part of half its interquartile range: on
# simulated problems small corrections of uncertain sign cost more than they gain.
LEAST_CORRECTION = 0.6
# Quantiles shy away from 1, where few simulated truths lie.
CONSENSUS_HIGH_END = 0.95


class Consensus(ScoreEstimator):
    """Estimate the share of positives by a model of how six methods err together.

    DEDPUL (with and without its monotone step), best bin, ROC slope, AlphaMax and Patra-Sen are
    run on the ranks of the scores. A robust answer is taken from them: DEDPUL's, unless ROC slope
    and Patra-Sen both lie below it. Small neural networks, trained on simulated problems of known
    truth (scores of many shapes, some with positives that score like negatives, shares down to
    .0005; out-of-fold scores of classifiers on simulated features; fitted to no real data), read
    the six answers, the ROC of labelled against unlabeled rows and the sizes, and answer with the
    median and quantiles of the distance of the truth from the robust answer, in log odds. A
    correction that is not surer than its own spread is not made, and one for scores unlike the
    simulated ones is made in part. Beyond the sizes that were simulated the answer, where
    identified, goes over to that of DEDPUL, which more rows keep sharpening.

    Parameters
    ----------
    sampling, confidence_level, n_resamples, random_state
        As in every prevalence estimator; the interval comes from the network, so nothing is
        resampled.

    Attributes
    ----------
    unlabeled_prevalence_ : float
    interval_ : Interval
        Quantiles of the true share among simulated problems that look like this one: what
        sampling noise and the methods' biases leave open. Scores bound the share from above
        only, so the low end is lowered by four tenths of the overlap of the classes; it is 0
        where these overlap much, and ``unlabeled_prevalence_`` then is no estimate to report.
    upper_bound_ : float
        Largest feasible share: the distribution-free upper confidence bound of the ROC slope.
    diagnostics_ : dict
        ``estimates``: each method's answer; ``range``: smallest and largest of them; ``spread``:
        their difference; ``outside``: whether the estimate lies outside that range (the network
        then corrects a bias that all six share; say so where the number is shown);
        ``identified``: False when the data do not settle the share; ``doubt`` says why.
        "overlap": the central 90 % of the quantiles span more than .40, or the implied AUC of
        positives against negatives is under .85 and the top of the scores does not look like
        positives alone. "ties": more than half of the labelled rows share one score.
        "overtaken": unlabeled rows stand above the upper half of the labelled ones. "many":
        less than one positive in twenty would carry a label (one in seven at a share below
        .15; single-sample only). In these three cases the interval begins at 0.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and some scores are reached by positives
    only, or nearly.
    Wrong when: labels prefer some positives (then all methods err alike and no agreement shows
    it), or negatives that look like positives at every score are common: the answer then is the
    share of rows that look like positives, too high.

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

    _by_order = True

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        evidence, net = gather_relative(counts), load_correction()
        quantiles = net.quantiles(evidence.inputs)
        tail = (1 - self.confidence_level) / 2
        ends = _correct(evidence.inputs, net, quantiles, (tail, 1 - tail))
        narrow = _correct(evidence.inputs, net, quantiles, (0.05, 0.95))
        auc = 0.5 + (counts.auc("positive", "unlabeled") - 0.5) / max(
            1 - ends[1], LEAST_NEGATIVE_SHARE
        )
        apart = auc >= LEAST_AUC or head_rise(evidence.inputs) <= FLAT_HEAD_RISE
        settled = bool(narrow[2] - narrow[0] <= WIDEST_SETTLED and apart)
        sizes = effective_sizes(counts)
        if settled:
            ends = _sharpen(ends, evidence.estimates["Dedpul"], sizes)
        # No share is known better than the unlabeled rows, each looked at, would tell it.
        noise = ndtri(1 - tail) * np.sqrt(ends[1] * (1 - ends[1]) / sizes[1])
        low, high = min(ends[0], ends[1] - noise), max(ends[2], ends[1] + noise)
        bound = 1.0 if evidence.upper_bound is None else evidence.upper_bound
        value = float(min(ends[1], bound))  # with many rows the bound may be the sharper of the two
        doubt = find_doubt(counts, value, self.sampling)
        low, high = open_ends(lower_end(low, counts), high, doubt, bound)
        least, most = min(evidence.estimates.values()), max(evidence.estimates.values())
        return Fitted(
            value,
            interval=_reach_ends(low, high, value, bound, sizes[1]),
            upper_bound=evidence.upper_bound,
            diagnostics={
                "estimates": evidence.estimates,
                "range": (least, most),
                "spread": most - least,
                "outside": not least <= value <= most,
                "identified": settled and not doubt,
                "doubt": doubt or ("" if settled else "overlap"),
            },
        )


def _correct(
    inputs: FloatArray, net: Correction, quantiles: FloatArray, levels: tuple[float, float]
) -> FloatArray:
    """Return low end, answer and high end: the robust answer, corrected as far as that is sure."""
    base, likeness = inputs[BASE_PLACE], net.likeness(inputs)
    quarters = [net.at(quantiles, level) for level in (0.25, 0.75)]
    middle, doubt = net.at(quantiles, 0.5), LEAST_CORRECTION * (quarters[1] - quarters[0]) / 2
    moved = likeness * np.sign(middle) * max(abs(middle) - doubt, 0.0)
    low, high = (net.at(quantiles, level) for level in levels)
    if likeness < 1:  # the robust answer may be right as well
        low, high = min(low, 0.0), max(high, 0.0)
    return np.asarray(expit(base + np.array([min(low, moved), moved, max(high, moved)])))


def _sharpen(ends: FloatArray, other: float, sizes: tuple[float, float]) -> FloatArray:
    """Move the networks' interval and median towards another share, beyond the simulated sizes.

    Up to those they stay as they are; beyond, their weight falls with the root of the rows.
    """
    simulated, here = (m * n / (m + n) for m, n in (LARGEST_SIZES, sizes))
    if here <= simulated:
        return ends
    places = logit(np.clip([*ends, other], LEAST_CORRECTED_SHARE, 1 - LEAST_CORRECTED_SHARE))
    shift = (1 - np.sqrt(simulated / here)) * (places[-1] - places[1])
    return np.asarray(expit(places[:-1] + shift))


def _reach_ends(low: float, high: float, value: float, bound: float, n_rows: float) -> Interval:
    """Let an interval reach to 0 or 1 where it comes close, stop at the bound, hold the value."""
    low = 0.0 if low * n_rows < 1 else low
    high = 1.0 if high > CONSENSUS_HIGH_END else high
    return Interval(float(min(low, value)), float(max(min(high, bound), value)))
