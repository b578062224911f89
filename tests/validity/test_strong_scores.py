"""Coverage of the ROC AUC's interval where the classifier is so good that the estimate meets 1."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric

SETTINGS = [
    # prevalence, label frequency, separation in standard deviations, rows
    (0.3, 0.2, 4, 4000),
    (0.3, 0.5, 4, 4000),
    (0.3, 0.1, 3, 2000),
    (0.6, 0.2, 3, 4000),
    (0.1, 0.3, 4, 5000),
    (0.05, 0.2, 4, 10_000),
    (0.05, 0.05, 4, 4000),
    (0.6, 0.05, 3, 400),
]


def covered(setting, target, n_draws):
    """Return the share of intervals that hold the truth, and the widths."""
    prevalence, frequency, distance, n = setting
    hits, widths = 0, []
    for draw in range(n_draws):
        rng = np.random.default_rng([draw, n, round(100 * prevalence), round(100 * frequency)])
        truth = rng.random(n) < prevalence
        score = rng.normal(distance * truth)
        y = np.where(truth & (rng.random(n) < frequency), 1, 0)
        mine = target == "dataset"
        known = truth.mean() if mine else prevalence
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # estimates beyond 1 by chance warn
            found = uc.metrics.roc_auc(y, score, unlabeled=0, prevalence=known, target=target)
        right = roc_auc_score(truth, score) if mine else ndtr(distance / np.sqrt(2))
        hits += found.low <= right <= found.high
        widths.append(found.high - found.low)
    return hits / n_draws, np.array(widths)


def test_intervals_near_one_are_neither_empty_nor_everything():
    share, widths = covered(SETTINGS[0], "dataset", 80)
    assert share >= 0.9  # 95 % less two standard errors of 80 draws
    assert widths.min() > 0
    assert widths.max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_near_one_cover(setting, target):
    # An interval cut at 1 covers whatever lies above it, so there is no upper bar.
    assert covered(setting, target, 600)[0] >= 0.93


# Prevalence, labels, rows, how scores are drawn, and the bars of coverage at .95 and of the width:
# meant to hurt. Where one positive in seven looks like a negative, ten labels hold none of these in
# one sample of five, and no interval of that width covers; likewise where positives reach further
# down than normal scores would (`docs/evidence/areas.md`).
FEW_LABELS = {
    "2.5 apart, prevalence .05, 10 labels": (0.05, 10, 4000, "2.5", 0.93, 1.5),
    "2.5 apart, prevalence .3, 20 labels": (0.3, 20, 1000, "2.5", 0.93, 1.5),
    "2.5 apart in steps, prevalence .1, 10 labels": (0.1, 10, 1000, "steps", 0.93, 1.5),
    "3.5 apart, prevalence .05, 10 labels": (0.05, 10, 4000, "3.5", 0.93, 1.5),
    "3.5 apart, prevalence .3, 10 labels": (0.3, 10, 1000, "3.5", 0.93, 1.5),
    "3.5 apart, prevalence .05, 40 labels": (0.05, 40, 4000, "3.5", 0.93, 1.5),
    "beta, prevalence .05, 20 labels": (0.05, 20, 2000, "beta", 0.93, 1.5),
    "fat tails, prevalence .08, 12 labels": (0.08, 12, 2500, "tails", 0.89, 1.5),
    "wide positives, prevalence .04, 15 labels": (0.04, 15, 3000, "wide", 0.87, 1.5),
    "invisible, prevalence .05, 10 labels": (0.05, 10, 4000, "invisible", 0.76, 1.5),
    "invisible, prevalence .05, 40 labels": (0.05, 40, 4000, "invisible", 0.93, 1.5),
}
LEVELS = (0.8, 0.9, 0.95)
MAX_FPR = 0.2


def drawn_scores(rng, truth, design):
    n = len(truth)
    if design == "beta":
        return np.where(truth, rng.beta(6, 2, n), rng.beta(1.2, 6, n))
    if design == "invisible":  # one positive in seven looks like a negative
        return rng.normal(3.5 * (truth & (rng.random(n) < 0.85)))
    if design == "tails":
        return rng.standard_t(4, n) + 3.0 * truth
    if design == "wide":
        return rng.normal(3.2 * truth, np.where(truth, 1.6, 1.0))
    if design == "steps":
        return np.floor(1.5 * rng.normal(2.5 * truth))
    return rng.normal(float(design) * truth)


def true_areas(truth, score):
    share = truth.mean()
    area = roc_auc_score(truth, score)
    partial = roc_auc_score(truth, score, max_fpr=MAX_FPR)
    return {"roc_auc": area, "lift_auc": share / 2 + (1 - share) * area, "partial_roc_auc": partial}


def few_labels(setting, target, sampling, n_draws, levels=LEVELS):
    """Return coverages, shape (metrics, levels), and widths over 3.92 standard deviations.

    Widths are of the lift area: its estimate is nowhere cut, and its interval is that of the AUC.
    """
    prevalence, n_labels, n, distance = setting[:4]
    rng = np.random.default_rng([n_labels, n, round(1000 * prevalence), *map(ord, distance)])
    if target == "population":
        many = rng.random(1_000_000) < prevalence
        right = true_areas(many, drawn_scores(rng, many, distance))
    held, errors, widths, below_one = [], [], [], []
    for _ in range(n_draws):
        truth = rng.random(n) < prevalence
        score = drawn_scores(rng, truth, distance)
        if sampling == "case-control":
            y = np.append(np.ones(n_labels), np.full(n, np.nan))
            apart = drawn_scores(rng, np.ones(n_labels, dtype=bool), distance)
            counts = uc.ScoreCounts.from_rows(y, np.append(apart, score), compact=True)
            share = truth.mean() if target == "dataset" else prevalence
            shares = uc.Shares(share, sampling=sampling)
        else:
            labels = rng.choice(
                np.flatnonzero(truth), min(n_labels, truth.sum() - 1), replace=False
            )
            y = np.full(n, np.nan)
            y[labels] = 1
            counts = uc.ScoreCounts.from_rows(y, score, compact=True)
            known = truth.mean() if target == "dataset" else prevalence
            if len(labels) >= known * n:
                continue
            shares = uc.Shares.from_prevalence(counts, known)
        true = true_areas(truth, score) if target == "dataset" else right
        row = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uc.MisfitWarning)
            for metric in true:
                for level in levels:
                    found = estimate_metric(
                        counts, shares, metric, target=target, max_fpr=MAX_FPR,
                        confidence_level=level,
                    )  # fmt: skip
                    row.append(found.low - 1e-12 <= true[metric] <= found.high + 1e-12)
                    if metric == "roc_auc" and level == max(levels):
                        below_one.append(found.value < 1)
                    if metric == "lift_auc" and level == max(levels):
                        widths.append(found.high - found.low)
                        errors.append(found.value - true[metric])
        held.append(row)
    ratio = np.mean(np.array(widths)[below_one]) / (2 * 1.96 * np.std(errors))
    return np.mean(held, axis=0).reshape(3, len(levels)), ratio


def test_ten_labels_of_a_strong_score_are_covered():
    held, ratio = few_labels((0.05, 10, 1000, "3.5"), "dataset", "single-sample", 150, (0.95,))
    assert (held >= 0.9).all()
    assert ratio < 1.75


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("name", FEW_LABELS)
def test_few_labels_of_strong_scores_are_covered(name, target):
    *_, bar, widest = FEW_LABELS[name]
    held, ratio = few_labels(FEW_LABELS[name], target, "single-sample", 500)
    # Less two standard errors of 500 draws; an interval that ends at 1 covers all above it.
    assert (held[:, 2] >= bar - 0.023).all(), held
    if bar > 0.9:  # elsewhere no interval of this width can
        assert (held >= np.array([0.78, 0.88, 0.93]) - 0.035).all(), held
    assert ratio < widest + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("name", list(FEW_LABELS)[:4])
def test_few_labels_drawn_apart_are_covered(name, target):
    *_, bar, widest = FEW_LABELS[name]
    held, ratio = few_labels(FEW_LABELS[name], target, "case-control", 500)
    assert (held[:, 2] >= bar - 0.023).all(), held
    assert ratio < widest + 0.1


# Of rare positives a perfect order has next to no spread, so that the interval rests on the few
# labels out of place. Prevalence, labels, rows, scores as above, and the bar of coverage.
RARE = {
    "10 of 20": (0.005, 10, 4000, "2.5", 0.93),
    "10 of 40": (0.01, 10, 4000, "2.5", 0.93),
    "20 of 40": (0.01, 20, 4000, "2.5", 0.93),
    "20 of 200": (0.01, 20, 20_000, "2.5", 0.93),
    "10 of 20, 1.5 apart": (0.005, 10, 4000, "1.5", 0.93),
    "15 of 30, wide positives": (0.01, 15, 3000, "wide", 0.89),
    "12 of 24 in steps": (0.006, 12, 4000, "steps", 0.93),
}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("name", RARE)
def test_few_labels_of_rare_positives_are_covered(name, target):
    held, ratio = few_labels(RARE[name], target, "single-sample", 400, (0.95,))
    assert (held[:2] >= RARE[name][4] - 0.026).all(), held  # two standard errors of 400 draws
    assert ratio < 1.5
