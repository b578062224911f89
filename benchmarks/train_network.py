"""Small networks that answer with quantiles, fitted by Adam: for the training scripts here."""

import itertools

import numpy as np

HIDDEN = (64, 32)
EPOCHS = 40
BATCH = 256
RATE = 4e-3
DECAY = 1e-3
NOISE = 0.1  # standard deviations added to the inputs: networks must not lean on one of them


def forward(x, layers):
    """Return the values of all layers."""
    values = [x]
    for place, (weight, bias) in enumerate(layers):
        z = values[-1] @ weight + bias
        values.append(np.tanh(z) if place < len(layers) - 1 else 1 / (1 + np.exp(-z)))
    return values


def gradients(x, truth, weight, levels, layers):
    """Return gradients of the weighted pinball loss of all outputs, layer by layer."""
    values = forward(x, layers)
    found = values[-1]
    slope = np.where(truth > found, -levels, 1 - levels) / len(x)
    slope *= weight * found * (1 - found)
    result = []
    for place in range(len(layers) - 1, -1, -1):
        parameters = layers[place][0]
        result.append((values[place].T @ slope + DECAY * parameters, slope.sum(axis=0)))
        slope = (slope @ parameters.T) * (1 - values[place] ** 2)
    return result[::-1]


def fit(x, truth, weight, levels, seed, hidden=HIDDEN):
    """Fit one network by Adam with a cosine schedule.

    `truth`, `weight` and `levels` have a column (an entry) for each output: the value whose
    quantile it is, the weight of each problem there, and the level. A single column of truths
    serves all outputs.
    """
    if len(x) < BATCH:  # not one step would be made
        raise ValueError(f"fitting needs at least {BATCH} rows, a batch; got {len(x)}")
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *hidden, len(levels)]
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
            slopes = gradients(noisy, truth[rows], weight[rows], levels, layers)
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
