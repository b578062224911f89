"""Bounds under a labelling bias: attained, and the interval itself without bias."""

import itertools
import math

import numpy as np
import pytest

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.labelling_bias import bias_ends, hidden_rate, least_rate
from undercount.infer.sensitivity import sweep

POINT = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")


def table(labelled, unlabeled, positives, sampling="single-sample", negative=(0, 0)):
    """Two scores, 1 flagged and 0 not; rows of each kind flagged and not."""
    counts = uc.ScoreCounts.from_counts([1.0, 0.0], labelled, negative, unlabeled)
    if sampling == "case-control":
        return counts, uc.Shares(positives / sum(unlabeled), sampling=sampling)
    return counts, uc.Shares.from_positives(counts, positives)


def of_table(metric, hits, positives, flagged, rows):
    """Metrics from their definitions."""
    alarms, missed = flagged - hits, positives - hits
    rejected = rows - positives - alarms
    if metric == "mcc":
        sides = flagged * (rows - flagged) * positives * (rows - positives)
        return (hits * rejected - alarms * missed) / math.sqrt(sides)
    return {
        "recall": hits / positives,
        "precision": hits / flagged,
        "f1": 2 * hits / (positives + flagged),
        "specificity": rejected / (rows - positives),
        "accuracy": (hits + rejected) / rows,
    }[metric]


@pytest.mark.parametrize(
    ("goal", "expected"), [(0.74, math.inf), (0.75, math.inf), (0.8, 12.0), (0.9, 2.0)]
)
def test_a_conclusion_breaks_where_hidden_positives_can_break_it(goal, expected):
    # 60 of 80 labelled and 20 of 920 unlabeled rows are flagged, 100 positives: with h of the 20
    # hidden ones flagged precision is (60 + 20 h)/80, and h = 3/(3 + Γ) at the worst.
    counts, shares = table((60, 20), (20, 900), 100)
    found = uc.break_even(counts, shares, "precision", goal, 1.0, confidence_level=None)
    assert found.odds_ratio == pytest.approx(expected)
    with_chance = uc.break_even(counts, shares, "precision", goal, 1.0).odds_ratio
    assert not with_chance > expected


def attained(weights, labels, hidden, factor, flag):
    """Every hidden distribution that such odds allow, as sums of a function of the labelled rows.

    Hidden positives are the labelled ones with a weight of 1 or Γ each, so `hidden` of them
    follow the weighted rows; all ways to give out the weights are tried.
    """
    return [
        hidden * np.average(flag, weights=np.where(heavy, factor, 1.0) * weights)
        for heavy in itertools.product([False, True], repeat=labels)
    ]


@pytest.mark.parametrize("metric", POINT)
@pytest.mark.parametrize("factor", [1.0, 1.5, 4.0, 60.0])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("flagged", [2, 5, 8])
def test_bounds_at_a_threshold_are_attained(metric, factor, sampling, flagged):
    # 9 labelled rows and 30 unlabeled ones, of which 10 are flagged and 12 positive.
    hits, hidden = flagged, 12
    found = attained(np.ones(9), 9, hidden, factor, np.arange(9) < hits)
    # No more hidden positives are flagged than unlabeled rows, no fewer than the rest leaves.
    inside = np.clip(found, max(0, hidden - 20), 10)
    counts, shares = table((hits, 9 - hits), (10, 20), hidden + 9, sampling)
    if sampling == "case-control":
        counts, shares = table((hits, 9 - hits), (10, 20), hidden, sampling)
        values = [of_table(metric, part, hidden, 10, 30) for part in inside]
    else:
        values = [of_table(metric, hits + part, hidden + 9, 10 + hits, 39) for part in inside]
    ends = bias_ends(counts, shares, metric, threshold=1.0, confidence_level=None)
    assert ends(factor) == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("factor", [1.0, 1.25, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_of_areas_are_attained(sampling, factor, weighted):
    rng = np.random.default_rng(5)
    score = rng.integers(0, 12, 60)
    y = np.where(rng.permutation(60) < 8, 1.0, np.nan)
    weight = rng.uniform(0.5, 2, 60) if weighted else np.ones(60)
    counts = uc.ScoreCounts.from_rows(y, score, sample_weight=weight)
    share = 0.1
    labelled, unlabeled = y == 1, np.isnan(y)
    rows = unlabeled if sampling == "case-control" else np.ones(60, bool)
    below = (score[:, None] > score[rows]) + 0.5 * (score[:, None] == score[rows])
    position = below @ weight[rows] / weight[rows].sum()
    hidden = share * weight[unlabeled].sum()
    sums = np.array(attained(weight[labelled], 8, hidden, factor, position[labelled]))
    positives, prevalence = hidden, share
    if sampling == "single-sample":
        sums = sums + weight[labelled] @ position[labelled]
        positives = hidden + weight[labelled].sum()
        prevalence = positives / weight.sum()
    lifts = np.array([sums.min(), sums.max()]) / positives
    shares = uc.Shares(share, sampling=sampling)
    ends = bias_ends(counts, shares, "lift_auc", confidence_level=None)
    assert ends(factor) == pytest.approx(tuple(lifts), abs=1e-12)
    found = uc.biased_auc(counts, shares, factor, confidence_level=None)
    expected = (lifts - prevalence / 2) / (1 - prevalence)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-12)


def test_an_area_is_never_beyond_the_last_and_the_first_unlabeled_rows():
    # Labelled first and fourth of six rows; one of the four others is positive.
    counts = uc.ScoreCounts.from_rows([1, None, None, 1, None, None], [6, 5, 4, 3, 2, 1])
    shares = uc.Shares.from_positives(counts, 3)
    found = uc.biased_auc(counts, shares, 1e9, confidence_level=None)
    # The third lies where the lower label does, at place 4, or next to the higher one, at place 2.
    places = np.array([[1, 4, 4], [1, 2, 4]])
    lifts = (6.5 - places).mean(axis=1) / 6
    assert (found.low, found.high) == pytest.approx(tuple((lifts - 0.25) / 0.5), abs=1e-6)


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(11)
    truth = rng.random(3000) < 0.3
    score = np.round(rng.normal(truth * 1.2), 2)
    y = np.where(truth & (rng.random(3000) < 0.4), 1.0, -1.0)
    known = y.copy()
    known[np.flatnonzero(~truth)[:100]] = 0
    return {
        "plain": uc.ScoreCounts.from_rows(y, score, unlabeled=-1),
        "known negatives": uc.ScoreCounts.from_rows(known, score, unlabeled=-1),
        "weights": uc.ScoreCounts.from_rows(
            y, score, unlabeled=-1, sample_weight=rng.uniform(0.2, 3, 3000)
        ),
    }


GIVEN = {
    "share": lambda _: uc.Shares(0.2),
    "prevalence": lambda counts: uc.Shares.from_prevalence(counts, 0.3),
    "positives": lambda counts: uc.Shares.from_positives(counts, 0.3 * counts.n_rows),
    "label frequency": lambda counts: uc.Shares.from_label_frequency(counts, 0.4),
    "case-control": lambda _: uc.Shares(0.2, sampling="case-control"),
    "impure": lambda _: uc.Shares(0.2, 0.95),
}
RATIOS = (1.0, 1.05, 1.5, 3.0, 20.0, 1000.0)


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
def test_a_bias_moves_the_hidden_positives_of_either_target(sampling, target):
    """60 of 80 labelled rows are flagged: T = .75; a share c of the positives is labelled."""
    counts = uc.ScoreCounts.from_counts([1, 0], [60, 20], [0, 0], [200, 720])
    shares = uc.Shares(80 / 920, sampling=sampling)
    labelled = 0.5 if sampling == "single-sample" else 0.0
    hidden = np.array([0.75 / (0.75 + 2 * 0.25), 2 * 0.75 / (2 * 0.75 + 0.25)])
    expected = labelled * 0.75 + (1 - labelled) * hidden
    found = uc.biased_recall(counts, shares, 2.0, 1, target=target, confidence_level=None)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    wide, fair = (uc.biased_recall(counts, shares, ratio, 1, target=target) for ratio in (2.0, 1.0))
    assert wide.low < fair.low - 0.02
    assert wide.high > fair.high + 0.02


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("rows", ["plain", "known negatives", "weights"])
def test_laws(drawn, rows, given, target):
    counts = drawn[rows]
    shares = GIVEN[given](counts)
    at = counts.score >= 0.8
    flagged = counts.positive[at].sum() + counts.unlabeled[at].sum() + counts.negative[at].sum()
    for metric in (*POINT, "lift", "fnr", "roc_auc", "lift_auc"):
        cut = None if metric.endswith("auc") else 0.8
        if cut is None and given == "impure":
            continue
        ends = bias_ends(counts, shares, metric, threshold=cut, target=target)
        found = np.array([ends(ratio) for ratio in RATIOS])
        plain = estimate_metric(counts, shares, metric, threshold=cut, target=target)
        # Without bias the interval of the metric; the larger the bias, the wider.
        assert found[0] == pytest.approx((plain.low, plain.high), abs=1e-12), metric
        assert np.all(np.diff(found[:, 0]) <= 1e-12), metric
        assert np.all(np.diff(found[:, 1]) >= -1e-12), metric
        # At a tiny bias no jump beyond what two forms of an interval differ by.
        assert ends(1 + 1e-9) == pytest.approx((plain.low, plain.high), rel=0.02, abs=0.005)
        without = bias_ends(
            counts, shares, metric, threshold=cut, target=target, confidence_level=None
        )
        narrow = np.array([without(ratio) for ratio in RATIOS])
        assert np.all(found[:, 0] <= narrow[:, 0] + 1e-9), metric
        assert np.all(found[:, 1] >= narrow[:, 1] - 1e-9), metric
        if (
            metric == "precision"
            and target == "dataset"
            and given not in ("case-control", "impure")
        ):
            assert found[:, 0].min() >= counts.positive[at].sum() / flagged - 1e-12


def test_no_bias_matters_without_hidden_positives():
    counts, shares = table((6, 3), (10, 20), 9)
    for metric in POINT:
        ends = bias_ends(counts, shares, metric, threshold=1.0)
        assert ends(50.0) == pytest.approx(ends(1.0))
    area = uc.biased_auc(counts, shares, 50.0)
    assert (area.low, area.high) == pytest.approx(
        (uc.biased_auc(counts, shares, 1.0).low, uc.biased_auc(counts, shares, 1.0).high)
    )


@pytest.mark.parametrize("ratio", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("hits", [0, 3, 12, 17, 20])
def test_limits_are_those_of_the_noncentral_hypergeometric_score(ratio, hits):
    # 20 of 50 positives are labelled; the variance by cells of the table at the limit itself.
    z, n, hidden = 1.96, 20, 30
    rate = hits / n
    limit = least_rate(rate, n * 49 / 30, 0.4, ratio, z)
    other = hidden_rate(limit, ratio)
    if hits == 0:
        assert limit == 0
        return
    cells = np.array([n * limit, n * (1 - limit), hidden * other, hidden * (1 - other)])
    assert cells[0] * cells[3] / (cells[1] * cells[2]) == pytest.approx(ratio)
    variance = 50 / 49 / (1 / cells).sum()
    assert hits - n * limit == pytest.approx(z * math.sqrt(variance))


def test_a_single_sided_limit_under_bias_covers_as_promised():
    # All outcomes of Fisher's noncentral hypergeometric: 30 of 60 positives labelled, 36 flagged,
    # odds of a label 3 times as large for these. The bound misses in about 2.5 %.
    odds, positives, labelled, above = 3.0, 60, 30, 36
    hits = np.arange(labelled - (positives - above), labelled + 1)
    chance = np.array(
        [math.comb(above, k) * math.comb(24, labelled - k) * odds**k for k in hits.tolist()]
    )
    chance /= chance.sum()
    missed = 0.0
    for k, part in zip(hits.tolist(), chance, strict=True):
        if part > 1e-9:
            counts, shares = table((k, 30 - k), (40, 200), positives)
            missed += part * (uc.biased_recall(counts, shares, odds, 1.0).low > above / positives)
    assert missed == pytest.approx(0.025, abs=0.015)


def test_sweep_follows_the_bounds(drawn):
    counts, shares = drawn["plain"], uc.Shares(0.2)
    columns = sweep(counts, shares, "roc_auc", over="gamma", target="population")
    for place in (0, 40, 100):
        found = uc.biased_auc(counts, shares, columns["gamma"][place], target="population")
        ends = columns["roc_auc_low"][place], columns["roc_auc_high"][place]
        assert ends == pytest.approx((found.low, found.high))


def test_evaluation_breaks_where_its_interval_does(drawn):
    evaluation = uc.evaluate(drawn["plain"], prevalence=0.3, threshold=0.8)
    low = evaluation.estimate("precision", 0.8).low
    found = evaluation.break_even("precision", low - 1e-6).odds_ratio
    assert 1 < found < 1.01
    assert math.isnan(evaluation.break_even("precision", low + 1e-6).odds_ratio)


def test_bad_input(drawn):
    counts = drawn["plain"]
    for ratio in (0.5, math.nan):
        with pytest.raises(uc.InputError, match="odds_ratio must be at least 1, and at most"):
            uc.biased_recall(counts, uc.Shares(0.2), ratio, 0.8)
    with pytest.raises(uc.InputError, match="confidence_level"):
        uc.biased_auc(counts, uc.Shares(0.2), 2.0, confidence_level=95)
    with pytest.raises(uc.InputError, match=r"needs pure labels; purity is 0\.9"):
        uc.biased_auc(counts, uc.Shares(0.2, 0.9), 2.0)
    assert math.isnan(uc.break_even(counts, uc.Shares(0.2, 0.9), "roc_auc", 0.5).odds_ratio)
    with pytest.raises(uc.InputError, match="followed for"):
        bias_ends(counts, uc.Shares(0.2), "average_precision")
