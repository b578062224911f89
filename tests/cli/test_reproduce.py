"""`undercount reproduce`, which another package adds."""

from importlib.metadata import EntryPoints

import pytest

from undercount.cli.main import main


@pytest.fixture
def _installed(tmp_path, monkeypatch):
    """Let the entry point be found whether or not the package of reproductions is installed."""
    facts = tmp_path / "installed" / "undercount_reproductions-0.1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Name: undercount-reproductions\nVersion: 0.1.0\n")
    target = "reproduce = undercount_reproductions.command:reproduce"
    (facts / "entry_points.txt").write_text(f"[undercount.commands]\n{target}\n")
    monkeypatch.syspath_prepend(facts.parent)


def test_without_its_package_the_command_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: EntryPoints())
    assert main(["--help"]) == 0
    assert "  reproduce   Reproduce tables and figures" in capsys.readouterr().out
    for asked in ([], ["cook2016", "table2", "--runs", "3"]):
        assert main(["reproduce", *asked]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "pip install" in said.err
        assert "make reproduce" in said.err


@pytest.mark.usefixtures("_installed")
def test_reproduce_lists_runs_and_writes(tmp_path, capsys):
    assert main(["reproduce"]) == 0
    assert main(["reproduce", "cook2016"]) == 0
    assert "table2" in capsys.readouterr().out
    assert main(["reproduce", "aul2021", "figure1", "--out", str(tmp_path)]) == 0
    assert "0.74" in capsys.readouterr().out
    assert any(path.suffix == ".csv" for path in tmp_path.rglob("*"))
    assert main(["reproduce", "aul2021", "figure99"]) == 2
    assert main(["reproduce", "nobody1999"]) == 2


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("item", [[], ["aul2021"], ["aul2021", "figure1"], ["aul2021", "table1"]])
def test_reproduce_refuses_a_folder_that_is_not_there(item, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("UNDERCOUNT_DATA", raising=False)
    folder = tmp_path / "nowhere"
    assert main(["reproduce", *item, "--data-dir", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.err == (
        f"undercount: there is no folder '{folder}'; name that of the data files by --data-dir or "
        "UNDERCOUNT_DATA, or leave both out\n"
    )
    assert said.out == ""
    monkeypatch.setenv("UNDERCOUNT_DATA", str(folder))
    assert main(["reproduce", *item]) == 2
    assert capsys.readouterr().err == said.err


@pytest.mark.usefixtures("_installed")
def test_its_messages_name_options(capsys):
    assert main(["reproduce", "cook2016", "table2", "--runs", "0"]) == 2
    said = capsys.readouterr().err
    assert "--runs must be at least 1" in said
    assert said.count("\n") == 1
