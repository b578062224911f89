"""Requirements on several models: "new.precision > old.precision", "new.recall >= 0.5"."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from undercount.errors import Check, InputError, suggest
from undercount.estimate import Estimate
from undercount.infer.metric_name import name_metric, short_number
from undercount.metric_facts import FACTS
from undercount.read.require.requirement import (
    AND_BETWEEN,
    Judgement,
    Outcome,
    Requirement,
    forbidding_words,
    numbers_beside,
    outcome_of,
    parse_requirement,
    where_words,
)

COMPARED_SIDES = re.compile(r"(?P<left>.+?)\s*(?P<sign>>=|<=|≥|≤|>|<)\s*(?P<right>.+)")
# The right side may be moved: old.recall - 0.02.
MOVED_SIDE = re.compile(r"(?P<side>.+?)\s+(?P<sign>[+-])\s*(?P<size>[0-9.]+)\s*(?P<percent>%?)")
PLAIN_NUMBER = re.compile(r"[+-]?[0-9.][0-9.e+-]*\s*%?", re.IGNORECASE)


@dataclass(frozen=True)
class ModelRequirement:
    """Hold that one model is to have more of a metric than another, by a margin.

    Attributes
    ----------
    deploy_prevalence : float, optional
        Share of positives where that is asked, if it is not among the rows at hand.

    Examples
    --------
    >>> from undercount.read.require.model_requirement import parse_model_requirement
    >>> parse_model_requirement("new.recall >= old.recall - 0.02", ["new", "old"]).margin
    -0.02
    """

    metric: str
    one: str
    other: str
    sign: str
    margin: float = 0.0
    deploy_prevalence: float | None = None

    @property
    def words(self) -> str:
        """The requirement as people write it."""
        moved = (
            f" {'-' if self.margin < 0 else '+'} {short_number(abs(self.margin))}"
            if self.margin
            else ""
        )
        where = where_words(self.deploy_prevalence)
        return f"{self.one}.{self.metric} {self.sign} {self.other}.{self.metric}{moved}{where}"

    def found_words(self, estimate: Estimate) -> str:
        """Say what was found of the difference."""
        if not estimate.exists or math.isnan(estimate.low):
            return "no interval of the difference"
        value, low, high = numbers_beside(estimate, self.margin, "+")
        if estimate.range_only:
            return f"difference between {low} and {high}"
        return f"difference {value} ({low} – {high})"

    def judge(self, gap: Estimate, checks: Sequence[Check] = (), doubt: str = "") -> Judgement:
        """Say whether the whole interval of the difference is on the right side.

        As of one model, numbers that a check forbids to build on, or a difference that another
        share than the estimated one would turn (`doubt`), neither meet a requirement nor fail it.
        """
        outcome, why = self._outcome(gap, forbidding_words(checks) or doubt)
        return Judgement(f"{self.one} against {self.other}", self, outcome, gap, why)

    def _outcome(self, gap: Estimate, doubt: str) -> tuple[Outcome, str]:
        if not gap.exists or math.isnan(gap.low):
            return "inconclusive", ""
        outcome = outcome_of(gap.low, gap.high, self.margin, strict=self.sign == ">")
        if outcome == "inconclusive" and not doubt:
            doubt = "the interval reaches to both sides"
        return ("inconclusive", doubt) if doubt else (outcome, "")


def parse_conditions(
    texts: Sequence[str], thresholds: Mapping[str, float | None]
) -> list[ModelRequirement | Requirement]:
    """Read requirements on models; one that names no model is asked of each.

    Parameters
    ----------
    texts : sequence of str
        "new.precision > old.precision and new.recall >= 0.5", "roc_auc > 90%".
    thresholds : mapping
        Name of each model → where its metrics are read, if there is such a place.

    Examples
    --------
    >>> from undercount.read.require.model_requirement import parse_conditions
    >>> models = {"new": 0.5, "old": 0.5}
    >>> [found.words for found in parse_conditions(["recall > 40%"], models)]
    ['new.recall@0.5 > 0.4', 'old.recall@0.5 > 0.4']
    """
    found: list[ModelRequirement | Requirement] = []
    for each in texts:
        if not isinstance(each, str):
            raise InputError(f"a requirement is a text such as 'recall > 40%'; got {each!r}")
    for text in (part for each in texts for part in AND_BETWEEN.split(each)):
        match = COMPARED_SIDES.fullmatch(text.strip())
        if match is None or PLAIN_NUMBER.fullmatch(match["right"].strip()) is None:
            found.append(parse_model_requirement(text, list(thresholds)))
            continue
        prefix = _longest_name(match["left"], thresholds)
        for name in [prefix] if prefix else thresholds:
            one = parse_requirement(text, thresholds[name])
            if one.name.model not in (None, name):
                raise InputError(
                    f"{text!r} names no model here; models are {', '.join(thresholds)}"
                )
            found.append(replace(one, name=replace(one.name, model=name)))
    return found


def parse_model_requirement(text: str, models: Sequence[str]) -> ModelRequirement:
    """Read a requirement on two models as people write it.

    Parameters
    ----------
    text : str
        "new.precision > old.precision", "new.recall >= old.recall - 0.02".
    models : sequence of str
        Names of the models, which may hold dots and spaces.

    Examples
    --------
    >>> from undercount.read.require.model_requirement import parse_model_requirement
    >>> parse_model_requirement("v1.2.ROC AUC > old.roc_auc", ["v1.2", "old"]).one
    'v1.2'
    """
    match = COMPARED_SIDES.fullmatch(text.strip())
    if match is None:
        raise InputError(
            "a requirement on models reads like 'new.precision > old.precision' or "
            f"'new.recall >= 0.5'; got {text!r}"
        )
    right, margin = match["right"].strip(), 0.0
    moved = MOVED_SIDE.fullmatch(right)
    if moved is not None and _side(right, models) is None:
        right = moved["side"]
        margin = float(moved["sign"] + moved["size"]) / (100 if moved["percent"] else 1)
    (one, metric), (other, same) = (
        _side(side.strip(), models) or _raise_side(side, models, text)
        for side in (match["left"], right)
    )
    if metric != same:
        raise InputError(f"both sides of a requirement name one metric; got {text!r}")
    if one == other:
        raise InputError(f"a requirement names two models; got {text!r}")
    sign = match["sign"].replace("≥", ">=").replace("≤", "<=")
    if sign.startswith("<"):  # the same, from the other side
        return ModelRequirement(metric, other, one, sign.replace("<", ">"), -margin)
    return ModelRequirement(metric, one, other, sign, margin)


def _longest_name(text: str, models: Mapping[str, object] | Sequence[str]) -> str:
    """Return the model that a text starts with, the longest name of several; "" if none."""
    return max((name for name in models if text.startswith(f"{name}.")), key=len, default="")


def _side(text: str, models: Sequence[str]) -> tuple[str, str] | None:
    """Return model and metric; of models that fit the longest name is meant."""
    for name in sorted(models, key=len, reverse=True):
        rest = text.removeprefix(f"{name}.")
        if rest != text:
            try:
                return name, name_metric(rest, list(FACTS))
            except InputError:  # part of a longer name
                continue
    return None


def _raise_side(side: str, models: Sequence[str], text: str) -> tuple[str, str]:
    name = _longest_name(side.strip(), models)
    hint = suggest(side.strip().removeprefix(f"{name}."), FACTS) if name else ""
    raise InputError(
        f"each side of a requirement is a model and a metric, {models[0]}.precision say; "
        f"models are {', '.join(models)}; got {text!r}" + (f"; {hint}" if hint else "")
    )
