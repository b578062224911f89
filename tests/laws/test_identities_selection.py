"""Identities of selection and of the resampled band (25 to 28), for all data."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import binom
from tests.assume.selection.fitting import Selected

import undercount as uc
from undercount.assume.selection.gaussian_curve import gaussian_auc, gaussian_rates
from undercount.theory.bands import cdf_band

EXACT = {"rel": 1e-12, "abs": 1e-12}
law = settings(deadline=None, max_examples=40)


@law
@given(st.floats(-0.99, 0.99))
def test_25_cooks_closed_forms_at_a_half(correlation):
    area = 0.5 + 2 / np.pi * np.arcsin(correlation / np.sqrt(2))
    assert gaussian_auc(correlation, 0.0) == pytest.approx(area, abs=1e-9)
    # Half of the rows are flagged and half are positive, so precision is the true-positive rate.
    tpr, fpr = gaussian_rates(np.zeros(1), correlation, 0.0)
    assert tpr[0] == pytest.approx(0.5 + np.arcsin(correlation) / np.pi, **EXACT)
    assert tpr[0] + fpr[0] == pytest.approx(1, **EXACT)


@st.composite
def complete_rows(draw):
    n_rows = draw(st.integers(4, 25))
    y = [1.0, 0.0, *draw(st.lists(st.sampled_from([1.0, 0.0]), min_size=n_rows, max_size=n_rows))]
    tied = st.lists(st.integers(0, 5), min_size=len(y), max_size=len(y))
    score = draw(tied | st.permutations(range(len(y))))
    weight = draw(st.lists(st.floats(0.1, 3), min_size=len(y), max_size=len(y)))
    weight = np.array(weight) if draw(st.booleans()) else None
    return np.array(y), np.array(score, dtype=float), weight


@law
@given(complete_rows(), st.data())
def test_26_rates_of_rows_selected_by_their_own_score(rows, data):
    y, score, weight = rows
    start = data.draw(st.sampled_from(sorted(set(score))))
    kept = score >= start
    assume(len(set(y[kept])) == 2)
    part = None if weight is None else weight[kept]
    whole = uc.labelled_curve(uc.ScoreCounts.from_rows(y, score, sample_weight=weight))
    seen = uc.labelled_curve(uc.ScoreCounts.from_rows(y[kept], score[kept], sample_weight=part))
    base = whole.at(start)
    for threshold in sorted(set(score[kept])):
        selected, every = seen.at(threshold), whole.at(threshold)
        assert selected.tpr == pytest.approx(every.tpr / base.tpr, **EXACT)
        assert selected.fpr == pytest.approx(every.fpr / base.fpr, **EXACT)


@law
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=40).filter(any), st.sampled_from([0.8, 0.95])
)
def test_27_the_resampled_band_is_a_binomial_quantile(labelled, level):
    """Above a score, a resample of n labels holds Binomial(n, share above) of them."""
    total = sum(labelled)
    share = np.cumsum(labelled) / total
    band = cdf_band(labelled, band="binomial", simultaneous=False, confidence_level=level)
    for found, tail in ((band.lower, (1 - level) / 2), (band.upper, (1 + level) / 2)):
        quantile = np.where(share > 0, binom.ppf(tail, total, share), 0)
        assert found * total == pytest.approx(quantile, abs=1e-9)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10_000), st.floats(0.2, 0.7), st.floats(-0.4, 0.4))
def test_28_equation_14_is_a_probit(seed, correlation, star):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=300)
    latent = correlation * score + np.sqrt(1 - correlation**2) * rng.normal(size=300)
    y = np.where(score >= -0.3, (latent > star).astype(float), np.nan)
    model = Selected("own-score").fit(score, y)
    a = (score - score.mean()) / score.std()
    seen = ~np.isnan(y)
    a, sign = a[seen], 2 * y[seen] - 1

    def minus_log_likelihood(rho, threshold):
        return -log_ndtr(sign * (rho * a - threshold) / np.sqrt(1 - rho * rho)).sum()

    best = minimize(
        lambda x: minus_log_likelihood(np.tanh(x[0]), x[1]),
        [0.3, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
    )
    found = minus_log_likelihood(model.correlation, model.latent_threshold)
    assert found == pytest.approx(best.fun, rel=1e-9)
    assert model.correlation == pytest.approx(np.tanh(best.x[0]), abs=1e-5)
    assert model.latent_threshold == pytest.approx(best.x[1], abs=1e-5)
