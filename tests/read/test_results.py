"""What an evaluation hands on: single estimates, flat numbers, frames, plain values."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undercount as uc

RNG = np.random.default_rng(5)
TRUTH = RNG.random(1200) < 0.3
Y = np.where(TRUTH & (RNG.random(1200) < 0.5), 1, -1)
SCORE = RNG.normal(1.5 * TRUTH)


@pytest.fixture(scope="module")
def found():
    return uc.evaluate(Y, SCORE, unlabeled=-1, prevalence=0.3, threshold=0.8)


def test_an_estimate_by_name_is_that_of_the_metric_function(found):
    options = {"unlabeled": -1, "prevalence": 0.3}
    expected = uc.metrics.precision(Y, SCORE, threshold=0.8, **options)
    assert found["precision"].value == pytest.approx(expected.value, abs=1e-12)
    assert (
        found["Precision@1.2"].value
        == uc.metrics.precision(Y, SCORE, threshold=1.2, **options).value
    )
    area = uc.metrics.roc_auc(Y, SCORE, **options)
    assert found["ROC AUC"].value == found["auc"].value == found["roc_auc"].value
    assert found["auc"].value == pytest.approx(area.value, abs=1e-12)
    assert found["fpr"].value == pytest.approx(1 - found["specificity"].value)
    assert found.estimates()["f1"] is found["f1"]
    with pytest.raises(uc.InputError, match="metric must be one of"):
        found["sharpness"]
    with pytest.raises(uc.InputError, match="this evaluation has none"):
        uc.evaluate(Y, SCORE, unlabeled=-1, prevalence=0.3)["precision"]
    with pytest.raises(uc.InputError, match="takes no threshold"):
        found["roc_auc@0.5"]


def test_flat_numbers_for_a_tracker(found):
    flat = found.metrics("valid/")
    assert flat["valid/precision_low"] == found["precision"].low
    assert flat["valid/roc_auc"] == found["roc_auc"].value
    assert all(isinstance(value, float) and math.isfinite(value) for value in flat.values())
    empty = uc.evaluate(Y, SCORE, unlabeled=-1, prevalence=0.3, threshold=99.0)
    assert "precision" not in empty.metrics()  # 0/0
    json.dumps(empty.metrics(), allow_nan=False)


def test_frames_of_the_library_that_came_in(found):
    columns = {"y": np.where(Y == 1, 1.0, np.nan), "p": SCORE}
    asked = {"label": "y", "score": "p", "prevalence": 0.3, "threshold": 0.8}
    kinds = {pd.DataFrame: pd.DataFrame, pl.DataFrame: pl.DataFrame, pa.table: pa.Table}
    for make, kind in kinds.items():
        assert isinstance(uc.evaluate(make(columns), **asked).to_frame(), kind)
    frame = found.to_frame("pandas")
    assert frame.set_index("metric").loc["precision@0.8", "low"] == found["precision"].low
    assert frame["lower_bound"].dtype == float
    assert isinstance(found.to_frame("polars"), pl.DataFrame)
    with pytest.raises(uc.InputError, match="backend must be one of"):
        found.to_frame("excel")
    assert found.to_dict() == json.loads(found.to_json())


def test_chosen_metrics_alone_are_computed(found, tmp_path):
    chosen = uc.evaluate(
        Y,
        SCORE,
        unlabeled=-1,
        prevalence=0.3,
        threshold=0.8,
        metrics=["recall", "fpr@1.1", "lift AUC"],
    )
    assert [row.label for row in chosen.rows] == ["recall@0.8", "fpr@1.1", "lift_auc"]
    assert list(chosen.estimates()) == ["recall", "fpr@1.1", "lift_auc"]
    assert "fpr_at_1.1_low" in chosen.metrics()
    assert "recall@0.8" in str(chosen)
    assert "In plain words" not in str(chosen)
    chosen.to_html(tmp_path / "page.html")  # has the usual table
    assert chosen.standard().rows == found.rows
    with pytest.raises(uc.InputError, match="recall needs a threshold"):
        uc.evaluate(Y, SCORE, unlabeled=-1, prevalence=0.3, metrics=["recall"])
    two = uc.compare(
        Y, {"a": SCORE, "b": -SCORE}, unlabeled=-1, prevalence=0.3, metrics=["roc_auc"]
    )
    assert [row.metric for row in two.evaluations["a"].rows] == ["roc_auc"]


def test_a_metric_named_twice_is_one_row():
    """At the evaluation's threshold "precision" and "precision@0.8" are one number."""
    asked = {"unlabeled": -1, "prevalence": 0.3, "threshold": 0.8}
    names = ["precision", "recall@0.8", "precision@0.8", "precision@1.1", "ROC AUC", "roc_auc"]
    once = ["precision@0.8", "recall@0.8", "precision@1.1", "roc_auc"]
    chosen = uc.evaluate(Y, SCORE, metrics=names, **asked)
    assert [row.label for row in chosen.rows] == once
    assert chosen.table()["metric"] == once
    biased = replace(chosen, odds_ratio=2.0)
    assert str(biased).count("precision@0.8") == str(chosen).count("precision@0.8") + 1


def test_an_estimated_share_is_not_said_to_be_given():
    share = uc.Estimate(0.2, 0.1, 0.3, 0.05)
    found = uc.evaluate(Y, SCORE, unlabeled=-1, unlabeled_prevalence=share, threshold=1.0)
    assert "given" not in repr(found.shares)
    assert "given" not in str(found)
    assert "0.2 (0.1 to 0.3)" in repr(found.shares)
    method = uc.prevalence.RocSlope(n_resamples=0)
    assert uc.evaluate(Y, SCORE, unlabeled=-1, unlabeled_prevalence=method).source == (
        "estimated by RocSlope"
    )
    assert "given" in str(uc.evaluate(Y, SCORE, unlabeled=-1, prevalence=0.3))


def test_a_number_that_labels_and_scores_leave_open_has_no_value_anywhere():
    rng = np.random.default_rng(6)
    truth = rng.random(1500) < 0.4
    y, score = truth & (rng.random(1500) < 0.2), rng.normal(1.2 * truth)
    found = uc.evaluate(y, score, unlabeled=0, threshold=1.0)
    precision = found["precision"]
    assert precision.range_only
    assert np.isnan(precision.value)
    assert precision.low == pytest.approx(y[score >= 1].mean())  # the floor: nothing is hidden
    assert "(a range at 95 %; needs" in str(precision)
    logged = found.metrics()
    assert not {"precision", "prevalence", "unlabeled_prevalence"} & set(logged)
    assert {"precision_low", "precision_high", "precision_naive", "recall"} <= set(logged)
    model = found.to_dict()["models"][0]
    rows = {row["metric"]: row for row in model["metrics"]}
    assert (rows["precision"]["range_only"], rows["precision"]["estimate"]) == (True, None)
    assert not rows["recall"]["range_only"]
    assert (model["prevalence"], model["hidden_share"]["value"]) == (None, None)
    assert np.isnan(found.to_frame()["estimate"][1])
    assert "labels and scores cannot tell" in " ".join(str(found).split())
    for given in ({"prevalence": (0.15, 0.6)}, {"unlabeled_prevalence": 0.3}):
        known = uc.evaluate(y, score, unlabeled=0, threshold=1.0, **given)
        assert not known["precision"].range_only
        assert not np.isnan(known["precision"].value)


def test_metric_functions_leave_open_what_evaluate_leaves_open():
    rng = np.random.default_rng(6)
    truth = rng.random(1500) < 0.4
    y, score = truth & (rng.random(1500) < 0.2), rng.normal(1.2 * truth)
    found = uc.evaluate(y, score, unlabeled=0, threshold=1.0)
    method = uc.prevalence.Consensus(random_state=0)
    alone = uc.metrics.precision(y, score, threshold=1.0, unlabeled=0, unlabeled_prevalence=method)
    assert alone.range_only
    assert (alone.low, alone.high) == pytest.approx(
        (found["precision"].low, found["precision"].high)
    )


def test_known_negatives_and_two_sources_point_to_a_value():
    rng = np.random.default_rng(6)
    truth = rng.random(3000) < 0.3
    looked = rng.random(3000) < 0.2
    y, score = np.where(looked, truth, np.nan), rng.normal(1.0 * truth)
    assert not uc.evaluate(y, score, threshold=1.0)["precision"].range_only
    first, second = (truth & (rng.random(3000) < 0.4) for _ in range(2))
    sources = uc.prevalence.TwoSources().fit(first, second)
    either = np.where(first | second, 1.0, np.nan)
    found = uc.evaluate(either, score, threshold=1.0, unlabeled_prevalence=sources)
    assert not found["precision"].range_only


@pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning")
@pytest.mark.parametrize("distance", [-0.3, 0.0, 0.3, 3.0])
@pytest.mark.parametrize("threshold", [None, 1.0])
def test_the_interval_of_the_consensus_may_be_handed_back(distance, threshold):
    rng = np.random.default_rng(3)
    truth = rng.random(2000) < 0.2
    y, score = truth & (rng.random(2000) < 0.3), rng.normal(distance * truth)
    span = uc.prevalence.Consensus().fit(y, score, unlabeled=0).interval_
    given = (span.low, span.high)
    found = uc.evaluate(y, score, unlabeled=0, unlabeled_prevalence=given, threshold=threshold)
    assert found.shares.unlabeled_prevalence_interval.high == pytest.approx(span.high, abs=1e-5)
    assert all(np.isfinite([row.estimate.low, row.estimate.high]).all() for row in found.rows)
