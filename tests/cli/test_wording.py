"""Messages in the words of the command line: options rather than arguments."""

import pytest

import undercount as uc
from undercount.cli.evaluate import evaluate
from undercount.cli.main import main
from undercount.cli.select import select
from undercount.cli.wording import say
from undercount.errors import Message, named

COLUMNS = ["--label", "y", "--score", "s"]


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
        "undercount plan … --budget 100 --out review.csv",
    ),
    "few labels, all methods": (
        ["prevalence", "{few}", *COLUMNS],
        "or give evaluate the share of positives: --prevalence",
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
        (
            "count the parts again with undercount count … --round 4 (each of them), or --exact, "
            "which keeps every score"
        ),
    ),
    "merged cell": (
        ["evaluate", "{first}", "--prevalence", "0.5", "--threshold", "7"],
        (
            "count the rows again with undercount count … --threshold 7.0, or --exact, which keeps "
            "every score"
        ),
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
        "'own-score' does not use --features; 'begg-greenes' (--features explain",
    ),
    "distribution": (
        ["select", "{audit}", *COLUMNS, "--method", "ipw", "--distribution", "copula"],
        "got --distribution copula. Leave",
    ),
    "all looked at": (
        ["select", "{rows}", *COLUMNS],
        "nothing was selected; add the rows that nobody looked at",
    ),
}


@pytest.fixture
def places(small, few, tmp_path):
    (tmp_path / "odd.csv").write_text("y,s\n" + "1,5\n0,3\n3,2\n" * 20)
    (tmp_path / "audit.csv").write_text("y,s\n" + "1,5\n0,4\n,3\n1,2\n,1\n" * 20)
    known = {"few": few, "rows": small}
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
    choice = named("method", "'bootstrap'")
    for text in (named("unlabeled", "0"), f"use {choice}", f"give {named('label_frequency')}"):
        assert say(Message(text), select) == Message(text)
    assert say(Message(f"use {named('method', repr('ipw'))}"), select) == "use --method ipw"
    # Only what is marked is an argument, not a word that looks like one.
    assert say("use method='ipw'", select) == "use method='ipw'"


@pytest.mark.parametrize("name", ["random_state", "sample_weight"])
def test_arguments_whose_options_have_other_names(name):
    options = {"random_state": "--seed", "sample_weight": "--weight"}
    assert say(Message(f"{named(name)} is odd"), evaluate) == f"{options[name]} is odd"
