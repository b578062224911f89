"""Evaluations and comparisons of frames of every engine are those of their columns as arrays."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import undercount as uc

RNG = np.random.default_rng(3)
TRUTH = RNG.random(900) < 0.3
LABEL = np.where(TRUTH & (RNG.random(900) < 0.5), 1.0, np.nan)
COLUMNS = {
    "is_fraud": LABEL,
    "p": RNG.normal(1.5 * TRUTH),
    "q": RNG.normal(TRUTH),
    "w": RNG.uniform(0.5, 2.0, 900),
}
MONTHS = [dt.date(2024, month, 1) for month in (1, 2, 3)]
KNOWN = {"prevalence": 0.3, "threshold": 0.7}


def test_every_engine_answers_as_arrays_do(engines):
    expected = uc.evaluate(LABEL, COLUMNS["p"], **KNOWN)
    for name, make in engines.items():
        found = uc.evaluate(make(COLUMNS), label="is_fraud", score="p", **KNOWN)
        assert found.name == "p", name
        for mine, other in zip(found.rows, expected.rows, strict=True):
            assert mine.estimate.low == pytest.approx(other.estimate.low, abs=1e-9), name
            assert mine.estimate.value == pytest.approx(other.estimate.value, abs=1e-9), name
        again = found.estimate("precision", 1.1).value  # counts once more
        assert again == pytest.approx(expected.estimate("precision", 1.1).value, abs=1e-9), name


SEGMENTS = {
    "land": np.array(["DE", "FR", None], object)[RNG.integers(3, size=900)],
    "shop": RNG.integers(1, 4, size=900),
    "month": np.array(["2024-01-01", "2024-02-01", "2024-03-01"], "datetime64[us]")[
        RNG.integers(3, size=900)
    ],
}


def lines(found):
    """Each segment with its rows and metrics."""
    return [
        (row.segment, row.counts.n_rows, [metric.estimate.low for metric in row.rows])
        for row in found.rows
    ]


@pytest.mark.parametrize("by", ["land", "shop", "month", ["land", "shop"]])
def test_every_engine_has_the_segments_of_arrays(engines, by):
    """Text with missing values, numbers, dates and pairs: the same names, the same numbers."""
    frame = pd.DataFrame(COLUMNS | SEGMENTS)
    ask = {"label": "is_fraud", "score": "p", "by": by, **KNOWN}
    expected = lines(uc.evaluate(frame, **ask))
    assert sum(size for _, size, _ in expected) == len(frame)
    names = {"land": ["DE", "FR", None], "shop": [1, 2, 3], "month": MONTHS}
    if isinstance(by, str):
        assert [segment for segment, *_ in expected] == names[by]
    for engine, make in engines.items():
        found = lines(uc.evaluate(make(COLUMNS | SEGMENTS), **ask))
        assert [each[:2] for each in found] == [each[:2] for each in expected], engine
        for mine, other in zip(found, expected, strict=True):
            assert mine[2] == pytest.approx(other[2], abs=1e-9), engine


def test_every_engine_compares_as_arrays_do(engines):
    expected = uc.compare(LABEL, {"p": COLUMNS["p"], "q": COLUMNS["q"]}, prevalence=0.3)
    for name, make in engines.items():
        found = uc.compare(make(COLUMNS), label="is_fraud", scores=["p", "q"], prevalence=0.3)
        gap = found.difference("roc_auc").difference
        assert gap.low == pytest.approx(expected.difference("roc_auc").difference.low), name


def test_columns_of_weights_and_names_of_models():
    frame = pd.DataFrame(COLUMNS)
    weighted = uc.evaluate(frame, label="is_fraud", score="p", sample_weight="w", **KNOWN)
    arrays = uc.evaluate(LABEL, COLUMNS["p"], sample_weight=COLUMNS["w"], **KNOWN)
    assert weighted.rows == arrays.rows
    named = uc.compare(frame, label="is_fraud", scores={"new": "p", "old": "q"}, prevalence=0.3)
    assert list(named.evaluations) == ["new", "old"]


@pytest.mark.parametrize("ask", [uc.evaluate, uc.plan_reviews])
@pytest.mark.parametrize(
    "assume",
    [
        uc.LabelPropensity("w"),
        uc.LabelPropensity(np.full(900, 0.5)),
        uc.SelectedLabels(method="observed-score", selection_score="q"),
        uc.SelectedLabels(method="observed-score", selection_score=COLUMNS["q"]),
    ],
)
def test_rows_that_stay_elsewhere_are_to_be_collected(ask, assume):
    lazy = pl.DataFrame(COLUMNS).lazy()
    relation = duckdb.sql("SELECT * FROM lazy")
    budget = {"budget": 50} if ask is uc.plan_reviews else {}
    for frame in (lazy, relation):
        with pytest.raises(uc.InputError, match="collect the frame first") as raised:
            ask(frame, label="is_fraud", score="p", assume=assume, threshold=0.7, **budget)
        assert raised.value.code == "missing-data"


def test_collecting_the_frame_helps():
    columns = {**COLUMNS, "chance": np.full(900, 0.5)}
    assume = uc.LabelPropensity("chance")
    rows = uc.evaluate(
        pl.DataFrame(columns).lazy().collect(), label="is_fraud", score="p", assume=assume
    ).rows
    arrays = uc.LabelPropensity(columns["chance"])
    assert rows == uc.evaluate(LABEL, COLUMNS["p"], assume=arrays).rows


def test_what_is_wrong_with_the_arguments_is_said():
    frame = pd.DataFrame(COLUMNS)
    for made in (frame, pl.DataFrame(COLUMNS).lazy()):
        with pytest.raises(uc.InputError, match="score looks like labels and y like scores"):
            uc.evaluate(made, label="p", score="is_fraud", prevalence=0.3)
    with pytest.raises(uc.InputError, match="did you mean 'is_fraud'"):
        uc.evaluate(frame, label="is_fruad", score="p")
    with pytest.raises(uc.InputError, match="label must name a column"):
        uc.evaluate(frame, score="p")
    with pytest.raises(uc.InputError, match="score must name a column"):
        uc.evaluate(frame, label="is_fraud", score=COLUMNS["p"])
    with pytest.raises(uc.InputError, match="names a column of a frame, which comes first"):
        uc.evaluate(LABEL, label="is_fraud", score="p")
    with pytest.raises(uc.InputError, match="score looks like labels"):
        uc.evaluate(COLUMNS["p"], LABEL, prevalence=0.3)
    with pytest.raises(uc.InputError, match="score looks like labels"):
        uc.metrics.roc_auc(COLUMNS["p"], LABEL, prevalence=0.3)
    with pytest.raises(uc.InputError, match=r"score\[:, 1\]"):
        uc.evaluate(LABEL, np.column_stack([1 - COLUMNS["p"], COLUMNS["p"]]))
    with pytest.raises(uc.InputError, match="Labels come first"):
        uc.evaluate(np.column_stack([1 - COLUMNS["p"], COLUMNS["p"]]), LABEL)


def test_series_in_another_order_are_not_paired_by_chance():
    label, score = pd.Series(LABEL), pd.Series(COLUMNS["p"])
    shuffled = score.sample(frac=1, random_state=0)
    with pytest.raises(uc.InputError, match="same index in different orders"):
        uc.evaluate(label, shuffled, prevalence=0.3)
    expected = uc.evaluate(label, score, prevalence=0.3)
    assert uc.evaluate(label, shuffled.loc[label.index], prevalence=0.3).rows == expected.rows
    # Rows of a split keep their index; an array of scores made for them has none of its own.
    kept = label.sample(300, random_state=1)
    uc.evaluate(kept, COLUMNS["p"][kept.index], prevalence=0.3)
