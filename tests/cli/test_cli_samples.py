"""Samples in two files: nothing that is asked of them is silently left out."""

import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count.counts_file import open_counts

COLUMNS = ("s", "t")


@pytest.fixture
def drawn():
    rng = np.random.default_rng(8)
    truth = np.append(np.ones(150), rng.random(600) < 0.3)
    return np.round(rng.normal(1.5 * truth), 4), np.round(rng.normal(0.7 * truth), 4)


@pytest.fixture
def folder(tmp_path, monkeypatch, drawn):
    monkeypatch.chdir(tmp_path)
    lines = [f"{s},{t}" for s, t in zip(*drawn, strict=True)]
    for name, part in (("positives", lines[:150]), ("unlabeled", lines[150:])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["s,t", *part]) + "\n")
    labelled = [f"{int(row < 150)},{line}" for row, line in enumerate(lines)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,s,t", *labelled]) + "\n")
    (tmp_path / "words.csv").write_text("s,t\nhigh,1\nlow,2\n")
    return tmp_path


TWO = ["--positives", "positives.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]


@pytest.mark.parametrize("command", ["evaluate", "prevalence", "compare", "count"])
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["rows.csv"], "DATA do not go with --positives"),
        (["--label", "y"], "--label does not go with --positives"),
        (["--negative", "0"], "--negative does not go with --positives"),
        (["--weight", "t"], "--weight"),
    ],
)
def test_what_two_files_do_not_have_is_refused(command, more, said, folder, capsys):
    outputs = ["-o", "c.parquet"] if command == "count" else []
    second = ["--score", "t"] if command == "compare" else []
    assert main([command, *TWO, *second, *more, *outputs]) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "c.parquet").exists()


@pytest.mark.parametrize("other", ["positives.csv", "./positives.csv", "pos*.csv"])
@pytest.mark.parametrize("command", ["evaluate", "prevalence", "compare"])
@pytest.mark.usefixtures("folder")
def test_one_file_is_not_both_samples(command, other, capsys):
    arguments = ["--positives", "positives.csv", "--unlabeled", other, "--score", "s"]
    arguments += ["--score", "t"] if command == "compare" else []
    assert main([command, *arguments]) == 2
    assert "each file may be named once" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_text_among_the_scores_is_said(capsys):
    arguments = ["--positives", "words.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]
    for command in (["evaluate"], ["compare", "--score", "t"]):
        assert main([*command, *arguments]) == 2
        assert "column 's' of words.csv must hold numbers" in capsys.readouterr().err


def test_compare_reads_two_files(folder, drawn, capsys):
    arguments = ["compare", *TWO, "--score", "t", "--unlabeled-prevalence", "0.3"]
    assert main([*arguments, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    y = np.repeat([1.0, np.nan], [150, 600])
    told = {"unlabeled_prevalence": 0.3, "sampling": "case-control"}
    expected = uc.compare(y, dict(zip(COLUMNS, drawn, strict=True)), **told)
    found = {row["metric"]: row for row in document["differences"]}
    assert {model["sampling"] for model in document["models"]} == {"case-control"}
    for metric, row in found.items():
        difference = expected.difference(metric).difference
        assert row["difference"] == pytest.approx(difference.value, abs=1e-12)
        assert row["low"] == pytest.approx(difference.low, abs=1e-12)
    # By the definition: pairs of a positive and an unlabeled row, and the share that is hidden.
    naive = [np.mean(s[:150, None] > s[None, 150:]) for s in drawn]
    naive = [
        a + np.mean(s[:150, None] == s[None, 150:]) / 2 for a, s in zip(naive, drawn, strict=True)
    ]
    auc = [(a - 0.3 / 2) / 0.7 for a in naive]
    assert found["roc_auc"]["difference"] == pytest.approx(auc[0] - auc[1], abs=1e-9)
    # A row is compared only if every model has a score for it.
    with (folder / "unlabeled.csv").open("a") as file:
        file.write("5,\n")
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "150 positive rows read" in printed
    assert "601 unlabeled rows read" in printed
    assert "1 dropped (missing score)" in printed


def test_compare_offers_what_it_does(capsys):
    assert main(["compare", "--help"]) == 0
    offered = capsys.readouterr().out
    assert "--positives" in offered
    assert "--weight" not in offered


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("more", [["--weight", "t"], ["--unlabeled", "0"], ["--negative", "0"]])
def test_counts_are_not_counted_again(more, capsys):
    assert main(["count", *TWO, "-o", "one.parquet", "--quiet"]) == 0
    given = ["evaluate", "one.parquet", "--unlabeled-prevalence", "0.3"]
    assert main([*given, *more]) == 2
    assert f"{more[0]} does not go with counts files" in capsys.readouterr().err
    assert main([*given, "--quiet"]) == 0


def test_counts_of_two_files_know_them(folder):
    assert main(["count", *TWO, "-o", "one.parquet", "--quiet"]) == 0
    path = folder / "positives.csv"
    path.write_text(path.read_text() + "3,3\n")  # another day's rows under the same name
    assert main(["count", *TWO, "-o", "two.parquet", "--quiet"]) == 0
    assert main(["merge", "one.parquet", "two.parquet", "-o", "sum.parquet"]) == 0
    assert uc.load_counts("sum.parquet").n_positive == 301


def test_counts_of_two_samples_stay_two_samples(tmp_path, capsys):
    rng = np.random.default_rng(2)
    for name, score in (("p", rng.normal(1.5, 1, 300)), ("u", rng.normal(0, 1, 900))):
        pd.DataFrame({"s": score}).to_csv(tmp_path / f"{name}.csv", index=False)
    pd.DataFrame({"s": [1.0, 2.0, 3.0], "y": [1, 0, 0]}).to_csv(tmp_path / "one.csv", index=False)
    apart = ["--positives", str(tmp_path / "p.csv"), "--unlabeled", str(tmp_path / "u.csv")]
    counts, one = str(tmp_path / "apart.parquet"), str(tmp_path / "one.parquet")
    assert main(["count", *apart, "--score", "s", "-o", counts]) == 0
    assert main(["evaluate", *apart, "--score", "s", "--prevalence", "0.2"]) == 0
    direct = capsys.readouterr().out
    assert main(["evaluate", counts, "--prevalence", "0.2"]) == 0
    table = capsys.readouterr().out
    assert "case-control" in table
    line = next(line for line in direct.splitlines() if "ROC AUC" in line)
    assert line in table
    merged = str(tmp_path / "sum.parquet")
    assert main(["merge", counts, "-o", merged]) == 0
    assert open_counts(merged).sampling == "case-control"
    rows = ["--label", "y", "--unlabeled", "0", "--score", "s"]
    assert main(["count", str(tmp_path / "one.csv"), *rows, "-o", one]) == 0
    assert main(["merge", counts, one, "-o", str(tmp_path / "both.parquet")]) == 2
    assert "drawn apart (case-control)" in capsys.readouterr().err
    assert main(["evaluate", counts, one, "--prevalence", "0.2"]) == 2
    assert "judge them one by one" in capsys.readouterr().err
