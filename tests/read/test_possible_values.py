"""Estimates that chance, or a wrong input, pushes beyond what is possible."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

import undercount as uc
from undercount.assume.propensity.chances import Chances
from undercount.checks.fair_sample import balance_check
from undercount.errors import collect_warnings
from undercount.estimate import possible_interval
from undercount.infer.estimate_metric import estimate_metric
from undercount.metric_facts import FACTS

Z = 1.959963984540054
METRICS = ("precision", "f1", "specificity", "accuracy", "mcc")


def found_rows(seed=0, n=5000):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    score = rng.normal(1.8 * truth)
    return truth, score, (truth & (rng.random(n) < 0.4)).astype(int)


def looked_rows(seed=0, n=5000, missing=0.0):
    """Rows of both classes looked at; a part of what decided may be missing from the chances."""
    rng = np.random.default_rng(seed)
    large = rng.random(n) < 0.5
    truth = rng.random(n) < np.where(large, 0.3, 0.1)
    covariate = rng.normal(size=n) + 0.5 * large
    score = 0.9 * rng.normal(size=n) + 1.8 * truth + 0.5 * large
    chance = 1 / (1 + np.exp(1.6 - missing * large - 0.6 * covariate))
    looked = rng.random(n) < chance
    return truth, score, covariate, chance, looked


@pytest.mark.parametrize("estimate", [1.0, 1.01, 1.05, 1.4])
def test_far_end_is_that_of_the_restricted_likelihood(estimate):
    error = 0.02

    def excess(value):  # twice the log likelihood ratio to the largest possible value
        return ((estimate - value) ** 2 - (estimate - 1) ** 2) / error**2 - Z**2

    wanted = brentq(excess, 0.0, 1.0)
    ends = estimate - Z * error, estimate + Z * error
    low, high = possible_interval(estimate, *ends, 0.0, 1.0)
    assert float(low) == pytest.approx(wanted)
    assert float(low) < float(high) == 1
    low, high = possible_interval(-(estimate - 1), *(1 - end for end in ends[::-1]), 0.0, 1.0)
    assert (float(low), float(high)) == pytest.approx((0, 1 - wanted))


def test_interval_inside_is_left_alone():
    assert possible_interval(0.9, 0.85, 0.97, 0.0, 1.0) == (0.85, 0.97)
    assert possible_interval(0.9, 0.85, 1.03, 0.0, 1.0) == (0.85, 1.0)


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("share", [0.23, 0.25, 0.27, (0.25, 0.27)])
@pytest.mark.parametrize("metric", METRICS)
def test_no_interval_shrinks_to_a_point_where_a_share_is_too_high(metric, share, target):
    _, score, y = found_rows()
    evaluation = uc.evaluate(
        y, score, unlabeled=0, prevalence=share, threshold=2.2, target=target, metrics=[metric]
    )
    found = evaluation[metric]
    assert found.low < found.value <= found.high
    assert found.value - found.low > 1e-3


def test_lower_end_moves_steadily_past_the_edge():
    """At the bound itself the restricted end is the plain one, so nothing jumps there."""
    _, score, y = found_rows()
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    lows = []
    for share in np.linspace(0.12, 0.22, 201):
        with collect_warnings():
            lows.append(estimate_metric(counts, uc.Shares(share), "precision", threshold=2.2).low)
    assert np.abs(np.diff(lows)).max() < 0.01


def test_share_that_rows_contradict_meets_no_requirement():
    _, score, y = found_rows()
    evaluation = uc.evaluate(y, score, unlabeled=0, prevalence=0.27, threshold=2.2)
    (fit,) = (check for check in evaluation.checks if check.code == "UC001")
    assert fit.level == "warn"
    assert "standard errors" in fit.message
    assert not any("within the chance" in check.message for check in evaluation.checks)
    verdict = evaluation.require("precision >= 0.9")
    assert verdict.outcome == "inconclusive"
    assert "UC001" in str(verdict)
    assert evaluation.claiming("precision >= 0.9").verdict.light == "unsupported"
    elsewhere = evaluation.require("precision@2.3 >= 0.5")
    assert elsewhere.outcome == "inconclusive"


def test_share_beyond_by_chance_meets_what_the_restricted_end_meets():
    truth, score, y = found_rows(4)  # the true share; a few flagged rows, .969 of them positive
    evaluation = uc.evaluate(y, score, unlabeled=0, prevalence=float(truth.mean()), threshold=3.0)
    found = evaluation["precision"]
    assert found.value == 1
    assert found.low < 0.95
    assert [check.level for check in evaluation.checks if check.code == "UC001"] == ["ok"]
    for threshold in ("", "@3.0"):
        judge = evaluation.require
        assert judge(f"precision{threshold} >= {found.low - 0.01:.6f}").outcome == "met"
        assert judge(f"precision{threshold} >= {found.low + 0.01:.6f}").outcome == "inconclusive"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [1.5, 2.5])
def test_known_negatives_bound_from_above(seed, threshold):
    rng = np.random.default_rng(seed)
    truth = rng.random(5000) < 0.2
    score = rng.normal(1.8 * truth)
    looked = rng.random(5000) < np.where(score > 1.2, 0.6, 0.1)
    y = np.where(looked, truth.astype(float), np.nan)
    flagged = score >= threshold
    most = 1 - (looked & ~truth & flagged).sum() / flagged.sum()
    for share in ({"prevalence": (0.15, 0.25)}, {}):
        evaluation = uc.evaluate(y, score, threshold=threshold, **share)
        found = evaluation["precision"]
        # Chosen negatives do not tell the share: it is estimated, and may have no value.
        lowest = evaluation.shares.unlabeled_prevalence_interval.low
        assert found.range_only == (not share and lowest == 0)
        assert found.range_only or found.low < found.value <= most + 1e-12
        assert found.low < found.high <= most + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_chances_stay_within_what_labels_allow(seed):
    truth, score, covariate, _, looked = looked_rows(seed, missing=1.5)
    y = np.where(looked, truth, -1)
    chosen = {"assume": uc.LabelPropensity(LogisticRegression(), covariates=covariate)}
    evaluation = uc.evaluate(y, score, unlabeled=-1, threshold=2.0, **chosen)
    flagged = score >= 2.0
    most = 1 - (looked & ~truth & flagged).sum() / flagged.sum()
    found = evaluation["precision"]
    assert found.low < found.value <= found.high <= most + 1e-12
    for row in evaluation.rows:
        least, largest = FACTS[row.metric].range
        assert least <= row.estimate.low < row.estimate.high <= largest
    assert evaluation.recovery.chances.bounds("precision", 3.0, 2.0).high <= most + 1e-12
    assert evaluation.require("precision >= 0.8").outcome == "inconclusive"
    assert {check.code for check in evaluation.checks if check.level == "fail"} >= {"UC022"}


def test_average_precision_by_chances_that_are_too_low_is_at_most_one():
    rng = np.random.default_rng(1)
    truth = rng.random(5000) < 0.2
    score = rng.normal(2.2 * truth)
    y = (truth & (rng.random(5000) < 0.4)).astype(int)
    with collect_warnings() as warned:
        found = Chances.of(y, score, np.full(5000, 0.26), unlabeled=0).estimate("average_precision")
    assert found.value == found.high == 1
    assert found.low < 0.99
    assert {warning.code for warning in warned} <= {"outside", "contradicted"}
    assert warned


def test_right_chances_pass_the_balance_test():
    failed = [_unbalanced(seed, missing=0.0) for seed in range(100)]
    assert sum(failed) <= 5  # a hundredth is expected


def test_chances_that_miss_what_decided_fail_it():
    assert all(_unbalanced(seed, missing=1.5, told=False) for seed in range(10))


def _unbalanced(seed, missing, *, told=True):
    _, score, covariate, chance, looked = looked_rows(seed, missing=missing)
    if not told:
        chance = 1 / (1 + np.exp(1.6 - missing / 2 - 0.6 * covariate))
    return balance_check(score, looked, chance) is not None


def test_balance_is_a_sum_of_squares_over_parts_of_the_scores():
    score = np.arange(100.0)
    looked = np.zeros(100, bool)
    looked[50:90] = True  # one part: forty rows that stand for 80, one standard error is √80
    assert balance_check(score, looked, np.where(looked, 0.5, np.nan)) is None
    found = balance_check(score, looked, np.where(looked, 0.25, np.nan))
    assert found.level == "fail"
    assert "stand for 160 rows of 100" in found.message
    distance = 60 / math.sqrt(40 * 4 * 3)
    assert f"p = {math.erfc(distance / math.sqrt(2)):.1g}" in found.message


def test_negatives_found_in_another_way_are_not_weighed():
    truth, score, _, chance, looked = looked_rows()
    y = np.where(looked & truth, 1, np.where((score < 0) & ~truth, 0, -1))
    asked = np.where(y == 0, np.nan, chance)
    evaluation = uc.evaluate(
        y, score, unlabeled=-1, assume=uc.LabelPropensity(asked), threshold=2.0
    )
    assert not evaluation.recovery.chances.looked.any()
    assert all(check.level != "fail" for check in evaluation.checks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "threshold", "frequency"), [(2000, 3.0, 0.3), (500, 3.0, 0.4), (5000, 2.6, 0.15)]
)
def test_intervals_hold_near_the_edge_and_never_shrink_to_a_point(n, threshold, frequency):
    held, widths = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = rng.random(n) < 0.2
        score = rng.normal(3.0 * truth)
        y = np.where(truth & (rng.random(n) < frequency), 1, -1)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
        shares = uc.Shares.from_positives(counts, float(truth.sum()))
        with collect_warnings():
            found = estimate_metric(counts, shares, "precision", threshold=threshold)
        held.append(found.low <= truth[score >= threshold].mean() <= found.high)
        widths.append(found.high - found.low)
    assert np.mean(held) > 0.95 - 2 * math.sqrt(0.95 * 0.05 / 300)
    assert min(widths) > 0.005
