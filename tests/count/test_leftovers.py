"""What a process that was killed leaves behind, and counts files that are damaged."""

import json
import math
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count import counts_file
from undercount.count.atomic_file import name_process, remove_leftovers, write_text
from undercount.errors import InputError, MisfitWarning

COUNTS = uc.ScoreCounts.from_rows([1, None, None, 1], [0.9, 0.8, 0.2, 0.1])


def name_of_a_dead_process():
    code = "from undercount.count.atomic_file import name_process; print(name_process())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603 - ours
    return done.stdout.strip()


def test_the_next_writing_removes_what_a_killed_one_left(tmp_path):
    dead, alive = name_of_a_dead_process(), name_process()
    for owner in (dead, alive):
        (tmp_path / f".page.html.{owner}.tmp").touch()
    (tmp_path / f".other.html.{dead}.tmp").touch()
    write_text(tmp_path / "page.html", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["page.html", f".page.html.{alive}.tmp", f".other.html.{dead}.tmp"]
    )


def test_folders_of_killed_processes_go(tmp_path):
    dead, alive = name_of_a_dead_process(), name_process()
    for owner in (dead, alive):
        folder = tmp_path / f"undercount-{owner}-x"
        folder.mkdir()
        (folder / "rows").touch()
    (tmp_path / "undercount-notes").mkdir()
    remove_leftovers(tmp_path, "undercount-*")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"undercount-{alive}-x", "undercount-notes"}


def write_with_meta(path: Path, meta: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT .5 AS score, 1 AS positive, 0 AS negative, 2 AS unlabeled) TO "
            f"'{path}' (FORMAT parquet, KV_METADATA {{undercount: '{meta}'}})"
        )


SOUND = {
    "version": 1,
    "kind": "exact",
    "cells": 1,
    "auc_error": 0.0,
    "grid": None,
    "squared_weight": None,
    "source": [],
    "parts": [],
    "sampling": None,
    "clusters": None,
}
DAMAGES = [
    ("version", "1"),
    ("version", 0),
    ("kind", "other"),
    ("cells", 2),
    ("auc_error", -1),
    ("auc_error", math.nan),
    ("grid", "0" * 32),
    ("squared_weight", [1, 2]),
    ("squared_weight", [1, -2, 3]),
    ("squared_weight", [1, math.nan, 3]),
    ("squared_weight", 7),
    ("source", [1]),
    ("source", "one"),
    ("sampling", "none"),
    ("clusters", {}),
]


@pytest.mark.parametrize(
    "meta",
    [
        *("no json", "[]", "null", "{}"),
        *(json.dumps({**SOUND, key: value}) for key, value in DAMAGES),
        *(json.dumps({at: SOUND[at] for at in SOUND if at != left_out}) for left_out in SOUND),
    ],
)
def test_a_counts_file_whose_words_are_damaged_is_refused(tmp_path, meta):
    path = tmp_path / "counts.parquet"
    write_with_meta(path, meta)
    with pytest.raises(InputError, match="damaged"):
        uc.load_counts(path)


def test_damaged_words_of_a_counts_file_end_a_command(tmp_path, capsys):
    path = tmp_path / "counts.parquet"
    write_with_meta(path, "no json")
    assert main(["evaluate", str(path), "--prevalence", ".5"]) == 2
    assert "damaged" in capsys.readouterr().err


def test_sound_words_are_read(tmp_path):
    path = tmp_path / "counts.parquet"
    write_with_meta(path, json.dumps(SOUND))
    assert uc.load_counts(path).n_unlabeled == 2


def test_damaged_notes_of_a_merge_are_set_aside(tmp_path):
    part, whole = tmp_path / "part.parquet", tmp_path / "whole.parquet"
    uc.write_counts(COUNTS, part)
    notes = tmp_path / "whole.parquet.unfinished"
    notes.write_bytes(b"half a file")
    with pytest.warns(MisfitWarning, match="begins anew"):
        uc.merge_counts([part], whole)
    assert uc.load_counts(whole).n_rows == COUNTS.n_rows
    assert (tmp_path / "whole.parquet.unfinished.damaged").read_bytes() == b"half a file"


def test_a_file_named_twice_is_refused_after_a_stop_too(tmp_path, monkeypatch):
    path, output = tmp_path / "a.parquet", tmp_path / "sum.parquet"
    uc.write_counts(COUNTS, path)
    opened = []

    def open_once(*arguments):
        opened.append(arguments)
        if len(opened) == 2:
            raise KeyboardInterrupt
        return counts_file.CountsFile(COUNTS, (), (), None)

    with monkeypatch.context() as patch:
        patch.setattr(counts_file, "NOTE_EVERY", -1.0)
        patch.setattr(counts_file, "open_counts", open_once)
        patch.setattr(counts_file, "_add_part", lambda *_: counts_file.CountsFile(
            COUNTS, (), (counts_file._part_name(path),), None
        ))  # fmt: skip
        with pytest.raises(KeyboardInterrupt):
            uc.merge_counts([path, path], output)
    assert Path(f"{output}.unfinished").exists()
    with pytest.raises(InputError, match="the same rows"):
        uc.merge_counts([path, path], output)
