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


@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
@settings(deadline=None, max_examples=50)
@given(labelled=scores, unlabeled=scores, share=st.floats(0, 0.4), purity=st.floats(0.7, 1))
def test_value_and_error_equal_the_sum_over_pairs(labelled, unlabeled, share, purity):
    y = np.repeat([1, 0], [len(labelled), len(unlabeled)])
    score = np.concatenate([labelled, unlabeled])
    area, variance = by_pairs(labelled, unlabeled)
    gap = purity - share
    value = 0.5 + (area - 0.5) / gap
    for compact in (False, True):
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=compact)
        try:
            found = uc.metrics.delong_auc(counts, uc.Shares(share, purity))
        except uc.InputError:
            # Refused is only what lies far outside.
            assert abs(value - 0.5) - 0.5 > 5 * np.sqrt(variance) / gap
            continue
        assert found.value == pytest.approx(np.clip(value, 0, 1), abs=1e-12)
        assert found.standard_error == pytest.approx(np.sqrt(variance) / gap, abs=1e-8)
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


def test_the_error_is_the_spread_of_repeated_samples():
    rng = np.random.default_rng(5)
    shares, found = uc.Shares(0.3), []
    for _ in range(600):
        hidden = rng.random(300) < 0.3
        score = np.concatenate([rng.normal(1, 1, 60), rng.normal(hidden, 1)])
        y = np.repeat([1, 0], [60, 300])
        found.append(uc.metrics.delong_auc(uc.ScoreCounts.from_rows(y, score, unlabeled=0), shares))
    spread = np.std([each.value for each in found])
    typical = np.sqrt(np.mean([each.standard_error**2 for each in found]))
    # 600 repetitions give a spread its own error of 3 %.
    assert typical == pytest.approx(spread, rel=0.1)


def test_one_row_has_no_variance_and_bad_levels_are_refused():
    counts = uc.ScoreCounts.from_rows([1, 0, 0], [3, 2, 1], unlabeled=0)
    found = uc.metrics.delong_auc(counts, uc.Shares(0.0))
    assert np.isnan(found.standard_error)
    assert (found.value, found.low, found.high) == (1, 0, 1)
    with pytest.raises(uc.InputError, match=r"confidence_level must be in \(0, 1\); got 95"):
        uc.metrics.delong_auc(counts, uc.Shares(0.1), confidence_level=95)


def test_shares_that_do_not_fit_are_cut_with_a_warning_or_refused():
    # Labelled rows win 13 of 16 pairs: an area of 0.8125, so 0.5 + 0.3125 / 0.5 = 1.125.
    counts = uc.ScoreCounts.from_rows([1, 1, 0, 1, 0, 1, 0, 0], range(8, 0, -1), unlabeled=0)
    with pytest.warns(uc.MisfitWarning, match=r"roc_auc would be 1.125 at .* nearest possible"):
        found = uc.metrics.delong_auc(counts, uc.Shares(0.5))
    assert found.value == found.interval.high == 1
    assert found.interval.low < 1
    many = uc.ScoreCounts.from_rows(np.repeat([1, 0], 50), np.repeat([1, 0], 50), unlabeled=0)
    with pytest.raises(uc.InputError, match="do not fit"):
        uc.metrics.delong_auc(many, uc.Shares(0.3))


def test_impure_labels_need_their_purity():
    counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 1, 0, 0, 0], range(8, 0, -1), unlabeled=0)
    assert uc.metrics.delong_auc(counts, uc.Shares(0.1)).needs == ("random labels", "prevalence")
    impure = uc.metrics.delong_auc(counts, uc.Shares(0.1, 0.9))
    assert impure.needs == ("random labels", "prevalence", "purity")
