"""Rows for a selection model: what is refused, and in which words."""

import numpy as np
import pytest

from undercount.assume.selection.model import SelectionModel
from undercount.errors import InputError
from undercount.theory.simulation import simulate_own_score


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
        SelectionModel("own-score").fit(score, y)


def test_a_value_for_not_looked_at_is_to_be_made_missing(own):
    coded = np.where(np.isnan(own.y), -1, own.y)
    with pytest.raises(InputError, match=r"missing \(not looked at\)") as caught:
        SelectionModel("own-score").fit(own.score, coded)
    told = str(caught.value)
    advice = "numpy.where(y == -1, numpy.nan, y)"
    assert f"If -1 means that nobody looked make it missing: {advice}; if it means" in told
    assert "unlabeled" not in told
    y = eval(advice, {"numpy": np, "y": coded})  # noqa: S307 - the advice above
    followed = SelectionModel("own-score").fit(own.score, y)
    assert followed.prevalence_ == SelectionModel("own-score").fit(own.score, own.y).prevalence_
    with pytest.raises(InputError, match=r"'yes', 1\.0, 0\.0\), with NaN where nobody looked"):
        SelectionModel("own-score").fit([0.9, 0.8, 0.1], np.array(["yes", "no", "?"]))


def test_exchanged_columns_are_noticed():
    data = simulate_own_score(100, 0.5, random_state=0)
    for y in (data.y, list(data.y), [None if np.isnan(v) else v for v in data.y]):
        with pytest.raises(InputError, match=r"fit\(score, y\)"):
            SelectionModel().fit(y, data.score)


def audited(n=400):
    rng = np.random.default_rng(2)
    score, column, noise = rng.normal(size=(3, n))
    looked = rng.random(n) < 0.5
    return score, np.where(looked, score + noise > 0, np.nan), column, looked


@pytest.mark.parametrize("method", ["begg-greenes", "ipw", "doubly-robust", "unobserved"])
def test_collinear_columns_are_refused_by_name(method):
    score, y, column, _ = audited()
    pairs = [
        ([column, 2 * column - 1], r"column 'x0' of X and column 'x1' of X follow from each other"),
        ([column, 3 * score], r"^the score and column 'x1' of X follow from each other"),
    ]
    for columns, words in pairs:
        with pytest.raises(InputError, match=words):
            SelectionModel(method).fit(score, y, X=np.column_stack(columns))


def test_a_column_that_stands_still_where_somebody_looked_is_refused():
    score, y, _, looked = audited()
    away = np.where(looked, 0.0, np.random.default_rng(3).normal(size=len(score)))
    with pytest.raises(InputError, match="'x0' of X does not vary among the rows looked at"):
        SelectionModel("begg-greenes").fit(score, y, X=away)


@pytest.mark.parametrize("distribution", ["empirical", "normal"])
@pytest.mark.parametrize("method", ["own-score", "unobserved"])
@pytest.mark.parametrize("unit", [1e160, 1e300, 1e-170])
def test_the_unit_of_scores_changes_nothing(method, distribution, unit):
    rng = np.random.default_rng(0)
    score = rng.normal(size=200)
    truth = (score + rng.normal(size=200) > 0).astype(float)
    y = np.where(rng.random(200) < 0.5, truth, np.nan)
    found = [
        SelectionModel(method, distribution).fit(scores, y).interval("roc_auc")
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
    with pytest.raises(InputError, match="column 'age' of X and column 'months' of X follow"):
        SelectionModel("begg-greenes").fit(score, y, X=named)
    for wrong in ({"age": column, "months": column[:9]}, {"age": ["old"] * 400}, {}):
        with pytest.raises(InputError, match="X must hold numbers, as many in each column"):
            SelectionModel("begg-greenes").fit(score, y, X=wrong)
