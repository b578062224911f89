"""A requirement such as "precision@0.7 >= 0.8", and whether an evaluation meets it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from undercount.curve import metric_names
from undercount.errors import CODES, Check, InputError, LibraryWarning, MisfitWarning
from undercount.estimate import Estimate
from undercount.read.sensitivity import AREAS, check_goal

Verdict: TypeAlias = Literal["met", "failed", "inconclusive"]
PATTERN = re.compile(
    r"\s*(?P<metric>[a-z_0-9]+)\s*(@\s*(?P<threshold>[^<>=\s]+))?\s*(?P<sign>>=|<=)\s*(?P<value>\S+)\s*"
)


@dataclass(frozen=True)
class Requirement:
    """Hold a bound on a metric, at a threshold or on the whole curve.

    Examples
    --------
    >>> from undercount.read.requirement import parse_requirement
    >>> parse_requirement("precision@0.7 >= 0.8")
    Requirement(metric='precision', threshold=0.7, at_least=True, value=0.8)
    """

    metric: str
    threshold: float | None
    at_least: bool
    value: float

    @property
    def words(self) -> str:
        """The requirement as people write it."""
        at = "" if self.threshold is None else f"@{self.threshold:g}"
        return f"{self.metric}{at} {'>=' if self.at_least else '<='} {self.value:g}"

    def verdict(self, estimate: Estimate) -> Verdict:
        """Say whether the whole interval lies on the right side, the wrong side, or both."""
        if math.isnan(estimate.value):
            return "inconclusive"
        low, high = estimate.low, estimate.high
        if not self.at_least:
            low, high = -high, -low
        bound = self.value if self.at_least else -self.value
        if low >= bound:
            return "met"
        return "failed" if high < bound else "inconclusive"


def judge_requirement(
    requirement: Requirement,
    estimate: Estimate,
    checks: Sequence[Check] = (),
    warned: Sequence[LibraryWarning] = (),
) -> tuple[Verdict, str]:
    """Return the verdict, and why if it is inconclusive.

    Numbers that do not fit the data, or that come from scores which give the label away, meet no
    requirement, whatever their interval; one that fails nevertheless still fails.

    Examples
    --------
    >>> from undercount import Check, Estimate
    >>> from undercount.read.requirement import judge_requirement, parse_requirement
    >>> leak = Check("UC010", "warn", "the scores separate labelled from unlabeled rows")
    >>> judge_requirement(parse_requirement("roc_auc >= 0.9"), Estimate(0.99, 0.98, 1.0), [leak])
    ('inconclusive', 'the scores separate labelled from unlabeled rows (UC010)')
    """
    verdict = requirement.verdict(estimate)
    if verdict == "failed":
        return verdict, ""
    absent = [check for check in checks if _explains_absence(check, estimate)]
    grave = absent + [check for check in checks if check.level == "fail"]
    grave += [check for check in checks if (check.code, check.level) == (CODES["leak"], "warn")]
    doubts = [f"{check.message.split('. ')[0]} ({check.code})" for check in grave]
    doubts += [str(warning) for warning in warned if isinstance(warning, MisfitWarning)]
    if math.isnan(estimate.value) and not absent:
        doubts.insert(0, f"{requirement.metric} is 0/0 here")
    if doubts:
        return "inconclusive", doubts[0]
    return verdict, "" if verdict == "met" else "the interval reaches to both sides"


def _explains_absence(check: Check, estimate: Estimate) -> bool:
    """Whether a check tells why a metric does not exist: no row is flagged, or all are."""
    return math.isnan(estimate.value) and (check.code, check.level) == (CODES["flagged"], "warn")


def parse_requirement(text: str, at: float | None = None) -> Requirement:
    """Read a requirement as people write it; a metric without a threshold is meant at `at`.

    Examples
    --------
    >>> from undercount.read.requirement import parse_requirement
    >>> parse_requirement("roc_auc>=0.9").threshold is None
    True
    """
    match = PATTERN.fullmatch(text)
    if match is None:
        raise InputError(
            f"a requirement reads like 'precision@0.7 >= 0.8' or 'roc_auc >= 0.9'; got {text!r}"
        )
    metric = match["metric"]
    if metric not in (*AREAS, *metric_names()):
        raise InputError(
            f"a requirement's metric must be one of {', '.join((*AREAS, *metric_names()))}; "
            f"got {metric!r}"
        )
    threshold = None if match["threshold"] is None else _number(match["threshold"], text)
    if threshold is None and metric not in AREAS:
        threshold = at
    if (threshold is None) != (metric in AREAS):
        hint = "takes no threshold" if metric in AREAS else f"needs a threshold, {metric}@0.5 say"
        raise InputError(f"{metric} {hint}; got {text!r}")
    value = _number(match["value"], text)
    check_goal(metric, value)
    return Requirement(metric, threshold, match["sign"] == ">=", value)


def _number(part: str, text: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise InputError(f"{part!r} is not a number in the requirement {text!r}") from None
