"""Recovery from labelled and unlabeled rows: rates, areas, cleaning, infeasible shares."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import average_precision_score

import undercount as uc
from undercount.errors import InputError
from undercount.infer.mixture import recovered_rates
from undercount.theory.recovery import direct_auc, unlabeled_precision


def simulated(seed=0, n_labelled=300, n_unlabeled=2000, share=0.3, purity=1.0, shift=1.0):
    rng = np.random.default_rng(seed)
    positive = np.append(rng.random(n_labelled) < purity, rng.random(n_unlabeled) < share)
    score = rng.normal(shift * positive)
    y = np.append(np.ones(n_labelled), np.full(n_unlabeled, np.nan))
    return uc.ScoreCounts.from_rows(y, score)


def test_rates_solve_the_mixtures_by_hand():
    # 3/4 of the positives and 1/5 of the negatives flagged; purity .8, share .3.
    labelled, unlabeled = 0.8 * 0.75 + 0.2 * 0.2, 0.3 * 0.75 + 0.7 * 0.2
    tpr, fpr = recovered_rates(np.array([labelled]), np.array([unlabeled]), uc.Shares(0.3, 0.8))
    assert tpr == pytest.approx([0.75], rel=1e-14)
    assert fpr == pytest.approx([0.2], rel=1e-14)


def test_a_cleaned_curve_stays_in_the_unit_square_and_has_both_ends():
    curve = uc.mixture_curve(simulated(n_labelled=30, n_unlabeled=60), uc.Shares(0.5))
    for rate in (curve.tpr, curve.fpr):
        assert rate.min() >= 0
        assert rate.max() <= 1
    assert (curve.tpr[0], curve.fpr[0], curve.tpr[-1], curve.fpr[-1]) == (0, 0, 1, 1)
    assert np.all(np.diff(curve.fpr) >= 0)


def test_rounding_puts_no_point_before_the_first():
    # g = .8 and q = .08 at share .1 leave a false-positive rate of -1.5e-17 at the first score.
    counts = uc.ScoreCounts.from_counts([3, 2, 1], [8, 1, 1], [0, 0, 0], [8, 90, 2])
    curve = uc.mixture_curve(counts, uc.Shares(0.1))
    assert uc.mixture_curve(counts, uc.Shares(0.1), clean=False).fpr[1] < 0
    assert (curve.tpr[0], curve.fpr[0], curve.threshold[0]) == (0, 0, np.inf)
    assert (curve.tpr[-1], curve.fpr[-1], curve.threshold[-1]) == (1, 1, 1)
    assert curve.tpr[1] == 0.8


def test_each_point_of_a_cleaned_curve_belongs_to_its_threshold():
    counts, shares = simulated(n_labelled=40, n_unlabeled=80), uc.Shares(0.4)
    raw = uc.mixture_curve(counts, shares, clean=False)
    points = {t: (x, y) for t, x, y in zip(raw.threshold, raw.fpr, raw.tpr, strict=True)}
    for monotone in (None, "hull"):
        curve = uc.mixture_curve(counts, shares, monotone=monotone)
        assert len(set(curve.threshold)) == len(curve.threshold)
        for t, x, y in zip(curve.threshold, curve.fpr, curve.tpr, strict=True):
            assert (x, y) == pytest.approx(points[t], abs=1e-9)


@pytest.mark.parametrize("monotone", ["cummax", "isotonic", "hull"])
def test_monotone_curves_rise(monotone):
    curve = uc.mixture_curve(simulated(n_labelled=50), uc.Shares(0.3), monotone=monotone)
    assert np.all(np.diff(curve.tpr) >= -1e-15)
    assert (curve.tpr[0], curve.fpr[0], curve.tpr[-1], curve.fpr[-1]) == (0, 0, 1, 1)


@pytest.mark.parametrize("seed", range(5))
def test_monotone_methods_against_independent_ones(seed):
    counts, shares = simulated(seed, n_labelled=15, n_unlabeled=40), uc.Shares(0.3)
    plain = uc.mixture_curve(counts, shares)
    largest = [max(plain.tpr[: i + 1]) for i in range(len(plain.tpr))]
    assert uc.mixture_curve(counts, shares, monotone="cummax").tpr.tolist() == largest
    squares = uc.mixture_curve(counts, shares, monotone="isotonic").tpr
    assert squares == pytest.approx(isotonic_regression(plain.tpr), abs=1e-12)
    hull = uc.mixture_curve(counts, shares, monotone="hull")
    highest = plain.tpr.copy()  # above every chord between two points, and nothing higher
    for i, j in itertools.combinations(range(len(plain.tpr)), 2):
        inside = (plain.fpr >= plain.fpr[i]) & (plain.fpr <= plain.fpr[j])
        if plain.fpr[j] > plain.fpr[i]:
            chord = np.interp(plain.fpr, plain.fpr[[i, j]], plain.tpr[[i, j]])
            highest[inside] = np.maximum(highest, chord)[inside]
    for x, y in zip(hull.fpr[1:], hull.tpr[1:], strict=True):
        assert y == pytest.approx(highest[plain.fpr == x].max(), abs=1e-12)
    slopes = np.diff(hull.tpr) / np.maximum(np.diff(hull.fpr), 1e-300)
    assert np.all(np.diff(slopes) < 0)
    assert hull.roc_auc >= plain.roc_auc


@pytest.mark.parametrize("compact", [False, True])
def test_average_precision_of_cleaned_curves_is_near_the_truth(compact):
    errors = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        truth = rng.random(3000) < 0.1
        score = rng.normal(1.5 * truth)
        y = np.where(truth & (rng.random(3000) < 0.3), 1.0, np.nan)
        counts = uc.ScoreCounts.from_rows(y, score, compact=compact)
        curve = uc.mixture_curve(counts, uc.Shares.from_prevalence(counts, truth.mean()))
        errors.append(curve.average_precision - average_precision_score(truth, score))
    # The standard deviation of one draw is .07; walked by its rates the mean error is .1 to .35.
    assert np.mean(errors) == pytest.approx(0, abs=3 * 0.07 / 80**0.5)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from([1, 0, -1])), min_size=2, max_size=30),
    st.floats(0, 0.5),
    st.floats(0.6, 1),
)
def test_direct_auc_is_the_area_of_the_uncleaned_curve(rows, share, purity):
    score, y = [r[0] for r in rows] + [3, 2], [r[1] for r in rows] + [1, -1]
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    for sampling in ("single-sample", "case-control"):
        shares = uc.Shares(share, purity, sampling)
        try:
            area = direct_auc(counts, shares)
        except InputError:
            continue
        assert area == pytest.approx(
            uc.mixture_curve(counts, shares, clean=False).roc_auc, abs=1e-9
        )


def test_direct_auc_with_known_negatives_on_a_known_truth():
    # All positives are labelled or unlabeled at share 1/4; negatives are known or hidden.
    truth = np.array([1, 1, 0, 1, 0, 1, 0, 0])
    score = np.arange(8, 0, -1.0)
    shares = uc.Shares(0.25)
    found = []
    for hidden in np.flatnonzero(truth):  # every choice of the one unlabeled positive
        y = truth.astype(float)
        y[[hidden, *np.flatnonzero(truth == 0)[:3]]] = np.nan
        counts = uc.ScoreCounts.from_rows(y, score)
        found.append(uc.mixture_curve(counts, shares, clean=False).roc_auc)
    true_area = uc.labelled_curve(uc.ScoreCounts.from_rows(truth, score)).roc_auc
    assert np.mean(found) == pytest.approx(true_area, abs=1e-12)


def test_infeasible_shares_name_the_feasible_region():
    counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 1, 0, 0, 0], range(8, 0, -1), unlabeled=0)
    assert direct_auc(counts, uc.Shares(0.4)) == pytest.approx(1)  # on Figure 4's line: A = .8
    assert direct_auc(counts, uc.Shares(0.2, 0.8)) == pytest.approx(1)
    with pytest.raises(InputError, match=r"unlabeled_prevalence may be at most 0\.4"):
        direct_auc(counts, uc.Shares(0.41))
    with pytest.raises(InputError, match=r"make the ROC AUC 1.1.*at least .2 · 0.8 - 1. = 0.6; at"):
        direct_auc(counts, uc.Shares(0.3, 0.8))
    with pytest.raises(
        InputError, match=r"no unlabeled_prevalence fits this purity.*at least 0\.6"
    ):
        direct_auc(counts, uc.Shares(0.0, 0.5))
    reversed_scores = uc.ScoreCounts.from_rows([1, 0, 1, 0, 1, 0, 0, 0], range(8), unlabeled=0)
    with pytest.raises(InputError, match=r"make the ROC AUC -0.1"):
        direct_auc(reversed_scores, uc.Shares(0.5))


def test_a_curve_is_refused_only_where_chance_cannot_explain_the_misfit():
    counts = simulated(n_labelled=2000, n_unlabeled=5000, share=0.1, shift=3.0)
    with pytest.raises(InputError, match=r"unlabeled_prevalence may be at most 0\.1"):
        uc.mixture_curve(counts, uc.Shares(0.5))
    # A nearly perfect classifier lands above 1 by chance about half of the time.
    perfect = simulated(seed=3, n_labelled=50, n_unlabeled=500, share=0.3, shift=50.0)
    with pytest.raises(InputError, match="do not fit"):
        direct_auc(perfect, uc.Shares(0.32))
    assert uc.mixture_curve(perfect, uc.Shares(0.32), monotone="cummax").roc_auc > 0.98


def test_unlabeled_precision_on_a_known_truth():
    counts = simulated(n_labelled=200_000, n_unlabeled=400_000, share=0.2, purity=0.9)
    found = unlabeled_precision(counts, uc.Shares(0.2, 0.9))
    at = np.searchsorted(-counts.score, -1.0)
    flagged_positives, flagged_negatives = 0.2 * 0.5, 0.8 * 0.15865525393145707
    expected = flagged_positives / (flagged_positives + flagged_negatives)
    assert found[at] == pytest.approx(expected, abs=0.01)
    assert found[-1] == pytest.approx(0.2)  # all flagged: the share itself


def test_unlabeled_precision_is_undefined_where_no_unlabeled_row_is_flagged():
    counts = uc.ScoreCounts.from_rows([1, None, 1, None], [4, 3, 2, 1])
    found = unlabeled_precision(counts, uc.Shares(0.25))
    assert found[1:] == pytest.approx([0.25, 0.5, 0.25])
    assert np.isnan(found[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"monotone": "median"}, "monotone must be 'cummax', 'isotonic', 'hull' or None"),
        ({"monotone": "hull", "clean": False}, "needs clean=True; got 'hull' with clean=False"),
    ],
)
def test_bad_monotone(arguments, message):
    with pytest.raises(InputError, match=message):
        uc.mixture_curve(simulated(), uc.Shares(0.3), **arguments)


@pytest.mark.parametrize("function", [uc.mixture_curve, direct_auc, unlabeled_precision])
@pytest.mark.parametrize("y", [[None, None, 0], [1, 1, 0]])
def test_both_kinds_of_rows_are_needed(function, y):
    counts = uc.ScoreCounts.from_rows(y, [3, 2, 1])
    with pytest.raises(InputError, match="at least one"):
        function(counts, uc.Shares(0.1))
