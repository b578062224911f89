"""What is known of each metric, one row a metric; every other place asks here."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from undercount.errors import InputError

Family: TypeAlias = Literal["area", "loss", "threshold"]
Scale: TypeAlias = Literal["logit", "symmetric", "log"]
Order: TypeAlias = Literal["always", "pure", "no"]


@dataclass(frozen=True)
class MetricFacts:
    """Say what a metric is called, which values it has, and what it rests on.

    Attributes
    ----------
    title : str
        The name as people say it.
    family : {"area", "loss", "threshold"}
        Whether it is read from the whole curve, from every score, or at a threshold.
    scale : {"logit", "symmetric", "log"}
        Scale on which its errors are nearly normal.
    range : tuple
        Least and largest value.
    higher_is_better : bool
        False for losses and rates of error.
    needs_labels, needs_prevalence : bool
        What it rests on if the labels are pure; with impure ones it needs everything.
    order_fixed : {"always", "pure", "no"}
        Whether the order of two models is the same at every prevalence: whatever the purity of the
        labels, only if it is 1, or not.
    grows : tuple of str
        Sampling schemes in which it grows with the share of hidden positives, for a classifier
        better than chance and pure labels; the naive value is then a lower bound. In case-control
        sampling the target has no positives if none is hidden, so that all but the area fall to 0.

    Examples
    --------
    >>> from undercount.metric_facts import metric_facts
    >>> metric_facts("mcc").title, metric_facts("mcc").range
    ('MCC', (-1.0, 1.0))
    """

    name: str
    title: str
    family: Family = "threshold"
    scale: Scale = "logit"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs_labels: bool = True
    needs_prevalence: bool = True
    order_fixed: Order = "no"
    grows: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether no value above 1 exists."""
        return self.range[1] == 1

    def needs(self, *, pure: bool) -> tuple[str, ...]:
        """Return what the metric rests on, in words."""
        if not self.needs_labels:
            return ()
        if pure:
            return ("random labels", "prevalence") if self.needs_prevalence else ("random labels",)
        return ("random labels", "prevalence", "purity")


_SINGLE, _BOTH = ("single-sample",), ("single-sample", "case-control")
_SIGNED, _RATIO = (-1.0, 1.0), (0.0, float("inf"))
# Average precision and the partial area are shares whose errors grow with them and are skewed to
# the right even near 1: the log scale fits better (the partial area counted from no area at all).
# MCC is √(π/(1-π)) (g-Q)/√(Q(1-Q)) for g and Q, the shares of labelled and of all rows flagged: it
# grows only at thresholds where g >= Q.
_ROWS = (
    MetricFacts("roc_auc", "ROC AUC", "area", order_fixed="always", grows=_BOTH),
    MetricFacts("partial_roc_auc", "partial ROC AUC", "area", "log"),
    MetricFacts("average_precision", "average precision", "area", "log", grows=_SINGLE),
    MetricFacts("lift_auc", "lift AUC", "area", needs_prevalence=False, order_fixed="always"),
    MetricFacts("log_loss", "log loss", "loss", "log", _RATIO, higher_is_better=False),
    MetricFacts("brier_score", "Brier score", "loss", higher_is_better=False),
    MetricFacts("recall", "recall", needs_prevalence=False, order_fixed="pure"),
    MetricFacts("fnr", "fnr", higher_is_better=False, needs_prevalence=False),
    MetricFacts("specificity", "specificity"),
    MetricFacts(
        "predicted_positive_rate",
        "predicted positive rate",
        needs_labels=False,
        needs_prevalence=False,
    ),
    MetricFacts("precision", "precision", order_fixed="always", grows=_SINGLE),
    MetricFacts("npv", "npv"),
    MetricFacts("accuracy", "accuracy"),
    MetricFacts("balanced_accuracy", "balanced accuracy", order_fixed="always"),
    MetricFacts(
        "informedness", "informedness", scale="symmetric", range=_SIGNED, order_fixed="always"
    ),
    MetricFacts("f1", "F1", grows=_SINGLE),
    MetricFacts(
        "mcc", "MCC", scale="symmetric", range=_SIGNED, order_fixed="always", grows=_SINGLE
    ),
    MetricFacts("kappa", "kappa", scale="symmetric", range=_SIGNED),
    MetricFacts(
        "lift", "lift", scale="log", range=_RATIO, needs_prevalence=False, order_fixed="always"
    ),
    MetricFacts(
        "lee_liu", "lee liu", scale="log", range=_RATIO, needs_prevalence=False, order_fixed="pure"
    ),
    MetricFacts("geometric_mean", "geometric mean"),
    MetricFacts(
        "positive_likelihood_ratio", "positive likelihood ratio", scale="log", range=_RATIO
    ),
    MetricFacts(
        "negative_likelihood_ratio",
        "negative likelihood ratio",
        scale="log",
        range=_RATIO,
        higher_is_better=False,
    ),
    MetricFacts("tpr", "tpr", needs_prevalence=False),
    MetricFacts("fpr", "fpr", higher_is_better=False),
    MetricFacts("f_beta", "f beta"),
)
FACTS = {facts.name: facts for facts in _ROWS}
AREAS = tuple(facts.name for facts in _ROWS if facts.family == "area")
LOSSES = tuple(facts.name for facts in _ROWS if facts.family == "loss")
THRESHOLD_METRICS = tuple(facts.name for facts in _ROWS if facts.family == "threshold")


def metric_facts(name: str) -> MetricFacts:
    """Look a metric up by its name."""
    if name not in FACTS:
        raise InputError(f"metric must be one of {', '.join(FACTS)}; got {name!r}")
    return FACTS[name]
