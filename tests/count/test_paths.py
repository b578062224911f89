"""Each file is read once, and a name that exists is that file, whatever marks it holds."""

import json
import os

import pytest

import undercount as uc
from undercount.cli.main import main

HEAD = "fraud,risk\n"
COLUMNS = {"label": "fraud", "score": "risk"}
OPTIONS = ["--label", "fraud", "--score", "risk"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Two files in a folder, of three rows and of two."""
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text(HEAD + "1,0.9\n,0.5\n,0.1\n")
    (tmp_path / "rows" / "b.csv").write_text(HEAD + "1,0.8\n,0.2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


OVERLAPS = {
    "a folder and its file": (["rows", "rows/a.csv"], "rows/a.csv"),
    "a file and its folder": (["rows/b.csv", "rows"], "rows/b.csv"),
    "a pattern and its file": (["rows/*.csv", "rows/b.csv"], "rows/b.csv"),
    "a folder and a pattern": (["rows", "rows/a*.csv"], "rows/a.csv"),
    "two folders": (["rows", "./rows"], "rows/a.csv"),
    "a file twice": (["rows/a.csv", "rows/../rows/a.csv"], "rows/../rows/a.csv"),
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_a_file_named_twice_is_refused_by_its_name(case, here, capsys):
    paths, name = OVERLAPS[case]
    rule = f"each file may be named once, or its rows count twice; got {name} again"
    with pytest.raises(uc.InputError) as caught:
        uc.read_counts(paths, **COLUMNS)
    assert str(caught.value) == rule
    for command in (["evaluate", *paths], ["count", *paths, "-o", "counts.parquet"]):
        assert main([*command, *OPTIONS]) == 2
        printed = capsys.readouterr()
        assert (printed.out, printed.err) == ("", f"undercount: {rule}\n")
    assert not (here / "counts.parquet").exists()


def test_a_link_beside_its_file_is_refused(here):
    (here / "rows" / "latest.csv").symlink_to("b.csv")
    with pytest.raises(uc.InputError, match=r"got rows/latest.csv again"):
        uc.read_counts("rows", **COLUMNS)


def test_folders_patterns_and_files_that_do_not_overlap_add_up(here):
    (here / "more").mkdir()
    (here / "more" / "c.csv").write_text(HEAD + "0,0.3\n")
    counts = uc.read_counts(["rows/a*.csv", "more", "rows/b.csv"], **COLUMNS)
    assert (counts.n_positive, counts.n_negative, counts.n_unlabeled) == (2, 1, 3)


@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
@pytest.mark.parametrize(
    ("name", "other"), [("s[2].csv", "s2.csv"), ("a*.csv", "a1.csv"), ("q?.csv", "q1.csv")]
)
def test_an_existing_name_is_not_a_pattern(tmp_path, name, other):
    (tmp_path / name).write_text(HEAD + "1,0.9\n,0.5\n")
    (tmp_path / other).write_text(HEAD + "1,0.7\n,0.3\n,0.1\n")
    assert uc.read_counts(tmp_path / name, **COLUMNS).score.tolist() == [0.9, 0.5]
    assert uc.read_counts(tmp_path / other, **COLUMNS).n_rows == 3
    # In a folder too each is read once, and both may be named.
    for paths in (tmp_path, [tmp_path / name, tmp_path / other]):
        assert uc.read_counts(paths, **COLUMNS).n_rows == 5
    shares = ["--unlabeled-prevalence", "0.1", "--json", str(tmp_path / "out.json"), "--quiet"]
    assert main(["evaluate", str(tmp_path / name), *OPTIONS, *shares]) == 0
    (model,) = json.loads((tmp_path / "out.json").read_text())["models"]
    assert (model["counts"]["labelled_positive"], model["counts"]["unlabeled"]) == (1, 1)


@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
@pytest.mark.parametrize(("name", "other"), [("c[1].parquet", "c1.parquet"), ("c*.pq", "c1.pq")])
def test_a_counts_file_with_marks_of_a_pattern_is_itself(tmp_path, name, other):
    for size, file in ((2, name), (3, other)):
        rows = uc.ScoreCounts.from_rows([1] + [None] * size, [9, *range(size)])
        uc.write_counts(rows, tmp_path / file, source=file)
    counts = uc.load_counts(tmp_path / name)
    assert (counts.n_positive, counts.n_unlabeled) == (1, 2)
    assert uc.merge_counts([tmp_path / name, tmp_path / other]).n_unlabeled == 5
    assert main(["evaluate", str(tmp_path / name), "--unlabeled-prevalence", "0.1", "--quiet"]) == 0


@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
def test_broken_lines_of_such_a_file_are_its_own(tmp_path):
    (tmp_path / "j1.jsonl").write_text("\n\n\nnot JSON\n")
    path = tmp_path / "j[1].jsonl"
    path.write_text('{"fraud": 1, "risk": 0.5}\n{"risk": \n')
    with pytest.raises(uc.InputError, match="line 2: every line must hold one JSON object"):
        uc.read_counts(path, **COLUMNS)


def test_a_counts_file_named_twice_is_refused(tmp_path):
    path = tmp_path / "counts.parquet"
    uc.write_counts(uc.ScoreCounts.from_rows([1, None], [0.9, 0.2]), path)
    with pytest.raises(uc.InputError, match=r"counts.parquet counts the same rows as"):
        uc.merge_counts([path, path])
