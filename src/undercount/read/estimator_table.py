"""What every estimator says of the share of hidden positives, side by side."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from undercount import prevalence
from undercount.checks.checklist import AGREEMENT, are_near
from undercount.counts import ScoreCounts
from undercount.errors import InputError, Message, collect_warnings

# The default first, then by measured error; the rest as references of the papers.
ESTIMATOR_BY_METHOD: dict[str, tuple[str, dict[str, Any]]] = {
    "Consensus": ("Consensus", {}),
    "DEDPUL": ("Dedpul", {}),
    "BBE": ("BestBin", {}),
    "KM1": ("KernelMean", {"variant": "KM1"}),
    "KM2": ("KernelMean", {"variant": "KM2"}),
    "ROC slope": ("RocSlope", {}),
    "Patra-Sen": ("PatraSen", {}),
    "AlphaMax": ("AlphaMax", {}),
    "DistCurve": ("DistCurve", {}),
}
# Answers agree if they are near each other, and within this factor.
FACTOR = 1.5
Closeness: TypeAlias = Literal["agree", "close", "apart"]


@dataclass(frozen=True)
class EstimatorRow:
    """Hold one method's answer, or why it has none."""

    method: str
    value: float | None
    low: float | None
    high: float | None
    upper_bound: float | None
    seconds: float
    note: str = ""

    @property
    def range_only(self) -> bool:
        """Whether the method leaves a share of 0 possible, and names no value then."""
        return self.method == "Consensus" and self.low == 0


@dataclass(frozen=True)
class Agreement:
    """Hold the lowest and the highest answer, and whether they agree.

    Attributes
    ----------
    verdict : {"agree", "close", "apart"}
        "close": near each other (`are_near`), but far apart on the whole scale or as a factor.
    """

    lowest: EstimatorRow
    highest: EstimatorRow
    verdict: Closeness


def estimator_table(
    counts: ScoreCounts, confidence_level: float, random_state: int, sampling: str = "single-sample"
) -> list[EstimatorRow]:
    """Fit every score method; one that cannot work says why."""
    counts.require("positive", "unlabeled")
    methods = dict(ESTIMATOR_BY_METHOD)
    if counts.n_negative > 0:
        methods["two labels"] = ("TwoLabels", {})
    options: dict[str, Any] = {"sampling": sampling, "random_state": random_state}
    options["confidence_level"] = confidence_level
    return [
        _ask(name, getattr(prevalence, home)(**more, **options), counts)
        for name, (home, more) in methods.items()
    ]


def _ask(name: str, method: Any, counts: ScoreCounts) -> EstimatorRow:
    started = time.process_time()
    try:
        with collect_warnings() as warnings:
            method.fit(counts)
    except InputError as error:
        seconds = time.process_time() - started
        return EstimatorRow(name, None, None, None, None, seconds, error.message)
    seconds = time.process_time() - started
    interval, bound = method.interval_, getattr(method, "upper_bound_", None)
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    note = warnings[0].message if warnings else ""
    return EstimatorRow(name, method.unlabeled_prevalence_, low, high, bound, seconds, note)


def check_any_answer(rows: Sequence[EstimatorRow], name: str = "") -> None:
    """Raise if no method has an answer: the one reason, or each with its methods."""
    if any(row.value is not None for row in rows):
        return
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(Message(row.note).marked, []).append(row.method)
    listed = "; ".join(f"{', '.join(methods)}: {note}" for note, methods in reasons.items())
    alone = next(iter(reasons)) if len(reasons) == 1 else ""
    words = alone or f"no method could work on these rows; {listed}"
    raise InputError(f"{name}: {words}" if name else words)


def judge_agreement(rows: Sequence[EstimatorRow]) -> Agreement | None:
    """Compare the answers of those that have one, and name it."""
    answers = {
        row.value: row for row in reversed(rows) if row.value is not None and not row.range_only
    }
    if not answers:
        return None
    least, most = min(answers), max(answers)
    verdict: Closeness = "close" if are_near(list(answers)) else "apart"
    if most - least <= AGREEMENT and most <= FACTOR * least:
        verdict = "agree"
    return Agreement(answers[least], answers[most], verdict)
