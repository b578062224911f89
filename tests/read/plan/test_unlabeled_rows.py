"""Unlabeled rows of many: counted between quantiles, drawn from a sample, none of them twice."""

from dataclasses import replace

import numpy as np
import pytest

import undercount as uc
from undercount.read.plan import unlabeled_rows
from undercount.read.plan.unlabeled_rows import UnlabeledRows


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(unlabeled_rows, "MANY_ROWS", 1000)
    monkeypatch.setattr(unlabeled_rows, "SAMPLE", 4000)
    monkeypatch.setattr(unlabeled_rows, "N_LABELLED_KNOTS", 64)


def rows_of(seed=3, n_rows=30_000, dtype=np.float64):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.1
    score = rng.normal(2.2 * truth).astype(dtype)
    label = np.where(truth & (rng.random(n_rows) < 0.3), 1, -1)
    label[(label == -1) & ~truth & (rng.random(n_rows) < 0.02)] = 0
    return truth, label.astype(np.int8), score


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_between_knots_are_those_of_a_histogram(dtype):
    _, label, score = rows_of(dtype=dtype)
    score[:3], score[3] = -np.inf, np.inf
    rows = UnlabeledRows(label, score)
    knots = [*rows.knots, 0.7]
    counts = rows.count_between(knots)
    assert counts.score[-1] == score.min()
    for code, found in ((1, counts.positive), (0, counts.negative), (-1, counts.unlabeled)):
        own = score[label == code].astype(np.float64)
        above = (own[:, None] >= counts.score).sum(axis=0)
        np.testing.assert_array_equal(np.cumsum(found), above)
    # What lies at the threshold or above can be told.
    flagged = counts.score >= 0.7
    assert counts.unlabeled[flagged].sum() == np.sum(score[label == -1] >= dtype(0.7))


@pytest.mark.usefixtures("few_are_many")
def test_many_rows_are_planned_as_few_are(monkeypatch):
    _, label, score = rows_of()
    options = {"unlabeled": -1, "threshold": 1.5, "budget": 200, "unlabeled_prevalence": 0.07}
    many = uc.plan_reviews(label, score, **options)
    monkeypatch.setattr(unlabeled_rows, "MANY_ROWS", len(score))
    few = uc.plan_reviews(label, score, **options)
    for plan in (few, many):
        assert (label[plan.rows] == -1).all()
        assert len(set(plan.rows.tolist())) == 200
        pool = score[label == -1]
        number = np.bincount(plan.design.stratum_of(pool), minlength=plan.design.n_strata)
        np.testing.assert_array_equal(number, plan.design.n_unlabeled)
        np.testing.assert_array_equal(plan.design.stratum_of(score[plan.rows]), plan.stratum)
    assert many.expected[200]["f1"] == pytest.approx(few.expected[200]["f1"], rel=0.1)
    assert 1.5 in many.design.edges


@pytest.mark.usefixtures("few_are_many")
def test_rows_with_a_verdict_are_drawn_from_no_sample():
    truth, label, score = rows_of(n_rows=6000)
    options = {"unlabeled": -1, "threshold": 1.5}
    first = uc.plan_reviews(label, score, budget=150, unlabeled_prevalence=0.07, **options)
    reviews = first.answered(truth[first.rows][:140])
    second = uc.plan_reviews(label, score, budget=300, reviews=reviews, **options)
    assert len(second.rows) == len(set(second.rows.tolist())) == 300
    assert not set(second.rows.tolist()) & set(first.rows[:140].tolist())
    assert (label[second.rows] == -1).all()


@pytest.mark.usefixtures("few_are_many")
def test_every_row_of_a_stratum_is_as_likely_to_be_drawn():
    """Of strata that a sample holds enough of, and of those between, which are searched for."""
    _, label, score = rows_of(n_rows=2000)
    order = np.repeat([0, 1, 2, 3], [3, 3, 10, 6])
    edges = np.array([2.5, 0.1, 0.0, -9.0])
    pool = np.flatnonzero(label == -1)
    number = np.bincount(np.minimum(np.searchsorted(-edges, -score[pool]), 3), minlength=4)
    design = uc.ReviewDesign(edges, number, order, 0.07)
    rows, drawn = UnlabeledRows(label, score), np.zeros(len(score))
    for seed in range(1500):
        drawn[rows.draw(replace(design, seed=seed))] += 1
    assert not drawn[label != -1].any()
    stratum = design.stratum_of(score[pool])
    for h, size in enumerate(design.sizes()):
        own, chance = drawn[pool][stratum == h], size / number[h]
        spread = np.sum((own - 1500 * chance) ** 2) / (1500 * chance * (1 - chance))
        # Chi-square with one degree of freedom less than rows; five standard deviations.
        assert abs(spread - (number[h] - 1)) < 5 * np.sqrt(2 * number[h])


def test_what_a_plan_buys_is_worked_out_when_it_is_read():
    _, label, score = rows_of(n_rows=3000)
    plan = uc.plan_reviews(
        label, score, unlabeled=-1, budget=60, threshold=1.5, unlabeled_prevalence=0.07
    )
    assert "expected" not in vars(plan)
    assert sorted(plan.expected) == plan.budgets
    assert plan.expected is plan.expected
