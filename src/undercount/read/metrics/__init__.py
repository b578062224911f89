"""Metrics of labels and scores, each with its interval; one function a metric."""

from undercount.read.metrics.areas import average_precision, lift_auc, partial_roc_auc, roc_auc
from undercount.read.metrics.losses import brier_score, log_loss
from undercount.read.metrics.options import MetricOptions
from undercount.read.metrics.rates import (
    accuracy,
    balanced_accuracy,
    npv,
    precision,
    predicted_positive_rate,
    recall,
    specificity,
)
from undercount.read.metrics.ratios import (
    lift,
    negative_likelihood_ratio,
    positive_likelihood_ratio,
)
from undercount.read.metrics.scores import (
    f1,
    f_beta,
    geometric_mean,
    informedness,
    kappa,
    lee_liu,
    mcc,
)

__all__ = [
    "MetricOptions",
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "brier_score",
    "f1",
    "f_beta",
    "geometric_mean",
    "informedness",
    "kappa",
    "lee_liu",
    "lift",
    "lift_auc",
    "log_loss",
    "mcc",
    "negative_likelihood_ratio",
    "npv",
    "partial_roc_auc",
    "positive_likelihood_ratio",
    "precision",
    "predicted_positive_rate",
    "recall",
    "roc_auc",
    "specificity",
]
