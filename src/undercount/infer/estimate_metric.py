"""One metric of counted rows with its interval, for either target."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from undercount.counts import ScoreCounts
from undercount.errors import (
    InputError,
    UndefinedMetricWarning,
    check_choice,
    named,
    real_number,
    warn,
)
from undercount.estimate import Estimate, check_confidence_level
from undercount.infer.area_gradients import read_max_fpr
from undercount.infer.area_intervals import area_estimate
from undercount.infer.clusters import Clusters
from undercount.infer.heads import INTERVAL_KINDS, IntervalKind, student_level, two_sided_z
from undercount.infer.mixture import MixtureDesign, Target, design_of
from undercount.infer.threshold_intervals import threshold_estimates
from undercount.infer.variance import Found
from undercount.metric_facts import FACTS, MetricFacts
from undercount.shares import Sampling, Shares

ShareError: TypeAlias = Literal["combined", "guaranteed"]
SHARE_ERRORS = get_args(ShareError)
# Points at which a range of a share is tried; metrics move smoothly and mostly one way with it.
_RANGE_POINTS = 5
_ROUNDING = 1e-9


def estimate_metric(
    counts: ScoreCounts,
    shares: Shares | None,
    name: str,
    *,
    threshold: float | None = None,
    top: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    target: Target = "dataset",
    sampling: Sampling = "single-sample",
    confidence_level: float = 0.95,
    interval: IntervalKind = "wilson",
    share_error: ShareError = "combined",
    clusters: Clusters | None = None,
) -> Estimate:
    """Estimate one metric of counted rows with its interval.

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score; compact counts do, except for log loss and Brier score.
    shares : Shares or None
        What is known of the positives; None for the metrics that need no prevalence.
    name : str
        A metric of `undercount.metrics`.
    threshold : float, optional
        Rows with at least this score are predicted positive; needed by threshold metrics.
    top : float, optional
        Instead of a threshold: so many rows of the highest scores are predicted positive, or such
        a share of them if below 1. Of tied rows each counts by its chance of being among them.
    beta : float
        Weight of recall in "f_beta"; that of a false positive in "expected_cost", a false negative
        having the rest of 1; what a false positive costs in true ones in "net_benefit".
    max_fpr : float, optional
        End of the range of "partial_roc_auc".
    target : {"dataset", "population"}
        Whether the metric of these very rows is meant (only the choice of labelled rows is
        random) or that of the population they were drawn from.
    sampling : {"single-sample", "case-control"}
        Used if `shares` is None; shares know theirs.
    confidence_level : float
        Probability with which the interval shall cover.
    interval : {"wilson", "mid-p", "exact"}
        How recall's limits are found if the number of positives in the data set is known.
    share_error : {"combined", "guaranteed"}
        Whether the standard error of an estimated share is added in squares, which supposes that
        it is independent of the rows, or its own interval is searched at a higher level
        (Bonferroni): valid whatever the dependence, and about 1.6 times as wide.
    clusters : Clusters, optional
        The same rows by cluster, if rows and labels come in clusters.

    Returns
    -------
    Estimate

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives);
    rows are independent, or come in the clusters that were named.
    Wrong when: labels prefer some positives; the prevalence was estimated from the same rows (its
    error then is not independent: resample the whole calculation instead).

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.estimate_metric import estimate_metric
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 1, 0, 0, 0], range(8, 0, -1), unlabeled=0)
    >>> print(estimate_metric(counts, uc.Shares(0.2), "precision", threshold=6))
    0.8889 (0.6667 to 1 at 95 %; needs random labels, prevalence)
    """
    return estimate_metrics(
        counts,
        shares,
        [name],
        threshold=threshold,
        top=top,
        beta=beta,
        max_fpr=max_fpr,
        target=target,
        sampling=sampling,
        confidence_level=confidence_level,
        interval=interval,
        share_error=share_error,
        clusters=clusters,
    )[0]


def estimate_metrics(
    counts: ScoreCounts,
    shares: Shares | None,
    names: Sequence[str],
    *,
    threshold: float | None = None,
    top: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    target: Target = "dataset",
    sampling: Sampling = "single-sample",
    confidence_level: float = 0.95,
    interval: IntervalKind = "wilson",
    share_error: ShareError = "combined",
    clusters: Clusters | None = None,
) -> list[Estimate]:
    """Estimate several metrics at one place, those at a threshold together.

    The arguments are those of `estimate_metric`.
    """
    for name in names:
        _check(FACTS[name], shares, threshold if top is None else 0.0, beta, confidence_level)
    check_choice("interval", interval, INTERVAL_KINDS)
    check_choice("share_error", share_error, SHARE_ERRORS)
    level = confidence_level = float(confidence_level)  # a fraction, say
    if share_error == "guaranteed":
        shares, level = _searched(shares, confidence_level)
    place = _Place(counts, threshold, top, float(beta), max_fpr, target, sampling, interval)
    place = replace(place, clusters=clusters)
    estimates = []
    for name, found in zip(names, place.read(shares, names, level, strict=True), strict=True):
        low, high = _over_shares(place, name, found, shares, level, share_error)
        needs = FACTS[name].needs if place.is_pure(shares) else FACTS[name].needs_if_impure
        error, method = found.standard_error, found.method
        estimates.append(Estimate(found.value, low, high, error, confidence_level, needs, method))
    return estimates


def _over_shares(
    place: "_Place",
    name: str,
    found: Found,
    shares: Shares | None,
    level: float,
    share_error: ShareError,
) -> tuple[float, float]:
    """Return the ends of an interval over all that the share may be, and warn of a misfit."""

    def at(other: Shares, level: float) -> Found:
        return place.read(other, [name], level)[0]

    span = _range(place.counts, shares)
    over = [at(other, level) for other in span]
    if over and share_error == "combined" and shares is not None:
        level = _range_level([found, *over], level)
        over = [at(other, level) for other in [shares, *span]]
    else:
        over += [found, *(at(end, level) for end in _share_ends(FACTS[name], shares, level))]
    if found.misfit is not None and shares is not None:
        # A range is contradicted where all of it is.
        firm = all(one.misfit and one.misfit.contradicts(level) for one in [found, *over])
        found.misfit.report(name, place.counts, shares, firm=firm, stacklevel=4)
    return min(each.low for each in over), max(each.high for each in over)


@dataclass(frozen=True)
class _Place:
    """Counted rows and the place where metrics are read, whatever the shares."""

    counts: ScoreCounts
    threshold: float | None
    top: float | None
    beta: float
    max_fpr: float | None
    target: Target
    sampling: Sampling
    kind: IntervalKind
    clusters: Clusters | None = None

    @staticmethod
    def is_pure(shares: Shares | None) -> bool:
        """Whether every label is right for certain."""
        return shares is None or (shares.label_purity == 1 and not shares.label_purity_interval)

    def read(
        self, shares: Shares | None, names: Sequence[str], level: float, *, strict: bool = False
    ) -> list[Found]:
        """Return values and intervals, the shares being single numbers with standard errors."""
        errors = (0.0, 0.0)
        if shares is not None:
            errors = shares.unlabeled_prevalence_error, shares.label_purity_error
        together = [name for name in names if FACTS[name].family == "threshold"]
        groups = [together] if together and self.clusters is None else [[n] for n in together]
        found: dict[str, Found] = {}
        for group in groups:
            found |= zip(group, self._at_threshold(shares, group, level, errors), strict=True)
        for name in names:
            if name not in found:
                found[name] = self._area(shares, name, level, errors)
        return [_inside_range(found[name], FACTS[name], self.beta, strict=strict) for name in names]

    def _at_threshold(
        self, shares: Shares | None, names: Sequence[str], level: float, errors: tuple[float, float]
    ) -> list[Found]:
        design = self._design(self.counts, shares)
        if self.clusters is not None:
            (name,) = names
            place = {"threshold": self.threshold, "top": self.top, "beta": self.beta}
            design = self.clusters.design(self.counts, design, name, **place)
            level = student_level(level, design.freedom)
        return threshold_estimates(
            self.counts,
            design,
            names,
            threshold=self.threshold,
            top=self.top,
            beta=self.beta,
            confidence_level=level,
            kind=self.kind,
            errors=errors,
        )

    def _area(
        self, shares: Shares | None, name: str, level: float, errors: tuple[float, float]
    ) -> Found:
        """Return an area or a loss, which takes Student's quantile by itself."""
        counts = self.counts
        # Losses read scores, impure labels every row, and pairs of a cluster are counted by bins.
        if self.is_pure(shares) and FACTS[name].family == "area" and counts.clusters is None:
            counts = counts.canonical
        design = self._design(counts, shares)
        end = read_max_fpr(self.max_fpr) if name == "partial_roc_auc" else None
        if self.clusters is not None:
            design = self.clusters.design(counts, design, name, max_fpr=end)
        return area_estimate(
            counts, design, name, max_fpr=end, confidence_level=level, errors=errors
        )

    def _design(self, counts: ScoreCounts, shares: Shares | None) -> MixtureDesign:
        design = design_of(counts, shares, self.sampling, self.target)
        if shares is None and design.sampling == "case-control":
            # Without a prevalence nothing is known about how many unlabeled rows are positive.
            design = replace(design, target="population")
        return design


def range_at(facts: MetricFacts, beta: float) -> tuple[float, float]:
    """Return the least and the most that a metric can be, with the number that some take."""
    least, most = facts.range
    if facts.name == "expected_cost":  # a row errs once, so the dearer error is the most it costs
        most = max(beta, 1.0 - beta)
    return least, most


def _inside_range(found: Found, facts: MetricFacts, beta: float, *, strict: bool) -> Found:
    """Return an interval that stays in the metric's range and holds the estimate."""
    least, most = range_at(facts, beta)
    if math.isnan(found.value):
        if strict:
            warn(
                UndefinedMetricWarning("{metric} is 0/0 here, so NaN", metric=facts.name),
                stacklevel=5,
            )
        return replace(found, low=least, high=most)
    # Whatever was rounded.
    low = min(max(found.low, least), found.value)
    return replace(found, low=low, high=max(min(found.high, most), found.value))


def _check(
    facts: MetricFacts,
    shares: Shares | None,
    threshold: float | None,
    beta: float,
    confidence_level: float,
) -> None:
    # Every metric asks with the same number.
    if not (type(confidence_level) is float and 0 < confidence_level < 1):
        check_confidence_level(confidence_level)
    if shares is None and facts.needs_prevalence:
        raise InputError(
            f"{facts.name} needs a prevalence; give {named('prevalence')}, "
            f"{named('unlabeled_prevalence')} or {named('label_frequency')}"
        )
    if facts.family == "threshold":
        weight = beta if type(beta) is float else real_number(beta)
        if facts.name == "expected_cost" and not 0 <= weight <= 1:
            raise InputError(f"beta of expected_cost is a weight in [0, 1]; got {beta!r}")
        if facts.name != "expected_cost" and not 0 < weight < math.inf:
            raise InputError(f"beta must be a number above 0; got {beta!r}")
        if threshold is None:
            raise InputError(f"{facts.name} needs a threshold; rows with at least this score count")
        if math.isnan(threshold):
            raise InputError(f"{named('threshold')} must be a number; got nan")


def _searched(shares: Shares | None, confidence_level: float) -> tuple[Shares | None, float]:
    """Turn standard errors into ranges, and split the chance of missing between all of them."""
    errors = (0.0, 0.0)
    if shares is not None:
        errors = shares.unlabeled_prevalence_error, shares.label_purity_error
    parts = 1 + sum(error > 0 for error in errors)
    if shares is None or parts == 1:
        return shares, confidence_level
    level = 1 - (1 - confidence_level) / parts
    return shares.as_ranges(two_sided_z(level)), level


def _range(counts: ScoreCounts, shares: Shares | None) -> list[Shares]:
    """Return shares that span the ranges that were given, if any were."""
    if shares is None:
        return []
    ends: list[Any] = []
    for name in ("unlabeled_prevalence", "label_purity"):
        span, error = getattr(shares, f"{name}_interval"), getattr(shares, f"{name}_error")
        middle = getattr(shares, name)
        wide = span is not None and error == 0
        ends.append(np.linspace(span.low, span.high, _RANGE_POINTS) if wide else [middle])
    if len(ends[0]) * len(ends[1]) == 1:
        return []
    estimates = []
    for share, purity in itertools.product(*ends):
        moved = max(float(shares.unlabeled_prevalence_at(counts, purity, share)), 0.0)
        if moved < purity:
            estimates.append(shares.exact(moved, purity))
    return estimates


def _share_ends(facts: MetricFacts, shares: Shares | None, level: float) -> list[Shares]:
    """Return the ends of an estimated share's interval for a metric that needs no prevalence.

    Its value is the same there; but how many positives carry no label decides how far chance may
    take it (the finite-population correction), and the end that widens most is taken.
    """
    if shares is None or shares.unlabeled_prevalence_error == 0 or facts.needs_prevalence:
        return []
    if shares.label_purity < 1 or shares.label_purity_interval is not None:
        return []  # it needs the share, whose error was added in squares
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    reach = two_sided_z(level) * shares.unlabeled_prevalence_error
    ends = (span.low, span.high) if span else (value - reach, value + reach)
    return [shares.exact(float(shares.clip(end))) for end in ends]


def _range_level(found: list[Found], level: float) -> float:
    """Return the level at which the ends of a range cover at the level asked for.

    Imbens and Manski (2004): the true share is one number of the range, so at most one end of the
    metric's range can be missed by chance if the range is wide, and both if it is a point:
    Φ(c + width/error) - Φ(-c) = level.
    """
    values = [estimate.value for estimate in found]
    width = max(values) - min(values) if np.isfinite(values).all() else math.inf
    z = two_sided_z(level)
    # Skew intervals count as symmetric ones of their length, the longest for all.
    error = max(estimate.high - estimate.low for estimate in found) / (2 * z) if z > 0 else 0.0
    if not np.isfinite(width) or not error > 0:
        return level

    def excess(c: float) -> float:
        return float(ndtr(c + width / error) - ndtr(-c)) - level

    if excess(0.0) >= 0:  # below even odds the ends of a wide range cover as they are
        return level
    c = brentq(excess, 0.0, z + _ROUNDING, xtol=1e-14)
    return float(ndtr(c) - ndtr(-c))
