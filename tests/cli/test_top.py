"""The highest rows on the command line: they lead, and metrics without a place are theirs."""

import json

import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main

COLUMNS = ["--label", "fraud", "--score", "good"]


@pytest.fixture
def evaluate(folder, capsys):
    def run(*more, code=0):
        assert main(["evaluate", str(folder / "rows.csv"), *COLUMNS, *more]) == code
        said = capsys.readouterr()
        return said.err if code == 2 else " ".join(said.out.split())

    return run


def test_precision_of_the_highest_rows_leads(evaluate, rows, tmp_path):
    out = tmp_path / "found.json"
    said = evaluate("--top", "1%", "--json", str(out))
    n = len(rows[0])
    assert f"those of the {n / 100:,.0f} highest rows (1.0 %)" in said
    assert "no target set" in said.partition("Verdict ")[2]
    given = evaluate("--top", "1%", "--prevalence", "0.3")
    assert "precision@top 1% ≥" in given.partition("Verdict ")[2]
    plain = said.partition("In plain words ")[2]
    assert "between " in plain.partition(",")[2]
    assert "flagged cases are real" in plain
    assert "--top 1% --goal precision" in said
    assert "ROC AUC ≥" not in said
    assert json.loads(out.read_text())


def test_several_numbers_of_highest_rows_are_judged_as_in_python(evaluate, rows, tmp_path):
    out = tmp_path / "found.json"
    evaluate("--top", "100", "--top", "500", "--prevalence", "30%", "--json", str(out))
    printed = {
        (row["metric"], row["top"]): row["estimate"]
        for row in json.loads(out.read_text())["models"][0]["top"]
    }
    found = uc.evaluate(rows[0], rows[1], unlabeled=0, prevalence=0.3, top=[100, 500])
    given = {(row.metric, row.top): row.estimate.value for row in found.top_rows}
    assert {top for _, top in printed} == {100, 500}
    assert printed == pytest.approx(given, abs=1e-9)


def test_a_share_in_use_may_be_a_percentage(evaluate, tmp_path):
    documents = []
    for share in ("2%", "0.02"):
        out = tmp_path / "found.json"
        evaluate("--prevalence", "30%", "--deploy-prevalence", share, "--json", str(out))
        documents.append(json.loads(out.read_text())["models"][0]["deployed"])
    assert documents[0] == documents[1]
    assert documents[0]["prevalence"] == pytest.approx(0.02)


def test_metrics_without_a_place_are_those_of_the_highest_rows(evaluate):
    said = evaluate("--top", "100", "--metric", "precision")
    assert "precision@top 100" in said
    assert "ROC AUC" not in said.partition("Verdict ")[0].partition("true value")[2]
    for goal in ("precision >= 0.1%", "precision@top 100 >= 0.1%"):
        assert "precision@top 100 >= 0.001" in evaluate("--top", "100", "--require", goal)
    assert "f1 needs a --threshold" in evaluate("--top", "100", "--metric", "f1", code=2)


def test_a_bias_says_that_the_highest_rows_are_left_out(evaluate):
    said = evaluate("--top", "1%", "--prevalence", "20%-30%", "--gamma", "2")
    assert "Of the highest rows no bounds are known: give --threshold" in said
    precise = evaluate("--threshold", "1.23456789", "--prevalence", "20%-30%", "--gamma", "2")
    # No score lies between them.
    assert "precision@1.235 0." in precise.partition("Biased labels")[2]


def test_the_highest_rows_decide_a_comparison(folder, rows, capsys):
    last = np.sort(rows[1])[-100]
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor", "--top", "100"]
    assert main([*arguments, "--rank-by", "precision"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "By precision" in said
    assert f"{last:.4g}"[:5] in said


def test_certain_positives_bound_the_highest_rows_from_below():
    rng = np.random.default_rng(3)
    truth = rng.random(4000) < 0.05
    y = (truth & (rng.random(4000) < 0.1)).astype(int)
    scores = {"one": rng.normal(0.6 * truth), "two": rng.normal(0.3 * truth)}
    alone = uc.evaluate(y, scores["one"], unlabeled=0, top=40)
    least = y[np.argsort(-scores["one"])[:40]].mean()
    work = uc.compare(y, scores, unlabeled=0, top=40).workload
    assert alone["precision"].low >= least
    assert work.estimates["one"]["precision"].low >= least
