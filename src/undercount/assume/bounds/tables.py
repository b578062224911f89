"""Contingency tables at every score, and bounds of each by itself (Theorem 1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercount.assume.bounds.hidden_limits import Rounding, limits_at_ends, warn_misfit
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, Rates, ratio
from undercount.shares import Shares


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


def bound_tables(
    counts: ScoreCounts,
    shares: Shares,
    *,
    lower_cdf: ArrayLike,
    upper_cdf: ArrayLike,
    rounding: Rounding = "sharp",
) -> TableBounds:
    """Bound the contingency table at each score, given limits of the hidden positives' ranks.

    Claesen et al. (2015), Theorem 1 with eqs 10-13, at each score by itself.

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows (Claesen's β). Of a range the low end serves
        the pessimistic and the high end the optimistic tables, which is a bound only where the
        curve lies above the diagonal; `bound_curve` minds the rest.
    lower_cdf, upper_cdf : array-like
        Limits of the share of hidden positives that score at least ``counts.score`` (T_lb, T_ub).
    rounding : {"sharp", "paper", "none"}
        Hidden positives are whole rows. "sharp": whole numbers within the band, the tightest
        bound. "paper": outward to whole numbers (eqs 10 and 13), valid but up to a row wider, with
        the number of hidden positives cut down to a whole number as in the published code. "none":
        fractions. Weighted rows are never rounded.

    Returns
    -------
    TableBounds
        The tables, the misfit and the clipping.

    Notes
    -----
    Assumes: the given limits hold, labels are right, and the share of hidden positives is right.
    In case-control sampling the tables count the unlabeled rows alone.
    Wrong when: the limits come from labelled rows that are not a random sample of the positives.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, None, None, None], [5, 4, 3, 2, 1])
    >>> bounds = uc.bound_tables(
    ...     counts, uc.Shares(0.5), lower_cdf=[0, 0.5, 0.5, 1, 1], upper_cdf=[0.5, 1, 1, 1, 1]
    ... )
    >>> bounds.pessimistic.tp, bounds.optimistic.tp
    (array([1., 2., 2., 3., 3.]), array([1., 2., 3., 3., 3.]))
    """
    worst, best = limits_at_ends(counts, shares, lower_cdf, upper_cdf, rounding)
    misfit = min(worst.misfit, best.misfit)
    warn_misfit(misfit, stacklevel=2)
    return TableBounds(
        add_hidden(counts, shares, worst.clip(worst.low), worst.n_hidden),
        add_hidden(counts, shares, best.clip(best.high), best.n_hidden),
        misfit,
        max(worst.clipping, best.clipping),
    )


def add_hidden(
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
