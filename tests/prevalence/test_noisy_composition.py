import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import AlphaMaxN, BestBin, NoisyComposition
from undercount.prevalence.noisy_composition import swap_roles


def noisy_rows(rng, share, purity, sizes=(600, 3000), distance=4):
    positives = [round(purity * sizes[0]), round(share * sizes[1])]
    parts = []
    for size, n_positive in zip(sizes, positives, strict=True):
        parts += [rng.normal(distance, 1, n_positive), rng.normal(0, 1, size - n_positive)]
    return np.repeat([1, -1], sizes), np.concatenate(parts)


def test_published_alpha_max_n(published):
    found = AlphaMaxN(scale="score", n_resamples=0).fit(published.counts)
    if published.name == "gauss4_a30":
        # The second run's curve has no elbow; the published code takes rounding noise (.22).
        assert found.diagnostics_["second"] == pytest.approx(0.01)
        return
    expected = published.values["AlphaMaxN_port_alpha_beta"]
    assert (found.unlabeled_prevalence_, found.label_purity_) == pytest.approx(expected)


@pytest.mark.parametrize("purity", [1.0, 0.95, 0.75])
def test_share_and_purity_where_classes_are_apart(purity):
    y, score = noisy_rows(np.random.default_rng(0), 0.3, purity)
    found = NoisyComposition(n_resamples=0).fit(y, score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.03)
    assert found.label_purity_ == pytest.approx(purity, abs=0.04)


def test_composition_inverts_the_mixture():
    # Exact counts: purity .8, share .3 on scores that tell the classes apart.
    counts = uc.ScoreCounts.from_counts([2, 1], [800, 200], [0, 0], [3000, 7000])
    found = NoisyComposition(BestBin(), n_resamples=0).fit(counts)
    assert found.diagnostics_["first"] == pytest.approx(0.3 / 0.8)
    assert found.diagnostics_["second"] == pytest.approx(0.2 / 0.7)
    assert found.unlabeled_prevalence_ == pytest.approx(0.3)
    assert found.label_purity_ == pytest.approx(0.8)
    # n_P = κ n_L + a n_U
    assert found.prevalence_ == pytest.approx((800 + 3000) / 11000)


def test_intervals_of_share_and_purity():
    y, score = noisy_rows(np.random.default_rng(1), 0.3, 0.8)
    found = NoisyComposition(BestBin(), n_resamples=40, random_state=0).fit(y, score, unlabeled=-1)
    assert found.interval_.low < found.unlabeled_prevalence_ < found.interval_.high
    purity = found.diagnostics_["label_purity_interval"]
    assert purity.low < found.label_purity_ < purity.high
    assert 0.75 < purity.low < purity.high < 0.9


def test_swapping_twice_changes_nothing(normals):
    again = swap_roles(swap_roles(normals))
    assert np.array_equal(again.score, normals.score)
    assert np.array_equal(again.positive, normals.positive)
    assert again.squared_weight == normals.squared_weight


def test_base_must_be_a_score_estimator(normals):
    with pytest.raises(uc.InputError, match="base must be a ScoreEstimator"):
        NoisyComposition("KM1").fit(normals)
