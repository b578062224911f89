"""The laws hold under every assumption, but for those that stand in `failing.py`."""

import numpy as np
import pytest
from tests.matrix import failing
from tests.matrix.assumptions import assumptions
from tests.matrix.cells import read_golden
from tests.matrix.laws import EXACT, LAWS, NEAR, ROUGH, VALUE, agree, outcome

import undercount as uc

KEPT = read_golden()


def cases():
    """Return each law with each assumption; a strict xfail where it is broken for some metric."""
    for law, about in LAWS.items():
        for assumption in filter(about.applies, assumptions()):
            reasons = failing.broken(law, assumption, about.metrics)
            # What is no AssertionError fails: other metrics are broken, or refused, than are known.
            marks = [
                pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)
                for reason in set(reasons.values())
            ]
            yield pytest.param(law, assumption, set(reasons), marks=marks)


@pytest.mark.parametrize(("law", "assumption", "known"), list(cases()))
def test_a_law_holds(law, assumption, known):
    outcomes = {metric: outcome(law, assumption, metric) for metric in LAWS[law].metrics}
    broken = {metric: found for metric, found in outcomes.items() if found.startswith("broken")}
    refused = {m: o for m, o in outcomes.items() if o != "holds" and m not in broken}
    if refused != KEPT.get(f"law: {law} | {assumption}", {}):
        pytest.fail(f"other refusals than were kept: {refused}")
    if broken.keys() != known:
        pytest.fail(f"mended: {known - broken.keys()}; newly broken: {broken.keys() - known}")
    assert not broken
    if len(refused) == len(outcomes):
        pytest.skip(f"refused: {', '.join(sorted(set(refused.values())))}")


def test_the_failing_are_laws_assumptions_and_metrics_that_exist():
    for law, places in failing.FAILING.items():
        for assumption, (_, metrics) in places.items():
            assert LAWS[law].applies(assumption)
            assert assumption in assumptions()
            assert metrics == "all" or set(metrics.split()) <= set(LAWS[law].metrics)


def test_the_cells_that_crash_are_known():
    crashes = {cell for cell, kept in KEPT.items() if "crash" in str(kept.get("refused"))}
    assert crashes == set(failing.CRASHES)


def test_each_law_is_asked_under_some_assumption():
    for law, about in LAWS.items():
        held = [
            outcome(law, a, m) for a in filter(about.applies, assumptions()) for m in about.metrics
        ]
        assert "holds" in held or law in failing.FAILING


@pytest.mark.parametrize(
    ("closeness", "value", "end", "same"),
    [
        (EXACT, 1e-10, 1e-10, True),
        (EXACT, 1e-8, 0.0, False),
        (EXACT, 0.0, 1e-8, False),
        (NEAR, 0.0, 1e-4, True),
        (NEAR, 0.0, 3e-4, False),
        (NEAR, 1e-8, 0.0, False),
        (ROUGH, 0.0, 3e-3, True),
        (ROUGH, 0.0, 5e-3, False),
        (VALUE, 0.0, 0.1, True),
        (VALUE, 1e-8, 0.0, False),
        (VALUE, np.nan, 0.0, False),
    ],
)
def test_results_agree_as_closely_as_a_law_says(closeness, value, end, same):
    one, other = uc.Estimate(0.5, 0.4, 0.6), [0.5 + value, 0.4, 0.6 - end]
    assert agree(one, other, closeness) is same


@pytest.mark.parametrize("closeness", [EXACT, NEAR, ROUGH, VALUE])
def test_a_range_without_a_value_agrees_with_such_a_range_alone(closeness):
    found = uc.Estimate(0.5, 0.4, 0.6).without_value()
    assert agree(found, [None, 0.4, 0.6], closeness)
    assert not agree(found, [None, 0.4, 0.7], closeness)
    assert not agree(found, [0.5, 0.4, 0.6], closeness)
    assert not agree(found, np.nan, closeness)
    assert not agree(np.nan, np.nan, closeness)
