"""What reviews would buy: the half-width before and after, or nothing where no plan is made."""

import numpy as np
import pytest

import undercount as uc
from undercount.infer.reviews.drawn_verdicts import Pool
from undercount.read.plan import review_gain
from undercount.read.plan.review_gain import gain_of, reviews_for


def rows(n=6000, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.1
    return truth & (rng.random(n) < 0.3), rng.normal(2 * truth), truth


def test_the_price_is_that_of_the_plan_and_comes_true():
    y, score, truth = rows()
    before = uc.evaluate(y, score, unlabeled=0, threshold=1.5)
    price = gain_of(before)
    low, high = before.rows[1].estimate.low, before.rows[1].estimate.high
    assert price.before == pytest.approx((high - low) / 2)
    assert price.helps
    widths = []
    for seed in range(12):
        plan = uc.plan_reviews(
            y, score, unlabeled=0, threshold=1.5, budget=100, goal="precision", random_state=seed
        )
        reviews = plan.answered(truth[plan.rows])
        after = uc.evaluate(
            y, score, unlabeled=0, threshold=1.5, assume=uc.Reviewed(reviews, labels="any")
        )
        widths.append((after.rows[1].estimate.high - after.rows[1].estimate.low) / 2)
    assert np.mean(widths) == pytest.approx(price.after, rel=0.25)


@pytest.mark.parametrize(
    "options",
    [
        {"assume": uc.RandomLabels(unlabeled_prevalence=0.08, sampling="case-control")},
        {"sample_weight": np.linspace(0.5, 1.5, 6000), "prevalence": 0.1},
        {"assume": uc.RandomLabels(0.1, purity=0.9)},
    ],
)
def test_no_price_where_no_plan_is_made(options):
    y, score, _ = rows()
    assert gain_of(uc.evaluate(y, score, unlabeled=0, threshold=1.5, **options)) is None


def test_the_words_name_what_python_calls(capsys):
    y, score, _ = rows()
    print(uc.evaluate(y, score, unlabeled=0, threshold=1.5))  # noqa: T201 - read back
    words = " ".join(capsys.readouterr().out.split())
    assert (
        "→ uc.plan_reviews(y, score, unlabeled=0, budget=100, threshold=1.5, "
        'goal="precision") precision ±' in words
    )


@pytest.mark.parametrize("top", [False, True])
def test_what_is_lacking_is_what_a_further_plan_needs_and_comes_true(top):
    """Labels at random, or of the highest scores alone, of which low scores know nothing."""
    rng = np.random.default_rng(8)
    truth = rng.random(20_000) < 0.1
    score = rng.normal(2 * truth)
    chance = np.where(score > np.quantile(score, 0.97), 0.9, 0.02) if top else 0.3
    y, given = truth & (rng.random(len(truth)) < chance), {"unlabeled": 0, "threshold": 1.5}
    got, promised, said, needed = [], [], [], []
    for seed in range(6):
        own = {**given, "random_state": seed}
        plan = uc.plan_reviews(y, score, budget=80, goal="precision", prevalence=0.1, **own)
        reviews = plan.answered(truth[plan.rows])
        found = uc.evaluate(y, score, reviews=reviews, metrics=["recall"], **given)
        further = uc.plan_reviews(y, score, budget=150, goal="recall", reviews=reviews, **own)
        usual, most = reviews_for(found, found.rows[0], 0.1)
        assert usual <= most <= np.sum(~y)
        said.append(usual)
        needed.append(further.budget_for("recall", 0.1))
        joined = further.answered(truth[further.rows])
        recall = uc.evaluate(y, score, assume=uc.Reviewed(joined, labels="any"), **given)["recall"]
        got.append((recall.high - recall.low) / 2)
        promised.append(further.expected_range[150]["recall"].high)
    assert np.sum(np.array(got) <= promised) >= 5
    assert np.max(promised) < 0.3
    assert np.mean(said) == pytest.approx(np.mean(needed), rel=0.1)  # their draws are not the same


def test_printing_draws_no_verdicts_and_makes_no_plan(monkeypatch):
    """What reviews would buy is a formula that the evaluation holds."""
    y, score, _ = rows()
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.5)

    def refuse(*_given, **_options):
        raise AssertionError("a verdict was drawn")

    monkeypatch.setattr(Pool, "draw", refuse)
    monkeypatch.setattr(review_gain, "first_design", refuse)
    assert f"± {evaluation.review_gain.after:.3f}"[:6] in str(evaluation)
    assert evaluation.review_gain is evaluation.review_gain
