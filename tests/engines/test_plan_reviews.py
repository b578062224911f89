"""Plans of frames: in memory as of arrays, elsewhere drawn where the rows are."""

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.count.columns import is_eager
from undercount.errors import InputError

ASKED = {"budget": 40, "threshold": 0.3, "unlabeled_prevalence": 0.3}


@pytest.fixture
def table():
    """Columns of rows; `g` tells one row from another."""
    rng = np.random.default_rng(3)
    truth = rng.random(1500) < 0.3
    return {
        "y": np.where(truth & (rng.random(1500) < 0.4), 1.0, np.nan),
        "s": rng.normal(1.5 * truth),
        "t": rng.normal(truth),
        "g": [f"row {place}" for place in range(1500)],
        "h": np.where(rng.random(1500) < 0.1, np.nan, np.arange(1500.0)),
    }


@pytest.mark.parametrize("two", [False, True])
def test_frames_and_arrays_draw_the_same_rows_of_the_same_strata(constructor, table, two):
    frame = constructor(table)
    asked = {**ASKED, "goal": "f1_difference" if two else "f1"}
    scores = {"s": table["s"], "t": table["t"]} if two else table["s"]
    arrays = uc.plan_reviews(table["y"], scores, **asked)
    plan = uc.plan_reviews(frame, ["s", "t"] if two else "s", label="y", keep=["g", "h"], **asked)
    place = plan.rows
    if is_eager(frame):
        np.testing.assert_array_equal(place, arrays.rows)
    np.testing.assert_array_equal(plan.stratum, plan.design.stratum_of(table["s"][place]))
    np.testing.assert_array_equal(np.sort(place), np.unique(place))
    assert np.isnan(table["y"][place]).all()
    for name, values in plan.sheet.scores.items():
        np.testing.assert_array_equal(values, table[name][place] if name in table else arrays.score)
    assert plan.sheet.kept["g"] == [table["g"][at] for at in place]
    numbers = [np.nan if word == "" else float(word) for word in plan.sheet.kept["h"]]
    np.testing.assert_array_equal(numbers, table["h"][place])


def test_frames_and_arrays_say_the_same_of_the_budget(constructor, table):
    """All unlabeled rows are sampled for the knots of either, so that strata are the same."""
    arrays = uc.plan_reviews(table["y"], table["s"], **ASKED)
    plan = uc.plan_reviews(constructor(table), "s", label="y", **ASKED)
    np.testing.assert_array_equal(plan.design.edges, arrays.design.edges)
    np.testing.assert_array_equal(plan.design.order, arrays.design.order)
    assert plan.expected[40] == pytest.approx(arrays.expected[40], rel=1e-9)


def test_a_further_round_of_a_frame_draws_new_rows(constructor, table):
    frame = constructor(table)
    plan = uc.plan_reviews(frame, "s", label="y", **ASKED)
    seen = plan.answered(np.arange(40) % 2)
    further = uc.plan_reviews(frame, "s", label="y", budget=30, reviews=seen)
    assert not set(further.rows) & set(plan.rows)
    assert further.answered(np.ones(30)).n_answered == 70


def test_weights_and_clusters_come_with_the_rows(constructor, table):
    frame = constructor({**table, "w": 1.0 + np.arange(1500), "c": np.arange(1500) // 3})
    plan = uc.plan_reviews(frame, "s", label="y", sample_weight="w", cluster="c", **ASKED)
    np.testing.assert_array_equal(plan.weight, 1.0 + plan.rows)
    np.testing.assert_array_equal(plan.cluster.astype(int), plan.rows // 3)


def test_a_plan_of_arrays_is_a_file_to_answer_in(table, tmp_path):
    plan = uc.plan_reviews(table["y"], table["s"], **ASKED)
    plan.to_csv(tmp_path / "review.csv")
    sheet = pd.read_csv(tmp_path / "review.csv", encoding="utf-8-sig")
    sheet["verdict"] = (sheet["case"] % 2).astype(int)
    sheet.to_csv(tmp_path / "answered.csv", index=False)
    reviews = uc.read_reviews(tmp_path / "answered.csv")
    np.testing.assert_array_equal(reviews.rows, plan.rows)
    assert reviews.verdict.sum() == 20


def test_columns_are_kept_of_frames_and_thresholds_are_of_models(table):
    with pytest.raises(InputError, match="keep names columns of a frame"):
        uc.plan_reviews(table["y"], table["s"], keep=["g"], **ASKED)
    models = {"s": table["s"], "t": table["t"]}
    with pytest.raises(InputError, match="threshold names models 's', 't'; got 'u'"):
        uc.plan_reviews(table["y"], models, **{**ASKED, "threshold": {"u": 0.3}})
