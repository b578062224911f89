"""Rows that are there several times are noticed, others are not."""

import numpy as np
import pytest

import undercount as uc
from undercount.checks.repeated import repeated_check
from undercount.errors import CODES


def draw(n=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    return np.where(truth & (rng.random(n) < 0.5), 1, 0), rng.normal(2.0 * truth)


def found(evaluation):
    return [check.message for check in evaluation.checks if check.code == CODES["repeated"]]


@pytest.mark.parametrize("times", [2, 3, 5])
def test_rows_of_a_join_that_went_wrong(times):
    """Coverage of recall was .65 with each row three times, and nothing was said."""
    y, score = draw()
    asked = {"unlabeled": 0, "prevalence": 0.2, "threshold": 1.0}
    many = uc.evaluate(np.tile(y, times), np.tile(score, times), **asked)
    assert f"there {times} times" in found(many)[0]
    assert many.require("recall >= 0.01").outcome == "inconclusive"
    whose = np.tile(np.arange(len(y)), times)
    for other in (
        uc.evaluate(y, score, **asked),
        uc.evaluate(np.tile(y, times), np.tile(score, times), cluster=whose, **asked),
        uc.evaluate(np.append(np.tile(y, times), 0), np.append(np.tile(score, times), 9), **asked),
    ):
        assert not found(other)


def test_few_scores_and_weights_are_no_copies():
    counts = uc.ScoreCounts.from_counts(range(19), [2] * 19, [0] * 19, [4] * 19)
    assert repeated_check(counts) is None
    y, score = draw()
    twice = {"y": np.tile(y, 2), "score": np.tile(score, 2), "sample_weight": np.full(600, 3.0)}
    assert repeated_check(uc.ScoreCounts.from_rows(**twice)) is None


def test_rounded_scores_are_no_copies():
    for seed in range(40):
        y, score = draw(400, seed)
        assert repeated_check(uc.ScoreCounts.from_rows(y, np.round(score, 1), unlabeled=0)) is None
