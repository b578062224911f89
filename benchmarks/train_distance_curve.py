"""Train the regression of `undercount.prevalence.DistCurve` on simulated curves.

    python benchmarks/train_distance_curve.py

Draws problems of known truth (normals, uniforms, betas, logistics, classes that do not overlap;
no real data), makes the matching curve of each on the balanced mid-rank scale, fits three small
networks, prints their error on problems they have not seen, and writes
src/undercount/prevalence/distance_curve.json. Everything is seeded: the same command gives the
same file up to rounding of the linear algebra library.
"""

import argparse
import json
import pathlib

import numpy as np
from sklearn.neural_network import MLPRegressor

import undercount as uc
from undercount.prevalence.distance_curve import curve_inputs, ranked_curve

PACKAGE = pathlib.Path(__file__).parents[1] / "src" / "undercount"
HOME = PACKAGE / "prevalence" / "distance_curve.json"
SEEDS = (20, 21)
N_PROBLEMS = 8000  # of each seed
HIDDEN = (32, 16)
N_NETWORKS = 3
DIGITS = 4


def normal_shape(rng):
    distance, spread = rng.uniform(0.7, 6), np.exp(rng.normal(0, 0.2))
    return lambda n: rng.normal(distance, 1, n), lambda n: rng.normal(0, spread, n)


def uniform_shape(rng):
    width, overlap = rng.uniform(0.3, 3), rng.uniform(0, 0.9)
    return lambda n: rng.uniform(0, 1, n), lambda n: rng.uniform(-width, overlap, n)


def beta_shape(rng):
    up, down = np.exp(rng.uniform(0, 2.5, 2))
    return lambda n: rng.beta(up, 1, n), lambda n: rng.beta(1, down, n)


def logistic_shape(rng):
    distance = rng.uniform(1.5, 6)
    return lambda n: rng.logistic(distance, 1, n), lambda n: rng.logistic(0, 1, n)


def separate_shape(rng):
    gap, width, spread = rng.uniform(0, 1), np.exp(rng.normal(0, 0.7)), rng.uniform(0.5, 2, 2)
    return (
        lambda n: gap + rng.beta(*spread, n),
        lambda n: -width * rng.beta(*spread[::-1], n),
    )


# Separate classes stand twice: there the answer must be nearly exact.
SHAPES = (
    normal_shape,
    uniform_shape,
    beta_shape,
    logistic_shape,
    separate_shape,
    separate_shape,
)


def problem(rng):
    """Return the matching curve of one simulated problem and its true share of positives."""
    positive, negative = SHAPES[rng.integers(len(SHAPES))](rng)
    n_labelled = round(np.exp(rng.uniform(np.log(50), np.log(3000))))
    n_unlabeled = round(np.exp(rng.uniform(np.log(300), np.log(6000))))
    n_positive = round(rng.uniform(0, 1) * n_unlabeled)
    score = np.concatenate([positive(n_labelled + n_positive), negative(n_unlabeled - n_positive)])
    y = np.repeat([1, -1], [n_labelled, n_unlabeled])
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    return ranked_curve(counts, rng), n_positive / n_unlabeled


def simulate(seed, n_problems):
    rng = np.random.default_rng(seed)
    return [problem(rng) for _ in range(n_problems)]


def train(curves, truth):
    """Fit the networks and return what the estimator reads."""
    order = np.random.default_rng(0).permutation(len(curves))
    inputs, truth = curve_inputs(curves)[order], truth[order]
    kept = round(0.9 * len(inputs))
    centre, spread = inputs[:kept].mean(axis=0), inputs[:kept].std(axis=0) + 1e-6
    scaled = (inputs - centre) / spread
    networks = [
        MLPRegressor(
            hidden_layer_sizes=HIDDEN,
            activation="tanh",
            alpha=1e-4,
            max_iter=200,
            learning_rate_init=2e-3,
            batch_size=256,
            early_stopping=True,
            n_iter_no_change=20,
            random_state=seed,
        ).fit(scaled[:kept], truth[:kept])
        for seed in range(N_NETWORKS)
    ]
    found = np.mean([network.predict(scaled[kept:]) for network in networks], axis=0)
    error = np.abs(np.clip(found, 0, 1) - truth[kept:])
    print(f"mean absolute error on {len(error)} unseen problems: {error.mean():.4f}")
    return {
        "centre": centre.round(DIGITS).tolist(),
        "spread": spread.round(DIGITS).tolist(),
        "networks": [
            [
                [weight.round(DIGITS).tolist(), bias.round(DIGITS).tolist()]
                for weight, bias in zip(network.coefs_, network.intercepts_, strict=True)
            ]
            for network in networks
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=N_PROBLEMS, help="of each seed")
    n_problems = parser.parse_args().problems
    problems = [found for seed in SEEDS for found in simulate(seed, n_problems)]
    curves, truth = map(np.array, zip(*problems, strict=True))
    values = train(curves, truth)
    HOME.write_text(json.dumps(values, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
