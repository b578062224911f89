"""One call for "how good is my model really?", for one model or for several on the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from undercount.assume.base import Assumption, ReportOptions
from undercount.assume.builder import assumption_of
from undercount.count.arrays import check_row_order
from undercount.count.columns import is_eager, is_frame
from undercount.counts import ScoreCounts
from undercount.estimate import check_confidence_level
from undercount.infer.metric_name import asks_top
from undercount.infer.mixture import Target
from undercount.infer.resampled import Progress
from undercount.infer.reviews.verdicts import Reviews
from undercount.infer.scored_rows import (
    check_name,
    count_column,
    count_model,
    keep_apart,
    take_column,
)
from undercount.read.evaluate_models import evaluate_models, split_several
from undercount.read.evaluation import Evaluation
from undercount.read.segments.evaluate_segments import evaluate_segments
from undercount.read.segments.evaluations import Evaluations
from undercount.read.segments.rows import SegmentedRows


class EvaluateOptions(TypedDict, total=False):
    """What `evaluate` takes, whether of all rows or of segments."""

    assume: Assumption | None
    label: str | None
    prevalence: Any
    unlabeled_prevalence: Any
    label_frequency: Any
    reviews: Reviews | str | Path | None
    unlabeled: float | None
    sample_weight: Any
    cluster: Any
    deploy_prevalence: float | None
    threshold: float | list[float] | None
    top: float | list[float] | None
    metrics: Sequence[str] | None
    target: Target | None
    confidence_level: float
    random_state: int | None
    name: str | None
    progress: Progress | None


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
    reviews: Reviews | str | Path | None = None,
    unlabeled: float | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
    deploy_prevalence: float | None = None,
    threshold: float | list[float] | None = None,
    top: float | list[float] | None = None,
    metrics: Sequence[str] | None = None,
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    name: str | None = None,
    progress: Progress | None = None,
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
        `Reviewed`, `RandomAudit`. None: what one of the four shorthands states, or at random.
    by : array-like, str or list of str, optional
        The segment of each row (country, month); of a frame the column's name, or several. The
        result then is one evaluation a segment, `Evaluations`. A `prevalence` or
        `unlabeled_prevalence` then speaks of all rows, and is shared out by one label frequency: a
        positive is taken to be as likely labelled in each segment. A mapping of segment → share
        gives each its own.
    label : str, optional
        Of a frame the column of labels. `sample_weight` then is a column's name too.
    prevalence, unlabeled_prevalence, label_frequency : number, (low, high) or Estimate
        Shorthands of `RandomLabels`, at most one: the share of positives among all rows, among the
        unlabeled rows, or the share of all positives that carry a label. `unlabeled_prevalence`
        may also be an estimator of `undercount.prevalence`, fitted or not. None: estimated.
    reviews : Reviews or path, optional
        Shorthand of `Reviewed`: verdicts on rows that `plan_reviews` chose, or the answered file
        of a plan. They tell the share of hidden positives and every metric; `y` is that of the
        plan.
    unlabeled : number, optional
        Value in `y` that means unlabeled.
    sample_weight : array-like or str, optional
        Importance of each row.
    cluster : array-like or str, optional
        Whose each row is (a customer, a patient, a document), if rows are alike within and labels
        were given to all positives of one at once. Intervals then rest on clusters, not on rows.
    deploy_prevalence : float, optional
        Share of positives where the classifier will work, if it is not that of these rows. The
        table is that of these rows; `Evaluation.deployed` has the metrics there.
    threshold : float or list of float, optional
        Rows with score >= threshold are predicted positive. Of several the first is the main one,
        and the metrics at the others join the table.
    top : float or list of float, optional
        So many rows of the highest scores, or such a share of them if below 1: their precision,
        recall and lift join the table. One row is one row, whatever it weighs; with `by` they are
        the highest rows of each segment. Of several the first is the main one.
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
    progress : callable, optional
        Told the share of the resamples that is done.

    Notes
    -----
    Assumes: what the assumption says of the labels; without one, that labelled positives are a
    random sample of all positives. Rows are independent, or with `cluster` come in independent
    clusters, labelled as a whole.
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
    assumption = assumption_of(
        assume,
        prevalence=prevalence,
        unlabeled_prevalence=unlabeled_prevalence,
        label_frequency=label_frequency,
        reviews=reviews,
    )
    check_row_order(y=y, score=score, by=by, cluster=cluster, **assumption.columns)
    place, thresholds = split_several("threshold", threshold)
    first_top, tops = split_several("top", top)
    wanted = ReportOptions(
        target, confidence_level, first_top, metrics, random_state, progress, thresholds, tops
    )
    taken = {name: take_column(y, name, each) for name, each in assumption.columns.items()}
    assumption = assumption.with_columns(taken)
    columns = label is not None or (isinstance(score, str) and is_frame(y))
    name = name or (str(score) if columns else "score")
    if by is not None or isinstance(y, Mapping):
        # Where rows weigh differently, the highest ones are told only with every score apart.
        apart = sample_weight is not None and asks_top(first_top, metrics)
        split = SegmentedRows(
            y,
            score,
            label if columns else None,
            unlabeled,
            sample_weight,
            cluster,
            assumption,
            name,
        )
        compact = not (assumption.every_score or apart)
        model, segmentation = split.count(by, place, wanted.thresholds, compact=compact)
        return evaluate_segments(name, model, segmentation, assumption, wanted, deploy_prevalence)
    away = columns and is_frame(y) and not is_eager(y) and isinstance(cluster, str)
    whose = cluster if away else None  # counted where the rows lie
    cluster = None if away else take_column(y, "cluster", cluster)
    rows = unlabeled, sample_weight, place, keep_apart(assumption.knots, thresholds)
    compact = not assumption.every_score
    if columns:
        model = count_column(y, label, score, *rows, compact=compact, cluster=whose)
    else:
        model = count_model(y, score, *rows, compact=compact)
    made = evaluate_models({name: model.with_clusters(cluster)}, wanted, assumption)[name]
    if deploy_prevalence is not None:
        deploy_prevalence = made.recovery.read_prevalence(deploy_prevalence)
    return replace(made, deploy_prevalence=deploy_prevalence, unlabeled=unlabeled)
