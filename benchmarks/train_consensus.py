"""Train the network of `undercount.prevalence.Consensus` on simulated problems.

    python benchmarks/train_consensus.py worlds 11 worlds.npz --number 800
    python benchmarks/train_consensus.py scores 1 scores.npz --number 6000
    python benchmarks/train_consensus.py train worlds.npz scores.npz

`worlds` scores simulated features (`train_worlds.py`) by classifiers out of fold
(`train_scorers.py`); `scores` draws scores from known distributions (`train_shapes.py`); both
gather the evidence of each problem beside its true share. `train` fits the networks and writes
src/undercount/prevalence/consensus.json; these commands made the file there. No real data set is
used. Everything is seeded: the same commands give the same file up to rounding of the linear
algebra library.
"""

import argparse
import itertools
import json
import pathlib
import warnings

import numpy as np
from scipy.special import expit
from train_scorers import scored_world
from train_shapes import scored_shape

import undercount as uc
from undercount.prevalence.evidence import AUC_PLACE, gather
from undercount.prevalence.quantile_net import QuantileNet

HOME = pathlib.Path(__file__).parents[1] / "src" / "undercount" / "prevalence" / "consensus.json"
LEVELS = np.array([0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975])
MEDIAN_WEIGHT = 3.0  # the median is the answer; the other quantiles only make the interval
HIDDEN = (64, 32)
N_NETWORKS = 4
EPOCHS = 40
BATCH = 256
RATE = 4e-3
DECAY = 1e-3
NOISE = 0.1  # standard deviations added to the inputs: networks must not lean on one of them
# Weight of a problem by the AUC of positives against negatives: all methods assume scores that
# only positives reach, which simulated classes that overlap much do not have.
NO_AUC, FULL_AUC, LEAST_WEIGHT = 0.6, 0.9, 0.1
# The outer quantiles, which make the interval, heed overlapping classes more.
TAIL, LEAST_TAIL_WEIGHT = 0.44, 0.4


def simulate(make, seed, path, number):
    """Gather the evidence of so many seeded draws; each may hold several problems."""
    inputs, truths, groups = [], [], []
    for place in range(number):
        for which, (share, y, score) in enumerate(make(np.random.default_rng([seed, place]))):
            if len(np.unique(score)) < 3:
                continue
            inputs.append(gather(uc.ScoreCounts.from_rows(y, score, unlabeled=0)).inputs)
            truths.append(share)
            groups.append((place, which))
        if place % 100 == 99 or place == number - 1:
            values = {"inputs": inputs, "truth": truths, "group": groups}
            np.savez(path, **{name: np.array(each) for name, each in values.items()})
            print(f"{place + 1} draws, {len(truths)} problems", flush=True)


def forward(x, layers):
    """Return the values of all layers."""
    values = [x]
    for place, (weight, bias) in enumerate(layers):
        z = values[-1] @ weight + bias
        values.append(np.tanh(z) if place < len(layers) - 1 else 1 / (1 + np.exp(-z)))
    return values


def weights(auc_labelled, truth):
    """Return the weight of each problem at each level; they average 1 at each."""
    auc = 0.5 + (auc_labelled - 0.5) / np.maximum(1 - truth, 0.02)
    weight = np.clip((auc - NO_AUC) / (FULL_AUC - NO_AUC), LEAST_WEIGHT, 1)[:, None]
    weight = np.where(np.abs(LEVELS - 0.5) < TAIL, weight, np.maximum(weight, LEAST_TAIL_WEIGHT))
    return weight / weight.mean(axis=0) * np.where(LEVELS == 0.5, MEDIAN_WEIGHT, 1.0)


def gradients(x, truth, weight, layers):
    """Return gradients of the weighted pinball loss at all levels, layer by layer."""
    values = forward(x, layers)
    found = values[-1]
    slope = np.where(truth[:, None] > found, -LEVELS, 1 - LEVELS) / len(x)
    slope *= weight * found * (1 - found)
    result = []
    for place in range(len(layers) - 1, -1, -1):
        parameters = layers[place][0]
        result.append((values[place].T @ slope + DECAY * parameters, slope.sum(axis=0)))
        slope = (slope @ parameters.T) * (1 - values[place] ** 2)
    return result[::-1]


def fit(x, truth, weight, seed):
    """Fit one network by Adam with a cosine schedule."""
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *HIDDEN, len(LEVELS)]
    layers = [(rng.normal(0, a**-0.5, (a, b)), np.zeros(b)) for a, b in itertools.pairwise(sizes)]
    first, second = ([[np.zeros_like(p) for p in layer] for layer in layers] for _ in range(2))
    starts = range(0, len(x) - BATCH + 1, BATCH)
    step, steps = 0, EPOCHS * len(starts)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in starts:
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            rows = order[start : start + BATCH]
            noisy = x[rows] + NOISE * rng.normal(size=(BATCH, x.shape[1]))
            slopes = gradients(noisy, truth[rows], weight[rows], layers)
            for layer, slope, m, v in zip(layers, slopes, first, second, strict=True):
                for k in (0, 1):
                    m[k] = 0.9 * m[k] + 0.1 * slope[k]
                    v[k] = 0.999 * v[k] + 0.001 * slope[k] ** 2
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
    weight = weights(expit(inputs[:, AUC_PLACE]), truth)
    held = len(x) // 40  # of the first file, so of classifiers' scores when worlds come first
    networks = [fit(x[held:], truth[held:], weight[held:], seed) for seed in range(N_NETWORKS)]
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
    makers = {"worlds": scored_world, "scores": scored_shape}
    for name in makers:
        one = commands.add_parser(name)
        one.add_argument("seed", type=int)
        one.add_argument("path")
        one.add_argument("--number", type=int, default=2500)
    two = commands.add_parser("train")
    two.add_argument("paths", nargs="+")
    two.add_argument("--home", type=pathlib.Path, default=HOME)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.command == "train":
        train(args.paths, args.home)
    else:
        simulate(makers[args.command], args.seed, args.path, args.number)


if __name__ == "__main__":
    main()
