"""Rows in clusters: enumeration, repetition, and what is refused."""

import itertools

import numpy as np
import pytest

import undercount as uc
from undercount.infer.clusters import ClusterRows, read_clusters
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.mixture import design_of


def rows(seed=0, n_clusters=80, size=4, likeness=0.8):
    """Positives and negatives in clusters, labelled by cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    truth = rng.random(cluster.size) < 0.4
    shared = rng.normal(size=n_clusters)[cluster]
    noise = rng.normal(size=cluster.size)
    score = 1.5 * truth + likeness**0.5 * shared + (1 - likeness) ** 0.5 * noise
    labelled = truth & (rng.random(n_clusters) < 0.5)[cluster]
    return cluster, truth, score, labelled.astype(int)


def clustered(y, score, cluster, sample_weight=None):
    labels = np.where(np.asarray(y) == 1, 1, -1)
    codes = read_clusters(cluster, len(labels))
    return ClusterRows.of(labels, np.asarray(score), codes, sample_weight)


def test_clusters_of_one_row_change_no_variance():
    _, truth, score, y = rows()
    options = {"unlabeled": 0, "prevalence": truth.mean(), "threshold": 1.0}
    plain = uc.evaluate(y, score, **options)
    single = uc.evaluate(y, score, cluster=np.arange(len(y)), **options)
    for one, other in zip(plain.rows, single.rows, strict=True):
        assert other.estimate.value == one.estimate.value
        assert other.estimate.standard_error == pytest.approx(one.estimate.standard_error, 1e-9)


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("name", ["recall", "precision", "roc_auc", "lift_auc"])
def test_repeated_rows_are_worth_one(target, name):
    """Each row five times over, in a cluster of its own: the errors of the rows themselves."""
    _, truth, score, y = rows(size=1, n_clusters=300)
    place = None if name in ("roc_auc", "lift_auc") else 1.0
    ask = {"threshold": place, "target": target}
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    once = estimate_metric(counts, uc.Shares.from_prevalence(counts, truth.mean()), name, **ask)
    again = [np.repeat(each, 5) for each in (y, score, np.arange(len(y)))]
    counts = uc.ScoreCounts.from_rows(*again[:2], unlabeled=0)
    many = estimate_metric(
        counts,
        uc.Shares.from_prevalence(counts, truth.mean()),
        name,
        clusters=clustered(*again),
        **ask,
    )
    # Half a row that smooths rates is a smaller part of five times as many.
    assert many.standard_error == pytest.approx(once.standard_error, rel=0.02)


def test_variance_over_all_choices_of_clusters():
    """Recall's variance over every choice of 4 of 8 labelled clusters, by enumeration."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(8), 6)
    score = np.where(rng.random(48) < 0.7 * (cluster % 2) + 0.2, 1.0, 0.0)
    truth = np.ones(48, bool)
    truth[::6] = False  # five positives in each cluster
    counts_of, found, squares = {}, [], []
    for chosen in itertools.combinations(range(8), 4):
        y = (truth & np.isin(cluster, chosen)).astype(int)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
        shares = uc.Shares.from_prevalence(counts, truth.mean())
        design = design_of(counts, shares, "single-sample", "dataset")
        clusters = clustered(y, score, cluster)
        estimate = estimate_metric(counts, shares, "recall", threshold=1.0, clusters=clusters)
        found.append(score[y == 1].mean())
        squares.append(estimate.standard_error**2)
        counts_of[chosen] = clusters.design(counts, design, "recall", threshold=1.0).cluster_effect
    true = np.var(found)  # around the mean over all choices, which is the recall of all rows
    assert np.mean(found) == pytest.approx(score[truth].mean())
    # Rates are smoothed by half a row: a little too large.
    assert 0.9 * true < np.mean(squares) < 1.5 * true
    assert min(counts_of.values()) > 0


def test_weights_of_two_are_no_clusters():
    cluster, truth, score, y = rows(1)
    weight = np.where(cluster % 2, 1.0, 2.0)
    found = uc.evaluate(
        y, score, unlabeled=0, prevalence=truth.mean(), cluster=cluster, sample_weight=weight
    )
    plain = uc.evaluate(y, score, unlabeled=0, prevalence=truth.mean(), sample_weight=weight)
    wide, narrow = (e.estimate("roc_auc").standard_error for e in (found, plain))
    assert wide > 1.2 * narrow


def test_names_of_clusters_do_not_matter():
    cluster, truth, score, y = rows(2)
    names = np.array([f"customer {each}" for each in cluster])
    mixed = [each if each % 2 else str(each) for each in cluster]
    options = {"unlabeled": 0, "prevalence": truth.mean(), "threshold": 1.0}
    one = uc.evaluate(y, score, cluster=cluster, **options)
    for other in (names, names.tolist(), mixed, cluster * 1.5):
        found = uc.evaluate(y, score, cluster=other, **options)
        for two, row in zip(found.rows, one.rows, strict=True):
            assert two.estimate.low == pytest.approx(row.estimate.low)


def test_a_check_says_what_labels_are_worth():
    cluster, truth, score, y = rows(4, n_clusters=30, size=8)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=truth.mean(), cluster=cluster)
    (check,) = [check for check in found.checks if check.code == "UC020"]
    assert check.level == "warn"
    assert "30 clusters" in check.message
    cluster, truth, score, y = rows(4, n_clusters=300)
    many = uc.evaluate(y, score, unlabeled=0, prevalence=truth.mean(), cluster=cluster)
    assert [c.level for c in many.checks if c.code == "UC020"] == ["ok"]


def test_rows_that_balance_each_other_are_no_more_labels_than_there_are():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(200), 2)
    truth = cluster < 60
    half = rng.normal(size=200)
    score = 2.0 * truth + np.where(np.arange(400) % 2, half[cluster], -half[cluster])
    y = (truth & (cluster < 30)).astype(int)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=0.3, cluster=cluster)
    (check,) = [check for check in found.checks if check.code == "UC020"]
    assert "their 60 labels are worth 60 independent ones" in check.message


def test_few_clusters_of_labels_are_said_as_such():
    cluster = np.repeat(np.arange(100), 6)
    score = np.random.default_rng(1).normal(size=100)[cluster] + (cluster < 10)
    y = (cluster < 3).astype(int)
    with pytest.raises(uc.InputError, match="got labels worth about") as refused:
        uc.evaluate(y, score, unlabeled=0, cluster=cluster)
    assert "one cluster" in str(refused.value)


def test_metric_functions_and_evaluate_agree():
    cluster, truth, score, y = rows(5)
    options = {"unlabeled": 0, "prevalence": truth.mean(), "cluster": cluster}
    found = uc.evaluate(y, score, threshold=1.0, **options)
    for name, ask in (("f1", {"threshold": 1.0}), ("roc_auc", {})):
        estimate = getattr(uc.metrics, name)(y, score, **ask, **options)
        other = found.estimate(name, **ask)
        assert (estimate.value, estimate.low) == pytest.approx((other.value, other.low))


def test_differences_are_wider_by_cluster():
    cluster, truth, score, y = rows(6, likeness=0.0)
    # What the second model adds is a whim of each cluster.
    other = score + np.random.default_rng(0).normal(size=80)[cluster]
    options = {"unlabeled": 0, "prevalence": truth.mean(), "threshold": 1.0}
    plain = uc.compare(y, {"a": score, "b": other}, **options)
    wide = uc.compare(y, {"a": score, "b": other}, cluster=cluster, **options)
    for one, two in zip(plain.differences, wide.differences, strict=True):
        assert two.difference.value == one.difference.value
        assert two.difference.standard_error > 0.8 * one.difference.standard_error
    assert wide.difference("roc_auc").p_value > plain.difference("roc_auc").p_value
    single = uc.compare(y, {"a": score, "b": other}, cluster=np.arange(len(y)), **options)
    for one, two in zip(plain.differences, single.differences, strict=True):
        assert two.difference.standard_error == pytest.approx(
            one.difference.standard_error, rel=0.01
        )


def test_bias_breaks_a_conclusion_sooner():
    cluster, truth, score, y = rows(7, likeness=0.9)
    options = {"unlabeled": 0, "prevalence": truth.mean(), "threshold": 1.0}
    plain = uc.evaluate(y, score, **options).break_even("precision", 0.4)
    wide = uc.evaluate(y, score, cluster=cluster, **options).break_even("precision", 0.4)
    assert wide.odds_ratio < plain.odds_ratio


def test_refusals():
    cluster, truth, score, y = rows(8)
    options = {"unlabeled": 0, "prevalence": truth.mean()}
    with pytest.raises(uc.InputError, match="for each of 320 rows; got shape"):
        uc.evaluate(y, score, cluster=cluster[:-1], **options)
    with pytest.raises(uc.InputError, match="missing in 1"):
        uc.evaluate(y, score, cluster=[float("nan"), *cluster[1:]], **options)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    with pytest.raises(uc.InputError, match="counts do not say which rows they are of"):
        uc.evaluate(counts, prevalence=truth.mean(), cluster=cluster)
    with pytest.raises(uc.InputError, match="method='direct'"):
        uc.metrics.roc_auc(y, score, method="indirect", cluster=cluster, **options)
