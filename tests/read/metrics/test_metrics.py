"""One function a metric: values by hand, options, and one clear error for each bad input."""

import numpy as np
import pytest

import undercount as uc
from undercount import metrics
from undercount.infer.estimate_metric import estimate_metric

# Three of four positives carry a label; rows 8, 7, 6 are predicted positive at 6.
Y = [1, 0, 1, 0, 1, 0, 0, 0]
SCORE = [8, 7, 6, 5, 4, 3, 2, 1]
# Recall 2/3 of the labels, so 8/3 true positives of 4, 1/3 false positives of 4.
BY_HAND = {
    "recall": 2 / 3,
    "precision": (8 / 3) / 3,
    "specificity": 1 - (1 / 3) / 4,
    "npv": (11 / 3) / 5,
    "accuracy": (8 / 3 + 11 / 3) / 8,
    "balanced_accuracy": (2 / 3 + 11 / 12) / 2,
    "informedness": 2 / 3 - 1 / 12,
    "f1": 2 * (8 / 3) / (4 + 3),
    "mcc": (8 / 3 * 11 / 3 - 1 / 3 * 4 / 3) / (3 * 5 * 4 * 4) ** 0.5,
    "kappa": (19 / 24 - 0.5) / 0.5,
    "lift": (8 / 9) / 0.5,
    "predicted_positive_rate": 3 / 8,
    "lee_liu": (2 / 3) ** 2 / (3 / 8),
    "geometric_mean": (2 / 3 * 11 / 12) ** 0.5,
    "positive_likelihood_ratio": (2 / 3) / (1 / 12),
    "negative_likelihood_ratio": (1 / 3) / (11 / 12),
}
NEED_NONE = ("recall", "lift", "lee_liu", "predicted_positive_rate")
GIVEN = ({"prevalence": 0.5}, {"unlabeled_prevalence": 0.2}, {"label_frequency": 0.75})


@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("name", BY_HAND)
def test_values_by_hand(name, given):
    found = getattr(metrics, name)(Y, SCORE, threshold=6, unlabeled=0, **given)
    assert found.value == pytest.approx(BY_HAND[name], abs=1e-12)


@pytest.mark.parametrize("name", NEED_NONE)
def test_some_need_no_prevalence(name):
    found = getattr(metrics, name)(Y, SCORE, threshold=6, unlabeled=0)
    assert found.value == pytest.approx(BY_HAND[name], abs=1e-12)
    assert "prevalence" not in found.needs


@pytest.mark.parametrize(
    "assume",
    [uc.RandomLabels(0.5), uc.RandomLabels(label_frequency=0.75), uc.RandomLabels(0.5, purity=0.9)],
    ids=str,
)
@pytest.mark.parametrize("name", ["recall", "precision", "f1", "predicted_positive_rate"])
def test_a_metric_rests_on_what_evaluate_says(name, assume):
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.5
    y, score = truth & (rng.random(2000) < 0.7), rng.normal(2 * truth)
    given = {"threshold": 1.0, "assume": assume, "unlabeled": 0}
    found = getattr(metrics, name)(y, score, **given)
    assert found.needs == uc.evaluate(y, score, **given)[name].needs
    right = name != "predicted_positive_rate" and assume.purity == 1
    assert ("right labels" in found.needs) == right


def test_areas_by_hand():
    # Of 15 pairs of labelled and unlabeled rows 12 are in order; a = 1/5.
    assert metrics.roc_auc(Y, SCORE, unlabeled=0, prevalence=0.5).value == pytest.approx(0.875)
    assert metrics.lift_auc(Y, SCORE, unlabeled=0).value == pytest.approx(0.25 + 0.5 * 0.875)
    with pytest.warns(uc.SmallSampleWarning):
        found = metrics.average_precision(Y, SCORE, unlabeled=0, prevalence=0.5)
    assert found.value == pytest.approx((1 + (1 + 3 / 2) / 3 + (1 + 3) / 5) / 3, abs=1e-12)


def test_f_beta_by_hand():
    found = metrics.f_beta(Y, SCORE, threshold=6, beta=2, unlabeled=0, prevalence=0.5)
    assert found.value == pytest.approx(5 * (8 / 3) / (4 * 4 + 3), abs=1e-12)


def test_losses_by_hand():
    y, p = [1, 1, 0, 0, 0], np.array([0.9, 0.5, 0.6, 0.2, 0.1])
    positives = 3
    found = metrics.brier_score(y, p, unlabeled=0, prevalence=positives / 5)
    as_negative = (p**2).mean()
    lost_more = ((1 - p[:2]) ** 2 - p[:2] ** 2).mean()
    assert found.value == pytest.approx(as_negative + positives / 5 * lost_more, abs=1e-12)
    found = metrics.log_loss(y, p, unlabeled=0, prevalence=positives / 5)
    as_negative = -np.log1p(-p).mean()
    lost_more = (np.log1p(-p[:2]) - np.log(p[:2])).mean()
    assert found.value == pytest.approx(as_negative + positives / 5 * lost_more, abs=1e-12)


def drawn(seed=0, n=4_000, prevalence=0.3, frequency=0.5):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + 1.2 * positive
    return positive, np.where(positive & (rng.random(n) < frequency), 1.0, np.nan), score


def test_indirect_area_is_that_of_the_curve():
    _, y, score = drawn()
    counts = uc.ScoreCounts.from_rows(y, score)
    shares = uc.Shares.from_prevalence(counts, 0.3)
    found = metrics.roc_auc(y, score, method="indirect", prevalence=0.3)
    assert found.value == pytest.approx(uc.mixture_curve(counts, shares).roc_auc, abs=1e-12)
    assert found.method == "bootstrap"
    direct = metrics.roc_auc(y, score, prevalence=0.3)
    assert found.standard_error == pytest.approx(direct.standard_error, rel=0.2)


@pytest.mark.parametrize("target", ["dataset", "population"])
def test_known_truth_lies_in_wide_intervals(target):
    positive, y, score = drawn()
    truth = uc.labelled_curve(uc.ScoreCounts.from_rows(positive.astype(float), score))
    options = {"prevalence": positive.mean(), "target": target, "confidence_level": 0.9999}
    assert truth.roc_auc in metrics.roc_auc(y, score, **options).interval
    assert truth.average_precision in metrics.average_precision(y, score, **options).interval
    point = truth.at(0.5)
    for name in BY_HAND:
        found = getattr(metrics, name)(y, score, threshold=0.5, **options)
        assert found.low - 1e-9 <= getattr(point, name) <= found.high + 1e-9


def test_functions_and_counts_agree():
    _, y, score = drawn(seed=1, n=500)
    weight = np.random.default_rng(2).exponential(size=500)
    counts = uc.ScoreCounts.from_rows(y, score, sample_weight=weight)
    shares = uc.Shares.from_label_frequency(counts, 0.5)
    for name in ("precision", "mcc"):
        expected = estimate_metric(counts, shares, name, threshold=0.4, target="population")
        found = getattr(metrics, name)(
            y,
            score,
            threshold=0.4,
            label_frequency=0.5,
            target="population",
            sample_weight=weight,
        )
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.low == pytest.approx(expected.low, abs=1e-9)


def test_a_share_may_be_a_range_or_an_estimate():
    _, y, score = drawn(n=1_000)
    exact = metrics.precision(y, score, threshold=0.5, prevalence=0.3)
    span = metrics.precision(y, score, threshold=0.5, prevalence=(0.25, 0.35))
    guess = metrics.precision(
        y, score, threshold=0.5, prevalence=uc.Estimate(0.3, 0.25, 0.35, 0.025)
    )
    assert exact.value == pytest.approx(span.value) == pytest.approx(guess.value)
    assert span.low < guess.low < exact.low
    assert span.high > guess.high > exact.high


BAD = [
    ({"prevalence": 1.2}, "prevalence must be in"),
    ({"prevalence": -0.1}, "prevalence must be in"),
    ({"unlabeled_prevalence": 1.5}, "unlabeled_prevalence must be in"),
    ({"prevalence": 0.2}, "prevalence must be in"),  # 3 of 8 rows are known positives
    ({"assume": uc.RandomLabels(unlabeled_prevalence=0.7, purity=0.6)}, "purer"),
    ({"assume": uc.RandomLabels(label_frequency=0.5, sampling="case-control")}, "case-control"),
    ({"prevalence": 0.5, "label_frequency": 0.75}, "prevalence and label_frequency"),
    ({}, "needs exactly one of prevalence"),
    ({"prevalence": "half"}, "number"),
    ({"assume": uc.RandomLabels(0.5, sampling="cohort")}, "sampling"),
    ({"prevalence": 0.5, "target": "world"}, "target"),
    ({"prevalence": 0.5, "confidence_level": 95}, "confidence_level"),
    ({"prevalence": 0.5, "threshold": "high"}, "threshold must be a number"),
    ({"prevalence": 0.5, "threshold": float("nan")}, "threshold must be a number"),
    ({"prevalence": 0.5, "sample_weight": [1, 2]}, "sample_weight"),
    ({"prevalence": 0.5, "sample_weight": [-1] * 8}, "not negative"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=str)
def test_bad_options(options, message):
    settings = {"threshold": 6, "unlabeled": 0, **options}
    with pytest.raises(uc.InputError, match=message):
        metrics.precision(Y, SCORE, **settings)


BAD_ROWS = [
    ([0, 0, 0], [1, 2, 3], "labelled positive"),
    ([1, 1, 1], [1, 2, 3], "unlabeled"),
    ([1, 0, 0], [1, float("nan"), 3], "NaN"),
    ([1, 0], [1, 2, 3], "same length"),
    ([1, 0, 0], ["a", "b", "c"], "numbers"),
    (["yes", "no", "no"], [1, 2, 3], "labels|text"),
    ([1, 0, 0], [[1, 2], [2, 3], [3, 4]], "1-D"),
    ([1, 2, 0], [1, 2, 3], "2"),
]


@pytest.mark.parametrize(("y", "score", "message"), BAD_ROWS, ids=str)
def test_bad_rows(y, score, message):
    with pytest.raises(uc.InputError, match=message):
        metrics.roc_auc(y, score, unlabeled=0, prevalence=0.5)


def test_infeasible_prevalence_names_the_largest():
    rng = np.random.default_rng(0)
    score = np.append(rng.normal(3, 1, 300), rng.normal(0, 1, 700))
    with pytest.raises(
        uc.InputError, match=r"at prevalence 0\.8 and .*the largest prevalence that fits is 0\.32"
    ):
        metrics.roc_auc(np.repeat([1, 0], [300, 700]), score, unlabeled=0, prevalence=0.8)


def test_bad_settings_of_single_metrics():
    known = {"unlabeled": 0, "prevalence": 0.5}
    with pytest.raises(uc.InputError, match="method"):
        metrics.roc_auc(Y, SCORE, method="best", **known)
    with pytest.raises(uc.InputError, match="beta"):
        metrics.f_beta(Y, SCORE, threshold=6, beta=0, **known)
    with pytest.raises(uc.InputError, match="max_fpr"):
        metrics.partial_roc_auc(Y, SCORE, max_fpr=0, **known)
    with pytest.raises(uc.InputError, match="probabilities"):
        metrics.log_loss(Y, SCORE, **known)
    with pytest.raises(TypeError, match="unexpected keyword argument 'prevalance'"):
        metrics.recall(Y, SCORE, threshold=6, unlabeled=0, prevalance=0.5)


@pytest.mark.parametrize("metric", ["recall", "lift_auc"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_an_estimated_share_gives_what_evaluate_gives(metric, level):
    rng = np.random.default_rng(4)
    truth = rng.random(3000) < 0.2
    y, score = np.where(truth & (rng.random(3000) < 0.6), 1, 0), rng.normal(2.5 * truth)
    estimator = uc.prevalence.Consensus()
    options = {"unlabeled": 0, "unlabeled_prevalence": estimator, "confidence_level": level}
    at = {"threshold": 1.5} if metric == "recall" else {}
    found = getattr(metrics, metric)(y, score, **at, **options)
    evaluation = uc.evaluate(y, score, threshold=1.5, **options)
    row = next(row for row in evaluation.rows if row.metric == metric)
    ends = (row.estimate.value, row.estimate.low, row.estimate.high)
    assert (found.value, found.low, found.high) == pytest.approx(ends, rel=1e-12)
