"""Coverage of differences of models within segments, and of periods that are followed over time.

``python -m tests.validity.test_comparisons_coverage`` prints the tables, worst first.
"""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import undercount as uc
from undercount.errors import collect_warnings

THRESHOLD, REPEATS, LEAST, RISK = 1.0, 150, 0.93, 0.01
SIZES = {"a": 900, "b": 1400, "c": 2200}
SHARES = {"a": 0.3, "b": 0.2, "c": 0.12}
# Distances between the classes in each model, alike in every segment.
DISTANCES = {"one": 2.0, "other": 1.5}
DESIGNS = ("shared out", "chances", "clusters")
METRICS = ("recall", "precision", "roc_auc")


def metrics_of(distance, share):
    """The metrics of a population of normal scores with standard deviation 1."""
    tpr, fpr = norm.sf(THRESHOLD - distance), norm.sf(THRESHOLD)
    precision = share * tpr / (share * tpr + (1 - share) * fpr)
    return {"recall": tpr, "precision": precision, "roc_auc": norm.cdf(distance / 2**0.5)}


def truths():
    """The difference of the two models in each segment."""
    models = {
        (name, segment): metrics_of(distance, share)
        for name, distance in DISTANCES.items()
        for segment, share in SHARES.items()
    }
    return {
        (segment, metric): models["one", segment][metric] - models["other", segment][metric]
        for segment in SHARES
        for metric in METRICS
    }


def draw_design(design, rng):
    """Labels, the scores of two models, segments, and what is said of the labels."""
    by = np.repeat(list(SIZES), list(SIZES.values()))
    share = np.array([SHARES[key] for key in by])
    n, cluster = len(by), None
    truth = rng.random(n) < share
    noise = rng.normal(size=(n, 3))
    if design == "clusters":  # rows of a customer score alike, and are labelled together
        cluster = np.arange(n) // 4
        noise = (noise + rng.normal(size=(n, 3))[cluster]) / 2**0.5
        labelled = (rng.random(n) < 0.5)[cluster]
        assume = uc.RandomLabels(SHARES)
    elif design == "chances":
        chance = np.where(rng.random(n) < 0.5, 0.7, 0.3)
        labelled = rng.random(n) < chance
        assume = uc.LabelPropensity(chance)
    else:
        labelled = rng.random(n) < 0.5
        assume = uc.RandomLabels(
            float(np.average(list(SHARES.values()), weights=list(SIZES.values())))
        )
    shared = 0.6**0.5 * noise[:, 0]
    scores = {
        name: distance * truth + shared + 0.4**0.5 * noise[:, place + 1]
        for place, (name, distance) in enumerate(DISTANCES.items())
    }
    return np.where(truth & labelled, 1.0, np.nan), scores, by, assume, cluster


@cache
def comparisons_covered(design, repeats=REPEATS, seed=0):
    """How often each difference was covered or not known, and how often segments seemed to vary."""
    rng, expected = np.random.default_rng(seed), truths()
    held, varied, withheld = Counter(), Counter(), 0
    for _ in range(repeats):
        labels, scores, by, assume, cluster = draw_design(design, rng)
        with collect_warnings():
            found = uc.compare(
                labels, scores, by=by, assume=assume, cluster=cluster, threshold=THRESHOLD
            )
        withheld += found.unlike_labels
        for (segment, metric), truth in expected.items():
            # Of segments that seem to be labelled unlike the numbers are kept back, not wrong.
            gap = found[segment].difference(metric).difference
            held[segment, metric] += gap.low <= truth <= gap.high
        varied["roc_auc"] += found.heterogeneity("roc_auc").p_value < 0.05
        varied["recall"] += found.heterogeneity("recall").p_value < 0.05
    return held, varied, withheld


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_differences_within_segments_are_covered(design):
    held, varied, withheld = comparisons_covered(design)
    for name, hits in sorted(held.items(), key=lambda item: item[1]):
        assert binomtest(hits, REPEATS, LEAST, "less").pvalue > RISK, (name, hits)
    for metric, found in varied.items():  # both models are as far apart in every segment
        assert binomtest(found, REPEATS, 0.05, "greater").pvalue > RISK, (metric, found)
    assert binomtest(withheld, REPEATS, 0.05, "greater").pvalue > RISK


FOLLOWED = ("shared out", "chances")


def draw_year(design, rng, n=9000):
    """Rows of a year in which nothing changes."""
    day, truth = rng.integers(0, 360, n), rng.random(n) < 0.2
    score = rng.normal(2.0 * truth)
    chance = np.where(rng.random(n) < 0.5, 0.7, 0.3) if design == "chances" else np.full(n, 0.5)
    label = np.where(truth & (rng.random(n) < chance), 1.0, np.nan)
    assume = uc.LabelPropensity(chance) if design == "chances" else uc.RandomLabels(0.2)
    return day, label, score, assume


@cache
def periods_covered(design, repeats=120, seed=1):
    """How often the precision of all periods, and of all rows, was covered; false alarms."""
    rng, truth = np.random.default_rng(seed), metrics_of(2.0, 0.2)
    hits, n_periods, alarms, whole = 0, 0, 0, Counter()
    for _ in range(repeats):
        day, label, score, assume = draw_year(design, rng)
        with collect_warnings():
            found = uc.monitor(score, observed=day, label=label, assume=assume, threshold=THRESHOLD)
        for row in found.rows:
            if row.precision is not None and np.isfinite(row.precision.value):
                hits += row.precision.low <= truth["precision"] <= row.precision.high
                n_periods += 1
        for metric in ("precision", "recall"):
            estimate = found.metrics[metric]
            whole[metric] += estimate.low <= truth[metric] <= estimate.high
        alarms += bool(found.alarm.fell or found.alarm.rose)
    return hits, n_periods, alarms, whole, repeats


@pytest.mark.slow
@pytest.mark.parametrize("design", FOLLOWED)
def test_periods_are_covered_and_alarms_are_rare(design):
    hits, n_periods, alarms, whole, repeats = periods_covered(design)
    assert binomtest(hits, n_periods, LEAST, "less").pvalue > RISK
    for metric, found in whole.items():
        assert binomtest(found, repeats, LEAST, "less").pvalue > RISK, (metric, found)
    # The risk of the alarm, 0.05, is for both sides and all weekly looks together.
    assert binomtest(alarms, repeats, 0.05, "greater").pvalue > RISK


if __name__ == "__main__":
    for design in DESIGNS:
        held, varied, withheld = comparisons_covered(design)
        worst = sorted((hits / REPEATS, *name) for name, hits in held.items())
        print(design, worst, dict(varied), withheld)  # noqa: T201 - a table
    for design in FOLLOWED:
        print(design, periods_covered(design))  # noqa: T201 - a table
