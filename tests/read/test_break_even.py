"""Where a requirement never holds, or the metric does not exist."""

import itertools
import math
import warnings

import numpy as np
import pytest

import undercount as uc
from undercount.show.verdict_words import change_words


def table(flagged_labelled, flagged_unlabeled, labelled, unlabeled):
    """Two scores: 1 flagged, 0 not."""
    return uc.ScoreCounts.from_counts(
        [1.0, 0.0],
        positive=[flagged_labelled, labelled - flagged_labelled],
        negative=[0, 0],
        unlabeled=[flagged_unlabeled, unlabeled - flagged_unlabeled],
    )


def by_hand(metric, hits, head, share, sampling):
    """Metrics of 5 labelled and 8 unlabeled rows from their confusion table; NaN if 0/0."""
    recall, real = hits / 5, 8 * share
    if sampling == "single-sample":
        head, real = head + hits, real + 5
    if metric == "precision":
        return real * recall / head if head else math.nan
    return 2 * real * recall / (real + head) if real + head else math.nan


@pytest.mark.filterwarnings("ignore::undercount.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("metric", ["precision", "f1"])
def test_least_share_by_trying_every_share(metric, sampling):
    tried = 0
    for hits, head in itertools.product(range(6), range(9)):
        counts = table(hits, head, 5, 8)
        # At the AUC (1 + hits/5 - head/8)/2 the largest share is 1 - |hits/5 - head/8|.
        grid = np.linspace(0.0, max(0.0, 1 - abs(hits / 5 - head / 8)), 4001)[:-1]
        values = np.array([by_hand(metric, hits, head, share, sampling) for share in grid])
        for goal in (0.0, 0.31, 0.65, 0.95):
            holds = np.flatnonzero(values >= goal)
            # A metric that does not exist without hidden positives: none may be hidden either.
            expected = math.nan if not holds.size or math.isnan(values[0]) else grid[holds[0]]
            shares = uc.Shares(0.0, sampling=sampling)
            found = uc.break_even(counts, shares, metric, goal, 1.0).unlabeled_prevalence
            assert found == pytest.approx(expected, abs=5e-4, nan_ok=True), (hits, head, goal)
            tried += 1
    assert tried == 6 * 9 * 4


@pytest.mark.parametrize(("hits", "head"), [(0, 7), (1, 5), (2, 4), (3, 4), (5, 2)])
def test_least_share_for_an_area(hits, head):
    counts = table(hits, head, 5, 8)
    area = (1 + hits / 5 - head / 8) / 2
    grid = np.linspace(0.0, 1 - abs(2 * area - 1), 4001)[:-1]
    values = 0.5 + (area - 0.5) / (1 - grid)  # Jain et al. 2017, eq. 4
    for goal in (0.0, 0.05, 0.3, 0.45, 0.5, 0.55, 0.8):
        holds = np.flatnonzero(values >= goal)
        expected = grid[holds[0]] if holds.size else math.nan
        found = uc.break_even(counts, uc.Shares(0.1), "roc_auc", goal).unlabeled_prevalence
        assert found == pytest.approx(expected, abs=5e-4, nan_ok=True), goal


@pytest.fixture(scope="module")
def no_label_flagged():
    rng = np.random.default_rng(3)
    truth = rng.random(2000) < 0.2
    y = np.where(truth & (rng.random(2000) < 0.3), 1.0, np.nan)
    score = rng.normal(1.5 * truth)
    score[np.flatnonzero(np.isnan(y))[:3]] = 20
    return uc.evaluate(y, score, prevalence=0.2, threshold=10.0)


def test_everything_is_said_where_no_labelled_row_is_flagged(no_label_flagged, tmp_path):
    assert no_label_flagged.estimate("precision", 10.0).value == 0
    assert "another threshold" in " ".join(str(no_label_flagged).split())
    assert "another threshold" in no_label_flagged.to_markdown()
    assert '"precision"' in no_label_flagged.to_json()
    no_label_flagged.to_html(tmp_path / "page.html")
    found = no_label_flagged.break_even("precision", 0.1)
    assert math.isnan(found.unlabeled_prevalence)
    assert math.isnan(found.odds_ratio)


@pytest.mark.parametrize("purity", [0.95, 1.0])
def test_everything_is_said_where_no_unlabeled_row_is_flagged(purity, tmp_path):
    # A labelled row above every unlabeled one: no share of positives above 0 fits there.
    y = [1] * 12 + [0] * 4 + [-1] * 20
    score = [9.0, *np.linspace(1, 3, 11), 0, 0.1, 0.2, 0.3, *np.linspace(-2, 2.5, 20)]
    assume = uc.RandomLabels(unlabeled_prevalence=0.2, purity=purity, sampling="case-control")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the intervals
        evaluation = uc.evaluate(y, score, threshold=5.0, unlabeled=-1, assume=assume)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "What would change" in str(evaluation)
        assert '"precision"' in evaluation.to_json()
        evaluation.to_html(tmp_path / "page.html")
        assert math.isnan(evaluation.break_even("precision", 0.5).unlabeled_prevalence)
    assert evaluation.verdict.light == "unsupported"
    claimed = evaluation.claiming("precision >= 0.5")
    assert "no share of hidden positives" in change_words(claimed)


def test_a_requirement_is_below_the_estimate():
    rng = np.random.default_rng(8)
    truth = rng.random(20_000) < 0.01
    y = np.where(truth & (rng.random(20_000) < 0.4), 1.0, np.nan)
    score = rng.normal(3.5 * truth)
    evaluation = uc.evaluate(y, score, prevalence=0.01, threshold=-1.0)
    precision = evaluation.estimate("precision", -1.0).value
    assert 0.0112 < precision < 0.0122  # 1 % of the rows are positive, 84 % are flagged
    # One digit below 5 %; the share may fall until the interval, not the estimate, ends there.
    assert change_words(evaluation).startswith("precision ≥ 1 % holds if at least 0.88 %")
    lows = [
        uc.evaluate(y, score, prevalence=p, threshold=-1.0).rows[1].estimate.low
        for p in (0.0087, 0.0088)
    ]
    assert lows[0] < 0.01 <= lows[1]


def test_a_requirement_that_only_few_hidden_positives_leave_is_not_said_to_hold_always():
    # Area (1 + 0/5 - 7/8)/2 = 0.0625 without hidden positives, 0 with the most.
    counts = table(0, 7, 5, 8)
    evaluation = uc.evaluate(counts, unlabeled_prevalence=0.01).claiming("roc_auc >= 0.0001")
    assert evaluation.verdict.light != "robust"
    assert "whatever" not in change_words(evaluation)


@pytest.mark.parametrize(("goal", "threshold"), [(2.5, 0.8), (6.0, 0.8), (20.0, 2.0)])
def test_a_likelihood_ratio_passes_infinity(goal, threshold):
    rng = np.random.default_rng(11)
    truth = rng.random(4000) < 0.3
    y = np.where(truth & (rng.random(4000) < 0.4), 1.0, np.nan)
    score = rng.normal(1.2 * truth)
    labelled = np.mean(score[y == 1] >= threshold)
    unlabeled = np.mean(score[np.isnan(y)] >= threshold)
    # g (1 - a)/(q - a g) >= r from a = (r q - g)/((r - 1) g) on.
    least = (goal * unlabeled - labelled) / ((goal - 1) * labelled)
    counts = uc.ScoreCounts.from_rows(y, score)
    metric = "positive_likelihood_ratio"
    found = uc.break_even(counts, uc.Shares(0.2), metric, goal, threshold)
    assert found.unlabeled_prevalence == pytest.approx(least, abs=1e-9)
