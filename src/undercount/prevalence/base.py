"""What every prevalence estimator shares: input, checks, resampling, result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.estimate import Estimate, Interval
from undercount.prevalence.checks import (
    as_counts,
    as_matrix,
    check_counts,
    check_sizes,
    warn_about_scores,
    warn_about_size,
)
from undercount.prevalence.ranks import Array, Mask, labelled_auc, merged
from undercount.prevalence.resampling import holding, resampled_counts
from undercount.prevalence.spreading import spread

SAMPLINGS = ("single-sample", "case-control")
NEEDS = ("random labels", "scores that only positives reach")
# A resample only has to show sampling noise, so it may work on coarse cells.
RESAMPLE_CELLS = 2048


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
    _pure_labels = False  # whether every label is taken for right

    unlabeled_prevalence_: float
    interval_: Interval | None
    upper_bound_: float | None
    standard_error_: float
    diagnostics_: dict[str, Any]
    label_purity_: float
    n_labelled_: float
    n_unlabeled_: float
    n_negative_: float
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
        value, error, name = self.unlabeled_prevalence_, self.standard_error_, type(self).__name__
        low, high, level = interval.low, interval.high, self.confidence_level
        return Estimate(value, low, high, error, level, self._needs, name)

    def _check_parameters(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise InputError(f"sampling must be one of {SAMPLINGS}; got {self.sampling!r}")
        if not 0 < self.confidence_level < 1:
            raise InputError(f"confidence_level must lie in (0, 1); got {self.confidence_level}")
        if self.n_resamples < 0:
            raise InputError(f"n_resamples must not be negative; got {self.n_resamples}")

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)

    def _store(self, fitted: Fitted, resampled: Array, *sizes: float) -> Self:
        """Keep what was found; sizes are the labelled, unlabeled and (if any) negative rows."""
        interval, error = self._spread(fitted, resampled)
        self.unlabeled_prevalence_ = float(fitted.value)
        self.interval_, self.standard_error_ = interval, error
        self.upper_bound_ = None if fitted.upper_bound is None else float(fitted.upper_bound)
        self.diagnostics_ = dict(fitted.diagnostics)
        self.n_labelled_, self.n_unlabeled_ = float(sizes[0]), float(sizes[1])
        self.n_negative_ = float(sum(sizes[2:]))
        if fitted.label_purity is not None:
            self.label_purity_ = float(fitted.label_purity)
        self._store_prevalence(1.0 if fitted.label_purity is None else fitted.label_purity)
        return self

    def _store_prevalence(self, purity: float) -> None:
        """Translate the share among the unlabeled (maths of both samplings)."""
        positives = purity * self.n_labelled_
        hidden = self.unlabeled_prevalence_ * self.n_unlabeled_
        single = self.sampling == "single-sample"
        total = self.n_labelled_ + self.n_unlabeled_ + self.n_negative_
        self.prevalence_ = (positives + hidden) / total if single else self.unlabeled_prevalence_
        # In case-control data the number of labels is the designer's choice.
        self.label_frequency_ = positives / (positives + hidden) if single else float("nan")

    def _spread(self, fitted: Fitted, resampled: Array) -> tuple[Interval | None, float]:
        tail = (1 - self.confidence_level) / 2
        interval, error = fitted.interval, fitted.standard_error
        if interval is None and resampled.size:
            low, high = np.quantile(resampled, [tail, 1 - tail])
            interval = holding(Interval(float(low), float(high)), fitted.value)
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

    _pure_labels = True
    _resample_cells = RESAMPLE_CELLS
    _judges_scores = True  # whether labelled against unlabeled rows must tell something

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
            1 positive, 0 negative, missing unlabeled; or counts (also compact ones), and then
            ``score`` is omitted.
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
        counts = as_counts(y, score, unlabeled=unlabeled, sample_weight=sample_weight)
        counts = spread(counts)
        check_counts(counts)
        auc = labelled_auc(counts)
        if self._judges_scores:
            warn_about_scores(counts, auc)
        fitted = self._estimate(counts)
        fitted = Fitted(**{**vars(fitted), "diagnostics": {"auc_pu": auc, **fitted.diagnostics}})
        resampled = np.empty(0)
        if fitted.interval is None and self.n_resamples:
            resampled = self._resample(counts)
        if fitted.interval is not None or resampled.size:
            warn_about_size(counts)
        sizes = counts.n_positive, counts.n_unlabeled, counts.n_negative
        return self._store(fitted, resampled, *sizes)

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
        return np.asarray(found[np.isfinite(found)])


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

    _pure_labels = True
    n_features_in_: int

    def fit(self, y: Any, X: Any, *, unlabeled: Any = None) -> Self:
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
        features = as_matrix(X)
        is_positive, is_unlabeled = label_masks(y, len(features), unlabeled=unlabeled)
        labelled, rest = features[is_positive], features[is_unlabeled]
        check_sizes(len(labelled), len(rest))
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
        sizes = len(labelled), len(rest), len(features) - len(labelled) - len(rest)
        return self._store(fitted, resampled, *sizes)

    def _estimate(self, labelled: Array, unlabeled: Array, rng: np.random.Generator) -> Fitted:
        raise NotImplementedError


def label_masks(y: Any, n_rows: int, *, unlabeled: Any = None) -> tuple[Mask, Mask]:
    """Return masks of the labelled positive and of the unlabeled rows, in the rows' order."""
    # Descending positions as scores: the table's cells are then the rows in their order.
    counts = ScoreCounts.from_rows(y, -np.arange(float(n_rows)), unlabeled=unlabeled)
    return counts.positive > 0, counts.unlabeled > 0


def _drawn(rows: Array, rng: np.random.Generator) -> Array:
    return rows[rng.integers(len(rows), size=len(rows))]
