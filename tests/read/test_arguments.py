"""Odd values of arguments: one clear message, never an exception of another library."""

import decimal

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.errors import InputError

RNG = np.random.default_rng(0)
TRUTH = RNG.random(400) < 0.3
Y = (TRUTH & (RNG.random(400) < 0.5)).astype(int)
SCORE = RNG.normal(2.0 * TRUTH)
ODD = [
    10**400,
    decimal.Decimal("sNaN"),
    pd.NA,
    "2",
    [],
    (0.1, 0.2, 0.3),
    {},
    1j,
    b"x",
    np.array([0.3]),
    object(),
]
NUMBERS = ["prevalence", "unlabeled_prevalence", "label_frequency"]
CHOICES = ["target", "name", "confidence_level", "threshold"]


@pytest.mark.parametrize("value", ODD, ids=lambda value: str(type(value).__name__))
@pytest.mark.parametrize("argument", [*NUMBERS, *CHOICES])
def test_an_argument_of_another_type_is_refused(argument, value):
    if argument == "name" and isinstance(value, str):
        return  # a text is a name
    given = {} if argument in NUMBERS else {"prevalence": 0.3}
    with pytest.raises(InputError, match=r"must be|is \(low, high\)"):
        uc.evaluate(Y, SCORE, unlabeled=0, **(given | {argument: value}))


@pytest.mark.parametrize("value", ODD, ids=lambda value: str(type(value).__name__))
@pytest.mark.parametrize("argument", ["purity", "sampling", "interval"])
def test_an_argument_of_random_labels_is_refused(argument, value):
    share = {} if argument == "interval" else {"prevalence": 0.3}
    with pytest.raises(InputError, match=r"must be|is \(low, high\)"):
        uc.evaluate(Y, SCORE, unlabeled=0, assume=uc.RandomLabels(**share, **{argument: value}))


@pytest.mark.parametrize("value", [*ODD, None, np.nan], ids=lambda value: str(type(value).__name__))
def test_settings_of_a_metric_are_refused(value):
    options = {"unlabeled": 0, "prevalence": 0.3}
    with pytest.raises(InputError, match="beta must be"):
        uc.metrics.f_beta(Y, SCORE, threshold=1.0, beta=value, **options)
    with pytest.raises(InputError, match="max_fpr must be"):
        uc.metrics.partial_roc_auc(Y, SCORE, max_fpr=value, **options)
    counts = uc.ScoreCounts.from_rows(Y, SCORE, unlabeled=0)
    with pytest.raises(InputError, match="n_bins must be"):
        counts.coarsened(value)
    with pytest.raises(InputError, match="must be"):
        uc.ScoreCounts.from_rows(Y, SCORE, unlabeled=0, compact=True, knots=[[value]])


@pytest.mark.parametrize("threshold", [np.float32(1), np.int8(1), 1, True])
def test_a_threshold_of_any_number_type_is_written_everywhere(threshold, tmp_path):
    found = uc.evaluate(Y, SCORE, unlabeled=0, prevalence=0.3, threshold=threshold)
    plain = uc.evaluate(Y, SCORE, unlabeled=0, prevalence=0.3, threshold=1.0)
    assert found.to_json() == plain.to_json()
    assert found.at(np.float32(0.5)) == plain.at(0.5)
    found.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 0


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, np.nan])
def test_a_threshold_is_finite(threshold):
    with pytest.raises(InputError, match="threshold must be one finite number"):
        uc.evaluate(Y, SCORE, unlabeled=0, prevalence=0.3, threshold=threshold)


@pytest.mark.parametrize("weight", [1e200, 1e-320])
def test_weights_whose_squares_cannot_be_summed_are_refused(weight):
    with pytest.raises(InputError, match="Divide the weights by a constant"):
        uc.evaluate(Y, SCORE, unlabeled=0, sample_weight=np.full(len(Y), weight))


def test_a_score_that_is_a_signalling_nan_is_missing():
    score = np.array([decimal.Decimal("sNaN"), *SCORE[1:]], dtype=object)
    with pytest.raises(InputError, match="score must not be missing"):
        uc.evaluate(Y, score, unlabeled=0)


@pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning")
@pytest.mark.filterwarnings("ignore::undercount.errors.SmallSampleWarning")
def test_the_interval_of_a_composition_holds_its_estimate():
    # Seed found by search: every resample of this sample lies below the estimate.
    rng = np.random.default_rng(48)
    n = int(rng.integers(20, 400))
    truth = rng.random(n) < 0.4
    y = np.where(truth & (rng.random(n) < 0.5), 1, -1)
    score = rng.normal(1.5 * truth)
    fitted = uc.prevalence.NoisyComposition(random_state=0, n_resamples=8).fit(
        y, score, unlabeled=-1
    )
    assert fitted.unlabeled_prevalence_ in fitted.interval_
    assert fitted.label_purity_ in fitted.diagnostics_["label_purity_interval"]
