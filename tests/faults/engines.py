"""Workers of Dask and of Spark that die while they count."""

import os
import random
import shutil
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import undercount as uc

TURNS = 5  # kills of each engine
ROWS, PARTS = 4000, 8


def kill_dask_worker(rng: random.Random) -> Counter[str]:
    """Kill a worker of a local cluster at a random moment of a count."""
    import dask.dataframe as dd  # noqa: PLC0415 - may be missing
    import distributed  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    ends: Counter[str] = Counter()
    y, score = make_rows()
    frame = pd.DataFrame({"y": y, "s": score})

    def part(place: int) -> Any:
        time.sleep(0.2)
        return frame.iloc[place::PARTS]

    warnings.simplefilter("ignore")  # ports in use, and other talk of starting up
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    for _ in range(TURNS):  # a cluster each: on a busy machine a worker may take minutes to return
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
            slow = dd.from_map(part, range(PARTS), meta=frame.iloc[:0])
            victim = next(iter(cluster.workers.values())).pid
            timer = threading.Timer(rng.uniform(0.1, 0.7), os.kill, (victim, signal.SIGKILL))
            timer.start()
            check(uc.count_scores(slow, label="y", score="s"))
            timer.join()
            ends["same counts"] += 1
    return ends


def kill_spark_executor(rng: random.Random) -> Counter[str]:
    """Kill an executor, a process of its own, at a random moment of a count."""
    if shutil.which("java") is None:
        return Counter({"not run: no Java": 1})
    from pyspark.sql import SparkSession  # noqa: PLC0415 - may be missing
    from pyspark.sql import functions as f  # noqa: PLC0415

    ends: Counter[str] = Counter()
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "600m")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        y, score = make_rows()
        rows = [
            (None if np.isnan(a) else float(a), float(b)) for a, b in zip(y, score, strict=True)
        ]
        frame = session.createDataFrame(rows, "y double, s double").repartition(PARTS)
        # A moment of work for each row, so that there is a count to be killed in.
        slow = frame.where(f.expr("length(sha2(repeat(cast(s as string), 4000), 512)) > 0"))
        check(uc.count_scores(slow, label="y", score="s"))  # the engine has started
        for _ in range(TURNS):
            timer = threading.Timer(rng.uniform(0.05, 0.6), _kill_one)
            timer.start()
            check(uc.count_scores(slow, label="y", score="s"))
            timer.join()
            ends["same counts"] += 1
    finally:
        session.stop()
    return ends


def _kill_one() -> None:
    """Kill one executor of this process, by its number."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            environment = (entry / "environ").read_bytes()
        except OSError:  # ended meanwhile
            continue
        ours = f"PYSPARK_PYTHON={sys.executable}".encode() in environment
        if b"CoarseGrainedExecutorBackend" in command and ours:
            os.kill(int(entry.name), signal.SIGKILL)
            return


def make_rows() -> tuple[Any, Any]:
    """Make labels and scores with ties."""
    rng = np.random.default_rng(0)
    truth = rng.random(ROWS) < 0.3
    y = np.where(truth & (rng.random(ROWS) < 0.5), 1.0, np.nan)
    return y, np.round(rng.normal(2.0 * truth), 2)


def check(found: uc.ScoreCounts) -> None:
    """Assert that counts are those of the rows, none lost and none twice."""
    expected = uc.ScoreCounts.from_rows(*make_rows())
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
