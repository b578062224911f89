"""Labels of different chances: enumeration, equal chances, refusals."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

import undercount as uc
from undercount.read.chances import Chances


def rows(seed=0, n=1500, slope=1.0):
    """Labels that prefer some values of a covariate, which goes with the score."""
    rng = np.random.default_rng(seed)
    truth, covariate = rng.random(n) < 0.25, rng.normal(size=n)
    score = 1.5 * truth + 0.5 * covariate + rng.normal(size=n)
    chance = 1 / (1 + np.exp(0.8 - slope * covariate))
    looked = rng.random(n) < chance
    return truth, covariate, score, chance, looked


def test_values_are_those_of_the_curve():
    truth, _, score, chance, looked = rows()
    y = (truth & looked).astype(int)
    curve = uc.propensity_curve(y, score, chance, unlabeled=0)
    found = uc.evaluate(y, score, unlabeled=0, propensity=chance, threshold=1.0)
    at = curve.at(found.curve.threshold[np.searchsorted(-found.curve.threshold, -1.0)])
    assert found.prevalence == pytest.approx(curve.prevalence)
    assert found.estimate("roc_auc").value == pytest.approx(curve.roc_auc)
    assert found.estimate("recall", 1.0).value == pytest.approx(
        (truth & looked & (score >= 1)) @ (1 / chance) / ((truth & looked) @ (1 / chance))
    )
    assert 0 <= at.fpr <= 1


def test_equal_chances_are_a_label_frequency():
    truth, _, score, _, _ = rows()
    y = (truth & (np.random.default_rng(1).random(len(truth)) < 0.4)).astype(int)
    one = uc.evaluate(y, score, unlabeled=0, propensity=np.full(len(y), 0.4), threshold=1.0)
    other = uc.evaluate(y, score, unlabeled=0, label_frequency=0.4, threshold=1.0)
    for a, b in zip(one.rows, other.rows, strict=True):
        # There the number of labels is held fast in average precision, whose variance is another.
        near = a.metric == "average_precision"
        assert a.estimate.value == pytest.approx(b.estimate.value, rel=0.01 if near else 1e-9)
        if not near:
            assert a.estimate.standard_error == pytest.approx(b.estimate.standard_error, rel=0.03)


def test_average_precision_and_positives_are_unbiased_over_all_labels():
    rng = np.random.default_rng(2)
    truth = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0], bool)
    score = np.array([9, 8, 8, 7, 6, 5, 5, 4, 3, 2, 1, 0.0])
    chance = rng.uniform(0.3, 0.9, 12)
    places = np.flatnonzero(truth)
    products, positives = 0.0, 0.0
    for chosen in itertools.product([False, True], repeat=len(places)):
        labelled = places[np.array(chosen)]
        odds = np.where(chosen, chance[places], 1 - chance[places]).prod()
        y = np.zeros(12)
        y[labelled] = 1
        if not any(chosen):
            continue
        found = Chances.__new__(Chances)  # few labels may stand for more positives than rows
        for name, value in (("labels", np.where(y == 1, 1, -1)), ("score", score)):
            object.__setattr__(found, name, value)
        object.__setattr__(found, "chance", np.where(y == 1, chance, np.nan))
        products += odds * found._average_precision() * found.positives
        positives += odds * found.positives
    assert positives == pytest.approx(truth.sum())
    assert products / positives == pytest.approx(average_precision_score(truth, score))


def test_variance_is_that_over_all_labels():
    """Precision is a straight sum over labels: its variance, by drawing them again."""
    truth, _, score, chance, _ = rows(3, n=4000)
    rng = np.random.default_rng(0)
    drawn = truth & (rng.random((400, len(truth))) < chance)
    values = (drawn * (score >= 1)) @ (1 / chance) / np.count_nonzero(score >= 1)
    found = [
        Chances.of(y.astype(int), score, chance, unlabeled=0).estimate("precision", 1.0)
        for y in drawn[:20]
    ]
    mean = np.mean([estimate.standard_error**2 for estimate in found]) ** 0.5
    assert mean == pytest.approx(values.std(), rel=0.1)


def test_a_classifier_finds_the_chances():
    truth, covariate, score, chance, looked = rows(4, n=4000)
    y = np.where(looked, truth, -1)
    found = Chances.of(y, score, LogisticRegression(), covariates=covariate, unlabeled=-1)
    assert np.corrcoef(found.chance[y == 1], chance[y == 1])[0, 1] > 0.99
    again = Chances.of(y, score, LogisticRegression(), covariates=covariate, unlabeled=-1)
    assert found.estimate("recall", 1.0) == again.estimate("recall", 1.0)
    assert found.check().level == "info"


def test_groups_of_one_chance_have_that_frequency():
    truth, covariate, score, _, _ = rows(5)
    chance = np.where(covariate > 0, 0.6, 0.2)
    y = (truth & (np.random.default_rng(0).random(len(truth)) < chance)).astype(int)
    found = Chances.of(y, score, chance, unlabeled=0).label_frequencies(covariate > 0)
    assert found[True].value == pytest.approx(0.6)
    assert found[False].value == pytest.approx(0.2)
    assert found[True].low < (y[truth & (covariate > 0)]).mean() < found[True].high


def test_bounds_nest_and_start_at_the_value():
    truth, _, score, chance, looked = rows(6, n=500)
    found = Chances.of((truth & looked).astype(int), score, chance, unlabeled=0)
    for metric, place in (("recall", 1.0), ("precision", 1.0), ("roc_auc", None)):
        exact, near, far = (found.bounds(metric, gamma, place) for gamma in (1.0, 1.5, 3.0))
        assert exact.width == pytest.approx(0, abs=1e-9)
        assert exact.low == pytest.approx(found.estimate(metric, place).value)
        assert far.low < near.low < exact.low < near.high <= far.high
    breaks = found.break_even("precision", 0.3, 1.0).odds_ratio
    assert 1 < breaks < 1000


def test_a_heavy_label_is_said():
    truth, _, score, chance, looked = rows(7)
    y = (truth & looked).astype(int)
    heavy = chance.copy()
    heavy[np.flatnonzero(y)[0]] = 0.01
    found = uc.evaluate(y, score, unlabeled=0, propensity=heavy)
    (check,) = [check for check in found.checks if check.code == "UC021"]
    assert check.level == "warn"
    assert "of all positives" in check.message


def test_refusals():
    truth, covariate, score, chance, looked = rows(8)
    y = (truth & looked).astype(int)
    cases = {
        "leave out prevalence": {"prevalence": 0.2},
        "leave out cluster": {"cluster": covariate},
        "leave out sampling": {"sampling": "case-control"},
        "leave out label_purity": {"label_purity": 0.9},
        "leave out sample_weight": {"sample_weight": chance},
    }
    for message, options in cases.items():
        with pytest.raises(uc.InputError, match=message):
            uc.evaluate(y, score, unlabeled=0, propensity=chance, **options)
    with pytest.raises(uc.InputError, match="must be in"):
        uc.evaluate(y, score, unlabeled=0, propensity=chance * 0)
    with pytest.raises(uc.InputError, match="found negative"):
        uc.evaluate(y, score, unlabeled=0, propensity=LogisticRegression(), covariates=covariate)
    with pytest.raises(uc.InputError, match="needs covariates"):
        uc.evaluate(y, score, unlabeled=-1, propensity=LogisticRegression())
    with pytest.raises(uc.InputError, match="compare takes no propensity"):
        uc.compare(y, {"a": score, "b": -score}, unlabeled=0, propensity=chance)
