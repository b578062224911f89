"""Areas under curves, and mean losses of scores that are probabilities, each with its interval."""

from undercount.errors import InputError, check_choice
from undercount.estimate import Estimate
from undercount.infer.metric_at import MetricAt
from undercount.read.metrics.indirect import indirect_area
from undercount.read.metrics.metric_function import metric_function
from undercount.read.metrics.metric_input import MetricInput, PartialAreaInput, RocAreaInput


@metric_function(RocAreaInput, 0.875)
def roc_auc(rows: RocAreaInput) -> Estimate:
    """Estimate the area under the ROC curve, P(positive above negative) with ties ½.

    ½ + (A - ½)/(κ - a), A the area of labelled against unlabeled rows (Jain et al. 2017, eq. 4).

    Notes
    -----
    Assumes: labels are random among the positives, and the prevalence is right.
    Wrong when: positives with high scores are labelled more often, or the prevalence is wrong;
    weights that go with the score make the interval cover .93 to .95.

    A direct value above 1 within the chance of the sample is reported as 1 with a
    `MisfitWarning`; beyond it, the prevalence is infeasible and an error names the largest one
    that fits.
    """
    check_choice("method", rows.method, ("direct", "indirect"))
    return rows.estimate_area("roc_auc") if rows.method == "direct" else _indirect_roc_auc(rows)


def _indirect_roc_auc(rows: RocAreaInput) -> Estimate:
    """Estimate the area under the recovered and cleaned curve, which rests on random labels."""
    labels = rows.require_random_labels("the indirect ROC AUC")
    if rows.cluster is not None:
        raise InputError("cluster goes with method='direct'; the other resamples single rows")
    # The cleaned curve depends on which points there are, so all of them are kept.
    counts, shares, estimated = rows.count_rows(MetricAt("roc_auc"), labels, compact=False)
    assert shares is not None  # noqa: S101 - count_rows() has refused a missing prevalence
    estimate = indirect_area(
        counts,
        shares,
        target=rows.target_of(labels),
        confidence_level=rows.confidence_level,
        share_error=rows.share_error,
    )
    return estimate if estimated is None else estimated.leave_open(estimate)


@metric_function(PartialAreaInput)
def partial_roc_auc(rows: PartialAreaInput) -> Estimate:
    """Estimate the area under the ROC curve up to a false-positive rate, on McClish's scale.

    The scale of scikit-learn's ``roc_auc_score(max_fpr=...)``: ½ is chance, 1 perfect.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 0], [5, 4, 3, 2, 1]
    >>> area = uc.metrics.partial_roc_auc(y, score, max_fpr=1, unlabeled=0, label_frequency=1)
    >>> round(area.value, 4)
    0.8333
    """
    return rows.estimate_area("partial_roc_auc", rows.max_fpr)


@metric_function(MetricInput)
def average_precision(rows: MetricInput) -> Estimate:
    """Estimate average precision, precision summed over the steps of recall.

    With pure labels the mean over labelled rows of [1 + (S1 - 1)(P - 1)/(S - 1)]/M1, which is
    exactly unbiased over the choice of the labelled rows; plugging the share of labelled rows in
    for recall is too high by .09 with 40 labels.

    Notes
    -----
    Assumes: labels are random among the positives, and the prevalence is right.
    Wrong when: positives with high scores are labelled more often, or the prevalence is wrong;
    with fewer than 30 labels (a `SmallSampleWarning`) the interval is too narrow; weights that
    grow with the score make it cover .92 to .95. A row of weight 2 is one row, not two.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0] * 40, range(80, 0, -1)
    >>> round(uc.metrics.average_precision(y, score, unlabeled=0, label_frequency=1).value, 4)
    0.5353
    """
    return rows.estimate_area("average_precision")


@metric_function(MetricInput, 0.6875)
def lift_auc(rows: MetricInput) -> Estimate:
    """Estimate the area under recall against the share predicted positive (AUL).

    The mean over labelled rows of the share of rows below them, a row against itself counting ½;
    AUL = π/2 + (1 - π) AUC. A prevalence is not needed with pure labels; given, it narrows the
    interval for these very rows.

    Notes
    -----
    Assumes: labels are random among the positives.
    Wrong when: positives with high scores are labelled more often than others. Not comparable
    between data sets of different prevalence.
    """
    return rows.estimate_area("lift_auc")


@metric_function(MetricInput)
def log_loss(rows: MetricInput) -> Estimate:
    """Estimate the mean negative log-likelihood of the classes.

    π E₁[ℓ₁ - ℓ₀] + E[ℓ₀], with the losses ℓ₁ of a positive and ℓ₀ of a negative row: all rows as
    if negative, corrected by what the positives lose more. Scores are probabilities; exactly 0 and
    1 are moved inward by the float's resolution, as scikit-learn does.

    Examples
    --------
    >>> import undercount as uc
    >>> y, probability = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> round(uc.metrics.log_loss(y, probability, unlabeled=0, prevalence=0.6).value, 4)
    0.6931
    """
    return rows.estimate_area("log_loss")


@metric_function(MetricInput)
def brier_score(rows: MetricInput) -> Estimate:
    """Estimate the mean squared distance between probability and class.

    π E₁[ℓ₁ - ℓ₀] + E[ℓ₀] with ℓ₁ = (1 - p)², ℓ₀ = p². Scores are probabilities.

    Examples
    --------
    >>> import undercount as uc
    >>> y, probability = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> uc.metrics.brier_score(y, probability, unlabeled=0, prevalence=0.6).value
    0.25
    """
    return rows.estimate_area("brier_score")
