"""Intervals, bands and checks of the selection models."""

import numpy as np
import pytest

from undercount.assume.selection.model import SelectionModel
from undercount.errors import InputError
from undercount.theory.simulation import (
    simulate_observed_score,
    simulate_own_score,
    simulate_unobserved,
)

METHODS = ["own-score", "observed-score", "begg-greenes", "ipw", "doubly-robust"]


def fitted(method, n=800, distribution="empirical", seed=0):
    model = SelectionModel(method, distribution, random_state=0)
    if method == "observed-score":
        data = simulate_observed_score(n, 0.6, random_state=seed)
        return model.fit(data.score, data.y, selection_score=data.selection_score)
    if method in ("ipw", "doubly-robust", "unobserved"):
        data = simulate_unobserved(
            n, 0.6, hidden_correlation=0.0, score_weight=0.7, random_state=seed
        )
    else:
        data = simulate_own_score(n, 0.6, random_state=seed)
    return model.fit(data.score, data.y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("metric", "threshold"),
    [("roc_auc", None), ("prevalence", None), ("lift_auc", None), ("f1", 0.2), ("mcc", -0.3)],
)
def test_delta_and_bootstrap_agree(method, metric, threshold):
    model = fitted(method)
    delta = model.interval(metric, threshold, "delta")
    boot = model.interval(metric, threshold, "bootstrap", n_resamples=120)
    # The standard error of 120 resamples is itself known to 6.5 %.
    assert boot.standard_error == pytest.approx(delta.standard_error, rel=0.3)
    assert delta.value == boot.value
    assert delta.low < delta.value < delta.high


@pytest.mark.parametrize("distribution", ["normal", "copula"])
@pytest.mark.parametrize("method", ["own-score", "observed-score"])
def test_delta_and_bootstrap_agree_for_normal_curves(method, distribution):
    model = fitted(method, 500, distribution)
    for metric, threshold in (("roc_auc", None), ("precision", 0.3), ("correlation", None)):
        delta = model.interval(metric, threshold, "delta")
        boot = model.interval(metric, threshold, "bootstrap", n_resamples=120)
        assert boot.standard_error == pytest.approx(delta.standard_error, rel=0.3)


def test_lift_area_is_the_identity_of_area_and_prevalence():
    model = fitted("own-score")
    share, area = model.prevalence_, model.curve_.roc_auc
    lift = float(model.interval("lift_auc"))
    assert lift == pytest.approx(share / 2 + (1 - share) * area, abs=1e-12)


def test_a_lower_confidence_level_gives_a_narrower_interval():
    data = simulate_own_score(500, 0.5, random_state=0)
    widths = [
        SelectionModel(confidence_level=level).fit(data.score, data.y).interval("roc_auc").interval
        for level in (0.5, 0.9, 0.99)
    ]
    assert widths[0].width < widths[1].width < widths[2].width


def test_profile_interval_holds_what_the_likelihood_does_not_reject():
    model = fitted("unobserved", 1500)
    interval, best = model.error_correlation_interval(), model.model_.fit
    assert interval.low <= model.error_correlation_ <= interval.high
    inside = np.linspace(interval.low, interval.high, 5)
    for r in inside[1:-1]:
        fit = model.model_.at_correlation(float(r), best, 1e-9).fit
        # Critical values of the designs lie between those of half a χ² and of two degrees.
        assert 2 * (best.log_likelihood - fit.log_likelihood) < 5.99
    area = model.interval("roc_auc")
    assert area.method == "profile"
    assert 0.5 + 2 / np.pi * np.arcsin(0.6 / np.sqrt(2)) in area.interval
    assert area.low < model.curve_.roc_auc < area.high


def test_exchanged_columns_are_noticed():
    data = simulate_own_score(100, 0.5, random_state=0)
    for y in (data.y, list(data.y), [None if np.isnan(v) else v for v in data.y]):
        with pytest.raises(InputError, match=r"fit\(score, y\)"):
            SelectionModel().fit(y, data.score)


def test_unobserved_bootstrap_runs_and_is_of_the_size_of_the_profile():
    model = fitted("unobserved", 600)
    boot = model.interval("roc_auc", method="bootstrap", n_resamples=30)
    profile = model.interval("roc_auc")
    assert 0.3 < boot.interval.width / profile.interval.width < 2


@pytest.mark.parametrize("method", [*METHODS, "unobserved"])
def test_band_contains_the_curve_and_a_simultaneous_one_is_wider(method):
    model = fitted(method)
    band, point = model.band(), model.band(simultaneous=False)
    grid = band.pessimistic.fpr[2:-2]
    middle = np.clip(np.interp(grid, model.curve_.fpr, model.curve_.tpr), 0, 1)
    assert np.all(band.pessimistic.tpr[2:-2] <= middle + 1e-9)
    assert np.all(band.optimistic.tpr[2:-2] >= middle - 1e-9)
    assert band.roc_auc.width >= point.roc_auc.width
    for curve in (band.pessimistic, band.optimistic):
        assert np.all(np.diff(curve.tpr) >= -1e-12)
        assert (curve.tpr[0], curve.tpr[-1]) == (0.0, 1.0)


def test_average_precision_needs_the_bootstrap():
    model = fitted("own-score", 400)
    with pytest.raises(InputError, match="method='bootstrap'"):
        model.interval("average_precision")
    found = model.interval("average_precision", method="bootstrap", n_resamples=30)
    assert found.low < found.value == model.curve_.average_precision < found.high


@pytest.mark.parametrize(
    ("metric", "threshold", "method", "words"),
    [
        ("sharpe", None, "auto", "metric must be one of roc_auc"),
        ("precision", None, "auto", "needs a threshold"),
        ("roc_auc", 0.5, "auto", "takes no threshold"),
        ("precision", np.inf, "auto", "finite"),
        ("roc_auc", None, "magic", "auto, delta or bootstrap"),
        ("roc_auc", None, "profile", "auto, delta or bootstrap"),
    ],
)
def test_wrong_questions_say_what_to_do(metric, threshold, method, words):
    with pytest.raises(InputError, match=words):
        fitted("own-score", 200).interval(metric, threshold, method)


def test_methods_without_a_latent_propensity_have_no_correlation():
    with pytest.raises(InputError, match="has no correlation"):
        fitted("begg-greenes", 200).interval("correlation")
    with pytest.raises(InputError, match="only 'unobserved'"):
        fitted("own-score", 200).error_correlation_interval()


def test_same_seed_same_numbers():
    first, second = (
        fitted("own-score", 300).interval("roc_auc", method="bootstrap", n_resamples=25)
        for _ in range(2)
    )
    assert first == second
    assert fitted("own-score", 300).band().roc_auc == fitted("own-score", 300).band().roc_auc


def levels(model):
    return {check.code: check.level for check in model.checks()}


def test_checks_are_quiet_on_the_papers_design():
    found = levels(fitted("own-score", 2000, "normal"))
    assert found["extrapolation"] == "warn"  # half of the rows were never looked at
    del found["extrapolation"]
    assert set(found.values()) == {"ok"}
    assert set(found) == {"selection-rule", "normality", "outcome-shape"}


def test_normality_fails_only_where_it_matters():
    data = simulate_own_score(2000, 0.6, random_state=0)
    skewed = np.exp(data.score)
    assert levels(SelectionModel(distribution="normal").fit(skewed, data.y))["normality"] == "fail"
    assert levels(SelectionModel().fit(skewed, data.y))["normality"] == "ok"


def test_reset_sees_a_bent_class():
    generator = np.random.default_rng(0)
    score = generator.standard_normal(3000)
    truth = (score + 0.8 * score**2 - 1 + generator.standard_normal(3000) > 0).astype(float)
    model = SelectionModel("own-score").fit(score, np.where(score > -0.8, truth, np.nan))
    assert levels(model)["outcome-shape"] == "fail"


def test_weak_identification_is_said():
    model = fitted("unobserved", 1000)
    found = {check.code: check for check in model.checks()}["weak-identification"]
    assert found.level in ("warn", "fail")
    assert "known loosely" in found.message
    assert "columns X" in found.advice


def test_few_labels_direction_and_rule_are_said():
    generator = np.random.default_rng(1)
    score = generator.standard_normal(300)
    truth = (-1.5 * score + generator.standard_normal(300) > 0).astype(float)
    y = np.where(generator.random(300) < 0.12, truth, np.nan)
    model = SelectionModel("own-score").fit(score, y)
    found = levels(model)
    assert model.curve_.roc_auc < 0.5  # said, never flipped
    assert found["direction"] == found["few-labels"] == found["selection-rule"] == "warn"
    assert found["extrapolation"] == "ok"


def test_positivity_warns_when_a_few_labels_carry_the_weight():
    found = []
    for weight in (0.3, 1.3):
        data = simulate_unobserved(
            3000, 0.6, hidden_correlation=0.0, score_weight=weight, random_state=0
        )
        found.append(levels(SelectionModel("ipw").fit(data.score, data.y))["positivity"])
    assert found == ["ok", "warn"]


def test_never_looked_at_fails_when_nearly_all_is_extrapolated():
    data = simulate_own_score(3000, 0.6, looked_share=0.1, random_state=0)
    found = levels(SelectionModel("own-score").fit(data.score, data.y))
    assert found["extrapolation"] == "fail"


def test_every_check_prints_one_line_of_words():
    for method in [*METHODS, "unobserved"]:
        for check in fitted(method, 300).checks():
            assert str(check).startswith(f"{check.code} {check.level}: ")
            assert ".." not in str(check)
            assert check.level == "ok" or check.advice
