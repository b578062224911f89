"""Chances of a label with clusters, weights, the highest rows and dates: does the interval hold?

Each design by itself: an average over designs would hide one that fails.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

import undercount as uc

pytestmark = pytest.mark.slow
DRAWS, BAR = 200, 0.93
THRESHOLD, TOP = 1.0, 250
# Rows, prevalence, how far chances lean on a covariate, rows of a cluster.
DESIGNS = {"mild": (3000, 0.2, 0.8, 3), "steep": (4000, 0.12, 1.6, 4), "rare": (6000, 0.06, 0.8, 2)}


def draw(design, seed):
    """Return truth, two scores, chances, labels, clusters and weights of one draw."""
    n, share, slope, size = DESIGNS[design]
    rng = np.random.default_rng([22, sorted(DESIGNS).index(design), seed])
    cluster = np.arange(n) // size
    alike = rng.normal(size=cluster.max() + 1)[cluster]
    truth = 0.5 * alike + rng.normal(size=n) * 0.75**0.5
    truth = truth > np.quantile(truth, 1 - share)
    score = rng.normal(2.0 * truth) * 0.8 + 0.6 * alike
    other = score + 0.6 * rng.normal(size=n)
    covariate = rng.normal(size=cluster.max() + 1)[cluster] + 0.4 * truth
    chance = 1 / (1 + np.exp(0.4 - slope * covariate))
    chance = np.bincount(cluster, chance)[cluster] / np.bincount(cluster)[cluster]
    weight = rng.choice([0.5, 1.0, 3.0], n)
    return rng, truth, score, other, chance, cluster, weight


def metrics_of(truth, score, weight=None):
    weight = np.ones(len(truth)) if weight is None else weight
    flagged, positive = (score >= THRESHOLD) * weight, truth * weight
    hits = (flagged * truth).sum()
    return {
        "precision": hits / flagged.sum(),
        "recall": hits / positive.sum(),
        "f1": 2 * hits / (flagged.sum() + positive.sum()),
    }


def held(estimate, truth):
    return estimate.low - 1e-9 <= truth <= estimate.high + 1e-9


def of_clusters(design, seed):
    rng, truth, score, other, chance, cluster, _ = draw(design, seed)
    looked = rng.random(cluster.max() + 1)[cluster] < chance  # all positives of one at once
    y, asked = (truth & looked).astype(int), {"unlabeled": 0, "threshold": THRESHOLD}
    asked |= {"assume": uc.LabelPropensity(chance), "cluster": cluster}
    found, truths = uc.evaluate(y, score, **asked), metrics_of(truth, score)
    ends = {name: held(found[name], value) for name, value in truths.items()}
    pair = uc.compare(y, {"a": score, "b": other}, question="rows", **asked)
    for name, value in metrics_of(truth, other).items():
        gap = truths[name] - value
        ends[f"{name}, difference"] = held(pair.difference(name).difference, gap)
    return ends


def of_weights(design, seed):
    rng, truth, score, _, chance, _, weight = draw(design, seed)
    y = (truth & (rng.random(len(truth)) < chance)).astype(int)
    found = uc.evaluate(
        y, score, unlabeled=0, threshold=THRESHOLD, sample_weight=weight,
        assume=uc.LabelPropensity(chance),
    )  # fmt: skip
    truths = metrics_of(truth, score, weight)
    return {name: held(found[name], value) for name, value in truths.items()}


def of_top(design, seed):
    rng, truth, score, other, chance, _, _ = draw(design, seed)
    y = (truth & (rng.random(len(truth)) < chance)).astype(int)
    asked = {"unlabeled": 0, "top": TOP, "assume": uc.LabelPropensity(chance)}
    found = uc.evaluate(y, score, **asked)
    ends, truths = {}, []
    for each in (score, other):
        highest = np.argsort(-each)[:TOP]
        truths.append({"precision": truth[highest].mean()})
        truths[-1]["recall"] = truth[highest].sum() / truth.sum()
    for name, value in truths[0].items():
        ends[name] = held(found[f"{name}@top {TOP}"], value)
    pair = uc.compare(y, {"a": score, "b": other}, question="rows", **asked)
    for difference in pair.workload.differences:
        gap = truths[0][difference.metric] - truths[1][difference.metric]
        ends[f"{difference.metric}, difference"] = held(difference.difference, gap)
    return ends


def of_dates(design, seed):
    rng, truth, score, other, _, _, _ = draw(design, seed)
    day = rng.integers(0, 240, len(truth))
    found = np.where(truth, day + rng.exponential(40, len(truth)).astype(int), np.nan)
    found[found > 240] = np.nan
    late = uc.DelayedLabels(day, found, until=240)
    asked = {"unlabeled": 0, "threshold": THRESHOLD, "assume": late}
    pair = uc.compare(
        np.isfinite(found).astype(int), {"a": score, "b": other}, question="rows", **asked
    )
    used = pair.first.recovery.usable
    one, two = (metrics_of(truth[used], each[used]) for each in (score, other))
    return {
        f"{name}, difference": held(pair.difference(name).difference, one[name] - two[name])
        for name in one
    }


FEATURES = {"clusters": of_clusters, "weights": of_weights, "top": of_top, "dates": of_dates}


@cache
def coverage(feature, design):
    """Return what is asked → how many of the draws held the truth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [FEATURES[feature](design, seed) for seed in range(DRAWS)]
    return {name: sum(bool(run[name]) for run in runs) for name in runs[0]}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("feature", FEATURES)
def test_no_design_is_below_the_bar(feature, design):
    found = coverage(feature, design)
    risk = 0.01 / (len(FEATURES) * len(DESIGNS) * len(found))
    for name, number in found.items():
        assert binom.cdf(number, DRAWS, BAR) >= risk, (name, number / DRAWS)
