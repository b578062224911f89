import numpy as np
import pytest

import undercount as uc
from undercount.infer.estimated_share import estimate_end_by_end
from undercount.infer.sensitivity import metric_value

OPTIONS = {"target": "dataset", "confidence_level": 0.95}


def counts_of(separation, n_rows=40_000, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.3
    y = np.where(truth & (rng.random(n_rows) < 0.5), 1.0, np.nan)
    return uc.ScoreCounts.from_rows(y, rng.normal(separation * truth), compact=True, knots=[1.0])


@pytest.mark.parametrize("metric", ["roc_auc", "precision", "average_precision", "f1"])
def test_with_many_labels_the_ends_are_those_of_the_share(metric):
    counts = counts_of(1.5)
    shares = uc.Shares(uc.Estimate(0.15, 0.02, 0.2, 0.046))
    threshold = 1.0 if metric in ("precision", "f1") else None
    found = estimate_end_by_end(counts, shares, metric, threshold=threshold, **OPTIONS)
    at_ends = [metric_value(counts, uc.Shares(share), metric, threshold) for share in (0.02, 0.2)]
    # The chance of 6,000 labels adds a hundredth of the distance.
    assert found.low == pytest.approx(at_ends[0], abs=0.01)
    assert found.high == pytest.approx(at_ends[1], abs=0.02)
    # The interval is as skew as the share's.
    assert found.value - found.low > 1.5 * (found.high - found.value)


def test_an_area_close_to_one_keeps_a_sensible_interval():
    counts = counts_of(5.0)
    shares = uc.Shares(uc.Estimate(0.17, 0.12, 0.19, 0.02))
    found = estimate_end_by_end(counts, shares, "roc_auc", threshold=None, **OPTIONS)
    lowest = metric_value(counts, uc.Shares(0.12), "roc_auc")
    assert lowest - 0.02 < found.low < lowest + 0.01 < 1


def test_what_needs_no_prevalence_takes_the_end_that_widens_most():
    counts = counts_of(1.5)
    shares = uc.Shares(uc.Estimate(0.15, 0.02, 0.2, 0.046))
    known = estimate_end_by_end(counts, uc.Shares(0.2), "recall", threshold=1.0, **OPTIONS)
    found = estimate_end_by_end(counts, shares, "recall", threshold=1.0, **OPTIONS)
    assert (found.value, found.interval) == (known.value, known.interval)


def test_an_estimator_gives_the_same_intervals_fitted_or_not():
    rng = np.random.default_rng(3)
    truth = rng.random(4000) < 0.3
    y, score = np.where(truth & (rng.random(4000) < 0.4), 1, 0), rng.normal(2.5 * truth)
    fitted = uc.prevalence.Consensus().fit(y, score, unlabeled=0)
    ways = [
        {},
        {"unlabeled_prevalence": uc.prevalence.Consensus()},
        {"unlabeled_prevalence": fitted},
        {"unlabeled_prevalence": fitted.estimate()},
    ]
    found = [uc.evaluate(y, score, unlabeled=0, threshold=1.0, **way) for way in ways]
    assert [e.unknowns.interval for e in found] == ["calibrated", "calibrated", "own", "own"]
    for other in found[1:]:
        for one, two in zip(found[0].rows, other.rows, strict=True):
            assert two.estimate.low == pytest.approx(one.estimate.low, abs=1e-9)
            assert two.estimate.high == pytest.approx(one.estimate.high, abs=1e-9)
    # In a comparison the second model takes the share from the first, interval and all.
    pair = uc.compare(
        y, {"a": score, "b": score + 0.0}, unlabeled=0, assume=uc.RandomLabels(interval=None)
    )
    ends = [[row.estimate.interval for row in e.rows] for e in pair.evaluations.values()]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("fitted", [False, True])
def test_evaluate_and_the_metric_functions_give_one_answer(fitted):
    rng = np.random.default_rng(5)
    truth = rng.random(3000) < 0.2
    y, score = np.where(truth & (rng.random(3000) < 0.6), 1, 0), rng.normal(2.5 * truth)
    share = uc.prevalence.Dedpul(random_state=0)
    if fitted:
        share = share.fit(y, score, unlabeled=0)
    rows = {"unlabeled": 0, "unlabeled_prevalence": share}
    whole = uc.evaluate(y, score, threshold=1.0, **rows)
    for name in ("recall", "precision", "lift", "f1", "roc_auc", "lift_auc", "average_precision"):
        cut = {} if name in ("roc_auc", "lift_auc", "average_precision") else {"threshold": 1.0}
        one, other = whole.estimate(name, **cut), getattr(uc.metrics, name)(y, score, **cut, **rows)
        assert (other.value, other.low, other.high, other.standard_error) == pytest.approx(
            (one.value, one.low, one.high, one.standard_error), abs=1e-9, nan_ok=True
        )
        assert one.range_only == other.range_only
        assert one.range_only == (not fitted and name not in ("recall", "lift", "lift_auc"))
    # What no table shows takes the same way: F-beta at 1 is F1.
    beta = uc.metrics.f_beta(y, score, beta=1.0, threshold=1.0, **rows)
    f1 = whole.estimate("f1", threshold=1.0)
    assert (beta.low, beta.high) == pytest.approx((f1.low, f1.high), abs=1e-9)
    part = uc.metrics.partial_roc_auc(y, score, max_fpr=1.0, **rows)
    area = whole.estimate("roc_auc")
    assert part.value == pytest.approx(area.value, abs=1e-9, nan_ok=True)
    assert (part.low, part.high) == pytest.approx((area.low, area.high), abs=1e-3)


@pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning")
@pytest.mark.parametrize("metric", ["accuracy", "specificity", "f1", "mcc"])
def test_a_metric_pulled_back_into_range_keeps_the_ends_of_the_share(metric):
    """At no hidden positive a metric is that of the labels, and such a share is not ruled out."""
    counts = uc.ScoreCounts.from_counts([1, 0], [13, 85], [0, 0], [147, 7755])
    shares = uc.Shares(uc.Estimate(0.244, 0.0, 0.41, 0.1))
    found = estimate_end_by_end(counts, shares, metric, threshold=1, **OPTIONS)
    naive = getattr(uc.mixture_curve(counts, uc.Shares(0.0)).at(1), metric)
    assert found.low <= naive <= found.high
    capped = uc.evaluate(counts, unlabeled_prevalence=0.018, threshold=1)[metric]
    assert found.low <= capped.value <= found.high


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_labels_keep_their_chance_where_the_share_leaves_no_room(metric):
    """A share so large that nearly every flagged row is positive would leave chance no way up.

    The truth: 1,064 of 1,773 positives labelled at random, recall .475, true share .2. At it the
    labels alone reach as far as they do, and the interval of an estimated share holds that.
    """
    counts = uc.ScoreCounts.from_counts([1, 0], [492, 572], [0, 0], [395, 2949])
    shares = uc.Shares(uc.Estimate(0.246, 0.167, 0.274, 0.027))
    found = estimate_end_by_end(counts, shares, metric, threshold=1, **OPTIONS)
    smaller = uc.evaluate(counts, unlabeled_prevalence=0.21, threshold=1)[metric]
    assert found.high - found.value > 0.9 * (smaller.high - smaller.value)
    assert found.low < smaller.value < found.high
