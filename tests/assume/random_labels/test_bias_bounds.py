"""Bounds of a whole table under a labelling bias."""

import json
from dataclasses import replace

import numpy as np
import pytest

import undercount as uc


def counts_of(flagged, rest):
    """Rows above and below the threshold 1: labelled, and unlabeled."""
    return uc.ScoreCounts.from_counts([1, 0], [flagged[0], rest[0]], [0, 0], [flagged[1], rest[1]])


COUNTS = counts_of((60, 20), (20, 900))


def test_bounds_at_a_known_share_are_those_of_one_metric():
    evaluation = uc.evaluate(COUNTS, prevalence=0.1, threshold=1)
    found = evaluation.bias_bounds(2.0)
    assert found["recall"] == uc.biased_recall(COUNTS, evaluation.shares, 2.0, 1)
    assert found["roc_auc"] == uc.biased_auc(COUNTS, evaluation.shares, 2.0)
    assert "average_precision" not in found
    # 80 rows are flagged, 60 of them labelled: so many are positive, whoever chose the labels.
    assert found["precision"].low >= 60 / 80


def test_bounds_hold_at_every_share_of_a_range():
    ranged = uc.evaluate(COUNTS, prevalence=(0.085, 0.1), threshold=1).bias_bounds(2.0)
    for share in (0.085, 0.09, 0.1):
        alone = uc.evaluate(COUNTS, prevalence=share, threshold=1).bias_bounds(2.0)
        for name, bounds in alone.items():
            assert ranged[name].low <= bounds.low + 1e-9, name
            assert ranged[name].high >= bounds.high - 1e-9, name


@pytest.mark.filterwarnings("ignore")
def test_bounds_hold_the_truth_where_labels_prefer_high_scores():
    """Odds of a label 2 times as large above the threshold: fair intervals miss, bounds do not."""
    rng, repeats, held, fair = np.random.default_rng(5), 120, 0, 0
    chances = 0.5, 1 / 3  # odds 1 and 1/2
    for _ in range(repeats):
        above = rng.binomial(300, 0.6)
        labels = rng.binomial(above, chances[0]), rng.binomial(300 - above, chances[1])
        table = counts_of(
            (labels[0], above - labels[0] + 80), (labels[1], 4620 - labels[1] - above)
        )
        evaluation = uc.evaluate(
            table, prevalence=(0.05, 0.07), threshold=1, metrics=["recall", "precision"]
        )
        bounds = evaluation.bias_bounds(2.0)
        truth = {"recall": above / 300, "precision": above / (above + 80)}
        held += all(truth[name] in bounds[name] for name in truth)
        fair += truth["recall"] in evaluation["recall"].interval
    assert held >= 0.92 * repeats
    assert fair <= 0.4 * repeats


def test_known_chances_are_moved_by_the_bias():
    rng = np.random.default_rng(2)
    truth = rng.random(3000) < 0.1
    score = rng.normal(2.0 * truth)
    chance = np.where(score > 1, 0.6, 0.3)
    y = (truth & (rng.random(3000) < chance)).astype(int)
    evaluation = uc.evaluate(
        y, score, unlabeled=0, assume=uc.LabelPropensity(chance), threshold=1.0
    )
    bounds = evaluation.bias_bounds(1.5)
    for row in evaluation.rows:
        ends = bounds[row.metric]
        assert ends.low <= row.estimate.low + 1e-9, row.metric
        assert ends.high >= row.estimate.high - 1e-9, row.metric


@pytest.mark.parametrize("factor", [0.5, float("nan"), None])
def test_a_factor_below_one_is_refused(factor):
    evaluation = uc.evaluate(COUNTS, prevalence=0.1, threshold=1)
    with pytest.raises(uc.InputError, match=r"at least 1"):
        evaluation.bias_bounds(factor)


def test_the_text_says_what_an_estimated_share_supposes():
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.2
    y = (truth & (rng.random(2000) < 0.4)).astype(int)
    score = rng.normal(2.0 * truth)
    found = replace(uc.evaluate(y, score, unlabeled=0, threshold=1.0), odds_ratio=2.0)
    assert "supposes labels that favour none" in " ".join(str(found).split())
    given = uc.evaluate(y, score, unlabeled=0, threshold=1.0, prevalence=0.2)
    assert "Biased labels" not in str(given)
    given = replace(given, odds_ratio=2.0)
    assert "favour none" not in str(given)
    facts = json.loads(given.to_json())["models"][0]["bias"]
    recall = next(each for each in facts["metrics"] if each["metric"] == "recall")
    assert recall["low"] == given.bias_bounds()["recall"].low


@pytest.mark.parametrize("labels", ["any", "random"])
def test_no_bias_of_labels_reaches_what_verdicts_alone_say(labels):
    rng = np.random.default_rng(5)
    truth = rng.random(2000) < 0.2
    y, score = np.where(truth & (rng.random(2000) < 0.4), 1, 0), rng.normal(1.5 * truth)
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=100, threshold=1.0)
    reviews = plan.answered(truth[plan.rows])
    options = {"unlabeled": 0, "threshold": 1.0}
    found = uc.evaluate(y, score, assume=uc.Reviewed(reviews, labels=labels), **options)
    alone = uc.evaluate(y, score, reviews=reviews, **options)
    for name, bound in found.bias_bounds(2.0).items():
        assert (bound.low, bound.high) == pytest.approx((alone[name].low, alone[name].high))
