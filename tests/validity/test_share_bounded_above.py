"""Do intervals hold the truth where scores bound the share of hidden positives from above only?

Models that the rules of `prevalence.consensus.doubts` were not chosen on: naive Bayes whose chances
are nearly all 0 or 1, a linear model of a class between two others, and positives so rare that more
negatives than positives stand at every score. Labels are random; nothing is told of the share.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import undercount as uc

pytestmark = pytest.mark.slow
N_DRAWS = 40
LEVELS = (0.8, 0.9, 0.95)


def out_of_fold(model, columns, y, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    score = np.empty(len(y))
    score[order] = cross_val_predict(model, columns[order], y[order], cv=3, method="predict_proba")[
        :, 1
    ]
    return score


def saturated(rng, load, positives):
    """Naive Bayes of a real set whose columns say much the same."""
    columns, classes = load(return_X_y=True)
    rows = rng.choice(len(classes), len(classes) * 4 // 5, replace=False)
    truth = np.isin(classes[rows], positives)
    y = (truth & (rng.random(len(rows)) < 0.5)).astype(int)
    columns = columns[rows] + 1e-3 * rng.normal(size=columns[rows].shape)
    return truth, y, out_of_fold(GaussianNB(), columns, y, int(rng.integers(1000)))


def between(rng):
    """A linear model, which puts the negatives beyond the positives above them."""
    truth = rng.random(3000) < 0.15
    beyond = ~truth & (rng.random(3000) < 0.06)
    place = np.where(truth, 2.0, np.where(beyond, 4.0, 0.0))
    columns = np.c_[rng.normal(place, 0.7), rng.normal(size=3000)]
    y = (truth & (rng.random(3000) < 0.5)).astype(int)
    return truth, y, out_of_fold(LogisticRegression(), columns, y, int(rng.integers(1000)))


def rare(rng):
    """Sixty positives among 20,000 rows, scored like the highest tenth of the negatives."""
    truth = np.arange(20_060) < 60
    y = (truth & (rng.random(truth.size) < 0.5)).astype(int)
    return truth, y, rng.normal(np.where(truth, 1.6, 0.0), np.where(truth, 0.6, 1.0))


def weak(rng):
    """Scores of an AUC of .7 with half of the positives labelled, and negatives at every score."""
    truth = rng.random(4000) < 0.3
    y = (truth & (rng.random(4000) < 0.5)).astype(int)
    return truth, y, rng.normal(np.where(truth, 0.75, 0.0))


def impure_top(rng):
    """Half of the positives on top, and one in twenty of the negatives beside them."""
    truth = rng.random(4000) < 0.2
    top = rng.random(4000) < np.where(truth, 0.5, 0.05)
    y = (truth & (rng.random(4000) < 0.3)).astype(int)
    return truth, y, rng.normal(np.where(top, 4.0, 0.0))


def bounded(rng):
    """Scores between 0 and 1 that both classes fill, as those of models trained to be invariant."""
    truth = rng.random(4000) < 0.2
    y = (truth & (rng.random(4000) < 0.4)).astype(int)
    return truth, y, np.where(truth, rng.beta(3, 2, 4000), rng.beta(2, 3, 4000))


DESIGNS = {
    "weak": weak,
    "impure top": impure_top,
    "bounded": bounded,
    "digits": lambda rng: saturated(rng, load_digits, (3, 8, 9)),
    "tumours": lambda rng: saturated(rng, load_breast_cancer, (0,)),
    "between": between,
    "rare": rare,
}


def measure(truth, y, score, level):
    """Return whether intervals hold the truth, and whether no target is suggested."""
    cut = float(np.quantile(score, 1 - truth.mean()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = uc.evaluate(y, score, unlabeled=0, threshold=cut, confidence_level=level)
    flagged = score >= cut
    expected = {"precision": truth[flagged].mean(), "roc_auc": roc_auc_score(truth, score)}
    held = {
        name: found[name].low - 1e-9 <= value <= found[name].high + 1e-9
        for name, value in expected.items()
    }
    held["share"] = truth[y == 0].mean() in found.shares.unlabeled_prevalence_interval
    held["target"] = found.verdict.claim is None
    return held


@cache
def coverage(design):
    """Return (what, level) → how often it held."""
    runs = {level: [] for level in LEVELS}
    for seed in range(N_DRAWS):
        rows = DESIGNS[design](np.random.default_rng([96, seed]))
        for level in LEVELS:
            runs[level].append(measure(*rows, level))
    return {
        (what, level): np.mean([run[what] for run in held])
        for level, held in runs.items()
        for what in held[0]
    }


@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_hold_the_truth(design):
    found = coverage(design)
    for (what, level), held in found.items():
        assert held >= level - 0.02 - 2 * (level * (1 - level) / N_DRAWS) ** 0.5, (what, level)


@pytest.mark.parametrize("design", DESIGNS)
def test_no_target_is_suggested(design):
    assert coverage(design)["target", 0.95] == 1
