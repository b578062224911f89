"""Plans of reviews: strata, shares of the budget, and what they are said to buy."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

import undercount as uc
from undercount.count.draw import DrawnRows
from undercount.count.review_file import as_review_csv
from undercount.infer.reviews.sheet import make_sheet
from undercount.read.plan import unlabeled_rows
from undercount.read.plan.allocation import fill
from undercount.read.plan.expected_width import ExpectedWidths
from undercount.read.plan.hidden_positives import HiddenPositives
from undercount.read.plan.strata import next_design
from undercount.read.plan.unlabeled_rows import UnlabeledRows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    truth = rng.random(4000) < 0.1
    y = np.where(truth & (rng.random(4000) < 0.3), 1, 0)
    return truth, rng.normal(2.2 * truth), y


def plan_of(rows, other=None, **options):
    _, score, y = rows
    options = {"budget": 80, "threshold": 1.5, "unlabeled_prevalence": 0.07, **options}
    models = score if other is None else {"score": score, "other": other}
    return uc.plan_reviews(y, models, unlabeled=0, **options)


def test_rows_are_unlabeled_and_each_is_there_once(rows):
    plan = plan_of(rows)
    assert len(set(plan.rows.tolist())) == 80
    assert (rows[2][plan.rows] == 0).all()
    np.testing.assert_array_equal(plan.stratum, plan.design.stratum_of(plan.score))
    np.testing.assert_allclose(plan.score, rows[1][plan.rows])


def test_strata_hold_all_unlabeled_rows_and_the_threshold_is_an_edge(rows):
    _, score, y = rows
    plan = plan_of(rows)
    pool = score[y == 0]
    held = np.bincount(plan.design.stratum_of(pool), minlength=plan.design.n_strata)
    np.testing.assert_array_equal(held, plan.design.n_unlabeled)
    above = plan.design.edges[plan.design.edges >= 1.5]
    assert plan.design.n_unlabeled[: len(above)].sum() == (pool >= 1.5).sum()


def test_any_beginning_of_the_plan_has_about_the_shares_of_the_whole(rows):
    design = plan_of(rows).design
    whole = design.sizes() / 80
    for budget in (40, 60):
        assert np.abs(design.sizes(budget) - budget * whole).max() <= 1


@pytest.mark.parametrize("budget", [1, 2, 5, 3500, 10**6])
def test_any_budget_can_be_planned(rows, budget):
    plan = plan_of(rows, budget=budget)
    assert len(plan.rows) == min(budget, (rows[2] == 0).sum())
    assert plan.design.sizes().sum() == len(plan.rows)


@pytest.mark.parametrize(
    "goal", ["precision", "recall", "roc_auc", "average_precision", "mcc", "prevalence"]
)
def test_any_goal_can_be_planned_and_costs_more_for_less_width(rows, goal):
    plan = plan_of(rows, goal=goal)
    widths = [plan.expected[budget][goal] for budget in (25, 50, 100, 500)]
    assert np.all(np.diff(widths) < 0)
    wanted = plan.budget_for(goal, widths[2])
    assert 95 <= wanted <= 105  # strata get whole rows, so that widths do not fall evenly


def test_the_goal_decides_where_to_look(rows):
    flagged = {
        goal: np.mean(plan_of(rows, goal=goal).score >= 1.5) for goal in ("precision", "prevalence")
    }
    assert flagged["precision"] > 0.85
    assert flagged["prevalence"] < 0.5


def test_the_same_seed_draws_the_same_rows(rows):
    np.testing.assert_array_equal(plan_of(rows).rows, plan_of(rows).rows)
    assert not np.array_equal(plan_of(rows).rows, plan_of(rows, random_state=1).rows)


def test_a_budget_is_filled_between_what_must_be_and_what_can_be():
    sizes = fill(np.array([10.0, 1.0, 1.0]), np.array([0, 2, 0]), np.array([5, 50, 50]), 20)
    assert sizes.tolist() == [5, 8, 7]


def test_a_further_round_draws_new_rows_of_the_same_strata(rows):
    truth, score, y = rows
    first = plan_of(rows)
    reviews = first.answered(truth[first.rows][:60])
    second = plan_of(rows, reviews=reviews, budget=50)
    assert not set(second.rows.tolist()) & set(first.rows[:60].tolist())
    np.testing.assert_array_equal(second.design.edges, first.design.edges)
    both = second.answered(truth[second.rows])
    assert both.n_answered == 110
    found = uc.evaluate(
        y, score, unlabeled=0, assume=uc.Reviewed(both, labels="any"), threshold=1.5
    )
    assert found.recovery.reviewed.n_answered == 110
    assert second.expected[50]["f1"] < first.expected[50]["f1"]


def test_counts_alone_make_the_design_and_its_widths(rows):
    _, score, y = rows
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    design = uc.design_reviews(
        counts, budget=100, goal=("f1", "roc_auc"), threshold=1.5, unlabeled_prevalence=0.07
    )
    widths = ExpectedWidths.of_first(counts, design, HiddenPositives(0.07))
    # Four times the verdicts halve an interval; of 3,900 rows they leave less to guess beside.
    half = widths.half_width("f1", 100) / 2
    assert 0.7 * half < widths.half_width("f1", 400) < half
    reviews = uc.Reviews(None, np.zeros(100), design.edges[design.order], design.order, design)
    assert len(next_design(counts, reviews, budget=10).order) == 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0}, "budget must be a whole number"),
        ({"budget": 2.5}, "budget must be a whole number"),
        ({"threshold": None}, "the goal f1 needs a threshold"),
        ({"goal": "f7"}, "metric must be one of"),
        ({"unlabeled_prevalence": 1.5}, r"must be in \(0, 1\)"),
    ],
)
def test_bad_requests_are_refused(rows, options, words):
    with pytest.raises(uc.InputError, match=words):
        plan_of(rows, **options)


def test_more_verdicts_than_rows_are_refused(rows):
    with pytest.raises(uc.InputError, match="81 verdicts for a plan of 80 rows"):
        plan_of(rows).answered([0] * 81)


def test_a_difference_is_planned_where_the_models_differ(rows):
    """A second model that flags as the first does above 2.5 and below 0 needs no review there."""
    _, score, _ = rows
    rng = np.random.default_rng(8)
    between = (score > 0) & (score < 2.5)
    other = score.copy()
    other[between] = rng.permutation(score[between])
    one = plan_of(rows, goal="f1")
    both = plan_of(rows, goal="difference", other=other)
    assert both.design.goal == ("f1_difference",)
    inside = [np.mean((plan.score > 0) & (plan.score < 2.5)) for plan in (one, both)]
    assert inside[1] > inside[0]
    again = plan_of(rows, goal="f1_difference", other=score)
    # A model does not differ from itself.
    assert again.expected[80]["f1_difference"] < 0.02 * one.expected[80]["f1"]
    with pytest.raises(uc.InputError, match="needs the scores of two models"):
        plan_of(rows, goal="difference")
    with pytest.raises(uc.InputError, match="must have a score for each of 4,000 rows"):
        plan_of(rows, goal="difference", other=score[:9])


def test_a_further_round_expects_what_was_found():
    """Labels that prefer high scores mislead the first plan, and not the second."""
    rng = np.random.default_rng(3)
    truth = rng.random(20_000) < 0.1
    score = rng.normal(2.2 * truth)
    y = np.where(truth & (rng.random(20_000) < 1 / (1 + np.exp(3.2 - 1.0 * score))), 1, 0)
    common = {"unlabeled": 0, "threshold": 1.7, "unlabeled_prevalence": 0.07}
    plan = uc.plan_reviews(y, score, budget=300, **common)
    reviews = plan.answered(truth[plan.rows])
    more = uc.plan_reviews(y, score, budget=300, reviews=reviews, **common)
    found = uc.evaluate(
        y,
        score,
        unlabeled=0,
        threshold=1.7,
        assume=uc.Reviewed(more.answered(truth[more.rows]), labels="any"),
    )
    achieved = next(row.estimate for row in found.rows if row.metric == "f1")
    half = (achieved.high - achieved.low) / 2
    assert more.expected[300]["f1"] == pytest.approx(half, rel=0.15)


@pytest.mark.parametrize("unit", [1.0, 0.01, 1e40, 1e-90])
def test_a_budget_buys_rows_whatever_they_weigh(unit):
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.4
    y, score = (truth & (rng.random(300) < 0.5)).astype(int), rng.normal(2.0 * truth).round(1)
    weight = unit * np.where(score > 2.5, 40.0, rng.exponential(size=300))
    options = {"unlabeled": 0, "threshold": 1.0}
    plan = uc.plan_reviews(y, score, budget=60, sample_weight=weight, **options)
    assert len(plan.rows) == 60
    reviews = plan.answered(truth[plan.rows])
    more = uc.plan_reviews(y, score, budget=10, sample_weight=weight, reviews=reviews, **options)
    assert len(more.rows) == 10
    found = uc.evaluate(y, score, sample_weight=weight, reviews=reviews, **options)
    same = uc.evaluate(
        y, score, sample_weight=weight / unit, reviews=replace(reviews, weight=plan.weight / unit),
        **options,
    )  # fmt: skip
    for name, number in same.metrics().items():
        assert found.metrics()[name] == pytest.approx(number, abs=1e-7)


def test_verdicts_and_rows_have_weights_together():
    y, score = np.array([1, 1, 0, 0, 0, 0, 0, 0]), np.arange(8.0)[::-1]
    weight, options = np.arange(1.0, 9.0), {"unlabeled": 0, "threshold": 4.0}
    known = {"budget": 4, "unlabeled_prevalence": 0.3}
    bare = uc.plan_reviews(y, score, **known, **options)
    heavy = uc.plan_reviews(y, score, **known, **options, sample_weight=weight)
    with pytest.raises(uc.InputError, match="with weights"):
        uc.evaluate(y, score, sample_weight=weight, reviews=bare.answered([0, 1, 0, 0]), **options)
    with pytest.raises(uc.InputError, match="without weights"):
        uc.evaluate(y, score, reviews=heavy.answered([0, 1, 0, 0]), **options)
    equal = uc.plan_reviews(y, score, **known, **options, sample_weight=np.ones(8))
    assert uc.evaluate(y, score, reviews=equal.answered([0, 1, 0, 0]), **options)


def test_the_design_of_a_huge_plan_fits_into_a_cell_of_a_spreadsheet():
    rng = np.random.default_rng(0)
    n = 20_000
    counts = uc.ScoreCounts.from_counts(
        1e-300 * rng.normal(size=n), rng.poisson(1, n), np.zeros(n), np.full(n, 123_456_789.0)
    )
    options = {"threshold": 1e-300, "unlabeled_prevalence": 0.1}
    design = uc.design_reviews(counts, budget=400_000, **options)
    few = replace(design, order=design.order[:1])
    drawn = DrawnRows(few.order, {"p": few.edges[few.order]}, np.array([1]), {})
    sheet = make_sheet(few, drawn, counts, {"label": "y", "keep": ["a" * 100] * 20})
    header, case = csv.reader(io.StringIO(as_review_csv(sheet).removeprefix("\ufeff"), newline=""))
    assert max(map(len, case)) < 32_767
    assert header[-1] == "design"


def test_a_further_round_refuses_rows_in_another_order(rows):
    truth, score, y = rows
    first = plan_of(rows)
    reviews = first.answered(truth[first.rows])
    with pytest.raises(uc.InputError, match="the plan was made for other data"):
        plan_of((truth, score[::-1].copy(), y[::-1].copy()), reviews=reviews, budget=50)


def test_rows_of_many_are_drawn_from_a_sample_of_them(rows, monkeypatch):
    """Each row of a stratum is as likely as any: what is drawn has the mean of the stratum."""
    _, score, y = rows
    design = plan_of(rows, budget=400).design
    pool = np.flatnonzero(y == 0)
    monkeypatch.setattr(unlabeled_rows, "MANY_ROWS", 100)
    monkeypatch.setattr(unlabeled_rows, "SAMPLE", 1500)
    everyone = UnlabeledRows(np.where(y == 1, 1, -1), score)
    found = []
    for seed in range(60):
        drawn = everyone.draw(replace(design, seed=seed))
        np.testing.assert_array_equal(design.stratum_of(score[drawn]), design.order)
        assert len(set(drawn.tolist())) == 400
        found.append(np.bincount(design.order, score[drawn], design.n_strata) / design.sizes())
    assert (y[drawn] == 0).all()
    for h in range(design.n_strata):
        own = score[pool][design.stratum_of(score[pool]) == h]
        error = own.std() / np.sqrt(60 * design.sizes()[h]) + 1e-12
        assert abs(np.mean(found, axis=0)[h] - own.mean()) < 4 * error


def test_a_printed_plan_is_its_table_of_widths():
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.1
    y = np.where(truth & (rng.random(3000) < 0.3), 1, 0)
    plan = uc.plan_reviews(y, rng.normal(2 * truth), unlabeled=0, budget=50, threshold=1.5)
    printed = str(plan)
    assert f"50 of {(y == 0).sum():,} rows without a label" in printed
    assert "reviews buy" in printed
    assert "array(" not in printed
