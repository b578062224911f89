"""The area under the recovered and cleaned curve, with the chance of the rows and of the shares."""

import itertools
import math

from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.bootstrap import bootstrap_interval
from undercount.infer.estimate_metric import ShareError
from undercount.infer.heads import two_sided_z
from undercount.infer.mixture import Target, mixture_curve
from undercount.metric_facts import FACTS
from undercount.shares import Shares

CHANCE_AREA = 0.5


def indirect_area(
    counts: ScoreCounts,
    shares: Shares,
    *,
    target: Target,
    confidence_level: float,
    share_error: ShareError,
) -> Estimate:
    """Estimate the area under the cleaned curve.

    Rows are resampled at the share itself and at the ends of a range, and the intervals united.
    A standard error is carried by the slope of the area and added in squares, or, "guaranteed",
    made a range at a higher level (Bonferroni).

    Notes
    -----
    Assumes: labels are random; the errors of share, purity and labels are independent; the area
    rises or falls all along a range, so that its ends are enough.
    Wrong when: an error of the share is so large that the area is not straight within it.
    """
    if not isinstance(share_error, str) or share_error not in ("combined", "guaranteed"):
        raise InputError(f"share_error must be 'combined' or 'guaranteed'; got {share_error!r}")
    share, purity = (_share(shares, name) for name in ("unlabeled_prevalence", "label_purity"))
    level = confidence_level
    if share_error == "guaranteed":
        level = 1 - (1 - level) / (1 + (share.standard_error > 0) + (purity.standard_error > 0))
        share, purity = (_as_range(number, level) for number in (share, purity))
    exact = shares.exact()
    value = mixture_curve(counts, exact).roc_auc
    areas = [
        bootstrap_interval(counts, corner, cleaned_area, target=target, confidence_level=level)
        for corner in [exact, *_corners(counts, exact, share, purity)]
    ]
    low, high = min(span.low for span, _ in areas), max(span.high for span, _ in areas)
    moved = math.hypot(
        _area_shift(counts, exact, share, "unlabeled_prevalence"),
        _area_shift(counts, exact, purity, "label_purity"),
    )
    reach = two_sided_z(level) * moved
    low = value - math.hypot(max(value - low, 0.0), reach)
    high = value + math.hypot(max(high - value, 0.0), reach)
    pure = shares.label_purity == 1 and shares.label_purity_interval is None
    needs = FACTS["roc_auc"].needs if pure else FACTS["roc_auc"].needs_if_impure
    error = math.hypot(areas[0][1], moved)
    return Estimate(
        value, max(low, 0.0), min(high, 1.0), error, confidence_level, needs, "bootstrap"
    )


def cleaned_area(counts: ScoreCounts, shares: Shares) -> float:
    """Return the area under the cleaned curve; where the shares do not fit, the nearer of 0 and 1.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.read.metrics.indirect import cleaned_area
    >>> below = uc.ScoreCounts.from_counts([2, 1], [0, 500], [0, 0], [500, 0])
    >>> cleaned_area(below, uc.Shares(0.3))
    0.0
    """
    try:
        return mixture_curve(counts, shares).roc_auc
    except InputError:  # beyond 0 or 1 by more than chance, in a resample or at an end
        area = mixture_curve(counts, shares, clean=False).roc_auc
        return 1.0 if area > CHANCE_AREA else 0.0


def _share(shares: Shares, name: str) -> Estimate:
    """Read value, range and error; the interval of an estimate with an error is no range."""
    value, error = getattr(shares, name), getattr(shares, f"{name}_error")
    span = getattr(shares, f"{name}_interval")
    ends = (value, value) if span is None or error > 0 else (span.low, span.high)
    return Estimate(value, *ends, error)


def _as_range(share: Estimate, level: float) -> Estimate:
    if share.standard_error == 0:
        return share
    reach = two_sided_z(level) * share.standard_error
    return Estimate(share.value, max(share.value - reach, 0.0), min(share.value + reach, 1.0), 0.0)


def _corners(counts: ScoreCounts, exact: Shares, share: Estimate, purity: Estimate) -> list[Shares]:
    """Return the shares at the ends of the ranges, as far as they exist."""
    ends = itertools.product({share.low, share.high}, {purity.low, purity.high})
    corners = [_move(counts, exact, *end) for end in ends if end != (share.value, purity.value)]
    return [shares for shares in corners if shares is not None]


def _area_shift(counts: ScoreCounts, exact: Shares, number: Estimate, name: str) -> float:
    """Return by how much the area moves with one standard error of the share or the purity."""
    error = number.standard_error
    if error == 0:
        return 0.0
    ends = []
    for value in (max(number.value - error, 0.0), min(number.value + error, 1.0)):
        share, purity = (
            value if moves == name else getattr(exact, moves)
            for moves in ("unlabeled_prevalence", "label_purity")
        )
        ends.append(_move(counts, exact, share, purity) or exact)
    gap = float(getattr(ends[1], name) - getattr(ends[0], name))
    rise = cleaned_area(counts, ends[1]) - cleaned_area(counts, ends[0])
    return abs(rise / gap) * error if gap > 0 else 0.0


def _move(counts: ScoreCounts, exact: Shares, share: float, purity: float) -> Shares | None:
    """Return another share and purity; whichever share was given stays when the purity moves."""
    share = exact.clip(share)
    try:
        if exact.sampling == "case-control" or exact.given == "unlabeled_prevalence":
            return exact.exact(min(share, exact.exact(0.0, purity).below(purity)), purity)
        return exact.with_unlabeled_prevalence(share).with_purity(counts, purity)
    except InputError:
        return None
