"""Several scorers: the share of positives from the one that tells labelled rows best."""

from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, collect_warnings, warn
from undercount.prevalence.base import PrevalenceEstimator, estimator
from undercount.prevalence.consensus.consensus import Consensus
from undercount.prevalence.out_of_fold import N_FOLDS, excess_auc, out_of_fold_scores

GIVEN_SCORE = "given score"
BLEND = "mean rank"


@estimator
class SharpestScorer(PrevalenceEstimator):
    """Estimate the share of positives from features, by the best of several scorers.

    Whatever the scorer, the share estimated from its scores is an upper bound of the true one,
    and the tighter the better the scorer tells positives from negatives. That is seen without
    knowing the truth: AUC(labelled, unlabeled) = ½ + (1 - a)(AUC - ½) has the same share a for
    every scorer. So each row is scored out of fold by boosting and by logistic regression, the
    mean of their ranks is a third scorer, the score given (if any) a fourth; the one with the
    largest AUC of labelled against unlabeled rows is handed to `Consensus`. Taking the smallest
    of several noisy estimates instead would lean downward.

    Parameters
    ----------
    estimators : dict of scikit-learn classifiers, optional
        By name. Default: ``boosting`` (as in ``out_of_fold_scores``) and ``logistic``
        (standardised, missing values filled with means).
    n_folds : int

    Attributes
    ----------
    unlabeled_prevalence_, interval_, upper_bound_
        Of `Consensus` on the chosen scores. The interval does not know of the choice, and
        nothing is resampled.
    score_ : ndarray
        The chosen scores.
    diagnostics_ : dict
        As of `Consensus`, and ``scorer``: the chosen one; ``aucs``: AUC of labelled against
        unlabeled rows by scorer; ``shares``: the share by scorer.

    Notes
    -----
    Assumes: labels are a random sample of the positives, rows are independent, and the best
    scorer gives some scores to positives only, or nearly.
    Wrong when: the score given was trained on these rows with these labels: it is left out, with
    a MisfitWarning, only when it is far better than the out-of-fold scores.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import SharpestScorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(np.where(np.arange(1200) < 500, 4, 0)[:, None], 1, (1200, 2))
    >>> y = np.repeat([1.0, np.nan], [200, 1000])  # 300 of the 1,000 are positive
    >>> sharpest = SharpestScorer(random_state=0).fit(y, X, score=X[:, 0])
    >>> round(sharpest.unlabeled_prevalence_, 1), 0.3 in sharpest.interval_
    (0.3, True)
    >>> sorted(sharpest.diagnostics_["shares"])
    ['boosting', 'given score', 'logistic', 'mean rank']
    """

    estimators: Any = field(default=None, kw_only=False)
    n_folds: int = N_FOLDS
    n_resamples: int = 0

    def fit(self, y: Any, X: Any, score: Any = None, *, unlabeled: Any = None) -> Self:
        """Estimate the share of positives among the unlabeled rows of X.

        Parameters
        ----------
        y : array-like
            1 positive, 0 negative, missing unlabeled.
        X : array-like or frame of shape (n_rows, n_features)
        score : array-like, optional
            One more score a row, of a model not trained on these rows (the one to be judged).
        unlabeled : optional
            The value of ``y`` that means unlabeled (0 or -1, say).

        Returns
        -------
        self
        """
        self._check_parameters()
        scores = self._scores(y, X, unlabeled)
        counts = {k: ScoreCounts.from_rows(y, s, unlabeled=unlabeled) for k, s in scores.items()}
        if score is not None:
            given = ScoreCounts.from_rows(y, score, unlabeled=unlabeled)
            if not _looks_in_sample(given, counts):
                scores[GIVEN_SCORE], counts[GIVEN_SCORE] = np.asarray(score, float), given
        aucs = {name: table.auc("positive", "unlabeled") for name, table in counts.items()}
        best = max(aucs, key=aucs.__getitem__)
        consensus = Consensus(sampling=self.sampling, confidence_level=self.confidence_level)
        with collect_warnings():  # the chosen scorer's warnings come below
            shares = {k: consensus.fit(table).unlabeled_prevalence_ for k, table in counts.items()}
        consensus.fit(counts[best])
        for name, value in vars(consensus).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.diagnostics_ |= {"scorer": best, "aucs": aucs, "shares": shares}
        self.score_ = scores[best]
        return self

    def _scores(self, y: Any, X: Any, unlabeled: Any) -> dict[str, FloatArray]:
        """Return each scorer's out-of-fold scores, and the mean of their ranks."""
        models = self.estimators
        if models is None:
            linear = LogisticRegression(max_iter=500)
            filled = SimpleImputer(keep_empty_features=True)
            models = {"boosting": None, "logistic": make_pipeline(filled, StandardScaler(), linear)}
        if not models or {GIVEN_SCORE, BLEND} & set(models):
            raise InputError(
                "estimators must be a dict of classifiers with names other than"
                f" {GIVEN_SCORE!r} and {BLEND!r}; got {models!r}"
            )
        rng, scores = self._rng(), {}
        for name, model in models.items():
            seed = int(rng.integers(2**31))
            scores[name] = out_of_fold_scores(
                y, X, model, n_folds=self.n_folds, unlabeled=unlabeled, random_state=seed
            )
        if len(scores) > 1:
            scores[BLEND] = np.mean(
                [_ranks(model_scores) for model_scores in scores.values()], axis=0
            )
        return scores


def _ranks(score: FloatArray) -> FloatArray:
    """Return mid-ranks between 0 and 1."""
    ordered = np.sort(score)
    below, upto = (np.searchsorted(ordered, score, side=side) for side in ("left", "right"))
    return np.asarray((below + upto) / (2 * score.size))


def _looks_in_sample(given: ScoreCounts, others: dict[str, ScoreCounts]) -> bool:
    """Warn of a score too good to be honest."""
    auc = given.auc("positive", "unlabeled")
    honest = max(others.values(), key=lambda each: each.auc("positive", "unlabeled"))
    if excess_auc(given, honest) <= 0:
        return False
    warn(
        MisfitWarning(
            f"the score given tells labelled from unlabeled rows with AUC {auc:.3f}, out-of-fold"
            f" scores with {honest.auc('positive', 'unlabeled'):.3f}: it was probably trained on"
            " these rows and is left out"
        ),
        stacklevel=3,
    )
    return True
