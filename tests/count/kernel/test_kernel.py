"""The counting kernel against counting in a dictionary, on every path and shape of scores."""

from collections import defaultdict
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc
from undercount.count.kernel import buckets, packed, rows
from undercount.count.kernel.table import add_up

SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "signed": lambda rng, n: rng.standard_normal(n),
    "saturated": lambda rng, n: np.clip(rng.normal(0.5, 0.6, n), 0, 1),
    "outliers": lambda rng, n: rng.standard_normal(n) * np.where(rng.random(n) < 0.1, 1e6, 1),
    "crowded near 0": lambda rng, n: 1 / (1 + np.exp(15 - 5 * rng.standard_normal(n))),
    "crowded at both ends": lambda rng, n: 1 / (1 + np.exp(-12 * rng.standard_normal(n))),
    "heavy ties": lambda rng, n: rng.integers(0, 4, n) / 4,
    "integers": lambda rng, n: rng.integers(-20, 20, n).astype(float),
    "infinite": lambda rng, n: rng.choice([-np.inf, -2.5, 0.0, 2.5, np.inf], n),
    "signed zeros": lambda rng, n: rng.choice([-0.0, 0.0, 1.0, -1.0], n),
    "extremes": lambda rng, n: rng.choice([-3e38, 3e38, 1e-45, -1e-45, 1e-30, 0.0, 2.0], n),
    "constant": lambda _, n: np.full(n, 0.25),
}

# Constants that force small data through the path meant for large data.
PATHS = {
    "as it comes": {},
    "packed keys": {"rows.FEW_ROWS_TO_PACK": 0, "rows.MANY_LABELLED": -1.0},
    "packed keys by digits": {
        "rows.FEW_ROWS_TO_PACK": 0,
        "rows.MANY_LABELLED": -1.0,
        "packed.FEW_KEYS": 0,
        "packed.KEYS_PER_BLOCK": 16,
    },
    "packed keys in chunks": {
        "rows.FEW_ROWS_TO_PACK": 0,
        "rows.MANY_LABELLED": -1.0,
        "packed.KEYS_PER_CHUNK": 5,
    },
    "buckets": {
        "rows.MANY_LABELLED": 2.0,
        "buckets.FEW_ROWS_TO_BUCKET": 0,
        "buckets.MAP_SAMPLE": 1,
        "buckets.CHUNK": 11,
        "buckets.BUCKET_BITS": (3, 7),
    },
    "ranges of buckets": {
        "rows.MANY_LABELLED": 2.0,
        "buckets.FEW_ROWS_TO_BUCKET": 0,
        "buckets.MAP_SAMPLE": 1,
        "buckets.CHUNK": 11,
        "buckets.BUCKET_BITS": (3, 7),
        "buckets.MANY_BORDERS": 0,
        "buckets.MANY_BUCKETED_ROWS": 0,
        "buckets.RANGE_BITS": 2,
    },
    "one bucket": {
        "rows.MANY_LABELLED": 2.0,
        "buckets.FEW_ROWS_TO_BUCKET": 0,
        "buckets.MAP_SAMPLE": 1,
        "buckets.BUCKET_BITS": (1, 1),
    },
    "hashing": {
        "rows.FEW_ROWS_TO_TIE": 0,
        "rows.CHUNK": 11,
        "rows.RARE_SINGLETONS": 2.0,
        "rows.TIE_SAMPLE": 9,
        "rows.LEAST_HASH_BITS": 2,
    },
}


@contextmanager
def forced(path):
    modules = {"rows": rows, "buckets": buckets, "packed": packed}
    patches = []
    for name, value in PATHS[path].items():
        module, constant = name.split(".")
        patches.append(patch.object(modules[module], constant, value))
        patches[-1].start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


@st.composite
def random_rows(draw):
    n = draw(st.integers(1, 90))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.sampled_from(sorted(SHAPES)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    score = np.ascontiguousarray(SHAPES[shape](rng, n), dtype)
    share = draw(st.sampled_from([0.0, 0.03, 0.3, 1.0]))
    label = np.where(rng.random(n) < share, rng.integers(0, 2, n), -1).astype(np.int8)
    # Quarters, so that sums are exact whatever their order; some rows weigh nothing.
    weight = rng.integers(0, 9, n) / 4 if draw(st.booleans()) else None
    knots = rng.choice(np.append(score.astype(float), [0.3, -1.0, 0.0, np.inf, 1e300]), 3)
    return score, label, weight, knots[: draw(st.integers(0, 3))]


def counted(score, label, weight=None):
    """Every distinct score with its positive, negative and unlabeled weight."""
    cells = defaultdict(lambda: [0.0, 0.0, 0.0])
    weights = [1.0] * len(score) if weight is None else weight.tolist()
    for value, code, share in zip(score.tolist(), label.tolist(), weights, strict=True):
        if share:
            cells[value + 0.0][{1: 0, 0: 1, -1: 2}[code]] += share
    return [(value, *sums) for value, sums in sorted(cells.items(), reverse=True)]


def merged_cells(cells, knots):
    """Merge neighbours without a labelled row that no knot separates; the lowest score stays."""
    result = []
    for value, positive, negative, unlabeled in cells:
        bare = positive == negative == 0
        if result and bare and result[-1]["bare"]:
            above = result[-1]
            if not any(value < knot <= above["score"] for knot in knots):
                above.update(score=value, several=True, unlabeled=above["unlabeled"] + unlabeled)
                continue
        sums = {"positive": positive, "negative": negative, "unlabeled": unlabeled}
        result.append({"score": value, "bare": bare, "several": False, **sums})
    return result


def column(cells, name):
    return [cell[name] for cell in cells]


@pytest.mark.parametrize("path", sorted(PATHS))
@settings(deadline=None, max_examples=40)
@given(data=random_rows())
def test_full_table_equals_counting_in_a_dictionary(path, data):
    score, label, weight, _ = data
    with forced(path):
        table = rows.full_table(score, label, weight)
    expected = counted(score, label, weight)
    got = zip(table.score, table.positive, table.negative, table.unlabeled, strict=True)
    assert list(got) == expected
    assert not table.merged.any()
    assert not np.signbit(table.score[table.score == 0]).any()


@pytest.mark.parametrize("path", sorted(PATHS))
@settings(deadline=None, max_examples=50)
@given(data=random_rows())
def test_compact_table_equals_merged_neighbours(path, data):
    score, label, weight, knots = data
    with forced(path):
        table = rows.compact_table(score, label, weight, knots)
    expected = merged_cells(counted(score, label, weight), knots)
    for name in ("score", "positive", "negative", "unlabeled"):
        assert getattr(table, name).tolist() == column(expected, name), name
        assert getattr(table, name).dtype == np.float64
    assert not np.signbit(table.score[table.score == 0]).any()
    # A cell is marked if it holds several scores; ties may be marked too, labelled cells never.
    several, bare = column(expected, "several"), column(expected, "bare")
    assert np.all(table.merged >= several)
    assert np.all(table.merged <= bare)


@settings(deadline=None, max_examples=50)
@given(data=random_rows(), path=st.sampled_from(sorted(PATHS)))
def test_heads_are_exact_at_every_cell_and_knot(data, path):
    score, label, weight, knots = data
    weights = np.ones(score.size) if weight is None else weight
    with forced(path):
        table = rows.compact_table(score, label, weight, knots)
    for threshold in (*table.score, *knots):
        for code, name in ((1, "positive"), (0, "negative"), (-1, "unlabeled")):
            head = getattr(table, name)[table.score >= threshold].sum()
            # As float64: a float32 score is compared with the threshold itself, not its rounding.
            chosen = (score.astype(np.float64) >= threshold) & (label == code)
            assert head == weights[chosen].sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("share", [0.01, 0.3])
def test_large_tables_equal_those_of_unique(shape, dtype, share):
    rng = np.random.default_rng(7)
    score = SHAPES[shape](rng, 70_000).astype(dtype)
    label = np.where(rng.random(70_000) < share, rng.integers(0, 2, 70_000), -1).astype(np.int8)
    value, place = np.unique(score + dtype(0), return_inverse=True)
    sums = [np.bincount(place[label == code], minlength=value.size) for code in (1, 0, -1)]
    full = rows.full_table(score, label)
    assert np.array_equal(full.score, value[::-1].astype(np.float64))
    for got, expected in zip(full[1:4], sums, strict=True):
        assert np.array_equal(got, expected[::-1])
    cells = list(zip(full.score, *(s[::-1] for s in sums), strict=True))
    expected = merged_cells([tuple(map(float, cell)) for cell in cells], [0.5])
    compact = rows.compact_table(score, label, knots=[0.5])
    for name in ("score", "positive", "negative", "unlabeled"):
        assert getattr(compact, name).tolist() == column(expected, name), name


def test_single_rare_label_leaves_three_cells():
    score = np.linspace(0, 1, 100_001)
    label = np.full(score.size, -1, np.int8)
    label[60_000] = 1
    table = rows.compact_table(score, label)
    assert table.score.tolist() == [score[60_001], score[60_000], 0.0]
    assert table.unlabeled.tolist() == [40_000, 0, 60_000]
    assert table.positive.tolist() == [0, 1, 0]
    assert table.merged.tolist() == [True, False, True]


@pytest.mark.parametrize("path", sorted(PATHS))
@pytest.mark.parametrize(
    ("knot", "cells"),
    [
        (0.3, [float(np.float32(0.3)), 0.25]),  # 0.3 in float32 lies above 0.3
        (0.7, [0.75, 0.25]),  # and 0.7 below 0.7
    ],
)
def test_float32_scores_are_separated_by_the_knot_itself(path, knot, cells):
    score = np.array([0.25, knot, 0.75], np.float32)
    with forced(path):
        table = rows.compact_table(score, np.full(3, -1, np.int8), knots=[knot])
    assert table.score.tolist() == cells
    assert table.unlabeled.tolist() == [np.sum(score >= cells[0]), np.sum(score < cells[0])]


def test_a_knot_must_be_a_number():
    score, label = np.array([0.1, 0.5, 0.9]), np.array([-1, 1, -1], np.int8)
    with pytest.raises(uc.InputError, match="threshold must be a number; got NaN"):
        rows.compact_table(score, label, knots=[0.3, np.nan])
    # Warnings are errors here, and asking anew for a threshold counts the rows with it as a knot.
    evaluation = uc.evaluate([1, None, 1, None] * 5, np.arange(20.0), unlabeled_prevalence=0.2)
    with pytest.raises(uc.InputError, match="threshold must be one finite number; got nan"):
        evaluation.at(float("nan"))


def test_no_rows_of_positive_weight_give_an_empty_table():
    arguments = np.array([0.5]), np.array([1], np.int8), np.array([0.0])
    assert rows.full_table(*arguments).score.size == 0
    assert rows.compact_table(*arguments).score.size == 0


@settings(deadline=None, max_examples=50)
@given(data=random_rows(), n_bits=st.integers(1, 12))
def test_bucket_maps_keep_the_order(data, n_bits):
    score = np.sort(data[0])
    for bucket_of in buckets.candidate_maps(data[0][::3], 1 << n_bits):
        bucket = bucket_of(score)
        assert np.all(np.diff(bucket) >= 0)
        assert bucket[0] >= 0
        assert bucket[-1] < bucket_of.n_buckets


@settings(deadline=None, max_examples=50)
@given(data=random_rows())
def test_keys_keep_the_order_and_can_be_undone(data):
    score = np.sort(data[0])
    keys = packed.ordered_keys(score)
    assert np.array_equal(keys[1:] > keys[:-1], score[1:] > score[:-1])
    assert np.array_equal(packed.scores_of(keys, score.dtype), score)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 300), n_bits=st.integers(1, 64))
def test_digits_sort_like_numpy(seed, n, n_bits):
    keys = np.random.default_rng(seed).integers(0, 2**n_bits, n, dtype=np.uint64)
    with patch.object(packed, "FEW_KEYS", 0), patch.object(packed, "KEYS_PER_BLOCK", 20):
        assert np.array_equal(packed.sort_keys(keys.copy(), n_bits), np.sort(keys))


@pytest.mark.parametrize(
    ("dtype", "score", "packs"),
    [
        (np.float32, [0.0, 1.0], True),
        (np.float32, [0.0, 1e30], True),  # in wider keys
        (np.float32, [-1e30, 1e30], False),
        (np.float64, [0.0, 1.0], True),
        (np.float64, [0.0, 1e30], False),
    ],
)
def test_label_is_packed_only_where_it_fits(dtype, score, packs):
    result = packed.pack(np.array(score, dtype), np.array([1, -1], np.int8))
    assert (result is not None) == packs


@pytest.mark.parametrize(
    ("path", "function"),
    [
        ("packed keys", "count_around_labels"),
        ("buckets", "count_around"),
        ("hashing", "_table_by_hashing"),
    ],
)
def test_forced_path_is_taken(path, function):
    rng = np.random.default_rng(1)
    label = np.where(rng.random(50) < 0.2, 1, -1).astype(np.int8)
    with forced(path), patch.object(rows, function, wraps=getattr(rows, function)) as spy:
        rows.compact_table(rng.random(50), label)
    assert spy.called


def test_heavy_ties_are_hashed_and_continuous_scores_are_not():
    rng = np.random.default_rng(2)
    assert rows._frequent_scores(rng.integers(0, 1000, 100_000) / 1000).size <= 1000
    assert rows._frequent_scores(rng.random(100_000)) is None


def test_without_borders_all_rows_lie_in_one_place():
    border = np.zeros(0)
    counter = buckets.BorderCounter(border, buckets.choose_map(border, np.array([1.0, 2.0])))
    counter.add(np.array([3.0, -np.inf, 5.0]))
    counts = counter.counts()
    assert (counts.between.tolist(), counts.lowest.tolist()) == ([3.0], [-np.inf])
    assert counts.merged.tolist() == [True]


@pytest.mark.parametrize("n_borders", [0, 7, 3000, 40_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_borders_below_are_those_that_a_search_finds(shape, n_borders):
    score = SHAPES[shape](np.random.default_rng(5), 70_000)
    for real in (np.float64, np.float32):
        with np.errstate(over="ignore"):
            some = score.astype(real)
        border = np.unique(some[:n_borders])
        found = buckets.BorderRanks(border, some)(some)
        np.testing.assert_array_equal(found, np.searchsorted(border, some, "right"))


def test_rows_of_one_score_are_never_taken_for_several():
    # Between labelled rows at 0, 1, 2, … lie two unlabeled rows of one score each.
    place = np.arange(1500.0)
    score = np.concatenate([place, place + 0.5, place + 0.5, 2000 + np.arange(40_000.0)])
    label = np.where(np.arange(score.size) < place.size, 1, -1).astype(np.int8)
    table = rows.compact_table(score, label)
    assert np.flatnonzero(table.merged).tolist() == [0]  # the rows above all labelled ones
    assert table.unlabeled[2] == 2  # below the highest labelled row


@pytest.mark.parametrize("total", [10.0, 2.0**40, 2.0**60])
def test_rows_add_up_whole_or_in_parts(total):
    whole, parts = np.array([3.0, 0.0, 4.0]), np.array([0.5, 0.25, 2.5])
    assert add_up(whole, 2.0, total).tolist() == [5.0, 5.0, 9.0]
    assert add_up(parts, 1.0, total).tolist() == [1.5, 1.75, 4.25]
