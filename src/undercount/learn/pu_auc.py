"""PU-AUC: rank positives above negatives, given the share of positives among the unlabeled."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from undercount.learn.classifier import PairwiseClassifier, read_share
from undercount.learn.pairs import PairLoss, PairMoments
from undercount.learn.rows import TrainingRows

# Estimates of 1 would leave no negative to rank below.
LARGEST_SHARE = 0.99


@dataclass(eq=False, repr=False, kw_only=True)
class PUAUCClassifier(PairwiseClassifier):
    """Learn from positive and unlabeled rows by AUC, given the share of positives among the latter.

    Minimises an unbiased estimate of the mean of (1 - (g(x) - g(x')))² over pairs of a positive x
    and a negative x', plus a ridge penalty: the mean over pairs of a labelled and an unlabeled row,
    less the share a of positives among the unlabeled times the mean over pairs of labelled rows,
    divided by 1 - a (Sakai et al. 2018). Basis, search and solve are those of `PUAULClassifier`.

    Parameters
    ----------
    basis, n_centres, width, penalty, n_folds, standardise
        As in `PUAULClassifier`; width and penalty are chosen by AUL here too, since the order of
        two models by AUC is their order by AUL.
    unlabeled_prevalence : float or Estimate, optional
        Share of positives among the unlabeled rows. Default: estimated by
        `undercount.prevalence.Consensus` on out-of-fold scores of the same rows, unweighted.
    sampling : {"single-sample", "case-control"}
        Whether the labelled rows come from the same sample; decides which share of which rows
        `predict` calls positive.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of centres and folds.

    Attributes
    ----------
    unlabeled_prevalence_ : float
        As given or estimated.
    prevalence_ : float
        Share of positives among all rows (case-control: among the unlabeled rows).
    coef_, intercept_, basis_, scaler_, width_, penalty_, search_, held_out_aul_, threshold_,
    classes_, n_features_in_, feature_names_in_
        As in `PUAULClassifier`.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and the prevalence is right.
    Wrong when: some positives are likelier to be labelled than others, or the prevalence is too
    high: scores of positives are then pulled apart. With few labels and a prevalence over ½ the
    loss itself has no minimum; its directions of negative curvature are set to zero.

    Labels as in `PUAULClassifier`: 1 positive, -1 unlabeled. With fully known negatives give
    ``unlabeled_prevalence=0``. `predict` calls as many rows positive as the prevalence says, and
    `predict_proba` is the probability of being positive as there.

    References
    ----------
    Sakai, Niu and Sugiyama (2018), Semi-supervised AUC optimization based on PU learning.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn import PUAUCClassifier
    >>> rng = np.random.default_rng(0)
    >>> hidden = np.arange(1000) < 300  # true positives; every fifth carries a label
    >>> X = rng.normal(2 * hidden[:, None], 1, (1000, 2))
    >>> y = np.where(hidden & (np.arange(1000) % 5 == 0), 1, -1)
    >>> learner = PUAUCClassifier(unlabeled_prevalence=240 / 940, random_state=0).fit(X, y)
    >>> bool(np.mean((learner.predict(X) == 1) == hidden) > 0.9)
    True
    """

    unlabeled_prevalence: Any = None

    def _prepare(self, rows: TrainingRows, rng: np.random.Generator) -> None:
        if self.unlabeled_prevalence is not None:
            share = read_share("unlabeled_prevalence", self.unlabeled_prevalence)
        else:
            share = _estimate_share(rows, self.sampling, int(rng.integers(2**31)))
        self.unlabeled_prevalence_ = share

    def _loss(self, labelled: PairMoments, others: PairMoments) -> PairLoss:
        # Sakai et al. 2018, PU-AUC risk, times 1 - a; a row paired with itself counts as a pair.
        hidden = self.unlabeled_prevalence_
        against_all = PairLoss.of_pairs(labelled, others)
        return against_all.plus(PairLoss.of_pairs(labelled, labelled), -hidden)

    def _read_prevalence(self, labelled_share: float) -> float:
        if self.sampling == "case-control":
            return self.unlabeled_prevalence_
        return labelled_share + (1 - labelled_share) * self.unlabeled_prevalence_


def _estimate_share(rows: TrainingRows, sampling: str, seed: int) -> float:
    # Imported late: a given share needs none of this.
    from undercount.prevalence.consensus.consensus import Consensus  # noqa: PLC0415
    from undercount.prevalence.out_of_fold import out_of_fold_scores  # noqa: PLC0415

    y = np.where(rows.labelled, 1, -1)
    # The default classifier of the scores, gradient boosting, takes no sparse rows.
    model = LogisticRegression(max_iter=1000) if sparse.issparse(rows.X) else None
    score = out_of_fold_scores(
        y, rows.X, model, n_folds=rows.n_folds, unlabeled=-1, random_state=seed
    )
    consensus = Consensus(sampling=sampling).fit(y, score, unlabeled=-1)
    return float(min(consensus.unlabeled_prevalence_, LARGEST_SHARE))
