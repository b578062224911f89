"""`undercount demo`: the bundled case and its truth."""

import duckdb
import pytest

from undercount.cli.main import main
from undercount.data.fraud import fraud_path


def test_demo_shows_the_hidden_truth(tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["demo", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "The hidden truth" in printed
    assert page.stat().st_size < 150_000
    lines = {line[:46].strip(): line[46:].split() for line in printed.splitlines()[-4:]}
    story = {name: words[0] for name, words in lines.items()}
    naive, floor, reviewed, truth = map(float, story.values())
    assert naive < 0.3
    assert abs(reviewed - truth) < 0.07
    assert "after 60 reviews chosen by a plan" in story
    assert f"<td>{truth:.3f}</td>" in page.read_text()
    # Labels and scores alone leave a range, from its floor on.
    assert lines["from labels and scores alone"] == [f"{floor:.3f}", "–", "1.000"]
    assert floor == naive


@pytest.mark.parametrize("name", ["fraud.csv", "fraud.parquet"])
def test_demo_saves_its_payments(tmp_path, name):
    path = tmp_path / name
    assert main(["demo", "--save", str(path)]) == 0
    assert [file.name for file in tmp_path.iterdir()] == [name]  # and no page
    with duckdb.connect() as connection:
        ours, bundled = (
            connection.sql(f"SELECT * FROM '{file}'").fetchnumpy()  # noqa: S608 - our own files
            for file in (path, fraud_path())
        )
    assert list(ours) == ["payment", "amount", "p_fraud", "rule_points", "is_fraud"]
    assert all((ours[name].astype(c.dtype) == c).all() for name, c in bundled.items())


def test_demo_refuses_formats_it_does_not_write(tmp_path, capsys):
    assert main(["demo", "--save", str(tmp_path / "fraud.txt")]) == 2
    assert "--save must end in .csv or .parquet" in capsys.readouterr().err
