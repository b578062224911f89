"""Pages of the documentation."""

from undercount_reproductions.catalogue import run_item
from undercount_reproductions.pages import write_pages


def test_pages(tmp_path):
    run_item("aul2021", "figure1", seed=3).write(tmp_path / "results")
    index, page = write_pages(tmp_path / "results", tmp_path / "docs", date="2026-11-15")
    text = page.read_text()
    assert "2026-11-15" in text
    assert "seed 3" in text
    assert "| AUC | 0.74 | 0.74 |" in text
    assert (tmp_path / "docs" / "aul2021-figure1.svg").exists()
    assert "not run yet" in index.read_text()


def test_pages_of_some_papers(tmp_path):
    for item in (("aul2021", "figure1"), ("jain2017", "figure1")):
        run_item(*item).write(tmp_path / "results")
    pages = write_pages(
        tmp_path / "results", tmp_path / "docs", date="2026-11-15", papers=["jain2017"]
    )
    assert [page.name for page in pages] == ["index.md", "jain2017.md"]
    assert "[figure1](aul2021.md)" in pages[0].read_text()
    assert not (tmp_path / "docs" / "aul2021-figure1.svg").exists()
