"""The small worked examples of the papers, number by number."""

import json
import pathlib

import pytest
from sklearn.metrics import roc_auc_score

import undercount as uc
from undercount import theory

# AUL paper, Figure 1a.
AUL_SCORE = [0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43]
AUL_SCORE += [0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1]
AUL_TRUTH = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0]
AUL_LABEL = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]

# Jain et al. 2017, Figure 1A.
JAIN_SCORE = [0.986, 0.943, 0.863, 0.789, 0.699, 0.473, 0.211, 0.009]
JAIN_TRUTH = [1, 1, 1, 0, 1, 0, 0, 0]
JAIN_LABEL = [1, 0, 1, 0, 1, 0, 0, 0]


@pytest.fixture
def aul():
    return uc.ScoreCounts.from_rows(AUL_LABEL, AUL_SCORE, unlabeled=0)


@pytest.fixture
def jain():
    return uc.ScoreCounts.from_rows(JAIN_LABEL, JAIN_SCORE, unlabeled=0)


def test_aul_figure_1(aul):
    complete = uc.ScoreCounts.from_rows(AUL_TRUTH, AUL_SCORE)
    assert uc.labelled_curve(complete).roc_auc == pytest.approx(0.740, abs=1e-12)
    assert uc.labelled_curve(complete).lift_auc == pytest.approx(0.620, abs=1e-12)
    assert uc.naive_curve(aul).roc_auc == pytest.approx(0.6533, abs=5e-5)
    assert theory.lift_curve(aul).area == pytest.approx(0.615, abs=1e-12)


def test_aul_figure_1_in_units_of_auc(aul):
    assert theory.lift_from_auc(0.740, 0.5) == pytest.approx(0.620)
    # Both estimates of the AUC are one statistic.
    from_lift = theory.auc_from_lift(theory.lift_curve(aul).area, 0.5)
    assert from_lift == pytest.approx(0.73)
    assert theory.direct_auc(aul, uc.Shares.from_prevalence(aul, 0.5)) == pytest.approx(from_lift)
    assert theory.expected_labelled_auc(
        0.740, prevalence=0.5, label_frequency=0.5
    ) == pytest.approx(0.66)


def test_jain_figure_1(jain):
    assert roc_auc_score(JAIN_TRUTH, JAIN_SCORE) == pytest.approx(0.9375)
    complete = uc.ScoreCounts.from_rows(JAIN_TRUTH, JAIN_SCORE)
    assert uc.labelled_curve(complete).roc_auc == pytest.approx(0.9375)
    assert uc.naive_curve(jain).roc_auc == pytest.approx(0.800)


def test_jain_figure_1_recovered(jain):
    shares = uc.Shares(1 / 5)  # one of the five unlabeled rows is positive
    assert theory.direct_auc(jain, shares) == pytest.approx(0.875)
    assert uc.mixture_curve(jain, shares, clean=False).roc_auc == pytest.approx(0.875)
    curve = uc.mixture_curve(jain, shares, monotone="cummax")
    assert curve.roc_auc == pytest.approx(0.9028, abs=5e-5)
    # By hand: (γ, η) = (g, (q - g/5)/(4/5)) inside the square, sorted, largest to the left.
    assert curve.fpr * 12 == pytest.approx([0, 1, 2, 3, 4, 6, 9, 12])
    assert curve.tpr * 3 == pytest.approx([0, 2, 2, 3, 3, 3, 3, 3])


NOTEBOOK = pathlib.Path(__file__).parents[1] / "data" / "f1" / "notebook_rows.json"


@pytest.mark.parametrize("row", json.loads(NOTEBOOK.read_text()), ids=lambda row: row["src"])
def test_tabatabaei_rows(row):
    labelled, flagged = row["S"], row["M1"]
    counts = uc.ScoreCounts.from_counts(
        [1, 0],
        [row["S1"], labelled - row["S1"]],
        [0, 0],
        [flagged - row["S1"], row["M"] - labelled - flagged + row["S1"]],
    )
    shares = uc.Shares.from_label_frequency(counts, row["rho"])
    point = uc.mixture_curve(counts, shares, clean=False).at(1)
    assert point.f1 == pytest.approx(row["F1_hat"], abs=1e-6)
    assert point.lee_liu == pytest.approx(row["LL_correct"], rel=1e-12)
    if row["LL_has_factor_M"]:
        assert point.lee_liu == pytest.approx(row["LL"], abs=1e-6)
    else:  # the published value misses the number of rows
        assert point.lee_liu / row["M"] == pytest.approx(row["LL"], rel=1e-5)
