"""Differences of models where a random sample of all rows was verified."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics as sk

import undercount as uc

CUTS = {"a": 1.2, "b": 1.0}
METRICS = (
    "roc_auc", "lift_auc", "average_precision", "recall", "precision", "f1", "mcc", "accuracy",
)  # fmt: skip
QUESTIONS = ("population", "rows")
DRAWS = 40


def draw(seed, *, n=1200, known=150, prevalence=0.1, shared=0.5):
    """Return truth, the scores of two models and the labels of an audit, which found a few."""
    rng = np.random.default_rng([61, seed])
    while True:
        truth, noise = rng.random(n) < prevalence, rng.normal(size=n)
        scores = {
            name: distance * truth
            + np.sqrt(shared) * noise
            + np.sqrt(1 - shared) * rng.normal(size=n)
            for name, distance in (("a", 1.8), ("b", 1.5))
        }
        y, rows = np.full(n, np.nan), rng.choice(n, known, replace=False)
        y[rows] = truth[rows]
        if truth[rows].sum() > 1:
            return truth, scores, y


def metrics_of(truth, score, cut):
    """Return the metrics of complete labels by another library."""
    flagged, area = score >= cut, sk.roc_auc_score(truth, score)
    prevalence = truth.mean()
    return {
        "roc_auc": area,
        "lift_auc": prevalence / 2 + (1 - prevalence) * area,
        "average_precision": sk.average_precision_score(truth, score),
        "recall": sk.recall_score(truth, flagged),
        "precision": sk.precision_score(truth, flagged),
        "f1": sk.f1_score(truth, flagged),
        "mcc": sk.matthews_corrcoef(truth, flagged),
        "accuracy": sk.accuracy_score(truth, flagged),
    }


@pytest.mark.parametrize("question", QUESTIONS)
def test_laws_of_differences(question):
    _, scores, y = draw(1)
    options = {"assume": uc.RandomAudit(), "question": question}
    found = uc.compare(y, scores, threshold=CUTS, **options)
    swapped = uc.compare(y, dict(reversed(scores.items())), threshold=CUTS, **options)
    alike = uc.compare(
        y, {"one": scores["a"], "same": scores["a"].copy()}, threshold=1.2, **options
    )
    alone = {
        name: uc.evaluate(y, score, threshold=CUTS[name], assume=uc.RandomAudit())
        for name, score in scores.items()
    }
    for metric in METRICS:
        one = found.difference(metric)
        gap, turned = one.difference, swapped.difference(metric).difference
        expected = alone["a"][metric].value - alone["b"][metric].value
        assert gap.value == pytest.approx(expected, abs=1e-9)
        assert gap.low < gap.value < gap.high
        ends = gap.value, gap.low, gap.high, gap.standard_error
        assert (-turned.value, -turned.high, -turned.low, turned.standard_error) == pytest.approx(
            ends, abs=1e-9
        )
        # What the interval leaves out the test rejects, and nothing else.
        assert (one.p_value < 0.05) == (gap.low > 0 or gap.high < 0)
        same = alike.difference(metric)
        ends = same.difference.value, same.difference.low, same.difference.high
        assert ends == pytest.approx((0, 0, 0), abs=1e-11)
        assert same.p_value == 1


def test_differences_need_the_audit_and_no_prevalence():
    _, scores, y = draw(1)
    found = uc.compare(y, scores, threshold=CUTS, assume=uc.RandomAudit())
    for each in found.differences:
        assert each.difference.needs == ("random audit",)
        assert not each.depends_on_prevalence
    assert found.needs == ("random audit", "right labels", "out-of-fold scores")
    judged = found.require("a.f1 > b.f1 - 0.5").judgements[0]
    assert judged.estimate.needs == ("random audit",)


def test_all_rows_but_one_audited_are_complete_labels():
    truth, scores, _ = draw(2)
    # The only row that nobody looked at is tied with 99 negatives far below all others.
    truth = np.append(truth, np.zeros(100, bool))
    scores = {name: np.append(score, np.full(100, -99.0)) for name, score in scores.items()}
    y = truth.astype(float)
    y[-1] = np.nan
    found = uc.compare(y, scores, threshold=CUTS, assume=uc.RandomAudit(), question="rows")
    one, other = (metrics_of(truth, scores[name], CUTS[name]) for name in ("a", "b"))
    for metric in METRICS:
        gap = found.difference(metric).difference
        assert gap.value == pytest.approx(one[metric] - other[metric], abs=2e-4)
        assert gap.high - gap.low < 2e-3


def test_nothing_is_said_where_nothing_is_flagged():
    _, scores, y = draw(3)
    found = uc.compare(
        y, {"none": scores["a"] - 99, "some": scores["b"]}, threshold=1.0, assume=uc.RandomAudit()
    )
    gone = found.difference("precision")
    assert np.isnan([gone.difference.value, gone.difference.low, gone.p_value]).all()
    assert found.difference("recall").difference.high < 0


def test_errors_are_those_of_repeated_audits():
    """By the mixture's errors average precision's was 1.8 times what audits vary by."""
    gaps, errors, held = [], [], []
    for seed in range(DRAWS):
        truth, scores, y = draw(seed, n=800)
        found = uc.compare(y, scores, threshold=CUTS, assume=uc.RandomAudit(), question="rows")
        one, other = (metrics_of(truth, scores[name], CUTS[name]) for name in ("a", "b"))
        ends = [found.difference(metric).difference for metric in METRICS]
        true = np.array([one[metric] - other[metric] for metric in METRICS])
        gaps.append([each.value for each in ends] - true)
        errors.append([each.standard_error for each in ends])
        held.append([e.low <= t <= e.high for e, t in zip(ends, true, strict=True)])
    ratio = np.mean(errors, axis=0) / np.std(gaps, axis=0)
    assert (ratio > 0.75).all()
    assert (ratio < 1.45).all()
    for each in np.sum(held, axis=0):
        assert binomtest(int(each), DRAWS, 0.93, alternative="less").pvalue > 0.001
