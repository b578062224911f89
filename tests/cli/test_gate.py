"""Requirements on the command line: codes, quiet, JUnit files and annotations."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.show.verdict_words import light_words

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


def test_every_document_lists_every_requirement_and_the_worst_has_the_light(scored):
    wanted = ["--require", "recall >= 0.6", "--require", "precision >= 0.95, precision >= 0.68"]
    files = ["--html", "page.html", "--markdown", "found.md", "--json", "found.json"]
    assert main(["evaluate", "rows.csv", *GIVEN, *wanted, *files, "--quiet"]) == 1
    model = json.loads((scored / "found.json").read_text())["models"][0]
    said = [(each["outcome"], each["requirement"]) for each in model["requirements"]]
    assert said[0] == ("failed", "precision@1 >= 0.95")
    assert {each[1] for each in said[1:]} == {"recall@1 >= 0.6", "precision@1 >= 0.68"}
    assert (model["verdict"]["light"], model["verdict"]["claim"]["value"]) == ("unsupported", 0.95)
    page, text = (scored / "page.html").read_text(), (scored / "found.md").read_text()
    assert '<span id="light" class="light not">not supported</span>' in page
    for outcome, words in said:
        assert f"{outcome}</b> <span>{words.replace('>', '&gt;')}; estimated" in page
        assert f"- **{outcome}**: {words}; estimated" in text.replace("\\", "")
    assert page.index("failed</b>") < page.index("met</b>") < page.index('id="light"')


def test_of_two_models_each_claims_its_own_worst_requirement(scored):
    wanted = ["--require", "p.recall >= 0.6", "--require", "q.roc_auc >= 0.99"]
    files = ["--html", "page.html", "--json", "found.json", "--quiet"]
    assert main(["evaluate", "rows.csv", *GIVEN, "--score", "q", *wanted, *files]) == 1
    models = json.loads((scored / "found.json").read_text())["models"]
    claims = [model["verdict"]["claim"] for model in models]
    assert [(claim["metric"], claim["value"]) for claim in claims] == [
        ("recall", 0.6),
        ("roc_auc", 0.99),
    ]
    page = (scored / "page.html").read_text()
    assert page.index("failed</b> <span><bdi>q</bdi>") < page.index("met</b> <span><bdi>p</bdi>")


def test_no_light_grants_what_a_judgement_left_open():
    rng = np.random.default_rng(1)
    truth = rng.random(3000) < 0.3
    y = truth & (rng.random(3000) < 0.5)
    score = rng.normal(2.0 * truth)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=0.3, threshold=1.0).claiming("auc > 0.6")
    judgement = found.require("auc > 0.6").judgements[0]
    assert (judgement.outcome, light_words(found).split(" ")[0]) == ("met", "robust")
    open_one = replace(judgement, outcome="inconclusive", why="of a warning")
    assert light_words(replace(found, judgements=(open_one,))) == "not supported"
    assert light_words(replace(found, judgements=(judgement,))) == light_words(found)


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


@pytest.mark.parametrize("metric", ["tpr", "True Positive Rate", "recall"])
def test_the_true_positive_rate_is_recall(capsys, metric):
    assert main(["evaluate", "rows.csv", *GIVEN, "--require", f"{metric} >= 0.5"]) == 0
    assert " met: p: recall@1 >= 0.5; estimated" in capsys.readouterr().out
    assert main(["evaluate", "rows.csv", *GIVEN, "--metric", metric]) == 0
    assert " recall@1 " in capsys.readouterr().out


def test_a_false_positive_rate_that_is_too_high_fails(capsys):
    assert main(["evaluate", "rows.csv", *GIVEN, "--require", "fpr <= 0.01"]) == 1
    assert " failed: p: fpr@1 <= 0.01; estimated" in capsys.readouterr().out


@pytest.fixture
def single(scored):
    """Write scores of which many are 0.7, in single precision and as they were meant."""
    rng = np.random.default_rng(1)
    truth = rng.random(3000) < 0.3
    y, score = truth & (rng.random(3000) < 0.5), rng.normal(2.0 * truth)
    meant = np.where((score >= 0.7) & (score < 2.5), 0.7, score / 4)
    days = np.datetime64("2024-01-01") + np.arange(3000) % 300
    columns = {"y": y.astype(int), "q": score, "g": np.arange(3000) % 2, "day": days}
    columns["found"] = np.where(y, days + np.timedelta64(20, "D"), np.datetime64("NaT"))
    for name, kind in (("single", np.float32), ("double", np.float64)):
        frame = pl.DataFrame({**columns, "p": meant.astype(kind)})
        frame.write_parquet(scored / f"{name}.parquet")


SHARE = ["--label", "y", "--score", "p", "--prevalence", "0.3"]
DATED = ["--score", "p", "--observed", "day", "--found", "found", "--until", "2025-03-01"]
UC024 = "which is 0.7 in the precision that these scores seem to have"


@pytest.mark.usefixtures("single")
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", *SHARE, "--metric", "recall@0.7"],
        ["evaluate", *SHARE, "--require", "recall@0.7 >= 0.01"],
        ["evaluate", *SHARE, "--by", "g", "--threshold", "0.7"],
        ["evaluate", *SHARE, "--by", "g", "--metric", "recall@0.7"],
        ["compare", *SHARE, "--score", "q", "--threshold", "0.7"],
        ["plan", *SHARE, "--budget", "20", "--threshold", "0.7"],
        ["plan", *SHARE, "--score", "q", "--budget", "20", "--threshold", "0.7"],
        ["monitor", *DATED, "--threshold", "0.7"],
    ],
    ids=" ".join,
)
def test_single_precision_at_a_threshold_is_said_by_every_command(capsys, words):
    for name in ("single", "double"):
        main([words[0], f"{name}.parquet", *words[1:]])
        assert (UC024 in " ".join(capsys.readouterr().out.split())) == (name == "single")


@pytest.mark.usefixtures("single")
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", *SHARE, "--require", "recall@0.7 >= 0.6"],
        ["evaluate", *SHARE, "--threshold", "0.7", "--require", "recall >= 0.6"],
        ["evaluate", *SHARE, "--by", "g", "--require", "recall@0.7 >= 0.6"],
        ["compare", *SHARE, "--score", "q", "--threshold", "0.7", "--require", "p.recall >= 0.6"],
        ["monitor", *DATED, "--threshold", "0.7", "--require", "recall >= 0.6"],
    ],
    ids=" ".join,
)
def test_a_requirement_that_hangs_on_single_precision_is_open(capsys, words):
    codes = {}
    for name in ("single", "double"):
        codes[name] = main([words[0], f"{name}.parquet", *words[1:], "--quiet"])
        assert (UC024 in capsys.readouterr().err) == (name == "single")
    assert codes == {"single": 3, "double": 0}
