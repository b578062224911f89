"""PU-AUL: rank labelled positives above all rows; no prevalence is needed."""

from dataclasses import dataclass
from typing import Any

from undercount.errors import InputError
from undercount.learn.classifier import PairwiseClassifier, read_share
from undercount.learn.pairs import PairLoss, PairMoments


@dataclass(eq=False, repr=False, kw_only=True)
class PUAULClassifier(PairwiseClassifier):
    """Learn from positive and unlabeled rows by AUL, the area under the lift curve.

    Minimises the mean of (1 - (g(x) - g(x')))² over all pairs of a labelled row x and any row x'
    of the data set, itself included, plus a ridge penalty. Labels missing at random leave this
    loss unbiased, so no prevalence enters. The sum over pairs is a quadratic form in means and
    covariances, so its minimum is one symmetric solve, and time grows linearly with rows.

    Parameters
    ----------
    basis : {"gaussian", "linear"}
        g is a sum of Gaussian bumps around centres, or linear in the features.
    n_centres : int
        Rows drawn as centres without replacement: half of them labelled, as far as there are.
    width : float, optional
        Of the bumps, in the units of the (standardised) features. Default: the best of 2, 1, ½
        and ¼ times the median distance between the centres and 1,000 random rows.
    penalty : float, optional
        Weight of the ridge penalty, in mean eigenvalues of the loss's curvature. Default: the best
        of 100, 10, …, 10⁻⁴. The penalty is the squared norm of g: in the kernel's function space,
        or of its coefficients if linear.
    n_folds : int
        Folds of the cross-validation by AUL that chooses width and penalty (fewer if there are
        fewer labelled rows). One factorisation a fold serves all penalties. Its held-out scores
        also set threshold and probabilities.
    standardise : bool
        Divide each feature by its standard deviation first.
    prevalence : float or Estimate, optional
        Share of positives among all rows (case-control: among the unlabeled rows), for `predict`
        and `predict_proba` alone; the ranking does not depend on it.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows belong to the ranked data set, or were drawn apart from it.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of centres and folds.

    Attributes
    ----------
    coef_, intercept_, basis_, scaler_
        g(x) = coef_ · basis_(scaler_(x)) + intercept_, of mean zero over the rows learnt from.
    width_, penalty_ : float
        As chosen; width_ is None for the linear basis.
    search_ : dict of ndarray
        ``width``, ``penalty`` and held-out ``aul`` of everything tried.
    held_out_aul_ : float
        The best of them; a little too high, since it was chosen.
    threshold_ : float
        Subtracted by `decision_function`.
    prevalence_ : float or None
    classes_, n_features_in_, feature_names_in_

    Notes
    -----
    Assumes: labels are a random sample of the positives.
    Wrong when: some positives are likelier to be labelled than others: the score then ranks by
    being labelled.

    The expected loss is (1-π) times the pairwise loss of AUC plus π (1 + 2 Var g(positives)). So
    PU-AUL also shrinks the spread of the positives' scores, more so the more positives there are.
    Its best linear score is that of AUC if both classes have one covariance, and another one
    otherwise.

    Labels: 1 is positive, -1 is a row without a label. Known negatives are rows of the data set
    without a positive label as well, so write -1 (or, if none is unlabeled, 0) for them.

    With a known prevalence, `predict` calls the highest-scored rows positive, as many as the
    prevalence says, and `predict_proba` is the probability of being positive: a logistic curve
    fitted to the labels of held-out rows, whose chance to be labelled is the label frequency
    times that probability. Rows with a probability around ½ can then be predicted either way.
    Without, `predict_proba` is a logistic curve of labelled against other held-out rows, both
    kinds weighted equally, which is no probability of being positive, and `predict` cuts it at ½:
    roughly where a row is likelier than average to be positive, or higher if many positives are
    hidden among the other rows.

    References
    ----------
    AUL is a better optimization metric in PU learning (2021), section 5.
    Sakai, Niu and Sugiyama (2018), Semi-supervised AUC optimization based on PU learning.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn import PUAULClassifier
    >>> rng = np.random.default_rng(0)
    >>> hidden = np.arange(1000) < 300  # true positives; every fifth carries a label
    >>> X = rng.normal(2 * hidden[:, None], 1, (1000, 2))
    >>> y = np.where(hidden & (np.arange(1000) % 5 == 0), 1, -1)
    >>> learner = PUAULClassifier(prevalence=0.3, random_state=0).fit(X, y)
    >>> bool(np.mean((learner.predict(X) == 1) == hidden) > 0.9)
    True
    """

    prevalence: Any = None

    def _loss(self, labelled: PairMoments, others: PairMoments) -> PairLoss:
        ranked = labelled + others if self.sampling == "single-sample" else others
        return PairLoss.of_pairs(labelled, ranked)

    def _read_prevalence(self, labelled_share: float) -> float | None:
        if self.prevalence is None:
            return None
        prevalence = read_share("prevalence", self.prevalence)
        if self.sampling == "single-sample" and prevalence < labelled_share:
            raise InputError(
                f"prevalence must be at least the share of labelled positives"
                f" {labelled_share:.4g}; got {prevalence:.4g}"
            )
        return prevalence
