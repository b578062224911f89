"""Laws that every metric obeys, whatever the data."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

import undercount as uc
from undercount import metrics
from undercount.curve import PARAMETRIC
from undercount.metric_facts import FACTS, LOSSES, THRESHOLD_METRICS

# Function of rows → the extra arguments it needs; delong_auc takes counts.
REGISTRY = {
    name: ({"threshold": 0.5} if name in THRESHOLD_METRICS else {})
    for name in metrics.__all__
    if name in FACTS  # `delong_auc` is one of its own: no rows, no options
}
REGISTRY["f_beta"]["beta"] = 2.0
REGISTRY["expected_cost"] |= {"false_positive": 1.0, "false_negative": 9.0}
REGISTRY["net_benefit"]["chance"] = 0.2
REGISTRY["partial_roc_auc"]["max_fpr"] = 0.4
SHARES = (
    {"unlabeled_prevalence": 0.2},
    {"assume": uc.RandomLabels(unlabeled_prevalence=0.2, sampling="case-control")},
    {"assume": uc.RandomLabels(unlabeled_prevalence=0.2, purity=0.9)},
)
LABELS = {1: 1.0, 0: 0.0, -1: np.nan}


@st.composite
def rows(draw, *, negatives=True, digits=1):
    """Labels and scores in [0, 1], with ties."""
    n = draw(st.integers(6, 25))
    kinds = [1, -1, 0] if negatives else [1, -1]
    labels = [1, 1, 1, -1, -1, -1, *draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n))]
    top = 10**digits
    ticks = draw(st.lists(st.integers(0, top), min_size=len(labels), max_size=len(labels)))
    return np.array([LABELS[label] for label in labels]), np.array(ticks) / top


def outcome(name, y, score, **options):
    """The value of a metric, or why there is none."""
    arguments = {**REGISTRY[name], **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return getattr(metrics, name)(y, score, **arguments).value
        except uc.InputError:
            return "refused"


def same(one, other, tolerance=1e-9):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return one == pytest.approx(other, abs=tolerance, rel=tolerance, nan_ok=True)


every_metric = pytest.mark.parametrize("name", REGISTRY)
quick = settings(deadline=None, max_examples=6)


@every_metric
@quick
@given(data=rows(), shares=st.sampled_from(SHARES), seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(name, data, shares, seed):
    y, score = data
    order = np.random.default_rng(seed).permutation(len(y))
    assert same(outcome(name, y, score, **shares), outcome(name, y[order], score[order], **shares))


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in LOSSES])
@quick
@given(data=rows(), shares=st.sampled_from(SHARES))
def test_strictly_increasing_transforms_change_nothing(name, data, shares):
    y, score = data
    moved = {"threshold": np.exp(0.5) - 3} if "threshold" in REGISTRY[name] else {}
    assert same(
        outcome(name, y, score, **shares), outcome(name, y, np.exp(score) - 3, **shares, **moved)
    )


# Average precision leaves each labelled row out once, and a row twice is two rows that were drawn:
# one of them says something about the other. A row of weight 2 is one row.
@pytest.mark.parametrize("name", [name for name in REGISTRY if name != "average_precision"])
@quick
@given(data=rows(), shares=st.sampled_from(SHARES), seed=st.integers(0, 99))
def test_weight_two_is_a_row_twice(name, data, shares, seed):
    y, score = data
    times = np.random.default_rng(seed).integers(1, 4, len(y))
    assert same(
        outcome(name, y, score, sample_weight=times, **shares),
        outcome(name, np.repeat(y, times), np.repeat(score, times), **shares),
    )


@every_metric
@quick
@given(
    data=rows(),
    shares=st.sampled_from(SHARES),
    factor=st.sampled_from([0.01, 0.3, 7, 1000]),
    seed=st.integers(0, 99),
)
def test_only_ratios_of_weights_matter(name, data, shares, factor, seed):
    y, score = data
    weight = np.random.default_rng(seed).choice([0.5, 1, 4], len(y))
    assert same(
        outcome(name, y, score, sample_weight=weight, **shares),
        outcome(name, y, score, sample_weight=factor * weight, **shares),
    )
    assert same(
        outcome(name, y, score, **shares),
        outcome(name, y, score, sample_weight=np.full(len(y), factor), **shares),
    )


DESIGNS = (
    *SHARES,
    {"unlabeled_prevalence": 0.2, "target": "population"},
    {"label_frequency": 0.6},
)


@every_metric
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_unit_of_weights_moves_no_interval(name):
    rng = np.random.default_rng(5)
    truth = rng.random(60) < 0.4
    y = np.where(truth & (rng.random(60) < 0.5), 1.0, np.nan)
    score, weight = rng.random(60).round(1) / 2 + truth / 2, rng.exponential(size=60)
    for shares, cluster in itertools.product(DESIGNS, (None, rng.integers(0, 15, 60))):
        options = {**REGISTRY[name], **shares, "cluster": cluster}
        found = [
            getattr(metrics, name)(y, score, sample_weight=weight * unit, **options)
            for unit in (1.0, 1.1, 1e-90, 1e90)
        ]
        bounded = np.arctan([[each.value, each.low, each.high] for each in found])  # or no end
        np.testing.assert_allclose(bounded[1:], np.broadcast_to(bounded[0], (3, 3)), atol=1e-7)


@every_metric
@quick
@given(data=rows(), shares=st.sampled_from(SHARES))
def test_weight_zero_is_no_row(name, data, shares):
    y, score = data
    kept = np.arange(len(y)) != 2
    assert same(
        outcome(name, y, score, sample_weight=kept.astype(float), **shares),
        outcome(name, y[kept], score[kept], **shares),
    )


def by_sklearn(name, truth, score, weight):
    """What scikit-learn says of fully known classes, or what their rates and shares give."""
    flagged = score >= 0.5
    weighted = {"sample_weight": weight}

    def theirs(metric, *given, **options):
        return getattr(sklearn_metrics, metric)(*given, **options, **weighted)

    recall, specificity = (
        theirs("recall_score", truth, flagged),
        theirs("recall_score", ~truth, ~flagged),
    )
    share, prevalence = (np.average(rows, weights=weight) for rows in (flagged, truth))
    return {
        "roc_auc": lambda: theirs("roc_auc_score", truth, score),
        "partial_roc_auc": lambda: theirs("roc_auc_score", truth, score, max_fpr=0.4),
        "average_precision": lambda: theirs("average_precision_score", truth, score),
        "lift_auc": lambda: (
            prevalence / 2 + (1 - prevalence) * theirs("roc_auc_score", truth, score)
        ),
        "log_loss": lambda: theirs("log_loss", truth, score),
        "brier_score": lambda: theirs("brier_score_loss", truth, score),
        "recall": lambda: recall,
        "precision": lambda: theirs("precision_score", truth, flagged),
        "specificity": lambda: specificity,
        "npv": lambda: theirs("precision_score", ~truth, ~flagged),
        "accuracy": lambda: theirs("accuracy_score", truth, flagged),
        "balanced_accuracy": lambda: theirs("balanced_accuracy_score", truth, flagged),
        "informedness": lambda: 2 * theirs("balanced_accuracy_score", truth, flagged) - 1,
        "f1": lambda: theirs("f1_score", truth, flagged),
        "f_beta": lambda: theirs("fbeta_score", truth, flagged, beta=2.0),
        "expected_cost": lambda: (
            (1 - prevalence) * (1 - specificity) + 9 * prevalence * (1 - recall)
        ),
        "net_benefit": lambda: prevalence * recall - (1 - prevalence) * (1 - specificity) / 4,
        "mcc": lambda: theirs("matthews_corrcoef", truth, flagged),
        "kappa": lambda: theirs("cohen_kappa_score", truth, flagged),
        "lift": lambda: theirs("precision_score", truth, flagged) / prevalence,
        "predicted_positive_rate": lambda: share,
        "lee_liu": lambda: recall**2 / share,
        "geometric_mean": lambda: np.sqrt(recall * specificity),
        "positive_likelihood_ratio": lambda: theirs("class_likelihood_ratios", truth, flagged)[0],
        "negative_likelihood_ratio": lambda: theirs("class_likelihood_ratios", truth, flagged)[1],
    }[name]()


@every_metric
@settings(deadline=None, max_examples=12)
@given(data=rows(negatives=False, digits=2), weighted=st.booleans(), seed=st.integers(0, 99))
def test_without_hidden_positives_scikit_learn_agrees(name, data, weighted, seed):
    y, score = data
    truth = y == 1
    flagged = score >= 0.5
    assume(0 < flagged.sum() < len(flagged))  # at 0/0 scikit-learn reports 0
    assume((flagged & ~truth).any())
    assume((~flagged & ~truth).any())
    weight = np.random.default_rng(seed).choice([0.5, 1, 4], len(y)) if weighted else None
    expected = float(by_sklearn(name, truth, score, weight))
    found = outcome(name, y, score, unlabeled_prevalence=0.0, sample_weight=weight)
    assert same(found, expected, tolerance=1e-12)
    if name in THRESHOLD_METRICS and name not in PARAMETRIC:
        complete = uc.ScoreCounts.from_rows(truth, score, sample_weight=weight)
        counts = uc.ScoreCounts.from_rows(y, score, sample_weight=weight)
        recovered = uc.mixture_curve(counts, uc.Shares(0.0), clean=False)
        for curve in (uc.labelled_curve(complete), recovered):
            assert same(getattr(curve.at(0.5), name), expected, tolerance=1e-12)


@pytest.mark.parametrize("name", ["roc_auc", "lift_auc"])
@quick
@given(data=rows(negatives=False))
def test_reversing_the_scores_mirrors_the_areas(name, data):
    y, score = data
    values = [outcome(name, y, sign * score, unlabeled_prevalence=0.0) for sign in (1, -1)]
    assert sum(values) == pytest.approx(1, abs=1e-12)
