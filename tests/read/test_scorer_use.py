"""How scorers meet the ways people use them: codings, responses, order of rows, thresholds."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)

import undercount as uc
from undercount.checks.labelled_chance import chance_threshold

SHUFFLED = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    truth = rng.random(3000) < 0.3
    features = rng.normal(truth[:, None], 1.0, (3000, 3))
    return features, np.where(truth & (rng.random(3000) < 0.4), 1, -1), truth


@pytest.mark.parametrize("dtype", [int, bool, float])
def test_labels_of_0_and_1_mean_unlabeled_and_labelled(rows, dtype):
    features, y, _ = rows
    options = {"scoring": uc.make_scorer("average_precision", prevalence=0.3), "cv": SHUFFLED}
    expected = cross_val_score(LogisticRegression(), features, y, **options)
    found = cross_val_score(LogisticRegression(), features, (y == 1).astype(dtype), **options)
    assert found == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(found).all()


def test_the_response_may_be_chosen(rows):
    features, y, _ = rows
    model = LogisticRegression().fit(features, y)
    for response, score in {
        "predict_proba": model.predict_proba(features)[:, 1],
        "decision_function": model.decision_function(features),
    }.items():
        scorer = uc.make_scorer("recall", threshold=0.2, response_method=response)
        expected = uc.metrics.recall(y, score, threshold=0.2, unlabeled=-1).value
        assert scorer(model, features, y) == expected
    hard = uc.make_scorer("recall", response_method="predict")
    expected = uc.metrics.recall(y, model.predict(features), threshold=0.5, unlabeled=-1).value
    assert hard(model, features, y) == expected


def test_searches_over_models_and_thresholds(rows):
    features, y, truth = rows
    scorer = uc.make_scorer("f1", prevalence=0.3, response_method="predict")
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=SHUFFLED)
    tuned.fit(features, y)

    def f1(flagged):
        return 2 * np.sum(flagged & truth) / (flagged.sum() + truth.sum())

    plain = LogisticRegression().fit(features, y).predict(features) == 1
    assert f1(tuned.predict(features) == 1) > f1(plain) + 0.2
    assert 0.1 < tuned.best_threshold_ < 0.3  # about the label frequency .4 times one half
    grid = {"C": [1e-4, 1.0]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=uc.make_scorer("lift_auc"), cv=4)
    assert search.fit(features, y).best_score_ > 0.6
    both = {"a": uc.make_scorer("roc_auc"), "b": uc.make_scorer("lift_auc")}
    found = cross_validate(LogisticRegression(), features, y, scoring=both, cv=SHUFFLED)
    assert np.isfinite(found["test_a"]).all()


def test_sorted_rows_are_warned_about_unless_folds_were_shuffled(rows):
    features, y, _ = rows
    order = np.argsort(-y, kind="stable")
    scorer = uc.make_scorer("roc_auc")
    with pytest.warns(uc.MisfitWarning, match="order that goes with their labels"):
        cross_val_score(
            LogisticRegression(), features[order], y[order], scoring=scorer, cv=StratifiedKFold(4)
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(LogisticRegression(), features, y, scoring=scorer, cv=StratifiedKFold(4))
        # An index tells that a splitter has shuffled.
        labels = pd.Series(y[order])
        cross_val_score(LogisticRegression(), features[order], labels, scoring=scorer, cv=SHUFFLED)


def test_a_fold_without_labels_says_what_to_do(rows):
    features, y, _ = rows
    order = np.argsort(-y, kind="stable")
    words = "a fold holds no row but labelled positives; let the splitter"
    with pytest.raises(uc.InputError, match=words):
        cross_val_score(
            LogisticRegression(),
            features[order],
            y[order],
            scoring=uc.make_scorer("roc_auc"),
            cv=KFold(20),
            error_score="raise",
        )


def test_one_half_of_being_labelled_is_warned_about(rows):
    features, y, _ = rows
    model = LogisticRegression().fit(features, y)
    scorer = uc.make_scorer(
        "precision", prevalence=0.3, threshold=0.5, response_method="predict_proba"
    )
    frequency = np.mean(y == 1) / 0.3
    with pytest.warns(uc.MisfitWarning, match=f"threshold={frequency / 2:.3g} here"):
        scorer(model, features, y)
    chances = model.predict_proba(features)[:, 1]
    found = uc.evaluate(y, chances, unlabeled=-1, prevalence=0.3, threshold=0.5)
    check = next(check for check in found.checks if check.code == "UC014")
    assert f"such a score is {frequency / 2:.4g}" in check.advice
    assert found.calibrated_threshold() == pytest.approx(frequency / 2)
    # Chances of being positive are told apart by their mean.
    right = np.minimum(chances / frequency, 1.0)
    better = uc.evaluate(y, right, unlabeled=-1, prevalence=0.3, threshold=0.5)
    assert not [check for check in better.checks if check.code == "UC014"]


@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
def test_the_calibrated_threshold_is_that_of_exact_densities(purity, sampling):
    # Ten values of a score, their densities among positives and negatives chosen freely.
    positive = np.arange(1.0, 11.0) / 55
    negative = positive[::-1]
    share, n_labelled, n_unlabeled = 0.2, 300.0, 2000.0
    labelled = purity * positive + (1 - purity) * negative
    hidden = share * positive + (1 - share) * negative
    counts = uc.ScoreCounts.from_counts(
        np.arange(10.0), n_labelled * labelled, np.zeros(10), n_unlabeled * hidden
    )
    shares = uc.Shares(share, purity, sampling)
    chance_labelled = n_labelled * labelled / (n_labelled * labelled + n_unlabeled * hidden)
    if sampling == "case-control":
        chance_positive = share * positive / hidden
    else:
        mass = n_labelled * purity * positive + n_unlabeled * share * positive
        chance_positive = mass / (n_labelled * labelled + n_unlabeled * hidden)
    for place in range(10):
        found = chance_threshold(counts, shares, chance_positive[place])
        assert found == pytest.approx(chance_labelled[place], abs=1e-12)


def test_costs_words_and_printed_names():
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.3
    X = rng.normal(truth[:, None], 1.0, (400, 2))
    y = (truth & (rng.random(400) < 0.5)).astype(int)
    model = LogisticRegression().fit(X, y)
    cost = {"false_positive": 2, "false_negative": 8}
    scorer = uc.make_scorer("expected_cost", threshold=0.2, cost=cost, prevalence=0.3)
    score = model.predict_proba(X)[:, 1]
    expected = uc.metrics.expected_cost(
        y, score, threshold=0.2, unlabeled=0, prevalence=0.3, **cost
    )
    assert scorer(model, X, y) == pytest.approx(-expected.value)
    with pytest.raises(uc.InputError, match="cost must name"):
        uc.make_scorer("expected_cost", threshold=0.2, prevalence=0.3)
    assert uc.make_scorer("ROC AUC")(model, X, y) == uc.make_scorer("roc_auc")(model, X, y)
    with pytest.raises(uc.InputError, match="whichever word means positive"):
        uc.make_scorer("roc_auc")(model, X, np.where(y == 1, "yes", "no"))


def as_a_report_calls(scorer, model, features, y):
    """Call a scorer as skore's reports do: by its parts, with a column for each class.

    The function gets a positive label if it has such a parameter; else the columns of
    `predict_proba`, or both signs of a decision function.
    """
    function, options = scorer._score_func, scorer._kwargs.copy()
    assert "pos_label" not in inspect.signature(function).parameters
    names = scorer._response_method
    names = (names,) if isinstance(names, str) else names
    name = next(each for each in names if hasattr(model, each))
    scores = getattr(model, name)(features)
    if scores.ndim == 1 and name != "predict":
        scores = np.column_stack([-scores, scores])
    return function(y, scores, **options)


@pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(20)], ids=repr)
@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("roc_auc", {}),
        ("roc_auc", {"prevalence": 0.3, "response_method": "predict_proba"}),
        ("log_loss", {"prevalence": 0.3}),
        ("recall", {"threshold": 0.2}),
        ("f1", {"prevalence": 0.3, "response_method": "predict"}),
    ],
)
def test_a_column_for_each_class_is_scored_by_the_positive_one(rows, model, metric, options):
    features, y, _ = rows
    model = clone(model).set_params(random_state=0).fit(features[:1500], y[:1500])
    scorer = uc.make_scorer(metric, **options)
    value = abs(scorer(model, features[1500:], y[1500:]))  # losses with the sign turned
    assert as_a_report_calls(scorer, model, features[1500:], y[1500:]) == value
    if options == {}:
        chances = model.predict_proba(features[1500:])
        plain = roc_auc_score(y[1500:] == 1, chances[:, 1])
        assert value == pytest.approx(plain, abs=1e-12)
        listed = scorer._score_func(y[1500:], chances.tolist(), **scorer._kwargs)
        assert listed == pytest.approx(plain, abs=1e-12)


def test_the_function_of_a_scorer_can_be_called_by_itself(rows):
    features, y = rows[:2]
    chances = LogisticRegression().fit(features, y).predict_proba(features)
    scorer = uc.make_scorer("roc_auc")
    assert scorer._score_func(y, chances) == scorer._score_func(y, chances, **scorer._kwargs)


def test_three_classes_are_refused_once_and_clearly(rows):
    features, y, _ = rows
    three = np.where((y == -1) & (np.arange(len(y)) % 5 == 0), 0, y)
    model = LogisticRegression().fit(features, three)
    scorer = uc.make_scorer("roc_auc", response_method="predict_proba")
    message = r"each of two classes.*got scores of shape \(3000, 3\)\. Fit the model on two classes"
    with pytest.raises(uc.InputError, match=message):
        scorer(model, features, three)
    with pytest.raises(uc.InputError, match=r"shape \(3000, 1\)"):
        scorer._score_func(y, model.predict_proba(features)[:, :1])


class FitOnLooked(LogisticRegression):
    """A model that learns from the rows looked at alone."""

    def fit(self, X, y):
        return super().fit(X[y != -1], y[y != -1])


@pytest.mark.parametrize("assume", [uc.SelectedLabels("own-score"), uc.RandomAudit()])
@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
def test_models_of_rows_looked_at_are_scored_and_others_told_how_to_fit(assume, response):
    rng = np.random.default_rng(3)
    features = rng.normal(size=(900, 2))
    truth = features[:, 0] + 0.5 * features[:, 1] + rng.normal(size=900) > 0
    y = np.where(rng.random(900) < 0.5, truth.astype(int), -1)
    scorer = uc.make_scorer("roc_auc", assume=assume, response_method=response)
    model = FitOnLooked().fit(features, y)
    score = model.predict_proba(features)[:, 1]
    if response == "decision_function":
        score = model.decision_function(features)
    labels = np.where(y == -1, np.nan, y)
    expected = uc.evaluate(labels, score, assume=assume)["roc_auc"].value
    assert scorer(model, features, y) == pytest.approx(expected, abs=1e-3)
    every_class = LogisticRegression().fit(features, y)
    with pytest.raises(uc.InputError, match="on the rows that were looked at alone"):
        scorer(every_class, features, y)


@pytest.mark.parametrize("name", ["roc_auc", "lift_auc", "recall"])
def test_scorers_are_named_after_their_metric(rows, name):
    features, y, _ = rows
    scorer = uc.make_scorer(name, threshold=0.2 if name == "recall" else None)
    assert scorer._score_func.__name__ == name
    assert repr(scorer).startswith(f"make_scorer({name}, ")
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - our own
    assert repr(again) == repr(scorer)
    search = clone(GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=scorer, cv=SHUFFLED))
    assert repr(search.scoring) == repr(scorer)
    model = LogisticRegression().fit(features, y)
    assert again(model, features, y) == search.scoring(model, features, y)
