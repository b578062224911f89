"""Curves, bounds, break-even points, comparisons, plans, estimators and theory, one call a case."""

import inspect
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.doors.odd import refusal, replace_some
from tests.fuzz.doors.rows import draw_rows, draw_share, draw_threshold

import undercount as uc
from undercount.errors import InputError
from undercount.metric_facts import FACTS

ESTIMATORS = ("BestBin", "RocSlope", "ElkanNoto", "PatraSen", "AlphaMax", "Dedpul")
NUMBERS = (-1, 0, 1e-9, 0.1, 0.3, 0.5, 0.7, 0.99, 1, 1.5, 7, 1e9)
THEORY = (
    "auc_from_lift",
    "lift_from_auc",
    "required_labels",
    "sign_test",
    "expected_labelled_auc",
)
_KINDS = ("bounds", "biased_auc", "biased_recall", "break_even", "compare", "plan", "design")
KINDS = (*_KINDS, "curves", "propensity", "theory", "estimator", "monitor", "select")
METHODS = ("own-score", "observed-score", "unobserved", "begg-greenes", "ipw", "doubly-robust")


def draw(dice: random.Random) -> dict[str, Any]:
    """Roll a function, rows and arguments."""
    kind = dice.choice(KINDS)
    rows = draw_rows(dice)
    n = len(rows["y"])
    threshold = draw_threshold(dice, rows)
    level = dice.choice([0.9, 0.5, 0.999])
    metric = dice.choice(list(FACTS))
    arguments: dict[str, Any] = {
        "bounds": {
            "confidence_level": level,
            "band": dice.choice(["hypergeometric", "binomial", "dkw"]),
            "simultaneous": dice.random() < 0.5,
            "rounding": dice.choice(["sharp", "paper", "none"]),
            "basis": dice.choice(["positive", "negative", "tightest"]),
        },
        "biased_auc": {"odds_ratio": dice.choice([1, 1.5, 9]), "confidence_level": level},
        "biased_recall": {
            "odds_ratio": dice.choice([1, 1.5, 9]),
            "threshold": threshold,
            "confidence_level": level,
        },
        "break_even": {
            "metric": metric,
            "value": dice.choice(NUMBERS),
            "threshold": threshold if FACTS[metric].family == "threshold" else None,
        },
        "compare": {"threshold": threshold, "prevalence": draw_share(dice)},
        "plan": {"budget": dice.choice([1, 5, 50]), "threshold": threshold},
        "design": {"budget": dice.choice([1, 5, 50]), "threshold": threshold},
        "curves": {"monotone": dice.choice([None, "cummax", "isotonic", "hull"])},
        "propensity": {"propensity": [dice.choice([0.1, 0.5, 1]) for _ in range(n)]},
        "select": {
            "method": dice.choice(METHODS),
            "distribution": dice.choice(["empirical", "normal"]),
        },
        "theory": {},
        "estimator": {"confidence_level": level},
        "monitor": {"threshold": threshold, "period": dice.choice(["month", "week"])},
    }[kind]
    case = {"kind": kind, **rows, "share": draw_share(dice), "seed": dice.getrandbits(32)}
    if kind == "theory":
        case["name"] = dice.choice(THEORY)
        needed = inspect.signature(getattr(uc.theory, case["name"])).parameters
        arguments = {name: dice.choice(NUMBERS) for name, each in needed.items() if _required(each)}
    if kind == "estimator":
        case["name"] = dice.choice(ESTIMATORS)
    replace_some(dice, arguments, but="simultaneous")
    return case | {"arguments": arguments}


def _required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


def knock(case: dict[str, Any], _folder: Path) -> str:
    """Call a function; it must answer with sense or refuse."""
    try:
        _call(case)
    except InputError as error:
        return f"{case['kind']} {refusal(error)}"
    return f"{case['kind']} answered"


def _call(case: dict[str, Any]) -> None:
    kind, arguments = case["kind"], case["arguments"]
    rows = {"unlabeled": case["unlabeled"]}
    y, score = case["y"], case["score"]
    rng = np.random.default_rng(case["seed"])
    if kind == "theory":
        getattr(uc.theory, case["name"])(**arguments)
    elif kind == "compare":
        other = rng.permutation(np.array(score))
        found = uc.compare(y, {"a": score, "b": other}, **rows, **arguments)
        assert str(found)
        assert found.to_json()
    elif kind == "select":
        _select(y, score, rng, arguments)
    elif kind == "plan":
        uc.plan_reviews(y, score, **rows, unlabeled_prevalence=0.3, **arguments)
    elif kind == "propensity":
        uc.propensity_curve(y, score, **rows, **arguments)
    elif kind == "estimator":
        made = getattr(uc.prevalence, case["name"])(n_resamples=0, **arguments)
        made.fit(y, score, **rows)
        assert 0 <= made.unlabeled_prevalence_ <= 1, made.unlabeled_prevalence_
    elif kind == "monitor":
        days = rng.integers(0, 200, len(score))
        seen = np.datetime64("2024-01-01") + days
        late = np.where(rng.random(len(score)) < 0.3, rng.integers(0, 90, len(score)), -1)
        found = np.where(late >= 0, seen + np.maximum(late, 0), np.datetime64("NaT"))
        assert str(uc.monitor(score, observed=seen, found=found, **arguments))
    else:
        _call_counts(kind, uc.ScoreCounts.from_rows(y, score, **rows), case["share"], arguments)


def _select(y: Any, score: Any, rng: np.random.Generator, arguments: dict[str, Any]) -> None:
    """Fit a model of who looked where, to rows of which some were looked at."""
    looked = np.where(rng.random(len(score)) < 0.6, np.asarray(y, dtype=float) == 1, np.nan)
    others: dict[str, Any] = {}
    method = arguments["method"] if isinstance(arguments["method"], str) else ""
    if method == "observed-score":
        others["selection_score"] = np.asarray(score) + rng.normal(size=len(score))
    elif method in ("begg-greenes", "ipw", "doubly-robust"):
        others["features"] = rng.normal(size=(len(score), 1))
    evaluation = uc.evaluate(looked, score, assume=uc.SelectedLabels(**arguments, **others))
    _check_share(evaluation["roc_auc"])


def _call_counts(kind: str, counts: uc.ScoreCounts, share: Any, arguments: dict[str, Any]) -> None:
    if kind == "design":
        uc.design_reviews(counts, unlabeled_prevalence=0.3, **arguments)
        return
    shares = uc.Shares(share)
    if kind == "bounds":
        bounds = uc.bound_curve(counts, shares, **arguments)
        for found in (bounds.roc_auc, bounds.average_precision):
            _check_share(found)
    elif kind == "biased_auc":
        _check_share(uc.biased_auc(counts, shares, **arguments))
    elif kind == "biased_recall":
        _check_share(uc.biased_recall(counts, shares, **arguments))
    elif kind == "break_even":
        assert str(uc.break_even(counts, shares, **arguments))
    else:
        for curve in (uc.mixture_curve(counts, shares, **arguments), uc.naive_curve(counts)):
            area = curve.roc_auc
            assert math.isnan(area) or -1e-9 <= area <= 1 + 1e-9, area


def _check_share(found: Any) -> None:
    """Assert that what lies between 0 and 1 does, and is in order."""
    known = [float(end) for end in (found.low, found.high) if not math.isnan(end)]
    assert known == sorted(known), found
    assert all(-1e-9 <= end <= 1 + 1e-9 for end in known), found
