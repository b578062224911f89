"""Bounds under a labelling bias hold the truth as often as they promise, where the bias is worst.

Positives are N(1.5, 1), negatives N(0, 1). The odds of being labelled are Γ times as large above
the threshold as below it, or the other way round, so that the truth lies at an end of the bound:
nothing but chance decides whether it is inside.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr

import undercount as uc
from undercount.infer.labelling_bias import bias_ends

SHIFT, CUT = 1.5, 1.0
LEVELS = (0.8, 0.9, 0.95)
METRICS = ("recall", "precision", "f1", "roc_auc")
RUNS = 500


class Design(NamedTuple):
    """Labels on average, share of the positives that carry one (0: drawn apart), and the bias."""

    labels: int
    frequency: float
    ratio: float
    target: str = "dataset"
    prevalence: float = 0.2
    prefers_flagged: bool = True


DESIGNS = (
    Design(40, 0.1, 2.0),
    Design(40, 0.5, 4.0),
    Design(40, 0.9, 1.5),
    Design(100, 0.1, 4.0, prevalence=0.05),
    Design(100, 0.5, 1.5),
    Design(100, 0.5, 2.0, prefers_flagged=False),
    Design(100, 0.9, 2.0),
    Design(600, 0.5, 2.0),
    Design(600, 0.9, 4.0),
    Design(40, 0.0, 2.0),
    Design(100, 0.0, 2.0),
    Design(100, 0.0, 4.0, prevalence=0.05, prefers_flagged=False),
    Design(600, 0.0, 1.5),
    Design(100, 0.5, 2.0, "population"),
    Design(100, 0.0, 2.0, "population"),
    Design(600, 0.9, 2.0, "population"),
)


def label_chances(design, above):
    """Chances below and above the threshold with this odds ratio and mean, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        below = (low + high) / 2
        odds = design.ratio * below / (1 - below)
        mean = (1 - above) * below + above * odds / (1 + odds)
        low, high = (below, high) if mean < design.frequency else (low, below)
    return below, odds / (1 + odds)


def drawn(design, rng):
    """Rows with labels (None: unlabeled) and the truth of those that count."""
    above = float(ndtr(SHIFT - CUT))
    sign = 1 if design.prefers_flagged else -1
    flagged = above if sign > 0 else 1 - above
    if design.frequency > 0:
        n = round(design.labels / design.frequency / design.prevalence)
        truth = rng.random(n) < design.prevalence
        score = rng.normal(SHIFT * truth)
        below, over = label_chances(design, flagged)
        chance = np.where(sign * score >= sign * CUT, over, below)
        y = np.where(truth & (rng.random(n) < chance), 1.0, np.nan)
        return y, score, truth
    n = round(20 * design.labels)
    truth = rng.random(n) < design.prevalence
    score = rng.normal(SHIFT * truth)
    pool = rng.normal(SHIFT, 1, 40 * design.labels)
    weight = np.where(sign * pool >= sign * CUT, design.ratio, 1.0)
    labelled = pool[rng.random(len(pool)) < weight / design.ratio][: design.labels]
    y = np.r_[np.ones(design.labels), np.full(n, np.nan)]
    return y, np.r_[labelled, score], np.r_[np.zeros(design.labels, bool), truth]


def true_values(design, y, score, truth):
    """Metrics of the rows that count, or of their population."""
    if design.target == "population":
        recall, fpr = float(ndtr(SHIFT - CUT)), float(ndtr(-CUT))
        real, alarms = design.prevalence * recall, (1 - design.prevalence) * fpr
        values = recall, real / (real + alarms)
        f1 = 2 * real / (real + alarms + design.prevalence)
        return dict(zip(METRICS, (*values, f1, float(ndtr(SHIFT / 2**0.5))), strict=True))
    if design.frequency == 0:
        score, truth = score[np.isnan(y)], truth[np.isnan(y)]
    flagged = score >= CUT
    hits, positives = (flagged & truth).sum(), truth.sum()
    below = np.searchsorted(np.sort(score[~truth]), score[truth]).mean() / (~truth).sum()
    f1 = 2 * hits / (positives + flagged.sum())
    values = hits / positives, hits / flagged.sum(), f1, below
    return dict(zip(METRICS, values, strict=True))


def coverage(design, runs=RUNS, seed=1):
    """Share of the runs in which the bound holds the truth, by level and metric."""
    rng = np.random.default_rng(seed)
    held = {(level, metric): 0 for level in LEVELS for metric in METRICS}
    for _ in range(runs):
        y, score, truth = drawn(design, rng)
        counts = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[CUT])
        if design.frequency == 0:
            share = truth[np.isnan(y)].mean() if design.target == "dataset" else design.prevalence
            shares = uc.Shares(share, sampling="case-control")
        elif design.target == "dataset":
            shares = uc.Shares.from_positives(counts, truth.sum())
        else:
            least = (counts.n_positive + 1) / counts.n_rows  # by chance there may be more labels
            shares = uc.Shares.from_prevalence(counts, max(design.prevalence, least))
        values = true_values(design, y, score, truth)
        for level, metric in held:
            ends = bias_ends(
                counts,
                shares,
                metric,
                threshold=CUT,
                target=design.target,
                confidence_level=level,
            )
            low, high = ends(design.ratio)
            held[level, metric] += low - 1e-12 <= values[metric] <= high + 1e-12
    return {key: number / runs for key, number in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_bounds_hold_the_truth(design):
    found = coverage(design)
    print(design, found)  # noqa: T201 - shown by pytest -s
    for (level, metric), share in found.items():
        # The truth can be missed on one side only; two standard errors of the runs.
        error = 2 * (level * (1 - level) / RUNS) ** 0.5
        assert share >= level - error, (design, metric, level, share)
