"""NoisyConsensus: share and purity together, from the evidence of both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, ScoreEstimator
from undercount.prevalence.consensus.doubts import find_doubt, open_ends
from undercount.prevalence.consensus.evidence import Evidence, gather
from undercount.prevalence.low_end import lower_end
from undercount.prevalence.networks import load_quantile_net
from undercount.prevalence.noisy_composition import check_both_ways, swap_roles

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.curve import FloatArray

NOISY_FILE = "consensus/noisy.json"
SHARE, PURITY = 0, 1  # places of the two answers in the file
WIDEST_SETTLED = 0.4
LEAST_PURITY_GAP = 0.01  # between purity and share: nothing is recovered without one
# Quantiles shy away from the ends, where few simulated truths lie.
LOW_END, NOISY_HIGH_END = 0.03, 0.97
# Answers near the ends of what was simulated (purity .55, gap .08) may lie beyond them.
TRUSTED_PURITY, TRUSTED_GAP = 0.65, 0.15


class NoisyConsensus(ScoreEstimator):
    """Estimate share and purity by a model of how six methods err in both directions.

    The six methods of `Consensus` are run with the unlabeled rows as the mixture, which tells
    about a/κ, and with the roles swapped, which tells about (1-κ)/(1-a), the two runs of
    `NoisyComposition`. Small neural networks, trained on simulated problems of known truth with
    wrong labels, read all answers and both ROC curves and answer with quantiles of the share a
    and of the purity κ.

    Parameters
    ----------
    sampling, confidence_level, n_resamples, random_state
        As in every prevalence estimator; intervals come from the network, so nothing is
        resampled.

    Attributes
    ----------
    unlabeled_prevalence_, label_purity_ : float
        The share is kept .01 or more below the purity: without a gap nothing is recovered.
    interval_ : Interval
        Of the share: quantiles among simulated problems that look like this one.
    diagnostics_ : dict
        ``label_purity_interval``; ``estimates``: each method's answer in the two runs;
        ``identified``: False when the central 90 % of the quantiles of share or purity span more
        than .40, the purity is below .65, or it exceeds the share by less than .15: the data do
        not settle them, or lie at the end of what was simulated.
    upper_bound_ : float
        Largest feasible share, as in `Consensus`; neither share nor interval passes it.

    Notes
    -----
    Assumes: labelled rows are drawn at random from positives (share κ) and negatives (the rest);
    some scores belong to positives only, others to negatives only, or nearly; most labels are
    right (purities above .55 were simulated, with 40 labels or more).
    Wrong when: labelling errors prefer some negatives, such as those that look positive, or labels
    prefer some positives; no run can see either.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import NoisyConsensus
    >>> rng = np.random.default_rng(0)
    >>> labelled = [rng.normal(4, 1, 450), rng.normal(0, 1, 50)]  # one label in ten is wrong
    >>> score = np.concatenate([*labelled, rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> y = np.repeat([1, -1], [500, 1000])
    >>> noisy = NoisyConsensus().fit(y, score, unlabeled=-1)
    >>> round(noisy.unlabeled_prevalence_, 1), round(noisy.label_purity_, 1)
    (0.3, 0.9)
    >>> 0.3 in noisy.interval_, 0.9 in noisy.diagnostics_["label_purity_interval"]
    (True, True)
    """

    _by_order = True

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        evidence = gather_noisy(counts)
        bound = 1.0 if evidence.upper_bound is None else evidence.upper_bound
        share, interval, share_width = self._read(SHARE, evidence.inputs)
        purity, purity_interval, purity_width = self._read(PURITY, evidence.inputs)
        share = max(0.0, min(share, purity - LEAST_PURITY_GAP, bound))
        doubt = find_doubt(counts, share, self.sampling)
        low = lower_end(interval.low, counts, purity)
        low, high = open_ends(low, interval.high, doubt, bound)
        ends = min(low, share), max(min(high, bound), share)
        settled = max(share_width, purity_width) <= WIDEST_SETTLED
        inside = purity >= TRUSTED_PURITY and purity - share >= TRUSTED_GAP
        return Fitted(
            share,
            interval=Interval(*ends),
            upper_bound=evidence.upper_bound,
            label_purity=purity,
            diagnostics={
                "label_purity_interval": purity_interval,
                "estimates": evidence.estimates,
                "identified": settled and inside and not doubt,
                "doubt": doubt or ("" if settled and inside else "overlap"),
            },
        )

    def _read(self, place: int, inputs: FloatArray) -> tuple[float, Interval, float]:
        """Return median, interval and the width of the central 90 %."""
        net = load_quantile_net(NOISY_FILE, place)
        quantiles = net.quantiles(inputs)
        tail = (1 - self.confidence_level) / 2
        low, high = net.at(quantiles, tail), net.at(quantiles, 1 - tail)
        interval = Interval(0.0 if low < LOW_END else low, 1.0 if high > NOISY_HIGH_END else high)
        width = net.at(quantiles, 0.95) - net.at(quantiles, 0.05)
        return net.at(quantiles, 0.5), interval, width


def gather_noisy(counts: ScoreCounts) -> Evidence:
    """Gather the evidence with labelled rows as the component, then with the roles swapped."""
    check_both_ways(counts)
    first, second = gather(counts), gather(swap_roles(counts))
    estimates = {f"a1 {name}": value for name, value in first.estimates.items()}
    estimates |= {f"a2 {name}": value for name, value in second.estimates.items()}
    return Evidence(estimates, np.concatenate([first.inputs, second.inputs]), first.upper_bound)
