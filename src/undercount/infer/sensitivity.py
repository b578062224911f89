"""What would change a conclusion: metrics against the prevalence, purity and labelling bias."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.optimize import brentq

from undercount.counts import ScoreCounts
from undercount.curve import PARAMETRIC, FloatArray, OperatingPoint, metric_names
from undercount.errors import (
    InputError,
    UndefinedMetricWarning,
    check_choice,
    collect_warnings,
    read_threshold,
    real_number,
)
from undercount.infer.area_gradients import average_precisions, unbiased_average_precision
from undercount.infer.heads import FlaggedCounts, top_heads
from undercount.infer.labelling_bias import BIASED_AREAS, bias_ends, largest_bias
from undercount.infer.mixture import Target, design_of, mixture_curve
from undercount.metric_facts import FACTS
from undercount.shares import Shares

Over: TypeAlias = Literal["prevalence", "threshold", "purity", "gamma"]
OVER: tuple[str, ...] = get_args(Over)
# The areas that every curve has; a part of one needs to be told where it ends.
SWEPT_AREAS = ("roc_auc", "average_precision", "lift_auc")
SWEEP_STEPS = 101
ROUNDING = 1e-9
CHANCE_AUC = 0.5  # the ROC AUC of no information


def metric_value(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    threshold: float | None = None,
    *,
    top: float | None = None,
    beta: float = 1.0,
    capped: bool = False,
) -> float:
    """Read one metric of the recovered curve, without interval; `top` and `beta` as elsewhere.

    Of a threshold, `capped` takes the nearest rates inside [0, 1].
    """
    at_threshold = metric in metric_names() and threshold is not None
    if top is not None or metric in PARAMETRIC or at_threshold:
        design = design_of(counts, shares, shares.sampling, "dataset")
        heads = (
            FlaggedCounts.at(counts, design, math.nan if threshold is None else threshold)
            if top is None
            else top_heads(counts, design, top)
        )
        point = heads.point.capped() if capped else heads.point
        return float(point.metric(metric, beta))
    if metric in SWEPT_AREAS and shares.label_purity == 1:
        counts = counts.canonical
    if metric == "average_precision":
        design = design_of(counts, shares, shares.sampling, "dataset")
        return unbiased_average_precision(counts, design)
    curve = mixture_curve(counts, shares, clean=False)
    if metric in SWEPT_AREAS:
        return float(getattr(curve, metric))
    points = (*metric_names(), "tpr", "fpr")
    check_choice("metric", metric, [*SWEPT_AREAS, *points])
    if threshold is None:
        raise InputError(f"{metric} is a metric at a threshold; pass threshold=")
    return float(getattr(curve.at(threshold), metric))


def largest_share(counts: ScoreCounts, label_purity: float = 1.0) -> float:
    """Return the share of hidden positives at which the AUC would be 1 (Jain et al. 2017, eq. 4).

    No larger share is possible whatever the scores, apart from chance: a = purity - (2A - 1).
    """
    return max(0.0, label_purity - abs(2 * counts.auc("positive", "unlabeled") - 1))


class AreaSums:
    """Sums over the cells from which areas of ranks follow at any share and purity at once.

    The rates of positives, negatives and all rows are sums of the three observed ones, with the
    same weights in every cell, and each area is a sum of products of two rates.
    """

    def __init__(self, counts: ScoreCounts, shares: Shares) -> None:
        self.counts = counts
        self.design = design_of(counts, shares, shares.sampling, "population")
        positive, negative, unlabeled = counts.cumulative()
        rates = np.stack([heads / (heads[-1] or 1.0) for heads in (positive, unlabeled, negative)])
        self._trapezoids = (rates[:, 1:] + rates[:, :-1]) / 2 @ np.diff(rates).T

    def at(self, metric: str, share: Any, purity: Any) -> FloatArray:
        """Return an area at each share of positives among the unlabeled rows."""
        if metric == "average_precision":
            purities = np.broadcast_to(purity, np.shape(share))
            return average_precisions(self.counts, self.design, share, purities)
        given = {"given": "unlabeled_prevalence", "value": share, "label_purity": purity}
        mixing = replace(self.design, **given).mixing
        tpr = mixing.positive
        if metric == "lift_auc":
            return np.asarray(tpr.T @ self._trapezoids @ mixing.everyone)
        return np.asarray(np.sum(tpr * (self._trapezoids @ mixing.negative), axis=0))


def sweep(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    over: Over = "prevalence",
    threshold: float | None = None,
    target: Target = "dataset",
    confidence_level: float | None = 0.95,
) -> dict[str, FloatArray]:
    """Follow a metric along one assumption; two ends for "gamma", with the chance of the labels.

    Over the prevalence the first column is `unlabeled_prevalence`, the share among the unlabeled
    rows. Over the purity the number that was given (prevalence, positives, label frequency or the
    share among the unlabeled rows) stays. NaN marks values that the data rule out. Target and
    confidence level are those of the ends for "gamma", None for none of the chance.
    """
    check_choice("over", over, OVER)
    check_choice("metric", metric, tuple(FACTS))
    if over == "threshold":
        if metric not in metric_names():
            raise InputError(f"{metric} has no threshold; sweep a metric such as precision")
        curve = mixture_curve(counts, shares, clean=False)
        return {"threshold": curve.threshold, metric: _possible(metric, getattr(curve, metric))}
    if over == "gamma":
        ends = bias_ends(
            counts,
            shares,
            metric,
            threshold=threshold,
            target=target,
            confidence_level=confidence_level,
        )
        grid = np.geomspace(1.0, 10.0, SWEEP_STEPS)
        low, high = np.array([ends(float(ratio)) for ratio in grid]).T
        return {
            "gamma": grid,
            f"{metric}_low": _possible(metric, low),
            f"{metric}_high": _possible(metric, high),
        }
    if over == "prevalence":
        hidden = np.linspace(0.0, _most(counts, shares), SWEEP_STEPS)
        purity = np.full(SWEEP_STEPS, shares.label_purity)
    else:
        # Labelled rows stay purer than unlabeled ones by 0.05 at least.
        start = shares.unlabeled_prevalence_at(counts, 0.0)
        slope = shares.unlabeled_prevalence_at(counts, 1.0) - start
        purity = np.linspace(min(1.0, (start + 0.05) / (1 - slope)), 1.0, SWEEP_STEPS)
        hidden = shares.unlabeled_prevalence_at(counts, purity)
    values, possible = np.full(SWEEP_STEPS, np.nan), hidden >= 0
    if metric in SWEPT_AREAS:
        values[possible] = AreaSums(counts, shares).at(metric, hidden[possible], purity[possible])
    else:
        for place in np.flatnonzero(possible):
            moved = shares.exact(hidden[place], purity[place])
            values[place] = metric_value(counts, moved, metric, threshold)
    first = {"unlabeled_prevalence": hidden} if over == "prevalence" else {"purity": purity}
    return {**first, metric: _possible(metric, values)}


def spaced_thresholds(counts: ScoreCounts, number: int, *others: float | None) -> FloatArray:
    """Return so many thresholds in even steps of cells, and the others asked for, highest first."""
    places = np.linspace(0, len(counts.score) - 1, min(number, len(counts.score))).astype(int)
    thresholds = np.array(
        [*counts.score[places], *(threshold for threshold in others if threshold is not None)]
    )
    return np.asarray(np.unique(thresholds[np.isfinite(thresholds)])[::-1])


def _most(counts: ScoreCounts, shares: Shares) -> float:
    return float(shares.clip(largest_share(counts, shares.label_purity)))


def _possible(metric: str, values: FloatArray) -> FloatArray:
    """Blank values outside a metric's range: the shares do not fit the scores there."""
    if FACTS[metric].range[1] > 1:
        return values
    return np.where(np.abs(values) <= 1 + ROUNDING, values, np.nan)


def _point(
    counts: ScoreCounts, shares: Shares, metric: str, threshold: float | None
) -> OperatingPoint | None:
    if metric in SWEPT_AREAS or threshold is None:
        return None
    return mixture_curve(counts, shares, clean=False).at(read_threshold(threshold))


@dataclass(frozen=True)
class BreakEven:
    """Hold where a conclusion "metric >= value" starts and stops to hold.

    Attributes
    ----------
    unlabeled_prevalence : float
        Least share of hidden positives at which it holds: 0 if it holds without any, NaN if at
        none that the scores allow, or if labelling chances determine the share.
    odds_ratio : float
        Largest bias of labelling (Γ) it survives, with the chance of the labels: up to it the
        bound's lower end is enough. NaN if even without bias the interval of the metric goes
        below the value, infinity if it survives more than a thousandfold bias.

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
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    value: float,
    threshold: float | None = None,
    *,
    target: Target = "dataset",
    confidence_level: float | None = 0.95,
) -> BreakEven:
    """Find the least hidden share, and the largest labelling bias, at which metric >= value.

    The least share is that of the estimates: closed forms for precision, F1 and AUC with pure
    labels, a bracketing search for the rest. The bias is the one at which the interval breaks at
    the shares as they are (`biased_recall`); with ``confidence_level=None`` that at which the
    bound without the chance of the labels does.

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
    value = float(value)  # NumPy would round to half precision beside such a value
    counts.require("positive", "unlabeled")
    point = _point(counts, shares, metric, threshold)
    share = _least_share(counts, shares, metric, value, threshold, point)
    options = {"target": target, "confidence_level": confidence_level}
    bias = surviving_bias(counts, shares, metric, value, threshold, **options)
    return BreakEven(metric, value, share, bias)


def surviving_bias(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    value: float,
    threshold: float | None = None,
    **options: Any,
) -> float:
    """Return the largest labelling bias at which metric >= value; NaN where none is followed.

    `options` are target and confidence level, as in `break_even`.
    """
    if metric in BIASED_AREAS:
        followed = shares.label_purity == 1
    else:
        followed = metric in metric_names() and threshold is not None
    if not followed:
        return math.nan
    ends = bias_ends(counts, shares, metric, threshold=threshold, **options)
    return largest_bias(ends, value)


def check_goal(metric: str, value: float) -> None:
    """Refuse a value that the metric can never have, percentages above all."""
    if not isinstance(metric, str):
        raise InputError(f"metric must be a name; got {metric!r}")
    least, most = FACTS[metric].range if metric in FACTS else (0.0, 1.0)
    if math.isnan(real_number(value)):
        raise InputError(f"the value that {metric} must reach is a number; got {value!r}")
    if most > 1 or least <= value <= 1:
        return
    percent = f"; {value:g} % is {value / 100:g}" if 1 < value <= 100 else ""  # noqa: PLR2004
    raise InputError(f"{metric} is a share in [{least:g}, 1]; got {value:g}{percent}")


def _least_share(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    value: float,
    threshold: float | None,
    point: OperatingPoint | None,
) -> float:
    pure = shares.label_purity == 1 and counts.n_negative == 0
    if pure and metric == "roc_auc":
        area = metric_value(counts, shares.with_unlabeled_prevalence(0.0), "roc_auc")
        if value <= area:
            return 0.0
        # Below chance the area falls as the share grows.
        return (
            _in_range(counts, (value - area) / (value - CHANCE_AUC))
            if area > CHANCE_AUC
            else math.nan
        )
    if pure and metric in ("precision", "f1") and point is not None:
        recall, flagged = point.recall, point.predicted_positive_rate
        if shares.sampling == "case-control":
            flagged = float(
                counts.unlabeled[counts.score >= point.threshold].sum() / counts.n_unlabeled
            )
        # F1 stays below twice the recall; without flagged rows there is no precision.
        gain = recall if metric == "precision" else 2 * recall - value
        if min(flagged, gain) > 0:
            needed = shares.unlabeled_prevalence_for(counts, value * flagged / gain)
            return _in_range(counts, needed)
    return _searched_share(counts, shares, metric, value, threshold)


def _in_range(counts: ScoreCounts, share: float) -> float:
    """Nothing is needed below 0; above what the data allow nothing helps."""
    return max(share, 0.0) if share <= largest_share(counts) else math.nan


def _searched_share(
    counts: ScoreCounts, shares: Shares, metric: str, value: float, threshold: float | None
) -> float:
    def excess(share: float) -> float:
        moved = shares.with_unlabeled_prevalence(share)
        value_there = metric_value(counts, moved, metric, threshold)
        # Past infinity, where no negative is left to be flagged, the ratio comes back from below.
        return (value_there if value_there >= 0 or not passes else 1 / ROUNDING) - value

    passes = metric == "positive_likelihood_ratio" and shares.label_purity == 1
    top = _most(counts, shares)
    with collect_warnings(UndefinedMetricWarning):
        low, high = excess(0.0), excess(top)
    if low >= 0:
        return 0.0
    # NaN at an end: the metric does not exist at this threshold.
    return float(brentq(excess, 0.0, top)) if low < 0 <= high else math.nan
