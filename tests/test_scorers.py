import pickle

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - switches the search on
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingRandomSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import undercount as uc
from undercount import scorers


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    truth = rng.random(1500) < 0.3
    features = rng.normal(0.8 * truth[:, None], 1.0, (1500, 4))
    y = np.where(truth & (rng.random(1500) < 0.4), 1, -1)
    return features, y, truth


def test_values_are_those_of_the_metric_functions(rows):
    features, y, _ = rows
    model = LogisticRegression().fit(features, y)
    score = model.decision_function(features)
    expected = uc.precision(y, score, unlabeled=-1, prevalence=0.3, threshold=-1.5).value
    scorer = uc.make_scorer("precision", prevalence=0.3, threshold=-1.5)
    assert scorer(model, features, y) == expected
    forest = RandomForestClassifier(20, random_state=0).fit(features, y)  # has no decision_function
    assert 0.5 < scorers.lift_auc(forest, features, y) <= 1


def test_ranking_without_a_prevalence_is_that_of_labelled_against_unlabeled(rows):
    features, y, _ = rows
    model = LogisticRegression().fit(features, y)
    expected = roc_auc_score(y == 1, model.decision_function(features))
    assert scorers.roc_auc(model, features, y) == pytest.approx(expected, abs=1e-12)


def test_searches_pipelines_and_processes(rows):
    features, y, truth = rows
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [1e-3, 1.0]}
    search = GridSearchCV(pipeline, grid, scoring=uc.make_scorer("lift_auc"), cv=3, n_jobs=2)
    search.fit(features, y)
    assert roc_auc_score(truth, search.decision_function(features)) > 0.7
    halving = HalvingRandomSearchCV(
        LogisticRegression(),
        {"C": loguniform(0.01, 1)},
        n_candidates=4,
        min_resources=400,
        scoring=scorers.roc_auc,
        cv=3,
        random_state=0,
    )
    assert halving.fit(features, y).best_score_ > 0.6
    both = {"auc": scorers.roc_auc, "f1": uc.make_scorer("f1", prevalence=0.3, threshold=-1.5)}
    assert set(cross_validate(pipeline, features, y, scoring=both, cv=3)) >= {"test_auc", "test_f1"}


def test_sample_weight_is_routed(rows):
    features, y, _ = rows
    weight = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = uc.make_scorer("roc_auc").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        values = cross_val_score(
            model, features, y, scoring=scorer, params={"sample_weight": weight}, cv=3
        )
        plain = cross_val_score(LogisticRegression(), features, y, scoring=scorers.roc_auc, cv=3)
    assert not np.array_equal(values, plain)


def test_pickle(rows):
    features, y, _ = rows
    scorer = pickle.loads(pickle.dumps(uc.make_scorer("lift_auc")))  # noqa: S301 - our own
    model = LogisticRegression().fit(features, y)
    assert scorer(model, features, y) == scorers.lift_auc(model, features, y)


def test_stratified_folds_keep_labelled_share_and_known_negatives():
    y = np.array([1] * 20 + [0] * 10 + [-1] * 70)
    for _, test in StratifiedKFold(5, shuffle=True, random_state=0).split(y, y):
        assert [int(np.sum(y[test] == value)) for value in (1, 0, -1)] == [4, 2, 14]


def test_bad_input():
    with pytest.raises(uc.InputError, match="must be one of"):
        uc.make_scorer("aucc")
    with pytest.raises(uc.InputError, match="pass threshold="):
        uc.make_scorer("precision", prevalence=0.1)
    with pytest.raises(uc.InputError, match="needs prevalence"):
        uc.make_scorer("average_precision")
