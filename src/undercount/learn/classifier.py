"""What both learners share: parameters, fit, threshold, probabilities."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from undercount.count.arrays import check_row_order
from undercount.curve import FloatArray
from undercount.errors import InputError, check_choice
from undercount.learn.basis import (
    WIDTH_ROWS,
    GaussianBasis,
    LinearBasis,
    choose_centres,
    median_distance,
)
from undercount.learn.calibration import Calibration, fit_calibration, matching_threshold
from undercount.learn.pairs import PairLoss, PairMoments
from undercount.learn.rows import (
    TrainingRows,
    basis_blocks,
    check_features,
    check_sizes,
    draw_folds,
    fit_scaler,
    read_classes,
)
from undercount.learn.search import BestScore, lift_area, search
from undercount.shares import SAMPLINGS

if TYPE_CHECKING:
    from undercount.prevalence.base import BaseEstimator

    class ClassifierMixin:
        """What is used of scikit-learn's class; with an untyped base any argument would pass."""

        n_features_in_: int

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin

BASIS_FUNCTIONS = ("gaussian", "linear")
# Widths in median distances, wide first; penalties in mean eigenvalues, strong first: ties go to
# the smoother score.
WIDTHS = (2.0, 1.0, 0.5, 0.25)
PENALTIES = 10.0 ** np.arange(2.0, -5.0, -1.0)
# Keeps the label frequency finite where no positive is said to be hidden.
LEAST_PREVALENCE = 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class PairwiseClassifier(ClassifierMixin, BaseEstimator):
    """Rank positives above other rows by the squared loss of pairs; see its two subclasses."""

    basis: str = "gaussian"
    n_centres: int = 200
    width: float | None = None
    penalty: float | None = None
    n_folds: int = 5
    standardise: bool = True
    sampling: str = "single-sample"
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the score, its threshold and its calibration.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            1 for a labelled positive, -1 for an unlabeled row. Any two labels will do; the one
            that sorts last is the positive.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of 2 counts a row twice in every mean; 0 leaves it out.

        Returns
        -------
        self
        """
        check_parameters(self)
        check_row_order(X=X, y=y, sample_weight=sample_weight)
        X = check_features(self, X, reset=True)
        self.classes_, labelled = read_classes(y, X.shape[0])
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        used = weight != 0
        if not used.all():
            X, labelled, weight = X[used], labelled[used], weight[used]
        check_sizes(labelled, weight)
        rng = _generator(self.random_state)
        n_folds = int(min(self.n_folds, labelled.sum(), (~labelled).sum()))
        fold = draw_folds(labelled, n_folds, rng)
        self.scaler_ = fit_scaler(X, weight, standardise=self.standardise)
        rows = TrainingRows(X, labelled, weight, fold, n_folds, self.scaler_)
        self._prepare(rows, rng)
        self.prevalence_ = self._read_prevalence(float(weight[labelled].sum() / weight.sum()))
        self._learn(rows, rng)
        return self

    def _prepare(self, rows: TrainingRows, rng: np.random.Generator) -> None:
        """Set what the loss needs beyond the moments."""

    def _loss(self, labelled: PairMoments, others: PairMoments) -> PairLoss:
        raise NotImplementedError

    def _read_prevalence(self, labelled_share: float) -> float | None:
        raise NotImplementedError

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> None:
        bases = self._bases(rows, rng)
        penalties = PENALTIES if self.penalty is None else np.array([float(self.penalty)])
        single = self.sampling == "single-sample"
        best, table = search(rows, bases, penalties, self._loss, with_self=single)
        self.basis_, self.penalty_ = best.basis, best.penalty
        self.coef_, self.intercept_ = best.coefficients, best.intercept
        self.width_ = best.basis.width if isinstance(best.basis, GaussianBasis) else None
        self.held_out_aul_ = best.area
        widths = np.array([getattr(basis, "width", np.nan) for basis in bases])
        self.search_ = {
            "width": np.repeat(widths, penalties.size),
            "penalty": np.tile(penalties, len(bases)),
            "aul": table.ravel(),
        }
        self._calibrate(rows, best)

    def _bases(
        self, rows: TrainingRows, rng: np.random.Generator
    ) -> list[GaussianBasis | LinearBasis]:
        if self.basis == "linear":
            return [LinearBasis(self.n_features_in_)]
        chosen = choose_centres(rows.labelled, self.n_centres, rng)
        centres = self.scaler_.transform(rows.X[chosen])
        if self.width is not None:
            return [GaussianBasis(centres, float(self.width))]
        size = min(WIDTH_ROWS, rows.labelled.size)
        some = np.sort(rng.choice(rows.labelled.size, size, replace=False))
        unit = median_distance(self.scaler_.transform(rows.X[some]), centres)
        return [GaussianBasis(centres, unit * times) for times in WIDTHS]

    def _calibrate(self, rows: TrainingRows, best: BestScore) -> None:
        """Set threshold and probabilities from held-out scores: others would be too extreme."""
        labelled, weight, score = rows.labelled, rows.weight, best.held_out
        n_labelled, n_others = float(weight[labelled].sum()), float(weight[~labelled].sum())
        share, prevalence = n_labelled / (n_labelled + n_others), self.prevalence_
        if prevalence is None:
            even = np.where(labelled, 0.5 / n_labelled, 0.5 / n_others) * weight * labelled.size
            curve = fit_calibration(labelled, score, even, factor=1.0, saturation=0.0)
            self.threshold_ = curve.middle
        elif self.sampling == "single-sample":
            curve = fit_calibration(
                labelled, score, weight, factor=share / prevalence, saturation=0.0
            )
            self.threshold_ = matching_threshold(score, weight, prevalence)
        else:
            factor = n_labelled / (max(prevalence, LEAST_PREVALENCE) * n_others)
            curve = fit_calibration(labelled, score, weight, factor=factor, saturation=factor)
            self.threshold_ = matching_threshold(score[~labelled], weight[~labelled], prevalence)
        self.calibration_ = Calibration(curve.slope, curve.offset + curve.slope * self.threshold_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score less the threshold: above zero is predicted positive.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        score = np.empty(X.shape[0])
        for part, values in basis_blocks(X, self.scaler_, self.basis_):
            score[part] = values @ self.coef_
        return score + self.intercept_ - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive label for rows above the threshold, the other label below."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the two classes; the Notes of the class say of what."""
        decision = self.decision_function(X)
        positive = self.calibration_.probability(decision)
        return np.column_stack([1 - positive, positive])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return AUL^PU, which labels missing at random leave unbiased; accuracy they would not.

        So grid searches and cross-validation compare models by what can be measured.
        """
        decision = self.decision_function(X)
        labels = np.asarray(y)
        if labels.shape != decision.shape:
            raise InputError(f"y must have {decision.size} rows as X; got shape {labels.shape}")
        labelled = labels == self.classes_[1]
        if labelled.all() or not labelled.any():
            raise InputError("AUL needs rows with and without a positive label; got one kind only")
        weight = _check_sample_weight(sample_weight, decision, dtype=np.float64)
        single = self.sampling == "single-sample"
        return lift_area(labelled, decision, weight, with_self=single)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def check_parameters(estimator: Any) -> None:
    """Raise an InputError for the first parameter that breaks its rule."""
    check_choice("basis", estimator.basis, BASIS_FUNCTIONS)
    check_choice("sampling", estimator.sampling, SAMPLINGS)
    _check_whole("n_centres", estimator.n_centres, 1)
    _check_whole("n_folds", estimator.n_folds, 2)
    for name in ("width", "penalty"):
        value = getattr(estimator, name)
        if value is None:
            continue
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name} must be a number above zero, or None; got {value!r}")


def read_share(name: str, value: Any) -> float:
    """Return a share of positives as a float in [0, 1); an Estimate gives its value."""
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = float("nan")
    if not 0 <= share < 1:
        raise InputError(f"{name} must be a share of at least 0 and below 1; got {value!r}")
    return share


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}")
