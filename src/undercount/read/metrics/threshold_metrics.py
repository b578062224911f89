"""Metrics read off at a threshold, each with its interval.

All take labels, scores, the threshold from which on rows are predicted positive, and the keywords
of `MetricInput`. They assume that labels are random among the positives and, unless they need none,
that the prevalence is right; `metric_function` writes that into each docstring, with an example.
"""

from undercount.estimate import Estimate
from undercount.infer.decisions import cost_weight, exchange_rate, scale_estimate
from undercount.read.metrics.metric_function import metric_function
from undercount.read.metrics.metric_input import BenefitInput, CostInput, FBetaInput, ThresholdInput


@metric_function(ThresholdInput, 0.6667)
def recall(rows: ThresholdInput) -> Estimate:
    """Estimate the share of the positives that are predicted positive.

    S1/S, the share among labelled rows (Tabatabaei et al. 2020).
    """
    return rows.estimate_at("recall")


@metric_function(ThresholdInput, 0.8889)
def precision(rows: ThresholdInput) -> Estimate:
    """Estimate the share of the predicted positives that are positive.

    π g/Q: prevalence times recall over the share predicted positive (Jain et al. 2017, eq. 3).
    """
    return rows.estimate_at("precision")


@metric_function(ThresholdInput, 0.9167)
def specificity(rows: ThresholdInput) -> Estimate:
    """Estimate the share of the negatives that are predicted negative.

    1 - (κ q - a g)/(κ - a) (Jain et al. 2017, eq. 2).
    """
    return rows.estimate_at("specificity")


@metric_function(ThresholdInput, 0.7333)
def npv(rows: ThresholdInput) -> Estimate:
    """Estimate the share of the predicted negatives that are negative.

    (1 - π)(1 - FPR)/(1 - Q).
    """
    return rows.estimate_at("npv")


@metric_function(ThresholdInput, 0.7917)
def accuracy(rows: ThresholdInput) -> Estimate:
    """Estimate the share of rows that are predicted right.

    π TPR + (1 - π)(1 - FPR).
    """
    return rows.estimate_at("accuracy")


@metric_function(ThresholdInput, 0.7917)
def balanced_accuracy(rows: ThresholdInput) -> Estimate:
    """Estimate the mean of recall and specificity.

    (TPR + 1 - FPR)/2.
    """
    return rows.estimate_at("balanced_accuracy")


@metric_function(ThresholdInput, 0.375)
def predicted_positive_rate(rows: ThresholdInput) -> Estimate:
    """Measure the share of rows that are predicted positive.

    Q; exact for these rows.

    Notes
    -----
    Assumes: nothing but that rows are a sample of what is meant.
    Wrong when: never for these rows; for a population when rows were selected.
    """
    return rows.estimate_at("predicted_positive_rate")


@metric_function(ThresholdInput, 1.7778)
def lift(rows: ThresholdInput) -> Estimate:
    """Estimate how much denser positives are among the predicted positives than overall.

    g/Q = precision/π.
    """
    return rows.estimate_at("lift")


@metric_function(ThresholdInput, 8.0)
def positive_likelihood_ratio(rows: ThresholdInput) -> Estimate:
    """Estimate the true- over the false-positive rate.

    TPR/FPR.
    """
    return rows.estimate_at("positive_likelihood_ratio")


@metric_function(ThresholdInput, 0.3636)
def negative_likelihood_ratio(rows: ThresholdInput) -> Estimate:
    """Estimate the false-negative rate over specificity.

    (1 - TPR)/(1 - FPR).
    """
    return rows.estimate_at("negative_likelihood_ratio")


@metric_function(FBetaInput, 0.7018)
def f_beta(rows: FBetaInput) -> Estimate:
    """Estimate the F score, recall counting `beta` times as much as precision.

    (1 + β²) π g/(β² π + Q) (Tabatabaei et al. 2020, for any β).
    """
    return rows.estimate_at("f_beta", rows.beta)


@metric_function(CostInput, 1.5417)
def expected_cost(rows: CostInput) -> Estimate:
    """Estimate what errors cost a row, on average.

    C_FP (Q - π g) + C_FN π (1 - g).
    """
    errors = {"false_positive": rows.false_positive, "false_negative": rows.false_negative}
    weight, scale = cost_weight(errors)
    return scale_estimate(rows.estimate_at("expected_cost", weight), scale)


@metric_function(BenefitInput, 0.3229)
def net_benefit(rows: BenefitInput) -> Estimate:
    """Estimate true positives a row, less what false ones cost in their units.

    π g - (Q - π g) p/(1 - p) for the chance p (Vickers and Elkin 2006).
    """
    return rows.estimate_at("net_benefit", exchange_rate(rows.chance))


@metric_function(ThresholdInput, 0.7619)
def f1(rows: ThresholdInput) -> Estimate:
    """Estimate the harmonic mean of precision and recall.

    2 π g/(π + Q) (Tabatabaei et al. 2020).
    """
    return rows.estimate_at("f1")


@metric_function(ThresholdInput, 0.6025)
def mcc(rows: ThresholdInput) -> Estimate:
    """Estimate Matthews' correlation of prediction and class.

    √(π(1 - π)) (TPR - FPR)/√(Q(1 - Q)).
    """
    return rows.estimate_at("mcc")


@metric_function(ThresholdInput, 0.5833)
def informedness(rows: ThresholdInput) -> Estimate:
    """Estimate Youden's J, recall plus specificity minus 1.

    TPR - FPR = (g - q)/(κ - a).
    """
    return rows.estimate_at("informedness")


@metric_function(ThresholdInput, 0.5833)
def kappa(rows: ThresholdInput) -> Estimate:
    """Estimate Cohen's kappa of prediction and class.

    2 π(1 - π)(TPR - FPR)/(π + Q - 2 π Q).
    """
    return rows.estimate_at("kappa")


@metric_function(ThresholdInput, 1.1852)
def lee_liu(rows: ThresholdInput) -> Estimate:
    """Estimate Lee and Liu's score, recall² over the share predicted positive.

    g²/Q = precision · recall/π; it ranks models like F1 without a prevalence.
    """
    return rows.estimate_at("lee_liu")


@metric_function(ThresholdInput, 0.7817)
def geometric_mean(rows: ThresholdInput) -> Estimate:
    """Estimate the geometric mean of recall and specificity.

    √(TPR (1 - FPR)).
    """
    return rows.estimate_at("geometric_mean")
