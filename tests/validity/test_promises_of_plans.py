"""What a plan promises under each assumption comes true: achieved over promised half-widths."""

import numpy as np
import pytest

import undercount as uc

CUT, PREVALENCE, BUDGET, SEEDS = 1.5, 0.12, 150, 24


def draw(seed, n_rows=10_000):
    """Positives of two kinds: one scores higher and is labelled more often."""
    rng = np.random.default_rng(seed)
    truth, known = rng.random(n_rows) < PREVALENCE, rng.random(n_rows) < 0.5
    score = rng.normal(2.0 * truth + 0.8 * (known & truth))
    chance = np.where(known, 0.7, 0.15)
    return rng, truth, score, chance


def random_labels(rng, truth, score, chance, goal):  # noqa: ARG001 - labels are fair
    labels = np.where(truth & (rng.random(len(truth)) < 0.35), 1.0, np.nan)
    return labels, uc.RandomLabels(PREVALENCE)


def by_chance(rng, truth, score, chance, goal):  # noqa: ARG001
    labels = np.where(truth & (rng.random(len(truth)) < chance), 1.0, np.nan)
    return labels, uc.LabelPropensity(chance)


def further_round(rng, truth, score, chance, goal):
    labels, _ = by_chance(rng, truth, score, chance, goal)
    first = uc.plan_reviews(labels, score, budget=80, goal=goal, threshold=CUT)
    return labels, uc.Reviewed(first.answered(truth[first.rows]))


def random_audit(rng, truth, score, chance, goal):  # noqa: ARG001
    return np.where(rng.random(len(truth)) < 0.05, truth, np.nan), uc.RandomAudit()


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["precision", "recall", "f1"])
@pytest.mark.parametrize("design", [random_labels, by_chance, further_round, random_audit])
def test_a_plan_keeps_its_promise(design, goal):
    achieved, promised = [], []
    for seed in range(SEEDS):
        rng, truth, score, chance = draw(seed)
        labels, assumed = design(rng, truth, score, chance, goal)
        plan = uc.plan_reviews(
            labels, score, assume=assumed, budget=BUDGET, goal=goal, threshold=CUT
        )
        found = uc.Reviewed(plan.answered(truth[plan.rows]))
        after = uc.evaluate(labels, score, assume=found, threshold=CUT, metrics=[goal])[goal]
        achieved.append((after.high - after.low) / 2)
        promised.append(plan.expected[BUDGET][goal])
    assert 0.85 <= np.mean(achieved) / np.mean(promised) <= 1.2


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["precision", "roc_auc"])
@pytest.mark.parametrize(("prevalence", "labelled", "shift"), [(0.2, 0.4, 2.0), (0.3, 0.5, 1.0)])
def test_what_an_evaluation_says_reviews_buy_comes_true(goal, prevalence, labelled, shift):
    """The formula without draws, against verdicts on as many rows; the share is given."""
    achieved, promised = [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        truth = rng.random(10_000) < prevalence
        score = rng.normal(shift * truth)
        labels = np.where(truth & (rng.random(len(truth)) < labelled), 1.0, np.nan)
        at = {"threshold": 0.75 * shift if goal == "precision" else None}
        before = uc.evaluate(labels, score, prevalence=prevalence, **at)
        plan = uc.plan_reviews(labels, score, prevalence=prevalence, budget=100, goal=goal, **at)
        found = uc.Reviewed(plan.answered(truth[plan.rows]))
        after = uc.evaluate(labels, score, assume=found, metrics=[goal], **at)[goal]
        achieved.append((after.high - after.low) / 2)
        promised.append(before.review_gain.after)
    assert 0.85 <= np.mean(achieved) / np.mean(promised) <= 1.2
