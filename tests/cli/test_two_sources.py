"""Two --label are two sources: found by either, in evaluate and in plan, and never one alone."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.errors import collect_warnings

SOURCES = ["--label", "cb", "--label", "rv", "--score", "p"]


@pytest.fixture(autouse=True)
def found(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    truth = rng.random(3000) < 0.15
    cb, rv = truth & (rng.random(3000) < 0.4), truth & (rng.random(3000) < 0.35)
    p = rng.normal(1.8 * truth)
    lines = [f"{a:d},{b:d},{s:.6f}" for a, b, s in zip(cb, rv, p, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["cb,rv,p", *lines]))
    monkeypatch.chdir(tmp_path)
    return cb | rv


def evaluate(*more):
    return main(["evaluate", "rows.csv", *SOURCES, "--threshold", "1", *more])


def test_what_the_share_rests_on_is_named(capsys):
    assert evaluate("--json", "-") == 0
    model = json.loads(capsys.readouterr().out)["models"][0]
    needs = {row["metric"]: row["needs"] for row in model["metrics"]}
    assert needs["precision"] == [
        "random labels",
        "prevalence",
        "independent sources",
        "right labels",
    ]
    assert needs["recall"] == ["random labels", "right labels"]
    assert "independently of each other" in model["words"]["weakest"]
    assert "--label cb --label rv --score p" in model["words"]["weakest"]
    assert evaluate("--dependence", "1-3", "--json", "-") == 0
    model = json.loads(capsys.readouterr().out)["models"][0]
    needs = {row["metric"]: row["needs"] for row in model["metrics"]}
    assert "the dependence of the sources" in needs["precision"]


def test_sources_that_prefer_scores_neither_meet_nor_fail_a_requirement(capsys):
    rng = np.random.default_rng(0)
    truth = rng.random(8000) < 0.15
    p = rng.normal(2 * truth)
    cb = truth & (rng.random(8000) < 0.4)
    rv = truth & (rng.random(8000) < 1 / (1 + np.exp(1 - p / 2)))
    lines = [f"{a:d},{b:d},{s:.6f}" for a, b, s in zip(cb, rv, p, strict=True)]
    Path("rows.csv").write_text("\n".join(["cb,rv,p", *lines]), encoding="utf-8")
    for bound in (0.1, 0.99):  # which the interval alone would meet, and fail
        assert evaluate("--require", f"recall >= {bound}", "--quiet") == 3
        assert "second source finds positives of high scores" in capsys.readouterr().err
    with collect_warnings():
        two = uc.prevalence.TwoSources().fit(cb, rv)
    expected = f"p = {two.compare_scores(p.round(6)).p_value:.2g}"
    assert evaluate("--json", "-") == 0
    checks = json.loads(capsys.readouterr().out)["models"][0]["checks"]
    (check,) = [each for each in checks if each["code"] == "UC022"]
    assert (check["level"], expected in check["message"]) == ("fail", True)


def test_sources_that_prefer_nothing_pass_the_test(capsys):
    assert evaluate("--require", "recall >= 0.1", "--json", "-") == 0
    checks = json.loads(capsys.readouterr().out)["models"][0]["checks"]
    assert [each["level"] for each in checks if each["code"] == "UC022"] == ["ok"]


def test_a_plan_looks_at_rows_that_neither_found_and_evaluate_takes_it(found, capsys):
    plan = ["plan", "rows.csv", *SOURCES, "--threshold", "1", "--budget", "60", "--out", "r.csv"]
    assert main(plan) == 0
    assert "found by a source" in capsys.readouterr().out
    with Path("r.csv").open(encoding="utf-8-sig") as file:
        head, *cases = csv.reader(file)
    drawn = np.array([int(case[head.index("row")]) for case in cases])
    assert not found[drawn - 1].any()
    design = json.loads(cases[0][head.index("design")])
    assert design["rows"]["positive"] == np.count_nonzero(found)
    for place, case in enumerate(cases):
        case[head.index("verdict")] = str(int(place % 4 == 0))
    with Path("r.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *cases])
    assert evaluate("--reviews", "r.csv") == 0
    assert "60 of 60 cases reviewed, 15 positive" in capsys.readouterr().out
    assert evaluate("--reviews", "r.csv", "--json", "-") == 0
    share = json.loads(capsys.readouterr().out)["models"][0]["hidden_share"]
    # No limit of random labels lies inside what the verdicts leave possible.
    assert share["high"] <= share["upper_bound"]
    assert share["high"] <= share["limit"]


@pytest.mark.parametrize("more", [["--cluster", "cb"], ["--chance", "p"], ["--weight", "p"]])
def test_no_source_is_left_out_in_silence(more, capsys):
    assert evaluate(*more) == 2
    assert "does not go with two --label" in capsys.readouterr().err


def test_compare_takes_one(capsys):
    assert main(["compare", "rows.csv", *SOURCES, "--score", "cb"]) == 2
    assert "evaluate and plan take two" in capsys.readouterr().err
