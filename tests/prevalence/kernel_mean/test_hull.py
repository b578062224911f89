import numpy as np
import pytest
from scipy.optimize import minimize

from undercount.prevalence.kernel_mean.hull import (
    ActiveSet,
    HullTarget,
    double_product,
    nearest_by_pairs,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(12, 3))
    squared = np.square(points[:, None] - points).sum(axis=2)
    kernel = np.exp(-squared / 2)
    weight = rng.normal(size=12)
    weight /= weight.sum()  # outside the hull: some weights are negative
    return kernel, HullTarget(kernel @ weight, float(weight @ kernel @ weight))


def optimum(kernel, target):
    found = minimize(
        lambda v: v @ kernel @ v - 2 * v @ target.product + target.square,
        np.full(12, 1 / 12),
        jac=lambda v: 2 * (kernel @ v - target.product),
        bounds=[(0, None)] * 12,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.fun


def test_active_set_finds_the_optimum(problem):
    kernel, target = problem
    found = ActiveSet(kernel, target).solve()
    assert found.squared_distance == pytest.approx(optimum(kernel, target), rel=1e-6)
    assert found.weight.min() >= 0
    assert found.weight.sum() == pytest.approx(1)


def test_pairs_find_the_optimum(problem):
    kernel, target = problem
    found = nearest_by_pairs(kernel, target, np.full(12, 1 / 12))
    assert found.squared_distance == pytest.approx(optimum(kernel, target), rel=1e-5)
    assert found.gap <= 1e-6
    assert found.weight.sum() == pytest.approx(1)


def test_the_gap_bounds_the_error(problem):
    kernel, target = problem
    found = nearest_by_pairs(kernel, target, np.eye(12)[0], enough=np.inf)
    assert found.squared_distance - found.gap <= optimum(kernel, target) + 1e-12
    assert found.gap > 1e-6  # it stopped at once, as asked


def test_a_point_of_the_hull_has_distance_zero(problem):
    kernel, _ = problem
    inside = np.full(12, 1 / 12)
    target = HullTarget(kernel @ inside, float(inside @ kernel @ inside))
    assert ActiveSet(kernel, target).solve().squared_distance == pytest.approx(0, abs=1e-9)


def test_too_large_a_support_is_given_up(problem):
    kernel, _ = problem
    inside = np.full(12, 1 / 12)
    target = HullTarget(kernel @ inside, float(inside @ kernel @ inside))
    assert ActiveSet(kernel, target).solve(largest=2) is None


def test_double_product_of_a_single_kernel():
    rng = np.random.default_rng(0)
    kernel, vector = rng.random((600, 600)).astype(np.float32), rng.random(600)
    expected = kernel.astype(float) @ vector
    assert double_product(kernel, vector) == pytest.approx(expected, rel=1e-12)
