"""`undercount demo`: the bundled case and its truth."""

from undercount.cli.main import main


def test_demo_shows_the_hidden_truth(tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["demo", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "The hidden truth" in printed
    assert page.stat().st_size < 150_000
    story = {line[:46].strip(): line[46:].split()[0] for line in printed.splitlines()[-4:]}
    naive, alone, reviewed, truth = map(float, story.values())
    assert naive < 0.3
    assert abs(reviewed - truth) < 0.07
    assert "after 60 reviews chosen by a plan" in story
    assert f"<td>{truth:.3f}</td>" in page.read_text()
    assert alone > naive
