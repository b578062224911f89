import itertools
import json
import math

import numpy as np
import pytest
from sklearn import metrics

import undercount as uc
from undercount.checks.checklist import naive_check
from undercount.show.text import bound_words

THRESHOLD = 1.0


@pytest.fixture(scope="module")
def apart():
    # Labelled positives drawn apart, 2 % positives among the unlabeled rows.
    rng = np.random.default_rng(5)
    truth = rng.random(5000) < 0.02
    score = np.append(rng.normal(2, 1, 1000), rng.normal(2 * truth))
    return np.repeat([1, 0], [1000, 5000]), score, truth


@pytest.fixture(scope="module")
def evaluation(apart):
    y, score, truth = apart
    return uc.evaluate(
        y,
        score,
        unlabeled=0,
        assume=uc.RandomLabels(unlabeled_prevalence=truth.mean(), sampling="case-control"),
        threshold=THRESHOLD,
    )


def test_naive_values_are_no_bounds_if_labelled_rows_were_drawn_apart(apart, evaluation):
    _, score, truth = apart
    flagged = score[1000:] >= THRESHOLD
    known = {
        "precision": metrics.precision_score(truth, flagged),
        "f1": metrics.f1_score(truth, flagged),
        "mcc": metrics.matthews_corrcoef(truth, flagged),
        "average_precision": metrics.average_precision_score(truth, score[1000:]),
        "roc_auc": metrics.roc_auc_score(truth, score[1000:]),
    }
    found = {row.metric: row for row in evaluation.rows}
    bounded = {name for name, row in found.items() if row.lower_bound is not None}
    assert bounded == {"roc_auc"}
    assert found["roc_auc"].lower_bound < known["roc_auc"]
    # The labelled rows alone make the naive values of the others too high.
    assert all(found[name].naive > known[name] + 0.1 for name in known if name != "roc_auc")
    written = json.loads(evaluation.to_json())["models"][0]["metrics"]
    assert {m["metric"] for m in written if m["lower_bound"] is not None} == bounded


def test_uc007_does_not_compare_values_that_have_other_targets(apart, evaluation):
    y, score, truth = apart
    assert {c.code: c.level for c in evaluation.checks}["UC007"] == "ok"
    reverse = uc.evaluate(
        y,
        -score,
        unlabeled=0,
        assume=uc.RandomLabels(unlabeled_prevalence=truth.mean(), sampling="case-control"),
    )
    check = next(c for c in reverse.checks if c.code == "UC007")
    assert check.level == "warn"
    assert "ROC AUC" in check.message
    assert "average precision" not in check.message


def test_the_page_says_the_same_bounds(evaluation, tmp_path):
    evaluation.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    bounded = [row for row in evaluation.rows if row.lower_bound is not None]
    assert bounded
    for row in bounded:
        assert f"<td>{bound_words(row)}</td>" in page


def confusion_metrics(tp, fp, fn, tn):
    """Precision, F1 and MCC of a table; NaN if 0/0."""
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "precision": tp / (tp + fp) if tp + fp else math.nan,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / root if root else math.nan,
    }


@pytest.mark.filterwarnings("ignore::undercount.errors.UndefinedMetricWarning")
def test_a_lower_bound_is_one_in_every_small_table():
    # 6 labelled and 10 unlabeled rows, those flagged in every number, every share of positives
    # that leaves no cell of the confusion table negative.
    bounds = falls = 0
    for hits, head in itertools.product(range(7), range(11)):
        counts = uc.ScoreCounts.from_counts(
            [1.0, 0.0], positive=[hits, 6 - hits], negative=[0, 0], unlabeled=[head, 10 - head]
        )
        with_each = []
        for share in np.linspace(0, 0.9, 19):
            tp, real = hits / 6 * (6 + 10 * share), 6 + 10 * share
            fp, fn = hits + head - tp, real - tp
            tn = 16 - tp - fp - fn
            if min(fp, tn) >= 0:
                with_each.append(confusion_metrics(tp, fp, fn, tn))
        rows = uc.evaluate(counts, unlabeled_prevalence=0.0, threshold=1.0).rows
        for row in rows:
            if row.metric not in with_each[0]:
                continue
            values = [found[row.metric] for found in with_each]
            if row.lower_bound is not None:
                bounds += 1
                assert row.lower_bound == pytest.approx(values[0], abs=1e-12)
                assert min(values) >= row.lower_bound - 1e-12, (hits, head, row.metric)
            elif row.metric == "mcc" and min(values) < values[0] - 1e-12:
                falls += 1
    assert bounds > 100
    assert falls > 20


@pytest.fixture(scope="module")
def crossing():
    # A quarter of the positives scores below nearly all negatives: the curve crosses the diagonal.
    rng = np.random.default_rng(5)
    truth = rng.random(6000) < 0.3
    upper = np.where(rng.random(6000) < 0.25, -3, rng.normal(1.5, 1, 6000))
    score = np.where(truth, upper, rng.normal(0, 1, 6000)) + rng.normal(0, 0.1, 6000)
    y = np.where(truth & (rng.random(6000) < 0.4), 1.0, np.nan)
    return y, score, truth


def test_mcc_has_no_lower_bound_where_the_curve_is_below_chance(crossing):
    y, score, truth = crossing
    known = metrics.matthews_corrcoef(truth, score >= -1.5)
    assert metrics.roc_auc_score(truth, score) > 0.6
    assert known < metrics.matthews_corrcoef(y == 1, score >= -1.5) - 0.05
    evaluation = uc.evaluate(y, score, prevalence=0.3, threshold=-1.5)
    found = {row.metric: row for row in evaluation.rows}
    assert found["mcc"].lower_bound is None
    estimate = found["mcc"].estimate
    assert estimate.value == pytest.approx(known, abs=4 * estimate.standard_error)
    assert estimate.value < found["mcc"].naive
    assert found["precision"].lower_bound is not None
    assert found["f1"].lower_bound is not None
    assert naive_check(evaluation.rows, evaluation.shares).level == "ok"
    above = uc.evaluate(y, score, prevalence=0.3, threshold=1.0)
    assert {row.metric: row for row in above.rows}["mcc"].lower_bound is not None
