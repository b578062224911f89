"""Rows and arguments of `evaluate`."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.doors.odd import refusal, replace_some

import undercount as uc
from undercount.errors import InputError
from undercount.metric_facts import FACTS

LABELS = (1, 1, 0, 0, 0, None, math.nan, -1, True, 2, "1")
SCORES = (0.0, -0.0, 0.5, 1.0, 1e300, -1e300, 5e-324, math.inf, -math.inf, 2.0**53 + 2, math.nan)
WEIGHTS = (0.0, 1.0, 1.0, 2.5, 1e-9, 1e9, 1e150, -1.0, math.nan)
SHARES = ("prevalence", "unlabeled_prevalence", "label_frequency")
OF_LABELS = ("purity", "sampling")  # what `RandomLabels` alone can say


def draw_rows(dice: random.Random) -> dict[str, Any]:
    """Roll labels and scores, sound ones for the most part, and the value for unlabeled."""
    n = dice.choice([2, 3, 5, 8, 13, 21, 40, 60, 120])
    if dice.random() < 0.05:
        n = dice.randrange(4)
    if dice.random() < 0.1:
        return {
            "y": [dice.choice(LABELS) for _ in range(n)],
            "score": [dice.choice(SCORES) for _ in range(n)],
            "unlabeled": dice.choice([None, 0, -1]),
        }
    rng = np.random.default_rng(dice.getrandbits(32))
    truth = rng.random(n) < dice.choice([0.05, 0.3, 0.6, 1.0])
    known = truth & (rng.random(n) < dice.choice([0.2, 0.5, 1.0]))
    checked = ~truth & (rng.random(n) < dice.choice([0.0, 0.0, 0.5]))
    if n > 1 and dice.random() < 0.95:  # without these two nothing more is asked
        known[0], known[-1], checked[-1] = True, False, False
    score = rng.normal(dice.choice([-2, 0, 1, 3]) * truth)
    kind = dice.choice(["plain", "plain", "ties", "few", "same", "large", "small", "shares"])
    score = {
        "plain": score,
        "ties": np.round(score),
        "few": (score > 0).astype(float),
        "same": np.zeros(n),
        "large": score * 1e150,
        "small": score * 1e-300,
        "shares": 1 / (1 + np.exp(-score)),
    }[kind]
    if dice.random() < 0.5:
        return {"y": np.where(known, 1, 0), "score": score, "unlabeled": 0}
    y = np.where(known, 1.0, np.where(checked, 0.0, np.nan))
    return {"y": y, "score": score, "unlabeled": None}


def _draw_given(dice: random.Random, y: Any) -> tuple[str, Any]:
    """Roll a share that mostly fits the labels, by one of its three names."""
    value = draw_share(dice)
    name = dice.choice([*SHARES, "unlabeled_prevalence"])
    known = float(np.mean(np.asarray(y) == 1)) if len(y) else 0.5
    if isinstance(value, float) and dice.random() < 0.8:
        overall = known + (1 - known) * value
        if name == "prevalence":
            return name, overall
        if name == "label_frequency":
            return name, known / overall if overall else 0.5
    return name, value


def draw_share(dice: random.Random) -> Any:
    """Roll a share: a number, a range, or an estimate with its error."""
    value = dice.choice([0.6 * dice.random(), dice.random() ** 3, 1 - dice.random() ** 3, 0.0, 1.0])
    kind = dice.random()
    if kind < 0.6:
        return value
    if kind < 0.8:
        return (value, value + (1 - value) * dice.random())
    error = dice.choice([0.0, 1e-9, 0.01, 0.2])
    return uc.Estimate(value, max(value - 2 * error, 0), min(value + 2 * error, 1), error)


def draw_options(dice: random.Random, case: dict[str, Any]) -> dict[str, Any]:
    """Roll what every metric takes."""
    n = len(case["y"])
    options: dict[str, Any] = {"unlabeled": case["unlabeled"]}
    options |= [_draw_given(dice, case["y"])]
    optional = {
        "purity": lambda: dice.choice([1, 1.0, 0.99, 0.9, 0.3, draw_share(dice)]),
        "sampling": lambda: dice.choice(["single-sample", "case-control"]),
        "target": lambda: dice.choice(["dataset", "population"]),
        "confidence_level": lambda: dice.choice([0.5, 0.8, 0.9, 0.99, 0.999999, 1e-6, 0.0]),
        "sample_weight": lambda: _draw_weights(dice, n),
        "cluster": lambda: [dice.randrange(4) for _ in range(n)],
    }
    for name, roll in optional.items():
        if dice.random() < (0.03 if name == "cluster" else 0.15):
            options[name] = roll()
    return options


def _draw_weights(dice: random.Random, n: int) -> Any:
    if dice.random() < 0.2:
        return [dice.choice(WEIGHTS) for _ in range(n)]
    rng = np.random.default_rng(dice.getrandbits(32))
    return rng.exponential(size=n) * dice.choice([1, 1, 1, 1e-90, 1e90, 1e-200, 1e120])


def draw_threshold(dice: random.Random, case: dict[str, Any]) -> Any:
    """Roll a threshold: one of the scores, between them, or outside."""
    if len(case["score"]) and dice.random() < 0.6:
        return case["score"][dice.randrange(len(case["score"]))]
    return dice.choice([-9.0, 0.0, 0.25, 1.0, 9.0, 1e200, dice.gauss(0, 1)])


def draw(dice: random.Random) -> dict[str, Any]:
    """Roll rows and arguments of `evaluate`; most are sound, so that most reach the end."""
    case = draw_rows(dice)
    options = draw_options(dice, case)
    if dice.random() < 0.6:
        options["threshold"] = draw_threshold(dice, case)
    if dice.random() < 0.05:
        options["top"] = dice.choice([0, 1, 3, 0.1, 100])
    if dice.random() < 0.1:
        options["deploy_prevalence"] = dice.choice([0.001, 0.01, 0.5, 0.9, 1.0])
    if dice.random() < 0.05:
        options["by"] = [dice.choice("ab") for _ in case["y"]]
    replace_some(dice, options)
    return {"y": case["y"], "score": case["score"], **options}


def state_labels(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with an assumption in place of what `RandomLabels` alone can say."""
    if not options.keys() & set(OF_LABELS):
        return options
    stated = {name: options[name] for name in (*SHARES, *OF_LABELS) if name in options}
    others = {name: value for name, value in options.items() if name not in stated}
    return {**others, "assume": uc.RandomLabels(**stated)}


def knock(case: dict[str, Any], _folder: Path) -> str:
    """Evaluate rows; every estimate must make sense and every form must be written."""
    options = {name: value for name, value in case.items() if name not in ("y", "score")}
    try:
        found = uc.evaluate(case["y"], case["score"], **state_labels(options))
    except InputError as error:
        return refusal(error)
    parts = [found] if isinstance(found, uc.Evaluation) else [found.overall]
    for part in parts:
        for row in part.rows:
            check_estimate(row.metric, row.estimate)
    assert str(found)
    if len(case["y"]) % 2:  # the other forms are those of the same numbers, and cost most
        assert json.loads(found.to_json())
        assert found.to_markdown()
    return "evaluated"


def check_estimate(metric: str, estimate: uc.Estimate, largest: float = 1.0) -> None:
    """Assert that an interval holds its estimate and stays in the metric's range.

    That of a cost ends at the largest price.
    """
    least, most = (each * largest for each in FACTS[metric].range)
    by_verdicts = {"reviews", "random audit"} & set(estimate.needs)
    if by_verdicts and math.isnan(estimate.low):  # 0/0 for certain
        assert math.isnan(estimate.value), (metric, estimate)
        assert math.isnan(estimate.high), (metric, estimate)
        return
    assert not math.isnan(estimate.low), (metric, estimate)
    assert not math.isnan(estimate.high), (metric, estimate)
    assert least - 1e-9 <= estimate.low <= estimate.high <= most + 1e-9, (metric, estimate)
    if not math.isnan(estimate.value):
        assert estimate.low <= estimate.value <= estimate.high, (metric, estimate)
