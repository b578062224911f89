import numpy as np
import pytest
from scipy.stats import beta

import undercount as uc
from undercount.prevalence import RocSlope
from undercount.prevalence.roc_slope import _contenders
from undercount.prevalence.upper_bound import head_shares, limits_ratio


def test_published_value(published):
    found = RocSlope(n_resamples=0).fit(published.counts).unlabeled_prevalence_
    # The published code inverts the binomial to 1e-3 of its level only, and leaves the unlabeled
    # row at the threshold out, which matters where scores are tied.
    expected = published.values["ROC_scott_acmi"]
    assert found == pytest.approx(expected, abs=3e-3 if published.ties else 1e-4)


def test_limits_are_those_of_clopper_and_pearson():
    # 40 of 50 labelled and 10 of 100 unlabeled rows above.
    upper = beta.ppf(0.9, 10 + 1, 100 - 10)
    lower = beta.ppf(0.1, 40, 50 - 40 + 1)
    found = limits_ratio(np.array([0.8]), np.array([0.1]), (50.0, 100.0), 0.1)
    assert found[0] == pytest.approx(upper / lower, rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_skipping_thresholds_keeps_the_minimum(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(60, 3000, 2)
    score = np.concatenate([rng.normal(2, 1, m + n // 3), rng.normal(0, 1, n - n // 3)])
    counts = uc.ScoreCounts.from_rows(np.repeat([1, -1], [m, n]), score, unlabeled=-1)
    _, labelled, unlabeled = head_shares(counts)
    sizes = (float(m), float(n))
    some = _contenders(labelled, unlabeled, sizes, 0.1)
    every = limits_ratio(labelled, unlabeled, sizes, 0.1).min()
    assert limits_ratio(labelled[some], unlabeled[some], sizes, 0.1).min() == every


def test_upper_bound_holds_where_classes_overlap():
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(60):
        hidden = rng.binomial(1000, 0.3)
        score = np.concatenate([rng.normal(1, 1, 200 + hidden), rng.normal(0, 1, 1000 - hidden)])
        y = np.repeat([1, -1], [200, 1000])
        below += RocSlope(n_resamples=0).fit(y, score, unlabeled=-1).upper_bound_ < 0.3
    # At most 5 % may fail; 60 runs with at most 8 failures are certain for that.
    assert below <= 8


def test_bad_risk_is_refused(normals):
    with pytest.raises(uc.InputError, match="risk must lie in"):
        RocSlope(risk=0).fit(normals)
