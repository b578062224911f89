"""Periods on the command line where labels are all here."""

import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    day, truth = rng.integers(0, 200, 6000), rng.random(6000) < 0.15
    table = pd.DataFrame({"day": np.datetime64("2024-01-01") + day, "p": rng.normal(2.0 * truth)})
    table["e"] = np.where(rng.random(6000) < 0.5, 0.7, 0.3)
    table["y"] = (truth & (rng.random(6000) < table["e"])).astype(int)
    table.to_csv(tmp_path / "rows.csv", index=False)
    return table, tmp_path / "rows.csv"


@pytest.mark.parametrize("case", ["prevalence", "chance"])
def test_months_are_those_of_python(rows, case, capsys, tmp_path):
    table, path = rows
    asked = ["monitor", str(path), "--score", "p", "--label", "y", "--observed", "day"]
    given = {"prevalence": ["--prevalence", "15%"], "chance": ["--chance", "e"]}[case]
    out = tmp_path / "m.json"
    assert main([*asked, *given, "--threshold", "1.3", "--json", str(out)]) == 0
    assert "2024-03" in capsys.readouterr().out
    assume = {"prevalence": uc.RandomLabels(0.15), "chance": uc.LabelPropensity(table["e"])}[case]
    found = uc.monitor(
        table["p"], observed=table["day"], label=table["y"], unlabeled=0, assume=assume,
        threshold=1.3,
    )  # fmt: skip
    periods = json.loads(out.read_text())["periods"]
    assert [row["low"] for row in periods] == [row.precision.low for row in found.rows]


def test_labels_or_their_dates_are_needed(rows, capsys):
    _, path = rows
    asked = ["monitor", str(path), "--score", "p", "--observed", "day", "--threshold", "1.3"]
    assert main(asked) == 2
    assert "the labels (--label)" in capsys.readouterr().err
    assert main([*asked, "--found", "day", "--chance", "e"]) == 2
    assert "leave --chance out" in capsys.readouterr().err


def test_numbers_that_are_read_as_days_are_said(rows, capsys, tmp_path):
    table, path = rows
    asked = ["--score", "p", "--label", "y", "--observed", "day", "--threshold", "1.3"]
    asked += ["--prevalence", "15%"]
    assert main(["monitor", str(path), *asked]) == 0
    assert "days since" not in capsys.readouterr().err
    numbers = tmp_path / "numbers.csv"
    first = np.datetime64("1970-01-01")
    days = (table["day"].to_numpy().astype("datetime64[D]") - first).astype(int)
    table.assign(day=days).to_csv(numbers, index=False)
    assert main(["monitor", str(numbers), *asked]) == 0
    said = capsys.readouterr()
    assert "day holds numbers, read as days since 1970-01-01" in said.err
    assert "2024-03" in said.out  # they were days indeed
