import json
import pathlib

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import TIcE
from undercount.prevalence.tice import feature_parts, label_frequency

DATA = pathlib.Path(__file__).parents[1] / "data" / "prevalence"
EXPECTED = json.loads((DATA / "expected_features.json").read_text())


def separate(n_rows, n_labelled, n_hidden, seed=0):
    """Two features of rows whose classes do not overlap."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n_rows) < n_labelled + n_hidden
    X = rng.random((n_rows, 2)) + positive[:, None]
    return np.where(np.arange(n_rows) < n_labelled, 1.0, np.nan), X


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_published_values(name):
    data = np.load(DATA / f"features_{name}.npz")
    labelled, unlabeled = data["labelled"], data["unlabeled"]
    is_labelled = np.repeat([1.0, 0.0], [len(labelled), len(unlabeled)])
    frequency = label_frequency(np.concatenate([labelled, unlabeled]), is_labelled, data["folds"])
    share = len(labelled) * (1 / frequency - 1) / len(unlabeled)
    assert share == pytest.approx(EXPECTED[name]["TIcE_default_folds5"], abs=1e-12)


def test_classes_that_do_not_overlap_give_the_truth():
    # The bound's correction shrinks with the rows: it takes many to come within .02.
    y, X = separate(400_000, 80_000, 80_000)
    found = TIcE(n_resamples=0, random_state=0).fit(y, X)
    assert found.unlabeled_prevalence_ == pytest.approx(0.25, abs=0.02)
    assert found.diagnostics_["label_frequency"] < 0.5  # a lower bound of the true one


def test_small_samples_err_upwards():
    y, X = separate(2000, 400, 400)
    assert 0.25 < TIcE(n_resamples=0, random_state=0).fit(y, X).unlabeled_prevalence_ < 0.4


def test_interval_and_seed():
    y, X = separate(1000, 200, 200)
    first, again = (TIcE(n_resamples=10, random_state=3).fit(y, X) for _ in range(2))
    assert first.interval_ == again.interval_
    assert first.interval_.low < first.interval_.high


def test_parts_are_quarters_of_the_range():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.9, 5.0], [4.0, 5.0]])
    assert feature_parts(X).T.tolist() == [[0, 1, 2, 3, 3], [0, 0, 0, 0, 0]]


def test_too_few_folds():
    y, X = separate(200, 50, 50)
    with pytest.raises(uc.InputError, match="n_folds"):
        TIcE(n_folds=1).fit(y, X)
