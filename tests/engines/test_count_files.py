"""Counts files keep a table whole, any SQL engine can make one, and they add up."""

import json
import pathlib
import re

import duckdb
import numpy as np
import pytest

import undercount.count.counts_file
from undercount.count.counts_file import (
    align_counts,
    fingerprint,
    is_counts_file,
    load_counts,
    merge_counts,
    open_counts,
    write_counts,
)
from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.infer.labelled import naive_curve

COUNTS = ScoreCounts.from_counts([3.0, 2.0, -np.inf], [1, 0, 2], [0, 1, 0], [5, 0, 2.0**40])


def tables(columns):
    y, t, w = columns["y"], columns["t"], columns["w"]
    return {
        "exact": ScoreCounts.from_rows(y, t),
        "weighted": ScoreCounts.from_rows(y, t, sample_weight=w),
        "compact": ScoreCounts.from_rows(y, t, compact=True),
        "binned": ScoreCounts.from_rows(y, t).coarsened(16),
    }


@pytest.mark.parametrize("kind", ["exact", "weighted", "compact", "binned"])
def test_round_trip(tmp_path, kind, columns, same):
    counts = tables(columns)[kind]
    path = tmp_path / "counts.parquet"
    write_counts(counts, path)
    back = load_counts(path)
    same(back, counts)
    assert back.auc_error == counts.auc_error
    assert is_counts_file(path)


def test_a_threshold_that_was_kept_apart_can_be_asked_of_the_file(tmp_path, same):
    # No row has the score 5.5; of the four unlabeled ones one is above, of two positives one.
    y, score = [1, None, None, None, None, 1], [9, 6, 5, 4, 3, 1]
    counts = ScoreCounts.from_rows(y, score, compact=True, knots=[5.5])
    path = tmp_path / "counts.parquet"
    write_counts(counts, path)
    back = load_counts(path)
    same(back, counts)
    for table in (counts, back):
        point = naive_curve(table).at(5.5)
        assert (point.tpr, point.fpr) == (1 / 2, 1 / 4)


def test_empty_rows_of_a_file_without_merged_cells_are_left_out(tmp_path, same):
    path = tmp_path / "warehouse.parquet"
    rows = "(0.9, 1, 0, 0), (0.5, 0, 0, 0), (0.1, 0, 0, 3)"
    names = "score, positive, negative, unlabeled"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM (VALUES {rows}) t({names})) TO '{path}'")
    same(load_counts(path), ScoreCounts.from_counts([0.9, 0.1], [1, 0], [0, 0], [0, 3]))


def test_schema_and_metadata(tmp_path):
    path = tmp_path / "counts.parquet"
    write_counts(COUNTS, path, source="abc")
    with duckdb.connect() as connection:
        described = connection.sql(f"DESCRIBE FROM '{path}'").fetchall()
        meta = connection.sql(f"SELECT value FROM parquet_kv_metadata('{path}')").fetchall()  # noqa: S608
    assert [(row[0], row[1]) for row in described] == [
        (name, "DOUBLE") for name in ("score", "positive", "negative", "unlabeled")
    ]
    found = json.loads(meta[0][0])
    assert (found["version"], found["kind"], found["cells"]) == (1, "exact", 3)
    assert (found["auc_error"], found["source"]) == (0.0, ["abc"])


def test_a_file_made_by_sql(tmp_path, same):
    path = tmp_path / "warehouse.parquet"
    rows = "(1, 0.5), (NULL, 0.5), (0, 0.25), (NULL, -0.0), (NULL, 0.0)"
    sql = f"""COPY (SELECT s AS "SCORE", count(*) FILTER (y = 1) AS positive,
        count(*) FILTER (y = 0) AS negative, count(*) FILTER (y IS NULL) AS unlabeled
        FROM (VALUES {rows}) t(y, s) GROUP BY s) TO '{path}'"""  # noqa: S608
    with duckdb.connect() as connection:
        connection.execute(sql)
    expected = ScoreCounts.from_counts([0.5, 0.25, 0], [1, 0, 0], [0, 1, 0], [1, 0, 2])
    same(load_counts(path), expected)


def test_the_sql_of_the_documentation(tmp_path, monkeypatch, columns, same):
    page = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "counts-file.md"
    sql = re.search(r"-- DuckDB\n(.*?;)", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        connection.register("arrays", {"y": columns["y"], "p_fraud": columns["s"]})
        connection.execute(
            "CREATE TABLE scored AS SELECT p_fraud, CASE WHEN NOT isnan(y) THEN y END AS is_fraud "
            "FROM arrays"
        )
        connection.execute(sql[1])
    same(
        load_counts(tmp_path / "counts.parquet"),
        ScoreCounts.from_rows(columns["y"], columns["s"]),
    )


def test_what_is_no_counts_file(tmp_path):
    path = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS y, 0.5 AS score) TO '{path}'")
    assert not is_counts_file(path)
    assert not is_counts_file(tmp_path / "rows.csv")
    with pytest.raises(InputError, match="lacks positive, negative, unlabeled"):
        load_counts(path)
    with pytest.raises(InputError, match="there is no counts file"):
        load_counts(tmp_path / "none.parquet")
    (tmp_path / "broken.parquet").write_text("no")
    assert not is_counts_file(tmp_path / "broken.parquet")


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "counts.parquet"
    monkeypatch.setattr("undercount.count.counts_file.VERSION", 2)
    write_counts(COUNTS, path)
    monkeypatch.undo()
    with pytest.raises(InputError, match="newer version"):
        load_counts(path)


def test_negative_counts_are_refused(tmp_path):
    path = tmp_path / "counts.parquet"
    with duckdb.connect() as connection:
        sql = "SELECT 1.0 AS score, -1 AS positive, 0 AS negative, 0 AS unlabeled"
        connection.execute(f"COPY ({sql}) TO '{path}'")
    with pytest.raises(InputError, match=r"counts.parquet: positive"):
        load_counts(path)


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "counts.parquet"
    write_counts(COUNTS, path)
    before = path.read_bytes()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_counts(COUNTS + COUNTS, path)
    assert [file.name for file in tmp_path.iterdir()] == ["counts.parquet"]
    assert path.read_bytes() == before


def test_fingerprints(tmp_path):
    path, other = tmp_path / "rows.csv", tmp_path / "more" / "rows.csv"
    path.write_text("a" * 300_000)
    first = fingerprint(path)
    other.parent.mkdir()
    other.write_bytes(path.read_bytes())
    assert first == fingerprint(path) == fingerprint(other)
    for text in ("a" * 300_001, "b" + "a" * 299_999, "a" * 299_999 + "b"):
        path.write_text(text)
        assert first != fingerprint(path)


def parts(directory, columns, n_parts, edges=None):
    paths = []
    for place in range(n_parts):
        rows = slice(place, None, n_parts)
        counts = ScoreCounts.from_rows(columns["y"][rows], columns["t"][rows])
        path = directory / f"part{place}.parquet"
        write_counts(
            counts if edges is None else align_counts(counts, edges), path, source=f"day {place}"
        )
        paths.append(path)
    return paths


def test_merging_is_counting_the_whole(tmp_path, columns, same):
    output = tmp_path / "sum.parquet"
    merged = merge_counts(parts(tmp_path, columns, 7), output)
    same(merged, ScoreCounts.from_rows(columns["y"], columns["t"]))
    same(load_counts(output), merged)
    assert open_counts(output).sources == tuple(f"day {place}" for place in range(7))
    assert not list(tmp_path.glob("*.unfinished"))


def test_merging_on_a_grid(tmp_path, columns, same):
    edges = np.linspace(0, 1, 50)
    merged = merge_counts(parts(tmp_path, columns, 5, edges))
    whole = ScoreCounts.from_rows(columns["y"], columns["t"])
    same(merged, align_counts(whole, edges))
    assert merged.auc_error > 0


def test_mixed_grids_are_refused(tmp_path, columns):
    first = parts(tmp_path, columns, 1, [0.2, 0.4])[0].rename(tmp_path / "first.parquet")
    for edges in ([0.2, 0.5], None):
        second = parts(tmp_path, columns, 1, edges)[0]
        write_counts(load_counts(second), second, source="another day")
        with pytest.raises(InputError, match=r"part0.parquet cannot be added: .*same grid"):
            merge_counts([first, second])


def test_rows_counted_twice_are_refused(tmp_path):
    for name in ("a", "b"):
        write_counts(COUNTS, tmp_path / f"{name}.parquet", source="monday")
    with pytest.raises(InputError, match=r"b.parquet counts the same rows as .*a.parquet"):
        merge_counts([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_merging_goes_on_where_it_stopped(tmp_path, columns, monkeypatch, same):
    paths = parts(tmp_path, columns, 6)
    output = tmp_path / "sum.parquet"
    monkeypatch.setattr(undercount.count.counts_file, "NOTE_EVERY", -1.0)
    opened = []

    def open_three(path, connection):
        opened.append(path)
        if len(opened) == 4:
            raise KeyboardInterrupt
        return open_counts(path, connection)

    monkeypatch.setattr(undercount.count.counts_file, "open_counts", open_three)
    with pytest.raises(KeyboardInterrupt):
        merge_counts(paths, output)
    assert not output.exists()
    opened.clear()

    def open_rest(path, connection=None):
        opened.append(path)
        return open_counts(path, connection)

    monkeypatch.setattr(undercount.count.counts_file, "open_counts", open_rest)
    merged = merge_counts(paths, output)
    assert [path for path in opened if path.suffix == ".parquet"] == paths[3:]
    same(merged, ScoreCounts.from_rows(columns["y"], columns["t"]))


def test_notes_of_other_parts_are_not_used(tmp_path, columns, same):
    paths = parts(tmp_path, columns, 2)
    output = tmp_path / "sum.parquet"
    write_counts(COUNTS, f"{output}.unfinished", parts=["another part"])
    same(merge_counts(paths, output), ScoreCounts.from_rows(columns["y"], columns["t"]))


def test_nothing_to_merge(tmp_path):
    with pytest.raises(InputError, match="at least one"):
        merge_counts([])
    with pytest.raises(InputError, match="there is no counts file"):
        merge_counts([tmp_path / "none.parquet"])


def test_counts_are_written_through_links_and_to_files_only(tmp_path):
    counts = ScoreCounts.from_rows([1, None, None], [0.9, 0.9, 0.2])
    (tmp_path / "real.parquet").write_bytes(b"old")
    link = tmp_path / "link.parquet"
    link.symlink_to("real.parquet")
    write_counts(counts, link)
    assert link.is_symlink()
    assert load_counts(tmp_path / "real.parquet").n_unlabeled == 2
    with pytest.raises(InputError, match="is none"):
        write_counts(counts, tmp_path)
