"""One call for "how good is my model really?", for one model or for several on the same rows."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from undercount.assume.base import Assumption, Unknowns, Wanted
from undercount.assume.builder import (
    assumption_of,
    check_by_segment,
    with_shares,
)
from undercount.assume.reviewed.answers import Labels
from undercount.count.arrays import refuse_other_order
from undercount.count.columns import is_eager, is_frame
from undercount.counts import ScoreCounts
from undercount.errors import InputError, collect_warnings
from undercount.estimate import check_confidence_level
from undercount.infer.metric_name import asks_top
from undercount.infer.mixture import Target
from undercount.infer.resampled import PrevalenceInterval, Progress
from undercount.infer.reviews.verdicts import Reviews
from undercount.infer.scored_rows import check_name, count_column, count_model, take_column
from undercount.read.evaluate_models import check_wanted, evaluate_models, make_bare, make_whole
from undercount.read.evaluation import Evaluation
from undercount.read.segment_estimates import SegmentTable
from undercount.read.segment_rows import SegmentedRows, SegmentModels
from undercount.read.segment_shares import (
    KnownShare,
    SegmentShares,
    as_estimate,
    overall_options,
    split_shares,
)
from undercount.read.segments import (
    Evaluations,
    SegmentRow,
    fill_row,
    fits_top,
    make_row,
    segment_metrics,
    why_not,
)
from undercount.shares import Sampling


class EvaluateOptions(TypedDict, total=False):
    """What `evaluate` takes, whether of all rows or of segments."""

    assume: Assumption | None
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
    reviews: Reviews | str | Path | None
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
    assume: Assumption | None = None,
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
    reviews: Reviews | str | Path | None = None,
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
    assume : Assumption, optional
        How the labels came about: `RandomLabels`, `LabelPropensity`, `DelayedLabels`, `TwoSources`,
        `Reviewed`, `RandomAudit`. None: at random, as far as the arguments below say nothing else.
    by : array-like, str or list of str, optional
        The segment of each row (country, month); of a frame the column's name, or several. The
        result then is one evaluation a segment, `Evaluations`. A `prevalence` or
        `unlabeled_prevalence` then speaks of all rows, and is shared out by one label frequency: a
        positive is taken to be as likely labelled in each segment. A mapping of segment → share
        gives each its own.
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
        rows are used, and no prevalence is needed. At rows found negative it is the chance that
        somebody looked, which is tested (UC022); NaN if they were found otherwise. Or a
        scikit-learn classifier, which is cross-fitted on `covariates` to tell rows that were
        looked at (labelled 1 or 0) from the others. Or `LateLabels`, fitted to the dates of rows
        and labels: the chance that a label has arrived, its error inside every interval; rows too
        young to tell are left out.
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
        recall and lift join the table. One row is one row, whatever it weighs; with `by` they are
        the highest rows of each segment.
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
    reviews : Reviews or path, optional
        Verdicts on rows that `plan_reviews` chose, or the answered file of a plan. They tell the
        share of hidden positives and every metric, so that no prevalence is needed; `y` is that of
        the plan.
    labels : {"any", "random"}, optional
        With reviews, what to suppose of the labels: "any" nothing, "random" that they are a random
        sample of the positives, which is sharper and wrong if they are not. "any" by default: a
        test that does not reject random labels is no licence; `recovery.answers` has both.
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
    confidence_level = check_confidence_level(confidence_level)
    if name is not None:
        check_name(name)
    given = {
        "assume": assume,
        "prevalence": prevalence,
        "unlabeled_prevalence": unlabeled_prevalence,
        "label_frequency": label_frequency,
        "label_purity": label_purity,
        "sampling": sampling,
        "prevalence_interval": prevalence_interval,
        "n_resamples": n_resamples,
        "reviews": reviews,
        "labels": labels,
        "sequential": sequential,
        "audited": audited,
        "propensity": propensity,
        "covariates": covariates,
    }
    assumption = assumption_of(given)
    refuse_other_order(y=y, score=score, by=by, cluster=cluster, **assumption.columns)
    wanted = Wanted(target, confidence_level, top, metrics, random_state, progress)
    taken = {name: take_column(y, name, each) for name, each in assumption.columns.items()}
    assumption = assumption.with_columns(taken)
    columns = label is not None or (isinstance(score, str) and is_frame(y))
    name = name or (str(score) if columns else "score")
    if by is not None or isinstance(y, Mapping):
        check_by_segment(assumption)
        split = SegmentedRows(
            y, score, label if columns else None, unlabeled, sample_weight, cluster, assumption
        )
        # Where rows weigh differently, the highest ones are told only with every score apart.
        apart = sample_weight is not None and asks_top(top, metrics)
        compact = not (assumption.every_score or apart)
        segments = split.count(by, threshold, wanted, compact=compact)
        return evaluate_segments(name, segments, wanted, deploy_prevalence)
    away = columns and is_frame(y) and not is_eager(y) and isinstance(cluster, str)
    whose = cluster if away else None  # counted where the rows lie
    cluster = None if away else take_column(y, "cluster", cluster)
    rows = unlabeled, sample_weight, threshold, assumption.knots
    compact = not assumption.every_score
    if columns:
        model = count_column(y, label, score, *rows, compact=compact, cluster=whose)
    else:
        model = count_model(y, score, *rows, compact=compact)
    made = evaluate_models({name: model.with_clusters(cluster)}, wanted, assumption)[name]
    if deploy_prevalence is not None:
        deploy_prevalence = made.recovery.read_prevalence(deploy_prevalence)
    return replace(made, deploy_prevalence=deploy_prevalence, unlabeled=unlabeled)


def evaluate_segments(
    name: str, segments: SegmentModels, wanted: Wanted, deploy_prevalence: float | None = None
) -> Evaluations:
    """Evaluate each segment, their hidden shares pooled; whole evaluations are made when asked for.

    Parameters
    ----------
    name : str
        Of the score.
    segments : SegmentModels
    wanted : Wanted
        What is asked of every segment.
    deploy_prevalence : float, optional
        Share of positives where the classifier will work; the lines are those of these rows.
    """
    parts = {key: model.counts for key, model in segments.parts.items()}
    check_wanted(wanted)
    if segments.recovery is None:
        assume = with_shares(segments.assumption, overall_options(segments.shares, parts))
        overall = evaluate_models({name: segments.overall}, wanted, assume)[name]
    else:
        overall = make_whole(name, segments.recovery, wanted)
    there = deploy_prevalence
    if there is not None:
        there = overall.recovery.read_prevalence(there)
        overall = replace(overall, deploy_prevalence=there)
    shares = _segment_shares(segments, overall, wanted)
    if shares.alike is not None:
        overall = replace(overall, checks=(*overall.checks, shares.alike))
    wanted = wanted._replace(target=overall.target, confidence_level=overall.confidence_level)
    shown = segment_metrics(wanted.metrics, segments.overall.threshold, wanted.top)

    def make(segment: Hashable, *, whole: bool = True, asked: Wanted = wanted) -> Evaluation:
        def find() -> Unknowns:
            known = shares.find(segment, name)
            if shares.pooled:
                known = replace(known, source="pooled over segments", estimated=True)
            return known

        part, words = segments.recover(segment, find, asked), f"{name}, {segments.column} {segment}"
        bare = make_bare(words, part, asked)
        if not whole:
            return bare
        if asked.top is not None and not fits_top(bare, asked.top):
            asked = asked._replace(top=None)
        return replace(make_whole(words, part, asked), deploy_prevalence=there)

    hidden = _find_shares(name, segments, shares)

    @cache
    def make_rows(target: Target) -> tuple[SegmentRow, ...]:
        asked = wanted._replace(target=target)
        ready = _rows_at_once(hidden, segments, shares, asked, shown)
        pooled = shares.pooled is not None
        made = (
            ready.get(key)
            or make_row(
                key,
                parts[key],
                shares.own(key),
                partial(make, key, whole=False, asked=asked),
                shown,
                threshold=segments.overall.threshold,
                pooled=pooled,
            )
            for key in parts
        )
        return tuple(map(shares.finish, made))

    return Evaluations(
        overall,
        make_rows(overall.target),
        shares.pooled,
        segments.column,
        make,
        shared_out=shares.overall is not None,
        unlike_labels=shares.unlike,
        of_population=partial(make_rows, "population"),
    )


def _segment_shares(segments: SegmentModels, overall: Evaluation, wanted: Wanted) -> SegmentShares:
    """Return how the share of any segment is found, by what is known of all rows."""
    sized = segments.counts_for_shares(overall.shares.sampling)
    about = {**split_shares(segments.shares, wanted), "target": overall.target}
    if segments.recovery is not None:
        told = {"unlabeled_prevalence": segments.shares_by_chances()}
        return SegmentShares({**about, **told}, sized, None)
    known = KnownShare(overall.shares, overall.counts)
    return SegmentShares.of(sized, known, about).ask_scores(segments.tables_at)


def _find_shares(
    name: str, segments: SegmentModels, shares: SegmentShares
) -> dict[Hashable, Unknowns]:
    """Find the shares of the segments whose lines may be made at once, for every target."""
    hidden: dict[Hashable, Unknowns] = {}
    if segments.overall.threshold is None or segments.recovery is not None:
        return hidden
    for key, model in segments.parts.items():
        if why_not(model.counts) or model.clusters is not None:
            continue
        try:
            with collect_warnings():  # the segment's evaluation has them as checks
                hidden[key] = shares.find(key, name, limits=False)
        except InputError:  # its row will say so
            continue
    return hidden


def _rows_at_once(
    hidden: Mapping[Hashable, Unknowns],
    segments: SegmentModels,
    shares: SegmentShares,
    wanted: Wanted,
    metrics: Sequence[str],
) -> dict[Hashable, SegmentRow]:
    """Make the lines of the segments that need no evaluation of their own, all at once."""
    threshold = segments.overall.threshold
    if threshold is None:
        return {}
    parts = {key: segments.parts[key].counts for key in hidden}
    level, target = wanted.confidence_level, wanted.target or "dataset"
    found = SegmentTable.of(parts, hidden, threshold, target, level).rows(metrics)
    return {
        key: fill_row(
            key,
            parts[key],
            shares.own(key),
            as_estimate(hidden[key].shares, level),
            rows,
            pooled=shares.pooled is not None,
        )
        for key, rows in found.items()
    }
