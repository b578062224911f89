"""What every metric is asked with, and the one path from rows to an estimate."""

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from undercount.assume.base import Assumption, ReportOptions
from undercount.assume.builder import assumption_of, random_labels_of
from undercount.assume.random_labels.hidden_share import shared_share
from undercount.checks.flagged import warn_rounding
from undercount.count.arrays import check_row_order, read_labels, read_scores, read_weights
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
from undercount.metric_facts import FACTS, LOSSES, RIGHT_LABELS
from undercount.shares import SAMPLINGS, Shares, read_shares, reads_scores

if TYPE_CHECKING:
    from undercount.assume.base import Unknowns
    from undercount.assume.random_labels.assumption import RandomLabels


class CountedRows(NamedTuple):
    """Hold counts, the shares that were stated, and what an estimator found, if one was given."""

    counts: ScoreCounts
    shares: Shares | None
    estimated: "Unknowns | None"

    def name_needs(self, estimate: Estimate) -> Estimate:
        """Return the estimate with what its share and its labels rest on, as `evaluate` says it."""
        shares, needs = self.shares, estimate.needs
        if not needs:  # it rests on nothing
            return estimate
        if self.estimated is not None and "prevalence" in needs:
            needs += self.estimated.needs
        if shares is None or (shares.label_purity == 1 and shares.label_purity_interval is None):
            needs += (RIGHT_LABELS,)
        return replace(estimate, needs=needs)


@dataclass(frozen=True, eq=False, kw_only=True)
class MetricInput:
    """Labels and scores, and the keywords of every metric.

    Give an assumption, or at most one of the three shares, which stand for `RandomLabels`; metrics
    that need no prevalence need none of them. Each share may be a number, a range (low, high), or
    an `Estimate` with its standard error; its uncertainty reaches the interval.

    Parameters
    ----------
    y, score : array-like
        Labels (1 positive, 0 negative, missing unlabeled) and scores.
    assume : Assumption, optional
        How the labels came about, as in `evaluate`.
    prevalence : share
        Share of positives among all rows.
    unlabeled_prevalence : share or estimator
        Share of positives among the unlabeled rows.
    label_frequency : share
        Share of all positives that carry a label.
    unlabeled : number, optional
        The value in `y` that means unlabeled, usually 0 or -1; missing values always do.
    sample_weight : array-like, optional
        Importance of each row.
    cluster : array-like, optional
        The cluster of each row, if rows and labels come in clusters.
    target : {"dataset", "population"}, optional
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
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> keywords = {"unlabeled": 0, "prevalence": 0.5, "target": "population"}
    >>> round(uc.metrics.recall(y, score, threshold=6, **keywords).value, 4)
    0.6667
    """

    y: Any = field(kw_only=False)
    score: Any = field(kw_only=False)
    assume: Assumption | None = None
    prevalence: Any = None
    unlabeled_prevalence: Any = None
    label_frequency: Any = None
    unlabeled: float | None = None
    sample_weight: Any = None
    cluster: Any = None
    target: Target | None = None
    confidence_level: float = 0.95
    interval: IntervalKind = "wilson"
    share_error: ShareError = "combined"

    @property
    def assumption(self) -> Assumption:
        """The assumption that was given, or the one that a share stands for."""
        return assumption_of(
            self.assume,
            prevalence=self.prevalence,
            unlabeled_prevalence=self.unlabeled_prevalence,
            label_frequency=self.label_frequency,
        )

    def require_random_labels(self, form: str) -> "RandomLabels":
        """Return what is said of random labels; raise where a form of a metric rests on them."""
        labels = random_labels_of(self.assumption)
        if labels is None:
            raise InputError(
                f"{form} rests on random labels; got {type(self.assume).__name__}",
                argument="assume",
            )
        return labels

    def target_of(self, labels: "RandomLabels") -> Target:
        """Return the target asked for; by default what `evaluate` takes for it."""
        if self.target is None:
            return "population" if labels.apart else "dataset"
        return self.target

    def estimate_area(self, metric: str, max_fpr: float | None = None) -> Estimate:
        """Estimate a metric of the whole curve, or of a part of it."""
        return self.measure(MetricAt(metric, max_fpr=max_fpr))

    def measure(self, at: MetricAt) -> Estimate:
        """Estimate a metric at its place."""
        assumption = self.assumption
        labels = random_labels_of(assumption)
        if labels is None or not (self.assume is None or _states_share(labels)):
            return self._recover(assumption, at)
        rows = self.count_rows(at, labels)
        if at.threshold is not None:
            warn_rounding(rows.counts, at.threshold, stacklevel=5)
        place: dict[str, Any] = {
            "threshold": at.threshold,
            "beta": at.beta,
            "max_fpr": at.max_fpr,
            "target": self.target_of(labels),
            "confidence_level": self.confidence_level,
            "interval": self.interval,
            "clusters": self._cluster_rows(),
        }
        if rows.estimated is not None and self.share_error == "combined":  # as `evaluate` does
            estimate = estimate_end_by_end(rows.counts, rows.estimated.shares, at.metric, **place)
        else:
            estimate = estimate_metric(
                rows.counts,
                rows.shares,
                at.metric,
                sampling=labels.sampling,
                share_error=self.share_error,
                **place,
            )
        if rows.estimated is not None:
            estimate = rows.estimated.leave_open(estimate)
        return rows.name_needs(estimate)

    def count_rows(
        self, at: MetricAt, labels: "RandomLabels", *, compact: bool = True
    ) -> CountedRows:
        """Count rows and read the shares; of one that is estimated here, take all that is known."""
        pure, hidden = real_number(labels.purity) == 1, labels.hidden
        counts = ScoreCounts.from_rows(
            self.y,
            self.score,
            unlabeled=self.unlabeled,
            sample_weight=self.sample_weight,
            # Losses need every score; with impure labels every unlabeled row takes part in average
            # precision's steps of recall and in the areas' intervals.
            compact=compact and at.metric not in LOSSES and pure and not reads_scores(hidden),
            knots=knots_at(at.threshold),
        )
        counts.require("positive", "unlabeled")
        target = self.target_of(labels)
        check_choice("sampling", labels.sampling, SAMPLINGS)
        check_choice("target", target, TARGETS)
        stated: dict[str, Any] = {
            "prevalence": labels.prevalence,
            "unlabeled_prevalence": hidden,
            "label_frequency": labels.label_frequency,
            "label_purity": labels.purity,
            "sampling": labels.sampling,
            "target": target,
        }
        if hasattr(hidden, "fit"):
            estimated = _estimated_share(counts, self.confidence_level, stated)
            return CountedRows(counts, estimated.shares, estimated)
        shares = read_shares(counts, **stated)
        if shares is None and FACTS[at.metric].needs_prevalence:
            raise InputError(
                f"{at.metric} needs exactly one of prevalence, unlabeled_prevalence and "
                "label_frequency; got none. undercount.prevalence estimates it",
                argument="prevalence",
            )
        return CountedRows(counts, shares, None)

    def _cluster_rows(self) -> ClusterRows | None:
        """Return the rows by cluster, if they come in clusters."""
        if self.cluster is None:
            return None
        check_row_order(y=self.y, score=self.score, cluster=self.cluster)
        labels, scores = read_labels(self.y, self.unlabeled), np.asarray(read_scores(self.score))
        weights = self.sample_weight
        return ClusterRows.of(
            labels,
            scores,
            read_clusters(self.cluster, len(scores)),
            None if weights is None else read_weights(weights, len(scores)),
        )

    def _recover(self, assumption: Assumption, at: MetricAt) -> Estimate:
        """Estimate a metric by a recovery of the rows."""
        for name, usual in (("interval", "wilson"), ("share_error", "combined")):
            if getattr(self, name) != usual:
                raise InputError(
                    f"{named(name)} cannot be combined with {named('assume')} unless it is random "
                    "labels with a share that is given",
                    argument=name,
                )
        columns = assumption.columns
        check_row_order(y=self.y, score=self.score, cluster=self.cluster, **columns)
        rows = self.unlabeled, self.sample_weight, at.threshold, assumption.knots
        compact = not assumption.every_score and at.metric not in LOSSES
        model = count_model(self.y, self.score, *rows, compact=compact).with_clusters(self.cluster)
        assumption.check_rows(model)
        wanted = ReportOptions(self.target, check_confidence_level(self.confidence_level))
        (recovery,) = assumption.recover({"score": model}, wanted).values()
        return recovery.estimate(at)


@dataclass(frozen=True, eq=False, kw_only=True)
class RocAreaInput(MetricInput):
    """What the area under the ROC curve is asked with."""

    method: Literal["direct", "indirect"] = "direct"


@dataclass(frozen=True, eq=False, kw_only=True)
class PartialAreaInput(MetricInput):
    """What a part of that area is asked with."""

    max_fpr: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdInput(MetricInput):
    """What a metric at a threshold is asked with."""

    threshold: float

    def estimate_at(self, metric: str, beta: float = 1.0) -> Estimate:
        """Estimate a metric at the threshold; `beta` is the number that some metrics take."""
        threshold = real_number(self.threshold)
        if math.isnan(threshold):
            raise InputError(f"{named('threshold')} must be a number; got {self.threshold!r}")
        return self.measure(MetricAt(metric, threshold, beta=beta))


@dataclass(frozen=True, eq=False, kw_only=True)
class FBetaInput(ThresholdInput):
    """What an F score is asked with."""

    beta: float


@dataclass(frozen=True, eq=False, kw_only=True)
class CostInput(ThresholdInput):
    """What the cost of errors is asked with."""

    false_positive: float
    false_negative: float


@dataclass(frozen=True, eq=False, kw_only=True)
class BenefitInput(ThresholdInput):
    """What the net benefit is asked with."""

    chance: float


def _estimated_share(
    counts: ScoreCounts, confidence_level: float, stated: dict[str, Any]
) -> "Unknowns":
    """Return the share that an estimator finds, as `evaluate` takes it; its warnings are shown."""
    level = check_confidence_level(confidence_level)
    hidden = shared_share({"score": counts}, confidence_level=level, **stated)["score"]
    for warning in hidden.warned:
        warn(warning, stacklevel=7)
    return hidden


def _states_share(labels: "RandomLabels") -> bool:
    """Whether random labels have a share that need not be estimated as a whole."""
    shares = labels.prevalence, labels.hidden, labels.label_frequency
    stated = [share for share in shares if share is not None]
    return bool(stated) and not any(hasattr(share, "fit") for share in stated)
