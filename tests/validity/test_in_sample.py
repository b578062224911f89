"""Does UC016 catch scores of rows that a model was trained on, and leave good models alone?

Data that the rule was not chosen on: two public sets that scikit-learn brings, and a made-up one.
"""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

import undercount as uc

pytestmark = pytest.mark.slow
FREQUENCIES = (0.15, 0.4, 0.7)
SEEDS = range(3)


def data(name):
    """Columns and classes; the first two are easy, the last is not."""
    if name == "tumours":
        columns, classes = load_breast_cancer(return_X_y=True)
        return columns, classes == 0
    if name == "digits":
        columns, digits = load_digits(return_X_y=True)
        return columns, np.isin(digits, (3, 8))
    made = make_classification(1500, 12, n_informative=5, flip_y=0.2, random_state=4)
    return made[0], made[1] == 1


def models(seed):
    return (
        RandomForestClassifier(40, min_samples_leaf=2, random_state=seed),
        ExtraTreesClassifier(40, min_samples_leaf=2, random_state=seed),
    )


def judge(y, score):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluation = uc.evaluate(y, score, unlabeled=0)
    asks = {c.code for c in evaluation.checks if c.level == "warn"} & {"UC010", "UC016"}
    return evaluation, bool(asks)


@pytest.mark.parametrize("name", ["tumours", "digits", "made up"])
def test_models_judged_on_their_own_rows_are_asked_and_good_ones_are_not(name):
    columns, truth = data(name)
    known, fair, false_lights = [], [], 0
    for frequency in FREQUENCIES:
        for seed in SEEDS:
            rng = np.random.default_rng([seed, round(100 * frequency)])
            y = (truth & (rng.random(len(truth)) < frequency)).astype(int)
            for model in models(seed):
                chance = cross_val_predict(model, columns, y, cv=4, method="predict_proba")
                fair.append(judge(y, chance[:, 1])[1])
                own = model.fit(columns, y).predict_proba(columns)[:, 1]
                evaluation, asks = judge(y, own)
                known.append(asks)
                beyond = min(roc_auc_score(truth, own) + 0.01, 1.0)  # a target that is not met
                false_lights += (
                    evaluation.claiming(f"roc_auc >= {beyond}").verdict.light == "robust"
                )
    assert np.mean(known) >= 0.9, np.mean(known)
    assert np.mean(fair) <= 0.05, np.mean(fair)
    assert false_lights == 0
