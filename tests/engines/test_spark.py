"""Counts by a real local Spark, classic, with a task that fails at first."""

import datetime as dt
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import undercount as uc
from undercount.count.counts_file import load_counts
from undercount.count.draw import draw_rows, stratum_of
from undercount.count.frames import count_scores
from undercount.counts import ScoreCounts
from undercount.errors import InputError

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None,
        reason="SPARK IS NOT TESTED: pip install pyspark",
    ),
    pytest.mark.skipif(
        shutil.which("java") is None, reason="SPARK IS NOT TESTED: no Java (17 or newer) on PATH"
    ),
    pytest.mark.filterwarnings("ignore"),  # Spark talks about versions of pandas
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession  # noqa: PLC0415 - may be missing

    os.environ["PYSPARK_PYTHON"] = sys.executable  # else the workers' Python is another one
    session = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    del os.environ["PYSPARK_PYTHON"]


def rows(columns, size=200):
    labels = [None if np.isnan(value) else float(value) for value in columns["y"][:size]]
    rest = ([float(v) for v in columns[name][:size]] for name in ("s", "t", "w"))
    return list(zip(labels, *rest, [str(v) for v in columns["g"][:size]], strict=True))


@pytest.fixture(scope="module")
def frame(spark, columns):
    schema = "y double, s double, t double, w double, g string"
    return spark.createDataFrame(rows(columns), schema).repartition(3).cache()


def test_same_counts(frame, columns, same):
    held = {name: values[:200] for name, values in columns.items()}
    y, s = held["y"], held["s"]
    same(count_scores(frame, label="y", score="s"), ScoreCounts.from_rows(y, s))


def test_rows_to_review_are_drawn_where_they_are(frame, columns):
    y, s, t = (columns[name][:200] for name in ("y", "s", "t"))
    edges, free = np.array([0.0, -np.inf]), np.isnan(y)
    numbers = np.bincount(stratum_of(s[free], edges))
    options = {"label": "y", "score": ["s", "t"], "edges": edges, "n_unlabeled": numbers}
    made = draw_rows(frame, sizes=np.array([20, 7]), keep=["g"], seed=1, **options)
    np.testing.assert_array_equal(np.bincount(made.stratum), [20, 7])
    place = [int(np.flatnonzero(t == value)[0]) for value in made.scores["t"]]
    assert len(set(place)) == 27
    assert free[place].all()
    assert made.kept["g"] == columns["g"][place].tolist()


def test_weights_groups_and_several_scores(frame, columns, same):
    held = {name: values[:200] for name, values in columns.items()}
    found = count_scores(frame, label="y", score=["s", "t"], weight="w", by="g")
    mine = held["g"] == "south"
    y, t, w = (held[name][mine] for name in ("y", "t", "w"))
    same(found["t"]["south"], ScoreCounts.from_rows(y, t, sample_weight=w))


def test_segments_are_evaluated_where_they_are(spark, columns):
    """One table of segments, with a missing name and with dates, as of the rows in memory."""
    y, s = columns["y"][:200], columns["s"][:200]
    land = [None if k % 7 == 0 else name for k, name in enumerate(columns["g"][:200].tolist())]
    day = [dt.date(2024, 1 + k % 3, 1) for k in range(200)]
    held = pd.DataFrame({"y": y, "s": s, "land": land, "day": day})
    labels = [None if np.isnan(value) else float(value) for value in y]
    made = list(zip(labels, s.tolist(), land, day, strict=True))
    frame = spark.createDataFrame(made, "y double, s double, land string, day date")
    for by in ("land", "day", ["land", "day"]):
        ask = {"label": "y", "score": "s", "by": by, "threshold": 0.0, "label_frequency": 0.5}
        found, expected = (uc.evaluate(each, **ask) for each in (frame, held))
        assert [row.segment for row in found.rows] == [row.segment for row in expected.rows]
        assert found.column == expected.column
        for mine, other in zip(found.rows, expected.rows, strict=True):
            assert (mine.counts.n_rows, mine.note) == (other.counts.n_rows, other.note)
            for one, two in zip(mine.rows, other.rows, strict=True):
                assert one.estimate.low == pytest.approx(two.estimate.low, abs=1e-9)


def test_bins(frame, columns, auc):
    exact = ScoreCounts.from_rows(columns["y"][:200], columns["t"][:200])
    counts = count_scores(frame, label="y", score="t", bins=32)
    assert len(counts.score) <= 32
    difference = auc(counts, "positive", "unlabeled") - auc(exact, "positive", "unlabeled")
    assert abs(difference) <= counts.auc_error


numbers = st.sampled_from([0.0, -0.0, 0.5, -1.5, float("inf"), float("-inf"), 5e-324, 1e300])
random_rows = st.lists(
    st.tuples(st.sampled_from([1.0, 0.0, None]), st.one_of(numbers, st.floats(allow_nan=False))),
    min_size=1,
    max_size=20,
)


def test_clusters_are_counted(spark):
    rng = np.random.default_rng(0)
    who = rng.integers(0, 40, 200)
    y, score = (rng.random(40) < 0.5)[who] & (rng.random(200) < 0.4), rng.random(200)
    table = {"y": y.astype(float), "s": score, "who": who}
    held = list(zip(*(column.tolist() for column in table.values()), strict=True))
    ask = {"label": "y", "score": "s", "unlabeled": 0, "cluster": "who"}
    found = count_scores(
        spark.createDataFrame(held, "y double, s double, who long").repartition(3), **ask
    ).clusters
    expected = count_scores(pd.DataFrame(table), **ask).clusters
    np.testing.assert_array_equal(found.pairs, expected.pairs)
    np.testing.assert_array_equal(found.labelled_pairs, expected.labelled_pairs)


@given(data=random_rows)
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
def test_random_frames_agree(spark, data):
    # More partitions than rows, so that some are empty.
    frame = spark.createDataFrame(data, "y double, s double").repartition(4)
    counts = count_scores(frame, label="y", score="s")
    y = np.array([row[0] for row in data], dtype=float)
    expected = ScoreCounts.from_rows(y, [row[1] for row in data])
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(counts, name), getattr(expected, name))


def test_several_binned_scores(frame, columns, auc):
    found = count_scores(frame, label="y", score=["t", "s"], bins=32)
    for name in ("t", "s"):
        exact = ScoreCounts.from_rows(columns["y"][:200], columns[name][:200])
        difference = auc(found[name], "positive", "unlabeled") - auc(exact, "positive", "unlabeled")
        assert abs(difference) <= found[name].auc_error + 1e-12


def test_the_sql_of_the_documentation(frame, columns, tmp_path, same):
    page = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "counts-file.md"
    found = re.search(
        r"-- Spark SQL\nCREATE.*?\n(.*?);", page.read_text(encoding="utf-8"), re.DOTALL
    )
    frame.withColumnsRenamed({"y": "is_fraud", "s": "p_fraud"}).createOrReplaceTempView("scored")
    frame.sparkSession.sql(found[1]).coalesce(1).write.parquet(str(tmp_path / "counts"))
    (path,) = (tmp_path / "counts").glob("*.parquet")
    same(load_counts(path), ScoreCounts.from_rows(columns["y"][:200], columns["s"][:200]))


def test_errors(frame):
    with pytest.raises(InputError, match="did you mean 's'"):
        count_scores(frame, label="y", score="s1")
    with pytest.raises(InputError, match="score must not be missing; got"):
        count_scores(frame, label="s", score="y", unlabeled=0)


def test_a_failing_task_changes_nothing(frame, columns, same):
    def fail_once(batches):
        import pyspark  # noqa: PLC0415 - runs in a worker

        context = pyspark.TaskContext.get()
        if context.partitionId() == 1 and context.attemptNumber() == 0:
            raise RuntimeError("this worker is gone")
        yield from batches

    shaky = frame.select("y", "s").mapInArrow(fail_once, "y double, s double")
    same(
        count_scores(shaky, label="y", score="s"),
        ScoreCounts.from_rows(columns["y"][:200], columns["s"][:200]),
    )


def test_a_task_that_always_fails_is_an_error(frame):
    def fail(batches):
        raise RuntimeError("this column cannot be read")
        yield from batches

    broken = frame.select("y", "s").mapInArrow(fail, "y double, s double")
    with pytest.raises(Exception, match="this column cannot be read"):
        count_scores(broken, label="y", score="s")


@pytest.mark.parametrize(
    ("schema", "label", "words"),
    [
        ("`y.y` double, s double", "y.y", "point or a backtick"),
        ("`y``y` double, s double", "y`y", "point or a backtick"),
        ("y double, s double, S double", "y", "'s' may be any of 's', 'S'"),
    ],
)
def test_names_that_spark_reads_otherwise_are_refused(spark, schema, label, words):
    frame = spark.createDataFrame([], schema)
    with pytest.raises(InputError, match=words):
        count_scores(frame, label=label, score="s")


def test_long_decimals_and_nested_segments_are_refused(spark):
    rows = spark.range(8).selectExpr(
        "cast(id % 4 = 0 as int) as y",
        f"cast({2**53} + id as decimal(38, 0)) as s",
        "array(id) as a",
        "map(id, id) as m",
    )
    options = {"label": "y", "score": "s", "unlabeled": 0}
    with pytest.raises(InputError, match=r"stay within ±2\*\*53"):
        count_scores(rows, **options)
    for column in ("a", "m"):
        with pytest.raises(InputError, match=f"in column '{column}'. Make a text"):
            count_scores(rows, by=column, **options)


CONNECT = """
import sys
import numpy as np
from pyspark.sql import SparkSession
from undercount.counts import ScoreCounts
from undercount.count.draw import draw_rows, stratum_of
from undercount.count.frames import count_scores

spark = SparkSession.builder.remote("local[2]").getOrCreate()
y, s = [1.0, None, 0.0, None, None], [0.5, 0.5, -0.0, 0.0, float("inf")]
frame = spark.createDataFrame(list(zip(y, s)), "y double, s double")
counts = count_scores(frame, label="y", score="s")
expected = ScoreCounts.from_counts([np.inf, 0.5, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1])
binned = count_scores(frame, label="y", score=["s"], bins=9)["s"]
for found in (counts, binned):
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
spark.stop()
print("the same")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("grpc") is None,
    reason="SPARK CONNECT IS NOT TESTED: pip install 'pyspark[connect]'",
)
def test_spark_connect():
    # A process has either a classic session or a connected one.
    command = [sys.executable, "-W", "ignore", "-c", CONNECT]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
    assert run.stdout.strip().endswith("the same"), run.stderr
