"""`undercount reproduce`, which another package adds."""

import pytest

from undercount.cli.main import main


def test_reproduce_lists_runs_and_writes(tmp_path, capsys):
    assert main(["reproduce"]) == 0
    assert main(["reproduce", "cook2016"]) == 0
    assert "table2" in capsys.readouterr().out
    assert main(["reproduce", "aul2021", "figure1", "--out", str(tmp_path)]) == 0
    assert "0.74" in capsys.readouterr().out
    assert any(path.suffix == ".csv" for path in tmp_path.rglob("*"))
    assert main(["reproduce", "aul2021", "figure99"]) == 2
    assert main(["reproduce", "nobody1999"]) == 2


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
