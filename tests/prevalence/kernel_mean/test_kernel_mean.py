import json
import pathlib

import numpy as np
import pytest

import undercount as uc
from undercount.estimate import Interval
from undercount.prevalence import KernelMean
from undercount.prevalence.kernel_mean.distance import HullDistance
from undercount.prevalence.kernel_mean.kernel_mean import (
    feature_kernel_means,
    point_kernel_means,
    rank_bins,
    score_kernel_means,
    search_cell,
    widen_by_steps,
)
from undercount.prevalence.kernel_mean.width import point_kernel, row_kernel

DATA = pathlib.Path(__file__).parents[2] / "data" / "prevalence"
EXPECTED = json.loads((DATA / "expected_features.json").read_text())
STEP = 7 / 256  # of the extrapolation, in the published bisection


def features(name):
    return np.load(DATA / f"features_{name}.npz")


def points(name):
    scores = np.load(DATA / f"scores_{name}.npz")
    labelled, unlabeled = scores["sp_bal"], scores["su_bal"]
    place, inverse = np.unique(np.concatenate([labelled, unlabeled]), return_inverse=True)
    first = inverse[: len(labelled)], inverse[len(labelled) :]
    return place, *(np.bincount(part, minlength=len(place)) for part in first)


def steps_off(found, expected):
    return (1 / (1 - found) - 1 / (1 - expected)) / STEP


def sample(n_labelled, n_unlabeled, share, distance, n_features, seed=0):
    rng = np.random.default_rng(seed)
    centre = np.full(n_features, distance / np.sqrt(n_features))
    hidden = np.arange(n_unlabeled) < share * n_unlabeled
    labelled = rng.normal(size=(n_labelled, n_features)) + centre
    return labelled, rng.normal(size=(n_unlabeled, n_features)) + hidden[:, None] * centre


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_scores_match_the_published_values(name):
    place, labelled, unlabeled = points(name)
    found = point_kernel_means(
        place, labelled, unlabeled, n_labelled=labelled.sum(), n_unlabeled=unlabeled.sum()
    )
    km1, km2 = EXPECTED[name]["KM1_KM2_scores_bal"]
    assert found.km1 == pytest.approx(km1, abs=1e-9)
    assert found.km2 == pytest.approx(km2, abs=1e-9)
    assert found.width == pytest.approx(float(features(name)["scores_width"]), rel=2e-5)


@pytest.mark.parametrize("name", ["tiny_a50", "unif_a30", "gauss4_a30", "gauss2_ties_a40"])
def test_features_match_the_published_values(name):
    data = features(name)
    found = feature_kernel_means(data["labelled"], data["unlabeled"])
    km1, km2 = EXPECTED[name]["KM1_KM2_features"]
    assert found.km1 == pytest.approx(km1, abs=1e-9)
    assert found.km2 == pytest.approx(km2, abs=1e-9)
    assert found.width == pytest.approx(float(data["features_width"]), rel=1e-9)


def test_features_differ_from_a_looser_solver_by_one_step():
    # Here the slope passes the threshold within the published solver's tolerance of a step.
    data = features("gauss2_a50")
    found = feature_kernel_means(data["labelled"], data["unlabeled"])
    km1, km2 = EXPECTED["gauss2_a50"]["KM1_KM2_features"]
    assert abs(steps_off(found.km1, km1)) < 1.01
    assert abs(steps_off(found.km2, km2)) < 1.01


@pytest.mark.parametrize(("name", "first"), [("tiny_a50", 0), ("gauss4_a30", 4)])
def test_distances_match_an_interior_point_solver(name, first):
    data = features(name)
    rows = np.concatenate([data["unlabeled"], data["labelled"]])
    is_labelled = np.arange(len(rows)) >= len(data["unlabeled"])
    shares = is_labelled / is_labelled.sum(), ~is_labelled / (~is_labelled).sum()
    distance = HullDistance(row_kernel(rows, *shares).matrix, *shares)
    for extrapolation, expected in zip(
        data["extrapolation"][first:], data["features_distance"][first:], strict=True
    ):
        assert distance(extrapolation) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("n_features", [1, 40])
def test_both_solvers_agree(n_features):
    labelled, unlabeled = sample(60, 140, 0.3, 3, n_features)
    rows = np.concatenate([unlabeled, labelled])
    shares = np.repeat([0, 1 / 60], [140, 60]), np.repeat([1 / 140, 0], [140, 60])
    kernel = row_kernel(rows, *shares).matrix
    active, pairs = HullDistance(kernel, *shares), HullDistance(kernel, *shares)
    pairs._crowded = np.inf  # never the active set
    for extrapolation in (1.5, 2.0, 4.0):
        assert pairs(extrapolation) == pytest.approx(active(extrapolation), rel=0.02)


def test_weighted_points_equal_repeated_rows():
    rng = np.random.default_rng(0)
    labelled, unlabeled = rng.integers(0, 12, 40), np.append(rng.integers(6, 30, 60), [11] * 20)
    place = np.arange(30.0)
    weighted = point_kernel_means(
        place,
        np.bincount(labelled, minlength=30),
        np.bincount(unlabeled, minlength=30),
        n_labelled=40,
        n_unlabeled=80,
    )
    rows = feature_kernel_means(labelled[:, None] + 0.0, unlabeled[:, None] + 0.0)
    assert weighted.width == pytest.approx(rows.width, rel=1e-6)
    assert (weighted.km1, weighted.km2) == pytest.approx((rows.km1, rows.km2), abs=1e-9)


def test_median_distance_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    place, weight = np.sort(rng.random(9)), np.array([3, 1, 4, 1, 5, 9, 2, 6, 4])
    rows = np.repeat(place, weight)
    share = np.full(9, 1 / 9)
    pairs = np.abs(rows[:, None] - rows)
    found = point_kernel(place, share, np.linspace(0.2, 0, 9) / 0.9, weight.astype(float)).width
    ratio = found / np.median(pairs)
    assert np.log10(ratio) * 2 == pytest.approx(round(np.log10(ratio) * 2), abs=1e-6)


@pytest.mark.parametrize("variant", ["KM1", "KM2"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_classes_that_do_not_overlap_give_the_truth(variant, share):
    rng = np.random.default_rng(0)
    n_hidden = round(10_000 * share)
    score = np.concatenate(
        [rng.uniform(1, 2, 2000 + n_hidden), rng.uniform(0, 1, 10_000 - n_hidden)]
    )
    y = np.repeat([1, -1], [2000, 10_000])
    found = KernelMean(variant, n_resamples=0).fit(y, score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(share, abs=0.02)


def test_features_that_do_not_overlap_give_the_truth():
    labelled, unlabeled = sample(400, 1600, 0.3, 40, 3)
    X = np.concatenate([labelled, unlabeled])
    y = np.repeat([1.0, np.nan], [400, 1600])
    assert KernelMean().fit(y, X).unlabeled_prevalence_ == pytest.approx(0.3, abs=0.02)


def test_increasing_transform_and_counts_change_nothing(normals):
    plain = KernelMean(n_resamples=5, random_state=1).fit(normals)
    moved = uc.ScoreCounts.from_counts(
        np.exp(normals.score), normals.positive, normals.negative, normals.unlabeled
    )
    again = KernelMean(n_resamples=5, random_state=1).fit(moved)
    assert again.unlabeled_prevalence_ == plain.unlabeled_prevalence_
    assert again.interval_ == plain.interval_
    assert plain.interval_.low < plain.unlabeled_prevalence_ < plain.interval_.high
    assert plain.diagnostics_["km1"] == plain.unlabeled_prevalence_


def test_bins_hold_all_shares(normals):
    centre, labelled, unlabeled = rank_bins(normals, 64)
    assert labelled.sum() == pytest.approx(1)
    assert unlabeled.sum() == pytest.approx(1)
    assert np.all(np.diff(centre) >= 1 / 64 - 1e-12)


def test_most_rows_at_one_score():
    counts = uc.ScoreCounts.from_counts([3.0, 2.0, 1.0], [70, 30, 0], [0, 0, 0], [175, 75, 750])
    found = score_kernel_means(counts)
    assert found.km1 == pytest.approx(0.25, abs=0.02)


def test_features_are_sampled_down_and_seeded():
    labelled, unlabeled = sample(200, 800, 0.3, 4, 2)
    X, y = np.concatenate([labelled, unlabeled]), np.repeat([1.0, np.nan], [200, 800])
    first, again = (KernelMean(max_rows=300, random_state=7).fit(y, X) for _ in range(2))
    assert first.diagnostics_["n_rows"] == 300
    assert first.unlabeled_prevalence_ == again.unlabeled_prevalence_
    assert first.interval_ is None


def test_single_precision_beyond_the_memory_limit(monkeypatch):
    labelled, unlabeled = sample(100, 300, 0.3, 3, 30)
    double = feature_kernel_means(labelled, unlabeled)
    monkeypatch.setattr("undercount.prevalence.kernel_mean.width.DOUBLE_ROWS", 100)
    single = feature_kernel_means(labelled, unlabeled)
    assert abs(steps_off(single.km1, double.km1)) < 1.01
    rows = np.concatenate([unlabeled, labelled])
    kernel = row_kernel(rows, np.full(400, 1 / 400), np.full(400, 1 / 400))
    assert kernel.matrix.dtype == np.float32


def test_wrong_arguments():
    with pytest.raises(uc.InputError, match="variant"):
        KernelMean("KM3").fit([1, -1], [0.1, 0.2], unlabeled=-1)
    with pytest.raises(uc.InputError, match="sample_weight"):
        KernelMean().fit([1, -1], np.eye(2), unlabeled=-1, sample_weight=[1, 1])
    with pytest.raises(uc.InputError, match="at least 10"):
        KernelMean().fit([1, -1], np.eye(2), unlabeled=-1)


def test_no_hidden_positives():
    rng = np.random.default_rng(0)
    score, y = (
        np.append(rng.normal(2, 1, 300), rng.normal(0, 1, 2000)),
        np.repeat([1, -1], [300, 2000]),
    )
    assert KernelMean(n_resamples=0).fit(y, score, unlabeled=-1).unlabeled_prevalence_ < 0.02


def test_samples_that_are_alike_are_reported():
    rng = np.random.default_rng(0)
    y, X = np.repeat([1, -1], [50, 150]), rng.normal(size=(200, 2))
    with pytest.warns(uc.MisfitWarning, match="do not tell"):
        KernelMean(n_resamples=0).fit(y, X[:, 0], unlabeled=-1)
    with pytest.warns(uc.MisfitWarning, match="hardly told apart"):
        found = KernelMean().fit(y, X, unlabeled=-1)
    assert found.diagnostics_["separation"] < 1.3


def test_separation_counts_noise():
    rng = np.random.default_rng(1)
    alike = [
        feature_kernel_means(rng.normal(size=(30, 2)), rng.normal(size=(45, 2))).separation
        for _ in range(20)
    ]
    assert np.mean(alike) == pytest.approx(1, abs=0.15)


def test_constant_features_are_refused():
    with pytest.raises(uc.InputError, match="vary"):
        KernelMean().fit(np.repeat([1, -1], [20, 20]), np.zeros((40, 2)), unlabeled=-1)


def searched(crossing):
    """The published bisection of [1, 8] for a crossing: where it stops."""
    low, high = 1.0, 8.0
    while high - low > 0.04:
        middle = (low + high) / 2
        low, high = (middle, high) if middle < crossing else (low, middle)
    return low, high


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.05, 0.3, 0.5, 0.8, 0.874, 0.95])
def test_an_answer_stands_for_the_cell_of_the_search(share):
    low, high = searched(1 / (1 - share))
    found = search_cell(1 - 2 / (low + high))
    assert found.low == pytest.approx(1 - 1 / low, abs=1e-9)
    assert found.high == pytest.approx(1.0 if high == 8 else 1 - 1 / high)
    assert found.low - 1e-9 <= share <= found.high + 1e-9


def test_an_interval_holds_the_steps_of_the_search():
    answer = 1 - 2 / (2 + 7 / 256)  # the lowest one
    assert widen_by_steps(answer, None, 0.1) == (None, 0.1)
    interval, error = widen_by_steps(answer, Interval(answer, answer), 0.0)
    assert interval.low == pytest.approx(0, abs=1e-12)
    assert interval.high == pytest.approx(1 - 256 / 263)
    assert error == pytest.approx((1 - 256 / 263) / np.sqrt(12))
    # Resamples that all lie above the estimate, which has one value for 0.497 to 0.504.
    interval, _ = widen_by_steps(0.5, Interval(0.6, 0.7), 0.01)
    assert interval.low == pytest.approx(1 - 1 / (2 - 3.5 / 256))
    assert interval.high == pytest.approx(1 - 1 / (10 / 3 + 3.5 / 256))


def test_small_shares_have_no_interval_without_width():
    # 2 % of the unlabeled rows are positive; between 0 and 2.7 % there is one answer only.
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, np.nan], [200, 4000])
    score = rng.normal(np.where(np.arange(4200) < 280, 2.5, 0))
    with pytest.warns(uc.MisfitWarning, match=r"1\.3% is the lowest answer.*from 0 to 2\.7%"):
        found = KernelMean(n_resamples=5, random_state=0).fit(y, score)
    assert found.interval_.low < 0.001
    assert 0.02 in found.interval_
    assert found.standard_error_ > 0.007
    KernelMean(n_resamples=0).fit(y, score)  # without an interval there is nothing to warn of
