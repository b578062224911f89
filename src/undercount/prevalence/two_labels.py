"""The share of positives from labels of both classes, without irreducibility."""

import numpy as np
from scipy.special import ndtri

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, warn
from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.inputs import MIN_LABELS


@estimator
class TwoLabels(ScoreEstimator):
    """Estimate the share of positives where some negatives are known too.

    Unlabeled rows are a mixture of positives and negatives, so their AUC against the known
    negatives is the same mixture of AUC(P, N) and one half:
    a = (AUC(U, N) - ½) / (AUC(P, N) - ½) exactly.

    Attributes
    ----------
    unlabeled_prevalence_ : float
        Within [0, 1]; ``diagnostics_["raw"]`` is the quotient itself.
    interval_ : Interval
        In closed form (DeLong's components of both areas, jointly): nothing is resampled.

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

    _needs = ("random labels of both classes",)
    _judges_scores = False

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        if counts.effective_size("negative") < MIN_LABELS:
            raise InputError(
                f"TwoLabels needs at least {MIN_LABELS} labelled negatives;"
                f" got {counts.n_negative:g}: use Consensus when there are none"
            )
        below = _above(counts.negative[::-1])[::-1]  # share of negatives below, ties half
        unlabeled_area = float(counts.unlabeled @ below) / counts.n_unlabeled - 0.5
        positive_area = float(counts.positive @ below) / counts.n_positive - 0.5
        if positive_area <= 0:
            raise InputError(
                "the scores must put labelled positives above labelled negatives; their AUC is"
                f" {positive_area + 0.5:.3f}"
            )
        ratio = unlabeled_area / positive_area
        error = _error(counts, below, ratio) / positive_area
        reach = float(ndtri((1 + self.confidence_level) / 2)) * error
        if not -reach <= ratio <= 1 + reach:
            warn(
                MisfitWarning(
                    f"the quotient of areas is {ratio:.3f}, outside [0, 1] by more than noise: the"
                    " labels are not random samples of their classes"
                ),
                stacklevel=4,
            )
        value, low, high = np.clip([ratio, ratio - reach, ratio + reach], 0, 1).tolist()
        return Fitted(
            value,
            interval=Interval(low, high),
            standard_error=error,
            diagnostics={"raw": ratio, "auc_positive_negative": positive_area + 0.5},
        )


def _above(cells: FloatArray) -> FloatArray:
    """Return the share of the weight in earlier cells, own cell half."""
    return np.asarray((np.cumsum(cells) - cells / 2) / cells.sum())


def _error(counts: ScoreCounts, below: FloatArray, ratio: float) -> float:
    """Return the standard error of AUC(U, N) - ratio · AUC(P, N)."""
    lift = _above(counts.unlabeled) - ratio * _above(counts.positive)
    variance = (
        _variance(below, counts.unlabeled) / counts.effective_size("unlabeled")
        + ratio**2 * _variance(below, counts.positive) / counts.effective_size("positive")
        + _variance(lift, counts.negative) / counts.effective_size("negative")
    )
    return float(np.sqrt(variance))


def _variance(values: FloatArray, weights: FloatArray) -> float:
    mean = weights @ values / weights.sum()
    return float(weights @ (values - mean) ** 2 / weights.sum())
