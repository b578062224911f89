"""What every prevalence estimator shares: input, checks, resampling, result."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from undercount.counts import ScoreCounts
from undercount.curve import Estimate, Interval
from undercount.errors import InputError, MisfitWarning, SmallSampleWarning
from undercount.prevalence.ranks import Array, auc_error, labelled_auc, merged

MIN_LABELS = 10
SAMPLINGS = ("single-sample", "case-control")
NEEDS = ("random labels", "a region without positives")
# A resample only has to show sampling noise, so it may work on coarse cells.
RESAMPLE_CELLS = 2048
IN_SAMPLE_AUC = 0.99


@dataclass(frozen=True)
class Fitted:
    """What one method found on one set of counts (or rows).

    Examples
    --------
    >>> from undercount.prevalence import Fitted
    >>> Fitted(0.3, upper_bound=0.4).value
    0.3
    """

    value: float
    interval: Interval | None = None
    upper_bound: float | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    label_purity: float | None = None
    standard_error: float | None = None


class PrevalenceEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Parameters and results common to score and feature estimators.

    Parameters
    ----------
    sampling : {"single-sample", "case-control"}
        Whether the labelled rows were drawn from the same sample as the unlabeled ones; decides
        how resamples are drawn and what ``prevalence_`` and ``label_frequency_`` mean.
    confidence_level : float
    n_resamples : int
        Bootstrap resamples for ``interval_`` where the method has no interval of its own;
        0 means none, and ``interval_`` is then None.
    random_state : int, numpy.random.Generator or None

    Examples
    --------
    >>> from undercount.prevalence import PrevalenceEstimator, RocSlope
    >>> issubclass(RocSlope, PrevalenceEstimator)
    True
    """

    _needs: tuple[str, ...] = NEEDS

    unlabeled_prevalence_: float
    interval_: Interval | None
    upper_bound_: float | None
    standard_error_: float
    diagnostics_: dict[str, Any]
    label_purity_: float
    n_labelled_: float
    n_unlabeled_: float
    prevalence_: float
    label_frequency_: float

    def __init__(
        self,
        *,
        sampling: str = "single-sample",
        confidence_level: float = 0.95,
        n_resamples: int = 200,
        random_state: Any = None,
    ) -> None:
        self.sampling = sampling
        self.confidence_level = confidence_level
        self.n_resamples = n_resamples
        self.random_state = random_state

    def estimate(self) -> Estimate:
        """Return the fitted share of positives among the unlabeled as an Estimate."""
        if not hasattr(self, "unlabeled_prevalence_"):
            raise InputError(f"call fit before estimate; this {type(self).__name__} is not fitted")
        interval = self.interval_ or Interval(float("nan"), float("nan"))
        return Estimate(
            self.unlabeled_prevalence_,
            interval.low,
            interval.high,
            self.standard_error_,
            self.confidence_level,
            self._needs,
            type(self).__name__,
        )

    def _check_parameters(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise InputError(f"sampling must be one of {SAMPLINGS}; got {self.sampling!r}")
        if not 0 < self.confidence_level < 1:
            raise InputError(f"confidence_level must lie in (0, 1); got {self.confidence_level}")
        if self.n_resamples < 0:
            raise InputError(f"n_resamples must not be negative; got {self.n_resamples}")

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)

    def _store(self, fitted: Fitted, resampled: Array, n_labelled: float, n_unlab: float) -> Self:
        interval, error = self._spread(fitted, resampled)
        self.unlabeled_prevalence_ = float(fitted.value)
        self.interval_, self.standard_error_ = interval, error
        self.upper_bound_ = None if fitted.upper_bound is None else float(fitted.upper_bound)
        self.diagnostics_ = dict(fitted.diagnostics)
        self.n_labelled_, self.n_unlabeled_ = float(n_labelled), float(n_unlab)
        if fitted.label_purity is not None:
            self.label_purity_ = float(fitted.label_purity)
        self._store_prevalence(1.0 if fitted.label_purity is None else fitted.label_purity)
        return self

    def _store_prevalence(self, purity: float) -> None:
        """Translate the share among the unlabeled (maths of both samplings)."""
        positives = purity * self.n_labelled_
        hidden = self.unlabeled_prevalence_ * self.n_unlabeled_
        single = self.sampling == "single-sample"
        total = self.n_labelled_ + self.n_unlabeled_
        self.prevalence_ = (positives + hidden) / total if single else self.unlabeled_prevalence_
        # In case-control data the number of labels is the designer's choice.
        self.label_frequency_ = positives / (positives + hidden) if single else float("nan")

    def _spread(self, fitted: Fitted, resampled: Array) -> tuple[Interval | None, float]:
        tail = (1 - self.confidence_level) / 2
        interval, error = fitted.interval, fitted.standard_error
        if interval is None and resampled.size:
            low, high = np.quantile(resampled, [tail, 1 - tail])
            interval = Interval(float(low), float(high))
            error = float(np.std(resampled, ddof=1)) if error is None else error
        if error is None and interval is not None:
            error = float((interval.high - interval.low) / (2 * ndtri(1 - tail)))
        return interval, float("nan") if error is None else error


class ScoreEstimator(PrevalenceEstimator):
    """Estimators that need only the scores of labelled and unlabeled rows.

    A subclass writes ``_estimate(counts) -> Fitted`` on counts at distinct scores (descending);
    validation, resampling and the fitted attributes happen here. The order of arguments is
    ``fit(y, score)``, as in ``sklearn.metrics``, so scikit-learn's checks of ``fit(X, y)`` do not
    apply; parameters, cloning and ``repr`` follow scikit-learn.

    Examples
    --------
    >>> from undercount.prevalence import BestBin, ScoreEstimator
    >>> isinstance(BestBin(), ScoreEstimator)
    True
    """

    _resample_cells = RESAMPLE_CELLS

    def fit(
        self,
        y: Any,
        score: Any = None,
        *,
        unlabeled: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Estimate the share of positives among the unlabeled rows.

        Parameters
        ----------
        y : array-like or ScoreCounts
            1 positive, 0 negative, missing unlabeled; or counts, and then ``score`` is omitted.
        score : array-like
            Scores of rows the scorer was not trained on.
        unlabeled : optional
            The value of ``y`` that means unlabeled (0 or -1, say).
        sample_weight : array-like, optional

        Returns
        -------
        self
        """
        self._check_parameters()
        counts = _as_counts(y, score, unlabeled=unlabeled, sample_weight=sample_weight)
        _check_counts(counts)
        auc = labelled_auc(counts)
        _warn_about_scores(counts, auc)
        fitted = self._estimate(counts)
        fitted = Fitted(**{**vars(fitted), "diagnostics": {"auc_pu": auc, **fitted.diagnostics}})
        resampled = np.empty(0)
        if fitted.interval is None and self.n_resamples:
            resampled = self._resample(counts)
        return self._store(fitted, resampled, counts.n_positive, counts.n_unlabeled)

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        raise NotImplementedError

    def _resample(self, counts: ScoreCounts) -> Array:
        """Return the estimates on resampled counts (documented as sampling noise only)."""
        rng, cells = self._rng(), merged(counts, self._resample_cells)
        values = (
            self._estimate(resampled_counts(cells, rng, self.sampling)).value
            for _ in range(self.n_resamples)
        )
        found = np.fromiter(values, float)
        return found[np.isfinite(found)]


class FeatureEstimator(PrevalenceEstimator):
    """Estimators that need the rows' features: ``fit(y, X)``.

    A subclass writes ``_estimate(labelled, unlabeled, rng) -> Fitted`` on two matrices of floats.
    The order of arguments follows ``fit(y, score)`` of the score methods; y has missing values.

    Examples
    --------
    >>> from undercount.prevalence import FeatureEstimator, PrevalenceEstimator
    >>> issubclass(FeatureEstimator, PrevalenceEstimator)
    True
    """

    n_features_in_: int

    def fit(self, y: Any, X: Any, *, unlabeled: Any = None) -> Self:  # noqa: N803 - as in scikit-learn
        """Estimate the share of positives among the unlabeled rows of X.

        Parameters
        ----------
        y : array-like
            1 positive, 0 negative, missing unlabeled.
        X : array-like of shape (n_rows, n_features)
        unlabeled : optional
            The value of ``y`` that means unlabeled (0 or -1, say).

        Returns
        -------
        self
        """
        self._check_parameters()
        features = _as_matrix(X)
        is_positive, is_unlabeled = label_masks(y, len(features), unlabeled=unlabeled)
        labelled, rest = features[is_positive], features[is_unlabeled]
        _check_sizes(len(labelled), len(rest))
        if not np.any(np.ptp(features, axis=0) > 0):
            raise InputError("X must vary; got the same row everywhere")
        rng = self._rng()
        fitted = self._estimate(labelled, rest, rng)
        resampled = np.empty(0)
        if fitted.interval is None and self.n_resamples:
            resampled = np.array(
                [
                    self._estimate(_drawn(labelled, rng), _drawn(rest, rng), rng).value
                    for _ in range(self.n_resamples)
                ]
            )
        self.n_features_in_ = features.shape[1]
        return self._store(fitted, resampled, len(labelled), len(rest))

    def _estimate(self, labelled: Array, unlabeled: Array, rng: np.random.Generator) -> Fitted:
        raise NotImplementedError


def label_masks(y: Any, n_rows: int, *, unlabeled: Any = None) -> tuple[Array, Array]:
    """Return masks of the labelled positive and of the unlabeled rows, in the rows' order."""
    # Descending positions as scores: the table's cells are then the rows in their order.
    counts = ScoreCounts.from_rows(y, -np.arange(float(n_rows)), unlabeled=unlabeled)
    return counts.positive > 0, counts.unlabeled > 0


def resampled_counts(counts: ScoreCounts, rng: np.random.Generator, sampling: str) -> ScoreCounts:
    """Draw a bootstrap sample of the cells: the same as resampling rows, without rows.

    Weighted counts are drawn at Kish's effective size and scaled back.
    """
    cells = np.stack([counts.positive, counts.negative, counts.unlabeled])
    squared = np.asarray(counts.squared_weight, float)
    totals = cells.sum(axis=1)
    size = np.divide(totals**2, squared, out=np.zeros(3), where=squared > 0)
    if sampling == "single-sample":
        size = rng.multinomial(round(size.sum()), size / size.sum()).astype(float)
    drawn = np.zeros_like(cells)
    for row, total in enumerate(totals):
        if total > 0:
            drawn[row] = rng.multinomial(max(1, round(size[row])), cells[row] / total)
    effective = np.divide(totals**2, squared, out=np.ones(3), where=squared > 0)
    scale = np.divide(totals, effective, out=np.ones(3), where=effective > 0)[:, None]
    return ScoreCounts.from_counts(counts.score, *(drawn * scale))


def _as_counts(y: Any, score: Any, *, unlabeled: Any, sample_weight: Any) -> ScoreCounts:
    if not isinstance(y, ScoreCounts):
        if score is None:
            raise InputError("fit needs labels and scores, or one ScoreCounts; got no scores")
        return ScoreCounts.from_rows(y, score, unlabeled=unlabeled, sample_weight=sample_weight)
    if score is not None or unlabeled is not None or sample_weight is not None:
        raise InputError("fit(counts) takes no scores, unlabeled or weights: counts hold them")
    return y


def _check_sizes(n_labelled: float, n_unlabeled: float) -> None:
    if n_labelled < MIN_LABELS:
        raise InputError(
            f"estimating a prevalence needs at least {MIN_LABELS} labelled positives;"
            f" got {n_labelled:g}: review some unlabeled rows and use VerifiedSample"
        )
    if n_unlabeled < 1:
        raise InputError("there must be unlabeled rows; got none (is `unlabeled=` missing?)")


def _check_counts(counts: ScoreCounts) -> None:
    squared = counts.squared_weight[0]
    # Ten rows of weight .1 are still ten labels.
    _check_sizes(counts.n_positive**2 / squared if squared else 0.0, counts.n_unlabeled)
    if np.count_nonzero(counts.positive + counts.unlabeled) < 2:  # noqa: PLR2004 - not constant
        raise InputError("scores must vary; got one constant score, which identifies nothing")


def _warn_about_scores(counts: ScoreCounts, auc: float) -> None:
    if auc > IN_SAMPLE_AUC:
        warnings.warn(
            f"the scores separate labelled from unlabeled rows almost perfectly (AUC {auc:.3f}):"
            f" either under {2 * (1 - auc):.1%} of the unlabeled are positive, or the scorer was"
            " trained on these rows; use out-of-fold scores",
            MisfitWarning,
            stacklevel=3,
        )
    elif auc - 2 * auc_error(counts, auc) < 0.5:  # noqa: PLR2004 - a coin's AUC
        warnings.warn(
            f"the scores do not tell labelled from unlabeled rows (AUC {auc:.3f}): either nearly"
            " all unlabeled rows are positive, or the scores are useless",
            MisfitWarning,
            stacklevel=3,
        )
    if counts.n_positive < 30:  # noqa: PLR2004 - the usual rule of thumb
        warnings.warn(
            f"only {counts.n_positive:g} labelled positives: intervals may be too narrow",
            SmallSampleWarning,
            stacklevel=3,
        )


def _as_matrix(X: Any) -> Array:  # noqa: N803 - as in scikit-learn
    features = np.asarray(X, float)
    if features.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise InputError(f"X must have two dimensions; got {features.ndim}: use X.reshape(-1, 1)")
    if not np.all(np.isfinite(features)):
        raise InputError("X must be finite; got missing or infinite values: impute them first")
    return features


def _drawn(rows: Array, rng: np.random.Generator) -> Array:
    return rows[rng.integers(len(rows), size=len(rows))]
