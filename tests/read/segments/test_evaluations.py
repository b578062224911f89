"""Segments: one row each, shares pooled, differences adjusted, nothing left out silently."""

import datetime as dt
import inspect
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import undercount as uc
from undercount.assume.random_labels.hidden_share import fits_easily, label_heads, rates_fit
from undercount.assume.random_labels.segments.pooled import pool_shares
from undercount.assume.random_labels.segments.shared_out import share_out
from undercount.counts import ScoreCounts
from undercount.infer.heads import FlaggedCounts
from undercount.infer.mixture import design_of
from undercount.infer.random_effects import spread_between
from undercount.infer.segmented_rows import split_rows
from undercount.infer.shared_labels import LabelPart, SharedLabels
from undercount.read.evaluate import EvaluateOptions
from undercount.read.segments.spread_tests import (
    find_deviations,
    find_heterogeneity,
    find_trend,
    read_points,
)
from undercount.shares import Shares


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = rng.random(6000) < 0.15
    y = np.where(truth & (rng.random(6000) < 0.4), 1.0, np.nan)
    score = rng.normal(2.5 * truth)
    by = np.array(["DE", "FR", "US"])[rng.integers(3, size=6000)]
    by[:40] = "MT"
    y[:40] = np.nan
    return y, score, by


def test_each_segment_is_the_evaluation_of_its_rows(rows):
    y, score, by = rows
    found = uc.evaluate(y, score, by=by, threshold=1.0, label_frequency=0.4)
    alone = uc.evaluate(y[by == "FR"], score[by == "FR"], threshold=1.0, label_frequency=0.4)
    for metric in ("recall", "precision"):
        expected = next(row.estimate for row in alone.rows if row.metric == metric)
        assert found.estimates(metric)["FR"] == expected
    assert [row.estimate for row in found["FR"].rows] == [row.estimate for row in alone.rows]


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize(
    "given", [{}, {"label_frequency": 0.4}, {"prevalence": 0.15}, {"unlabeled_prevalence": 0.08}]
)
def test_all_segments_at_once_are_as_one_by_one(rows, target, given):
    y, score, by = rows
    names = ("recall", "precision", "f1", "specificity", "mcc", "accuracy")
    found = uc.evaluate(
        y, score, by=by, threshold=1.0, target=target, metrics=names, sample_weight=None, **given
    )
    for segment in found:
        whole = {row.metric: row for row in found[segment].rows}
        for row in found.row(segment).rows:
            alone = whole[row.metric]
            assert row.naive == alone.naive
            assert row.lower_bound == alone.lower_bound
            assert (row.certain, row.estimate.method) == (alone.certain, alone.estimate.method)
            one, other = row.estimate, alone.estimate
            for end in ("value", "low", "high", "standard_error"):
                expected = pytest.approx(getattr(other, end), rel=1e-9, abs=1e-12, nan_ok=True)
                assert getattr(one, end) == expected
            assert one.range_only == other.range_only


def test_a_segment_without_labels_has_a_row_and_a_reason(rows):
    y, score, by = rows
    found = uc.evaluate(y, score, by=by, threshold=1.0)
    assert [row.segment for row in found.rows] == ["DE", "FR", "MT", "US"]
    assert list(found) == ["DE", "FR", "US"]
    assert "no row is labelled positive" in found.row("MT").note
    with pytest.raises(uc.InputError, match="no row is labelled positive"):
        found["MT"]
    for form in (str(found), found.to_markdown(), found.to_json()):
        assert "MT" in form
        assert "no row is labelled positive" in form


def test_a_segment_whose_rows_are_all_labelled_says_what_they_say(rows):
    y, score, by = rows
    flagged, here = score >= 1.0, by == "MT"
    truth = score > 1.3
    y = np.where(here, truth, y)
    found = uc.evaluate(y, score, by=by, threshold=1.0, label_frequency=0.4)
    hits = (truth & flagged & here).sum()
    recall, precision = hits / (truth & here).sum(), hits / (flagged & here).sum()
    words = f"nothing is hidden, and its labels speak for themselves: recall@1 {recall:.3f}"
    assert found.row("MT").note.startswith(f"no row is unlabeled: {words}")
    assert found.row("MT").note.endswith(f"precision@1 {precision:.3f}")
    assert "nothing is hidden, see below" in str(found)
    assert "cannot be said" not in str(found)
    only = uc.evaluate(np.where(here, 1.0, y), score, by=by, threshold=1.0, label_frequency=0.4)
    assert only.row("MT").note.endswith("its labels speak for themselves")


def test_many_small_segments_are_named_once():
    rng = np.random.default_rng(4)
    truth = rng.random(3000) < 0.2
    y, by = np.where(truth & (rng.random(3000) < 0.4), 1.0, np.nan), np.arange(3000) % 60
    found = uc.evaluate(y, rng.normal(2.0 * truth), by=by, threshold=1.0, prevalence=0.2)
    labels = [row.counts.n_positive for row in found.rows if 0 < row.counts.n_positive < 20]
    told = f"only {min(labels):.0f} to {max(labels):.0f} labelled rows each: their intervals are"
    assert str(found).replace("\n", " ").count("rough ones") == 1
    assert told in " ".join(str(found).split())
    assert " more: only" in " ".join(str(found).split())


def test_a_column_of_a_value_a_row_is_shortened_on_a_terminal_alone():
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.3
    y, by = (truth & (rng.random(600) < 0.5)).astype(int), np.arange(600) / 7
    found = uc.evaluate(y, rng.normal(2 * truth), unlabeled=0, prevalence=0.3, by=by)
    printed = str(found)
    assert len(printed.splitlines()) < 150
    words = " ".join(printed.split())
    assert "… and 500 more segments" in words
    assert "has 600 values in 600 rows: cut it into a few ranges first" in words
    assert len(json.loads(found.to_json())["segments"]) == 600
    few = uc.evaluate(y, rng.normal(2 * truth), unlabeled=0, prevalence=0.3, by=np.arange(600) % 3)
    assert "more segments" not in str(few)


def test_a_metric_that_does_not_exist_says_why():
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0])
    score = np.r_[np.linspace(1, 0, 10), 0.1, 0.2, 0.3]
    by, ask = np.r_[np.zeros(10), np.ones(3)], {"unlabeled": 0, "prevalence": 0.5}
    areas = uc.evaluate(y, score, by=by, metrics=["average_precision"], **ask)
    assert areas.row(1.0).note.endswith("average precision does not exist: too few labels")
    flags = uc.evaluate(y, score, by=by, threshold=0.5, **ask)
    assert flags.row(1.0).note.endswith("precision does not exist: no row is flagged")


def test_what_stands_out_has_an_interval_that_says_so():
    rng = np.random.default_rng(6)
    by = np.arange(12000) % 8
    truth = rng.random(12000) < 0.3
    y = np.where(truth & (rng.random(12000) < 0.5), 1.0, np.nan)
    score = rng.normal((1.5 + 0.25 * (by == 3) - 0.4 * (by == 5)) * truth)
    found = uc.evaluate(y, score, by=by, threshold=1.0, label_frequency=0.5)
    out = [d for d in found.differences("recall") if not d.difference.low <= 0 <= d.difference.high]
    line = next(words for words in str(found).splitlines() if words.startswith(" recall@1"))
    assert out
    assert f"stand out: {out[0].segment} " in line


def test_shares_lie_between_their_own_and_the_centre(rows):
    y, score, by = rows
    found = uc.evaluate(y, score, by=by)
    centre = found.shares.centre.value
    for row in found.rows:
        if row.own_share is not None:
            low, high = sorted([row.own_share.value, centre])
            assert low - 1e-9 <= found.shares.pooled[row.segment].value <= high + 1e-9


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "duckdb", "arrow"])
def test_every_source_of_segments_gives_the_same(rows, kind):
    y, score, by = rows
    frame = pd.DataFrame({"y": y, "s": score, "land": by})
    expected = uc.evaluate(y, score, by=by, threshold=1.0, label_frequency=0.4).table()
    options = {"threshold": 1.0, "label_frequency": 0.4}
    columns = {"label": "y", "score": "s", "by": "land"}
    if kind == "mapping":
        found = uc.evaluate(uc.count_scores(frame, **columns), by="land", **options)
    else:
        if kind == "polars":
            frame = pytest.importorskip("polars").from_pandas(frame)
        elif kind == "arrow":
            frame = pytest.importorskip("pyarrow").Table.from_pandas(frame)
        elif kind == "duckdb":
            frame = pytest.importorskip("duckdb").from_df(frame)
        found = uc.evaluate(frame, **columns, **options)
    table = found.table()
    assert table.pop("land") == expected.pop("segment")
    for name, values in expected.items():
        if name in ("metric", "note"):
            assert table[name] == values
        else:
            np.testing.assert_allclose(table[name], values, rtol=1e-9)


def test_shares_may_be_given_for_each_segment(rows):
    y, score, by = rows
    given = {"DE": 0.1, "FR": 0.2, "US": 0.15}
    found = uc.evaluate(y, score, by=by, unlabeled_prevalence=given, threshold=1.0)
    assert {row.segment: row.share.value for row in found.rows if row.share} == given
    assert "no value for this segment" not in str(found)  # MT has no labels, which comes first
    del given["US"]
    assert "no value" in uc.evaluate(y, score, by=by, unlabeled_prevalence=given).row("US").note


def _uneven_segments(seed=0):
    """Make segments whose prevalence differs, labelled by one frequency."""
    rng = np.random.default_rng(seed)
    by = np.repeat(["high", "low", "middle"], [3000, 9000, 6000])
    share = np.repeat([0.5, 0.02, 0.15], [3000, 9000, 6000])
    truth = rng.random(len(by)) < share
    y = np.where(truth & (rng.random(len(by)) < 0.4), 1.0, np.nan)
    return y, rng.normal(2.0 * truth), by, truth


@pytest.mark.parametrize("name", ["prevalence", "unlabeled_prevalence"])
def test_a_share_of_all_rows_is_shared_out_among_segments(name):
    y, score, by, truth = _uneven_segments()
    known = truth.mean() if name == "prevalence" else truth[np.isnan(y)].mean()
    found = uc.evaluate(y, score, by=by, threshold=1.0, **{name: float(known)})
    assert found.shared_out
    for row in found.rows:
        there = by == row.segment
        hidden = truth[there & np.isnan(y)].mean()
        assert row.share.low < hidden < row.share.high
        flagged = there & (score >= 1.0)
        precision = next(each for each in row.rows if each.metric == "precision").estimate
        assert precision.low < truth[flagged].mean() < precision.high
    words = f"{100 * known:.3g} % of all"
    assert words in str(found)
    assert "shared out by one label frequency" in str(found)
    assert "shared out by one label frequency" in found.to_markdown()
    assert "of all" in json.loads(found.to_json())["shared_out"]
    # All that is hidden is shared out, no more and no less.
    total = sum(row.share.value * row.counts.n_unlabeled for row in found.rows)
    overall = found.overall
    assert total == pytest.approx(overall.shares.unlabeled_prevalence * overall.counts.n_unlabeled)


def _labelled_alike_or_not(chances, seed=0, shift=0.0):
    """Make three segments drawn from one population, each labelled as often as said."""
    rng = np.random.default_rng([seed, 21])
    by, truth = rng.integers(0, 3, 6000), rng.random(6000) < 0.1
    y = np.where(truth & (rng.random(6000) < np.array(chances)[by]), 1.0, np.nan)
    return y, rng.normal(2.0 * truth + shift * (by == 2)), by, truth


def test_segments_that_are_not_labelled_alike_are_not_compared(tmp_path):
    y, score, by, _ = _labelled_alike_or_not((0.5, 0.5, 0.15))
    found = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=0.1)
    check = next(each for each in found.overall.checks if each.code == "UC022")
    assert check.level == "fail"
    assert "labelled less often" in check.message
    assert "its own prevalence" in check.advice
    assert np.isnan(found.heterogeneity("precision").p_value)
    assert found.differences("precision") == ()
    assert found.require("precision >= 0.1").outcome == "inconclusive"
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (" ".join(str(found).split()), found.to_markdown(), page):
        assert "; segments differ (p" not in text
        assert "not known (UC022)" in text
        assert "give each its own prevalence" in text
        assert "segments are not compared" in text
        assert "segments are not labelled alike" in text


def _one_labelled_far_more(seed=0):
    """Make two segments that score so unlike that only their limits tell how each is labelled."""
    rng = np.random.default_rng([seed, 22])
    by = np.array(["north", "south"])[rng.integers(0, 2, 4000)]
    truth = rng.random(4000) < np.where(by == "north", 0.1, 0.35)
    y = np.where(truth & (rng.random(4000) < np.where(by == "north", 0.6, 0.18)), 1.0, np.nan)
    return y, rng.normal(4.0 * truth + 0.7 * (by == "south")), by, truth


def test_a_share_that_one_segment_cannot_have_is_none_of_the_others():
    y, score, by, truth = _one_labelled_far_more()
    found = uc.evaluate(y, score, by=by, threshold=2.2, prevalence=truth.mean())
    (check,) = [each for each in found.overall.checks if each.code == "UC022"]
    assert check.level == "fail"
    assert "'north': one label frequency gives it" in check.message
    assert "its own prevalence" in check.advice
    assert found.unlike_labels
    true = truth[(by == "south") & (score >= 2.2)].mean()
    for name in ("north", "south"):
        recall, precision = found.row(name).rows
        assert np.isnan(precision.estimate.value)
        assert np.isfinite(recall.estimate.value)
        assert found.row(name).share is None
        assert "UC022" in {each.code for each in found[name].checks if each.level == "fail"}
        assert found[name].verdict.light == "unsupported"
    assert true in found.row("south").rows[1].estimate.interval
    # Neither met nor failed, on either side of what was shared out.
    for required in ("precision >= 0.3", "precision >= 0.9", "precision <= 0.9", "recall >= 0.5"):
        assert {each.outcome for each in found.require(required).judgements} == {"inconclusive"}
    own = {name: truth[by == name].mean() for name in ("north", "south")}
    told = uc.evaluate(y, score, by=by, threshold=2.2, prevalence=own)
    assert told.row("south").rows[1].estimate.value == pytest.approx(true, abs=0.03)


def test_more_labels_than_scores_allow_by_chance_refuse_no_segment():
    """Labelled alike: small segments whose labels are many by chance are fitted, not refused."""
    rng = np.random.default_rng(3)
    by = np.repeat(np.arange(150), 80)
    truth = rng.random(12000) < 0.2
    y = np.where(truth & (rng.random(12000) < 0.4), 1.0, np.nan)
    score = rng.normal(4.0 * truth)
    found = uc.evaluate(y, score, by=by, threshold=2.0, prevalence=truth.mean())
    assert not found.unlike_labels
    labelled = [row for row in found.rows if row.counts.n_positive > 0]
    assert all(row.rows for row in labelled)
    cut = [row for row in found.rows if "the most that fits its scores" in row.note]
    assert cut
    for row in cut[:3]:  # the line and the whole evaluation are one
        whole = found[row.segment]
        assert whole.shares.unlabeled_prevalence == row.share.value
        assert whole["precision"].value == pytest.approx(row.rows[1].estimate.value, abs=1e-12)


def test_known_shares_tell_that_all_rows_are_no_fair_sample():
    y, score, by, truth = _one_labelled_far_more()
    own = {name: truth[by == name].mean() for name in ("north", "south")}
    found = uc.evaluate(y, score, by=by, threshold=2.2, prevalence=own)
    (check,) = [each for each in found.overall.checks if each.code == "UC022"]
    assert (check.level, found.unlike_labels) == ("fail", False)
    assert "60 % of the positives are labelled in 'north'" in check.message
    assert np.isfinite(found.row("south").rows[1].estimate.value)
    half = uc.evaluate(y, score, by=by, threshold=2.2, prevalence={"north": own["north"]})
    (check,) = [each for each in half.overall.checks if each.code == "UC022"]
    assert "which others lack" in check.message
    alike = uc.evaluate(
        y, score, by=by, threshold=2.2, label_frequency={"north": 0.3, "south": 0.3}
    )
    assert "UC022" not in {each.code for each in alike.overall.checks}


@pytest.mark.slow
def test_segments_labelled_alike_are_seldom_ruled_out():
    """Well separated classes, where the limit of the scores is the share itself."""
    failed, seen = [], []
    for seed in range(150):
        rng = np.random.default_rng([seed, 23])
        by = rng.integers(0, 12, 6000)
        truth = rng.random(6000) < (0.05 + 0.03 * by)
        y = np.where(truth & (rng.random(6000) < 0.4), 1.0, np.nan)
        score = rng.normal(4.0 * truth)
        options = {"by": by, "threshold": 2.0, "prevalence": truth.mean()}
        found = uc.evaluate(y, score, **options)
        failed.append(found.unlike_labels)
        assert all(row.rows for row in found.rows)
        y, score, by, truth = _one_labelled_far_more(seed)
        found = uc.evaluate(y, score, by=by, threshold=2.2, prevalence=truth.mean())
        seen.append(found.unlike_labels)
    assert np.mean(failed) <= 0.08
    assert np.mean(seen) >= 0.95


def test_segments_labelled_alike_are_compared_and_the_assumption_stands_there():
    y, score, by, truth = _labelled_alike_or_not((0.4, 0.4, 0.4))
    found = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=truth.mean())
    assert [each.level for each in found.overall.checks if each.code == "UC022"] == ["ok"]
    said = " ".join(str(found).split())
    assert "assumes that a positive is as likely to be labelled in each segment" in said
    assert "Tests speak of the population behind these rows" in said
    # Nothing stands out, so that no difference is explained; what is tested supposes the labels.
    assert "Differences:" not in said
    assert "; if they are labelled alike)" in said


def test_segments_whose_scores_are_unlike_cannot_be_asked():
    y, score, by, truth = _labelled_alike_or_not((0.4, 0.4, 0.4), shift=0.5)
    found = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=truth.mean())
    assert [each.level for each in found.overall.checks if each.code == "UC022"] == ["info"]
    assert np.isfinite(found.heterogeneity("precision").p_value)


def test_each_segment_takes_its_part_of_the_chances():
    rng = np.random.default_rng(24)
    truth, large = rng.random(3000) < 0.2, rng.random(3000) < 0.5
    score, chance = rng.normal(1.5 * truth + 0.5 * large), np.where(large, 0.6, 0.2)
    y = (truth & (rng.random(3000) < chance)).astype(int)
    by = np.array(["a", "b", "odd"], object)[rng.integers(2, size=3000)]
    by[:5], y[:5], chance[:5] = "odd", [1, 1, 0, 0, 0], 0.1  # two labels of five stand for twenty
    options = {"unlabeled": 0, "threshold": 1.0, "metrics": ["recall", "precision", "roc_auc"]}
    found = uc.evaluate(y, score, by=by, assume=uc.LabelPropensity(chance), **options)
    for name in ("a", "b"):
        here = by == name
        alone = uc.evaluate(
            y[here], score[here], assume=uc.LabelPropensity(chance[here]), **options
        )
        got = {row.metric: row.estimate for row in found.row(name).rows}
        assert got == {row.metric: row.estimate for row in alone.rows}
        assert found[name].recovery.chances.positives == alone.recovery.chances.positives
    assert "must stand for more than none and fewer than all rows" in found.row("odd").note
    many = uc.evaluate(
        y, score, by=by, assume=uc.LabelPropensity(chance), target="population", **options
    )
    assert found.heterogeneity("recall") == many.heterogeneity("recall")
    frame = pd.DataFrame({"y": y, "s": score, "by": by, "e": chance})
    same = uc.evaluate(
        frame, label="y", score="s", by="by", assume=uc.LabelPropensity("e"), **options
    )
    assert same.row("a").rows == found.row("a").rows
    counted = uc.count_scores(frame, label="y", score="s", by="by", unlabeled=0)
    with pytest.raises(uc.InputError, match="needs rows in memory"):
        uc.evaluate(counted, assume=uc.LabelPropensity(chance))


def test_a_segment_where_the_score_is_useless_is_no_sign_of_unlike_labels():
    y, score, by, truth = _labelled_alike_or_not((0.5, 0.5, 0.5))
    score = np.where(by == 2, np.random.default_rng(3).normal(size=len(y)), score)
    found = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=truth.mean())
    assert [each.level for each in found.overall.checks if each.code == "UC022"] == ["info"]
    assert found.require("recall >= 0.5").judgements[2].outcome == "failed"


def test_the_tests_speak_of_the_population_unless_asked_of_the_rows():
    y, score, by, truth = _labelled_alike_or_not((0.6, 0.6, 0.6))
    options = {"threshold": 1.5, "prevalence": {k: truth[by == k].mean() for k in range(3)}}
    rows = uc.evaluate(y, score, by=by, **options)
    whole = uc.evaluate(y, score, by=by, target="population", **options)
    for metric in ("recall", "precision"):
        assert rows.heterogeneity(metric) == whole.heterogeneity(metric)
        assert rows.heterogeneity(metric, "rows").p_value < rows.heterogeneity(metric).p_value
    with pytest.raises(uc.InputError, match="question"):
        rows.heterogeneity("recall", "truth")


@pytest.mark.slow
def test_alike_segments_differ_as_seldom_as_said():
    """Segments of one population: of each share given, and of one that is shared out."""
    differ, failed, seen = [], [], []
    for seed in range(400):
        y, score, by, truth = _labelled_alike_or_not((0.4, 0.4, 0.4), seed)
        each = {k: truth[by == k].mean() for k in range(3)}
        own = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=each)
        differ.append([own.heterogeneity(name).p_value < 0.05 for name in ("recall", "precision")])
        shared = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=truth.mean())
        failed.append(shared.unlike_labels)
        y, score, by, truth = _labelled_alike_or_not((0.5, 0.5, 0.15), seed)
        unlike = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=truth.mean())
        seen.append(unlike.unlike_labels)
    # Two tests that see much the same share the risk, so that fewer than .05 differ.
    assert np.all(np.mean(differ, axis=0) <= 0.07), np.mean(differ, axis=0)
    assert np.mean(failed) <= 0.07
    assert np.mean(seen) >= 0.9


def test_what_is_shared_out_keeps_its_range_and_its_error():
    y, score, by, truth = _uneven_segments(1)
    known = float(truth.mean())
    point = uc.evaluate(y, score, by=by, threshold=1.0, prevalence=known).row("middle").share
    around = (0.9 * known, 1.1 * known)
    wide = uc.evaluate(y, score, by=by, threshold=1.0, prevalence=around).row("middle").share
    surer = uc.Estimate(known, *around, 0.05 * known)
    rough = uc.evaluate(y, score, by=by, threshold=1.0, prevalence=surer).row("middle").share
    assert wide.value == pytest.approx(point.value) == rough.value
    assert point.high < rough.high < wide.high


def test_a_segment_that_cannot_have_its_part_says_so_alone():
    y, score, by, _ = _uneven_segments(2)
    crowded = np.flatnonzero((by == "high") & np.isnan(y))[300:]
    kept = np.delete(np.arange(len(y)), crowded)  # few unlabeled rows are left for many labels
    found = uc.evaluate(y[kept], score[kept], by=by[kept], threshold=1.0, prevalence=0.115)
    assert "one label frequency" in found.row("high").note
    assert found.row("low").rows
    assert found.row("middle").rows


def test_the_chance_of_a_part_is_that_of_a_draw_of_labels():
    """Labels drawn without replacement: the errors are as large as the hypergeometric says."""
    rng = np.random.default_rng(3)
    positives, of_part, labels, rows, rows_of_part = 2000, 500, 600, 20_000, 4000
    drawn = rng.hypergeometric(of_part, positives - of_part, labels, 4000)
    errors, spans = [], []
    for found in drawn[:400]:
        part = ScoreCounts.from_counts([1.0], [found], [0], [rows_of_part - found])
        rest = ScoreCounts.from_counts(
            [1.0], [labels - found], [0], [rows - rows_of_part - labels + found]
        )
        whole = part + rest
        share = share_out(Shares.from_positives(whole, positives), whole, part)
        errors.append(share.value - (of_part - found) / part.n_unlabeled)
        spans.append(share.standard_error)
    assert np.std(errors) == pytest.approx(np.mean(spans), rel=0.1)


def test_dates_periods_and_missing_values_are_segments():
    days = pd.to_datetime(["2024-02-01", "2024-01-01", None, "2024-01-01"])
    assert list(split_rows(days, 4)) == [dt.date(2024, 1, 1), dt.date(2024, 2, 1), None]
    months = pd.Series(days).dt.to_period("M")
    assert list(split_rows(months, 4)) == ["2024-01", "2024-02", None]
    pairs = split_rows([np.array(["a", "b", "a", "a"]), np.array([1, 2, 1, 3])], 4)
    assert {key: rows.tolist() for key, rows in pairs.items()} == {
        ("a", 1): [0, 2], ("a", 3): [3], ("b", 2): [1],
    }  # fmt: skip
    with pytest.raises(uc.InputError, match="one value a row"):
        split_rows(["a"], 4)


def test_paule_mandel_solves_its_equation():
    rng = np.random.default_rng(1)
    noise = rng.uniform(0.1, 0.5, 30)
    value = rng.normal(0, 1, 30) + rng.normal(0, np.sqrt(noise))
    between = spread_between(value, noise)
    weight = 1 / (noise + between)
    centre = weight @ value / weight.sum()
    assert weight @ (value - centre) ** 2 == pytest.approx(29)
    assert spread_between(np.zeros(5), np.ones(5)) == 0


def test_alike_segments_are_pooled_fully_and_unlike_ones_hardly():
    whole, few = uc.Estimate(0.1, 0.099, 0.101), dict.fromkeys(range(3), 25)
    alike = {i: uc.Estimate(s, s / 2, 2 * s) for i, s in enumerate([0.1, 0.11, 0.09])}
    found = pool_shares(alike, few, whole, ("new",))
    assert found.spread == 0
    assert found.pooled[1].value == pytest.approx(found.pooled["new"].value)
    assert found.pooled[1].interval == alike[1].interval
    unlike = {i: uc.Estimate(s, 0.98 * s, 1.02 * s) for i, s in enumerate([0.05, 0.1, 0.3])}
    found = pool_shares(unlike, dict.fromkeys(range(3), 1e6), whole, ("new",))
    assert [found.pooled[i].value for i in range(3)] == pytest.approx([0.05, 0.1, 0.3], rel=0.01)
    assert found.pooled["new"].low < 0.05
    assert found.pooled["new"].high > 0.3


def test_no_segment_with_labels_takes_the_whole():
    whole = uc.Estimate(0.1, 0.05, 0.2)
    assert pool_shares({}, {}, whole, ("a",)).pooled["a"] == whole


def points(values, error, segments=None):
    """Precisions with symmetric intervals on the log odds."""
    z = stats.norm.ppf(0.975)
    place = np.log(values / (1 - values))
    low, high = (1 / (1 + np.exp(-(place + side * z * error))) for side in (-1, 1))
    segments = list(range(len(values))) if segments is None else segments
    found = [uc.Estimate(*each) for each in zip(values, low, high, strict=True)]
    return read_points("precision", list(zip(segments, found, strict=True)))


def test_heterogeneity_is_cochrans_q():
    values, error = np.array([0.5, 0.6, 0.7]), 0.2
    place = np.log(values / (1 - values))
    q = np.sum((place - place.mean()) ** 2) / error**2
    found = find_heterogeneity(points(values, error))
    assert found.statistic == pytest.approx(q, rel=1e-6)
    # The largest difference: 0.7 against the others, which spread no more than chance lets them.
    apart = (place[2] - place[:2].mean()) / np.sqrt(1.5 * error**2)
    largest = 1 - (1 - 2 * stats.norm.sf(apart)) ** 3
    assert found.p_value == pytest.approx(2 * min(stats.chi2.sf(q, 2), largest), rel=1e-6)


def test_of_two_segments_both_tests_are_one():
    some = points(np.array([0.5, 0.6]), 0.15)
    whole = find_heterogeneity(some).p_value
    assert whole == pytest.approx(stats.chi2.sf(find_heterogeneity(some).statistic, 1))
    assert [each.adjusted_p_value for each in find_deviations(some)] == pytest.approx([whole] * 2)


def test_no_difference_is_clear_where_segments_do_not_differ():
    rng, seen = np.random.default_rng(8), []
    for draw in range(600):
        error = rng.uniform(0.1, 0.6, rng.integers(2, 15))
        apart = rng.normal(0.0, 0.3 * (draw % 3), len(error))
        values = 1 / (1 + np.exp(-rng.normal(apart, error)))
        some = points(values, error)
        whole, each = find_heterogeneity(some).p_value, find_deviations(some)
        assert min(d.adjusted_p_value for d in each) >= whole
        clear = [not d.difference.low <= 0 <= d.difference.high for d in each]
        assert all(d.adjusted_p_value < 0.05 for d, out in zip(each, clear, strict=True) if out)
        seen.append((whole < 0.05, any(clear)))
    assert {(True, True), (True, False), (False, False)} == set(seen)


def test_the_spread_of_the_others_is_that_without_the_one():
    rng = np.random.default_rng(9)
    value, error = rng.normal(0, 0.5, 7), rng.uniform(0.1, 0.4, 7)
    some = points(1 / (1 + np.exp(-value)), error)
    for i, found in enumerate(find_deviations(some)):
        y, w = np.delete(value, i), 1 / np.delete(error, i) ** 2
        q = w @ (y - w @ y / w.sum()) ** 2
        between = max(0.0, (q - 5) / (w.sum() - w @ w / w.sum()))
        weight = 1 / (np.delete(error, i) ** 2 + between)
        middle = weight @ y / weight.sum()
        reach = stats.norm.ppf((1 + 0.975 ** (1 / 7)) / 2) * np.sqrt(
            error[i] ** 2 + 1 / weight.sum()
        )
        low = special.expit(value[i] - reach) - special.expit(middle)
        assert found.difference.low == pytest.approx(low, rel=1e-6)


def test_the_odd_segment_stands_out_and_the_others_do_not():
    found = find_deviations(points(np.array([0.5, 0.5, 0.5, 0.5, 0.9]), 0.2))
    assert [each.adjusted_p_value < 0.05 for each in found] == [False] * 4 + [True]
    assert found[-1].difference.low > 0


def test_the_trend_is_the_line():
    place = np.linspace(-1, 1, 6)
    values = 1 / (1 + np.exp(-place))
    found = find_trend(points(values, 0.1, [f"2024-{i:02d}" for i in range(1, 7)]))
    assert (found.first, found.last) == pytest.approx((values[0], values[-1]))
    assert found.p_value < 1e-6
    assert find_trend(points(values[:2], 0.1)) is None


def test_false_alarms_keep_their_level():
    rng = np.random.default_rng(2)
    out = trends = 0
    for _ in range(400):
        values = 1 / (1 + np.exp(-rng.normal(0.3, 0.25, 12)))
        some = points(values, 0.25)
        out += any(each.adjusted_p_value < 0.05 for each in find_deviations(some))
        trends += find_trend(some).p_value < 0.05
    assert out / 400 < 0.08
    assert trends / 400 < 0.08


def test_the_page_has_a_row_a_segment_and_no_script(rows, tmp_path):
    y, score, by = rows
    by = np.where(by == "US", "<script>", by)
    found = uc.evaluate(y, score, by=by, threshold=1.0)
    found.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("<tr>") == 1 + 1 + 4  # head, all rows, segments
    assert "Content-Security-Policy" in text
    facts = json.loads(found.to_json())
    assert facts["schema"] == "undercount/segments/1"
    assert len({row["segment"] for row in facts["segments"]}) == 4


def test_wrong_mappings_are_refused():
    with pytest.raises(uc.InputError, match="counts of one score by segment"):
        uc.evaluate({"a": {"b": 1}})
    with pytest.raises(uc.InputError, match="counts of one score by segment"):
        uc.evaluate({})


def test_the_typed_options_are_those_of_evaluate():
    # Resolved at run time: overloads name the same options as the function itself.
    taken = set(inspect.signature(uc.evaluate).parameters) - {"y", "score", "by"}
    assert set(EvaluateOptions.__annotations__) == taken


def test_each_segment_has_its_own_clusters():
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(300), 6)
    truth = rng.random(len(who)) < 0.3
    score = 1.5 * truth + rng.normal(size=300)[who]  # a customer's noise is one
    y, by = (truth & (rng.random(300) < 0.5)[who]).astype(int), np.arange(len(who)) % 2
    ask = {"unlabeled": 0, "threshold": 1.0, "prevalence": 0.3}
    own = {**ask, "prevalence": {0: 0.3, 1: 0.3}}
    found = uc.evaluate(y, score, by=by, cluster=who, **own)
    plain = uc.evaluate(y, score, by=by, **own)
    for segment in (0, 1):
        here = by == segment
        alone = uc.evaluate(y[here], score[here], cluster=who[here], **ask)["recall"]
        assert found.estimates("recall")[segment] == alone
        width = plain.estimates("recall")[segment].interval.width
        assert alone.interval.width > 1.2 * width
    frame = pd.DataFrame({"y": y, "s": score, "who": who, "by": by})
    columns = {"label": "y", "score": "s", "by": "by", "cluster": "who"}
    named = uc.evaluate(frame, **columns, **own)
    assert named.estimates("recall") == found.estimates("recall")
    counted = uc.count_scores(frame, label="y", score="s", by="by", unlabeled=0)
    with pytest.raises(uc.InputError, match="needs the rows themselves"):
        uc.evaluate(counted, cluster=who, threshold=1.0)


def test_a_small_segment_with_a_share_of_its_own_has_no_one_elses():
    y, score = (np.arange(50) % 10 == 0).astype(int), np.linspace(1, 0, 50)
    found = uc.evaluate(y, score, by=np.zeros(50), unlabeled=0, prevalence=0.2, threshold=0.5)
    assert found.row(0.0).note == "only 5 labelled rows: its interval is a rough one"


def test_what_the_same_labels_do_to_share_and_recall_is_not_added_twice():
    # 60 of 100 labels and 240 of 900 unlabeled rows flagged, 20 % of those positive. Precision is
    # .6 × 280/300; its slope in the log odds of the share .6 × 900 × .2 × .8/300 = .288.
    counts = ScoreCounts.from_counts([1.0, 0.0], [60, 40], [0, 0], [240, 660])
    design = design_of(counts, Shares(0.2), "single-sample", "dataset")
    heads = FlaggedCounts.at(counts, design, 1.0)
    found = SharedLabels.of(heads, "precision", [LabelPart(0.04, 0.7)], 2.0)
    assert found.square.item() == pytest.approx((2 * 0.288) ** 2 * 0.04, rel=1e-3)
    assert found.opposed.item() == pytest.approx(0.7)
    # Both errors are in the labels wholly: what is left is their difference in squares.
    whole = SharedLabels(np.array([0.09]), np.array([1.0]))
    assert whole.reach(0.2, 0.3).item() == pytest.approx(math.sqrt(0.3**2 - 0.2**2))
    # More positives make accuracy lower where less than half of them are flagged: they add up.
    few = FlaggedCounts(np.array([30.0, 240.0, 0.0]), design)
    assert SharedLabels.of(few, "accuracy", [LabelPart(0.04, 0.7)], 2.0).opposed.item() < 0
    unknown = SharedLabels.of(heads, "precision", [None], 2.0)
    assert unknown.reach(0.3, 0.4).item() == pytest.approx(0.5)


def test_an_end_that_the_range_cuts_loses_nothing_to_common_labels():
    """Labels and share both reach to a precision of 1: so does the interval, and not to nothing."""
    whole = SharedLabels(np.array([0.09]), np.array([1.0]))
    assert whole.reach([0.1], [0.1]).item() == 0.0
    assert whole.reach([0.1], [0.1], cut=[True]).item() == pytest.approx(0.1 * np.sqrt(2))
    # What goes the same way is added all the same.
    along = SharedLabels(np.array([0.09]), np.array([-1.0]))
    assert along.reach([0.1], [0.1], cut=[True]).item() == pytest.approx(0.2)
    rng = np.random.default_rng(8)
    truth = rng.random(6000) < 0.3
    y = np.where(truth & (rng.random(6000) < 0.3), 1.0, np.nan)
    score, segment = rng.normal(size=6000) + 3.2 * truth, np.arange(6000) % 4
    found = uc.evaluate(y, score, by=segment, threshold=2.8)  # nearly all flagged rows are real
    for row in found.rows:
        here = (segment == row.segment) & (score >= 2.8)
        spans = [
            next(r.estimate for r in rows if r.metric == "precision")
            for rows in (row.rows, found[row.segment].rows)
        ]
        assert all(span.low <= truth[here].mean() <= span.high for span in spans)


def test_a_range_begins_where_the_labels_do(rows):
    y, score, by = rows
    least = np.nanmean(np.where(np.isnan(y), 0, 1))
    wide = uc.evaluate(y, score, by=by, threshold=1.0, prevalence=(0.01, 0.2))
    cut = uc.evaluate(y, score, by=by, threshold=1.0, prevalence=(least, 0.2))
    assert wide.estimates("precision") == cut.estimates("precision")
    assert "so many rows are labelled positive" in str(wide)
    with pytest.raises(uc.InputError, match="must be in"):
        uc.evaluate(y, score, threshold=1.0, prevalence=(0.01, 0.02))
    with pytest.warns(uc.MisfitWarning, match="begins at"):
        uc.metrics.precision(y, score, threshold=1.0, prevalence=(0.01, 0.2))


def test_a_share_that_fits_easily_fits():
    # The quick look may miss a share that fits, never let one pass that does not.
    rng, easy, fitting = np.random.default_rng(1), 0, 0
    for _ in range(200):
        truth = rng.random(300) < rng.uniform(0.03, 0.5)
        y = np.where(truth & (rng.random(300) < rng.uniform(0.1, 0.9)), 1.0, np.nan)
        if np.nansum(y) < 2:
            continue
        score = np.round(rng.normal(rng.uniform(0, 4) * truth), int(rng.choice([1, 6])))
        weight = rng.exponential(size=300) if rng.random() < 0.3 else None
        counts = ScoreCounts.from_rows(y, score, sample_weight=weight)
        shares = Shares(0.8 * rng.random() ** 2)
        design = design_of(counts, shares, "single-sample", rng.choice(["dataset", "population"]))
        knots = label_heads(counts)
        easy += fits_easily(counts, knots, design)
        fitting += rates_fit(knots, design)
        assert rates_fit(knots, design) or not fits_easily(counts, knots, design)
    assert fitting > easy > 80


def test_every_number_of_the_page_has_its_name_where_columns_have_none(tmp_path):
    """Below 720 px rows stand as lists, and a cell shows its label."""
    y, score, by, truth = _labelled_alike_or_not((0.4, 0.4, 0.4))
    y[by == 0] = np.nan  # of a segment without labels nothing can be said
    found = uc.evaluate(y, score, by=by, threshold=1.5, prevalence=truth.mean())
    found.to_html(tmp_path / "page.html")
    body = (tmp_path / "page.html").read_text().split("<tbody>")[1].split("</tbody>")[0]
    names = ["rows", "labels", "hidden positives", "recall@1.5", "precision@1.5"]
    names.append("what cannot be said")
    assert re.findall(r'data-label="(.*?)"', body) == names * (len(found.rows) + 1)
    assert body.count("<td") == 7 * (len(found.rows) + 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_weights_are_not_called_rows(weighted, tmp_path, monkeypatch):
    y, score, by, truth = _labelled_alike_or_not((0.4, 0.4, 0.4))
    weight = np.where(np.arange(len(y)) % 2, 2.0, 3.0) if weighted else None
    found = uc.evaluate(y, score, by=by, top=50, prevalence=truth.mean(), sample_weight=weight)
    found.to_html(tmp_path / "page.html")
    sizes = ("weight", "labelled") if weighted else ("rows", "labels")
    assert found.to_markdown().startswith("| segment | {} | {} |".format(*sizes))
    page = (tmp_path / "page.html").read_text()
    for name in sizes:
        assert f'<th scope="col">{name}</th>' in page
        assert f'<td data-label="{name}">' in page
    for columns, pattern in (("60", r"\n   {} .*\n   {} "), ("300", r"\n segment +{} +{} ")):
        monkeypatch.setenv("COLUMNS", columns)
        assert re.search(pattern.format(*sizes), str(found)), columns


def test_segments_that_nothing_can_compare_by_labelling_say_so():
    """Scores of one segment lie elsewhere: they tell nothing of how the other was labelled."""
    rng = np.random.default_rng(3)
    segment = np.repeat(["a", "b"], 3000)
    truth = rng.random(6000) < 0.2
    y = truth & (rng.random(6000) < np.where(segment == "a", 0.6, 0.3))
    score = rng.normal(2 * truth + np.where(segment == "a", 0.0, 3.0))
    found = uc.evaluate(y, score, by=segment, unlabeled=0, prevalence=0.2, threshold=2.0)
    assert any(check.code == "UC022" and check.level == "info" for check in found.overall.checks)
    assert "whether segments are labelled alike cannot be tested" in " ".join(str(found).split())
    asked = found.require("precision >= 0.1", "precision >= 0.9", "recall >= 0.1").judgements
    assert [each.outcome for each in asked] == [*["inconclusive"] * 4, "met", "met"]
    # The first is met by the numbers, which rest on what nothing here tells.
    assert "labelled alike cannot be tested (UC022)" in asked[0].why
    assert asked[0].requirement.verdict(asked[0].estimate) == "met"
