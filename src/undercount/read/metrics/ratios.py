"""Ratios of shares at a threshold, each with its interval."""

from typing import Any, Unpack

from undercount.estimate import Estimate
from undercount.read.metrics.options import MetricOptions, measured


def lift(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate how much denser positives are among the predicted positives than overall.

    g/Q = precision/π.

    Parameters
    ----------
    y, score : array-like
        Labels (1 positive, 0 negative, missing unlabeled) and scores.
    threshold : float
        Rows with at least this score are predicted positive.
    **options
        Keywords of `MetricOptions`.

    Returns
    -------
    Estimate

    Notes
    -----
    Assumes: labels are random among the positives; no prevalence is needed if they are pure.
    Wrong when: positives with high scores are labelled more often than others.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.lift(y, score, threshold=6, unlabeled=0)
    >>> round(estimate.value, 4)
    1.7778
    """
    return measured(y, score, "lift", threshold=threshold, **options)


def positive_likelihood_ratio(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the true- over the false-positive rate.

    TPR/FPR.

    Parameters
    ----------
    y, score : array-like
        Labels (1 positive, 0 negative, missing unlabeled) and scores.
    threshold : float
        Rows with at least this score are predicted positive.
    **options
        Keywords of `MetricOptions`.

    Returns
    -------
    Estimate

    Notes
    -----
    Assumes: labels are random among the positives, and the prevalence is right.
    Wrong when: positives with high scores are labelled more often, or the prevalence is wrong.

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
    return measured(y, score, "positive_likelihood_ratio", threshold=threshold, **options)


def negative_likelihood_ratio(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the false-negative rate over specificity.

    (1 - TPR)/(1 - FPR).

    Parameters
    ----------
    y, score : array-like
        Labels (1 positive, 0 negative, missing unlabeled) and scores.
    threshold : float
        Rows with at least this score are predicted positive.
    **options
        Keywords of `MetricOptions`.

    Returns
    -------
    Estimate

    Notes
    -----
    Assumes: labels are random among the positives, and the prevalence is right.
    Wrong when: positives with high scores are labelled more often, or the prevalence is wrong.

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
    return measured(y, score, "negative_likelihood_ratio", threshold=threshold, **options)
