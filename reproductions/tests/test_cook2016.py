"""Cook: areas beside the published means, within what that many draws may stray."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from undercount_reproductions.catalogue import run_item
from undercount_reproductions.data import load

# Cells whose printed value turned the score's direction.
TURNED = {
    ("score_weight 1, hidden_correlation 0.7", 0.2, "standard"),
    ("score_correlation 0.5, selector_correlation 0.7", 0.2, "standard"),
}
# The paper's mean misses the truth, ½ + (2/π) asin(.7/√2) = .8296, by .024.
MISSED = ("score_weight 0, hidden_correlation 0.7", 0.7, "inferred")


def check_table(name, runs, slack):
    result = run_item("cook2016", name, runs=runs)
    for row in result.rows:
        cell = dict(zip(result.columns, row, strict=True))
        ours, printed, spread = cell["ours"], cell["published"], cell["published sd"]
        if row[:3] in TURNED:
            ours = 1 - ours
        if row[:3] == MISSED:
            printed = 0.8296
        # Four standard errors of the mean, rounding, and what is said of that table.
        assert ours == pytest.approx(printed, abs=4 * spread / np.sqrt(runs) + 0.001 + slack), row
    return result


def test_table_2_with_few_draws():
    assert len(check_table("table2", 40, 0).rows) == 12


def test_table_4_with_few_draws():
    assert len(check_table("table4", 15, 0).rows) == 24


def test_table_3_with_few_draws():
    # Inferred cells are judged to ±.02: the likelihood of eq. 15 is nearly flat.
    assert len(check_table("table3", 12, 0.02).rows) == 18


@pytest.mark.slow
@pytest.mark.parametrize(("name", "slack"), [("table2", 0), ("table3", 0.02), ("table4", 0)])
def test_tables(name, slack):
    check_table(name, 100, slack)


@pytest.mark.parametrize(
    ("name", "spreads"), [("figure1", (0.018, 0.025, 0.027)), ("figure2", (0.018, 0.011, 0.042))]
)
def test_one_draw_is_near_the_means_of_many(name, spreads, cells):
    result = run_item("cook2016", name)
    ours = cells(result, "our AUC, this draw")
    printed = cells(result, "published mean of many draws")
    for value, expected, spread in zip(ours, printed, spreads, strict=True):
        assert value == pytest.approx(expected, abs=4 * spread)


def test_wine_figures_on_a_stand_in(cells, small_data):
    """The forest is scikit-learn's on the first two thirds, and so is the area on all rows."""
    wine = load("wine_white_cook", small_data)
    forest = RandomForestClassifier(20, max_features=3, random_state=0)
    forest.fit(wine.features[:3233], wine.y[:3233])
    score, good = forest.predict_proba(wine.features[3233:])[:, 1], wine.y[3233:]
    third = run_item("cook2016", "figure3", runs=20, data_dir=small_data)
    centred = (score - score.mean()) / score.std()
    expected = [score.mean(), score.var(ddof=1), np.mean(centred**3)]
    assert cells(third, "ours") == pytest.approx(expected)
    fourth = run_item("cook2016", "figure4", runs=20, data_dir=small_data)
    assert cells(fourth, "ours", "AUC, all rows")[0] == pytest.approx(roc_auc_score(good, score))
    tasted = score >= np.median(score)
    standard = roc_auc_score(good[tasted], score[tasted])
    assert cells(fourth, "ours", "AUC, standard")[0] == pytest.approx(standard)


@pytest.mark.slow
def test_wine_figures(cells, real_data):
    folder = real_data("wine_white_cook")
    third = run_item("cook2016", "figure3", data_dir=folder)
    for name, bar in (("mean", 0.005), ("variance", 0.005), ("skew", 0.05)):
        ours, printed = (cells(third, column, name)[0] for column in ("ours", "published"))
        assert ours == pytest.approx(printed, abs=bar)
    fourth = run_item("cook2016", "figure4", data_dir=folder)
    # Only the best third tasted agrees; the bars are three spreads over six forests.
    for name, bar in (
        ("AUC, all rows", 0.01),
        ("best third: AUC, standard", 0.05),
        ("best third: AUC, inferred", 0.1),
        ("best third: ρ_ap", 0.24),
        ("best third: p*", 0.6),
    ):
        ours, printed = (cells(fourth, column, name)[0] for column in ("ours", "published"))
        assert ours == pytest.approx(printed, abs=bar)
