"""Metrics of a classifier period by period, whatever its labels are like."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.metric_name import short_number
from undercount.read.evaluation import render
from undercount.read.monitor.alarm import Alarm
from undercount.read.require.requirement import Judgement, Requirement, Verdict, parse_requirements

if TYPE_CHECKING:
    from pathlib import Path

Period: TypeAlias = Literal["month", "week"]
PERIODS = {"month": "M", "week": "W"}
MONITORED_METRICS = ("precision", "recall", "f1")
# A period is mature, and may serve as the baseline, from this part of its labels on.
MATURE = 0.8
BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class MonitorQuestion:
    """Hold what is asked of every period; see `monitor`."""

    threshold: float
    period: Period
    baseline: str | None
    confidence_level: float
    risk: float


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
class Monitoring(ABC):
    """Hold a classifier's metrics period by period; made by `monitor`.

    Attributes
    ----------
    metrics : mapping
        Precision, recall and F1 of all rows that count, as estimates.
    rows : tuple of PeriodRow
    alarm : Alarm, optional
        None where there is no baseline, or none comes after it.
    confidence_level : float
        Of all intervals.

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
    threshold: float
    confidence_level: float
    # Which of the forms of `render` writes it.
    form: ClassVar[str]

    @property
    def reportable(self) -> bool:
        """Whether the numbers may be reported: labels had time to arrive, and no check fails."""
        return not self.unreportable_because

    @property
    @abstractmethod
    def unreportable_because(self) -> str:
        """What the numbers assume and these rows contradict; empty if they may be reported."""

    @abstractmethod
    def judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement by the rows that count."""

    def require(self, *conditions: str) -> Verdict:
        """Judge conditions such as "precision >= 0.3" or "recall > 50%".

        Returns
        -------
        Verdict
            True only if each condition holds on its whole interval and the numbers are
            `reportable`.
        """
        requirements_read = [
            requirement
            for condition in conditions
            for requirement in parse_requirements(condition, self.threshold)
        ]
        return Verdict(tuple(self.judge(requirement) for requirement in requirements_read))

    def check_requirement(self, requirement: Requirement) -> None:
        """Raise where a requirement is on another metric, or another threshold."""
        asked = replace(requirement.name, threshold=self.threshold)
        if requirement.metric not in MONITORED_METRICS or asked != requirement.name:
            raise InputError(
                f"a requirement here is on {', '.join(MONITORED_METRICS)} at the threshold "
                f"{short_number(self.threshold)}; got {requirement.words!r}"
            )

    def table(self) -> dict[str, list[Any]]:
        """Return a line a period as columns, ready for any data frame."""
        nan = math.nan
        precisions = [row.precision for row in self.rows]
        return {
            "period": [row.period for row in self.rows],
            "rows": [row.n_rows for row in self.rows],
            "flagged": [row.n_flagged for row in self.rows],
            "found": [row.n_found for row in self.rows],
            "chance": [row.chance for row in self.rows],
            "naive": [row.naive for row in self.rows],
            "precision": [precision.value if precision else nan for precision in precisions],
            "low": [precision.low if precision else nan for precision in precisions],
            "high": [precision.high if precision else nan for precision in precisions],
            "note": [row.note for row in self.rows],
        }

    def to_json(self) -> str:
        """Write every fact as JSON."""
        return str(render(f"{self.form} json", self))

    def to_html(self, path: "str | Path") -> None:
        """Write a page with a row a period and what the alarm says, whole or not at all."""
        render(f"{self.form} html", self, path)

    def __str__(self) -> str:
        return str(render(f"{self.form} text", self))

    def __repr__(self) -> str:
        return str(self)


def name_periods(days: FloatArray, period: Period) -> NDArray[np.str_]:
    """Return the month or week of each day, as text that sorts by time."""
    dates = np.floor(days).astype("datetime64[D]")
    if period == "week":  # named by its Monday; day 4 of 1970 was one
        dates = dates - (dates.astype(np.int64) - 4) % 7
        return np.asarray(dates.astype(str))
    return np.asarray(dates.astype("datetime64[M]").astype(str))


def last_of_baseline(
    rows: Sequence[PeriodRow], mature: Sequence[str], asked: str | None
) -> str | None:
    """Return the last period of the baseline; None if nothing comes after it.

    By default the first half of the mature periods.
    """
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
