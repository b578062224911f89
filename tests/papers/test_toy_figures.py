"""The small worked examples of the papers, number by number."""

import json
import pathlib

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import undercount as uc
from undercount.theory.lift import auc_from_lift, expected_labelled_auc, lift_curve, lift_from_auc
from undercount.theory.recovery import direct_auc, recovery_error, sign_test

# AUL paper, Figure 1a.
AUL_SCORE = [0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43]
AUL_SCORE += [0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1]
AUL_TRUTH = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0]
AUL_LABEL = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]

# Jain et al. 2017, Figure 1A.
JAIN_SCORE = [0.986, 0.943, 0.863, 0.789, 0.699, 0.473, 0.211, 0.009]
JAIN_TRUTH = [1, 1, 1, 0, 1, 0, 0, 0]
JAIN_LABEL = [1, 0, 1, 0, 1, 0, 0, 0]

# Jain et al. 2017, Table 1, errors in thousandths: indirect and direct recovery with the real
# shares (IR, DR), then with estimated ones (IE, DE).
TABLE_1 = """
7 7 88 115, 11 11 86 113, 10 11 85 111, 117 122 68 60, 129 132 78 65, 201 216 196 206,
18 7 10 7, 3 7 12 16, 7 15 11 7, 28 29 38 38, 37 41 43 42, 83 94 94 101,
4 4 5 15, 5 5 4 9, 8 9 4 8, 6 7 13 11, 3 5 9 12, 11 18 16 20,
49 50 20 30, 55 56 19 30, 59 64 18 31, 4 4 4 2, 5 5 7 8, 6 8 2 2,
26 28 70 90, 38 40 60 69, 70 75 64 73, 1 2 15 5, 1 2 16 17, 1 4 2 4,
18 18 13 20, 19 20 10 15, 31 32 21 28, 27 28 99 109, 24 26 104 117, 95 104 158 158
"""


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
    assert lift_curve(aul).area == pytest.approx(0.615, abs=1e-12)


def test_aul_figure_1_in_units_of_auc(aul):
    assert lift_from_auc(0.740, 0.5) == pytest.approx(0.620)
    # Both estimates of the AUC are one statistic.
    from_lift = auc_from_lift(lift_curve(aul).area, 0.5)
    assert from_lift == pytest.approx(0.73)
    assert direct_auc(aul, uc.Shares.from_prevalence(aul, 0.5)) == pytest.approx(from_lift)
    assert expected_labelled_auc(0.740, prevalence=0.5, label_frequency=0.5) == pytest.approx(0.66)


def test_jain_figure_1(jain):
    assert roc_auc_score(JAIN_TRUTH, JAIN_SCORE) == pytest.approx(0.9375)
    complete = uc.ScoreCounts.from_rows(JAIN_TRUTH, JAIN_SCORE)
    assert uc.labelled_curve(complete).roc_auc == pytest.approx(0.9375)
    assert uc.naive_curve(jain).roc_auc == pytest.approx(0.800)


def test_jain_figure_1_recovered(jain):
    shares = uc.Shares(1 / 5)  # one of the five unlabeled rows is positive
    assert direct_auc(jain, shares) == pytest.approx(0.875)
    assert uc.mixture_curve(jain, shares, clean=False).roc_auc == pytest.approx(0.875)
    curve = uc.mixture_curve(jain, shares, monotone="cummax")
    assert curve.roc_auc == pytest.approx(0.9028, abs=5e-5)
    # By hand: (γ, η) = (g, (q - g/5)/(4/5)) inside the square, sorted, largest to the left.
    assert curve.fpr * 12 == pytest.approx([0, 1, 2, 3, 4, 6, 9, 12])
    assert curve.tpr * 3 == pytest.approx([0, 2, 2, 3, 3, 3, 3, 3])


def test_jain_sign_tests():
    cells = np.array([row.split() for row in TABLE_1.replace("\n", " ").split(",")], dtype=int)
    published = {0: (28, 1, 7, 31, 6.46e-6), 2: (25, None, None, 26, 5.67e-3)}
    for column, (wins, losses, ties, credited, p_value) in published.items():
        indirect, direct = cells[:, column], cells[:, column + 1]
        found = (indirect < direct).sum(), (indirect > direct).sum(), (indirect == direct).sum()
        assert found[0] == wins
        if losses is not None:
            assert found[1:] == (losses, ties)
        # In the text 9 losses and 2 ties, in the rounded cells 8 and 3: the same wins credited.
        assert found[0] + found[2] // 2 == credited
        assert sign_test(*found) == pytest.approx(p_value, rel=1e-3)
    assert sign_test(25, 9, ties=2) == pytest.approx(5.67e-3, rel=1e-3)


def test_jain_figure_4_box():
    # AUC .90 with shares .25 and .75 is an AUC^pu of .70; the box prints .80.
    assert 0.9 - recovery_error((0.25, 0.75), (0.0, 1.0), 0.9) == pytest.approx(0.70)


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
