"""Metrics read off at a threshold, each with its interval.

All take labels, scores, the threshold from which on rows are predicted positive, and the keywords
of `MetricOptions`. They assume that labels are random among the positives and, unless they need
none, that the prevalence is right; `document` writes that into each docstring, with an example.
"""

from typing import Any, Unpack

from undercount.estimate import Estimate
from undercount.infer.decisions import cost_weight, exchange_rate, scale_estimate
from undercount.read.metrics.options import MetricOptions, document, measure


@document(0.6667)
def recall(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of the positives that are predicted positive.

    S1/S, the share among labelled rows (Tabatabaei et al. 2020).
    """
    return measure(y, score, "recall", threshold=threshold, **options)


@document(0.8889)
def precision(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the share of the predicted positives that are positive.

    π g/Q: prevalence times recall over the share predicted positive (Jain et al. 2017, eq. 3).
    """
    return measure(y, score, "precision", threshold=threshold, **options)


@document(0.9167)
def specificity(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the share of the negatives that are predicted negative.

    1 - (κ q - a g)/(κ - a) (Jain et al. 2017, eq. 2).
    """
    return measure(y, score, "specificity", threshold=threshold, **options)


@document(0.7333)
def npv(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of the predicted negatives that are negative.

    (1 - π)(1 - FPR)/(1 - Q).
    """
    return measure(y, score, "npv", threshold=threshold, **options)


@document(0.7917)
def accuracy(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the share of rows that are predicted right.

    π TPR + (1 - π)(1 - FPR).
    """
    return measure(y, score, "accuracy", threshold=threshold, **options)


@document(0.7917)
def balanced_accuracy(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the mean of recall and specificity.

    (TPR + 1 - FPR)/2.
    """
    return measure(y, score, "balanced_accuracy", threshold=threshold, **options)


@document(0.375)
def predicted_positive_rate(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Measure the share of rows that are predicted positive.

    Q; exact for these rows.

    Notes
    -----
    Assumes: nothing but that rows are a sample of what is meant.
    Wrong when: never for these rows; for a population when rows were selected.
    """
    return measure(y, score, "predicted_positive_rate", threshold=threshold, **options)


@document(1.7778)
def lift(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate how much denser positives are among the predicted positives than overall.

    g/Q = precision/π.
    """
    return measure(y, score, "lift", threshold=threshold, **options)


@document(8.0)
def positive_likelihood_ratio(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the true- over the false-positive rate.

    TPR/FPR.
    """
    return measure(y, score, "positive_likelihood_ratio", threshold=threshold, **options)


@document(0.3636)
def negative_likelihood_ratio(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the false-negative rate over specificity.

    (1 - TPR)/(1 - FPR).
    """
    return measure(y, score, "negative_likelihood_ratio", threshold=threshold, **options)


@document(0.7018)
def f_beta(
    y: Any, score: Any, *, threshold: float, beta: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the F score, recall counting `beta` times as much as precision.

    (1 + β²) π g/(β² π + Q) (Tabatabaei et al. 2020, for any β).
    """
    return measure(y, score, "f_beta", threshold=threshold, beta=beta, **options)


@document(1.5417)
def expected_cost(
    y: Any,
    score: Any,
    *,
    threshold: float,
    false_positive: float,
    false_negative: float,
    **options: Unpack[MetricOptions],
) -> Estimate:
    """Estimate what errors cost a row, on average.

    C_FP (Q - π g) + C_FN π (1 - g).
    """
    weight, scale = cost_weight(
        {"false_positive": false_positive, "false_negative": false_negative}
    )
    found = measure(y, score, "expected_cost", threshold=threshold, beta=weight, **options)
    return scale_estimate(found, scale)


@document(0.3229)
def net_benefit(
    y: Any, score: Any, *, threshold: float, chance: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate true positives a row, less what false ones cost in their units.

    π g - (Q - π g) p/(1 - p) for the chance p (Vickers and Elkin 2006).
    """
    exchange = exchange_rate(chance)
    return measure(y, score, "net_benefit", threshold=threshold, beta=exchange, **options)


@document(0.7619)
def f1(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate the harmonic mean of precision and recall.

    2 π g/(π + Q) (Tabatabaei et al. 2020).
    """
    return measure(y, score, "f1", threshold=threshold, **options)


@document(0.6025)
def mcc(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate Matthews' correlation of prediction and class.

    √(π(1 - π)) (TPR - FPR)/√(Q(1 - Q)).
    """
    return measure(y, score, "mcc", threshold=threshold, **options)


@document(0.5833)
def informedness(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate Youden's J, recall plus specificity minus 1.

    TPR - FPR = (g - q)/(κ - a).
    """
    return measure(y, score, "informedness", threshold=threshold, **options)


@document(0.5833)
def kappa(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate Cohen's kappa of prediction and class.

    2 π(1 - π)(TPR - FPR)/(π + Q - 2 π Q).
    """
    return measure(y, score, "kappa", threshold=threshold, **options)


@document(1.1852)
def lee_liu(y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]) -> Estimate:
    """Estimate Lee and Liu's score, recall² over the share predicted positive.

    g²/Q = precision · recall/π; it ranks models like F1 without a prevalence.
    """
    return measure(y, score, "lee_liu", threshold=threshold, **options)


@document(0.7817)
def geometric_mean(
    y: Any, score: Any, *, threshold: float, **options: Unpack[MetricOptions]
) -> Estimate:
    """Estimate the geometric mean of recall and specificity.

    √(TPR (1 - FPR)).
    """
    return measure(y, score, "geometric_mean", threshold=threshold, **options)
