"""Counting batch by batch gives the compact table that counting all rows at once gives."""

import duckdb
import numpy as np
import polars as pl
import pytest

import undercount.count.batches
import undercount.count.frames
import undercount.count.kernel.buckets
from undercount.count.files import read_counts
from undercount.count.frames import count_scores
from undercount.counts import ScoreCounts

# What the default merges is what is looked at here; that it warns, in test_many_scores.py.
pytestmark = pytest.mark.filterwarnings("ignore::undercount.CompactCountsWarning")


def shapes(size):
    rng = np.random.default_rng(3)
    logit = rng.normal(size=size)
    tied = np.where(rng.random(size) < 0.5, np.round(rng.random(size), 2), rng.random(size))
    infinite = rng.normal(size=size)
    infinite[:3] = [np.inf, -np.inf, -0.0]
    return {
        "uniform": rng.random(size),
        "crowded": 1 / (1 + np.exp(15 - 5 * logit)),
        "saturated": 1 / (1 + np.exp(-8 - 8 * logit)),
        "tied": tied,
        "infinite": infinite,
        "constant": np.full(size, 0.25),
    }


@pytest.fixture
def small_limits(monkeypatch):
    """Make a few thousand rows large, and batches and buckets small."""
    monkeypatch.setattr(undercount.count.frames, "EXACT_LIMIT", 0)
    monkeypatch.setattr(undercount.count.batches, "BATCH", 700)
    monkeypatch.setattr(undercount.count.kernel.buckets, "CHUNK", 300)
    monkeypatch.setattr(undercount.count.kernel.buckets, "NEAR_ROWS", 200)
    monkeypatch.setattr(undercount.count.kernel.buckets, "BUCKET_BITS", (2, 8))


def saved(directory, **columns):
    path = directory / "rows.parquet"
    pl.DataFrame(columns).write_parquet(path, row_group_size=1000)
    return path


@pytest.mark.parametrize("shape", shapes(9))
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5])
@pytest.mark.usefixtures("small_limits")
def test_same_as_all_at_once(tmp_path, same, shape, share):
    rng = np.random.default_rng(4)
    score = shapes(4000)[shape]
    y = np.where(rng.random(4000) < share, rng.choice([1.0, 0.0], 4000), np.nan)
    knots = (0.5, 0.123, -7.0)
    path = saved(tmp_path, y=y, s=score)
    counts = read_counts(path, label="y", score="s", knots=knots)
    same(counts, ScoreCounts.from_rows(y, score, compact=True, knots=knots))


@pytest.mark.usefixtures("small_limits")
def test_weights(tmp_path, same):
    rng = np.random.default_rng(5)
    y = np.where(rng.random(4000) < 0.05, 1.0, np.nan)
    score, weight = rng.random(4000), rng.integers(0, 9, 4000) / 8
    path = saved(tmp_path, y=y, s=score, w=weight)
    counts = read_counts(path, label="y", score="s", weight="w")
    expected = ScoreCounts.from_rows(y, score, sample_weight=weight, compact=True)
    same(counts, expected)


@pytest.mark.usefixtures("small_limits")
def test_several_scores_in_one_pass(tmp_path, same):
    rng = np.random.default_rng(7)
    y = np.where(rng.random(4000) < 0.05, rng.choice([1.0, 0.0], 4000), np.nan)
    weight = rng.integers(0, 9, 4000) / 8
    scores = {name: shapes(4000)[name] for name in ("crowded", "tied", "infinite")}
    path = saved(tmp_path, y=y, w=weight, **scores)
    found = read_counts(path, label="y", score=list(scores), weight="w")
    for name, score in scores.items():
        expected = ScoreCounts.from_rows(y, score, sample_weight=weight, compact=True)
        same(found[name], expected)


@pytest.mark.usefixtures("small_limits")
def test_float32_scores(tmp_path, same):
    rng = np.random.default_rng(6)
    y = np.where(rng.random(3000) < 0.05, 1.0, np.nan)
    score = rng.random(3000).astype(np.float32)
    counts = read_counts(saved(tmp_path, y=y, s=score), label="y", score="s")
    same(counts, ScoreCounts.from_rows(y, score, compact=True))


@pytest.mark.usefixtures("small_limits")
def test_progress_ends_at_all_rows(tmp_path):
    seen = []
    path = saved(tmp_path, y=np.full(3000, None, object).astype(float), s=np.arange(3000.0))
    read_counts(path, label="y", score="s", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.usefixtures("small_limits")
def test_errors_are_found_before_counting(tmp_path):
    path = saved(tmp_path, y=np.array([1.0, np.nan]), s=np.array([0.5, np.nan]))
    with pytest.raises(ValueError, match=r"got 1 NaN in column 's'.*row 2"):
        read_counts(path, label="y", score="s")
    path = saved(tmp_path, y=np.array([1.0, 3.0]), s=np.array([0.5, 0.1]))
    with pytest.raises(ValueError, match="pass unlabeled=3"):
        read_counts(path, label="y", score="s")


def test_compact_on_request(lazy_constructor, columns, same):
    counts = count_scores(
        lazy_constructor(columns), label="y", score="t", compact=True, knots=[0.5]
    )
    same(counts, ScoreCounts.from_rows(columns["y"], columns["t"], compact=True, knots=[0.5]))


@pytest.mark.usefixtures("small_limits")
def test_every_score_on_request(columns, same):
    connection = duckdb.connect()
    connection.register("t", pl.DataFrame(columns).to_arrow())
    counts = count_scores(connection.sql("FROM t"), label="y", score="t", compact=False)
    same(counts, ScoreCounts.from_rows(columns["y"], columns["t"]))


@pytest.mark.usefixtures("small_limits")
def test_without_pyarrow(monkeypatch, columns, same, tmp_path):
    path = saved(tmp_path, y=columns["y"], t=columns["t"])
    monkeypatch.setattr(undercount.count.frames.importlib.util, "find_spec", lambda _: None)
    counts = read_counts(path, label="y", score="t")
    same(counts, ScoreCounts.from_rows(columns["y"], columns["t"], compact=True))
