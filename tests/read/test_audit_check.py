"""Audited rows against all rows: gaps by enumeration, ranks by scipy, alarms by drawing audits."""

import itertools

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import undercount as uc
from undercount.errors import CODES
from undercount.read.audit_check import audit_check, gap_p_value, rank_p_value


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
    found = uc.evaluate(y, score, audited=True)
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
        (lambda rank: 0.05 + 0.3 * rank, "warn", "score higher"),
        (lambda rank: 0.35 - 0.3 * rank, "warn", "score lower"),
    ],
)
def test_what_kind_of_audit_it_was(looked, level, words):
    check = fair_sample(uc.evaluate(*audit(1, looked), audited=True))
    assert check.level == level
    assert words in check.message


@pytest.mark.parametrize("digits", [8, 0])
def test_random_audits_raise_no_alarm(digits):
    levels = []
    for seed in range(150):
        y, score = audit(seed, lambda _: 0.1, 800, digits)
        levels.append(audit_check(uc.ScoreCounts.from_rows(y, score, unlabeled=None)).level)
    assert levels.count("ok") >= 148  # each test alarms once in a thousand
