"""Chances told by the dates of labels: every metric, with the error of the delays inside."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from tests.prevalence.test_late_labels import UNTIL, draw

import undercount as uc
from undercount.assume.propensity.chances import Chances
from undercount.cli.main import main
from undercount.errors import collect_warnings
from undercount.prevalence import LateLabels
from undercount.read.monitor.delays import metrics_of_late

CUT = 1.3


def dated(seed=0, **design):
    """Rows with drift, and what their dates tell."""
    seen, truth, score, found = draw(np.random.default_rng(seed), **{"drift": 0.5, **design})
    with collect_warnings():
        return LateLabels().fit(seen, found, until=UNTIL), truth, score, (seen, found)


def test_metrics_are_those_of_the_monitor():
    late, _, score, _ = dated()
    found = uc.evaluate(late.labels_, score, assume=uc.DelayedLabels.of(late), threshold=CUT)
    for name, expected in metrics_of_late(late, score >= CUT).items():
        assert found[name].value == pytest.approx(expected.value)
        # Half a label of either kind is added here.
        assert found[name].standard_error == pytest.approx(expected.standard_error, rel=0.01)
        assert found[name].needs[:3] == expected.needs
    assert found.counts.n_rows == late.usable_.sum() < len(score)
    assert found.source == "dates of labels"


def test_the_error_of_the_delays_is_inside():
    late, _, score, _ = dated()
    old = late.usable_
    known = Chances.of(late.labels_[old], score[old], late.chance_[old])
    told = Chances.of(late.labels_[old], score[old], late)
    # Precision is hits / flagged: its variance is that of the hits, over the flagged squared.
    flagged, use = score >= CUT, late.rows_.labelled & old
    adds = flagged[use] / late.chance_[use] / (flagged & old).sum()
    extra = late.chance_variance(adds, use)
    one, other = (each.estimate("precision", CUT).standard_error for each in (known, told))
    # Rates there have half a label of either kind added, of some 970.
    assert other**2 - one**2 == pytest.approx(extra, rel=2 / 970)
    assert extra > 0
    for metric in ("roc_auc", "average_precision", "lift_auc"):
        assert told.estimate(metric).interval.width > known.estimate(metric).interval.width
    assert told.share.standard_error > known.share.standard_error


def test_an_immature_oldest_cohort_forbids_to_report():
    for first, n, words in ((240, 12_000, ""), (300, 3000, "the oldest rows are 59 days old")):
        _, _, score, (seen, found) = dated(n=n)
        young = seen > first
        with collect_warnings():
            late = LateLabels().fit(seen[young], found[young], until=UNTIL)
        asked = {"assume": uc.DelayedLabels.of(late), "threshold": CUT}
        if words:  # as many positives as rows, or more: nothing is known at all
            with pytest.raises(uc.InputError, match=words):
                uc.evaluate(late.labels_, score[young], **asked)
            continue
        result = uc.evaluate(late.labels_, score[young], **asked)
        assert [check.level for check in result.checks if check.code == "UC023"] == ["fail"]
        assert result.require("recall >= 0.1").outcome == "inconclusive"


def test_what_does_not_go_with_dates_is_refused():
    late, truth, score, _ = dated(n=3000)
    with pytest.raises(uc.InputError, match="pass its labels_ as y"):
        uc.evaluate(np.where(truth, 1.0, np.nan), score, assume=uc.DelayedLabels.of(late))
    models = {"a": score, "same": score.copy()}
    same = uc.compare(late.labels_, models, assume=uc.DelayedLabels.of(late), threshold=CUT)
    assert same.difference("precision").difference.value == 0


def test_segments_take_their_part_of_the_dates():
    late, _, score, _ = dated(n=6000)
    options = {"assume": uc.DelayedLabels.of(late), "threshold": CUT}
    whole = uc.evaluate(late.labels_, score, **options)
    one = uc.evaluate(late.labels_, score, by=np.full(6000, "all"), **options)
    for metric in ("precision", "recall", "roc_auc"):
        alone, part = whole[metric], one["all"][metric]
        assert (part.value, part.low, part.high) == pytest.approx(
            (alone.value, alone.low, alone.high), abs=1e-12
        )
    # Half of the rows: the labels that have arrived, each over its chance, among the flagged.
    part = np.arange(6000) % 2 == 0
    halves = uc.evaluate(late.labels_, score, by=part, **options)
    use = late.usable_ & part
    hits = use & (score >= CUT) & (late.labels_ == 1)
    expected = (1 / late.chance_[hits]).sum() / (use & (score >= CUT)).sum()
    found = halves[True]["precision"]
    assert found.value == pytest.approx(expected)
    # The error of the delays is that of these labels.
    adds = np.ones(hits.sum()) / late.chance_[hits] / (use & (score >= CUT)).sum()
    drawn = (1 - late.chance_[hits]) * adds**2
    error = np.sqrt(drawn.sum() + late.chance_variance(adds, hits))
    assert found.standard_error == pytest.approx(error, rel=0.02)
    assert "UC022" in {check.code for check in halves[True].checks}


def test_counts_of_segments_have_no_dates():
    late, _, score, _ = dated(n=3000)
    frame = pd.DataFrame({"y": late.labels_, "s": score, "by": np.arange(3000) % 2})
    counted = uc.count_scores(frame, label="y", score="s", by="by")
    with pytest.raises(uc.InputError, match="needs rows in memory"):
        uc.evaluate(counted, assume=uc.DelayedLabels.of(late))


def test_a_segment_of_rows_that_are_too_recent_says_so():
    late, _, score, _ = dated(n=6000)
    part = np.where(late.usable_, "old", "young")
    found = uc.evaluate(
        late.labels_, score, by=part, assume=uc.DelayedLabels.of(late), threshold=CUT
    )
    old, young = found.rows
    assert old.counts.n_rows == late.usable_.sum()
    assert (young.counts.n_rows, young.rows) == (0, ())
    assert "too recent" in young.note
    with pytest.raises(uc.InputError, match="for 6,000 rows"):
        uc.evaluate(
            late.labels_, score, by=part[1:], assume=uc.DelayedLabels.of(late), threshold=CUT
        )


def test_the_threshold_is_swept_as_evaluate_reads_it():
    late, _, score, _ = dated(n=3000)
    rng = np.random.default_rng(3)
    truth = rng.random(2000) < 0.2
    chance, marks = np.where(rng.random(2000) < 0.5, 0.8, 0.3), rng.normal(1.5 * truth)
    y = np.where(truth & (rng.random(2000) < chance), 1.0, np.nan)
    dates = uc.DelayedLabels.of(late)
    for rows, marked, assume in (
        (y, marks, uc.LabelPropensity(chance)),
        (late.labels_, score, dates),
    ):
        found = uc.evaluate(rows, marked, assume=assume)
        swept = found.sweep("precision", over="threshold")
        assert set(swept) == {"threshold", "precision", "precision_low", "precision_high"}
        assert (np.diff(swept["threshold"]) < 0).all()
        for place in (3, 50, 90):
            at = float(swept["threshold"][place])
            with collect_warnings():
                alone = uc.evaluate(rows, marked, assume=assume, threshold=at)["precision"]
            ends = [swept[f"precision{end}"][place] for end in ("", "_low", "_high")]
            assert ends == pytest.approx([alone.value, alone.low, alone.high], abs=1e-12)
        with pytest.raises(uc.InputError, match="has no threshold"):
            found.sweep("roc_auc", over="threshold")


def test_the_command_takes_both_dates(tmp_path, capsys, monkeypatch):
    _, _, score, (seen, found) = dated(n=4000)
    days = np.datetime64("2024-01-01") + seen
    late = np.ceil(found)
    lines = ["p,y,day,label_day"]
    for one, day, label in zip(score, days, late, strict=True):
        date = "" if np.isnan(label) else str(np.datetime64("2024-01-01") + int(label))
        lines.append(f"{float(one)!r},{int(date != '')},{day},{date}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    asked = ["evaluate", str(path), "--label", "y", "--score", "p", "--threshold", str(CUT)]
    result, dates = tmp_path / "result.json", ["--observed", "day", "--found", "label_day"]
    assert main([*asked, *dates, "--until", "2024-12-26", "--json", str(result)]) == 0
    with collect_warnings():
        fitted = LateLabels().fit(seen, late, until=UNTIL)
    expected = uc.evaluate(fitted.labels_, score, assume=uc.DelayedLabels.of(fitted), threshold=CUT)
    model = json.loads(result.read_text(encoding="utf-8"))["models"][0]
    told = {row["metric"]: row["estimate"] for row in model["metrics"]}
    assert told["precision"] == pytest.approx(expected["precision"].value)
    young = int(np.count_nonzero(~fitted.usable_))
    assert f"{young:,} rows too young for a label left out" in capsys.readouterr().out
    # A pipe can be read once, with its dates.
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert main([asked[0], "-", *asked[2:], *dates]) == 0
    assert f"{young:,} rows too young for a label left out" in capsys.readouterr().out
    # A segment for each half of the rows.
    lines = [f"{line},{'half' if at == 0 else at % 2}" for at, line in enumerate(lines)]
    path.write_text("\n".join(lines), encoding="utf-8")
    asked += ["--until", "2024-12-26"]
    assert main([*asked, *dates, "--by", "half", "--json", str(result)]) == 0
    halves = uc.evaluate(
        fitted.labels_,
        score,
        assume=uc.DelayedLabels.of(fitted),
        threshold=CUT,
        by=np.arange(1, 4001) % 2,
    )
    halves = replace(halves, column="half")
    written = json.loads(result.read_text(encoding="utf-8"))["segments"]
    for told, expected in zip(written, json.loads(halves.to_json())["segments"], strict=True):
        assert told == pytest.approx(expected)
    assert main(asked[:-2] + dates) == 0
    capsys.readouterr()
    asked = asked[:-2]
    for wrong, words in (
        (dates[:2], "go together"),
        ([*dates, "--chance", "p"], "leave --chance out"),
        ([*dates, "--until", "2024-03-01"], "--until must not be before a row"),
    ):
        assert main([*asked, *wrong]) == 2
        assert words in capsys.readouterr().err


def tally(repeats, seed, **design):
    """Coverage of each metric, and its mean width, where chances are told by dates."""
    names = ("precision", "recall", "f1", "roc_auc", "average_precision")
    held, widths = [], []
    for at in range(repeats):
        late, truth, score, _ = dated([seed, at], **design)
        old = late.usable_
        real, rank = truth[old], score[old]
        flagged = rank >= CUT
        truths = {
            "precision": real[flagged].mean(),
            "recall": flagged[real].mean(),
            "f1": 2 * (real & flagged).sum() / (real.sum() + flagged.sum()),
            "roc_auc": roc_auc_score(real, rank),
            "average_precision": average_precision_score(real, rank),
        }
        chances = Chances.of(late.labels_[old], rank, late)
        found = [chances.estimate(name, CUT if name in names[:3] else None) for name in names]
        held.append([truths[n] in each.interval for n, each in zip(names, found, strict=True)])
        widths.append([each.interval.width for each in found])
    return dict(zip(names, np.mean(held, axis=0).round(3), strict=True)), np.mean(widths, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("delays", ["exponential", "log-normal"])
def test_every_metric_is_covered_though_the_rows_drift(delays):
    covered, widths = tally(400, 43, delays=delays)
    # Two standard errors of the repeats below .93.
    assert min(covered.values()) >= 0.93 - 2 * 0.0125, covered
    assert widths[0] <= 0.08


if __name__ == "__main__":
    for form in ("exponential", "log-normal"):
        for moved in (0.0, 0.5):
            print(form, moved, *tally(400, 43, delays=form, drift=moved), flush=True)  # noqa: T201
