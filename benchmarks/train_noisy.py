"""Train the network of `undercount.prevalence.NoisyConsensus` on simulated problems.

    python benchmarks/train_noisy.py worlds 21 worlds.npz --number 300
    python benchmarks/train_noisy.py scores 2 scores.npz --number 5000
    python benchmarks/train_noisy.py train worlds.npz scores.npz

As `train_consensus.py`, but some of the labels are wrong: a share 1 - κ of the labelled rows are
negatives drawn at random. `worlds` scores simulated features by classifiers that learnt from those
labels, `scores` draws scores from known distributions. No real data set is used.
"""

import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from train_consensus import LEVELS, MEDIAN_WEIGHT
from train_network import fit, held_out, read, run, short, write
from train_scorers import boosting
from train_shapes import SHAPES, irreducible
from train_worlds import RareClassError, world

from undercount.prevalence.consensus.noisy import gather_noisy
from undercount.prevalence.networks import QuantileNet

HOME = (
    pathlib.Path(__file__).parents[1]
    / "src"
    / "undercount"
    / "prevalence"
    / "consensus"
    / "noisy.json"
)
PURE = 0.3  # of the problems have no wrong label
LEAST_PURITY = 0.55
HIDDEN = (48, 24)
N_NETWORKS = 4
LEAST_GAP = 0.08  # between purity and share: nothing can be told from less
N_MIXES = 2
BOOSTINGS = (0.35, 0.3, 0.2, 0.1, 0.05)  # chances of the sizes in train_scorers.py; small cost less


def shares_of(rng):
    """Return (share among unlabeled, purity of labels)."""
    purity = 1.0 if rng.random() < PURE else rng.uniform(LEAST_PURITY, 1)
    most = purity - LEAST_GAP
    share = rng.uniform(0, most) if rng.random() < 0.85 else most * 10 ** rng.uniform(-2, 0)
    return share, purity


def sizes_of(rng):
    return int(10 ** rng.uniform(1.6, 3.1)), int(10 ** rng.uniform(2.7, 3.7))


def mix(rng, rows, sizes):
    """Return (true shares, labels, features): wrong labels are negatives at random."""
    m, n = sizes
    share, purity = shares_of(rng)
    hidden, right = rng.binomial(n, share), round(m * purity)
    x = rows(right + hidden, m - right + n - hidden)
    y = np.repeat([1, 0, 1, 0], [right, hidden, m - right, n - hidden])
    return (hidden / n, right / m), y, x


def network(rng):
    return make_pipeline(
        StandardScaler(),
        MLPClassifier((5,), solver="lbfgs", max_iter=20, alpha=0.01, random_state=rng.integers(99)),
    )


def scored_world(rng):
    """Return (shares, labels, scores) of nine problems of one world: three scorers, three mixes."""
    rows = world(rng)
    try:
        first = mix(rng, rows, sizes_of(rng))
        others = [mix(rng, rows, sizes_of(rng)) for _ in range(N_MIXES)]
    except RareClassError:
        return []
    _, y, x = first
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(x, y))
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    drawn_fold = [rng.integers(len(folds), size=len(each[1])) for each in others]
    found = []
    for model in (boosting(rng, BOOSTINGS), linear, network(rng)):
        score, new = np.zeros(len(y)), [np.zeros(len(each[1])) for each in others]
        for k, (train, test) in enumerate(folds):
            model.fit(x[train], y[train])
            score[test] = model.predict_proba(x[test])[:, 1]
            for values, fold, each in zip(new, drawn_fold, others, strict=True):
                values[fold == k] = model.predict_proba(each[2][fold == k])[:, 1]
        found.append((first[0], y, score))
        found += [(each[0], each[1], values) for each, values in zip(others, new, strict=True)]
    return found


def scored_shape(rng):
    """Return (shares, labels, scores) of one problem, in a list."""
    most = 0.1 if rng.random() < 0.8 else 1.0  # of negatives among the top scores
    n_labelled = int(10 ** rng.uniform(1.6, 3.7))
    n_unlabeled = int(10 ** rng.uniform(2.3, 4.3))
    makers, chances = zip(*SHAPES, strict=True)
    shape = makers[rng.choice(len(makers), p=chances)](rng)
    while not irreducible(shape, most):
        shape = makers[rng.choice(len(makers), p=chances)](rng)
    share, purity = shares_of(rng)
    hidden, right = rng.binomial(n_unlabeled, share), round(n_labelled * purity)
    wrong, rest = n_labelled - right, n_unlabeled - hidden
    score = np.concatenate(shape(right + hidden, wrong + rest))
    y = np.repeat([1, 0, 1, 0], [right, hidden, wrong, rest])
    if rng.random() < 0.15:  # scores of few distinct values
        edges = np.quantile(score, np.sort(rng.random(rng.integers(8, 200))))
        score = np.searchsorted(edges, score).astype(float)
    return [((hidden / n_unlabeled, right / n_labelled), y, score)]


def train(paths, home):
    inputs, truth, draws = read(paths)
    centre, spread = (np.array(short(each)) for each in (inputs.mean(axis=0), inputs.std(axis=0)))
    x = np.clip((inputs - centre) / spread, -5, 5)
    levels = np.tile(LEVELS, truth.shape[1])
    wanted = np.repeat(truth, len(LEVELS), axis=1)
    weight = np.where(levels == 0.5, MEDIAN_WEIGHT, 1.0) * np.ones((len(x), 1))
    held = held_out(draws)  # of the first file: classifiers' scores when worlds come first
    networks = [
        fit(x[held:], wanted[held:], weight[held:], levels, seed, HIDDEN)
        for seed in range(N_NETWORKS)
    ]
    net = QuantileNet.from_dict(write(home, LEVELS, centre, spread, networks))
    print(f"{len(x)} problems; {held} held out")
    for place, name in enumerate(("share", "purity")):
        found, real = net.answer(place).quantiles(inputs[:held]), truth[:held, place]
        inside = np.mean((found[:, 0] <= real) & (real <= found[:, -1]))
        error = np.abs(found[:, LEVELS.tolist().index(0.5)] - real).mean()
        print(f"{name}: held-out error {error:.4f}, coverage of 95 % {inside:.3f}")


if __name__ == "__main__":
    makers = {"worlds": scored_world, "scores": scored_shape}
    run(__doc__.splitlines()[0], makers, gather_noisy, train, HOME)
