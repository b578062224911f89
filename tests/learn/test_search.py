import numpy as np
import pytest

from undercount.learn import rows as rows_module
from undercount.learn.basis import LinearBasis
from undercount.learn.pairs import PairLoss, PairMoments
from undercount.learn.rows import TrainingRows, draw_folds, fit_scaler
from undercount.learn.search import lift_area, search

# AUL paper, Figure 1a: scores in descending order and which rows are labelled.
LABELLED = np.array([1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0], bool)


def test_area_of_the_papers_example():
    score = np.arange(20.0, 0, -1)
    assert lift_area(LABELLED, score, np.ones(20), with_self=True) == pytest.approx(0.615)


def test_area_against_others_is_the_labelled_auc():
    score = np.arange(20.0, 0, -1)
    found = lift_area(LABELLED, score, np.ones(20), with_self=False)
    assert found == pytest.approx(0.6533, abs=5e-5)


def training_rows(n_folds=3):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 3))
    labelled = X[:, 0] + rng.normal(size=90) > 0.8
    weight = rng.uniform(0.5, 2, 90)
    fold = draw_folds(labelled, n_folds, rng)
    scaler = fit_scaler(X, weight, standardise=False)
    return TrainingRows(X, labelled, weight, fold, n_folds, scaler)


def test_held_out_scores_come_from_the_other_folds():
    rows = training_rows()
    best, table = search(rows, [LinearBasis(3)], np.array([0.5]), PairLoss.of_pairs, with_self=True)
    X = rows.X - np.average(rows.X, axis=0, weights=rows.weight)
    areas, shares = [], []
    for fold in range(3):
        out, kept = rows.fold == fold, rows.fold != fold
        parts = [
            PairMoments.of(X[kept & side], rows.weight[kept & side])
            for side in (rows.labelled, ~rows.labelled)
        ]
        loss = PairLoss.of_pairs(*parts)
        ridge = 0.5 * np.trace(loss.curvature) / 3 * np.eye(3)
        centre = np.average(X[kept], axis=0, weights=rows.weight[kept])
        score = (X[out] - centre) @ np.linalg.solve(loss.curvature + ridge, loss.target)
        assert best.held_out[out] == pytest.approx(score)
        weight = rows.weight[out]
        areas.append(lift_area(rows.labelled[out], score, weight, with_self=True))
        shares.append(weight[rows.labelled[out]].sum())
    assert table[0, 0] == pytest.approx(np.average(areas, weights=shares))


def test_blocks_made_again_give_the_same(monkeypatch):
    rows, penalties = training_rows(), np.array([1.0, 0.1])
    whole, table = search(rows, [LinearBasis(3)], penalties, PairLoss.of_pairs, with_self=True)
    monkeypatch.setattr(rows_module, "PREDICTED_ROWS_PER_BLOCK", 7)
    monkeypatch.setattr(rows_module, "KEPT_VALUES", 0)
    parts, other = search(rows, [LinearBasis(3)], penalties, PairLoss.of_pairs, with_self=True)
    assert parts.coefficients == pytest.approx(whole.coefficients)
    assert parts.held_out == pytest.approx(whole.held_out)
    assert other == pytest.approx(table)
