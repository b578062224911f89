import numpy as np
import pytest

from undercount.learn.pairs import PairLoss
from undercount.learn.pairs import RidgePath


@pytest.fixture
def loss():
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(6, 6))
    return PairLoss(1.0, rng.normal(size=6), factor @ factor.T)


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 1.0, 50.0])
def test_equals_the_direct_solve(loss, penalty):
    unit = np.trace(loss.curvature) / 6
    expected = np.linalg.solve(loss.curvature + penalty * unit * np.eye(6), loss.target)
    assert RidgePath.of(loss).solve([penalty])[:, 0] == pytest.approx(expected)


def test_is_the_minimum(loss):
    path = RidgePath.of(loss)
    best = path.solve([0.1])[:, 0]

    def cost(w):
        return loss.at(w) + 0.1 * path.unit * w @ w

    for direction in np.eye(6):
        assert cost(best) < min(cost(best + 1e-4 * direction), cost(best - 1e-4 * direction))


def test_root_penalises_in_its_own_norm(loss):
    # Coefficients R v with the penalty |v|² = w·K·w, K = (R R')⁻¹.
    rng = np.random.default_rng(4)
    root = rng.normal(size=(6, 6))
    kernel = np.linalg.inv(root @ root.T)
    path = RidgePath.of(loss, root)
    expected = np.linalg.solve(loss.curvature + 0.3 * path.unit * kernel, loss.target)
    assert path.solve([0.3])[:, 0] == pytest.approx(expected)


def test_negative_curvature_is_set_to_zero():
    loss = PairLoss(1.0, np.array([1.0, 1.0]), np.diag([2.0, -5.0]))
    # Mean eigenvalue of diag(2, 0) is 1, so a penalty of 1 adds 1 to each.
    assert RidgePath.of(loss).solve([1.0])[:, 0] == pytest.approx([1 / 3, 1.0])


def test_without_penalty_flat_directions_are_left_out():
    loss = PairLoss(1.0, np.array([1.0, 0.0]), np.diag([2.0, 0.0]))
    assert RidgePath.of(loss).solve([0.0])[:, 0] == pytest.approx([0.5, 0.0])
