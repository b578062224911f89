"""Bands of the rank distribution, against enumeration, SciPy and the published code's values."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from undercount.errors import InputError
from undercount.theory.bands import cdf_band, percentile_band
from undercount.theory.hidden_heads import hidden_heads, local_level, path_probability

DATA = Path(__file__).parents[1] / "data" / "claesen"
sizes = st.integers(1, 30)


@settings(deadline=None, max_examples=40)
@given(n_labelled=sizes, n_hidden=sizes, level=st.floats(0.001, 0.5))
def test_limits_invert_the_hypergeometric_distribution(n_labelled, n_hidden, level):
    least, most = hidden_heads(n_labelled, n_hidden, level)
    for head in range(n_labelled + 1):
        drawn = head + np.arange(n_hidden + 1)
        everyone = n_labelled + n_hidden
        many = stats.hypergeom.sf(head - 1, everyone, n_labelled, drawn) > level / 2 * (1 + 1e-9)
        few = stats.hypergeom.cdf(head, everyone, n_labelled, drawn) > level / 2 * (1 + 1e-9)
        assert least[head] == np.flatnonzero(many).min()
        assert most[head] == np.flatnonzero(few).max()


@pytest.mark.parametrize(("n_labelled", "n_hidden"), [(4, 6), (6, 4), (5, 5), (1, 7), (2, 9)])
@pytest.mark.parametrize("level", [0.02, 0.1, 0.4])
def test_path_probability_is_the_share_of_all_labellings(n_labelled, n_hidden, level):
    least, most = hidden_heads(n_labelled, n_hidden, level)
    held = []
    for places in itertools.combinations(range(n_labelled + n_hidden), n_labelled):
        labelled = np.isin(np.arange(n_labelled + n_hidden), places)
        head = np.append(0, np.cumsum(labelled))
        hidden = np.arange(len(head)) - head
        held.append(((least[head] <= hidden) & (hidden <= most[head])).all())
    assert path_probability(n_labelled, n_hidden, level) == pytest.approx(np.mean(held), abs=1e-12)


@pytest.mark.parametrize("sizes", [(3, 4), (20, 50), (50, 20), (300, 300), (900, 5000)])
@pytest.mark.parametrize("confidence_level", [0.8, 0.95])
def test_the_local_level_keeps_the_simultaneous_level_and_wastes_little(sizes, confidence_level):
    level = local_level(*sizes, confidence_level)
    assert path_probability(*sizes, level) >= confidence_level - 1e-9
    if min(sizes) >= 300:
        assert path_probability(*sizes, level) <= confidence_level + 0.005


def test_the_local_level_beyond_what_is_counted_still_keeps_the_level():
    level = local_level(6000, 6000, 0.95)
    assert 0.95 <= path_probability(6000, 6000, level) < 0.955


def test_the_grid_for_many_labels_stays_within_a_row_of_the_exact_limits():
    n_labelled, n_hidden, level = 20_000, 30_000, 0.001
    least, _ = hidden_heads(n_labelled, n_hidden, level)
    for head in (1, 7, 101, 2_345, 10_001, 19_990, 20_000):
        drawn = np.maximum(head + least[head] + np.array([-2, 1]), 0)
        tails = stats.hypergeom.sf(head - 1, n_labelled + n_hidden, n_labelled, drawn)
        assert tails[0] <= level / 2 < tails[1]


@settings(deadline=None, max_examples=40)
@given(rows=st.lists(st.integers(0, 6), min_size=1, max_size=40).filter(any))
def test_binomial_band_is_the_binomial_quantile(rows):
    total = sum(rows)
    share = np.cumsum(rows) / total
    band = cdf_band(rows, band="binomial", simultaneous=False)
    expected = [
        np.where(share > 0, stats.binom.ppf(tail, total, share), 0) for tail in (0.025, 0.975)
    ]
    # At p = 1 the quantile is the total; SciPy agrees. Quantiles are multiples of 1 / total.
    np.testing.assert_allclose(band.lower * total, expected[0], atol=1e-9)
    np.testing.assert_allclose(band.upper * total, expected[1], atol=1e-9)


def test_bootstrap_band_tends_to_the_binomial_one():
    rows = [1, 0, 2, 1, 0, 0, 3, 1, 1, 4, 0, 2]
    closed = cdf_band(rows, band="binomial", simultaneous=False)
    drawn = cdf_band(rows, band="bootstrap", simultaneous=False, n_resamples=40_000, random_state=1)
    step = 1 / sum(rows)
    assert np.abs(closed.lower - drawn.lower).max() <= step + 1e-12
    assert np.abs(closed.upper - drawn.upper).max() <= step + 1e-12
    # With so many resamples almost every limit is the same, not merely a neighbour.
    assert np.mean(np.isclose(closed.lower, drawn.lower)) > 0.8


@pytest.mark.parametrize("case", json.loads((DATA / "bootstrap_band.json").read_text()))
def test_percentile_band_matches_the_published_one_for_given_resamples(case):
    ranks = np.asarray(case["resampled_ranks0"])
    heads = (ranks[:, :, np.newaxis] <= np.arange(case["n"])).sum(axis=1)
    lower, upper = percentile_band(heads, 1 - case["ci_width"])
    size = len(case["known_pos_ranks0"])
    np.testing.assert_allclose(lower / size, case["T_lb_clean_by_rank0"], atol=1e-12)
    np.testing.assert_allclose(upper / size, case["T_ub_clean_by_rank0"], atol=1e-12)


@pytest.mark.parametrize("case", json.loads((DATA / "dkw.json").read_text()))
def test_dkw_band_matches_the_published_one(case):
    rows = [label == 1 for label in case["sorted_labels"]]
    band = cdf_band(rows, band="dkw", confidence_level=case["ci_width"])
    np.testing.assert_allclose(band.lower, case["T_lb_by_rank0"], atol=1e-12)
    np.testing.assert_allclose(band.upper, case["T_ub_by_rank0"], atol=1e-12)


def test_dkw_band_of_hidden_rows_is_that_of_two_samples():
    margin = cdf_band(np.ones(100), band="dkw", n_hidden=300).upper[0] - 0.01
    assert margin == pytest.approx(np.sqrt(np.log(2 / 0.05) / (2 * 75)))


def test_scores_without_a_labelled_row_repeat_the_limits_above():
    rows = np.array([1, 0, 0, 2, 0, 1])
    for name in ("hypergeometric", "binomial", "dkw", "bootstrap"):
        band = cdf_band(rows, n_hidden=9, band=name, random_state=0)
        for limit in (band.lower, band.upper):
            assert limit[1] == limit[2] == limit[0]
            assert limit[4] == limit[3]
            assert (np.diff(limit) >= 0).all()


def test_tied_labels_are_one_step_of_the_untied_band():
    untied = cdf_band(np.ones(6), n_hidden=20)
    tied = cdf_band([1, 3, 2], n_hidden=20)
    np.testing.assert_array_equal(tied.lower, untied.lower[[0, 3, 5]])
    np.testing.assert_array_equal(tied.upper, untied.upper[[0, 3, 5]])


def test_simultaneous_bands_are_wider():
    for name in ("hypergeometric", "binomial"):
        wide = cdf_band(np.ones(50), n_hidden=100, band=name)
        narrow = cdf_band(np.ones(50), n_hidden=100, band=name, simultaneous=False)
        assert (wide.lower <= narrow.lower).all()
        assert (wide.upper >= narrow.upper).all()
        assert wide.local_level < narrow.local_level


def test_an_effective_size_widens_the_band():
    weights = np.full(40, 2.0)
    full = cdf_band(weights / 2, n_hidden=60)
    fewer = cdf_band(weights, n_hidden=60, effective_size=10)
    assert (fewer.upper - fewer.lower).mean() > 1.3 * (full.upper - full.lower).mean()


def test_no_hidden_rows_leave_everything_open():
    band = cdf_band([1, 1], n_hidden=0)
    assert (band.lower == 0).all()
    assert (band.upper == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labelled": []}, "at least one labelled row"),
        ({"labelled": [0, 0]}, "at least one labelled row"),
        ({"labelled": [[1, 1]]}, "one non-negative number"),
        ({"labelled": [1, -1]}, "one non-negative number"),
        ({"labelled": ["one"]}, "must hold numbers"),
        ({"labelled": [1, np.nan]}, "one non-negative number"),
        ({"labelled": [1], "confidence_level": 1.0}, "confidence_level"),
        ({"labelled": [1], "confidence_level": 95}, "confidence_level"),
        ({"labelled": [1], "band": "normal"}, "band must be one of"),
        ({"labelled": [1]}, "needs n_hidden"),
        ({"labelled": [1], "band": "dkw", "simultaneous": False}, "DKW"),
        ({"labelled": [1], "band": "bootstrap", "n_resamples": 10}, "n_resamples"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        cdf_band(**arguments)
