"""Columns of other libraries: nulls stay nulls, and what means unlabeled is a number."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undercount as uc
from undercount.errors import InputError

LABELS, SCORES = [1.0, None, None, 0.0], [0.9, 0.8, 0.7, 0.1]


def encoded(values):
    return pa.array(values).dictionary_encode()


@pytest.mark.parametrize(
    "column",
    [
        encoded,
        lambda values: pa.chunked_array([encoded(values[:2]), encoded(values[2:])]),
        lambda values: pd.Series(values, dtype="category"),
        pd.Categorical,
        lambda values: pd.Series(pd.arrays.ArrowExtensionArray(encoded(values))),
    ],
    ids=["array", "chunks", "series", "categorical", "arrow series"],
)
def test_nulls_of_categories_are_nulls(column):
    counts = uc.ScoreCounts.from_rows(column(LABELS), SCORES)
    assert (counts.n_positive, counts.n_negative, counts.n_unlabeled) == (1, 1, 2)
    with pytest.raises(InputError, match="score must not be missing; got 1 NaN"):
        uc.ScoreCounts.from_rows([1, 0, 0, 1], column([0.9, None, 0.7, 0.1]))
    with pytest.raises(InputError, match="sample_weight must be finite"):
        uc.ScoreCounts.from_rows([1, 0, 0, 1], SCORES, sample_weight=column([1.0, 2.0, None, 1.0]))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["0", "1"])], ids=["categorical", "enum"])
def test_categories_of_text_are_text(kind):
    with pytest.raises(InputError, match="not text; got '1' in 3 rows"):
        uc.ScoreCounts.from_rows(pl.Series(["1", None, "0", "1"], dtype=kind), SCORES)


@pytest.mark.parametrize("unlabeled", ["0", [0], b"0", (0,), np.array([0]), pd.NA], ids=repr)
def test_what_means_unlabeled_is_a_number(unlabeled):
    words = f"unlabeled must be one number, usually 0 or -1; got {unlabeled!r}"
    labels = [1, 0, 0, 1]
    for call in (
        lambda: uc.ScoreCounts.from_rows(labels, SCORES, unlabeled=unlabeled),
        lambda: uc.evaluate(labels, SCORES, unlabeled=unlabeled, prevalence=0.6),
        lambda: uc.count_scores(
            pd.DataFrame({"y": labels, "s": SCORES}), label="y", score="s", unlabeled=unlabeled
        ),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value) == words


@pytest.mark.parametrize("unlabeled", [0, 0.0, np.int8(0), np.float32(0), False], ids=repr)
def test_numbers_of_every_kind_mean_unlabeled(unlabeled):
    assert uc.ScoreCounts.from_rows([1, 0, 0, 1], SCORES, unlabeled=unlabeled).n_unlabeled == 2


def test_integers_among_objects_are_not_merged():
    with pytest.raises(InputError, match="within ±2"):
        uc.ScoreCounts.from_rows([1, 0], np.array([2**53 + 1, 2**53], dtype=object))


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy before 2.0 has none")
def test_texts_of_numpy_are_texts():
    texts = np.array(["1", "0", "1"], dtype=np.dtypes.StringDType())
    with pytest.raises(InputError, match="StringDType"):
        uc.ScoreCounts.from_rows(texts, [3.0, 2.0, 1.0])
    with pytest.raises(InputError, match="StringDType"):
        uc.ScoreCounts.from_rows([1, 0, 0], texts, unlabeled=0)


def test_decimals_are_numbers():
    labels, scores = ([Decimal(each) for each in texts] for texts in ("100", ("3", "2.5", "1")))
    for y, score in ((labels, scores), (pa.array(labels), pa.array(scores))):
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
        assert counts.score.tolist() == [3.0, 2.5, 1.0]
        assert counts.positive.tolist() == [1.0, 0.0, 0.0]
