import json
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics

import undercount as uc

THRESHOLD = 1.0


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(42)
    truth = rng.random(20_000) < 0.25
    score = rng.normal(1.5 * truth)
    y = np.where(truth & (rng.random(20_000) < 0.4), 1, 0)
    return y, score, truth


@pytest.fixture(scope="module")
def evaluation(rows):
    y, score, truth = rows
    return uc.evaluate(y, score, unlabeled=0, prevalence=truth.mean(), threshold=THRESHOLD)


def true_values(truth, score, threshold):
    predicted = score >= threshold
    return {
        "recall": metrics.recall_score(truth, predicted),
        "precision": metrics.precision_score(truth, predicted),
        "f1": metrics.f1_score(truth, predicted),
        "specificity": metrics.recall_score(~truth, ~predicted),
        "accuracy": metrics.accuracy_score(truth, predicted),
        "mcc": metrics.matthews_corrcoef(truth, predicted),
        "roc_auc": metrics.roc_auc_score(truth, score),
        "average_precision": metrics.average_precision_score(truth, score),
        "lift_auc": 0.5 * truth.mean() + (1 - truth.mean()) * metrics.roc_auc_score(truth, score),
    }


def test_every_row_covers_the_truth_of_this_data_set(rows, evaluation):
    _, score, truth = rows
    expected = true_values(truth, score, THRESHOLD)
    assert [row.metric for row in evaluation.rows] == list(expected)
    for row in evaluation.rows:
        # Nine intervals of one draw: allow four standard errors, not the interval itself.
        assert row.estimate.value == pytest.approx(
            expected[row.metric], abs=4 * row.estimate.standard_error
        ), row.metric
        assert row.estimate.low < row.estimate.value < row.estimate.high


def test_naive_values_are_scikit_learns_on_the_labels(rows, evaluation):
    y, score, _ = rows
    expected = true_values(y == 1, score, THRESHOLD)
    for row in evaluation.rows:
        assert row.naive == pytest.approx(expected[row.metric], abs=1e-12), row.metric


def test_lower_bounds_only_where_the_metric_grows_with_the_hidden_share(evaluation):
    bounded = {row.metric for row in evaluation.rows if row.lower_bound is not None}
    assert bounded == {"precision", "f1", "mcc", "roc_auc", "average_precision"}
    assert all(
        row.lower_bound <= row.estimate.value
        for row in evaluation.rows
        if row.lower_bound is not None
    )


@pytest.mark.parametrize("make", [np.asarray, list, pd.Series, pl.Series])
def test_any_container_gives_the_same_numbers(rows, evaluation, make):
    y, score, truth = rows
    other = uc.evaluate(
        make(y), make(score), unlabeled=0, prevalence=truth.mean(), threshold=THRESHOLD
    )
    assert other.table() == evaluation.table()


def test_counts_give_the_same_numbers_as_rows(rows, evaluation):
    y, score, truth = rows
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    other = uc.evaluate(counts, prevalence=truth.mean(), threshold=THRESHOLD)
    for ours, theirs in zip(other.rows, evaluation.rows, strict=True):
        assert ours.estimate.value == pytest.approx(theirs.estimate.value, abs=1e-12)
        assert ours.estimate.low == pytest.approx(theirs.estimate.low, abs=1e-9)


def test_shares_given_in_three_ways_agree(rows):
    y, score, truth = rows
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    shares = uc.Shares.from_prevalence(counts, truth.mean())
    for given in (
        {"prevalence": truth.mean()},
        {"unlabeled_prevalence": shares.unlabeled_prevalence},
        {"label_frequency": shares.label_frequency(counts)},
    ):
        other = uc.evaluate(counts, **given)
        assert other.shares.unlabeled_prevalence == pytest.approx(shares.unlabeled_prevalence)


def test_any_threshold_can_be_asked_later(rows, evaluation):
    _, score, truth = rows
    for threshold in (-0.123, 0.456, 2.0):
        expected = true_values(truth, score, threshold)
        for row in evaluation.at(threshold):
            assert row.estimate.value == pytest.approx(
                expected[row.metric], abs=4 * row.estimate.standard_error
            )
        recall = evaluation.at(threshold)[0].estimate.value
        assert evaluation.point(threshold).recall == pytest.approx(recall, abs=1e-12)


def test_wider_prevalence_gives_wider_intervals(rows):
    y, score, _ = rows
    exact = uc.evaluate(y, score, unlabeled=0, prevalence=0.25, threshold=THRESHOLD)
    ranged = uc.evaluate(y, score, unlabeled=0, prevalence=(0.2, 0.3), threshold=THRESHOLD)
    estimated = uc.evaluate(
        y, score, unlabeled=0, prevalence=uc.Estimate(0.25, 0.23, 0.27, 0.01), threshold=THRESHOLD
    )
    for one, two, three in zip(exact.rows, ranged.rows, estimated.rows, strict=True):
        if "prevalence" in one.estimate.needs:
            assert two.estimate.interval.width > one.estimate.interval.width
            assert three.estimate.interval.width > one.estimate.interval.width
        else:
            assert two.estimate.interval.width >= one.estimate.interval.width


def test_best_threshold_by_metric_and_by_cost(rows, evaluation):
    _, score, truth = rows
    grid = np.quantile(score, np.linspace(0.02, 0.98, 97))
    best = max(metrics.f1_score(truth, score >= t) for t in grid)
    chosen = evaluation.best_threshold("f1").threshold
    assert metrics.f1_score(truth, score >= chosen) > best - 0.02
    costs = [5 * np.sum(truth & (score < t)) + np.sum(~truth & (score >= t)) for t in grid]
    point = evaluation.best_threshold(cost={"false_positive": 1, "false_negative": 5})
    cost = 5 * np.sum(truth & (score < point.threshold)) + np.sum(
        ~truth & (score >= point.threshold)
    )
    assert cost < 1.05 * min(costs)
    # Errors are best where they are smallest: flag everything, or next to nothing.
    assert evaluation.best_threshold("fnr").fnr == pytest.approx(0.0, abs=1e-9)
    assert evaluation.best_threshold("fpr").fpr == pytest.approx(0.0, abs=1e-3)


def test_bounds_contain_the_true_curve(rows, evaluation):
    _, score, truth = rows
    area = metrics.roc_auc_score(truth, score)
    assert area in evaluation.bounds.roc_auc


def test_precision_of_these_rows_is_never_below_its_labels():
    # Few labels and an uncertain share: a plain interval would reach below what was counted.
    rng = np.random.default_rng(8)
    truth = rng.random(20_000) < 0.04
    y = np.where(truth & (rng.random(20_000) < 0.4), 1, 0)
    score = rng.normal(2.5 * truth)
    found = uc.evaluate(y, score, unlabeled=0, threshold=3.0)
    precision = next(row for row in found.rows if row.metric == "precision")
    assert precision.certain
    assert precision.lower_bound == metrics.precision_score(y, score >= 3)
    assert precision.lower_bound <= precision.estimate.low
    others = [row for row in found.rows if row.lower_bound is not None and row is not precision]
    assert others
    assert not any(row.certain for row in others)
    assert f"~{others[0].lower_bound:.3f}" in str(found)


def test_an_estimated_share_that_does_not_fit_is_taken_down_and_said(rows):
    class TooHigh(uc.prevalence.ScoreEstimator):
        def _estimate(self, counts):  # noqa: ARG002 - what every estimator is asked
            return uc.prevalence.Fitted(0.9)

    y, score, _ = rows
    found = uc.evaluate(y, score, unlabeled=0, unlabeled_prevalence=TooHigh(n_resamples=0))
    most = min(found.unknowns.largest_share, found.unknowns.upper_bound)
    assert found.shares.unlabeled_prevalence == pytest.approx(most)
    assert any("would be 0.9, more than these scores allow" in c.message for c in found.checks)


def test_what_is_ruled_out_is_what_the_prevalence_command_says(rows):
    y, score, _ = rows
    estimated = uc.evaluate(y, score, unlabeled=0)
    bound = uc.prevalence.RocSlope(n_resamples=0).fit(y, score, unlabeled=0).upper_bound_
    given = uc.evaluate(y, score, unlabeled=0, prevalence=0.25)
    assert (
        estimated.unknowns.upper_bound
        == given.unknowns.upper_bound
        == pytest.approx(bound, rel=1e-12)
    )
    # Rounded up: what lies above the number that is printed is ruled out.
    assert f"above {math.ceil(100 * bound)} % ruled out" in str(given)


def test_same_input_same_bytes(rows, evaluation):
    y, score, truth = rows
    again = uc.evaluate(y, score, unlabeled=0, prevalence=truth.mean(), threshold=THRESHOLD)
    assert again.to_json() == evaluation.to_json()
    assert again.to_markdown() == evaluation.to_markdown()
    assert str(again) == str(evaluation)


def test_documents_hold_every_row(evaluation):
    document = json.loads(evaluation.to_json())
    model = document["models"][0]
    assert document["schema"] == "undercount/evaluation/1"
    assert [m["metric"] for m in model["metrics"]] == [row.metric for row in evaluation.rows]
    assert len(model["curve"]["threshold"]) <= 513
    for text in (evaluation.to_markdown(), evaluation.to_latex(), str(evaluation)):
        for row in evaluation.rows:
            assert f"{row.estimate.value:.3f}" in text
    assert evaluation._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html')


def test_hostile_names_are_escaped(rows):
    y, score, _ = rows
    name = "<script>alert('x')</script>|`_%"
    hostile = uc.evaluate(y, score, unlabeled=0, prevalence=0.25, name=name)
    assert "<script>" not in hostile._repr_html_()
    assert "<script>" not in hostile.to_markdown().replace("\\<script\\>", "")
    assert json.loads(hostile.to_json())["models"][0]["name"] == name


BAD = {
    "two prevalences": ({"prevalence": 0.2, "label_frequency": 0.5}, "give one of"),
    "above one": ({"prevalence": 1.2}, r"got 1\.2"),
    "below known": ({"prevalence": 0.01}, r"must be in \[0\.103"),
    "frequency in case-control": (
        {"assume": uc.RandomLabels(label_frequency=0.5, sampling="case-control")},
        "undefined in case-control",
    ),
    "confidence": ({"prevalence": 0.2, "confidence_level": 95}, "confidence_level"),
    "infeasible": ({"unlabeled_prevalence": 0.9}, "largest"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(rows, case):
    y, score, _ = rows
    options, message = BAD[case]
    with pytest.raises(uc.InputError, match=message):
        uc.evaluate(y, score, unlabeled=0, **options)


def test_the_interval_of_an_estimated_share_ends_where_more_is_ruled_out():
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.3
    y = np.full(20_000, np.nan)
    y[rng.choice(np.flatnonzero(truth), 3_000, replace=False)] = 1.0
    score = rng.normal(5.0 * truth)
    share = uc.prevalence.Consensus(random_state=0).fit(y, score)
    assert share.interval_.high >= share.upper_bound_  # otherwise there is nothing to cut
    for known in (None, share):
        found = uc.evaluate(y, score, unlabeled_prevalence=known)
        span = found.shares.unlabeled_prevalence_interval
        assert span.high == pytest.approx(found.unknowns.upper_bound, rel=1e-12)
        assert span.low == pytest.approx(share.interval_.low, rel=1e-12)
        assert found.shares.unlabeled_prevalence < span.high


def test_a_share_that_the_scores_rule_out_gets_no_plain_praise():
    rng = np.random.default_rng(7)
    truth = rng.random(20_000) < 0.04
    y = np.where(truth & (rng.random(20_000) < 0.33), 1, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.MisfitWarning)
        evaluation = uc.evaluate(
            y, rng.normal(2.5 * truth), unlabeled=0, prevalence=0.09, threshold=1.7
        )
    assert any(check.code == "UC001" and check.level == "fail" for check in evaluation.checks)
    said = " ".join(str(evaluation).split())
    assert "Do not report them" in said
    assert ("Values of 1.000 show only that" in said) == (" 1.000 (" in said)


def test_later_answers_do_not_hang_on_the_callers_arrays(rows):
    y, score = (part[:3000].copy() for part in rows[:2])
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 3000)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=0.25, sample_weight=weight)
    flagged = (score >= 0.37)[y == 1]
    recall = np.average(flagged, weights=weight[y == 1])
    y[:], score[:], weight[:] = 1, -score, 1.0
    assert found.at(0.37)[0].estimate.value == pytest.approx(recall, abs=1e-12)


@pytest.mark.parametrize("interval", [None, "bootstrap"])
def test_an_evaluation_survives_pickling(rows, interval):
    y, score, _ = rows
    share = None if interval else 0.25
    assume = uc.RandomLabels(share, interval=interval, n_resamples=20)
    found = uc.evaluate(y[:2000], score[:2000], unlabeled=0, assume=assume)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    assert again.rows == found.rows
    assert again.at(0.37) == found.at(0.37)
    assert again.to_json() == found.to_json()


def test_the_cheapest_threshold_exists_with_impure_labels():
    chosen = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        truth = np.repeat([1, 0, 1, 0], [160, 40, 90, 210])  # labels of purity .8, 30 % hidden
        y, score = np.repeat([1, 0], [200, 300]), rng.normal(1.5 * truth)
        found = uc.evaluate(
            y, score, unlabeled=0, assume=uc.RandomLabels(unlabeled_prevalence=0.3, purity=0.8)
        )
        costs = {"false_positive": 1.0, "false_negative": 20.0}
        point = found.best_threshold(cost=costs)
        # By hand, Jain et al. 2017, eqs 1-2, at every score.
        heads = score[None, :] >= np.sort(score)[:, None]
        g, q = heads[:, y == 1].mean(1), heads[:, y == 0].mean(1)
        tpr, fpr = (0.7 * g - 0.2 * q) / 0.5, (0.8 * q - 0.3 * g) / 0.5
        share = (160 + 90) / 500
        cost = 20 * share * (1 - tpr) + (1 - share) * fpr
        inside = (tpr <= 1 + 1e-9) & (fpr >= -1e-9)
        assert 20 * share * point.fnr + (1 - share) * point.fpr == pytest.approx(cost[inside].min())
        assert point.tpr <= 1 + 1e-9
        chosen += cost.min() < cost[inside].min() - 1e-9
    assert chosen > 0  # some draws have a cheaper point outside


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "lift_auc"])
def test_impure_labels_give_functions_and_table_the_same_interval(name):
    rng = np.random.default_rng(4)
    row_of = np.arange(200)
    score = rng.normal(1.5 * (row_of < 80))
    y = np.where((row_of < 32) | (row_of >= 192), 1, 0)  # eight labels are wrong
    given = {"unlabeled": 0, "assume": uc.RandomLabels(unlabeled_prevalence=48 / 160, purity=0.8)}
    row = {row.metric: row.estimate for row in uc.evaluate(y, score, **given).rows}[name]
    found = getattr(uc.metrics, name)(y, score, **given)
    assert (found.value, found.low, found.high) == pytest.approx((row.value, row.low, row.high))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 0, 0],), {}, "score must hold one number a row; got None"),
        (
            ([1, 0, 0], "score"),
            {},
            "got 'score'. For columns of a frame pass the frame and label=, score=",
        ),
        (
            ([1, 0, 0], [3, 2, 1]),
            {"unlabeled": 0, "unlabeled_prevalence": uc.prevalence.Dedpul},
            r"got the class Dedpul. Pass Dedpul\(\)",
        ),
    ],
)
def test_slips_of_the_pen_get_a_hint(arguments, options, message):
    with pytest.raises(uc.InputError, match=message):
        uc.evaluate(*arguments, **options)
