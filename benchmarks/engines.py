"""CPU time and memory of counting rows where they live: Parquet, DuckDB, polars, Dask, Spark.

Makes its own Parquet files (float32 score, int8 label, 1 % labelled, and `grade`, the score in
10,001 steps) and measures each task in a process of its own, after its imports: a task is a
generator that yields once when it has imported what it needs, and then its result. Only ratios
within one run are meant.

    python benchmarks/engines.py [--rows 1e7] [--directory DIR] [--dask] [--spark]

With 1e8 rows it needs 900 MB of disk.
"""

# ruff: noqa: PLC0415 - each task imports only what it measures

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROWS = 1e7
LABELLED = 0.01
BINS = 2**16
CLUSTER_ROWS = 4e7


def make(path, rows, seed):
    """Write rows in which a label is likelier at a high score."""
    import duckdb

    sql = f"""SELECT score, round(score, 4)::FLOAT AS grade,
        CASE WHEN random() < {2 * LABELLED} * score THEN 1 END::TINYINT AS label
        FROM (SELECT random()::FLOAT AS score FROM range({rows}))"""  # noqa: S608 - numbers
    with duckdb.connect() as connection:
        connection.execute(f"SELECT setseed({seed})")
        connection.execute("SET threads = 1")
        connection.execute(f"COPY ({sql}) TO '{path}' (ROW_GROUP_SIZE 122880)")


def compact(path):
    import undercount as uc
    from undercount.count.files import read_counts

    yield
    counts = read_counts(path, label="label", score="score")
    evaluation = uc.evaluate(counts, prevalence=0.05)
    yield str(evaluation.estimate("roc_auc").value), counts.auc_error


def binned(path):
    from undercount.count.files import read_counts

    yield
    counts = read_counts(path, label="label", score="score", bins=BINS)
    yield str(counts), counts.auc_error


def scikit_learn(path):
    import pandas as pd
    from sklearn.metrics import roc_auc_score

    yield
    frame = pd.read_parquet(path, columns=["label", "score"])
    yield roc_auc_score(frame["label"].notna(), frame["score"])


SQL = """SELECT grade, count(*) FILTER (label = 1), count(*) FILTER (label = 0),
    count(*) FILTER (label IS NULL) FROM '{}' GROUP BY grade"""


def duckdb_by_hand(path):
    import duckdb

    yield
    yield len(duckdb.sql(SQL.format(path)).fetchnumpy()["grade"])


def duckdb_by_narwhals(path):
    import duckdb

    from undercount.count.frames import count_scores

    yield
    relation = duckdb.sql(f"FROM '{path}'")
    yield len(count_scores(relation, label="label", score="grade").score)


def polars_by_hand(path):
    import polars as pl

    yield
    label = pl.col("label")
    sums = {"p": label == 1, "n": label == 0, "u": label.is_null()}
    query = pl.scan_parquet(path).group_by("grade")
    yield len(query.agg(**{k: v.sum() for k, v in sums.items()}).collect(engine="streaming"))


def polars_by_narwhals(path):
    import polars as pl

    from undercount.count.frames import count_scores

    yield
    yield len(count_scores(pl.scan_parquet(path), label="label", score="grade").score)


def merging(path):
    """Merge a thousand counts files of 10,001 cells each."""
    import numpy as np

    from undercount.count.counts_file import merge_counts, write_counts
    from undercount.count.files import read_counts

    yield
    with tempfile.TemporaryDirectory() as directory:
        whole = read_counts(path, label="label", score="grade")
        first = pathlib.Path(directory, "part.parquet")
        write_counts(whole, first)
        parts = [pathlib.Path(directory, f"part{place}.parquet") for place in range(1000)]
        for part in parts:
            part.hardlink_to(first)
        merged = merge_counts(parts)
        np.testing.assert_array_equal(merged.unlabeled, 1000 * whole.unlabeled)
    yield len(merged.score)


def dask(path, workers):
    """Count with some workers of one thread each; return the time without starting them."""
    import importlib

    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from undercount.count.frames import count_scores

    yield
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        frame = dd.read_parquet(path, columns=["label", "score"], split_row_groups=8)
        # Workers import what they need when they first need it: before the clock runs.
        client.run(importlib.import_module, "undercount.count.frames")
        count_scores(frame.partitions[: 2 * workers], label="label", score="score", bins=2**12)
        start = time.perf_counter()
        counts = count_scores(frame, label="label", score="score", bins=2**12)
        yield time.perf_counter() - start, counts.auc_error


def spark(path, workers):
    """Count with some threads of a local Spark; return the time without starting it."""
    from pyspark.sql import SparkSession

    from undercount.count.frames import count_scores

    yield
    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", str(workers))
    # One file, cut into parts that both cores can take.
    session = builder.config("spark.sql.files.maxPartitionBytes", "16m").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(path).select("label", "score")
    # The same once on a few rows, so that the virtual machine has seen the code.
    count_scores(frame.limit(100_000), label="label", score="score", bins=2**12)
    start = time.perf_counter()
    counts = count_scores(frame, label="label", score="score", bins=2**12)
    yield time.perf_counter() - start, counts.auc_error


TASKS = (
    compact,
    binned,
    scikit_learn,
    duckdb_by_hand,
    duckdb_by_narwhals,
    polars_by_hand,
    polars_by_narwhals,
    merging,
    dask,
    spark,
)
CLUSTERS = (dask, spark)


def watch(peak):
    """Keep the largest private memory of this process, in MB."""
    import psutil

    process = psutil.Process()
    while True:
        peak[0] = max(peak[0], process.memory_full_info().uss / 1e6)
        time.sleep(0.02)


def run_task(name, arguments):
    """Run a task in this process and print what it took."""
    task = {task.__name__: task for task in TASKS}[name]
    peak = [0.0]
    if task not in CLUSTERS:  # looking costs a tenth of a core, which the workers need
        threading.Thread(target=watch, args=(peak,), daemon=True).start()
    steps = task(*(int(a) if a.isdigit() else a for a in arguments))
    next(steps)
    start = time.process_time()
    result = next(steps)
    cpu = time.process_time() - start
    print(json.dumps({"cpu": cpu, "peak": peak[0], "result": result}, default=str))


def measure(task, *arguments):
    """Run a task in a process of its own."""
    command = [sys.executable, __file__, "--task", task.__name__, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if run.returncode:
        sys.exit(run.stderr)
    found = json.loads(run.stdout.splitlines()[-1])
    shown = " ".join(map(str, arguments[1:]))
    print(
        f"  {task.__name__:20} {shown:3} {found['cpu']:7.1f} CPU s {found['peak']:7.0f} MB",
        flush=True,
    )
    return found


def bar(words, value, limit, *, least=False):
    """Print a ratio beside its bar."""
    kept = value >= limit if least else value <= limit
    print(f"{'ok  ' if kept else 'MISS'} {words}: {value:.3g} (bar {limit:g})", flush=True)
    return kept


def single_machine(rows, directory):
    path, tenth = directory / "rows.parquet", directory / "tenth.parquet"
    if not path.exists():
        make(path, int(rows), 0.1)
        make(tenth, int(rows / 10), 0.2)
    print(f"{rows:.0e} rows, {path.stat().st_size / 1e6:.0f} MB of Parquet")
    ours, bins, theirs = measure(compact, path), measure(binned, path), measure(scikit_learn, tenth)
    kept = [
        bar("compact counts and evaluation, MB", ours["peak"], 1000),
        bar("the same, CPU against pandas and scikit-learn", ours["cpu"] / theirs["cpu"] / 10, 1),
        bar("binned counts, MB", bins["peak"], 300),
        bar("error bound of the AUC, binned", bins["result"][1], 1e-5),
    ]
    for hand, general in (
        (duckdb_by_hand, duckdb_by_narwhals),
        (polars_by_hand, polars_by_narwhals),
    ):
        times = [(measure(hand, path)["cpu"], measure(general, path)["cpu"]) for _ in range(2)]
        by_hand, by_narwhals = (min(column) for column in zip(*times, strict=True))
        kept.append(bar(f"{general.__name__} against the query", by_narwhals / by_hand, 1.5))
    kept.append(bar("merging 1,000 counts files, MB", measure(merging, tenth)["peak"], 300))
    return kept


def clusters(names, directory):
    path = directory / "cluster.parquet"
    if names and not path.exists():
        make(path, int(CLUSTER_ROWS), 0.3)
    kept = []
    for task in names:
        one, two = (measure(task, path, workers)["result"][0] for workers in (1, 2))
        limit = 1.5 if task is dask else 1.0
        kept.append(bar(f"{task.__name__}, two cores against one", one / two, limit, least=True))
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=ROWS)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--dask", action="store_true", help="two workers against one")
    parser.add_argument("--spark", action="store_true", help="two threads against one")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(options.task[0], options.task[1:])
        return
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.directory or pathlib.Path(temporary)
        kept = single_machine(options.rows, directory)
        chosen = [task for task, wanted in ((dask, options.dask), (spark, options.spark)) if wanted]
        kept += clusters(chosen, directory)
    if not all(kept):
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
