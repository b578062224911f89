import json
import pathlib

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import PenL1
from undercount.prevalence.pen_l1 import BasisMeans, penalised_share

DATA = pathlib.Path(__file__).parents[1] / "data" / "prevalence"
EXPECTED = json.loads((DATA / "expected_features.json").read_text())


def exact(mean):
    return BasisMeans(mean, np.zeros(len(mean)))


def test_the_share_minimises_the_divergence():
    rng = np.random.default_rng(0)
    labelled, unlabeled = rng.random(30), rng.random(30)
    grid = np.linspace(0, 1, 100_001)
    excess = np.maximum(grid[:, None] * labelled - unlabeled, 0)
    divergence = np.square(excess).sum(axis=1) / (0.01 * labelled @ labelled) - grid + 1
    found = penalised_share(exact(labelled), exact(unlabeled), 0.01)
    assert found == pytest.approx(grid[np.argmin(divergence)], abs=2e-5)


def test_equal_samples_are_all_positive():
    both = exact(np.array([0.2, 0.4]))
    assert penalised_share(both, both, 0.001) == 1.0


def test_noise_is_forgiven():
    labelled = BasisMeans(np.array([0.5, 0.5]), np.full(2, 0.01))
    unlabeled = BasisMeans(np.array([0.2, 0.3]), np.full(2, 0.01))
    assert penalised_share(labelled, unlabeled, 1e-6) > 0.4


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_classes_that_do_not_overlap_give_the_truth(share):
    rng = np.random.default_rng(0)
    positive = np.arange(60_000) < 10_000 + 50_000 * share
    X = rng.normal(np.where(positive, 12, 0)[:, None], 1, (60_000, 2))
    y = np.repeat([1.0, np.nan], [10_000, 50_000])
    found = PenL1(n_resamples=0, random_state=0).fit(y, X)
    assert found.unlabeled_prevalence_ == pytest.approx(share, abs=0.02)


def found_on(name, **parameters):
    data = np.load(DATA / f"features_{name}.npz")
    X = np.concatenate([data["labelled"], data["unlabeled"]])
    y = np.repeat([1.0, np.nan], [len(data["labelled"]), len(data["unlabeled"])])
    fitted = PenL1(n_resamples=0, random_state=0, **parameters).fit(y, X)
    return fitted.unlabeled_prevalence_


def test_the_default_is_nearer_to_the_truth_than_the_port():
    # The port draws centres and widths at random, so its values themselves are no target.
    truth = {name: int(name[-2:]) / 100 for name in EXPECTED}
    ours = [abs(found_on(name) - truth[name]) for name in EXPECTED]
    port = [abs(EXPECTED[name]["penL1_port_seed0"] - truth[name]) for name in EXPECTED]
    assert np.mean(ours) < np.mean(port)


def test_interval_and_seed():
    rng = np.random.default_rng(0)
    X = rng.normal(np.where(np.arange(600) < 250, 4, 0)[:, None], 1, (600, 2))
    y = np.repeat([1.0, np.nan], [100, 500])
    first, again = (PenL1(n_resamples=20, random_state=3).fit(y, X) for _ in range(2))
    assert first.interval_ == again.interval_
    assert first.interval_.low < 0.3 < first.interval_.high + 0.05


def test_wrong_arguments():
    y = np.repeat([1.0, np.nan], [20, 20])
    with pytest.raises(uc.InputError, match="width and penalty"):
        PenL1(width=0).fit(y, np.arange(40.0)[:, None])
    almost = np.zeros((40, 1))
    almost[0] = 1
    with pytest.raises(uc.InputError, match="equal"):
        PenL1().fit(y, almost)
