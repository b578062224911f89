import numpy as np
import pytest

import undercount as uc


def test_known_propensities_remove_the_bias_of_labelling():
    rng = np.random.default_rng(3)
    truth = rng.random(200_000) < 0.3
    score = rng.normal(truth * 1.0)
    chance = 1 / (1 + np.exp(-score))  # high scores are labelled more often
    y = np.where(truth & (rng.random(len(truth)) < chance), 1.0, np.nan)
    curve = uc.propensity_curve(y, score, chance)
    assert curve.prevalence == pytest.approx(truth.mean(), abs=0.005)
    assert curve.roc_auc == pytest.approx(0.7602, abs=0.01)  # Φ(1/√2)
    counts = uc.ScoreCounts.from_rows(y, score)
    unaware = uc.mixture_curve(counts, uc.Shares.from_prevalence(counts, truth.mean()), clean=False)
    assert unaware.roc_auc > 0.8


def test_equal_propensities_are_random_labels():
    y, score = [1, None, 1, None, None], [5, 4, 3, 2, 1]
    curve = uc.propensity_curve(y, score, np.full(5, 2 / 3))
    counts = uc.ScoreCounts.from_rows(y, score)
    shares = uc.Shares.from_positives(counts, 3)
    # For the data set the two differ only in who hides among the unlabeled: the areas agree.
    expected = uc.mixture_curve(counts, shares, clean=False)
    np.testing.assert_allclose(curve.tpr, expected.tpr)
    assert curve.prevalence == pytest.approx(expected.prevalence)


def test_bad_input():
    with pytest.raises(uc.InputError, match=r"in \(0, 1\]; got 0.0 at row 0"):
        uc.propensity_curve([1, None], [2, 1], [0, 1])
    with pytest.raises(uc.InputError, match="fewer than all rows"):
        uc.propensity_curve([1, None], [2, 1], [0.1, 1])


def test_unlabeled_rows_need_no_propensity():
    full = uc.propensity_curve([1, 1, None, None], [4, 3, 2, 1], [0.5, 1.0, 1.0, 1.0])
    missing = uc.propensity_curve([1, 1, None, None], [4, 3, 2, 1], [0.5, 1.0, np.nan, np.nan])
    assert missing.prevalence == full.prevalence == 0.75
    assert missing.tpr.tolist() == full.tpr.tolist()
    with pytest.raises(uc.InputError, match=r"propensity of a labelled row.*got nan at row 0"):
        uc.propensity_curve([1, None], [2, 1], [np.nan, 1])


@pytest.mark.parametrize("sizes", [(3, 4, 4), (4, 3, 4), (4, 4, 3)])
def test_unequal_lengths_are_refused(sizes):
    y, score, chance = ([1.0] * size for size in sizes)
    with pytest.raises(uc.InputError, match="the same length"):
        uc.propensity_curve(y, score, chance)
