"""Counts that say which rows belong together: pairs of rows, from every engine."""

import importlib.util

import numpy as np
import pandas as pd
import polars as pl
import pytest

import undercount as uc
from undercount.count.counts_file import load_counts, merge_counts, write_counts

CUT = 1.0


def draw(seed=0, n_clusters=200, size=5, likeness=0.7):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), rng.integers(1, 2 * size, n_clusters))
    truth = rng.random(cluster.size) < 0.25
    noise = likeness**0.5 * rng.normal(size=n_clusters)[cluster]
    score = 1.5 * truth + noise + (1 - likeness) ** 0.5 * rng.normal(size=cluster.size)
    chosen = rng.random(n_clusters)[cluster]
    y = np.where(truth & (chosen < 0.5), 1.0, np.nan)
    y[~truth & (chosen < 0.1)] = 0.0
    return pd.DataFrame({"y": y, "s": score, "who": [f"c{each}" for each in cluster]})


def test_pairs_are_those_of_all_rows():
    frame = draw(n_clusters=30)
    held = uc.count_scores(frame, label="y", score="s", cluster="who", knots=(CUT,)).clusters
    assert CUT in held.edges
    kind = np.select([frame["y"] == 1, frame["y"].isna()], [0, 1], 2)
    place = np.searchsorted(held.edges, frame["s"], side="right") - 1
    cell = kind * len(held.edges) + place
    labels = frame.assign(one=frame["y"] == 1).groupby("who")["one"].transform("sum")
    pairs, weighted = np.zeros_like(held.pairs), np.zeros_like(held.pairs)
    for i in range(len(frame)):
        for j in np.flatnonzero(frame["who"] == frame["who"][i]):
            pairs[cell[i], cell[j]] += 1
            weighted[cell[i], cell[j]] += labels[i]
    np.testing.assert_array_equal(held.pairs, pairs)
    np.testing.assert_array_equal(held.labelled_pairs, weighted)
    sizes = frame.groupby("who").size()
    np.testing.assert_allclose(held.rows, [(sizes**power).sum() for power in (1, 2, 3, 4)])
    assert held.n_clusters == len(sizes)


def engines(frame):
    import duckdb  # noqa: PLC0415

    yield pl.from_pandas(frame)
    yield pl.from_pandas(frame).lazy()
    yield duckdb.from_df(frame)
    if importlib.util.find_spec("ibis"):
        import ibis  # noqa: PLC0415

        yield ibis.memtable(pl.from_pandas(frame).to_arrow())  # pandas itself makes it warn


# DuckDB's word to Ibis, not to us.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_every_engine_counts_the_same_pairs(dask_frame):
    frame = draw()
    ask = {"label": "y", "score": "s", "cluster": "who", "knots": (CUT,)}
    expected = uc.count_scores(frame, **ask).clusters
    for native in (*engines(frame), dask_frame(frame)):
        found = uc.count_scores(native, **ask).clusters
        for name in ("edges", "pairs", "labelled_pairs", "labels", "rows"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name))
        assert (found.n_clusters, found.n_labelled) == (expected.n_clusters, expected.n_labelled)


@pytest.fixture
def dask_frame():
    dask = pytest.importorskip("dask.dataframe")
    return lambda frame: dask.from_pandas(frame, npartitions=3)


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("likeness", [0.0, 0.9])
def test_intervals_of_counts_are_near_those_of_rows(target, likeness):
    frame = draw(likeness=likeness, n_clusters=400)
    ask = {"threshold": CUT, "prevalence": 0.25, "target": target}
    exact = uc.evaluate(frame["y"], frame["s"], cluster=frame["who"], **ask)
    counts = uc.count_scores(frame, label="y", score="s", cluster="who", knots=(CUT,))
    found = uc.evaluate(counts, **ask)
    plain = uc.evaluate(frame["y"], frame["s"], **ask)
    for row, other, independent in zip(exact.rows, found.rows, plain.rows, strict=True):
        width, near = row.estimate.interval.width, other.estimate.interval.width
        assert near == pytest.approx(width, rel=0.06), row.label
        if likeness and row.metric in ("recall", "roc_auc"):
            assert near > 1.15 * independent.estimate.interval.width
    assert any(check.code == "UC020" for check in found.checks)


def test_a_lazy_frame_is_counted_by_cluster_where_it_lies():
    frame = draw(n_clusters=400)
    ask = {"label": "y", "score": "s", "threshold": CUT, "prevalence": 0.25}
    exact = uc.evaluate(frame, cluster="who", **ask)
    found = uc.evaluate(pl.from_pandas(frame).lazy(), cluster="who", **ask)
    width, near = (each["recall"].interval.width for each in (exact, found))
    assert near == pytest.approx(width, rel=0.03)  # at a threshold that a bin begins with


def test_files_keep_them_and_refuse_to_add(tmp_path):
    frame = draw()
    counts = uc.count_scores(frame, label="y", score="s", cluster="who")
    path = tmp_path / "counts.parquet"
    write_counts(counts, path)
    again = load_counts(path).clusters
    for name in ("edges", "pairs", "labelled_pairs", "labels", "rows"):
        np.testing.assert_array_equal(getattr(again, name), getattr(counts.clusters, name))
    assert path.stat().st_size < 150_000
    other = tmp_path / "other.parquet"
    write_counts(uc.count_scores(draw(1), label="y", score="s"), other)
    with pytest.raises(uc.InputError, match="counts by cluster cannot be added"):
        merge_counts([path, other])
    with pytest.raises(uc.InputError, match="counts by cluster cannot be added"):
        counts + counts


def test_what_is_not_counted_is_refused():
    frame = draw()
    ask = {"label": "y", "score": "s", "cluster": "who"}
    with pytest.raises(uc.InputError, match="leave out by"):
        uc.count_scores(frame, **ask, by="who")
    frame.loc[3, "who"] = None
    with pytest.raises(uc.InputError, match="missing in 1"):
        uc.count_scores(frame, **ask)
    with pytest.raises(uc.InputError, match="no column 'whom'"):
        uc.count_scores(frame, label="y", score="s", cluster="whom")
