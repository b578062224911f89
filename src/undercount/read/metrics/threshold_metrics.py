"""Metrics read off at a threshold, each with its interval.

All take labels, scores, the threshold from which on rows are predicted positive, and the keywords
of `MetricOptions`. They assume that labels are random among the positives and, unless they need
none, that the prevalence is right; `documented` writes that into each docstring.
"""

from typing import Any, Unpack

from undercount.estimate import Estimate
from undercount.read.metrics.options import MetricOptions, documented, measure


@documented
def recall(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of the positives that are predicted positive.

    S1/S, the share among labelled rows (Tabatabaei et al. 2020).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.recall(y, score, threshold=6, unlabeled=0).value, 4)
    0.6667
    """
    return measure(y, score, "recall", threshold=threshold, **options)


@documented
def precision(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the share of the predicted positives that are positive.

    π g/Q: prevalence times recall over the share predicted positive (Jain et al. 2017, eq. 3).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.precision(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.8889
    """
    return measure(y, score, "precision", threshold=threshold, **options)


@documented
def specificity(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the share of the negatives that are predicted negative.

    1 - (κ q - a g)/(κ - a) (Jain et al. 2017, eq. 2).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.specificity(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.9167
    """
    return measure(y, score, "specificity", threshold=threshold, **options)


@documented
def npv(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of the predicted negatives that are negative.

    (1 - π)(1 - FPR)/(1 - Q).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.npv(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.7333
    """
    return measure(y, score, "npv", threshold=threshold, **options)


@documented
def accuracy(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of rows that are predicted right.

    π TPR + (1 - π)(1 - FPR).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.accuracy(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.7917
    """
    return measure(y, score, "accuracy", threshold=threshold, **options)


@documented
def balanced_accuracy(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the mean of recall and specificity.

    (TPR + 1 - FPR)/2.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.balanced_accuracy(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.7917
    """
    return measure(y, score, "balanced_accuracy", threshold=threshold, **options)


@documented
def predicted_positive_rate(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Measure the share of rows that are predicted positive.

    Q; exact for these rows.

    Notes
    -----
    Assumes: nothing but that rows are a sample of what is meant.
    Wrong when: never for these rows; for a population when rows were selected.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.predicted_positive_rate(y, score, threshold=6, unlabeled=0).value, 4)
    0.375
    """
    return measure(y, score, "predicted_positive_rate", threshold=threshold, **options)


@documented
def lift(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate how much denser positives are among the predicted positives than overall.

    g/Q = precision/π.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.lift(y, score, threshold=6, unlabeled=0).value, 4)
    1.7778
    """
    return measure(y, score, "lift", threshold=threshold, **options)


@documented
def positive_likelihood_ratio(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the true- over the false-positive rate.

    TPR/FPR.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.positive_likelihood_ratio(
    ...     y, score, threshold=6, unlabeled=0, prevalence=0.5
    ... )
    >>> round(estimate.value, 4)
    8.0
    """
    return measure(y, score, "positive_likelihood_ratio", threshold=threshold, **options)


@documented
def negative_likelihood_ratio(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the false-negative rate over specificity.

    (1 - TPR)/(1 - FPR).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.negative_likelihood_ratio(
    ...     y, score, threshold=6, unlabeled=0, prevalence=0.5
    ... )
    >>> round(estimate.value, 4)
    0.3636
    """
    return measure(y, score, "negative_likelihood_ratio", threshold=threshold, **options)


@documented
def f_beta(
    y: Any, score: Any, *, threshold: float, beta: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the F score, recall counting `beta` times as much as precision.

    (1 + β²) π g/(β² π + Q) (Tabatabaei et al. 2020, for any β).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.f_beta(y, score, threshold=6, beta=2, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.7018
    """
    return measure(y, score, "f_beta", threshold=threshold, beta=beta, **options)


@documented
def f1(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the harmonic mean of precision and recall.

    2 π g/(π + Q) (Tabatabaei et al. 2020).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.f1(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.7619
    """
    return measure(y, score, "f1", threshold=threshold, **options)


@documented
def mcc(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate Matthews' correlation of prediction and class.

    √(π(1 - π)) (TPR - FPR)/√(Q(1 - Q)).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.mcc(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.6025
    """
    return measure(y, score, "mcc", threshold=threshold, **options)


@documented
def informedness(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate Youden's J, recall plus specificity minus 1.

    TPR - FPR = (g - q)/(κ - a).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.informedness(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.5833
    """
    return measure(y, score, "informedness", threshold=threshold, **options)


@documented
def kappa(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate Cohen's kappa of prediction and class.

    2 π(1 - π)(TPR - FPR)/(π + Q - 2 π Q).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.kappa(y, score, threshold=6, unlabeled=0, prevalence=0.5).value, 4)
    0.5833
    """
    return measure(y, score, "kappa", threshold=threshold, **options)


@documented
def lee_liu(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate Lee and Liu's score, recall² over the share predicted positive.

    g²/Q = precision · recall/π; it ranks models like F1 without a prevalence.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.lee_liu(y, score, threshold=6, unlabeled=0).value, 4)
    1.1852
    """
    return measure(y, score, "lee_liu", threshold=threshold, **options)


@documented
def geometric_mean(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the geometric mean of recall and specificity.

    √(TPR (1 - FPR)).

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.geometric_mean(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.7817
    """
    return measure(y, score, "geometric_mean", threshold=threshold, **options)
