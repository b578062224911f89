"""Audited rows against all rows: gaps by enumeration, ranks by scipy, alarms by drawing audits."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import undercount as uc
from undercount.checks.audit import audit_check, gap_p_value, rank_p_value
from undercount.errors import CODES


def audit(seed, looked, n_rows=4000, digits=8):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.2
    score = np.round(rng.normal(2 * truth), digits)
    rank = np.argsort(np.argsort(score)) / n_rows
    return np.where(rng.random(n_rows) < looked(rank), truth, np.nan), score


def fair_sample(evaluation):
    return next(c for c in evaluation.checks if c.code == CODES["fair-sample"])


def longest_gap(chosen, rows):
    ends = [-1, *chosen, rows]
    return max(after - before - 1 for before, after in itertools.pairwise(ends))


@pytest.mark.parametrize(("rows", "verified"), [(9, 3), (10, 5), (12, 2)])
def test_no_gap_is_more_frequent_than_its_bound(rows, verified):
    gaps = [longest_gap(c, rows) for c in itertools.combinations(range(rows), verified)]
    for gap in range(rows - verified + 2):
        often = np.mean(np.array(gaps) >= gap)
        assert often <= gap_p_value(gap, verified, rows) + 1e-12
    # Two gaps cannot both be longer than half of the rest: the bound is the chance itself.
    half = (rows - verified) // 2 + 1
    assert gap_p_value(half, verified, rows) == pytest.approx(np.mean(np.array(gaps) >= half))


@pytest.mark.parametrize("digits", [8, 1, 0])
def test_ranks_are_compared_as_scipy_does(digits):
    y, score = audit(digits, lambda rank: 0.1 + 0.02 * rank, 500, digits)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=None)
    known = ~np.isnan(y)
    expected = mannwhitneyu(
        score[known], score[~known], method="asymptotic", use_continuity=False
    ).pvalue
    assert rank_p_value(counts)[0] == pytest.approx(expected, rel=1e-9)


def test_an_audit_of_high_scores_alone_meets_and_fails_nothing():
    y, score = audit(0, lambda rank: 0.4 * (rank > 0.8))
    found = uc.evaluate(y, score, assume=uc.RandomAudit())
    check = fair_sample(found)
    assert check.level == "fail"
    assert "no random sample of all rows" in check.message
    assert "below" in check.message
    for condition in ("roc_auc > 0.5", "roc_auc < 0.5"):
        assert found.require(condition).outcome == "inconclusive"
    assert check.message in " ".join(found.to_json().split())


@pytest.mark.parametrize(
    ("looked", "level", "words"),
    [
        (lambda rank: 0.2 * (rank < 0.7), "fail", "above"),
        (lambda rank: 0.2 * (np.abs(rank - 0.5) > 0.1), "fail", "from"),
        # Looked at everywhere, high scores more often: verdicts stand for their own scores.
        (lambda rank: 0.05 + 0.3 * rank, "fail", "score higher"),
        (lambda rank: 0.35 - 0.3 * rank, "fail", "score lower"),
    ],
)
def test_what_kind_of_audit_it_was(looked, level, words):
    check = fair_sample(uc.evaluate(*audit(1, looked), assume=uc.RandomAudit()))
    assert check.level == level
    assert words in check.message


@pytest.mark.parametrize("digits", [8, 0])
def test_random_audits_raise_no_alarm(digits):
    levels = []
    for seed in range(150):
        y, score = audit(seed, lambda _: 0.1, 800, digits)
        levels.append(audit_check(uc.ScoreCounts.from_rows(y, score, unlabeled=None)).level)
    assert levels.count("ok") >= 148  # each test alarms once in a thousand


def test_every_number_of_an_audit_names_that_it_was_random(tmp_path):
    y, score = audit(3, lambda _: 0.2)
    found = uc.evaluate(y, score, assume=uc.RandomAudit(), threshold=1.0)
    assert fair_sample(found).level == "ok"
    assert all("random audit" in row.estimate.needs for row in found.rows)
    assert "random audit" in found.best_threshold().gain.needs
    for condition, outcome in (("precision >= 0.1", "met"), ("precision <= 0.1", "failed")):
        verdict = found.require(condition)
        assert verdict.outcome == outcome
        assert "random audit, right labels" in str(verdict)
    assert "random audit" in found.verdict.rests_on
    said = "if the audit was random"
    facts = json.loads(found.to_json())["models"][0]
    assert "random audit" in facts["verdict"]["rests_on"]
    assert facts["verdict"]["words"] == said
    assert f"**{said}**" in found.to_markdown()
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert said in page
    assert "random audit" in page
    assert not any("reviews" in row.estimate.needs for row in found.rows)
    assert found.basis.premise == "The audit shows that "


def test_reviews_that_a_plan_drew_need_no_random_audit():
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.2
    y, score = np.where(truth & (rng.random(3000) < 0.3), 1, 0), rng.normal(2 * truth)
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=100, threshold=1.0)
    reviews = plan.answered(truth[plan.rows])
    found = uc.evaluate(y, score, unlabeled=0, threshold=1.0, reviews=reviews)
    assert not any("random audit" in row.estimate.needs for row in found.rows)


def test_models_compared_on_an_audit_need_that_it_was_random():
    y, score = audit(3, lambda _: 0.2)
    poor = score + np.random.default_rng(0).normal(scale=2, size=len(score))
    found = uc.compare(y, {"good": score, "poor": poor}, assume=uc.RandomAudit())
    assert "random audit" in found.needs
    verdict = found.require("good.roc_auc > poor.roc_auc")
    assert verdict.outcome == "met"
    assert "random audit" in str(verdict)
