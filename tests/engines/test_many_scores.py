"""Counts of very many scores: merged with a warning, or as somebody chose."""

import math
import warnings
from fractions import Fraction
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undercount as uc
import undercount.count.frames
from undercount.cli.main import main

COLUMNS: dict[str, Any] = {"label": "y", "score": "s"}
LIMIT = 100


def make_frame(n: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.05, 1.0, np.nan)
    return pd.DataFrame({"y": y, "s": rng.random(n)})


@pytest.fixture
def _low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undercount.count.frames, "EXACT_LIMIT", LIMIT)


def test_over_two_million_scores_are_merged_with_a_warning() -> None:
    rows = duckdb.sql(
        "SELECT CASE WHEN i % 1000 = 0 THEN 1 END AS y, i * 7919 % 2200003 / 2200003 AS s "
        "FROM range(2200000) t(i)"
    )
    with pytest.warns(uc.CompactCountsWarning, match="more than 2,097,152 distinct scores"):
        counts = uc.count_scores(rows, **COLUMNS)
    assert counts.compact
    assert counts.n_rows == 2_200_000
    assert counts.auc_error == 0


@pytest.mark.usefixtures("_low_limit")
def test_the_warning_says_how_exact_counts_are_and_what_to_pass() -> None:
    rows = duckdb.from_df(make_frame())
    with pytest.warns(uc.CompactCountsWarning) as caught:
        uc.count_scores(rows, **COLUMNS)
    words = str(caught[0].message)
    for part in ("curves are exact", "knots=[…]", "digits=4", "compact=False", "compact=True"):
        assert part in words
    with pytest.warns(uc.CompactCountsWarning, match=r"nor thresholds other than 0\.25, 0\.75;"):
        uc.count_scores(rows, **COLUMNS, knots=[0.25, 0.75])
    with pytest.warns(uc.CompactCountsWarning, match=r"merged into .* cells: areas are within"):
        counts = uc.count_scores(pl.from_pandas(make_frame()).lazy(), **COLUMNS)
    assert counts.auc_error > 0


@pytest.mark.usefixtures("_low_limit")
@pytest.mark.parametrize(
    "choice", [{"compact": True}, {"compact": False}, {"bins": 50}, {"digits": 1}], ids=str
)
def test_a_choice_needs_no_warning(choice: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", uc.CompactCountsWarning)
        uc.count_scores(duckdb.from_df(make_frame()), **COLUMNS, **choice)


@pytest.mark.usefixtures("_low_limit")
def test_a_database_keeps_the_thresholds_that_were_named() -> None:
    frame = make_frame()
    table = ibis.memtable(pa.Table.from_pandas(frame))
    with pytest.warns(uc.CompactCountsWarning):
        counts = uc.count_scores(table, **COLUMNS, knots=[0.7])
    labelled = (frame["y"] == 1) & (frame["s"] >= 0.7)
    others = frame["y"].isna() & (frame["s"] >= 0.7)
    assert counts.heads_at(0.7) == (labelled.sum(), 0, others.sum())


def test_every_engine_rounds_halves_up() -> None:
    eighths = range(-40, 41)
    frame = pd.DataFrame({"y": [1.0] * 40 + [np.nan] * 41, "s": [k / 8 for k in eighths]})
    rounded = [math.floor(Fraction(k, 8) * 100 + Fraction(1, 2)) / 100 for k in eighths]
    expected = sorted(set(rounded), reverse=True)
    for rows in (
        frame,
        frame.astype({"s": "float32"}),
        pl.from_pandas(frame),
        pl.from_pandas(frame).lazy(),
        pa.Table.from_pandas(frame),
        duckdb.from_df(frame),
        ibis.memtable(pa.Table.from_pandas(frame)),
    ):
        assert uc.count_scores(rows, **COLUMNS, digits=2).score.tolist() == expected


@pytest.mark.parametrize("digits", [-1, 16, 1.5, True])
def test_digits_must_be_a_number_of_decimals(digits: Any) -> None:
    with pytest.raises(uc.InputError, match="digits must be a whole number from 0 to 15"):
        uc.count_scores(make_frame(), **COLUMNS, digits=digits)


@pytest.mark.usefixtures("_low_limit")
def test_the_command_leaves_the_choice_to_its_options(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = make_frame()
    frame.to_parquet("rows.parquet")
    make_frame(3000).to_csv("more.csv", index=False)
    columns = ["--label", "y", "--score", "s"]

    def count(data: str, output: str, *options: str) -> str:
        assert main(["count", data, *columns, "-o", output, "--quiet", *options]) == 0
        return capsys.readouterr().err

    def evaluate(data: str) -> tuple[int, str, str]:
        code = main(["evaluate", data, "--prevalence", "0.1", "--threshold", "0.77"])
        written = capsys.readouterr()
        return code, written.out.split("\n", 1)[-1], written.err

    said = " ".join(count("rows.parquet", "default.parquet").split())
    for part in (
        "100 distinct scores",
        "curves are exact",
        "--threshold T",
        "--round 4",
        "--exact",
    ):
        assert part in said
    code, _, refusal = evaluate("default.parquet")
    assert code != 0
    assert "--threshold 0.77, or --exact, which keeps every score" in " ".join(refusal.split())

    assert "nor thresholds other than 0.77;" in " ".join(
        count("rows.parquet", "named.parquet", "--threshold", "0.77").split()
    )
    assert count("rows.parquet", "exact.parquet", "--exact") == ""
    assert evaluate("named.parquet")[0] == evaluate("exact.parquet")[0] == 0
    assert len(uc.load_counts("exact.parquet").score) == len(frame)
    named, exact = (uc.load_counts(f"{name}.parquet") for name in ("named", "exact"))
    assert named.heads_at(0.77) == exact.heads_at(0.77)

    count("more.csv", "other.parquet")
    assert main(["merge", "default.parquet", "other.parquet", "-o", "sum.parquet"]) != 0
    refusal = " ".join(capsys.readouterr().err.split())
    assert "--round 4 (each of them), or --exact" in refusal
    for data, output in (("rows.parquet", "one.parquet"), ("more.csv", "two.parquet")):
        assert count(data, output, "--round", "1") == ""
    assert main(["merge", "one.parquet", "two.parquet", "-o", "sum.parquet"]) == 0
    assert uc.load_counts("sum.parquet").score.tolist() == [k / 10 for k in range(10, -1, -1)]
