"""Counts by Dask on a real local cluster, with empty partitions and with a worker that dies."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from undercount.counts import ScoreCounts
from undercount.frames import count_scores

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
