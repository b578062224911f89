"""Two sources with weights and clusters, and shares by bootstrap: does the interval hold?

Each design by itself: an average over designs would hide one that fails.
"""

import warnings
from functools import cache

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import TwoLabels

pytestmark = pytest.mark.slow
DRAWS, BAR = 150, 0.9
THRESHOLD = 1.0
# Rows of a cluster, chances of the sources, part of the clusters that a source finds as a whole.
SOURCES = {
    "rows": (1, (0.4, 0.3), 0.0),
    "alike": (3, (0.5, 0.4), 0.5),
    "whole": (4, (0.4, 0.4), 1.0),
}
# Rows of a cluster, share of positives, chance of a label: all positives of a cluster at once.
SHARES = {"mild": (3, 0.2, 0.5), "rare": (2, 0.1, 0.6), "large": (6, 0.3, 0.4)}


def found_by(rng, truth, cluster, chance, whole):
    """Return what a source finds: some clusters as a whole, or each row by itself."""
    together = rng.random(cluster.max() + 1)[cluster] < chance
    apart = rng.random(len(truth)) < chance
    by_cluster = rng.random(cluster.max() + 1)[cluster] < whole
    return truth & np.where(by_cluster, together, apart)


def truths_of(truth, score, weight, y):
    flagged, positive = weight * (score >= THRESHOLD), weight * truth
    hits, hidden = (flagged * truth).sum(), y == 0
    return {
        "share": positive[hidden].sum() / weight[hidden].sum(),
        "precision": hits / flagged.sum(),
        "f1": 2 * hits / (flagged.sum() + positive.sum()),
    }


def rows_of(rng, n, size, share):
    """Return truth, scores and clusters whose rows are alike."""
    cluster = np.arange(n) // size
    alike = rng.normal(size=cluster.max() + 1)[cluster]
    truth = 0.6 * alike + 0.8 * rng.normal(size=n)
    truth = truth > np.quantile(truth, 1 - share)
    return truth, rng.normal(2.5 * truth) * 0.8 + 0.6 * alike, cluster


def ask_sources(design, seed):
    size, chances, whole = SOURCES[design]
    rng = np.random.default_rng([31, sorted(SOURCES).index(design), seed])
    truth, score, cluster = rows_of(rng, 4000, size, 0.2)
    weight = rng.choice([0.5, 1.0, 3.0], 4000)
    first, second = (found_by(rng, truth, cluster, chance, whole) for chance in chances)
    y = (first | second).astype(int)
    assume = uc.TwoSources(first, second, dependence=1)
    options = {"sample_weight": weight, "cluster": cluster if size > 1 else None}
    return (y, score, assume, options), truths_of(truth, score, weight, y)


@cache
def ask_shares(kind):
    """Return what draws labels of both classes, which tell the share without bias, by cluster."""

    def ask(design, seed):
        size, share, chance = SHARES[design]
        rng = np.random.default_rng([32, sorted(SHARES).index(design), seed])
        truth, score, cluster = rows_of(rng, 3000, size, share)
        y = found_by(rng, truth, cluster, chance, 1.0).astype(int)
        assume = uc.RandomLabels(estimator=TwoLabels(), interval=kind, n_resamples=100)
        negative = ~truth & (rng.random(cluster.max() + 1)[cluster] < 0.2)
        labels = np.where(negative, 0.0, np.where(y == 1, 1.0, np.nan))
        hidden = np.isnan(labels)
        truths = truths_of(truth, score, np.ones(3000), np.where(hidden, 0, 1))
        return (labels, score, assume, {"cluster": cluster}), truths

    return ask


def ask_top(design, seed):
    """Read the highest rows, costs and losses by bootstrap, rows being independent."""
    _, share, chance = SHARES[design]
    rng = np.random.default_rng([33, sorted(SHARES).index(design), seed])
    truth, score, _ = rows_of(rng, 3000, 1, share)
    score = 1 / (1 + np.exp(2 - 1.5 * score))
    labelled, looked = rng.random(3000) < chance, rng.random(3000) < 0.2
    labels = np.where(truth & labelled, 1.0, np.where(~truth & looked, 0.0, np.nan))
    assume = uc.RandomLabels(estimator=TwoLabels(), interval="bootstrap", n_resamples=100)
    return labels, score, truth, assume


@cache
def shares_held(ask, design):
    """Return, for each number, the share of draws whose interval holds the truth."""
    held = []
    for seed in range(DRAWS):
        (labels, score, assume, options), truths = ask(design, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            missing = {} if np.isnan(labels.astype(float)).any() else {"unlabeled": 0}
            found = uc.evaluate(
                labels, score, assume=assume, threshold=THRESHOLD, **missing, **options
            )
        ends = {name: found[name] for name in truths if name != "share"}
        ends["share"] = found.shares.unlabeled_prevalence_interval
        held.append([ends[n].low - 1e-9 <= truths[n] <= ends[n].high + 1e-9 for n in truths])
    return dict(zip(truths, np.mean(held, axis=0), strict=True))


@cache
def top_held(design):
    """Return the same of the highest rows, costs and losses."""
    held = []
    for seed in range(DRAWS):
        labels, score, truth, assume = ask_top(design, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = uc.evaluate(labels, score, assume=assume, threshold=0.5)
            loss = uc.metrics.log_loss(labels, score, assume=assume)
        highest, alarm = np.argsort(-score)[:400], score >= 0.5
        one = np.log(np.where(truth, score, 1 - score))
        truths = {
            "precision@top 400": (found["precision@top 400"], truth[highest].mean()),
            "cost": (
                found.cost(false_positive=1, false_negative=4),
                (alarm & ~truth).mean() + 4 * (~alarm & truth).mean(),
            ),
            "log_loss": (loss, -one.mean()),
        }
        held.append([e.low - 1e-9 <= value <= e.high + 1e-9 for e, value in truths.values()])
    return dict(zip(truths, np.mean(held, axis=0), strict=True))


@pytest.mark.parametrize("design", SOURCES)
def test_two_sources_with_weights_and_clusters_cover(design):
    for name, share in shares_held(ask_sources, design).items():
        assert share >= BAR, (name, share)


@pytest.mark.parametrize("design", SHARES)
def test_highest_rows_costs_and_losses_by_bootstrap_cover(design):
    for name, share in top_held(design).items():
        assert share >= BAR, (name, share)


@pytest.mark.parametrize("kind", ["bootstrap", "combined"])
@pytest.mark.parametrize("design", SHARES)
def test_clusters_resampled_cover(design, kind):
    for name, share in shares_held(ask_shares(kind), design).items():
        assert share >= BAR, (name, share)
