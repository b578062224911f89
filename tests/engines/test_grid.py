"""Binned counts: the bound holds, it is small, and cells are what they say."""

import itertools

import numpy as np
import polars as pl
import pytest

import undercount.count.frames
from undercount.count.counts_file import align_counts
from undercount.count.frames import count_scores
from undercount.count.kernel.table import ScoreRanges
from undercount.counts import ScoreCounts
from undercount.errors import CompactCountsWarning, InputError

PAIRS = (("positive", "unlabeled"), ("positive", "negative"), ("unlabeled", "negative"))


def draw(rng, size):
    """Draw scores of a random shape."""
    shape = rng.choice(["crowded", "ties", "bimodal", "heavy", "saturated", "sorted"])
    normal = rng.normal(size=size)
    score = {
        "crowded": 1 / (1 + np.exp(15 - rng.uniform(1, 8) * normal)),
        "ties": np.where(rng.random(size) < 0.5, np.round(normal, 1), normal),
        "bimodal": rng.choice([0.0, 1.0], size) + 10.0 ** rng.integers(-12, 0) * normal,
        "heavy": rng.standard_cauchy(size),
        "saturated": 1 / (1 + np.exp(-8 - 8 * normal)),
        "sorted": np.sort(normal),
    }[shape]
    chance = rng.uniform(0.01, 0.3)
    rank = np.argsort(np.argsort(score)) / size
    y = np.where(rng.random(size) < 2 * chance * rank, 1.0, np.nan)
    return np.where(np.isnan(y) & (rng.random(size) < chance), 0.0, y), score


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_holds(seed, auc):
    check_bound(seed, auc, 3000)


@pytest.mark.slow
def test_the_bound_holds_in_a_thousand_data_sets(auc):
    for seed in range(1000):
        check_bound(100 + seed, auc, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_the_bound_is_small_whatever_the_shape(seed, auc):
    counts = check_bound(seed, auc, 300_000, bins=2**16)
    assert counts.auc_error <= 1e-5


def check_bound(seed, auc, size, bins=None):
    rng = np.random.default_rng(seed)
    y, score = draw(rng, size)
    exact = ScoreCounts.from_rows(y, score)
    bins = bins or int(rng.choice([16, 256]))
    frame = pl.DataFrame({"y": y, "s": score}).lazy()
    counts = count_scores(frame, label="y", score="s", bins=bins)
    assert len(counts.score) <= bins
    for name in ("n_positive", "n_negative", "n_unlabeled"):
        assert getattr(counts, name) == getattr(exact, name)
    for one, other in PAIRS:
        assert abs(auc(counts, one, other) - auc(exact, one, other)) <= counts.auc_error + 1e-12
    assert counts.auc_error <= 1 / bins
    # Heads at the scores of the table are exact.
    for cell in range(0, len(counts.score), 1 + len(counts.score) // 9):
        above = exact.score >= counts.score[cell]
        assert counts.positive[: cell + 1].sum() == exact.positive[above].sum()
        assert counts.unlabeled[: cell + 1].sum() == exact.unlabeled[above].sum()
    return counts


def test_a_small_bound_with_many_bins():
    rng = np.random.default_rng(8)
    y, score = draw(rng, 200_000)
    frame = pl.DataFrame({"y": y, "s": score}).lazy()
    assert count_scores(frame, label="y", score="s", bins=2**16).auc_error <= 1e-5


def test_few_scores_stay_exact(lazy_constructor, columns):
    counts = count_scores(lazy_constructor(columns), label="y", score="s", bins=64)
    exact = ScoreCounts.from_rows(columns["y"], columns["s"])
    np.testing.assert_array_equal(counts.score, exact.score)
    np.testing.assert_array_equal(counts.unlabeled, exact.unlabeled)
    assert counts.auc_error == 0.0


def test_engines_agree_within_the_bound(constructor, columns, auc):
    exact = ScoreCounts.from_rows(columns["y"], columns["t"])
    counts = count_scores(constructor(columns), label="y", score="t", bins=32)
    assert len(counts.score) <= 32
    for one, other in PAIRS:
        assert abs(auc(counts, one, other) - auc(exact, one, other)) <= counts.auc_error


def test_weights_and_groups(lazy_constructor, columns, auc):
    found = count_scores(
        lazy_constructor(columns), label="y", score="t", weight="w", by="g", bins=20
    )
    for key, counts in found.items():
        mine = columns["g"] == key
        exact = ScoreCounts.from_rows(
            columns["y"][mine], columns["t"][mine], sample_weight=columns["w"][mine]
        )
        assert counts.squared_weight == exact.squared_weight
        difference = auc(counts, "positive", "unlabeled") - auc(exact, "positive", "unlabeled")
        assert abs(difference) <= counts.auc_error


def scans(frame, seen):
    """Let a polars frame note how many rows each pass over it reads."""

    def look(batch):
        seen[0] += len(batch)
        return batch

    return frame.lazy().map_batches(look, streamable=True)


def several(size=60_000, n_scores=3):
    rng = np.random.default_rng(11)
    y, score = draw(rng, size)
    columns = {"y": y, "s0": score}
    for place in range(1, n_scores):
        columns[f"s{place}"] = np.exp(rng.normal(score, 1.0)) if place % 2 else -score
    return columns


def test_several_scores_are_binned_in_three_scans(auc):
    columns, seen = several(), [0]
    names = ["s0", "s1", "s2"]
    frame = scans(pl.DataFrame(columns), seen)
    found = count_scores(frame, label="y", score=names, bins=4096)
    size = len(columns["y"])
    assert seen[0] <= 4 * size  # three scans, and one for the first rows, which are all here
    for name in names:
        exact = ScoreCounts.from_rows(columns["y"], columns[name])
        counts = found[name]
        assert len(counts.score) <= 4096
        assert counts.n_rows == exact.n_rows
        assert counts.auc_error <= 1 / 4096
        for one, other in PAIRS:
            assert abs(auc(counts, one, other) - auc(exact, one, other)) <= counts.auc_error + 1e-12
        above = exact.score >= counts.score[99]
        assert counts.unlabeled[:100].sum() == exact.unlabeled[above].sum()


def test_several_binned_scores_with_groups_and_weights(lazy_constructor, columns, auc):
    found = count_scores(
        lazy_constructor(columns), label="y", score=["t", "s"], by="g", weight="w", bins=20
    )
    for name, key in itertools.product(("t", "s"), ("north", "south")):
        mine = columns["g"] == key
        y, score, weight = (columns[part][mine] for part in ("y", name, "w"))
        exact = ScoreCounts.from_rows(y, score, sample_weight=weight)
        counts = found[name][key]
        assert counts.squared_weight == exact.squared_weight
        difference = auc(counts, "positive", "unlabeled") - auc(exact, "positive", "unlabeled")
        assert abs(difference) <= counts.auc_error + 1e-12


def test_a_missing_score_of_several_names_its_column(lazy_constructor, columns):
    held = {**columns, "u": np.where(columns["h"] == 1, np.nan, columns["t"])}
    with pytest.raises(InputError, match="NaN in column 'u'"):
        count_scores(lazy_constructor(held), label="y", score=["t", "u"], bins=8)


def test_many_distinct_scores_are_binned_by_themselves(monkeypatch):
    monkeypatch.setattr(undercount.count.frames, "EXACT_LIMIT", 100)
    monkeypatch.setattr(undercount.count.frames, "CONTINUITY_PROBE_ROWS", 64)
    monkeypatch.setattr(undercount.count.frames, "DEFAULT_BINS", 50)
    frame = pl.DataFrame({"y": [1, 0] * 200, "s": np.linspace(0, 1, 400)}).lazy()
    with pytest.warns(CompactCountsWarning, match="merged into"):
        counts = count_scores(frame, label="y", score="s")
    assert len(counts.score) <= 50


@pytest.mark.parametrize("bad", [("s", np.nan, "got 1 NaN"), ("y", 4.0, "unlabeled=4")])
def test_bad_rows_are_refused(bad, columns):
    name, value, words = bad
    held = {key: values.copy() for key, values in columns.items()}
    held[name][17] = value
    with pytest.raises(InputError, match=words):
        count_scores(pl.DataFrame(held).lazy(), label="y", score="s", bins=8)


def test_ends_that_are_nearly_one_score(lazy_constructor):
    # A bin from 0 to the least number above it has no finite step.
    score = np.array([0.0, 5e-324, 1e300, -1.5, np.inf, -np.inf, 0.5, 0.0, -2e-158])
    y = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, np.nan, np.nan, 1.0])
    counts = count_scores(lazy_constructor({"y": y, "s": score}), label="y", score="s", bins=1000)
    exact = ScoreCounts.from_rows(y, score)
    np.testing.assert_array_equal(counts.score, exact.score)
    np.testing.assert_array_equal(counts.positive, exact.positive)


@pytest.mark.parametrize("largest", [1e308, np.finfo(np.float64).max])
@pytest.mark.parametrize("smallest", [-1e308, 0.5])
def test_extreme_scores(largest, smallest):
    score = np.array([np.inf, -np.inf, largest, smallest, 0.0, 1.0])
    frame = pl.DataFrame({"y": [1.0, 0.0] * 3, "s": score}).lazy()
    counts = count_scores(frame, label="y", score="s", bins=100)
    assert counts.n_rows == 6
    assert counts.score[0] > counts.score[-1] or len(counts.score) == 1


def test_overlapping_ranges_become_one_cell():
    ranges = ScoreRanges(np.array([0.0, 2.0, 5.0]), np.array([3.0, 4.0, 5.0]), np.eye(3))
    table = ranges.table()
    np.testing.assert_array_equal(table.score, [5, 0])
    np.testing.assert_array_equal(table.classes, [[0, 1], [0, 1], [1, 0]])
    np.testing.assert_array_equal(table.merged, [False, True])


def test_alignment():
    counts = ScoreCounts.from_counts([3, 2, 1, 0], [1, 0, 2, 0], [0, 0, 0, 1], [0, 4, 0, 1])
    aligned = align_counts(counts, [1.5, 0.5])
    np.testing.assert_array_equal(aligned.score, [1.5, 0.5, -np.inf])
    np.testing.assert_array_equal(aligned.positive, [1, 2, 0])
    np.testing.assert_array_equal(aligned.unlabeled, [4, 0, 1])
    assert aligned.merged.all()
    with pytest.raises(InputError, match="over an edge"):
        align_counts(counts.coarsened(2), [2.5])


def test_compact_counts_with_the_edges_as_knots_align(lazy_constructor, columns):
    edges = [0.2, 0.5, 0.501, 0.9]
    exact = ScoreCounts.from_rows(columns["y"], columns["t"])
    compact = count_scores(
        lazy_constructor(columns), label="y", score="t", compact=True, knots=edges
    )
    found, expected = align_counts(compact, edges), align_counts(exact, edges)
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
