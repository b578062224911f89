"""What wrong shares do, and conversions of single numbers."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import metrics

import undercount as uc
from undercount.errors import InputError
from undercount.theory.recovery import (
    precision_from_naive,
    precision_recall_auc,
    recovery_error,
    sign_test,
    unlabeled_precision,
)

SHARES = uc.Shares(0.25, 0.75)
GRID = np.linspace(0, 1, 41)


def test_lines_of_figure_4():
    # True (.25, .75), AUC .9: gap .5, AUC^pu .7.
    assert recovery_error(SHARES, (0.0, 1.0), 0.9) == pytest.approx(0.9 - 0.7)
    right = recovery_error(SHARES, (GRID[GRID <= 0.5], GRID[GRID <= 0.5] + 0.5), 0.9)
    assert right == pytest.approx(np.zeros(21), abs=1e-12)
    assert recovery_error(SHARES, (0.3, 0.7), 0.9) == pytest.approx(1 - 0.9)  # gap .5 (2·.9-1)
    assert recovery_error(SHARES, (0.7, 0.3), 0.9) == pytest.approx(0.9 - 0)
    assert recovery_error(SHARES, (0.75, 0.25), 0.9) == pytest.approx(0.9 - 0.1)
    assert recovery_error(SHARES, (1.0, 0.0), 0.9) == pytest.approx(0.9 - 0.3)


def test_the_surface_is_infeasible_around_the_diagonal():
    surface = recovery_error(SHARES, (GRID, GRID[:, None]), 0.9)
    assert surface.shape == (41, 41)
    gap = np.abs(GRID[:, None] - GRID)
    assert np.array_equal(np.isnan(surface), gap < 0.4 - 1e-9)


def test_shares_and_pairs_mean_the_same():
    one = recovery_error(SHARES, uc.Shares(0.1, 0.9), 0.8)
    assert one == recovery_error((0.25, 0.75), [0.1, 0.9], 0.8)
    # Eq. 4 forward and back by hand: AUC^pu = .65, then (.65 - .1)/.8.
    assert one == pytest.approx(abs((0.65 - 0.1) / 0.8 - 0.8))


def test_both_routes_to_precision_agree():
    rng = np.random.default_rng(4)
    y, score = np.append(np.ones(60), np.full(240, -1)), rng.integers(0, 40, 300)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    for shares in (uc.Shares(0.2), uc.Shares(0.1, 0.7), uc.Shares(0.0, 0.9)):
        naive = uc.naive_curve(counts).precision[1:]
        found = precision_from_naive(naive, shares, labelled_share=60 / 300)
        seen = np.cumsum(counts.unlabeled) > 0
        expected = unlabeled_precision(counts, shares)
        assert found[seen] == pytest.approx(expected[seen], abs=1e-12)


def test_a_naive_precision_of_one_says_nothing():
    assert np.isnan(precision_from_naive(1.0, SHARES, labelled_share=0.5))


def test_area_under_precision_recall_is_scikit_learns():
    rng = np.random.default_rng(5)
    y, score = rng.random(200) < 0.3, rng.normal(size=200)
    curve = uc.labelled_curve(uc.ScoreCounts.from_rows(y, score))
    precision, recall, _ = metrics.precision_recall_curve(y, score)
    # Theirs puts precision 1 at recall 0, ours the first point's precision.
    precision[-1] = precision[-2]
    assert precision_recall_auc(curve) == pytest.approx(metrics.auc(recall, precision), abs=1e-12)


def test_sign_test_is_the_binomial_tail():
    assert sign_test(7, 3) == pytest.approx(binom.sf(6, 10, 0.5), rel=1e-12)
    assert sign_test(7, 3, ties=3) == pytest.approx(binom.sf(7, 13, 0.5), rel=1e-12)
    assert sign_test(0, 5) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: recovery_error((0.8, 0.5), (0.1, 0.9), 0.8),
            "unlabeled_prevalence < label_purity",
        ),
        (lambda: recovery_error(SHARES, (0.1, 0.9), 1.8), "auc must be between 0 and 1; got 1.8"),
        (
            lambda: recovery_error(SHARES, (0.1, 1.9), 0.8),
            "assumed_shares must lie between 0 and 1",
        ),
        (lambda: recovery_error(SHARES, 0.1, 0.8), "assumed_shares must be Shares or a pair"),
        (lambda: recovery_error(SHARES, ("low", 1), 0.8), "assumed_shares must hold numbers"),
        (lambda: precision_from_naive(1.2, SHARES, labelled_share=0.1), "naive_precision must lie"),
        (
            lambda: precision_from_naive(0.2, SHARES, labelled_share=1),
            "labelled_share must be above",
        ),
        (lambda: sign_test(-1, 3), "wins must be a whole number of at least 0; got -1"),
        (lambda: sign_test(1, 2.5), "losses must be a whole number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
