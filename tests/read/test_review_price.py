"""What reviews would buy: the half-width before and after, or nothing where no plan is made."""

import numpy as np
import pytest

import undercount as uc
from undercount.read.review_price import price_reviews


def rows(n=6000, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.1
    return truth & (rng.random(n) < 0.3), rng.normal(2 * truth), truth


def test_the_price_is_that_of_the_plan_and_comes_true():
    y, score, truth = rows()
    before = uc.evaluate(y, score, unlabeled=0, threshold=1.5)
    price = price_reviews(before)
    low, high = before.rows[1].estimate.low, before.rows[1].estimate.high
    assert price.before == pytest.approx((high - low) / 2)
    assert price.helps
    widths = []
    for seed in range(12):
        plan = uc.plan_reviews(
            y, score, unlabeled=0, threshold=1.5, budget=100, goal="precision", random_state=seed
        )
        reviews = plan.answered(truth[plan.rows])
        after = uc.evaluate(y, score, unlabeled=0, threshold=1.5, reviews=reviews, labels="any")
        widths.append((after.rows[1].estimate.high - after.rows[1].estimate.low) / 2)
    assert np.mean(widths) == pytest.approx(price.after, rel=0.25)


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": "case-control", "unlabeled_prevalence": 0.08},
        {"sample_weight": np.linspace(0.5, 1.5, 6000), "prevalence": 0.1},
        {"label_purity": 0.9, "prevalence": 0.1},
    ],
)
def test_no_price_where_no_plan_is_made(options):
    y, score, _ = rows()
    assert price_reviews(uc.evaluate(y, score, unlabeled=0, threshold=1.5, **options)) is None


def test_the_words_name_what_python_calls(capsys):
    y, score, _ = rows()
    print(uc.evaluate(y, score, unlabeled=0, threshold=1.5))  # noqa: T201 - read back
    words = " ".join(capsys.readouterr().out.split())
    assert (
        "→ uc.plan_reviews(y, score, unlabeled=0, budget=100, threshold=1.5, "
        'goal="precision") precision ±' in words
    )
