"""Metrics month by month while labels are still arriving, and alarms that hold over many looks."""

import math
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.checks.fair_sample import found_check, steady_check
from undercount.checks.flagged import rounded_threshold, rounding_check
from undercount.count.arrays import read_floats, read_scores, refuse_other_order
from undercount.count.knots import knots_at
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import (
    Check,
    InputError,
    check_choice,
    named,
    read_threshold,
    real_number,
)
from undercount.estimate import Estimate, check_confidence_level, delta_interval
from undercount.infer.metric_name import short_number
from undercount.prevalence.delays import read_days
from undercount.prevalence.late_labels import (
    LEAST_CHANCE,
    NEEDS,
    LateLabels,
    Total,
    dates_of_positives,
    read_until,
)
from undercount.read.alarm import Alarm, find_alarm
from undercount.read.evaluation import render
from undercount.read.require.requirement import (
    Judgement,
    Requirement,
    Verdict,
    check_words,
    judge_requirement,
    parse_requirements,
)

if TYPE_CHECKING:
    from pathlib import Path

Period: TypeAlias = Literal["month", "week"]
PERIODS = {"month": "M", "week": "W"}
METRICS = ("precision", "recall", "f1")
# A period is mature, and may serve as the baseline, from this part of its labels on.
MATURE = 0.8
BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class PeriodRow:
    """Hold one period: what was flagged, found so far, and the precision that this amounts to.

    Attributes
    ----------
    chance : float
        Mean chance that a positive's label has arrived by now.
    naive : float
        Precision if every row without a label were negative.
    precision : Estimate, optional
        Of the population behind the period; None if the period is too young.
    """

    period: str
    n_rows: int
    n_flagged: int
    n_found: int
    chance: float
    naive: float
    precision: Estimate | None
    note: str = ""


@dataclass(frozen=True)
class Monitoring:
    """Hold a classifier's metrics while labels are late; made by `monitor`.

    Attributes
    ----------
    metrics : mapping
        Precision, recall and F1 of the rows that are old enough, as estimates.
    rows : tuple of PeriodRow
    alarm : Alarm, optional
        None where no period is mature, or none comes after the baseline.
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

    Examples
    --------
    >>> import undercount as uc
    >>> score, days = [0.9, 0.1] * 45, list(range(90))
    >>> labels = [day + 5 if day % 4 == 0 and day < 80 else None for day in days]
    >>> found = uc.monitor(score, observed=days, found=labels, threshold=0.5)
    >>> [(row.period, row.n_flagged, row.n_found) for row in found.rows]
    [('1970-01', 16, 8), ('1970-02', 14, 7), ('1970-03', 15, 5)]
    """

    metrics: dict[str, Estimate]
    rows: tuple[PeriodRow, ...]
    alarm: Alarm | None
    late: LateLabels = field(repr=False)
    threshold: float
    fair: Check
    steady: Check
    rounding: tuple[Check, ...] = ()
    rounded_metrics: dict[str, Estimate] = field(default_factory=dict, repr=False)

    @property
    def reportable(self) -> bool:
        """Whether the numbers may be reported: the oldest cohort is mature, and no check fails."""
        return not self.unreportable_because

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

    def require(self, *conditions: str) -> Verdict:
        """Judge conditions such as "precision >= 0.3" or "recall > 50%".

        Returns
        -------
        Verdict
            True only if each condition holds on its whole interval and the numbers are
            `reportable`.
        """
        wanted = [
            requirement
            for condition in conditions
            for requirement in parse_requirements(condition, self.threshold)
        ]
        return Verdict(tuple(self.judge(requirement) for requirement in wanted))

    def judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement by the rows that are old enough."""
        asked = replace(requirement.name, threshold=self.threshold)
        if requirement.metric not in METRICS or asked != requirement.name:
            raise InputError(
                f"a requirement here is on {', '.join(METRICS)} at the threshold "
                f"{short_number(self.threshold)}; got {requirement.words!r}"
            )
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

    def table(self) -> dict[str, list[Any]]:
        """Return a line a period as columns, ready for any data frame."""
        nan = math.nan
        found = [row.precision for row in self.rows]
        return {
            "period": [row.period for row in self.rows],
            "rows": [row.n_rows for row in self.rows],
            "flagged": [row.n_flagged for row in self.rows],
            "found": [row.n_found for row in self.rows],
            "chance": [row.chance for row in self.rows],
            "naive": [row.naive for row in self.rows],
            "precision": [each.value if each else nan for each in found],
            "low": [each.low if each else nan for each in found],
            "high": [each.high if each else nan for each in found],
            "note": [row.note for row in self.rows],
        }

    def to_json(self) -> str:
        """Write every fact as JSON."""
        return str(render("monitoring json", self))

    def to_html(self, path: "str | Path") -> None:
        """Write a page with a row a period and what the alarm says, whole or not at all."""
        render("monitoring html", self, path)

    def __str__(self) -> str:
        return str(render("monitoring text", self))

    def __repr__(self) -> str:
        return str(self)


def monitor(
    score: Any,
    *,
    observed: Any,
    found: Any,
    threshold: float,
    label: Any = None,
    until: Any = None,
    period: Period = "month",
    baseline: str | None = None,
    found_eventually: float = 1.0,
    confidence_level: float = 0.95,
    risk: float = 0.05,
) -> Monitoring:
    """Follow a classifier over time while the labels of recent rows have not arrived yet.

    Parameters
    ----------
    score : array-like
        Higher means more positive.
    observed, found : array-like
        Date of each row, and of its label (missing where none has arrived).
    threshold : float
        Rows with score >= threshold are flagged.
    label : array-like, optional
        1 where the label is positive, 0 or missing elsewhere, whose dates in `found` do not count.
        By default every date in `found` is that of a positive.
    until : date, optional
        The day to which labels are complete; by default the last date there is, which is refused
        if it stands alone, long after all others. Later rows are left out, and later labels have
        not arrived.
    period : {"month", "week"}
    baseline : str, optional
        Last period of the baseline, up to which the alarm looks for no change; by default the
        first half of the mature periods. Name it if you run this every week: the risk is that of
        all looks since one baseline, and the default moves on.
    found_eventually : float
        Share of the positives that are ever labelled.
    confidence_level : float
        Of the intervals.
    risk : float
        Of any false alarm over all weekly looks together.

    Notes
    -----
    Assumes: the oldest cohort is mature, nearly all of its labels have arrived; the delay of labels
    has one distribution, whatever the score and whenever the row was; every positive is found in
    the end, or the share that `found_eventually` says.
    Wrong when: labelling became slower or faster: that looks like a change of the precision; some
    positives are never found and nobody said so: precision is then too low by that share.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> observed = np.datetime64("2024-01-01") + rng.integers(0, 360, 12_000)
    >>> truth = rng.random(12_000) < 0.1
    >>> found = observed + rng.exponential(60, 12_000).astype(int)
    >>> found[~truth | (found > np.datetime64("2024-12-26"))] = np.datetime64("NaT")
    >>> result = uc.monitor(
    ...     rng.normal(2.0 * truth), observed=observed, found=found, threshold=1.5
    ... )
    >>> len(result.rows), result.alarm.fell
    (12, '')
    """
    check_choice("period", period, tuple(PERIODS))
    if not 0 < real_number(risk) < 1:
        raise InputError(f"risk must be in (0, 1); got {risk!r}")
    # Beside single precision NumPy would round the threshold, which evaluations do not.
    cut, scores = read_threshold(threshold), np.asarray(read_scores(score), np.float64)
    refuse_other_order(score=score, observed=observed, found=found, label=label)
    confidence_level = check_confidence_level(confidence_level)
    if isinstance(found_eventually, Real):
        found_eventually = real_number(found_eventually)  # a fraction, say
    late = LateLabels(found_eventually=found_eventually, confidence_level=confidence_level)
    days, labels = read_days(observed, "observed"), read_days(found, "found")
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
    flagged = np.asarray(scores >= cut)
    names = _name_periods(late.rows_.observed, period)
    z = float(ndtri((1 + confidence_level) / 2))
    rows = tuple(
        _period_row(name, names == name, flagged, late, z) for name in np.unique(names).tolist()
    )
    last = _last_of_baseline(rows, baseline, found_eventually)
    alarm = None if last is None else _find_alarm(late, flagged, np.asarray(names <= last), risk)
    fair, steady = found_check(late.compare_scores(scores)), steady_check(late.compare_dates())
    told = Monitoring(metrics_of_late(late, flagged), rows, alarm, late, cut, fair, steady)
    some = np.isin(scores, knots_at(cut))  # at the threshold, or what it is in lower precision
    if not some.any():
        return told
    counts = ScoreCounts.from_rows(late.rows_.labelled[some], scores[some], unlabeled=0)
    near = rounded_threshold(counts, cut)
    if near is None:
        return told
    rounded = metrics_of_late(late, np.asarray(scores >= near))
    return replace(told, rounding=tuple(rounding_check(counts, cut)), rounded_metrics=rounded)


def _name_periods(days: FloatArray, period: Period) -> NDArray[np.str_]:
    dates = np.floor(days).astype("datetime64[D]")
    if period == "week":  # named by its Monday; day 4 of 1970 was one
        dates = dates - (dates.astype(np.int64) - 4) % 7
        return np.asarray(dates.astype(str))
    return np.asarray(dates.astype("datetime64[M]").astype(str))


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
    precision = Estimate(value, low, high, error, level, NEEDS, "late labels, log of the hidden")
    return {"precision": precision} | {
        name: _logit_estimate(value, late.sum_positives(gradient), late)
        for name, (value, gradient) in gradients.items()
    }


def _logit_estimate(value: float, change: Total, late: LateLabels) -> Estimate:
    """Estimate a metric whose error is that of a sum, by Student's quantile."""
    value, error, level = min(value, 1.0), change.standard_error, late.confidence_level
    ends = delta_interval(value, error, "logit", change.quantile(level))
    low, high = (float(end) for end in ends)
    return Estimate(value, low, high, error, level, NEEDS, "late labels, delta on the logit")


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
    return Estimate(value, low, high, error, level, NEEDS, "late labels, Wilson")


def _wilson(hits: int, number: int, z: float) -> tuple[float, float]:
    """Return the middle of Wilson's interval and its reach."""
    rate, total = hits / number, number + z**2
    spread = math.sqrt(rate * (1 - rate) * number + z**2 / 4)
    return (hits + z**2 / 2) / total, z * spread / total


def _last_of_baseline(
    rows: tuple[PeriodRow, ...], asked: str | None, found_eventually: float
) -> str | None:
    """Return the last period of the baseline; None if nothing comes after it."""
    enough = MATURE * found_eventually  # no row's chance is higher than what is found in the end
    mature = [row.period for row in rows if row.chance >= enough and row.n_flagged]
    names = [row.period for row in rows]
    if asked is not None:
        if not isinstance(asked, str) or asked not in names[:-1]:
            raise InputError(
                f"baseline must be one of the periods before the last, {names[0]} to "
                f"{names[max(len(names) - 2, 0)]}; got {asked!r}"
            )
        return asked
    if not mature or names[-1] == mature[0]:
        return None
    return mature[(len(mature) - 1) // 2]


def _find_alarm(late: LateLabels, flagged: BoolArray, base: BoolArray, risk: float) -> Alarm | None:
    """Compare what arrives after the baseline with what came before; None where nothing can be."""
    some, later = flagged & base & late.usable_, flagged & ~base
    if not (some & late.rows_.labelled).any() or not later.any():
        return None
    z = float(ndtri((1 + late.confidence_level) / 2))
    start = float(late.rows_.observed[~base].min())
    return find_alarm(late, flagged, start, period_precision(late, some, z), risk)
