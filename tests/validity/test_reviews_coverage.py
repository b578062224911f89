"""ReviewAnswers rows: errors, coverage at three levels, and the test of random labels.

`docs/evidence/reviews.md` has the figures; `benchmarks/reviews.py` measures more.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.metrics import average_precision_score, roc_auc_score

import undercount as uc
from undercount.assume.reviewed.answers import ReviewAnswers

pytestmark = pytest.mark.slow
LEVELS = (0.8, 0.9, 0.95)
POINTS = ("precision", "recall", "f1")
N_ROWS, REPEATS = 20_000, 200
CUTS = {"normal": 1.75, "beta": 0.45}


def draw(rng, slope, shape="normal", prevalence=0.1):
    truth = rng.random(N_ROWS) < prevalence
    if shape == "normal":
        score = rng.normal(2.2 * truth)
    else:
        score = np.where(truth, rng.beta(3, 2, N_ROWS), rng.beta(1, 6, N_ROWS))
    z = slope * (score - score[truth].mean()) / score[truth].std()
    shift = brentq(lambda b: expit(b + z[truth]).mean() - 0.3, -20, 20)
    return truth, score, np.where(truth & (rng.random(N_ROWS) < expit(shift + z)), 1, -1)


def truth_of(truth, score, cut):
    flagged = score >= cut
    hits = np.sum(truth & flagged)
    return {
        "precision": hits / flagged.sum(),
        "recall": hits / truth.sum(),
        "f1": 2 * hits / (flagged.sum() + truth.sum()),
        "roc_auc": roc_auc_score(truth, score),
        "average_precision": average_precision_score(truth, score),
    }


def simulate(slope, budget, labels, repeats=REPEATS, shape="normal", **kind):
    """Return errors by metric, whether intervals held by (metric, level), and p-values."""
    cut = CUTS[shape]
    rng = np.random.default_rng(17)
    errors, held, p_values = defaultdict(list), defaultdict(list), []
    for repeat in range(repeats):
        if repeat % (1 if labels == "random" else 4) == 0:
            truth, score, y = draw(rng, slope, shape, kind.get("prevalence", 0.1))
            expected = truth_of(truth, score, cut)
        plan = uc.plan_reviews(
            y, score, unlabeled=-1, budget=budget, threshold=cut, random_state=repeat,
            goal=kind.get("goal", "f1"),
            unlabeled_prevalence=truth[y == -1].mean() * np.exp(rng.normal(0, 0.3)),
        )  # fmt: skip
        reviews = plan.answered(truth[plan.rows])
        counts = uc.ScoreCounts.from_rows(
            y, score, unlabeled=-1, compact=True, knots=[*plan.design.edges, cut]
        )
        reviewed = ReviewAnswers(counts, reviews, labels)
        for level in LEVELS:
            estimator = replace(reviewed.metrics(labels), confidence_level=level)
            for metric, true in expected.items():
                found = estimator.estimate(metric, cut if metric in POINTS else None)
                held[metric, level].append(found.low <= true <= found.high)
                if level == LEVELS[-1]:
                    errors[metric].append(found.value - true)
        p_values.append(reviewed.p_value)
    return errors, held, np.array(p_values)


def rmse(errors):
    return float(np.nanmean(np.square(errors)) ** 0.5)


@pytest.mark.parametrize(
    ("budget", "slope", "shape"),
    [
        (500, 0.0, "normal"),
        (500, 1.0, "normal"),
        (500, -1.0, "normal"),
        (100, -1.0, "normal"),
        (500, 0.0, "beta"),
    ],
)
def test_nothing_is_supposed_of_the_labels(budget, slope, shape):
    errors, held, _ = simulate(slope, budget, "any", shape=shape)
    if budget == 500:
        assert rmse(errors["f1"]) < (0.028 if slope == 0 else 0.031)
    for (metric, level), inside in held.items():
        error = (level * (1 - level) / len(inside)) ** 0.5
        assert np.mean(inside) > level - 4 * error, (metric, level, np.mean(inside))
        assert abs(np.nanmean(errors[metric])) < 0.4 * np.nanstd(errors[metric]), metric


def test_random_labels_sharpen_the_answer_and_pass_the_test():
    errors, held, p_values = simulate(0.0, 500, "random")
    assert rmse(errors["f1"]) < 0.018
    for (metric, level), inside in held.items():
        error = (level * (1 - level) / len(inside)) ** 0.5
        assert np.mean(inside) > level - 4 * error, (metric, level, np.mean(inside))
    assert np.mean(p_values < 0.05) < 0.05 + 4 * (0.05 * 0.95 / len(p_values)) ** 0.5


@pytest.mark.parametrize("prevalence", [0.1, 0.4])
def test_a_few_reviews_with_random_labels_are_honest(prevalence):
    """Of this interval and that of reviews alone the narrower one is taken, and still holds."""
    _, held, _ = simulate(0.0, 60, "random", repeats=150, prevalence=prevalence)
    for (metric, level), inside in held.items():
        error = (level * (1 - level) / len(inside)) ** 0.5
        assert np.mean(inside) > level - 4 * error, (metric, level, np.mean(inside))


@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("prevalence", [0.01, 0.1, 0.4])
def test_plans_promise_a_range_that_holds(prevalence, slope):
    """The share is estimated from the labels, which misleads where they prefer some scores."""
    rng, cut, found = np.random.default_rng(29), CUTS["normal"], []
    for repeat in range(25):
        truth, score, y = draw(rng, slope, prevalence=prevalence)
        plan = uc.plan_reviews(
            y, score, unlabeled=-1, budget=200, threshold=cut, random_state=repeat
        )
        counts = uc.ScoreCounts.from_rows(
            y, score, unlabeled=-1, compact=True, knots=[*plan.design.edges, cut]
        )
        reached = ReviewAnswers(counts, plan.answered(truth[plan.rows])).estimate("f1", cut)
        span = plan.expected_range[200]["f1"]
        width = (reached.high - reached.low) / 2
        found.append([width, plan.expected[200]["f1"], span.low, span.high])
    achieved, promised, low, high = np.transpose(found)
    # Four in five should be held; 25 draws tell that to .08.
    assert np.mean((low <= achieved) & (achieved <= high)) > 0.8 - 2 * 0.08
    if slope == 0:
        assert 0.85 < achieved.mean() / promised.mean() < 1.15


def test_sixty_random_labels_pass_the_test():
    """Weights that followed the plan, and so the labels, rejected .09 of them."""
    rng, cut, p_values = np.random.default_rng(23), 2.5, []
    for repeat in range(500):
        truth, score, y = draw(rng, 0.0, prevalence=0.01)
        plan = uc.plan_reviews(
            y, score, unlabeled=-1, budget=100, threshold=cut, random_state=repeat,
            unlabeled_prevalence=truth[y == -1].mean() * np.exp(rng.normal(0, 0.3)),
        )  # fmt: skip
        counts = uc.ScoreCounts.from_rows(
            y, score, unlabeled=-1, compact=True, knots=[*plan.design.edges, cut]
        )
        p_values.append(ReviewAnswers(counts, plan.answered(truth[plan.rows])).p_value)
    assert np.mean(np.array(p_values) < 0.05) < 0.08


@pytest.mark.parametrize("slope", [0.5, -0.5])
def test_labels_that_prefer_some_scores_are_found_out(slope):
    _, _, p_values = simulate(slope, 500, "any", repeats=60)
    assert np.mean(p_values < 0.05) > 0.8


@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("prevalence", [0.01, 0.1, 0.4])
def test_a_handful_of_low_reviews_is_honest(prevalence, slope):
    """60 reviews planned for precision: a few of them must tell recall, F1 and areas."""
    _, held, _ = simulate(slope, 60, "any", repeats=100, prevalence=prevalence, goal="precision")
    for (metric, level), inside in held.items():
        error = (level * (1 - level) / len(inside)) ** 0.5
        assert np.mean(inside) > level - 4 * error, (metric, level, np.mean(inside))
