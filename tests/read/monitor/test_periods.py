"""Periods under assumptions where labels are all here, and the alarm that follows labels."""

import json

import numpy as np
import pytest

import undercount as uc
from undercount.read.monitor.alarm import LabelledDays, find_evidence
from undercount.read.monitor.periods import PeriodMonitoring

DAYS, CUT = 360, 1.3
FIRST = np.datetime64("2024-01-01")


def draw(rng, change=1.0, n=12_000, after=240):
    """Rows of a year; from a day on the share of positives is multiplied."""
    day = rng.integers(0, DAYS, n)
    truth = rng.random(n) < np.where(day >= after, 0.12 * change, 0.12)
    return day, truth, rng.normal(2.0 * truth)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    day, truth, score = draw(rng)
    chance = np.where(rng.random(len(day)) < 0.5, 0.7, 0.3)
    label = np.where(truth & (rng.random(len(day)) < chance), 1.0, np.nan)
    return day, truth, score, chance, label


def test_periods_are_segments_of_the_same_rows(rows):
    day, _, score, chance, label = rows
    assume = uc.LabelPropensity(chance)
    found = uc.monitor(score, observed=FIRST + day, label=label, assume=assume, threshold=CUT)
    months = (FIRST + day).astype("datetime64[M]").astype(str)
    segments = uc.evaluate(
        label, score, by=months, assume=assume, threshold=CUT, target="population"
    )
    assert [row.period for row in found.rows] == list(segments)
    for row in found.rows:
        assert row.precision == segments.estimates("precision")[row.period]
        here = (months == row.period) & (score >= CUT)
        assert (row.n_flagged, row.n_found) == (here.sum(), int(np.nansum(label[here])))
        assert row.naive == pytest.approx(row.n_found / row.n_flagged)
    assert found.metrics["recall"] == segments.overall["recall"]


@pytest.mark.parametrize("change", [1.0, 0.3])
def test_the_alarm_follows_labels_of_single_rows(change):
    rng = np.random.default_rng(3)
    day, truth, score = draw(rng, change)
    label = (truth & (rng.random(len(day)) < 0.5)).astype(float)
    found = uc.monitor(
        score, observed=FIRST + day, label=label, unlabeled=0, threshold=CUT,
        assume=uc.RandomLabels(float(truth.mean())), baseline="2024-06",
    )  # fmt: skip
    assert bool(found.alarm.fell) is (change < 1)
    assert found.alarm.rose == ""
    assert found.alarm.fell > "2024-08-28" or change == 1
    assert ("precision fell" in str(found)) is (change < 1)
    assert "positives are labelled as often in each period" in str(found)


def test_more_labels_by_known_chances_are_no_rise():
    """Somebody looks twice as often in the second half of the year."""
    rng = np.random.default_rng(4)
    day, truth, score = draw(rng, n=20_000)
    chance = np.where(day >= 180, 0.8, 0.4)
    label = np.where(truth & (rng.random(len(day)) < chance), 1.0, np.nan)
    about = {"observed": FIRST + day, "label": label, "threshold": CUT, "baseline": "2024-06"}
    known = uc.monitor(score, assume=uc.LabelPropensity(chance), **about)
    assert (known.alarm.fell, known.alarm.rose) == ("", "")
    alike = uc.monitor(score, assume=uc.RandomLabels(0.12), **about)
    assert alike.alarm.rose != ""


def test_evidence_is_a_mean_of_likelihood_ratios():
    """One look, one start: the integral over rates is done again by a fine sum."""
    rng = np.random.default_rng(5)
    seen = np.sort(rng.integers(0, 28, 400)).astype(float)
    labelled = rng.random(400) < 0.3
    rows = LabelledDays(seen, labelled, np.ones(400), 28.0)
    before = seen < 14
    (found,) = find_evidence(rows, 14.0, np.array([21.0]))
    rate = np.linspace(1e-4, 1 - 1e-4, 20_001)
    hits, number = (labelled[before].sum(), before.sum())
    prior = (hits - 0.5) * np.log(rate) + (number - hits - 0.5) * np.log1p(-rate)
    weight = np.exp(prior - prior.max())
    later = (seen >= 14) & (seen < 22)
    hits, number = labelled[later].sum(), later.sum()

    def likelihood(changed):
        return (weight * changed**hits * (1 - changed) ** (number - hits)).sum()

    falls = [likelihood(part * rate) for part in (0.3, 0.5, 0.7, 0.85)]
    ratio = np.mean(falls) / likelihood(rate)
    # Half of the first year's starts have the weight 1/26 each; this is the first.
    assert found[0] == pytest.approx(1 + (ratio - 1) / 26, rel=1e-2)


@pytest.mark.parametrize("change", [1.0, 0.3])
def test_the_alarm_follows_verified_rows(change):
    rng = np.random.default_rng(9)
    day, truth, score = draw(rng, change)
    # More rows are verified in the second half, of both classes.
    known = rng.random(len(day)) < np.where(day >= 180, 0.8, 0.4)
    found = uc.monitor(
        score, observed=FIRST + day, label=np.where(known, truth, np.nan), threshold=CUT,
        assume=uc.RandomAudit(), baseline="2024-06",
    )  # fmt: skip
    assert bool(found.alarm.fell) is (change < 1)
    assert found.alarm.rose == ""
    flagged = (score >= CUT) & (day < 182)
    assert found.alarm.baseline.low < truth[flagged].mean() < found.alarm.baseline.high


def test_labels_that_were_sampled_separately_raise_no_alarm():
    rng = np.random.default_rng(6)
    day, truth, score = draw(rng)
    label = np.where(truth & (rng.random(len(day)) < 0.5), 1.0, np.nan)
    hidden = float(truth[np.isnan(label)].mean())
    found = uc.monitor(
        score, observed=FIRST + day, label=label, threshold=CUT,
        assume=uc.RandomLabels(hidden, sampling="case-control"),
    )  # fmt: skip
    assert found.alarm is None
    text = " ".join(str(found).split())
    assert "no alarm is possible. The alarm counts the labels" in text
    assert "this assumption gives none" in text
    assert "segment" not in text


def test_counts_of_periods(rows):
    day, truth, score, _, label = rows
    months = (FIRST + day).astype("datetime64[M]").astype(str)
    counts = {
        month: uc.ScoreCounts.from_rows(label[months == month], score[months == month])
        for month in np.unique(months).tolist()
    }
    assume = uc.RandomLabels(float(truth.mean()))
    counted = uc.monitor(counts, assume=assume, threshold=CUT)
    same = uc.monitor(score, observed=FIRST + day, label=label, assume=assume, threshold=CUT)
    assert [row.period for row in counted.rows] == [row.period for row in same.rows]
    for one, other in zip(counted.rows, same.rows, strict=True):
        assert one.precision.low == pytest.approx(other.precision.low)
        assert (one.n_flagged, one.n_found) == (other.n_flagged, other.n_found)
    assert "counts of periods have no dates" in counted.no_alarm


def test_dates_are_one_assumption_of_several():
    rng = np.random.default_rng(7)
    day, truth, score = draw(rng)
    found = np.where(truth, day + rng.exponential(20, len(day)).astype(int), np.nan)
    found[found > DAYS] = np.nan
    short = uc.monitor(score, observed=day, found=found, until=DAYS, threshold=CUT)
    late = uc.DelayedLabels(day, found, until=DAYS)
    same = uc.monitor(score, assume=late, threshold=CUT)
    assert same.rows == short.rows
    fitted = uc.prevalence.LateLabels().fit(day, found, until=DAYS)
    again = uc.monitor(score, assume=uc.DelayedLabels.of(fitted), threshold=CUT)
    assert again.rows == short.rows


def test_forms_hold_the_same_numbers(rows, tmp_path):
    day, _, score, chance, label = rows
    found = uc.monitor(
        score, observed=FIRST + day, label=label, assume=uc.LabelPropensity(chance), threshold=CUT
    )
    assert isinstance(found, PeriodMonitoring)
    assert isinstance(found, uc.Monitoring)
    facts = json.loads(found.to_json())
    assert facts["periods"][0]["precision"] == found.rows[0].precision.value
    row = found.rows[1].precision
    found.to_html(tmp_path / "m.html")
    for text in (str(found), (tmp_path / "m.html").read_text(encoding="utf-8")):
        assert f"{row.value:.3f} ({row.low:.3f} – {row.high:.3f})" in text
    assert found.reportable
    assert found.require("precision >= 0.2").outcome == "met"
    with pytest.raises(uc.InputError, match="a requirement here is on"):
        found.require("roc_auc >= 0.2")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "give observed and found"),
        ({"assume": uc.RandomLabels(0.1)}, "give observed"),
        ({"assume": uc.RandomLabels(0.1), "observed": [1, 2, 3]}, "give label"),
        ({"assume": uc.RandomLabels(0.1), "found": [1, 2, 3]}, "says how labels came about"),
        (
            {"assume": uc.RandomLabels(0.1), "observed": [1, 2], "label": [1, None, None]},
            "date of each row",
        ),
    ],
)
def test_what_is_missing_is_named(options, words):
    with pytest.raises(uc.InputError, match=words):
        uc.monitor([0.9, 0.5, 0.1], threshold=0.5, **options)
