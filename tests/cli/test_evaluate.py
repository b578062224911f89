"""`undercount evaluate`: numbers, requirements, intervals and what is written."""

import importlib.resources
import json
import os
import pathlib
import re
import subprocess
import sys

import jsonschema
import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.data.fraud import fraud_path

COLUMNS = ["--label", "fraud", "--score", "good"]


FILES = ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.jsonl", "rows.parquet", "rows.cs*"]


@pytest.mark.parametrize("name", FILES[:5])
def test_every_format_gives_the_same_numbers(name, folder, rows, tmp_path, capsys):
    out = tmp_path / "out.json"
    code = main(
        [
            "evaluate",
            str(folder / name),
            *COLUMNS,
            "--prevalence",
            "0.3",
            "--threshold",
            "0.8",
            "--json",
            str(out),
        ]
    )
    assert code == 0
    found, score, _, truth = rows
    expected = uc.evaluate(found, score, unlabeled=0, prevalence=0.3, threshold=0.8)
    metrics = json.loads(out.read_text())["models"][0]["metrics"]
    assert [m["estimate"] for m in metrics] == pytest.approx(
        [row.estimate.value for row in expected.rows], abs=1e-12
    )
    printed = capsys.readouterr().out
    assert "0 = unlabeled (no label is missing" in printed
    precision = truth[score >= 0.8].mean()
    assert metrics[1]["low"] - 0.05 < precision < metrics[1]["high"] + 0.05


def test_json_fits_the_schema_and_case_control_reads_two_files(folder, tmp_path):
    schema = json.loads((importlib.resources.files("undercount.show") / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    out = tmp_path / "out.json"
    arguments = ["evaluate", "--positives", str(folder / "positives.csv"), "--unlabeled"]
    arguments += [str(folder / "unlabeled.csv"), "--score", "good", "--prevalence", "0.18"]
    assert main([*arguments, "--json", str(out), "--quiet"]) == 0
    document = json.loads(out.read_text())
    jsonschema.validate(document, schema)
    assert document["models"][0]["sampling"] == "case-control"


@pytest.mark.parametrize("costs", [(5, 100), (0, 1)])
def test_json_has_what_errors_cost_and_bounds_of_a_bias(folder, tmp_path, costs):
    schema = json.loads((importlib.resources.files("undercount.show") / "schema.json").read_text())
    out = tmp_path / "out.json"
    arguments = ["evaluate", str(folder / "rows.csv"), "--label", "fraud", "--score", "good"]
    arguments += ["--prevalence", "0.3", "--threshold", "0.8", "--gamma", "2"]
    arguments += ["--cost", "{}:{}".format(*costs), "--json", str(out), "--quiet"]
    assert main(arguments) == 0
    document = json.loads(out.read_text())
    jsonschema.validate(document, schema)
    found = document["models"][0]["costs"]
    # Without a flag every positive is missed, with all flagged every negative is a false alarm.
    assert found["none"] == pytest.approx(0.3 * costs[1])
    assert found["everything"] == pytest.approx(0.7 * costs[0])
    least = min(point["cost"]["estimate"] for point in found["points"])
    assert found["here"]["estimate"] >= least >= 0
    metrics = {each["metric"]: each for each in document["models"][0]["metrics"]}
    bounds = {each["metric"]: each for each in document["models"][0]["bias"]["metrics"]}
    assert bounds["recall"]["low"] < metrics["recall"]["low"]
    assert bounds["recall"]["high"] > metrics["recall"]["high"]


@pytest.mark.parametrize(
    ("requirement", "code"),
    [
        ("roc_auc >= 0.6", 0),
        ("roc_auc >= 0.99", 1),
        ("precision@0.8 >= 0.5", 0),
        ("precision@0.8 >= 0.95", 1),
        ("precision@0.8 >= 0.62", 3),
    ],
)
def test_requirements_and_exit_codes(folder, requirement, code, rows):
    _, score, _, truth = rows
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", "0.3"]
    assert 0.6 < truth[score >= 0.8].mean() < 0.65  # what the requirements above are about
    assert main([*arguments, "--require", requirement, "--quiet"]) == code


def test_a_prevalence_that_does_not_fit_meets_no_requirement(folder, capsys):
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", "0.42"]
    assert main([*arguments, "--require", "precision@2.5 >= 0.5"]) == 3
    printed = capsys.readouterr().out
    assert "UC001 fail" in printed
    assert "more than chance explains" in printed.splitlines()[-1]


def test_scores_that_give_the_label_away_meet_no_requirement(rows, tmp_path, capsys, monkeypatch):
    found, score, _, _ = rows
    path = tmp_path / "leaked.csv"
    lines = [f"{y},{s + 20 * y}" for y, s in zip(found, score, strict=True)]
    path.write_text("fraud,good\n" + "\n".join(lines) + "\n")
    assert main(["evaluate", str(path), *COLUMNS, "--require", "roc_auc >= 0.9"]) == 3
    verdict = capsys.readouterr().out.splitlines()[-1]
    assert verdict.startswith(" inconclusive: good: roc_auc >= 0.9")
    assert "because the scores separate labelled from unlabeled rows" in verdict
    one = {"Consensus": ("Consensus", {})}  # all methods take seconds
    monkeypatch.setattr("undercount.read.estimator_table.ESTIMATOR_BY_METHOD", one)
    assert main(["prevalence", str(path), *COLUMNS]) == 0
    assert "Warning: the scores separate labelled" in capsys.readouterr().out


def test_a_requirement_where_nothing_is_flagged_says_so(folder, capsys):
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", "0.3"]
    assert main([*arguments, "--require", "precision@99 >= 0.5"]) == 3
    verdict = capsys.readouterr().out.splitlines()[-1]
    assert "no estimate; because no row scores 99 or more" in verdict


@pytest.mark.parametrize("text", ["0.25-0.35", "0.25:0.35", "25%-35%", "25 – 35 %"])
def test_prevalence_may_be_a_range(folder, rows, tmp_path, text):
    out = tmp_path / "out.json"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", text, "--quiet"]
    assert main([*arguments, "--json", str(out)]) == 0
    found, score, _, _ = rows
    expected = uc.evaluate(found, score, unlabeled=0, prevalence=(0.25, 0.35))
    metrics = json.loads(out.read_text())["models"][0]["metrics"]
    assert [m["high"] for m in metrics] == pytest.approx(
        [row.estimate.high for row in expected.rows], abs=1e-12
    )


@pytest.mark.parametrize(
    ("option", "value", "end"),
    [("--prevalence", "0.9", "largest"), ("--label-frequency", "0.17", "least")],
)
def test_a_share_that_does_not_fit_is_named_by_its_option(folder, capsys, option, value, end):
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, option, value]
    assert main(arguments) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"at {option} {value} and" in said
    assert f"the {end} {option} that fits is" in said
    assert "unlabeled" not in said.partition("standard errors")[2]


def test_scores_of_one_file_share_one_estimate(rows, tmp_path):
    labels, score, _, _ = rows
    noisy = score + np.random.default_rng(8).normal(size=len(score))
    path, out = tmp_path / "rows.csv", tmp_path / "out.json"
    lines = [f"{y},{a},{b}" for y, a, b in zip(labels, noisy, score, strict=True)]
    path.write_text("\n".join(["y,noisy,sharp", *lines]))
    arguments = ["evaluate", str(path), "--label", "y", "--score", "noisy", "--score", "sharp"]
    assert main([*arguments, "--unlabeled", "0", "--quiet", "--json", str(out)]) == 0
    noisy_model, sharp_model = json.loads(out.read_text())["models"]
    assert noisy_model["hidden_share"] == sharp_model["hidden_share"]
    assert noisy_model["prevalence"] == sharp_model["prevalence"]


def test_interval_by_resampling_the_whole_calculation(folder, tmp_path, capsys):
    out = tmp_path / "out.json"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--interval", "bootstrap"]
    assert main([*arguments, "--resamples", "20", "--json", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "interval by resampling the whole" in printed
    assert "holds chance only" in printed
    model = json.loads(out.read_text())["models"][0]
    assert model["hidden_share"]["interval"] == "bootstrap"
    assert "bootstrap" in model["metrics"][0]["method"]


def test_a_threshold_above_all_scores_flags_nothing(folder, capsys):
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", "0.3"]
    assert main([*arguments, "--threshold", "99"]) == 0
    printed = capsys.readouterr().out
    assert "nothing is flagged" in printed
    assert "nan" not in printed


def test_markdown_and_report_are_written_whole(folder, tmp_path):
    markdown, page = tmp_path / "out.md", tmp_path / "out.html"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", "0.3", "--quiet"]
    assert main([*arguments, "--markdown", str(markdown), "--html", str(page)]) == 0
    assert markdown.read_text().startswith("**good**")
    assert page.read_text().rstrip().endswith("</html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "out.md"]


def test_standard_input_and_no_colour(folder):
    done = subprocess.run(  # noqa: S603 - our own command
        [
            sys.executable,
            "-m",
            "undercount",
            "evaluate",
            "-",
            *COLUMNS,
            "--prevalence",
            "0.3",
        ],
        input=(folder / "rows.csv").read_bytes(),
        capture_output=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"ROC AUC" in done.stdout
    assert b"\x1b[" not in done.stdout


def masked(text):
    """Blank the digits: golden files fix the words and the layout, other tests the numbers."""
    return re.sub(r"[0-9]", "#", text)


def test_a_bias_of_labels_is_refused_where_it_says_nothing(folder, capsys):
    rows = ["evaluate", str(folder / "rows.csv"), "--label", "fraud", "--score", "good"]
    assert main([*rows, "--threshold", "0.8", "--gamma", "2", "--by", "poor"]) == 2
    told = capsys.readouterr()
    assert "--by does not go with --gamma" in told.err
    assert told.out == ""


@pytest.mark.parametrize("kind", ["terminal", "markdown"])
def test_golden_output_of_the_bundled_case(kind, capsys, monkeypatch):
    monkeypatch.chdir(fraud_path().parent)
    arguments = ["evaluate", "fraud.parquet", "--label", "is_fraud", "--score", "p_fraud"]
    arguments += ["--prevalence", "0.039", "--threshold", "0.5"]
    assert main([*arguments, *(["--markdown", "-"] if kind == "markdown" else [])]) == 0
    golden = pathlib.Path(__file__).parents[1] / "data" / "golden" / f"{kind}.txt"
    assert masked(capsys.readouterr().out) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "said"),
    [("10%", "--threshold 0.1 flags the rows"), ("high", "is no number; a threshold is a score")],
)
def test_a_threshold_is_a_score(value, said, capsys):
    assert main(["evaluate", "rows.csv", "--threshold", value]) == 2
    assert said in capsys.readouterr().err


def test_a_range_that_begins_below_the_labels_is_cut_with_a_note(folder, tmp_path, capsys):
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS]
    wide, cut = tmp_path / "wide.json", tmp_path / "cut.json"
    assert main([*arguments, "--prevalence", "0.1%-20%", "--json", str(wide)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "prevalence given, from the labelled share on" in said
    counts = json.loads(wide.read_text())["models"][0]["counts"]
    least = counts["labelled_positive"] / counts["rows"]
    assert main([*arguments, "--prevalence", f"{least!r}-0.2", "--json", str(cut)]) == 0
    tables = [json.loads(each.read_text())["models"][0]["metrics"] for each in (wide, cut)]
    assert tables[0] == tables[1]
    assert main([*arguments, "--prevalence", "0.1%-0.2%"]) == 2  # all of it is too low


def test_a_prevalence_of_all_rows_is_shared_out_among_segments(folder, tmp_path, capsys):
    lines = (folder / "rows.csv").read_text().splitlines()
    path, out = tmp_path / "seg.csv", tmp_path / "seg.json"
    named = [f"{line},{'ab'[i % 2]}" for i, line in enumerate(lines[1:])]
    path.write_text("\n".join([f"{lines[0]},land", *named]) + "\n")
    more = ["--by", "land", "--threshold", "1.2", "--prevalence", "20%", "--json", str(out)]
    assert main(["evaluate", str(path), *COLUMNS, *more]) == 0
    words = "20 % of all rows, shared out by one label frequency"
    assert words in " ".join(capsys.readouterr().out.split())
    facts = json.loads(out.read_text())
    assert words in facts["shared_out"]
