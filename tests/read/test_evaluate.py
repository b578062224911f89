"""The share that an evaluation rests on: its level, and labels that may be wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

import undercount as uc
from undercount.errors import collect_warnings
from undercount.prevalence import (
    BestBin,
    Consensus,
    Dedpul,
    NoisyConsensus,
    TwoLabels,
    VerifiedSample,
)
from undercount.prevalence.upper_bound import upper_bound


def drawn(separation, purity=1.0, share=0.3, sizes=(1000, 5000), seed=0):
    """Draw normal scores of a case-control sample; the first rows are labelled."""
    rng = np.random.default_rng(seed)
    right, hidden = round(purity * sizes[0]), round(share * sizes[1])
    truth = np.repeat([1, 0, 1, 0], [right, sizes[0] - right, hidden, sizes[1] - hidden])
    return np.repeat([1, -1], sizes), rng.normal(separation * truth)


def evaluated(rows, *, confidence_level=0.95, **assumed):
    assume = uc.RandomLabels(sampling="case-control", **assumed)
    return uc.evaluate(*rows, unlabeled=-1, assume=assume, confidence_level=confidence_level)


def ends(evaluation):
    return [(row.estimate.low, row.estimate.high) for row in evaluation.rows]


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_an_estimator_is_fitted_at_the_level_asked_for(level):
    rows = drawn(2.5, sizes=(300, 2000))
    default = evaluated(rows, confidence_level=level)
    for other in (Consensus(random_state=0), Consensus(random_state=0, confidence_level=0.99)):
        found = evaluated(rows, unlabeled_prevalence=other, confidence_level=level)
        assert ends(found) == ends(default)
        assert other.confidence_level in (0.95, 0.99)  # the caller's own stays as it is


def test_a_fitted_interval_is_moved_to_the_level_asked_for():
    rows = drawn(2.5, sizes=(300, 2000))
    told = uc.Estimate(0.3, 0.2, 0.36, 0.04, 0.95, method="somebody")
    found = evaluated(rows, unlabeled_prevalence=told, confidence_level=0.5)
    factor = ndtri(0.75) / ndtri(0.975)
    span = found.shares.unlabeled_prevalence_interval
    assert (span.low, span.high) == pytest.approx((0.3 - 0.1 * factor, 0.3 + 0.06 * factor))
    same = evaluated(rows, unlabeled_prevalence=told, confidence_level=0.95)
    assert same.shares.unlabeled_prevalence_interval == uc.Interval(0.2, 0.36)
    # The ends of the metric are those of the share where the chance of labels is small.
    widths = [e.rows[0].estimate.interval.width for e in (found, same)]
    assert widths[0] / widths[1] == pytest.approx(factor, rel=0.1)
    sure = evaluated(rows, unlabeled_prevalence=told, confidence_level=0.999)
    assert sure.shares.unlabeled_prevalence_interval.low == pytest.approx(
        0.3 - 0.1 * ndtri(0.9995) / ndtri(0.975)
    )


def test_a_fitted_estimator_agrees_with_one_fitted_here():
    rows = drawn(2.5, sizes=(300, 2000))
    fitted = VerifiedSample().fit_counts(30, 100)
    narrow = evaluated(rows, unlabeled_prevalence=fitted, confidence_level=0.5)
    own = VerifiedSample(confidence_level=0.5).fit_counts(30, 100).interval_
    span = narrow.shares.unlabeled_prevalence_interval
    # A Beta posterior of 102 rows is nearly normal.
    assert (span.low, span.high) == pytest.approx((own.low, own.high), abs=0.003)


def test_a_range_has_no_level():
    rows = drawn(2.5, sizes=(300, 2000))
    for told in ((0.2, 0.36), uc.Estimate(0.28, 0.2, 0.36)):
        found = evaluated(rows, unlabeled_prevalence=told, confidence_level=0.5)
        assert found.shares.unlabeled_prevalence_interval == uc.Interval(0.2, 0.36)


def good_model(seed, size, prevalence, frequency, separation=6.0):
    rng = np.random.default_rng([seed, size])
    truth = rng.random(size) < prevalence
    return (truth & (rng.random(size) < frequency)).astype(int), rng.normal(separation * truth)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("size", "prevalence", "frequency"),
    [(500, 0.3, 0.5), (2000, 0.6, 0.9), (5000, 0.1, 0.3), (2000, 0.02, 0.5)],
)
@pytest.mark.parametrize("target", ["dataset", "population"])
def test_an_own_estimate_is_never_refused(seed, size, prevalence, frequency, target):
    y, score = good_model(seed, size, prevalence, frequency)
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=3.0, target=target)
    with collect_warnings():
        area = evaluation.curve.roc_auc
        assert np.isnan(area) if evaluation.unknowns.range_only else area <= 1
        for threshold in (1.0, 2.0, 4.5, 6.0):
            assert evaluation.at(threshold)


class TooHigh(Consensus):
    """Find half of the unlabeled rows positive, whatever the scores say."""

    def _estimate(self, counts):
        return replace(super()._estimate(counts), value=0.5, interval=uc.Interval(0.4, 0.6))


@pytest.mark.parametrize("fitted", [False, True])
def test_a_share_beyond_the_scores_is_fitted_with_a_check(fitted):
    y, score = good_model(0, 2000, 0.3, 0.5)
    estimator = TooHigh().fit(y, score, unlabeled=0) if fitted else TooHigh()
    found = uc.evaluate(y, score, unlabeled=0, threshold=3.0, unlabeled_prevalence=estimator)
    # About 300 of 1,700 unlabeled rows are positive and score above 3.
    top = np.mean(score[y == 0] >= 3) / np.mean(score[y == 1] >= 3)
    assert found.shares.unlabeled_prevalence == pytest.approx(top, rel=0.1)
    assert any("the largest that fits, is used" in check.message for check in found.checks)


@pytest.mark.parametrize(
    ("given", "end"),
    [({"prevalence": 0.9}, "largest prevalence"), ({"label_frequency": 0.2}, "least label_freq")],
)
@pytest.mark.parametrize("threshold", [None, 3.0])
def test_a_share_that_does_not_fit_is_refused_in_the_words_of_the_user(given, end, threshold):
    y, score = good_model(1, 2000, 0.3, 0.5)
    with pytest.raises(uc.InputError, match=end) as caught:
        uc.evaluate(y, score, unlabeled=0, threshold=threshold, **given)
    ((name, value),) = given.items()
    assert f"{name} {value}" in str(caught.value)
    assert caught.value.argument == name
    assert "unlabeled_prevalence" not in str(caught.value)


def test_a_curve_that_does_not_exist_is_refused_in_the_words_of_the_user():
    y, score = good_model(1, 2000, 0.3, 0.5)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    with pytest.raises(uc.InputError, match=r"prevalence 0\.9 .*largest prevalence that fits"):
        uc.mixture_curve(counts, uc.Shares.from_prevalence(counts, 0.9))


def rare_sample(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(2000) < 0.025
    return truth & (rng.random(2000) < 0.9), rng.normal(2 * truth)


def test_a_population_takes_its_true_prevalence_whatever_the_sample():
    above = 0
    for seed in range(30):
        y, score = rare_sample(seed)
        options = {"unlabeled": 0, "prevalence": 0.025, "target": "population"}
        found = uc.evaluate(y, score, threshold=1.5, **options)
        recall = uc.metrics.recall(y, score, threshold=1.5, unlabeled=0, target="population")
        row = found.rows[0].estimate
        assert (row.value, row.interval) == (recall.value, recall.interval)
        assert found.prevalence == pytest.approx(0.025)
        if y.mean() > 0.025:
            above += 1
            assert found.shares.unlabeled_prevalence == 0
            assert any("which chance explains" in check.message for check in found.checks)
            # The curve is the one that the printed numbers are read from.
            assert found.point(1.5).precision == pytest.approx(found.rows[1].estimate.value)
    assert above > 2


def both_labels(seed, *, hard=0.0, easy=False, separation=2.0):
    """Label 3 of 10 positives and 2 of 10 negatives, at random or the lowest."""
    rng = np.random.default_rng(seed)
    truth = rng.random(3000) < 0.2
    score = rng.normal(separation * (truth & (rng.random(3000) >= hard)))
    y = np.where(truth & (rng.random(3000) < 0.3), 1, -1)
    known = score < -0.8 if easy else rng.random(3000) < 0.2
    y[known & ~truth] = 0
    return y, score, truth[y == -1].mean()


def test_known_negatives_tell_the_share():
    y, score, share = both_labels(0, hard=0.3)
    found = uc.evaluate(y, score, unlabeled=-1)
    assert found.source == "estimated by TwoLabels"
    assert share in found.shares.unlabeled_prevalence_interval
    told = [check for check in found.checks if "random sample of the negatives" in check.message]
    assert [(check.code, check.level) for check in told] == [("UC008", "info")]
    other = uc.evaluate(y, score, unlabeled=-1, unlabeled_prevalence=Consensus())
    assert other.source == "estimated by Consensus"
    assert not [c for c in other.checks if "random sample of the negatives" in c.message]


def test_known_negatives_that_contradict_the_scores_are_left_out():
    y, score, share = both_labels(1, easy=True, separation=3.0)
    found = uc.evaluate(y, score, unlabeled=-1)
    assert found.source == "estimated"
    assert any("no random sample of the negatives" in check.message for check in found.checks)
    assert found.shares.unlabeled_prevalence == pytest.approx(share, abs=0.1)


def looked_at_high(seed):
    """Look at rows of high scores more often, of both classes."""
    rng = np.random.default_rng(seed)
    truth = rng.random(4000) < 0.1
    score = rng.normal(2.0 * truth)
    looked = rng.random(4000) < 0.6 / (1 + np.exp(1.0 - 0.8 * score))
    return np.where(looked, truth, -1), score, truth.mean()


@pytest.mark.parametrize("given", [True, False])
def test_known_negatives_of_high_scores_forbid_to_build_on_labels(given):
    y, score, prevalence = looked_at_high(0)
    options = {"prevalence": prevalence} if given else {}
    found = uc.evaluate(y, score, unlabeled=-1, threshold=1.5, **options)
    (check,) = [check for check in found.checks if check.code == "UC022"]
    assert check.level == "fail"
    # The intervals alone would meet the first and the last, and fail the second.
    asked = found.require("recall >= 0.6", "recall >= 0.97", "roc_auc >= 0.5").judgements
    assert {each.outcome for each in asked} == {"inconclusive"}
    assert all("UC022" in each.why for each in asked)
    assert found.verdict.light == "unsupported"
    models = {"one": score, "other": score + np.random.default_rng(1).normal(0, 2, len(score))}
    compared = uc.compare(y, models, unlabeled=-1, **options)
    (contest,) = compared.require("one.roc_auc > other.roc_auc").judgements
    assert (contest.outcome, "UC022" in contest.why) == ("inconclusive", True)


def test_random_known_negatives_do_not_contradict_a_given_prevalence():
    for seed in range(20):
        y, score, share = both_labels(seed, hard=0.3)
        found = uc.evaluate(y, score, unlabeled=-1, unlabeled_prevalence=share)
        assert not [check for check in found.checks if check.code == "UC022"]


def test_few_known_negatives_tell_nothing():
    y, score, _ = both_labels(2)
    y[np.flatnonzero(y == 0)[29:]] = -1
    assert uc.evaluate(y, score, unlabeled=-1).source == "estimated"


def test_models_on_the_same_rows_have_one_share_and_one_limit():
    rng = np.random.default_rng(5)
    truth = rng.random(3000) < 0.2
    y = truth & (rng.random(3000) < 0.4)
    models = {"poor": rng.normal(truth), "sharp": rng.normal(3 * truth), "flat": rng.random(3000)}
    found = uc.compare(y, models, unlabeled=0).evaluations
    assert {e.unknowns.model for e in found.values()} == {"sharp"}
    assert len({e.shares for e in found.values()}) == 1
    assert len({(e.unknowns.upper_bound, e.unknowns.largest_share) for e in found.values()}) == 1
    alone = uc.evaluate(y, models["sharp"], unlabeled=0)
    assert found["poor"].shares.unlabeled_prevalence == alone.shares.unlabeled_prevalence
    # Three models are looked at, so each gets a third of the risk.
    counts = uc.ScoreCounts.from_rows(y, models["sharp"], unlabeled=0)
    assert (
        found["poor"].unknowns.upper_bound
        == upper_bound(counts, 1 - 0.05 / 3)
        > alone.unknowns.upper_bound
    )
    assert "on the scores of sharp" in str(found["poor"])
    assert "on the scores of" not in str(found["sharp"])
    given = uc.compare(y, models, unlabeled=0, prevalence=0.2).evaluations
    assert len({(e.unknowns.upper_bound, e.unknowns.largest_share) for e in given.values()}) == 1


def test_resampled_intervals_serve_the_models_that_did_not_tell_the_share():
    y, score = drawn(3, sizes=(200, 1000))
    noisy = score + np.random.default_rng(9).normal(size=1200)
    options = {"unlabeled": -1, "assume": uc.RandomLabels(interval="bootstrap", n_resamples=20)}
    found = uc.compare(y, {"noisy": noisy, "sharp": score}, **options).evaluations
    assert found["noisy"].shares == found["sharp"].shares
    assert found["noisy"].unknowns.resamples is None
    assert found["sharp"].unknowns.resamples is not None


def test_models_of_a_comparison_share_one_interval_at_any_level():
    y, score = drawn(2.5, sizes=(300, 2000))
    pair = uc.compare(y, {"a": score, "b": score + 0.0}, unlabeled=-1, confidence_level=0.5)
    first, second = pair.evaluations.values()
    assert ends(first) == ends(second)


@pytest.mark.parametrize("purity", [0.8, 0.95])
@pytest.mark.parametrize("separation", [2, 4])
def test_an_estimated_share_allows_for_wrong_labels(separation, purity):
    found = []
    for seed in range(3):
        evaluation = evaluated(drawn(separation, purity, seed=seed), purity=purity)
        assert 0.3 in evaluation.shares.unlabeled_prevalence_interval
        assert evaluation.source == "estimated by NoisyConsensus"
        found.append(evaluation.shares.unlabeled_prevalence)
    # The methods for pure labels find share / purity, .375 at a purity of .8.
    assert np.mean(found) == pytest.approx(0.3, abs=0.035)


def test_a_share_with_wrong_labels_stays_where_the_area_is_below_one():
    rows = drawn(3, 0.7, sizes=(3000, 8000))
    found = evaluated(rows, purity=0.7)
    labelled, unlabeled = rows[1][:3000], rows[1][3000:]
    above = np.searchsorted(np.sort(unlabeled), labelled).mean() / 8000
    assert found.shares.unlabeled_prevalence <= 0.7 - (2 * above - 1) + 1e-12
    # The true area of normal scores 3 sd apart is .983.
    assert found["roc_auc"].low < 0.983 < found["roc_auc"].high
    assert all(0 <= e.value <= 0.7 for e in found.share_estimates.values())
    assert not any(name.startswith("a") for name in found.share_estimates)


def test_a_share_that_fits_at_no_purity_is_taken_down_to_what_the_purity_allows():
    class TooHigh(NoisyConsensus):
        def _estimate(self, counts):  # noqa: ARG002 - what every estimator is asked
            return uc.prevalence.Fitted(0.69, interval=uc.Interval(0.6, 0.7), label_purity=0.8)

    rows = drawn(3, 0.7)
    found = evaluated(rows, unlabeled_prevalence=TooHigh(), purity=0.7)
    assert found.shares.unlabeled_prevalence <= found.unknowns.largest_share
    assert any("the largest that fits" in check.message for check in found.checks)


@pytest.mark.parametrize("method", [Consensus, Dedpul])
def test_a_method_for_pure_labels_is_refused_with_wrong_ones(method):
    y, score = rows = drawn(4, 0.8)
    fitted = method(n_resamples=0).fit(y, score, unlabeled=-1)
    for share in (method(n_resamples=0), fitted):
        with pytest.raises(uc.InputError, match=r"takes every label for right.*NoisyConsensus"):
            evaluated(rows, unlabeled_prevalence=share, purity=0.8)
        with pytest.raises(uc.InputError, match="takes every label for right"):
            uc.metrics.roc_auc(
                y,
                score,
                unlabeled=-1,
                assume=uc.RandomLabels(unlabeled_prevalence=share, purity=0.8),
            )
    verified = VerifiedSample().fit_counts(30, 100)  # says nothing of the labels
    assert evaluated(rows, unlabeled_prevalence=verified, purity=0.8).unknowns.interval == "own"


def test_what_finds_a_purity_is_refused_with_pure_labels():
    y, score = rows = drawn(4, 0.8)
    for share in (NoisyConsensus(), NoisyConsensus().fit(y, score, unlabeled=-1)):
        with pytest.raises(uc.InputError, match="finds share and purity together"):
            evaluated(rows, unlabeled_prevalence=share)
        with pytest.raises(uc.InputError, match="finds share and purity together"):
            uc.metrics.roc_auc(y, score, unlabeled=-1, unlabeled_prevalence=share)


@pytest.mark.parametrize("name", ["prevalence", "label_frequency"])
def test_estimators_are_told_where_they_belong(name):
    with pytest.raises(uc.InputError, match="pass an estimator as unlabeled_prevalence"):
        uc.evaluate(*drawn(2), unlabeled=-1, **{name: Consensus()})


def test_an_estimator_without_interval_does_fitted_or_not():
    rows = drawn(2.5, sizes=(300, 2000))
    fitted = Dedpul(n_resamples=0).fit(*rows, unlabeled=-1)
    expected = ends(evaluated(rows, unlabeled_prevalence=fitted.unlabeled_prevalence_))
    for share in (Dedpul(n_resamples=0), fitted, fitted.estimate()):
        assert ends(evaluated(rows, unlabeled_prevalence=share)) == expected
        found = uc.metrics.roc_auc(*rows, unlabeled=-1, unlabeled_prevalence=share)
        exact = fitted.unlabeled_prevalence_
        assert found == uc.metrics.roc_auc(*rows, unlabeled=-1, unlabeled_prevalence=exact)


def test_a_standard_error_without_interval_still_counts():
    rows = drawn(2.5, sizes=(300, 2000))
    nan = float("nan")
    told = [uc.Estimate(0.3, *e, 0.04, method="m") for e in ((nan, nan), (0.22, 0.38))]
    bare, full = (evaluated(rows, unlabeled_prevalence=share) for share in told)
    assert bare.rows[0].estimate.standard_error == pytest.approx(
        full.rows[0].estimate.standard_error, rel=0.15
    )


def test_an_estimator_with_a_closed_form_is_fitted_at_the_level_too():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(1, 1, 700), rng.normal(0, 1, 1000)])
    y = np.repeat([1, -1, 0], [400, 1000, 300])
    two = TwoLabels(confidence_level=0.5).fit(y, score, unlabeled=-1)
    found = uc.evaluate(
        y, score, unlabeled=-1, unlabeled_prevalence=TwoLabels(), confidence_level=0.5
    )
    assert found.shares.unlabeled_prevalence_interval == two.interval_


def test_an_estimator_without_a_seed_takes_that_of_the_evaluation():
    y, score, _ = both_labels(0)
    unseeded, seeded = BestBin(), BestBin(random_state=1)

    def ask(estimator, seed, rows=slice(None)):
        options = {"unlabeled_prevalence": estimator, "random_state": seed}
        found = uc.evaluate(y[rows], score[rows], unlabeled=-1, **options)
        return found.shares.unlabeled_prevalence_interval

    first = ask(unseeded, 0)
    assert first == ask(unseeded, 0, slice(None, None, -1))
    assert first != ask(unseeded, 1) == ask(seeded, 0)
    assert unseeded.random_state is None


def test_the_interval_of_a_purity_may_reach_below_an_estimated_share():
    rows = drawn(0.5, 0.9, share=0.75, sizes=(300, 300))
    told = uc.Estimate(0.82, 0.76, 0.88, 0.03, method="somebody")
    found = evaluated(rows, unlabeled_prevalence=told, purity=uc.Estimate(0.95, 0.8, 1.0, 0.05))
    assert found.unknowns.interval == "own"
    assert found.rows[0].estimate.value > 0.5


def test_a_share_that_average_precision_refuses_names_the_limit_that_it_allows():
    rng = np.random.default_rng(0)
    truth = np.arange(4000) < 1200
    score = rng.normal(1.5 * truth)
    rank = np.zeros(4000)
    rank[truth] = np.argsort(np.argsort(score[truth])) / 1200
    y = truth & (rng.random(4000) < 0.8 * rank)  # the true share, labels that favour high scores
    with pytest.raises(uc.InputError, match="average precision would be") as refused:
        uc.evaluate(y, score, unlabeled=0, prevalence=0.3)
    assert "no random sample of the positives" in str(refused.value)
    limit = float(refused.value.hint.rpartition(" ")[2])
    assert limit < 0.25  # the ROC AUC would allow more than what was refused
    found = uc.evaluate(y, score, unlabeled=0, prevalence=limit)["average_precision"]
    assert found.value == pytest.approx(1, abs=2e-3)
