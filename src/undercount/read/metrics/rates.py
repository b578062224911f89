"""Shares read off at a threshold, each with its interval."""

from typing import Any, Unpack

from undercount.estimate import Estimate
from undercount.read.metrics.options import MetricOptions, measured


def recall(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of the positives that are predicted positive.

    S1/S, the share among labelled rows (Tabatabaei et al. 2020).

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
    >>> estimate = uc.metrics.recall(y, score, threshold=6, unlabeled=0)
    >>> round(estimate.value, 4)
    0.6667
    """
    return measured(y, score, "recall", threshold=threshold, **options)


def precision(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the share of the predicted positives that are positive.

    π g/Q: prevalence times recall over the share predicted positive (Jain et al. 2017, eq. 3).

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
    >>> estimate = uc.metrics.precision(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.8889
    """
    return measured(y, score, "precision", threshold=threshold, **options)


def specificity(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the share of the negatives that are predicted negative.

    1 - (κ q - a g)/(κ - a) (Jain et al. 2017, eq. 2).

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
    >>> estimate = uc.metrics.specificity(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.9167
    """
    return measured(y, score, "specificity", threshold=threshold, **options)


def npv(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of the predicted negatives that are negative.

    (1 - π)(1 - FPR)/(1 - Q).

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
    >>> estimate = uc.metrics.npv(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.7333
    """
    return measured(y, score, "npv", threshold=threshold, **options)


def accuracy(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of rows that are predicted right.

    π TPR + (1 - π)(1 - FPR).

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
    >>> estimate = uc.metrics.accuracy(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.7917
    """
    return measured(y, score, "accuracy", threshold=threshold, **options)


def balanced_accuracy(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the mean of recall and specificity.

    (TPR + 1 - FPR)/2.

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
    >>> estimate = uc.metrics.balanced_accuracy(y, score, threshold=6, unlabeled=0, prevalence=0.5)
    >>> round(estimate.value, 4)
    0.7917
    """
    return measured(y, score, "balanced_accuracy", threshold=threshold, **options)


def predicted_positive_rate(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Measure the share of rows that are predicted positive.

    Q; exact for these rows.

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
    Assumes: nothing but that rows are a sample of what is meant.
    Wrong when: never for these rows; for a population when rows were selected.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> estimate = uc.metrics.predicted_positive_rate(y, score, threshold=6, unlabeled=0)
    >>> round(estimate.value, 4)
    0.375
    """
    return measured(y, score, "predicted_positive_rate", threshold=threshold, **options)
