"""Reviews of rows whose labels prefer easy positives: last table of docs/evidence/reviews.md."""

import numpy as np
import pytest

import undercount as uc

N_DRAWS, CUT = 60, 2.0


def measure(labels):
    """Return bias, coverage and width of the intervals of precision and recall."""
    found = []
    for seed in range(N_DRAWS):
        rng = np.random.default_rng(seed)
        harmful, blatant = rng.random(30_000) < 0.03, rng.random(30_000) < 0.5
        score = rng.normal(harmful * (1.4 + 1.4 * blatant))
        reported = (harmful & (rng.random(30_000) < 0.05 + 0.25 * blatant)).astype(int)
        given = {"unlabeled": 0, "threshold": CUT}
        plan = uc.plan_reviews(
            reported, score, budget=300, goal=["precision", "recall"], random_state=seed, **given
        )
        reviews = plan.answered(harmful[plan.rows])
        evaluation = uc.evaluate(
            reported,
            score,
            reviews=reviews,
            labels=labels,
            metrics=["precision", "recall"],
            **given,
        )
        truths = harmful[score >= CUT].mean(), (score >= CUT)[harmful].mean()
        pairs = zip((evaluation["precision"], evaluation["recall"]), truths, strict=True)
        found.append([(e.value - t, e.low <= t <= e.high, e.high - e.low) for e, t in pairs])
    return np.mean(np.array(found, float), axis=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_reviews_alone_hold_whatever_the_labels_prefer():
    precision, recall = measure("any")
    assert precision[1] >= 0.9
    assert recall[1] >= 0.9
    assert abs(recall[0]) < 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_page_still_tells_how_much_the_test_overlooks():
    """If this fails because reviews got better, the last table of the page must say so."""
    assert measure(None)[1][1] < 0.8
