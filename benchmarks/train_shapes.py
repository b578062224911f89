"""Scores of two classes drawn from known distributions, for `train_consensus.py`."""

import numpy as np


def normal_shape(rng):
    """Two normals; the negatives' spread differs half of the time."""
    distance = rng.uniform(0.6, 5)
    spread = np.exp(rng.normal(-0.1, 0.25)) if rng.random() < 0.5 else 1.0
    return lambda n_pos, n_neg: (
        rng.normal(0, 1, n_pos),
        rng.normal(-distance, spread, n_neg),
    )


def uniform_shape(rng):
    """Overlapping uniforms: the top belongs to positives, the bottom to negatives."""
    width, overlap = rng.uniform(0.2, 3), rng.uniform(0, 0.9)
    return lambda n_pos, n_neg: (
        rng.uniform(0, 1, n_pos),
        rng.uniform(-width, overlap, n_neg),
    )


def beta_shape(rng):
    """Two beta distributions leaning to opposite ends."""
    up, down = np.exp(rng.uniform(0, 2.5, 2))
    return lambda n_pos, n_neg: (rng.beta(up, 1, n_pos), rng.beta(1, down, n_neg))


def logistic_shape(rng):
    """Two logistics: the likelihood ratio stays bounded, so a little stays hidden."""
    distance = rng.uniform(1.5, 6)
    return lambda n_pos, n_neg: (
        rng.logistic(0, 1, n_pos),
        rng.logistic(-distance, 1, n_neg),
    )


def mixture(rng, n_parts, spread):
    weight = rng.dirichlet(np.full(n_parts, 1.5))
    return weight, rng.normal(0, spread, n_parts), np.exp(rng.normal(0, 0.35, n_parts))


def drawn(rng, parts, size):
    weight, mean, spread = parts
    which = rng.choice(len(weight), size=size, p=weight)
    return rng.normal(mean[which], spread[which])


def log_density(parts, x):
    weight, mean, spread = parts
    terms = np.log(weight) - np.log(spread) - 0.5 * ((x[:, None] - mean) / spread) ** 2
    return np.logaddexp.reduce(terms, axis=1)


def classifier_shape(rng):
    """Mixtures of normals, scored by the log likelihood ratio plus a classifier's noise."""
    positive = mixture(rng, rng.integers(1, 4), 1.0)
    weight, mean, spread = mixture(rng, rng.integers(1, 5), 1.5)
    negative = (weight, mean - rng.uniform(0.5, 5), spread)
    noise = rng.choice([0.0, rng.uniform(0, 1.5)])

    def scored(parts, size):
        x = drawn(rng, parts, size)
        return log_density(positive, x) - log_density(negative, x) + noise * rng.normal(size=size)

    return lambda n_pos, n_neg: (scored(positive, n_pos), scored(negative, n_neg))


SHAPES = (
    (normal_shape, 0.3),
    (uniform_shape, 0.15),
    (classifier_shape, 0.35),
    (beta_shape, 0.1),
    (logistic_shape, 0.1),
)


def irreducible(shape, most, n_rows=4000):
    """Say whether the top scores belong nearly to positives alone, which every method assumes."""
    positive, negative = (np.sort(scores)[::-1] for scores in shape(n_rows, n_rows))
    place = np.arange(n_rows // 100, n_rows)
    above = np.searchsorted(-negative, -positive[place], side="right")
    return np.min(above / (place + 1)) <= most


def scored_shape(rng):
    """Return (share, labels, scores) of one problem, in a list."""
    most = 0.1 if rng.random() < 0.8 else 1.0  # of negatives among the top scores
    n_labelled = int(10 ** rng.uniform(1.1, 3.7))
    n_unlabeled = int(10 ** rng.uniform(2.0, 4.3))
    share = rng.uniform(0, 1) if rng.random() < 0.75 else 10 ** rng.uniform(-3, -0.4)
    makers, chances = zip(*SHAPES, strict=True)
    shape = makers[rng.choice(len(makers), p=chances)](rng)
    while not irreducible(shape, most):
        shape = makers[rng.choice(len(makers), p=chances)](rng)
    hidden = rng.binomial(n_unlabeled, share)
    positive, negative = shape(n_labelled + hidden, n_unlabeled - hidden)
    labelled = positive[:n_labelled]
    unlabeled = np.concatenate([positive[n_labelled:], negative])
    if rng.random() < 0.15:  # scores of few distinct values
        every = np.concatenate([labelled, unlabeled])
        edges = np.quantile(every, np.sort(rng.random(rng.integers(8, 200))))
        labelled, unlabeled = (
            np.searchsorted(edges, s).astype(float) for s in (labelled, unlabeled)
        )
    y = np.repeat([1, 0], [n_labelled, n_unlabeled])
    return [(hidden / n_unlabeled, y, np.concatenate([labelled, unlabeled]))]
