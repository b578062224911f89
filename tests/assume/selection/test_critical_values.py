"""Critical values of the profile likelihood: known where it is a parabola, whole or cut."""

import numpy as np
import pytest
from tests.assume.selection.fitting import Selected

from undercount.assume.selection import critical_values
from undercount.assume.selection.critical_values import LikelihoodField, likelihood_field
from undercount.infer.metric_at import MetricAt
from undercount.theory.simulation import simulate_unobserved

# Quantiles of 1,000 draws: a standard error of .23 for the .95 quantile of a χ² of one degree.
SLACK = 0.7
PREVALENCE = MetricAt("prevalence")


def parabolas(ends, size=61):
    """Log-likelihoods tZ - ½t² at points t: the limit of a regular model.

    The other coefficient has the same score, independent of Z, at all points.
    """
    points = np.linspace(*ends, size)
    products = np.zeros((2 * size, 2 * size))
    products[:size, :size] = np.outer(points, points)
    products[size:, size:] = 1.0
    return points, LikelihoodField(products, points)


def test_a_parabola_has_the_usual_critical_value_and_its_end_half_of_a_chi_square():
    points, field = parabolas((-6.0, 6.0))
    middle = field.critical_losses(0.95)[np.abs(points) < 2]
    assert middle == pytest.approx(3.84, abs=SLACK)
    _, half = parabolas((0.0, 6.0))
    # Half of the time the maximum is at the end itself: P(χ² > c) = .1.
    assert half.critical_losses(0.95)[0] == pytest.approx(2.71, abs=SLACK)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_straight_metric_of_two_normal_parameters_has_the_usual_critical_value(share):
    # The metric errs through the other coefficient, through the rows' scores, or both.
    points, field = parabolas((-6.0, 6.0))
    drift = np.full((61, 1), 0.6 * np.sqrt(share))
    found = field.critical_values(0.8 * points, np.full(61, 0.6), drift, 0.95)
    assert found[np.abs(points) < 2] == pytest.approx(3.84, abs=SLACK)


def test_a_scan_coarser_than_the_metric_s_error_has_the_same_critical_value():
    # From point to point the metric moves by five standard errors; the nearest point alone would
    # add up to 2.5² to the statistic.
    points, field = parabolas((-6.0, 6.0), 25)
    found = field.critical_values(points, np.full(25, 0.1), np.zeros((25, 1)), 0.95)
    assert found[np.abs(points) < 2] == pytest.approx(3.84, abs=SLACK)


def test_errors_that_move_with_the_likelihood_are_drawn_with_it():
    # Beside the true point a false one, which wins by ½S² and there errs by S: the statistic is
    # S², a χ². Were its error another variable, or only that of the true point, it would be less.
    field = LikelihoodField(np.diag([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0]))
    drift = np.array([[0.0], [1.0]])
    found = field.critical_values(np.zeros(2), np.array([1e-3, 1.0]), drift, 0.95)
    assert found[0] == pytest.approx(3.84, abs=SLACK)


def test_fitting_more_coefficients_where_the_point_is_false_raises_the_critical_value():
    # Two points alike in likelihood, one with a free coefficient more: it wins by χ²/2.
    products = np.diag([0.0, 0.0, 0.0, 1.0])
    field = LikelihoodField(products, np.array([0.0, 1.0]))
    assert field.critical_losses(0.95)[0] == pytest.approx(3.84, abs=SLACK)
    assert field.critical_losses(0.95)[1] == pytest.approx(0.0, abs=1e-9)


@pytest.fixture(scope="module")
def scanned():
    data = simulate_unobserved(800, 0.5, hidden_correlation=0.3, score_weight=0.5, random_state=0)
    model = Selected("unobserved").fit(data.score, data.y)
    return model, [point.model for point in model.profile.points]


def test_the_field_does_not_depend_on_how_rows_are_cut_up(scanned, monkeypatch):
    _, models = scanned
    whole = likelihood_field(models).products
    monkeypatch.setattr(critical_values, "BOOTSTRAP_ROWS_PER_CHUNK", 97)
    assert likelihood_field(models).products == pytest.approx(whole, abs=1e-8)


def test_scores_are_white_at_the_maximum(scanned):
    model, models = scanned
    field = likelihood_field(models)
    best = int(np.argmin(model.profile.loss))
    width = len(models[0].fit.coefficients)
    place = len(models) + best * width
    block = field.products[place : place + width, place : place + width]
    # The information equality, which holds up to the sampling error of 800 rows.
    assert block == pytest.approx(np.eye(width), abs=0.25)


def test_a_well_identified_correlation_has_the_usual_interval():
    generator = np.random.default_rng(3)
    a, x, unseen, noise = generator.standard_normal((4, 3000))
    truth = (0.5 * a + 0.5 * unseen + np.sqrt(0.5) * noise > 0).astype(float)
    y = np.where(0.5 * a + 1.5 * x + unseen > 0, truth, np.nan)
    model = Selected("unobserved").fit(a, y, X=x)
    interval, best = model.error_correlation_interval(), model.fit.model.fit
    for end in (interval.low, interval.high):
        fit = model.fit.model.at_correlation(end, best, 1e-9).fit
        assert 2 * (best.log_likelihood - fit.log_likelihood) == pytest.approx(3.84, abs=SLACK)


def test_the_drift_of_the_prevalence_is_its_derivative_by_the_coefficients(scanned):
    model, models = scanned
    profile = model.profile
    values = np.array([r.value(PREVALENCE) for r in profile.readers("prevalence")])
    found = (profile._drift(values, PREVALENCE) ** 2).sum(axis=1)
    slopes = [point.slopes().positive.mean(axis=0) for point in models]
    pairs = zip(slopes, models, strict=True)
    assert found == pytest.approx([g @ point.covariance @ g for g, point in pairs], rel=1e-3)
