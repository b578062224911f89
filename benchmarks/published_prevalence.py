"""Plain, unoptimised transcriptions of published prevalence estimators: the speed peers.

Each follows the description of the published algorithm step by step, a loop where the paper has
a loop and a general solver where the authors use one. They are measured, not shipped.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq, minimize
from scipy.stats import binom, gaussian_kde

TINY = 1e-5


# ROC slope: Clopper-Pearson limits by inverting binomial tails, at every threshold.


def roc_slope(labelled, unlabeled, risk=0.1):
    m, n = len(labelled), len(unlabeled)
    best = 1.0
    for threshold in np.unique(np.concatenate([labelled, unlabeled])):
        in_labelled = int(np.sum(labelled >= threshold))
        in_unlabeled = int(np.sum(unlabeled >= threshold))
        if in_labelled < 2 or in_unlabeled < 2:
            continue
        upper = 1.0
        if in_unlabeled < n:
            upper = brentq(lambda p, k=in_unlabeled: binom.cdf(k, n, p) - risk, 0, 1)
        lower = brentq(lambda p, k=in_labelled: binom.sf(k - 1, m, p) - risk, 0, 1)
        best = min(best, upper / lower)
    return best


# Best bin estimation: one pass over the sorted scores in a Python loop.


def best_bin(labelled, unlabeled, risk=0.1, slack=0.01):
    m, n = len(labelled), len(unlabeled)
    positive, rest = np.sort(labelled)[::-1], np.sort(unlabeled)[::-1]
    noise = np.sqrt(np.log(4 / risk) / 2 / m) + np.sqrt(np.log(4 / risk) / 2 / n)
    best, found = np.inf, 1.0
    in_labelled = in_unlabeled = 0
    while in_labelled < m or in_unlabeled < n:
        threshold = max(
            positive[in_labelled] if in_labelled < m else -np.inf,
            rest[in_unlabeled] if in_unlabeled < n else -np.inf,
        )
        while in_labelled < m and positive[in_labelled] >= threshold:
            in_labelled += 1
        while in_unlabeled < n and rest[in_unlabeled] >= threshold:
            in_unlabeled += 1
        if in_labelled == 0 or in_unlabeled == 0:
            continue
        ratio = (in_unlabeled / n) / (in_labelled / m)
        penalised = ratio + (1 + slack) * noise / (in_labelled / m)
        if penalised < best:
            best, found = penalised, ratio
    return found


# AlphaMax: a constrained optimiser for each share of the grid.


def alpha_max_curve(component, mixture, width, grid):
    used = (component + mixture) > 0
    c, w = component[used], mixture[used]
    found = []
    for share in grid:

        def loss(b, share=share):
            first = c @ np.log(np.maximum(b / share, 1e-15))
            return -first - w @ np.log(np.maximum(w - b + share * c, 1e-15))

        def slope(b, share=share):
            return -c / np.maximum(b, 1e-15) + w / np.maximum(w - b + share * c, 1e-15)

        solved = minimize(
            loss,
            share * w,
            jac=slope,
            method="SLSQP",
            bounds=[(0, top) for top in w],
            constraints={
                "type": "eq",
                "fun": lambda b, share=share: b.sum() - share,
                "jac": np.ones_like,
            },
            options={"maxiter": 500, "ftol": 1e-10},
        )
        found.append(-solved.fun - 2 * np.log(width))
    return np.array(found)


# DEDPUL: kernel densities at every score, running medians and the trend in loops.


def dedpul(labelled, unlabeled, *, monotone=False):
    chance_labelled, chance = 1 - labelled, np.sort(1 - unlabeled)

    def logit(p):
        return np.log((p + 1e-7) / (1 - p + TINY))

    def density(sample, bandwidth, at):
        kernel = gaussian_kde(logit(sample), bandwidth)
        return kernel(logit(at)) / (at * (1 - at) + TINY)

    over, under = density(chance_labelled, 0.1, chance), density(chance, 0.05, chance)
    ratio = np.minimum(over / (under + TINY), 50)
    ratio = running_median(ratio, 5)
    middle = (chance_labelled.mean() + chance.mean()) / 2
    for i in range(int(np.searchsorted(chance, middle, side="right")) - 2, -1, -1):
        ratio[i] = max(ratio[i], ratio[i + 1])
    ratio = running_median(ratio, len(ratio) // 20)
    if monotone:
        ratio = trend(ratio[::-1])
    return posterior_share(ratio)


def running_median(values, n_neighbours):
    found = np.empty(len(values))
    for i in range(len(values)):
        k = min(n_neighbours, i, len(values) - 1 - i)
        found[i] = np.median(values[i - k : i + k + 1])
    return found


def trend(values, decay=0.2):
    votes = {}
    raised = []
    for value in values:
        for level in list(votes):
            votes[level] += 1 if value >= level else 0
            if value < level:
                votes[level] -= decay
                if votes[level] <= 1e-12:
                    del votes[level]
        votes.setdefault(value, 1)
        raised.append(max(value, *votes))
    return np.array(raised)


def posterior_share(ratio):
    negative = 0.0
    for _ in range(1000):
        posterior = np.maximum(1 - ratio * (1 - negative), 0)
        found = posterior.mean()
        if abs(found - negative) < TINY or posterior.min() > 0:
            break
        negative = found
    grid = np.arange(0, 1, 0.001)
    gap = np.array([np.maximum(1 - ratio * (1 - g), 0).mean() - g for g in grid])
    inside = gap[1:-1] < 0.05
    if not inside.any():
        return 1 - negative
    elbow = grid[1:-1][inside][np.argmax(np.diff(gap, 2)[inside])]
    crosses = np.sum(gap < 0) > 1 and negative < 0.999
    return 1 - negative if elbow >= negative or crosses else 1 - elbow


# DistCurve: the distances to all remaining rows at every draw, for rows of any dimension.


def matching_curve(labelled, unlabeled, draws):
    rows, pool = labelled.reshape(len(labelled), -1), unlabeled.reshape(len(unlabeled), -1)
    runs = []
    for run in draws:
        taken = np.zeros(len(pool), bool)
        distances = []
        for draw in run:
            distance = np.sqrt(((pool - rows[draw]) ** 2).sum(axis=1))
            distance[taken] = np.inf
            nearest = int(np.argmin(distance))
            distances.append(distance[nearest])
            taken[nearest] = True
        runs.append(distances)
    curve = np.quantile(np.mean(runs, axis=0), np.arange(100) / 100)
    return curve / curve.sum()


# KM1 and KM2: 34 quadratic programmes by an interior-point method.


def kernel_means(labelled, unlabeled):
    n, m = len(unlabeled), len(labelled)
    rows = np.concatenate([unlabeled, labelled])
    squared = ((rows**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * rows @ rows.T).clip(0)
    mean_u = np.repeat([1 / n, 0], [n, m])
    mean_l = np.repeat([0, 1 / m], [n, m])
    difference = mean_u - mean_l
    best = 0.0
    for width in np.logspace(-1, 1, 5) * np.sqrt(np.median(squared)):
        candidate = np.exp(-squared / (2 * width**2))
        spread = np.sqrt(difference @ candidate @ difference)
        if spread > best:
            best, kernel = spread, candidate

    def distance(extrapolation):
        target = extrapolation * mean_u + (1 - extrapolation) * mean_l
        weight = simplex_programme(2 * kernel, -2 * kernel @ target)
        return np.sqrt(max((target - weight) @ kernel @ (target - weight), 0))

    def crossing(threshold):
        low, high = 1.0, 8.0
        while high - low > 0.04:
            middle = (low + high) / 2
            if (distance(middle + 0.02) - distance(middle)) / 0.02 > threshold:
                high = middle
            else:
                low = middle
        return 1 - 2 / (low + high)

    begin = (distance(1.05) - distance(1.0)) / 0.05
    second = 0.8 * begin + 0.2 * best
    first = 1 / np.sqrt(min(m, n))
    return crossing(second if first > 0.9 * best else first), crossing(second)


def simplex_programme(quadratic, linear, tolerance=1e-10):
    """Minimise ½ v'Pv + q'v over the simplex: Mehrotra's predictor-corrector method."""
    size = len(linear)
    v, z, y = np.full(size, 1 / size), np.ones(size), 0.0
    for _ in range(60):
        dual = quadratic @ v + linear - z - y
        primal = v.sum() - 1
        gap = v @ z
        if gap < tolerance and np.abs(dual).max() < 1e-8 and abs(primal) < 1e-8:
            break
        factor = cho_factor(quadratic + np.diag(z / v))
        ones = cho_solve(factor, np.ones(size))

        def step(centre, dual=dual, primal=primal, ones=ones, factor=factor, v=v, z=z):
            part = cho_solve(factor, -dual + centre / v)
            dy = (-primal - part.sum()) / ones.sum()
            dv = part + dy * ones
            return dv, dy, (centre - z * dv) / v

        dv, dy, dz = step(-v * z)
        reach = min(longest(v, dv), longest(z, dz))
        sigma = ((v + reach * dv) @ (z + reach * dz) / gap) ** 3
        dv, dy, dz = step(-v * z - dv * dz + sigma * gap / size)
        reach = 0.99 * min(longest(v, dv), longest(z, dz))
        v, y, z = v + reach * dv, y + reach * dy, z + reach * dz
    return np.maximum(v, 0) / np.maximum(v, 0).sum()


def longest(value, step):
    falling = step < 0
    return min(1.0, (-value[falling] / step[falling]).min()) if falling.any() else 1.0
