"""Mean losses of scores that are probabilities, each with its interval."""

from typing import Any, Unpack

from undercount.estimate import Estimate
from undercount.read.metrics.options import MetricOptions, measured


def log_loss(y: Any, score: Any, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the mean negative log-likelihood of the classes.

    π E₁[ℓ₁ - ℓ₀] + E[ℓ₀], with the losses ℓ₁ of a positive and ℓ₀ of a negative row: all rows as
    if negative, corrected by what the positives lose more.

    Parameters
    ----------
    y, score : array-like
        Labels (1 positive, 0 negative, missing unlabeled) and probabilities. Exactly 0 and 1 are
        moved inward by the float's resolution, as scikit-learn does.
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
    >>> y, probability = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> round(uc.metrics.log_loss(y, probability, unlabeled=0, prevalence=0.6).value, 4)
    0.6931
    """
    return measured(y, score, "log_loss", **options)


def brier_score(y: Any, score: Any, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the mean squared distance between probability and class.

    π E₁[ℓ₁ - ℓ₀] + E[ℓ₀] with ℓ₁ = (1 - p)², ℓ₀ = p².

    Parameters
    ----------
    y, score : array-like
        Labels (1 positive, 0 negative, missing unlabeled) and probabilities.
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
    >>> y, probability = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> uc.metrics.brier_score(y, probability, unlabeled=0, prevalence=0.6).value
    0.25
    """
    return measured(y, score, "brier_score", **options)
