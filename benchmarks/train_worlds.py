"""Simulated features of two classes, for `train_consensus.py`: each world is one pair of classes.

A world is a function of two numbers of rows that returns features, positives first. What makes
real classifiers' scores irregular is varied at random: clusters, rules, heavy tails, discrete,
correlated and irrelevant features.
"""

import numpy as np

MAX_TRIES = 60


class RareClassError(ValueError):
    """Too few rows of one class were drawn."""


def clusters(rng, n_parts, n_features, spread):
    """Return (weights, means, spreads) of normal clusters."""
    weight = rng.dirichlet(np.full(n_parts, 1.5))
    mean = rng.normal(0, spread, (n_parts, n_features))
    return weight, mean, np.exp(rng.normal(0, 0.4, (n_parts, n_features)))


def drawn(rng, parts, size, freedom):
    """Draw rows of clusters with t-distributed features (normal when freedom is infinite)."""
    weight, mean, spread = parts
    which = rng.choice(len(weight), size=size, p=weight)
    noise = rng.normal(size=(size, mean.shape[1]))
    if np.isfinite(freedom):
        noise /= np.sqrt(rng.chisquare(freedom, noise.shape) / freedom)
    return mean[which] + noise * spread[which]


def cluster_world(rng, n_features):
    """Each class is a few clusters of its own."""
    spread = np.exp(rng.uniform(np.log(0.2), np.log(2.2)))
    positive = clusters(rng, rng.integers(1, 5), n_features, spread)
    negative = clusters(rng, rng.integers(1, 7), n_features, spread)
    freedom = rng.choice([3.0, 8.0, np.inf], p=[0.2, 0.2, 0.6])
    return lambda n_pos, n_neg: np.concatenate(
        [drawn(rng, positive, n_pos, freedom), drawn(rng, negative, n_neg, freedom)]
    )


def group_world(rng, n_features):
    """Many like clusters, shared out between the classes (digits, kinds of land)."""
    n_parts = rng.integers(4, 13)
    spread = np.exp(rng.uniform(np.log(0.4), np.log(2.2)))
    weight, mean, width = clusters(rng, n_parts, n_features, spread)
    cut = rng.integers(1, n_parts)
    sides = [
        (weight[part] / weight[part].sum(), mean[part], width[part])
        for part in (slice(None, cut), slice(cut, None))
    ]
    return lambda n_pos, n_neg: np.concatenate(
        [drawn(rng, side, n, np.inf) for side, n in zip(sides, (n_pos, n_neg), strict=True)]
    )


def rule_value(rng, n_features):
    """Return a function of features: conjunctions of thresholds, or a smooth random function."""
    if rng.random() < 0.5:
        n_rules, depth = rng.integers(2, 12), rng.integers(1, 4)
        feature = rng.integers(n_features, size=(n_rules, depth))
        limit, side = (
            rng.normal(0, 0.7, (n_rules, depth)),
            rng.choice([-1, 1], (n_rules, depth)),
        )
        gain = rng.normal(0, 1, n_rules)
        return lambda x: np.all(side * (x[:, feature] - limit) > 0, axis=2) @ gain
    weight = rng.normal(0, n_features**-0.5, (n_features, 6))
    gain, curve = rng.normal(0, 1, 6), rng.uniform(0.3, 3)
    return lambda x: np.tanh(curve * (x @ weight)) @ gain


def rule_world(rng, n_features):
    """One cloud of rows; a noisy function of the features, cut somewhere, makes the class."""
    parts = clusters(rng, rng.integers(1, 4), n_features, rng.uniform(0, 0.7))
    value = rule_value(rng, n_features)
    noise = rng.choice([0.0, np.exp(rng.uniform(np.log(0.05), np.log(0.8)))])
    pilot = value(drawn(rng, parts, 2000, np.inf))
    scale = max(float(pilot.std()), 1e-6)
    cut = np.quantile(pilot + noise * scale * rng.normal(size=2000), rng.uniform(0.2, 0.8))

    def rows(n_pos, n_neg):
        positive, negative = [], []
        for _ in range(MAX_TRIES):
            x = drawn(rng, parts, 2000, np.inf)
            is_positive = value(x) + noise * scale * rng.normal(size=2000) > cut
            positive.append(x[is_positive])
            negative.append(x[~is_positive])
            if sum(map(len, positive)) >= n_pos and sum(map(len, negative)) >= n_neg:
                break
        x_pos, x_neg = np.concatenate(positive), np.concatenate(negative)
        if len(x_pos) < n_pos or len(x_neg) < n_neg:
            raise RareClassError
        return np.concatenate([x_pos[:n_pos], x_neg[:n_neg]])

    return rows


def disguise(rng, n_features):
    """Return a function that makes features skewed, discrete, mixed and diluted."""
    kind = rng.choice(["as is", "exp", "cube", "round", "binary"], n_features)
    if rng.random() < 0.5:
        kind[:] = rng.choice(["as is", "as is", "exp", "round", "binary"])
    mix = rng.normal(size=(n_features, n_features)) if rng.random() < 0.3 else None
    levels, limit = rng.uniform(0.5, 4, n_features), rng.normal(0, 0.7, n_features)
    n_noise = rng.integers(0, 16) if rng.random() < 0.4 else 0
    changes = {
        "as is": lambda x, _: x,
        "exp": lambda x, _: np.exp(np.minimum(x, 8)),
        "cube": lambda x, _: x**3,
        "round": lambda x, j: np.round(x * levels[j]),
        "binary": lambda x, j: (x > limit[j]).astype(float),
    }

    def disguised(x):
        x = x if mix is None else x @ mix / np.sqrt(n_features)
        columns = [changes[k](x[:, j], j) for j, k in enumerate(kind)]
        return np.column_stack([*columns, rng.normal(size=(len(x), n_noise))])

    return disguised


def world(rng):
    """Draw one pair of classes."""
    n_features = int(rng.integers(2, 21))
    make = (cluster_world, group_world, rule_world)[rng.choice(3, p=[0.4, 0.25, 0.35])]
    rows, dress = make(rng, n_features), disguise(rng, n_features)
    return lambda n_pos, n_neg: dress(rows(n_pos, n_neg))
