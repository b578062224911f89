"""One constructor for each engine: the same columns as a frame of that engine."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

FIELDS = ("score", "positive", "negative", "unlabeled")


def arrow(columns):
    """Arrow table in which NaN labels are nulls, as databases have them."""
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


# Older versions of DuckDB close a connection that nobody holds, although a relation needs it.
CONNECTIONS = []


def in_duckdb(columns):
    connection = duckdb.connect()
    CONNECTIONS.append(connection)
    connection.register("t", arrow(columns))
    return connection.sql("SELECT * FROM t")


def in_pandas_arrow(columns):
    return arrow(columns).to_pandas(types_mapper=pd.ArrowDtype)


def in_ibis(columns):
    ibis = pytest.importorskip("ibis")
    return ibis.memtable(arrow(columns))


ENGINES = {
    "pandas": pd.DataFrame,
    "pandas-arrow": in_pandas_arrow,
    "polars": lambda columns: pl.from_arrow(arrow(columns)),
    "polars-lazy": lambda columns: pl.from_arrow(arrow(columns)).lazy(),
    "polars-nan": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": arrow,
    "pyarrow-dataset": lambda columns: ds.dataset(arrow(columns)),
    "duckdb": in_duckdb,
    "ibis": in_ibis,
}
LAZY = ("polars-lazy", "pyarrow-dataset", "duckdb")


@pytest.fixture(scope="session")
def engines():
    """Constructors of all engines that are installed."""
    without = () if importlib.util.find_spec("ibis") else ("ibis",)
    return {name: make for name, make in ENGINES.items() if name not in without}


@pytest.fixture(params=ENGINES)
def constructor(request):
    return ENGINES[request.param]


@pytest.fixture(params=LAZY)
def lazy_constructor(request):
    return ENGINES[request.param]


@pytest.fixture
def same():
    """Check that two tables are equal bit for bit."""

    def check(left, right):
        for name in (*FIELDS, "merged"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)
        assert left.squared_weight == right.squared_weight
        if not left.compact:
            np.testing.assert_array_equal(left.cell_rows, right.cell_rows)
        assert not np.signbit(left.score[left.score == 0]).any()

    return check


@pytest.fixture(scope="session")
def columns():
    """Rows with ties, both zeros, infinities, all kinds of label, groups and dyadic weights."""
    rng = np.random.default_rng(20)
    size = 600
    score = rng.integers(-6, 6, size) / 4 * rng.choice([1.0, -1.0], size)
    score[:4] = [np.inf, -np.inf, 0.0, -0.0]
    return {
        "y": rng.choice([1.0, 0.0, np.nan], size, p=[0.2, 0.2, 0.6]),
        "s": score,
        "t": rng.random(size),
        "w": rng.integers(0, 9, size) / 8,  # sums of eighths are exact in any order
        "g": rng.choice(["north", "south"], size),
        "h": rng.integers(0, 3, size),
    }


def exact_auc(counts, one, other):
    """AUC of two classes of a table by counting pairs, a tie as one half."""
    x, y = getattr(counts, one), getattr(counts, other)
    below = np.cumsum(y[::-1])[::-1] - y
    return float((x * (below + y / 2)).sum() / (x.sum() * y.sum()))


@pytest.fixture
def auc():
    return exact_auc


# No server starts as root; Debian's package brings this user.
SERVER_USER = "postgres"


def programs():
    """Find the newest server that is installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found += [pathlib.Path(path) for path in (shutil.which("initdb"),) if path]
    return found[-1].resolve().parent if found else None


@pytest.fixture(scope="session")
def server():
    """Start a server of its own in a temporary folder; return the URL."""
    home = programs()
    if home is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="undercount-postgres-") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, SERVER_USER, SERVER_USER)
        run = server_user(folder)
        execute(run, home / "initdb", "-D", "data", "-U", "auditor", "--auth=trust", "-N")
        settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
        execute(run, home / "pg_ctl", "-D", "data", "-w", "-l", "log", "-o", settings, "start")
        try:
            yield f"postgres://auditor:hush@/postgres?host={folder}"
        finally:
            execute(run, home / "pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")


def server_user(folder):
    """Return how programs of the server are started, and where."""
    return (["runuser", "-u", SERVER_USER, "--"] if os.geteuid() == 0 else [], pathlib.Path(folder))


def execute(run, program, *arguments):
    prefix, folder = run
    command = [*prefix, program, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - ours
