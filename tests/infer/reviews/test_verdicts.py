"""Reviewed rows: strata, verdicts, and the masses that they make."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import undercount as uc
from undercount.infer.reviews.verdicts import ReviewedCells, split_merged, working_posterior


@pytest.fixture
def rows():
    """Forty rows, twelve positives of which four are labelled, scores with ties."""
    rng = np.random.default_rng(3)
    truth = np.zeros(40, dtype=int)
    truth[rng.choice(40, 12, replace=False)] = 1
    score = np.round(rng.normal(1.2 * truth), 1)
    y = np.where((truth == 1) & (np.cumsum(truth) <= 4), 1.0, np.nan)
    return truth, score, y


def review(truth, score, y, chosen, edges, share=0.2):
    pool = np.flatnonzero(np.isnan(y))
    design = uc.ReviewDesign(edges, np.zeros(len(edges)), [], share)
    number = np.bincount(design.stratum_of(score[pool]), minlength=len(edges))
    stratum = design.stratum_of(score[chosen])
    design = uc.ReviewDesign(edges, number, stratum, share)
    return uc.Reviews(chosen, truth[chosen], score[chosen], stratum, design)


def test_all_rows_reviewed_give_the_exact_metrics(rows):
    truth, score, y = rows
    everyone = np.flatnonzero(np.isnan(y))
    reviews = review(truth, score, y, everyone, [0.8, 0.1, score.min()])
    curve = uc.review_curve(uc.ScoreCounts.from_rows(y, score), reviews)
    assert curve.roc_auc == pytest.approx(roc_auc_score(truth, score), abs=1e-12)
    expected = average_precision_score(truth, score)
    assert curve.average_precision == pytest.approx(expected, abs=1e-12)
    flagged = score >= 0.8
    assert curve.at(0.8).precision == pytest.approx(truth[flagged].mean(), abs=1e-12)
    assert curve.at(0.8).recall == pytest.approx(truth[flagged].sum() / 12, abs=1e-12)
    metrics = uc.evaluate(y, score, assume=uc.Reviewed(reviews, labels="any"), threshold=0.8)
    assert metrics.rows[0].estimate.standard_error == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("share", [0.02, 0.6])
def test_totals_are_right_on_average_over_every_draw(share):
    truth = np.array([1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0])
    score = np.array([9, 8, 7, 7, 6, 5, 4, 3, 2, 1, 1.0])
    y = np.where(np.isin(np.arange(11), [0, 7]), 1.0, np.nan)
    counts = uc.ScoreCounts.from_rows(y, score)
    upper, lower = [1, 2, 3, 4, 5], [6, 8, 9, 10]
    masses = []
    for above in itertools.combinations(upper, 3):
        for below in itertools.combinations(lower, 2):
            reviews = review(truth, score, y, np.array(above + below), [5, 1], share)
            cells = ReviewedCells(counts, reviews, working_posterior(counts, share))
            masses.append(cells.positive)
    expected = [truth[score == value].sum() for value in counts.score]
    np.testing.assert_allclose(np.mean(masses, axis=0), expected, atol=1e-12)


@pytest.mark.parametrize("found", [0, 1, 3])
def test_positives_are_spread_where_rows_can_have_them(found):
    """Three verdicts on low scores that labels prefer: their sum alone is less than none."""
    rng = np.random.default_rng(5)
    truth = rng.random(2000) < 0.15
    score = rng.normal(1.5 * truth)
    y = np.where(truth & (rng.random(2000) < 1 / (1 + np.exp(1.5 * score))), 1.0, np.nan)
    counts, pool = uc.ScoreCounts.from_rows(y, score), np.flatnonzero(np.isnan(y))
    edges = [1.5, score.min()]
    chosen = np.concatenate([pool[score[pool] >= edges[0]][:6], pool[score[pool] < edges[0]][:3]])
    verdicts = np.append(truth[chosen[:6]], np.arange(3) < found).astype(int)
    truth[chosen] = verdicts
    cells = ReviewedCells(counts, review(truth, score, y, chosen, edges), np.full(2000, 0.5))
    cells = ReviewedCells(cells.counts, cells.reviews, working_posterior(counts, 0.6))
    spread, seen = cells.spread_hidden, cells.found
    assert np.all(spread >= seen - 1e-9)
    assert np.all(spread <= seen + cells.unseen + 1e-9)
    rows = np.bincount(cells.stratum, cells.unseen)
    sums = np.bincount(cells.stratum, cells.hidden - seen)
    expected = np.clip(sums, 0, rows)
    np.testing.assert_allclose(np.bincount(cells.stratum, spread - seen), expected, atol=1e-6)
    assert (sums[1] < 0) == (found == 0)


def test_edges_belong_to_the_stratum_above_and_what_is_below_all_to_the_last():
    design = uc.ReviewDesign([2.0, 1.0], [3, 4], [0, 1, 1], 0.1)
    np.testing.assert_array_equal(design.stratum_of([2.5, 2.0, 1.9, 1.0, -5]), [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(design.sizes(2), [1, 1])


def test_a_stratum_without_verdicts_joins_its_neighbour(rows):
    truth, score, y = rows
    pool = np.flatnonzero(np.isnan(y) & (score >= 0.1))[:6]
    reviews = review(truth, score, y, pool, [0.8, 0.1, score.min()])
    cells = ReviewedCells(
        uc.ScoreCounts.from_rows(y, score), reviews, np.full(40, 0.1)[: len(np.unique(score))]
    )
    assert cells.unlabeled_rows.sum() == np.isnan(y).sum()
    assert (cells.reviewed_rows > 0).all()


def test_unanswered_rows_do_not_count(rows):
    truth, score, y = rows
    pool = np.flatnonzero(np.isnan(y))
    reviews = review(truth, score, y, pool, [0.8, score.min()])
    half = uc.Reviews(
        pool, np.where(np.arange(len(pool)) % 2, np.nan, truth[pool]), score[pool],
        reviews.stratum, reviews.design,
    )  # fmt: skip
    assert half.n_answered == (len(pool) + 1) // 2
    share = half.sizes / reviews.design.n_unlabeled
    np.testing.assert_allclose(half.chance, share[half.stratum])


def test_a_row_twice_is_one_row_and_two_answers_are_refused():
    design = uc.ReviewDesign([1.0], [5], [0, 0], 0.1)
    once = uc.Reviews([3, 4, 3], [1, 0, None], [1, 2, 1], [0, 0, 0], design)
    assert once.rows.tolist() == [3, 4]
    with pytest.raises(uc.InputError, match="row 3 was reviewed twice with different answers"):
        uc.Reviews([3, 4, 3], [1, 0, 0], [1, 2, 1], [0, 0, 0], design)


def test_a_changed_score_or_changed_data_are_refused(rows):
    truth, score, y = rows
    pool = np.flatnonzero(np.isnan(y))[:8]
    reviews = review(truth, score, y, pool, [0.8, score.min()])
    with pytest.raises(uc.InputError, match="is not in stratum"):
        uc.Reviews(pool, truth[pool], score[pool] + 5, reviews.stratum, reviews.design)
    moved = score.copy()
    moved[pool[0]] += 1e-3
    with pytest.raises(uc.InputError, match="was reviewed at score"):
        uc.evaluate(y, moved, reviews=reviews)
    known = np.where(np.isin(np.arange(40), pool), truth, y)
    with pytest.raises(uc.InputError, match="verdicts by reviews alone"):
        uc.evaluate(known, score, reviews=reviews)
    with pytest.raises(uc.InputError, match="no row of the plan has a verdict yet"):
        uc.review_curve(
            uc.ScoreCounts.from_rows(y, score),
            uc.Reviews(pool, [None] * 8, score[pool], reviews.stratum, reviews.design),
        )


def test_rounds_join_only_with_the_same_strata():
    design = uc.ReviewDesign([2.0, 1.0], [3, 4], [0, 1], 0.1)
    one = uc.Reviews([0, 1], [1, None], [2, 1], [0, 1], design)
    two = uc.Reviews([1, 2], [0, 1], [1, 3], [1, 0], design)
    both = one + two
    assert both.n_answered == 3
    np.testing.assert_array_equal(both.sizes, [2, 1])
    other = uc.ReviewDesign([2.5, 1.0], [3, 4], [0], 0.1)
    with pytest.raises(uc.InputError, match="only if their strata are the same"):
        one + uc.Reviews([5], [1], [3], [0], other)


def test_the_working_posterior_never_falls_with_the_score_and_expects_as_many_as_supposed():
    rng = np.random.default_rng(0)
    truth = rng.random(4000) < 0.1
    y = np.where(truth & (rng.random(4000) < 0.3), 1, -1)
    counts = uc.ScoreCounts.from_rows(y, rng.normal(2 * truth), unlabeled=-1)
    posterior = working_posterior(counts, 0.07)
    assert np.all(np.diff(posterior) <= 1e-12)
    assert posterior.min() > 0
    assert posterior @ counts.unlabeled == pytest.approx(0.07 * counts.n_unlabeled, rel=0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_round_for_which_no_row_is_left_keeps_the_verdicts(weighted):
    rng = np.random.default_rng(0)
    truth = rng.random(40) < 0.5
    y, score = (truth & (np.arange(40) % 2 == 0)).astype(int), rng.normal(1.5 * truth)
    given = {"unlabeled": 0, "sample_weight": 0.5 + rng.random(40) if weighted else None}
    budget = int((y == 0).sum())
    first = uc.plan_reviews(y, score, budget=budget, prevalence=0.5, threshold=0.5, **given)
    seen = first.answered(truth[first.rows].astype(float))
    none_left = uc.plan_reviews(y, score, budget=1, reviews=seen, **given)
    assert len(none_left.rows) == 0
    assert none_left.answered([]).n_answered == seen.n_answered


def test_merged_cells_are_split_in_order_and_known_rows_are_kept():
    score = [9, 8, 7, 6, 5, 4, 3, 2]
    counts = uc.ScoreCounts.from_rows(
        [None, None, 1, None, None, 0, None, None], score, compact=True
    )
    finer = split_merged(counts, 4)
    for side in ("positive", "negative", "unlabeled"):
        assert getattr(finer, side).sum() == getattr(counts, side).sum()
        # At each score that was there, as many rows score as much or more.
        above = np.cumsum(getattr(finer, side))[np.isin(finer.score, counts.score)]
        assert above == pytest.approx(np.cumsum(getattr(counts, side)))
    assert len(finer.score) > len(counts.score)
    assert np.all(np.diff(finer.score) < 0)


def test_merged_cells_of_neighbouring_numbers_stay_whole():
    low = 1.0
    high = np.nextafter(low, 2)
    counts = uc.ScoreCounts.from_counts(
        [high, low], [1, 0], [0, 0], [0, 10], merged=np.array([False, True])
    )
    assert split_merged(counts, 4) is counts
