"""Whether labels can be a fair sample, from covariates and from chances."""

import numpy as np
import pytest

import undercount as uc


def rows(seed, slope, n=3000):
    """Four groups, labelled more and more often."""
    rng = np.random.default_rng(seed)
    truth, group = rng.random(n) < 0.15, rng.integers(0, 4, n)
    score = rng.normal(2.5 * truth)
    chance = np.clip(0.3 * np.exp(slope * (group - 1.5)), 0, 1)
    return truth, (truth & (rng.random(n) < chance)).astype(int), score, group, chance


def check_of(evaluation, code="UC022"):
    return next(check for check in evaluation.checks if check.code == code)


def test_a_group_that_is_labelled_more_often_is_found():
    truth, y, score, group, _ = rows(0, 0.9)
    assume = uc.RandomLabels(truth.mean(), covariates=group)
    check = check_of(uc.evaluate(y, score, assume=assume, unlabeled=0))
    assert check.level == "warn"
    assert "the covariate = 3" in check.message
    assert "assume LabelPropensity(chance)" in check.advice


def test_a_group_with_more_labels_than_rows_without_one_is_told_in_plain_numbers():
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.2
    group = np.where(truth & (rng.random(3000) < 0.25), "known", "rest")
    y = truth & (rng.random(3000) < np.where(group == "known", 0.9, 0.3))
    found = uc.evaluate(
        y, rng.normal(2 * truth), unlabeled=0, assume=uc.RandomLabels(0.2, covariates=group)
    )
    message = check_of(found).message
    assert "e+0" not in message
    assert int(message.partition(" %")[0].split()[-1]) > 100  # hidden positives that it would need


def test_fair_labels_are_no_proof():
    truth, y, score, group, _ = rows(1, 0.0)
    covariates = np.column_stack([group, np.random.default_rng(0).normal(size=len(y))])
    found = uc.evaluate(
        y, score, unlabeled=0, assume=uc.RandomLabels(truth.mean(), covariates=covariates)
    )
    check = check_of(found)
    assert (check.level, "8 groups" in check.message) == ("ok", True)
    assert "That is no proof" in check.message


def test_without_covariates_it_is_said_that_nothing_tells():
    truth, y, score, _, _ = rows(2, 0.0)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=truth.mean())
    assert "cannot be tested from labels and scores alone" in check_of(found, "UC008").message
    assert not [check for check in found.checks if check.code == "UC022"]


def test_chances_say_which_scores_labels_prefer():
    truth, y, score, _, _ = rows(3, 0.0)
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(1.5 - score))
    y = (truth & (rng.random(len(y)) < chance)).astype(int)
    found = check_of(uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(chance)))
    assert (found.level, "prefer high scores" in found.message) == ("info", True)
    equal = np.full(len(y), 0.4)
    y = (truth & (rng.random(len(y)) < equal)).astype(int)
    assert (
        check_of(uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(equal))).level == "ok"
    )


def test_refusals():
    truth, y, score, group, _ = rows(4, 0.0)
    short = uc.RandomLabels(truth.mean(), covariates=group[:-1])
    with pytest.raises(uc.InputError, match="a row for each of 3,000 rows"):
        uc.evaluate(y, score, assume=short, unlabeled=0)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    with pytest.raises(uc.InputError, match="covariates needs rows in memory"):
        uc.evaluate(counts, assume=uc.RandomLabels(truth.mean(), covariates=group))


def check_groups(chance_of, share_of=(0.15, 0.15, 0.15), seed=5, n=3000):
    """Evaluate three groups, labelled and positive as often as said."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    truth = rng.random(n) < np.array(share_of)[group]
    score = rng.normal(2.0 * truth)
    y = (truth & (rng.random(n) < np.array(chance_of)[group])).astype(int)
    assume = uc.RandomLabels(truth.mean(), covariates=group)
    return check_of(uc.evaluate(y, score, assume=assume, unlabeled=0, metrics=["roc_auc"]))


def test_a_group_without_any_label_fails():
    check = check_groups((0.5, 0.0, 0.5))
    assert check.level == "fail"
    assert "rows with the covariate = 1 have no labels" in check.message
    assert "review some of these rows" in check.advice


def test_a_group_with_far_fewer_labels_is_named():
    check = check_groups((0.5, 0.5, 0.08))
    assert (check.level, "the covariate = 2 have only" in check.message) == ("warn", True)


def test_a_group_whose_positives_are_rarer_is_no_alarm():
    # Two thirds as many positives, which the score does not know: labels are fair all the same.
    levels = [check_groups((0.5,) * 3, (0.15, 0.15, 0.1), seed).level for seed in range(20)]
    assert levels.count("ok") >= 19


def test_a_group_too_small_to_tell_is_not_called_fair():
    rng = np.random.default_rng(6)
    truth, group = rng.random(3000) < 0.15, (np.arange(3000) < 10).astype(int)
    y = (truth & (group == 0) & (rng.random(3000) < 0.5)).astype(int)
    found = uc.evaluate(
        y,
        rng.normal(2.0 * truth),
        unlabeled=0,
        assume=uc.RandomLabels(truth.mean(), covariates=group),
    )
    check = check_of(found)
    assert (check.level, "1 more has no label" in check.message) == ("info", True)
    assert "in each of 1 group by" in check.message


def test_fair_labels_alarm_no_more_often_than_said():
    levels = [check_groups((0.3,) * 3, seed=seed, n=1500).level for seed in range(60)]
    assert levels.count("ok") >= 57
