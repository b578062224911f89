"""What nothing leaves to chance, and what is certain whatever the reviews say."""

import json
import re

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)

import undercount as uc

THRESHOLD = 1.0
AT_THRESHOLD = {
    "precision": precision_score,
    "recall": recall_score,
    "f1": f1_score,
    "mcc": matthews_corrcoef,
    "accuracy": accuracy_score,
}
AREAS = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}


def simulated(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.2
    label = (truth & (rng.random(n_rows) < 0.5)).astype(float)
    return truth, label, rng.normal(1.5 * truth), rng.normal(truth)


def review_all(truth, label, score):
    budget = int((label == 0).sum())
    plan = uc.plan_reviews(label, score, unlabeled=0, budget=budget, threshold=THRESHOLD)
    return plan.answered(truth[plan.rows])


@pytest.fixture(scope="module", params=[3, 4, 5])
def reviewed(request):
    truth, label, score, _ = simulated(request.param)
    reviews = review_all(truth, label, score)
    return (
        truth,
        score,
        uc.evaluate(label, score, unlabeled=0, threshold=THRESHOLD, reviews=reviews),
    )


def test_where_every_row_was_reviewed_the_truth_is_inside(reviewed):
    truth, score, evaluation = reviewed
    flagged = score >= THRESHOLD
    known = {name: metric(truth, flagged) for name, metric in AT_THRESHOLD.items()}
    known |= {name: metric(truth, score) for name, metric in AREAS.items()}
    for name, value in known.items():
        estimate = evaluation[name]
        assert estimate.low <= value <= estimate.high, name
        assert estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.high - estimate.low < 1e-9


def test_a_value_that_is_exact_meets_its_own_bound_and_does_not_pass_it(reviewed):
    truth, score, evaluation = reviewed
    for name in ("recall", "precision"):
        value = AT_THRESHOLD[name](truth, score >= THRESHOLD)
        outcomes = [
            evaluation.require(f"{name} {sign} {value!r}").outcome
            for sign in (">=", ">", "<=", "<")
        ]
        assert outcomes == ["met", "failed", "met", "failed"]
        assert "99999" not in str(evaluation.require(f"{name} >= {value!r}"))


def test_documents_have_no_standard_error_of_nothing(reviewed):
    *_, evaluation = reviewed
    (model,) = json.loads(evaluation.to_json())["models"]
    assert {row["standard_error"] for row in model["metrics"]} == {None}
    _, label, score, _ = simulated(3)
    given = uc.evaluate(label, score, unlabeled=0, prevalence=0.2)
    (model,) = json.loads(given.to_json())["models"]
    assert model["hidden_share"]["standard_error"] is None
    assert all(row["standard_error"] > 0 for row in model["metrics"])


@pytest.mark.parametrize("seed", range(3, 8))
def test_the_difference_of_exact_values_holds_the_truth(seed):
    truth, label, score, other = simulated(seed)
    options = {"unlabeled": 0, "threshold": THRESHOLD, "question": "rows"}
    reviews = review_all(truth, label, score)
    found = uc.compare(label, {"one": score, "other": other}, reviews=reviews, **options)
    for name, metric in (AT_THRESHOLD | AREAS).items():
        one, another = score, other
        if name in AT_THRESHOLD:
            one, another = score >= THRESHOLD, other >= THRESHOLD
        gap, known = metric(truth, one) - metric(truth, another), found.difference(name).difference
        assert known.low <= gap <= known.high, name
        assert known.high - known.low < 1e-9


@pytest.mark.parametrize("labels", [None, "random"])
def test_both_answers_of_reviews_are_those_of_the_table(labels):
    # Nearly all flagged positives are labelled, so that what is certain lies inside the interval.
    rng = np.random.default_rng(2)
    truth = rng.random(1500) < 0.15
    score = rng.normal(truth)
    label = (truth & (rng.random(1500) < np.where(score > 1, 0.95, 0.9))).astype(float)
    options = {"unlabeled": 0, "threshold": THRESHOLD}
    plan = uc.plan_reviews(label, score, budget=40, goal="recall", **options)
    reviews = plan.answered(truth[plan.rows])
    evaluation = uc.evaluate(label, score, assume=uc.Reviewed(reviews, labels=labels), **options)
    certain = (label[score >= THRESHOLD] == 1).mean()
    raw = evaluation.recovery.reviewed.estimate("precision", THRESHOLD)
    assert raw.low < certain  # else nothing is tried
    row = evaluation["precision"]
    assert row.low == pytest.approx(certain, abs=1e-12)
    again = evaluation.estimate("precision", THRESHOLD)
    assert (again.value, again.low, again.high) == (row.value, row.low, row.high)
    spans = re.findall(r"precision@1 .*", str(evaluation))
    written = f"{row.value:.3f} ({row.low:.3f} – {row.high:.3f})"
    wide = f"{row.low:.3f} – {row.high:.3f} (guess {row.value:.3f})"
    beside = [line for line in spans if written in line or wide in line]
    assert len(beside) == 2  # in the table, and among the answers
