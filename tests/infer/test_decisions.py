"""The best threshold by a metric, under conditions and by costs, and what it gains."""

import math

import numpy as np
import pytest

import undercount as uc

RNG = np.random.default_rng(11)
TRUTH = RNG.random(3000) < 0.2
Y = np.where(TRUTH & (RNG.random(3000) < 0.5), 1.0, np.nan)
SCORE = np.round(RNG.normal(1.8 * TRUTH), 2)
COST = {"false_positive": 5.0, "false_negative": 40.0}


@pytest.fixture(scope="module")
def found():
    return uc.evaluate(Y, SCORE, prevalence=0.2, threshold=2.5)


def table():
    """Recovered rates at every distinct score, by hand."""
    thresholds = np.unique(SCORE)[::-1]
    heads = SCORE[None, :] >= thresholds[:, None]
    tpr, flagged = heads[:, Y == 1].mean(1), heads.mean(1)
    precision = 0.2 * tpr / flagged
    return thresholds, tpr, flagged, precision


def test_recall_under_a_condition_on_precision(found):
    thresholds, tpr, _, precision = table()
    best = found.best_threshold("recall", at_least={"precision": 0.6})
    allowed = (precision >= 0.6) & (precision <= 1)
    assert best.recall == pytest.approx(tpr[allowed].max())
    assert best.precision >= 0.6
    assert best.threshold == thresholds[allowed][np.argmax(tpr[allowed])]
    with pytest.raises(uc.InputError, match=r"no threshold reaches specificity >= 2"):
        found.best_threshold("recall", at_least={"specificity": 2.0})
    with pytest.raises(uc.InputError, match="metric must be one of"):
        found.best_threshold("recall", at_least={"sharpness": 0.5})


@pytest.mark.parametrize("metric", ["f1", "fnr", "fpr", "negative_likelihood_ratio"])
def test_best_is_the_best_of_every_possible_threshold(found, metric):
    curve = uc.mixture_curve(found.counts, found.shares, clean=False)
    possible = (curve.fpr >= -1e-9) & (curve.tpr <= 1 + 1e-9)
    values = np.array(getattr(curve, metric))[1:][possible[1:]]
    best = np.nanmax(values) if metric == "f1" else np.nanmin(values)
    assert getattr(found.best_threshold(metric), metric) == pytest.approx(best, abs=1e-12)


def test_costs_by_hand(found):
    thresholds, tpr, flagged, _ = table()
    cost = 5 * (flagged - 0.2 * tpr) + 40 * 0.2 * (1 - tpr)
    inside = flagged - 0.2 * tpr >= -1e-9
    best = found.best_threshold(cost=COST)
    assert best.threshold == thresholds[inside][np.argmin(cost[inside])]
    at = int(np.flatnonzero(thresholds <= 2.5)[0])
    at = at if thresholds[at] == 2.5 else at - 1
    own = found.cost(**COST)
    assert own.value == pytest.approx(cost[at])
    assert own.low < own.value < own.high
    raw = cost[at] - cost[inside].min()
    assert best.over == 2.5
    assert best.gain.low < best.gain.value < best.gain.high
    assert best.gain.value < raw  # choosing flatters
    assert best.gain.value == pytest.approx(raw, abs=0.1 * raw)
    assert best.gain == found.best_threshold(cost=COST).gain  # the same draws


def test_without_a_threshold_costs_are_compared_with_flagging_none_or_all():
    plain = uc.evaluate(Y, SCORE, prevalence=0.2)
    assert plain.best_threshold("f1").gain is None
    assert plain.best_threshold(cost=COST).over == -math.inf  # all: 5 * .8 < 40 * .2
    assert plain.best_threshold(cost={"false_positive": 50, "false_negative": 1}).over == math.inf
    with pytest.raises(uc.InputError, match="this evaluation has none"):
        plain.cost(**COST)
    for wrong in (
        {"false_positive": -1, "false_negative": 3},
        {},
        {"fp": 2},
        {"false_positive": 0},
    ):
        with pytest.raises(uc.InputError, match="cost"):
            plain.best_threshold(cost=wrong)


def test_net_benefit_and_cost_are_one_thing(found):
    # With c = false positive, d = false negative: cost = d (π - net benefit at odds c/d).
    net = found.net_benefit(5 / 45)
    cost = found.cost(**COST)
    assert cost.value == pytest.approx(40 * (0.2 - net.value))
    assert cost.low == pytest.approx(40 * (0.2 - net.high))
    assert found.net_benefit(5 / 45, top=300).value == pytest.approx(
        0.2 * found.estimate("recall", top=300).value * (1 + 5 / 40) - 5 / 40 * 0.1
    )
    with pytest.raises(uc.InputError, match="chance must be in"):
        found.net_benefit(1.0)
    with pytest.raises(uc.InputError, match="metric must be one of"):
        found["net_benefit"]


def test_an_estimated_share_widens_what_is_gained(found):
    wide = uc.evaluate(
        Y, SCORE, unlabeled_prevalence=uc.Estimate(0.11, 0.05, 0.2, 0.04, method="x"), threshold=2.5
    )
    a, b = wide.best_threshold(cost=COST).gain, found.best_threshold(cost=COST).gain
    assert a.high - a.low > 1.2 * (b.high - b.low)
