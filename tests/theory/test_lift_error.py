"""How far the area under the lift curve can err over all labellings."""

import itertools
import math

import numpy as np
import pytest

import undercount as uc
from undercount.errors import InputError
from undercount.theory.lift_error import lift_tail_bound, lift_variance, required_labels

# Figure 1a of the AUL paper: ten positives and ten negatives by falling score.
FIGURE_1 = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0]


def areas(y, score, labelled):
    """AUL^PU of every choice of `labelled` positives, straight from the paper's eq. 4."""
    score = np.asarray(score, dtype=float)
    below = np.array([np.mean((s > score) + 0.5 * (s == score)) for s in score])
    positives = np.flatnonzero(y)
    return np.array([below[list(c)].mean() for c in itertools.combinations(positives, labelled)])


@pytest.mark.parametrize("labelled", [1, 2, 4, 5])
@pytest.mark.parametrize("score", [[9, 8, 7, 6, 5, 4, 3, 2], [3, 3, 3, 2, 2, 1, 1, 1]])
def test_variance_equals_enumeration(score, labelled):
    y = [1, 0, 1, 1, 0, 0, 1, 1]
    counts = uc.ScoreCounts.from_rows(y, score)
    expected = areas(y, score, labelled).var()
    assert lift_variance(counts, labelled=labelled) == pytest.approx(expected, rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("method", ["serfling", "chebyshev"])
@pytest.mark.parametrize("labelled", [1, 3, 5, 9, 10])
def test_bounds_hold_on_the_papers_example(method, labelled):
    found = areas(FIGURE_1, range(20, 0, -1), labelled)
    truth = areas(FIGURE_1, range(20, 0, -1), 10)[0]
    for error in (0.02, 0.05, 0.1, 0.2, 0.3):
        probability = np.mean(np.abs(found - truth) >= error - 1e-12)
        for prevalence in (None, 0.5):
            bound = lift_tail_bound(
                error, labelled=labelled, positives=10, prevalence=prevalence, method=method
            )
            assert probability <= bound <= 1


def test_the_printed_bound_fails_where_ours_holds():
    found = areas(FIGURE_1, range(20, 0, -1), 5)
    error = 0.1
    probability = np.mean(np.abs(found - 0.62) >= error - 1e-12)
    counts = uc.ScoreCounts.from_rows(FIGURE_1, range(20, 0, -1))
    variance = lift_variance(counts, labelled=5)
    assert probability == pytest.approx(0.286, abs=5e-4)
    assert variance / error == pytest.approx(0.079, abs=5e-4)  # as printed: below the probability
    assert variance / error**2 >= probability


def test_the_widest_variance_is_reached_with_half_on_top_and_half_at_the_bottom():
    n, half = 4000, 500
    y = np.zeros(n)
    y[:half] = y[-half:] = 1
    counts = uc.ScoreCounts.from_rows(y, np.arange(n, 0, -1))
    widest = lift_tail_bound(
        0.5, labelled=7, positives=2 * half, prevalence=0.25, method="chebyshev"
    )
    assert lift_variance(counts, labelled=7) / 0.25 == pytest.approx(widest, rel=1e-5)
    assert lift_variance(counts, labelled=7) / 0.25 <= widest


def test_bounds_by_hand():
    assert lift_tail_bound(0.1, labelled=100) == pytest.approx(2 * math.exp(-2), rel=1e-12)
    found = lift_tail_bound(0.1, labelled=50, positives=101)
    assert found == pytest.approx(2 * math.exp(-2 * 50 * 0.01 / (1 - 49 / 101)), rel=1e-12)
    assert lift_tail_bound(0.1, labelled=50, method="chebyshev") == pytest.approx(0.5)
    found = lift_tail_bound(0.1, labelled=50, positives=101, method="chebyshev")
    assert found == pytest.approx(51 / 100 * 0.25 / 50 / 0.01)
    assert lift_tail_bound(1e-6, labelled=10, positives=10) == 0
    assert lift_tail_bound(1e-6, labelled=1) == 1


@pytest.mark.parametrize("method", ["serfling", "chebyshev"])
@pytest.mark.parametrize("positives", [None, 3, 40, 1000, 10**6])
@pytest.mark.parametrize("prevalence", [None, 0.3])
@pytest.mark.parametrize("error", [0.5, 0.1, 0.02])
def test_required_labels_is_the_smallest_number_that_keeps_the_bound(
    method, positives, prevalence, error
):
    settings = {"positives": positives, "prevalence": prevalence, "method": method}
    number = required_labels(error, confidence_level=0.9, **settings)
    assert lift_tail_bound(error, labelled=number, **settings) <= 0.1 * (1 + 1e-9)
    if number > 1:
        assert lift_tail_bound(error, labelled=number - 1, **settings) > 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lift_tail_bound(0, labelled=5), "error must be above 0; got 0"),
        (lambda: lift_tail_bound(0.1, labelled=0), "labelled must be a whole number of at least 1"),
        (
            lambda: lift_tail_bound(0.1, labelled=9, positives=8),
            "from 1 to 8 .all positives.; got 9",
        ),
        (lambda: lift_tail_bound(0.1, labelled=2.5), "labelled must be a whole number"),
        (lambda: lift_tail_bound(0.1, labelled=2, method="normal"), "method must be 'serfling'"),
        (
            lambda: lift_tail_bound(0.1, labelled=2, prevalence=2, method="chebyshev"),
            "prevalence must be between 0 and 1; got 2",
        ),
        (lambda: required_labels(-0.1), "error must be above 0"),
        (lambda: required_labels(float("nan")), "error must be above 0"),
        (lambda: required_labels(0.1, confidence_level=1), "confidence_level must be in"),
        (lambda: required_labels("small"), "error must be above 0; got 'small'"),
        (lambda: required_labels(0.1, positives=0), "positives must be a whole number of at least"),
        (lambda: lift_tail_bound(0.1, labelled=float("nan")), "labelled must be a whole number"),
        (lambda: lift_tail_bound(0.1, labelled="2"), "labelled must be a whole number"),
    ],
)
def test_bad_bounds(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_weights_have_no_subsets():
    counts = uc.ScoreCounts.from_rows([1, 1, 0], [3, 2, 1], sample_weight=[1, 2, 1])
    with pytest.raises(InputError, match="may not carry weights"):
        lift_variance(counts, labelled=1)
