"""Metrics period by period where labels are all here, under any assumption."""

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from undercount.assume.base import Assumption, ReportOptions
from undercount.count.arrays import check_row_order
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named
from undercount.estimate import Estimate
from undercount.infer.labelled import naive_point
from undercount.infer.scored_rows import RecountableRows, ScoredRows, count_model
from undercount.infer.segmented_rows import CountedSegmentation, RowSegmentation, Segmentation
from undercount.prevalence.delays import read_days
from undercount.read.monitor.alarm import Alarm, LabelledDays, find_alarm
from undercount.read.monitor.monitoring import (
    MONITORED_METRICS,
    BoolArray,
    Monitoring,
    MonitorQuestion,
    PeriodRow,
    last_of_baseline,
    name_periods,
)
from undercount.read.require.requirement import Judgement, Requirement, check_words
from undercount.read.segments.evaluate_segments import evaluate_segments
from undercount.read.segments.evaluations import Evaluations
from undercount.read.segments.lines import SegmentRow

NAME = "score"


@dataclass(frozen=True, repr=False)
class PeriodMonitoring(Monitoring):
    """Hold a classifier's metrics by period where labels are all here.

    Attributes
    ----------
    periods : Evaluations
        Each period as a segment, with tests whether they differ and whether there is a trend.
    no_alarm : str
        Why there is no alarm; empty if there is one.
    """

    periods: Evaluations = field(repr=False)
    no_alarm: str = ""
    form: ClassVar[str] = "periods"

    @property
    def unreportable_because(self) -> str:
        """What the numbers assume and these rows contradict; empty if they may be reported."""
        failed = [check for check in self.periods.overall.checks if check.level == "fail"]
        return "; ".join(map(check_words, failed))

    def judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement by all rows."""
        self.check_requirement(requirement)
        return self.periods.overall.judge(requirement)


def monitor_periods(
    score: Any,
    label: Any,
    unlabeled: float | None,
    observed: Any,
    assume: Assumption,
    question: MonitorQuestion,
) -> PeriodMonitoring:
    """Evaluate each period as a segment; look for a change where labels of single rows tell it."""
    wanted = ReportOptions("population", question.confidence_level, metrics=list(MONITORED_METRICS))
    days = None
    if isinstance(score, Mapping):
        model, segmentation = _take_counts(score, question)
    else:
        model, days = _count_rows(score, label, unlabeled, observed, assume, question)
        segmentation = RowSegmentation(name_periods(days, question.period), question.period)
    periods = evaluate_segments(NAME, model, segmentation, assume, wanted)
    overall = periods.overall
    rows = tuple(_period_row(row, question.threshold) for row in periods.rows)
    usual = [row.period for row in rows if row.precision is not None]
    last = last_of_baseline(rows, usual, question.baseline)
    metrics = {row.metric: row.estimate for row in overall.rows if row.estimate.exists}
    alarm, words = None, "no period comes after the baseline"
    if days is None:
        words = "counts of periods have no dates of single rows, which weekly looks need"
    elif last is not None:
        recovery = overall.recovery
        alarm, words = None, _NO_CHANCES
        if recovery.label_chances is not None:
            base = name_periods(days, question.period) <= last
            precision = _baseline_precision(model, base, assume, wanted)
            alarm = _find_alarm(
                recovery.used, recovery.label_chances, days, base, question, precision
            )
            words = "" if alarm else _NO_LABELS
    return PeriodMonitoring(
        metrics, rows, alarm, question.threshold, question.confidence_level, periods, words
    )


_NO_CHANCES = (
    "the alarm counts the labels of flagged rows week by week, and for that needs the chance of a "
    "label for each row; this assumption gives none"
)
_NO_LABELS = (
    "no flagged row of the baseline carries a label, or no flagged row comes after the baseline"
)


def _take_counts(
    counts: Mapping[Any, Any], question: MonitorQuestion
) -> tuple[ScoredRows, Segmentation]:
    """Take a mapping of period → counts."""
    parts = dict(counts)
    if not parts or not all(isinstance(part, ScoreCounts) for part in parts.values()):
        raise InputError(
            "a mapping must hold the counts of each period, {'2024-01': counts}", argument="score"
        )
    whole = sum(list(parts.values())[1:], next(iter(parts.values())))
    segmentation = CountedSegmentation({NAME: parts}, question.period)
    return ScoredRows.of_counts(whole, question.threshold), segmentation


def _count_rows(
    score: Any,
    label: Any,
    unlabeled: float | None,
    observed: Any,
    assume: Assumption,
    question: MonitorQuestion,
) -> tuple[ScoredRows, FloatArray]:
    """Count the rows, and read the day of each."""
    for argument, given in (("observed", observed), ("label", label)):
        if given is None:
            raise InputError(
                f"give {named(argument)}: the periods are those of the rows' dates, and each row "
                "has a label or none",
                argument=argument,
            )
    check_row_order(score=score, observed=observed, label=label, **assume.columns)
    days = read_days(observed, "observed")
    compact = not assume.every_score
    model = count_model(
        label, score, unlabeled, None, question.threshold, assume.knots, compact=compact
    )
    n_rows = len(cast("RecountableRows", model.recount).labels)
    if len(days) != n_rows or np.isnan(days).any():
        raise InputError(
            f"{named('observed')} must hold the date of each row; got {len(days):,} for "
            f"{n_rows:,} rows, {int(np.isnan(days).sum()):,} of them missing",
            argument="observed",
        )
    return model, days


def _period_row(row: SegmentRow, threshold: float) -> PeriodRow:
    """Return what the table says of one period."""
    counts = row.counts
    point = naive_point(counts, threshold) if counts.n_rows else None
    rate = 0.0 if point is None else float(point.predicted_positive_rate)
    flagged, naive = round(rate * counts.n_rows), math.nan
    if point is not None and rate > 0:
        naive = float(point.precision)
    found = round(naive * rate * counts.n_rows) if rate > 0 else 0
    rows = {each.metric: each.estimate for each in row.rows}
    precision: Estimate | None = rows.get("precision")
    note = row.note
    if not rate > 0:
        precision, note = None, "no row is flagged"
    name = row.segment.isoformat() if isinstance(row.segment, dt.date) else str(row.segment)
    number = round(counts.n_rows)
    return PeriodRow(name, number, flagged, found, math.nan, naive, precision, note)


def _baseline_precision(
    model: ScoredRows, base: BoolArray, assume: Assumption, wanted: ReportOptions
) -> Estimate:
    """Estimate the precision of the periods of the baseline together."""
    halves = RowSegmentation(np.where(base, "baseline", "later"), "part")
    parts = evaluate_segments(NAME, model, halves, assume, wanted)
    return next(
        (row.estimate for row in parts.row("baseline").rows if row.metric == "precision"),
        Estimate(math.nan, math.nan, math.nan),
    )


def _find_alarm(
    used: ScoredRows,
    chance: FloatArray,
    days: FloatArray,
    base: BoolArray,
    question: MonitorQuestion,
    precision: Estimate,
) -> Alarm | None:
    """Look each week whether later flagged rows carry as many labels as those of the baseline."""
    rows = used.rows("observed")
    flagged, labelled = rows.scores >= question.threshold, rows.labels == 1
    known = np.isfinite(chance[flagged]).all()
    if not known or not (flagged & labelled & base).any() or not (flagged & ~base).any():
        return None
    about = days[flagged], labelled[flagged], chance[flagged], float(days.max()) + 1
    return find_alarm(LabelledDays(*about), float(days[~base].min()), precision, question.risk)
