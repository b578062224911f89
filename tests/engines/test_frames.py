"""Every engine gives the same counts, bit for bit, as counting arrays does."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc
from undercount.count.frames import count_scores
from undercount.counts import ScoreCounts
from undercount.errors import InputError


def test_same_counts(constructor, columns, same):
    counts = count_scores(constructor(columns), label="y", score="s")
    same(counts, ScoreCounts.from_rows(columns["y"], columns["s"]))


def test_weights(constructor, columns, same):
    counts = count_scores(constructor(columns), label="y", score="s", weight="w")
    expected = ScoreCounts.from_rows(columns["y"], columns["s"], sample_weight=columns["w"])
    same(counts, expected)
    assert counts.weighted


def test_several_scores(constructor, columns, same):
    found = count_scores(constructor(columns), label="y", score=["s", "t"])
    assert list(found) == ["s", "t"]
    for name, counts in found.items():
        same(counts, ScoreCounts.from_rows(columns["y"], columns[name]))


def test_groups(constructor, columns, same):
    found = count_scores(constructor(columns), label="y", score="s", by="g")
    assert set(found) == {"north", "south"}
    for key, counts in found.items():
        mine = columns["g"] == key
        same(counts, ScoreCounts.from_rows(columns["y"][mine], columns["s"][mine]))


def test_groups_of_several_columns_and_scores(lazy_constructor, columns, same):
    found = count_scores(lazy_constructor(columns), label="y", score=["s", "t"], by=["g", "h"])
    assert set(found["t"]) == {(g, h) for g in ("north", "south") for h in range(3)}
    mine = (columns["g"] == "south") & (columns["h"] == 2)
    same(found["t"]["south", 2], ScoreCounts.from_rows(columns["y"][mine], columns["t"][mine]))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float32, bool])
def test_types_of_labels_and_scores(constructor, kind, same):
    y = np.array([1, 0, 0, 1, 1]).astype(kind)
    score = np.array([3, 2, 2, 1, 0]).astype(np.float32 if kind is bool else kind)
    counts = count_scores(constructor({"y": y, "s": score}), label="y", score="s", unlabeled=0)
    same(counts, ScoreCounts.from_counts([3, 2, 1, 0], [1, 0, 1, 1], [0] * 4, [0, 2, 0, 0]))


def test_a_value_that_means_unlabeled(constructor, same):
    frame = constructor({"y": np.array([1, -1, 0]), "s": np.array([3.0, 2.0, 1.0])})
    counts = count_scores(frame, label="y", score="s", unlabeled=-1)
    same(counts, ScoreCounts.from_counts([3, 2, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]))


def test_missing_group_is_none(constructor, columns):
    held = {**columns, "g": np.where(columns["h"] == 0, None, columns["g"])}
    found = count_scores(constructor(held), label="y", score="s", by="g")
    assert set(found) == {None, "north", "south"}
    assert found[None].n_rows == np.count_nonzero(columns["h"] == 0)


def message(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_unknown_labels_give_the_same_message(constructor):
    y, s = np.array([1.0, 2.0, 2.0, 0.0, np.nan]), np.arange(5.0)
    expected = message(lambda: ScoreCounts.from_rows(y, s))
    assert "{2: 2, 1: 1, 0: 1}" in expected
    # Engines return groups in any order, so that equally frequent values may change places.
    found = message(lambda: count_scores(constructor({"y": y, "s": s}), label="y", score="s"))
    assert found.replace("0: 1, 1: 1", "1: 1, 0: 1") == expected


def test_missing_scores_are_counted(constructor):
    frame = constructor({"y": np.array([1.0, 0.0, 1.0]), "s": np.array([0.5, np.nan, np.nan])})
    assert "score must not be missing; got 2 NaN" in message(
        lambda: count_scores(frame, label="y", score="s")
    )


@pytest.mark.parametrize("weight", [-1.0, np.inf])
def test_bad_weights(constructor, weight):
    frame = constructor(
        {"y": np.array([1.0, 0.0]), "s": np.arange(2.0), "w": np.array([1, weight])}
    )
    assert "finite and not negative" in message(
        lambda: count_scores(frame, label="y", score="s", weight="w")
    )


def test_weights_of_nothing(constructor):
    frame = constructor({"y": np.array([1.0, 0.0]), "s": np.arange(2.0), "w": np.zeros(2)})
    assert "must not be 0 for every row" in message(
        lambda: count_scores(frame, label="y", score="s", weight="w")
    )


def test_text_is_refused(constructor, columns):
    for label, score in (("g", "s"), ("y", "g")):
        found = message(lambda: count_scores(constructor(columns), label=label, score=score))  # noqa: B023
        assert "'g'" in found
        assert "string" in found


def test_no_rows(constructor):
    frame = constructor({"y": np.zeros(0), "s": np.zeros(0)})
    assert "at least one row" in message(lambda: count_scores(frame, label="y", score="s"))


def test_large_integers_are_refused(constructor):
    frame = constructor({"y": np.array([1, 0]), "s": np.array([2**53 + 1, 0])})
    assert "±2**53" in message(lambda: count_scores(frame, label="y", score="s"))


def test_nearest_column_names(constructor, columns):
    held = {**columns, "p_fraud": columns["t"]}
    found = message(lambda: count_scores(constructor(held), label="y", score="fraud_p"))
    assert "there is no column 'fraud_p' in the frame; did you mean 'p_fraud'?" in found


@pytest.mark.parametrize("options", [{}, {"bins": 9}, {"compact": True}])
def test_nan_that_parquet_statistics_hide(tmp_path, options):
    # Least and largest values in the file leave NaN out; DuckDB takes them for the whole truth.
    y = np.array([1.0, 0.0, np.nan, np.nan, 1.0])
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"y": y, "s": np.arange(5.0)}).write_parquet(path)
    connection = duckdb.connect()
    counts = count_scores(connection.sql(f"FROM '{path}'"), label="y", score="s", **options)
    assert (counts.n_positive, counts.n_negative, counts.n_unlabeled) == (2, 1, 2)
    pl.DataFrame({"y": y, "s": np.array([0, 1, 2, np.nan, 4])}).write_parquet(path)
    relation = connection.sql(f"FROM '{path}'")
    assert "got 1 NaN" in message(lambda: count_scores(relation, label="y", score="s", **options))


def test_what_is_no_frame():
    found = message(lambda: count_scores([1, 2], label="y", score="s"))
    assert "got builtins.list" in found


def test_bins_and_unlabeled_are_checked(columns):
    frame = pd.DataFrame(columns)
    assert "at least 1" in message(lambda: count_scores(frame, label="y", score="s", bins=0))
    assert "must not be 1" in message(
        lambda: count_scores(frame, label="y", score="s", unlabeled=1)
    )


numbers = st.sampled_from([0.0, -0.0, 0.5, -1.5, float("inf"), float("-inf"), 5e-324, 1e300])
rows = st.lists(
    st.tuples(st.sampled_from([1.0, 0.0, None]), st.one_of(numbers, st.floats(allow_nan=False))),
    min_size=1,
    max_size=30,
)


@given(data=rows)
@settings(deadline=None, max_examples=25)
def test_random_frames_agree(engines, data):
    y, s = [row[0] for row in data], [row[1] for row in data]
    expected = ScoreCounts.from_rows(np.array(y, dtype=float), np.array(s))
    columns = {"y": np.array(y, dtype=float), "s": np.array(s)}
    for name, make in engines.items():
        counts = count_scores(make(columns), label="y", score="s")
        for field in ("score", "positive", "negative", "unlabeled"):
            np.testing.assert_array_equal(getattr(counts, field), getattr(expected, field), name)


@pytest.mark.parametrize(("package", "hint"), [("ray", "iter_batches"), ("daft", "to_arrow_iter")])
def test_frames_that_narwhals_does_not_know_are_refused_with_a_way(package, hint):
    kind = type("Dataset", (), {"__module__": f"{package}.data", "columns": ["y", "s"]})
    with pytest.raises(InputError, match=hint):
        count_scores(kind(), label="y", score="s")
    with pytest.raises(InputError, match=hint):
        uc.evaluate(kind(), label="y", score="s", prevalence=0.1)


def test_batches_of_other_engines_are_counted_and_summed():
    """What the hints for Ray Data and Daft say to do: their batches are pyarrow's."""
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 500), rng.integers(0, 90, 500) / 90
    table = pa.table({"y": y, "s": s})
    batches = table.to_batches(max_chunksize=170)
    assert len(batches) == 3
    counts = sum(count_scores(batch, label="y", score="s", unlabeled=0) for batch in batches)
    expected = ScoreCounts.from_rows(y, s, unlabeled=0)
    for field in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(counts, field), getattr(expected, field))


def test_names_that_do_not_say_which_column_is_meant_are_refused():
    rows = [[1, 0.5, 0.1], [0, 0.2, 0.3]]
    twice = pd.DataFrame(rows, columns=["y", "s", "s"])
    for frame in (twice, pa.table([[1, 0], [0.5, 0.2], [0.1, 0.3]], names=["y", "s", "s"])):
        with pytest.raises(InputError, match="each column must have a name of its own"):
            count_scores(frame, label="y", score="s", unlabeled=0)
    with pytest.raises(InputError, match="columns are named by text; got 0"):
        count_scores(pd.DataFrame(rows), label=0, score=1, unlabeled=0)
    pairs = pd.MultiIndex.from_tuples([("a", "y"), ("a", "s"), ("b", "s")])
    with pytest.raises(InputError, match=r"columns are named by text; got \('a', 'y'\)"):
        count_scores(pd.DataFrame(rows, columns=pairs), label=("a", "y"), score="s", unlabeled=0)


def rows_by(frame, by="g"):
    found = count_scores(frame, label="y", score="s", by=by)
    return {key: counts.n_rows for key, counts in found.items()}


def test_no_row_is_lost_where_two_values_are_one_group():
    y, s = [1, None] * 4, list(range(8))
    holes = pa.array([1.0, None, float("nan"), 2.0] * 2)
    zeros = pa.array([0.0, -0.0] * 4)
    for make in (
        lambda table: table,
        pl.from_arrow,
        lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    ):
        frame = make(pa.table({"y": y, "s": s, "g": holes, "h": holes, "z": zeros}))
        assert rows_by(frame) == {1.0: 2, 2.0: 2, None: 4}
        assert rows_by(frame, ["g", "h"]) == {(1.0, 1.0): 2, (2.0, 2.0): 2, (None, None): 4}
        assert rows_by(frame, "z") == {0.0: 8}


@pytest.mark.parametrize("kind", [pl.Datetime("ns"), pl.Duration("ns")], ids=str)
def test_times_that_python_would_merge_are_refused(kind):
    columns = {"y": [1, None], "s": [2.0, 1.0], "g": pl.Series([1, 2]).cast(kind)}
    wide = {**columns, "g": pl.Series([1000, 2000]).cast(kind)}
    for make in (pl.DataFrame, pl.LazyFrame):
        with pytest.raises(InputError, match="times in by must differ by a microsecond"):
            rows_by(make(columns))
        assert sorted(rows_by(make(wide)).values()) == [1, 1]


def test_columns_that_are_no_groups_are_refused(lazy_constructor):
    columns = {"y": [1, None], "s": [2.0, 1.0], "undercount_rows": [1, 2], "h": [1, 2]}
    for make in (lazy_constructor, pl.DataFrame):
        with pytest.raises(InputError, match="by must name a column once; got 'h' 2 times"):
            rows_by(make(columns), ["h", "h"])
        with pytest.raises(InputError, match="columns of by must not begin with 'undercount_'"):
            rows_by(make(columns), "undercount_rows")


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("value", [[1], {"a": 1}], ids=["list", "struct"])
def test_lists_are_no_groups(make, value):
    with pytest.raises(InputError, match="by must hold text, numbers or dates; got"):
        rows_by(make({"y": [1, None], "s": [2.0, 1.0], "g": [value, value]}))


def test_columns_of_other_encodings_are_read_as_evaluate_reads_them():
    y, s = [1, None, 0, 1], [0.4, 0.3, 0.2, 0.1]
    words = pc.run_end_encode(pa.array(["a", "a", None, "b"]))
    assert rows_by(pa.table({"y": y, "s": s, "g": words})) == {"a": 2, "b": 1, None: 1}
    expected = ScoreCounts.from_rows(y, s)
    for frame in (
        pd.DataFrame({"y": pd.Series(y, dtype=object), "s": pd.Series(s, dtype=object)}),
        pd.DataFrame({"y": pd.Categorical(y), "s": pd.Categorical(s)}),
        pa.table({"y": pa.array(y).dictionary_encode(), "s": pa.array(s).dictionary_encode()}),
    ):
        counts = count_scores(frame, label="y", score="s")
        assert counts.positive.tolist() == expected.positive.tolist()
        assert counts.score.tolist() == expected.score.tolist()


def test_columns_without_text_names_are_named_in_the_message():
    with pytest.raises(InputError, match="no column '0' in the frame; did you mean 0"):
        count_scores(pd.DataFrame({0: [1, 0], 1: [2.0, 1.0]}), label="0", score="1")
    pairs = pd.DataFrame({("a", "y"): [1, 0], ("a", "s"): [2.0, 1.0]})
    with pytest.raises(InputError, match=r"It has \('a', 'y'\), \('a', 's'\)"):
        count_scores(pairs, label="y", score="s")
