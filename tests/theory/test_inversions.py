"""Pairs of models in the wrong order, and the paired test."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from undercount.errors import InputError
from undercount.theory.inversions import inversions, paired_wilcoxon

SCORES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30)


@settings(deadline=None, max_examples=50)
@given(SCORES)
def test_counts_equal_looking_at_every_pair(models):
    estimated, true = [m[0] for m in models], [m[1] for m in models]
    pairs = [(a, b) for a, b in itertools.combinations(models, 2) if a[1] != b[1]]
    found = inversions(estimated, true)
    assert found.pairs == len(pairs)
    assert found.inverted == sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    assert found.undecided == sum(a[0] == b[0] for a, b in pairs)


def test_share():
    assert inversions([1, 2, 3], [3, 2, 1]).share == 1
    assert inversions([1, 2, 3], [0.1, 0.2, 0.3]).share == 0
    assert inversions([1, 2], [5, 5]).share == 0


def test_an_increasing_map_of_the_estimate_changes_nothing():
    rng = np.random.default_rng(0)
    estimated, true = rng.random(200), rng.random(200)
    assert inversions(estimated, true) == inversions(np.exp(estimated), true)


def test_the_paired_test_is_scipys():
    rng = np.random.default_rng(1)
    first, second = rng.random(15), rng.random(15) + 0.2
    for alternative in ("two-sided", "less", "greater"):
        found = paired_wilcoxon(first, second, alternative=alternative)
        assert found.p_value == wilcoxon(first, second, alternative=alternative).pvalue
    assert found.statistic == wilcoxon(first, second, alternative="greater").statistic
    assert found.n_pairs == 15


def test_the_paired_test_equals_enumeration_of_the_signs():
    difference = np.array([1.0, -2.0, 3.0, 4.0, 5.0, -6.0])
    ranks = np.arange(1, 7)
    observed = ranks[difference > 0].sum()
    sums = [ranks[np.array(s)].sum() for s in itertools.product([False, True], repeat=6)]
    found = paired_wilcoxon(difference, np.zeros(6), alternative="greater")
    assert found.statistic == observed
    assert found.p_value == pytest.approx(np.mean(np.array(sums) >= observed))


def test_equal_pairs_say_nothing():
    assert paired_wilcoxon([1, 2], [1, 2]).p_value == 1
    assert paired_wilcoxon([1, 2, 3], [1, 3, 4], alternative="less").n_pairs == 2


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1], "must have the same length; got 2 and 1"),
        ([1, np.nan], [1, 2], "must be a list of finite numbers"),
        ([[1, 2]], [1, 2], "must be a list of finite numbers"),
        (["a", "b"], [1, 2], "must hold numbers"),
    ],
)
@pytest.mark.parametrize("function", [inversions, paired_wilcoxon])
def test_bad_input(function, first, second, message):
    with pytest.raises(InputError, match=message):
        function(first, second)


def test_unknown_alternative():
    with pytest.raises(InputError, match="alternative must be"):
        paired_wilcoxon([1], [2], alternative="smaller")
