"""Labels given at random among positives, possibly impure (Jain, White and Radivojac 2017)."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, LeftOut, OperatingCurve
from undercount.errors import InputError
from undercount.shares import Shares

Monotone: TypeAlias = Literal["cummax", "isotonic", "hull"]
# Rates within this of [0, 1] are rounding, not misfit.
TOLERANCE = 1e-9
# An area this many standard errors outside [0, 1] is a misfit, not the chance of the sample.
CHANCE = 5.0


def mixture_curve(
    counts: ScoreCounts, shares: Shares, *, clean: bool = True, monotone: Monotone | None = None
) -> OperatingCurve:
    """Recover the curve of positives against negatives from labelled and unlabeled rows.

    The unlabeled rows are a mixture of positives and negatives in known shares, so the rates of
    the negatives follow by subtraction at every threshold (Jain et al. 2017, eqs 1-2).

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows, purity of the labels, sampling.
    clean : bool
        Drop points outside the unit square and sort the rest by their rates (Algorithm 1, with
        the ends (0, 0) and (1, 1) added); `at` refuses the thresholds of points that were
        dropped, and its points are not in the order of their thresholds. Shares that the scores
        rule out are an error. The uncleaned curve keeps every threshold in order, and its area is
        exactly the direct estimate of eq. 4.
    monotone : {"cummax", "isotonic", "hull"}, optional
        Make recall rise with the false-positive rate on the cleaned curve: by the largest value
        to the left (the last step of Algorithm 1, biased upward), by least squares, or by the
        upper concave hull.

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> y = [1, None, 1, None, 1, None, None, None]
    >>> score = [0.986, 0.943, 0.863, 0.789, 0.699, 0.473, 0.211, 0.009]
    >>> counts = uc.ScoreCounts.from_rows(y, score)
    >>> round(uc.mixture_curve(counts, uc.Shares(0.2), clean=False).roc_auc, 4)
    0.875
    >>> round(uc.mixture_curve(counts, uc.Shares(0.2), monotone="cummax").roc_auc, 4)
    0.9028
    """
    counts.require("positive", "unlabeled")
    if monotone is not None and (not clean or monotone not in ("cummax", "isotonic", "hull")):
        raise InputError(
            "monotone must be 'cummax', 'isotonic', 'hull' or None, and needs clean=True; "
            f"got {monotone!r} with clean={clean}"
        )
    positive, negative, unlabeled = counts.cumulative()
    positive /= positive[-1]
    unlabeled /= unlabeled[-1]
    tpr, fpr = recovered_rates(positive, unlabeled, shares)
    if pools_negatives(counts, shares):
        # Known negatives are part of the data set: their own rates join those recovered.
        hidden = counts.n_rows - counts.n_negative - shares.positives(counts)
        fpr = (hidden * fpr + negative) / (hidden + counts.n_negative)
    threshold = np.append(np.inf, counts.score)
    merged = np.append(False, counts.merged) if counts.compact else None
    left_out = None
    if clean:
        _refuse_misfit(counts, shares, unlabeled)
        tpr, fpr, kept = _cleaned(tpr, fpr)
        if monotone is not None:
            tpr, corners = _monotone(tpr, fpr, monotone)
            tpr, fpr, kept = tpr[corners], fpr[corners], kept[corners]
        gone = np.ones(threshold.size, bool)
        gone[kept] = False
        if gone.any():
            left_out = LeftOut(threshold[gone], None if merged is None else merged[gone])
        threshold = threshold[kept]
        merged = None if merged is None else merged[kept]
    return OperatingCurve(threshold, tpr, fpr, shares.prevalence(counts), merged, left_out)


def recovered_rates(
    labelled_rate: FloatArray, unlabeled_rate: FloatArray, shares: Shares
) -> tuple[FloatArray, FloatArray]:
    """Solve the two mixtures for the true- and false-positive rate (Jain et al. 2017, eqs 1-2)."""
    alpha, beta = shares.unlabeled_prevalence, shares.label_purity
    fpr = beta * unlabeled_rate
    fpr -= alpha * labelled_rate
    fpr /= beta - alpha
    if beta == 1:  # pure labels: the labelled rows are the positives
        return labelled_rate, fpr
    return ((1 - alpha) * labelled_rate - (1 - beta) * unlabeled_rate) / (beta - alpha), fpr


def pools_negatives(counts: ScoreCounts, shares: Shares) -> bool:
    """Say whether known negatives are part of the data set that the metrics speak of."""
    return shares.sampling == "single-sample" and counts.n_negative > 0


def _refuse_misfit(counts: ScoreCounts, shares: Shares, above: FloatArray) -> None:
    """Raise if eq. 4 leaves [0, 1] by more than the chance of the sample explains.

    `above` is the share of unlabeled rows above each border between cells.
    """
    area = 1 - float(counts.positive @ (above[1:] + above[:-1])) / 2 / counts.n_positive
    gap = shares.label_purity - shares.unlabeled_prevalence
    fewest = min(counts.effective_size("positive"), counts.effective_size("unlabeled"))
    # No AUC has a larger variance than AUC (1 - AUC)/min(n); at the limit it is (1 ± gap)/2.
    chance = CHANCE * np.sqrt((1 - gap**2) / 4 / fewest)
    if abs(area - 0.5) > gap / 2 + chance + TOLERANCE:
        raise InputError(misfit_words(area, 0.5 + (area - 0.5) / gap, shares))


def misfit_words(area: float, auc: float, shares: Shares) -> str:
    """Say why shares do not fit the scores, and which would."""
    least = abs(2 * area - 1)
    share, purity = shares.unlabeled_prevalence, shares.label_purity
    room = (
        f"at this purity unlabeled_prevalence may be at most {purity - least:.6g}"
        if purity >= least
        else f"no unlabeled_prevalence fits this purity, which must be at least {least:.6g}"
    )
    return (
        f"unlabeled_prevalence {share:.6g} and label_purity {purity:.6g} do not fit these scores: "
        f"they make the ROC AUC {auc:.6g}. The AUC of labelled against unlabeled rows is "
        f"{area:.6g}, so label_purity - unlabeled_prevalence must be at least "
        f"|2 · {area:.6g} - 1| = {least:.6g}; {room}"
    )


def _cleaned(tpr: FloatArray, fpr: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    """Keep points inside the unit square and the ends, by rising rates (Algorithm 1)."""
    inside = (np.minimum(tpr, fpr) >= -TOLERANCE) & (np.maximum(tpr, fpr) <= 1 + TOLERANCE)
    inside[[0, -1]] = True
    kept = np.flatnonzero(inside)
    # Clipped before the sort, or rounding could put a point before (0, 0) or after (1, 1).
    tpr, fpr = tpr[kept], fpr[kept]
    np.clip(tpr, 0, 1, out=tpr)
    np.clip(fpr, 0, 1, out=fpr)
    if np.all(tpr[1:] >= tpr[:-1]):
        # With pure labels recall only grows, so one stable sort of long runs does what two would.
        order = np.argsort(fpr, kind="stable")
    else:
        order = np.lexsort((tpr, fpr))
    return tpr[order], fpr[order], kept[order]


def _monotone(
    tpr: FloatArray, fpr: FloatArray, method: Monotone
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return a recall that does not fall, and the indices of the points that stay."""
    every = np.arange(len(tpr))
    if method == "cummax":
        return np.maximum.accumulate(tpr), every
    if method == "hull":
        return tpr, _upper_hull(fpr, tpr)
    # Least squares: the slopes of the convex minorant of the running sums.
    sums = np.append(0.0, np.cumsum(tpr))
    corners = _upper_hull(np.arange(len(sums), dtype=float), -sums)
    slopes = np.diff(sums[corners]) / np.diff(corners)
    return np.clip(np.repeat(slopes, np.diff(corners)), 0, 1), every


def _upper_hull(x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
    """Find the corners of the concave hull from above; points are sorted by (x, y)."""
    across, up = x.tolist(), y.tolist()
    stack: list[int] = []
    for point in range(len(across)):
        while len(stack) > 1:
            first, second = stack[-2], stack[-1]
            turn = (across[second] - across[first]) * (up[point] - up[first])
            turn -= (up[second] - up[first]) * (across[point] - across[first])
            if turn < 0:
                break
            stack.pop()
        stack.append(point)
    return np.array(stack, dtype=np.intp)
