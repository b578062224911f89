"""Reviews of rows whose prevalence is known from elsewhere."""

import numpy as np
import pytest

import undercount as uc

RNG = np.random.default_rng(0)
TRUTH = RNG.random(3000) < 0.1
SCORE = RNG.normal(2.0 * TRUTH)
Y = np.where(TRUTH & (RNG.random(3000) < 0.3), 1, 0)
CUT = 1.5
SHARE = float(TRUTH.mean())
PLAN = uc.plan_reviews(Y, SCORE, unlabeled=0, budget=200, threshold=CUT, random_state=1)
REVIEWS = PLAN.answered(TRUTH[PLAN.rows])


def evaluate(prevalence=None, **more):
    assume = uc.Reviewed(REVIEWS, prevalence=prevalence, **more)
    return uc.evaluate(Y, SCORE, assume=assume, unlabeled=0, threshold=CUT)


def test_recall_is_what_was_found_over_what_is_known_to_be_there():
    known = evaluate(SHARE)
    flagged = np.mean(SCORE >= CUT)
    expected = known["precision"].value * flagged / SHARE
    assert known["recall"].value == pytest.approx(expected, abs=1e-12)
    assert known.prevalence == pytest.approx(SHARE, abs=1e-12)
    assert "prevalence" in known["recall"].needs


def test_it_is_sharper_and_says_no_more_of_the_order_of_rows():
    known, plain = evaluate(SHARE), evaluate()
    assert known["recall"].high - known["recall"].low < plain["recall"].high - plain["recall"].low
    assert known["roc_auc"] == plain["roc_auc"]


def test_a_range_holds_the_intervals_of_its_ends():
    ends = [evaluate(share)["recall"] for share in (0.08, 0.12)]
    middle, both = evaluate(0.1)["recall"], evaluate((0.08, 0.12))["recall"]
    assert both.value == middle.value
    assert (both.low, both.high) == (min(e.low for e in ends), max(e.high for e in ends))


def test_the_shorthand_says_the_same():
    short = uc.evaluate(Y, SCORE, reviews=REVIEWS, prevalence=SHARE, unlabeled=0, threshold=CUT)
    assert short["recall"] == evaluate(SHARE)["recall"]


@pytest.mark.parametrize("wrong", [0, 1.2, "many", (0.2, 0.1), (0.1, 0.2, 0.3)])
def test_a_prevalence_is_a_share_or_a_range(wrong):
    with pytest.raises(uc.InputError, match="prevalence"):
        uc.Reviewed(REVIEWS, prevalence=wrong)


def share_check(evaluation):
    checks = [check for check in evaluation.checks if "prevalence that was given" in check.message]
    assert len(checks) <= 1
    return checks[0] if checks else None


def test_a_prevalence_that_contradicts_the_verdicts_settles_no_requirement():
    wrong, right = evaluate(0.3), evaluate(SHARE)
    assert share_check(evaluate()) is None
    assert share_check(wrong).level == "fail"
    assert share_check(right).level == "ok"
    assert wrong.require("precision >= 0.05").outcome == "inconclusive"
    assert right.require("precision >= 0.05").outcome == "met"


def test_the_nearest_end_of_a_range_counts():
    assert share_check(evaluate((0.3, 0.4))).level == "fail"
    assert share_check(evaluate((SHARE, 0.4))).level == "ok"
    assert share_check(evaluate((0.04, 0.045))).level == "fail"


def test_the_true_prevalence_hardly_ever_fails():
    levels = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.random(2000) < 0.1
        score = rng.normal(2.0 * truth)
        y = np.where(truth & (rng.random(2000) < 0.3), 1, 0)
        plan = uc.plan_reviews(y, score, unlabeled=0, budget=150, threshold=CUT, random_state=seed)
        assume = uc.Reviewed(plan.answered(truth[plan.rows]), prevalence=float(truth.mean()))
        found = uc.evaluate(y, score, assume=assume, unlabeled=0, threshold=CUT)
        levels.append(share_check(found).level)
    assert levels.count("fail") <= 2  # one in a hundred
    assert levels.count("ok") >= 34  # nineteen in twenty


def test_what_is_said_names_the_prevalence():
    found, plain = evaluate(0.12), evaluate()
    basis = found.basis
    for words in (basis.question, basis.overturned_by, basis.premise, found.source):
        assert "prevalence" in words
    assert "given prevalence of 12 %" in basis.question
    assert not any("prevalence" in words for words in (plain.basis.question, plain.source))
    assert "prevalence" in found.best_threshold("f1").gain.needs
    assert "prevalence" not in plain.best_threshold("f1").gain.needs
    for row in found.rows:
        ranked = row.metric in ("roc_auc", "lift_auc")
        assert ("prevalence" in row.estimate.needs) == (not ranked), row.metric


def test_no_fewer_are_positive_than_are_labelled():
    with pytest.raises(uc.InputError, match="at least"):
        evaluate(float(Y.mean()) / 2)


def test_random_labels_and_a_known_prevalence_need_no_verdicts():
    with pytest.raises(uc.InputError, match=r"RandomLabels\(prevalence=…\)") as refusal:
        uc.Reviewed(REVIEWS, labels="random", prevalence=SHARE)
    assert refusal.value.argument == "prevalence"
    assert uc.Reviewed(REVIEWS, labels="any", prevalence=SHARE).labels == "any"
