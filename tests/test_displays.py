import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import undercount as uc

mpl.use("Agg")
DISPLAYS = [
    uc.RocDisplay,
    uc.PrecisionRecallDisplay,
    uc.LiftDisplay,
    uc.SensitivityDisplay,
    uc.HistogramDisplay,
    uc.CalibrationDisplay,
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
        mpl.pyplot.close(axes.figure)


def test_plot_draws_on_given_axes(rows):
    _, probability, y, _ = rows
    figure, axes = mpl.pyplot.subplots()
    display = uc.RocDisplay.from_predictions(y, probability, unlabeled=-1, prevalence=0.3)
    assert display.plot(axes) is axes
    mpl.pyplot.close(figure)


def test_calibration_of_true_probabilities_is_the_diagonal(rows):
    _, probability, y, truth = rows
    display = uc.CalibrationDisplay.from_predictions(
        y, probability, unlabeled=-1, prevalence=truth.mean()
    )
    columns = display.frame()
    np.testing.assert_allclose(columns["positive_share"], columns["score"], atol=0.08)


def test_histogram_of_implied_negatives_is_that_of_the_negatives(rows):
    _, probability, y, truth = rows
    display = uc.HistogramDisplay.from_predictions(
        y, probability, unlabeled=-1, prevalence=truth.mean()
    )
    columns = display.frame()
    edges = np.append(columns["left"], columns["left"][-1] + display.marks["width"])
    expected = np.histogram(probability[~truth], edges)[0] / np.sum(~truth)
    np.testing.assert_allclose(columns["negative"], expected, atol=0.02)


def test_shares_are_needed(rows):
    _, probability, y, _ = rows
    with pytest.raises(uc.InputError, match="give prevalence"):
        uc.RocDisplay.from_predictions(y, probability, unlabeled=-1)


def test_without_matplotlib_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import undercount as uc\n"
        "counts = uc.ScoreCounts.from_rows([1, None, None], [3, 2, 1])\n"
        "display = uc.LiftDisplay.from_counts(counts, uc.Shares(0.1))\n"
        "try:\n    display.plot()\n"
        "except uc.InputError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "undercount[plot]" in run.stdout
