"""The commands as a user runs them; expected numbers come from the library's own tests' truth."""

import gzip
import importlib.resources
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import jsonschema
import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.curve import metric_names
from undercount.data.fraud import fraud_path
from undercount.read.sensitivity import AREAS

HEAVY = {"sklearn", "pandas", "matplotlib", "scipy", "polars", "pyarrow", "duckdb", "rich", "numpy"}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(12)
    truth = rng.random(3000) < 0.3
    score = np.round(rng.normal(1.5 * truth), 4)
    other = np.round(rng.normal(0.7 * truth), 4)
    found = truth & (rng.random(3000) < 0.5)
    return found.astype(int), score, other, truth


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    found, score, other, _ = rows
    lines = [f"{y},{s},{o}" for y, s, o in zip(found, score, other, strict=True)]
    text = "\n".join(["fraud,good,poor", *lines]) + "\n"
    (folder / "rows.csv").write_text(text)
    (folder / "rows.tsv").write_text(text.replace(",", "\t"))
    with gzip.open(folder / "rows.csv.gz", "wt") as file:
        file.write(text)
    records = [
        json.dumps({"fraud": int(y), "good": float(s), "poor": float(o)})
        for y, s, o in zip(found, score, other, strict=True)
    ]
    (folder / "rows.jsonl").write_text("\n".join(records) + "\n")
    import duckdb  # noqa: PLC0415 - only this fixture

    duckdb.sql(f"COPY (FROM '{folder}/rows.csv') TO '{folder}/rows.parquet'")
    positives = "\n".join(["good", *map(str, score[found == 1])]) + "\n"
    (folder / "positives.csv").write_text(positives)
    (folder / "unlabeled.csv").write_text("\n".join(["good", *map(str, score[found == 0])]) + "\n")
    return folder


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


def test_counts_files_are_data(folder, tmp_path, capsys):
    counts = tmp_path / "counts.parquet"
    assert main(["count", str(folder / "rows.csv"), *COLUMNS, "-o", str(counts)]) == 0
    assert main(["evaluate", str(counts), "--prevalence", "0.3", "--json", "-"]) == 0
    printed = capsys.readouterr().out
    document = json.loads(printed[printed.index("{\n") :])
    assert document["models"][0]["counts"]["rows"] == 3000
    merged = tmp_path / "merged.parquet"
    again = tmp_path / "again.parquet"
    uc.write_counts(uc.load_counts(counts), again)
    assert main(["merge", str(counts), str(again), "-o", str(merged)]) == 0
    # Any threshold can be asked of the file, and the same rows are not counted twice.
    assert main(["evaluate", str(counts), "--prevalence", "0.3", "--threshold", "0.33"]) == 0
    twice = tmp_path / "twice.parquet"
    assert main(["count", str(folder / "rows.csv"), *COLUMNS, "-o", str(twice)]) == 0
    assert main(["merge", str(counts), str(twice), "-o", str(merged)]) == 2
    capsys.readouterr()
    assert main(["merge", str(counts), str(again), "-o", str(merged)]) == 0
    assert "6,000 rows" in capsys.readouterr().out


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
    monkeypatch.setattr("undercount.read.estimator_table.METHODS", one)
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


def test_compare_takes_a_threshold_a_model_and_one_share(folder, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    assert main([*arguments, "--threshold", "0.8", "--threshold", "0.2"]) == 0
    printed = capsys.readouterr().out
    assert "at the thresholds good 0.8, poor 0.2" in printed
    assert "by the scores of good, for all models" in " ".join(printed.split())


def test_compare_prints_differences(folder, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    assert main([*arguments, "--prevalence", "0.3"]) == 0
    assert "good minus poor" in capsys.readouterr().out


def test_compare_writes_models_and_differences(folder, tmp_path, capsys):
    facts, page = tmp_path / "out.json", tmp_path / "out.html"
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor"]
    arguments += ["--prevalence", "0.3"]
    assert main([*arguments, "--json", str(facts), "--html", str(page), "--quiet"]) == 0
    document = json.loads(facts.read_text())
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


def test_markdown_and_report_are_written_whole(folder, tmp_path):
    markdown, page = tmp_path / "out.md", tmp_path / "out.html"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, "--prevalence", "0.3", "--quiet"]
    assert main([*arguments, "--markdown", str(markdown), "--html", str(page)]) == 0
    assert markdown.read_text().startswith("**good**")
    assert page.read_text().rstrip().endswith("</html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "out.md"]


def test_dropped_rows_are_said(tmp_path, capsys):
    path = tmp_path / "holes.csv"
    path.write_text("y,s\n" + "1,5\n0,6\n1,3\n0,4\n1,\n0,2\n0,1\n" * 40)
    assert main(["evaluate", str(path), "--label", "y", "--score", "s", "--prevalence", "0.4"]) == 0
    assert "40 dropped (missing score)" in capsys.readouterr().out


def test_label_codings(tmp_path, capsys):
    for labels, said in (
        ("1,-1", "-1 = unlabeled"),
        ("1,", "missing = unlabeled"),
        ("1,0,-1", "0 = verified negative, -1 = unlabeled"),
    ):
        values = labels.split(",")
        lines = [
            f"{values[i % len(values)]},{(i * 7) % 50 + 20 * (i % len(values) == 0)}"
            for i in range(300)
        ]
        path = tmp_path / "coded.csv"
        path.write_text("y,s\n" + "\n".join(lines) + "\n")
        arguments = ["evaluate", str(path), "--label", "y", "--score", "s"]
        assert main([*arguments, "--unlabeled-prevalence", "0.05"]) == 0
        assert said in capsys.readouterr().out


BAD = {
    "no such file": (["evaluate", "nothing.csv", *COLUMNS], "nothing.csv"),
    "no columns named": (["evaluate", "{rows}"], "--label COLUMN"),
    "column misspelt": (
        ["evaluate", "{rows}", "--label", "frad", "--score", "good"],
        "did you mean 'fraud'",
    ),
    "empty": (["evaluate", "{empty}", *COLUMNS], "empty.csv"),
    "binary": (["evaluate", "{binary}", *COLUMNS], "binary.csv"),
    "header alone": (["evaluate", "{header}", *COLUMNS], "has no rows"),
    "broken parquet": (["evaluate", "{broken}", *COLUMNS], "broken.parquet"),
    "text in scores": (["evaluate", "{mixed}", *COLUMNS], "good"),
    "prevalence": (["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.01"], "must be in"),
    "two prevalences": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.3", "--label-frequency", "0.5"],
        "give one of",
    ),
    "requirement": (["evaluate", "{rows}", *COLUMNS, "--require", "good"], "reads like"),
    "unwritable": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.3", "--json", "/no/such/place.json"],
        "cannot write",
    ),
    "share": (["evaluate", "{rows}", *COLUMNS, "--prevalence", "30"], "30 % is 0.3"),
    "backward range": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.5-0.2"],
        "starts with its lower end",
    ),
    "no share": (["evaluate", "{rows}", *COLUMNS, "--prevalence", "few"], "no share like 0.03"),
    "percentage": (
        ["evaluate", "{rows}", *COLUMNS, "--require", "precision@0.8 >= 72"],
        "72 % is 0.72",
    ),
    "counts compared": (["compare", "{counts}", "{counts}"], "compared row by row"),
    "weights compared": (
        ["compare", "{rows}", *COLUMNS, "--score", "poor", "--weight", "poor"],
        "not worked out for weights",
    ),
    "words compared": (["compare", "{words}", *COLUMNS, "--score", "good"], "Recode positives"),
    "thresholds compared": (
        ["compare", "{rows}", *COLUMNS, "--threshold", "1", "--threshold", "2"],
        "one a --score",
    ),
    "two thresholds": (
        ["evaluate", "{rows}", *COLUMNS, "--threshold", "1", "--threshold", "2"],
        "takes one --threshold; got 1 and 2",
    ),
    "a file twice": (["evaluate", "{rows}", "{rows}", *COLUMNS], "named once"),
    "1 and 2": (["evaluate", "{twos}", *COLUMNS], "recode positives as 1 and unlabeled"),
    "yes and no": (["evaluate", "{words}", *COLUMNS], "Recode positives as 1 and unlabeled"),
    "counts as csv": (["count", "{rows}", *COLUMNS, "-o", "out.csv"], "out.parquet"),
    "unknown option": (["evaluate", "--colour"], "No such option"),
    "unknown command": (["evalute"], "No such command"),
    "term": (["explain", "precison"], "did you mean precision"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_2(case, folder, tmp_path, capsys):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "header.csv").write_text("fraud,good\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really PAR1")
    (tmp_path / "mixed.csv").write_text("fraud,good\n1,0.5\n0,high\n0,0.3\n")
    (tmp_path / "twos.csv").write_text("fraud,good\n1,0.5\n2,0.4\n2,0.3\n")
    (tmp_path / "words.csv").write_text("fraud,good\nyes,0.5\nno,0.4\nno,0.3\n")
    places = {
        "{twos}": tmp_path / "twos.csv",
        "{words}": tmp_path / "words.csv",
        "{rows}": folder / "rows.csv",
        "{empty}": tmp_path / "empty.csv",
        "{binary}": tmp_path / "binary.csv",
        "{header}": tmp_path / "header.csv",
        "{broken}": tmp_path / "broken.parquet",
        "{mixed}": tmp_path / "mixed.csv",
        "{counts}": tmp_path / "counts.parquet",
    }
    uc.write_counts(uc.ScoreCounts.from_rows([1, None], [2, 1]), places["{counts}"])
    arguments, message = BAD[case]
    code = main([str(places.get(argument, argument)) for argument in arguments])
    captured = capsys.readouterr()
    assert code == 2
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_select_recovers_what_the_chosen_rows_hide(tmp_path, capsys):
    rng = np.random.default_rng(5)
    score = rng.normal(size=6000)
    truth = 0.8 * score + 0.6 * rng.normal(size=6000) > 0.5
    path = tmp_path / "audit.csv"
    lines = [f"{int(t)},{s}" if s > 0 else f",{s}" for t, s in zip(truth, score, strict=True)]
    path.write_text("late,risk\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out.json"
    arguments = ["select", str(path), "--label", "late", "--score", "risk", "--threshold", "0.5"]
    assert main([*arguments, "--json", str(out)]) == 0
    assert "rows looked at" in capsys.readouterr().out
    rows = {row["metric"]: row for row in json.loads(out.read_text())["metrics"]}
    assert rows["prevalence"]["low"] < truth.mean() < rows["prevalence"]["high"]
    assert rows["prevalence"]["naive"] > 1.3 * truth.mean()


def test_select_does_not_recommend_the_method_in_use(tmp_path, capsys):
    rng = np.random.default_rng(6)
    score, chooser = rng.normal(size=(2, 3000))
    truth = 0.8 * score + 0.6 * rng.normal(size=3000) > 0.5
    looked = chooser + rng.normal(size=3000) > 0.5
    triples = zip(truth, looked, score, chooser, strict=True)
    lines = [f"{int(t) if k else ''},{s},{c}" for t, k, s, c in triples]
    path = tmp_path / "audit.csv"
    path.write_text("late,risk,rule\n" + "\n".join(lines) + "\n")
    columns = ["--label", "late", "--score", "risk", "--selection-score", "rule"]
    assert main(["select", str(path), *columns]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "not chosen by a cutoff" in printed
    assert "use 'begg-greenes'" in printed
    assert "'observed-score'" not in printed


def test_reproduce_lists_runs_and_writes(tmp_path, capsys):
    assert main(["reproduce"]) == 0
    assert main(["reproduce", "cook2016"]) == 0
    assert "table2" in capsys.readouterr().out
    assert main(["reproduce", "aul2021", "figure1", "--out", str(tmp_path)]) == 0
    assert "0.74" in capsys.readouterr().out
    assert any(path.suffix == ".csv" for path in tmp_path.rglob("*"))
    assert main(["reproduce", "aul2021", "figure99"]) == 2
    assert main(["reproduce", "nobody1999"]) == 2


def test_explain_lists_and_explains(capsys):
    assert main(["explain"]) == 0
    assert main(["explain", "auc"]) == 0
    printed = capsys.readouterr().out
    assert "average precision" in printed
    assert "eq. 4" in printed


def test_every_metric_that_may_be_required_is_explained():
    for name in (*AREAS, *metric_names()):
        assert main(["explain", name]) == 0


def test_demo_shows_the_hidden_truth(tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["demo", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "The hidden truth" in printed
    assert page.stat().st_size < 150_000


def run(*arguments, **environment):
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "undercount.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_and_version_are_light():
    for flag in ("--help", "--version"):
        code = (
            "import sys, undercount.cli.main\n"
            f"undercount.cli.main.main(['{flag}'])\n"
            "print('\\n'.join(sys.modules), file=sys.stderr)"
        )
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert not HEAVY & set(done.stderr.split())


def test_standard_input_and_no_colour(folder):
    done = subprocess.run(  # noqa: S603 - our own command
        [
            sys.executable,
            "-m",
            "undercount.cli.main",
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


@pytest.mark.parametrize("kind", ["terminal", "markdown"])
def test_golden_output_of_the_bundled_case(kind, capsys):
    arguments = ["evaluate", str(fraud_path()), "--label", "is_fraud", "--score", "p_fraud"]
    arguments += ["--prevalence", "0.039", "--threshold", "0.5"]
    assert main([*arguments, *(["--markdown", "-"] if kind == "markdown" else [])]) == 0
    golden = pathlib.Path(__file__).parents[1] / "data" / "golden" / f"{kind}.txt"
    assert masked(capsys.readouterr().out) == golden.read_text(encoding="utf-8")


@pytest.mark.slow
def test_help_takes_little_time():
    best = min(_seconds() for _ in range(5))
    assert best < 0.2


def _seconds():
    started = time.perf_counter()
    run("--help")
    return time.perf_counter() - started
