"""The share of positives from labels of both classes, without irreducibility."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, warn
from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.inputs import MIN_LABELS

N_STEPS = 3


@estimator
class TwoLabels(ScoreEstimator):
    """Estimate the share of positives where some negatives are known too.

    Unlabeled rows are a mixture of positives and negatives, so their AUC against the known
    negatives is the same mixture of AUC(P, N) and one half, and so is that of the known positives
    against them: a = (AUC(U, N) - ½) / (AUC(P, N) - ½) and
    1 - a = (AUC(P, U) - ½) / (AUC(P, N) - ½), exactly. The two are averaged with the weights that
    make the variance least. Where positives are rare and well apart nearly all of the weight goes
    to the second, whose reference, the positives, tells little of one negative from another.

    Attributes
    ----------
    unlabeled_prevalence_ : float
        Within [0, 1]; ``diagnostics_["raw"]`` is the average of the quotients itself.
    interval_ : Interval
        In closed form (DeLong's components of the three areas, jointly): nothing is resampled.
    diagnostics_ : dict
        ``raw``; ``weight``: of the first quotient; ``auc_positive_negative``.

    Notes
    -----
    Assumes: labelled positives and labelled negatives are random samples of their classes. No
    scores that only positives reach are needed.
    Wrong when: the known negatives are easier (or harder) than the hidden ones.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import TwoLabels
    >>> rng = np.random.default_rng(0)
    >>> score = np.concatenate([rng.normal(1, 1, 700), rng.normal(0, 1, 1000)])
    >>> y = np.repeat([1, -1, 0], [400, 1000, 300])  # 300 of the 1,000 unlabeled are positive
    >>> two = TwoLabels().fit(y, score, unlabeled=-1)
    >>> round(two.unlabeled_prevalence_, 1), 0.3 in two.interval_
    (0.3, True)
    """

    _by_order = True
    _needs = ("random labels of both classes",)
    _judges_scores = False

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        if counts.effective_size("negative") < MIN_LABELS:
            raise InputError(
                f"TwoLabels needs at least {MIN_LABELS} labelled negatives;"
                f" got {counts.n_negative:g}: use Consensus when there are none"
            )
        areas = Areas.of(counts)
        if areas.positive_negative <= 0:
            raise InputError(
                "the scores must put labelled positives above labelled negatives; their AUC is"
                f" {areas.positive_negative + 0.5:.3f}"
            )
        weights, raw, error = areas.average(counts)
        reach = float(ndtri((1 + self.confidence_level) / 2)) * error
        if not -reach <= raw <= 1 + reach:
            warn(
                MisfitWarning(
                    f"the quotient of areas is {raw:.3f}, outside [0, 1] by more than noise: the"
                    " labels are not random samples of their classes"
                ),
                stacklevel=4,
            )
        value, low, high = np.clip([raw, raw - reach, raw + reach], 0, 1).tolist()
        return Fitted(
            value,
            interval=Interval(low, high),
            standard_error=error,
            diagnostics={
                "raw": raw,
                "weight": float(weights[0]),
                "auc_positive_negative": areas.positive_negative + 0.5,
            },
        )


@dataclass(frozen=True)
class Areas:
    """Hold three AUCs less one half, and the shares of each class above and below each cell.

    Attributes
    ----------
    unlabeled_negative, positive_unlabeled, positive_negative : float
    above, below : dict
        Of each class; cells have half of their own weight on either side.
    """

    unlabeled_negative: float
    positive_unlabeled: float
    positive_negative: float
    above: dict[str, FloatArray]
    below: dict[str, FloatArray]

    @classmethod
    def of(cls, counts: ScoreCounts) -> "Areas":
        """Look at the counts, whose cells run from the top down."""
        cells = {name: getattr(counts, name) for name in ("positive", "negative", "unlabeled")}
        above = {name: _shares_before(shares) for name, shares in cells.items()}
        below = {name: 1 - shares for name, shares in above.items()}
        return cls(
            _mean(below["negative"], counts.unlabeled) - 0.5,
            _mean(below["unlabeled"], counts.positive) - 0.5,
            _mean(below["negative"], counts.positive) - 0.5,
            above,
            below,
        )

    def average(self, counts: ScoreCounts) -> tuple[FloatArray, float, float]:
        """Return the weights of the two quotients, their average and its standard error."""
        quotients = np.array([self.unlabeled_negative, 0.0]) / self.positive_negative
        quotients[1] = 1 - self.positive_unlabeled / self.positive_negative
        weights, error = np.array([0.5, 0.5]), 0.0
        for _ in range(N_STEPS):  # the variances depend on the share
            share = float(np.clip(weights @ quotients, 0, 1))
            covariance = self._covariance(counts, share) / self.positive_negative**2
            weights = _least_variance(covariance)
            error = math.sqrt(max(float(weights @ covariance @ weights), 0.0))
        return weights, float(weights @ quotients), error

    def _covariance(self, counts: ScoreCounts, share: float) -> FloatArray:
        """Return the covariance of AUC(U, N) - a AUC(P, N) and (1 - a) AUC(P, N) - AUC(P, U)."""
        above, below = self.above, self.below
        components = {
            "unlabeled": (below["negative"], -above["positive"]),
            "positive": (
                -share * below["negative"],
                (1 - share) * below["negative"] - below["unlabeled"],
            ),
            "negative": (
                above["unlabeled"] - share * above["positive"],
                (1 - share) * above["positive"],
            ),
        }
        covariance = np.zeros((2, 2))
        for name, values in components.items():
            covariance += np.cov(np.stack(values), aweights=getattr(counts, name), ddof=0) / (
                counts.effective_size(name) - 1
            )
        return covariance


def _least_variance(covariance: FloatArray) -> FloatArray:
    """Return weights in [0, 1], adding up to 1, of least variance."""
    (first, both), (_, second) = covariance
    spread = first + second - 2 * both  # variance of the difference
    weight = 0.5 if spread <= 0 else float(np.clip((second - both) / spread, 0, 1))
    return np.array([weight, 1 - weight])


def _shares_before(cells: FloatArray) -> FloatArray:
    """Return the share of the weight in earlier cells, own cell half."""
    return np.asarray((np.cumsum(cells) - cells / 2) / cells.sum())


def _mean(values: FloatArray, weights: FloatArray) -> float:
    return float(values @ weights / weights.sum())
