import math
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.read.assumption_cases import CUT, DETERMINED, FREE, NAMES, evaluate
from tests.read.assumption_cases import rows as assumption_rows

import undercount as uc
from undercount.errors import collect_warnings

mpl.use("Agg")
DISPLAYS = [
    uc.displays.RocDisplay,
    uc.displays.PrecisionRecallDisplay,
    uc.displays.LiftDisplay,
    uc.displays.SensitivityDisplay,
    uc.displays.HistogramDisplay,
    uc.displays.CalibrationDisplay,
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    truth = rng.random(6000) < 0.3
    features = rng.normal(truth[:, None], 1.0, (6000, 2))
    log_odds = features.sum(axis=1) - 1 + np.log(0.3 / 0.7)
    probability = 1 / (1 + np.exp(-log_odds))
    y = np.where(truth & (rng.random(6000) < 0.4), 1, -1)
    return features, probability, y, truth


@pytest.mark.parametrize("display", DISPLAYS)
def test_every_display_is_made_in_three_ways_and_drawn(display, rows):
    features, probability, y, truth = rows
    counts = uc.ScoreCounts.from_rows(y, probability, unlabeled=-1)
    made = [
        display.from_counts(counts, uc.Shares.from_prevalence(counts, 0.3)),
        display.from_predictions(y, probability, unlabeled=-1, prevalence=0.3, truth=truth),
        display.from_estimator(LogisticRegression().fit(features, y), features, y, prevalence=0.3),
    ]
    assert made[2].name == "LogisticRegression"
    for one in made:
        columns = one.frame()
        assert len({len(column) for column in columns.values()}) == 1
        axes = one.plot()
        assert axes.get_xlabel()
        assert axes.get_legend() is not None
        plt.close(axes.figure)


def test_plot_draws_on_given_axes(rows):
    _, probability, y, _ = rows
    figure, axes = plt.subplots()
    display = uc.displays.RocDisplay.from_predictions(y, probability, unlabeled=-1, prevalence=0.3)
    assert display.plot(axes) is axes
    plt.close(figure)


def test_calibration_of_true_probabilities_is_the_diagonal(rows):
    _, probability, y, truth = rows
    display = uc.displays.CalibrationDisplay.from_predictions(
        y, probability, unlabeled=-1, prevalence=truth.mean()
    )
    columns = display.frame()
    np.testing.assert_allclose(columns["positive_share"], columns["score"], atol=0.08)


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        # Of the rows with score 0.8 those known to be positive, by hand: 60 + 45 of 145 in a
        # single sample, 45 of the 80 unlabeled ones in case-control; 20 + 15 of 165 below.
        ("single-sample", [105 / 145, 35 / 165]),
        ("case-control", [45 / 80, 15 / 120]),
    ],
)
def test_calibration_of_impure_labels(sampling, expected):
    # 100 labelled rows: 80 positives, of whom 3/4 score high, 20 negatives, of whom 1/4 do;
    # 200 unlabeled rows: 60 positives and 140 negatives alike; 10 known negatives score low.
    counts = uc.ScoreCounts.from_counts([0.8, 0.2], [60 + 5, 20 + 15], [0, 10], [45 + 35, 15 + 105])
    display = uc.displays.CalibrationDisplay.from_counts(counts, uc.Shares(0.3, 0.8, sampling))
    assert display.frame()["positive_share"] == pytest.approx(expected, abs=1e-12)
    assert display.frame()["score"] == pytest.approx([0.8, 0.2], abs=1e-12)


def test_intervals_of_calibration_are_wilsons_of_the_labelled_share_over_the_frequency():
    # Two groups of 100 rows, 30 and 10 of them labelled; half of the positives carry a label.
    counts = uc.ScoreCounts.from_counts([0.8, 0.2], [30, 10], [0, 0], [70, 90])
    display = uc.displays.CalibrationDisplay.from_counts(
        counts, uc.Shares.from_positives(counts, 80)
    )
    columns = display.frame()
    assert columns["positive_share"] == pytest.approx([0.6, 0.2], abs=1e-12)
    for k, (low, high) in enumerate(zip(columns["low"], columns["high"], strict=True)):
        for end in (low, high):  # Wilson: 1.96 of its own standard errors away
            share, seen = end / 2, (30, 10)[k] / 100
            assert abs(seen - share) == pytest.approx(
                1.959964 * (share * (1 - share) / 100) ** 0.5, abs=1e-6
            )


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
def test_an_uncertain_share_widens_calibration(sampling):
    counts = uc.ScoreCounts.from_counts([0.8, 0.2], [30, 10], [0, 0], [70, 90])
    widths = []
    for share in (0.25, (0.15, 0.35)):
        shares = uc.Shares(share, sampling=sampling)
        columns = uc.displays.CalibrationDisplay.from_counts(counts, shares).frame()
        assert (columns["low"] < columns["positive_share"]).all()
        assert (columns["high"] > columns["positive_share"]).all()
        widths.append(columns["high"] - columns["low"])
    assert (widths[1] > widths[0]).all()


@pytest.mark.parametrize("display", DISPLAYS[:3])
def test_bands_hold_the_truth_at_an_uncertain_share(display, rows):
    # The share taken is one standard error too low; at that share alone bands leave the truth out.
    _, probability, y, truth = rows
    true = uc.labelled_curve(uc.ScoreCounts.from_rows(truth, probability))
    share = float(truth[y != 1].mean())
    outside, widths = [], []
    for error in (0.0, 0.06):
        taken = uc.Estimate(share - 0.06, share - 0.18, share + 0.06, error, 0.95, (), "guess")
        counts = uc.ScoreCounts.from_rows(y, probability, unlabeled=-1)
        shares = uc.Shares(taken if error else share - 0.06)
        band = display.from_counts(counts, shares).band()
        place, low, high = band.values()
        x, height = getattr(true, display.x), getattr(true, display.y)
        known = ~np.isnan(height)
        height = np.interp(place, x[known], height[known])
        inner = (place > 0.05) & (place < 0.95)
        outside.append(((height < low) | (height > high))[inner].mean())
        widths.append((high - low).mean())
    assert outside[1] == 0
    assert widths[1] > widths[0]
    if display.y == "precision":
        assert outside[0] > 0.5


@pytest.mark.parametrize("display", [uc.displays.HistogramDisplay, uc.displays.CalibrationDisplay])
def test_counts_without_the_places_of_the_scores_are_refused(display, rows):
    _, probability, y, _ = rows
    compact = uc.ScoreCounts.from_rows(y, probability, unlabeled=-1, compact=True)
    evaluation = uc.evaluate(y, probability, unlabeled=-1, prevalence=0.3)
    for counts in (compact, evaluation.counts):
        with pytest.raises(uc.InputError, match="needs every score; use from_predictions"):
            display.from_counts(counts, uc.Shares(0.1))


@pytest.mark.parametrize("display", DISPLAYS[:4])
def test_displays_of_rates_take_the_counts_of_an_evaluation(display, rows):
    _, probability, y, _ = rows
    evaluation = uc.evaluate(y, probability, unlabeled=-1, prevalence=0.3)
    full = uc.ScoreCounts.from_rows(y, probability, unlabeled=-1)
    found = display.from_counts(evaluation.counts, evaluation.shares).frame()
    expected = display.from_counts(full, evaluation.shares).frame()
    # The same points, only fewer of them.
    every = {tuple(point) for point in np.round(np.transpose(list(expected.values())), 9).tolist()}
    for point in np.round(np.transpose(list(found.values())), 9).tolist():
        assert tuple(point) in every or np.isnan(point).any()


def test_histogram_of_implied_negatives_is_that_of_the_negatives(rows):
    _, probability, y, truth = rows
    display = uc.displays.HistogramDisplay.from_predictions(
        y, probability, unlabeled=-1, prevalence=truth.mean()
    )
    columns = display.frame()
    edges = np.append(columns["left"], columns["left"][-1] + display.marks["width"])
    expected = np.histogram(probability[~truth], edges)[0] / np.sum(~truth)
    np.testing.assert_allclose(columns["negative"], expected, atol=0.02)


def test_precision_is_shown_within_its_range():
    # By hand at prevalence 1/2 of eight rows, so four positives, of whom two are labelled. The rows
    # flagged are 1 to 8, the positives found 2, 2, 2, 4, 4, 4, 4, 4: at first two in one row.
    y = [1, None, None, 1, None, None, None, None]
    score = [8, 7, 6, 5, 4, 3, 2, 1]
    display = uc.displays.PrecisionRecallDisplay.from_predictions(y, score, prevalence=0.5)
    columns = display.frame()
    expected = [1, 1, 2 / 3, 1, 4 / 5, 4 / 6, 4 / 7, 4 / 8]
    assert np.isnan(columns["precision"][0])
    assert columns["precision"][1:] == pytest.approx(expected, abs=1e-14)
    assert columns["recall"] == pytest.approx([0, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1], abs=1e-14)
    drawn = display.plot().lines[0]
    np.testing.assert_array_equal(drawn.get_ydata(), columns["precision"])
    plt.close()
    assert display.curve.precision[1] == pytest.approx(2)  # kept as it was recovered


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_precision_and_recall_shown_are_numbers_from_0_to_1(sampling, purity):
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.2
    y = np.where(rng.random(400) < np.where(truth, 0.3, 0.02), 1.0, np.nan)
    score = rng.normal(truth)
    score[[*np.flatnonzero(y == 1)[:3], np.flatnonzero(y != 1)[0]]] = 9  # of four, three labelled
    display = uc.displays.PrecisionRecallDisplay.from_predictions(
        y,
        score,
        assume=uc.RandomLabels(unlabeled_prevalence=0.15, purity=purity, sampling=sampling),
    )
    assert np.nanmax(display.curve.precision) > 1.1  # or there would be nothing to pull
    for column in display.frame().values():
        assert np.all((column[1:] >= 0) & (column[1:] <= 1))


def test_calibration_of_an_estimator_is_that_of_its_probabilities(rows):
    features, _, y, _ = rows
    model = LogisticRegression().fit(features, y)
    found = uc.displays.CalibrationDisplay.from_estimator(model, features, y, prevalence=0.3)
    probability = model.predict_proba(features)[:, 1]
    # Ten groups of 600 rows each.
    means = np.sort(probability)[::-1].reshape(10, 600).mean(axis=1)
    assert found.frame()["score"] == pytest.approx(means, abs=1e-12)
    assert found.name == "LogisticRegression"
    with pytest.raises(uc.InputError, match=r"an estimator with predict_proba; got LinearSVC"):
        uc.displays.CalibrationDisplay.from_estimator(
            LinearSVC().fit(features, y), features, y, prevalence=0.3
        )


def test_a_short_truth_is_called_truth(rows):
    _, probability, y, truth = rows
    with pytest.raises(uc.InputError, match=r"truth must have one value .*; got 10 for 6000"):
        uc.displays.RocDisplay.from_predictions(
            y, probability, unlabeled=-1, prevalence=0.3, truth=truth[:10]
        )


def test_without_matplotlib_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import undercount as uc\n"
        "counts = uc.ScoreCounts.from_rows([1, None, None], [3, 2, 1])\n"
        "display = uc.displays.LiftDisplay.from_counts(counts, uc.Shares(0.1))\n"
        "try:\n    display.plot()\n"
        "except uc.InputError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "undercount[plot]" in run.stdout


def test_calibration_takes_the_column_of_class_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = np.where(X[:, 0] > 0.5, 1, np.where(X[:, 0] < -0.5, -1, 0))
    model = LogisticRegression().fit(X, y)  # classes -1, 0 and 1
    made = uc.displays.CalibrationDisplay.from_estimator(model, X, y, unlabeled_prevalence=0.01)
    asked = uc.displays.CalibrationDisplay.from_predictions(
        y, model.predict_proba(X)[:, 2], unlabeled=-1, unlabeled_prevalence=0.01
    )
    assert made.frame()["score"].tolist() == asked.frame()["score"].tolist()


@pytest.mark.parametrize("display", DISPLAYS)
def test_every_display_is_made_of_an_evaluation_and_takes_a_style(display, rows):
    _, probability, y, _ = rows
    evaluation = uc.evaluate(y, probability, unlabeled=-1, name="mine")
    made = display.from_evaluation(evaluation)
    alike = display.from_predictions(y, probability, unlabeled=-1)  # estimated there as well
    for name, column in made.frame().items():
        np.testing.assert_allclose(column, alike.frame()[name], atol=1e-9)
    axes = made.plot(color="#123456", linewidth=3)
    bands = [to_hex(colour) for part in axes.collections for colour in part.get_facecolor()]
    assert "#123456" in [*(line.get_color() for line in axes.get_lines()), *bands]
    assert "mine" in (made.name, *(text.get_text() for text in axes.get_legend().get_texts()))
    plt.close(axes.figure)


def test_the_band_of_an_evaluation_carries_the_interval_of_its_share(rows):
    _, probability, y, _ = rows
    estimated = uc.evaluate(y, probability, unlabeled=-1)
    share = estimated.shares.unlabeled_prevalence
    known = uc.evaluate(y, probability, unlabeled=-1, unlabeled_prevalence=share)
    wide, narrow = (
        uc.displays.PrecisionRecallDisplay.from_evaluation(each).band()
        for each in (estimated, known)
    )
    assert np.mean(wide["high"] - wide["low"]) > 1.2 * np.mean(narrow["high"] - narrow["low"])


def test_costs_and_net_benefit_are_those_of_the_evaluation():
    rng = np.random.default_rng(4)
    truth = rng.random(2000) < 0.3
    y = np.where(truth & (rng.random(2000) < 0.5), 1, -1)
    score = 1 / (1 + np.exp(1 - rng.normal(2.0 * truth)))
    for share in ({"prevalence": 0.3}, {"unlabeled_prevalence": uc.Estimate(0.2, 0.1, 0.3, 0.05)}):
        found = uc.evaluate(y, score, unlabeled=-1, **share)
        costs = {"false_positive": 1.0, "false_negative": 6.0}
        display = uc.displays.CostDisplay.from_evaluation(found, **costs)
        at = 100
        threshold = float(display.frame()["threshold"][at])
        expected = found.cost(threshold, **costs)
        if "prevalence" in share:  # otherwise an Estimate's error enters by its slope there
            assert display.frame()["low"][at] == pytest.approx(expected.low, abs=1e-9)
            assert display.frame()["high"][at] == pytest.approx(expected.high, abs=1e-9)
        assert display.frame()["cost"][at] == pytest.approx(expected.value)
        curve = uc.displays.NetBenefitDisplay.from_evaluation(found).frame()
        chance = float(curve["chance"][at])
        net = found.net_benefit(chance, chance)
        assert curve["net_benefit"][at] == pytest.approx(net.value)
        assert curve["low"][at] == pytest.approx(net.low, abs=0.02)
    with pytest.raises(uc.InputError, match="chances of being positive"):
        uc.displays.NetBenefitDisplay.from_predictions(y, 9 * score, unlabeled=-1, prevalence=0.3)


COST = {"false_positive": 1.0, "false_negative": 6.0}


@pytest.mark.parametrize("given", [{"prevalence": 0.3}, {"assume": uc.RandomLabels(0.3)}])
def test_costs_of_labels_and_scores_are_those_of_the_evaluation(given):
    rng = np.random.default_rng(4)
    truth = rng.random(2000) < 0.3
    y = np.where(truth & (rng.random(2000) < 0.5), 1, -1)
    score = rng.normal(2.0 * truth)
    found = uc.evaluate(y, score, unlabeled=-1, prevalence=0.3)
    display = uc.displays.CostDisplay
    model = LogisticRegression().fit(score[:, None], truth)
    fitted = display.from_estimator(model, score[:, None], y, **given, **COST)
    columns = display.from_predictions(y, score, unlabeled=-1, **given, **COST).frame()
    for at in (60, 80, 100):
        expected = found.cost(float(columns["threshold"][at]), **COST)
        assert columns["cost"][at] == pytest.approx(expected.value, abs=1e-9)
    # The classifier puts the rows in the same order, so that its least cost is the same.
    least = min(columns["cost"])
    assert min(fitted.frame()["cost"]) == pytest.approx(least, abs=0.02)


def area(columns):
    x, y = columns.values()
    return float(np.trapezoid(y, x))


@pytest.mark.parametrize("name", NAMES)
def test_curves_of_an_evaluation_are_those_of_its_table(name):
    found = evaluate(name)
    roc = uc.displays.RocDisplay.from_evaluation(found)
    lift = uc.displays.LiftDisplay.from_evaluation(found)
    precision = uc.displays.PrecisionRecallDisplay.from_evaluation(found)
    assert area(roc.frame()) == pytest.approx(found["roc_auc"].value, abs=1e-9)
    assert area(lift.frame()) == pytest.approx(found["lift_auc"].value, abs=1e-9)
    recall = found["recall"].value
    for display in (roc, precision, lift):
        point = display.curve.at(CUT)
        assert point.recall == pytest.approx(recall, abs=1e-9)
        assert point.precision == pytest.approx(found["precision"].value, abs=1e-9)
        drawn = {name: column for name, column in display.frame().items() if name != display.x}
        place = np.flatnonzero(display.curve.threshold == point.threshold)
        place = place if len(place) else np.flatnonzero(display.curve.threshold >= CUT)[-1:]
        (shown,) = drawn.values()
        assert shown[place[0]] == pytest.approx(
            found["precision"].value if display is precision else recall, abs=1e-9
        )
        band = display.band()
        x, height = getattr(point, display.x), getattr(point, display.y)
        low, high = (np.interp(x, band[display.x], band[end]) for end in ("low", "high"))
        assert low <= height <= high


@pytest.mark.parametrize("name", NAMES)
def test_costs_and_benefits_of_an_evaluation_are_its_own(name, monkeypatch):
    monkeypatch.setattr("undercount.show.displays.N_THRESHOLDS", 20)  # each takes its time
    found = evaluate(name)
    drawn = uc.displays.CostDisplay.from_evaluation(found, **COST).frame()
    best = found.best_threshold(cost=COST)
    least = int(np.nanargmin(drawn["cost"]))
    with collect_warnings():
        cheapest = found.cost(best.threshold, **COST).value
    assert drawn["cost"][least] == pytest.approx(cheapest, abs=1e-9)
    weight, both = COST["false_positive"] / sum(COST.values()), sum(COST.values())
    assert drawn["cost"][least] == pytest.approx(both * best.expected_cost(weight), abs=1e-9)
    net = uc.displays.NetBenefitDisplay.from_evaluation(found).frame()
    for place in (5, 15):
        chance = float(net["chance"][place])
        benefit = found.net_benefit(chance, chance)
        assert [net[end][place] for end in ("net_benefit", "low", "high")] == pytest.approx(
            [benefit.value, benefit.low, benefit.high], abs=1e-9
        )
        threshold = float(drawn["threshold"][place])
        cost = found.cost(threshold, **COST)
        assert [drawn[end][place] for end in ("cost", "low", "high")] == pytest.approx(
            [cost.value, cost.low, cost.high], abs=1e-9
        )


@pytest.mark.parametrize(("name", "source"), DETERMINED.items())
def test_displays_of_random_labels_are_refused_where_the_prevalence_is_determined(name, source):
    found = evaluate(name)
    for display, words in (
        (uc.displays.SensitivityDisplay, f"the prevalence is determined by the {source}"),
        (uc.displays.CalibrationDisplay, f"a prevalence; here the {source} determine it"),
    ):
        with pytest.raises(uc.InputError, match=words) as error:
            display.from_evaluation(found)
        assert error.value.code == "not-identified"
        assert "over the threshold instead" in str(error.value)


def test_calibration_of_clusters_is_refused():
    with pytest.raises(uc.InputError, match="whose rows come in clusters") as error:
        uc.displays.CalibrationDisplay.from_evaluation(evaluate("clusters"))
    assert error.value.argument == "cluster"


@pytest.mark.parametrize("name", FREE)
def test_sensitivity_of_an_evaluation_passes_through_its_table(name):
    found = evaluate(name)
    display = uc.displays.SensitivityDisplay.from_evaluation(found)
    share, values = display.frame().values()
    assert np.interp(display.marks["taken"], share, values) == pytest.approx(
        found["roc_auc"].value, abs=2e-3
    )


@pytest.mark.parametrize("labels", ["any", "random"])
def test_negatives_of_reviews_of_every_row_are_the_negatives(labels):
    drawn = assumption_rows()
    truth, score, label = drawn["truth"], drawn["score"], drawn["random"]
    plan = uc.plan_reviews(label, score, unlabeled=0, budget=int((label == 0).sum()), threshold=CUT)
    reviews = plan.answered(truth[plan.rows])
    found = uc.evaluate(label, score, unlabeled=0, assume=uc.Reviewed(reviews, labels=labels))
    display = uc.displays.HistogramDisplay.from_evaluation(found)
    columns = display.frame()
    edges = np.append(columns["left"], columns["left"][-1] + display.marks["width"])
    expected = np.histogram(score[~truth], edges)[0] / np.sum(~truth)
    np.testing.assert_allclose(columns["negative"], expected, atol=1e-9)


def test_negatives_of_labelling_chances_are_the_rows_less_what_labels_stand_for():
    drawn, display = (
        assumption_rows(),
        uc.displays.HistogramDisplay.from_evaluation(evaluate("propensity")),
    )
    columns = display.frame()
    edges = np.append(columns["left"], columns["left"][-1] + display.marks["width"])
    weight = drawn["chosen"] / drawn["chance"]
    every, positive = (
        np.histogram(drawn["score"], edges, weights=each)[0] for each in (None, weight)
    )
    expected = (every - positive) / (len(weight) - weight.sum())
    np.testing.assert_allclose(columns["negative"], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["prevalence", "reviews", "clusters"])
def test_bands_have_the_level_of_the_evaluation(name):
    wide, narrow = (evaluate(name, confidence_level=level) for level in (0.99, 0.8))
    for display in DISPLAYS[:3]:
        made = [display.from_evaluation(each) for each in (wide, narrow)]
        widths = [np.mean(each.band()["high"] - each.band()["low"]) for each in made]
        assert widths[0] > 1.2 * widths[1]
        axes = made[1].plot()
        words = [text.get_text() for text in axes.get_legend().get_texts()]
        assert ("80 % bounds" if name == "prevalence" else "80 % intervals") in words
        plt.close(axes.figure)


def test_groups_of_calibration_have_the_level_of_the_evaluation(rows):
    _, probability, y, _ = rows
    widths = []
    for level in (0.99, 0.8):
        found = uc.evaluate(y, probability, unlabeled=-1, prevalence=0.3, confidence_level=level)
        columns = uc.displays.CalibrationDisplay.from_evaluation(found).frame()
        widths.append(columns["high"] - columns["low"])
    assert (widths[0] > 1.5 * widths[1]).all()


def test_bands_of_clusters_are_the_intervals_of_clusters():
    # Each row five times, as one cluster: as many independent rows as there were before.
    drawn = assumption_rows()
    label, score = (np.repeat(drawn[part], 5) for part in ("random", "score"))
    cluster = np.repeat(np.arange(len(drawn["score"])), 5)
    options = {"unlabeled": 0, "prevalence": 0.2, "threshold": CUT}
    found = uc.evaluate(label, score, cluster=cluster, **options)
    display = uc.displays.LiftDisplay.from_evaluation(found)
    left, right, low, high = display.reach
    place = int(np.argmin(np.abs(left - found.point(CUT).predicted_positive_rate)))
    assert left[place] == pytest.approx(right[place], abs=1e-11)  # so many are flagged
    recall = found["recall"]
    assert (low[place], high[place]) == pytest.approx((recall.low, recall.high), abs=1e-9)
    once = uc.evaluate(drawn["random"], drawn["score"], **options)["recall"]
    assert recall.interval.width == pytest.approx(once.interval.width, rel=0.05)


def test_an_open_share_draws_its_intervals_and_no_curve():
    found = evaluate("estimated")
    assert found["roc_auc"].range_only
    for kind in (uc.displays.RocDisplay, uc.displays.PrecisionRecallDisplay):
        display = kind.from_evaluation(found)
        assert np.isnan(display.frame()[kind.y]).all()  # at which share should it be?
        assert math.isnan(display.curve.roc_auc)
        assert math.isnan(display.curve.average_precision)
        _, _, low, high = display.reach
        assert (high - low).max() > 0.1
        axes = display.plot()
        assert [line.get_label() for line in axes.get_lines()] == ["unlabeled = negative"]
        (band,) = axes.collections
        assert band.get_label() == f"{display.name}: 95 % intervals"
        plt.close(axes.figure)
    lift = uc.displays.LiftDisplay.from_evaluation(found).frame()
    # Which part of the labelled rows is flagged with so many rows, no share can change.
    counts = found.counts
    everyone = np.cumsum(counts.positive + counts.unlabeled) / counts.n_rows
    recall = np.cumsum(counts.positive) / counts.n_positive
    for rows in (0.1, 0.5, 0.9):
        drawn = np.interp(rows, *lift.values())
        assert drawn == pytest.approx(np.interp(rows, everyone, recall), abs=1e-9)
    assert "taken" not in uc.displays.SensitivityDisplay.from_evaluation(found).marks
    cost = uc.displays.CostDisplay.from_evaluation(found)
    assert np.isnan(cost.marks["none"])
    assert np.isnan(cost.frame()["cost"]).all()
    assert np.isfinite(cost.frame()["low"]).all()
