"""Scores with invisible positives and rare shares, for `train_consensus.py`.

`train_shapes.py` draws positives of one kind and shares that are seldom small. Here some
positives score like negatives, shares are log-uniform down to .0005, and more shapes of scores
occur: skewed, heavy tails, saturated as boosting's are, positives of two kinds.
"""

import numpy as np
from train_shapes import beta_shape, classifier_shape, logistic_shape, normal_shape, uniform_shape

SMALLEST_SHARE, LARGEST_SHARE = 0.0005, 0.6
LEAST_HIDDEN = 3  # of a small share: fewer hidden positives are not told from none


def skewed_shape(rng):
    """Gamma scores: the negatives' long tail reaches into the positives, or the other way."""
    bulk, distance = np.exp(rng.uniform(0, 2)), rng.uniform(1.5, 6)
    side = rng.choice([-1, 1])

    def drawn(n, centre):
        return centre + side * (rng.gamma(bulk, 1, n) - bulk) / np.sqrt(bulk)

    return lambda n_pos, n_neg: (drawn(n_pos, distance), drawn(n_neg, 0))


def tailed_shape(rng):
    """Scores of Student's t: at the very top negatives are as common as positives."""
    distance, freedom = rng.uniform(1.5, 7), np.exp(rng.uniform(1, 3))
    return lambda n_pos, n_neg: (
        distance + rng.standard_t(freedom, n_pos),
        rng.standard_t(freedom, n_neg),
    )


def saturated_shape(rng):
    """Scores as boosting gives: sums of steps, piled up at both ends, with noise of the folds."""
    distance, noise = rng.uniform(2, 9), rng.uniform(0.1, 1.5)
    slope, steps = rng.uniform(0.4, 1.2), rng.uniform(2, 40)

    def drawn(n, centre):
        raw = centre + rng.logistic(0, 1, n)
        squashed = np.round(np.tanh(slope * raw / 2) * steps) / steps
        return squashed + noise / steps * rng.normal(size=n)

    return lambda n_pos, n_neg: (drawn(n_pos, distance / 2), drawn(n_neg, -distance / 2))


SHAPES = (
    (normal_shape, 0.25),
    (uniform_shape, 0.08),
    (classifier_shape, 0.2),
    (beta_shape, 0.07),
    (logistic_shape, 0.07),
    (skewed_shape, 0.12),
    (tailed_shape, 0.06),
    (saturated_shape, 0.15),
)


def share_of(rng, n_unlabeled):
    if rng.random() < 0.35:
        return rng.uniform(0, 0.95)
    least = max(SMALLEST_SHARE, LEAST_HIDDEN / n_unlabeled)
    return np.exp(rng.uniform(np.log(least), np.log(LARGEST_SHARE)))


def setting(rng):
    """Return labelled and unlabeled rows, share and shape (its place in `SHAPES`) of one problem.

    These are a problem's first draws, so that its kind can be told from its seed alone.
    """
    n_labelled = int(10 ** rng.uniform(1.3, 3.2))
    n_unlabeled = int(10 ** rng.uniform(2.7, 4.2))
    share = share_of(rng, n_unlabeled)
    return n_labelled, n_unlabeled, share, rng.choice(len(SHAPES), p=[each[1] for each in SHAPES])


def scored_unseen(rng):
    """Return (share, labels, scores) of one problem, in a list; hidden positives stand first."""
    n_labelled, n_unlabeled, share, which = setting(rng)
    shape = SHAPES[which][0](rng)
    visible = rng.uniform(0.35, 1) if rng.random() < 0.55 else 1.0
    hidden = rng.binomial(n_unlabeled, share)
    n_positive = n_labelled + hidden
    positive, negative = shape(n_positive, n_unlabeled - hidden)
    if rng.random() < 0.15:  # a second kind of positives, at another distance
        other = rng.normal(rng.uniform(1, 5), np.exp(rng.normal(-0.1, 0.25)), n_positive)
        other = np.mean(negative) + np.std(negative) * other
        positive = np.where(rng.random(n_positive) < rng.uniform(0.2, 0.8), other, positive)
    seen = rng.random(n_positive) < visible
    positive = np.where(seen, positive, shape(1, n_positive)[1])
    score = np.concatenate([positive, negative])
    if rng.random() < 0.1:  # scores of few distinct values
        edges = np.quantile(score, np.sort(rng.random(rng.integers(8, 200))))
        score = np.searchsorted(edges, score).astype(float)
    y = np.repeat([1, 0], [n_labelled, n_unlabeled])
    return [(hidden / n_unlabeled, y, score)]


def least_negatives(truth, y, score):
    """Return the least ratio of negatives' to positives' share in any head of some positives.

    0 where some scores belong to positives alone, which all methods assume.
    """
    n_positive = np.count_nonzero(y) + round(truth * np.count_nonzero(y == 0))
    positive, negative = np.sort(score[:n_positive])[::-1], np.sort(score[n_positive:])
    place = np.arange(min(max(10, n_positive // 50), n_positive) - 1, n_positive)
    above = negative.size - np.searchsorted(negative, positive[place])
    return np.min(above / max(negative.size, 1) / ((place + 1) / n_positive))
