"""How often the test of random labels rejects, in the plan's order: "Are the labels random?".

`docs/evidence/reviews.md` has the figures.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

import undercount as uc
from undercount.assume.reviewed.answers import ReviewAnswers
from undercount.read.plan.unlabeled_rows import UnlabeledRows

ANSWERED = (5, 10, 20, 60, 100)
LEVEL, BAR = 0.05, 0.07
GOALS = ("precision", "recall", "f1", "roc_auc", "average_precision", "prevalence")


@dataclass(frozen=True)
class Design:
    """Rows, how many are positive, how far these score higher, labelled and flagged shares."""

    n_rows: int
    prevalence: float
    separation: float | None  # None: two kinds of positives, negatives of heavy tails
    labelled: float
    flagged: float
    decimals: int | None = None

    def draw(self, rng, slope):
        """Return truth, scores, labels and threshold."""
        size = self.n_rows
        truth = rng.random(size) < self.prevalence
        if self.separation is None:
            easy = rng.random(size) < 0.5
            positive = np.where(easy, rng.normal(3.5, 0.4, size), rng.normal(1.8, 1.0, size))
            score = np.where(truth, positive, rng.standard_t(4, size))
        else:
            score = rng.normal(self.separation * truth)
        if self.decimals is not None:
            score = np.round(score, self.decimals)
        z = slope * (score - score[truth].mean()) / score[truth].std()
        shift = brentq(lambda b: expit(b + z[truth]).mean() - self.labelled, -20, 20)
        y = np.where(truth & (rng.random(size) < expit(shift + z)), 1, -1)
        return truth, score, y, float(np.quantile(score, 1 - self.flagged))


DESIGNS = {
    "6,000 rows": Design(6000, 0.065, 2.2, 0.35, 0.04),
    "12,000 rows": Design(12_000, 0.065, 2.2, 0.35, 0.04),
    "prevalence .015": Design(12_000, 0.015, 2.5, 0.35, 0.01),
    "weak model": Design(6000, 0.1, 0.8, 0.3, 0.05),
    "strong model": Design(6000, 0.1, 4.0, 0.3, 0.09),
    "whole scores": Design(6000, 0.1, 2.0, 0.3, 0.06, decimals=0),
    "60 labels": Design(20_000, 0.01, 2.2, 0.3, 0.01),
    "prevalence .4": Design(6000, 0.4, 2.2, 0.3, 0.35),
    "mixed": Design(20_000, 0.1, None, 0.3, 0.08),
}


def p_values(design, goal, repeats, answered=ANSWERED, slope=0.0):
    """Return p-values by number of the plan's rows that have a verdict; NaN: it cannot tell."""
    values = {number: [] for number in answered}
    for repeat in range(repeats):
        rng = np.random.default_rng([7, repeat])
        truth, score, y, cut = DESIGNS[design].draw(rng, slope)
        share = min(truth[y == -1].mean() * np.exp(rng.normal(0, 0.3)), 0.9)
        rows = UnlabeledRows(y, score)
        counts = uc.ScoreCounts.from_rows(
            y, score, unlabeled=-1, compact=True, knots=[*rows.knots, cut]
        )
        plan = uc.design_reviews(
            counts, budget=max(answered), goal=goal, threshold=cut, unlabeled_prevalence=share,
            random_state=int(rng.integers(2**31)),
        )  # fmt: skip
        chosen = rows.draw(plan)
        for number, found in values.items():
            verdict = np.where(np.arange(len(chosen)) < number, truth[chosen], -1)
            reviews = uc.Reviews(chosen, verdict, score[chosen], plan.order, plan)
            found.append(ReviewAnswers(counts, reviews).p_value)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("goal", GOALS)
def test_random_labels_are_seldom_rejected_however_few_verdicts_there_are(design, goal):
    repeats = 60
    for number, values in p_values(design, goal, repeats).items():
        rejected = np.mean(np.array(values) < LEVEL)
        # Of 270 cells at the bar itself one in three hundred would be above.
        assert rejected <= BAR + 2.7 * (BAR * (1 - BAR) / repeats) ** 0.5, number


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "slope", "number", "least"),
    [
        ("60 labels", 1.0, 500, 0.7),
        ("60 labels", -1.0, 500, 0.7),
        ("6,000 rows", 1.0, 100, 0.7),
        ("6,000 rows", -1.0, 100, 0.8),
        ("prevalence .4", 1.0, 60, 0.9),
        ("prevalence .4", -1.0, 60, 0.9),
    ],
)
def test_strong_preferences_are_noticed(design, slope, number, least):
    values = p_values(design, "f1", 60, (number,), slope)[number]
    assert np.mean(np.array(values) < LEVEL) > least
