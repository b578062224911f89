"""Evaluations of every kind (segments, reviews, chances, several models), and what they are asked.

The evaluation itself is sound for the most part; what is odd is the question.
"""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.doors.odd import refusal, replace_some
from tests.fuzz.doors.rows import check_estimate

import undercount as uc
from undercount.errors import InputError
from undercount.metric_facts import FACTS

KINDS = ("plain", "plain", "segments", "reviews", "reviews", "chances", "models", "clusters")
# What segments and several models are asked; all others what one evaluation is.
OF_OTHERS = {"segments": ("require", "trend"), "models": ("require", "leaderboard")}
METRICS = (*sorted(FACTS), "ROC AUC", "x")
COSTS = (0, 0.5, 1, 7, 1e9, 1e-9)
CONDITIONS = (
    "precision >= 0.1",
    "recall > 50% and fpr < 0.1",
    "f1@0.5 >= 2",
    "a.f1 > b.f1",
    "a.roc_auc >= b.roc_auc - 0.02",
    "precision@top 5 >= 0",
    "x",
)


def draw(dice: random.Random) -> dict[str, Any]:
    """Roll rows, how they are evaluated, and a question with its arguments."""
    prices = {name: dice.choice(COSTS) for name in ("false_positive", "false_negative")}
    threshold = dice.choice([None, 0.0, 1.0, -9.0, 9.0])
    places = {"threshold": threshold, "top": dice.choice([None, None, 3, 0.1])}
    metric = dice.choice(METRICS)
    asked: dict[str, dict[str, Any]] = {
        "require": {"condition": dice.choice(CONDITIONS)},
        "claiming": {"text": dice.choice(CONDITIONS)},
        "costing": prices,
        "cost": {**prices, **places},
        "net_benefit": {"chance": dice.choice([0.01, 0.2, 0.9]), **places},
        "best_threshold": dice.choice(
            [{"cost": prices}, {"metric": metric, "at_least": {"precision": dice.random()}}]
        ),
        "break_even": {"metric": metric, "value": dice.random(), "threshold": threshold},
        "calibrated_threshold": {"chance": dice.choice([0.1, 0.5, 1.0])},
        "sweep": {"metric": metric, "over": dice.choice(["prevalence", "threshold", "gamma"])},
        "deployed": {"prevalence": dice.choice([0.001, 0.5, 0.99]), "threshold": threshold},
        "at": places,
        "estimate": {"metric": metric, "threshold": threshold},
        "trend": {"metric": metric},
        "leaderboard": {"metric": metric, "same_workload": dice.random() < 0.5},
    }
    kind = dice.choice(KINDS)
    question = dice.choice(OF_OTHERS.get(kind, sorted(set(asked) - {"trend", "leaderboard"})))
    arguments = asked[question]
    replace_some(dice, arguments, but="same_workload")
    return {
        "kind": kind,
        "seed": dice.getrandbits(32),
        "rows": dice.choice([12, 30, 80, 200]),
        "share": dice.choice([0.1, 0.3, (0.1, 0.4)]),
        "threshold": dice.choice([None, 1.0, 1.0, 0.0]),
        "weighted": kind != "chances" and dice.random() < 0.3,
        "labels": dice.choice([None, None, "any", "random"]),
        "question": question,
        "arguments": arguments,
    }


def make_evaluation(case: dict[str, Any]) -> Any:
    """Evaluate the rows of a case."""
    rng, n = np.random.default_rng(case["seed"]), case["rows"]
    truth = rng.random(n) < 0.4
    truth[:2] = True, False
    y = (truth & (rng.random(n) < 0.5)).astype(int)
    y[:2] = 1, 0
    score = np.round(rng.normal(2.0 * truth), 1)
    weight = rng.exponential(size=n) * rng.choice([1.0, 1e-30, 1e30]) if case["weighted"] else None
    rows: dict[str, Any] = {"unlabeled": 0, "sample_weight": weight}
    options: dict[str, Any] = {**rows, "threshold": case["threshold"]}
    kind = case["kind"]
    if kind == "models":
        share = {"unlabeled_prevalence": case["share"]}
        return uc.compare(y, {"a": score, "b": rng.permutation(score)}, **share, **options)
    if kind == "reviews":
        planned = {"threshold": case["threshold"] or 1.0, "unlabeled_prevalence": 0.3}
        plan = uc.plan_reviews(y, score, budget=min(n // 3, 25), **planned, **rows)
        verdict = truth[plan.rows].astype(float)
        verdict[rng.random(len(verdict)) < 0.2] = np.nan
        options["assume"] = uc.Reviewed(plan.answered(verdict), labels=case["labels"])
    elif kind == "chances":
        options["assume"] = uc.LabelPropensity(rng.uniform(0.3, 1.0, n))
    else:
        options["unlabeled_prevalence"] = case["share"]
    if kind == "segments":
        options["by"] = np.where(rng.random(n) < 0.6, "a", "b")
    if kind == "clusters":
        options["cluster"] = rng.integers(0, n // 2, n)
    return uc.evaluate(y, score, **options)


def knock(case: dict[str, Any], _folder: Path) -> str:
    """Evaluate and ask; the answer must make sense, or be refused."""
    end = f"{case['kind']} {case['question']}"
    try:
        evaluation = make_evaluation(case)
    except InputError as error:
        return f"{case['kind']} rows {refusal(error)}"
    arguments = dict(case["arguments"])
    question = getattr(evaluation, case["question"], None)
    if question is None:  # of another kind of evaluation
        return f"{end} refused"
    given = [arguments.pop("condition")] if "condition" in arguments else []
    try:
        answer = question(*given, **arguments)
        _check(answer, case)
    except InputError as error:
        return f"{end} {refusal(error)}"
    return f"{end} answered"


def _check(answer: Any, case: dict[str, Any]) -> None:
    """Assert that whatever was answered makes sense and can be written."""
    assert str(answer) is not None
    if isinstance(answer, uc.Evaluation):
        assert answer.to_json()
    elif isinstance(answer, uc.Estimate) and case["question"] == "cost":
        prices = [float(case["arguments"][f"false_{way}"]) for way in ("positive", "negative")]
        check_estimate("expected_cost", answer, 1.001 * max(prices))
    elif isinstance(answer, uc.Estimate):
        asked = case["arguments"].get("metric", "net_benefit")
        check_estimate(asked if asked in FACTS else "roc_auc", answer)
    elif case["question"] in ("at", "deployed"):
        for row in answer:
            check_estimate(row.metric, row.estimate)
    elif isinstance(answer, float):
        assert not math.isnan(answer)
