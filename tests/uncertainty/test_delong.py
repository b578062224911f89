"""DeLong's variance against its textbook form over pairs, and against its own long run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc


def by_pairs(labelled, unlabeled):
    """Return area and variance from the placements of each row among those of the other kind."""
    wins = np.sign(labelled[:, None] - unlabeled[None, :]) / 2 + 0.5
    variance = wins.mean(axis=1).var(ddof=1) / len(labelled)
    return wins.mean(), variance + wins.mean(axis=0).var(ddof=1) / len(unlabeled)


scores = st.lists(st.integers(0, 6).map(float), min_size=2, max_size=25).map(np.array)


@settings(deadline=None, max_examples=50)
@given(labelled=scores, unlabeled=scores, share=st.floats(0, 0.4), purity=st.floats(0.7, 1))
def test_value_and_error_equal_the_sum_over_pairs(labelled, unlabeled, share, purity):
    y = np.repeat([1, 0], [len(labelled), len(unlabeled)])
    score = np.concatenate([labelled, unlabeled])
    area, variance = by_pairs(labelled, unlabeled)
    for compact in (False, True):
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=compact)
        found = uc.delong_auc(counts, uc.Shares(share, purity))
        gap = purity - share
        assert found.value == pytest.approx(0.5 + (area - 0.5) / gap, abs=1e-12)
        assert found.standard_error == pytest.approx(np.sqrt(variance) / gap, abs=1e-8)


def test_the_error_is_the_spread_of_repeated_samples():
    rng = np.random.default_rng(5)
    shares, found = uc.Shares(0.3), []
    for _ in range(600):
        hidden = rng.random(300) < 0.3
        score = np.concatenate([rng.normal(1, 1, 60), rng.normal(hidden, 1)])
        y = np.repeat([1, 0], [60, 300])
        found.append(uc.delong_auc(uc.ScoreCounts.from_rows(y, score, unlabeled=0), shares))
    spread = np.std([each.value for each in found])
    typical = np.sqrt(np.mean([each.standard_error**2 for each in found]))
    # 600 repetitions give a spread its own error of 3 %.
    assert typical == pytest.approx(spread, rel=0.1)


def test_one_row_has_no_variance_and_bad_levels_are_refused():
    counts = uc.ScoreCounts.from_rows([1, 0, 0], [3, 2, 1], unlabeled=0)
    assert np.isnan(uc.delong_auc(counts, uc.Shares(0.1)).standard_error)
    with pytest.raises(uc.InputError, match="confidence_level must lie between 0 and 1; got 95"):
        uc.delong_auc(counts, uc.Shares(0.1), confidence_level=95)
