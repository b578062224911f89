import math

import numpy as np
import pytest

import undercount as uc
from undercount.infer.metric_name import KNOWN, MetricName, parse_metric
from undercount.metric_facts import FACTS
from undercount.read.require.model_requirement import parse_model_requirement
from undercount.read.require.requirement import (
    Requirement,
    judge_requirement,
    parse_requirement,
    parse_requirements,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("precision@0.7 >= 0.8", Requirement(MetricName("precision", 0.7), ">=", 0.8)),
        ("fnr@-1.5<=0.1", Requirement(MetricName("fnr", -1.5), "<=", 0.1)),
        (" roc_auc >= .9 ", Requirement(MetricName("roc_auc"), ">=", 0.9)),
        ("ROC AUC > 90%", Requirement(MetricName("roc_auc"), ">", 0.9)),
        ("Average precision ≥ 45 %", Requirement(MetricName("average_precision"), ">=", 0.45)),
        ("fpr@0.5 < 2.5%", Requirement(MetricName("fpr", 0.5), "<", 0.025)),
        ("recall@top 1% >= .2", Requirement(MetricName("recall", top=0.01), ">=", 0.2)),
        ("lift@top 5,000 >= 3", Requirement(MetricName("lift", top=5000), ">=", 3.0)),
        ("v1.2.mcc@1e-3 > 0", Requirement(MetricName("mcc", 0.001, model="v1.2"), ">", 0.0)),
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
        (0.8, 0.9, "recall@1>=0.8", "met"),
        (0.8, 0.9, "recall@1>0.8", "inconclusive"),
        (0.7, 0.8, "recall@1>0.8", "failed"),
        (0.7, 0.8, "recall@1>=0.8", "inconclusive"),
        (0.1, 0.3, "fnr@1<0.3", "inconclusive"),
        (0.3, 0.4, "fnr@1<0.3", "failed"),
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
        ("precision@0.7 >= 172%", "a share in"),
        ("precision@0.7 => 0.8", "reads like"),
        ("precision@top none >= 0.8", "top must be"),
        ("precision@top 2.5 >= 0.8", "top must be"),
        ("precision@top 3/0 >= 0.8", "top must be"),
        ("precision@top 0,5% >= 0.8", "top must be"),
        ("precision@top 50,0 >= 0.8", "top must be"),
        ("precision@top 1,0000 >= 0.8", "top must be"),
        ("precision@top 100% >= 0.8", "fewer than all rows"),
        ("precision@top 200/200 >= 0.8", "fewer than all rows"),
        ("precision@top 1.0 >= 0.8", "fewer than all rows"),
        ("precision@50% >= 0.8", "could mean two things: write @0.5 for"),
    ],
)
def test_bad_requirements(text, message):
    with pytest.raises(uc.InputError, match=message):
        parse_requirement(text)


SURE = uc.Estimate(0.95, 0.93, 0.97)
LEAK = uc.Check("UC010", "warn", "the scores separate the rows. Or not", "score other rows")
MISFIT = uc.Check("UC001", "fail", "more positives than rows", "lower it")
LOW = uc.Estimate(0.3, 0.2, 0.4)
EMPTY = uc.Check("UC013", "warn", "nothing is flagged", "lower the threshold")


@pytest.mark.parametrize(
    ("estimate", "checks", "expected"),
    [
        (SURE, [], ("met", "")),
        (SURE, [LEAK], ("inconclusive", "the scores separate the rows (UC010)")),
        (SURE, [LEAK, MISFIT], ("inconclusive", "more positives than rows (UC001)")),
        (SURE, [EMPTY], ("met", "")),
        (uc.Estimate(0.9, 0.8, 0.95), [], ("inconclusive", "the interval reaches to both sides")),
        (LOW, [], ("failed", "")),
        # What may not meet a requirement may not fail it either.
        (
            uc.Estimate(0.3, 0.2, 0.4),
            [LEAK],
            ("inconclusive", "the scores separate the rows (UC010)"),
        ),
        (
            uc.Estimate(0.3, 0.2, 0.4),
            [LEAK, MISFIT],
            ("inconclusive", "more positives than rows (UC001)"),
        ),
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


@pytest.mark.parametrize("checks", [[LEAK], [MISFIT], [LEAK, MISFIT]])
@pytest.mark.parametrize(("low", "high"), [(0.2, 0.4), (0.95, 0.99)])
def test_one_model_and_two_are_judged_by_one_rule(checks, low, high):
    """The same interval beside the same bound, under the same checks, has the same outcome."""
    estimate = uc.Estimate((low + high) / 2, low, high)
    alone = judge_requirement(parse_requirement("recall@1 > 0.9"), estimate, checks)
    against = parse_model_requirement("a.recall > b.recall + 0.9", ["a", "b"]).judge(
        estimate, checks
    )
    assert alone == (against.outcome, against.why)
    assert alone[0] == "inconclusive"
    sure = judge_requirement(parse_requirement("recall@1 > 0.9"), estimate)
    against = parse_model_requirement("a.recall > b.recall + 0.9", ["a", "b"]).judge(estimate)
    assert sure == (against.outcome, against.why)
    assert sure[0] == ("met" if low > 0.9 else "failed")


def test_an_end_is_seen_to_lie_on_its_side():
    open_ = uc.Estimate(0.93, 0.8996, 0.95)
    assert "(0.8996 – " in parse_requirement("recall@1 >= 0.9").found_words(open_)
    assert "(0.900 – " in parse_requirement("recall@1 >= 0.8").found_words(open_)


def test_a_metric_that_does_not_exist_meets_nothing():
    nothing = uc.Estimate(math.nan, 0.0, 1.0)
    assert parse_requirement("precision@1 >= 0").verdict(nothing) == "inconclusive"


def test_every_printed_name_is_known():
    for name in KNOWN:
        assert parse_metric(FACTS[name].title).metric == name
        assert parse_metric(name.upper()).metric == name


def test_conditions_side_by_side_and_the_threshold_of_the_evaluation():
    text = "precision >= .7 and recall@0.2 > 50%, new.fpr < 0.1; lift@top 5,000 >= 2"
    found = parse_requirements(text, 0.6)
    assert [each.threshold for each in found] == [0.6, 0.2, 0.6, None]
    assert [each.name.model for each in found] == [None, None, "new", None]
    assert parse_requirements("roc_auc > .5", 0.6)[0].threshold is None  # an area has none


RNG = np.random.default_rng(1)
TRUTH = RNG.random(3000) < 0.3
Y = np.where(TRUTH & (RNG.random(3000) < 0.5), 1, -1)
SCORE = RNG.normal(2.0 * TRUTH)


def test_python_judges_as_the_command_line_does():
    found = uc.evaluate(Y, SCORE, unlabeled=-1, prevalence=0.3, threshold=1.0, name="p")
    good = found.require("precision >= 50%", "ROC AUC > .8 and fpr < .4")
    assert good and good.outcome == "met" and len(good.judgements) == 3  # noqa: PT018
    assert good.judgements[0].estimate == found["precision"]
    bad = found.require("precision > .99")
    assert not bad
    assert str(bad).startswith("failed: p: precision@1 > 0.99; estimated 0.")
    open_ = found.require(f"precision > {found['precision'].value}")
    assert open_.outcome == "inconclusive"
    assert "the interval reaches to both sides" in str(open_)
    assert (good + open_).outcome == "inconclusive"
    assert (good + open_ + bad).outcome == "failed"
    assert found.require("p.recall > 10%")
    with pytest.raises(uc.InputError, match="is about 'q'; this is 'p'"):
        found.require("q.recall > 10%")
    assert "nothing is flagged" in str(found.require("precision@99 >= .5"))
