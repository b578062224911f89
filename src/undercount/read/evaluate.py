"""One call for "how good is my model really?"."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.assume.labelled import naive_curve
from undercount.assume.mixture import Target
from undercount.count.arrays import read_labels, read_scores, read_weights
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, LibraryWarning, MisfitWarning, collect_warnings, named
from undercount.estimate import Estimate
from undercount.prevalence.upper_bound import upper_bound
from undercount.read.checks import (
    checklist,
    flagged_check,
    looks_leaked,
    naive_check,
    spoken,
    with_warnings,
)
from undercount.read.evaluation import POINT_METRICS, Evaluation, MetricRow
from undercount.read.intervals.resampled import (
    KINDS,
    PrevalenceInterval,
    Progress,
    Resamples,
    resample_calculation,
    share_interval,
)
from undercount.read.sensitivity import AREAS, largest_share
from undercount.shares import Sampling, Shares, read_shares, refuse_other_purity

UNLABELED = -1  # as `read_labels` codes it
# Chosen by coverage in simulations (tests/validity/test_pipeline_coverage.py): resampling shows
# chance alone, the estimator's own interval its bias as well.
DEFAULT_INTERVAL: PrevalenceInterval = "calibrated"


def evaluate(
    y: Any,
    score: Any = None,
    *,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    unlabeled: float | None = None,
    sample_weight: Any = None,
    threshold: float | None = None,
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    name: str = "score",
    prevalence_interval: PrevalenceInterval | None = None,
    n_resamples: int = 200,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a classifier from its scores and incomplete labels.

    Parameters
    ----------
    y : array-like or ScoreCounts
        1 positive, 0 negative, missing unlabeled; or counts, and then no `score`.
    score : array-like
        Higher means more positive.
    prevalence, unlabeled_prevalence, label_frequency : number, (low, high) or Estimate
        At most one: the share of positives among all rows, among the unlabeled rows, or the share
        of all positives that carry a label. `unlabeled_prevalence` may also be an estimator of
        `undercount.prevalence`, fitted or not. None: estimated, with its interval, by `Consensus`,
        or by `NoisyConsensus` if `label_purity` is below 1.
    label_purity : number, (low, high) or Estimate
        Share of the rows labelled positive that really are. Below 1, counts that merge scores
        give average precision and the areas' intervals approximately.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows were part of the sample before they were labelled.
    unlabeled : number, optional
        Value in `y` that means unlabeled.
    sample_weight : array-like, optional
        Importance of each row.
    threshold : float, optional
        Rows with score >= threshold are predicted positive.
    target : {"dataset", "population"}, optional
        What the intervals speak of; by default this data set in a single sample, the population
        behind the unlabeled rows in case-control.
    confidence_level : float
        Of all intervals. An estimator is fitted at this level; the interval of one that is fitted,
        or of an Estimate with a standard error, is moved to it by normal quantiles.
    random_state : int
        Seed of estimators and resampling.
    name : str
        What the score is called in tables and reports.
    prevalence_interval : {"calibrated", "bootstrap", "combined"}, optional
        How the uncertainty of a share that is estimated here reaches the intervals.
        "calibrated" (the default): by the estimator's own interval, which holds sampling noise
        and the estimator's bias, added in squares. "bootstrap": the counts are resampled, the
        share estimated and every metric computed on each resample; sampling noise alone.
        "combined": the resamples, their shares spread as widely as the estimator's interval.
    n_resamples : int
        Resamples for the last two; each estimates the share anew, some 25 ms.
    progress : callable, optional
        Told the share of the resamples that is done.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives.
    Wrong when: some positives are more likely to be labelled than others; `break_even` says how
    large such a bias a conclusion survives.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.2
    >>> y = truth & (rng.random(5000) < 0.5)
    >>> evaluation = uc.evaluate(
    ...     y, rng.normal(2.0 * truth), unlabeled=0, prevalence=0.2, threshold=1.0
    ... )
    >>> [row.label for row in evaluation.rows][:3]
    ['recall@1', 'precision@1', 'f1@1']
    """
    if threshold is not None and not isinstance(threshold, int | float | np.number):
        raise InputError(f"threshold must be one number; got {threshold!r}")
    if not 0 < confidence_level < 1:
        raise InputError(f"{named('confidence_level')} must be in (0, 1); got {confidence_level}")
    # With impure labels average precision and the areas' intervals need every score.
    pure = isinstance(label_purity, int | float) and label_purity == 1
    counts, recount = _count(y, score, unlabeled, sample_weight, threshold, compact=pure)
    counts.require("positive", "unlabeled")
    target = target or ("dataset" if sampling == "single-sample" else "population")
    hidden = hidden_share(
        counts,
        prevalence=prevalence,
        unlabeled_prevalence=unlabeled_prevalence,
        label_frequency=label_frequency,
        label_purity=label_purity,
        sampling=sampling,
        confidence_level=confidence_level,
        random_state=random_state,
        prevalence_interval=prevalence_interval,
        n_resamples=n_resamples,
        progress=progress,
    )
    made = Evaluation(
        counts,
        hidden.shares,
        target,
        confidence_level,
        threshold,
        hidden.source,
        (),
        (),
        largest_share(counts, hidden.shares.label_purity),
        upper_bound(counts, confidence_level) if hidden.shares.label_purity == 1 else 1.0,
        hidden.interval,
        hidden.estimates,
        name,
        recount,
        hidden.resamples,
        naive_curve=naive_curve(counts),
    )
    with collect_warnings() as warned:  # they become checks
        made = replace(made, rows=_rows(made))
    checks = [
        *checklist(
            counts,
            hidden.shares,
            naive=made.naive_curve,
            estimates=hidden.estimates,
            identified=hidden.identified,
            estimated=hidden.estimated,
        ),
        naive_check(made.rows, hidden.shares),
    ]
    if threshold is not None:
        checks.append(flagged_check(counts, threshold))
    return replace(made, checks=with_warnings(checks, [*hidden.warned, *warned]))


def _rows(made: Evaluation) -> tuple[MetricRow, ...]:
    """Make the table; what is wrong with the shares is said as people say it."""
    try:
        rows = made.metric_rows(AREAS, None, made.counts)
        if made.threshold is None:
            return rows
        return made.metric_rows(POINT_METRICS, made.threshold, made.counts) + rows
    except InputError as error:
        message = error.about([spoken(error.metric)])
        if looks_leaked(made.counts):
            message += (
                ". The scores separate labelled from unlabeled rows almost "
                "perfectly: if the model was trained on these rows or saw their labels, score "
                "other rows, or use out-of-fold scores"
            )
        raise InputError(message, argument=error.argument, hint=error.hint) from None


@dataclass(frozen=True)
class RecountableRows:
    """Hold copies of the rows, so that they can be counted again with other thresholds."""

    labels: NDArray[np.int8]
    scores: NDArray[np.floating[Any]]
    weights: FloatArray | None
    knots: tuple[float, ...]
    compact: bool

    def __call__(self, more: list[float]) -> ScoreCounts:
        """Count the rows, keeping apart the scores on either side of some more thresholds."""
        return ScoreCounts.from_rows(
            self.labels,
            self.scores,
            unlabeled=UNLABELED,
            sample_weight=self.weights,
            compact=self.compact,
            knots=[*self.knots, *more],
        )


def _count(
    y: Any,
    score: Any,
    unlabeled: float | None,
    sample_weight: Any,
    threshold: float | None,
    *,
    compact: bool,
) -> tuple[ScoreCounts, RecountableRows | None]:
    """Return counts, and a way to count once more with other thresholds if rows were given."""
    if isinstance(y, ScoreCounts):
        return y, None
    scores, labels = np.array(read_scores(score)), read_labels(y, unlabeled)
    weights = None if sample_weight is None else np.array(read_weights(sample_weight, len(scores)))
    knots = () if threshold is None else (float(threshold),)
    rows = RecountableRows(labels, scores, weights, knots, compact)
    return rows([]), rows


@dataclass(frozen=True)
class HiddenShare:
    """Hold the shares used, where they come from, and what else is known of them.

    Attributes
    ----------
    estimated : bool
        Whether the share was estimated from these scores.
    interval : str
        How the interval of the share was made: as asked, by the estimator that was given
        ("own"), or empty if a number, a range or a standard error was given.
    estimates : mapping
        What each estimator says, if the share was estimated.
    identified : bool
        Whether the scores say much about the share.
    resamples : Resamples, optional
        The calculation resampled, if it was asked for.
    warned : sequence
        What the estimator warned of.
    """

    shares: Shares
    source: str
    estimated: bool = False
    interval: str = ""
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    identified: bool = True
    resamples: Resamples | None = None
    warned: Sequence[LibraryWarning] = ()


def hidden_share(
    counts: ScoreCounts,
    *,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    prevalence_interval: PrevalenceInterval | None = None,
    n_resamples: int = 200,
    progress: Progress | None = None,
    **given: Any,
) -> HiddenShare:
    """Take the one prevalence argument that was given, or estimate the share."""
    if prevalence_interval is not None and prevalence_interval not in KINDS:
        raise InputError(
            f"{named('prevalence_interval')} must be one of {', '.join(KINDS)}; got "
            f"{prevalence_interval!r}"
        )
    kind = prevalence_interval or DEFAULT_INTERVAL
    estimator = given.get("unlabeled_prevalence")
    if isinstance(estimator, type):
        raise InputError(
            f"{named('unlabeled_prevalence')} must be a share or an estimator; got the class "
            f"{estimator.__name__}. Pass {estimator.__name__}()"
        )
    unfitted = hasattr(estimator, "fit") and not hasattr(estimator, "unlabeled_prevalence_")
    if not unfitted:
        shares = read_shares(counts, label_purity=label_purity, sampling=sampling, **given)
        if shares is not None and prevalence_interval is not None:
            raise InputError(
                f"{named('prevalence_interval')} is for a share that is estimated from these "
                f"scores; {named(shares.given)} was given"
            )
        if shares is not None:
            value = next(value for value in given.values() if value is not None)
            return _as_given(counts, shares, value, confidence_level)
    elif any(given.get(name) is not None for name in ("prevalence", "label_frequency")):
        read_shares(counts, **given)  # says that one of them is enough
    plain = Shares(0.0, label_purity, sampling)
    purity = plain.label_purity
    with collect_warnings() as warned:  # they become checks
        fitted = _fit(counts, estimator, purity, confidence_level, random_state)
    refuse_other_purity(fitted, purity)
    own = fitted.estimate()
    # The heads of labelled and unlabeled rows bound a/κ.
    bound = purity * upper_bound(counts, own.confidence_level)
    most = float(plain.clip(min(largest_share(counts, purity), bound)))
    if own.value > most:
        warned.append(_too_many(own.value, most))
    shares = Shares(_cap(own, most), label_purity, sampling)
    shares = _cut(counts, shares, confidence_level)
    resamples = None
    if kind != "calibrated":
        resamples = resample_calculation(
            counts,
            fitted,
            shares,
            kind=kind,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            random_state=random_state,
            progress=progress,
        )
        shares = _widen(shares, resamples, kind, confidence_level)
        shares = _cut(counts, shares, confidence_level)
    sure = fitted.diagnostics_.get("identified", True)
    default = estimator is None and purity == 1
    source = "estimated" if default else f"estimated by {type(fitted).__name__}"
    return HiddenShare(
        shares,
        source,
        estimated=True,
        interval=kind,
        estimates=_answers(fitted, purity),
        identified=sure,
        resamples=resamples,
        warned=warned,
    )


def _answers(fitted: Any, purity: float) -> dict[str, Estimate]:
    """Return what each method says of the share.

    Where labels may be wrong, methods are run twice, and the first run ("a1") is about a/κ.
    """
    found = fitted.diagnostics_.get("estimates", {})
    if hasattr(fitted, "label_purity_"):
        found = {name: purity * value for name, value in found.items() if name.startswith("a1 ")}
    return {
        name.removeprefix("a1 "): Estimate(value, value, value, method=name)
        for name, value in found.items()
    }


def _as_given(
    counts: ScoreCounts, shares: Shares, given: Any, confidence_level: float
) -> HiddenShare:
    """Keep a share that was given, an estimate's interval at the level asked for."""
    source, own = f"{shares.given} given", ""
    if shares.given == "unlabeled_prevalence":
        own = _own(given, shares)
    shares = _at_level(shares, given, confidence_level)
    if hasattr(given, "fit"):
        shares = _cut(counts, shares, confidence_level)
    return HiddenShare(shares, source, interval=own)


def _own(given: Any, shares: Shares) -> str:
    """Say whether the interval is an estimator's: skew or wide, and not just a standard error."""
    made = hasattr(given, "fit") or (isinstance(given, Estimate) and bool(given.method))
    known = shares.unlabeled_prevalence_error > 0 and shares.unlabeled_prevalence_interval
    return "own" if made and known else ""


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


def _cut(counts: ScoreCounts, shares: Shares, confidence_level: float) -> Shares:
    """End the interval of an estimated share where the scores rule out more."""
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    if span is None:
        return shares
    purity = shares.label_purity_interval
    purest = purity.high if purity else shares.label_purity
    most = max(value, purest * upper_bound(counts, confidence_level))
    return shares if span.high <= most else shares.with_interval(span.low, most)


def _fit(
    counts: ScoreCounts,
    estimator: Any,
    purity: float,
    confidence_level: float,
    random_state: int | None,
) -> Any:
    """Fit a copy of the estimator, or the default one, at the level asked for."""
    if estimator is None:
        from undercount.prevalence import Consensus, NoisyConsensus  # noqa: PLC0415 - scikit-learn

        # Simulated with 2 and 4 sd between the classes, purities .8 and .95: NoisyConsensus errs
        # least; purity times the answer of Consensus is too low and covered .76 in places.
        estimator = (NoisyConsensus if purity < 1 else Consensus)(random_state=random_state)
    estimator = copy.deepcopy(estimator)
    if hasattr(estimator, "confidence_level"):
        estimator.confidence_level = confidence_level
    return estimator.fit(counts)


def _widen(
    shares: Shares, resamples: Resamples, kind: PrevalenceInterval, confidence_level: float
) -> Shares:
    """Give the share the interval that the resamples lead to; its value stays."""
    own = shares.unlabeled_prevalence_interval
    span = share_interval(resamples.estimated, own, kind, confidence_level)
    error = span.width / (2 * float(ndtri((1 + confidence_level) / 2)))
    value = shares.unlabeled_prevalence
    return shares.with_interval(min(span.low, value), max(span.high, value), error)
