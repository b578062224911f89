"""Average precision of weighted rows against sums over single rows and pairs of rows."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import undercount as uc
from undercount.infer.area_gradients import (
    interval_variance,
    jackknife_variance,
    unbiased_average_precision,
)
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.mixture import design_of

SCORE = np.array([9.0, 8, 7, 6, 5, 4, 3, 2, 1])
LABEL = np.array([1, 0, 1, 0, 1, 0, 0, 1, 0])
WEIGHT = np.array([2.0, 1, 0.5, 3, 1, 0.2, 1, 4, 1])
EQUAL = (0.1, 0.5, 1.0, 2.0, 100.0)


def designed(weight, *, positives, score=SCORE, sampling="single-sample", y=LABEL):
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=weight)
    share = (positives - counts.n_positive) / counts.n_unlabeled
    shares = uc.Shares(share, sampling=sampling)
    return counts, design_of(counts, shares, sampling, "dataset")


def over_pairs(label, weight, positives):
    """Sum over rows and pairs of rows; pairs are scaled up from the labelled to all positives."""
    labelled = np.flatnonzero(label)
    total, squares = weight[labelled].sum(), (weight[labelled] ** 2).sum()
    # Pairs of positives weigh P² - Σw², of which Σw²/P is taken from the labelled rows.
    scale = (positives**2 - positives * squares / total) / (total**2 - squares)
    rows = pairs = 0.0
    for i in labelled:
        flagged = weight[SCORE[i] <= SCORE].sum()
        rows += weight[i] ** 2 / flagged
        pairs += sum(weight[i] * weight[j] / flagged for j in labelled if SCORE[j] > SCORE[i])
    return (rows * positives / total + pairs * scale) / positives


def test_weighted_value_is_the_sum_over_rows_and_pairs():
    counts, design = designed(WEIGHT, positives=9.0)
    expected = over_pairs(LABEL, WEIGHT, 9.0)
    assert unbiased_average_precision(counts, design) == pytest.approx(expected, rel=1e-12)


def test_jackknife_leaves_each_label_out_in_turn():
    counts, design = designed(WEIGHT, positives=9.0)
    left_out = []
    for row in np.flatnonzero(LABEL):  # its label is lost, the row stays
        label = LABEL.copy()
        label[row] = 0
        left_out.append(over_pairs(label, WEIGHT, 9.0))
    expected = 3 * np.var(left_out)  # (n - 1)/n times the sum of squares of four
    assert jackknife_variance(counts, design) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("prevalence", [0.05, 4 / 9, 0.9])
def test_elsewhere_positives_and_negatives_count_otherwise(prevalence):
    # All positives are labelled, so that scikit-learn knows the truth there.
    counts, design = designed(np.ones(9), positives=4.0)
    there = np.where(LABEL == 1, prevalence * 9 / 4, (1 - prevalence) * 9 / 5)
    expected = average_precision_score(LABEL, SCORE, sample_weight=there)
    found = unbiased_average_precision(counts, design, prevalence)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_elsewhere_is_here_at_the_same_prevalence(sampling, purity):
    y, score, _ = simulated()
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    design = design_of(counts, uc.Shares(0.3, purity, sampling), sampling, "population")
    here, own = unbiased_average_precision(counts, design), float(design.mixing.prevalence)
    assert unbiased_average_precision(counts, design, own) == pytest.approx(here, rel=1e-12)
    nearby = unbiased_average_precision(counts, design, own * (1 + 1e-9))
    assert nearby == pytest.approx(here, rel=1e-6)


@pytest.mark.parametrize("factor", EQUAL)
@pytest.mark.parametrize("score", [SCORE, np.array([5.0, 5, 4, 4, 4, 3, 2, 2, 1])])
def test_equal_weights_are_no_weights(factor, score):
    plain = designed(np.ones(9), positives=5.5, score=score)
    scaled = designed(np.full(9, factor), positives=5.5 * factor, score=score)
    for function in (unbiased_average_precision, jackknife_variance):
        assert function(*scaled) == pytest.approx(function(*plain), rel=1e-9)


def test_labels_drawn_apart_have_a_scale_of_their_own():
    values = []
    for factor in (1.0, 1000.0):
        weight = np.where(LABEL == 1, factor, 1.0) * WEIGHT
        counts = uc.ScoreCounts.from_rows(LABEL, SCORE, unlabeled=0, sample_weight=weight)
        shares = uc.Shares(0.3, sampling="case-control")
        design = design_of(counts, shares, "case-control", "dataset")
        values.append(unbiased_average_precision(counts, design))
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_the_larger_variance_counts_if_weights_go_with_the_score():
    y, score, rng = simulated()
    weight = np.exp(0.7 * score)
    found = []
    for each in (np.full(2_000, 3.0), weight, *(rng.permutation(weight) for _ in range(20))):
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=each)
        found.append(interval_variance(counts, 1.0, 3.0))
    assert found[0] == 2.0  # equal weights: the mean
    assert found[1] == pytest.approx(3.0, abs=0.1)
    assert np.mean(found[2:]) < 2.4


def simulated():
    rng = np.random.default_rng(0)
    truth = rng.random(2_000) < 0.1
    y = (truth & (rng.random(2_000) < 0.4)).astype(float)
    return y, rng.normal(1.5 * truth), rng


def numbers(y, score, weight, metric, target, **options):
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=weight, **options)
    found = estimate_metric(counts, uc.Shares.from_prevalence(counts, 0.1), metric, target=target)
    return found.value, found.low, found.high, found.standard_error


both_targets = pytest.mark.parametrize("target", ["dataset", "population"])
both_areas = pytest.mark.parametrize("metric", ["average_precision", "roc_auc"])


@both_targets
@both_areas
@pytest.mark.parametrize("equal", [True, False])
def test_intervals_do_not_depend_on_the_scale_of_weights(equal, metric, target):
    y, score, rng = simulated()
    weight = np.ones(2_000) if equal else rng.choice([0.5, 1.0, 2.0], 2_000)
    found = [numbers(y, score, factor * weight, metric, target) for factor in EQUAL]
    assert np.ptp(found, axis=0) == pytest.approx(0, abs=1e-9)


@both_targets
@both_areas
def test_merging_cells_without_labels_changes_nothing(metric, target):
    y, score, _ = simulated()
    weight = np.exp(0.7 * score)
    merged = numbers(y, score, weight, metric, target, compact=True)
    assert merged == pytest.approx(numbers(y, score, weight, metric, target), rel=1e-9)
