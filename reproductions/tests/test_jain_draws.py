"""Bagged networks behind the tables of Jain et al.: bags, scores, what is kept."""

import numpy as np
import pytest

import undercount as uc
from undercount_reproductions import jain_draws
from undercount_reproductions.running import Request


class Network:
    """A stand-in that trains in no time: the score is the first feature."""

    def __init__(self, *_):
        pass

    def predict_proba(self, features):
        return np.column_stack([features[:, 0], features[:, 0]])


def test_scores_of_an_ensemble_are_kept(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    truth = (np.arange(300) < 240).astype(float)
    features = rng.normal(truth[:, None], 1, (300, 2))
    setting = {"data": "pima", "purity": 0.95, "bags": 3}
    monkeypatch.setattr(jain_draws, "_trained", Network)
    monkeypatch.setattr(jain_draws, "_estimated", lambda _: {})  # slow, and comes after the scores

    def recovered(draw=0):
        request = Request("jain2017", "table1", 1)
        return jain_draws.recover(
            setting, request.generator(setting, draw), features, truth, tmp_path
        )

    first = recovered()
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]
    monkeypatch.setattr(jain_draws, "_trained", None)  # would fail if a network were wanted
    assert recovered() == pytest.approx(first, nan_ok=True)
    with pytest.raises(TypeError):
        recovered(draw=1)  # another draw has no scores yet


@pytest.mark.parametrize("change", ["ITERATIONS", "HIDDEN", "PENALTY", "FRESH", "rows", "columns"])
def test_kept_scores_serve_no_other_networks_or_data(change, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    truth = (np.arange(300) < 240).astype(float)
    features = rng.normal(truth[:, None], 1, (300, 2))
    setting = {"data": "pima", "purity": 0.95, "bags": 3}

    def recover():
        generator = Request("jain2017", "table1", 1).generator(setting, 0)
        return jain_draws.recover(setting, generator, features, truth, tmp_path)

    monkeypatch.setattr(jain_draws, "_trained", Network)
    monkeypatch.setattr(jain_draws, "_estimated", lambda _: {})  # slow, and comes after the scores
    recover()
    if change == "rows":
        features, truth = features[:-1], truth[:-1]
    elif change == "columns":
        features = features[:, :1]
    else:
        monkeypatch.setattr(jain_draws, change, getattr(jain_draws, change) + 1)
    monkeypatch.setattr(jain_draws, "_trained", None)
    with pytest.raises(TypeError):  # a network is wanted
        recover()


@pytest.mark.parametrize("alone", [0, 1], ids=["unlabeled", "labelled"])
def test_row_alone_in_its_group_has_no_score_out_of_bag(alone, monkeypatch):
    monkeypatch.setattr(jain_draws, "_trained", Network)
    monkeypatch.setattr(jain_draws, "_known", lambda *_: (0.0, 0.0))
    labelled = np.arange(20) != 3 if alone == 0 else np.arange(20) == 3
    features = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(uc.InputError, match="at least 2 labelled and 2 unlabeled rows; got"):
        jain_draws._out_of_bag(features, labelled, labelled, 2, np.random.default_rng(0))


def test_two_rows_of_a_group_are_scored_out_of_bag(monkeypatch):
    monkeypatch.setattr(jain_draws, "_trained", Network)
    monkeypatch.setattr(jain_draws, "_known", lambda *_: (0.0, 0.0))
    features = np.random.default_rng(0).normal(size=(20, 2))
    score, _ = jain_draws._out_of_bag(
        features, np.arange(20) < 2, np.zeros(20), 1, np.random.default_rng(0)
    )
    assert np.isfinite(score).all()


def test_bags_hold_as_many_labelled_rows_as_there_are(monkeypatch):
    labelled = np.arange(60) < 20
    bags = []

    def trained(*given):
        bags.append(given[1].sum())
        return Network()

    monkeypatch.setattr(jain_draws, "_trained", trained)
    features = np.random.default_rng(0).normal(size=(60, 2))
    real = (np.arange(60) % 3 > 0).astype(float)
    score, _ = jain_draws._out_of_bag(features, labelled, real, 8, np.random.default_rng(1))
    assert set(bags) == {20}
    # The stand-in's score is the first column; mean ranks of random subsets nearly keep its order.
    assert np.corrcoef(score, features[:, 0])[0, 1] > 0.9


def test_known_shares_err_as_their_standard_error_says():
    """With fixed scores and the true shares eq. 4 has no bias, and errs as much as predicted."""
    rng = np.random.default_rng(0)
    real = np.arange(1500) < 600
    score = rng.normal(1.2 * real)
    found = []
    for _ in range(400):
        labelled = np.zeros(1500, dtype=bool)
        labelled[rng.choice(600, 90, replace=False)] = True
        labelled[600 + rng.choice(900, 30, replace=False)] = True  # a quarter is wrong
        found.append(jain_draws._known(score, labelled, real.astype(float)))
    errors, predicted = np.array(found).T
    assert abs(errors.mean()) < 3 * errors.std() / 20
    assert np.abs(errors).mean() == pytest.approx(jain_draws.ABSOLUTE * predicted.mean(), rel=0.1)
