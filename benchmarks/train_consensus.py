"""Train the network of `undercount.prevalence.Consensus` on simulated problems.

    python benchmarks/train_consensus.py simulate 1 part1.npz --problems 5500
    python benchmarks/train_consensus.py simulate 2 part2.npz --problems 3000
    python benchmarks/train_consensus.py simulate 3 part3.npz --problems 1500 --every 4 --most 1
    python benchmarks/train_consensus.py train part1.npz part2.npz part3.npz

`simulate` draws problems of known truth and gathers the evidence of each; in the first two parts
the top scores belong nearly to positives alone, in the third anything goes. `train` fits the
networks and writes src/undercount/prevalence/consensus.json; these commands made the file there.
No real data set is used. Everything is seeded: the same commands give the same file up to
rounding of the linear algebra library.
"""

import argparse
import itertools
import json
import pathlib
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import undercount as uc
from undercount.prevalence.evidence import gather
from undercount.prevalence.quantile_net import QuantileNet

HOME = pathlib.Path(__file__).parents[1] / "src" / "undercount" / "prevalence" / "consensus.json"
LEVELS = np.array([0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975])
MEDIAN_WEIGHT = 3.0  # the median is the answer; the other quantiles only make the interval
HIDDEN = (32, 24)
N_NETWORKS = 3
EPOCHS = 60
BATCH = 256
RATE = 4e-3
DECAY = 1e-5


def normal_shape(rng):
    """Two normals; the negatives' spread differs half of the time."""
    distance = rng.uniform(0.6, 5)
    spread = np.exp(rng.normal(-0.1, 0.25)) if rng.random() < 0.5 else 1.0
    return lambda n_pos, n_neg: (rng.normal(0, 1, n_pos), rng.normal(-distance, spread, n_neg))


def uniform_shape(rng):
    """Overlapping uniforms: the top belongs to positives, the bottom to negatives."""
    width, overlap = rng.uniform(0.2, 3), rng.uniform(0, 0.9)
    return lambda n_pos, n_neg: (rng.uniform(0, 1, n_pos), rng.uniform(-width, overlap, n_neg))


def beta_shape(rng):
    """Two beta distributions leaning to opposite ends."""
    up, down = np.exp(rng.uniform(0, 2.5, 2))
    return lambda n_pos, n_neg: (rng.beta(up, 1, n_pos), rng.beta(1, down, n_neg))


def logistic_shape(rng):
    """Two logistics: the likelihood ratio stays bounded, so a little stays hidden."""
    distance = rng.uniform(1.5, 6)
    return lambda n_pos, n_neg: (rng.logistic(0, 1, n_pos), rng.logistic(-distance, 1, n_neg))


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


def problem(rng, most):
    """Draw (labelled scores, unlabeled scores, true share)."""
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
    return labelled, unlabeled, hidden / n_unlabeled


def clusters(rng, n_parts, n_features, spread):
    weight = rng.dirichlet(np.full(n_parts, 1.5))
    mean = rng.normal(0, spread, (n_parts, n_features))
    return weight, mean, np.exp(rng.normal(0, 0.4, (n_parts, n_features)))


def classifier_problem(rng, _most):
    """Draw a problem on features, scored out of fold by boosting or logistic regression."""
    n_labelled = int(10 ** rng.uniform(1.7, 3.1))
    n_unlabeled = int(10 ** rng.uniform(2.5, 3.7))
    share = rng.uniform(0, 1) if rng.random() < 0.85 else 10 ** rng.uniform(-3, -0.4)
    n_features = rng.integers(2, 21)
    spread = np.exp(rng.uniform(np.log(0.25), np.log(1.6)))
    positive = clusters(rng, rng.integers(1, 5), n_features, spread)
    negative = clusters(rng, rng.integers(1, 6), n_features, spread)
    hidden = rng.binomial(n_unlabeled, share)
    x = np.concatenate(
        [drawn(rng, positive, n_labelled + hidden), drawn(rng, negative, n_unlabeled - hidden)]
    )
    if rng.random() < 0.3:
        x = x @ rng.normal(size=(n_features, n_features))
    y = np.repeat([1, 0], [n_labelled, n_unlabeled])
    if rng.random() < 0.35:
        classifier = HistGradientBoostingClassifier(
            max_iter=int(rng.integers(20, 80)),
            max_leaf_nodes=int(rng.choice([8, 15, 31])),
            early_stopping=False,
            random_state=0,
        )
    else:
        classifier = LogisticRegression(max_iter=200)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    score = cross_val_predict(classifier, x, y, cv=folds, method="predict_proba")[:, 1]
    return score[y == 1], score[y == 0], hidden / n_unlabeled


def simulate(seed, path, n_problems, every, most):
    rng = np.random.default_rng(seed)
    inputs, truths = [], []
    while len(inputs) < n_problems:
        make = classifier_problem if len(inputs) % every == every - 1 else problem
        labelled, unlabeled, share = make(rng, most)
        y = np.repeat([1, -1], [len(labelled), len(unlabeled)])
        score = np.concatenate([labelled, unlabeled])
        if len(np.unique(score)) < 3:
            continue
        inputs.append(gather(uc.ScoreCounts.from_rows(y, score, unlabeled=-1)).inputs)
        truths.append(share)
        if len(inputs) % 500 == 0:
            np.savez_compressed(path, inputs=np.array(inputs), truth=np.array(truths))
            print(f"{len(inputs)} problems", flush=True)


def forward(x, layers):
    """Return the values of all layers."""
    values = [x]
    for place, (weight, bias) in enumerate(layers):
        z = values[-1] @ weight + bias
        values.append(np.tanh(z) if place < len(layers) - 1 else 1 / (1 + np.exp(-z)))
    return values


def gradients(x, truth, layers):
    """Return gradients of the pinball loss at all levels, layer by layer."""
    values = forward(x, layers)
    found = values[-1]
    slope = np.where(truth[:, None] > found, -LEVELS, 1 - LEVELS) / len(x)
    slope *= np.where(LEVELS == 0.5, MEDIAN_WEIGHT, 1.0) * found * (1 - found)
    result = []
    for place in range(len(layers) - 1, -1, -1):
        weight = layers[place][0]
        result.append((values[place].T @ slope + DECAY * weight, slope.sum(axis=0)))
        slope = (slope @ weight.T) * (1 - values[place] ** 2)
    return result[::-1]


def fit(x, truth, seed):
    """Fit one network by Adam with a cosine schedule."""
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *HIDDEN, len(LEVELS)]
    layers = [(rng.normal(0, a**-0.5, (a, b)), np.zeros(b)) for a, b in itertools.pairwise(sizes)]
    first = [[np.zeros_like(p) for p in layer] for layer in layers]
    second = [[np.zeros_like(p) for p in layer] for layer in layers]
    steps, step = EPOCHS * (len(x) // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            rows = order[start : start + BATCH]
            for layer, slopes, m, v in zip(
                layers, gradients(x[rows], truth[rows], layers), first, second, strict=True
            ):
                for k in (0, 1):
                    m[k] = 0.9 * m[k] + 0.1 * slopes[k]
                    v[k] = 0.999 * v[k] + 0.001 * slopes[k] ** 2
                    scaled = m[k] / (1 - 0.9**step)
                    layer[k][...] -= rate * scaled / (np.sqrt(v[k] / (1 - 0.999**step)) + 1e-8)
    return layers


def short(array):
    """Return nested lists with four significant digits: enough, and a small file."""
    return np.vectorize(lambda v: float(f"{v:.4g}"))(array).tolist()


def train(paths, home):
    parts = [np.load(path) for path in paths]
    inputs = np.concatenate([p["inputs"] for p in parts])
    truth = np.concatenate([p["truth"] for p in parts])
    centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
    centre, spread = np.array(short(centre)), np.array(short(spread))
    x = np.clip((inputs - centre) / spread, -5, 5)
    held = len(x) // 20
    networks = [fit(x[held:], truth[held:], seed) for seed in range(N_NETWORKS)]
    values = {
        "levels": LEVELS.tolist(),
        "centre": centre.tolist(),
        "spread": spread.tolist(),
        "networks": [[[short(w), short(b)] for w, b in layers] for layers in networks],
    }
    home.write_text(json.dumps(values, separators=(",", ":")) + "\n", encoding="utf-8")
    found = QuantileNet.from_dict(values).quantiles(inputs[:held])
    error = np.abs(found[:, 4] - truth[:held]).mean()
    inside = np.mean((found[:, 0] <= truth[:held]) & (truth[:held] <= found[:, -1]))
    print(f"{len(x)} problems; held-out error {error:.4f}, coverage of 95 % {inside:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("simulate")
    one.add_argument("seed", type=int)
    one.add_argument("path")
    one.add_argument("--problems", type=int, default=8000)
    one.add_argument("--every", type=int, default=6, help="one in so many comes from a classifier")
    one.add_argument("--most", type=float, default=0.1, help="of negatives among the top scores")
    two = commands.add_parser("train")
    two.add_argument("paths", nargs="+")
    two.add_argument("--home", type=pathlib.Path, default=HOME)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.command == "simulate":
        simulate(args.seed, args.path, args.problems, args.every, args.most)
    else:
        train(args.paths, args.home)


if __name__ == "__main__":
    main()
