import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import undercount as uc


def simulated(seed, n_rows=3000, prevalence=0.3, frequency=0.4):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < prevalence
    common = rng.normal(truth)
    one = common + rng.normal(0, 0.5, n_rows)
    other = common + rng.normal(0, 1.0, n_rows)
    y = np.where(truth & (rng.random(n_rows) < frequency), 1, 0)
    return y, one, other, truth


def test_difference_is_that_of_the_truth_and_pairing_narrows_it():
    y, one, other, truth = simulated(0, 30_000)
    comparison = uc.compare(
        y, {"one": one, "other": other}, unlabeled=0, prevalence=truth.mean(), threshold=0.8
    )
    true_gap = metrics.roc_auc_score(truth, one) - metrics.roc_auc_score(truth, other)
    found = comparison.difference("roc_auc")
    assert found.difference.value == pytest.approx(
        true_gap, abs=4 * found.difference.standard_error
    )
    errors = [e.rows[-3].estimate.standard_error for e in comparison.evaluations.values()]
    assert found.difference.standard_error < np.hypot(*errors)
    for metric in ("precision", "f1", "recall", "accuracy", "mcc"):
        gap = comparison.difference(metric).difference
        predicted = [score >= 0.8 for score in (one, other)]
        score = {
            "precision": metrics.precision_score,
            "f1": metrics.f1_score,
            "recall": metrics.recall_score,
            "accuracy": metrics.accuracy_score,
            "mcc": metrics.matthews_corrcoef,
        }[metric]
        expected = score(truth, predicted[0]) - score(truth, predicted[1])
        assert gap.value == pytest.approx(expected, abs=4 * gap.standard_error), metric


def test_same_scores_do_not_differ():
    y, one, _, _ = simulated(1)
    comparison = uc.compare(y, {"a": one, "b": one}, unlabeled=0, prevalence=0.3)
    found = comparison.difference("roc_auc")
    assert found.difference.value == 0
    assert found.better_probability == 0.5


def test_orders_that_cannot_flip_are_said_so_and_crossovers_are_where_values_meet():
    y, one, other, _ = simulated(2)
    comparison = uc.compare(
        y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3, threshold={"a": 2.0, "b": -0.5}
    )
    assert not comparison.difference("roc_auc").depends_on_prevalence
    accuracy = comparison.difference("accuracy")
    assert accuracy.depends_on_prevalence
    share = accuracy.crossover
    assert not np.isnan(share)  # a strict and a generous threshold: accuracy must flip
    values = [
        uc.mixture_curve(e.counts, uc.Shares(share), clean=False).at(t).accuracy
        for e, t in zip(comparison.evaluations.values(), (2.0, -0.5), strict=True)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-3)


def test_one_estimated_share_serves_all_models():
    y, one, other, _ = simulated(2, 5000)
    for options in ({}, {"prevalence": None, "label_frequency": None}):
        found = uc.compare(y, {"a": 2 * one, "b": other}, unlabeled=0, **options)
        shares = {e.shares.unlabeled_prevalence for e in found.evaluations.values()}
        assert len(shares) == 1


def test_the_shares_uncertainty_reaches_differences():
    y, one, other, _ = simulated(6)
    models = {"a": one, "b": other}
    options = {"unlabeled": 0, "threshold": 1.0}
    share = 0.2
    known = uc.compare(y, models, unlabeled_prevalence=share, **options)
    estimate = uc.Estimate(share, 0.05, 0.25, 0.05)
    estimated = uc.compare(y, models, unlabeled_prevalence=estimate, **options)
    ranged = uc.compare(y, models, unlabeled_prevalence=(0.1, 0.3), **options)
    for metric in ("precision", "f1", "average_precision", "roc_auc"):
        gaps = [c.difference(metric).difference for c in (known, estimated, ranged)]
        assert gaps[1].low <= gaps[0].low
        assert gaps[1].high >= gaps[0].high
        assert min(gaps[1].interval.width, gaps[2].interval.width) > gaps[0].interval.width
    # The share scales a difference in precision and never turns it round.
    precise = [c.difference("precision") for c in (known, estimated)]
    assert precise[0].difference.low > 0
    assert precise[1].difference.low >= 0
    assert precise[0].p_value == pytest.approx(precise[1].p_value, rel=1e-6)
    # By hand: precision is proportional to the prevalence, a·n_U + n_L.
    labelled, unlabeled = (y == 1).sum(), (y == 0).sum()
    ratio = (0.25 * unlabeled + labelled) / (share * unlabeled + labelled)
    gap, chance = precise[0].difference, precise[0].difference.high - precise[0].difference.value
    expected = gap.value + np.hypot((ratio - 1) * gap.value, chance)
    assert precise[1].difference.high == pytest.approx(expected, rel=1e-9)
    # Recall needs no prevalence.
    recalls = [c.difference("recall").difference for c in (known, estimated)]
    assert recalls[0].interval.width == pytest.approx(recalls[1].interval.width, rel=0.05)


def test_holm_adjusts_three_models():
    y, one, other, _ = simulated(3)
    rng = np.random.default_rng(9)
    comparison = uc.compare(
        y,
        {"a": one, "b": other, "c": rng.normal(size=len(y))},
        unlabeled=0,
        unlabeled_prevalence=0.1,
    )
    found = [d for d in comparison.differences if d.metric == "roc_auc"]
    assert len(found) == 3
    raw, adjusted = [d.p_value for d in found], [d.adjusted_p_value for d in found]
    # Holm: sorted p times 3, 2, 1, made monotone.
    order = np.argsort(raw)
    expected = np.maximum.accumulate(np.sort(raw) * [3, 2, 1]).clip(max=1)
    np.testing.assert_allclose(np.array(adjusted)[order], expected)


def test_the_question_is_the_population_unless_these_rows_are_asked_for():
    # Nine of ten positives are labelled: on these rows little is left to chance.
    y, one, other, truth = simulated(7, 2000, frequency=0.9)
    models = {"a": one, "b": other}
    found = uc.compare(y, models, unlabeled=0, prevalence=truth.mean(), threshold=0.8)
    rows = uc.compare(
        y, models, unlabeled=0, prevalence=truth.mean(), threshold=0.8, question="rows"
    )
    assert (found.question, rows.question) == ("population", "rows")
    for here, there in zip(rows.differences, found.differences, strict=True):
        assert here.question == "rows"
        assert here.difference.value == there.difference.value
        assert here.difference.interval.width < 0.8 * there.difference.interval.width
        assert here.p_value < there.p_value
    # The models' own numbers are the same, whichever question is asked.
    assert found.evaluations["a"].table() == rows.evaluations["a"].table()
    with pytest.raises(uc.InputError, match="question must be one of population, rows"):
        uc.compare(y, models, unlabeled=0, prevalence=0.3, question="dataset")


@pytest.mark.parametrize("share", [0.2, (0.1, 0.3), uc.Estimate(0.2, 0.1, 0.3, 0.05)])
@pytest.mark.parametrize("question", ["population", "rows"])
def test_intervals_leave_out_zero_where_p_values_are_small(question, share):
    rng = np.random.default_rng(8)
    looked = set()
    for seed in range(6):
        y, one, other, _ = simulated(30 + seed, 500)
        found = uc.compare(
            y,
            {"a": one, "b": other + rng.uniform(0, 1) * one},
            unlabeled=0,
            unlabeled_prevalence=share,
            threshold={"a": 0.8, "b": 1.2},
            question=question,
        )
        for gap in found.differences:
            # Where no share turns the order round, an interval may end at 0.
            apart = not gap.difference.low < 0 < gap.difference.high
            looked.add(apart)
            assert apart == (gap.p_value < 0.05), gap
    assert looked == {True, False}


@pytest.mark.parametrize("share", [0.2, (0.1, 0.25), uc.Estimate(0.2, 0.1, 0.3, 0.05)])
def test_skewed_and_cut_average_precisions_have_intervals_that_agree_with_p_values(share):
    looked, cut = set(), 0
    for seed in range(16):
        rng = np.random.default_rng([5, seed])
        truth = rng.random(400) < 0.25
        signal = rng.normal(2.8 * truth)
        y = np.where(truth & (rng.random(400) < 0.2), 1, 0)
        scores = {
            name: signal + rng.normal(0, noise, 400) for name, noise in (("a", 0.2), ("b", 4))
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few labels, and values beyond 1 by chance
            found = uc.compare(y, scores, unlabeled=0, unlabeled_prevalence=share)
        gap = found.difference("average_precision")
        cut += found.evaluations["a"]["average_precision"].value == 1
        low, value, high = gap.difference.low, gap.difference.value, gap.difference.high
        assert -1 <= low <= value <= high <= 1
        looked.add(not low < 0 < high)
        assert (not low < 0 < high) == (gap.p_value < 0.05), gap
    assert looked == {True, False}
    assert cut > 1


def test_p_values_have_the_tails_of_few_labels():
    y, one, other, _ = simulated(11, 400, frequency=0.1)
    found = uc.compare(y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3)
    gap = found.difference("roc_auc")
    freedom = (y == 1).sum() - 1
    assert freedom < 20
    ratio = gap.difference.value / gap.difference.standard_error
    assert gap.p_value == pytest.approx(2 * stats.t.sf(abs(ratio), freedom), rel=1e-9)
    assert gap.better_probability == pytest.approx(stats.t.cdf(ratio, freedom), rel=1e-9)


def test_an_estimated_share_leaves_these_rows_no_more_certain_than_they_may_be():
    # If 600 positives are hidden rather than 300, one in four is labelled rather than two in five.
    y = np.repeat([1, -1], [200, 2800])
    rng = np.random.default_rng(3)
    one = rng.normal(y == 1) + 0.5 * rng.normal(size=3000)
    models = {"a": one, "b": one + rng.normal(size=3000)}
    options = {"unlabeled": -1, "threshold": 1.0, "question": "rows"}
    known = uc.compare(y, models, unlabeled_prevalence=300 / 2800, **options)
    share = uc.Estimate(300 / 2800, 100 / 2800, 600 / 2800, 0.05)
    estimated = uc.compare(y, models, unlabeled_prevalence=share, **options)
    errors = [c.difference("recall").difference.standard_error for c in (estimated, known)]
    assert errors[0] / errors[1] == pytest.approx(np.sqrt((600 / 800) / (300 / 500)), rel=1e-9)


def test_models_that_flag_the_same_rows_do_not_differ_at_a_threshold():
    y, one, _, _ = simulated(1)
    found = uc.compare(
        y, {"a": one, "b": one**3}, unlabeled=0, prevalence=0.3, threshold={"a": 0.5, "b": 0.125}
    )
    for metric in ("recall", "precision", "f1", "mcc", "accuracy"):
        gap = found.difference(metric)
        assert gap.difference.standard_error == gap.difference.value == 0
        assert gap.p_value == 1


def test_text_and_table():
    y, one, other, _ = simulated(4)
    comparison = uc.compare(y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3)
    assert "whatever the prevalence" in str(comparison)
    table = comparison.table()
    # Three areas at no threshold, precision and recall of as many flagged rows.
    assert {len(column) for column in table.values()} == {5}
    assert table["flagged"] == [None] * 3 + [comparison.workload.size] * 2


def test_labelled_rows_above_all_unlabeled_ones_leave_every_number_finite():
    # Drawn apart; the true average precision is that of a large sample of the same mixture.
    rng = np.random.default_rng(0)
    truth = np.arange(200_000) < 30_000
    known = metrics.average_precision_score(truth, rng.normal(3.0 * truth))
    score = np.r_[rng.normal(3, 1, 400), rng.normal(3, 1, 300), rng.normal(0, 1, 1700)]
    score[0] = score.max() + 1
    y = np.repeat([1, 0], [400, 2000])
    comparison = uc.compare(
        y,
        {"a": score, "b": score + rng.normal(0, 1, 2400)},
        unlabeled=0,
        assume=uc.RandomLabels(sampling="case-control"),
    )
    found = comparison.evaluations["a"].estimate("average_precision")
    assert found.low < known < found.high
    gap = comparison.difference("average_precision")
    ends = (gap.difference.low, gap.difference.high)
    assert np.isfinite((*ends, gap.better_probability, gap.p_value)).all()
    assert gap.better_probability > 0.5  # b is a with noise added


def test_bad_input():
    y, one, other, _ = simulated(5)
    with pytest.raises(uc.InputError, match="at least two models"):
        uc.compare(y, {"a": one}, unlabeled=0, prevalence=0.3)
    with pytest.raises(uc.InputError, match="b is missing"):
        uc.compare(y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3, threshold={"a": 1})
    with pytest.raises(uc.InputError, match=r"rank_by must be one of roc_auc.*give a threshold"):
        uc.compare(y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3, rank_by="precision")
    for top in (0, len(y) + 1, "many"):
        with pytest.raises(uc.InputError, match="top must be"):
            uc.compare(y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3, top=top)
    comparison = uc.compare(y, {"a": one, "b": other}, unlabeled=0, prevalence=0.3)
    with pytest.raises(uc.InputError, match="metrics: average_precision"):
        comparison.difference("precison")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
def test_intervals_of_differences_cover(target):
    covered, runs = 0, 400
    for seed in range(runs):
        y, one, other, truth = simulated(1000 + seed, 2000)
        comparison = uc.compare(
            y,
            {"a": one, "b": other},
            unlabeled=0,
            prevalence=truth.mean() if target == "dataset" else 0.3,
            question="rows" if target == "dataset" else target,
        )
        big = simulated(77, 400_000)
        truth, one, other = (truth, one, other) if target == "dataset" else (big[3], big[1], big[2])
        true_gap = metrics.roc_auc_score(truth, one) - metrics.roc_auc_score(truth, other)
        covered += true_gap in comparison.difference("roc_auc").difference.interval
    assert 0.92 <= covered / runs <= 0.985


def test_the_same_ranking_on_another_scale_does_not_flip():
    y, one, _, _ = simulated(1)
    scores = {"margin": one, "probability": 1 / (1 + np.exp(-one))}
    comparison = uc.compare(y, scores, unlabeled=0, prevalence=0.3, threshold=0.7)
    assert np.isnan(comparison.difference("average_precision").crossover)


def few_labels():
    """Thirty labels of many positives, one of them among the very first rows."""
    rng = np.random.default_rng(4)
    truth = rng.random(6000) < 0.1
    one, other = rng.normal(2 * truth), rng.normal(1.6 * truth)
    y = np.zeros(len(truth), dtype=int)
    y[rng.choice(np.flatnonzero(truth), 29, replace=False)] = 1
    y[np.argmax(one)] = 1
    return y, {"a": one, "b": other}


def test_differences_stay_inside_what_the_metrics_allow():
    y, models = few_labels()
    share = uc.Estimate(0.06, 0.003, 0.3, 0.07)
    for given in (share, (0.003, 0.3)):
        options = {"unlabeled": 0, "unlabeled_prevalence": given, "threshold": 1.5}
        found = uc.compare(y, models, **options)
        widths = {"mcc": 2.0}
        for gap in (*found.differences, *found.workload.differences):
            most = widths.get(gap.metric, 1.0)
            assert -most <= gap.difference.low <= gap.difference.value, gap
            assert gap.difference.value <= gap.difference.high <= most, gap


def test_chance_and_p_value_are_of_one_distribution():
    y, models = few_labels()
    for share in (0.1, (0.003, 0.3), uc.Estimate(0.06, 0.003, 0.3, 0.07)):
        found = uc.compare(y, models, unlabeled=0, unlabeled_prevalence=share, threshold=1.5)
        for gap in (*found.differences, *found.workload.differences):
            less_likely = min(gap.better_probability, 1 - gap.better_probability)
            assert 2 * less_likely == pytest.approx(gap.p_value), gap


def test_average_precision_along_the_share_is_that_of_the_table():
    y, models = few_labels()
    found = uc.compare(y, models, unlabeled=0, unlabeled_prevalence=0.1)
    along = found.across_shares("average_precision")
    for share in (0.01, 0.04, 0.1):
        there = uc.compare(y, models, unlabeled=0, unlabeled_prevalence=share)
        for name in models:
            value = there.estimates_of(name)["average_precision"].value
            read = np.interp(share, along["unlabeled_prevalence"], along[name])
            assert read == pytest.approx(value, rel=1e-3)  # between two points of a line


def test_an_order_that_no_share_turns_does_not_suppose_one():
    rng = np.random.default_rng(0)
    truth = rng.random(4000) < 0.2
    y = (truth & (rng.random(4000) < 0.5)).astype(int)
    scores = {"good": rng.normal(2 * truth), "poor": rng.normal(0.5 * truth)}
    comparison = uc.compare(y, scores, unlabeled=0, prevalence=0.2)
    for condition in ("good.roc_auc > poor.roc_auc", "poor.roc_auc > good.roc_auc"):
        assert "; assumes: random labels" in str(comparison.require(condition))
        assert "prevalence" not in str(comparison.require(condition))
    # A margin is a size, which the share moves.
    assert "prevalence" in str(comparison.require("good.roc_auc > poor.roc_auc + 0.01"))
