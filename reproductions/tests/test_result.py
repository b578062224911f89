"""A result's files: tables, figures, and what is read back."""

import csv
import sys

import numpy as np
import pytest

from undercount_reproductions.catalogue import run_item
from undercount_reproductions.drawing import Box, Line, Panel, draw
from undercount_reproductions.result import Result


def test_write_and_read(tmp_path):
    result = run_item("aul2021", "figure1")
    names = {path.name for path in result.write(tmp_path)}
    stem = "aul2021-figure1"
    assert names == {f"{stem}{end}" for end in (".csv", ".json", "-figure.csv", ".svg", ".png")}
    with (tmp_path / f"{stem}.csv").open() as file:
        table = list(csv.reader(file))
    assert table[0] == ["what", "ours", "published"]
    assert float(table[1][1]) == pytest.approx(0.74)
    again = Result.read(tmp_path / f"{stem}.json")
    assert again.text() == result.text()
    assert again.panels == result.panels


def test_write_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert draw(run_item("aul2021", "figure1").panels, tmp_path / "x") == []


def test_boxes_hold_the_five_numbers(tmp_path):
    values = np.random.default_rng(0).normal(size=101)
    box = Box.of("some", values)
    ordered = np.sort(values)
    assert box.five == pytest.approx(ordered[[0, 25, 50, 75, 100]].tolist(), abs=1e-5)
    assert box.mean == pytest.approx(values.mean(), abs=1e-5)
    panel = Panel("boxes", "", "error", boxes=(box,))
    result = Result("p", "i", "t", ("a",), ((1,),), (), 1, 0, (panel,))
    assert {path.suffix for path in result.write(tmp_path)} == {".csv", ".json", ".svg", ".png"}
    assert Result.read(tmp_path / "p-i.json").panels == (panel,)
    with (tmp_path / "p-i-figure.csv").open() as file:
        assert [float(row["y"]) for row in csv.DictReader(file)] == box.five
    assert "<!-- some -->" in (tmp_path / "p-i.svg").read_text()  # text is drawn as paths


def test_surface_is_drawn(tmp_path):
    assert all(
        path.exists() for path in draw(run_item("jain2017", "figure4").panels, tmp_path / "x")
    )


def test_lines_are_thinned():
    line = Line.of("", np.arange(10_000), np.arange(10_000))
    assert (line.x[0], line.x[-1]) == (0, 9999)
    assert 295 <= len(line.x) <= 300
    assert np.diff(line.x).max() < 2 * 10_000 / 295
