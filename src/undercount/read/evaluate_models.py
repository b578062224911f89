"""Evaluate models on the same rows: one recovery of each, then table and checks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from undercount.assume.base import Assumption, Recovery, ReportOptions
from undercount.assume.builder import assumption_of
from undercount.checks.checklist import looks_chosen, looks_leaked, spoken
from undercount.errors import (
    InputError,
    check_choice,
    collect_warnings,
    named,
    read_threshold,
    real_number,
    wording,
)
from undercount.estimate import check_confidence_level
from undercount.infer.area_gradients import forget_cells
from undercount.infer.metric_name import parse_metric
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import TARGETS
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.read.evaluation import POINT_METRICS, Evaluation


def check_metrics(metrics: Sequence[str]) -> None:
    """Raise unless metrics are a list of names."""
    if not isinstance(metrics, Sequence) or isinstance(metrics, str) or not metrics:
        raise InputError(
            f"{named('metrics')} must be a list of names; got {metrics!r}", argument="metrics"
        )


def evaluate_models(
    models: Mapping[str, ScoredRows],
    wanted: ReportOptions = ReportOptions(),  # noqa: B008 - nothing can change it
    assume: Assumption | None = None,
) -> dict[str, Evaluation]:
    """Evaluate models on the same rows, which have one share of hidden positives.

    Parameters
    ----------
    models : mapping
        Name of each model → its rows.
    wanted : ReportOptions
        What is asked of every model.
    assume : Assumption, optional
        How the labels came about; None: at random, their share estimated.
    """
    check_wanted(wanted)
    assume = assumption_of(assume)
    assume.check_rows(next(iter(models.values())))
    recoveries = assume.recover(models, wanted)
    return {name: make_whole(name, recovery, wanted) for name, recovery in recoveries.items()}


def check_wanted(wanted: ReportOptions) -> None:
    """Raise where what is asked of every model cannot be asked."""
    check_confidence_level(wanted.confidence_level)
    if wanted.metrics is not None:
        check_metrics(wanted.metrics)
    if wanted.target is not None:
        check_choice("target", wanted.target, TARGETS)


def make_bare(name: str, recovery: Recovery, wanted: ReportOptions) -> Evaluation:
    """Put together what is known, without table and checks."""
    used = recovery.used
    seed, backend = wanted.random_state, used.backend
    return Evaluation(recovery, (), (), name, used.threshold, random_state=seed, backend=backend)


def make_whole(name: str, recovery: Recovery, wanted: ReportOptions) -> Evaluation:
    """Make the table of one model, then its checks."""
    evaluation = make_bare(name, recovery, wanted)
    with collect_warnings() as warned:  # they become checks
        evaluation = replace(evaluation, rows=_rows(evaluation, wanted))
        tops = [top for top in (wanted.top, *wanted.tops) if top is not None]
        evaluation = replace(
            evaluation, top_rows=tuple(row for top in tops for row in evaluation.at(top=top))
        )
    forget_cells()
    return replace(evaluation, checks=tuple(recovery.checks(evaluation.rows, warned)))


def split_several(argument: str, given: Any) -> tuple[Any, tuple[float, ...]]:
    """Return the main one of several thresholds, or numbers of highest rows, and the others.

    Examples
    --------
    >>> from undercount.read.evaluate_models import split_several
    >>> split_several("threshold", [0.5, 0.3]), split_several("top", 100)
    ((0.5, (0.3,)), (100, ()))
    """
    if not isinstance(given, list):  # a tuple is a range elsewhere
        return given, ()
    if not given or np.ndim(given) != 1 or len(set(given)) < len(given):
        raise InputError(
            f"{named(argument)} must be a number, or a list of different ones; got {given!r}",
            argument=argument,
        )
    read = read_threshold if argument == "threshold" else real_number
    return given[0], tuple(read(value) for value in given[1:])


def _further_rows(made: Evaluation, wanted: ReportOptions) -> list[MetricRow]:
    """Return the metrics of the table at further thresholds."""
    metrics: Sequence[str] = POINT_METRICS
    if wanted.metrics is not None:
        chosen = map(parse_metric, wanted.metrics)
        metrics = [m.metric for m in chosen if not m.placed and m.metric not in SWEPT_AREAS]
    return [
        row
        for threshold in wanted.thresholds
        for row in made.metric_rows(metrics, threshold, made.counts_at(threshold))
    ]


def _rows(made: Evaluation, wanted: ReportOptions) -> tuple[MetricRow, ...]:
    """Make the table; what is wrong with the shares is said as people say it."""
    try:
        if wanted.metrics is None:
            rows = made.standard_rows()
        else:
            rows = made.chosen_rows(wanted.metrics, wanted.top)
        known = {(row.metric, row.threshold) for row in rows}
        further = _further_rows(made, wanted)
        return (*rows, *(row for row in further if (row.metric, row.threshold) not in known))
    except InputError as error:
        message = error.about([spoken(error.metric)])
        if looks_leaked(made.counts):
            message += (
                ". The scores separate labelled from unlabeled rows almost "
                "perfectly: if the model was trained on these rows or saw their labels, score "
                "other rows, or use out-of-fold scores"
            )
        if looks_chosen(made.counts):
            selected = wording("pass assume=SelectedLabels()", "use undercount select")
            message += (
                ". Known negatives lie above nearly all unlabeled rows: if rows were looked at "
                f"because of their scores, {selected}"
            )
        raise InputError(message, argument=error.argument, hint=error.hint) from None
