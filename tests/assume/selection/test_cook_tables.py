"""Cook's tables with few runs; the slow suite repeats them with many."""

import numpy as np
import pytest

from undercount_reproductions.cook2016 import draw_areas

COLUMNS = ("random", "standard", "inferred", "portion")


def means(method, correlation, n_runs=100, **design):
    generator = np.random.default_rng(0)
    setting = {"method": method, "correlation": correlation, **design}
    runs = [draw_areas(setting, generator) for _ in range(n_runs)]
    return [np.mean([run[name] for run in runs]) for name in COLUMNS]


def test_table_2_with_few_runs():
    found = means("own-score", 0.7)
    # Standard deviations of the paper over √100, times 3.
    for value, expected, spread in zip(
        found, (0.830, 0.719, 0.830, 0.746), (0.018, 0.025, 0.027, 0.021), strict=True
    ):
        assert value == pytest.approx(expected, abs=0.3 * spread + 0.001)


def test_table_4_with_few_runs():
    design = {"score_correlation": 0.5, "selector_correlation": 0.7}
    _, standard, inferred, _ = means("observed-score", 0.5, **design)
    assert standard == pytest.approx(0.666, abs=0.009)
    assert inferred == pytest.approx(0.730, abs=0.007)


def test_the_direction_flipped_cell_of_table_4_stays_below_one_half():
    design = {"score_correlation": 0.5, "selector_correlation": 0.7}
    _, standard, inferred, _ = means("observed-score", 0.2, **design)
    assert standard == pytest.approx(1 - 0.533, abs=0.01)
    assert inferred == pytest.approx(0.590, abs=0.009)


def test_table_3_with_few_runs():
    design = {"score_weight": 1.0, "hidden_correlation": 0.0}
    _, standard, inferred, _ = means("unobserved", 0.5, 25, **design)
    assert standard == pytest.approx(0.698, abs=0.015)
    assert inferred == pytest.approx(0.730, abs=0.05)
