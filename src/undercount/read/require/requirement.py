"""Requirements such as "precision@0.7 >= 0.8 and fpr < 2%", and what is found of them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.checks.percentages import goal_percent
from undercount.errors import CODES, CONTRADICTED, Check, InputError, LibraryWarning
from undercount.estimate import OUTWARD, POINT, Estimate, FloatArray
from undercount.infer.metric_name import MetricName, parse_metric, read_number, short_number
from undercount.infer.sensitivity import check_goal
from undercount.metric_facts import FACTS

Outcome: TypeAlias = Literal["met", "failed", "inconclusive"]
WORST_FIRST: tuple[Outcome, ...] = ("failed", "inconclusive", "met")
ONE_SIDE = re.compile(r"(?P<metric>[^<>=≤≥]+)(?P<sign>>=|<=|>|<|≥|≤)\s*(?P<value>[^<>=≤≥]+)")
SIGNS = {"≥": ">=", "≤": "<="}
OPPOSITES = {">=": "<", ">": "<=", "<=": ">", "<": ">="}
# Digits of an estimate beside a bound: as many as it takes to see on which side it lies.
LEAST_DIGITS, MOST_DIGITS = 3, 12
# Conditions stand side by side; a comma inside a number, as in 5,000 rows, parts nothing.
AND_BETWEEN = re.compile(r"\s+and\s+|;|&&?|,(?=\s*[^\W\d])", re.IGNORECASE)


class Condition(Protocol):
    """What a judgement asks of a requirement, on one model or on two."""

    @property
    def metric(self) -> str:
        """The metric that it is about."""

    @property
    def words(self) -> str:
        """The requirement as people write it."""

    def found_words(self, estimate: Estimate) -> str:
        """Say what was found."""


@dataclass(frozen=True)
class Requirement:
    """Hold a bound on a metric, at a threshold or on the whole curve.

    Attributes
    ----------
    deploy_prevalence : float, optional
        Share of positives where the metric is asked for, if that is not among the rows at hand.

    Examples
    --------
    >>> from undercount.read.require.requirement import parse_requirement
    >>> requirement = parse_requirement("Precision@0.7 > 45%")
    >>> requirement.metric, requirement.threshold, requirement.value
    ('precision', 0.7, 0.45)
    >>> requirement.words
    'precision@0.7 > 0.45'
    """

    name: MetricName
    sign: str
    value: float
    deploy_prevalence: float | None = None

    @property
    def metric(self) -> str:
        """The metric's name in the library."""
        return self.name.metric

    @property
    def threshold(self) -> float | None:
        """Where it is read; None for areas and for the highest rows."""
        return self.name.threshold

    @property
    def at_least(self) -> bool:
        """Whether large values are wanted."""
        return self.sign.startswith(">")

    @property
    def opposite(self) -> "Requirement":
        """What is so where the requirement is not."""
        return replace(self, sign=OPPOSITES[self.sign])

    @property
    def words(self) -> str:
        """The requirement as people write it."""
        where = where_words(self.deploy_prevalence)
        return f"{self.name} {self.sign} {short_number(self.value)}{where}"

    def found_words(self, estimate: Estimate) -> str:
        """Say what was found of the metric."""
        if not estimate.exists or estimate.open:
            return "no estimate"
        value, low, high = numbers_beside(estimate, self.value)
        if estimate.range_only:
            return f"between {low} and {high}"
        return f"estimated {value} ({low} – {high})"

    def met(self, value: FloatArray, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
        """Say of many intervals whether the whole of each lies on the right side."""
        end, bound = (low, self.value) if self.at_least else (-high, -self.value)
        right = end > bound if "=" not in self.sign else end >= bound
        return np.asarray(right & ~np.isnan(value))

    def verdict(self, estimate: Estimate) -> Outcome:
        """Say whether the whole interval lies on the right side, the wrong side, or both."""
        if math.isnan(estimate.value) and not estimate.range_only:
            return "inconclusive"
        low, high, bound = estimate.low, estimate.high, self.value
        if not self.at_least:
            low, high, bound = -high, -low, -bound
        return outcome_of(low, high, bound, strict="=" not in self.sign)


@dataclass(frozen=True)
class Judgement:
    """Hold what was found of one requirement: whether it is met, by which estimate, and why.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.read.require.requirement import Judgement, parse_requirement
    >>> wanted = parse_requirement("roc_auc >= 0.9")
    >>> print(Judgement("p", wanted, "met", Estimate(0.95, 0.93, 0.97)))
    met: p: roc_auc >= 0.9; estimated 0.950 (0.930 – 0.970)
    """

    subject: str
    requirement: Condition
    outcome: Outcome
    estimate: Estimate
    why: str = ""
    warned: tuple[LibraryWarning, ...] = ()

    @property
    def words(self) -> str:
        """What was asked of what, what was found, and why it is open or what it rests on."""
        found = self.requirement.found_words(self.estimate)
        why = f"; because {self.why}" if self.why else ""
        if self.outcome != "inconclusive" and self.estimate.needs:
            why += f"; assumes: {', '.join(self.estimate.needs)}"
        return f"{self.subject}: {self.requirement.words}; {found}{why}"

    def __str__(self) -> str:
        return f"{self.outcome}: {self.words}"


@dataclass(frozen=True)
class Verdict:
    """Hold what was found of every requirement; true only if all of them are met.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.read.require.requirement import Judgement, Verdict, parse_requirement
    >>> wanted = parse_requirement("roc_auc >= 0.9")
    >>> verdict = Verdict((Judgement("p", wanted, "failed", Estimate(0.8, 0.75, 0.85)),))
    >>> verdict.outcome, bool(verdict)
    ('failed', False)
    """

    judgements: tuple[Judgement, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst of all: failing outweighs being inconclusive."""
        found = {each.outcome for each in self.judgements}
        return "failed" if "failed" in found else "inconclusive" if found - {"met"} else "met"

    @property
    def worst_first(self) -> tuple[Judgement, ...]:
        """The judgements, failed ones before inconclusive ones before those that are met."""
        return tuple(sorted(self.judgements, key=lambda each: WORST_FIRST.index(each.outcome)))

    def __bool__(self) -> bool:
        return self.outcome == "met"

    def __add__(self, other: "Verdict") -> "Verdict":
        return Verdict((*self.judgements, *other.judgements))

    def __str__(self) -> str:
        return "\n".join(map(str, self.judgements))


def where_words(deploy_prevalence: float | None) -> str:
    """Say where a requirement is judged: at another prevalence, or nothing if on these rows.

    Examples
    --------
    >>> from undercount.read.require.requirement import where_words
    >>> where_words(0.01)
    ' where 1 % are positive'
    """
    return (
        ""
        if deploy_prevalence is None
        else f" where {goal_percent(deploy_prevalence)} are positive"
    )


def outcome_of(low: float, high: float, bound: float, *, strict: bool) -> Outcome:
    """Say whether the whole of an interval lies above a bound, below it, or on both sides.

    A point that was rounded outward is the bound itself where it holds it.
    """
    if high - low <= 2 * POINT and low <= bound <= high:
        return "failed" if strict else "met"
    if low > bound or (low == bound and not strict):
        return "met"
    return "failed" if high < bound or (high == bound and strict) else "inconclusive"


def numbers_beside(estimate: Estimate, bound: float, sign: str = "") -> list[str]:
    """Write an estimate with its ends, so that each is seen to lie on its side of a bound.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.read.require.requirement import numbers_beside
    >>> numbers_beside(Estimate(0.932, 0.8997, 0.951), 0.9)
    ['0.9320', '0.8997', '0.9510']
    """
    values = (estimate.value, estimate.low, estimate.high)
    known = [value for value in values if not math.isnan(value)]

    def side(value: float) -> int:
        beside = abs(value - bound) > 2 * OUTWARD * max(1.0, abs(bound))
        return int(np.sign(value - bound)) if beside else 0

    def differ(digits: int) -> bool:
        return any(side(v) != side(round(v, digits)) for v in known)

    digits = next((d for d in range(LEAST_DIGITS, MOST_DIGITS) if not differ(d)), LEAST_DIGITS)
    return [f"{value:{sign}.{digits}f}" for value in values]


def forbidding_words(checks: Sequence[Check]) -> str:
    """Say which check forbids to build on the numbers; nothing if none does.

    One that failed, a share that does not fit, scores that give the label away, or scores that
    leave hardly a positive hidden, as those of rows that a model was trained on do.
    """
    trained = {(CODES[name], "warn") for name in ("leak", "in-sample", "fit")}
    grave = [check for check in checks if check.level == "fail"]
    grave += [check for check in checks if (check.code, check.level) in trained]
    return check_words(grave[0]) if grave else ""


def check_words(check: Check) -> str:
    """Say a check's first sentence, and its code."""
    return f"{check.message.split('. ')[0]} ({check.code})"


def judge_requirement(
    requirement: Requirement,
    estimate: Estimate,
    checks: Sequence[Check] = (),
    warned: Sequence[LibraryWarning] = (),
) -> tuple[Outcome, str]:
    """Return what is found, and why if it is inconclusive.

    Numbers that a check forbids to build on neither meet a requirement nor fail it, whatever their
    interval. Whether one fails all the same, at every share, `Evaluation.judge` asks.

    Examples
    --------
    >>> from undercount import Check, Estimate
    >>> from undercount.read.require.requirement import judge_requirement, parse_requirement
    >>> leak = Check("UC010", "warn", "the scores separate labelled from unlabeled rows")
    >>> judge_requirement(parse_requirement("roc_auc >= 0.9"), Estimate(0.99, 0.98, 1.0), [leak])
    ('inconclusive', 'the scores separate labelled from unlabeled rows (UC010)')
    """
    verdict = requirement.verdict(estimate)
    absent = [check_words(check) for check in checks if _explains_absence(check, estimate)]
    doubts = [*absent, forbidding_words(checks)]
    doubts += [str(warning) for warning in warned if warning.code == CONTRADICTED]
    if not estimate.exists and not absent:
        doubts.insert(0, f"{requirement.metric} is 0/0 here")
    doubt = next(filter(None, doubts), "")
    if doubt:
        return "inconclusive", doubt
    return verdict, "the interval reaches to both sides" if verdict == "inconclusive" else ""


def _explains_absence(check: Check, estimate: Estimate) -> bool:
    """Whether a check tells why a metric does not exist: no row is flagged, or all are."""
    return not estimate.exists and (check.code, check.level) == (CODES["flagged"], "warn")


def parse_requirements(
    text: str, threshold: float | None = None, top: float | None = None
) -> list[Requirement]:
    """Read conditions joined by "and" or commas; `threshold` or `top` serves those without.

    Examples
    --------
    >>> from undercount.read.require.requirement import parse_requirements
    >>> [found.words for found in parse_requirements("auc > .9, new.recall@top 5,000 >= 45%")]
    ['roc_auc > 0.9', 'new.recall@top 5,000 >= 0.45']
    """
    parts = AND_BETWEEN.split(text) if isinstance(text, str) else [text]
    return [parse_requirement(part, threshold, top) for part in parts]


def parse_requirement(
    text: str, threshold: float | None = None, top: float | None = None
) -> Requirement:
    """Read one condition as people write it.

    Examples
    --------
    >>> from undercount.read.require.requirement import parse_requirement
    >>> parse_requirement("roc_auc>=0.9").threshold is None
    True
    """
    match = ONE_SIDE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InputError(
            "a requirement reads like 'precision@0.7 >= 0.8', 'roc_auc > 90%' or "
            f"'recall >= 0.5 and fpr < 0.1'; got {text!r}"
        )
    name = parse_metric(match["metric"])
    if not name.placed and threshold is not None:
        name = replace(name, threshold=threshold)
    if not name.placed and top is not None:
        name = replace(name, top=top)
    if not name.placed:
        raise InputError(f"{name.metric} needs a threshold, {name.metric}@0.5 say; got {text!r}")
    value = read_number(match["value"], text)
    if FACTS[name.metric].bounded or not match["value"].strip().endswith("%"):
        check_goal(name.metric, value)
    return Requirement(name, SIGNS.get(match["sign"], match["sign"]), value)
