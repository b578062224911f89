"""What the training scripts hold out and refuse; training itself takes hours."""

import importlib
import pathlib

import numpy as np
import pytest

from undercount.prevalence.consensus.noisy import gather_noisy

BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


def test_fewer_rows_than_a_batch_are_refused(script):
    network = script("train_network")
    x, truth = np.zeros((network.BATCH - 1, 3)), np.zeros((network.BATCH - 1, 1))
    with pytest.raises(ValueError, match=f"at least {network.BATCH} rows.*; got {len(x)}"):
        network.fit(x, truth, truth + 1, np.array([0.5]), 0, (4,))


def test_network_learns_a_median(script):
    network, rng = script("train_network"), np.random.default_rng(0)
    x = rng.normal(size=(1024, 1))
    truth = np.where(x > 0, 0.8, 0.2)
    layers = network.fit(x, truth, np.ones_like(truth), np.array([0.5]), 0, (8,))
    low, high = network.forward(np.array([[-2.0], [2.0]]), layers)[-1].ravel()
    assert (low, high) == pytest.approx((0.2, 0.8), abs=0.1)


def test_whole_worlds_are_held_out(script):
    network = script("train_network")
    worlds = np.column_stack([np.zeros(180, int), np.repeat(np.arange(20), 9)])
    shapes = np.column_stack([np.ones(300, int), np.arange(300)])
    # A fortieth of 480 problems are 12, in the middle of the second world.
    assert network.held_out(np.concatenate([worlds, shapes])) == 18


def test_one_world_alone_cannot_be_held_out(script):
    network = script("train_network")
    with pytest.raises(ValueError, match="needs several; got one"):
        network.held_out(np.zeros((9, 2), int))


def test_only_the_first_two_problems_of_a_world_are_out_of_fold(script):
    consensus = script("train_consensus")
    worlds = np.column_stack([np.zeros(6, int), np.repeat([0, 1], 3), np.tile(np.arange(3), 2)])
    shapes = np.column_stack([np.ones(2, int), np.arange(2), np.zeros(2, int)])
    own = consensus.out_of_fold(np.concatenate([worlds, shapes]))
    assert own.tolist() == [True, True, False] * 2 + [False] * 2
    weight = consensus.weights(np.full(8, 0.95), np.zeros(8), own)
    assert weight[0] == pytest.approx(consensus.OUT_OF_FOLD_WEIGHT * weight[2])
    middle = consensus.LEVELS == 0.5
    assert weight.mean(axis=0) == pytest.approx(np.where(middle, consensus.MEDIAN_WEIGHT, 1))


def test_simulated_problems_hold_their_draw(script, tmp_path):
    network = script("train_network")

    def make(rng):
        y = np.repeat([1, 0], [40, 100])
        return [((0.3, 1.0), y, rng.normal(y)) for _ in range(2)]

    network.simulate(gather_noisy, make, 0, tmp_path / "x.npz", 3)
    with np.load(tmp_path / "x.npz") as found:
        assert found["group"].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
        assert len(found["inputs"]) == len(found["truth"]) == 6
    _, truth, draws = network.read([tmp_path / "x.npz"] * 2)
    assert truth.shape == (12, 2)
    assert draws[:, 0].tolist() == [0] * 6 + [1] * 6
    assert draws[:, 1].tolist() == [0, 0, 1, 1, 2, 2] * 2
    assert draws[:, 2].tolist() == [0, 1] * 6
