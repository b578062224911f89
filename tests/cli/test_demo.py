"""`undercount demo`: the bundled case and its truth."""

from undercount.cli.main import main


def test_demo_shows_the_hidden_truth(tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["demo", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "The hidden truth" in printed
    assert page.stat().st_size < 150_000
