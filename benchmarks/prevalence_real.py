"""Real problems of known truth for `prevalence.py`: ten data sets, each class as the positive one.

Every draw is seeded by its setting, so that any part can be run alone. Scores are out-of-fold
scores of labelled against unlabeled rows and can be kept in a file, since they take longest.
"""

import itertools
import pathlib

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# What to simulate and which network to keep was decided on the first half alone; PatraSen's grid
# too, after draws of the breast set had shown what was wrong with a finer one.
CHOSEN_ON = ("digits_odd", "digits_low", "bank", "pageblock_jain", "mushroom_jain")
NEVER_LOOKED_AT = ("breast", "landsat_jain", "shuttle", "spambase", "wine_jain")
SHARES = (0.1, 0.3, 0.5, 0.8)
# Labelled and unlabeled rows, crossed as in the synthetic problems; a set with fewer rows shrinks
# both. What shrinks to about the size of an earlier draw, or to too few labels, is left out.
SIZES = ((100, 1000), (1000, 1000), (100, 10_000), (1000, 10_000))
LEAST_LABELS = 30
SAME_SIZE = 1.5
SEED = 41
SCORERS = {
    "boosting": HistGradientBoostingClassifier(early_stopping=False, random_state=0),
    "small boosting": HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=0
    ),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}


def load(name, data_dir):
    """Return features and classes, or None when the data are not there."""
    if name == "breast":
        return load_breast_cancer(return_X_y=True)
    if name.startswith("digits"):
        features, digit = load_digits(return_X_y=True)
        return features, (digit % 2 if name == "digits_odd" else digit < 5).astype(int)
    path = data_dir / f"{name}.parquet"
    if not path.exists():
        return None
    import pandas as pd  # noqa: PLC0415 - needed only with a data folder

    table = pd.read_parquet(path)
    y = table.pop("y").to_numpy().astype(int)
    return table.to_numpy(float), y


def shrunk(n_positive, n_negative, share, sizes):
    """Return the numbers of labelled and unlabeled rows that the set's rows allow."""
    m, n = sizes
    room = min(n_positive / (m + share * n), n_negative / ((1 - share) * n))
    shrink = min(1, 0.95 * room)
    return int(m * shrink), int(n * shrink)


def sizes_of(n_positive, n_negative, share, wanted=SIZES):
    """Return the sizes to draw, each once: those wanted that differ after shrinking."""
    found = []
    for sizes in wanted:
        m, n = shrunk(n_positive, n_negative, share, sizes)
        known = any(
            max(m, o) < SAME_SIZE * min(m, o) and max(n, p) < SAME_SIZE * min(n, p)
            for o, p in found
        )
        if m >= LEAST_LABELS and not known:
            found.append((m, n))
    return found


def draw(name, data, positive_class, share, sizes):
    """Return features, labels (1 or 0) and the true share."""
    m, n = sizes
    letters = [ord(letter) for letter in name]
    rng = np.random.default_rng([SEED, *letters, positive_class, round(10 * share), m, n])
    features, y = data
    positive, negative = (
        np.flatnonzero(y == positive_class),
        np.flatnonzero(y != positive_class),
    )
    hidden = round(share * n)
    chosen = np.concatenate(
        [
            rng.permutation(positive)[: m + hidden],
            rng.permutation(negative)[: n - hidden],
        ]
    )
    order = rng.permutation(len(chosen))
    return features[chosen][order], np.repeat([1, 0], [m, n])[order], hidden / n


def problems(data_dir, names=CHOSEN_ON + NEVER_LOOKED_AT, cache=None, wanted=SIZES):
    """Yield (name, features, labels, true share, scores by scorer) of every draw."""
    cache = None if cache is None else pathlib.Path(cache)
    known = dict(np.load(cache)) if cache is not None and cache.exists() else {}
    for name in names:
        data = load(name, data_dir)
        if data is None:
            print(f"{name}: not in {data_dir}, left out")
            continue
        before = len(known)
        for positive_class, share in itertools.product((0, 1), SHARES):
            n_positive = int(np.sum(data[1] == positive_class))
            for sizes in sizes_of(n_positive, len(data[1]) - n_positive, share, wanted):
                found = draw(name, data, positive_class, share, sizes)
                key = f"{name} {positive_class} {share} {sizes[0]} {sizes[1]}"
                yield name, *found, _scores(*found[:2], key, known)
        if cache is not None and len(known) > before:
            np.savez(cache, **known)


def _scores(features, labelled, key, known):
    """Return each scorer's out-of-fold scores, from the file where it has them."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, scorer in SCORERS.items():
        if f"{key} {name}" not in known:
            known[f"{key} {name}"] = cross_val_predict(
                scorer, features, labelled, cv=folds, method="predict_proba"
            )[:, 1]
    return {name: known[f"{key} {name}"] for name in SCORERS}
