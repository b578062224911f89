"""`undercount prevalence`: what every estimator says, and why some say nothing."""

import json

import pytest

import undercount as uc
from undercount.cli.main import main

COLUMNS = ["--label", "y", "--score", "s"]


FEW = "estimating a prevalence needs at least 10 labelled positives; got 2"


def estimates(arguments, tmp_path):
    out = tmp_path / "estimates.json"
    assert main(["prevalence", *arguments, "--json", str(out), "--quiet"]) == 0
    (found,) = json.loads(out.read_text())["s"]
    return found["value"], found["low"], found["high"]


def test_prevalence_knows_how_rows_were_sampled(small, drawn, tmp_path, monkeypatch, capsys):
    one = {"DEDPUL": ("Dedpul", {"n_resamples": 20})}  # all methods take seconds
    monkeypatch.setattr("undercount.read.estimator_table.ESTIMATOR_BY_METHOD", one)
    counts = uc.ScoreCounts.from_rows(*drawn, unlabeled=0, compact=True)
    expected = {}
    for sampling in ("single-sample", "case-control"):
        method = uc.prevalence.Dedpul(sampling=sampling, n_resamples=20, random_state=0).fit(counts)
        ends = (method.interval_.low, method.interval_.high)
        expected[sampling] = pytest.approx((method.unlabeled_prevalence_, *ends), abs=1e-12)
        asked = [small, *COLUMNS, "--sampling", sampling]
        assert estimates(asked, tmp_path) == expected[sampling]
        assert main(["prevalence", *asked]) == 0
        assert sampling in capsys.readouterr().out
    assert estimates([small, *COLUMNS], tmp_path) == expected["single-sample"]
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


def test_methods_that_fail_for_different_reasons_are_named(small, monkeypatch, capsys):
    class Fails:
        def __init__(self, reason, **_):
            self.reason = reason

        def fit(self, _):
            raise uc.InputError(self.reason)

    monkeypatch.setattr("undercount.prevalence.Fails", Fails, raising=False)
    names = {"A": "too flat", "B": "too steep", "C": "too flat"}
    methods = {name: ("Fails", {"reason": reason}) for name, reason in names.items()}
    monkeypatch.setattr("undercount.read.estimator_table.ESTIMATOR_BY_METHOD", methods)
    assert main(["prevalence", small, *COLUMNS]) == 2
    assert capsys.readouterr().err == (
        "undercount: no method could work on these rows; A, C: too flat; B: too steep\n"
    )


def test_with_too_few_labels_the_commands_that_help_are_named(few, capsys):
    for command in ("prevalence", "evaluate"):
        assert main([command, few, *COLUMNS]) == 2
        said = capsys.readouterr().err
        assert "undercount plan … --budget 100 --out review.csv" in said
        assert "--reviews review.csv" in said
        assert "--prevalence" in said
        assert "VerifiedSample" not in said
