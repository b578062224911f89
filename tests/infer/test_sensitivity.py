import math
from dataclasses import replace

import numpy as np
import pytest

import undercount as uc
from undercount.infer.area_gradients import unbiased_average_precision
from undercount.infer.mixture import design_of
from undercount.infer.sensitivity import (
    AreaSums,
    largest_share,
    metric_value,
    sweep,
)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(11)
    truth = rng.random(4000) < 0.3
    score = np.round(rng.normal(truth * 1.2), 2)
    y = np.where(truth & (rng.random(4000) < 0.4), 1.0, np.nan)
    return uc.ScoreCounts.from_rows(y, score)


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize(
    ("metric", "value"), [("roc_auc", 0.75), ("precision", 0.5), ("f1", 0.5), ("mcc", 0.3)]
)
def test_break_even_is_where_the_metric_reaches_the_value(counts, sampling, metric, value):
    shares = uc.Shares(0.2, sampling=sampling)
    found = uc.break_even(counts, shares, metric, value, threshold=0.8)
    at = uc.Shares(found.unlabeled_prevalence, sampling=sampling)
    assert metric_value(counts, at, metric, 0.8) == pytest.approx(value, abs=1e-9)


def test_break_even_never_and_always(counts):
    shares = uc.Shares(0.2)
    assert math.isnan(uc.break_even(counts, shares, "precision", 1.0, 0.0).unlabeled_prevalence)
    assert uc.break_even(counts, shares, "roc_auc", 0.5).unlabeled_prevalence == 0
    assert math.isnan(uc.break_even(counts, shares, "roc_auc", 0.999).odds_ratio)
    # The recovered area is about 0.8: a bias in favour of low scores takes it below 0.5 somewhere.
    assert 1 < uc.break_even(counts, shares, "roc_auc", 0.5).odds_ratio < math.inf
    assert uc.break_even(counts, shares, "precision", 0.0, 0.8).odds_ratio == math.inf


def test_break_even_bias_is_where_the_lower_end_meets_the_value(counts):
    shares = uc.Shares(0.2)
    ratio = uc.break_even(counts, shares, "roc_auc", 0.75).odds_ratio
    assert uc.biased_auc(counts, shares, ratio).low == pytest.approx(0.75, abs=1e-9)


def test_largest_share_makes_the_auc_one(counts):
    top = largest_share(counts)
    assert metric_value(counts, uc.Shares(top), "roc_auc") == pytest.approx(1.0)


@pytest.mark.parametrize("metric", ["roc_auc", "precision", "f1", "mcc", "informedness"])
def test_metrics_grow_with_the_share_of_hidden_positives(counts, metric):
    columns = sweep(counts, uc.Shares(0.1), metric, threshold=0.8)
    possible = columns[metric][~np.isnan(columns[metric])]
    assert len(possible) > 10
    assert np.all(np.diff(possible) >= -1e-12)
    assert possible.max() <= 1 + 1e-9


def test_sweeps_have_their_columns(counts):
    shares = uc.Shares(0.1)
    assert set(sweep(counts, shares, "precision", over="threshold")) == {"threshold", "precision"}
    assert set(sweep(counts, shares, "roc_auc", over="purity")) == {"purity", "roc_auc"}
    biased = sweep(counts, shares, "recall", over="gamma", threshold=0.8)
    assert np.all(np.diff(biased["recall_low"]) <= 0)
    assert np.all(np.diff(biased["recall_high"]) >= 0)


PURITY = 0.9


@pytest.mark.parametrize(
    ("given", "hidden"),
    [
        # Positives among the unlabeled rows of 4000, purity 0.9 of n labelled; see the test.
        ("prevalence", lambda kept, n: 0.3 * 4000 - kept * n),
        ("positives", lambda kept, n: 1200 - kept * n),
        ("label_frequency", lambda kept, n: kept * n * (1 / 0.4 - 1)),
        ("unlabeled_prevalence", lambda _, n: 0.2 * (4000 - n)),
    ],
)
def test_purity_is_swept_at_the_number_that_was_given(counts, given, hidden):
    made = {
        "prevalence": lambda: uc.Shares.from_prevalence(counts, 0.3, PURITY),
        "positives": lambda: uc.Shares.from_positives(counts, 1200, PURITY),
        "label_frequency": lambda: uc.Shares.from_label_frequency(counts, 0.4, PURITY),
        "unlabeled_prevalence": lambda: uc.Shares(0.2, PURITY),
    }[given]()
    columns = sweep(counts, made, "precision", over="purity", threshold=0.8)
    head, n, rest = counts.score >= 0.8, counts.n_positive, counts.n_unlabeled
    labelled, unlabeled = counts.positive[head].sum() / n, counts.unlabeled[head].sum() / rest
    purity = columns["purity"]
    share = np.array([hidden(kept, n) / rest for kept in purity])
    # Jain et al. 2017, eq. 1: labelled = κ tpr + (1 - κ) fpr, unlabeled = a tpr + (1 - a) fpr.
    tpr = ((1 - share) * labelled - (1 - purity) * unlabeled) / (purity - share)
    flagged = labelled * n + unlabeled * rest
    expected = (purity * n + share * rest) * tpr / flagged
    expected[(expected > 1) | (expected < -1)] = np.nan
    np.testing.assert_allclose(columns["precision"], expected, rtol=1e-10)
    assert purity[-1] == 1
    assert purity[0] - share[0] == pytest.approx(0.05)
    assert np.isfinite(columns["precision"]).sum() > 20


def test_a_purity_that_leaves_no_room_for_the_given_positives_is_blank(counts):
    # 95 % of the labelled rows alone are all the positives there are.
    shares = uc.Shares.from_positives(counts, 0.95 * counts.n_positive, 0.9)
    columns = sweep(counts, shares, "roc_auc", over="purity")
    possible = columns["purity"] <= 0.95 + 1e-9
    assert np.isnan(columns["roc_auc"][~possible]).all()
    assert np.isfinite(columns["roc_auc"][possible][-5:]).all()


def test_a_percentage_is_no_share(counts):
    with pytest.raises(uc.InputError, match=r"share in \[0, 1\]; got 80; 80 % is 0.8"):
        uc.break_even(counts, uc.Shares(0.1), "precision", 80, 0.8)
    with pytest.raises(uc.InputError, match=r"share in \[-1, 1\]; got -2"):
        uc.break_even(counts, uc.Shares(0.1), "mcc", -2, 0.8)
    assert uc.break_even(counts, uc.Shares(0.1), "lift", 1.5, 0.8).value == 1.5


@pytest.fixture(scope="module")
def complete():
    # Everyone labelled is flagged at 1, some of the unlabeled are not: with a purity below 1 the
    # recovered recall is (0.7 - 0.005 * q)/0.695 > 1 for q, the share of unlabeled rows flagged.
    rng = np.random.default_rng(0)
    score = np.r_[rng.normal(6, 1, 500), rng.normal(6, 1, 600), rng.normal(0, 1, 1400)]
    return np.repeat([1, 0], [500, 2000]), score


def test_no_bias_matters_where_chance_puts_recall_above_1(complete):
    y, score = complete
    counts, shares = uc.ScoreCounts.from_rows(y, score, unlabeled=0), uc.Shares(0.3, 0.995)
    flagged = np.mean(score >= 1)
    prevalence = (0.995 * 500 + 0.3 * 2000) / 2500
    assert metric_value(counts, shares, "recall", 1.0) > 1
    # Precision of a recall of 1 is prevalence / flagged, whatever the bias.
    for step, bias in ((-0.01, math.inf), (0.01, math.nan)):
        goal = prevalence / flagged + step
        found = uc.break_even(counts, shares, "precision", goal, 1.0, confidence_level=None)
        np.testing.assert_equal(found.odds_ratio, bias)
    options = {"over": "gamma", "threshold": 1.0, "confidence_level": None}
    columns = sweep(counts, shares, "precision", **options)
    for end in ("precision_low", "precision_high"):
        np.testing.assert_allclose(columns[end], prevalence / flagged, rtol=1e-12)


def test_no_bias_matters_where_all_positives_are_flagged(complete):
    y, score = complete
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    options = {"over": "gamma", "threshold": 1.0, "confidence_level": None}
    columns = sweep(counts, uc.Shares(0.3), "recall", **options)
    assert set(columns["recall_low"]) == set(columns["recall_high"]) == {1.0}


@pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning")
def test_everything_is_said_where_chance_puts_recall_above_1(complete, tmp_path):
    y, score = complete
    options = {
        "unlabeled": 0,
        "assume": uc.RandomLabels(unlabeled_prevalence=0.3, purity=0.995),
        "threshold": 1.0,
    }
    evaluation = uc.evaluate(y, score, **options)
    recall = evaluation.estimate("recall", 1.0)
    assert recall.value == recall.high == 1
    assert "What would change" in str(evaluation)
    assert "precision" in evaluation.to_json()
    evaluation.to_html(tmp_path / "page.html")
    other = score + np.random.default_rng(1).normal(size=len(score))
    comparison = uc.compare(y, {"a": score, "b": other}, **options)
    assert "recall" in str(comparison)


def test_bad_input(counts):
    shares = uc.Shares(0.1)
    with pytest.raises(uc.InputError, match="one of roc_auc"):
        metric_value(counts, shares, "precison", 0.5)
    with pytest.raises(uc.InputError, match="pass threshold="):
        metric_value(counts, shares, "precision")
    with pytest.raises(uc.InputError, match="no threshold"):
        sweep(counts, shares, "roc_auc", over="threshold")
    with pytest.raises(uc.InputError, match="over must be"):
        sweep(counts, shares, "roc_auc", over="colour")
    with pytest.raises(uc.InputError, match="followed for"):
        sweep(counts, shares, "average_precision", over="gamma")


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("known", [0, 60])
def test_areas_at_many_shares_are_those_of_each_curve(sampling, purity, known):
    rng = np.random.default_rng(8)
    truth = rng.random(500) < 0.4
    y = np.where(truth & (rng.random(500) < 0.4), 1, -1)
    y[np.flatnonzero(~truth)[:known]] = 0
    # Rounded, so that rows tie; labelled rows above every unlabeled one.
    score = np.where(rng.random(500) < 0.02 * (y == 1), 9, np.round(rng.normal(2 * truth), 1))
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    shares = uc.Shares(0.1, purity, sampling)
    hidden = np.array([0.0, 0.1, 0.25, 0.6])
    sums = AreaSums(counts, shares)
    for metric in ("roc_auc", "lift_auc"):
        one_by_one = [
            getattr(uc.mixture_curve(counts, uc.Shares(a, purity, sampling), clean=False), metric)
            for a in hidden
        ]
        assert sums.at(metric, hidden, purity) == pytest.approx(one_by_one, rel=1e-13, abs=1e-13)
    design = design_of(counts, shares, sampling, "population")
    one_by_one = [
        unbiased_average_precision(counts, replace(design, value=share)) for share in hidden[1:]
    ]
    together = sums.at("average_precision", hidden[1:], purity)
    assert together == pytest.approx(one_by_one, rel=1e-12)
