"""Intervals of reviews and audits hold in segments, elsewhere, with weights and by cluster.

Three designs each: bell-shaped scores, rare positives, and scores on a grid with many ties.
"""

from collections import defaultdict

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

import undercount as uc

pytestmark = pytest.mark.slow
N_ROWS, DRAWS = 6000, 150
CUTS = {"bell": 1.5, "rare": 2.0, "grid": 0.6}
PREVALENCES = {"bell": 0.1, "rare": 0.03, "grid": 0.2}
BUDGETS = {"bell": 250, "rare": 300, "grid": 200}
METRICS = ("recall", "precision", "f1", "roc_auc")


def draw_scores(rng, design, truth, effect=0.0):
    if design == "grid":
        mean = np.clip(0.3 + 0.3 * truth + 0.05 * effect, 0.05, 0.95)
        return np.round(rng.beta(6 * mean, 6 * (1 - mean)), 2)
    return rng.normal((2.5 if design == "rare" else 2.0) * truth + 0.3 * effect)


def draw_labels(rng, design, truth, score, *, fair):
    """Label positives, those of high scores more often unless labels are to be fair."""
    slope = 0.0 if fair else (2.0 if design == "grid" else 0.6)
    return np.where(truth & (rng.random(len(truth)) < expit(slope * (score - CUTS[design]))), 1, -1)


def plan_and_answer(rng, design, truth, score, y, **options):
    plan = uc.plan_reviews(
        y, score, unlabeled=-1, budget=BUDGETS[design], threshold=CUTS[design], goal="f1",
        unlabeled_prevalence=float(truth[y == -1].mean() * np.exp(rng.normal(0, 0.3))),
        random_state=int(rng.integers(1 << 30)), **options,
    )  # fmt: skip
    return plan.answered(truth[plan.rows])


def truth_of(truth, score, cut, weight=None):
    weight = np.ones(len(truth)) if weight is None else weight
    flagged = score >= cut
    hits, total = weight @ (truth & flagged), weight @ truth
    return {
        "recall": hits / total,
        "precision": hits / (weight @ flagged),
        "f1": 2 * hits / (weight @ flagged + total),
        "roc_auc": roc_auc_score(truth, score, sample_weight=weight),
    }


def elsewhere(truth, score, cut, prevalence):
    weight = np.where(truth, prevalence / truth.mean(), (1 - prevalence) / (1 - truth.mean()))
    return truth_of(truth, score, cut, weight)


class Held:
    """Count how often intervals held, cell by cell."""

    def __init__(self):
        self.cells = defaultdict(list)

    def add(self, found, expected, *name):
        for metric, value in expected.items():
            estimate = found(metric)
            self.cells[(*name, metric)].append(estimate.low <= value <= estimate.high)

    def shortest(self):
        """Return how often each cell held, the worst first."""
        return sorted((float(np.mean(held)), cell) for cell, held in self.cells.items())

    def check(self):
        for cell, held in self.cells.items():
            test = binomtest(int(np.sum(held)), len(held), 0.93, alternative="less")
            assert test.pvalue > 0.01, (cell, np.mean(held))


def in_segments(design, labels, draws=DRAWS):
    rng, held = np.random.default_rng(1), Held()
    for _ in range(draws):
        segment = rng.choice(np.array(["a", "b", "c"]), N_ROWS, p=[0.6, 0.3, 0.1])
        factor = {"a": 0.8, "b": 1.0, "c": 2.0}
        chance = PREVALENCES[design] * np.vectorize(factor.get)(segment)
        truth = rng.random(N_ROWS) < chance
        score = draw_scores(rng, design, truth, effect=segment == "b")
        y = draw_labels(rng, design, truth, score, fair=labels == "random")
        assume = uc.Reviewed(plan_and_answer(rng, design, truth, score, y), labels=labels)
        found = uc.evaluate(
            y, score, assume=assume, by=segment, unlabeled=-1, threshold=CUTS[design],
            metrics=list(METRICS),
        )  # fmt: skip
        for key in "abc":
            at = segment == key
            expected = truth_of(truth[at], score[at], CUTS[design])
            held.add(lambda m, f=found, k=key: f.estimates(m)[k], expected, key)
    return held


def deployed(design, assumption, draws=DRAWS):
    rng, held = np.random.default_rng(2), Held()
    many = rng.random(1_000_000) < 0.5
    there, cut = PREVALENCES[design] / 2, CUTS[design]
    expected = elsewhere(many, draw_scores(rng, design, many), cut, there)
    for _ in range(draws):
        truth = rng.random(N_ROWS) < PREVALENCES[design]
        score = draw_scores(rng, design, truth)
        if assumption == "audit":
            y = np.where(rng.random(N_ROWS) < 0.15, truth, -1)
            assume = uc.RandomAudit()
        else:
            y = draw_labels(rng, design, truth, score, fair=assumption == "random")
            assume = uc.Reviewed(plan_and_answer(rng, design, truth, score, y), labels=assumption)
        found = uc.evaluate(y, score, assume=assume, unlabeled=-1, threshold=cut)
        lines = {row.metric: row.estimate for row in found.deployed(there)}
        held.add(lines.get, expected)
    return held


def weighted(design, assumption, draws=DRAWS):
    rng, held = np.random.default_rng(3), Held()
    for _ in range(draws):
        truth = rng.random(N_ROWS) < PREVALENCES[design]
        score, cut = draw_scores(rng, design, truth), CUTS[design]
        weight = rng.gamma(4, size=N_ROWS) * np.exp(0.2 * score)
        if assumption == "audit":
            y = np.where(rng.random(N_ROWS) < 0.15, truth, -1)
            assume = uc.RandomAudit()
        else:
            y = draw_labels(rng, design, truth, score, fair=assumption == "random")
            reviews = plan_and_answer(rng, design, truth, score, y, sample_weight=weight)
            assume = uc.Reviewed(reviews, labels=assumption)
        found = uc.evaluate(
            y, score, assume=assume, unlabeled=-1, threshold=cut, sample_weight=weight
        )
        held.add(found.__getitem__, truth_of(truth, score, cut, weight))
    return held


def audited_by_cluster(design, target, draws=DRAWS):
    """Audit whole clusters of 2 to 18 rows that are alike in class and score."""
    rng, held = np.random.default_rng(4), Held()

    def draw(n_clusters):
        size = rng.integers(2, 19, n_clusters)
        effect = rng.normal(size=n_clusters)
        cluster = np.repeat(np.arange(n_clusters), size)
        logit = np.log(PREVALENCES[design] / (1 - PREVALENCES[design])) - 0.4
        truth = rng.random(len(cluster)) < expit(logit + effect[cluster])
        return cluster, truth, draw_scores(rng, design, truth, effect[cluster])

    cut = CUTS[design]
    _, every, scores = draw(200_000)
    whole = truth_of(every, scores, cut)
    for _ in range(draws):
        cluster, truth, score = draw(800)
        drawn = rng.permutation(800) < 200
        y = np.where(drawn[cluster], truth, -1)
        found = uc.evaluate(
            y, score, assume=uc.RandomAudit(drawn="clusters"), unlabeled=-1, threshold=cut,
            cluster=cluster, target=target,
        )  # fmt: skip
        expected = whole if target == "population" else truth_of(truth, score, cut)
        held.add(found.__getitem__, expected)
    return held


def compared(design, labels, draws=DRAWS):
    """Compare the plan's model with another that shares half of its noise."""
    rng, held = np.random.default_rng(5), Held()
    for _ in range(draws):
        truth = rng.random(N_ROWS) < PREVALENCES[design]
        effect = rng.normal(size=N_ROWS)
        one, other = (draw_scores(rng, design, truth, 2 * effect) for _ in range(2))
        y = draw_labels(rng, design, truth, one, fair=labels == "random")
        reviews, cut = plan_and_answer(rng, design, truth, one, y), CUTS[design]
        found = uc.compare(
            y, {"one": one, "other": other}, assume=uc.Reviewed(reviews, labels=labels),
            unlabeled=-1, threshold=cut, question="rows",
        )  # fmt: skip
        first, second = (truth_of(truth, score, cut) for score in (one, other))
        expected = {metric: first[metric] - second[metric] for metric in METRICS}
        held.add(lambda m, f=found: f.difference(m).difference, expected)
    return held


def known_prevalence(design, draws=DRAWS):
    """Return also how wide intervals are beside those without the prevalence."""
    rng, held = np.random.default_rng(6), Held()
    held.widths = defaultdict(list)
    for _ in range(draws):
        truth = rng.random(N_ROWS) < PREVALENCES[design]
        score, cut = draw_scores(rng, design, truth), CUTS[design]
        y = draw_labels(rng, design, truth, score, fair=False)
        reviews = plan_and_answer(rng, design, truth, score, y)
        known, plain = (
            uc.evaluate(
                y, score, assume=uc.Reviewed(reviews, prevalence=share), unlabeled=-1,
                threshold=cut,
            )
            for share in (float(truth.mean()), None)
        )  # fmt: skip
        held.add(known.__getitem__, truth_of(truth, score, cut))
        for metric in METRICS:
            one, other = (each[metric].high - each[metric].low for each in (known, plain))
            held.widths[metric].append(one / other)
    return held


@pytest.mark.parametrize("design", CUTS)
def test_a_known_prevalence_makes_recall_sharper(design):
    held = known_prevalence(design)
    held.check()
    assert np.mean(held.widths["recall"]) < 0.8


@pytest.mark.parametrize("labels", ["any", "random"])
@pytest.mark.parametrize("design", CUTS)
def test_intervals_hold_in_segments(design, labels):
    in_segments(design, labels).check()


@pytest.mark.parametrize("assumption", ["any", "random", "audit"])
@pytest.mark.parametrize("design", CUTS)
def test_intervals_hold_where_positives_are_half_as_many(design, assumption):
    deployed(design, assumption).check()


@pytest.mark.parametrize("assumption", ["any", "random", "audit"])
@pytest.mark.parametrize("design", CUTS)
def test_intervals_hold_with_weights(design, assumption):
    weighted(design, assumption).check()


@pytest.mark.parametrize("design", CUTS)
def test_differences_by_reviews_and_random_labels_hold(design):
    compared(design, "random").check()


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("design", CUTS)
def test_intervals_of_audited_clusters_hold(design, target):
    audited_by_cluster(design, target).check()
