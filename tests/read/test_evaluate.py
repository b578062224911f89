"""The share that an evaluation rests on: its level, and labels that may be wrong."""

import numpy as np
import pytest
from scipy.special import ndtri

import undercount as uc
from undercount.prevalence import Consensus, Dedpul, NoisyConsensus, TwoLabels, VerifiedSample


def drawn(separation, purity=1.0, share=0.3, sizes=(1000, 5000), seed=0):
    """Draw normal scores of a case-control sample; the first rows are labelled."""
    rng = np.random.default_rng(seed)
    right, hidden = round(purity * sizes[0]), round(share * sizes[1])
    truth = np.repeat([1, 0, 1, 0], [right, sizes[0] - right, hidden, sizes[1] - hidden])
    return np.repeat([1, -1], sizes), rng.normal(separation * truth)


def evaluated(rows, **options):
    return uc.evaluate(*rows, unlabeled=-1, sampling="case-control", **options)


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
        evaluation = evaluated(drawn(separation, purity, seed=seed), label_purity=purity)
        assert 0.3 in evaluation.shares.unlabeled_prevalence_interval
        assert evaluation.source == "estimated by NoisyConsensus"
        found.append(evaluation.shares.unlabeled_prevalence)
    # The methods for pure labels find share / purity, .375 at a purity of .8.
    assert np.mean(found) == pytest.approx(0.3, abs=0.035)


def test_a_share_with_wrong_labels_stays_where_the_area_is_below_one():
    rows = drawn(3, 0.7, sizes=(3000, 8000))
    found = evaluated(rows, label_purity=0.7)
    labelled, unlabeled = rows[1][:3000], rows[1][3000:]
    above = np.searchsorted(np.sort(unlabeled), labelled).mean() / 8000
    assert found.shares.unlabeled_prevalence <= 0.7 - (2 * above - 1) + 1e-12
    areas = {row.metric: row.estimate.value for row in found.rows}
    assert areas["roc_auc"] < 0.9999
    # The true area of normal scores 3 sd apart is .983.
    assert areas["roc_auc"] == pytest.approx(0.983, abs=0.02)
    assert all(0 <= e.value <= 0.7 for e in found.estimates.values())
    assert not any(name.startswith("a") for name in found.estimates)


def test_a_share_that_fits_at_no_purity_is_taken_down_to_what_the_purity_allows():
    class TooHigh(NoisyConsensus):
        def _estimate(self, counts):  # noqa: ARG002 - what every estimator is asked
            return uc.prevalence.Fitted(0.69, interval=uc.Interval(0.6, 0.7), label_purity=0.8)

    rows = drawn(3, 0.7)
    found = evaluated(rows, label_purity=0.7, unlabeled_prevalence=TooHigh())
    assert found.shares.unlabeled_prevalence <= found.largest_share
    assert any("the largest that fits" in check.message for check in found.checks)


@pytest.mark.parametrize("method", [Consensus, Dedpul])
def test_a_method_for_pure_labels_is_refused_with_wrong_ones(method):
    y, score = rows = drawn(4, 0.8)
    fitted = method(n_resamples=0).fit(y, score, unlabeled=-1)
    for share in (method(n_resamples=0), fitted):
        with pytest.raises(uc.InputError, match=r"takes every label for right.*NoisyConsensus"):
            evaluated(rows, label_purity=0.8, unlabeled_prevalence=share)
        with pytest.raises(uc.InputError, match="takes every label for right"):
            uc.metrics.roc_auc(y, score, unlabeled=-1, label_purity=0.8, unlabeled_prevalence=share)
    verified = VerifiedSample().fit_counts(30, 100)  # says nothing of the labels
    assert evaluated(rows, label_purity=0.8, unlabeled_prevalence=verified).interval == "own"


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


def test_the_interval_of_a_purity_may_reach_below_an_estimated_share():
    rows = drawn(0.5, 0.9, share=0.75, sizes=(300, 300))
    told = uc.Estimate(0.82, 0.76, 0.88, 0.03, method="somebody")
    found = evaluated(
        rows, unlabeled_prevalence=told, label_purity=uc.Estimate(0.95, 0.8, 1.0, 0.05)
    )
    assert found.interval == "own"
    assert found.rows[0].estimate.value > 0.5
