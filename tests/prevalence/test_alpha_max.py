import numpy as np
import pytest
from scipy.optimize import minimize

import undercount as uc
from undercount.prevalence import AlphaMax
from undercount.prevalence.alpha_max import (
    SHARE_GRID,
    likelihood_curve,
    likelihood_elbow,
    round_width,
)


def test_published_curve_and_value(published):
    found = AlphaMax(scale="score", n_resamples=0).fit(published.counts)
    assert found.diagnostics_["log_likelihood"] == pytest.approx(published.likelihood, abs=1e-7)
    assert found.unlabeled_prevalence_ == pytest.approx(published.values["AlphaMax_port"])


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # the peer's, in SciPy 1.12
def test_curve_is_the_constrained_maximum():
    component, mixture, share = np.array([0.1, 0.3, 0.6]), np.array([0.5, 0.3, 0.2]), 0.4

    def loss(b):
        return -(component @ np.log(b / share) + mixture @ np.log(mixture - b + share * component))

    best = minimize(
        loss,
        share * mixture,
        bounds=[(1e-9, w) for w in mixture],
        constraints={"type": "eq", "fun": lambda b: b.sum() - share},
        options={"ftol": 1e-14},
    )
    curve = likelihood_curve(component, mixture, 1.0)
    assert SHARE_GRID[39] == share
    assert curve[39] == pytest.approx(-best.fun, abs=1e-9)


@pytest.mark.parametrize(
    ("width", "expected"),
    [(0.0767, 0.1), (0.0665, 0.05), (0.26, 0.3), (1.4, 1.0), (2.0, 2.0), (74.0, 50.0)],
)
def test_widths_are_rounded_as_matlab_does(width, expected):
    assert round_width(width) == pytest.approx(expected)


@pytest.mark.parametrize("bend", [0.2, 0.5, 0.75])
def test_elbow_of_a_broken_line(bend):
    curve = -np.maximum(0, SHARE_GRID - bend)
    assert likelihood_elbow(SHARE_GRID, curve) == pytest.approx(bend, abs=0.02)


def test_flat_curve_gives_one_and_concave_loss_the_smallest_share():
    assert likelihood_elbow(SHARE_GRID, np.zeros(99)) == 1.0
    assert likelihood_elbow(SHARE_GRID, -np.sqrt(SHARE_GRID)) == SHARE_GRID[0]


def test_no_hidden_positives():
    score = np.concatenate([1 + np.arange(200) / 200, np.arange(1000) / 1000])
    with pytest.warns(uc.MisfitWarning, match="trained on these rows"):
        found = AlphaMax(n_resamples=0).fit(np.repeat([1, -1], [200, 1000]), score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(0.01)
    assert found.diagnostics_["at_edge"]


@pytest.mark.parametrize("scale", ["rank", "score"])
def test_single_labelled_row(scale):
    # fit asks for ten, but a resample, or a run with the roles swapped, may hold one.
    counts = uc.ScoreCounts.from_rows([1, *[-1] * 30], [15.5, *range(30)], unlabeled=-1)
    found = AlphaMax(scale=scale)._estimate(counts).value
    # Nothing speaks against its being like all of them.
    assert found == 1


def test_labelled_rows_at_one_score():
    y = np.repeat([1, -1], [50, 100])
    score = np.concatenate([np.ones(50), np.ones(30), np.zeros(70)])
    found = AlphaMax(scale="score", n_resamples=0).fit(y, score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.03)
