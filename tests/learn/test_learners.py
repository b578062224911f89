"""Both learners: what they learn, and that they behave as scikit-learn's estimators do."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import undercount as uc
from undercount.learn import PUAUCClassifier, PUAULClassifier
from undercount.learn.search import lift_area

LEARNERS = [
    PUAULClassifier(n_centres=30, random_state=0),
    PUAUCClassifier(n_centres=30, unlabeled_prevalence=0.3, random_state=0),
]
both = pytest.mark.parametrize("learner", LEARNERS, ids=["aul", "auc"])


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@both
def test_equal_normals_reach_the_optimal_direction(learner, draw):
    # Fisher's direction: covariance⁻¹ (mean difference), here with correlated features.
    data = draw(np.random.default_rng(1), 100_000, 0.3, (1.0, 0.0, 0.5))
    mixing = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 2.0]])
    learner = clone(learner).set_params(basis="linear", penalty=1e-6, standardise=False)
    learner.fit(data.X @ mixing, data.y)
    shift = np.array([1.0, 0.0, 0.5]) @ mixing
    best = np.linalg.solve(mixing.T @ mixing, shift)
    assert cosine(learner.coef_, best) > 0.995


def test_unequal_normals_part_the_two_losses(draw):
    # Population minima: AUC (S_P + S_N)⁻¹ d; AUL ((1+π) S_P + (1-π) S_N)⁻¹ d.
    share, shift = 0.5, np.array([1.0, 1.0])
    data = draw(np.random.default_rng(2), 300_000, share, shift, ((3.0, 1.0), (1.0, 1.0)), 0.5)
    hidden = np.mean(data.truth[data.y == -1])
    options = {"basis": "linear", "penalty": 1e-6, "standardise": False}
    aul = PUAULClassifier(**options).fit(data.X, data.y).coef_
    auc = PUAUCClassifier(unlabeled_prevalence=hidden, **options).fit(data.X, data.y).coef_
    positive, negative = np.array([9.0, 1.0]), np.array([1.0, 1.0])
    expected_aul = shift / ((1 + share) * positive + (1 - share) * negative)
    expected_auc = shift / (positive + negative)
    assert aul[0] / aul[1] == pytest.approx(expected_aul[0] / expected_aul[1], abs=0.02)
    assert auc[0] / auc[1] == pytest.approx(expected_auc[0] / expected_auc[1], abs=0.02)


@both
def test_gaussian_basis_learns_a_ring(learner):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    truth = np.hypot(*X.T) > 1.4
    y = np.where(truth & (rng.random(1500) < 0.2), 1, -1)
    learner = clone(learner).fit(X, y)
    fresh = rng.normal(size=(1000, 2))
    assert roc_auc_score(np.hypot(*fresh.T) > 1.4, learner.decision_function(fresh)) > 0.95


@both
def test_chosen_by_the_highest_held_out_area(learner, small):
    learner = clone(learner).fit(small.X, small.y)
    found = learner.search_
    best = np.argmax(found["aul"])
    assert found["aul"].size == 28
    assert learner.held_out_aul_ == found["aul"][best]
    assert (learner.width_, learner.penalty_) == (found["width"][best], found["penalty"][best])


def test_predict_matches_the_prevalence(draw):
    rng = np.random.default_rng(4)
    data = draw(rng, 4000, 0.25, (2.0, 0.0))
    fresh = draw(rng, 4000, 0.25, (2.0, 0.0))
    aul = PUAULClassifier(prevalence=0.25, basis="linear").fit(data.X, data.y)
    hidden = np.mean(data.truth[data.y == -1])
    auc = PUAUCClassifier(unlabeled_prevalence=hidden, basis="linear").fit(data.X, data.y)
    assert auc.prevalence_ == pytest.approx(0.25)
    for learner in (aul, auc):
        assert np.mean(learner.predict(fresh.X) == 1) == pytest.approx(0.25, abs=0.03)
        probability = learner.predict_proba(fresh.X)[:, 1]
        assert probability.mean() == pytest.approx(0.25, abs=0.03)
        upper = probability > 0.5
        assert fresh.truth[upper].mean() == pytest.approx(probability[upper].mean(), abs=0.06)


def test_case_control_prevalence_is_that_of_the_unlabeled(draw):
    rng = np.random.default_rng(6)
    data = draw(rng, 5000, 0.3, (2.5, 0.0), label_frequency=0.0)
    X = np.vstack([rng.normal((2.5, 0.0), size=(1500, 2)), data.X])
    y = np.repeat([1, -1], [1500, 5000])
    options = {"sampling": "case-control", "basis": "linear", "random_state": 0}
    for learner in (
        PUAULClassifier(prevalence=0.3, **options),
        PUAUCClassifier(unlabeled_prevalence=0.3, **options),
    ):
        learner.fit(X, y)
        assert learner.prevalence_ == 0.3
        assert np.mean(learner.predict(data.X) == 1) == pytest.approx(0.3, abs=0.02)
        assert learner.predict_proba(data.X)[:, 1].mean() == pytest.approx(0.3, abs=0.03)


def test_without_prevalence_the_middle_is_where_densities_cross(draw):
    # All positives are labelled, so labelled rows are N(2, 1) and others N(0, 1): they cross at 1.
    data = draw(np.random.default_rng(7), 20_000, 0.2, (2.0,), label_frequency=1.0)
    learner = PUAULClassifier(basis="linear").fit(data.X, data.y)
    assert learner.prevalence_ is None
    grid = np.linspace(-1, 3, 401)[:, None]
    positive = learner.predict(grid) == 1
    assert grid[positive].min() == pytest.approx(1, abs=0.05)
    assert ((learner.predict_proba(grid)[:, 1] > 0.5) == positive).all()


@both
def test_weights_are_repetitions(learner, small):
    times = np.random.default_rng(9).integers(0, 4, small.y.size)
    fixed = clone(learner).set_params(basis="linear", penalty=0.1)
    weighted = clone(fixed).fit(small.X, small.y, sample_weight=times)
    repeated = clone(fixed).fit(np.repeat(small.X, times, 0), np.repeat(small.y, times))
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-9)
    area = weighted.score(small.X, small.y, sample_weight=times)
    again = weighted.score(np.repeat(small.X, times, 0), np.repeat(small.y, times))
    assert area == pytest.approx(again)


@both
@pytest.mark.parametrize("basis", ["gaussian", "linear"])
def test_sparse_rows(learner, basis, small):
    thin = np.where(small.X > 0.5, small.X, 0.0)
    learner = clone(learner).set_params(basis=basis, standardise=False)
    dense = clone(learner).fit(thin, small.y).decision_function(thin)
    packed = sparse.csr_matrix(thin)
    found = clone(learner).fit(packed, small.y).decision_function(packed)
    # Rows of zeros repeat, so the kernel of the centres is singular and loses half the digits.
    assert found == pytest.approx(dense, abs=1e-3)


@both
def test_pickle_frame_pipeline_and_search(learner, small):
    frame = pd.DataFrame(small.X, columns=["age", "amount"])
    fitted = clone(learner).set_params(penalty=0.1, width=1.0).fit(frame, small.y)
    assert fitted.feature_names_in_.tolist() == ["age", "amount"]
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert again.decision_function(frame).tolist() == fitted.decision_function(frame).tolist()
    pipe = make_pipeline(PolynomialFeatures(), clone(learner).set_params(basis="linear"))
    name = pipe.steps[-1][0]
    found = GridSearchCV(pipe, {f"{name}__penalty": [0.01, 1.0]}, cv=2).fit(small.X, small.y)
    assert found.best_score_ == max(found.cv_results_["mean_test_score"])
    assert roc_auc_score(small.truth, found.decision_function(small.X)) > 0.85


def test_score_is_aul_and_not_accuracy(small):
    learner = PUAULClassifier(basis="linear", penalty=0.1).fit(small.X, small.y)
    score = learner.decision_function(small.X)
    order = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    assert learner.score(small.X, small.y) == pytest.approx(order[small.y == 1].mean())
    area = lift_area(small.y == 1, score, np.ones(score.size), with_self=True)
    assert area == pytest.approx(order[small.y == 1].mean())


def test_estimated_prevalence(draw):
    data = draw(np.random.default_rng(11), 1500, 0.4, (4.0, 0.0))
    learner = PUAUCClassifier(basis="linear", penalty=0.1, random_state=0).fit(data.X, data.y)
    hidden = np.mean(data.truth[data.y == -1])
    assert learner.unlabeled_prevalence_ == pytest.approx(hidden, abs=0.1)


@both
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"basis": "cubic"}, "basis must be one of .* got 'cubic'"),
        ({"sampling": "both"}, "sampling must be one of"),
        ({"n_centres": 0}, "n_centres must be a whole number of at least 1; got 0"),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2; got 1"),
        ({"width": -1.0}, "width must be a number above zero, or None; got -1.0"),
        ({"penalty": "much"}, "penalty must be a number above zero"),
    ],
)
def test_bad_parameters(learner, parameters, message, small):
    with pytest.raises(uc.InputError, match=message):
        clone(learner).set_params(**parameters).fit(small.X, small.y)


def test_bad_shares(small):
    with pytest.raises(uc.InputError, match=r"at least the share of labelled positives 0\.12"):
        PUAULClassifier(prevalence=0.05, basis="linear").fit(small.X, small.y)
    with pytest.raises(uc.InputError, match=r"prevalence must be a share .* got 1\.5"):
        PUAULClassifier(prevalence=1.5, basis="linear").fit(small.X, small.y)
    with pytest.raises(uc.InputError, match=r"unlabeled_prevalence must be a share .* got 'half'"):
        PUAUCClassifier(unlabeled_prevalence="half").fit(small.X, small.y)


def test_bad_rows(small):
    learner = PUAULClassifier(basis="linear", penalty=0.1).fit(small.X, small.y)
    with pytest.raises(uc.InputError, match="one kind only"):
        learner.score(small.X, np.ones(600))
    with pytest.raises(uc.InputError, match="y must have 600 rows"):
        learner.score(small.X, small.y[:5])
    wide = sparse.csr_matrix((600, 10_001))
    with pytest.raises(uc.InputError, match="at most 10000 features; got 10001"):
        learner.fit(wide, small.y)


def test_any_seed_of_numpy_will_do(small):
    for seed in (None, 1, np.random.default_rng(1), np.random.RandomState(1)):
        learner = PUAULClassifier(n_centres=5, width=1.0, penalty=1.0, random_state=seed)
        assert learner.fit(small.X, small.y).coef_.shape == (5,)
