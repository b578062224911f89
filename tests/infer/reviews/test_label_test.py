"""The comparison of labelled positives with those that reviews found."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

import undercount as uc
from undercount.assume.reviewed.answers import ReviewAnswers
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.label_test import LabelTest, _Draw
from undercount.infer.reviews.verdicts import ReviewedCells


def enumerated(odds, rank, drawn):
    """Return the sum of ranks of each set of so many, and how likely the set is."""
    sets = np.array(list(itertools.combinations(range(len(odds)), drawn)))
    weight = odds[sets].prod(axis=1)
    return rank[sets].sum(axis=1), weight / weight.sum()


def p_values(odds, drawn):
    """Return the p-value of every sum of ranks, what enumeration says, and how likely it is."""
    rank = (np.arange(len(odds)) + 0.5) / len(odds)
    sums, likely = enumerated(odds, rank, drawn)
    draw = _Draw(odds, np.ones(len(odds)), rank, float(drawn))
    for own in np.unique(sums.round(9)):
        near = np.isclose(sums, own)
        below = likely[sums < own - 1e-9].sum() + likely[near].sum() / 2
        value = 2 * norm.sf(abs(draw.normal_score(own)))
        yield value, 2 * min(below, 1 - below), likely[near].sum()


@pytest.mark.parametrize(("number", "drawn"), [(12, 1), (12, 2), (12, 4), (14, 7), (16, 3)])
def test_p_values_are_those_of_all_sets_that_might_have_been_drawn(number, drawn):
    """What is just as extreme counts half, as in a distribution without steps."""
    value, expected, _ = np.transpose(list(p_values(np.ones(number), drawn)))
    assert value == pytest.approx(expected, abs=0.05 if drawn == 1 else 0.012)


@pytest.mark.parametrize(("number", "drawn"), [(12, 1), (12, 2), (12, 4), (14, 7), (16, 3)])
@pytest.mark.parametrize("unequal", ["smoothly", "two strata"])
def test_unequal_odds_keep_the_size_among_all_sets(number, drawn, unequal):
    normal = np.random.default_rng(number * drawn).normal(0, 1.5, number)
    odds = np.exp(normal) if unequal == "smoothly" else np.repeat([1.0, 30.0], number // 2)
    value, _, likely = np.transpose(list(p_values(odds, drawn)))
    assert likely.sum() == pytest.approx(1)
    assert likely[value < 0.05].sum() <= 0.07


def draw_rows(seed, size=6000, prevalence=0.065, slope=0.0, frequency=0.35):
    """Rows whose labels have log odds that rise by a slope with each standard deviation."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prevalence
    score = rng.normal(2.2 * truth)
    chance = 1 / (1 + np.exp(-np.log(frequency / (1 - frequency)) - slope * (score - 2.2)))
    y = np.where(truth & (rng.random(size) < chance), 1, -1)
    return truth, score, y, float(np.quantile(score, 0.96))


def read_first(rows, answered, seed, goal="precision", budget=60):
    """Return what the first verdicts of a plan make of the labels."""
    truth, score, y, cut = rows
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    share = float(truth[y == -1].mean())
    plan = uc.plan_reviews(
        y, score, unlabeled=-1, budget=budget, goal=goal, threshold=cut, random_state=seed,
        unlabeled_prevalence=share,
    )  # fmt: skip
    return ReviewAnswers(counts, plan.answered(truth[plan.rows][:answered]))


@pytest.mark.parametrize("size", [6000, 12_000])
def test_the_first_ten_verdicts_for_precision_do_not_reject_random_labels(size):
    """They lie in a few strata, which a normal statistic was not made for: it rejected half."""
    rejected = [read_first(draw_rows(seed, size), 10, seed).rejected for seed in range(40)]
    # .07 of 40 draws: more than 7 have a chance of .01.
    assert sum(rejected) <= 7


def test_labels_that_strongly_prefer_scores_are_noticed():
    for slope in (1.0, -1.0):
        rejected = [
            read_first(draw_rows(seed, slope=slope), 200, seed, "f1", 200).rejected
            for seed in range(12)
        ]
        assert sum(rejected) >= 9, slope


def test_without_a_positive_there_is_nothing_to_compare():
    _, score, y, cut = draw_rows(3)
    plan = uc.plan_reviews(
        y, score, unlabeled=-1, budget=60, threshold=cut, unlabeled_prevalence=0.04
    )
    reviews = plan.answered(np.zeros(10, dtype=int))
    evaluation = uc.evaluate(y, score, unlabeled=-1, threshold=cut, reviews=reviews)
    reviewed = evaluation.recovery.reviewed
    assert np.isnan(reviewed.p_value)
    assert (reviewed.rejected, reviewed.undecided) == (False, True)
    check = next(check for check in evaluation.checks if check.code == "UC015")
    assert check.level == "info"
    assert "cannot be said yet (no positive found yet)" in check.message
    assert "more reviews from the same plan would show a strong preference" in check.advice
    words = " ".join(str(evaluation).split())
    assert "no difference" not in words
    said = (
        "cannot tell yet whether labels are a random sample of the positives (no positive found yet"
    )
    assert f"the reviews {said}; about" in words
    found = evaluation.to_dict()["models"][0]["reviews"]["random_labels"]
    assert found == {"p_value": None, "rejected": False, "undecided": True}
    vouched = uc.evaluate(
        y, score, unlabeled=-1, threshold=cut, assume=uc.Reviewed(reviews, labels="random")
    )
    assert "do not contradict" not in str(vouched)


def test_so_many_more_reviews_as_it_says_make_the_comparison_tell():
    rows = draw_rows(4)
    few = read_first(rows, 10, 0, "f1", 400)
    assert few.undecided
    more = few.label_test.further_verdicts
    assert 20 < more < 390
    enough = read_first(rows, 10 + int(1.5 * more), 0, "f1", 400)
    assert not enough.undecided
    assert read_first(rows, 10 + more // 3, 0, "f1", 400).undecided


def test_too_few_labels_cannot_be_told_whatever_is_reviewed():
    rows = draw_rows(4, frequency=0.02)
    test = read_first(rows, 60, 0, "f1", 60).label_test
    assert test.further_verdicts is None
    assert "too few labels" in test.further_words


def test_strata_without_a_verdict_say_nothing():
    """Labelled positives there are compared with nothing, whatever their scores."""
    y = np.array([1, 1, 1, 1, -1, -1, -1, -1] * 5)
    score = np.arange(40.0)[::-1]
    design = uc.ReviewDesign([20, 0], [8, 12], order=[0] * 4 + [1] * 4, unlabeled_prevalence=0.4)
    at = [4, 5, 6, 7]
    reviews = uc.Reviews(at, [1, 0, 1, 0], score[at], [0] * 4, design)

    def p_value(labels):
        counts = uc.ScoreCounts.from_rows(labels, score, unlabeled=-1)
        return LabelTest(ReviewedCells(counts, reviews, np.full(40, 0.4))).p_value

    # Rows 24 to 27 are labelled, and no row near them was looked at: 35 or 36 in their place.
    other = y.copy()
    other[[24, 25]], other[[28, 29]] = -1, 1
    assert p_value(other) == p_value(y)


def test_labels_given_by_cluster_prove_less():
    rng = np.random.default_rng(0)
    reviewed = read_first(draw_rows(0, slope=1.0), 100, 0, "f1", 100)
    _, score, y, _ = draw_rows(0, slope=1.0)
    rows = reviewed.reviews.rows[reviewed.reviews.answered]
    alone = reviewed.label_test.p_value
    # Clusters of ten rows of neighbouring scores, against clusters of any rows.
    near = np.argsort(np.argsort(score)) // 10
    any_rows = rng.permutation(near)
    cells = reviewed.label_test.cells
    near_value, any_value = (
        LabelTest(cells, ReviewClusters(y, score, cluster, rows)).p_value
        for cluster in (near, any_rows)
    )
    assert near_value > 3 * alone
    assert alone <= any_value < near_value
