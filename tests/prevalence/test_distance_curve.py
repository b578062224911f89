import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc
from undercount.prevalence import DistCurve
from undercount.prevalence.distance_curve import (
    match_distances,
    matching_curve,
    ranked_curve,
    share_of_curve,
)

DATA = pathlib.Path(__file__).parents[1] / "data" / "prevalence"
UNTIED = ["gauss1_a30", "gauss2_a50", "gauss4_a30", "tiny_a50", "unif_a30"]


def counts_of(rng, share, distance, n_labelled=500, n_unlabeled=2000):
    n_hidden = round(share * n_unlabeled)
    score = np.concatenate(
        [rng.normal(distance, 1, n_labelled + n_hidden), rng.normal(0, 1, n_unlabeled - n_hidden)]
    )
    y = np.repeat([1, -1], [n_labelled, n_unlabeled])
    return uc.ScoreCounts.from_rows(y, score, unlabeled=-1)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_classes_that_do_not_overlap_give_the_truth(share):
    rng = np.random.default_rng(0)
    n_hidden = round(10_000 * share)
    score = np.concatenate(
        [rng.uniform(1, 2, 2000 + n_hidden), rng.uniform(0, 1, 10_000 - n_hidden)]
    )
    y = np.repeat([1, -1], [2000, 10_000])
    found = DistCurve(n_resamples=0, random_state=0).fit(y, score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(share, abs=0.02)


def test_error_on_fresh_normals_is_small():
    rng = np.random.default_rng(11)
    errors = [
        DistCurve(n_resamples=0, random_state=0)
        .fit(counts_of(rng, share, distance))
        .unlabeled_prevalence_
        - share
        for share in (0.1, 0.3, 0.5, 0.8)
        for distance in (2, 3, 4)
    ]
    assert np.mean(np.abs(errors)) < 0.08


def test_the_curve_of_separate_classes_jumps_at_the_share():
    # Evenly spread: the labelled reach the hidden positives, then only far negatives are left.
    score = np.concatenate([np.linspace(2, 3, 100), np.linspace(2, 3, 30), np.linspace(0, 1, 70)])
    y = np.repeat([1, -1], [100, 100])
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    curve = ranked_curve(counts, np.random.default_rng(0))
    assert curve.sum() == pytest.approx(1)
    assert curve[20] < 0.1 * curve[50]


def test_increasing_transform_changes_nothing(normals):
    moved = uc.ScoreCounts.from_counts(
        np.exp(normals.score), normals.positive, normals.negative, normals.unlabeled
    )
    first = DistCurve(n_resamples=4, random_state=2).fit(normals)
    second = DistCurve(n_resamples=4, random_state=2).fit(moved)
    assert first.unlabeled_prevalence_ == second.unlabeled_prevalence_
    assert first.interval_ == second.interval_
    assert first.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.06)


def test_many_rows_are_represented_by_few(normals):
    whole = ranked_curve(normals, np.random.default_rng(0), n_runs=20)
    part = ranked_curve(normals, np.random.default_rng(0), n_runs=20, max_rows=400)
    assert share_of_curve(part) == pytest.approx(share_of_curve(whole), abs=0.05)


def test_ties_are_spread():
    rng = np.random.default_rng(0)
    counts = counts_of(rng, 0.4, 4)
    coarse = uc.ScoreCounts.from_counts(
        np.round(counts.score, 1), counts.positive, counts.negative, counts.unlabeled
    )
    found = [
        DistCurve(n_resamples=0, random_state=0).fit(c).unlabeled_prevalence_
        for c in (counts, coarse)
    ]
    assert found[0] == pytest.approx(found[1], abs=0.04)


@pytest.mark.parametrize("share", [0, 1])
def test_no_or_only_hidden_positives(share):
    rng = np.random.default_rng(0)
    score = np.append(rng.normal(2, 1, 300), rng.normal(2 * share, 1, 2000))
    counts = uc.ScoreCounts.from_rows(np.repeat([1, -1], [300, 2000]), score, unlabeled=-1)
    curve = ranked_curve(counts, np.random.default_rng(0))
    assert share_of_curve(curve) == pytest.approx(share, abs=0.1)


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
    found = match_distances(labelled, unlabeled, draws)
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
