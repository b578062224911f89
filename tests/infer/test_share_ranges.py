"""A share with an error beside one with a stated range: neither is forgotten."""

import itertools

import numpy as np
import pytest

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric

Z = 2.241402727604947  # of 97.5 %: half the chance of missing for the share, half for the rest


def sample():
    rng = np.random.default_rng(0)
    positive = rng.random(1500) < 0.3
    labelled = (positive & (rng.random(1500) < 0.5)) | (~positive & (rng.random(1500) < 0.02))
    return uc.ScoreCounts.from_rows(labelled, rng.normal(1.5 * positive), unlabeled=0)


CASES = {
    "range of purity": (
        uc.Shares(uc.Estimate(0.15, 0.11, 0.19, 0.02), (0.8, 1.0)),
        [0.15 + k * Z * 0.02 for k in (-1, 0, 1)],
        [0.8, 0.85, 0.9, 0.95, 1.0],
    ),
    "range of the share": (
        uc.Shares((0.1, 0.2), uc.Estimate(0.9, 0.85, 0.95, 0.02)),
        [0.1, 0.125, 0.15, 0.175, 0.2],
        [0.9 + k * Z * 0.02 for k in (-1, 0, 1)],
    ),
}


@pytest.mark.parametrize("metric", ["recall", "precision", "roc_auc"])
@pytest.mark.parametrize("case", CASES)
def test_guaranteed_searches_both_ranges(case, metric):
    shares, prevalences, purities = CASES[case]
    counts, options = sample(), {"threshold": 0.8, "target": "population"}
    found = estimate_metric(counts, shares, metric, share_error="guaranteed", **options)
    inner = [
        estimate_metric(counts, uc.Shares(a, k), metric, confidence_level=0.975, **options)
        for a, k in itertools.product(prevalences, purities)
    ]
    assert found.value == estimate_metric(counts, shares, metric, **options).value
    assert found.low == pytest.approx(min(e.low for e in inner), abs=1e-9)
    assert found.high == pytest.approx(max(e.high for e in inner), abs=1e-9)
    # What is promised whatever the dependence is wider than what supposes independence.
    combined = estimate_metric(counts, shares, metric, **options)
    assert found.low < combined.low
    assert found.high > combined.high or combined.high == 1  # cut off at the end of the range
