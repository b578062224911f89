"""Out-of-fold scores of classifiers on simulated features, for `train_consensus.py`."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from train_worlds import RareClassError, world

SIZES = ((25, 8), (40, 8), (50, 15), (50, 31), (100, 31))
CHANCES = (0.05, 0.35, 0.1, 0.1, 0.4)  # most are our default or scikit-learn's
N_MIXES = 3
N_OUT_OF_FOLD = 2  # problems of a world, by boosting and by logistic regression


def boosting(rng, chances=CHANCES):
    trees, leaves = SIZES[rng.choice(len(SIZES), p=chances)]
    return HistGradientBoostingClassifier(
        max_iter=trees, max_leaf_nodes=leaves, early_stopping=False, random_state=0
    )


def share_of(rng):
    return rng.uniform(0, 0.95) if rng.random() < 0.85 else 10 ** rng.uniform(-3, -0.4)


def sizes_of(rng):
    return int(10 ** rng.uniform(1.4, 3.1)), int(10 ** rng.uniform(2.6, 4.05))


def mix(rng, rows):
    """Return (share, labels, features) of one mix of a world."""
    m, n = sizes_of(rng)
    hidden = rng.binomial(n, share_of(rng))
    return hidden / n, np.repeat([1, 0], [m, n]), rows(m + hidden, n - hidden)


def small_mix(rng, rows):
    """Return a mix of few rows, quick to score; half of the shares are log-uniform."""
    m, n = int(10 ** rng.uniform(1.4, 2.8)), int(10 ** rng.uniform(2.7, 3.5))
    share = rng.uniform(0, 0.95) if rng.random() < 0.5 else 10 ** rng.uniform(-2.5, -0.3)
    hidden = rng.binomial(n, share)
    return hidden / n, np.repeat([1, 0], [m, n]), rows(m + hidden, n - hidden)


def scored_small_world(rng):
    """Return (share, labels, scores) of eight problems of few rows, of one world."""
    return scored_world(rng, small_mix)


def scored_world(rng, mix=mix):
    """Return (share, labels, scores) of eight problems of one world.

    The first two are out-of-fold scores, by boosting and by logistic regression, of one mix; the
    others score new mixes of the same world by the same models, a random fold's for each row.
    """
    rows = world(rng)
    try:
        share, y, x = mix(rng, rows)
        others = [mix(rng, rows) for _ in range(N_MIXES)]
    except RareClassError:
        return []
    n_folds = rng.choice([3, 5], p=[0.3, 0.7])
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(x, y))
    drawn_fold = [rng.integers(n_folds, size=len(each[1])) for each in others]
    first, later = [], []
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    for model in (boosting(rng), linear):
        score, new = np.zeros(len(y)), [np.zeros(len(each[1])) for each in others]
        for k, (train, test) in enumerate(folds):
            model.fit(x[train], y[train])
            score[test] = model.decision_function(x[test])
            for values, fold, each in zip(new, drawn_fold, others, strict=True):
                values[fold == k] = model.decision_function(each[2][fold == k])
        first.append((share, y, score))
        later += [(each[0], each[1], values) for each, values in zip(others, new, strict=True)]
    return first + later
