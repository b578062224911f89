"""Limits that no choice of the unlabeled rows' classes can pass."""

import itertools
import math

import numpy as np
import pytest

import undercount as uc
from undercount.curve import PARAMETRIC
from undercount.infer.estimate_metric import estimate_metric, estimate_metrics
from undercount.infer.heads import FlaggedCounts, RatePoint
from undercount.infer.mixture import MixtureDesign, design_of
from undercount.infer.threshold_intervals import certain_limits, threshold_interval
from undercount.metric_facts import THRESHOLD_METRICS

LABEL = [1, 1, 0, None, None, None, 1, None, None, 0, None]
FLAGGED = np.arange(11) < 6  # two positives, a negative and three unlabeled rows are flagged
WEIGHT = np.array([1, 2, 1, 0.5, 1, 1, 1, 2, 1, 1, 0.5])


def table(truth, weight):
    positive, negative = weight[truth].sum(), weight[~truth].sum()
    return RatePoint(
        weight[truth & FLAGGED].sum() / positive,
        weight[~truth & FLAGGED].sum() / negative,
        positive / weight.sum(),
    )


@pytest.mark.parametrize("weight", [np.ones(11), WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("metric", THRESHOLD_METRICS)
def test_certain_limits_are_the_extremes_over_all_classes(metric, weight):
    unknown = [place for place, label in enumerate(LABEL) if label is None]
    known = np.array([label == 1 for label in LABEL])
    values, beta = [], 0.25 if metric == "expected_cost" else 2.0
    for classes in itertools.product([False, True], repeat=len(unknown)):
        truth = known.copy()
        truth[unknown] = classes
        values.append(float(table(truth, weight).metric(metric, beta)))
    counts = uc.ScoreCounts.from_rows(LABEL, FLAGGED.astype(float), sample_weight=weight)
    design = design_of(counts, uc.Shares(0.3), "single-sample", "dataset")
    heads = [counts.positive[0], counts.unlabeled[0], counts.negative[0]]
    low, high = certain_limits(FlaggedCounts(np.array(heads), design), metric, beta)
    assert float(low) == pytest.approx(min(values), abs=1e-12)
    assert float(high) == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize(
    "shares", [uc.Shares(uc.Estimate(0.02, 0.0, 0.1, 0.04)), uc.Shares((0.0, 0.1))]
)
def test_precision_is_at_least_the_labelled_share_of_the_flagged(shares):
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(300))[::-1]
    y = np.where(rng.random(300) < 0.6 * score, 1.0, np.nan)
    counts = uc.ScoreCounts.from_rows(y, score)
    found = estimate_metric(counts, shares, "precision", threshold=0.5)
    naive = np.mean(y[score >= 0.5] == 1)
    assert found.low >= naive - 1e-12
    # A population promises nothing of the kind.
    other = estimate_metric(counts, shares, "precision", threshold=0.5, target="population")
    assert other.low < naive


@pytest.mark.parametrize("metric", ["informedness", "negative_likelihood_ratio", "specificity"])
def test_ten_hidden_positives_of_a_known_label_frequency(metric):
    """Cut before they were combined, the sources' limits made intervals that cover .87 to .91."""
    rng = np.random.default_rng(5)
    size, rows, positives, frequency = 4000, 4000, 200, 0.95
    hits, false = rng.binomial(positives, 0.89, size), rng.binomial(rows - positives, 0.5, size)
    seen = rng.binomial(hits, frequency)
    labelled = seen + rng.binomial(positives - hits, frequency)
    zero = np.zeros(size)
    design = MixtureDesign(
        np.stack([labelled, rows - labelled, zero]).astype(float), np.ones((3, size)),
        "label_frequency", frequency, 1.0, "single-sample", "dataset",
    )  # fmt: skip
    heads = FlaggedCounts(np.stack([seen, hits + false - seen, zero]).astype(float), design)
    _, low, high = threshold_interval(heads, metric, confidence_level=0.95)
    true = RatePoint(hits / positives, false / (rows - positives), positives / rows).metric(metric)
    held = np.mean((low <= true + 1e-12) & (true <= high + 1e-12))
    assert 0.94 < held < 0.97


@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
@pytest.mark.filterwarnings("ignore::undercount.UndefinedMetricWarning")
def test_more_positives_than_rows_are_never_assumed():
    # 19 of 20 rows are labelled at a frequency that would make more positives than rows.
    counts = uc.ScoreCounts.from_rows([1] * 19 + [None], [1] * 10 + [0] * 10)
    shares = uc.Shares.from_label_frequency(counts, 0.96)
    for metric in THRESHOLD_METRICS:
        for target in ("dataset", "population"):
            found = estimate_metric(counts, shares, metric, threshold=1, target=target)
            assert not math.isnan(found.low), metric
            assert found.low <= found.value <= found.high, metric


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("place", [{"threshold": 0.8}, {"top": 70}])
def test_many_metrics_together_are_each_by_itself(target, purity, place):
    rng = np.random.default_rng(2)
    truth = rng.random(400) < 0.4
    y = np.where(truth & (rng.random(400) < 0.5), 1, -1)
    y[np.flatnonzero(~truth)[:20]] = 0
    counts = uc.ScoreCounts.from_rows(y, rng.normal(1.5 * truth), unlabeled=-1)
    shares = uc.Shares(0.25, purity)
    names = [name for name in THRESHOLD_METRICS if name not in PARAMETRIC]
    together = estimate_metrics(counts, shares, names, target=target, **place)
    for name, found in zip(names, together, strict=True):
        alone = estimate_metric(counts, shares, name, target=target, **place)
        numbers = [[e.value, e.low, e.high, e.standard_error] for e in (found, alone)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-12, nan_ok=True), name
        assert (found.needs, found.method) == (alone.needs, alone.method)
