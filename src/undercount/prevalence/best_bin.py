"""Best-bin estimation (BBE): the head where ratio plus penalty is smallest (Garg et al. 2021)."""

import numpy as np

from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.upper_bound import effective_sizes, head_shares


@estimator
class BestBin(ScoreEstimator):
    """Estimate the share of positives in the head that trades bias against noise best.

    At each threshold the ratio q_U / q_L of head shares bounds the share of positives from above,
    up to noise of order 1 / q_L. The threshold with the smallest ratio plus penalty is taken, and
    the ratio there is the estimate (Garg et al. 2021, Algorithm 1).

    Parameters
    ----------
    risk : float
        δ of the penalty; ``upper_bound_`` holds with probability 1 - δ.
    slack : float
        γ of the penalty.

    Attributes
    ----------
    upper_bound_ : float
        The smallest ratio plus penalty (distribution-free, by the DKW inequality).

    Notes
    -----
    Assumes: labels are a random sample of the positives, and nearly only positives reach the top.
    Wrong when: negatives reach the highest scores; the estimate is then too high.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan, Lipton (2021), Mixture proportion estimation and PU learning.
    """

    _by_order = True

    risk: float = 0.1
    slack: float = 0.01

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        if not 0 < self.risk < 1 or self.slack < 0:
            raise InputError(
                "risk must lie in (0, 1) and slack must not be negative;"
                f" got {self.risk} and {self.slack}"
            )
        threshold, labelled, unlabeled = head_shares(counts)
        m, n = effective_sizes(counts)
        noise = np.sqrt(np.log(4 / self.risk) / 2) * (n**-0.5 + m**-0.5)
        penalised = (unlabeled + (1 + self.slack) * noise) / labelled
        best = int(np.argmin(penalised))
        return Fitted(
            min(1.0, float(unlabeled[best] / labelled[best])),
            upper_bound=min(1.0, float(penalised[best])),
            diagnostics={"threshold": float(threshold[best]), "head": float(labelled[best])},
        )
