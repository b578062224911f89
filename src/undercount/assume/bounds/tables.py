"""Contingency tables at every score, and how many hidden positives they may hold."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, Rates, ratio
from undercount.errors import InputError, MisfitWarning, warn
from undercount.shares import Shares

Rounding: TypeAlias = Literal["sharp", "paper", "none"]
ROUNDINGS = get_args(Rounding)
# Rounding of floating-point products, in rows; always given to the wider side.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class ContingencyTables(Rates[FloatArray]):
    """Hold one contingency table a score, descending; rows at least as high are predicted positive.

    Every metric of `OperatingCurve` is an array here as well, one entry a score.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.assume.bounds.tables import ContingencyTables
    >>> tables = ContingencyTables(
    ...     threshold=np.array([0.9, 0.4]),
    ...     tp=np.array([3.0, 4.0]),
    ...     fp=np.array([1.0, 6.0]),
    ...     fn=np.array([1.0, 0.0]),
    ...     tn=np.array([5.0, 0.0]),
    ... )
    >>> tables.precision, tables.f1.round(3), round(tables.curve.roc_auc, 3)
    (array([0.75, 0.4 ]), array([0.75 , 0.571]), 0.792)
    """

    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray
    merged: NDArray[np.bool_] | None = None

    @property
    def tpr(self) -> FloatArray:  # type: ignore[override]
        """True-positive rate."""
        return ratio(self.tp, self.tp + self.fn, "tpr")

    @property
    def fpr(self) -> FloatArray:  # type: ignore[override]
        """False-positive rate."""
        return ratio(self.fp, self.fp + self.tn, "fpr")

    @property
    def prevalence(self) -> float:  # type: ignore[override]
        """Share of positives, the same in every table."""
        positives = self.tp[-1] + self.fn[-1]
        return float(positives / (positives + self.fp[-1] + self.tn[-1]))

    @property
    def curve(self) -> OperatingCurve:
        """The points in order of (FPR, TPR) from (0, 0) to (1, 1).

        Sorted because a bound taken at each score alone may lose false positives from one score
        to the next.
        """
        return sorted_curve(self, self.tpr, self.fpr)


def sorted_curve(cells: ContingencyTables, tpr: FloatArray, fpr: FloatArray) -> OperatingCurve:
    """Order rates along the thresholds of `cells` by (FPR, TPR), with (0, 0) added."""
    tpr, fpr = np.append(0.0, tpr), np.append(0.0, fpr)
    # Equal rates may differ in the last bit when rows are weighted; they keep their order.
    order = np.lexsort((tpr.round(12), fpr.round(12)))
    threshold = np.append(np.inf, cells.threshold)[order]
    merged = None if cells.merged is None else np.append(False, cells.merged)[order]
    return OperatingCurve(threshold, tpr[order], fpr[order], cells.prevalence, merged)


@dataclass(frozen=True)
class TableBounds:
    """Hold the worst and the best contingency tables, and how badly the assumptions fit.

    Attributes
    ----------
    pessimistic, optimistic : ContingencyTables
        Fewest and most true positives at each score.
    misfit : float
        Rows by which the whole band lies outside what is possible at some score: 0 unless the
        prevalence, the band or the labels' randomness is wrong.
    clipped : float
        Rows by which an end of the band was moved to a possible number (eq. 11). Ends reach
        beyond the possible also when everything is right.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None, None], [5, 4, 3, 2, 1])
    >>> bounds = uc.bound_tables(
    ...     counts, uc.Shares(1 / 3), lower_cdf=[0, 0, 0, 0, 1], upper_cdf=[1, 1, 1, 1, 1]
    ... )
    >>> bounds.curves.roc_auc, bounds.misfit
    (Interval(low=0.5, high=1.0), 0.0)
    """

    pessimistic: ContingencyTables
    optimistic: ContingencyTables
    misfit: float = 0.0
    clipped: float = 0.0

    @property
    def curves(self) -> CurveBounds:
        """The two ROC curves through the tables."""
        return CurveBounds(self.pessimistic.curve, self.optimistic.curve)


class Targets(NamedTuple):
    """Hidden positives wanted above each score by the two ends of a band, and what is possible."""

    n_hidden: float
    low: FloatArray
    high: FloatArray
    least: FloatArray
    most: FloatArray

    def clip(self, wanted: FloatArray) -> FloatArray:
        """Move to what is possible: eq. 11."""
        return np.clip(wanted, self.least, self.most)

    @property
    def misfit(self) -> float:
        """Rows by which the whole band misses what is possible."""
        too_many, too_few = (self.low - self.most).max(), (self.least - self.high).max()
        missing = float(max(too_many, too_few))
        return missing if missing > TOLERANCE else 0.0

    @property
    def clipped(self) -> float:
        """Rows by which an end of the band was moved."""
        over, under = self.high - self.most, self.least - self.low
        return float(max(over.max(), under.max(), self.misfit, 0))


def targets(
    counts: ScoreCounts, share: float, lower: FloatArray, upper: FloatArray, rounding: Rounding
) -> Targets:
    """Turn limits of the hidden positives' distribution into numbers of rows (eqs 10, 11, 13)."""
    heads = np.cumsum(counts.unlabeled)
    n_hidden = hidden_rows(counts, share, rounding)
    low, high = lower * n_hidden, upper * n_hidden
    if counts.weighted or rounding == "none":
        pass
    elif rounding == "paper":
        low, high = np.floor(low), np.ceil(high)
    else:
        inner_low, inner_high = np.ceil(low - TOLERANCE), np.floor(high + TOLERANCE)
        # A band narrower than a row may hold no whole number; then both neighbours are possible.
        empty = inner_low > inner_high
        low = np.where(empty, np.floor(low), inner_low)
        high = np.where(empty, np.ceil(high), inner_high)
    tail = counts.n_unlabeled - heads
    return Targets(n_hidden, low, high, np.maximum(0, n_hidden - tail), np.minimum(heads, n_hidden))


def hidden_rows(counts: ScoreCounts, share: float, rounding: Rounding) -> float:
    """Return the number of hidden positives, |P_U|: whole unless rows are weighted."""
    hidden = share * counts.n_unlabeled
    if counts.weighted or rounding == "none":
        return hidden
    return float(int(hidden) if rounding == "paper" else int(hidden + 0.5))


def tables(
    counts: ScoreCounts,
    shares: Shares,
    hidden: FloatArray,
    n_hidden: float,
    *,
    cell: NDArray[np.int64] | None = None,
    unlabeled: FloatArray | None = None,
) -> ContingencyTables:
    """Add the hidden positives above each score to the labelled rows (eq. 12).

    One table a score; or one an entry of `cell`, with `unlabeled` rows above it.
    """
    at = slice(None) if cell is None else cell
    heads = np.cumsum(counts.unlabeled) if unlabeled is None else unlabeled
    tp, fp = hidden, heads - hidden
    n_positive, n_negative = n_hidden, counts.n_unlabeled - n_hidden
    # In case-control sampling labelled rows were drawn apart: they are not what is evaluated.
    if shares.sampling == "single-sample":
        tp, n_positive = tp + np.cumsum(counts.positive)[at], n_positive + counts.n_positive
        if counts.n_negative > 0:
            fp, n_negative = fp + np.cumsum(counts.negative)[at], n_negative + counts.n_negative
    return ContingencyTables(
        threshold=counts.score[at],
        tp=tp,
        fp=fp,
        fn=n_positive - tp,
        tn=n_negative - fp,
        merged=counts.merged[at] if counts.compact else None,
    )


def check_setting(counts: ScoreCounts, shares: Shares, rounding: str) -> None:
    """Raise unless bounds can be made from these counts and shares."""
    counts.require("unlabeled")
    if shares.label_purity != 1:
        raise InputError(
            f"bounds need pure labels, label_purity 1; got {shares.label_purity}. "
            "mixture_curve takes impure ones"
        )
    if rounding not in ROUNDINGS:
        raise InputError(f"rounding must be one of {ROUNDINGS}; got {rounding!r}")


def share_ends(shares: Shares) -> tuple[float, float]:
    """Return the ends of the share of positives among the unlabeled rows, equal if it is known."""
    interval = shares.unlabeled_prevalence_interval
    if interval is None:
        return shares.unlabeled_prevalence, shares.unlabeled_prevalence
    return interval.low, interval.high


def warn_misfit(misfit: float, stacklevel: int) -> None:
    """Warn if the whole band lies outside what is possible."""
    if misfit > 0:
        warn(
            MisfitWarning(
                f"at some score the band asks for {misfit:.6g} hidden positives more or fewer than "
                "there can be: the prevalence is wrong, or the labelled positives are not a random "
                "sample of the positives, or the band is too narrow"
            ),
            stacklevel=stacklevel + 1,
        )


def read_cdfs(
    lower_cdf: ArrayLike, upper_cdf: ArrayLike, counts: ScoreCounts
) -> tuple[FloatArray, FloatArray]:
    """Check the two limits of a distribution along the scores."""
    lower, upper = (
        _read_cdf(values, name, counts)
        for values, name in ((lower_cdf, "lower_cdf"), (upper_cdf, "upper_cdf"))
    )
    if (lower > upper + TOLERANCE).any():
        raise InputError("lower_cdf must not exceed upper_cdf; it does at some score")
    return lower, upper


def _read_cdf(values: ArrayLike, name: str, counts: ScoreCounts) -> FloatArray:
    try:
        cdf = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers; got {values!r}") from None
    if cdf.shape != counts.score.shape:
        raise InputError(
            f"{name} must hold one value a distinct score, {len(counts.score)}; "
            f"got shape {cdf.shape}"
        )
    if not ((cdf >= -TOLERANCE) & (cdf <= 1 + TOLERANCE)).all():
        raise InputError(f"{name} must be in [0, 1]; got {cdf.min()} to {cdf.max()}")
    if (np.diff(cdf) < -TOLERANCE).any():
        raise InputError(f"{name} must not fall from a higher score to a lower one")
    return np.clip(cdf, 0, 1)
