"""The share of hidden positives: one for the rows, given by the user or estimated from scores.

A share belongs to the rows, not to a model. Several models on the same rows get one estimate, one
interval and one limit above which the scores rule a share out.
"""

import copy
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
from scipy.special import ndtr, ndtri

from undercount.assume.base import Unknowns
from undercount.checks.checklist import LEAKED
from undercount.checks.fair_sample import SURELY_UNFAIR, mature_checks
from undercount.counts import ScoreCounts
from undercount.errors import (
    LOOKED_AT_HIGH,
    InputError,
    LibraryWarning,
    MisfitWarning,
    SmallSampleWarning,
    check_choice,
    collect_warnings,
    named,
    warn,
)
from undercount.estimate import Estimate
from undercount.infer.area_gradients import unbiased_average_precision
from undercount.infer.area_intervals import area_estimate
from undercount.infer.clusters import ClusterRows
from undercount.infer.heads import FlaggedCounts, head_spread
from undercount.infer.mixture import (
    LABELLED,
    MISFIT_ERRORS,
    RATE_TOLERANCE,
    UNLABELED,
    MixtureDesign,
    Target,
    design_of,
)
from undercount.infer.resampled import (
    RESAMPLED_INTERVALS,
    PrevalenceInterval,
    Progress,
    Resamples,
    resample_calculation,
    share_interval,
)
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.prevalence.consensus.doubts import Doubt, find_doubt
from undercount.prevalence.low_end import SCORES_ALONE, lower_end
from undercount.prevalence.two_sources import GIVEN_DEPENDENCE, INDEPENDENT_SOURCES
from undercount.prevalence.upper_bound import area_bound, effective_sizes, upper_bound
from undercount.shares import Sampling, Shares, check_purity_of, read_shares

Models: TypeAlias = Mapping[str, ScoreCounts]
# Chosen by coverage in simulations (tests/validity/test_pipeline_coverage.py): resampling shows
# chance alone, the estimator's own interval its bias as well.
DEFAULT_INTERVAL: PrevalenceInterval = "calibrated"
# Labels of either class from which known negatives tell the share better than the scores' shape.
FEWEST_OF_BOTH = 30
# Below this AUC of labelled against unlabeled rows, many hidden ones and poor scores look alike:
# the truth then lies below the interval's low end too often (docs/evidence/hidden-share.md).
LEAST_AREA = 0.65
# Halvings of a share until it fits; the last one moves it by less than rounding.
_SHARE_HALVINGS = 40


def from_scores(estimate: Estimate) -> bool:
    """Whether a share was estimated from scores alone."""
    return SCORES_ALONE in estimate.needs


def shared_share(
    models: Models,
    *,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    target: Target = "dataset",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    prevalence_interval: PrevalenceInterval | None = None,
    n_resamples: int = 200,
    progress: Progress | None = None,
    limits: "ShareLimits | None" = None,
    clusters: Mapping[str, ClusterRows | None] | None = None,
) -> dict[str, Unknowns]:
    """Take the one prevalence argument that was given, or estimate one share for all models.

    Parameters
    ----------
    models : mapping
        Name of each model → its counts of the same rows.
    prevalence, unlabeled_prevalence, label_frequency, label_purity, sampling, target, \
confidence_level, random_state, prevalence_interval, n_resamples, progress
        As in `evaluate`.
    limits : ShareLimits, optional
        How far the scores let the share go, if they need not be asked.
    clusters : mapping, optional
        Name of each model → its rows by cluster, if they come in clusters: these are resampled.

    Returns
    -------
    dict
        Name of each model → what is known of the share; models differ in nothing but `resamples`
        and, where their rows differ, in what follows from a given prevalence.
    """
    estimator = unlabeled_prevalence
    _check_request(prevalence_interval, estimator)
    given = {
        "prevalence": prevalence,
        "unlabeled_prevalence": unlabeled_prevalence,
        "label_frequency": label_frequency,
    }
    limits = ShareLimits.of(models, confidence_level) if limits is None else limits
    named_values = [value for value in given.values() if value is not None]
    unfitted = hasattr(estimator, "fit") and not hasattr(estimator, "unlabeled_prevalence_")
    if not named_values or (unfitted and len(named_values) == 1):
        plain = Shares(0.0, label_purity, sampling)
        fit = _Fit(models, plain, label_purity, target, confidence_level, random_state, limits)
        fit = replace(fit, clusters=clusters or {})
        kind = prevalence_interval or DEFAULT_INTERVAL
        return _estimate(fit, estimator, kind, n_resamples, progress)
    about = {"label_purity": label_purity, "sampling": sampling, "target": target}
    unknowns = {}
    for name, counts in models.items():
        with collect_warnings() as warned:  # they become checks
            shares = cast("Shares", read_shares(counts, **about, **given))
        if prevalence_interval is not None:
            raise InputError(
                f"{named('interval')} is for a share that is estimated from these "
                f"scores; {named(shares.given)} was given"
            )
        question = named_values[0], target, confidence_level
        unknowns[name] = _as_given(models, shares, *question, limits, warned)
    return unknowns


def known_of_part(
    used: ScoredRows, share: Estimate, target: Target, confidence_level: float
) -> Unknowns:
    """Return what is known of some of the rows, whose share follows from that of all."""
    counts = used.counts_for_share("single-sample")
    known = shared_share(
        {"": counts}, unlabeled_prevalence=share, target=target, confidence_level=confidence_level
    )
    return known[""]


def _check_request(kind: str | None, estimator: Any) -> None:
    if kind is not None:
        check_choice("interval", kind, RESAMPLED_INTERVALS)
    if isinstance(estimator, type):
        raise InputError(
            f"{named('unlabeled_prevalence')} must be a share or an estimator; got the class "
            f"{estimator.__name__}. Pass {estimator.__name__}()"
        )


def part_level(confidence_level: float, n_models: int) -> float:
    """Return the level at which each of several models is looked at (Bonferroni)."""
    return 1 - (1 - confidence_level) / n_models if n_models > 1 else confidence_level


@dataclass(frozen=True)
class ShareLimits:
    """Hold how far the scores let the share go: the same whichever model is looked at.

    Attributes
    ----------
    separation : float
        Largest |2 AUC - 1| of labelled against unlabeled rows: the purity less this is the share
        at which an AUC would be 1.
    bound : float
        Upper confidence bound of the share over the purity; of several models the smallest, each
        at its part of the risk (Bonferroni).
    sizes : tuple of float
        Effective numbers of labelled and unlabeled rows of the sharpest model.
    quantile : float
        Standard errors by which its AUC may pass 1.
    """

    separation: float
    bound: float
    sizes: tuple[float, float]
    quantile: float

    @classmethod
    def of(cls, models: Models, confidence_level: float) -> "ShareLimits":
        """Look at every model."""
        level = part_level(confidence_level, len(models))
        gaps = [(abs(2 * m.auc("positive", "unlabeled") - 1), m) for m in models.values()]
        separation, sharpest = max(gaps, key=operator.itemgetter(0))
        bound = min(upper_bound(counts, level) for counts in models.values())
        return cls(separation, bound, effective_sizes(sharpest), float(ndtri((1 + level) / 2)))

    def largest_share(self, purity: float) -> float:
        """Return the share at which the AUC of one model would be 1."""
        return max(0.0, purity - self.separation)

    def shown(self, purity: float) -> tuple[float, float, float]:
        """Return the limits as evaluations show them; the heads of impure labels bound nothing."""
        area = area_bound(self.separation, self.sizes, self.quantile, purity)
        return self.largest_share(purity), self.bound if purity == 1 else 1.0, area


def _as_given(
    models: Models,
    shares: Shares,
    given: Any,
    target: Target,
    confidence_level: float,
    limits: ShareLimits,
    warned: list[LibraryWarning],
) -> Unknowns:
    """Keep a share that was given, an estimate's interval at the level asked for."""
    source, own = f"{shares.given} given", ""
    if any(warning.code == "range-cut" for warning in warned):
        source += ", from the labelled share on"
    if hasattr(given, "fit"):
        source = f"estimated by {type(given).__name__}"
    elif isinstance(given, Estimate):
        source = f"{shares.given} estimated elsewhere"
    if shares.given == "unlabeled_prevalence":
        own = _own(given, shares)
    shares = _at_level(shares, given, confidence_level)
    if hasattr(given, "fit"):  # what an estimator found is never refused
        most = largest_fitting_share(models, shares, target)
        if most < shares.unlabeled_prevalence:
            warned.append(_too_many(shares.unlabeled_prevalence, most))
            shares = Shares(_cap(given.estimate(), most), shares.label_purity, shares.sampling)
            shares = _at_level(shares, given, confidence_level)
        shares = _cut(shares, limits)
    return Unknowns(
        shares,
        source,
        *limits.shown(shares.label_purity),
        interval=own,
        warned=warned,
        checks=mature_checks(given),
        needs=_needs_of_sources(given),
        from_scores=bool(own) and from_scores(given.estimate() if hasattr(given, "fit") else given),
    )


def _needs_of_sources(given: Any) -> tuple[str, ...]:
    """Name what a share of two sources rests on, which nothing in the scores can tell."""
    share = given.estimate() if hasattr(given, "fit") else given
    needs = share.needs if isinstance(share, Estimate) else ()
    if INDEPENDENT_SOURCES not in needs:
        return ()
    alone = getattr(given, "odds_ratio", 1.0) == 1
    return (INDEPENDENT_SOURCES if alone else GIVEN_DEPENDENCE,)


def _own(given: Any, shares: Shares) -> str:
    """Say whether the interval is an estimator's: skew or wide, and not just a standard error."""
    estimated = hasattr(given, "fit") or (isinstance(given, Estimate) and bool(given.method))
    interval = shares.unlabeled_prevalence_error > 0 and shares.unlabeled_prevalence_interval
    return "own" if estimated and interval else ""


def _at_level(shares: Shares, given: Any, confidence_level: float) -> Shares:
    """Move the ends of an estimate's interval to the level asked for, by normal quantiles.

    An interval without a standard error is taken for a range, which has no level.
    """
    span, level = shares.unlabeled_prevalence_interval, getattr(given, "confidence_level", 0.0)
    same = level == confidence_level or not 0 < level < 1
    if span is None or shares.unlabeled_prevalence_error == 0 or same:
        return shares
    factor = float(ndtri((1 + confidence_level) / 2) / ndtri((1 + level) / 2))
    value = shares.unlabeled_prevalence
    low = max(value - factor * (value - span.low), 0.0)
    return shares.with_interval(low, min(value + factor * (span.high - value), 1.0))


# Where nobody asks the scores: each share is allowed.
UNASKED = ShareLimits(0.0, 1.0, (math.inf, math.inf), 0.0)


@dataclass(frozen=True)
class _Fit:
    """Hold what an estimate of the share is made from."""

    models: Models
    plain: Shares
    label_purity: Any
    target: Target
    confidence_level: float
    random_state: int | None
    limits: ShareLimits
    clusters: Mapping[str, ClusterRows | None] = field(default_factory=dict)

    @property
    def purity(self) -> float:
        """The purity of the labels, one number."""
        return self.plain.label_purity

    @property
    def sharpest(self) -> str:
        """The model that tells labelled from unlabeled rows best; the first of equals.

        What the scores of a model say of the share is an upper bound of it, the tighter the
        better the model, and A = ½ + (κ - a)(AUC - ½) has the same share for every model.
        """
        return max(self.models, key=lambda name: self.models[name].auc("positive", "unlabeled"))


def _estimate(
    fit: _Fit, estimator: Any, kind: PrevalenceInterval, n_resamples: int, progress: Progress | None
) -> dict[str, Unknowns]:
    """Estimate one share for all models from the sharpest scores."""
    name = fit.sharpest
    counts, purity = fit.models[name], fit.purity
    with collect_warnings() as warned:  # they become checks
        fitted = _fitted(fit, counts, estimator)
    check_purity_of(fitted, purity)
    if len(fit.models) > 1 and counts.auc("positive", "unlabeled") >= LEAKED:
        warned.append(_leaked(name))
    own = fitted.estimate()
    if from_scores(own) and "doubt" not in fitted.diagnostics_ and not math.isnan(own.low):
        own = replace(own, low=lower_end(own.low, counts, purity))  # a consensus has done so itself
    shares = _fit_in(fit, own, warned)
    if estimator is None and counts.auc("positive", "unlabeled") < LEAST_AREA:
        shares = _open_low_end(shares)
    resamples = None
    if kind != "calibrated":
        resamples = resample_calculation(
            counts,
            fitted,
            shares,
            kind=kind,
            n_resamples=n_resamples,
            confidence_level=fit.confidence_level,
            random_state=fit.random_state,
            progress=progress,
            clusters=fit.clusters.get(name),
        )
        shares = _cut(_widen(shares, resamples, kind, fit.confidence_level), fit.limits)
    method = type(fitted).__name__
    default = estimator is None and method == "Consensus"
    unknowns = Unknowns(
        shares,
        "estimated" if default else f"estimated by {method}",
        *fit.limits.shown(purity),
        estimated=True,
        interval=kind,
        estimates=_answers(fitted, purity),
        doubt=_doubt(fitted, counts, shares),
        warned=warned,
        model=name,
        by_negatives=method == "TwoLabels",
        from_scores=from_scores(own),
    )
    # Resamples are of one model's scores; the others get the interval that they led to.
    return {
        model: replace(unknowns, resamples=resamples if model == name else None)
        for model in fit.models
    }


def _doubt(fitted: Any, counts: ScoreCounts, shares: Shares) -> Doubt:
    """Return why an estimator leaves the share open; known negatives tell how many there are."""
    doubt: Doubt | None = fitted.diagnostics_.get("doubt")
    if doubt is not None or type(fitted).__name__ == "TwoLabels":
        return doubt or ""
    return find_doubt(counts, shares.unlabeled_prevalence, shares.sampling)


def _open_low_end(shares: Shares) -> Shares:
    """Let the interval begin at 0 where the scores hardly tell labelled from unlabeled rows.

    Either nearly all unlabeled rows are positive, or the scores are poor: nothing tells which.
    """
    span = shares.unlabeled_prevalence_interval
    return shares if span is None else shares.with_interval(0.0, span.high)


def _fitted(fit: _Fit, counts: ScoreCounts, estimator: Any) -> Any:
    """Fit a copy of the estimator, or the default one, at the level asked for."""
    if estimator is None:
        from undercount.prevalence import Consensus, NoisyConsensus  # noqa: PLC0415 - scikit-learn

        fitted = _by_known_negatives(fit, counts)
        if fitted is not None:
            return fitted
        # Simulated with 2 and 4 sd between the classes, purities .8 and .95: NoisyConsensus errs
        # least; purity times the answer of Consensus is too low and covered .76 in places.
        kind = NoisyConsensus if fit.purity < 1 else Consensus
        estimator = kind(random_state=fit.random_state)
    estimator = copy.deepcopy(estimator)
    if hasattr(estimator, "confidence_level"):
        estimator.confidence_level = fit.confidence_level
    if getattr(estimator, "random_state", 0) is None:  # else each call has another interval
        estimator.random_state = fit.random_state
    return estimator.fit(counts)


def _by_known_negatives(fit: _Fit, counts: ScoreCounts) -> Any:
    """Fit the share that labels of both classes tell; None if they cannot, with a warning.

    Known negatives identify the share without scores that only positives reach. Chosen ones
    (the easy ones, say) do not: the quotient of areas then leaves [0, 1], or the share what the
    heads of labelled and unlabeled rows allow.
    """
    both = min(counts.effective_size("positive"), counts.effective_size("negative"))
    if both < FEWEST_OF_BOTH or fit.purity < 1 or counts.n_negative == 0:
        return None
    if counts.auc("positive", "negative") <= 0.5:  # noqa: PLR2004 - of no information
        return None
    from undercount.prevalence import TwoLabels  # noqa: PLC0415 - scikit-learn

    estimator = TwoLabels(sampling=fit.plain.sampling, confidence_level=fit.confidence_level)
    with collect_warnings(MisfitWarning) as misfits:
        fitted = estimator.fit(counts)
    least = fitted.estimate().low
    if not misfits and least <= fit.limits.bound:
        return fitted
    why = (
        str(misfits[0])
        if misfits
        else f"they would make {fitted.unlabeled_prevalence_:.3g} of the unlabeled rows positive "
        f"({least:.3g} at least), and the scores rule out more than "
        f"{fit.limits.bound:.3g}"
    )
    warn(
        MisfitWarning(
            f"the known negatives are no random sample of the negatives ({why}); the share is "
            "estimated without them",
            code=LOOKED_AT_HIGH if _surely_negative(fitted) else "negatives-chosen",
        )
    )
    return None


def _surely_negative(fitted: Any) -> bool:
    """Whether known negatives score so high that fewer than no unlabeled row would be positive.

    High scores were looked at more often then, and so probably were the positives.
    """
    raw, error = fitted.diagnostics_["raw"], fitted.standard_error_
    return bool(2 * ndtr(raw / error) < SURELY_UNFAIR) if error > 0 else False


def _leaked(name: str) -> MisfitWarning:
    return MisfitWarning(
        f"the share of hidden positives, one for all models, comes from the scores of {name}, "
        "which separate labelled from unlabeled rows almost perfectly: if that model saw the "
        "labels, it is far too low for the others as well",
        code="sharpest-leaked",
    )


def _fit_in(fit: _Fit, own: Estimate, warned: list[LibraryWarning]) -> Shares:
    """Fit an estimated share into what the scores of every model allow."""
    # The heads of labelled and unlabeled rows bound a/κ.
    most = min(fit.limits.largest_share(fit.purity), fit.purity * fit.limits.bound)
    most = float(fit.plain.clip(most))
    shares = Shares(_cap(own, most), fit.label_purity, fit.plain.sampling)
    fitting = largest_fitting_share(fit.models, shares, fit.target)
    if fitting < shares.unlabeled_prevalence:
        most = fitting
        shares = Shares(_cap(own, most), fit.label_purity, fit.plain.sampling)
    if own.value > most:
        warned.append(_too_many(own.value, most))
    return _cut(shares, fit.limits)


def fit_share(
    models: Models,
    own: Estimate,
    *,
    label_purity: Any,
    sampling: Sampling,
    target: Target,
    confidence_level: float,
) -> Estimate:
    """Fit an estimated share, with its interval, into what the scores of every model allow.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.assume.random_labels.hidden_share import fit_share
    >>> counts = uc.ScoreCounts.from_counts([2, 1], [50, 0], [0, 0], [50, 450])
    >>> about = {"sampling": "single-sample", "target": "dataset", "confidence_level": 0.95}
    >>> found = fit_share({"": counts}, uc.Estimate(0.3, 0.05, 0.5), label_purity=1, **about)
    >>> round(found.value, 9)
    0.1
    """
    limits = ShareLimits.of(models, confidence_level)
    plain = Shares(0.0, label_purity, sampling)
    fit = _Fit(models, plain, label_purity, target, confidence_level, 0, limits)
    fitted = _fit_in(fit, own, [])
    value, span = fitted.unlabeled_prevalence, fitted.unlabeled_prevalence_interval
    low, high = (span.low, span.high) if span else (value, value)
    return replace(own, value=value, low=low, high=high)


def largest_fitting_share(models: Models, shares: Shares, target: Target) -> float:
    """Return the largest share, at most the one given, at which every model's numbers exist.

    The rates at every threshold and the areas lie inside their ranges, or outside by no more than
    the chance of the sample explains. If no share does, the purity is to blame, and the share
    stays what it is.
    """
    share = shares.unlabeled_prevalence
    pure = shares.label_purity == 1
    for counts in (model.canonical if pure else model for model in models.values()):
        knots = label_heads(counts.thinned)
        if _fits(counts, knots, shares.exact(share), target):
            continue
        low, high = 0.0, share
        if not _fits(counts, knots, shares.exact(low), target):
            continue
        for _ in range(_SHARE_HALVINGS):
            middle = (low + high) / 2
            fits = _fits(counts, knots, shares.exact(middle), target)
            low, high = (middle, high) if fits else (low, middle)
        share = low
    return share


def label_heads(counts: ScoreCounts) -> Any:
    """Count the rows above the thresholds at which rates may be furthest out: beside labels."""
    beside = np.zeros(len(counts.score) + 1, bool)
    beside[1:] = counts.positive > 0
    beside[:-1] |= beside[1:]
    positive, negative, unlabeled = counts.cumulative()
    return np.stack([heads[beside] for heads in (positive, unlabeled, negative)])


def _fits(counts: ScoreCounts, knots: Any, shares: Shares, target: Target) -> bool:
    design = design_of(counts, shares, shares.sampling, target)
    if not fits_easily(counts, knots, design) and not rates_fit(knots, design):
        return False
    # The lift AUC of pure labels is a mean of ranks, and their AUC is at most 1 below the limit.
    areas = ("average_precision",) if design.pure else SWEPT_AREAS
    if design.pure and 0 <= unbiased_average_precision(counts, design) <= 1:
        return True  # nothing is outside its range, and no interval need say how far
    options: dict[str, Any] = {"max_fpr": None, "confidence_level": 0.95, "errors": (0.0, 0.0)}
    with collect_warnings(SmallSampleWarning):
        misfits = [area_estimate(counts, design, name, **options).misfit for name in areas]
    return all(misfit is None or misfit.errors <= MISFIT_ERRORS for misfit in misfits)


def rates_fit(knots: Any, design: MixtureDesign) -> bool:
    """Whether rates leave [0, 1] by no more than the chance of the sample explains."""
    heads = FlaggedCounts(knots, design)
    point = heads.point
    for name in ("fpr",) if design.pure else ("fpr", "tpr"):
        rate = getattr(point, name)
        beyond = np.maximum(-rate, rate - 1)
        out = beyond > RATE_TOLERANCE
        if not out.any():
            continue
        error = np.sqrt(head_spread(FlaggedCounts(knots[:, out], design), name).variance)
        if np.any(beyond[out] > MISFIT_ERRORS * error):
            return False
    return True


def fits_easily(counts: ScoreCounts, knots: Any, design: MixtureDesign) -> bool:
    """Whether the chance of the labels alone explains pure rates outside [0, 1], twice over.

    Other sources of chance only add to it; thousands of segments need no more. The rate of false
    positives is (q - a g)/(1 - a), with q and g the heads of unlabeled and labelled rows.
    """
    if not design.pure or counts.n_negative > 0:
        return False
    labels, others = counts.n_positive, counts.n_unlabeled
    share = float(design.mixing.unlabeled_prevalence)
    if not 0 < share < 1:
        return False
    rate = (knots[UNLABELED] / others - share * knots[LABELLED] / labels) / (1 - share)
    size = float(counts.effective_size("positive"))
    near = (knots[LABELLED] / labels * size + 0.5) / (size + 1)  # half a label more to either side
    hidden = share * others / (labels + share * others) if design.counted else 1.0
    square = near * (1 - near) * hidden / size
    most = MISFIT_ERRORS / 2 * share / (1 - share) * np.sqrt(square)
    return bool(np.all(np.maximum(-rate, rate - 1) <= most + RATE_TOLERANCE))


def _answers(fitted: Any, purity: float) -> dict[str, Estimate]:
    """Return what each method says of the share.

    Where labels may be wrong, methods are run twice, and the first run ("a1") is about a/κ.
    """
    answers = fitted.diagnostics_.get("estimates", {})
    if hasattr(fitted, "label_purity_"):
        answers = {
            name: purity * value for name, value in answers.items() if name.startswith("a1 ")
        }
    return {
        name.removeprefix("a1 "): Estimate(value, value, value, method=name)
        for name, value in answers.items()
    }


def _cap(own: Estimate, most: float) -> Estimate | float:
    """Take the estimate down to what the scores allow; drop an interval of NaN."""
    value = min(own.value, most)
    if math.isnan(own.low):
        return value
    return replace(own, value=value, low=min(own.low, value), high=max(own.high, value))


def _too_many(found: float, most: float) -> MisfitWarning:
    return MisfitWarning(
        f"the estimated share of hidden positives would be {found:.3g}, more than "
        f"these scores allow; {most:.3g}, the largest that fits, is used",
        code="share-too-large",
        argument="unlabeled_prevalence",
    )


def _cut(shares: Shares, limits: ShareLimits) -> Shares:
    """End the interval of an estimated share where the scores rule out more."""
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    if span is None:
        return shares
    purity = shares.label_purity_interval
    purest = purity.high if purity else shares.label_purity
    most = max(value, purest * limits.bound)
    return shares if span.high <= most else shares.with_interval(span.low, most)


def _widen(
    shares: Shares, resamples: Resamples, kind: PrevalenceInterval, confidence_level: float
) -> Shares:
    """Give the share the interval that the resamples lead to; its value stays."""
    own = shares.unlabeled_prevalence_interval
    span = share_interval(resamples.estimated, own, kind, confidence_level)
    error = span.width / (2 * float(ndtri((1 + confidence_level) / 2)))
    value = shares.unlabeled_prevalence
    return shares.with_interval(min(span.low, value), max(span.high, value), error)
