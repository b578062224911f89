"""Several scorers, and the alarm about in-sample scores, on simulated features of known truth."""

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import undercount as uc
from undercount.prevalence import SharpestScorer, out_of_fold_scores
from undercount.prevalence.out_of_fold import excess_auc

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning"),
]

N_LABELLED, N_UNLABELED = 200, 1500
FEW_HIDDEN = 0.2


def ring(rng, size):
    angle = rng.uniform(0, 2 * np.pi, size)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(4, 0.6, (size, 1))
    return np.column_stack([circle, rng.normal(0, 1, (size, 4))])


def line(rng, size):
    return rng.normal(-0.9, 1, (size, 6))


def islands(rng, size):
    centre = 3.5 * np.array([[1, 1, 0, 0, 0, 0], [-1, -1, 0, 0, 0, 0], [0, 0, -1, 1, 0, 0.0]])
    return rng.normal(centre[rng.integers(3, size=size)], 1)


NEGATIVES = (ring, line, islands)


def features(rng, negatives, n_positive, n_negative):
    return np.concatenate([rng.normal(0, 1, (n_positive, 6)), negatives(rng, n_negative)])


@cache
def problems(n_repeats=4):
    """Return (negatives, share, labels, features) of every setting."""
    rng = np.random.default_rng(3)
    found = []
    for negatives in NEGATIVES:
        for share in (0.1, 0.3, 0.6):
            for _ in range(n_repeats):
                hidden = round(share * N_UNLABELED)
                X = features(rng, negatives, N_LABELLED + hidden, N_UNLABELED - hidden)
                y = np.repeat([1.0, np.nan], [N_LABELLED, N_UNLABELED])
                found.append((negatives, share, y, X))
    return found


def test_the_sharpest_scorer_is_as_good_as_the_best_single_one():
    errors, covered = {}, []
    for _, share, y, X in problems():
        found = SharpestScorer(random_state=0).fit(y, X)
        errors.setdefault("chosen", []).append(abs(found.unlabeled_prevalence_ - share))
        for name, value in found.diagnostics_["shares"].items():
            errors.setdefault(name, []).append(abs(value - share))
        covered.append(share in found.interval_)
    mean = {name: np.mean(values) for name, values in errors.items()}
    assert mean["chosen"] <= min(mean.values()) + 0.003
    assert mean["chosen"] < mean["logistic"] - 0.03  # a ring is no matter for a line
    assert np.mean(covered) >= 0.85


def test_the_alarm_about_in_sample_scores():
    false, right = [], []
    rng = np.random.default_rng(4)
    for negatives, share, y, X in problems(2):
        honest = uc.ScoreCounts.from_rows(y, out_of_fold_scores(y, X, random_state=0))
        model = HistGradientBoostingClassifier(max_iter=40, early_stopping=False)
        # Trained on other rows whose classes are all known: better than labels allow.
        other = features(rng, negatives, 1500, 1500)
        supervised = model.fit(other, np.repeat([1, 0], 1500)).decision_function(X)
        false.append(excess_auc(uc.ScoreCounts.from_rows(y, supervised), honest) > 0)
        if share < FEW_HIDDEN:
            continue  # honest scores come so near to AUC 1 that nothing is far better
        in_sample = model.fit(X, y == 1).decision_function(X)
        right.append(excess_auc(uc.ScoreCounts.from_rows(y, in_sample), honest) > 0)
    assert np.mean(false) <= 0.05
    assert np.mean(right) >= 0.9
