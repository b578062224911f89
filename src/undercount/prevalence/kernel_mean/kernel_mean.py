"""KM1 and KM2: the share at which an extrapolated kernel mean leaves the hull (2016)."""

import math
from dataclasses import asdict, field
from typing import Any, Self

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, check_choice, warn
from undercount.estimate import Interval
from undercount.prevalence.base import (
    FeatureEstimator,
    Fitted,
    PrevalenceEstimator,
    ScoreEstimator,
    estimator,
)
from undercount.prevalence.kernel_mean.distance import (
    LARGEST_EXTRAPOLATION,
    RESOLUTION,
    HullDistance,
    KernelMeans,
    kernel_means,
)
from undercount.prevalence.kernel_mean.width import point_kernel, row_kernel
from undercount.prevalence.ranks import rank_shares, sum_in_bins
from undercount.prevalence.upper_bound import effective_sizes

# What is left of [1, LARGEST_EXTRAPOLATION] when it has been halved
# until it is no wider than RESOLUTION.
SEARCH_CELL = (LARGEST_EXTRAPOLATION - 1) / 2 ** math.ceil(
    math.log2((LARGEST_EXTRAPOLATION - 1) / RESOLUTION)
)
LEAST_CELL_SHARE = 1e-6  # of a share: rounding
# Kernel means closer than this many times their noise may belong to one distribution.
LEAST_SEPARATION = 1.3
VARIANTS = ("KM1", "KM2")
SCORE_BINS = 512
# A resample shows noise, not the third digit: fewer bins make it five times cheaper.
RESAMPLE_BINS = 128
SCORE_RESAMPLES = 100


def point_kernel_means(
    location: FloatArray,
    labelled: FloatArray,
    unlabeled: FloatArray,
    *,
    n_labelled: float,
    n_unlabeled: float,
) -> KernelMeans:
    """Run KM1 and KM2 on weighted points of a line (bins of scores, say), in ascending order.

    Each sample has a weight at each point (a count or a share) and an effective size.

    Examples
    --------
    >>> from undercount.prevalence.kernel_mean.kernel_mean import point_kernel_means
    >>> found = point_kernel_means(
    ...     [0.0, 0.9, 1.0], [0, 30, 70], [750, 75, 175], n_labelled=100, n_unlabeled=1000
    ... )
    >>> round(found.km1, 2), round(found.km2, 2)
    (0.24, 0.24)
    """
    place = np.asarray(location, float)
    positive, rest = np.asarray(labelled, float), np.asarray(unlabeled, float)
    positive, rest = positive / positive.sum(), rest / rest.sum()
    weight = n_labelled * positive + n_unlabeled * rest
    kernel = point_kernel(place, positive, rest, weight)
    distance = HullDistance(kernel.matrix, positive, rest)
    return kernel_means(distance, kernel.width, n_labelled, n_unlabeled)


def score_kernel_means(counts: ScoreCounts, *, n_bins: int = SCORE_BINS) -> KernelMeans:
    """Run KM1 and KM2 on bins of the balanced mid-rank of scores; known negatives are left out.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.kernel_mean.kernel_mean import score_kernel_means
    >>> counts = uc.ScoreCounts.from_counts([2.0, 1.0], [50, 0], [0, 0], [30, 70])
    >>> round(score_kernel_means(counts).km1, 1)
    0.3
    """
    m, n = effective_sizes(counts)
    return point_kernel_means(*rank_bins(counts, n_bins), n_labelled=m, n_unlabeled=n)


def rank_bins(counts: ScoreCounts, n_bins: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (centre, labelled, unlabeled): shares in the non-empty equal-width bins of rank."""
    shares = rank_shares(counts)
    bins = np.minimum((shares.rank * n_bins).astype(int), n_bins - 1)
    labelled = sum_in_bins(bins, shares.labelled, n_bins)
    unlabeled = sum_in_bins(bins, shares.unlabeled, n_bins)
    keep = (labelled + unlabeled) > 0
    return (np.flatnonzero(keep) + 0.5) / n_bins, labelled[keep], unlabeled[keep]


def feature_kernel_means(labelled: FloatArray, unlabeled: FloatArray) -> KernelMeans:
    """Run KM1 and KM2 on the rows of two feature matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.kernel_mean.kernel_mean import feature_kernel_means
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(4, 1, (100, 2))
    >>> rest = np.concatenate([rng.normal(4, 1, (60, 2)), rng.normal(0, 1, (140, 2))])
    >>> 0.2 < feature_kernel_means(positive, rest).km1 < 0.4
    True
    """
    rows = np.concatenate([unlabeled, labelled])
    is_labelled = np.arange(len(rows)) >= len(unlabeled)
    positive, rest = is_labelled / len(labelled), ~is_labelled / len(unlabeled)
    kernel = row_kernel(rows, positive, rest)
    distance = HullDistance(kernel.matrix, positive, rest)
    return kernel_means(distance, kernel.width, len(labelled), len(unlabeled))


@estimator
class KernelMean(PrevalenceEstimator):
    """Estimate the share of positives among the unlabeled by kernel means (KM1, KM2).

    The mean of the unlabeled rows in a kernel's feature space is pushed away from the mean of
    the labelled ones; while it stays in the convex hull of the data, it can be the mean of a
    distribution, namely of the negatives. Where the distance from the hull begins to rise gives
    the share (Ramaswamy, Scott, Tewari 2016, "Mixture proportion estimation via kernel
    embeddings of distributions").

    Parameters
    ----------
    variant : {"KM1", "KM2"}
        KM1 takes as the beginning a slope of 1/√(smaller sample), KM2 one of 0.8 times the
        initial plus 0.2 times the final slope.
    n_bins : int
        Bins of the balanced mid-rank when fitted on scores.
    max_rows : int
        Rows used when fitted on features; more are sampled down, both kinds alike.
    n_resamples : int, optional
        Bootstrap resamples of ``interval_``; 100 on scores, none on features when omitted (each
        costs as much as the estimate itself).

    Attributes
    ----------
    interval_ : Interval or None
        Sampling noise and the steps of the search only: at a nominal 95 % it held the truth in 42
        of 64 simulated problems (KM2: 43), because the method's bias is not in it. ``Consensus``
        has an interval that covers.
    diagnostics_ : dict
        ``km1``, ``km2``, ``width`` of the kernel, ``n_programmes`` solved, ``separation`` of the
        two means (1 is what noise gives), and on features ``n_rows`` used.

    Notes
    -----
    Assumes: labels given at random among the positives, and some region without negatives.
    Wrong when: more than 7/8 of the unlabeled are positive (the search ends there, and where all
    are, the rules compare noise with noise: a warning says so), or the features have very
    different scales (scale them first; scores are ranked, so they need none).

    The published search stops at steps of 7/256 in 1 / (1 - share), so that answers lie .027 apart
    near 0 (1.3 %, 3.9 %, 6.4 %, …) and .007 near a half; ``interval_`` holds the steps.
    """

    variant: str = field(default="KM1", kw_only=False)
    n_bins: int = SCORE_BINS
    max_rows: int = 4000
    n_resamples: int | None = None  # type: ignore[assignment]  # None: depends on the input

    def fit(
        self, y: Any, X: Any = None, *, unlabeled: Any = None, sample_weight: Any = None
    ) -> Self:
        """Estimate the share of positives among the unlabeled rows.

        Parameters
        ----------
        y : array-like or ScoreCounts
            1 positive, 0 negative, missing unlabeled; or counts, and then ``X`` is omitted.
        X : array-like
            Scores (one dimension) or features (two).
        unlabeled : optional
            The value of ``y`` that means unlabeled (0 or -1, say).
        sample_weight : array-like, optional
            Only with scores.

        Returns
        -------
        self
        """
        check_choice("variant", self.variant, VARIANTS)
        on_features = not isinstance(y, ScoreCounts) and np.ndim(X) == 2  # noqa: PLR2004
        settings: dict[str, Any] = self.get_params(deep=False)
        n_bins, max_rows = settings.pop("n_bins"), settings.pop("max_rows")
        if self.n_resamples is None:
            settings["n_resamples"] = 0 if on_features else SCORE_RESAMPLES
        fitted: PrevalenceEstimator
        if on_features:
            if sample_weight is not None:
                raise InputError("sample_weight needs scores; KernelMean on features takes none")
            fitted = _OnFeatures(max_rows=max_rows, **settings).fit(y, X, unlabeled=unlabeled)
        else:
            scores = _OnScores(n_bins=n_bins, **settings)
            fitted = scores.fit(y, X, unlabeled=unlabeled, sample_weight=sample_weight)
        values = dict(vars(fitted))
        share, interval = values["unlabeled_prevalence_"], values["interval_"]
        widened = widen_by_steps(share, interval, values["standard_error_"])
        values["interval_"], values["standard_error_"] = widened
        if interval is not None:
            warn_about_steps(self.variant, share)
        self.__dict__.pop("n_features_in_", None)  # of an earlier fit on features
        self.__dict__.update({name: value for name, value in values.items() if name.endswith("_")})
        return self


@estimator
class _OnScores(ScoreEstimator):
    _by_order = True

    variant: str
    n_bins: int

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        return _as_fitted(score_kernel_means(counts, n_bins=self.n_bins), self.variant)

    def _resampling_method(self, _counts: ScoreCounts, _rng: np.random.Generator) -> ScoreEstimator:
        return _OnScores(variant=self.variant, n_bins=min(self.n_bins, RESAMPLE_BINS))


@estimator
class _OnFeatures(FeatureEstimator):
    variant: str
    max_rows: int

    def _estimate(
        self, labelled: FloatArray, unlabeled: FloatArray, rng: np.random.Generator
    ) -> Fitted:
        share = min(1.0, self.max_rows / (len(labelled) + len(unlabeled)))
        parts = [
            rows
            if share == 1
            else rows[rng.permutation(len(rows))[: max(1, round(share * len(rows)))]]
            for rows in (labelled, unlabeled)
        ]
        fitted = _as_fitted(feature_kernel_means(*parts), self.variant)
        _warn_about_means(fitted.diagnostics["separation"])
        fitted.diagnostics["n_rows"] = sum(map(len, parts))
        return fitted


def _as_fitted(found: KernelMeans, variant: str) -> Fitted:
    return Fitted(found.km1 if variant == "KM1" else found.km2, diagnostics=asdict(found))


def _warn_about_means(separation: float) -> None:
    """Warn of kernel means of features that are hardly apart."""
    if separation < LEAST_SEPARATION:
        warn(
            MisfitWarning(
                f"labelled and unlabeled rows are hardly told apart (their kernel means are"
                f" {separation:.1f} times as far apart as by noise): nearly all unlabeled rows may"
                " be positive, or the features say nothing, and KernelMean's answer means little"
            ),
            stacklevel=5,
        )


def search_cell(share: float) -> Interval:
    """Return the shares that the search does not tell from its answer.

    Examples
    --------
    >>> from undercount.prevalence.kernel_mean.kernel_mean import search_cell
    >>> lowest, middle = search_cell(0.0135), search_cell(0.5)
    >>> round(lowest.low, 3), round(lowest.high, 3)
    (0.0, 0.027)
    >>> round(middle.low, 3), round(middle.high, 3)
    (0.497, 0.503)
    """
    middle = 1 / (1 - share)
    low, high = max(1.0, middle - SEARCH_CELL / 2), middle + SEARCH_CELL / 2
    # In the last cell the search was stopped by its limit: any larger share would end there too.
    stopped = middle > LARGEST_EXTRAPOLATION - SEARCH_CELL
    return Interval(1 - 1 / low, 1.0 if stopped else 1 - 1 / high)


def widen_by_steps(
    share: float, interval: Interval | None, error: float
) -> tuple[Interval | None, float]:
    """Widen an interval of answers, and their standard error, by the steps between answers."""
    if interval is None:
        return None, error
    own, low, high = (search_cell(end) for end in (share, interval.low, interval.high))
    step = (own.high - own.low) / math.sqrt(12)  # of a number that was rounded
    return Interval(min(own.low, low.low), max(own.high, high.high)), math.hypot(error, step)


def warn_about_steps(name: str, share: float) -> None:
    """Warn of the lowest answer, which stands for every share below it."""
    if search_cell(share).low < LEAST_CELL_SHARE:
        warn(
            MisfitWarning(
                f"{share:.1%} is the lowest answer that {name} can give: it stands for every share"
                f" from 0 to {search_cell(share).high:.1%}"
            ),
            stacklevel=3,
        )
