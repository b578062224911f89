"""Intervals of areas and losses at their edges: labels that are alike, few, or skewed."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

import undercount as uc
from undercount import metrics
from undercount.infer.area_gradients import cell_rows, mean_loss, recovered
from undercount.infer.area_intervals import (
    grown_interval,
    odds_interval,
    ranked_interval,
    skewed_interval,
    third_moments,
)
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.mixture import design_of
from undercount.infer.variance import Spread

AREAS = ("roc_auc", "partial_roc_auc", "average_precision", "lift_auc", "log_loss", "brier_score")


@pytest.mark.filterwarnings("ignore::undercount.SmallSampleWarning")
@pytest.mark.parametrize("metric", [m for m in AREAS if m != "lift_auc"])
@pytest.mark.parametrize("target", ["dataset", "population"])
def test_two_labels_on_top_of_everything_are_a_misfit_within_chance(metric, target):
    # Three of four rows are positive but only two stand on top: any metric leaves its range.
    y, score = [math.nan, 1, 1, math.nan], [0, 1, 1, 0]
    options = {"max_fpr": 0.2} if metric == "partial_roc_auc" else {}
    with pytest.warns(uc.MisfitWarning, match="within the chance"):
        found = getattr(metrics, metric)(y, score, prevalence=0.75, target=target, **options)
    least, most = (0, math.inf) if metric == "log_loss" else (0, 1)
    assert least <= found.low <= found.value <= found.high <= most
    assert found.low < found.high


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "log_loss"])
def test_many_labels_on_top_of_everything_are_a_misfit_beyond_chance(metric):
    y = np.repeat([1.0, math.nan], 50)
    with pytest.raises(uc.InputError, match="do not fit"):
        getattr(metrics, metric)(y, np.repeat([1.0, 0.0], 50), unlabeled_prevalence=0.5)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_labels", [2, 5, 200])
def test_labels_that_are_all_alike_leave_the_doubt_of_k_of_k(n_labels, tied):
    # A share p of positives below all others would make the AUC 1 - p; with 0 of n labels there,
    # Clopper and Pearson's limit of p is 1 - .025^(1/n).
    y = np.repeat([1.0, math.nan], [n_labels, 1000])
    lower = np.zeros(1000) if tied else np.linspace(0, 0.9, 1000)
    shares = uc.Shares(0.0, sampling="case-control")
    for compact in (False, True):
        counts = uc.ScoreCounts.from_rows(y, np.append(np.ones(n_labels), lower), compact=compact)
        found = estimate_metric(counts, shares, "roc_auc", target="population")
        assert found.value == 1
        assert found.high == 1
        assert found.low == pytest.approx(0.025 ** (1 / n_labels), abs=1e-12)


@pytest.mark.filterwarnings("ignore::undercount.SmallSampleWarning")
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("metric", ["roc_auc", "lift_auc", "average_precision"])
def test_alike_labels_have_the_same_interval_in_compact_counts(metric, sampling, target):
    rng = np.random.default_rng(3)
    score = np.append(np.full(6, 0.6), np.round(rng.random(60), 2))
    y = np.append(np.ones(6), np.full(60, math.nan))
    y[10:14] = 0
    shares = uc.Shares(0.2, sampling=sampling)
    full, compact = (
        estimate_metric(
            uc.ScoreCounts.from_rows(y, score, compact=compact), shares, metric, target=target
        )
        for compact in (False, True)
    )
    assert full.low < full.value <= full.high
    assert compact.low == pytest.approx(full.low, abs=1e-12)
    assert compact.high == pytest.approx(full.high, abs=1e-12)


def test_a_single_label_beyond_the_range_is_said():
    counts = uc.ScoreCounts.from_rows([1, None, None, None], [4, 3, 2, 1])
    with pytest.warns(uc.MisfitWarning, match="roc_auc would be 1.125"):
        found = estimate_metric(counts, uc.Shares(0.2), "roc_auc", target="population")
    assert (found.value, found.low, found.high) == (1, 0, 1)


APART = [1, 1, None, None, 1, None, None, None, 1, None]  # two labels above all six other rows


def test_recall_gained_above_every_row_of_the_target_has_a_precision_of_1():
    # By hand, with a = .1 and κ = .9.
    share, purity = Fraction(1, 10), Fraction(9, 10)
    recall = flagged = area = Fraction(0)
    for label in APART:
        gained = (1 - share) / 4 if label == 1 else -(1 - purity) / 6
        recall += gained / (purity - share)
        flagged += 0 if label == 1 else Fraction(1, 6)
        area += gained / (purity - share) * (share * recall / flagged if flagged else 1)
    counts = uc.ScoreCounts.from_rows(APART, range(10, 0, -1))
    curve = uc.mixture_curve(counts, uc.Shares(0.1, 0.9, "case-control"), clean=False)
    assert curve.average_precision == pytest.approx(float(area), abs=1e-12)


@pytest.mark.filterwarnings("ignore::undercount.SmallSampleWarning")
def test_average_precision_of_impure_labels_is_a_sum_over_rows_and_pairs():
    # With a = .5 three of six rows are positive; a labelled row takes the place of one of them,
    # and one row more stands beside each pair, since those above it are known by number only.
    share, purity, positives = Fraction(1, 2), Fraction(9, 10), 3
    stands = [
        positives * ((1 - share) / 4 if label == 1 else -(1 - purity) / 6) / (purity - share)
        for label in APART
    ]
    scale = (1 - Fraction(1, positives)) / (1 - Fraction(1, 4))
    area, above = Fraction(0), 0
    for row, label in enumerate(APART):
        above += label is None
        flagged = 1 + above * Fraction(5, 6) if label == 1 else Fraction(above)
        area += stands[row] * (1 / flagged + scale * sum(stands[:row]) / (flagged + 1))
    counts = uc.ScoreCounts.from_rows(APART, range(10, 0, -1))
    shares = uc.Shares(0.5, 0.9, "case-control")
    found = estimate_metric(counts, shares, "average_precision")
    assert found.value == pytest.approx(float(area / positives), abs=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "lift_auc", "brier_score"])
def test_alike_labels_in_the_middle_give_no_point(metric):
    y = [math.nan] * 4 + [1, 1, 1] + [math.nan] * 4
    score = [0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.5, 0.4, 0.3, 0.2, 0.1]
    found = getattr(metrics, metric)(y, score, prevalence=0.5)
    assert found.low < found.value < found.high
    # With no positive hidden there is nothing to doubt.
    known = getattr(metrics, metric)(y, score, prevalence=3 / 11)
    assert known.low == known.value == known.high


def loss_moves(y, score, positives):
    counts = uc.ScoreCounts.from_rows(y, score)
    shares = uc.Shares.from_positives(counts, positives)
    design = design_of(counts, shares, "single-sample", "dataset")
    rows = cell_rows(counts)
    mass = recovered(rows, design.mixing)
    return Spread(design, rows, mean_loss(counts, mass, "log_loss"))


@pytest.mark.parametrize("n_labelled", [3, 4, 6])
def test_skewness_is_unbiased_over_all_labelings(n_labelled):
    score = np.array([0.95, 0.9, 0.9, 0.7, 0.6, 0.5, 0.35, 0.2, 0.2, 0.1])
    positive = np.array([1, 1, 0, 1, 1, 0, 1, 1, 0, 1])
    values, variances, moments = [], [], []
    for chosen in itertools.combinations(np.flatnonzero(positive), n_labelled):
        y = np.full(len(score), np.nan)
        y[list(chosen)] = 1
        moves = loss_moves(y, score, positive.sum())
        values.append(float(moves.influence.value))
        variances.append(float(moves.variance))
        moments.append(third_moments(moves))
    off = values - np.mean(values)
    third, mixed = np.mean(moments, axis=0)
    assert third == pytest.approx(np.mean(off**3), rel=1e-9)
    assert mixed == pytest.approx(np.mean(off * variances), rel=1e-9)


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize(("n_labels", "distance"), [(10, 3.5), (40, 1.0), (25, -0.5)])
def test_lift_and_roc_area_have_one_interval(n_labels, distance, sampling, target):
    # AUC = (AUL - π/2)/(1 - π) for whichever order of the rows.
    rng = np.random.default_rng(n_labels)
    truth = np.arange(600) < 120
    y = np.where(np.arange(600) < n_labels, 1.0, math.nan)
    counts = uc.ScoreCounts.from_rows(y, rng.normal(distance * truth))
    prevalence = 0.2
    shares = uc.Shares.from_prevalence(counts, prevalence)
    if sampling == "case-control":
        shares = uc.Shares(prevalence, sampling=sampling)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.MisfitWarning)  # an area beyond 1 by chance
        lift, roc = (
            estimate_metric(counts, shares, name, target=target) for name in ("lift_auc", "roc_auc")
        )
    low, high = (prevalence / 2 + (1 - prevalence) * end for end in (roc.low, roc.high))
    assert lift.low == pytest.approx(low, abs=1e-12)
    # An area under the lift curve needs no prevalence, so none cuts its estimate (an area under
    # the ROC curve beyond 1 becomes 1); and an interval holds its estimate.
    assert lift.high == pytest.approx(max(high, lift.value), abs=1e-12)
    assert roc.value == pytest.approx(min((lift.value - prevalence / 2) / (1 - prevalence), 1))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.97])
def test_without_a_steady_part_the_odds_have_a_logit_interval(share):
    error, t = 0.3 * share * (1 - share), 2.2
    low, high = odds_interval(share, error**2, 0.0, t)
    logit = math.log(share / (1 - share))
    assert low == pytest.approx(1 / (1 + math.exp(-(logit - t * 0.3))), abs=1e-12)
    assert high == pytest.approx(1 / (1 + math.exp(-(logit + t * 0.3))), abs=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.62, 0.9])
def test_ends_of_ranks_are_those_of_the_arcsine_and_of_wilson(share):
    error, t = 0.06 * math.sqrt(share * (1 - share)), 2.2
    low, high = ranked_interval(share, error**2, 0.0, t, 0.0)
    middle, reach = math.asin(math.sqrt(share)), t * 0.06 / 2
    assert high == pytest.approx(math.sin(middle + reach) ** 2, abs=1e-12)
    # Wilson's ends are those shares from which the estimate is t of their own errors away.
    wilson = brentq(lambda p: share - p - t * 0.06 * math.sqrt(p * (1 - p)), 0.01, share)
    assert low == pytest.approx(min(wilson, math.sin(middle - reach) ** 2), abs=1e-9)


def test_an_order_turned_round_has_the_ends_turned_round():
    low, high = ranked_interval(0.93, 4e-4, 1e-4, 2.2, 0.02)
    assert ranked_interval(0.07, 4e-4, 1e-4, 2.2, 0.02) == pytest.approx((1 - high, 1 - low))


def test_the_steady_part_of_the_error_goes_to_both_sides():
    """Labels spread as in a perfect order err by a known, even spread, however near 1 is."""
    low, high = ranked_interval(0.98, 1e-4, 1e-4, 1.96, 0.0196)
    assert high == pytest.approx(0.9996, abs=1e-9)
    assert 0.94 < low < 0.98 - 0.0196


def test_errors_that_do_not_grow_are_added():
    assert grown_interval(0.1, 0.04, 0.04, 2.0) == pytest.approx((-0.3, 0.5), abs=1e-12)


def test_the_interval_moves_smoothly_while_the_estimate_reaches_1():
    # Without a jump: ten times as many steps are a tenth as long.
    longest = []
    for n_steps in (2000, 20_000):
        shares = np.linspace(0.9, 1.0, n_steps + 1)
        ends = np.array([odds_interval(share, 4e-4, 2.25e-4, 2.2) for share in shares])
        longest.append(np.abs(np.diff(np.minimum(ends, 1), axis=0)).max())
    assert longest[1] == pytest.approx(longest[0] / 10, rel=0.02)
    # At 1 a steady error of .015 and one of .0132 that grows: further than 2.2 · .02.
    assert 0.9 < ends[-1][0] < 1 - 2.2 * 0.02
    assert ends[-1][1] > 1


def test_the_interval_of_ranks_moves_smoothly_while_the_estimate_reaches_1():
    longest = []
    for n_steps in (2000, 20_000):
        shares = np.linspace(0.9, 1.0, n_steps + 1)
        ends = np.array([ranked_interval(share, 4e-4, 2.25e-4, 2.2, 0.033) for share in shares])
        longest.append(np.abs(np.diff(np.minimum(ends, 1), axis=0)).max())
    assert longest[1] == pytest.approx(longest[0] / 10, rel=0.02)
    assert 0 < ends[-1][0] < 1 - 2.2 * 0.02
    assert ends[-1][1] > 1


def test_without_skewness_the_interval_is_students():
    assert skewed_interval(3.0, 0.5, (0.0, 0.0), 2.0) == (2.0, 4.0)


def test_skewed_rows_are_covered():
    """Means of ten exponential numbers, which Student's interval holds in .90 of cases."""
    rng = np.random.default_rng(0)
    rows = rng.exponential(size=(4000, 10))
    mean, error = rows.mean(axis=1), rows.std(axis=1, ddof=1) / 10**0.5
    third = 10 / 72 * ((rows - mean[:, None]) ** 3).sum(axis=1) / 100
    t = float(stdtrit(9, 0.975))
    ends = np.array(
        [skewed_interval(m, e, (k, k), t) for m, e, k in zip(mean, error, third, strict=True)]
    )
    assert np.mean(np.abs(mean - 1) <= t * error) < 0.915
    assert 0.935 < np.mean((ends[:, 0] <= 1) & (ends[:, 1] >= 1)) < 0.965


def test_partial_area_of_merged_rows_is_the_same():
    # The highest row is labelled and drawn apart, so it has no weight among the unlabeled ones.
    y = [1, math.nan, math.nan, math.nan, *[1] * 8]
    score = [0.3, 0.2, 0.1, *[0.0] * 9]
    shares = uc.Shares(0.2, sampling="case-control")
    found = [
        estimate_metric(
            uc.ScoreCounts.from_rows(y, score, compact=compact),
            shares,
            "partial_roc_auc",
            max_fpr=0.4,
        )
        for compact in (False, True)
    ]
    assert found[0].value == pytest.approx(found[1].value, abs=1e-12)
    # By hand: recall is 1/9 from a rate of -.2/9/.8 up to .4, above the middle of the first step.
    start = -0.2 / 9 / 0.8
    area = start / 18 + (0.4 - start) / 9
    assert found[0].value == pytest.approx(0.5 * (1 + (area - 0.08) / 0.32), abs=1e-12)


def test_areas_of_a_long_table_are_exact():
    # Whole numbers of rows and a share of 1/5: both areas are ratios of integers (eq. 4).
    rng = np.random.default_rng(5)
    truth = rng.random(60_000) < 0.35
    y = truth & (rng.random(60_000) < 0.5)
    counts = uc.ScoreCounts.from_rows(y, rng.normal(1.2 * truth), unlabeled=0)
    evaluation = uc.evaluate(counts, unlabeled_prevalence=0.2)
    positive, unlabeled = counts.positive.astype(int), counts.unlabeled.astype(int)
    below = int(2 * positive @ (unlabeled.sum() - np.cumsum(unlabeled)) + positive @ unlabeled)
    plain = Fraction(below, 2 * int(positive.sum()) * int(unlabeled.sum()))
    area = Fraction(1, 2) + (plain - Fraction(1, 2)) / Fraction(4, 5)
    assert evaluation["roc_auc"].value == pytest.approx(float(area), abs=1e-14)
    prevalence = (int(positive.sum()) + Fraction(1, 5) * int(unlabeled.sum())) / Fraction(60_000)
    lift = prevalence / 2 + (1 - prevalence) * area
    assert evaluation["lift_auc"].value == pytest.approx(float(lift), abs=1e-14)
    assert uc.metrics.delong_auc(counts, uc.Shares(0.2)).value == pytest.approx(
        float(area), abs=1e-14
    )


def test_rows_with_parts_add_up_as_whole_ones_do():
    # Fractions anywhere in a column take the place of integers from there on.
    rng = np.random.default_rng(2)
    column = rng.integers(0, 3, 30_000).astype(float)
    column[20_000] += 0.5
    ones = np.ones(30_000)
    counts = uc.ScoreCounts.from_counts(-np.arange(30_000.0), column, 0 * ones, ones)
    positive, negative, unlabeled = counts.cumulative()
    np.testing.assert_allclose(positive[1:], np.cumsum(column), rtol=1e-15)
    np.testing.assert_array_equal(unlabeled, np.arange(30_001.0))
    assert positive[0] == 0
    assert not negative.any()


@pytest.mark.parametrize("n_labels", [6, 10])
@pytest.mark.parametrize("n_negatives", [1000, 4000])
def test_most_labelings_of_few_rare_positives_are_covered(n_labels, n_negatives):
    """All ways to label some of twelve positives whose scores are quantiles, 2.5 apart."""
    middle = [np.arange(n) / n + 0.5 / n for n in (12, n_negatives)]
    positive, negative = ndtri(middle[0]) + 2.5, ndtri(middle[1])
    area = (negative[:, None] < positive).mean()
    score, held = np.append(positive, negative), []
    for chosen in itertools.combinations(range(12), n_labels):
        y = np.full(len(score), math.nan)
        y[list(chosen)] = 1
        counts = uc.ScoreCounts.from_rows(y, score, compact=True)
        shares = uc.Shares.from_positives(counts, 12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uc.MisfitWarning)  # an area beyond 1 by chance
            found = estimate_metric(counts, shares, "roc_auc")
        held.append(found.low <= area <= found.high)
    assert np.mean(held) >= 0.93


def test_the_fewer_positives_are_hidden_the_nearer_is_the_end_but_no_less_skewed():
    """Wilson's end of a sample, drawn in by the square root of the share that has no label."""
    share, error, t = 0.95, 0.02, 2.2
    sampled, _ = ranked_interval(share, error**2, 0.0, t, 0.0)
    for free in (0.5, 0.2):
        low, _ = ranked_interval(share, free * error**2, 0.0, t, 0.0, free=free)
        assert share - low == pytest.approx(free**0.5 * (share - sampled), abs=1e-12)
