"""The share of positives from two sources of labels that overlap: capture and recapture."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri

from undercount.count.arrays import check_row_order, read_labels
from undercount.errors import InputError, MisfitWarning, SmallSampleWarning, warn
from undercount.estimate import Estimate, Interval
from undercount.prevalence.base import Fitted, PrevalenceEstimator
from undercount.prevalence.fair_scores import ScoreTest, compare_sources

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    labels_: "NDArray[np.float64] | None"
    found_: "tuple[NDArray[np.bool_], NDArray[np.bool_]] | None"

    def __init__(
        self, *, odds_ratio: float | tuple[float, float] = 1.0, confidence_level: float = 0.95
    ) -> None:
        super().__init__(confidence_level=confidence_level, n_resamples=0)
        self.odds_ratio = odds_ratio

    def fit(self, first: Any, second: Any) -> Self:
        """Read what each source found: 1 positive, anything else (0, missing) not found.

        Parameters
        ----------
        first, second : array-like
            One value a row, of the same rows.
        """
        check_row_order(first=first, second=second)
        hits = [_found(source) for source in (first, second)]
        if len(hits[0]) != len(hits[1]):
            raise InputError(
                f"both sources must be about the same rows; got {len(hits[0]):,} and "
                f"{len(hits[1]):,}"
            )
        either = hits[0] | hits[1]
        one, other, both = (int(np.count_nonzero(source)) for source in (*hits, hits[0] & hits[1]))
        self.fit_counts(one, other, both, len(either))
        self.labels_ = np.where(either, 1.0, np.nan)
        self.found_ = hits[0], hits[1]
        return self

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
        self._check_parameters()
        low, high = _read_range(self.odds_ratio)
        union = n_first + n_second - n_both
        if not (0 <= n_both <= min(n_first, n_second) and union < n_rows):
            raise InputError(
                "0 <= n_both <= n_first, n_second and rows that no source labelled are needed; got "
                f"{n_first:g}, {n_second:g}, {n_both:g} of {n_rows:g}"
            )
        if min(n_first, n_second) == 0:
            raise InputError(
                f"each source must find a positive (1); got {n_first:g} and {n_second:g}"
            )
        if n_both < FEWEST_BOTH:
            warn(
                SmallSampleWarning(
                    f"only {n_both:g} positives were found by both sources; with fewer than "
                    f"{FEWEST_BOTH} the share may be far too low"
                )
            )
        self._sizes = (float(n_first), float(n_second), float(n_both), float(n_rows))
        self.labels_ = self.found_ = None
        middle = self._at(math.sqrt(low * high))
        ends = self._at(low).low, self._at(high).high
        fitted = Fitted(
            middle.value,
            interval=Interval(*ends),
            standard_error=middle.standard_error,
            diagnostics={
                "n_first": n_first,
                "n_second": n_second,
                "n_both": n_both,
                "positives": union + middle.value * (n_rows - union),
            },
        )
        return self._store(fitted, np.empty(0), union, n_rows - union)

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
        first, second, both, rows = self._sizes
        alone, apart = first - both, second - both
        unlabeled = rows - (alone + apart + both)
        hidden = alone * apart / (both + 1)  # Chapman's total less those that were found
        variance = (first + 1) * (second + 1) * alone * apart / ((both + 1) ** 2 * (both + 2))
        value, error = odds_ratio * hidden, odds_ratio * math.sqrt(variance)
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
            odds_ratio
            * -math.log((1 - self.confidence_level) / 2)
            * max(alone, apart, 1.0)
            / (both + 1),
        )
        if hidden > 0:
            factor = math.exp(z * math.sqrt(math.log1p((error / value) ** 2)))
            low, high = value / factor, value * factor
        share, low, high = (min(number / unlabeled, 1.0) for number in (value, low, high))
        name, level = type(self).__name__, self.confidence_level
        return Estimate(share, low, high, error / unlabeled, level, self._needs, name)


def _found(labels: Any) -> "NDArray[np.bool_]":
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
