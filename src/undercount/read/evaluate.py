"""One call for "how good is my model really?", for one model or for several on the same rows."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack, cast, overload

import numpy as np

from undercount.assume.labelled import naive_curve
from undercount.assume.mixture import TARGETS, Target, design_of
from undercount.assume.reviews import CrossedCells, Reviews, audit_reviews, check_scores
from undercount.count.arrays import read_pair, read_weights
from undercount.count.columns import backend_of, is_eager, is_frame, take_columns
from undercount.count.frames import count_scores
from undercount.count.kernel.array_library import is_tensor
from undercount.count.tensors import device_rows
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import (
    CODES,
    InputError,
    LibraryWarning,
    check_choice,
    collect_warnings,
    named,
)
from undercount.estimate import check_confidence_level
from undercount.read.chances import Chances
from undercount.read.checks import (
    checklist,
    clusters_check,
    looks_leaked,
    naive_check,
    negatives_check,
    spoken,
    with_warnings,
    without_random_labels,
)
from undercount.read.deployed import read_deploy_prevalence
from undercount.read.evaluation import Evaluation, MetricRow, read_threshold
from undercount.read.fair_sample import chances_check, groups_check
from undercount.read.flagged_check import flagged_check
from undercount.read.hidden_share import HiddenShare, refuse_shares, reviewed_share, shared_share
from undercount.read.intervals.area_gradients import forget_cells
from undercount.read.intervals.clusters import ClusterRows, read_clusters
from undercount.read.intervals.resampled import PrevalenceInterval, Progress
from undercount.read.labelled_chance import EVEN, scale_check
from undercount.read.review_differences import plan_model
from undercount.read.reviewed import Labels, Reviewed
from undercount.read.segment_shares import SegmentShares, overall_options
from undercount.read.segments import (
    Evaluations,
    make_row,
    segment_metrics,
    sort_segments,
    split_rows,
)
from undercount.shares import SAMPLINGS, Sampling, Shares

# Intervals of an estimated share that resample rows, as if they were independent.
RESAMPLED = ("bootstrap", "combined")
UNLABELED = -1  # as `read_labels` codes it
PROBE_ROWS = 1000  # of a frame elsewhere, to tell what is wrong with it


class EvaluateOptions(TypedDict, total=False):
    """What `evaluate` takes, whether of all rows or of segments."""

    label: str | None
    prevalence: Any
    unlabeled_prevalence: Any
    label_frequency: Any
    label_purity: Any
    sampling: Sampling
    unlabeled: float | None
    sample_weight: Any
    threshold: float | None
    top: float | None
    metrics: Sequence[str] | None
    target: Target | None
    confidence_level: float
    random_state: int | None
    name: str | None
    prevalence_interval: PrevalenceInterval | None
    n_resamples: int
    progress: Progress | None
    reviews: Reviews | None
    labels: Labels | None
    sequential: bool
    audited: bool
    cluster: Any
    propensity: Any
    covariates: Any
    deploy_prevalence: float | None


@overload
def evaluate(
    y: Mapping[Any, ScoreCounts], *, by: str | None = None, **options: Unpack[EvaluateOptions]
) -> Evaluations: ...
@overload
def evaluate(
    y: Any, score: Any = None, *, by: None = None, **options: Unpack[EvaluateOptions]
) -> Evaluation: ...
@overload
def evaluate(
    y: Any, score: Any = None, *, by: Any, **options: Unpack[EvaluateOptions]
) -> Evaluations: ...
def evaluate(
    y: Any,
    score: Any = None,
    *,
    by: Any = None,
    label: str | None = None,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    unlabeled: float | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
    propensity: Any = None,
    covariates: Any = None,
    deploy_prevalence: float | None = None,
    threshold: float | None = None,
    top: float | None = None,
    metrics: Sequence[str] | None = None,
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    name: str | None = None,
    prevalence_interval: PrevalenceInterval | None = None,
    n_resamples: int = 200,
    progress: Progress | None = None,
    reviews: Reviews | None = None,
    labels: Labels | None = None,
    sequential: bool = False,
    audited: bool = False,
) -> Evaluation | Evaluations:
    """Evaluate a classifier from its scores and incomplete labels.

    Parameters
    ----------
    y : array-like, frame, ScoreCounts or mapping
        1 positive, 0 negative, missing unlabeled; or a frame of pandas, polars, pyarrow, DuckDB
        or another engine that `count_scores` knows; or counts, and then no `score`; or a mapping
        of segment → counts, as `count_scores` and `read_counts` make with `by`.
    score : array-like or str
        Higher means more positive; of a frame the column's name.
    by : array-like, str or list of str, optional
        The segment of each row (country, month); of a frame the column's name, or several. The
        result then is one evaluation a segment, `Evaluations`, and a share may be a mapping of
        segment → share.
    label : str, optional
        Of a frame the column of labels. `sample_weight` then is a column's name too.
    prevalence, unlabeled_prevalence, label_frequency : number, (low, high) or Estimate
        At most one: the share of positives among all rows, among the unlabeled rows, or the share
        of all positives that carry a label. `unlabeled_prevalence` may also be an estimator of
        `undercount.prevalence`, fitted or not. None: estimated, with its interval, by `Consensus`;
        by `TwoLabels` if at least 30 rows of each class are known, and if they do not contradict
        the scores; by `NoisyConsensus` if `label_purity` is below 1.
    label_purity : number, (low, high) or Estimate
        Share of the rows labelled positive that really are. Below 1, counts that merge scores
        give average precision and the areas' intervals approximately.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows were part of the sample before they were labelled.
    unlabeled : number, optional
        Value in `y` that means unlabeled.
    sample_weight : array-like or str, optional
        Importance of each row.
    cluster : array-like or str, optional
        Whose each row is (a customer, a patient, a document), if rows are alike within and labels
        were given to all positives of one at once. Intervals then rest on clusters, not on rows.
    propensity : array-like, str or classifier, optional
        The chance that each row would carry a label if it were positive; only those of labelled
        rows are used, and no prevalence is needed. Or a scikit-learn classifier, which is
        cross-fitted on `covariates` to tell rows that were looked at (labelled 1 or 0) from the
        others.
    covariates : array-like, optional
        What may have decided who was looked at, a row of values for each row. Without
        `propensity` they test whether labels can be a fair sample (UC022).
    deploy_prevalence : float, optional
        Share of positives where the classifier will work, if it is not that of these rows. The
        table is that of these rows; `Evaluation.deployed` has the metrics there.
    threshold : float, optional
        Rows with score >= threshold are predicted positive.
    top : float, optional
        So many rows of the highest scores, or such a share of them if below 1: their precision,
        recall and lift join the table.
    metrics : list of str, optional
        What the table holds, by any name and with thresholds of their own: "ROC AUC",
        "precision", "fpr@0.9". By default the areas and, at a threshold, six metrics.
    target : {"dataset", "population"}, optional
        What the intervals speak of; by default this data set in a single sample, the population
        behind the unlabeled rows in case-control.
    confidence_level : float
        Of all intervals. An estimator is fitted at this level; the interval of one that is fitted,
        or of an Estimate with a standard error, is moved to it by normal quantiles.
    random_state : int
        Seed of estimators and resampling.
    name : str, optional
        What the score is called in tables and reports; by default the column's name, or "score".
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
    reviews : Reviews, optional
        Verdicts on rows that `plan_reviews` chose. They tell the share of hidden positives and
        every metric, so that no prevalence is given; `y` is that of the plan.
    labels : {"any", "random"}, optional
        With reviews, what to suppose of the labels: "any" nothing, "random" that they are a random
        sample of the positives, which is sharper. By default random unless the reviews reject it;
        `Evaluation.reviewed` has both answers.
    sequential : bool
        With reviews, whether intervals shall hold at every look at once while verdicts come in, so
        that one may stop when they are narrow enough; they are about 1.5 times as wide.
    audited : bool
        Whether the rows known in `y`, of both classes, are a random sample of all rows that
        somebody verified. They then tell every metric; no prevalence is given.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives (with reviews and
    ``labels="any"``: nothing of the labels; with `propensity`: that the chances are right); rows
    are independent, or with `cluster` come in independent clusters, labelled as a whole.
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
    # With impure labels average precision and the areas' intervals need every score.
    if name is not None:
        check_name(name)
    pure = isinstance(label_purity, int | float) and label_purity == 1
    options: dict[str, Any] = {
        "prevalence": prevalence,
        "unlabeled_prevalence": unlabeled_prevalence,
        "label_frequency": label_frequency,
        "label_purity": label_purity,
        "sampling": sampling,
        "target": target,
        "confidence_level": confidence_level,
        "top": top,
        "metrics": metrics,
        "random_state": random_state,
        "prevalence_interval": prevalence_interval,
        "n_resamples": n_resamples,
        "progress": progress,
    }
    verdicts: dict[str, Any] = {
        "reviews": reviews,
        "labels": labels,
        "sequential": sequential,
        "audited": audited,
    }
    edges = () if reviews is None else reviews.design.edges
    columns = label is not None or (isinstance(score, str) and is_frame(y))
    name = name or (str(score) if columns else "score")
    if by is not None or isinstance(y, Mapping):
        other = (cluster, propensity, covariates, deploy_prevalence)
        if any(verdicts.values()) or any(each is not None for each in other):
            raise InputError(
                f"{named('by')} does not go with reviews, clusters, chances or another prevalence",
                argument="by",
            )
        rows = SegmentedRows(y, score, label if columns else None, unlabeled, sample_weight)
        return evaluate_segments(name, rows.count(by, threshold, compact=pure), **options)
    cluster, propensity = (
        _take_column(y, "cluster", cluster),
        _take_column(y, "propensity", propensity),
    )
    if columns:
        model = count_column(
            y, label, score, unlabeled, sample_weight, threshold, edges, compact=pure
        )
    else:
        model = count_model(y, score, unlabeled, sample_weight, threshold, edges, compact=pure)
    model = model.with_clusters(cluster)
    if propensity is not None:
        model = model.with_chances(
            propensity,
            covariates=covariates,
            random_state=random_state,
            target=target or "dataset",
            confidence_level=confidence_level,
        )
    if deploy_prevalence is not None:
        deploy_prevalence = read_deploy_prevalence(deploy_prevalence)
    made = evaluate_models({name: model}, **options, **verdicts)[name]
    if covariates is not None and propensity is None:
        kept = model.rows("covariates")
        check = groups_check(kept.labels, kept.scores, covariates, made.shares)
        made = replace(made, checks=(*made.checks, check))
    return replace(made, deploy_prevalence=deploy_prevalence)


def _take_column(frame: Any, argument: str, column: Any) -> Any:
    """Take a column out of a frame, if it was named."""
    if not isinstance(column, str):
        return column
    if not is_frame(frame) or not is_eager(frame):
        raise InputError(
            f"{named(argument)} names a column of a frame in memory; here pass its values",
            argument=argument,
        )
    return take_columns(frame, [column])[column]


def check_name(name: object) -> None:
    """Raise unless a model's name is text."""
    if not isinstance(name, str):
        raise InputError(f"{named('name')} must be text; got {name!r}")


@dataclass(frozen=True)
class CountedModel:
    """Hold the counts of one model's scores, its threshold, and how to count once more."""

    counts: ScoreCounts
    threshold: float | None = None
    recount: "RecountableRows | RecountableFrame | None" = None
    backend: str = ""
    clusters: ClusterRows | None = None
    chances: Chances | None = None

    def rows(self, argument: str) -> "RecountableRows":
        """Return the rows in memory; refuse counts, frames elsewhere and devices."""
        if isinstance(self.recount, RecountableRows) and not is_tensor(self.recount.scores):
            return self.recount
        raise InputError(
            f"{named(argument)} needs rows in memory: counts do not say which rows belong "
            "together, and rows elsewhere are counted where they lie. Pass arrays, or a frame in "
            "memory",
            argument=argument,
        )

    def with_clusters(self, cluster: Any) -> "CountedModel":
        """Return the model with its rows by cluster, if clusters are named."""
        if cluster is None:
            return self
        rows = self.rows("cluster")
        codes = read_clusters(cluster, len(rows.labels))
        return replace(self, clusters=ClusterRows.of(rows.labels, rows.scores, codes, rows.weights))

    def with_chances(self, propensity: Any, **options: Any) -> "CountedModel":
        """Return the model with the chances of a label."""
        rows = self.rows("propensity")
        return replace(
            self, chances=Chances.of(rows.labels, rows.scores, propensity, unlabeled=-1, **options)
        )

    def counts_for_share(self, sampling: Sampling) -> ScoreCounts:
        """Return counts with effective sizes of independent rows, by their ROC AUC."""
        if self.clusters is None:
            return self.counts
        design = design_of(self.counts, None, sampling, "population")
        return self.clusters.discounted(self.counts, design, "roc_auc")

    def reviews_of(self, reviews: Reviews) -> Reviews:
        """Return the reviews, whose scores must be those of these rows."""
        if not isinstance(self.recount, RecountableRows):
            return reviews
        return check_scores(reviews, self.recount.scores)


def _refuse_beside_clusters(options: Mapping[str, Any], *, reviewed: bool) -> None:
    """Refuse what supposes that rows are independent."""
    kind = options.get("prevalence_interval")
    if kind in RESAMPLED:
        raise InputError(
            f"{named('cluster')} does not go with {named('prevalence_interval')} {kind!r}, which "
            "resamples rows; leave it out",
            argument="prevalence_interval",
        )
    if reviewed:
        raise InputError(
            f"{named('cluster')} does not go with {named('reviews')}, which choose rows one by one",
            argument="cluster",
        )


def _share_of_chances(
    model: CountedModel, sampling: Sampling, options: Mapping[str, Any], *, reviewed: bool
) -> dict[str, Any]:
    """Return the share that labelling chances tell; what does not go with them is refused."""
    if model.chances is None:
        return {}
    told = ("prevalence", "unlabeled_prevalence", "label_frequency", "prevalence_interval")
    others = [name for name in told if options.get(name) is not None]
    others += [] if options.get("label_purity", 1.0) == 1 else ["label_purity"]
    others += ["sampling"] if sampling != "single-sample" else []
    others += ["cluster"] if model.clusters is not None else []
    others += ["sample_weight"] if model.counts.weighted else []
    others += ["reviews"] if reviewed else []
    if others:
        raise InputError(
            f"{named('propensity')} tells how many positives there are, from rows that are one "
            f"sample and labels that are right; leave out {named(others[0])}",
            argument=others[0],
        )
    return {"unlabeled_prevalence": model.chances.share}


def evaluate_models(
    models: Mapping[str, CountedModel],
    *,
    sampling: Sampling = "single-sample",
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    top: float | None = None,
    metrics: Sequence[str] | None = None,
    reviews: Reviews | None = None,
    labels: Labels | None = None,
    sequential: bool = False,
    audited: bool = False,
    **options: Any,
) -> dict[str, Evaluation]:
    """Evaluate models on the same rows, which have one share of hidden positives.

    Parameters
    ----------
    models : mapping
        Name of each model → its counts.
    sampling, target, confidence_level, random_state, top, metrics, reviews, labels, **options
        As in `evaluate`. Reviews have the scores of the first model.
    """
    check_confidence_level(confidence_level)
    check_choice("sampling", sampling, SAMPLINGS)
    if target is not None:
        check_choice("target", target, TARGETS)
    for model in models.values():
        model.counts.require("positive", "unlabeled")
    first, by_review = next(iter(models.values())), audited or reviews is not None
    if first.clusters is not None:
        _refuse_beside_clusters(options, reviewed=by_review)
    options |= _share_of_chances(first, sampling, options, reviewed=by_review)
    target = target or ("dataset" if sampling == "single-sample" else "population")
    counts = {name: model.counts for name, model in models.items()}
    about: dict[str, Any] = {"sampling": sampling, "target": target}
    about["confidence_level"] = confidence_level
    wanted = Wanted(target, confidence_level, top, metrics, random_state)
    if audited:
        if reviews is not None or sampling == "case-control":
            raise InputError(
                f"{named('audited')} rows are a random sample of all rows: pass neither "
                f"{named('reviews')} nor {named('sampling', repr('case-control'))}",
                argument="audited",
            )
        found_rows = {
            name: Reviewed(each, audit_reviews(each), "any", **about, audited=True)
            for name, each in counts.items()
        }
    elif reviews is None:
        if labels is not None or sequential:
            raise InputError(
                f"{named('labels')} and {named('sequential')} go with {named('reviews')}"
            )
        counts = {name: model.counts_for_share(sampling) for name, model in models.items()}
        hidden = shared_share(counts, **about, random_state=random_state, **options)
        return {
            name: _evaluate(name, model, hidden[name], wanted) for name, model in models.items()
        }
    else:
        found_rows = _reviewed(models, reviews, labels, **about)
    refuse_shares(options)
    found = {}
    for name, each in found_rows.items():
        reviewed = replace(each, sequential=sequential)
        share = reviewed_share(counts, reviewed)
        found[name] = _evaluate(name, models[name], share, wanted, reviewed)
    return found


def _reviewed(
    models: Mapping[str, CountedModel], reviews: Reviews, labels: Labels | None, **about: Any
) -> dict[str, Reviewed]:
    """Read the reviews by each model; those of several models rest on reviews alone."""
    if len(models) == 1:
        ((name, model),) = models.items()
        return {name: Reviewed(model.counts, model.reviews_of(reviews), labels, **about)}
    if labels == "random":
        raise InputError(
            f"models are compared by {named('reviews')} alone: labels tell how positives are "
            "spread over the scores of each model, not which of them both models find; pass "
            f"{named('labels', repr('any'))}",
            argument="labels",
        )
    rows = {name: cast("RecountableRows", model.recount) for name, model in models.items()}
    planned = plan_model(reviews, {name: each.scores for name, each in rows.items()})
    plan = Reviewed(models[planned].counts, reviews, "any", **about)
    pool = np.flatnonzero(rows[planned].labels == UNLABELED)

    def crossed(name: str) -> Callable[[ScoreCounts], CrossedCells]:
        cells, plan_scores = plan.cells(plan.counts), rows[planned].scores
        return lambda counts: CrossedCells.of(counts, rows[name].scores, cells, plan_scores, pool)

    return {
        name: plan
        if name == planned
        else Reviewed(model.counts, reviews, "any", **about, crossed=crossed(name))
        for name, model in models.items()
    }


def evaluate_segments(
    name: str,
    segments: "SegmentModels",
    *,
    target: Target | None = None,
    top: float | None = None,
    metrics: Sequence[str] | None = None,
    **options: Any,
) -> Evaluations:
    """Evaluate each segment, their hidden shares pooled; whole evaluations are made when asked for.

    Parameters
    ----------
    name : str
        Of the score.
    segments : SegmentModels
    target, top, metrics, **options
        As in `evaluate`.
    """
    parts = {key: model.counts for key, model in segments.parts.items()}
    asked = overall_options(options, parts)
    whole = {name: segments.overall}
    overall = evaluate_models(whole, target=target, top=top, metrics=metrics, **asked)[name]
    shares = SegmentShares.of(parts, overall.shares, {**options, "target": overall.target})
    seed = options.get("random_state")
    wanted = Wanted(overall.target, overall.confidence_level, top, metrics, seed)
    shown = segment_metrics(metrics, segments.overall.threshold)

    def make(segment: Hashable, *, whole: bool = True) -> Evaluation:
        hidden, words = shares.find(segment, name), f"{name}, {segments.column} {segment}"
        if shares.pooled:
            hidden = replace(hidden, source="pooled over segments", estimated=True)
        put_together = _evaluate if whole else _bare
        return put_together(words, segments.parts[segment], hidden, wanted)

    rows = tuple(
        make_row(key, parts[key], shares.own(key), partial(make, key, whole=False), shown)
        for key in parts
    )
    return Evaluations(overall, rows, shares.pooled, segments.column, make)


class Wanted(NamedTuple):
    """What is asked of every model alike."""

    target: Target
    confidence_level: float
    top: float | None
    metrics: Sequence[str] | None
    random_state: int | None


def _bare(
    name: str,
    model: CountedModel,
    hidden: HiddenShare,
    wanted: Wanted,
    reviewed: Reviewed | None = None,
) -> Evaluation:
    """Put together what is known, without table and checks."""
    return Evaluation(
        model.counts,
        hidden.shares,
        wanted.target,
        wanted.confidence_level,
        model.threshold,
        hidden.source,
        (),
        (),
        hidden.largest_share,
        hidden.upper_bound,
        hidden.interval,
        hidden.estimates,
        name,
        model.recount,
        hidden.resamples,
        hidden.model,
        random_state=wanted.random_state,
        naive_curve=naive_curve(model.counts),
        reviewed=reviewed,
        backend=model.backend,
        clusters=model.clusters,
        chances=model.chances,
    )


def _evaluate(
    name: str,
    model: CountedModel,
    hidden: HiddenShare,
    wanted: Wanted,
    reviewed: Reviewed | None = None,
) -> Evaluation:
    """Make the table of one model, then its checks."""
    made = _bare(name, model, hidden, wanted, reviewed)
    with collect_warnings() as warned:  # they become checks
        made = replace(made, rows=_rows(made, wanted.metrics))
        if wanted.top is not None:
            made = replace(made, top_rows=made.at(top=wanted.top))
    forget_cells()
    if model.chances is not None:
        return _checked_chances(made, model.chances, warned)
    checks = [
        *checklist(
            model.counts_for_share(hidden.shares.sampling),
            hidden.shares,
            naive=made.naive_curve,
            estimates=hidden.estimates,
            identified=hidden.identified,
            estimated=hidden.estimated,
        ),
        naive_check(made.rows, hidden.shares),
    ]
    if reviewed is not None:
        checks = checks if made.random_labels else without_random_labels(checks)
        checks.append(reviewed.check())
    if model.clusters is not None:
        checks.append(clusters_check(made.clustered_design("roc_auc"), model.clusters))
    if hidden.by_negatives:
        checks.append(negatives_check(model.counts))
    if model.threshold is not None:
        checks.append(flagged_check(model.counts, model.threshold))
    if model.threshold == EVEN:
        checks += scale_check(model.counts, hidden.shares)
    return replace(made, checks=with_warnings(checks, [*hidden.warned, *warned]))


def _checked_chances(
    made: Evaluation, chances: Chances, warned: list[LibraryWarning]
) -> Evaluation:
    """Check the rows as chances weigh them."""
    counts = chances.counts_at()
    shares = Shares(chances.prevalence, 1.0, "case-control")
    checks = [
        check
        for check in checklist(counts, shares, naive=naive_curve(counts))
        if check.code != CODES["selection"]  # chances may differ
    ]
    checks.append(chances.check())
    checks.append(chances_check(chances.score[chances.labelled], chances.stands_for))
    if made.threshold is not None:
        checks.append(flagged_check(made.counts, made.threshold))
    return replace(made, source="labelling chances given", checks=with_warnings(checks, warned))


def _rows(made: Evaluation, metrics: Sequence[str] | None) -> tuple[MetricRow, ...]:
    """Make the table; what is wrong with the shares is said as people say it."""
    try:
        return made.standard_rows() if metrics is None else made.chosen_rows(metrics)
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
    """Hold copies of the rows, so that they can be counted again with other thresholds.

    Rows of a device stay there, with the labels as they were given.
    """

    labels: Any
    scores: Any
    weights: FloatArray | None
    knots: tuple[float, ...]
    compact: bool
    unlabeled: float | None = UNLABELED

    def __call__(self, more: list[float]) -> ScoreCounts:
        """Count the rows, keeping apart the scores on either side of some more thresholds."""
        return ScoreCounts.from_rows(
            self.labels,
            self.scores,
            unlabeled=self.unlabeled,
            sample_weight=self.weights,
            compact=self.compact,
            knots=[*self.knots, *more],
        )


def count_model(
    y: Any,
    score: Any,
    unlabeled: float | None,
    sample_weight: Any,
    threshold: float | None,
    edges: Sequence[float] | FloatArray = (),
    *,
    compact: bool,
) -> CountedModel:
    """Count rows, and keep a way to count once more with other thresholds; or take counts."""
    if threshold is not None:
        threshold = read_threshold(threshold)
    if isinstance(y, ScoreCounts):
        return CountedModel(y, threshold)
    knots = (*map(float, edges), *(() if threshold is None else (float(threshold),)))
    away = device_rows(y, score, sample_weight) if is_tensor(score) or is_tensor(y) else None
    if away is not None:
        held = away.copy()
        rows = RecountableRows(held.y, held.score, None, knots, compact, unlabeled)
        return CountedModel(rows([]), threshold, rows)
    labels, scores = read_pair(y, score, unlabeled)
    scores = np.array(scores)
    weights = None if sample_weight is None else np.array(read_weights(sample_weight, len(scores)))
    rows = RecountableRows(labels, scores, weights, knots, compact)
    return CountedModel(rows([]), threshold, rows)


@dataclass(frozen=True)
class RecountableFrame:
    """Hold a frame whose rows stay where they are, so that they can be counted again."""

    frame: Any
    columns: Mapping[str, Any]
    knots: tuple[float, ...]

    def __call__(self, more: list[float]) -> ScoreCounts:
        """Count the rows, keeping apart the scores on either side of some more thresholds."""
        counted = count_scores(self.frame, knots=[*self.knots, *more], **self.columns)
        return cast("ScoreCounts", counted)


def count_column(
    frame: Any,
    label: str | None,
    score: Any,
    unlabeled: float | None,
    weight: Any,
    threshold: float | None,
    edges: Sequence[float] | FloatArray = (),
    *,
    compact: bool,
) -> CountedModel:
    """Count a column of scores: rows in memory as arrays are, others where they lie."""
    names = name_columns(frame, label, [score], weight)
    if is_eager(frame):
        found = take_columns(frame, names)
        weights = None if weight is None else found[weight]
        model = count_model(
            found[names[0]], found[score], unlabeled, weights, threshold, edges, compact=compact
        )
        return replace(model, backend=backend_of(frame))
    columns = {"label": label, "score": score, "weight": weight, "unlabeled": unlabeled}
    knots = (*map(float, edges), *(() if threshold is None else (float(threshold),)))
    # Every score is kept only where it must be: None lets the engine decide.
    rows = RecountableFrame(frame, {**columns, "compact": True if compact else None}, knots)
    try:
        counts = rows([])
    except InputError:
        head = take_columns(frame, names, most=PROBE_ROWS)
        read_pair(head[names[0]], head[score], unlabeled)  # says so if they changed places
        raise
    return CountedModel(counts, threshold, rows, backend_of(frame))


def name_columns(frame: Any, label: Any, scores: Sequence[Any], weight: Any = None) -> list[str]:
    """Return the names of the columns to read, label first; refuse what is no frame or no name."""
    if not is_frame(frame):
        raise InputError(
            f"{named('label')} names a column of a frame, which comes first; got "
            f"{type(frame).__name__}. For arrays pass (y, score) without it"
        )
    names = [label, *scores, *([] if weight is None else [weight])]
    for argument, name in zip(
        ("label", *["score"] * len(scores), "sample_weight"), names, strict=False
    ):
        if not isinstance(name, str):
            raise InputError(
                f"of a frame {named(argument)} must name a column, label='is_fraud', score='p' "
                f"say; got {name!r}",
                argument=argument,
            )
    return names


@dataclass(frozen=True)
class SegmentModels:
    """Hold the counts of all rows, of each segment, and what the segments are called."""

    overall: CountedModel
    parts: dict[Hashable, CountedModel]
    column: str


@dataclass(frozen=True)
class SegmentedRows:
    """Hold rows that are to be counted segment by segment, or counts of segments."""

    y: Any
    score: Any
    label: str | None
    unlabeled: float | None
    weight: Any

    def count(self, by: Any, threshold: float | None, *, compact: bool) -> SegmentModels:
        """Count all rows and those of each segment."""
        if isinstance(self.y, Mapping):
            return self._take_counts(by, threshold)
        if self.label is None:
            model = count_model(
                self.y, self.score, self.unlabeled, self.weight, threshold, compact=compact
            )
            return _split_model(model, by, "segment")
        columns = [by] if isinstance(by, str) else by
        model = count_column(
            self.y, self.label, self.score, self.unlabeled, self.weight, threshold, compact=compact
        )
        if not is_eager(self.y):
            return self._count_where_they_are(model, columns, compact=compact)
        found = [np.asarray(values) for values in take_columns(self.y, columns).values()]
        return _split_model(model, found[0] if len(found) == 1 else found, ", ".join(columns))

    def _count_where_they_are(
        self, overall: CountedModel, columns: list[str], *, compact: bool
    ) -> SegmentModels:
        """Count the rows of a frame elsewhere, which only small tables leave."""
        counted: Any = count_scores(
            self.y,
            label=str(self.label),
            score=self.score,
            weight=self.weight,
            unlabeled=self.unlabeled,
            by=columns,
            compact=True if compact else None,
            knots=() if overall.threshold is None else (overall.threshold,),
        )
        keys = {key[0] if isinstance(key, tuple) and len(key) == 1 else key: key for key in counted}
        parts = {
            key: CountedModel(counted[keys[key]], overall.threshold)
            for key in sort_segments([*keys])
        }
        return SegmentModels(overall, parts, ", ".join(columns))

    def _take_counts(self, by: Any, threshold: float | None) -> SegmentModels:
        """Take a mapping of segment → counts."""
        found = dict(self.y)
        if not found or not all(isinstance(each, ScoreCounts) for each in found.values()):
            raise InputError(
                "a mapping must hold counts of one score by segment, as count_scores(…, by=…) "
                f"makes them; got {_describe_values(found)}",
                hint="of several scores evaluate each by itself: evaluate(counted['score'])",
            )
        cut = None if threshold is None else read_threshold(threshold)
        whole = sum(list(found.values())[1:], next(iter(found.values())))
        parts = {key: CountedModel(found[key], cut) for key in sort_segments(list(found))}
        column = by if isinstance(by, str) else "segment"
        return SegmentModels(CountedModel(whole, cut), parts, column)


def _describe_values(found: Mapping[Any, Any]) -> str:
    kinds = sorted({type(each).__name__ for each in found.values()})
    return f"values of {', '.join(kinds)}" if kinds else "none"


def _split_model(model: CountedModel, by: Any, column: str) -> SegmentModels:
    """Count the rows of each segment, which the model holds."""
    rows = model.recount
    if not isinstance(rows, RecountableRows) or is_tensor(rows.scores):
        raise InputError(f"{named('by')} needs the rows themselves, in memory", argument="by")
    parts = {}
    for key, place in split_rows(by, len(rows.scores)).items():
        weights = None if rows.weights is None else rows.weights[place]
        some = replace(rows, labels=rows.labels[place], scores=rows.scores[place], weights=weights)
        parts[key] = CountedModel(some([]), model.threshold, some, model.backend)
    return SegmentModels(model, parts, column)
