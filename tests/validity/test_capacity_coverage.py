"""How often intervals of the highest rows, of costs, net benefit and gains hold the truth.

Figures: docs/evidence/capacity.md. ``python tests/validity/test_capacity_coverage.py`` prints them.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import undercount as uc
from undercount.infer.decisions import Goal, ThresholdSearch
from undercount.infer.estimate_metric import estimate_metric

LEVELS = (0.8, 0.9, 0.95)
N_DRAWS, N_GAINS = 600, 300
WEIGHT, EXCHANGE = 0.1, 0.25  # of costs 1 and 9; of a chance of one fifth


@dataclass(frozen=True)
class World:
    """Scores of positives and negatives, how many rows, and how many positives are labelled."""

    name: str
    n_rows: int
    prevalence: float
    labelled: float
    top: int
    threshold: float
    digits: int = 9
    shape: str = "normal"

    def score(self, truth, rng):
        if self.shape == "gamma":
            raw = rng.gamma(np.where(truth, 3.0, 1.0))
        elif self.shape == "mixed":  # a third of the positives look like negatives
            raw = rng.normal(np.where(truth & (rng.random(len(truth)) < 2 / 3), 2.5, 0.0))
        else:
            raw = rng.normal(1.6 * truth)
        return np.round(raw, self.digits)


WORLDS = (
    World("many labels", 2000, 0.2, 0.6, 300, 1.2),
    World("few labels", 2000, 0.1, 0.2, 150, 1.4),
    World("ties of a tenth of the rows", 2000, 0.2, 0.4, 260, 1.0, digits=0),
    World("ties, few labels", 1500, 0.15, 0.2, 200, 1.0, digits=0, shape="gamma"),
    World("rare", 5000, 0.03, 0.4, 100, 2.0),
    World("gamma", 3000, 0.25, 0.3, 400, 2.0, shape="gamma"),
    World("a third hidden among negatives", 2500, 0.2, 0.3, 350, 1.5, shape="mixed"),
)


def truths(truth, score, world, share):
    """Metrics of rows whose classes are known; of the highest share, tied rows by their chance."""
    order = np.sort(score)[::-1]
    rows = share * len(score)
    last = order[math.ceil(rows - 1e-9) - 1]
    above, tied = score > last, score == last
    taken = (rows - above.sum()) / tied.sum()
    hits = truth[above].sum() + taken * truth[tied].sum()
    flagged = score >= world.threshold
    found, wrong, missed = (
        np.mean(part) for part in (flagged & truth, flagged & ~truth, ~flagged & truth)
    )
    return {
        ("precision", "top"): hits / rows,
        ("recall", "top"): hits / truth.sum(),
        ("lift", "top"): hits / truth.sum() / share,
        ("expected_cost", "at"): WEIGHT * wrong + (1 - WEIGHT) * missed,
        ("net_benefit", "at"): found - EXCHANGE * wrong,
    }


def estimates(counts, shares, world, key, target, level, top):
    metric, where = key
    place = {"top": top} if where == "top" else {"threshold": world.threshold}
    beta = {"expected_cost": WEIGHT, "net_benefit": EXCHANGE}.get(metric, 1.0)
    return estimate_metric(
        counts, shares, metric, target=target, confidence_level=level, beta=beta, **place
    )


def coverage(world, target, seed, n_draws=N_DRAWS):
    """Return how often each interval holds the truth, by metric and level; misses by side."""
    rng = np.random.default_rng(seed)
    share = world.top / world.n_rows
    if target == "population":
        truth = rng.random(2_000_000) < world.prevalence
        expected = truths(truth, world.score(truth, rng), world, share)
    else:
        truth = rng.random(world.n_rows) < world.prevalence
        score = world.score(truth, rng)
        expected = truths(truth, score, world, share)
    found = {(key, level): 0 for key in expected for level in LEVELS}
    for _ in range(n_draws):
        if target == "population":
            truth = rng.random(world.n_rows) < world.prevalence
            score = world.score(truth, rng)
        positives = np.flatnonzero(truth)
        some = round(world.labelled * len(positives))
        if target == "population":
            some = rng.binomial(len(positives), world.labelled)
        y = np.full(world.n_rows, np.nan)
        y[rng.choice(positives, some, replace=False)] = 1.0
        counts = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[world.threshold])
        given = world.prevalence if target == "population" else truth.mean()
        shares = uc.Shares.from_prevalence(counts, given, target=target)
        for key, level in found:
            made = estimates(counts, shares, world, key, target, level, world.top)
            found[key, level] += made.low - 1e-9 <= expected[key] <= made.high + 1e-9
    return {key: hits / n_draws for key, hits in found.items()}


def gain_coverage(world, target, seed, n_draws=N_GAINS):
    """Return how often the interval of what is gained holds what the chosen threshold gains."""
    rng = np.random.default_rng(seed)
    goal, over = (
        Goal.of("f1", None, {"false_positive": 1, "false_negative": 9}),
        world.threshold + 1,
    )

    def cost(truth, score, threshold):
        flagged = score >= threshold
        return np.mean(flagged & ~truth) + 9 * np.mean(~flagged & truth)

    truth = rng.random(world.n_rows if target == "dataset" else 400_000) < world.prevalence
    score = world.score(truth, rng)
    hits, raw, corrected = 0, [], []
    whole = truth, score
    for _ in range(n_draws):
        if target == "population":
            truth = rng.random(world.n_rows) < world.prevalence
            score = world.score(truth, rng)
        positives = np.flatnonzero(truth)
        y = np.full(world.n_rows, np.nan)
        y[rng.choice(positives, round(world.labelled * len(positives)), replace=False)] = 1.0
        counts = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[over])
        given = world.prevalence if target == "population" else truth.mean()
        shares = uc.Shares.from_prevalence(counts, given, target=target)
        best = ThresholdSearch(counts, shares, target, 0.95).best(goal, over)
        true = cost(*whole, over) - cost(*whole, best.threshold)
        hits += best.gain.low <= true <= best.gain.high
        seen = shares.prevalence(counts)
        point = uc.mixture_curve(counts, shares, clean=False).at(over)
        before = (1 - seen) * point.fpr + 9 * seen * point.fnr
        after = (1 - seen) * best.fpr + 9 * seen * best.fnr
        raw.append(before - after - true)
        corrected.append(best.gain.value - true)
    return hits / n_draws, float(np.mean(raw)), float(np.mean(corrected))


TARGETS = ("dataset", "population")


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_intervals_of_the_highest_rows_and_of_costs_cover(world, target):
    found = coverage(world, target, seed=1)
    for (key, level), share in found.items():
        # Four standard errors of the simulation beside what is promised.
        slack = 4 * math.sqrt(level * (1 - level) / N_DRAWS)
        assert share >= level - 0.02 - slack, (key, level, share)
        # At lower levels few labelled rows on one side let coverage jump from .6 to .96.
        assert level < LEVELS[-1] or share <= 0.975 + slack, (key, level, share)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("world", WORLDS[:3] + WORLDS[5:], ids=lambda world: world.name)
def test_intervals_of_what_is_gained_cover(world, target):
    share, raw, corrected = gain_coverage(world, target, seed=2)
    assert 0.90 <= share <= 0.99
    assert abs(corrected) < abs(raw) + 1e-3


if __name__ == "__main__":
    for each in WORLDS:
        for goal in TARGETS:
            print(each.name, goal, flush=True)  # noqa: T201
            for (key, level), share in coverage(each, goal, seed=1).items():
                print("  ", *key, level, f"{share:.3f}", flush=True)  # noqa: T201
            print("   gain", gain_coverage(each, goal, seed=2), flush=True)  # noqa: T201
