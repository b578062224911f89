"""Columns of other libraries: nulls stay nulls, and what means unlabeled is a number."""

from decimal import Decimal
from fractions import Fraction

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


LONG = [2**53 + 1, 2**53, 3]
CLOSE = [Decimal("0.1"), Decimal("0.1") + Decimal("1e-20"), Decimal(1)]
WIDE = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant


@pytest.mark.parametrize(
    "scores",
    [
        np.array(LONG),
        np.ma.array(LONG),
        np.array([np.int64(each) for each in LONG], dtype=object),
        [Decimal(each) for each in LONG],
        [Fraction(each) for each in LONG],
        [2**53 + 1, 2**53, 0.5],
        [2**63 + 1, 2**63 + 3, -1],
        pl.Series([Decimal(each) for each in LONG]),
        pl.Series(LONG).cast(pl.Int128),
        pa.array([Decimal(each) for each in LONG]),
        pytest.param(
            np.array(LONG, dtype=np.longdouble),
            marks=pytest.mark.skipif(not WIDE, reason="long doubles are doubles here"),
        ),
    ],
    ids=lambda scores: type(scores).__name__,
)
def test_scores_that_floats_would_merge_are_refused(scores):
    with pytest.raises(InputError, match=r"integer scores must stay within ±2\*\*53"):
        uc.ScoreCounts.from_rows([1, None, 0], scores)


@pytest.mark.parametrize("scores", [CLOSE, [Fraction(each) for each in CLOSE]], ids=str)
def test_decimals_that_floats_would_merge_are_refused(scores):
    with pytest.raises(InputError, match="scores must differ in their first 15 digits"):
        uc.ScoreCounts.from_rows([1, None, 0], scores)


@pytest.mark.parametrize(
    "scores",
    [
        [1e300, 0.1, -1e300],
        [Decimal("0.3"), Decimal("Infinity"), Decimal("0.1")],
        [Decimal("0.1"), 0.1, 3],
        np.array([1e30, 0.1, 3.0], dtype=np.longdouble),
        np.ma.array([2**53, 2, 3]),
        pl.Series([1, 2, 3]).cast(pl.Int128),
    ],
    ids=str,
)
def test_numbers_that_floats_hold_are_scores(scores):
    found = uc.ScoreCounts.from_rows([1, None, 0], scores).score
    assert found.tolist() == sorted({float(each) for each in scores}, reverse=True)


@pytest.mark.parametrize(
    "values",
    [
        np.array([np.complex128(1 + 5j), np.complex128(2), np.complex128(0)], dtype=object),
        np.array([np.datetime64(f"2020-01-0{day}") for day in (1, 2, 3)], dtype=object),
        np.array(
            [np.timedelta64(90, "s"), np.timedelta64(2, "m"), np.timedelta64(1, "h")], dtype=object
        ),
    ],
    ids=["complex", "dates", "durations"],
)
def test_objects_that_are_no_real_numbers_are_refused_as_arrays_of_them_are(values, request):
    kind = request.node.callspec.id
    with pytest.raises(InputError, match=f"score must hold real numbers; got {kind}"):
        uc.ScoreCounts.from_rows([1, None, 0], values)
    with pytest.raises(InputError, match=f"sample_weight must hold real numbers; got {kind}"):
        uc.ScoreCounts.from_rows([1, None, 0], [3, 2, 1], sample_weight=values)


@pytest.mark.parametrize(
    ("scores", "hint"),
    [
        ((each for each in (3, 2, 1)), "Pass list(score)"),
        ({3, 2, 1}, "Pass list(score)"),
        ({"a": 3, "b": 2, "c": 1}, "Pass list(score.values())"),
    ],
    ids=["generator", "set", "dict"],
)
def test_what_is_no_sequence_is_refused_with_a_way(scores, hint):
    with pytest.raises(InputError) as caught:
        uc.ScoreCounts.from_rows([1, None, 0], scores)
    assert str(caught.value) == f"score must be 1-D; got shape (). {hint}"


def test_masked_objects_are_missing():
    labels = np.ma.array([1, 0, 1], mask=[False, False, True], dtype=object)
    assert uc.ScoreCounts.from_rows(labels, [3, 2, 1]).n_unlabeled == 1
