"""Scorers for scikit-learn's model selection on positive and unlabeled rows."""

import warnings
from typing import Any

from sklearn import metrics

from undercount.counts import ScoreCounts
from undercount.errors import InputError, MisfitWarning, SmallSampleWarning
from undercount.shares import Shares, read_shares
from undercount.uncertainty.intervals import estimate_metric
from undercount.uncertainty.scales import THRESHOLD_METRICS, metric_kind

# Metrics whose order of models is the same without knowing the prevalence.
RANKING = ("roc_auc", "lift_auc", "recall", "lift", "lee_liu")


def make_scorer(
    name: str,
    *,
    threshold: float | None = None,
    beta: float = 1.0,
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
    `decision_function` is used, or else its `predict_proba`.

    Parameters
    ----------
    name : str
        A metric; "roc_auc", "lift_auc", "recall", "lift" and "lee_liu" rank models without a
        prevalence ("roc_auc" is then that of labelled against unlabeled rows).
    threshold : float, optional
        For metrics at a threshold, on the scale of the scores.
    beta : float
        Weight of recall in "f_beta".
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
    metric_kind(name)  # refuses a name that is none
    if name in THRESHOLD_METRICS and threshold is None:
        raise InputError(f"{name} is a metric at a threshold; pass threshold=")
    shares = {
        "prevalence": prevalence,
        "unlabeled_prevalence": unlabeled_prevalence,
        "label_frequency": label_frequency,
    }
    if name not in RANKING and all(value is None for value in shares.values()):
        raise InputError(
            f"{name} needs prevalence, unlabeled_prevalence or label_frequency; without one, "
            f"models can be ranked by {', '.join(RANKING)}"
        )
    return metrics.make_scorer(
        score_rows,
        response_method=("decision_function", "predict_proba"),
        metric=name,
        threshold=threshold,
        beta=beta,
        unlabeled=unlabeled,
        label_purity=label_purity,
        sampling=sampling,
        **shares,
    )


def score_rows(
    y_true: Any,
    y_score: Any,
    *,
    metric: str,
    threshold: float | None = None,
    beta: float = 1.0,
    unlabeled: float = -1,
    sample_weight: Any = None,
    **shares: Any,
) -> float:
    """Return the value of a metric; what a scorer calls on each fold."""
    counts = ScoreCounts.from_rows(
        y_true,
        y_score,
        unlabeled=unlabeled,
        sample_weight=sample_weight,
        compact=True,
        knots=[] if threshold is None else [threshold],
    )
    known = read_shares(counts, **shares)
    if known is None:
        known = Shares(0.0, shares["label_purity"], shares["sampling"])
    with warnings.catch_warnings():  # a fold is small; the whole evaluation will say what matters
        warnings.simplefilter("ignore", MisfitWarning)
        warnings.simplefilter("ignore", SmallSampleWarning)
        return estimate_metric(counts, known, metric, threshold=threshold, beta=beta).value


roc_auc = make_scorer("roc_auc")
lift_auc = make_scorer("lift_auc")
