"""One place opens databases, and what is opened reaches no further than the user said."""

import ast
from pathlib import Path

import duckdb
import pytest

import undercount
from undercount.count.files import read_counts
from undercount.count.sources import open_source
from undercount.count.sql import allow_only, open_database

SOURCE = Path(undercount.__file__).parent
CAN_ALLOW = duckdb.__version__ >= "1.2"


def test_databases_are_opened_in_one_place():
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr == "connect"
        and isinstance(node.value, ast.Name)
        and node.value.id == "duckdb"
    ]
    assert found == ["count/sql.py"]


def test_no_extension_is_loaded_or_fetched_unasked():
    names = ("autoinstall_known_extensions", "autoload_known_extensions")
    with open_database() as connection:
        for name in (*names, "allow_community_extensions"):
            assert not connection.sql(f"SELECT current_setting('{name}')").fetchall()[0][0], name


@pytest.mark.skipif(not CAN_ALLOW, reason="DuckDB 1.1 cannot be kept to files")
def test_files_that_were_not_named_cannot_be_opened(tmp_path):
    named, other = tmp_path / "named.csv", tmp_path / "other.csv"
    for path in (named, other):
        path.write_text("y,s\n1,0.5\n0,0.2\n")
    with open_source(named, ["y", "s"]) as source:
        assert len(source.query(f"SELECT * FROM {source.table}").fetchall()) == 2  # noqa: S608
        for sql in (
            f"SELECT * FROM read_csv('{other}')",  # noqa: S608 - quoted
            f"COPY (SELECT 1) TO '{tmp_path / 'new.csv'}'",
            f"ATTACH '{tmp_path / 'new.db'}'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                source.connection.execute(sql)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["named.csv", "other.csv"]


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "it's.csv", "key=1/part.csv"])
def test_names_with_marks_are_still_opened(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("y,s\n1,0.5\n0,0.2\n")
    assert read_counts(path, label="y", score="s", unlabeled=0).n_rows == 2


@pytest.mark.skipif(not CAN_ALLOW, reason="DuckDB 1.1 cannot be kept to files")
def test_a_result_is_written_where_it_is_allowed(tmp_path):
    with open_database() as connection:
        allow_only(connection, [tmp_path / "new.csv"])
        connection.execute(f"COPY (SELECT 1 AS a) TO '{tmp_path / 'new.csv'}'")
    assert (tmp_path / "new.csv").read_text() == "a\n1\n"
