import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import undercount as uc
from undercount.prevalence import Consensus, SharpestScorer


@pytest.fixture(scope="module")
def rings():
    """Positives inside a ring of negatives: no linear score tells them apart."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 700)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(4, 0.5, (700, 1))
    X = np.concatenate([rng.normal(0, 1, (500, 2)), ring])
    return np.repeat([1.0, np.nan], [200, 1000]), X  # 300 of the 1,000 are positive


@pytest.fixture(scope="module")
def fitted(rings):
    return SharpestScorer(random_state=0).fit(*rings)


def test_the_scorer_that_sees_the_classes_is_chosen(fitted):
    assert fitted.diagnostics_["scorer"] == "boosting"
    assert fitted.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.06)
    assert 0.3 in fitted.interval_
    assert fitted.diagnostics_["shares"]["logistic"] > 0.5


def test_it_is_the_consensus_of_the_chosen_scores(rings, fitted):
    alone = Consensus().fit(rings[0], fitted.score_)
    assert fitted.unlabeled_prevalence_ == alone.unlabeled_prevalence_
    assert fitted.interval_ == alone.interval_
    assert fitted.estimate().value == alone.unlabeled_prevalence_
    assert fitted.estimate().method == "SharpestScorer"
    labelled, unlabeled = fitted.score_[:200], fitted.score_[200:]
    auc = np.mean((labelled[:, None] > unlabeled) + 0.5 * (labelled[:, None] == unlabeled))
    assert fitted.diagnostics_["aucs"]["boosting"] == pytest.approx(auc)
    assert auc == max(fitted.diagnostics_["aucs"].values())


@pytest.mark.filterwarnings("ignore:the scores do not tell:undercount.errors.MisfitWarning")
def test_a_better_score_given_is_taken(rings):
    y, X = rings
    score = -np.hypot(*X.T)
    found = SharpestScorer({"linear": LogisticRegression()}, n_folds=3, random_state=0)
    with pytest.warns(uc.MisfitWarning, match="left out"):  # far better than a line could be
        assert found.fit(y, X, score).diagnostics_["scorer"] == "linear"
    found = SharpestScorer(random_state=0).fit(y, X, score)
    assert found.diagnostics_["scorer"] == "given score"
    assert np.array_equal(found.score_, score)


@pytest.mark.filterwarnings("ignore:the scores do not tell:undercount.errors.MisfitWarning")
def test_scores_of_the_training_rows_are_left_out(rings):
    y, X = rings
    tree = DecisionTreeClassifier(random_state=0).fit(X, y == 1)
    with pytest.warns(uc.MisfitWarning, match="probably trained on these rows"):
        found = SharpestScorer(random_state=0).fit(y, X, tree.predict_proba(X)[:, 1])
    assert "given score" not in found.diagnostics_["shares"]
    assert found.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.06)


def test_missing_values_frames_and_known_negatives(rings):
    pandas = pytest.importorskip("pandas")
    y, X = rings[0].copy(), rings[1].copy()
    X[::7, 1] = np.nan
    y[-50:] = 0
    found = SharpestScorer(n_folds=2, random_state=0).fit(y, pandas.DataFrame(X))
    assert found.n_unlabeled_ == 950
    assert found.score_.shape == y.shape


def test_same_seed_same_answer_and_clone(rings, fitted):
    again = clone(SharpestScorer(random_state=0)).fit(*rings)
    assert again.unlabeled_prevalence_ == fitted.unlabeled_prevalence_


@pytest.mark.parametrize("estimators", [{}, {"given score": LogisticRegression()}])
def test_wrong_estimators(rings, estimators):
    with pytest.raises(uc.InputError, match="estimators must be a dict"):
        SharpestScorer(estimators).fit(*rings)
