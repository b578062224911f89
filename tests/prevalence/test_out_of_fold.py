import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

import undercount as uc
from undercount.prevalence import out_of_fold_scores
from undercount.prevalence.out_of_fold import warn_if_in_sample


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(np.where(np.arange(600) < 300, 2, 0)[:, None], 1, (600, 3))
    return np.repeat([1.0, np.nan], [150, 450]), X


class Memory(ClassifierMixin, BaseEstimator):
    """Score 1 for rows seen in training and 0 for others."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = set(X[:, 0])
        return self

    def predict_proba(self, X):
        known = np.array([value in self.seen_ for value in X[:, 0]], float)
        return np.stack([1 - known, known], axis=1)


def auc(y, score):
    labelled, unlabeled = score[y == 1], score[np.isnan(y)]
    return np.mean((labelled[:, None] > unlabeled) + 0.5 * (labelled[:, None] == unlabeled))


def test_no_row_is_scored_by_a_model_that_saw_it(data):
    y, X = data
    assert not out_of_fold_scores(y, X, Memory(), random_state=0).any()


def test_known_negatives_train_no_model(data):
    y, X = data
    y = y.copy()
    y[-100:] = 0
    score = out_of_fold_scores(y, X, Memory(), random_state=0)
    assert not score.any()


def test_scores_are_honest(data):
    # Labelled and hidden positives are alike, so no honest scorer passes 1 - a/2 = 5/6.
    y, X = data
    in_sample = DecisionTreeClassifier(random_state=0).fit(X, y == 1).predict_proba(X)[:, 1]
    assert auc(y, in_sample) == 1
    honest = out_of_fold_scores(y, X, random_state=0)
    assert 0.6 < auc(y, honest) < 5 / 6 + 0.03


def test_same_seed_same_scores_and_shuffled_folds(data):
    y, X = data
    first, again, other = (
        out_of_fold_scores(y, X, LogisticRegression(), random_state=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_decision_values_and_lists_are_accepted(data):
    y, X = data
    labels = np.where(y == 1, 1, -1).tolist()
    score = out_of_fold_scores(labels, X.tolist(), RidgeClassifier(), unlabeled=-1, random_state=0)
    assert auc(y, score) > 0.6


def test_frames_are_accepted(data):
    pandas = pytest.importorskip("pandas")
    y, X = data
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    rows = out_of_fold_scores(y, X, LogisticRegression(), random_state=0)
    found = out_of_fold_scores(y, frame, LogisticRegression(), random_state=0)
    assert found == pytest.approx(rows, abs=1e-9)


def test_in_sample_scores_are_detected(data):
    y, X = data
    honest = out_of_fold_scores(y, X, LogisticRegression())
    model = DecisionTreeClassifier(max_depth=9, random_state=0).fit(X, y == 1)
    with pytest.warns(uc.MisfitWarning, match="probably trained on these rows"):
        assert warn_if_in_sample(y, model.predict_proba(X)[:, 1], honest)
    assert not warn_if_in_sample(y, X.sum(axis=1), honest)


def test_wrong_arguments(data):
    y, X = data
    with pytest.raises(uc.InputError, match=r"n_folds.*150.*got 151"):
        out_of_fold_scores(y, X, n_folds=151)

    class Mute(LogisticRegression):
        predict_proba = property()
        decision_function = property()

    with pytest.raises(uc.InputError, match="predict_proba or decision_function; got Mute"):
        out_of_fold_scores(y, X, Mute())
