"""Where labels and scores leave the share of hidden positives open, no number rests on a guess."""

import json
import math
import re
from functools import cache

import numpy as np
import pytest
from tests.read.assumption_cases import CUT, evaluate, rows

import undercount as uc
from undercount.errors import collect_warnings
from undercount.read.cost_curve import cost_curve
from undercount.read.estimator_table import EstimatorRow
from undercount.show.costs import cost_words
from undercount.show.estimators import agreement_words
from undercount.show.page.comparison import as_comparison_page
from undercount.show.plan import as_text as plan_text
from undercount.show.verdict_words import change_words

COSTS = {"false_positive": 5, "false_negative": 5}


@pytest.fixture
def found():
    evaluation = evaluate("estimated")
    assert evaluation["precision"].range_only  # else nothing here is left open
    return evaluation


@cache
def weak_rows(n_rows: int = 20_000):
    """Return labels and scores of a weak model: one positive in ten, a third of them labelled."""
    rng = np.random.default_rng(11)
    truth = rng.random(n_rows) < 0.1
    score = 1 / (1 + np.exp(-rng.normal(0.3 * truth)))
    return (truth & (rng.random(n_rows) < 0.35)).astype(float), score


@pytest.mark.parametrize(
    "ask",
    [
        {"metric": "f1"},
        {"metric": "recall", "at_least": {"precision": 0.5}},
        {"metric": "lift", "at_least": {"specificity": 0.9}},
        {"cost": COSTS},
    ],
)
def test_a_search_that_depends_on_the_share_is_refused(found, ask):
    with pytest.raises(uc.InputError, match="depends on the share of hidden positives") as error:
        found.best_threshold(**ask)
    assert (error.value.code, error.value.argument) == ("not-identified", "prevalence")
    assert "Give prevalence, or a range of it, or reviews" in str(error.value)
    # Whoever names a share is answered.
    assert math.isfinite(evaluate("prevalence").best_threshold(**ask).precision)


def test_a_calibrated_threshold_needs_a_share(found):
    with pytest.raises(uc.InputError, match="depends on the share of hidden positives"):
        found.calibrated_threshold(0.5)


def test_a_search_that_no_share_changes_goes_by_the_labels(found):
    label, score = rows()["random"], rows()["score"]
    flagged = [score >= each for each in np.unique(score)]
    recall = np.array([label[head].sum() / label.sum() for head in flagged])
    part = np.array([head.mean() for head in flagged])
    best = found.best_threshold("recall", at_least={"lift": 2.0})
    assert best.recall == pytest.approx(recall[recall / part >= 2].max(), abs=1e-9)
    assert math.isnan(best.precision)
    assert math.isnan(best.prevalence)
    assert best.gain.low < best.gain.value < best.gain.high
    gained = recall[recall / part >= 2].max() - label[score >= CUT].sum() / label.sum()
    assert gained in best.gain.interval
    highest = found.best_threshold("lift")
    assert highest.recall == pytest.approx(recall[np.argmax(recall / part)], abs=1e-9)


def test_labels_that_may_be_wrong_leave_recall_open_too():
    label, score = weak_rows()
    with collect_warnings():
        impure = uc.evaluate(
            label, score, unlabeled=0, threshold=0.6, assume=uc.RandomLabels(purity=(0.8, 1.0))
        )
    assert impure["recall"].range_only
    with pytest.raises(uc.InputError, match="depends on the share of hidden positives"):
        impure.best_threshold("recall")
    assert math.isnan(impure.point(0.6).recall)


def test_no_rate_or_share_is_that_of_the_guess(found):
    label, score = rows()["random"], rows()["score"]
    point = found.point(CUT)
    assert point.recall == pytest.approx(label[score >= CUT].sum() / label.sum())
    assert math.isnan(found.prevalence)
    for each in (point, found.curve):
        assert math.isnan(each.prevalence)
        assert np.isnan(each.fpr).all()
        assert np.isnan(each.precision).all()
    assert math.isnan(found.curve.roc_auc)
    assert math.isnan(found.curve.average_precision)
    flagged = np.interp(CUT, found.curve.threshold[::-1], found.curve.predicted_positive_rate[::-1])
    assert flagged == pytest.approx((score >= CUT).mean(), abs=0.01)


@pytest.mark.parametrize("threshold", [CUT, None])
def test_no_number_of_a_document_is_the_guess(threshold):
    found = evaluate("estimated", threshold=threshold).costing(**COSTS)
    guesses = {found.shares.unlabeled_prevalence, found.shares.prevalence(found.counts)}
    guesses |= {1 - each for each in guesses} | {5 * each for each in guesses}
    document = found.to_json()
    numbers = [float(each) for each in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", document)]
    assert len(numbers) > 100
    for guess in guesses:
        assert np.abs(np.array(numbers) - guess).min() > 1e-9
    assert json.loads(document)["models"][0]["costs"]["least"] is None


def test_costs_name_no_least_threshold(found):
    curve = cost_curve(found, COSTS)
    said = cost_words(curve)
    assert curve.best is None
    assert "least:" not in said
    assert "where they are least depends on the hidden positives" in said
    assert f"at the threshold {curve.here.low:.3f} – {curve.here.high:.3f}" in said
    # Costs at the threshold hold those of the truth.
    truth, flagged = rows()["truth"], rows()["score"] >= CUT
    assert 5 * np.mean(truth != flagged) in curve.here.interval
    assert "least: threshold" in cost_words(cost_curve(evaluate("prevalence"), COSTS))


def test_no_bias_is_said_to_be_survived_at_the_guess(found):
    known = evaluate("prevalence")
    goal = round(known["precision"].low - 0.02, 2)
    claimed = found.claiming(f"precision >= {goal}")
    assert claimed.verdict.light != "unsupported"
    assert math.isnan(claimed.verdict.odds_ratio)
    assert math.isnan(found.break_even("precision", goal).odds_ratio)
    assert "Γ" not in change_words(claimed)
    assert json.loads(claimed.to_json())["models"][0]["verdict"]["odds_ratio"] is None
    assert "Γ" in change_words(known.claiming(f"precision >= {goal}"))


def test_few_labels_beside_weak_scores_suppose_no_number_of_hidden_ones():
    found = uc.evaluate(*weak_rows(), unlabeled=0, threshold=0.6)
    (said,) = [check.message for check in found.checks if check.code == "UC017"]
    assert "the estimate supposes" not in said
    most = found.shares.unlabeled_prevalence_interval.high * found.counts.n_unlabeled
    (number,) = re.findall(r"up to ([\d,]+) hidden positives", said)
    assert float(number.replace(",", "")) == pytest.approx(most, rel=0.05)


def test_a_plan_says_that_it_supposes_a_share():
    label, score = weak_rows()
    options = {"unlabeled": 0, "budget": 50, "goal": "precision", "threshold": 0.6}
    words = "supposed for planning, not an estimate"
    assert words in " ".join(plan_text(uc.plan_reviews(label, score, **options)).split())
    given = uc.plan_reviews(label, score, prevalence=0.1, **options)
    assert words not in " ".join(plan_text(given).split())


def test_segments_explain_no_arrow_and_no_middle_that_are_not_shown():
    label, score = weak_rows()
    part = np.array(["a", "b"])[np.arange(len(label)) % 2]
    found = uc.evaluate(label, score, unlabeled=0, threshold=0.6, by=part)
    said = str(found)
    assert "→" not in said
    assert "in the middle segment" not in said
    document = json.loads(found.to_json())
    assert document["pooled_share"]["centre"] is None
    assert {row["own_share"] for row in document["segments"]} == {None}
    assert {row["share"] for row in document["segments"]} == {None}


def test_a_withheld_consensus_is_no_answer_among_the_others():
    def row(method, value, low):
        return EstimatorRow(method, value, low, value + 0.03, None, 0.1)

    others = [row("DEDPUL", 0.08, 0.07), row("BBE", 0.1, 0.09)]
    said = agreement_words([row("Consensus", 0.076, 0.0), *others])
    assert "7.6 %" not in said
    assert "Consensus" not in said
    assert "8.0 % (DEDPUL) to 10 % (BBE)" in said
    assert "agree with each other" in said
    assert "or none" in said
    told = agreement_words([row("Consensus", 0.076, 0.05), *others])
    assert "7.6 % (Consensus) to 10 % (BBE): the methods agree." in told


def test_a_page_that_compares_models_draws_no_curve_and_no_share_in_use():
    label, score = weak_rows()
    noise = np.random.default_rng(1).normal(size=len(score))
    scores = {"one": score, "two": score + 0.2 * noise}
    opened = as_comparison_page(uc.compare(label, scores, unlabeled=0))
    given = as_comparison_page(uc.compare(label, scores, unlabeled=0, prevalence=0.1))
    for page, lines in ((opened, 0), (given, 2)):
        curves = page.split("<h2>Curves</h2>")[1].split("</figure>")[:2]
        for drawn in curves:
            assert len(re.findall(r'class="line m\d', drawn)) == lines
            assert len(re.findall(r'class="band m\d', drawn)) == 2 - lines
        assert ("the share in use" in page) == (lines > 0)
        assert ('class="cut"' in page) == (lines > 0)
