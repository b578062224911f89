"""Databases by URL: what is not there is said, and not made."""

import pytest

import undercount as uc
from undercount.count.databases import open_table


def test_a_file_that_is_not_there_is_refused_and_not_made(tmp_path):
    pytest.importorskip("ibis")
    path = tmp_path / "scores.db"
    table = open_table(f"duckdb://{path}", "monthly", None)
    with pytest.raises(uc.InputError, match="names no file"):
        table.__enter__()
    assert not path.exists()


def test_a_table_that_is_not_there_is_called_one(tmp_path):
    pytest.importorskip("ibis")
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "scores.db"
    duckdb.connect(str(path)).close()
    table = open_table(f"duckdb://{path}", "monthly", None)
    with pytest.raises(uc.InputError, match="NotFound: monthly"):
        table.__enter__()
