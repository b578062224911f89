"""Rows that somebody chose to look at, asked what every assumption is asked."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr
from tests.assume.selection.fitting import Selected

import undercount as uc
from undercount.assume.selection.recovery import possible_estimate
from undercount.errors import MISSING_DATA, NOT_IDENTIFIED
from undercount.infer.metric_at import MetricAt

THRESHOLD = 0.55


def draw(n=600, seed=0):
    """Return scores that are chances, another score, the classes of rows looked at, a column."""
    rng = np.random.default_rng(seed)
    latent, other, noise, chance = rng.standard_normal((4, n))
    column = (rng.random(n) < 0.5).astype(float)
    truth = latent + 0.4 * column + noise > 0.2
    looked = ndtr(0.5 * latent + 0.6 * column - 0.2) > ndtr(chance)
    return ndtr(latent), ndtr(0.6 * latent + 0.8 * other), np.where(looked, truth, np.nan), column


@pytest.fixture(scope="module")
def rows():
    return draw()


@pytest.fixture(scope="module")
def evaluation(rows):
    score, _, y, _ = rows
    return uc.evaluate(y, score, assume=uc.SelectedLabels("own-score"), threshold=THRESHOLD)


@pytest.fixture(scope="module")
def chance(evaluation):
    """The fitted chance of each row, by its score."""
    sample = evaluation.recovery.model.sample
    by_cell = np.zeros(len(sample.counts.score))
    by_cell[sample.cell] = evaluation.recovery.model.fit.model.masses().positive
    return by_cell[::-1]


def test_metrics_are_those_of_expected_classes(rows, evaluation, chance):
    score = np.sort(rows[0])
    flagged = score >= THRESHOLD
    assert evaluation["precision"].value == pytest.approx(chance[flagged].mean())
    assert evaluation.prevalence == pytest.approx(chance.mean())
    loss = -(chance * np.log(score) + (1 - chance) * np.log(1 - score)).mean()
    assert evaluation.estimate("log_loss").value == pytest.approx(loss)
    cost = (chance[~flagged].sum() * 9 + (1 - chance)[flagged].sum() * 2) / len(score)
    assert evaluation.cost(false_positive=2, false_negative=9).value == pytest.approx(cost)
    top = evaluation.at(top=50)
    assert [row.estimate.value for row in top[:2]] == pytest.approx(
        [chance[-50:].mean(), chance[-50:].sum() / chance.sum()]
    )


def test_elsewhere_rates_are_the_same(evaluation):
    point = evaluation.point(THRESHOLD)
    there = {row.metric: row.estimate for row in evaluation.deployed(0.1)}
    expected = 0.1 * point.tpr / (0.1 * point.tpr + 0.9 * point.fpr)
    assert there["precision"].value == pytest.approx(expected)
    assert there["recall"].value == pytest.approx(point.tpr)
    assert there["roc_auc"].interval == pytest.approx(evaluation["roc_auc"].interval)
    assert "same rates there" in there["precision"].needs


def test_the_naive_values_are_those_of_the_rows_looked_at(rows, evaluation):
    score, _, y, _ = rows
    looked = np.isfinite(y)
    flagged = (score >= THRESHOLD) & looked
    naive = {row.metric: row.naive for row in evaluation.rows}
    assert naive["precision"] == pytest.approx(y[flagged].mean())
    assert naive["recall"] == pytest.approx(y[flagged].sum() / y[looked].sum())
    assert naive["roc_auc"] == pytest.approx(evaluation.naive_curve.roc_auc)
    assert "rows looked at" in str(evaluation)
    assert "unlabeled = negative" not in str(evaluation)
    assert "rows looked at" in evaluation.to_markdown()


@pytest.mark.parametrize("method", ["own-score", "begg-greenes", "ipw", "doubly-robust"])
def test_a_weight_of_two_has_the_values_of_two_rows(rows, method):
    score, _, y, _ = rows
    twice = np.arange(len(score)) % 3 == 0
    weighted, repeated = (
        uc.evaluate(labels, scores, assume=uc.SelectedLabels(method), threshold=0.5, **more)
        for labels, scores, more in (
            (y, score, {"sample_weight": np.where(twice, 5.0, 2.5)}),
            (np.append(y, y[twice]), np.append(score, score[twice]), {}),
        )
    )
    values = [[row.estimate.value for row in each.rows] for each in (weighted, repeated)]
    assert values[0] == pytest.approx(values[1], abs=1e-7)
    # Some rows matter more, and none is two.
    assert weighted["roc_auc"].standard_error > repeated["roc_auc"].standard_error


@pytest.mark.parametrize("method", ["own-score", "ipw"])
def test_clusters_have_the_error_of_resampled_clusters(method):
    rng = np.random.default_rng(1)
    cluster = np.arange(900) // 6
    shared = rng.standard_normal(150)[cluster]
    latent = 0.8 * shared + 0.6 * rng.standard_normal(900)
    truth = latent + 0.8 * shared + 0.6 * rng.standard_normal(900) > 0.3
    y = np.where(rng.random(900) < ndtr(0.4 * latent), truth, np.nan)
    labels = uc.SelectedLabels(method, n_resamples=150)
    found = uc.evaluate(y, latent, assume=labels, threshold=0.5, cluster=cluster)
    model, at = found.recovery.model, MetricAt("recall", 0.5)
    boot = model.estimate(at, "bootstrap")
    reader = model.fit.reader()
    assert boot.standard_error == pytest.approx(reader.found_variance(at) ** 0.5, rel=0.25)
    alone = uc.evaluate(y, latent, assume=labels, threshold=0.5)["recall"]
    assert found["recall"].standard_error > 1.1 * alone.standard_error
    assert found["recall"].value == pytest.approx(alone.value)


@pytest.mark.parametrize("method", ["own-score", "begg-greenes"])
def test_a_difference_has_the_error_of_models_fitted_to_the_same_resamples(rows, method):
    score, other, y, _ = rows
    models = {"one": score, "other": other}
    labels = uc.SelectedLabels(method, n_resamples=150)
    comparison = uc.compare(y, models, assume=labels, threshold=THRESHOLD)
    recoveries = [comparison[name].recovery for name in models]
    for metric, threshold in (("roc_auc", None), ("precision", THRESHOLD)):
        at = MetricAt(metric, threshold)
        drawn = [
            np.array([fit.reader().value(at) for fit in recovery.model.drawn])
            for recovery in recoveries
        ]
        error = comparison.difference(metric).difference.standard_error
        assert error == pytest.approx(np.std(drawn[0] - drawn[1]), rel=0.25)


def test_compared_models_are_judged_by_the_same_classes(rows):
    score, other, y, _ = rows
    # On the likeliest scales the models differ by which of them is asked first.
    labels = uc.SelectedLabels(scale="probit")
    comparison = uc.compare(y, {"one": score, "other": other}, assume=labels)
    one, second = (comparison[name].recovery for name in ("one", "other"))
    assert one.prevalence == pytest.approx(second.prevalence, abs=1e-6)
    assert list(one.model.coefficients)[1:] == ["outcome: score", "outcome: other"]
    again = {"one": score, "copy": score**2, "other": other, "mean": score / 2 + other / 2}
    found = uc.compare(y, again, assume=uc.SelectedLabels(scale="score"))
    assert list(found["one"].recovery.model.coefficients) == [
        "outcome: intercept",
        "outcome: score",
        "outcome: other",
    ]


@pytest.mark.parametrize(
    ("method", "chooser", "words"),
    [
        ("own-score", None, "chosen by the compared scores alone"),
        ("observed-score", "other", "chosen by the compared scores alone"),
        ("observed-score", "third", "chosen by the compared and the selection scores alone"),
        ("begg-greenes", None, "chosen by the compared scores alone"),
        ("begg-greenes", "third", "chosen by the columns and the compared scores alone"),
    ],
)
def test_a_comparison_says_once_that_any_compared_score_may_have_chosen(
    rows, method, chooser, words
):
    score, other, y, _ = rows
    third = np.random.default_rng(5).normal(score)
    columns = {None: None, "other": other, "third": third}
    labels = uc.SelectedLabels(method, selection_score=columns[chooser])
    comparison = uc.compare(y, {"one": score, "other": other}, assume=labels, metrics=["roc_auc"])
    assert [need for need in comparison.needs if "chosen" in need] == [words]
    for evaluation in comparison.evaluations.values():
        assert [need for need in evaluation["roc_auc"].needs if "chosen" in need] == [words]
        # Any of the models, or several, may have chosen: no cutoff on one score is supposed.
        assert "selection-rule" not in {check.code for check in evaluation.checks}


def test_the_order_of_models_rests_on_what_chose_the_rows_and_on_no_fair_labels(rows, tmp_path):
    score, other, y, _ = rows
    comparison = uc.compare(y, {"one": score, "other": other}, assume=uc.SelectedLabels())
    sentence = "If nothing else chose the rows looked at, they tell the order"
    comparison.to_html(tmp_path / "comparison.html")
    for output in (str(comparison), (tmp_path / "comparison.html").read_text()):
        words = " ".join(output.split())
        assert sentence in words
        assert "fair sample" not in words
        assert "whatever the prevalence" not in words


def test_the_model_that_chose_needs_no_other_score(rows):
    score, other, y, _ = rows
    labels = uc.SelectedLabels("observed-score", selection_score=score)
    chooser, judged = (uc.evaluate(y, s, assume=labels).recovery for s in (score, other))
    assert chooser.model.method == "own-score"
    assert judged.model.method == "observed-score"


def test_where_something_unseen_chose_differences_and_clusters_are_resampled():
    score, other, y, column = draw(400, seed=3)
    labels = uc.SelectedLabels("unobserved", features=column, n_resamples=20)
    found = uc.compare(y, {"one": score, "other": other}, assume=labels, metrics=["roc_auc"])
    gap = found.difference("roc_auc").difference
    values = [found[name]["roc_auc"].value for name in ("one", "other")]
    assert gap.value == pytest.approx(values[0] - values[1])
    assert gap.low < gap.value < gap.high
    clustered = uc.evaluate(y, score, assume=labels, cluster=np.arange(400) // 2)
    assert clustered["roc_auc"].method == "bootstrap"
    assert clustered["roc_auc"].low < clustered["roc_auc"].value < clustered["roc_auc"].high


def test_of_these_rows_nothing_but_unseen_classes_is_open(rows):
    score, _, y, _ = rows
    truth = np.where(np.isnan(y), 0.0, y)
    nearly = truth.copy()
    nearly[:4] = np.nan
    labels = uc.SelectedLabels("begg-greenes")
    errors = {
        target: uc.evaluate(nearly, score, assume=labels, target=target)["lift_auc"].standard_error
        for target in ("dataset", "population")
    }
    # The classes of four rows of 600 are open: each moves a share by 1/600, by a chance below ½.
    assert errors["dataset"] < 0.5 * 2 / 600 < errors["population"]


def test_segments_are_fitted_by_themselves(rows):
    score, _, y, column = rows
    labels = uc.SelectedLabels("doubly-robust", features=column)
    segment = np.where(np.arange(600) % 2, "a", "b")
    found = uc.evaluate(y, score, assume=labels, by=segment, threshold=THRESHOLD)
    own = segment == "a"
    alone = uc.evaluate(
        y[own], score[own], threshold=THRESHOLD,
        assume=uc.SelectedLabels("doubly-robust", features=column[own]),
    )  # fmt: skip
    assert found["a"]["recall"] == alone["recall"]


def test_a_segment_that_cannot_be_fitted_says_so_in_its_line(rows):
    score, _, y, _ = rows
    lone = (np.arange(600) < 40) & (np.nan_to_num(y, nan=1.0) == 1)
    segment = np.where(lone, "only positives", "others")
    found = uc.evaluate(y, score, assume=uc.SelectedLabels(), by=segment, threshold=THRESHOLD)
    notes = {row.segment: row.note for row in found.rows}
    assert "both classes" in notes["only positives"]
    assert found.estimates("recall")["others"].value > 0
    with pytest.raises(uc.InputError, match="both classes"):
        found["only positives"]


def test_columns_may_be_named(rows):
    score, other, y, column = rows
    frame = pl.DataFrame({"y": y, "s": score, "b": other, "x": column}).with_columns(
        pl.col("y").fill_nan(None)
    )
    named = uc.SelectedLabels("doubly-robust", selection_score="b", features=["x"])
    given = uc.SelectedLabels("doubly-robust", selection_score=other, features=column)
    found = uc.evaluate(frame, "s", label="y", assume=named)
    assert found["roc_auc"] == uc.evaluate(y, score, assume=given)["roc_auc"]
    assert "outcome: x" in found.recovery.model.coefficients


def test_what_has_no_answer_is_refused(rows, evaluation):
    score, _, y, column = rows
    counts = uc.ScoreCounts.from_rows(y, score)
    questions = {
        NOT_IDENTIFIED: [
            lambda: evaluation.bounds,
            lambda: evaluation.sweep("precision"),
            lambda: evaluation.break_even("precision", 0.5),
            lambda: evaluation.bias_bounds(2),
            lambda: evaluation.recovery.moved(0.2),
        ],
        MISSING_DATA: [
            lambda: uc.evaluate(counts, assume=uc.SelectedLabels("ipw", features=column)),
            lambda: uc.make_scorer("roc_auc", assume=uc.SelectedLabels("ipw", features=column)),
            lambda: uc.evaluate(
                uc.ScoreCounts.from_rows(y, score, compact=True), assume=uc.SelectedLabels()
            ),
        ],
    }
    for code, asked in questions.items():
        for ask in asked:
            with pytest.raises(uc.InputError) as caught:
                ask()
            assert caught.value.code == code


def test_the_best_threshold_is_the_best_of_its_curve(evaluation):
    best = evaluation.best_threshold("f1", over=0.9)
    curve = evaluation.curve
    assert best.f1 == pytest.approx(np.nanmax(curve.f1[1:]))
    raw = best.f1 - curve.at(0.9).f1
    assert best.gain.low < best.gain.value <= raw  # searching flatters
    with pytest.raises(uc.InputError, match=r"no threshold reaches precision >= 1\.1"):
        evaluation.best_threshold("f1", at_least={"precision": 1.1})


def test_a_normal_curve_answers_every_metric(rows):
    score, _, y, _ = rows
    for distribution in ("normal", "copula"):
        labels = uc.SelectedLabels(distribution=distribution)
        found = uc.evaluate(y, score, assume=labels, threshold=THRESHOLD, deploy_prevalence=0.1)
        for row in (*found.rows, *found.at(top=60), *found.deployed()):
            assert row.estimate.low < row.estimate.value < row.estimate.high
        point = found.point(THRESHOLD)
        there = {row.metric: row.estimate for row in found.deployed()}
        expected = 0.1 * point.tpr / (0.1 * point.tpr + 0.9 * point.fpr)
        assert there["precision"].value == pytest.approx(expected, abs=2e-3)


def test_resamples_too_thin_to_fit_are_said(rows):
    score, _, y, _ = rows
    order = np.argsort(score)
    few = np.full(len(y), np.nan)
    few[order[::100]] = [0, 0, 1, 0, 1, 1]  # apart, but for two
    model = replace(Selected("begg-greenes").fit(score, few), n_resamples=40)
    with pytest.raises(uc.InputError, match="too few labels for a bootstrap"):
        model.estimate(MetricAt("roc_auc"), "bootstrap")


def test_a_value_beyond_what_is_possible_is_said_and_taken_for_the_end():
    beyond = uc.Estimate(1.006, 0.1, 1.0061, 0.4)
    with pytest.warns(uc.MisfitWarning, match=r"would be 1\.006 by the rows looked at"):
        found = possible_estimate(beyond, "precision")
    assert (found.value, found.low, found.high) == (1.0, 0.1, 1.0)
    within = uc.Estimate(0.9, 0.8, 1.2, 0.1)
    assert possible_estimate(within, "precision").high == 1.0
    assert possible_estimate(within, "lift") == within


def rows_verified_above(cut, n=2000):
    """Return scores and classes of rows of which all above a cut were looked at, few below."""
    latent, noise, chance = np.random.default_rng(0).standard_normal((3, n))
    looked = (latent >= cut) | (chance < latent - 1)
    return latent, np.where(looked, 1.2 * latent + noise > 0.8, np.nan)


@pytest.mark.parametrize("threshold", [1.2, 1.6])
def test_of_flagged_rows_that_were_all_looked_at_as_many_are_real_as_labels_say(threshold):
    score, y = rows_verified_above(1.0)
    flagged = y[score >= threshold]
    real, alarms = int(flagged.sum()), int((flagged == 0).sum())
    labels = uc.SelectedLabels("own-score")
    printed = str(uc.evaluate(y, score, assume=labels, threshold=threshold))
    expected = f"{real} real, {real} of them already known, {alarms} known to be negative"
    assert f" · {expected}" in " ".join(printed.split())
    of_rows = uc.evaluate(y, score, assume=labels, threshold=threshold, target="dataset")
    estimate = of_rows["precision"]
    exact = real / len(flagged)
    assert [estimate.value, estimate.low, estimate.high] == pytest.approx([exact] * 3)


def test_the_real_ones_of_flagged_rows_lie_between_what_labels_allow():
    score, y = rows_verified_above(1.0)
    flagged = y[score >= 0.9]
    least, most = (flagged == 1).sum(), (flagged != 0).sum()
    labels = uc.SelectedLabels("own-score")
    printed = str(uc.evaluate(y, score, assume=labels, threshold=0.9))
    words = re.search(r"about ([\d,]+) real \(([\d,]+) – ([\d,]+)\)", printed)
    value, low, high = (int(word.replace(",", "")) for word in words.groups())
    assert least <= low <= value <= high <= most


def test_pictures_and_pages_say_what_the_naive_numbers_and_the_labels_are(rows, tmp_path):
    score, _, y, _ = rows
    labels = uc.SelectedLabels("own-score")
    display = uc.displays.RocDisplay.from_predictions(y, score, assume=labels)
    axes = display.plot()
    assert "rows looked at" in [line.get_label() for line in axes.get_lines()]
    assert "unlabeled = negative" not in [line.get_label() for line in axes.get_lines()]
    uc.evaluate(y, score, assume=labels).to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "labelled positive; labels exist only where somebody looked" in page
    assert "unlabeled = negative" not in page.split("</style>")[1]
