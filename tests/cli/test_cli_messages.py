"""What the commands say of small and of broken input, in the words of the command line."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.cli.wording import say

COLUMNS = ["--label", "y", "--score", "s"]
FEW = "estimating a prevalence needs at least 10 labelled positives; got 2"


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.3
    score = np.round(rng.normal(1.5 * truth), 4)
    return (truth & (rng.random(400) < 0.5)).astype(int), score


@pytest.fixture
def rows(drawn, tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{y},{s},0.0025" for y, s in zip(*drawn, strict=True)]
    path.write_text("\n".join(["y,s,w", *lines]) + "\n")
    return str(path)


@pytest.fixture
def few(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("y,s,t\n1,5,1\n0,2,2\n0,3,3\n0,7,4\n1,9,5\n")
    return str(path)


def test_weights_are_no_number_of_rows(rows, drawn, tmp_path, capsys):
    labelled = int(drawn[0].sum()) / 400
    arguments = [rows, *COLUMNS, "--weight", "w"]
    told = ["--prevalence", "0.3", "--threshold", "1"]
    assert main(["evaluate", *arguments, *told]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "400 rows read" in printed
    parts = f"labelled positive {labelled:.4g} · unlabeled {1 - labelled:.4g}"
    assert f"Read rows of total weight 1 · {parts}" in printed
    flagged = np.mean(drawn[1] >= 1)
    assert f"flagged rows of total weight {flagged:.4g} (" in printed
    assert "about 0 real" not in printed
    counts = tmp_path / "counts.parquet"
    assert main(["count", *arguments, "-o", str(counts)]) == 0
    assert "ScoreCounts: rows of total weight 1: " in capsys.readouterr().out
    page = tmp_path / "report.html"
    assert main(["evaluate", str(counts), *told[:2], "--html", str(page)]) == 0
    assert "Read rows of total weight 1 · " in " ".join(capsys.readouterr().out.split())
    assert "rows of total weight 1, " in page.read_text()


def test_one_row_is_no_rows(tmp_path, capsys):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("s\n5\n")
    two.write_text("s\n4\n6\n")
    case_control = ["--positives", str(one), "--unlabeled", str(two), "--score", "s"]
    assert main(["evaluate", *case_control, "--prevalence", "0.5"]) == 0
    printed = capsys.readouterr().out
    assert "1 positive row read" in printed
    assert "2 unlabeled rows read" in printed
    assert "Only 1 labelled positive row:" in " ".join(printed.split())
    lines = uc.ScoreCounts.from_rows([1], [5])
    assert repr(lines).startswith("ScoreCounts: 1 row: 1 labelled positive")
    assert repr(uc.ScoreCounts.from_counts([1], [2_000_000], [0], [1])).startswith(
        "ScoreCounts: 2,000,001 rows: 2,000,000 labelled positive"
    )


def estimates(arguments, tmp_path):
    out = tmp_path / "estimates.json"
    assert main(["prevalence", *arguments, "--json", str(out), "--quiet"]) == 0
    (found,) = json.loads(out.read_text())["s"]
    return found["value"], found["low"], found["high"]


def test_prevalence_knows_how_rows_were_sampled(rows, drawn, tmp_path, monkeypatch, capsys):
    one = {"DEDPUL": ("Dedpul", {"n_resamples": 20})}  # all methods take seconds
    monkeypatch.setattr("undercount.read.estimator_table.METHODS", one)
    counts = uc.ScoreCounts.from_rows(*drawn, unlabeled=0, compact=True)
    expected = {}
    for sampling in ("single-sample", "case-control"):
        method = uc.prevalence.Dedpul(sampling=sampling, n_resamples=20, random_state=0).fit(counts)
        ends = (method.interval_.low, method.interval_.high)
        expected[sampling] = pytest.approx((method.unlabeled_prevalence_, *ends), abs=1e-12)
        asked = [rows, *COLUMNS, "--sampling", sampling]
        assert estimates(asked, tmp_path) == expected[sampling]
        assert main(["prevalence", *asked]) == 0
        assert sampling in capsys.readouterr().out
    assert estimates([rows, *COLUMNS], tmp_path) == expected["single-sample"]
    files = []
    for name, label in (("positives", 1), ("unlabeled", 0)):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["s", *map(str, drawn[1][drawn[0] == label])]) + "\n")
        files += [f"--{name}", str(path)]
    apart = estimates([*files, "--score", "s"], tmp_path)
    assert apart == expected["case-control"]
    assert apart != expected["single-sample"]


def test_what_no_method_can_do_is_said_once(few, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert main(["prevalence", few, *COLUMNS, "--json", str(out)]) == 2
    said = capsys.readouterr()
    assert said.err.count(FEW) == 1
    assert said.err.startswith(f"undercount: {FEW}")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not out.exists()
    assert main(["prevalence", few, *COLUMNS, "--score", "t"]) == 2
    assert capsys.readouterr().err.startswith(f"undercount: s: {FEW}")


def test_methods_that_fail_for_different_reasons_are_named(rows, monkeypatch, capsys):
    class Fails:
        def __init__(self, reason, **_):
            self.reason = reason

        def fit(self, _):
            raise uc.InputError(self.reason)

    monkeypatch.setattr("undercount.prevalence.Fails", Fails, raising=False)
    names = {"A": "too flat", "B": "too steep", "C": "too flat"}
    methods = {name: ("Fails", {"reason": reason}) for name, reason in names.items()}
    monkeypatch.setattr("undercount.read.estimator_table.METHODS", methods)
    assert main(["prevalence", rows, *COLUMNS]) == 2
    assert capsys.readouterr().err == (
        "undercount: no method could work on these rows; A, C: too flat; B: too steep\n"
    )


SPOKEN = {
    "two shares": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.3", "--label-frequency", "0.5"],
        (
            "give one of --prevalence, --unlabeled-prevalence and --label-frequency; the others "
            "follow from it; got --prevalence and --label-frequency"
        ),
    ),
    "share out of range": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.01"],
        "undercount: --prevalence must be in [",
    ),
    "case-control": (
        ["evaluate", "{rows}", *COLUMNS, "--label-frequency", "0.5", "--sampling", "case-control"],
        (
            "--label-frequency is undefined in case-control sampling, where the number of labelled "
            "rows is a choice; give --unlabeled-prevalence or --prevalence"
        ),
    ),
    "level": (
        ["evaluate", "{rows}", *COLUMNS, "--confidence-level", "2"],
        "undercount: --confidence-level must be in (0, 1)",
    ),
    "interval": (
        ["evaluate", "{rows}", *COLUMNS, "--prevalence", "0.3", "--interval", "bootstrap"],
        "--interval is for a share that is estimated from these scores; --prevalence was given",
    ),
    "resamples": (
        ["evaluate", "{rows}", *COLUMNS, "--interval", "bootstrap", "--resamples", "1"],
        "--resamples must be at least",
    ),
    "few labels": (
        ["evaluate", "{few}", *COLUMNS],
        (
            "review some unlabeled rows and give evaluate the share of positives among them by "
            "--unlabeled-prevalence"
        ),
    ),
    "few labels, all methods": (
        ["prevalence", "{few}", *COLUMNS],
        "give evaluate the share of positives among them by --unlabeled-prevalence",
    ),
    "unknown label": (
        ["evaluate", "{odd}", *COLUMNS, "--unlabeled", "5"],
        "If 3 means unlabeled pass --unlabeled 3; if it means",
    ),
    "positives unlabeled": (
        ["count", "{rows}", *COLUMNS, "--unlabeled", "1", "-o", "counts.parquet"],
        "undercount: --unlabeled must not be 1",
    ),
    "nothing unlabeled": (
        ["evaluate", "{rows}", *COLUMNS, "--unlabeled", "-1"],
        (
            "If 0 or -1 among the labels means unlabeled rather than verified negative, pass "
            "--unlabeled 0 or --unlabeled -1"
        ),
    ),
    "merged cells": (
        ["merge", "{first}", "{second}", "-o", "merged.parquet"],
        "make the parts with undercount count, which keeps every score",
    ),
    "merged cell": (
        ["evaluate", "{first}", "--prevalence", "0.5", "--threshold", "7"],
        "make the counts file with undercount count, which keeps every score",
    ),
    "no chooser": (
        ["select", "{audit}", *COLUMNS, "--method", "observed-score"],
        "'observed-score' needs --selection-score, the score",
    ),
    "idle chooser": (
        ["select", "{audit}", *COLUMNS, "--method", "own-score", "--selection-score", "s"],
        "'own-score' does not use --selection-score; --method observed-score does",
    ),
    "idle features": (
        ["select", "{audit}", *COLUMNS, "--features", "s"],
        "'own-score' does not use --features; 'begg-greenes' (--features explains",
    ),
    "distribution": (
        ["select", "{audit}", *COLUMNS, "--method", "ipw", "--distribution", "copula"],
        "got --distribution copula. Leave",
    ),
    "all looked at": (
        ["select", "{rows}", *COLUMNS],
        "nothing was selected; add the rows that nobody looked at",
    ),
    "runs": (["reproduce", "cook2016", "table2", "--runs", "0"], "--runs must be at least 1"),
}


@pytest.fixture
def places(rows, few, tmp_path):
    (tmp_path / "odd.csv").write_text("y,s\n" + "1,5\n0,3\n3,2\n" * 20)
    (tmp_path / "audit.csv").write_text("y,s\n" + "1,5\n0,4\n,3\n1,2\n,1\n" * 20)
    known = {"few": few, "rows": rows}
    known |= {name: str(tmp_path / f"{name}.csv") for name in ("odd", "audit")}
    labels = [1, None, None, 1, None]
    for name, score in (("first", [9, 8, 6, 4, 1]), ("second", [9, 8, 6, 7, 1])):
        known[name] = str(tmp_path / f"{name}.parquet")
        uc.write_counts(uc.ScoreCounts.from_rows(labels, score, compact=True), known[name])
    return known


@pytest.mark.parametrize("case", SPOKEN)
def test_messages_name_options(case, places, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments, message = SPOKEN[case]
    assert main([argument.format(**places) for argument in arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_names_in_quotes_and_paths_are_not_options(tmp_path, capsys):
    path = tmp_path / "label_frequency.csv"
    path.write_text("random_state,label_purity\n1,5\n")
    assert main(["evaluate", str(path), "--label", "n_resamples", "--score", "label_purity"]) == 2
    said = capsys.readouterr().err
    assert f"there is no column 'n_resamples' in {path}" in said
    assert "'random_state', 'label_purity'" in said
    assert "--" not in said


def test_what_a_command_has_no_option_for_is_left_alone():
    from undercount.cli.select import select  # noqa: PLC0415 - only this test

    for message in ("pass unlabeled=0", "use method='bootstrap'", "give label_frequency"):
        assert say(message, select) == message
    assert say("pass unlabeled=0", None) == "pass unlabeled=0"


def test_checks_of_select_name_options(tmp_path, capsys):
    rng = np.random.default_rng(8)
    score = rng.exponential(size=400)
    truth = score + rng.normal(size=400) > 1
    looked = score + rng.normal(size=400) > 1
    path = tmp_path / "audit.csv"
    lines = [f"{int(t) if k else ''},{s}" for t, k, s in zip(truth, looked, score, strict=True)]
    path.write_text("y,s\n" + "\n".join(lines) + "\n")
    assert main(["select", str(path), *COLUMNS, "--distribution", "normal"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Use --distribution empirical (the default) or 'copula'" in printed


GOOD, BROKEN = '{"y": 1, "s": 0.5}', '{"y": 1 "s": 0.5}'


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([BROKEN, GOOD, GOOD], 1),
        ([GOOD, BROKEN, GOOD], 2),
        ([GOOD, GOOD, BROKEN], 3),
        ([GOOD, "", "  ", GOOD, BROKEN, GOOD], 5),
        ([*[GOOD] * 30_000, BROKEN, GOOD], 30_001),
        ([GOOD, GOOD[:-1], GOOD], 2),
        ([GOOD, GOOD + " x", GOOD], 2),
    ],
)
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_a_broken_line_of_json_is_named_by_its_number(lines, number, ending, tmp_path, capsys):
    path = tmp_path / f"rows{ending}"
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    assert main(["evaluate", str(path), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert f"{path}, line {number}: every line must hold one JSON object; got " in said
    assert f" {lines[number - 1]!r}. Mend the line" in said


def test_a_broken_array_of_json_has_no_line(tmp_path, capsys):
    path = tmp_path / "rows.json"
    path.write_text(f"[\n{GOOD},\n{BROKEN},\n{GOOD}\n]\n")
    assert main(["evaluate", str(path), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert f"{path}: every line must hold one JSON object; got unexpected character. " in said


@pytest.fixture
def audit(tmp_path):
    rng = np.random.default_rng(5)
    score, chooser = rng.normal(size=(2, 600)).round(4)
    truth = 0.8 * score + 0.6 * rng.normal(size=600) > 0.3
    lines = [
        f"{int(t) if s > 0 else ''},{s},{c}" for t, s, c in zip(truth, score, chooser, strict=True)
    ]
    return tmp_path, lines


def test_select_drops_rows_without_a_score_and_says_so(audit, capsys):
    folder, lines = audit
    whole, holes = folder / "whole.csv", folder / "holes.csv"
    whole.write_text("y,s,c\n" + "\n".join(lines) + "\n")
    holes.write_text("y,s,c\n" + "\n".join(["1,,0.1", *lines, ",nan,0.2", ",,0.3"]) + "\n")
    found = []
    for path in (whole, holes):
        out = folder / f"{path.stem}.json"
        assert main(["select", str(path), *COLUMNS, "--json", str(out)]) == 0
        found.append(json.loads(out.read_text()))
    assert found[0] == found[1]
    looked = sum(not line.startswith(",") for line in lines)
    said = capsys.readouterr().out
    assert f" 600 rows read, {looked} of them looked at" in said
    assert f" 603 rows read, 3 dropped (missing score), {looked} of the others looked at" in said


def test_select_drops_rows_without_a_selection_score(audit, capsys):
    folder, lines = audit
    path = folder / "holes.csv"
    path.write_text("y,s,c\n" + "\n".join([*lines, "1,0.5,", ",-0.5,nan"]) + "\n")
    assert main(["select", str(path), *COLUMNS, "--selection-score", "c"]) == 0
    assert "602 rows read, 2 dropped (missing score)" in capsys.readouterr().out


def test_select_takes_a_file_once(audit, capsys):
    folder, lines = audit
    path = folder / "rows.csv"
    path.write_text("y,s,c\n" + "\n".join(lines) + "\n")
    assert main(["select", str(path), str(path), *COLUMNS]) == 2
    assert "each file may be named once" in capsys.readouterr().err


def test_select_refuses_what_is_left_of_nothing(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text("y,s,c\n1,,a\n0,,2\n,,3\n")
    assert main(["select", str(path), *COLUMNS]) == 2
    assert "no row has a score in column 's'" in capsys.readouterr().err
    path.write_text("y,s,c\n1,1,a\n0,2,2\n,3,3\n")
    assert main(["select", str(path), *COLUMNS, "--selection-score", "c"]) == 2
    assert f"column 'c' of {path} must hold numbers, not text; got 'a' in row 1. " in (
        capsys.readouterr().err
    )
    path.write_text("y,s,c\n1,1,\n0,2,2\n,3,3\n")
    arguments = ["select", str(path), *COLUMNS, "--method", "begg-greenes", "--features", "c"]
    assert main(arguments) == 2
    assert "column 'c' of --features must hold a finite number" in capsys.readouterr().err


def test_select_reads_minus_one_as_evaluate_does(audit, capsys):
    folder, lines = audit
    found = []
    for name, coded in (
        ("empty", lines),
        ("coded", [f"-1{x}" if x[0] == "," else x for x in lines]),
    ):
        path, out = folder / f"{name}.csv", folder / f"{name}.json"
        path.write_text("y,s,c\n" + "\n".join(coded) + "\n")
        assert main(["select", str(path), *COLUMNS, "--json", str(out)]) == 0
        found.append(json.loads(out.read_text()))
    assert found[0] == found[1]
    said = capsys.readouterr().out
    assert said.count(" 1 = positive, 0 = negative, -1 = not looked at\n") == 1


def test_select_says_what_to_write_where_nobody_looked(audit, capsys):
    folder, lines = audit
    path = folder / "rows.csv"
    coded = [f"9{line}" if line[0] == "," else line for line in lines]
    path.write_text("y,s,c\n" + "\n".join(coded) + "\n")
    assert main(["select", str(path), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert "If 9 means that nobody looked leave it empty; if it means verified negative" in said
    assert "unlabeled=" not in said
    first = 1 + next(i for i, line in enumerate(lines) if line.startswith("1,"))
    told = [f"yes{line[1:]}" if line.startswith("1,") else line for line in lines]
    path.write_text("y,s,c\n" + "\n".join(told) + "\n")
    assert main(["select", str(path), *COLUMNS]) == 2
    assert capsys.readouterr().err == (
        f"undercount: column 'y' of {path} must hold numbers, not text; got 'yes' in row {first}. "
        "Recode positives as 1 and negatives as 0 and leave the label empty where nobody looked, "
        "or name another column of labels with --label\n"
    )


def test_text_labels_in_parquet_have_the_advice_of_csv(tmp_path, capsys):
    csv, parquet = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    csv.write_text("y,s\nyes,3\nno,2\n,1\n")
    pd.DataFrame({"y": ["yes", "no", None], "s": [3, 2, 1]}).to_parquet(parquet)
    said = []
    for path in (csv, parquet):
        assert main(["evaluate", str(path), *COLUMNS]) == 2
        said.append(capsys.readouterr().err.replace(str(path), "FILE"))
    assert said[0] == said[1]
    assert "column 'y' of FILE must hold numbers, not text; got 'yes' in row 1. Recode" in said[1]


def test_labels_and_scores_may_be_text_in_parquet(rows, tmp_path):
    path, found = tmp_path / "rows.parquet", []
    pd.read_csv(rows)[["y", "s"]].astype(str).to_parquet(path)
    for name in (rows, str(path)):
        out = tmp_path / "out.json"
        assert main(["evaluate", name, *COLUMNS, "--prevalence", "0.3", "--json", str(out)]) == 0
        found.append(json.loads(out.read_text())["models"][0]["metrics"])
    assert found[0] == found[1]


@pytest.mark.parametrize("item", [[], ["aul2021"], ["aul2021", "figure1"], ["aul2021", "table1"]])
def test_reproduce_refuses_a_folder_that_is_not_there(item, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("UNDERCOUNT_DATA", raising=False)
    folder = tmp_path / "nowhere"
    assert main(["reproduce", *item, "--data-dir", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.err == (
        f"undercount: there is no folder '{folder}'; name that of the data files by --data-dir or "
        "UNDERCOUNT_DATA, or leave both out\n"
    )
    assert said.out == ""
    monkeypatch.setenv("UNDERCOUNT_DATA", str(folder))
    assert main(["reproduce", *item]) == 2
    assert capsys.readouterr().err == said.err
