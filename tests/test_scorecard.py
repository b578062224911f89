import json

import numpy as np
import pytest
from sklearn import metrics

import undercount as uc

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
        unlabeled_prevalence=truth.mean(),
        sampling="case-control",
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
        y, -score, unlabeled=0, unlabeled_prevalence=truth.mean(), sampling="case-control"
    )
    check = next(c for c in reverse.checks if c.code == "UC007")
    assert check.level == "warn"
    assert "ROC AUC" in check.message
    assert "average precision" not in check.message


def test_the_page_says_the_same_bounds(evaluation, tmp_path):
    evaluation.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("whatever it is</td>") == 1
