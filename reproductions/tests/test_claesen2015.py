"""Claesen et al.: bounds beside the published ones, curves beside their population values."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from undercount_reproductions.catalogue import run_item
from undercount_reproductions.published import published

AUC = 0.7602499389065233  # of N(1, 1) against N(0, 1): Φ(1/√2)


def item(name, **options):
    return run_item("claesen2015", name, **options)


def test_figure_1_is_counted_by_hand(cells):
    result = item("figure1")
    # In B E D G H A F C I the set B D A C has the ranks 1 3 6 8, the set E G F the ranks 2 4 7.
    first, second = [0, 1, 1, 2, 2, 2, 3, 3, 4, 4], [0, 0, 1, 1, 2, 2, 2, 3, 3, 3]
    assert cells(result, "ours", "P1") == pytest.approx(np.divide(first, 4))
    assert cells(result, "ours", "P2") == pytest.approx(np.divide(second, 3))


def test_figure_2_has_the_width_of_a_pointwise_band(cells, monkeypatch):
    known = 500
    monkeypatch.setattr("undercount_reproductions.claesen_figures.SIZES", (known,))
    result = item("figure2", runs=2)
    low, high = cells(result, "low")[0], cells(result, "high")[0]

    # At a score the share of known positives is known to ±1.96 √(F(1-F)/n), and eq. 4 turns the
    # area between both ends, over the unlabeled rows, into one of AUCs: divided by 1 - .2.
    def band(score):
        share = norm.sf(score - 1)
        unlabeled = 0.2 * norm.pdf(score - 1) + 0.8 * norm.pdf(score)
        return 2 * 1.96 * np.sqrt(share * (1 - share) / known) * unlabeled

    assert high - low == pytest.approx(quad(band, -9, 9)[0] / 0.8, rel=0.05)
    assert low < AUC < high
    assert cells(result, "sim. low")[0] < low
    assert high < cells(result, "sim. high")[0]


def test_figure_3_is_near_its_population_value(cells):
    result = item("figure3")
    # ½ + (AUC - ½)(1 - .3)/(1 - β̂); one draw strays by .006 to .010 (one standard deviation).
    expected = [0.68217, 0.71432, 0.76025, 0.83123]
    for ours, value, spread in zip(
        cells(result, "ours"), expected, np.linspace(0.006, 0.010, 4), strict=True
    ):
        assert ours == pytest.approx(value, abs=3 * spread)


def test_figure_4_order_changes_by_clipping_alone(cells):
    result = item("figure4")
    ours, printed = cells(result, "clipped AUC"), cells(result, "published")
    assert printed == [0.725, 0.732, 0.755, 0.747]
    assert ours == pytest.approx(printed, abs=0.01)
    assert ours[2] > ours[3]
    direct = cells(result, "direct AUC")
    # Eq. 4: unclipped, ½ + (A - ½)/.9 for every model.
    assert direct[2:] == pytest.approx([0.5 + (a - 0.5) / 0.9 for a in direct[:2]])


def test_figure_5_on_a_stand_in(cells, small_data, monkeypatch):
    monkeypatch.setattr("undercount_reproductions.covtype.KNOWN", 200)
    result = item("figure5", runs=4, data_dir=small_data)
    assert cells(result, "low", "all labels")[0] == pytest.approx(AUC, abs=0.025)
    # Eq. 4 with 1,800 hidden positives among 3,800 unlabeled rows.
    naive = 0.5 + (AUC - 0.5) * (1 - 1800 / 3800)
    assert cells(result, "low", "β̂ = 0")[0] == pytest.approx(naive, abs=0.04)
    assert cells(result, "low", "simultaneous, β")[0] < AUC
    assert cells(result, "high", "simultaneous, β")[0] > AUC


@pytest.mark.slow
def test_figure_5(cells, real_data):
    result = item("figure5", runs=10, data_dir=real_data("covtype_scores_claesen"))
    assert cells(result, "low", "all labels")[0] == pytest.approx(0.7456, abs=5e-5)
    # The others are read off a figure.
    for name, low, high in (
        ("β̂ = 0", 0.63, 0.63),
        ("paper, β", 0.70, 0.79),
        ("paper, .8β-1.2β", 0.67, 0.84),
    ):
        assert cells(result, "low", name)[0] == pytest.approx(low, abs=0.015)
        assert cells(result, "high", name)[0] == pytest.approx(high, abs=0.015)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_tables_hold_60_published_ends_each(name):
    assert sum(len(cell["bounds"]) for cell in published("claesen2015")[name]) == 60


def in_agreement(result, runs, cells):
    """Each published end is one draw: it strays by its spread, our mean by its spread / √runs."""
    # A known positive is above Φ(X) of the negatives, X from N(1, 1); at least 200 are known.
    square = quad(lambda x: norm.cdf(x) ** 2 * norm.pdf(x - 1), -9, 9)[0]
    bar = 4 * np.sqrt((square - AUC**2) / 200 * (1 + 1 / runs))
    for end in ("low", "high"):
        for ours, printed in zip(cells(result, end), cells(result, f"{end} publ."), strict=True):
            assert ours == pytest.approx(printed, abs=bar)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_two_rows_of_the_tables(name, cells, monkeypatch):
    short = {name: published("claesen2015")[name][2::13]}
    monkeypatch.setattr("undercount_reproductions.claesen2015.published", lambda _: short)
    result = item(name, runs=2)
    assert len(result.rows) == 6
    in_agreement(result, 2, cells)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table1", "table2"])
def test_tables(name, cells):
    in_agreement(item(name, runs=10), 10, cells)
