import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercount.prevalence.distance_curve import matched_distances, matching_curve

DATA = pathlib.Path(__file__).parents[1] / "data" / "prevalence"
UNTIED = ["gauss1_a30", "gauss2_a50", "gauss4_a30", "tiny_a50", "unif_a30"]


def by_hand(labelled, unlabeled, draws):
    left, found = sorted(unlabeled), []
    for draw in draws:
        nearest = min(left, key=lambda place: (abs(place - labelled[draw]), place))
        left.remove(nearest)
        found.append(abs(nearest - labelled[draw]))
    return found


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.integers(0, 1000),
)
def test_every_draw_takes_the_nearest_free_point(labelled, unlabeled, seed):
    labelled, unlabeled = np.array(labelled, float), np.sort(np.array(unlabeled, float))
    draws = np.random.default_rng(seed).integers(len(labelled), size=len(unlabeled))
    found = matched_distances(labelled, unlabeled, draws)
    assert found.tolist() == by_hand(labelled, unlabeled, draws)


@pytest.mark.parametrize("name", UNTIED)
def test_curve_matches_the_published_one(name):
    scores = np.load(DATA / f"scores_{name}.npz")
    labelled, unlabeled = scores["sp"], scores["su"]
    rng = np.random.RandomState(0)
    draws = rng.randint(0, len(labelled), (10, len(unlabeled)))
    expected = np.load(DATA / f"features_{name}.npz")["matching_curve"]
    assert matching_curve(labelled, unlabeled, draws) == pytest.approx(expected, abs=1e-12)


def test_all_equal_gives_a_flat_zero():
    curve = matching_curve(np.ones(3), np.ones(4), np.zeros((2, 4), int))
    assert not curve.any()
