"""Jain et al.: exact figures exactly, tables on data whose areas are known in closed form."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from undercount_reproductions.catalogue import run_item
from undercount_reproductions.published import published

BEST = norm.cdf(np.sqrt(3 / 2))  # AUC of the sum of the stand-ins' three features


def item(name, **options):
    return run_item("jain2017", name, **options)


def test_figure_1(cells):
    result = item("figure1")
    assert cells(result, "published")[:2] == [0.8, 0.9375]
    # 12 of 15 and 15 of 16 boxes; eq. 4 gives ½ + .3/.8; Algorithm 1 by hand gives 65/72.
    assert cells(result, "ours") == pytest.approx([12 / 15, 15 / 16, 0.875, 65 / 72])


def test_figure_3_covers_the_infeasible_region():
    result = item("figure3")
    assert len(result.rows) == 27
    for alpha, beta, auc, found, _ in result.rows:
        half = (beta - alpha) * (2 * auc - 1)
        # |β̂ - α̂| < half within the unit square; a cell is .01 wide and the region has two edges.
        assert found == pytest.approx(1 - (1 - half) ** 2, abs=0.02)


def test_figure_4(cells):
    result = item("figure4")
    # True (.25, .75) and AUC .9: the box prints .80 for AUC^pu, which is ½ + .5·.4.
    assert cells(result, "ours") == pytest.approx([0.7, 0, 0, 0.1, 0.8, 0.6], abs=1e-12)
    assert cells(result, "published")[1:] == pytest.approx(cells(result, "ours")[1:], abs=1e-12)


def test_sign_tests(cells):
    result = item("signtests")
    # P(Binomial(36, ½) >= 31) and >= 26, half of the ties taken for wins.
    assert cells(result, "p") == pytest.approx([6.46e-6, 5.67e-3], rel=1e-3)
    assert cells(result, "p") == pytest.approx(cells(result, "publ. p"), rel=0.01)
    counted = [cells(result, name) for name in ("wins", "losses", "ties")]
    assert counted == [[28, 25], [1, 8], [7, 3]]  # of IE one published loss is a tie when rounded


def small(name, small_data, kept, monkeypatch):
    """A table of one setting with data, Pima of purity 1, and of one without."""
    table = published("jain2017")
    for key in ("table1", "table2"):
        table[key] = [row for row in table[key] if row[0] in ("pima", "spambase")][:4:3]
    for module in ("jain_tables", "jain_draws"):
        monkeypatch.setattr(f"undercount_reproductions.{module}.published", lambda _: table)
    return item(name, runs=4, bags=15, data_dir=small_data, out=kept)


@pytest.fixture
def pima(small_data, kept, monkeypatch):
    return lambda name: small(name, small_data, kept, monkeypatch)


# Half of about 120 positives are labelled, so a third of the others' 180 rows is positive.
SHARE = 60 / 180


def test_table_1(pima, cells):
    result = pima("table1")
    # Sets that are not there are shown with the published numbers alone.
    assert cells(result, "our truth", "spambase") == [None]
    assert cells(result, "publ. IR", "pima") == [0.026]
    truth = cells(result, "our truth", "pima")[0]
    assert BEST - 0.06 < truth < BEST + 0.02
    # Eq. 4: against unlabeled rows the area is nearer to ½ by the share of hidden positives.
    assert cells(result, "PU", "pima")[0] == pytest.approx(SHARE * (truth - 0.5), abs=0.04)
    # With the real shares only chance is left: 60 labels, spread .17/√60, by eq. 4 over 1 - share.
    assert cells(result, "DR", "pima")[0] < 4 * 0.17 / np.sqrt(60) / (1 - SHARE)


def average_precision(distance, prevalence):
    """Area under precision and recall of N(distance, 1) against N(0, 1)."""

    def precision(score):
        flagged = prevalence * norm.sf(score - distance)
        return flagged / (flagged + (1 - prevalence) * norm.sf(score))

    return quad(lambda s: precision(s) * norm.pdf(s - distance), -8, 10)[0]


@pytest.fixture
def distance(pima, cells):
    """Distance of two normals that have the AUC of the ensembles."""
    return np.sqrt(2) * norm.ppf(cells(pima("table1"), "our truth", "pima")[0])


def test_table_2(pima, cells, distance):
    result = pima("table2")
    truth = cells(result, "our truth", "pima")[0]
    # One data set of 60 hidden positives strays by about .05.
    assert truth == pytest.approx(average_precision(distance, SHARE), abs=0.1)
    # Labelled rows are 60 of 240, and so much is the least area against unlabeled rows.
    assert 0.1 < cells(result, "PU", "pima")[0] < truth - 60 / 240
    assert cells(result, "IR", "pima")[0] < 0.15


def test_figure_2(pima, cells):
    result = pima("figure2")
    truth = cells(pima("table1"), "our truth", "pima")[0]
    mean = cells(result, "mean", "auc", "purity", "0.75", "PU")
    mean += cells(result, "mean", "auc", "purity", "1", "PU")
    assert mean == pytest.approx([-SHARE * (truth - 0.5)], abs=0.04)
    for row in result.rows:
        five = row[-5:]
        assert list(five) == sorted(five)
        assert five[0] <= row[4] <= five[-1]


def test_known(pima, cells, distance):
    result = pima("known")

    # With the real share eq. 4 is the mean rank of the labelled rows among all, over 1 - π; they
    # are 60 drawn of 120 positives, and half of the rows are positive.
    def moment(power):
        def ranks(x):
            rank = 0.5 * norm.cdf(x) + 0.5 * norm.cdf(x - distance)
            return rank**power * norm.pdf(x - distance)

        return quad(ranks, -9, 12)[0]

    error = np.sqrt((moment(2) - moment(1) ** 2) / 60 * (1 - 60 / 120)) / (1 - 0.5)
    predicted = cells(result, "predicted", "pima")[0]
    assert predicted == pytest.approx(np.sqrt(2 / np.pi) * error, rel=0.15)
    assert abs(cells(result, "bias", "pima")[0]) < 4 * error
    assert cells(result, "bias", "spambase") == [None]


@pytest.mark.slow
def test_table_1_of_pima(cells, real_data, monkeypatch, tmp_path):
    folder = real_data("pima")
    table = published("jain2017")
    for key in ("table1", "table2"):
        table[key] = [row for row in table[key] if row[0] == "pima"]
    for module in ("jain_tables", "jain_draws"):
        monkeypatch.setattr(f"undercount_reproductions.{module}.published", lambda _: table)
    result = item("table1", runs=5, bags=25, data_dir=folder, out=tmp_path)
    # Theirs are against a model trained on all classes, so ours may be smaller.
    assert cells(result, "our truth")[0] == pytest.approx(cells(result, "publ. truth")[0], abs=0.06)
    for ours, printed in zip(cells(result, "IR")[:3], cells(result, "publ. IR")[:3], strict=True):
        assert ours < printed + 0.02
