"""Labels of different chances: enumeration, equal chances, refusals."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

import undercount as uc
from undercount.assume.propensity.chances import Chances
from undercount.errors import collect_warnings


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
    found = uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(chance), threshold=1.0)
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
    one = uc.evaluate(
        y, score, unlabeled=0, assume=uc.LabelPropensity(np.full(len(y), 0.4)), threshold=1.0
    )
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
        products += odds * found.average_precision() * found.positives
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


@pytest.mark.parametrize("name", ["log_loss", "brier_score"])
def test_losses_are_unbiased_over_all_labels_and_vary_as_said(name):
    """Enumerated: the mean over labelings, and the variance of these very rows."""
    rng = np.random.default_rng(5)
    truth, score = rng.random(300) < 0.4, rng.uniform(0.05, 0.95, 300)
    chance = np.ones(300)
    places = np.flatnonzero(truth)[:7]
    chance[places] = rng.uniform(0.3, 0.9, 7)  # the other positives are surely labelled
    loss = (-np.log(score), -np.log1p(-score)) if name == "log_loss" else None
    loss = loss or ((1 - score) ** 2, score**2)
    values, odds, squares = [], [], []
    for chosen in itertools.product([False, True], repeat=len(places)):
        y = truth.astype(int)
        y[places] = chosen
        found = Chances.of(y, score, chance, unlabeled=0)
        odds.append(np.where(chosen, chance[places], 1 - chance[places]).prod())
        values.append(found.estimate(name).value)
        squares.append((found.influence(name) / found._of_few) @ found.influence(name))
    values, odds = np.array(values), np.array(odds)
    true = np.where(truth, *loss).mean()
    assert odds @ values == pytest.approx(true, rel=1e-9)
    # Each labelled row has (1 - e) (w d)², whose mean over labelings is the variance.
    assert odds @ squares == pytest.approx(odds @ (values - true) ** 2, rel=0.01)


def test_losses_have_bounds_and_refuse_what_is_no_probability():
    truth, _, score, chance, looked = rows()
    y, p = (truth & looked).astype(int), 1 / (1 + np.exp(1.5 - 1.5 * score))
    found = uc.evaluate(y, p, unlabeled=0, assume=uc.LabelPropensity(chance))
    for name in ("log_loss", "brier_score"):
        estimate = found.estimate(name)
        assert found.recovery.chances.bounds(name, 1.0).low == pytest.approx(estimate.value)
        assert found.recovery.chances.bounds(name, 2.0).width > 0
        assert estimate.low < estimate.value < estimate.high
    with pytest.raises(uc.InputError, match="probabilities in"):
        uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(chance)).estimate(
            "brier_score"
        )


def test_a_classifier_finds_the_chances():
    truth, covariate, score, chance, looked = rows(4, n=4000)
    y = np.where(looked, truth, -1)
    found = Chances.of(y, score, LogisticRegression(), covariates=covariate, unlabeled=-1)
    assert np.corrcoef(found.chance[y == 1], chance[y == 1])[0, 1] > 0.99
    again = Chances.of(y, score, LogisticRegression(), covariates=covariate, unlabeled=-1)
    assert found.estimate("recall", 1.0) == again.estimate("recall", 1.0)
    assert found.check().level == "info"


def test_a_forest_that_gives_a_label_no_chance_is_to_be_smoothed():
    truth, covariate, score, chance, looked = rows(3)
    y = np.where(looked, truth, np.nan)
    covariates = np.c_[covariate, score]
    sharp = RandomForestClassifier(20, random_state=0)
    with pytest.raises(uc.InputError, match="gives a chance of 0 to") as refused:
        uc.evaluate(y, score, assume=uc.LabelPropensity(sharp, covariates), threshold=1.0)
    assert "min_samples_leaf" in str(refused.value)
    assert "CalibratedClassifierCV" in str(refused.value)
    assert "leave" not in str(refused.value)
    smooth = RandomForestClassifier(20, min_samples_leaf=50, random_state=0)
    found = uc.evaluate(y, score, assume=uc.LabelPropensity(smooth, covariates), threshold=1.0)
    assert found.source == "labelling chances estimated"
    flagged = score >= 1
    assert found["precision"].low <= truth[flagged].mean() <= found["precision"].high
    known = uc.evaluate(y, score, assume=uc.LabelPropensity(chance), threshold=1.0)
    assert known.source == "labelling chances given"


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
    found = uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(heavy))
    (check,) = [check for check in found.checks if check.code == "UC021"]
    assert check.level == "warn"
    assert "of all positives" in check.message


def test_refusals():
    truth, covariate, score, chance, looked = rows(8)
    y = (truth & looked).astype(int)
    with pytest.raises(uc.InputError, match="must be in"):
        uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(chance * 0))
    with pytest.raises(uc.InputError, match="found negative"):
        uc.evaluate(
            y,
            score,
            unlabeled=0,
            assume=uc.LabelPropensity(LogisticRegression(), covariates=covariate),
        )
    with pytest.raises(uc.InputError, match="needs covariates"):
        uc.evaluate(y, score, unlabeled=-1, assume=uc.LabelPropensity(LogisticRegression()))
    with pytest.raises(uc.InputError, match=r"DelayedLabels.of\(…\)"):
        uc.LabelPropensity(uc.prevalence.LateLabels())
    for scale, words in ((100, "percentages are divided by 100"), (2.5, "scaled by a known")):
        with pytest.raises(uc.InputError, match=words):
            uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(chance * scale))


def two_models(seed, n=4000):
    """A good and a poor score of the same rows, and labels that prefer a covariate."""
    truth, _, score, chance, looked = rows(seed, n)
    poor = score + np.random.default_rng(seed).normal(size=n)
    return truth, {"good": score, "poor": poor}, chance, (truth & looked).astype(int)


def test_models_differ_by_what_each_label_adds():
    _, models, chance, y = two_models(9)
    ask = {"unlabeled": 0, "threshold": 1.0}
    found = uc.compare(y, models, assume=uc.LabelPropensity(chance), question="rows", **ask)
    # The precision of a model is Σ 1/e over the labels it flags, over what it flags (Horvitz and
    # Thompson), so that a label of chance e adds (1 - e)/e² times the square of its difference.
    adds = sum(
        sign * (y * (score >= 1) / chance) / np.count_nonzero(score >= 1)
        for sign, score in zip((1, -1), models.values(), strict=True)
    )
    gap = found.difference("precision").difference
    assert gap.value == pytest.approx(adds.sum())
    assert gap.standard_error == pytest.approx(np.sqrt((1 - chance) @ adds**2), rel=0.02)
    alone = [
        uc.evaluate(y, s, assume=uc.LabelPropensity(chance), **ask)["recall"].value
        for s in models.values()
    ]
    assert found.difference("recall").difference.value == pytest.approx(alone[0] - alone[1])
    same = uc.compare(
        y,
        {"a": models["good"], "b": models["good"]},
        assume=uc.LabelPropensity(chance),
        unlabeled=0,
    )
    assert same.difference("roc_auc").p_value == 1
    assert "chances of a label tell the order" in str(found)
    with pytest.raises(uc.InputError, match="not free to move"):
        found.across_shares("f1")


def test_models_of_equal_chances_differ_as_by_a_label_frequency():
    truth, models, _, _ = two_models(10)
    y = (truth & (np.random.default_rng(1).random(len(truth)) < 0.4)).astype(int)
    ask = {"unlabeled": 0, "threshold": 1.0}
    one = uc.compare(y, models, assume=uc.LabelPropensity(np.full(len(y), 0.4)), **ask)
    other = uc.compare(y, models, label_frequency=0.4, **ask)
    for metric in ("recall", "precision", "f1", "roc_auc"):
        a, b = one.difference(metric).difference, other.difference(metric).difference
        assert a.value == pytest.approx(b.value, abs=1e-9)
        assert a.standard_error == pytest.approx(b.standard_error, rel=0.05)


def test_a_classifier_finds_the_chances_of_all_models_once():
    truth, covariate, score, _, looked = rows(11)
    y, names = np.where(looked, truth, -1), {"a": score, "b": score + covariate}
    model = LogisticRegression()
    found = uc.compare(
        y, names, unlabeled=-1, assume=uc.LabelPropensity(model, covariates=covariate)
    )
    alone = uc.evaluate(
        y, names["b"], unlabeled=-1, assume=uc.LabelPropensity(model, covariates=covariate)
    )
    assert found["b"]["roc_auc"] == alone["roc_auc"]
    frame = pd.DataFrame({"y": y, "a": score, "b": score + covariate, "e": 0.4})
    by_name = uc.compare(frame, ["a", "b"], label="y", unlabeled=-1, assume=uc.LabelPropensity("e"))
    assert by_name.first.basis.determined_by == "labelling chances"
    with pytest.raises(uc.InputError, match="LabelPropensity with a classifier"):
        uc.compare(y, names, unlabeled=-1, assume=uc.RandomLabels(covariates=covariate))


def test_another_prevalence_has_the_rates_of_these_chances():
    truth, _, score, chance, looked = rows(12, 4000)
    y, ask = (truth & looked).astype(int), {"unlabeled": 0, "threshold": 1.0}
    found = uc.evaluate(y, score, assume=uc.LabelPropensity(chance), **ask)
    here = {row.metric: row.estimate for row in found.deployed(found.prevalence)}
    for metric in ("recall", "precision", "f1", "roc_auc"):
        assert here[metric].value == pytest.approx(found[metric].value)
    assert here["precision"].needs == ("labelling chances", "same rates there", "right labels")
    there = {row.metric: row.estimate for row in found.deployed(0.02)}
    tpr, fpr = (found.point(1.0).tpr, found.point(1.0).fpr)
    assert there["precision"].value == pytest.approx(0.02 * tpr / (0.02 * tpr + 0.98 * fpr))


@pytest.mark.parametrize("there", [0.03, 0.2])
def test_equal_chances_at_another_prevalence_are_a_label_frequency(there):
    truth, _, score, _, _ = rows(13, 4000)
    y = (truth & (np.random.default_rng(1).random(len(truth)) < 0.4)).astype(int)
    ask = {"unlabeled": 0, "threshold": 1.0, "deploy_prevalence": there}
    one = uc.evaluate(y, score, assume=uc.LabelPropensity(np.full(len(y), 0.4)), **ask)
    other = uc.evaluate(y, score, label_frequency=0.4, **ask)
    for a, b in zip(one.deployed(), other.deployed(), strict=True):
        average = a.metric == "average_precision"
        assert a.estimate.value == pytest.approx(b.estimate.value, rel=0.02 if average else 1e-9)
        # Where positives are rare, average precision hangs on the few false positives above most
        # labels, and the two count labelled rows among them differently.
        if there > 0.1 or not average:
            assert a.estimate.standard_error == pytest.approx(b.estimate.standard_error, rel=0.06)


def test_the_report_of_chances_has_their_numbers_and_no_script(tmp_path):
    truth, _, score, chance, looked = rows(14)
    y = (truth & looked).astype(int)
    found = uc.evaluate(
        y, score, unlabeled=0, assume=uc.LabelPropensity(chance), threshold=1.0, name="<b>"
    )
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    bounds = found.recovery.chances.bounds("precision", 1.5, 1.0)
    for words in (
        f"{found['precision'].value:.3f} ({found['precision'].low:.3f}",
        f"{bounds.low:.3f} – {bounds.high:.3f}",
        "if the chances of a label are right",
        "UC021",
        "<svg",
        "&lt;b&gt;",
    ):
        assert words in page
    assert "<script" not in page
    assert "<b>&lt;" not in page
    assert "&lt;svg" in found._repr_html_()  # the same, inside a frame


def test_the_best_threshold_is_that_of_all_positives():
    # Labels prefer high scores, so that those of labelled rows alone would put it higher.
    rng = np.random.default_rng(15)
    truth = rng.random(20_000) < 0.2
    score = rng.normal(2.0 * truth)
    chance = np.maximum(1 / (1 + np.exp(1.5 - 1.5 * score)), 0.02)
    y = (truth & (rng.random(20_000) < chance)).astype(int)
    found = uc.evaluate(y, score, unlabeled=0, assume=uc.LabelPropensity(chance), threshold=1.0)
    best = found.best_threshold("f1")
    cuts = np.linspace(0, 3, 301)
    flagged = score[:, None] >= cuts
    f1 = 2 * (flagged & truth[:, None]).sum(axis=0) / (flagged.sum(axis=0) + truth.sum())
    assert f1[np.argmin(np.abs(cuts - best.threshold))] > f1.max() - 0.01
    assert best.gain.needs == ("labelling chances",)
    for ask in (found.calibrated_threshold, lambda: found.bounds):
        with pytest.raises(uc.InputError, match="chance of its own"):
            ask()


@pytest.mark.parametrize("target", ["dataset", "population"])
def test_what_rows_add_to_average_precision_is_its_derivative(target):
    truth, _, score, chance, looked = rows(16, 120)
    y, score = (truth & looked).astype(int), np.round(score, 1)  # with ties
    found = Chances.of(y, score, chance, unlabeled=0, target=target)
    labelled = np.flatnonzero(y)

    def average_precision(weight, copies):
        above = score[labelled] >= score[labelled, None]
        np.fill_diagonal(above, val=False)
        flagged = (score >= score[labelled, None]) @ copies
        return weight @ ((1 + above @ weight) / flagged) / weight.sum()

    weight, step, ones = 1 / chance[labelled], 1e-6, np.ones(len(score))
    value = average_precision(weight, ones)
    with collect_warnings():  # of few labels
        assert value == pytest.approx(found.estimate("average_precision").value)
    slope = np.zeros(len(score))
    for place, row in enumerate(labelled):
        moved = weight.copy()
        moved[place] += step
        slope[row] = weight[place] * (average_precision(moved, ones) - value) / step
    if target == "dataset":
        slope *= np.sqrt(1 - chance)
    else:
        for row in range(len(score)):
            more = ones.copy()
            more[row] += step
            slope[row] += (average_precision(weight, more) - value) / step
    factor = np.sqrt(len(labelled) / (len(labelled) - 1))
    np.testing.assert_allclose(found.influence("average_precision"), slope * factor, atol=1e-6)
