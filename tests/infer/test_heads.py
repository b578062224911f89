"""Metrics that divide by 0: where all or no rows are flagged, or nothing of the target is."""

import math

import numpy as np
import pytest

import undercount as uc
from undercount import metrics
from undercount.curve import Rates
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.heads import RatePoint
from undercount.metric_facts import THRESHOLD_METRICS

RANGES = {"npv": (0, 1), "mcc": (-1, 1), "negative_likelihood_ratio": (0, math.inf)}


def rows(seed, n=200):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = rng.normal(1.5 * positive)
    y = np.where(positive & (rng.random(n) < 0.4), 1.0, np.nan)
    y[~positive & (rng.random(n) < 0.2)] = 0
    return y, score


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("metric", RANGES)
def test_with_all_rows_flagged_nothing_is_known_of_the_others(metric, target):
    # Shares for which the weights of positives and negatives sum to 1 only up to rounding.
    for seed in range(20):
        y, score = rows(seed)
        options = {"threshold": float(score.min()), "target": target}
        with pytest.warns(uc.UndefinedMetricWarning, match=metric):
            found = getattr(metrics, metric)(y, score, prevalence=0.31 + seed / 1000, **options)
        assert math.isnan(found.value)
        assert (found.low, found.high) == RANGES[metric]


@pytest.mark.parametrize("purity", [1.0, 0.95])
@pytest.mark.parametrize("metric", RANGES)
def test_weights_that_add_up_in_another_order_are_still_all_of_them(metric, purity):
    for seed in range(20):
        y, score = rows(seed)
        score[y == 0] -= 100  # drawn apart, so they do not count
        weight = np.random.default_rng(seed).random(len(y))
        with pytest.warns(uc.UndefinedMetricWarning, match=metric):
            found = getattr(metrics, metric)(
                y,
                score,
                threshold=float(score[y != 0].min()),
                assume=uc.RandomLabels(
                    unlabeled_prevalence=0.17, purity=purity, sampling="case-control"
                ),
                sample_weight=weight,
            )
        assert math.isnan(found.value)


class Point(Rates[float]):
    def __init__(self, tpr, fpr, prevalence):
        self.tpr, self.fpr, self.prevalence = tpr, fpr, prevalence


@pytest.mark.parametrize("prevalence", [0.07, 0.1, 0.31, 0.35, 0.9])
def test_a_tiny_unflagged_share_is_no_rounding(prevalence):
    # All positives and almost all negatives are flagged: whatever is not is negative.
    fpr = 1 - 2.0**-50
    assert Point(1.0, fpr, prevalence).npv == pytest.approx(1, rel=1e-12)
    # By hand: at a recall of 1 the MCC is √(π (1 - fpr) / Q), and Q is 1 to a part in 2^50.
    expected = math.sqrt(prevalence * 2.0**-50)
    assert Point(1.0, fpr, prevalence).mcc == pytest.approx(expected, rel=1e-12)
    with pytest.warns(uc.UndefinedMetricWarning, match="npv"):
        assert math.isnan(Point(1.0, 1.0, prevalence).npv)


@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
@pytest.mark.parametrize("target", ["dataset", "population"])
def test_a_label_above_every_row_of_the_target_says_nothing_of_precision(target):
    # One of 12 labels lies above all 20 unlabeled rows: of the target no row is flagged.
    y = [1] * 12 + [0] * 4 + [-1] * 20
    score = [9.0, *np.linspace(1, 3, 11), 0, 0.1, 0.2, 0.3, *np.linspace(-2, 2.5, 20)]
    options = {
        "unlabeled": -1,
        "threshold": 5.0,
        "target": target,
    }
    for share in (0.1, 0.2, 0.3):
        for purity in (1.0, 0.9):
            assume = uc.RandomLabels(
                unlabeled_prevalence=share, purity=purity, sampling="case-control"
            )
            precision = uc.metrics.precision(y, score, assume=assume, **options)
            mcc = uc.metrics.mcc(y, score, assume=assume, **options)
            assert (precision.low, precision.high) == (0, 1)
            assert (mcc.low, mcc.high) == (-1, 1)


@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
@pytest.mark.filterwarnings("ignore::undercount.UndefinedMetricWarning")
def test_no_end_of_any_interval_is_missing():
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(60):
        n = int(rng.integers(3, 14))
        score = rng.integers(0, rng.integers(2, 10), n).astype(float)
        y = rng.choice([1, np.nan, 0], n, p=[0.3, 0.5, 0.2])
        y[:2] = 1, np.nan
        counts = uc.ScoreCounts.from_rows(y, score)
        sampling = rng.choice(["single-sample", "case-control"])
        shares = uc.Shares(rng.choice([0, 0.1, 0.2]), rng.choice([0.9, 1.0]), str(sampling))
        for metric in THRESHOLD_METRICS:
            for target in ("dataset", "population"):
                options = {"threshold": float(rng.choice(score)), "target": target}
                try:
                    estimate = estimate_metric(counts, shares, metric, **options)
                except uc.InputError:
                    continue
                found += 1
                assert estimate.low <= estimate.high, (metric, target, y, score)
    assert found > 1000


def test_a_geometric_mean_below_zero_is_not_hidden():
    # -√(.2 · .1): the root continued below 0, where one of the two rates is.
    assert RatePoint(0.2, 1.1, 0.5).metric("geometric_mean") == pytest.approx(-math.sqrt(0.02))
    assert RatePoint(-0.2, 1.1, 0.5).metric("geometric_mean") == pytest.approx(-math.sqrt(0.02))
    # 13 labels are flagged of 16, at a frequency of .8 that is 20 positives; of 49 rows 43 are
    # flagged, 27 of the 29 negatives or, with more hits and fewer misses, all of them.
    y = [1] * 13 + [None] * 30 + [1] * 3 + [None] * 3
    counts = uc.ScoreCounts.from_rows(y, [1] * 43 + [0] * 6)
    shares = uc.Shares.from_label_frequency(counts, 0.8)
    found = estimate_metric(counts, shares, "geometric_mean", threshold=1)
    assert found.value == pytest.approx(math.sqrt(13 / 16 * (1 - (43 - 13 / 0.8) / 29)))
    assert found.low == 0


@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_no_positive_among_the_target_leaves_recall_open_and_accuracy_known(purity):
    y = [1] * 15 + [None] * 24
    score = [1] * 2 + [0] * 13 + [1] * 5 + [0] * 19
    assume = uc.RandomLabels(unlabeled_prevalence=0.0, purity=purity, sampling="case-control")
    options = {"assume": assume, "target": "dataset"}
    recall = uc.metrics.recall(y, score, threshold=1, **options)
    accuracy = uc.metrics.accuracy(y, score, threshold=1, **options)
    assert (recall.low, recall.high) == (0, 1)
    assert accuracy.value == accuracy.low == accuracy.high == pytest.approx(19 / 24)


def test_all_rows_flagged_at_a_known_label_frequency():
    y = [1] * 12 + [None] * 36
    options = {"threshold": 0, "label_frequency": 0.6, "target": "population"}
    found = uc.metrics.precision(y, [1] * 48, **options)
    # 12 of 48 rows carry a label: Wilson's limits of that share, over .6.
    centre, half = 0.25 + 1.96**2 / 96, 1.96 * math.sqrt(0.1875 / 48 + 1.96**2 / 4 / 48**2)
    scale = 0.6 * (1 + 1.96**2 / 48)
    assert found.value == pytest.approx(0.25 / 0.6)
    assert found.low == pytest.approx((centre - half) / scale, rel=1e-4)
    assert found.high == pytest.approx((centre + half) / scale, rel=1e-4)
