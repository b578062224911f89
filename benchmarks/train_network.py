"""Small networks that answer with quantiles, fitted by Adam, and what their scripts share."""

import argparse
import itertools
import json
import pathlib
import warnings

import numpy as np

import undercount as uc

HIDDEN = (64, 32)
EPOCHS = 40
BATCH = 256
RATE = 4e-3
DECAY = 1e-3
HELD = 40  # one of so many problems is held out
NOISE = 0.1  # standard deviations added to the inputs: networks must not lean on one of them


def forward(x, layers, *, linear=False):
    """Return the values of all layers; the last is a logistic curve, or linear."""
    values = [x]
    for place, (weight, bias) in enumerate(layers):
        z = values[-1] @ weight + bias
        last = z if linear else 1 / (1 + np.exp(-z))
        values.append(np.tanh(z) if place < len(layers) - 1 else last)
    return values


def gradients(x, truth, weight, levels, layers, decay, *, linear=False):
    """Return gradients of the weighted pinball loss of all outputs, layer by layer."""
    values = forward(x, layers, linear=linear)
    found = values[-1]
    slope = np.where(truth > found, -levels, 1 - levels) / len(x)
    slope *= weight * (1 if linear else found * (1 - found))
    result = []
    for place in range(len(layers) - 1, -1, -1):
        parameters = layers[place][0]
        result.append((values[place].T @ slope + decay * parameters, slope.sum(axis=0)))
        slope = (slope @ parameters.T) * (1 - values[place] ** 2)
    return result[::-1]


def fit(
    x,
    truth,
    weight,
    levels,
    seed,
    hidden=HIDDEN,
    decay=DECAY,
    *,
    epochs=EPOCHS,
    noise=NOISE,
    linear=False,
):
    """Fit one network by Adam with a cosine schedule.

    `truth`, `weight` and `levels` have a column (an entry) for each output: the value whose
    quantile it is, the weight of each problem there, and the level. A single column of truths
    serves all outputs. `linear` networks answer with any number, others with shares.
    """
    if len(x) < BATCH:  # not one step would be made
        raise ValueError(f"fitting needs at least {BATCH} rows, a batch; got {len(x)}")
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *hidden, len(levels)]
    layers = [(rng.normal(0, a**-0.5, (a, b)), np.zeros(b)) for a, b in itertools.pairwise(sizes)]
    first, second = ([[np.zeros_like(p) for p in layer] for layer in layers] for _ in range(2))
    starts = range(0, len(x) - BATCH + 1, BATCH)
    step, steps = 0, epochs * len(starts)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in starts:
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            rows = order[start : start + BATCH]
            noisy = x[rows] + noise * rng.normal(size=(BATCH, x.shape[1]))
            shown = noisy, truth[rows], weight[rows]
            slopes = gradients(*shown, levels, layers, decay, linear=linear)
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


def simulate(gather, make, seed, path, number):
    """Gather the evidence of so many seeded draws; each may hold several problems."""
    inputs, truths, groups = [], [], []
    for place in range(number):
        for which, (truth, y, score) in enumerate(make(np.random.default_rng([seed, place]))):
            if len(np.unique(score)) < 3:
                continue
            inputs.append(gather(uc.ScoreCounts.from_rows(y, score, unlabeled=0)).inputs)
            truths.append(truth)
            groups.append((place, which))
        if place % 50 == 49 or place == number - 1:
            values = {"inputs": inputs, "truth": truths, "group": groups, "seed": seed}
            np.savez(path, **{name: np.array(each) for name, each in values.items()})
            print(f"{place + 1} draws, {len(truths)} problems", flush=True)


def read(paths):
    """Return inputs and truths of several files of problems, and (file, draw, place) of each."""
    parts = [np.load(path) for path in paths]
    draws = [np.column_stack([0 * p["group"][:, :1] + i, p["group"]]) for i, p in enumerate(parts)]
    inputs, truth = (np.concatenate([p[name] for p in parts]) for name in ("inputs", "truth"))
    return inputs, truth, np.concatenate(draws)


def held_out(draws):
    """Return how many problems at the start are held out: those of whole draws.

    Problems of one draw are too alike for some to tell what a network makes of others.
    """
    starts = np.flatnonzero(np.any(np.diff(draws[:, :2], axis=0) != 0, axis=1)) + 1
    later = starts[starts >= max(1, len(draws) // HELD)]
    if not len(later):
        raise ValueError("holding out whole draws needs several; got one")
    return int(later[0])


def write(home, levels, centre, spread, networks):
    """Write what `QuantileNet` reads, and return it."""
    values = {
        "levels": levels.tolist(),
        "centre": centre.tolist(),
        "spread": spread.tolist(),
        "networks": [[[short(w), short(b)] for w, b in layers] for layers in networks],
    }
    home.write_text(json.dumps(values, separators=(",", ":")) + "\n", encoding="utf-8")
    return values


def run(description, makers, gather, train, home):
    """Read the command line: simulate problems of one kind, or train on files of them."""
    parser = argparse.ArgumentParser(description=description)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in makers:
        one = commands.add_parser(name)
        one.add_argument("seed", type=int)
        one.add_argument("path")
        one.add_argument("--number", type=int, required=True)
    two = commands.add_parser("train")
    two.add_argument("paths", nargs="+")
    two.add_argument("--home", type=pathlib.Path, default=home)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.command == "train":
        train(args.paths, args.home)
    else:
        simulate(gather, makers[args.command], args.seed, args.path, args.number)
