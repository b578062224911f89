"""One call for "is my model still as good?", with labels that are late or incomplete."""

from collections.abc import Mapping
from typing import Any, overload

import numpy as np

from undercount.assume.base import Assumption, LabelDates
from undercount.count.arrays import check_row_order, read_scores
from undercount.errors import InputError, check_choice, named, read_threshold, real_number
from undercount.estimate import check_confidence_level
from undercount.read.monitor.delays import DelayedMonitoring, monitor_delays
from undercount.read.monitor.monitoring import PERIODS, Monitoring, MonitorQuestion, Period
from undercount.read.monitor.periods import monitor_periods


@overload
def monitor(
    score: Any,
    *,
    observed: Any,
    found: Any,
    threshold: float,
    label: Any = None,
    unlabeled: float | None = None,
    assume: None = None,
    until: Any = None,
    period: Period = "month",
    baseline: str | None = None,
    found_eventually: float = 1.0,
    confidence_level: float = 0.95,
    risk: float = 0.05,
) -> DelayedMonitoring: ...


@overload
def monitor(
    score: Any,
    *,
    assume: Assumption,
    threshold: float,
    observed: Any = None,
    label: Any = None,
    unlabeled: float | None = None,
    period: Period = "month",
    baseline: str | None = None,
    confidence_level: float = 0.95,
    risk: float = 0.05,
) -> Monitoring: ...


def monitor(
    score: Any,
    *,
    threshold: float,
    observed: Any = None,
    found: Any = None,
    label: Any = None,
    unlabeled: float | None = None,
    assume: Assumption | None = None,
    until: Any = None,
    period: Period = "month",
    baseline: str | None = None,
    found_eventually: float = 1.0,
    confidence_level: float = 0.95,
    risk: float = 0.05,
) -> Monitoring:
    """Follow a classifier over time, perhaps while the labels of recent rows have not arrived yet.

    Parameters
    ----------
    score : array-like, or mapping of period → ScoreCounts
        Higher means more positive. Counts of periods go with `assume`; there is no alarm, which
        needs the date of each row.
    observed, found : array-like
        Date of each row, and of its label (missing where none has arrived): a shorthand of
        ``assume=DelayedLabels(observed, found)``.
    threshold : float
        Rows with score >= threshold are flagged.
    label : array-like, optional
        1 where the label is positive, 0 or missing elsewhere, whose dates in `found` do not count.
        By default every date in `found` is that of a positive. With another assumption than
        delays the labels, as `y` in `evaluate`.
    assume : Assumption, optional
        How the labels came about, as in `evaluate`. Under any but `DelayedLabels` labels are all
        here: each period of `observed` is evaluated as a segment. The alarm follows the labels of
        flagged rows, if each row has a known chance of one (random labels, known chances, a random
        audit), and not reviews.
    unlabeled : number, optional
        Value in `label` that means unlabeled.
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
    With another assumption: what that supposes, of each period; and for the alarm that labels are
    as frequent in each period.
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
    cut, level = read_threshold(threshold), check_confidence_level(confidence_level)
    question = MonitorQuestion(cut, period, baseline, level, risk)
    dates = LabelDates(observed, found, until, found_eventually)
    if assume is not None:
        _check_no_dates(dates)
        if assume.dates is None:
            return monitor_periods(score, label, unlabeled, observed, assume, question)
        dates = assume.dates
    elif observed is None or found is None:
        raise InputError(
            f"give {named('observed')} and {named('found')}, dates of rows and labels, or say by "
            f"{named('assume')} how the labels came about",
            argument="observed",
        )
    if isinstance(score, Mapping):
        raise InputError("delays are told by the dates of rows, and counts have none: pass rows")
    scores = np.asarray(read_scores(score), np.float64)
    check_row_order(score=score, observed=dates.observed, found=dates.found, label=label)
    return monitor_delays(scores, label, dates, question)


def _check_no_dates(dates: LabelDates) -> None:
    """Raise where dates of labels stand beside an assumption, which says them itself."""
    if dates.found is not None or dates.until is not None or dates.found_eventually != 1:
        raise InputError(
            f"{named('assume')} says how labels came about; say {named('found')} in "
            "DelayedLabels(observed, found, until=…)",
            argument="found",
        )
