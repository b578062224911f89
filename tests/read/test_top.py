"""Precision, recall and lift of so many rows of the highest scores, ties and all."""

import itertools
import math

import numpy as np
import pytest

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.metric_name import read_top

SCORE = np.array([9, 8, 7, 7, 7, 7, 5, 4, 4, 2.0])
TRUTH = np.array([1, 1, 1, 0, 1, 0, 0, 1, 0, 0])


def heads_of(score, k):
    """Every set of k rows that a ranking with random order of ties may take."""
    last = np.sort(score)[::-1][k - 1]
    sure, tied = np.flatnonzero(score > last), np.flatnonzero(score == last)
    for some in itertools.combinations(tied, k - len(sure)):
        yield np.array([*sure, *some])


def rows_of(evaluation):
    return {row.metric: row for row in evaluation}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 8, 9, 10])
@pytest.mark.parametrize("compact", [True, False])
def test_values_are_means_over_the_orders_of_ties(k, compact):
    y = np.where(np.isin(np.arange(10), [0, 2, 7]), 1.0, np.nan)
    if compact:
        found = rows_of(uc.evaluate(y, SCORE, prevalence=0.5).at(top=k))
    else:
        counts = uc.ScoreCounts.from_rows(y, SCORE)
        found = rows_of(uc.evaluate(counts, prevalence=0.5).at(top=k))
    hits = np.mean([np.sum(y[heads] == 1) for heads in heads_of(SCORE, k)])
    assert found["recall"].estimate.value == pytest.approx(hits / 3)
    assert found["lift"].estimate.value == pytest.approx(hits / 3 / (k / 10))
    assert found["precision"].naive == pytest.approx(hits / k)
    precision = min(hits / 3 * 5 / k, 1.0)  # more positives than rows cannot be
    assert found["precision"].estimate.value == pytest.approx(precision)


def test_over_all_labelings_the_mean_is_the_truth():
    # Three of five positives are labelled; at k = 7 no estimate is pulled into its range.
    k, found = 7, []
    for labelled in itertools.combinations(np.flatnonzero(TRUTH), 3):
        y = np.where(np.isin(np.arange(10), labelled), 1.0, np.nan)
        found.append(uc.evaluate(y, SCORE, prevalence=0.5).estimate("recall", top=k).value)
    assert np.mean(found) == pytest.approx(TRUTH[SCORE >= 5].sum() / 5)
    four = np.mean([TRUTH[heads].sum() for heads in heads_of(SCORE, 4)])
    shares = []
    for labelled in itertools.combinations(np.flatnonzero(TRUTH), 3):
        y = np.where(np.isin(np.arange(10), labelled), 1.0, np.nan)
        shares.append(uc.evaluate(y, SCORE, prevalence=0.5).estimate("recall", top=4).value)
    assert np.mean(shares) == pytest.approx(four / 5)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(2)
    truth = rng.random(4000) < 0.2
    y = np.where(truth & (rng.random(4000) < 0.4), 1.0, np.nan)
    score = rng.normal(1.5 * truth)
    return uc.evaluate(y, score, prevalence=0.2, top=400), np.sort(score)[::-1]


def test_without_ties_it_is_the_threshold_of_the_last_row(found):
    evaluation, score = found
    for metric in ("precision", "recall", "lift", "f1"):
        at_top = evaluation.estimate(metric, top=400)
        at_score = evaluation.estimate(metric, score[399])
        assert (at_top.value, at_top.low, at_top.high) == pytest.approx(
            (at_score.value, at_score.low, at_score.high), rel=1e-9
        )
    assert evaluation.estimate("recall", top=0.1) == evaluation.estimate("recall", top=400)
    assert evaluation["recall@top 10%"] == evaluation.top_rows[1].estimate
    assert evaluation.estimates()["precision@top_400"].low == evaluation.top_rows[0].estimate.low
    assert "lift_at_top_400_high" in evaluation.metrics()


def test_it_is_printed_written_and_required(found):
    evaluation, _ = found
    assert "precision@top 400" in str(evaluation)
    assert "precision@top 400" in evaluation.to_frame("pandas")["metric"].tolist()
    assert [each["metric"] for each in evaluation.to_dict()["models"][0]["top"]] == [
        "precision",
        "recall",
        "lift",
    ]
    assert evaluation.require("precision@top 400 > 10%")
    assert evaluation.require("lift@top 1% >= 99").outcome == "failed"


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
def test_every_design_has_an_interval(target, sampling):
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.2
    y, score = np.full(2000, np.nan), np.round(rng.normal(1.5 * truth), 1)
    if sampling == "case-control":
        y = np.append(y, np.ones(150))
        score = np.append(score, np.round(rng.normal(1.5, size=150), 1))
    else:
        y[rng.choice(np.flatnonzero(truth), 150, replace=False)] = 1.0
    for share in ({"prevalence": 0.2}, {"prevalence": (0.15, 0.25)}, {}):
        options = {"assume": uc.RandomLabels(sampling=sampling, **share), "target": target}
        for row in uc.evaluate(y, score, **options).at(top=250):
            found = row.estimate
            assert found.low < found.high
            assert found.range_only or found.low < found.value < found.high
            assert math.isnan(row.naive) == (sampling == "case-control")


def test_bad_input(found):
    evaluation, _ = found
    for top in (0, -3, 4001):
        with pytest.raises(uc.InputError, match="top must be above 0"):
            evaluation.at(top=top)
    with pytest.raises(uc.InputError, match="either a threshold or top"):
        evaluation.at()
    for top in (1.0, np.float64(1), np.float32(1)):
        with pytest.raises(uc.InputError, match=r"1.0 may mean one row \(pass 1\) or all"):
            evaluation.at(top=top)
    assert evaluation.at(top=1)[0].label == "precision@top 1"


@pytest.mark.parametrize(
    ("text", "top"), [("5,000", 5000), ("1,000,000", 1e6), ("5,000/1,000,000", 0.005), ("1", 1)]
)
def test_commas_stand_between_thousands(text, top):
    assert read_top(text) == top


def exact_coverage(cells, labelled, top, level):
    """Add up the chances of all labelings whose interval holds the truth.

    `cells` are the rows above, tied at and below the last row, and the positives of each. Labels
    are drawn without replacement, so that how many fall into each cell has a known distribution.
    """
    rows, positives = (np.array(part) for part in zip(*cells, strict=True))
    total = positives.sum()
    hits = positives[0] + (top - rows[0]) / rows[1] * positives[1]
    covered = 0.0
    for above, tied in itertools.product(*(range(number + 1) for number in positives[:2])):
        below = labelled - above - tied
        if not 0 <= below <= positives[2]:
            continue
        known = np.array([above, tied, below])
        ways = [math.comb(*each) for each in zip(positives.tolist(), known.tolist(), strict=True)]
        chance = math.prod(ways) / math.comb(int(total), labelled)
        if chance < 1e-5:
            continue
        counts = uc.ScoreCounts.from_counts([2.0, 1.0, 0.0], known, [0, 0, 0], rows - known)
        shares = uc.Shares.from_prevalence(counts, total / rows.sum(), target="dataset")
        found = estimate_metric(
            counts, shares, "precision", top=top, target="dataset", confidence_level=level
        )
        covered += chance * (found.low - 1e-9 <= hits / top <= found.high + 1e-9)
    return covered


@pytest.mark.parametrize(
    ("cells", "labelled", "top"),
    [
        ([(40, 30), (60, 24), (300, 26)], 24, 70),
        ([(60, 40), (200, 70), (740, 90)], 30, 160),
    ],
)
def test_over_all_labelings_the_interval_covers_with_ties_at_the_last_row(cells, labelled, top):
    assert 0.93 <= exact_coverage(cells, labelled, top, 0.95) <= 0.975
