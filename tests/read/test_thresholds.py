"""Several thresholds, and several numbers of highest rows, in one evaluation."""

import json

import numpy as np
import polars as pl
import pytest

import undercount as uc
from undercount.cli.main import main

RNG = np.random.default_rng(2)
TRUTH = RNG.random(4000) < 0.2
LABELS = np.where(TRUTH & (RNG.random(4000) < 0.5), 1.0, np.nan)
SCORE = RNG.normal(2 * TRUTH)
BY = np.arange(4000) % 3
METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")
AUDIT = np.where(RNG.random(4000) < 0.3, TRUTH.astype(float), np.nan)
CASES = {
    "given": (LABELS, uc.RandomLabels(0.2)),
    "estimated": (LABELS, uc.RandomLabels()),
    "chances": (LABELS, uc.LabelPropensity(np.full(4000, 0.5))),
    "audit": (AUDIT, uc.RandomAudit()),
}


@pytest.mark.parametrize("case", CASES)
def test_the_others_are_as_if_each_was_asked_alone(case):
    labels, assume = CASES[case]
    several = uc.evaluate(labels, SCORE, assume=assume, threshold=[1.0, 0.5, 1.5], top=[100, 300])
    assert (several.threshold, several.top) == (1.0, None)
    for threshold in (0.5, 1.5):
        alone = uc.evaluate(labels, SCORE, assume=assume, threshold=threshold)
        for metric in METRICS:
            found = several[f"{metric}@{threshold}"]
            assert found.value == pytest.approx(alone[metric].value, abs=1e-9, nan_ok=True)
            # Reviewed cells depend on where counts are cut.
            close = 0.02 if case == "audit" else 1e-9
            assert [found.low, found.high] == pytest.approx(
                [alone[metric].low, alone[metric].high], abs=close
            )
    labels_of_rows = [row.label for row in (*several.rows, *several.top_rows)]
    assert labels_of_rows[0] == "recall@1"
    assert {"f1@0.5", "f1@1.5", "precision@top 100", "lift@top 300"} <= set(labels_of_rows)


def test_chosen_metrics_are_read_at_each():
    several = uc.evaluate(
        LABELS, SCORE, prevalence=0.2, threshold=[1.0, 0.5],
        metrics=["precision", "ROC AUC", "recall@0.5"],
    )  # fmt: skip
    names = [row.label for row in several.rows]
    assert names == ["precision@1", "roc_auc", "recall@0.5", "precision@0.5"]
    assert several.metrics()["precision"] == several["precision@1"].value


def test_segments_have_them_in_their_lines():
    several = uc.evaluate(
        LABELS, SCORE, prevalence=0.2, threshold=[1.0, 0.5], top=[100, 2000], by=BY
    )
    alone = uc.evaluate(LABELS, SCORE, prevalence=0.2, threshold=0.5, by=BY)
    assert several.estimates("precision@0.5") == alone.estimates("precision")
    assert {"precision@1", "recall@0.5", "lift@top 100"} <= set(several.metrics)
    assert "fewer than the 2,000 asked for" in several.rows[0].note
    assert several[0].top_rows[0].top == 100
    assert several[0]["precision@0.5"] == alone[0]["precision"]


def test_documents_and_pages_hold_them(tmp_path):
    several = uc.evaluate(LABELS, SCORE, prevalence=0.2, threshold=[1.0, 0.5], top=[100, 300])
    (model,) = json.loads(several.to_json())["models"]
    assert ("precision", 0.5) in [(row["metric"], row["threshold"]) for row in model["metrics"]]
    assert [row["top"] for row in model["top"]] == [100] * 3 + [300] * 3
    several.to_html(tmp_path / "page.html")
    assert "precision@0.5" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "precision@0.5" in str(several)


def test_a_frame_elsewhere_keeps_them_apart():
    frame = pl.DataFrame({"y": LABELS, "s": SCORE, "by": BY}).with_columns(
        pl.col("y").fill_nan(None)
    )
    asked = {"prevalence": 0.2, "threshold": [1.0, 0.5]}
    lazy = uc.evaluate(frame.lazy(), label="y", score="s", by="by", **asked)
    eager = uc.evaluate(LABELS, SCORE, by=BY, **asked)
    for segment, estimate in lazy.estimates("precision@0.5").items():
        assert estimate.low == pytest.approx(eager.estimates("precision@0.5")[segment].low)


@pytest.mark.parametrize("several", [[], [0.5, 0.5], [[0.5, 1.0]]])
def test_what_is_no_list_of_thresholds_is_refused(several):
    with pytest.raises(uc.InputError, match="a list of different ones"):
        uc.evaluate(LABELS, SCORE, prevalence=0.2, threshold=several)


def test_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    pl.DataFrame({"y": np.nan_to_num(LABELS).astype(int), "s": SCORE}).write_csv(path)
    asked = ["--label", "y", "--score", "s", "--prevalence", ".2"]
    assert main(["evaluate", str(path), *asked, "--threshold", "1", "--threshold", ".5"]) == 0
    expected = uc.evaluate(LABELS, SCORE, prevalence=0.2, threshold=0.5)["precision"]
    printed = capsys.readouterr().out
    assert f"({expected.low:.3f} – {expected.high:.3f})" in printed
