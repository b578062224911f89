"""Every argument of every door by turns with each odd value, all others being good."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.fuzz.doors.odd import ODD

import undercount as uc
from undercount import metrics
from undercount.errors import InputError

RNG = np.random.default_rng(0)
TRUTH = RNG.random(120) < 0.3
SCORE = RNG.normal(1.2 * TRUTH)
Y = (TRUTH & (RNG.random(120) < 0.5)).astype(int)
DAYS = 3.0 * np.arange(120)
FOUND = np.where(Y == 1, DAYS + RNG.exponential(20, 120), np.nan)
ROWS = {"y": Y, "score": SCORE, "unlabeled": 0, "prevalence": 0.35}
SCORES = {"new": SCORE, "old": SCORE + RNG.normal(size=120)}
GOOD = {
    "chance": 0.5,
    "claim": "precision >= 0.4",
    "condition": "precision >= 0.4",
    "false_negative": 5.0,
    "false_positive": 1.0,
    "half_width": 0.1,
    "metric": "precision",
    "name": "new",
    "odds_ratio": 2.0,
    "over": "prevalence",
    "text": "precision >= 0.4",
    "threshold": 0.5,
    "value": 0.5,
}
# Whatever has the right methods is taken, and more processes would only take time.
OBJECTS = ("backend", "context", "n_jobs", "progress", "self")
INNER = ("clustered_design", "discounted_counts", "estimate_named", "judge", "placed", "write")


def functions() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    yield "evaluate", uc.evaluate, {**ROWS, "threshold": 0.5}
    yield "plan_reviews", uc.plan_reviews, {**ROWS, "threshold": 0.5, "budget": 30}
    counted = {"y": Y, "scores": SCORES, "unlabeled": 0, "prevalence": 0.35, "threshold": 0.5}
    yield "compare", uc.compare, counted
    yield "count", uc.ScoreCounts.from_rows, {"y": Y, "score": SCORE, "unlabeled": 0}
    dated = {"score": SCORE, "observed": DAYS, "found": FOUND, "threshold": 0.5}
    yield "monitor", uc.monitor, dated
    for name in ("roc_auc", "recall", "precision", "log_loss"):
        place = {"threshold": 0.5} if name in ("recall", "precision") else {}
        yield name, getattr(metrics, name), {**ROWS, **place}
    yield "f_beta", metrics.f_beta, {**ROWS, "threshold": 0.5, "beta": 2.0}


def answers() -> Iterator[tuple[str, object]]:
    at = {**ROWS, "threshold": 0.5}
    yield "evaluation", uc.evaluate(**at)
    yield "range", uc.evaluate(**{**at, "prevalence": (0.2, 0.4)})
    chances = 0.3 + 0.1 * RNG.random(120)
    yield (
        "chances",
        uc.evaluate(Y, SCORE, unlabeled=0, assume=uc.LabelPropensity(chances), threshold=0.5),
    )
    yield "segments", uc.evaluate(**at, by=["a", "b"] * 60)
    yield "plan", uc.plan_reviews(**at, budget=30)
    rest = {"unlabeled": 0, "prevalence": 0.35, "threshold": 0.5}
    yield "comparison", uc.compare(Y, SCORES, **rest)


def methods() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    for owner, answer in answers():
        for name, _ in inspect.getmembers(type(answer), inspect.isfunction):
            method = getattr(answer, name)
            named = inspect.signature(method).parameters.values()
            needed = [each.name for each in named if each.default is each.empty]
            public = not name.startswith(("_", "to_")) and name not in INNER
            if named and public and all(each in GOOD or each == "options" for each in needed):
                good = {each: GOOD[each] for each in needed if each in GOOD}
                yield f"{owner}.{name}", method, good


@pytest.mark.parametrize(
    ("call", "good"),
    [pytest.param(call, good, id=name) for name, call, good in (*functions(), *methods())],
)
@pytest.mark.filterwarnings("ignore")
def test_an_odd_argument_is_answered_or_refused(call, good):
    wrong = []
    for argument, each in inspect.signature(call).parameters.items():
        if argument in OBJECTS or each.kind is each.VAR_KEYWORD:
            continue
        for odd in ODD:
            try:
                if each.kind is each.VAR_POSITIONAL:
                    str(call(odd, **good))
                else:
                    str(call(**{**good, argument: odd}))
            except InputError:
                continue
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody asked for it
                wrong.append(f"{argument}={odd!r}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
