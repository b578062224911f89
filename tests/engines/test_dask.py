"""Counts by Dask on a real local cluster, with empty partitions and with a worker that dies."""

import itertools
import os
import signal
import threading
import time
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercount.count.frames import count_scores
from undercount.count.queries import _group_part
from undercount.counts import ScoreCounts
from undercount.errors import InputError

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'dask[dataframe]'")
dd = pytest.importorskip(
    "dask.dataframe", reason="Dask is not installed: pip install 'dask[dataframe]'"
)
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ports in use, and other talk of starting up
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1GB"
            ) as local,
            distributed.Client(local),
        ):
            yield local


@pytest.mark.usefixtures("cluster")
def test_same_counts(columns, same):
    frame = dd.from_pandas(pd.DataFrame(columns), npartitions=5)
    y, s, w = columns["y"], columns["s"], columns["w"]
    same(count_scores(frame, label="y", score="s"), ScoreCounts.from_rows(y, s))
    found = count_scores(frame, label="y", score=["s", "t"], weight="w")
    same(found["s"], ScoreCounts.from_rows(y, s, sample_weight=w))
    groups = count_scores(frame, label="y", score="s", by="g")
    mine = columns["g"] == "north"
    same(groups["north"], ScoreCounts.from_rows(y[mine], s[mine]))


@pytest.mark.usefixtures("cluster")
def test_empty_partitions_and_one_row(same):
    frame = dd.from_pandas(pd.DataFrame({"y": [1.0, np.nan, 0.0], "s": [0.5, -0.0, 0.0]}), 3)
    same(
        count_scores(frame[frame["s"] != 0.5], label="y", score="s"),
        ScoreCounts.from_counts([0], [0], [1], [1]),
    )


@pytest.mark.usefixtures("cluster")
def test_bins(columns, auc):
    frame = dd.from_pandas(pd.DataFrame(columns), npartitions=3)
    counts = count_scores(frame, label="y", score="t", bins=32)
    exact = ScoreCounts.from_rows(columns["y"], columns["t"])
    assert len(counts.score) <= 32
    difference = auc(counts, "positive", "unlabeled") - auc(exact, "positive", "unlabeled")
    assert abs(difference) <= counts.auc_error


@pytest.mark.usefixtures("cluster")
def test_several_binned_scores_with_groups_and_weights(columns, auc):
    frame = dd.from_pandas(pd.DataFrame(columns), npartitions=3)
    found = count_scores(frame, label="y", score=["t", "s"], by="g", weight="w", bins=20)
    for name in ("t", "s"):
        mine = columns["g"] == "south"
        y, score, weight = (columns[part][mine] for part in ("y", name, "w"))
        exact = ScoreCounts.from_rows(y, score, sample_weight=weight)
        counts = found[name]["south"]
        assert counts.squared_weight == exact.squared_weight
        difference = auc(counts, "positive", "unlabeled") - auc(exact, "positive", "unlabeled")
        assert abs(difference) <= counts.auc_error + 1e-12


def in_parts(table, cuts):
    """Dask frame with partitions that end at the cuts; some are empty."""
    ends = [0, *sorted(cuts), len(table)]
    parts = [table.iloc[start:stop] for start, stop in itertools.pairwise(ends)]
    return dd.from_map(lambda part: part, parts, meta=table.iloc[:0])


numbers = st.sampled_from([0.0, -0.0, 0.5, -1.5, float("inf"), float("-inf"), 5e-324, 1e300])
rows = st.lists(
    st.tuples(st.sampled_from([1.0, 0.0, np.nan]), st.one_of(numbers, st.floats(allow_nan=False))),
    min_size=1,
    max_size=30,
)


# Old versions warn of a scheduler of their own beside a cluster, which is what is asked for.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
@given(rows, st.lists(st.integers(0, 30), max_size=4), st.sampled_from(["float64", "Float64"]))
@settings(deadline=None, max_examples=12)
def test_random_frames_agree(data, cuts, kind):
    table = pd.DataFrame(data, columns=["y", "s"])
    expected = ScoreCounts.from_rows(table["y"].to_numpy(), table["s"].to_numpy())
    frame = in_parts(table.astype(kind), [min(cut, len(table)) for cut in cuts])
    with dask.config.set(scheduler="synchronous"):
        counts = count_scores(frame, label="y", score="s")
        binned = count_scores(frame, label="y", score="s", bins=1000)
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(counts, name), getattr(expected, name))
    # Scores that only one class has may be merged; heads at the scores that are left are exact.
    last = np.searchsorted(-expected.score, -binned.score, "right") - 1
    for name in ("positive", "negative", "unlabeled"):
        heads = np.cumsum(getattr(expected, name))[last]
        np.testing.assert_array_equal(np.cumsum(getattr(binned, name)), heads)


@pytest.mark.parametrize("most", [None, 5])
def test_groups_of_whole_numbers_are_those_of_pandas(most):
    rng = np.random.default_rng(2)
    part = pd.DataFrame(
        {
            "a": rng.integers(-3, 3, 500).astype(np.int8),
            "b": rng.integers(10**6, 10**6 + 9, 500),
            "v": rng.integers(0, 99, 500) / 8,
        }
    )
    made = {"n": ("a", "size"), "low": ("v", "min"), "high": ("v", "max"), "sum": ("v", "sum")}
    found = _group_part(part, ["a", "b"], made, most)
    expected = part.groupby(["a", "b"]).agg(**made).reset_index()
    if most is None:
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert len(found) == most
    far = part.assign(b=part["b"] ** 2)  # too many places for an array
    found = _group_part(far, ["a", "b"], made, None).sort_values(["a", "b"], ignore_index=True)
    pd.testing.assert_frame_equal(found, far.groupby(["a", "b"]).agg(**made).reset_index())


@pytest.mark.usefixtures("cluster")
def test_missing_scores_and_unknown_labels_are_refused():
    frame = dd.from_pandas(pd.DataFrame({"y": [1.0, 5.0], "s": [0.5, np.nan]}), npartitions=2)
    for options in ({}, {"bins": 9}):
        with pytest.raises(InputError, match="got 1 NaN in column 's'"):
            count_scores(frame, label="y", score="s", **options)
        with pytest.raises(InputError, match="pass unlabeled=5"):
            count_scores(frame.fillna(0.25), label="y", score="s", **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("cluster")
def test_a_task_that_always_fails_is_an_error(columns):
    frame = pd.DataFrame({"y": columns["y"], "s": columns["s"]})

    def part(place):
        if place:
            raise RuntimeError("this partition cannot be read")
        return frame

    broken = dd.from_map(part, range(3), meta=frame.iloc[:0])
    with pytest.raises(RuntimeError, match="this partition cannot be read"):
        count_scores(broken, label="y", score="s")


@pytest.mark.filterwarnings("ignore")  # a dying worker is talked about
def test_a_killed_worker_changes_nothing(cluster, columns, same):
    frame = pd.DataFrame({"y": columns["y"], "s": columns["s"]})

    def part(place):
        time.sleep(0.2)
        return frame.iloc[place::8]

    slow = dd.from_map(part, range(8), meta=frame.iloc[:0])
    victim = next(iter(cluster.workers.values())).pid
    timer = threading.Timer(0.4, os.kill, (victim, signal.SIGKILL))
    timer.start()
    counts = count_scores(slow, label="y", score="s")
    timer.join()
    same(counts, ScoreCounts.from_rows(columns["y"], columns["s"]))


def counted_in_two_parts(change, **options):
    """Count rows of which the second half are not what the schema says."""
    rows = pd.DataFrame({"y": [1.0, 0.0, np.nan, np.nan] * 5, "s": np.arange(20.0)})
    parts = [dask.delayed(rows.iloc[:10]), dask.delayed(change)(rows.iloc[10:])]
    frame = dd.from_delayed(parts, meta=rows.iloc[:0], verify_meta=False)
    return count_scores(frame, label="y", score="s", **options)


@pytest.mark.parametrize("bins", [None, 4])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda part: part.assign(y="yes"), "column 'y' must hold numbers"),
        (lambda part: part.assign(s="0.5"), "column 's' must hold numbers"),
        (lambda part: part.assign(s=pd.Timestamp("2024-03-09")), "a partition holds datetime"),
        (lambda part: part.assign(s=pd.Timedelta("1s")), "a partition holds timedelta"),
        (lambda part: part.assign(s=1 + 5j), "a partition holds complex"),
        (lambda part: part.assign(s=2**53 + np.arange(len(part))), r"stay within ±2\*\*53"),
        (lambda part: part.rename(columns={"s": "t"}), "a partition has no column 's'"),
    ],
)
def test_a_partition_unlike_its_schema_is_refused_in_one_way(change, words, bins):
    with pytest.raises(InputError, match=words):
        counted_in_two_parts(change, bins=bins)


def test_objects_that_are_numbers_are_numbers(same):
    expected = counted_in_two_parts(lambda part: part)
    same(counted_in_two_parts(lambda part: part.astype(object)), expected)


@pytest.mark.parametrize(("digits", "places"), [(38, 20), (20, 4)])
def test_decimal_scores_are_the_nearest_float(digits, places):
    kind = pa.decimal128(digits, places)
    texts = ["0.9", "0.9", "0.7", "0.1", "0.3"]
    scores = pd.Series(pa.array(map(Decimal, texts), kind), dtype=pd.ArrowDtype(kind))
    frame = pd.DataFrame({"y": [1.0, 0.0, np.nan, np.nan, np.nan], "s": scores})
    counts = count_scores(dd.from_pandas(frame, npartitions=2), label="y", score="s")
    assert counts.score.tolist() == [0.9, 0.7, 0.3, 0.1]
    long = frame.assign(s=pd.array([Decimal(2**53 + place) for place in range(5)], "object"))
    long["s"] = long["s"].astype(pd.ArrowDtype(pa.decimal128(38, 0)))
    with pytest.raises(InputError, match=r"stay within ±2\*\*53"):
        count_scores(dd.from_pandas(long, npartitions=2), label="y", score="s")


def test_columns_of_one_name_are_refused():
    frame = dd.from_pandas(pd.DataFrame(np.ones((4, 3)), columns=["y", "s", "s"]), npartitions=1)
    with pytest.raises(InputError, match="'s' names several"):
        count_scores(frame, label="y", score="s")
