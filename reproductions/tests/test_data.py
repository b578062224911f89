"""Data sets: from a folder, from the variable, from OpenML, or a message that names the file."""

import numpy as np
import pytest

import undercount as uc
from undercount_reproductions import data as paper_data
from undercount_reproductions.catalogue import run_item


def test_missing_file_is_named(tmp_path):
    with pytest.raises(uc.InputError, match=r"covtype_scores_claesen\.parquet .*--data-dir"):
        run_item("claesen2015", "figure5", data_dir=tmp_path)


def test_data_from_the_variable(small_data, monkeypatch):
    monkeypatch.setenv("UNDERCOUNT_DATA", str(small_data))
    assert paper_data.load("pima").features.shape == (240, 3)


def test_bad_data_file(tmp_path):
    (tmp_path / "pima.csv").write_text("a,b\n1,2\n")
    with pytest.raises(uc.InputError, match="must have a column y"):
        paper_data.load("pima", tmp_path)
    (tmp_path / "pima.csv").write_text("a,y\n1,2\n3,1\n")
    with pytest.raises(uc.InputError, match="must hold 1 and 0"):
        paper_data.load("pima", tmp_path)


def test_openml(monkeypatch):
    class Found:
        data = np.eye(3)
        target = np.array(["1", "4", "5"])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: Found)
    assert paper_data.load("wine_white_cook").y.tolist() == [0, 1, 1]
    assert paper_data.load("spambase").y.tolist() == [1, 0, 0]

    def fail(**_):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(uc.InputError, match=r"spambase\.parquet.*OpenML's copy .* no network"):
        paper_data.load("spambase")


@pytest.mark.slow
def test_openml_as_it_is():
    """With or without a network: the data, or a message that names the file and the cause."""
    try:
        found = paper_data.load("pima")
    except uc.InputError as error:
        message = str(error)
        assert "pima.parquet (or .csv) is missing: no folder was given" in message
        assert "OpenML's copy (number 37) failed: " in message
    else:
        assert found.features.shape == (768, 8)
        assert found.y.sum() == 268
