"""Reviews of rows whose labels prefer easy positives: last table of docs/evidence/reviews.md."""

import numpy as np
import pytest

import undercount as uc

N_DRAWS, CUT = 60, 2.0


def evaluate_one(seed, labels):
    """Return the evaluation of one draw, and the true precision and recall."""
    rng = np.random.default_rng(seed)
    harmful, blatant = rng.random(30_000) < 0.03, rng.random(30_000) < 0.5
    score = rng.normal(harmful * (1.4 + 1.4 * blatant))
    reported = (harmful & (rng.random(30_000) < 0.05 + 0.25 * blatant)).astype(int)
    given = {"unlabeled": 0, "threshold": CUT}
    plan = uc.plan_reviews(
        reported, score, budget=300, goal=["precision", "recall"], random_state=seed, **given
    )
    made = uc.evaluate(
        reported,
        score,
        assume=uc.Reviewed(plan.answered(harmful[plan.rows]), labels=labels),
        metrics=["precision", "recall"],
        **given,
    )
    return made, harmful[score >= CUT].mean(), (score >= CUT)[harmful].mean()


def measure(labels):
    """Return bias, coverage and width of the intervals of precision and recall."""
    found = []
    for seed in range(N_DRAWS):
        evaluation, *truths = evaluate_one(seed, labels)
        pairs = zip((evaluation["precision"], evaluation["recall"]), truths, strict=True)
        found.append([(e.value - t, e.low <= t <= e.high, e.high - e.low) for e, t in pairs])
    return np.mean(np.array(found, float), axis=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_reviews_alone_hold_whatever_the_labels_prefer():
    precision, recall = measure(None)  # the default
    assert precision[1] >= 0.9
    assert recall[1] >= 0.9
    assert abs(recall[0]) < 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_test_of_the_labels_would_be_no_licence():
    """Were labels used whenever the test does not reject them, recall would be missed too often."""
    held = []
    for seed in range(N_DRAWS):
        evaluation, _, truth = evaluate_one(seed, None)
        reviewed = evaluation.recovery.reviewed
        chosen = "any" if reviewed.rejected else "random"
        found = reviewed.estimate("recall", CUT, labels=chosen)
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) < 0.8
