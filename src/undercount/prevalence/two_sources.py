"""The share of positives from two sources of labels that overlap: capture and recapture."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.count.arrays import check_row_order, read_labels, read_weights
from undercount.curve import FloatArray
from undercount.errors import (
    MISSING_DATA,
    InputError,
    MisfitWarning,
    SmallSampleWarning,
    collect_warnings,
    warn,
)
from undercount.estimate import Estimate, Interval
from undercount.infer.clusters import Codes, read_clusters
from undercount.prevalence.base import Fitted, PrevalenceEstimator
from undercount.prevalence.fair_scores import ScoreTest, compare_sources

Hits: TypeAlias = NDArray[np.bool_]
# Positives found by both from which Chapman's estimate is nearly unbiased (Robson and Regier 1964).
FEWEST_BOTH = 7
# What the share rests on: sources that do not find the same positives, or a given dependence.
INDEPENDENT_SOURCES = "independent sources"
GIVEN_DEPENDENCE = "the dependence of the sources"


class TwoSources(PrevalenceEstimator):
    """Estimate the share of hidden positives from two sources that label independently.

    What part of the second source's positives the first one knows is what part of all positives it
    knows. With n1 and n2 positives and m found by both there are (n1 + 1)(n2 + 1)/(m + 1) - 1 in
    all (Chapman 1951). If the sources depend, with odds ratio θ, those that neither found are θ
    times as many: they help each other above 1 (a chargeback triggers a review), avoid each other
    below 1.

    Parameters
    ----------
    odds_ratio : float or (low, high)
        Odds of being found by one source for a positive that the other found, over those for one
        that it did not; 1 means independent. A range gives an interval that holds for all of it.
    confidence_level : float

    Attributes
    ----------
    unlabeled_prevalence_ : float
        Share of positives among the rows that no source labelled; of a range of odds ratios at
        its geometric mean.
    interval_ : Interval
        Log-normal in the number of hidden positives (Chao 1987).
    labels_ : array or None
        1 where either source found a positive, NaN elsewhere: the `y` for `evaluate`.
    diagnostics_ : dict
        ``n_first``, ``n_second``, ``n_both``, ``positives``.

    Notes
    -----
    Assumes: each positive is found by one source with a chance that the other does not change, and
    that is the same for all positives in at least one of them; no source calls a negative positive.
    Of clusters: that clusters are independent, and of pairs in one what is said of rows.
    Wrong when: easy positives are found by both (the estimate is then too low), or each source
    looks where the other does not (too high); `sensitivity` shows how far that moves it.

    References
    ----------
    Chapman 1951, Some properties of the hypergeometric distribution; Chao 1987, Biometrics 43.

    Examples
    --------
    >>> from undercount.prevalence import TwoSources
    >>> found = TwoSources().fit_counts(n_first=200, n_second=150, n_both=60, n_rows=10_000)
    >>> round(found.diagnostics_["positives"]), round(found.unlabeled_prevalence_, 4)
    (497, 0.0213)
    """

    _needs = (INDEPENDENT_SOURCES,)

    labels_: FloatArray | None
    found_: tuple[Hits, Hits] | None

    def __init__(
        self, *, odds_ratio: float | tuple[float, float] = 1.0, confidence_level: float = 0.95
    ) -> None:
        super().__init__(confidence_level=confidence_level, n_resamples=0)
        self.odds_ratio = odds_ratio

    def fit(
        self, first: Any, second: Any, *, sample_weight: Any = None, cluster: Any = None
    ) -> Self:
        """Read what each source found: 1 positive, anything else (0, missing) not found.

        Parameters
        ----------
        first, second : array-like
            One value a row, of the same rows.
        sample_weight : array-like, optional
            Weight of each row; the share is then one of weights.
        cluster : array-like, optional
            Whose each row is, if a source finds rows of a cluster together.
        """
        check_row_order(first=first, second=second)
        hits = _found(first), _found(second)
        if len(hits[0]) != len(hits[1]):
            raise InputError(
                f"both sources must be about the same rows; got {len(hits[0]):,} and "
                f"{len(hits[1]):,}"
            )
        weights = np.ones(len(hits[0]))
        if sample_weight is not None:
            weights = np.asarray(read_weights(sample_weight, len(weights)), np.float64)
        codes = None if cluster is None else read_clusters(cluster, len(weights))
        self._fit(Overlap.of(*hits, weights, codes))
        self.labels_ = np.where(hits[0] | hits[1], 1.0, np.nan)
        self.found_ = hits
        return self

    def with_rows(self, sample_weight: Any, cluster: Any) -> Self:
        """Return the same fitted once more, with weights and clusters of the rows."""
        if self.found_ is None:
            raise InputError(
                "with weights or clusters two sources need the rows that each found, and this "
                "estimator was fitted with counts; call fit(first, second)",
                code=MISSING_DATA,
                argument="cluster" if sample_weight is None else "sample_weight",
            )
        with collect_warnings():  # the first fit has warned
            return copy.copy(self).fit(*self.found_, sample_weight=sample_weight, cluster=cluster)

    def compare_scores(self, score: Any) -> ScoreTest:
        """Test whether a source prefers high or low scores among what the other found.

        Needs the rows of `fit`; counts do not say which positives both found.
        """
        scores = np.asarray(score, np.float64)
        if self.found_ is None or len(scores) != len(self.found_[0]):
            raise InputError("score must be of the rows that the sources were fitted with")
        return compare_sources(scores, *self.found_)

    def fit_counts(self, n_first: float, n_second: float, n_both: float, n_rows: float) -> Self:
        """Read how many positives each source found, how many both, and how many rows there are."""
        return self._fit(Overlap(*map(float, (n_first, n_second, n_both, n_rows))))

    def _fit(self, sizes: "Overlap") -> Self:
        self._check_parameters()
        low, high = _read_range(self.odds_ratio)
        sizes.check()
        self._sizes = sizes
        self.labels_ = self.found_ = None
        middle = self._at(math.sqrt(low * high))
        ends = self._at(low).low, self._at(high).high
        fitted = Fitted(
            middle.value,
            interval=Interval(*ends),
            standard_error=middle.standard_error,
            diagnostics={
                "n_first": sizes.first,
                "n_second": sizes.second,
                "n_both": sizes.both,
                "positives": sizes.union + middle.value * sizes.unlabeled,
            },
        )
        return self._store(fitted, np.empty(0), sizes.union, sizes.unlabeled)

    def sensitivity(
        self, odds_ratios: Sequence[float] = (0.5, 2 / 3, 1.0, 1.5, 2.0, 3.0)
    ) -> dict[float, Estimate]:
        """Return the share for sources that depend: odds ratio → share with interval.

        Examples
        --------
        >>> from undercount.prevalence import TwoSources
        >>> found = TwoSources().fit_counts(200, 150, 60, 10_000).sensitivity([1, 2])
        >>> [round(each.value, 3) for each in found.values()]
        [0.021, 0.043]
        """
        if not hasattr(self, "_sizes"):
            raise InputError("call fit before sensitivity; this TwoSources is not fitted")
        return {ratio: self._at(_read_range(ratio)[0]) for ratio in odds_ratios}

    def _at(self, odds_ratio: float) -> Estimate:
        """Return the share at one odds ratio."""
        sizes, unlabeled = self._sizes, self._sizes.unlabeled
        value, error = odds_ratio * sizes.hidden, odds_ratio * math.sqrt(sizes.variance)
        if value > unlabeled:
            warn(
                MisfitWarning(
                    f"the sources would leave {value:,.0f} positives among {unlabeled:,.0f} rows; "
                    "all of these are taken for positive"
                )
            )
        z = float(ndtri((1 + self.confidence_level) / 2))
        low, high = (
            0.0,
            odds_ratio * -math.log((1 - self.confidence_level) / 2) * sizes.most_hidden,
        )
        if value > 0:
            factor = math.exp(z * math.sqrt(math.log1p((error / value) ** 2)))
            low, high = value / factor, value * factor
        share, low, high = (min(number / unlabeled, 1.0) for number in (value, low, high))
        name, level = type(self).__name__, self.confidence_level
        return Estimate(share, low, high, error / unlabeled, level, self._needs, name)


@dataclass(frozen=True)
class Overlap:
    """Hold how many positives each source found, how many both, and how many rows there are.

    Attributes
    ----------
    first, second, both, rows : float
        Numbers of rows, or sums of their weights.
    unit : float
        What one row counts for: of weighted rows the mean weight of a found row, by weight.
    effect : float
        How many times as large weights and clusters make the variance.
    """

    first: float
    second: float
    both: float
    rows: float
    unit: float = 1.0
    effect: float = 1.0

    @classmethod
    def of(cls, first: Hits, second: Hits, weights: FloatArray, codes: Codes | None) -> Self:
        """Add up rows."""
        one, other, both = (float(weights[hits].sum()) for hits in (first, second, first & second))
        either = weights[first | second]
        if not either.any():
            return cls(one, other, both, float(weights.sum()))
        unit = float(either @ either) / float(either.sum())
        sizes = cls(one, other, both, float(weights.sum()), unit)
        plain = sizes.unit * sizes.spread
        if not plain > 0:
            return sizes
        variance = sizes.row_variance(first, second, weights)
        if codes is not None:
            variance += sizes.pair_variance(first, second, weights, codes)
        return replace(sizes, effect=variance / plain)

    @property
    def alone(self) -> float:
        """What the first source alone found."""
        return self.first - self.both

    @property
    def apart(self) -> float:
        """What the second source alone found."""
        return self.second - self.both

    @property
    def union(self) -> float:
        """What either found."""
        return self.first + self.second - self.both

    @property
    def unlabeled(self) -> float:
        """What neither found, positive or not."""
        return self.rows - self.union

    @property
    def hidden(self) -> float:
        """Chapman's total less those that were found."""
        return self.alone * self.apart / (self.both + self.unit)

    @property
    def most_hidden(self) -> float:
        """What a Poisson limit is multiplied with where one source found nothing alone."""
        return max(self.alone, self.apart, self.unit) / (self.both + self.unit)

    @property
    def variance(self) -> float:
        """The variance of the number of hidden positives."""
        both, unit = self.both, self.unit
        product = (self.first + unit) * (self.second + unit) * self.alone * self.apart
        return unit * self.effect * product / ((both + unit) ** 2 * (both + 2 * unit))

    @property
    def spread(self) -> float:
        """The variance without Chapman's ones, n1 n2 (n1 - m)(n2 - m)/m³; 0 without overlap."""
        if self.both == 0:
            return 0.0
        return self.first * self.second * self.alone * self.apart / self.both**3

    def row_variance(self, first: Hits, second: Hits, weights: FloatArray) -> float:
        """Return the variance of independent rows, by what each of them moves n1 n2/m less P.

        A row that a source found with chance p moves it by (x1/p1 - 1)(1 - x2/p2): a hidden one by
        -1, and the weights of hidden rows are those of found ones.
        """
        by_first, by_second = self.both / self.second, self.both / self.first
        moves = weights * (1 - first / by_first) * (1 - second / by_second)
        found = moves[first | second]
        return float(found @ found) + self.unit * self.alone * self.apart / self.both

    def pair_variance(self, first: Hits, second: Hits, weights: FloatArray, codes: Codes) -> float:
        """Return what pairs of positives of one cluster add to the variance.

        Pairs that either source found, and both, tell how many there are as single rows do, and
        how much more often than two strangers a source finds both rows of a pair.
        """
        pairs = [_pairs(weights * hits, codes) for hits in (first, second, first & second)]
        if min(pairs) <= 0:
            return 0.0
        of_first, of_second, of_both = pairs
        by_first, by_second = self.both / self.second, self.both / self.first
        likeness = (of_both / of_second / by_first**2 - 1) * (of_both / of_first / by_second**2 - 1)
        return max(of_first * of_second / of_both * likeness, 0.0)

    def check(self) -> None:
        """Raise unless such counts are possible and tell anything; warn of a small overlap."""
        first, second, both = self.first, self.second, self.both
        if not (0 <= both <= min(first, second) and self.union < self.rows):
            raise InputError(
                "0 <= n_both <= n_first, n_second and rows that no source labelled are needed; got "
                f"{first:g}, {second:g}, {both:g} of {self.rows:g}"
            )
        if min(first, second) == 0:
            raise InputError(f"each source must find a positive (1); got {first:g} and {second:g}")
        if both / self.unit < FEWEST_BOTH:
            warn(
                SmallSampleWarning(
                    f"only {both / self.unit:g} positives were found by both sources; with fewer "
                    f"than {FEWEST_BOTH} the share may be far too low"
                )
            )


def _pairs(weights: FloatArray, codes: Codes) -> float:
    """Return the sum of products of the weights of two rows of one cluster, in either order."""
    sums = np.bincount(codes, weights)
    return float(sums @ sums - weights @ weights)


def _found(labels: Any) -> Hits:
    """Tell the rows that a source found positive."""
    return np.asarray(read_labels(labels, None) == 1)


def _read_range(odds_ratio: Any) -> tuple[float, float]:
    """Return the ends of a range of odds ratios; one number is both."""
    ends = odds_ratio if isinstance(odds_ratio, tuple | list) else (odds_ratio, odds_ratio)
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not 0 < low <= high < math.inf:
        raise InputError(
            f"odds_ratio must be a number above 0 or a range (low, high); got {odds_ratio!r}"
        )
    return low, high
