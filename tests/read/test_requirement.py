import math

import pytest

import undercount as uc
from undercount.read.requirement import Requirement, judge_requirement, parse_requirement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("precision@0.7 >= 0.8", Requirement("precision", 0.7, True, 0.8)),
        ("fnr@-1.5<=0.1", Requirement("fnr", -1.5, False, 0.1)),
        (" roc_auc >= .9 ", Requirement("roc_auc", None, True, 0.9)),
    ],
)
def test_parsing(text, expected):
    assert parse_requirement(text) == expected


@pytest.mark.parametrize(
    ("low", "high", "text", "verdict"),
    [
        (0.81, 0.9, "recall@1>=0.8", "met"),
        (0.7, 0.79, "recall@1>=0.8", "failed"),
        (0.7, 0.9, "recall@1>=0.8", "inconclusive"),
        (0.1, 0.2, "fnr@1<=0.3", "met"),
        (0.4, 0.5, "fnr@1<=0.3", "failed"),
        (0.2, 0.5, "fnr@1<=0.3", "inconclusive"),
        (float("nan"), float("nan"), "recall@1>=0.8", "inconclusive"),
    ],
)
def test_verdict(low, high, text, verdict):
    assert parse_requirement(text).verdict(uc.Estimate((low + high) / 2, low, high)) == verdict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("precision 0.8", "reads like"),
        ("precison@0.7>=0.8", "must be one of"),
        ("precision>=0.8", "needs a threshold"),
        ("roc_auc@0.5>=0.8", "takes no threshold"),
        ("precision@high>=0.8", "not a number"),
        ("precision@0.7 >= 72", "72 % is 0.72"),
    ],
)
def test_bad_requirements(text, message):
    with pytest.raises(uc.InputError, match=message):
        parse_requirement(text)


SURE = uc.Estimate(0.95, 0.93, 0.97)
LEAK = uc.Check("UC010", "warn", "the scores separate the rows. Or not", "score other rows")
MISFIT = uc.Check("UC001", "fail", "more positives than rows", "lower it")
EMPTY = uc.Check("UC013", "warn", "nothing is flagged", "lower the threshold")


@pytest.mark.parametrize(
    ("estimate", "checks", "expected"),
    [
        (SURE, [], ("met", "")),
        (SURE, [LEAK], ("inconclusive", "the scores separate the rows (UC010)")),
        (SURE, [LEAK, MISFIT], ("inconclusive", "more positives than rows (UC001)")),
        (SURE, [EMPTY], ("met", "")),
        (uc.Estimate(0.9, 0.8, 0.95), [], ("inconclusive", "the interval reaches to both sides")),
        (uc.Estimate(0.3, 0.2, 0.4), [LEAK, MISFIT], ("failed", "")),
        (
            uc.Estimate(math.nan, 0.0, 1.0),
            [EMPTY, MISFIT],
            ("inconclusive", "nothing is flagged (UC013)"),
        ),
        (uc.Estimate(math.nan, 0.0, 1.0), [], ("inconclusive", "recall is 0/0 here")),
    ],
)
def test_a_verdict_that_is_open_says_why(estimate, checks, expected):
    assert judge_requirement(parse_requirement("recall@1 >= 0.9"), estimate, checks) == expected


def test_a_metric_that_does_not_exist_meets_nothing():
    nothing = uc.Estimate(math.nan, 0.0, 1.0)
    assert parse_requirement("precision@1 >= 0").verdict(nothing) == "inconclusive"
