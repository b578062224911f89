"""What would change a conclusion: metrics against the prevalence, purity and labelling bias."""

import math
import warnings
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq

from undercount.assume.mixture import mixture_curve
from undercount.assume.propensity import biased_auc, biased_points
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingPoint, metric_names
from undercount.errors import InputError, UndefinedMetricWarning
from undercount.shares import MARGIN, Shares

Over: TypeAlias = Literal["prevalence", "threshold", "purity", "gamma"]
# Metrics that can exceed 1; a larger value of any other is impossible.
UNBOUNDED = ("lift", "lee_liu", "positive_likelihood_ratio", "negative_likelihood_ratio")
AREAS = ("roc_auc", "average_precision", "lift_auc")
ERRORS = ("fnr", "fpr", "negative_likelihood_ratio")  # smaller is better
SIGNED = ("mcc", "kappa", "informedness")  # reach down to -1
LARGEST_ODDS_RATIO = 1000.0
STEPS = 101
ROUNDING = 1e-9
CHANCE = 0.5  # the ROC AUC of no information


def metric_value(
    counts: ScoreCounts, shares: Shares, metric: str, threshold: float | None = None
) -> float:
    """Read one metric of the recovered curve, without interval."""
    curve = mixture_curve(counts, shares, clean=False)
    if metric in AREAS:
        return float(getattr(curve, metric))
    if metric not in metric_names():
        known = ", ".join([*AREAS, *metric_names()])
        raise InputError(f"metric must be one of {known}; got {metric!r}")
    if threshold is None:
        raise InputError(f"{metric} is a metric at a threshold; pass threshold=")
    return float(getattr(curve.at(threshold), metric))


def largest_share(counts: ScoreCounts, label_purity: float = 1.0) -> float:
    """Return the share of hidden positives at which the AUC would be 1 (Jain et al. 2017, eq. 4).

    No larger share is possible whatever the scores, apart from chance: a = purity - (2A - 1).
    """
    positive, _, unlabeled = counts.cumulative()
    labelled_rate, unlabeled_rate = positive / positive[-1], unlabeled / unlabeled[-1]
    heights = labelled_rate[1:] + labelled_rate[:-1]
    area = float(np.sum(np.diff(unlabeled_rate) * heights) / 2)
    return max(0.0, label_purity - abs(2 * area - 1))


def with_share(shares: Shares, unlabeled_prevalence: float) -> Shares:
    """Replace the share of hidden positives by an exact number."""
    return Shares(unlabeled_prevalence, shares.label_purity, shares.sampling)


def sweep(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    over: Over = "prevalence",
    threshold: float | None = None,
) -> dict[str, FloatArray]:
    """Follow a metric along one assumption; two ends for "gamma".

    Over the prevalence the first column is `unlabeled_prevalence`, the share among the unlabeled
    rows. Over the purity the number that was given (prevalence, positives, label frequency or the
    share among the unlabeled rows) stays. NaN marks values that the data rule out.
    """
    if over == "threshold":
        curve = mixture_curve(counts, shares, clean=False)
        if metric in AREAS:
            raise InputError(f"{metric} has no threshold; sweep a metric such as precision")
        return {"threshold": curve.threshold, metric: _possible(metric, getattr(curve, metric))}
    if over == "gamma":
        return _sweep_bias(counts, shares, metric, threshold)
    if over == "prevalence":
        hidden = np.linspace(0.0, _most(counts, shares), STEPS)
        purity = np.full(STEPS, shares.label_purity)
    elif over == "purity":
        hidden, purity = _along_purity(counts, shares)
    else:
        raise InputError(f"over must be prevalence, threshold, purity or gamma; got {over!r}")
    values = np.full(STEPS, np.nan)
    for place in np.flatnonzero(hidden >= 0):
        choice = Shares(float(hidden[place]), float(purity[place]), shares.sampling)
        values[place] = metric_value(counts, choice, metric, threshold)
    first = {"unlabeled_prevalence": hidden} if over == "prevalence" else {"purity": purity}
    return {**first, metric: _possible(metric, values)}


def _most(counts: ScoreCounts, shares: Shares) -> float:
    return min(largest_share(counts, shares.label_purity), shares.label_purity - MARGIN)


def _along_purity(counts: ScoreCounts, shares: Shares) -> tuple[FloatArray, FloatArray]:
    """Return the share among the unlabeled rows at each purity; below 0 where none fits.

    The share that leaves the given number as it is moves on a straight line (n_P = κ n_L + a n_U).
    """
    slope = 0.0
    if shares.sampling == "single-sample" and shares.given == "label_frequency":
        slope = shares.unlabeled_prevalence / shares.label_purity
    elif shares.sampling == "single-sample" and shares.given != "unlabeled_prevalence":
        slope = -counts.n_positive / counts.n_unlabeled
    start = shares.unlabeled_prevalence - slope * shares.label_purity
    # Labelled rows stay purer than unlabeled ones by 0.05 at least.
    purity = np.linspace(min(1.0, (start + 0.05) / (1 - slope)), 1.0, STEPS)
    hidden = start + slope * purity
    return np.where(np.abs(hidden) < ROUNDING, 0.0, hidden), purity


def _possible(metric: str, values: FloatArray) -> FloatArray:
    """Blank values outside a metric's range: the shares do not fit the scores there."""
    if metric in UNBOUNDED:
        return values
    return np.where(np.abs(values) <= 1 + ROUNDING, values, np.nan)


def _sweep_bias(
    counts: ScoreCounts, shares: Shares, metric: str, threshold: float | None
) -> dict[str, FloatArray]:
    grid = np.geomspace(1.0, 10.0, STEPS)
    ends = [_biased(counts, shares, metric, threshold, float(ratio)) for ratio in grid]
    low, high = np.array(ends).T
    return {
        "gamma": grid,
        f"{metric}_low": _possible(metric, low),
        f"{metric}_high": _possible(metric, high),
    }


def _biased(
    counts: ScoreCounts, shares: Shares, metric: str, threshold: float | None, ratio: float
) -> tuple[float, float]:
    if metric == "roc_auc":
        interval = biased_auc(counts, shares, ratio)
        return interval.low, interval.high
    if metric in AREAS or threshold is None:
        raise InputError(
            f"bias of labelling is followed for roc_auc and metrics at a threshold; got {metric!r}"
        )
    point = mixture_curve(counts, shares, clean=False).at(threshold)
    ends = [float(getattr(end, metric)) for end in biased_points(point, ratio)]
    if metric not in UNBOUNDED and max(map(abs, ends)) > 1 / ROUNDING:
        return math.nan, math.nan  # over a rounding error: nothing of the target is flagged
    return min(ends), max(ends)


@dataclass(frozen=True)
class BreakEven:
    """Hold where a conclusion "metric >= value" starts and stops to hold.

    Attributes
    ----------
    unlabeled_prevalence : float
        Least share of hidden positives at which it holds: 0 if it holds without any, NaN if at
        none that the scores allow.
    odds_ratio : float
        Largest bias of labelling (Γ) it survives; NaN if it does not hold even without bias,
        infinity if more than a thousandfold.

    Examples
    --------
    >>> from undercount import BreakEven
    >>> BreakEven("precision", 0.5, 0.011, 2.3).unlabeled_prevalence
    0.011
    """

    metric: str
    value: float
    unlabeled_prevalence: float
    odds_ratio: float


def break_even(
    counts: ScoreCounts, shares: Shares, metric: str, value: float, threshold: float | None = None
) -> BreakEven:
    """Find the least hidden share, and the largest labelling bias, at which metric >= value.

    Closed forms for precision, F1 and AUC with pure labels; a bracketing search for the rest.

    Notes
    -----
    Assumes: the metric grows with the share of hidden positives, as it does for a classifier
    better than chance with pure labels.
    Wrong when: the metric falls with the prevalence (specificity of a poor classifier, say).

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None, None], [5, 4, 3, 2, 1])
    >>> round(uc.break_even(counts, uc.Shares(0.2), "roc_auc", 0.9).unlabeled_prevalence, 4)
    0.1667
    """
    check_goal(metric, value)
    share = _least_share(counts, shares, metric, value, threshold)
    return BreakEven(metric, value, share, _largest_bias(counts, shares, metric, value, threshold))


def check_goal(metric: str, value: float) -> None:
    """Refuse a value that the metric can never have, percentages above all."""
    least = -1.0 if metric in SIGNED else 0.0
    if metric in UNBOUNDED or least <= value <= 1:
        return
    percent = f"; {value:g} % is {value / 100:g}" if 1 < value <= 100 else ""  # noqa: PLR2004
    raise InputError(f"{metric} is a share in [{least:g}, 1]; got {value:g}{percent}")


def _least_share(
    counts: ScoreCounts, shares: Shares, metric: str, value: float, threshold: float | None
) -> float:
    pure = shares.label_purity == 1 and counts.n_negative == 0
    if pure and metric == "roc_auc":
        area = metric_value(counts, with_share(shares, 0.0), "roc_auc")
        if value <= area:
            return 0.0
        # Below chance the area falls as the share grows.
        return _in_range(counts, (value - area) / (value - CHANCE)) if area > CHANCE else math.nan
    if pure and metric in ("precision", "f1") and threshold is not None:
        point = mixture_curve(counts, shares, clean=False).at(threshold)
        recall, flagged = point.recall, point.predicted_positive_rate
        if shares.sampling == "case-control":
            flagged = float(counts.unlabeled[counts.score >= threshold].sum() / counts.n_unlabeled)
        # F1 stays below twice the recall; without flagged rows there is no precision.
        gain = recall if metric == "precision" else 2 * recall - value
        if min(flagged, gain) > 0:
            return _in_range(counts, _share_from_prevalence(counts, shares, value * flagged / gain))
    return _searched_share(counts, shares, metric, value, threshold)


def _share_from_prevalence(counts: ScoreCounts, shares: Shares, prevalence: float) -> float:
    if shares.sampling == "case-control":
        return prevalence
    return (prevalence * counts.n_rows - counts.n_positive) / counts.n_unlabeled


def _in_range(counts: ScoreCounts, share: float) -> float:
    """Nothing is needed below 0; above what the data allow nothing helps."""
    return max(share, 0.0) if share <= largest_share(counts) else math.nan


def _searched_share(
    counts: ScoreCounts, shares: Shares, metric: str, value: float, threshold: float | None
) -> float:
    def excess(share: float) -> float:
        found = metric_value(counts, with_share(shares, share), metric, threshold)
        # Past infinity, where no negative is left to be flagged, the ratio comes back from below.
        return (found if found >= 0 or not passes else 1 / ROUNDING) - value

    passes = metric == "positive_likelihood_ratio" and shares.label_purity == 1
    top = _most(counts, shares)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        low, high = excess(0.0), excess(top)
    if low >= 0:
        return 0.0
    # NaN at an end: the metric does not exist at this threshold.
    return float(brentq(excess, 0.0, top)) if low < 0 <= high else math.nan


def _largest_bias(
    counts: ScoreCounts, shares: Shares, metric: str, value: float, threshold: float | None
) -> float:
    if metric in ("average_precision", "lift_auc") or (metric != "roc_auc" and threshold is None):
        return math.nan

    def excess(log_ratio: float) -> float:
        return _biased(counts, shares, metric, threshold, math.exp(log_ratio))[0] - value

    if not excess(0.0) >= 0:
        return math.nan
    top = math.log(LARGEST_ODDS_RATIO)
    if excess(top) >= 0:
        return math.inf
    return math.exp(float(brentq(excess, 0.0, top)))


def best_point(counts: ScoreCounts, shares: Shares, metric: str) -> OperatingPoint:
    """Return the recovered point at which a threshold metric is best.

    Best is largest, but smallest for error rates and the negative likelihood ratio.
    """
    curve = mixture_curve(counts, shares, clean=False)
    values = np.array(getattr(curve, metric), dtype=float)
    if metric in ERRORS:
        values = -values
    inside = (curve.fpr >= -ROUNDING) & (curve.tpr <= 1 + ROUNDING)
    values[~inside | np.isnan(values)] = -np.inf
    values[0] = -np.inf  # above all scores nothing is predicted positive
    return curve.at(float(curve.threshold[int(np.argmax(values))]))
