"""On simulated rows whose classes are known, the recovered metrics are the true ones."""

import numpy as np
import pytest
from sklearn import metrics

import undercount as uc

N_ROWS, PREVALENCE, LABEL_FREQUENCY, THRESHOLD = 400_000, 0.3, 0.5, 0.8
TOLERANCE = 0.01


def simulated(sampling):
    """Return labels with missing values, scores, and the classes of the target population."""
    rng = np.random.default_rng(2015)
    truth = rng.random(N_ROWS) < PREVALENCE
    score = rng.normal(np.where(truth, 1.0, 0.0), 1.0)
    y = np.where(truth & (rng.random(N_ROWS) < LABEL_FREQUENCY), 1.0, np.nan)
    if sampling == "case-control":  # all rows unlabeled, and positives drawn apart
        extra = rng.normal(1.0, 1.0, N_ROWS // 4)
        y = np.append(np.full(N_ROWS, np.nan), np.ones(len(extra)))
        return y, np.append(score, extra), truth, score
    return y, score, truth, score


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("compact", [False, True])
def test_recovered_metrics_are_true_where_naive_ones_are_not(sampling, compact):
    y, score, truth, target_score = simulated(sampling)
    counts = uc.ScoreCounts.from_rows(y, score, compact=compact, knots=[THRESHOLD])
    shares = uc.Shares.from_prevalence(counts, truth.mean(), sampling=sampling)
    recovered = uc.mixture_curve(counts, shares, clean=False)
    naive = uc.naive_curve(counts)
    predicted = target_score >= THRESHOLD
    true_values = {
        "roc_auc": metrics.roc_auc_score(truth, target_score),
        "average_precision": metrics.average_precision_score(truth, target_score),
        "precision": metrics.precision_score(truth, predicted),
        "f1": metrics.f1_score(truth, predicted),
        "specificity": metrics.recall_score(~truth, ~predicted),
    }
    for name, true_value in true_values.items():
        area = name in ("roc_auc", "average_precision")
        ours = getattr(recovered if area else recovered.at(THRESHOLD), name)
        wrong = getattr(naive if area else naive.at(THRESHOLD), name)
        assert ours == pytest.approx(true_value, abs=TOLERANCE), name
        assert abs(wrong - true_value) > TOLERANCE, name


def test_impure_labels_are_recovered():
    rng = np.random.default_rng(7)
    purity, share, n_labelled = 0.8, 0.2, 100_000
    labelled = rng.normal(rng.random(n_labelled) < purity, 1.0)
    unlabeled = rng.normal(rng.random(N_ROWS) < share, 1.0)
    counts = uc.ScoreCounts.from_rows(
        np.append(np.ones(n_labelled), np.full(N_ROWS, np.nan)), np.append(labelled, unlabeled)
    )
    shares = uc.Shares(share, purity, "case-control")
    curve = uc.mixture_curve(counts, shares, clean=False)
    # Two normals one apart: AUC = Φ(1/√2).
    assert curve.roc_auc == pytest.approx(0.7602499389065233, abs=TOLERANCE)
    assert curve.at(1.0).tpr == pytest.approx(0.5, abs=TOLERANCE)
    assert curve.at(1.0).fpr == pytest.approx(0.15865525393145707, abs=TOLERANCE)
