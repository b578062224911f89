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

FOLDS = StratifiedKFold(3)


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
    expected = uc.metrics.precision(y, score, unlabeled=-1, prevalence=0.3, threshold=-1.5).value
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
    # A row of weight 2 is a row that stands there twice; the model is fitted without weights.
    features, y, _ = rows
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = uc.make_scorer("roc_auc").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        values = cross_val_score(
            model, features, y, scoring=scorer, params={"sample_weight": weight}, cv=FOLDS
        )
    expected = []
    for test, score in fold_scores(features, y):
        twice = np.repeat(np.arange(test.size), weight[test])
        expected.append(roc_auc_score(y[test][twice] == 1, score[twice]))
    assert values == pytest.approx(expected, abs=1e-12)


def fold_scores(features, y, response="decision_function"):
    for train, test in FOLDS.split(features, y):
        model = LogisticRegression().fit(features[train], y[train])
        yield test, getattr(model, response)(features[test])


LOSSES = {
    "log_loss": lambda p: (-np.log(p), -np.log(1 - p)),
    "brier_score": lambda p: ((1 - p) ** 2, p**2),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_of_probabilities_and_the_sign_is_turned(rows, name):
    features, y, _ = rows
    scorer = uc.make_scorer(name, prevalence=0.3)
    values = cross_val_score(
        LogisticRegression(), features, y, scoring=scorer, cv=FOLDS, error_score="raise"
    )
    expected = []
    for test, probability in fold_scores(features, y, "predict_proba"):
        as_positive, as_negative = LOSSES[name](probability[:, 1])
        more = (as_positive - as_negative)[y[test] == 1]
        expected.append(-(0.3 * more.mean() + as_negative.mean()))
    assert values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["fpr", "fnr", "negative_likelihood_ratio"])
def test_a_search_for_the_best_takes_the_smallest_error(rows, name):
    # Without hidden positives the rates are those of labelled against unlabeled rows.
    features, y, _ = rows
    scorer = uc.make_scorer(name, unlabeled_prevalence=0.0, threshold=-1.5)
    options = {"scoring": scorer, "cv": FOLDS, "error_score": "raise"}
    values = cross_val_score(LogisticRegression(), features, y, **options)
    expected = []
    for test, score in fold_scores(features, y):
        fpr, tpr = (np.mean(score[y[test] == label] >= -1.5) for label in (-1, 1))
        rates = {"fpr": fpr, "fnr": 1 - tpr, "negative_likelihood_ratio": (1 - tpr) / (1 - fpr)}
        expected.append(-rates[name])
    assert values == pytest.approx(expected, abs=1e-12)


def test_the_end_of_a_partial_area_can_be_told(rows):
    features, y, _ = rows
    scorer = uc.make_scorer("partial_roc_auc", unlabeled_prevalence=0.0, max_fpr=0.2)
    values = cross_val_score(
        LogisticRegression(), features, y, scoring=scorer, cv=FOLDS, error_score="raise"
    )
    expected = [
        roc_auc_score(y[test] == 1, score, max_fpr=0.2) for test, score in fold_scores(features, y)
    ]
    assert values == pytest.approx(expected, abs=1e-12)


def test_average_precision_of_impure_labels_sees_every_score(rows):
    features, y, _ = rows
    scorer = uc.make_scorer(
        "average_precision", assume=uc.RandomLabels(unlabeled_prevalence=0.15, purity=0.8)
    )
    values = cross_val_score(
        LogisticRegression(), features, y, scoring=scorer, cv=FOLDS, error_score="raise"
    )
    expected = []
    for test, score in fold_scores(features, y):
        labelled = y[test][np.argsort(-score)] == 1  # no score occurs twice
        n_labels, n = labelled.sum(), labelled.size
        positives = 0.8 * n_labels + 0.15 * (n - n_labels)
        # How many positives a row stands for; products of a row with itself are left out, and
        # those of two rows made up for it (drawing without replacement).
        stands = positives / 0.65 * np.where(labelled, 0.85 / n_labels, -0.2 / (n - n_labels))
        frequency = 0.8 * n_labels / positives
        lost = (stands.max() - stands.min()) ** 2 * frequency * (1 - frequency)
        total = 0.0
        for place in range(n):
            others = stands[:place].sum() / (1 - lost / (positives - 1))
            total += stands[place] * (1 + others) / (place + 1)
        expected.append(total / positives)
    assert values == pytest.approx(expected, abs=1e-12)


def test_the_partial_area_of_impure_labels_is_that_of_the_metric(rows):
    features, y, _ = rows
    known = {"assume": uc.RandomLabels(unlabeled_prevalence=0.15, purity=0.8)}
    model = LogisticRegression().fit(features, y)
    value = uc.make_scorer("partial_roc_auc", max_fpr=0.2, **known)(model, features, y)
    score = model.decision_function(features)
    found = uc.metrics.partial_roc_auc(y, score, max_fpr=0.2, unlabeled=-1, **known)
    assert value == pytest.approx(found.value, abs=1e-12)


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
    for end in (None, 0, 1.5):
        with pytest.raises(uc.InputError, match="needs max_fpr in"):
            uc.make_scorer("partial_roc_auc", prevalence=0.3, max_fpr=end)


def test_impure_labels_leave_fewer_metrics_that_need_no_prevalence(rows):
    # Recall is ((1 - a) g - (1 - κ) q)/(κ - a). At κ = .8 the model with (g, q) = (.5, .3) has
    # more of it than one with (.45, .1) if a = 0 (.44 > .43), and less if a = .5 (.19 < .205).
    for name in ("recall", "lift", "lee_liu"):
        with pytest.raises(uc.InputError, match=r"ranked by roc_auc, lift_auc$"):
            uc.make_scorer(name, threshold=0.0, assume=uc.RandomLabels(purity=0.8))
    features, y, _ = rows
    model = LogisticRegression().fit(features, y)
    area = roc_auc_score(y == 1, model.decision_function(features))
    found = uc.make_scorer("roc_auc", assume=uc.RandomLabels(purity=0.8))(model, features, y)
    assert found == pytest.approx(0.5 + (area - 0.5) / 0.8, abs=1e-12)
