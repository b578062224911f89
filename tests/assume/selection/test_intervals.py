"""Intervals of the selection models: delta method, profile, bootstrap."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2
from tests.assume.selection.fitting import Selected, interval_of

import undercount as uc
from undercount.assume.selection.intervals import unstretched_interval
from undercount.infer.metric_at import MetricAt
from undercount.theory.simulation import simulate_own_score

METHODS = ["own-score", "observed-score", "begg-greenes", "ipw", "doubly-robust"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("metric", "threshold"),
    [("roc_auc", None), ("prevalence", None), ("lift_auc", None), ("f1", 0.2), ("mcc", -0.3)],
)
def test_delta_and_bootstrap_agree(fitted, method, metric, threshold):
    model = fitted(method)
    delta = interval_of(model, metric, threshold, "delta")
    boot = interval_of(replace(model, n_resamples=120), metric, threshold, "bootstrap")
    error = delta.standard_error
    if method in ("begg-greenes", "ipw", "doubly-robust"):
        # Their intervals expect other labels than those found, which is all that resamples know.
        error = model.fit.reader().found_variance(MetricAt(metric, threshold)) ** 0.5
    # The standard error of 120 resamples is itself known to 6.5 %.
    assert boot.standard_error == pytest.approx(error, rel=0.3)
    assert delta.value == boot.value
    assert delta.low < delta.value < delta.high


@pytest.mark.parametrize("distribution", ["normal", "copula"])
@pytest.mark.parametrize("method", ["own-score", "observed-score"])
def test_delta_and_bootstrap_agree_for_normal_curves(fitted, method, distribution):
    model = fitted(method, 500, distribution)
    for metric, threshold in (("roc_auc", None), ("precision", 0.3), ("correlation", None)):
        delta = interval_of(model, metric, threshold, "delta")
        boot = interval_of(replace(model, n_resamples=120), metric, threshold, "bootstrap")
        assert boot.standard_error == pytest.approx(delta.standard_error, rel=0.3)


def test_lift_area_is_the_identity_of_area_and_prevalence(fitted):
    model = fitted("own-score")
    share, area = model.prevalence, model.curve.roc_auc
    lift = float(interval_of(model, "lift_auc"))
    assert lift == pytest.approx(share / 2 + (1 - share) * area, abs=1e-12)


def test_a_lower_confidence_level_gives_a_narrower_interval():
    data = simulate_own_score(500, 0.5, random_state=0)
    widths = [
        interval_of(Selected(confidence_level=level).fit(data.score, data.y), "roc_auc").interval
        for level in (0.5, 0.9, 0.99)
    ]
    assert widths[0].width < widths[1].width < widths[2].width


def test_profile_interval_holds_what_the_likelihood_does_not_reject(fitted):
    model = fitted("unobserved", 1500)
    interval, best = model.error_correlation_interval(), model.fit.model.fit
    assert interval.low <= model.error_correlation <= interval.high
    inside = np.linspace(interval.low, interval.high, 5)
    for r in inside[1:-1]:
        fit = model.fit.model.at_correlation(float(r), best, 1e-9).fit
        # Critical values of the designs lie between those of half a χ² and of two degrees.
        assert 2 * (best.log_likelihood - fit.log_likelihood) < 5.99
    area = interval_of(model, "roc_auc")
    assert area.method == "profile"
    assert 0.5 + 2 / np.pi * np.arcsin(0.6 / np.sqrt(2)) in area.interval
    assert area.low < model.curve.roc_auc < area.high


def test_unobserved_bootstrap_runs_and_is_of_the_size_of_the_profile(fitted):
    model = fitted("unobserved", 600)
    boot = interval_of(replace(model, n_resamples=30), "roc_auc", kind="bootstrap")
    profile = interval_of(model, "roc_auc")
    assert 0.3 < boot.interval.width / profile.interval.width < 2


@pytest.mark.parametrize("distribution", ["empirical", "normal", "copula"])
@pytest.mark.parametrize("metric", ["average_precision", "partial_roc_auc", "brier_score"])
def test_metrics_of_every_score_have_the_error_of_resamples(metric, distribution):
    data = simulate_own_score(500, 0.6, random_state=3)
    model = Selected("own-score", distribution, n_resamples=120).fit(ndtr(data.score), data.y)
    at = MetricAt(metric, max_fpr=0.3 if metric == "partial_roc_auc" else None)
    delta, boot = model.estimate(at), model.estimate(at, "bootstrap")
    assert boot.standard_error == pytest.approx(delta.standard_error, rel=0.3)
    assert delta.low < delta.value < delta.high
    if metric == "average_precision" and distribution == "empirical":
        assert delta.value == pytest.approx(model.curve.average_precision, abs=1e-12)


@pytest.mark.parametrize("n_found", [1, 2, 3, 5, 10])
def test_next_to_an_end_an_interval_goes_beyond_the_exact_limits_of_so_few_cases(n_found):
    # A share of 10,000 rows, whose errors are those of a Poisson number.
    share, half = n_found / 1e4, 1.96 * np.sqrt(n_found) / 1e4
    exact = chi2.ppf(0.975, 2 * (n_found + 1)) / 2 / 1e4
    wide = (0.0, 1.0)
    low, high = unstretched_interval(share, wide, half, (0.0, 1.0), 0.0)
    if share - half < 0:
        assert (low, high) == (0.0, pytest.approx(share + 2.5 * half))
        assert exact < high
        mirrored = unstretched_interval(1 - share, wide, half, (0.0, 1.0), 0.0)
        assert mirrored == (pytest.approx(1 - high), 1.0)
    else:
        assert (low, high) == wide


def test_a_precision_near_one_whose_error_is_small_has_no_low_end_near_none():
    # At this cut 98.9 % are positive: of 600 rows about 90 are flagged, and half were looked at.
    rng = np.random.default_rng(1)
    inside, widths = [], []
    for _ in range(60):
        score, chance, choice = rng.standard_normal((3, 600))
        column = (rng.random(600) < 0.5).astype(float)
        truth = chance < 1.8 * score + 0.4 * column - 0.2
        looked = choice < 0.5 * score + 0.6 * column - 0.5
        labels = uc.SelectedLabels("doubly-robust", features=column[:, None], scale="score")
        y = np.where(looked, truth, np.nan)
        estimate = labels.fit(y, score).estimate(MetricAt("precision", 1.0))
        inside.append(estimate.low <= 0.9892 <= estimate.high)
        widths.append(estimate.high - estimate.low)
    assert np.mean(inside) >= 0.9
    assert max(widths) < 0.3
