"""One metric of rows, by its own function."""

import inspect
import random
from pathlib import Path
from typing import Any

from tests.fuzz.doors.odd import refusal, replace_some
from tests.fuzz.doors.rows import (
    check_estimate,
    draw_options,
    draw_rows,
    draw_threshold,
    state_labels,
)

import undercount as uc
from undercount.errors import InputError
from undercount.metric_facts import FACTS

COSTS = ("chance", "false_positive", "false_negative")
METRICS = sorted(name for name in FACTS if hasattr(uc.metrics, name))
TAKES = {name: inspect.signature(getattr(uc.metrics, name)).parameters for name in METRICS}


def draw(dice: random.Random) -> dict[str, Any]:
    """Roll a metric, rows and arguments."""
    case, name = draw_rows(dice), dice.choice(METRICS)
    options = draw_options(dice, case)
    if "threshold" in TAKES[name]:
        options["threshold"] = draw_threshold(dice, case)
    if "beta" in TAKES[name]:
        options["beta"] = dice.choice([0.0, 0.5, 1, 2.0, 1e6, 1e-6])
    if "max_fpr" in TAKES[name]:
        options["max_fpr"] = dice.choice([0.01, 0.1, 0.5, 1, 1e-9])
    for more in [each for each in COSTS if each in TAKES[name]]:
        options[more] = dice.choice([0.5, 0.01, 1, 0, 7, 1e9])
    if dice.random() < 0.2:
        options["interval"] = dice.choice(["wilson", "mid-p", "exact", "x"])
    if dice.random() < 0.2:
        options["share_error"] = dice.choice(["combined", "guaranteed"])
    replace_some(dice, options)
    return {"metric": name, "y": case["y"], "score": case["score"], **options}


def knock(case: dict[str, Any], _folder: Path) -> str:
    """Estimate a metric; its interval must make sense."""
    options = {name: case[name] for name in case if name not in ("metric", "y", "score")}
    try:
        found = getattr(uc.metrics, case["metric"])(
            case["y"], case["score"], **state_labels(options)
        )
    except InputError as error:
        return refusal(error)
    prices = [float(case[name]) for name in ("false_positive", "false_negative") if name in case]
    check_estimate(case["metric"], found, 1.001 * max(prices) if prices else 1.0)
    return "estimated"
