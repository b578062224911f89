"""Scorers for scikit-learn's model selection on positive and unlabeled rows."""

from typing import Any

from sklearn import metrics

from undercount.counts import ScoreCounts
from undercount.errors import InputError, MisfitWarning, SmallSampleWarning, collect_warnings
from undercount.metric_facts import FACTS
from undercount.read.intervals.estimate import estimate_metric
from undercount.shares import Shares, read_shares

# Metrics whose order of models is the same without knowing the prevalence: areas in a fixed order,
# and what needs none. With impure labels recall moves with the prevalence too, and areas are left.
IMPURE_RANKING = [f.name for f in FACTS.values() if f.family == "area" and f.order_fixed != "no"]
RANKING = IMPURE_RANKING + [
    facts.name
    for facts in FACTS.values()
    if facts.family == "threshold" and facts.order_fixed != "no" and not facts.needs_prevalence
]


def make_scorer(
    name: str,
    *,
    threshold: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    unlabeled: float = -1,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    label_purity: Any = 1.0,
    sampling: Any = "single-sample",
) -> Any:
    """Make a scorer for `cross_val_score`, `GridSearchCV` and the like.

    `y` uses -1 for unlabeled rows (missing values do not survive scikit-learn's splitters);
    stratified splitters then keep the labelled share in every fold. The model's
    `decision_function` is used, or else its `predict_proba`; for losses always `predict_proba`.

    Larger is better, as scikit-learn wants it: losses, "fpr", "fnr" and
    "negative_likelihood_ratio" come with the sign turned, like its "neg_log_loss".

    Parameters
    ----------
    name : str
        A metric; "roc_auc", "lift_auc", "recall", "lift" and "lee_liu" rank models without a
        prevalence ("roc_auc" is then that of labelled against unlabeled rows).
    threshold : float, optional
        For metrics at a threshold, on the scale of the scores.
    beta : float
        Weight of recall in "f_beta".
    max_fpr : float, optional
        End of the range of "partial_roc_auc", which needs it.
    unlabeled : number
        Value in `y` that means unlabeled.
    prevalence, unlabeled_prevalence, label_frequency, label_purity, sampling
        As in `evaluate`. A share among all rows holds in every stratified fold alike.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives.
    Wrong when: some positives are more likely to be labelled than others.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(600) < 0.3
    >>> X = rng.normal(truth[:, None], 1.0, (600, 3))
    >>> y = np.where(truth & (rng.random(600) < 0.5), 1, -1)
    >>> values = cross_val_score(LogisticRegression(), X, y, scoring=uc.make_scorer("lift_auc"))
    >>> bool((values > 0.6).all())
    True
    """
    shares = {
        "prevalence": prevalence,
        "unlabeled_prevalence": unlabeled_prevalence,
        "label_frequency": label_frequency,
    }
    known = any(value is not None for value in shares.values())
    _check(name, threshold, max_fpr, known=known, pure=label_purity == 1)
    probability = FACTS[name].family == "loss"
    return metrics.make_scorer(
        score_rows,
        response_method="predict_proba" if probability else ("decision_function", "predict_proba"),
        greater_is_better=FACTS[name].higher_is_better,
        metric=name,
        threshold=threshold,
        beta=beta,
        max_fpr=max_fpr,
        unlabeled=unlabeled,
        label_purity=label_purity,
        sampling=sampling,
        **shares,
    )


def _check(
    name: str, threshold: float | None, max_fpr: float | None, *, known: bool, pure: bool
) -> None:
    """Refuse at once what would fail on every fold."""
    if FACTS[name].family == "threshold" and threshold is None:
        raise InputError(f"{name} is a metric at a threshold; pass threshold=")
    if name == "partial_roc_auc" and (max_fpr is None or not 0 < max_fpr <= 1):
        raise InputError(f"{name} needs max_fpr in (0, 1]; got {max_fpr}")
    ranking = RANKING if pure else IMPURE_RANKING
    if name not in ranking and not known:
        raise InputError(
            f"{name} needs prevalence, unlabeled_prevalence or label_frequency; without one, "
            f"models can be ranked by {', '.join(ranking)}"
        )


def score_rows(
    y_true: Any,
    y_score: Any,
    *,
    metric: str,
    threshold: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    unlabeled: float = -1,
    sample_weight: Any = None,
    **shares: Any,
) -> float:
    """Return the value of a metric; what a scorer calls on each fold."""
    # Losses need every score; impure labels too, whose unlabeled rows all take part in
    # average precision and in where a partial area ends.
    impure = shares.get("label_purity", 1.0) != 1
    counts = ScoreCounts.from_rows(
        y_true,
        y_score,
        unlabeled=unlabeled,
        sample_weight=sample_weight,
        compact=FACTS[metric].family != "loss" and not impure,
        knots=[] if threshold is None else [threshold],
    )
    known = read_shares(counts, **shares)
    if known is None:
        known = Shares(0.0, shares["label_purity"], shares["sampling"])
    # A fold is small; the whole evaluation will say what matters.
    with collect_warnings(MisfitWarning, SmallSampleWarning):
        return estimate_metric(
            counts, known, metric, threshold=threshold, beta=beta, max_fpr=max_fpr
        ).value


roc_auc = make_scorer("roc_auc")
lift_auc = make_scorer("lift_auc")
