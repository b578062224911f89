"""`undercount compare`: models on the same rows."""

import importlib.resources
import json

import jsonschema
import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main

COLUMNS = ["--label", "fraud", "--score", "good"]


def test_compare_takes_a_threshold_a_model_and_one_share(folder, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    assert main([*arguments, "--threshold", "0.8", "--threshold", "0.2"]) == 0
    printed = capsys.readouterr().out
    table = printed.partition("At own thresholds, ")[2].splitlines()
    assert [line.split()[:2] for line in table[2:4]] == [["good", "0.8"], ["poor", "0.2"]]
    assert "by the scores of good, for all models" in " ".join(printed.split())


def test_compare_prints_differences(folder, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    assert main([*arguments, "--prevalence", "0.3"]) == 0
    assert "good minus poor" in capsys.readouterr().out


def test_compare_answers_the_question_that_is_asked(folder, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    arguments += ["--prevalence", "0.3", "--json", "-"]
    found = {}
    for question in ("population", "rows"):
        assert main([*arguments, "--question", question]) == 0
        found[question] = json.loads(capsys.readouterr().out)
        assert found[question]["question"] == question
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == found["population"]
    widths = [d["differences"][0]["high"] - d["differences"][0]["low"] for d in found.values()]
    assert widths[1] < widths[0]
    assert found["rows"]["models"] == found["population"]["models"]
    assert main([*arguments, "--question", "dataset"]) == 2


def test_compare_writes_models_and_differences(folder, tmp_path, capsys):
    facts, page = tmp_path / "out.json", tmp_path / "out.html"
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    arguments += ["--prevalence", "0.3", "--deploy-prevalence", "0.1"]
    assert main([*arguments, "--json", str(facts), "--html", str(page), "--quiet"]) == 0
    document = json.loads(facts.read_text())
    needs = ["random labels", "prevalence", "right labels", "out-of-fold scores"]
    assert document["needs"] == needs
    assert document["differences"][0]["needs"] == needs[:2]
    schema = importlib.resources.files("undercount.show") / "schema.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    assert [model["name"] for model in document["models"]] == ["good", "poor"]
    auc = {
        model["name"]: row["estimate"]
        for model in document["models"]
        for row in model["metrics"]
        if row["metric"] == "roc_auc"
    }
    found = next(row for row in document["differences"] if row["metric"] == "roc_auc")
    assert found["difference"] == pytest.approx(auc["good"] - auc["poor"])
    assert found["low"] < found["difference"] < found["high"]
    assert page.read_text().rstrip().endswith("</html>")
    capsys.readouterr()
    assert main([*arguments, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == document


NAMES = ("s", "t")


TWO = ["--positives", "positives.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]


def test_compare_reads_two_files(apart, scores_apart, capsys):
    arguments = ["compare", *TWO, "--score", "t", "--unlabeled-prevalence", "0.3"]
    assert main([*arguments, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    y = np.repeat([1.0, np.nan], [150, 600])
    told = {"assume": uc.RandomLabels(unlabeled_prevalence=0.3, sampling="case-control")}
    expected = uc.compare(y, dict(zip(NAMES, scores_apart, strict=True)), **told)
    found = {row["metric"]: row for row in document["differences"]}
    assert {model["sampling"] for model in document["models"]} == {"case-control"}
    for metric, row in found.items():
        difference = expected.difference(metric).difference
        assert row["difference"] == pytest.approx(difference.value, abs=1e-12)
        assert row["low"] == pytest.approx(difference.low, abs=1e-12)
    # By the definition: pairs of a positive and an unlabeled row, and the share that is hidden.
    naive = [np.mean(s[:150, None] > s[None, 150:]) for s in scores_apart]
    naive = [
        a + np.mean(s[:150, None] == s[None, 150:]) / 2
        for a, s in zip(naive, scores_apart, strict=True)
    ]
    auc = [(a - 0.3 / 2) / 0.7 for a in naive]
    assert found["roc_auc"]["difference"] == pytest.approx(auc[0] - auc[1], abs=1e-9)
    # A row is compared only if every model has a score for it.
    with (apart / "unlabeled.csv").open("a") as file:
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
    assert "--weight" in offered


def test_compare_has_the_gate(folder, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    arguments += ["--prevalence", "0.3", "--quiet"]
    assert main([*arguments, "--require", "good.roc_auc > poor.roc_auc"]) == 0
    assert capsys.readouterr().out == ""
    assert main([*arguments, "--require", "poor.roc_auc > good.roc_auc"]) == 1
    said = capsys.readouterr()
    assert ": poor.roc_auc > good.roc_auc; difference -" in said.out + said.err
    assert main([*arguments, "--require", "good.roc_auc >= 0.5"]) == 0
    assert main([*arguments, "--html", str(folder / "page.html")]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*arguments, "--require", "poor.roc_auc >= 0.99", "--github"]) == 1
    assert "::error title=poor%3A poor.roc_auc" in capsys.readouterr().err
    assert main([*arguments, "--require", "good.roc_auc > poor.roc_auc + 0.9"]) == 1
    assert main([*arguments, "--require", "nobody.roc_auc > poor.roc_auc"]) == 2
    assert "models are good, poor" in capsys.readouterr().err


def test_compare_takes_weights_and_writes_csv(drawn, tmp_path, capsys):
    data, table = tmp_path / "rows.csv", tmp_path / "out.csv"
    rng = np.random.default_rng(0)
    y, score = drawn
    other, weights = score + rng.normal(0, 1, 400), rng.integers(1, 4, 400)
    lines = [f"{a},{b},{c},{d}" for a, b, c, d in zip(y, score, other, weights, strict=True)]
    data.write_text("\n".join(["y,s,t,w", *lines]) + "\n")
    arguments = ["compare", str(data), "--label", "y", "--score", "s", "--score", "t"]
    arguments += ["--prevalence", "0.3", "--weight", "w", "--top", "50"]
    assert main([*arguments, "--csv", str(table)]) == 0
    assert "its 50 highest" in capsys.readouterr().out
    lines = table.read_text().splitlines()
    assert lines[0].startswith("metric,one,other,flagged,difference,low,high")
    assert len(lines) == 1 + 3 + 2
    expected = uc.compare(
        y, {"s": score, "t": other}, unlabeled=0, prevalence=0.3, sample_weight=weights, top=50
    )
    assert lines == expected.to_csv().splitlines()
    assert main([*arguments, "--csv", "-"]) == 0
    assert capsys.readouterr().out.splitlines() == lines
