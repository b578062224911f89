"""Progress is told by every local engine, drawn only when asked for, and an interrupt is clean."""

import io
import os
import signal
import subprocess
import sys
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import undercount.count.frames
import undercount.count.progress
from undercount.count.counts_file import merge_counts, write_counts
from undercount.count.files import read_counts
from undercount.count.frames import count_scores
from undercount.count.progress import Progress, open_progress
from undercount.counts import ScoreCounts


def check(seen):
    assert seen == sorted(seen)
    assert all(0 < share <= 1 for share in seen)
    assert seen[-1] >= 0.69  # a count without a third scan ends there


@pytest.mark.parametrize("options", [{}, {"bins": 16}, {"compact": True}, {"compact": False}])
def test_every_local_engine_tells(constructor, columns, options):
    seen = []
    count_scores(constructor(columns), label="y", score="t", progress=seen.append, **options)
    check(seen)


def test_files_tell(tmp_path, columns):
    path = tmp_path / "rows.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    seen = []
    read_counts(path, label="y", score=["s", "t"], progress=seen.append)
    check(seen)


def test_a_running_query_of_duckdb_is_asked(monkeypatch):
    class Connection:
        def query_progress(self):
            return 50.0

    monkeypatch.setattr(undercount.count.progress, "LOOK_EVERY", 0.001)
    seen = []
    progress = Progress(seen.append)
    with undercount.count.progress.watch_queries(Connection()), progress.step(0.8):
        while not seen:
            time.sleep(0.001)
    assert seen == [0.4, 0.8]
    assert undercount.count.progress.CONNECTION.get() is None


def test_duckdb_knows_how_far_it_is(tmp_path, monkeypatch):
    # A real query, long enough to be looked at.
    if not hasattr(duckdb.DuckDBPyConnection, "query_progress"):
        pytest.skip("this version of DuckDB cannot be asked")
    path = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        rows = "SELECT random() AS s, (random() < 0.1)::INT AS y FROM range(1000000)"
        connection.execute(f"COPY ({rows}) TO '{path}' (ROW_GROUP_SIZE 20000)")
    monkeypatch.setattr(undercount.count.progress, "LOOK_EVERY", 0.002)
    for _ in range(50):  # nobody looks while a busy machine is elsewhere
        seen = []
        read_counts(path, label="y", score="s", compact=False, progress=seen.append)
        check(seen)
        if len(seen) > 3:
            break
    assert len(seen) > 3


def test_polars_tells_while_it_runs():
    part = pl.DataFrame({"y": [1, 0] * 50_000, "s": np.arange(100_000) % 1000})
    # Before 1.25 a frame comes in its own pieces, or in as many as there are cores.
    frame = pl.concat([part] * 6, rechunk=False).lazy()
    seen = []
    count_scores(frame, label="y", score="s", progress=seen.append)
    check(seen)
    assert len(seen) > 2


def test_telling_changes_nothing(lazy_constructor, columns, same):
    frame = lazy_constructor(columns)
    told = count_scores(frame, label="y", score="t", bins=32, progress=lambda _: None)
    same(told, count_scores(frame, label="y", score="t", bins=32))


def test_merging_tells(tmp_path):
    paths = [tmp_path / f"{place}.parquet" for place in range(4)]
    for path in paths:
        write_counts(ScoreCounts.from_rows([1, None], [0.9, 0.2]), path)
    seen = []
    merge_counts(paths, progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_a_bar_is_drawn_on_stderr_when_asked_for(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(undercount.count.progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with open_progress(True, "counting") as progress, progress.step(1.0):
        time.sleep(0.05)
        progress.inside(0.5)
    assert "counting" in stream.getvalue()


@pytest.mark.parametrize("wanted", [None, False])
def test_nothing_is_drawn_otherwise(wanted, columns, capfd):
    count_scores(pd.DataFrame(columns), label="y", score="s", progress=wanted)
    assert capfd.readouterr() == ("", "")


def test_short_work_draws_nothing(columns, capfd):
    count_scores(pd.DataFrame(columns), label="y", score="s", progress=True)
    assert capfd.readouterr() == ("", "")


STOPPED = """
import os, signal, sys
import undercount.count.frames, undercount.count.progress
from undercount.count.counts_file import write_counts
from undercount.count.files import read_counts
from undercount.count.counts_file import merge_counts

undercount.count.progress.LOOK_EVERY = 0.002
undercount.count.frames.EXACT_LIMIT = 1000


def stop(share):
    os.kill(os.getpid(), signal.SIGINT)


how, rows, output = sys.argv[1:]
try:
    if how == "merge":
        merge_counts([rows], output, progress=stop)
    options = {"exact": {"compact": False}, "binned": {"bins": 99}, "compact": {}}[how]
    counts = read_counts(rows, label="y", score="s", progress=stop, **options)
    write_counts(counts, output)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture(scope="module")
def some_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    with duckdb.connect() as connection:
        rows = "SELECT random() AS s, (random() < 0.1)::INT AS y FROM range(300000)"
        connection.execute(f"COPY ({rows}) TO '{path}' (ROW_GROUP_SIZE 20000)")
    return path


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("how", ["exact", "binned", "compact", "merge"])
def test_an_interrupt_leaves_no_output(tmp_path, some_rows, how):
    if how == "merge":
        rows = tmp_path / "part.parquet"
        write_counts(ScoreCounts.from_rows([1, None], [0.9, 0.2]), rows)
    else:
        rows = some_rows
    here = tmp_path / "here"
    here.mkdir()
    command = [sys.executable, "-c", STOPPED, how, str(rows), str(here / "counts.parquet")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.run(command, cwd=here, check=False, env=environment, capture_output=True)  # noqa: S603
    assert run.returncode in (130, -signal.SIGINT), run.stderr.decode()
    assert list(here.iterdir()) == []
    assert not list(tmp_path.glob("undercount-*"))
