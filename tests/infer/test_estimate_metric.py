"""Intervals of metrics: exact cases by enumeration, known formulas, edges, and bad input."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import hypergeom
from statsmodels.stats.proportion import proportion_confint

import undercount as uc
from undercount.infer.area_gradients import unbiased_average_precision
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.heads import finite_size, hits_interval, wilson_share
from undercount.infer.mixture import design_of
from undercount.metric_facts import FACTS, THRESHOLD_METRICS

SCORE = np.array([8.0, 7, 6, 5, 4, 3, 2, 1])
Y = np.array([1.0, 0, 1, 0, 1, 0, 0, 0])


def counted(y=Y, score=SCORE, **options):
    return uc.ScoreCounts.from_rows(y, score, unlabeled=0, **options)


def sample(n=600, prevalence=0.4, frequency=0.5, seed=0, digits=None, negatives=0.0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + 1.2 * positive
    if digits is not None:
        score = np.round(score, digits)
    y = np.where(positive & (rng.random(n) < frequency), 1.0, np.nan)
    y[~positive & (rng.random(n) < negatives)] = 0.0
    return uc.ScoreCounts.from_rows(y, score)


@pytest.mark.parametrize("kind", ["exact", "mid-p"])
@pytest.mark.parametrize("pool", [7, 20])
def test_hits_interval_is_the_set_of_plausible_numbers(kind, pool):
    weight = 0.5 if kind == "mid-p" else 0.0
    for drawn in range(1, pool + 1):
        for hits in range(drawn + 1):
            totals = np.arange(hits, pool - (drawn - hits) + 1)
            at = weight * hypergeom.pmf(hits, pool, totals, drawn)
            low_tail = hypergeom.cdf(hits, pool, totals, drawn) - at
            high_tail = hypergeom.sf(hits - 1, pool, totals, drawn) - at
            plausible = totals[(low_tail > 0.025) & (high_tail > 0.025)]
            found = hits_interval(hits, drawn, pool, confidence_level=0.95, kind=kind)
            assert found == (plausible.min(), plausible.max())


def test_exact_interval_covers_at_least_as_often_as_promised():
    pool, drawn = 30, 12
    hits = np.arange(drawn + 1)
    low, high = hits_interval(hits, drawn, pool, confidence_level=0.9, kind="exact")
    for total in range(pool + 1):
        chance = hypergeom.pmf(hits, pool, total, drawn)
        assert chance[(low <= total) & (total <= high)].sum() >= 0.9


def test_hits_interval_of_large_numbers_is_close_to_wilson():
    exact = hits_interval(30_000, 100_000, 300_000, confidence_level=0.95, kind="exact")
    wilson = hits_interval(30_000, 100_000, 300_000, confidence_level=0.95, kind="wilson")
    np.testing.assert_allclose(exact, wilson, rtol=2e-4)


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_wilson_matches_statsmodels(hits, trials):
    expected = proportion_confint(hits, trials, alpha=0.05, method="wilson")
    found = wilson_share(hits / trials, trials, 1.959963984540054)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_drawing_all_leaves_no_doubt():
    assert finite_size(5, 5) == math.inf
    assert wilson_share(0.4, math.inf, 1.96) == (0.4, 0.4)


def labelings(positive, n_labelled):
    for chosen in itertools.combinations(np.flatnonzero(positive), n_labelled):
        y = np.zeros(len(positive))
        y[list(chosen)] = 1
        yield y


@pytest.mark.parametrize("score", [np.arange(9.0, 0, -1), np.array([5.0, 5, 4, 4, 4, 3, 2, 2, 1])])
def test_average_precision_is_unbiased_over_all_labelings(score):
    positive = np.array([1, 0, 1, 1, 0, 0, 1, 1, 0], dtype=bool)
    found = []
    for y in labelings(positive, 3):
        counts = counted(y, score)
        shares = uc.Shares.from_positives(counts, positive.sum())
        design = design_of(counts, shares, "single-sample", "dataset")
        found.append(unbiased_average_precision(counts, design))
    above = score[:, None] <= score[None, :]
    precision = (above & positive).sum(axis=1) / above.sum(axis=1)
    assert np.mean(found) == pytest.approx(precision[positive].mean(), abs=1e-12)


@pytest.mark.parametrize("metric", ["lift_auc", "roc_auc"])
def test_variance_of_areas_is_unbiased_over_all_labelings(metric):
    positive = np.array([1, 0, 1, 1, 0, 0, 1, 1, 0], dtype=bool)
    found = []
    for y in labelings(positive, 3):
        counts = counted(y, np.array([5.0, 5, 4, 4, 4, 3, 2, 2, 1]))
        shares = uc.Shares.from_positives(counts, 5)
        found.append(estimate_metric(counts, shares, metric))
    values = np.array([e.value for e in found])
    assert values.std() > 0
    assert values.max() < 1  # nothing was capped
    assert np.mean([e.standard_error**2 for e in found]) == pytest.approx(values.var(), abs=1e-12)


def test_population_auc_has_delongs_variance():
    counts = sample(n=60, digits=1)
    labelled = np.repeat(counts.score, counts.positive.astype(int))
    others = np.repeat(counts.score, counts.unlabeled.astype(int))
    wins = (labelled[:, None] > others) + 0.5 * (labelled[:, None] == others)
    delong = wins.mean(axis=1).var(ddof=1) / len(labelled)
    delong += wins.mean(axis=0).var(ddof=1) / len(others)
    shares = uc.Shares(0.2, sampling="case-control")
    found = estimate_metric(counts, shares, "roc_auc", target="population")
    # maths: Var AUC = Var A / (1 - a)², DeLong et al. 1988
    assert found.standard_error == pytest.approx(math.sqrt(delong) / 0.8, rel=1e-12)
    assert found.value == pytest.approx(0.5 + (wins.mean() - 0.5) / 0.8, abs=1e-12)


def test_case_control_precision_and_f1_have_the_delta_variance():
    counts = sample(n=40_000, seed=3)
    share, threshold = 0.25, 0.5
    shares = uc.Shares(uc.Estimate(share, 0.2, 0.3, 0.02), sampling="case-control")
    head = counts.score >= threshold
    g = counts.positive[head].sum() / counts.n_positive
    q = counts.unlabeled[head].sum() / counts.n_unlabeled
    labelled, unlabeled = counts.n_positive, counts.n_unlabeled
    log_precision = (1 - g) / (labelled * g) + (1 - q) / (unlabeled * q) + (0.02 / share) ** 2
    log_f1 = (
        (1 - g) / (labelled * g)
        + q * (1 - q) / (unlabeled * (share + q) ** 2)
        + (0.02 * q / (share * (share + q))) ** 2
    )
    precision, f1 = (
        estimate_metric(counts, shares, name, threshold=threshold, target="population")
        for name in ("precision", "f1")
    )
    assert precision.standard_error / precision.value == pytest.approx(
        math.sqrt(log_precision), rel=1e-3
    )
    assert f1.standard_error / f1.value == pytest.approx(math.sqrt(log_f1), rel=1e-3)


def test_uncertain_prevalence_adds_to_the_variance_of_the_auc():
    counts = sample(n=2_000, seed=1)
    plain = estimate_metric(counts, uc.Shares(0.25, sampling="case-control"), "roc_auc")
    uncertain = uc.Shares(uc.Estimate(0.25, 0.2, 0.3, 0.03), sampling="case-control")
    found = estimate_metric(counts, uncertain, "roc_auc")
    # maths: Var AUC = (Var A + (AUC - ½)² se²)/(1 - a)²
    more = ((plain.value - 0.5) * 0.03 / 0.75) ** 2
    assert found.standard_error**2 - plain.standard_error**2 == pytest.approx(more, rel=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_only_one_end_of_a_wide_range_can_be_missed(level):
    # Imbens and Manski 2004: c solves Φ(c + width/error) - Φ(-c) = level; far apart ends leave
    # the whole chance of missing to one of them.
    counts, options = sample(), {"threshold": 0.5}
    one_sided = 2 * level - 1
    low, middle, high = (
        estimate_metric(
            counts, uc.Shares(share), "precision", confidence_level=one_sided, **options
        )
        for share in (0.05, 0.2, 0.35)
    )
    assert high.value - low.value > 5 * max(low.standard_error, high.standard_error)
    found = estimate_metric(
        counts, uc.Shares((0.05, 0.35)), "precision", confidence_level=level, **options
    )
    assert found.value == pytest.approx(middle.value)
    assert found.low == pytest.approx(low.low, abs=1e-6)
    assert found.high == pytest.approx(high.high, abs=1e-6)


def test_a_range_of_no_width_is_a_number():
    counts = sample()
    one = estimate_metric(counts, uc.Shares(0.25), "precision", threshold=0.5)
    other = estimate_metric(counts, uc.Shares((0.25, 0.25)), "precision", threshold=0.5)
    assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-7)
    # Of little width: c falls by half of width/error, so that the length stays to first order.
    both = estimate_metric(counts, uc.Shares((0.2499, 0.2501)), "precision", threshold=0.5)
    assert both.interval.width == pytest.approx(one.interval.width, rel=1e-3)


@pytest.mark.parametrize("metric", ["recall", "lift_auc"])
def test_what_needs_no_prevalence_is_as_wide_as_the_share_allows(metric):
    # More hidden positives make the labelled ones a smaller part of them: wider, up to no
    # correction at all.
    counts, options = sample(), {"threshold": 0.5}
    share = uc.Estimate(0.25, 0.05, 0.4, 0.09)
    found = estimate_metric(counts, uc.Shares(share), metric, **options)
    ends = [estimate_metric(counts, uc.Shares(a), metric, **options) for a in (0.05, 0.25, 0.4)]
    assert ends[0].interval.width < ends[1].interval.width < ends[2].interval.width
    assert found.value == ends[1].value
    assert found.low == ends[2].low
    # Less of an area under the lift curve is possible with more positives, so that the upper end
    # may be farther out with fewer.
    assert found.high == max(end.high for end in ends)


def test_a_range_of_purity_widens_too():
    counts = sample()
    narrow = estimate_metric(counts, uc.Shares(0.2, 0.95), "recall", threshold=0.5)
    wide = estimate_metric(counts, uc.Shares(0.2, (0.9, 1.0)), "recall", threshold=0.5)
    assert wide.low < narrow.low
    assert wide.high > narrow.high
    assert wide.needs == ("random labels", "prevalence", "purity")


@pytest.mark.parametrize("metric", ["roc_auc", "precision"])
def test_guaranteed_is_the_union_at_a_higher_level(metric):
    counts = sample(n=2_000)
    share, error = 0.25, 0.02
    uncertain = uc.Shares(uc.Estimate(share, 0.2, 0.3, error))
    options = {"threshold": 0.5, "target": "population"}
    combined = estimate_metric(counts, uncertain, metric, **options)
    found = estimate_metric(counts, uncertain, metric, share_error="guaranteed", **options)
    # Bonferroni: 97.5 % for the share, 97.5 % for the rest; both metrics grow with the share.
    half = 2.241402727604947 * error
    ends = [
        estimate_metric(counts, uc.Shares(s), metric, confidence_level=0.975, **options)
        for s in (share - half, share + half)
    ]
    assert found.value == combined.value
    assert found.confidence_level == 0.95
    assert (found.low, found.high) == (pytest.approx(ends[0].low), pytest.approx(ends[1].high))
    assert found.high - found.low > 1.2 * (combined.high - combined.low)


def test_guaranteed_changes_nothing_without_an_error():
    counts = sample()
    one = estimate_metric(counts, uc.Shares(0.2), "roc_auc")
    assert estimate_metric(counts, uc.Shares(0.2), "roc_auc", share_error="guaranteed") == one
    assert (
        estimate_metric(counts, None, "recall", threshold=0.5, share_error="guaranteed").low
        == estimate_metric(counts, None, "recall", threshold=0.5).low
    )
    with pytest.raises(uc.InputError, match="share_error"):
        estimate_metric(counts, uc.Shares(0.2), "roc_auc", share_error="none")


def test_doubt_about_purity_reaches_even_recall():
    counts = sample()
    doubt = uc.Shares(0.2, uc.Estimate(1.0, 0.9, 1.0, 0.03))
    plain = estimate_metric(counts, uc.Shares(0.2), "recall", threshold=0.5)
    found = estimate_metric(counts, doubt, "recall", threshold=0.5)
    assert found.value == plain.value
    assert found.standard_error > plain.standard_error
    assert found.high > plain.high  # recall grows as negatives among the labels are discounted
    assert found.needs == ("random labels", "prevalence", "purity")


def test_exact_interval_of_precision_is_that_of_the_true_positives():
    counts = counted()
    shares = uc.Shares.from_positives(counts, 4)
    found = estimate_metric(counts, shares, "precision", threshold=6, interval="exact")
    # Two of three labels are among the three rows predicted positive: 2 or 3 of the 4 positives.
    assert (found.low, found.high, found.method) == (pytest.approx(2 / 3), 1.0, "exact")


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("metric", FACTS)
def test_every_estimate_lies_in_its_interval(metric, sampling, target):
    counts = sample(negatives=0.1)
    counts = uc.ScoreCounts.from_counts(
        1 / (1 + np.exp(-counts.score)), counts.positive, counts.negative, counts.unlabeled
    )
    beta = 0.25 if metric == "expected_cost" else 2
    for purity in (1.0, 0.95):
        shares = uc.Shares(0.2, purity, sampling)
        found = estimate_metric(
            counts, shares, metric, threshold=0.6, max_fpr=0.3, target=target, beta=beta
        )
        assert found.low <= found.value <= found.high
        if metric == "predicted_positive_rate" and target == "dataset":
            assert found.low == pytest.approx(found.high, abs=1e-12)
        else:
            assert found.low < found.high
            if found.high == 1.0:  # cut off at the end of the range
                continue
            # Two roads to the same width: limits of each share, and derivatives.
            half = (found.high - found.low) / 2 / 1.96
            assert half == pytest.approx(found.standard_error, rel=0.12)


@pytest.mark.parametrize("metric", THRESHOLD_METRICS)
@pytest.mark.parametrize("threshold", [100.0, -100.0])
@pytest.mark.filterwarnings("ignore::undercount.UndefinedMetricWarning")
def test_thresholds_beyond_all_scores(metric, threshold):
    counts = counted()
    shares = uc.Shares.from_positives(counts, 4)
    found = estimate_metric(counts, shares, metric, threshold=threshold)
    assert math.isnan(found.value) or found.low <= found.value <= found.high
    assert not math.isnan(found.low)
    assert not math.isnan(found.high)


def test_undefined_metric_is_nan_with_its_whole_range():
    counts = counted()
    with pytest.warns(uc.UndefinedMetricWarning, match="precision is 0/0"):
        found = estimate_metric(counts, uc.Shares(0.2), "precision", threshold=9)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)


def test_auc_beyond_one_within_chance_is_capped_and_said():
    counts = counted([1, 1, 0, 1, 0, 0, 0, 0])
    # Of 15 pairs 14 are in order: ½ + (14/15 - ½)/½.
    with pytest.warns(uc.MisfitWarning, match=r"roc_auc would be 1\.367 "):
        found = estimate_metric(counts, uc.Shares(0.5), "roc_auc")
    assert found.value == 1.0
    assert found.low < 1.0
    assert found.high == 1.0


def test_infeasible_prevalence_is_refused_with_the_largest_that_fits():
    rng = np.random.default_rng(0)
    score = np.append(rng.normal(3, 1, 500), rng.normal(0, 1, 500))
    counts = uc.ScoreCounts.from_rows(np.repeat([1, 0], 500), score, unlabeled=0)
    with pytest.raises(uc.InputError, match=r"largest unlabeled_prevalence that fits is 0\.0"):
        estimate_metric(counts, uc.Shares(0.5), "roc_auc")
    with pytest.raises(uc.InputError, match="fpr at this threshold"):
        estimate_metric(counts, uc.Shares(0.5), "precision", threshold=1.5)


def test_threshold_inside_a_merged_cell_is_refused():
    counts = counted(compact=True)
    with pytest.raises(uc.InputError, match="merged cell"):
        estimate_metric(counts, uc.Shares(0.2), "recall", threshold=2.5)


def test_compact_counts_give_the_same_estimates():
    rng = np.random.default_rng(5)
    y = (rng.random(500) < 0.1).astype(float)
    score = rng.normal(size=500) + y
    full = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    compact = uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=True, knots=[0.3])
    shares = uc.Shares(0.1)
    names = [m for m in FACTS if m not in ("log_loss", "brier_score")]
    for target in ("dataset", "population"):
        options = {"threshold": 0.3, "max_fpr": 0.2, "target": target}
        for name in names:
            one = estimate_metric(full, shares, name, **options)
            other = estimate_metric(compact, shares, name, **options)
            # The end of a partial area may fall into a merged cell, where the curve is a line.
            slack = 2e-3 if name == "partial_roc_auc" else 1e-12
            assert other.value == pytest.approx(one.value, abs=slack)
            assert other.low == pytest.approx(one.low, abs=5 * slack)


def test_losses_need_every_score():
    counts = counted(score=SCORE / 10, compact=True)
    with pytest.raises(uc.InputError, match="compact=False"):
        estimate_metric(counts, uc.Shares(0.2), "log_loss")
    with pytest.raises(uc.InputError, match=r"probabilities in \[0, 1\]; got 8"):
        estimate_metric(counted(), uc.Shares(0.2), "brier_score")


def test_known_frequency_and_known_number_differ():
    counts = sample(n=3_000)
    number = uc.Shares.from_positives(counts, counts.n_positive / 0.5)
    frequency = uc.Shares.from_label_frequency(counts, 0.5)
    one = estimate_metric(counts, number, "precision", threshold=0.5)
    other = estimate_metric(counts, frequency, "precision", threshold=0.5)
    assert one.value == pytest.approx(other.value, abs=1e-12)
    # Each label by itself leaves the number of positives open, so precision is less certain.
    assert other.standard_error > 1.2 * one.standard_error


def test_no_prevalence_is_conservative():
    counts = sample()
    with_share = estimate_metric(counts, uc.Shares(0.25), "recall", threshold=0.5)
    without = estimate_metric(counts, None, "recall", threshold=0.5)
    assert without.value == with_share.value
    assert without.low < with_share.low
    assert without.needs == ("random labels",)


def test_perfect_order_still_has_an_interval():
    counts = counted([1, 1, 1, 0, 0, 0, 0, 0])
    found = estimate_metric(counts, uc.Shares(0.0, sampling="case-control"), "roc_auc")
    assert found.value == 1.0
    assert 0.2 < found.low < 1.0


def test_few_labels_warn_for_average_precision():
    with pytest.warns(uc.SmallSampleWarning, match="rests on 3 labels"):
        found = estimate_metric(
            counted(), uc.Shares.from_positives(counted(), 4), "average_precision"
        )
    # (1 + (1 + 3/2)/3 + (1 + 2·3/2)/5)/3 by the formula
    assert found.value == pytest.approx((1 + 2.5 / 3 + 4 / 5) / 3, abs=1e-12)


@pytest.mark.filterwarnings("ignore::undercount.SmallSampleWarning")
def test_a_single_label_leaves_average_precision_open():
    counts = counted([0, 1, 0, 0], SCORE[:4])
    with pytest.warns(uc.UndefinedMetricWarning):
        found = estimate_metric(counts, uc.Shares.from_positives(counts, 2), "average_precision")
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)
    # If it is the only positive, it says everything: second of four rows.
    known = estimate_metric(counts, uc.Shares.from_positives(counts, 1), "average_precision")
    assert known.value == 0.5


def test_weights_shrink_the_effective_size():
    rng = np.random.default_rng(2)
    y = (rng.random(400) < 0.5).astype(float)
    score = rng.normal(size=400) + y
    weight = rng.exponential(size=400)
    plain = counted(y, score)
    weighted = counted(y, score, sample_weight=weight)
    shares = uc.Shares(0.1)
    for metric in ("roc_auc", "precision", "recall", "average_precision"):
        one = estimate_metric(plain, shares, metric, threshold=0.5, target="population")
        other = estimate_metric(weighted, shares, metric, threshold=0.5, target="population")
        # Kish: exponential weights halve the effective number of rows.
        assert other.standard_error / one.standard_error == pytest.approx(2**0.5, rel=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"target": "sample"}, "target"),
        ({"threshold": None}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
    ],
)
def test_bad_settings(options, message):
    settings = {"threshold": 6.0, **options}
    with pytest.raises(uc.InputError, match=message):
        estimate_metric(counted(), uc.Shares(0.2), "recall", **settings)


def test_unknown_metric_and_missing_prevalence():
    with pytest.raises(uc.InputError, match="got 'auc'"):
        estimate_metric(counted(), uc.Shares(0.2), "auc")
    with pytest.raises(uc.InputError, match="precision needs a prevalence"):
        estimate_metric(counted(), None, "precision", threshold=6)
    with pytest.raises(uc.InputError, match="max_fpr"):
        estimate_metric(counted(), uc.Shares(0.2), "partial_roc_auc")
