"""A requirement on two models such as "new.precision > old.precision", and whether it is met."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from undercount.errors import InputError
from undercount.metric_facts import FACTS
from undercount.read.compare import Comparison

PATTERN = re.compile(r"(?P<left>.+?)\s*(?P<sign>>=|≥|>)\s*(?P<right>.+)")
# The right side may be moved: old.recall - 0.02.
MARGIN = re.compile(r"(?P<side>.+?)\s+(?P<sign>[+-])\s*(?P<size>[0-9.]+)\s*(?P<percent>%?)")


@dataclass(frozen=True)
class Contest:
    """Hold that one model is to be better than another in a metric, by a margin.

    Examples
    --------
    >>> from undercount.read.contest import parse_contest
    >>> parse_contest("new.recall >= old.recall - 0.02", ["new", "old"]).margin
    -0.02
    """

    metric: str
    one: str
    other: str
    sign: str
    margin: float = 0.0

    @property
    def words(self) -> str:
        """The requirement as people write it."""
        moved = f" {'-' if self.margin < 0 else '+'} {abs(self.margin):g}" if self.margin else ""
        return f"{self.one}.{self.metric} {self.sign} {self.other}.{self.metric}{moved}"

    def judge(self, comparison: Comparison) -> tuple[Literal["met", "failed", "inconclusive"], str]:
        """Say whether the whole interval of the difference is on the right side, and show it."""
        gap = comparison.difference(self.metric, self.one, self.other).difference
        if math.isnan(gap.value) or math.isnan(gap.low):
            return "inconclusive", "no interval of the difference"
        span = f"difference {gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})"
        bad = [
            check
            for name in (self.one, self.other)
            for check in comparison.evaluations[name].checks
            if check.level == "fail"
        ]
        strict = self.sign == ">"
        if gap.high < self.margin or (gap.high == self.margin and strict):
            return "failed", span
        if bad:
            return "inconclusive", f"{span}; because {bad[0].message} ({bad[0].code})"
        if gap.low > self.margin or (gap.low == self.margin and not strict):
            return "met", span
        return "inconclusive", f"{span}; because the interval reaches to both sides"


def parse_contest(text: str, models: Sequence[str]) -> Contest:
    """Read a requirement as people write it.

    Parameters
    ----------
    text : str
        "new.precision > old.precision", "new.recall >= old.recall - 0.02".
    models : sequence of str
        Names of the models, which may hold dots and spaces.

    Examples
    --------
    >>> from undercount.read.contest import parse_contest
    >>> parse_contest("v1.2.ROC AUC > old.roc_auc", ["v1.2", "old"]).one
    'v1.2'
    """
    match = PATTERN.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"a requirement on models reads like 'new.precision > old.precision'; got {text!r}"
        )
    right, margin = match["right"].strip(), 0.0
    moved = MARGIN.fullmatch(right)
    if moved is not None and _side(right, models) is None:
        right = moved["side"]
        margin = float(moved["sign"] + moved["size"]) / (100 if moved["percent"] else 1)
    left, right_side = _side(match["left"].strip(), models), _side(right, models)
    if left is None or right_side is None:
        raise InputError(
            f"each side of a requirement is a model and a metric, {models[0]}.precision say; "
            f"models are {', '.join(models)}; got {text!r}"
        )
    (one, metric), (other, same) = left, right_side
    if metric != same:
        raise InputError(f"both sides of a requirement name one metric; got {text!r}")
    if one == other:
        raise InputError(f"a requirement names two models; got {text!r}")
    return Contest(metric, one, other, match["sign"].replace("≥", ">="), margin)


def _side(text: str, models: Sequence[str]) -> tuple[str, str] | None:
    """Return model and metric; of models that fit the longest name is meant."""
    metrics = {name: name for name in FACTS} | {f.title.lower(): n for n, f in FACTS.items()}
    for name in sorted(models, key=len, reverse=True):
        rest = text.removeprefix(f"{name}.")
        if rest != text and rest.lower() in metrics:
            return name, metrics[rest.lower()]
    return None
