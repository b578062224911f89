import numpy as np
import pytest

import undercount as uc
from undercount.ceiling import upper_bound
from undercount.prevalence import RocSlope


def rows(seed, share=0.3, n_labelled=150, n_unlabeled=1000):
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_unlabeled) < share
    score = np.concatenate([rng.normal(3, 1, n_labelled), rng.normal(3.0 * hidden)])
    y = np.concatenate([np.ones(n_labelled), np.full(n_unlabeled, np.nan)])
    return uc.ScoreCounts.from_rows(y, score, compact=True)


def test_it_is_the_bound_that_the_prevalence_command_shows():
    for seed in range(5):
        counts = rows(seed)
        slope = RocSlope(n_resamples=0).fit(counts)
        assert upper_bound(counts, 0.95) == pytest.approx(slope.upper_bound_, rel=1e-12)


def test_the_truth_is_below_as_often_as_promised():
    # At most one in twenty above; all thresholds share the risk, so it is far fewer.
    assert sum(upper_bound(rows(seed), 0.95) < 0.3 for seed in range(200)) <= 10
    assert np.mean([upper_bound(rows(seed), 0.95) for seed in range(20)]) < 0.5
