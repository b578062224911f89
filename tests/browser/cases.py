"""Evaluations of every design, made from a seeded simulation."""

import warnings
from functools import cache
from typing import Any

import numpy as np

import undercount as uc
from undercount.read.evaluation import Evaluation

SHARE = 0.06


def simulated(
    n_rows: int = 3000, strength: float = 1.8, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return truth, labels (1 or 0) and scores in (0, 1)."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.12
    label = (truth & (rng.random(n_rows) < 0.5)).astype(float)
    return truth, label, 1 / (1 + np.exp(1 - rng.normal(strength * truth)))


@cache
def evaluations() -> dict[str, list[Evaluation]]:
    """Return one or several models for each design."""
    truth, label, score = simulated()
    other = simulated(strength=1.2, seed=1)[2] + truth * 0.1
    strong = simulated(strength=3.5)[2]  # of the same rows
    topped = score + (np.cumsum(label) <= 8) * label  # above every unlabeled score
    apart = simulated(strength=9)[2]
    rng = np.random.default_rng(2)
    verified = np.where(label == 1, 1.0, np.nan)
    verified[(~truth) & (rng.random(len(truth)) < 0.1)] = 0.0
    impure = label.copy()
    impure[rng.choice(np.flatnonzero(~truth), 20, replace=False)] = 1.0
    estimated = uc.Estimate(SHARE, 0.05, 0.075, 0.006)

    def one(labels: Any, scores: Any = score, **options: Any) -> Evaluation:
        options = {"unlabeled": 0, "threshold": 0.6, "name": "model", **options}
        return uc.evaluate(labels, scores, **options)

    return {
        "estimated": [
            one(label, unlabeled_prevalence=estimated, name="first"),
            one(label, other, unlabeled_prevalence=estimated, threshold=0.5, name="second"),
        ],
        "strong": [one(label, strong, unlabeled_prevalence=SHARE)],
        "strong, share estimated here": [one(label, strong)],
        "strong, more than fits at the threshold": [one(label, strong, threshold=0.985)],
        "no threshold": [one(label, unlabeled_prevalence=SHARE, threshold=None)],
        "prevalence": [one(label, prevalence=0.118, target="population")],
        "range": [one(label, assume=uc.RandomLabels((0.1, 0.13), purity=(0.95, 1.0)))],
        "label frequency": [one(label, label_frequency=0.52)],
        "label frequency, population": [one(label, label_frequency=0.52, target="population")],
        "case-control": [
            one(label, assume=uc.RandomLabels(unlabeled_prevalence=SHARE, sampling="case-control"))
        ],
        "case-control, data set": [
            one(
                label,
                assume=uc.RandomLabels(unlabeled_prevalence=SHARE, sampling="case-control"),
                target="dataset",
            )
        ],
        "case-control, labels on top": [
            one(
                label,
                topped,
                assume=uc.RandomLabels(unlabeled_prevalence=SHARE, sampling="case-control"),
            )
        ],
        "recall above 1": [
            one(
                label,
                apart,
                assume=uc.RandomLabels(unlabeled_prevalence=SHARE, purity=0.995),
                threshold=0.5,
            )
        ],
        "impure": [one(impure, assume=uc.RandomLabels(unlabeled_prevalence=SHARE, purity=0.9))],
        "impure, case-control": [
            one(
                impure,
                assume=uc.RandomLabels(
                    unlabeled_prevalence=SHARE, purity=0.9, sampling="case-control"
                ),
            )
        ],
        "impure, uncertain": [
            one(
                impure,
                assume=uc.RandomLabels(
                    unlabeled_prevalence=estimated, purity=uc.Estimate(0.9, 0.85, 0.95, 0.02)
                ),
            )
        ],
        "known negatives": [one(verified, unlabeled=None, unlabeled_prevalence=SHARE)],
        "known negatives, population": [
            one(verified, unlabeled=None, unlabeled_prevalence=SHARE, target="population")
        ],
        "weights": [
            one(label, unlabeled_prevalence=SHARE, sample_weight=rng.uniform(0.5, 2, len(label)))
        ],
        "weights, population": [
            one(
                label,
                unlabeled_prevalence=SHARE,
                sample_weight=rng.uniform(0.5, 2, len(label)),
                target="population",
                confidence_level=0.9,
            )
        ],
    }


@cache
def reviewed() -> dict[str, list[Evaluation]]:
    """Return evaluations after reviews: of random labels, and of labels chosen by their score."""
    truth, label, score = simulated(8000)
    rng = np.random.default_rng(3)
    chosen = (truth & (rng.random(8000) < np.where(score > 0.75, 0.8, 0.1))).astype(float)

    def one(known: Any, labels: Any = None) -> Evaluation:
        about = {"unlabeled": 0, "threshold": 0.6}
        plan = uc.plan_reviews(known, score, budget=200, **about)
        assume = uc.Reviewed(plan.answered(truth[plan.rows]), labels=labels)
        return uc.evaluate(known, score, assume=assume, name="reviewed", **about)

    return {
        "random labels": [one(label, labels="random")],
        "reviews alone": [one(label)],
        "chosen labels": [one(chosen)],
        "a claim left open": [one(label).claiming("precision >= 0.58")],
    }


@cache
def odd_scores() -> dict[str, list[Evaluation]]:
    """Return scores that break careless pages."""
    _, label, score = simulated(800)
    infinite = np.where(score > 0.8, np.inf, np.where(score < 0.05, -np.inf, score))
    odd = {
        "constant": np.full(len(label), 0.5),
        "two values": (score > 0.5).astype(float),
        "tied": np.round(score, 1),
        "saturated": np.where(score > 0.6, 1.0, np.where(score < 0.4, 0.0, score)),
        "infinite": infinite,
        "huge": score * 1e300,
        "negative": -1e-12 * score,
        "reversed": -score,
    }
    return {
        name: [uc.evaluate(label, scores, unlabeled=0, unlabeled_prevalence=0.02, name=name)]
        for name, scores in odd.items()
    }


@cache
def edges() -> dict[str, list[Evaluation]]:
    """Return evaluations in which a requirement never holds, or a metric does not exist."""
    _, label, score = simulated()
    unlabeled, labelled = np.flatnonzero(label == 0), np.flatnonzero(label == 1)
    foreign, topped = score.copy(), score.copy()
    foreign[unlabeled[:3]] = 2.0  # nothing labelled above 1
    topped[labelled[:3]] = 2.0  # nothing unlabeled above 1
    low = np.where(label == 1, np.where(np.cumsum(label) % 4 == 0, -1.0, score), score)
    apart = {"sampling": "case-control"}
    told: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
        "reversed": (-score, {"threshold": -0.3}),
        "few recalled": (score, {"threshold": 0.9}),
        "no label flagged": (foreign, {"threshold": 1.5}),
        "no label flagged, case-control": (foreign, {"threshold": 1.5, **apart}),
        "only labels flagged": (topped, {"threshold": 1.5, **apart}),
        "only labels flagged, impure": (
            topped,
            {"threshold": 1.5, "purity": 0.95, **apart},
        ),
        "below chance at the threshold": (low, {"threshold": 0.1}),
        "nearly sure": (simulated(strength=6)[2], {"threshold": 0.7}),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: [_evaluate_edge(label, scores, **options)]
            for name, (scores, options) in told.items()
        }


def _evaluate_edge(label: Any, scores: Any, threshold: float, **assumed: Any) -> Evaluation:
    assume = uc.RandomLabels(unlabeled_prevalence=0.02, **assumed)
    return uc.evaluate(label, scores, unlabeled=0, threshold=threshold, assume=assume)
