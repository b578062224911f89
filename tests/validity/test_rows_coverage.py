"""Coverage of intervals where rows are not alike: clusters, labelling chances, another prevalence.

Published in docs/evidence/rows.md; ``python -m tests.validity.test_rows_coverage`` prints tables.
"""

import sys

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

import undercount as uc
from undercount.errors import collect_warnings
from undercount.read.chances import Chances
from undercount.read.deployed import Deployment
from undercount.read.fair_sample import groups_check
from undercount.read.intervals.clusters import ClusterRows, read_clusters
from undercount.read.intervals.estimate import estimate_metric

THRESHOLD = 1.0
POINTS = ("recall", "precision", "f1")
METRICS = (*POINTS, "roc_auc", "average_precision")
# 400 repeats: two standard errors are .022, so that .93 to .975 may be seen as .908 to .99.
REPEATS = 400
LEAST, MOST = 0.908, 0.99


def of_rows(truth, score):
    """The metrics of rows whose classes are known."""
    flagged = score >= THRESHOLD
    hits = np.count_nonzero(flagged & truth)
    return {
        "recall": hits / truth.sum(),
        "precision": hits / flagged.sum(),
        "f1": 2 * hits / (flagged.sum() + truth.sum()),
        "roc_auc": roc_auc_score(truth, score),
        "average_precision": average_precision_score(truth, score),
    }


def of_normals(distance, prevalence):
    """The metrics of a population with normal scores of standard deviation 1."""
    grid = np.linspace(-8, 8 + distance, 40001)

    def precision(at):
        found = prevalence * norm.sf(at - distance)
        return found / (found + (1 - prevalence) * norm.sf(at))

    tpr, fpr = norm.sf(THRESHOLD - distance), norm.sf(THRESHOLD)
    flagged = prevalence * tpr + (1 - prevalence) * fpr
    return {
        "recall": tpr,
        "precision": precision(THRESHOLD),
        "f1": 2 * prevalence * tpr / (prevalence + flagged),
        "roc_auc": norm.cdf(distance / 2**0.5),
        "average_precision": trapezoid(norm.pdf(grid - distance) * precision(grid), grid),
    }


def shares_covered(estimates, truths):
    """The share of intervals that hold the truth, for each metric."""
    found = [
        {name: low - 1e-12 <= truth[name] <= high + 1e-12 for name, (low, high) in each.items()}
        for each, truth in zip(estimates, truths, strict=True)
    ]
    return {name: float(np.mean([each[name] for each in found])) for name in METRICS}


def ends(estimate):
    return estimate.low, estimate.high


def place(name):
    return THRESHOLD if name in POINTS else None


def draw_clusters(rng, sizes, likeness, n_clusters=120, frequency=0.4, prevalence=0.3):
    """Clusters of which a part was labelled, all positives of each at once."""
    if sizes == "equal":
        size = np.full(n_clusters, 5)
    else:
        size = np.minimum(rng.geometric(0.18, n_clusters), 30)
    cluster = np.repeat(np.arange(n_clusters), size)
    truth = rng.random(cluster.size) < prevalence
    shared, own = rng.normal(size=n_clusters)[cluster], rng.normal(size=cluster.size)
    score = 1.5 * truth + likeness**0.5 * shared + (1 - likeness) ** 0.5 * own
    return cluster, truth, score, truth & (rng.random(n_clusters) < frequency)[cluster]


def cover_clusters(sizes, likeness, target, *, level=0.95, named=True, repeats=REPEATS):
    rng, estimates, truths = np.random.default_rng(11), [], []
    while len(estimates) < repeats:
        cluster, truth, score, labelled = draw_clusters(rng, sizes, likeness)
        y = labelled.astype(int)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=True, knots=(THRESHOLD,))
        prevalence = 0.3 if target == "population" else truth.mean()
        shares = uc.Shares.from_prevalence(counts, prevalence)
        codes = read_clusters(cluster, len(y))
        rows = ClusterRows.of(np.where(labelled, 1, -1), score, codes, None) if named else None
        ask = {"target": target, "confidence_level": level, "clusters": rows}
        with collect_warnings():  # of few labels, and of values that chance puts above 1
            estimates.append(
                {
                    name: ends(estimate_metric(counts, shares, name, threshold=place(name), **ask))
                    for name in METRICS
                }
            )
        truths.append(of_normals(1.5, 0.3) if target == "population" else of_rows(truth, score))
    return shares_covered(estimates, truths)


def draw_chances(rng, n, slope, base):
    truth, covariate = rng.random(n) < 0.25, rng.normal(size=n)
    score = 1.5 * truth + 0.5 * covariate + 0.75**0.5 * rng.normal(size=n)
    chance = 1 / (1 + np.exp(-base - slope * covariate))
    return truth, covariate, score, chance, rng.random(n) < chance


def cover_chances(n, slope, base, target, *, level=0.95, fitted=False, repeats=REPEATS):
    rng, estimates, truths = np.random.default_rng(12), [], []
    options = {"target": target, "confidence_level": level}
    for _ in range(repeats):
        truth, covariate, score, chance, looked = draw_chances(rng, n, slope, base)
        with collect_warnings():  # of few labels
            if fitted:
                y, model = np.where(looked, truth, -1), LogisticRegression()
                found = Chances.of(y, score, model, covariates=covariate, unlabeled=-1, **options)
            else:
                y = (truth & looked).astype(int)
                found = Chances.of(y, score, chance, unlabeled=0, **options)
            estimates.append({name: ends(found.estimate(name, place(name))) for name in METRICS})
        truths.append(of_normals(1.5, 0.25) if target == "population" else of_rows(truth, score))
    return shares_covered(estimates, truths)


def cover_deployed(n, prevalence, frequency, there, *, level=0.95, repeats=REPEATS):
    rng, estimates = np.random.default_rng(13), []
    for _ in range(repeats):
        truth = rng.random(n) < prevalence
        score, y = rng.normal(1.8 * truth), (truth & (rng.random(n) < frequency)).astype(int)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=True, knots=(THRESHOLD,))
        moved = Deployment(counts, uc.Shares.from_prevalence(counts, prevalence), there, level)
        with collect_warnings():
            estimates.append({name: ends(moved.estimate(name, place(name))) for name in METRICS})
    return shares_covered(estimates, [of_normals(1.8, there)] * repeats)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sizes", ["equal", "skewed"])
@pytest.mark.parametrize("likeness", [0.0, 0.5, 0.9])
def test_clusters(sizes, likeness, target):
    found = cover_clusters(sizes, likeness, target)
    assert min(found.values()) >= LEAST, found
    # Clusters of unequal sizes leave few degrees of freedom: on the side of caution.
    assert max(found.values()) <= (1.0 if sizes == "skewed" else MOST), found


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize(("n", "slope", "base"), [(1200, 1.0, -1.0), (600, 0.7, -0.5)])
def test_known_chances(n, slope, base, target):
    found = cover_chances(n, slope, base, target)
    assert min(found.values()) >= LEAST, found
    assert max(found.values()) <= MOST, found


@pytest.mark.slow
def test_estimated_chances():
    found = cover_chances(1500, 1.0, -1.0, "dataset", fitted=True)
    assert min(found.values()) >= LEAST - 0.02, found  # .91 is asked for


@pytest.mark.slow
@pytest.mark.parametrize("there", [0.02, 0.5])
def test_another_prevalence(there):
    found = cover_deployed(2000, 0.2, 0.4, there)
    assert min(found.values()) >= LEAST, found
    assert max(found.values()) <= MOST, found


@pytest.mark.slow
def test_alarms_of_unfair_labels():
    """At most 5 % false alarms, and groups labelled six times as often are nearly always found."""
    alarms = {}
    for slope in (0.0, 0.6):
        rng, found = np.random.default_rng(14), []
        for _ in range(200):
            truth, group = rng.random(3000) < 0.15, rng.integers(0, 4, 3000)
            score = rng.normal(2.5 * truth)
            chance = np.minimum(0.3 * np.exp(slope * (group - 1.5)), 1)
            labels = np.where(truth & (rng.random(3000) < chance), 1, -1)
            counts = uc.ScoreCounts.from_rows(labels, score, unlabeled=-1, compact=True)
            shares = uc.Shares.from_prevalence(counts, truth.mean())
            found.append(groups_check(labels, score, group, shares).level == "warn")
        alarms[slope] = np.mean(found)
    assert alarms[0.0] <= 0.05
    assert alarms[0.6] >= 0.5


def print_tables(repeats):
    """Print what docs/evidence/rows.md shows."""

    def line(*words, **found):
        print(" | ".join(map(str, words)), *(f"{v:.3f}" for v in found.values()), flush=True)  # noqa: T201 - a script

    for level in (0.8, 0.9, 0.95):
        for target in ("dataset", "population"):
            for sizes in ("equal", "skewed"):
                for likeness in (0.0, 0.5, 0.9):
                    words = "clusters", level, target, sizes, likeness
                    found = cover_clusters(sizes, likeness, target, level=level, repeats=repeats)
                    line(*words, **found)
            for n, slope, base, fitted in ((1200, 1.0, -1.0, False), (1500, 1.0, -1.0, True)):
                found = cover_chances(
                    n, slope, base, target, level=level, fitted=fitted, repeats=repeats
                )
                line("chances", level, target, n, fitted, **found)
        for there in (0.02, 0.5):
            found = cover_deployed(2000, 0.2, 0.4, there, level=level, repeats=repeats)
            line("deployed", level, there, **found)


if __name__ == "__main__":
    print_tables(int(sys.argv[1]))
