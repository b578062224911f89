"""What would change a conclusion: metrics against the prevalence, purity and labelling bias."""

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq

from undercount.assume.mixture import mixture_curve
from undercount.assume.propensity import biased_auc, biased_points
from undercount.counts import ScoreCounts
from undercount.curve import OperatingPoint
from undercount.errors import InputError
from undercount.rates import FloatArray, metric_names
from undercount.shares import Shares

Over: TypeAlias = Literal["prevalence", "threshold", "purity", "gamma"]
# Metrics that can exceed 1; a larger value of any other is impossible.
UNBOUNDED = ("lift", "lee_liu", "positive_likelihood_ratio", "negative_likelihood_ratio")
AREAS = ("roc_auc", "average_precision", "lift_auc")
# Smaller is better.
ERRORS = ("fnr", "fpr", "negative_likelihood_ratio")
# The range of the others; correlations reach down to -1.
SIGNED = ("mcc", "kappa", "informedness")
LARGEST_ODDS_RATIO = 1000.0
STEPS = 101
ROUNDING = 1e-9


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
    rows. NaN marks values that the data rule out.
    """
    if over == "threshold":
        curve = mixture_curve(counts, shares, clean=False)
        if metric in AREAS:
            raise InputError(f"{metric} has no threshold; sweep a metric such as precision")
        return {"threshold": curve.threshold, metric: _possible(metric, getattr(curve, metric))}
    if over == "gamma":
        return _sweep_bias(counts, shares, metric, threshold)
    if over == "prevalence":
        top = min(largest_share(counts, shares.label_purity), shares.label_purity - 1e-6)
        grid = np.linspace(0.0, top, STEPS)
        choices = [with_share(shares, float(share)) for share in grid]
    elif over == "purity":
        grid = np.linspace(min(1.0, shares.unlabeled_prevalence + 0.05), 1.0, STEPS)
        share = shares.unlabeled_prevalence
        choices = [Shares(share, float(purity), shares.sampling) for purity in grid]
    else:
        raise InputError(f"over must be prevalence, threshold, purity or gamma; got {over!r}")
    values = np.array([metric_value(counts, choice, metric, threshold) for choice in choices])
    name = "unlabeled_prevalence" if over == "prevalence" else over
    return {name: grid, metric: _possible(metric, values)}


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
    point = _possible_recall(mixture_curve(counts, shares, clean=False).at(threshold))
    # Where all positives are flagged, or none, no bias of the labels hides others.
    ends = biased_points(point, ratio) if 0 < point.recall < 1 else (point, point)
    values = sorted(float(getattr(end, metric)) for end in ends)
    return values[0], values[1]


def _possible_recall(point: OperatingPoint) -> OperatingPoint:
    """Pull a recall that impure labels put outside [0, 1] by chance inside; flagged rows stay."""
    recall = min(max(point.recall, 0.0), 1.0)
    if recall == point.recall:
        return point
    share = point.prevalence
    fpr = (point.predicted_positive_rate - share * recall) / (1 - share)
    return replace(point, tpr=recall, fpr=fpr)


@dataclass(frozen=True)
class BreakEven:
    """Hold where a conclusion "metric >= value" starts and stops to hold.

    Attributes
    ----------
    unlabeled_prevalence : float
        Least share of hidden positives at which it holds; 0 if always, NaN if never.
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
    if metric in UNBOUNDED:
        return
    least = -1.0 if metric in SIGNED else 0.0
    if least <= value <= 1:
        return
    percent = f"; {value:g} % is {value / 100:g}" if 1 < value <= 100 else ""  # noqa: PLR2004
    raise InputError(f"{metric} is a share in [{least:g}, 1]; got {value:g}{percent}")


def _least_share(
    counts: ScoreCounts, shares: Shares, metric: str, value: float, threshold: float | None
) -> float:
    pure = shares.label_purity == 1 and counts.n_negative == 0
    if pure and metric == "roc_auc":
        area = metric_value(counts, with_share(shares, 0.0), "roc_auc")
        return _in_range(counts, (value - area) / (value - 0.5) if value > 0.5 else 0.0)  # noqa: PLR2004
    if pure and metric in ("precision", "f1") and threshold is not None:
        point = mixture_curve(counts, shares, clean=False).at(threshold)
        recall, flagged = point.recall, point.predicted_positive_rate
        if shares.sampling == "case-control":
            flagged = _unlabeled_rate(counts, threshold)
        needed = value * flagged / (recall if metric == "precision" else 2 * recall - value)
        return _in_range(counts, _share_from_prevalence(counts, shares, needed))
    return _searched_share(counts, shares, metric, value, threshold)


def _unlabeled_rate(counts: ScoreCounts, threshold: float) -> float:
    return float(counts.unlabeled[counts.score >= threshold].sum() / counts.n_unlabeled)


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
        return metric_value(counts, with_share(shares, share), metric, threshold) - value

    top = min(largest_share(counts, shares.label_purity), shares.label_purity - 1e-6)
    low, high = excess(0.0), excess(top)
    if low >= 0:
        return 0.0
    return float(brentq(excess, 0.0, top)) if high >= 0 else math.nan


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
