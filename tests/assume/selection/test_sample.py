"""Rows for a selection model: what is refused, and in which words."""

import numpy as np
import pytest
from tests.assume.selection.fitting import Selected, interval_of

from undercount.errors import InputError


@pytest.mark.parametrize(
    ("score", "y", "words"),
    [
        ([0.9, 0.8, 0.1], [1, 1, None], "both classes"),
        ([0.9, 0.8, 0.1], [1, 0, 1], "every row is labelled"),
        ([0.9, np.inf, 0.1], [1, 0, None], "finite scores"),
        ([0.5, 0.5, 0.5], [1, 0, None], "score must vary"),
        ([0.9, 0.8, 0.1, 0.2], [1, 0, None, None], "separate the two classes"),
        ([0.9, 0.8, 0.1], [1, 2, None], "labels must be 1"),
    ],
)
def test_wrong_rows_say_what_to_do(score, y, words):
    with pytest.raises(InputError, match=words):
        Selected("own-score").fit(score, y)


def audited(n=400):
    rng = np.random.default_rng(2)
    score, column, noise = rng.normal(size=(3, n))
    looked = rng.random(n) < 0.5
    return score, np.where(looked, score + noise > 0, np.nan), column, looked


@pytest.mark.parametrize("method", ["begg-greenes", "ipw", "doubly-robust", "unobserved"])
def test_collinear_columns_are_refused_by_name(method):
    score, y, column, _ = audited()
    pairs = [
        (
            [column, 2 * column - 1],
            r"column 'x0' of features and column 'x1' of features follow from each other",
        ),
        ([column, 3 * score], r"^column 'x1' of features repeats the score \(.*\).*; drop it"),
        (
            [column, 2 * column + score],
            r"^the score and column 'x0' of features and column 'x1' of features follow from",
        ),
    ]
    for columns, words in pairs:
        with pytest.raises(InputError, match=words):
            Selected(method).fit(score, y, X=np.column_stack(columns))


def test_a_column_that_stands_still_where_somebody_looked_is_refused():
    score, y, _, looked = audited()
    away = np.where(looked, 0.0, np.random.default_rng(3).normal(size=len(score)))
    with pytest.raises(InputError, match="'x0' of features does not vary among the rows looked at"):
        Selected("begg-greenes").fit(score, y, X=away)


@pytest.mark.parametrize("distribution", ["empirical", "normal"])
@pytest.mark.parametrize("method", ["own-score", "unobserved"])
@pytest.mark.parametrize("unit", [1e160, 1e300, 1e-170])
def test_the_unit_of_scores_changes_nothing(method, distribution, unit):
    rng = np.random.default_rng(0)
    score = rng.normal(size=200)
    truth = (score + rng.normal(size=200) > 0).astype(float)
    y = np.where(rng.random(200) < 0.5, truth, np.nan)
    found = [
        interval_of(Selected(method, distribution).fit(scores, y), "roc_auc")
        for scores in (score, score * unit)
    ]
    assert found[1].low == pytest.approx(found[0].low, abs=1e-6)
    assert found[1].high == pytest.approx(found[0].high, abs=1e-6)
    assert found[0].high - found[0].low > 0.05


def test_columns_of_a_mapping_keep_their_names():
    rng = np.random.default_rng(0)
    score = rng.normal(size=400)
    y = np.where(score > 0, (rng.random(400) < 0.5).astype(float), np.nan)
    column = rng.normal(size=400)
    named = {"age": column, "months": 12 * column}
    with pytest.raises(
        InputError, match="column 'age' of features and column 'months' of features follow"
    ):
        Selected("begg-greenes").fit(score, y, X=named)
    for wrong in ({"age": column, "months": column[:9]}, {"age": ["old"] * 400}, {}):
        with pytest.raises(InputError, match="features must hold numbers, as many in each column"):
            Selected("begg-greenes").fit(score, y, X=wrong)
