"""Requirements on the command line: codes, quiet, JUnit files and annotations."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from undercount.cli.main import main

GIVEN = ["--label", "y", "--score", "p", "--prevalence", "0.3", "--threshold", "1"]


@pytest.fixture(autouse=True)
def scored(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    truth = rng.random(3000) < 0.3
    y, p, q = truth & (rng.random(3000) < 0.5), rng.normal(2.0 * truth), rng.normal(truth)
    lines = [f"{int(a)},{b:.5f},{c:.5f}" for a, b, c in zip(y, p, q, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,p,q", *lines]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_conditions_at_the_threshold_of_the_command(capsys):
    wanted = ["--require", "Precision > 50% and fpr < 40%", "--require", "ROC AUC >= .8"]
    assert main(["evaluate", "rows.csv", *GIVEN, *wanted]) == 0
    shown = capsys.readouterr().out
    assert " met: p: precision@1 > 0.5; estimated" in shown
    assert " met: p: fpr@1 < 0.4; estimated" in shown
    assert main(["evaluate", "rows.csv", *GIVEN, *wanted, "--require", "recall > 99%"]) == 1


def test_quiet_says_what_is_not_met_and_nothing_else(capsys):
    quiet = ["evaluate", "rows.csv", *GIVEN, "--quiet", "--require", "auc > 60%"]
    assert main(quiet) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*quiet, "--require", "recall > 99%"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(" failed: p: recall@1 > 0.99; estimated 0.")
    assert err.count("\n") == 1


def test_junit_counts_what_is_not_met(scored):
    wanted = ["--require", "auc > 60%, recall > 99%", "--junit", "gate.xml"]
    assert main(["evaluate", "rows.csv", *GIVEN, *wanted, "--score", "q", "--quiet"]) == 1
    suites = ET.parse(scored / "gate.xml").getroot()  # noqa: S314 - our own file
    assert (suites.get("tests"), suites.get("failures")) == ("4", "2")
    assert [suite.get("name") for suite in suites] == ["p", "q"]
    assert [case.find("failure") is None for case in suites[0]] == [True, False]
    assert suites[0][1].find("failure").get("type") == "failed"


def test_annotations_of_a_job_when_asked(capsys):
    wanted = ["evaluate", "rows.csv", *GIVEN, "--quiet", "--require", "p.recall > 99%"]
    assert main([*wanted, "--score", "q", "--github"]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("::error title=p%3A p.recall@1 > 0.99::failed: p: ")
    assert main(["evaluate", "rows.csv", *GIVEN, "--github", "--require", "auc > 60%"]) == 0
    assert "::" not in capsys.readouterr().err
    assert main(["evaluate", "rows.csv", *GIVEN, "--require", "x.recall > 99%"]) == 2
    assert "names no model here; there are p" in capsys.readouterr().err


def test_the_highest_rows_chosen_metrics_and_csv(scored, capsys):
    options = ["--top", "10%", "--metric", "fpr@0", "--csv", "table.csv", "--html", "p.html"]
    assert main(["evaluate", "rows.csv", *GIVEN, *options, "--require", "lift@top 1% > 1"]) == 0
    shown = capsys.readouterr()
    assert "precision@top 10%" in shown.out
    lines = (scored / "table.csv").read_text().splitlines()
    assert lines[0] == "model,metric,naive,estimate,low,high,needs,lower_bound"
    assert [line.split(",")[1] for line in lines[1:]] == [
        "fpr@0",
        "precision@top 10%",
        "recall@top 10%",
        "lift@top 10%",
    ]
    assert main(["evaluate", "rows.csv", *GIVEN, "--top", "300/3000", "--quiet", "--csv", "-"]) == 0
    assert "recall@top 10%" in capsys.readouterr().out
    assert main(["evaluate", "rows.csv", *GIVEN, "--quiet", "--html", "p.html"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["evaluate", "rows.csv", *GIVEN, "--top", "many"]) == 2
    assert "top must be a number of rows like 500" in capsys.readouterr().err
