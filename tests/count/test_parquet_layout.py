"""Parquet files of differing types or with confusing names: read as they are, or refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from undercount.count.files import read_counts
from undercount.count.sources import open_source
from undercount.errors import InputError

COLUMNS = {"label": "y", "score": "s", "unlabeled": 0}


@pytest.fixture
def write(tmp_path):
    def written(place, names, *columns):
        path = tmp_path / f"{place}.parquet"
        pq.write_table(pa.table([pa.array(column) for column in columns], names=names), path)
        return path

    return written


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([1, 0]), np.array([0.4, 0.6])),
        (np.array([0.4, 0.6]), np.array([1, 0])),
        (np.array([2**24 + 1, 2**24], np.int32), np.array([0.5, 0.25], np.float32)),
        (np.array([0.5, 0.25], np.float32), np.array([0.1, 0.1 + 1e-12])),
        (np.array([True, False]), np.array([0.4, 0.6])),
        (np.array([1, 2], np.int8), np.array([2**40, 3])),
        (np.array([1, 2]), ["0.4", "0.6"]),
        (np.array([0.1, 0.2], np.float32), ["0.4", "0.6"]),
    ],
)
def test_every_file_has_its_own_types(write, first, second):
    # By the types of the first file alone 0.4 and 0.6 would be 0 and 1.
    paths = [write(place, ["y", "s"], [1, 0], part) for place, part in enumerate((first, second))]
    found = read_counts(paths, **COLUMNS, compact=False)
    expected = {float(each) for part in (first, second) for each in part}
    assert set(found.score) == expected
    assert found.n_rows == 4


def test_labels_of_a_later_file_are_not_rounded(write):
    whole = write("whole", ["y", "s"], [1, 0], [0.1, 0.2])
    half = write("half", ["y", "s"], [1.0, 0.5], [0.3, 0.4])
    with pytest.raises(InputError, match=r"0\.5"):
        read_counts([whole, half], **COLUMNS)


def test_whole_numbers_beside_others_are_kept_apart_or_refused(write):
    long = write("long", ["y", "s"], [1, 0], [2**53, 2**53 + 1])
    short = write("short", ["y", "s"], [1, 0], [0.5, 0.25])
    for paths in ([long, short], [short, long]):
        with pytest.raises(InputError, match=r"within ±2\*\*53"):
            read_counts(paths, **COLUMNS)


def test_rows_keep_their_places_whatever_their_files_types(write):
    parts = [np.array([1, 2]), np.array([0.5, 0.25]), np.array([3, 4])]
    paths = [write(place, ["y", "s"], [1, 0], part) for place, part in enumerate(parts)]
    with open_source(paths, ["s"]) as source:
        found = source.query(f"SELECT s FROM {source.table}").fetchall()  # noqa: S608 - our own
    assert [score for (score,) in found] == np.concatenate(parts).tolist()


def test_a_column_that_a_later_file_lacks_is_named(write):
    paths = [write("a", ["y", "s"], [1, 0], [0.1, 0.2]), write("b", ["y", "S"], [1, 0], [0.3, 0.4])]
    with pytest.raises(InputError, match=r"no column 's' in .*b\.parquet; did you mean 'S'"):
        read_counts(paths, **COLUMNS)


def test_one_name_of_two_columns_is_refused(write):
    path = write("twice", ["y", "s", "s"], [1, 0], [0.1, 0.2], [0.3, 0.4])
    with pytest.raises(InputError, match="2 columns named 's'"):
        read_counts(path, **COLUMNS)


@pytest.mark.parametrize("names", [["y", "t", "t", "t_1"], ["y", "t", "T", "T_1"]])
def test_no_other_column_is_read_under_a_name_that_duckdb_gives(write, names):
    # It calls the third column t_1, or T_1, and the real one t_1_1.
    path = write("renamed", names, [1, 0], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    with pytest.raises(InputError, match=f"'{names[-1]}' of .* is too like another's"):
        read_counts(path, **{**COLUMNS, "score": names[-1]})


def test_names_inside_nested_columns_are_no_columns(write):
    nested = pa.array([{"s": 1, "y": [1, 2]}, {"s": 2, "y": []}])
    path = write("nested", ["y", "a", "s", "b"], [1, 0], nested, [0.1, 0.2], [[1], [2]])
    assert read_counts(path, **COLUMNS).score.tolist() == [0.2, 0.1]
