"""Metrics period by period while labels are still arriving."""

import math
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from undercount.assume.base import LabelDates
from undercount.checks.fair_sample import found_check, steady_check
from undercount.checks.flagged import rounded_threshold, rounding_check
from undercount.count.arrays import read_floats
from undercount.count.knots import knots_at
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import Check, InputError, named, real_number
from undercount.estimate import Estimate, delta_interval
from undercount.prevalence.delays import read_days
from undercount.prevalence.late_labels import (
    DELAYS_ASSUME,
    LEAST_CHANCE,
    LateLabels,
    Total,
    dates_of_positives,
    read_until,
)
from undercount.read.monitor.alarm import Alarm, FlaggedDays, find_alarm
from undercount.read.monitor.monitoring import (
    MATURE,
    BoolArray,
    Monitoring,
    MonitorQuestion,
    PeriodRow,
    last_of_baseline,
    name_periods,
)
from undercount.read.require.requirement import (
    Judgement,
    Requirement,
    check_words,
    judge_requirement,
)


@dataclass(frozen=True, repr=False)
class DelayedMonitoring(Monitoring):
    """Hold a classifier's metrics while labels are late.

    Attributes
    ----------
    late : LateLabels
        Delays and chances.
    fair : Check
        Whether labels of high scores come sooner than others: then delays are not alike, and
        what has arrived is no fair sample.
    steady : Check
        Whether labels of recent rows come as soon as those of older ones; if not, an alarm may be
        that.
    rounding : tuple of Check
        Whether rows score just what the threshold is in single precision (UC024).
    rounded_metrics : mapping
        The metrics if these rows were flagged too; empty if there are none.
    """

    late: LateLabels = field(repr=False)
    fair: Check
    steady: Check
    rounding: tuple[Check, ...] = ()
    rounded_metrics: dict[str, Estimate] = field(default_factory=dict, repr=False)
    form: ClassVar[str] = "monitoring"

    @property
    def unreportable_because(self) -> str:
        """What the numbers assume and these rows contradict; empty if they may be reported."""
        immature = "" if self.late.mature_ else self.late.unripe_words()
        failures = [check_words(check) for check in self.failed_checks]
        return "; ".join(filter(None, [immature, *failures]))

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that chance hardly explains: what they test does not hold."""
        checks = (self.fair, self.steady, *self.rounding)
        return tuple(check for check in checks if check.level == "fail")

    def judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement by the rows that are old enough."""
        self.check_requirement(requirement)
        nothing = Estimate(math.nan, math.nan, math.nan)  # no row is flagged
        estimate = self.metrics.get(requirement.metric, nothing)
        outcome, why = judge_requirement(requirement, estimate, [self.fair])
        if not why and self.steady.level != "ok":  # every number here rests on it
            outcome, why = "inconclusive", check_words(self.steady)
        for check in self.rounding if not why else ():
            other = self.rounded_metrics.get(requirement.metric, nothing)
            if judge_requirement(requirement, other)[0] != outcome:
                outcome, why = "inconclusive", check_words(check)
        if not self.reportable:
            outcome, why = "inconclusive", self.unreportable_because
        return Judgement("rows old enough", requirement, outcome, estimate, why)


def monitor_delays(
    scores: FloatArray, label: Any, dates: LabelDates, question: MonitorQuestion
) -> DelayedMonitoring:
    """Follow rows whose labels arrive after delays; `label` says which are positive."""
    ever, level, cut = dates.found_eventually, question.confidence_level, question.threshold
    if isinstance(ever, Real):
        ever = real_number(ever)  # a fraction, say
    late = LateLabels(found_eventually=ever, confidence_level=level)
    scores = _fit_dates(late, scores, label, dates)
    flagged = np.asarray(scores >= cut)
    names = name_periods(late.rows_.observed, question.period)
    z = float(ndtri((1 + level) / 2))
    rows = tuple(
        _period_row(name, names == name, flagged, late, z) for name in np.unique(names).tolist()
    )
    # No row's chance is higher than what is found in the end.
    mature = [row.period for row in rows if row.chance >= MATURE * ever and row.n_flagged]
    last = last_of_baseline(rows, mature, question.baseline)
    base = np.asarray(names <= last) if last is not None else np.zeros(len(names), bool)
    alarm = None if last is None else _find_alarm(late, flagged, base, question.risk)
    checks = found_check(late.compare_scores(scores)), steady_check(late.compare_dates())
    metrics = metrics_of_late(late, flagged)
    monitoring = DelayedMonitoring(metrics, rows, alarm, cut, level, late, *checks)
    return _with_rounding(monitoring, scores)


def _fit_dates(late: LateLabels, scores: FloatArray, label: Any, dates: LabelDates) -> FloatArray:
    """Fit delays to the dates until the last day; return the scores of these rows."""
    days, labels = read_days(dates.observed, "observed"), read_days(dates.found, "found")
    until = dates.until
    if label is not None:
        labels = dates_of_positives(labels, read_floats(label, "label") == 1)
    if not len(scores) == len(days) == len(labels):
        raise InputError(
            f"score, {named('observed')} and {named('found')} must be of the same rows; got "
            f"{len(scores)}, {len(days)} and {len(labels)}"
        )
    if until is not None and len(days):
        until = read_until(until, days, labels)
        seen = ~(days > until)  # a missing date is refused below
        scores, days, labels = scores[seen], days[seen], labels[seen]
    late.fit(days, labels, until=until)
    return scores


def _with_rounding(monitoring: DelayedMonitoring, scores: FloatArray) -> DelayedMonitoring:
    """Say whether rows score just what the threshold is in single precision."""
    late, cut = monitoring.late, monitoring.threshold
    some = np.isin(scores, knots_at(cut))  # at the threshold, or what it is in lower precision
    if not some.any():
        return monitoring
    counts = ScoreCounts.from_rows(late.rows_.labelled[some], scores[some], unlabeled=0)
    near = rounded_threshold(counts, cut)
    if near is None:
        return monitoring
    rounded = metrics_of_late(late, np.asarray(scores >= near))
    checks = tuple(rounding_check(counts, cut))
    return replace(monitoring, rounding=checks, rounded_metrics=rounded)


def metrics_of_late(late: LateLabels, flagged: BoolArray) -> dict[str, Estimate]:
    """Return precision, recall and F1 of the rows that are old enough.

    Each is a ratio of sums over positives, whose error is that of one sum: of the gradient.
    """
    number = int(np.count_nonzero(flagged & late.usable_))
    total, positives = late.sum_positives(flagged), late.sum_positives(late.usable_).value
    hits = total.value
    if number == 0 or positives == 0:
        return {}
    recall, f1 = hits / positives, 2 * hits / (positives + number)
    gradients = {
        "recall": (recall, (flagged - recall) / positives),
        "f1": (f1, (2 * flagged - f1) / (positives + number)),
    }
    seen = int(np.count_nonzero(flagged & late.usable_ & late.rows_.labelled))
    level = late.confidence_level
    value, low, high = (min(each / number, 1.0) for each in (hits, *total.interval(seen, level)))
    error = total.standard_error / number
    precision = Estimate(
        value, low, high, error, level, DELAYS_ASSUME, "late labels, log of the hidden"
    )
    return {"precision": precision} | {
        name: _logit_estimate(value, late.sum_positives(gradient), late)
        for name, (value, gradient) in gradients.items()
    }


def _logit_estimate(value: float, change: Total, late: LateLabels) -> Estimate:
    """Estimate a metric whose error is that of a sum, by Student's quantile."""
    value, error, level = min(value, 1.0), change.standard_error, late.confidence_level
    ends = delta_interval(value, error, "logit", change.quantile(level))
    low, high = (float(end) for end in ends)
    return Estimate(
        value, low, high, error, level, DELAYS_ASSUME, "late labels, delta on the logit"
    )


def _period_row(
    name: str, here: BoolArray, flagged: BoolArray, late: LateLabels, z: float
) -> PeriodRow:
    some = here & flagged
    found = int(np.count_nonzero(some & late.rows_.labelled))
    chance = float(late.chance_[some if some.any() else here].mean())
    number = int(np.count_nonzero(some))
    naive = found / number if number else math.nan
    precision, note = None, ""
    if number == 0:
        note = "no row is flagged"
    elif not (some & late.usable_).any() or chance < LEAST_CHANCE * late.arrives_:
        note = "too young: hardly any label can have arrived"
    else:
        precision = period_precision(late, some & late.usable_, z)
    rows = int(np.count_nonzero(here))
    return PeriodRow(name, rows, number, found, chance, naive, precision, note)


def period_precision(late: LateLabels, some: BoolArray, z: float) -> Estimate:
    """Estimate the precision of the population behind some flagged rows.

    Of M rows each is found with chance p · c, so Wilson's interval over the chance is that of p;
    the error of the chances is added in squares, each side by itself.
    """
    found = some & late.rows_.labelled
    number, labels = int(np.count_nonzero(some)), int(np.count_nonzero(found))
    total = late.sum_positives(some)
    chance = labels / total.value if labels else float(late.chance_[some].mean())
    value = min(labels / (number * chance), 1.0)
    centre, reach = _wilson(labels, number, z)
    low, high = ((centre + side * reach) / chance for side in (-1, 1))
    window = late.rows_.window[some]
    chances = math.sqrt(late.delays_.total_variance(late.chance_[some], window))
    known = math.hypot(chances / (number * late.arrives_), late.tail_.error)
    ends = (
        value - math.hypot(value - low, z * value * known),
        value + math.hypot(high - value, z * value * known),
    )
    low, high = max(min(ends[0], value), 0.0), min(max(ends[1], value), 1.0)
    level = late.confidence_level
    error = (high - low) / (2 * z) if z else 0.0  # no error shows at a level next to 0
    return Estimate(value, low, high, error, level, DELAYS_ASSUME, "late labels, Wilson")


def _wilson(hits: int, number: int, z: float) -> tuple[float, float]:
    """Return the middle of Wilson's interval and its reach."""
    rate, total = hits / number, number + z**2
    spread = math.sqrt(rate * (1 - rate) * number + z**2 / 4)
    return (hits + z**2 / 2) / total, z * spread / total


def _find_alarm(late: LateLabels, flagged: BoolArray, base: BoolArray, risk: float) -> Alarm | None:
    """Compare what arrives after the baseline with what came before; None where nothing can be."""
    some, later = flagged & base & late.usable_, flagged & ~base
    if not (some & late.rows_.labelled).any() or not later.any():
        return None
    z = float(ndtri((1 + late.confidence_level) / 2))
    start = float(late.rows_.observed[~base].min())
    rows = FlaggedDays(late, flagged)
    return find_alarm(rows, start, period_precision(late, some, z), risk)
