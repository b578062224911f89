"""The keywords that every metric takes, and the one path from rows to an estimate."""

import inspect
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import numpy as np

from undercount.assume.base import Wanted
from undercount.assume.builder import assumption_of, shares_of
from undercount.checks.flagged import warn_rounding
from undercount.count.arrays import read_labels, read_scores, read_weights, refuse_other_order
from undercount.count.knots import knots_at
from undercount.counts import ScoreCounts
from undercount.errors import InputError, check_choice, named, real_number, warn
from undercount.estimate import Estimate, check_confidence_level
from undercount.infer.clusters import ClusterRows, read_clusters
from undercount.infer.estimate_metric import ShareError, estimate_metric
from undercount.infer.estimated_share import estimate_end_by_end
from undercount.infer.heads import IntervalKind
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import TARGETS, Target
from undercount.infer.scored_rows import count_model
from undercount.metric_facts import FACTS, LOSSES
from undercount.shares import SAMPLINGS, Sampling, Shares, read_shares, reads_scores

if TYPE_CHECKING:
    from undercount.assume.base import Assumption, Unknowns

Metric = TypeVar("Metric", bound=Callable[..., Estimate])
# The parameters of the metrics, by the first name of each.
_PARAMETERS = {
    "y": "y, score : array-like\n"
    "    Labels (1 positive, 0 negative, missing unlabeled) and scores.",
    "threshold": "threshold : float\n    Rows with at least this score are predicted positive.",
    "beta": "beta : float\n    Weight of recall.",
    "false_positive": "false_positive, false_negative : float\n    What such an error costs.",
    "chance": "chance : float\n    At this chance of being positive a row is just worth flagging.",
    "max_fpr": "max_fpr : float\n    End of the range, above 0 and at most 1.",
    "method": 'method : {"direct", "indirect"}\n'
    "    By the formula, with DeLong's variance on the logit scale; or as the area under the\n"
    "    recovered and cleaned curve (Algorithm 1), with an interval by resampling.",
    "options": "**options\n    Keywords of `MetricOptions`.",
}
# What a metric rests on, by whether it needs a prevalence.
_ASSUMED = {
    True: "Assumes: labels are random among the positives, and the prevalence is right.\n"
    "Wrong when: positives with high scores are labelled more often, or the prevalence is wrong.",
    False: "Assumes: labels are random among the positives; no prevalence is needed if they are "
    "pure.\nWrong when: positives with high scores are labelled more often than others.",
}
# The rows that show most metrics, and what they are shown with.
_ROWS = """>>> import undercount as uc
>>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]"""
_SHOWN = {
    "threshold": "threshold=6",
    "beta": "beta=2",
    "false_positive": "false_positive=1, false_negative=9",
    "chance": "chance=0.2",
}


class MetricOptions(TypedDict, total=False):
    """Keywords of every metric.

    Give exactly one of the three prevalences, except for the metrics that need none. Each share
    may be a number, a range (low, high), or an `Estimate` with its standard error; its
    uncertainty reaches the interval.

    Parameters
    ----------
    assume : Assumption, optional
        How the labels came about, as in `evaluate`; it says what the five arguments below say.
    unlabeled_prevalence : share
        Share of positives among the unlabeled rows.
    prevalence : share
        Share of positives among all rows (among the unlabeled ones in case-control sampling).
    label_frequency : share
        Share of all positives that carry a label.
    label_purity : share, default 1
        Share of the rows labelled positive that really are.
    sampling : {"single-sample", "case-control"}
        Whether the labelled rows were part of the sample before they were labelled, or were drawn
        apart from the unlabeled ones.
    unlabeled : number, optional
        The value in `y` that means unlabeled, usually 0 or -1; missing values always do.
    sample_weight : array-like, optional
        Importance of each row.
    cluster : array-like, optional
        Whose each row is, if rows and labels come in clusters.
    target : {"dataset", "population"}
        Whether the metric of these very rows is meant, or that of the population behind them; by
        default these rows in a single sample, the population behind the unlabeled ones in
        case-control.
    confidence_level : float, default 0.95
        Probability with which the interval shall cover.
    interval : {"wilson", "mid-p", "exact"}
        How the number of true positives is bounded when the number of positives is known:
        close to the confidence level, nearly always at least, always at least. Areas and losses
        have no such number, and ignore it.
    share_error : {"combined", "guaranteed"}
        Whether the error of an estimated share is added as independent, or searched over.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.read.metrics import MetricOptions
    >>> options: MetricOptions = {"unlabeled": 0, "prevalence": 0.5, "target": "population"}
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> round(uc.metrics.recall(y, score, threshold=6, **options).value, 4)
    0.6667
    """

    assume: "Assumption | None"
    unlabeled_prevalence: Any
    prevalence: Any
    label_frequency: Any
    label_purity: Any
    sampling: Sampling
    unlabeled: float | None
    sample_weight: Any
    cluster: Any
    target: Target
    confidence_level: float
    interval: IntervalKind
    share_error: ShareError


def document(example: float | None = None) -> Callable[[Metric], Metric]:
    """Write into a docstring what metrics share.

    That is: the parameters, what the metric assumes if the docstring is silent, and an example of
    eight rows whose value is `example`, unless the docstring has its own.

    Examples
    --------
    >>> import undercount as uc
    >>> "Assumes: labels are random among the positives" in uc.metrics.f1.__doc__
    True
    """

    def write(metric: Metric) -> Metric:
        if metric.__doc__ is None:  # python -OO
            return metric
        text, *rest = re.split(
            r"(?m)^(?=(?:Notes|Examples)\n-+$)", inspect.cleandoc(metric.__doc__)
        )
        takes = [name for name in _PARAMETERS if name in metric.__annotations__]
        parts = [text.strip(), _section("Parameters", *(_PARAMETERS[name] for name in takes))]
        parts.append(_section("Returns", "Estimate"))
        needs_prevalence = FACTS[metric.__name__].needs_prevalence
        if not any(part.startswith("Notes") for part in rest):
            parts.append(_section("Notes", _ASSUMED[needs_prevalence]))
        parts += [part.strip() for part in rest]
        if example is not None:
            given = [_SHOWN[name] for name in takes if name in _SHOWN]
            given += ["unlabeled=0", *["prevalence=0.5"] * needs_prevalence]
            call = f"uc.metrics.{metric.__name__}(y, score, {', '.join(given)})"
            lines = f">>> estimate = {call}\n>>> round(estimate.value, 4)\n{example}"
            parts.append(_section("Examples", _ROWS, lines))
        metric.__doc__ = "\n\n".join(parts) + "\n"
        return metric

    return write


def _section(title: str, *lines: str) -> str:
    return "\n".join([title, "-" * len(title), *lines])


def read_rows(
    y: Any,
    score: Any,
    name: str,
    options: MetricOptions,
    *,
    threshold: float | None = None,
    compact: bool = True,
) -> tuple[ScoreCounts, Shares | None, "Unknowns | None"]:
    """Count rows and read the shares; of one that is estimated here, return all that is known."""
    options = with_assumed_shares(options, name)
    purity = options.get("label_purity", 1.0)
    pure = real_number(purity) == 1
    unknown = sorted(set(options) - set(MetricOptions.__annotations__))
    if unknown:
        known = ", ".join(sorted(MetricOptions.__annotations__))
        raise TypeError(f"{name}() got an unexpected keyword argument {unknown[0]!r}; has {known}")
    counts = ScoreCounts.from_rows(
        y,
        score,
        unlabeled=options.get("unlabeled"),
        sample_weight=options.get("sample_weight"),
        # Losses need every score; with impure labels every unlabeled row takes part in average
        # precision's steps of recall and in the areas' intervals.
        compact=compact
        and name not in LOSSES
        and pure
        and not reads_scores(options.get("unlabeled_prevalence")),
        knots=knots_at(threshold),
    )
    counts.require("positive", "unlabeled")
    sampling = options.get("sampling", "single-sample")
    check_choice("sampling", sampling, SAMPLINGS)
    check_choice("target", target_of(options), TARGETS)
    prevalences = ("prevalence", "unlabeled_prevalence", "label_frequency")
    given: dict[str, Any] = {name: options.get(name) for name in prevalences}
    about: dict[str, Any] = {
        "label_purity": purity,
        "sampling": sampling,
        "target": target_of(options),
    }
    shares: Shares | None
    hidden = None
    if hasattr(given["unlabeled_prevalence"], "fit"):
        hidden = _estimated_share(counts, options.get("confidence_level", 0.95), given | about)
        shares = hidden.shares
    else:
        shares = read_shares(counts, **given, **about)
    if shares is None and (FACTS[name].needs_prevalence or not pure):
        reason = "" if FACTS[name].needs_prevalence else f" when label_purity is {purity}"
        raise InputError(
            f"{name} needs exactly one of prevalence, unlabeled_prevalence and label_frequency"
            f"{reason}; got none. undercount.prevalence estimates it",
            argument="prevalence",
        )
    return counts, shares, hidden


def _estimated_share(
    counts: ScoreCounts, confidence_level: float, asked: dict[str, Any]
) -> "Unknowns":
    """Return the share that an estimator finds, as `evaluate` takes it; its warnings are shown."""
    from undercount.assume.random_labels.hidden_share import shared_share  # noqa: PLC0415 - only for estimators

    confidence_level = check_confidence_level(confidence_level)
    found = shared_share({"score": counts}, confidence_level=confidence_level, **asked)["score"]
    for warning in found.warned:
        warn(warning, stacklevel=5)
    return found


def target_of(options: MetricOptions) -> Target:
    """Return the target asked for; by default what `evaluate` takes for it."""
    apart = options.get("sampling") == "case-control"
    return options.get("target", "population" if apart else "dataset")


def measure(
    y: Any,
    score: Any,
    name: str,
    *,
    threshold: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    **options: Unpack[MetricOptions],
) -> Estimate:
    """Estimate a metric of rows."""
    threshold, assume = _number(threshold), options.get("assume")
    if assume is not None and not _states_share(assume):
        place = MetricAt.of(name, threshold, beta=beta, max_fpr=max_fpr)
        return _recovered(y, score, place, assume, options)
    options = with_assumed_shares(options, name)
    counts, shares, hidden = read_rows(y, score, name, options, threshold=threshold)
    if threshold is not None:
        warn_rounding(counts, threshold, stacklevel=4)
    asked: dict[str, Any] = {
        "threshold": threshold,
        "beta": beta,
        "max_fpr": max_fpr,
        "target": target_of(options),
        "confidence_level": options.get("confidence_level", 0.95),
        "interval": options.get("interval", "wilson"),
    }
    if options.get("cluster") is not None:
        refuse_other_order(y=y, score=score, cluster=options["cluster"])
        labels, scores = read_labels(y, options.get("unlabeled")), np.asarray(read_scores(score))
        weights = options.get("sample_weight")
        asked["clusters"] = ClusterRows.of(
            labels,
            scores,
            read_clusters(options["cluster"], len(scores)),
            None if weights is None else read_weights(weights, len(scores)),
        )
    share_error = options.get("share_error", "combined")
    if hidden is not None and share_error == "combined":
        estimate = estimate_end_by_end(counts, hidden.shares, name, **asked)  # as `evaluate` does
    else:
        sampling = options.get("sampling", "single-sample")
        estimate = estimate_metric(
            counts, shares, name, sampling=sampling, share_error=share_error, **asked
        )
    return estimate if hidden is None else hidden.leave_open(estimate)


def with_assumed_shares(options: MetricOptions, name: str) -> MetricOptions:
    """Return options with the shares that an assumption of random labels says."""
    assume = options.get("assume")
    if assume is None:
        return options
    assumption_of(options)  # refuses what is said twice
    shares = shares_of(assume)
    if shares is None:
        raise InputError(
            f"this form of {name} rests on random labels; got {type(assume).__name__}",
            argument="assume",
        )
    names = MetricOptions.__annotations__
    said: Any = {name: value for name, value in shares.items() if name in names}
    return {**options, **said, "assume": None}


def _recovered(
    y: Any, score: Any, at: MetricAt, assume: "Assumption", options: MetricOptions
) -> Estimate:
    """Estimate a metric under an assumption that is not random labels."""
    assumption = assumption_of(options)
    for name, usual in (("interval", "wilson"), ("share_error", "combined")):
        if options.get(name, usual) != usual:
            raise InputError(
                f"{named(name)} cannot be combined with {named('assume')} unless it is random "
                "labels with a share that is given",
                argument=name,
            )
    refuse_other_order(y=y, score=score, cluster=options.get("cluster"), **assumption.columns)
    rows = options.get("unlabeled"), options.get("sample_weight"), at.threshold, assume.knots
    compact = not assume.every_score and at.metric not in LOSSES
    model = count_model(y, score, *rows, compact=compact).with_clusters(options.get("cluster"))
    assume.check_rows(model)
    wanted = Wanted(options.get("target"), options.get("confidence_level", 0.95))
    (recovery,) = assume.recover({"score": model}, wanted).values()
    return recovery.estimate(at)


def _states_share(assume: "Assumption") -> bool:
    """Whether an assumption is random labels with a share that need not be estimated as a whole."""
    shares = shares_of(assume) or {}
    names = ("prevalence", "unlabeled_prevalence", "label_frequency")
    stated = [shares[name] for name in names if shares.get(name) is not None]
    return bool(stated) and not any(hasattr(share, "fit") for share in stated)


def _number(threshold: Any) -> float | None:
    if threshold is None:
        return None
    value = real_number(threshold)
    if math.isnan(value):
        raise InputError(f"{named('threshold')} must be a number; got {threshold!r}")
    return value
