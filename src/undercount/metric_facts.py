"""What is known of each metric, one row a metric; every other place asks here."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from undercount.errors import check_choice

Family: TypeAlias = Literal["area", "loss", "threshold"]
Scale: TypeAlias = Literal["logit", "symmetric", "log", "plain"]
Order: TypeAlias = Literal["always", "pure", "no"]

# The values that fit a scale.
SCALE_RANGES: dict[Scale, tuple[float, float]] = {
    "logit": (0.0, 1.0),
    "symmetric": (-1.0, 1.0),
    "log": (0.0, float("inf")),
    "plain": (float("-inf"), float("inf")),
}


@dataclass(frozen=True)
class MetricFacts:
    """Say what a metric is called, which values it has, and what it rests on.

    Attributes
    ----------
    title : str
        The name as people say it.
    family : {"area", "loss", "threshold"}
        Whether it is read from the whole curve, from every score, or at a threshold.
    scale : {"logit", "symmetric", "log", "plain"}
        Scale on which its errors are nearly normal.
    range : tuple
        Least and largest value.
    higher_is_better : bool
        False for losses and rates of error.
    needs : tuple of str
        What it rests on, in words, if the labels are pure.
    order_fixed : {"always", "pure", "no"}
        Whether the order of two models is the same at every prevalence: whatever the purity of the
        labels, only if it is 1, or not.
    grows : tuple of str
        Sampling schemes in which it grows with the share of hidden positives, for a classifier
        better than chance and pure labels; the naive value is then a lower bound. In case-control
        sampling the target has no positives if none is hidden, so that all but the area fall to 0.

    Examples
    --------
    >>> from undercount.metric_facts import FACTS
    >>> FACTS["mcc"].title, FACTS["mcc"].range
    ('MCC', (-1.0, 1.0))
    """

    name: str
    title: str
    family: Family = "threshold"
    scale: Scale = "logit"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: tuple[str, ...] = ("random labels", "prevalence")
    order_fixed: Order = "no"
    grows: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether no value above 1 exists."""
        return self.range[1] == 1

    @property
    def needs_prevalence(self) -> bool:
        """Whether it moves with the prevalence even if the labels are pure."""
        return "prevalence" in self.needs

    @property
    def needs_if_impure(self) -> tuple[str, ...]:
        """What it rests on if some labels are wrong."""
        return ("random labels", "prevalence", "purity") if self.needs else ()


# What every number of labels rests on, unless their purity is told; said once, not row by row.
RIGHT_LABELS = "right labels"
# What every number of audited rows rests on: nobody chose which rows were looked at.
RANDOM_AUDIT = "random audit"
# What every number supposes of the scores.
OUT_OF_FOLD = "out-of-fold scores"
_LABELS = ("random labels",)
_SINGLE, _BOTH = ("single-sample",), ("single-sample", "case-control")
_SIGNED, _RATIO = (-1.0, 1.0), (0.0, float("inf"))
# Average precision and the partial area are shares whose errors grow with them and are skewed to
# the right even near 1: the log scale fits better (the partial area counted from no area at all).
# MCC is √(π/(1-π)) (g-Q)/√(Q(1-Q)) for g and Q, the shares of labelled and of all rows flagged: it
# grows only at thresholds where g >= Q.
_FACTS_BY_ROW = (
    MetricFacts("roc_auc", "ROC AUC", "area", order_fixed="always", grows=_BOTH),
    MetricFacts("partial_roc_auc", "partial ROC AUC", "area", "log"),
    MetricFacts("average_precision", "average precision", "area", "log", grows=_SINGLE),
    MetricFacts("lift_auc", "lift AUC", "area", needs=_LABELS, order_fixed="always"),
    MetricFacts("log_loss", "log loss", "loss", "log", _RATIO, higher_is_better=False),
    MetricFacts("brier_score", "Brier score", "loss", higher_is_better=False),
    MetricFacts("recall", "recall", needs=_LABELS, order_fixed="pure"),
    MetricFacts("fnr", "fnr", higher_is_better=False, needs=_LABELS),
    MetricFacts("specificity", "specificity"),
    MetricFacts("predicted_positive_rate", "predicted positive rate", needs=()),
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
    MetricFacts("lift", "lift", scale="log", range=_RATIO, needs=_LABELS, order_fixed="always"),
    MetricFacts("lee_liu", "lee liu", scale="log", range=_RATIO, needs=_LABELS, order_fixed="pure"),
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
    MetricFacts("tpr", "tpr", needs=_LABELS),
    MetricFacts("fpr", "fpr", higher_is_better=False),
    MetricFacts("f_beta", "f beta"),
    MetricFacts("expected_cost", "expected cost", higher_is_better=False),
    MetricFacts("net_benefit", "net benefit", scale="plain", range=(float("-inf"), 1.0)),
)


class _Facts(dict[str, MetricFacts]):
    """Rows by name; a name that is none is an error that lists them."""

    def __missing__(self, name: str) -> MetricFacts:
        check_choice("metric", name, list(self))
        raise KeyError(name)


FACTS = _Facts((facts.name, facts) for facts in _FACTS_BY_ROW)
AREAS = tuple(facts.name for facts in _FACTS_BY_ROW if facts.family == "area")
LOSSES = tuple(facts.name for facts in _FACTS_BY_ROW if facts.family == "loss")
THRESHOLD_METRICS = tuple(facts.name for facts in _FACTS_BY_ROW if facts.family == "threshold")
