from dataclasses import replace

import numpy as np
import pytest

import undercount as uc
from undercount.curve import LeftOut, metric_names


def curve(tpr, fpr, prevalence=0.5, threshold=None):
    threshold = (
        np.append(np.inf, np.arange(len(tpr) - 1, 0, -1)) if threshold is None else threshold
    )
    return uc.OperatingCurve(np.asarray(threshold), np.asarray(tpr), np.asarray(fpr), prevalence)


def test_confusion_table_by_hand():
    # 100 rows: 12 true positives, 8 false negatives, 20 false positives, 60 true negatives.
    point = uc.OperatingPoint(0.5, tpr=12 / 20, fpr=20 / 80, prevalence=0.2)
    expected = {
        "recall": 0.6,
        "fnr": 0.4,
        "specificity": 0.75,
        "predicted_positive_rate": 0.32,
        "precision": 12 / 32,
        "npv": 60 / 68,
        "accuracy": 0.72,
        "balanced_accuracy": 0.675,
        "informedness": 0.35,
        "f1": 24 / 52,
        "mcc": (12 * 60 - 20 * 8) / (32 * 20 * 80 * 68) ** 0.5,
        "kappa": (0.72 - (0.2 * 0.32 + 0.8 * 0.68)) / (1 - (0.2 * 0.32 + 0.8 * 0.68)),
        "lift": (12 / 32) / 0.2,
        "lee_liu": 0.6**2 / 0.32,
        "geometric_mean": (0.6 * 0.75) ** 0.5,
        "positive_likelihood_ratio": 0.6 / 0.25,
        "negative_likelihood_ratio": 0.4 / 0.75,
    }
    assert set(expected) == set(metric_names())
    for name, value in expected.items():
        assert getattr(point, name) == pytest.approx(value, abs=1e-14), name
    assert point.f_beta(2) == pytest.approx(5 * 12 / (5 * 12 + 4 * 8 + 20))


def test_ties_count_one_half_in_every_area():
    # One positive and one negative tied: AUC 1/2; the lift area compares each row with itself.
    tied = curve([0, 1], [0, 1], 0.5)
    assert (tied.roc_auc, tied.lift_auc, tied.average_precision) == (0.5, 0.5, 0.5)
    perfect = curve([0, 1, 1], [0, 0, 1], 0.5)
    assert (perfect.roc_auc, perfect.lift_auc, perfect.average_precision) == (1, 0.75, 1)


def test_zero_by_zero_is_nan_with_a_warning():
    point = uc.OperatingPoint(9.0, 0.0, 0.0, 0.3)
    with pytest.warns(uc.UndefinedMetricWarning, match="precision is 0/0"):
        assert np.isnan(point.precision)
    with pytest.warns(uc.UndefinedMetricWarning, match="mcc"):
        assert np.isnan(point.mcc)
    # The ends of a curve are 0/0 by construction and silent.
    assert np.isnan(curve([0, 0.5, 1], [0, 0.1, 1]).precision[0])
    inner = curve([0, 0, 1], [0, 0, 1])
    with pytest.warns(uc.UndefinedMetricWarning):
        assert np.isnan(inner.precision[1])


def test_point_at_a_threshold_counts_scores_at_least_as_high():
    stairs = curve([0, 0.2, 0.7, 1], [0, 0.1, 0.4, 1], threshold=[np.inf, 0.9, 0.5, 0.1])
    assert stairs.at(0.5).tpr == stairs.at(0.3).tpr == 0.7
    assert stairs.at(0.51).tpr == 0.2
    assert stairs.at(1.0).tpr == 0.0
    assert stairs.at(-5).tpr == 1.0
    with pytest.raises(uc.InputError, match="NaN"):
        stairs.at(float("nan"))


def test_partial_area_of_the_diagonal_is_one_half_and_bad_limits_are_refused():
    diagonal = curve([0, 1], [0, 1])
    assert diagonal.partial_roc_auc(0.3) == pytest.approx(0.5)
    for limit in (0, 1.5):
        with pytest.raises(uc.InputError, match="max_fpr"):
            diagonal.partial_roc_auc(limit)


def test_a_partial_area_of_a_curve_that_goes_back_is_refused():
    # Recovered from six rows, the false-positive rate goes from 0 to -.125 and then up.
    back = curve([0, 0.5, 0.5, 1, 1], [0, -0.125, 0.1875, 0.0625, 1])
    with pytest.raises(uc.InputError, match=r"never falls .* falls by 0\.125 here"):
        back.partial_roc_auc(0.3)
    # A rounding error is none: up to a rate of .5 the diagonal has McClish's value of chance.
    rounded = curve([0, 0.25, 0.25, 1], [0, 0.25, 0.25 - 1e-16, 1])
    assert rounded.partial_roc_auc(0.5) == pytest.approx(0.5)


def test_a_point_that_was_left_out_is_not_answered_by_another():
    # The whole curve has the thresholds 9, 7, 5, 3 and 1; those of 9 and 5 were left out.
    kept = [0.0, 0.5, 0.8, 1.0], [0.0, 0.1, 0.4, 1.0]
    threshold = np.array([np.inf, 7.0, 3.0, 1.0])
    cut = uc.OperatingCurve(
        threshold, *map(np.array, kept), 0.5, left_out=LeftOut(np.array([9.0, 5.0]))
    )
    for asked in (9, 8, 7.5, 5, 4):
        with pytest.raises(uc.InputError, match=f"point at threshold {asked} was left out"):
            cut.at(asked)
    assert [cut.at(asked).tpr for asked in (10, 7, 6, 3, 2, 1, 0)] == [0, 0.5, 0.5, 0.8, 0.8, 1, 1]


def test_a_threshold_in_a_merged_cell_that_was_left_out_is_refused():
    # The cell of 5 reaches up to 7, so 6 has no answer, though 7 has.
    left_out = LeftOut(np.array([9.0, 5.0]), np.array([False, True]))
    cut = uc.OperatingCurve(
        np.array([np.inf, 7.0, 3.0]),
        np.array([0.0, 0.5, 1.0]),
        np.array([0.0, 0.1, 1.0]),
        0.5,
        np.zeros(3, bool),
        left_out,
    )
    assert cut.at(7).tpr == 0.5
    with pytest.raises(uc.InputError, match=r"inside a merged cell \(5 to 7\)"):
        cut.at(6)


TEN = uc.ScoreCounts.from_rows(
    [1, None, None, 1, 1, None, 1, None, None, None], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
)


@pytest.mark.parametrize(
    ("monotone", "gone"), [(None, [10]), ("cummax", [10]), ("hull", [10, 9, 8, 7, 5, 3, 2])]
)
def test_a_cleaned_curve_does_not_answer_for_what_it_dropped(monotone, gone):
    # By hand at a = .3: (TPR, FPR) at 10 is (.25, -.107) and outside. The corners of the hull are
    # (0, 0), (.75, .155) at 6, (1, .286) at 4 and (1, 1) at 1.
    recall = {9: 0.25, 8: 0.25, 7: 0.5, 6: 0.75, 5: 0.75, 4: 1.0, 3: 1.0, 2: 1.0, 1: 1.0}
    curve = uc.mixture_curve(TEN, uc.Shares(0.3), monotone=monotone)
    for threshold in gone:
        with pytest.raises(uc.InputError, match=f"threshold {threshold} was left out"):
            curve.at(threshold)
    for threshold in set(recall) - set(gone):
        q = sum(score >= threshold for score in (9, 8, 5, 3, 2, 1)) / 6
        fpr = (q - 0.3 * recall[threshold]) / 0.7
        found = curve.at(threshold)
        assert found.fpr == pytest.approx(fpr), threshold
        assert found.tpr == recall[threshold] or monotone == "cummax"


def test_frame_has_columns_of_one_length():
    frame = curve([0, 0.5, 1], [0, 0.2, 1]).frame()
    assert {len(column) for column in frame.values()} == {3}
    assert list(frame)[:3] == ["threshold", "tpr", "fpr"]


def test_interval_and_estimate():
    with pytest.raises(uc.InputError, match="low <= high"):
        uc.Interval(1, 0)
    estimate = uc.Estimate(0.5, 0.4, 0.6)
    assert float(estimate) == 0.5
    assert estimate.interval == uc.Interval(0.4, 0.6)


def test_bounds_read_their_areas():
    low, high = curve([0, 0.5, 1], [0, 0.5, 1]), curve([0, 1, 1], [0, 0, 1])
    bounds = uc.CurveBounds(low, high)
    assert bounds.roc_auc == uc.Interval(0.5, 1.0)
    assert bounds.average_precision == uc.Interval(0.5, 1.0)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.15, 0.16, 0.3, 0.49])
def test_average_precision_counts_1_where_nothing_of_the_target_is_flagged(share):
    # By hand: half of recall comes above every unlabeled row, half with two of four of them
    # flagged, where precision is share * 1 / (2/4).
    counts = uc.ScoreCounts.from_rows([1, None, None, 1, None, None], [9, 7, 3, 2.5, 2, 1])
    shares = uc.Shares(share, sampling="case-control")
    found = uc.mixture_curve(counts, shares, clean=False).average_precision
    assert found == pytest.approx(0.5 * 1 + 0.5 * share / 0.5, abs=1e-12)


def test_average_precision_without_positives_is_0():
    counts = uc.ScoreCounts.from_rows([1, None, None, 1, None, None], [9, 7, 3, 2.5, 2, 1])
    shares = uc.Shares(0.0, sampling="case-control")
    assert uc.mixture_curve(counts, shares, clean=False).average_precision == 0


def test_average_precision_of_a_curve_sorted_by_its_rates_follows_the_threshold():
    # By threshold recall goes .4, .6, 1 and the false-positive rate .3, .2, 1; sorted by the latter
    # the first two change places. At prevalence 1/2 precision is tpr / (tpr + fpr), by hand.
    expected = 0.4 * (0.4 / 0.7) + 0.2 * (0.6 / 0.8) + 0.4 * (1 / 2)
    by_rates = curve([0, 0.6, 0.4, 1], [0, 0.2, 0.3, 1], threshold=[np.inf, 2, 3, 1])
    assert by_rates.average_precision == pytest.approx(expected, abs=1e-14)
    by_threshold = curve([0, 0.4, 0.6, 1], [0, 0.3, 0.2, 1], threshold=[np.inf, 3, 2, 1])
    assert by_threshold.average_precision == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("n", [12, 300, 20_000])
def test_average_precision_of_a_cleaned_curve_is_that_of_its_points(n, purity):
    rng = np.random.default_rng(n)
    truth = rng.random(n) < 0.4
    y = np.where(truth & (rng.random(n) < 0.5), 1, 0)
    y[:2] = 1, 0
    counts = uc.ScoreCounts.from_rows(y, rng.normal(1.0 * truth), unlabeled=0, compact=True)
    curve = uc.mixture_curve(counts, uc.Shares(0.35, purity))
    points = replace(curve).average_precision  # sorted back by their thresholds
    assert curve.average_precision == pytest.approx(points, rel=1e-12)


def test_average_precision_of_a_rising_curve_follows_the_curve():
    # Recall raised to .6 at threshold 3, as "cummax" does: the curve itself is a stair of recall.
    raised = curve([0, 0.6, 0.6, 1], [0, 0.2, 0.3, 1], threshold=[np.inf, 2, 3, 1])
    expected = 0.6 * (0.6 / 0.8) + 0.4 * (1 / 2)
    assert raised.average_precision == pytest.approx(expected, abs=1e-14)
    # A fall by rounding, as a least-squares recall may have, changes nothing.
    rounded = curve([0, 0.6, 0.6 - 1e-15, 1], [0, 0.2, 0.3, 1], threshold=[np.inf, 2, 3, 1])
    assert rounded.average_precision == pytest.approx(expected, abs=1e-12)


def test_impossible_estimates_are_refused():
    with pytest.raises(uc.InputError, match=r"low must not exceed high; got 0\.4 and 0\.2"):
        uc.Estimate(0.3, 0.4, 0.2)
    with pytest.raises(uc.InputError, match="standard_error must not be negative; got -1"):
        uc.Estimate(0.3, 0.27, 0.33, -1)
    nan = float("nan")
    assert uc.Estimate(0.3, nan, nan).value == 0.3  # NaN means unknown
