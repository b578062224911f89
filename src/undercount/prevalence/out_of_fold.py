"""Scores of rows by a classifier that has not seen them."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from undercount.count.arrays import check_row_order
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, warn
from undercount.prevalence.inputs import label_masks
from undercount.prevalence.ranks import auc_standard_error

N_FOLDS = 5
# Few labels are soon learnt by heart: larger forests score honest rows worse.
N_TREES, N_LEAVES = 40, 8
# Standard errors by which honest scores do not beat the out-of-fold classifier by chance.
EXCESS_ERRORS = 2.0
# A better model may beat the default classifier by this much honestly.
EXCESS_AUC = 0.05


def out_of_fold_scores(
    y: Any,
    X: Any,
    estimator: Any = None,
    *,
    n_folds: int = N_FOLDS,
    unlabeled: Any = None,
    random_state: Any = None,
) -> FloatArray:
    """Score each row by a classifier of labelled against unlabeled rows fitted on other rows.

    Parameters
    ----------
    y : array-like
        1 positive, 0 negative, missing unlabeled.
    X : array-like or frame of shape (n_rows, n_features)
    estimator : scikit-learn classifier, optional
        Cloned for each fold. Default: ``HistGradientBoostingClassifier`` with 40 trees of 8
        leaves and ``random_state``; it takes missing values. scikit-learn's own defaults (100
        trees of 31 leaves) take five times as long and gave worse estimates with 100 labels,
        equal ones with 1,000.
    n_folds : int
        Folds, shuffled and stratified by label: sorted rows would ruin every estimate.
    unlabeled : optional
        The value of ``y`` that means unlabeled (0 or -1, say).
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ndarray of shape (n_rows,)
        Probability (or decision value) of being labelled, never from a model that saw the row.
        Known negatives train no model and get the mean of all folds' scores.

    Notes
    -----
    Assumes: rows are independent.
    Wrong when: several rows belong to one person or object; copies of a row in other folds then
    make the scores in-sample. Give each group one row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from undercount.prevalence import Dedpul, out_of_fold_scores
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(np.where(np.arange(1200) < 500, 4, 0)[:, None], 1, (1200, 2))
    >>> y = np.repeat([1.0, np.nan], [200, 1000])  # 300 of 1000 are positive
    >>> score = out_of_fold_scores(y, X, LogisticRegression(), random_state=0)
    >>> round(Dedpul(n_resamples=0).fit(y, score).unlabeled_prevalence_, 1)
    0.3
    """
    check_row_order(y=y, X=X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    is_positive, is_unlabeled = label_masks(y, n_rows, unlabeled=unlabeled)
    smallest = int(min(is_positive.sum(), is_unlabeled.sum()))
    if not 2 <= n_folds <= smallest:  # noqa: PLR2004 - a model and rows it has not seen
        raise InputError(
            f"n_folds must lie between 2 and the smaller class's number of rows ({smallest});"
            f" got {n_folds}"
        )
    rng = np.random.default_rng(random_state)
    model = estimator
    if model is None:
        model = HistGradientBoostingClassifier(
            max_iter=N_TREES,
            max_leaf_nodes=N_LEAVES,
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        )
    used = np.flatnonzero(is_positive | is_unlabeled)
    others = np.flatnonzero(~(is_positive | is_unlabeled))
    table = X if hasattr(X, "shape") else np.asarray(X)
    scores = np.zeros(n_rows)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    for train, test in folds.split(used, is_positive[used]):
        fitted = clone(model).fit(_safe_indexing(table, used[train]), is_positive[used[train]])
        scores[used[test]] = _score(fitted, _safe_indexing(table, used[test]))
        if others.size:
            scores[others] += _score(fitted, _safe_indexing(table, others)) / n_folds
    return scores


def _score(fitted: Any, rows: Any) -> FloatArray:
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(rows)[:, 1], float)
    if hasattr(fitted, "decision_function"):
        return np.asarray(fitted.decision_function(rows), float)
    raise InputError(
        f"estimator must have predict_proba or decision_function; got {type(fitted).__name__}"
    )


def warn_if_in_sample(y: Any, score: Any, honest: Any, *, unlabeled: Any = None) -> bool:
    """Warn when scores tell labelled from unlabeled rows better than honest scores could.

    Labels given at random among the positives cannot be told from the hidden positives, so the
    AUC of labelled against unlabeled rows has a ceiling; a scorer trained on these rows with
    these labels passes it by remembering them.

    Parameters
    ----------
    y : array-like
        1 positive, 0 negative, missing unlabeled.
    score : array-like
        The scores in question.
    honest : array-like
        Those of ``out_of_fold_scores``, which set the ceiling.
    unlabeled : optional
        The value of ``y`` that means unlabeled (0 or -1, say).

    Returns
    -------
    bool
        Whether a MisfitWarning was given.

    Notes
    -----
    Assumes: the classifier behind the honest scores is about as good as the scorer in question.
    Wrong when: the scorer knows features that the classifier lacks; then the warning is false.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from undercount.prevalence.out_of_fold import out_of_fold_scores, warn_if_in_sample
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(np.where(np.arange(600) < 300, 2, 0)[:, None], 1, (600, 2))
    >>> y = np.repeat([1.0, np.nan], [150, 450])
    >>> honest = out_of_fold_scores(y, X, LogisticRegression(), random_state=0)
    >>> warn_if_in_sample(y, X.sum(axis=1), honest)
    False
    """
    counts = [ScoreCounts.from_rows(y, scores, unlabeled=unlabeled) for scores in (score, honest)]
    given, ceiling = (table.auc("positive", "unlabeled") for table in counts)
    if excess_auc(*counts) <= 0:
        return False
    warn(
        MisfitWarning(
            f"the scores tell labelled from unlabeled rows with AUC {given:.3f}, out-of-fold scores"
            f" with {ceiling:.3f}: the scorer was probably trained on these rows; prevalence"
            " estimates from its scores are then near 0; use out_of_fold_scores"
        ),
        stacklevel=2,
    )
    return True


def excess_auc(given: ScoreCounts, honest: ScoreCounts) -> float:
    """Return by how much AUC^pu of given scores exceeds what honest scores allow."""
    ceiling = honest.auc("positive", "unlabeled")
    allowed = EXCESS_AUC + EXCESS_ERRORS * auc_standard_error(honest, ceiling)
    return given.auc("positive", "unlabeled") - ceiling - allowed
