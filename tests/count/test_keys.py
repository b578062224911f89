"""Groups of rows: none is lost, none is merged with another, whatever the column's type."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import undercount as uc
from undercount.count.keys import code_keys, missing_rows, read_keys, split_places
from undercount.errors import InputError
from undercount.infer.clusters import read_clusters
from undercount.infer.segmented_rows import split_rows

LONG = [2**53, 2**53 + 1, None, None]
WORDS = ["a", None, "b", "a"]
FINE = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"], "M8[ns]")


def sizes(by):
    return {key: len(rows) for key, rows in split_rows(by, len(by)).items()}


@pytest.mark.parametrize(
    "column",
    [
        list,
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values[:2], values[2:]]),
        lambda values: pd.Series(values, dtype="Int64"),
        lambda values: pd.array(values, dtype="Int64"),
        lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.int64())),
        lambda values: pl.Series(values, dtype=getattr(pl, "Int128", pl.Int64)),
        lambda values: np.ma.array([each or 0 for each in values], mask=pd.isna(values)),
    ],
    ids=["list", "polars", "arrow", "chunks", "Int64", "array", "pandas arrow", "Int128", "masked"],
)
def test_long_numbers_beside_missing_ones_stay_apart(column):
    assert sizes(column(LONG)) == {2**53: 1, 2**53 + 1: 1, None: 2}


@pytest.mark.parametrize(
    "column",
    [
        lambda values: pa.array(values).dictionary_encode(),
        lambda values: pa.chunked_array([pa.array(values).dictionary_encode()]),
        lambda values: pc.run_end_encode(pa.array(values)),
        pd.Categorical,
        lambda values: pl.Series(values, dtype=pl.Categorical),
    ],
    ids=["dictionary", "dictionary chunks", "run ends", "categorical", "polars"],
)
def test_missing_words_are_no_word(column):
    assert sizes(column(WORDS)) == {"a": 2, "b": 1, None: 1}


def test_masks_of_segments_and_clusters_are_heard():
    masked = np.ma.array([0, 1, 0, 1], mask=[True, False, False, False])
    assert sizes(masked) == {0: 1, 1: 2, None: 1}
    days = np.array(["2024-01-01", "2024-01-02"] * 2, "M8[ns]")
    assert sizes(np.ma.array(days, mask=masked.mask)) == {
        dt.date(2024, 1, 1): 1, dt.date(2024, 1, 2): 2, None: 1,
    }  # fmt: skip
    with pytest.raises(InputError, match="cluster must be known for every row; it is missing in 1"):
        read_clusters(masked, 4)


def test_numbers_and_texts_are_not_one_group():
    mixed = [1, "1", True, 1.0]
    assert sizes(mixed) == {1: 3, "1": 1}
    frame = pd.DataFrame({"y": [1, 0, 0, 1], "s": range(4), "g": mixed})
    found = uc.count_scores(frame, label="y", score="s", by="g", unlabeled=0)
    assert {key: counts.n_rows for key, counts in found.items()} == {1: 3, "1": 1}
    assert np.unique(read_clusters(mixed, 4)).size == 2


@pytest.mark.parametrize("kind", ["M8[ns]", "m8[ns]"])
def test_times_that_python_would_merge_are_refused(kind):
    times = FINE.view(kind)
    with pytest.raises(InputError, match="times in by must differ by a microsecond"):
        split_rows(times, 2)
    with pytest.raises(InputError, match="times in cluster must differ by a microsecond"):
        read_clusters(times, 2)
    assert len(split_rows(np.array([1000, 2000]).view(kind), 2)) == 2


@pytest.mark.parametrize(
    "values", [[[1], None], [{"a": 1}, {"a": 2}], pl.Series([[1], [2]])], ids=str
)
def test_lists_are_no_groups(values):
    for read in (split_rows, read_clusters):
        with pytest.raises(InputError, match="must hold text, numbers or dates; got"):
            read(values, 2)


def test_ragged_lists_are_refused():
    with pytest.raises(InputError, match="by must hold one value a row"):
        split_rows([[1], [1, 2]], 2)


def test_all_that_is_missing_is_one_group_of_several_columns():
    odd = np.array([None, float("nan"), pd.NaT, 1], dtype=object)
    codes, held = code_keys(odd, "by")
    assert missing_rows(codes, held) == 3
    names = [read_keys(odd, "by"), np.array(["x", "x", "y", "y"])]
    found = split_places(
        names, lambda keys: [None if missing_rows(np.array([0]), [k]) else k for k in keys], "by"
    )
    assert {key: rows.tolist() for key, rows in found.items()} == {
        (None, "x"): [0, 1], (None, "y"): [2], (1, "y"): [3],
    }  # fmt: skip
