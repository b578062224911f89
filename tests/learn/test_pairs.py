"""The loss over pairs equals its closed form, and its ridge path the direct solve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from undercount.learn.pairs import PairLoss, PairMoments, RidgePath
from undercount.learn.pu_auc import PUAUCClassifier
from undercount.learn.pu_aul import PUAULClassifier

NUMBERS = st.floats(-10, 10)
WEIGHTS = st.floats(0.1, 5)


@st.composite
def problems(draw):
    """Values of basis functions at labelled and other rows, weights, and coefficients."""
    width, n_upper, n_lower = (draw(st.integers(1, 4)) for _ in range(3))
    upper = draw(arrays(float, (n_upper, width), elements=NUMBERS))
    lower = draw(arrays(float, (n_lower, width), elements=NUMBERS))
    weights = [draw(arrays(float, n, elements=WEIGHTS)) for n in (n_upper, n_lower)]
    return upper, lower, *weights, draw(arrays(float, width, elements=NUMBERS))


def pair_by_pair(upper, lower, upper_weight, lower_weight, coefficients):
    """Return mean loss and gradient by visiting every pair."""
    loss, gradient, total = 0.0, np.zeros(coefficients.size), 0.0
    for high, high_weight in zip(upper, upper_weight, strict=True):
        for low, low_weight in zip(lower, lower_weight, strict=True):
            gap = 1 - coefficients @ (high - low)
            loss += high_weight * low_weight * gap**2
            gradient -= 2 * high_weight * low_weight * gap * (high - low)
            total += high_weight * low_weight
    return loss / total, gradient / total


def tolerance(upper, lower, coefficients):
    size = 1 + np.abs(coefficients).sum() * (np.abs(upper).max() + np.abs(lower).max())
    return 1e-11 * size**2


@given(problems())
@settings(deadline=None, max_examples=50)
def test_aul_loss_and_gradient_are_those_of_all_pairs(problem):
    upper, lower, upper_weight, lower_weight, w = problem
    parts = PairMoments.of(upper, upper_weight), PairMoments.of(lower, lower_weight)
    found = PUAULClassifier()._loss(*parts)
    everyone = np.vstack([upper, lower])  # a labelled row is paired with itself too
    weights = np.concatenate([upper_weight, lower_weight])
    loss, gradient = pair_by_pair(upper, everyone, upper_weight, weights, w)
    close = tolerance(upper, lower, w) * 100
    assert found.at(w) == pytest.approx(loss, abs=close)
    assert 2 * (found.curvature @ w - found.target) == pytest.approx(gradient, abs=close)


@given(problems(), st.floats(0, 0.95))
@settings(deadline=None, max_examples=50)
def test_auc_loss_and_gradient_are_those_of_all_pairs(problem, share):
    upper, lower, upper_weight, lower_weight, w = problem
    learner = PUAUCClassifier()
    learner.unlabeled_prevalence_ = share
    found = learner._loss(PairMoments.of(upper, upper_weight), PairMoments.of(lower, lower_weight))
    mixed = pair_by_pair(upper, lower, upper_weight, lower_weight, w)
    within = pair_by_pair(upper, upper, upper_weight, upper_weight, w)
    close = tolerance(upper, lower, w) * 100
    assert found.at(w) == pytest.approx(mixed[0] - share * within[0], abs=close)
    gradient = 2 * (found.curvature @ w - found.target)
    assert gradient == pytest.approx(mixed[1] - share * within[1], abs=close)


def test_case_control_ranks_against_the_unlabeled_only():
    upper, lower = np.array([[3.0], [1.0]]), np.array([[0.0], [2.0]])
    ones, w = np.ones(2), np.array([0.5])
    found = PUAULClassifier(sampling="case-control")._loss(
        PairMoments.of(upper, ones), PairMoments.of(lower, ones)
    )
    assert found.at(w) == pytest.approx(pair_by_pair(upper, lower, ones, ones, w)[0])


def test_aul_loss_is_auc_loss_plus_the_variance_of_positives():
    # E over (positive, any row) = (1-π) E over (positive, negative) + π (1 + 2 Var of positives).
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(1, 2, (30, 3)), rng.normal(0, 1, (50, 3))
    w, share = np.array([0.3, -0.2, 0.1]), 30 / 80
    parts = PairMoments.of(positive, np.ones(30)), PairMoments.of(negative, np.ones(50))
    spread = 1 + 2 * np.var(positive @ w)
    against = PairLoss.of_pairs(*parts).at(w)
    both = PUAULClassifier()._loss(*parts).at(w)
    assert both == pytest.approx((1 - share) * against + share * spread)


def test_moments_of_parts_add_up():
    rng = np.random.default_rng(1)
    values, weight = rng.normal(size=(20, 3)), rng.random(20)
    whole = PairMoments.of(values, weight)
    added = (
        PairMoments.none(3)
        + PairMoments.of(values[:7], weight[:7])
        + PairMoments.of(values[7:], weight[7:])
    )
    assert added.mean == pytest.approx(np.average(values, axis=0, weights=weight))
    assert added.covariance == pytest.approx(np.cov(values.T, aweights=weight, ddof=0))
    assert whole.product == pytest.approx(added.product)


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
