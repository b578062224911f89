import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

import undercount as uc
from undercount.prevalence import (
    AlphaMax,
    AlphaMaxN,
    BestBin,
    Consensus,
    Dedpul,
    DistCurve,
    ElkanNoto,
    KernelMean,
    NoisyComposition,
    NoisyConsensus,
    PatraSen,
    RocSlope,
    TwoLabels,
)
from undercount.prevalence.base import resample_counts

SCORE_METHODS = [AlphaMax, BestBin, Consensus, Dedpul, ElkanNoto, PatraSen, RocSlope]
OTHERS = [AlphaMaxN, DistCurve, KernelMean, NoisyComposition, NoisyConsensus, TwoLabels]
EVERY_METHOD = [*SCORE_METHODS, *OTHERS]
# All unlabeled rows together weigh less than one; a power of two, so that nothing is rounded.
LIGHT = 1 / 2048
every_score_method = pytest.mark.parametrize("method", SCORE_METHODS)
every_method = pytest.mark.parametrize("method", EVERY_METHOD)


def rows(counts):
    score = np.repeat(
        np.tile(counts.score, 2), np.append(counts.positive, counts.unlabeled).astype(int)
    )
    return np.repeat([1, -1], [int(counts.n_positive), int(counts.n_unlabeled)]), score


@every_score_method
def test_classes_that_do_not_overlap_give_the_truth(method, separated):
    found = method(n_resamples=0).fit(separated)
    assert found.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.0201)


@every_score_method
@pytest.mark.parametrize("transform", [np.exp, lambda s: s**3 + 5 * s, lambda s: -np.exp(-s)])
def test_increasing_transform_changes_nothing(method, transform, normals):
    moved = uc.ScoreCounts.from_counts(
        transform(normals.score), normals.positive, normals.negative, normals.unlabeled
    )
    before = method(n_resamples=3, random_state=0).fit(normals)
    after = method(n_resamples=3, random_state=0).fit(moved)
    assert after.unlabeled_prevalence_ == pytest.approx(before.unlabeled_prevalence_, abs=1e-12)
    assert after.interval_.low == pytest.approx(before.interval_.low, abs=1e-12)


@every_score_method
def test_rows_and_counts_agree(method, normals):
    y, score = rows(normals)
    order = np.random.default_rng(0).permutation(len(y))
    by_rows = method(n_resamples=0).fit(y[order], score[order], unlabeled=-1)
    by_counts = method(n_resamples=0).fit(normals)
    assert by_rows.unlabeled_prevalence_ == by_counts.unlabeled_prevalence_
    assert (by_rows.n_labelled_, by_rows.n_unlabeled_) == (400, 1000)


@every_score_method
def test_compact_counts_give_the_same_answer(method, normals):
    y, score = rows(normals)
    compact = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
    assert compact.score.size < normals.score.size
    found = method(n_resamples=0).fit(compact)
    expected = method(n_resamples=0).fit(normals).unlabeled_prevalence_
    assert found.unlabeled_prevalence_ == pytest.approx(expected, abs=1e-9)


@every_score_method
@pytest.mark.parametrize("weight", [3.0, LIGHT])
def test_weights_are_scale_free(method, weight, normals):
    y, score = rows(normals)
    plain = method(n_resamples=0).fit(normals)
    weighted = method(n_resamples=0).fit(
        y, score, unlabeled=-1, sample_weight=np.full(len(y), weight)
    )
    assert weighted.unlabeled_prevalence_ == pytest.approx(plain.unlabeled_prevalence_, abs=1e-9)


@pytest.mark.parametrize("weight", [100.0, 1 / 128])
def test_equal_weights_leave_intervals_alone(weight):
    # More distinct scores than resamples work on, so that cells are merged first.
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(2, 1, 1600), rng.normal(0, 1, 1400)])
    y = np.repeat([1, -1], [600, 2400])
    method = BestBin(n_resamples=30, random_state=0)
    plain = clone(method).fit(y, score, unlabeled=-1).interval_
    found = method.fit(y, score, unlabeled=-1, sample_weight=np.full(3000, weight)).interval_
    assert plain.high - plain.low > 0.02
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=1e-3)


def test_light_rows_evaluate_as_rows(normals):
    y, score = rows(normals)
    plain = uc.evaluate(y, score, unlabeled=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # 400 labels are not few, whatever their weights' sum
        found = uc.evaluate(y, score, unlabeled=-1, sample_weight=np.full(len(y), LIGHT))
    # Not equal: in compact counts the merged cells of weighted rows stay merged.
    for name in ("low", "high"):
        ends = [getattr(each.shares.unlabeled_prevalence_interval, name) for each in (found, plain)]
        assert ends[0] == pytest.approx(ends[1], abs=0.01)
    assert found.shares.unlabeled_prevalence == pytest.approx(0.3, abs=0.03)  # the truth


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 1 / 49, 1e-9])
def test_sizes_asked_for_are_of_rows_not_of_weights(weight):
    score = np.concatenate([np.arange(10.0), [4.5]])
    y = np.repeat([1, -1], [10, 1])
    with pytest.warns(uc.MisfitWarning):
        BestBin(n_resamples=0).fit(y, score, unlabeled=-1, sample_weight=np.full(11, weight))
    with pytest.raises(uc.InputError, match="at least 10 labelled positives; got 9"):
        BestBin().fit(y[1:], score[1:], unlabeled=-1, sample_weight=np.full(10, 100 * weight))


@every_score_method
@pytest.mark.parametrize("seed", range(5))
def test_uneven_weights_are_welcome(method, seed, normals):
    y, score = rows(normals)
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(y))
    found = method(n_resamples=2, random_state=0).fit(y, score, unlabeled=-1, sample_weight=weight)
    assert found.unlabeled_prevalence_ == pytest.approx(0.3, abs=0.06)
    assert found.n_labelled_ == pytest.approx(weight[y == 1].sum())


@every_score_method
def test_same_seed_same_interval(method, normals):
    first = method(n_resamples=5, random_state=3).fit(normals).interval_
    assert first == method(n_resamples=5, random_state=3).fit(normals).interval_
    assert first.low <= first.high


@every_score_method
def test_interval_holds_the_truth_on_easy_data(method, normals):
    found = method(n_resamples=40, random_state=0).fit(normals)
    low, high = found.interval_.low - 0.03, found.interval_.high + 0.03
    assert low < 0.3 < high


@every_method
def test_too_few_labels_are_refused(method):
    y = np.repeat([1, -1, 0], [9, 100, 20])
    with pytest.raises(uc.InputError, match="at least 10 labelled positives; got 9"):
        method().fit(y, np.arange(129.0), unlabeled=-1)


@every_method
def test_constant_scores_are_refused(method):
    with pytest.raises(uc.InputError, match="scores must vary"):
        method().fit(np.repeat([1, -1], [50, 100]), np.ones(150), unlabeled=-1)


@every_method
def test_no_unlabeled_rows_are_refused(method):
    with pytest.raises(uc.InputError, match="there must be unlabeled rows"):
        method().fit(np.repeat([1, 0], [50, 100]), np.arange(150.0))


@every_method
@pytest.mark.parametrize(
    ("parameter", "value"),
    [("sampling", "snowball"), ("confidence_level", 1.0), ("n_resamples", -1)],
)
def test_bad_parameters_are_refused_in_fit(method, parameter, value, normals):
    with pytest.raises(uc.InputError, match=parameter):
        method(**{parameter: value}).fit(normals)


@every_method
def test_scikit_learn_conventions(method):
    estimator = method()
    name = type(estimator).__name__
    estimator_checks.check_parameters_default_constructible(name, estimator)
    estimator_checks.check_no_attributes_set_in_init(name, estimator)
    estimator_checks.check_get_params_invariance(name, estimator)
    estimator_checks.check_set_params(name, estimator)
    assert repr(clone(estimator)) == repr(estimator)


def test_fit_leaves_parameters_and_input_alone(normals):
    y, score = rows(normals)
    copy = score.copy()
    estimator = BestBin(n_resamples=2)
    before = estimator.get_params()
    assert estimator.fit(y, score, unlabeled=-1) is estimator
    assert estimator.get_params() == before
    assert np.array_equal(score, copy)


def test_counts_and_scores_together_are_refused(normals):
    with pytest.raises(uc.InputError, match="counts hold them"):
        BestBin().fit(normals, [1.0])
    with pytest.raises(uc.InputError, match="got no scores"):
        BestBin().fit([1, 0])


def test_estimate_carries_value_interval_and_needs(normals):
    found = BestBin(n_resamples=20, random_state=0).fit(normals)
    estimate = found.estimate()
    assert float(estimate) == found.unlabeled_prevalence_
    assert (estimate.low, estimate.high) == (found.interval_.low, found.interval_.high)
    assert estimate.method == "BestBin"
    assert "random labels" in estimate.needs
    with pytest.raises(uc.InputError, match="call fit before estimate"):
        BestBin().estimate()


def test_prevalence_of_both_samplings(normals):
    single = BestBin(n_resamples=0).fit(normals)
    share = single.unlabeled_prevalence_
    assert single.prevalence_ == pytest.approx((400 + 1000 * share) / 1400)
    assert single.label_frequency_ == pytest.approx(400 / (400 + 1000 * share))
    separate = BestBin(n_resamples=0, sampling="case-control").fit(normals)
    assert separate.prevalence_ == share
    assert np.isnan(separate.label_frequency_)


def test_perfect_separation_of_labelled_and_unlabeled_warns():
    score = np.concatenate([np.arange(100.0) + 1000, np.arange(500.0)])
    with pytest.warns(uc.MisfitWarning, match="trained on these rows"):
        found = BestBin(n_resamples=0).fit(np.repeat([1, -1], [100, 500]), score, unlabeled=-1)
    assert found.unlabeled_prevalence_ < 0.01


def test_useless_scores_warn():
    score = np.random.default_rng(0).normal(size=600)
    with pytest.warns(uc.MisfitWarning, match="do not tell labelled from unlabeled"):
        found = BestBin(n_resamples=0).fit(np.repeat([1, -1], [100, 500]), score, unlabeled=-1)
    assert found.unlabeled_prevalence_ > 0.7


def test_few_labels_warn():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(4, 1, 20), rng.normal(4, 1, 100), rng.normal(0, 1, 100)])
    with pytest.warns(uc.SmallSampleWarning, match="only 20 labelled positives"):
        BestBin(n_resamples=2).fit(np.repeat([1, -1], [20, 200]), score, unlabeled=-1)


def test_resampled_counts_keep_sizes_by_design(normals):
    rng = np.random.default_rng(0)
    fixed = resample_counts(normals, rng, "case-control")
    assert (fixed.n_positive, fixed.n_unlabeled) == (400, 1000)
    free = [resample_counts(normals, rng, "single-sample").n_positive for _ in range(200)]
    assert np.mean(free) == pytest.approx(400, abs=4)
    # Var of a binomial(1400, 400/1400)
    assert np.std(free) == pytest.approx(np.sqrt(400 * 1000 / 1400), rel=0.2)


def test_resampled_counts_have_the_multinomial_variance(normals):
    rng = np.random.default_rng(0)
    heads = [resample_counts(normals, rng, "case-control") for _ in range(300)]
    top = [c.positive[c.score >= 4].sum() for c in heads]
    share = normals.positive[normals.score >= 4].sum() / 400
    assert np.mean(top) == pytest.approx(400 * share, abs=2)
    assert np.std(top) == pytest.approx(np.sqrt(400 * share * (1 - share)), rel=0.15)


def test_nothing_warns_on_easy_data(normals):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Consensus().fit(normals)


def test_known_negatives_are_part_of_the_prevalence():
    # 400 labelled, 300 known negatives, 300 of 1,000 unlabeled rows positive: 700 of 1,700.
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(3, 1, 700), rng.normal(0, 1, 1000)])
    y = np.repeat([1, -1, 0], [400, 1000, 300])
    for method in (TwoLabels(), Dedpul(n_resamples=0)):
        found = method.fit(y, score, unlabeled=-1)
        by_hand = (400 + 1000 * found.unlabeled_prevalence_) / 1700
        assert found.prevalence_ == pytest.approx(by_hand, abs=1e-12)
        assert found.prevalence_ == pytest.approx(700 / 1700, abs=0.03)
        assert found.n_negative_ == 300
        assert found.label_frequency_ == pytest.approx(400 / 1700 / by_hand, abs=1e-12)
    by_features = KernelMean(n_resamples=0).fit(y, score[:, None], unlabeled=-1)
    by_hand = (400 + 1000 * by_features.unlabeled_prevalence_) / 1700
    assert by_features.prevalence_ == pytest.approx(by_hand, abs=1e-12)
    apart = TwoLabels(sampling="case-control").fit(y, score, unlabeled=-1)
    assert apart.prevalence_ == apart.unlabeled_prevalence_


@every_method
def test_every_parameter_is_documented(method):
    entries = re.findall(r"(?m)^(\w.*)$", inspect.getdoc(method))
    named = {name for entry in entries for name in re.split(r"\W+", entry)}
    assert set(inspect.signature(method).parameters) <= named
    assert {"unlabeled_prevalence_", "interval_"} <= named
