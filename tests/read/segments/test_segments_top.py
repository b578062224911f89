"""The highest rows of each segment: a number of its own rows, in every form of the table."""

import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main

# Of ten rows a segment, in descending order of the score, the labels: of the three highest of "a"
# two are labelled, of "b" one; of the three highest of all rows, which are those of "a", two.
LABELS = {"a": [1, 0, 1, 0, 1, 0, 0, 1, 0, 0], "b": [0, 1, 0, 0, 1, 0, 1, 0, 0, 0]}
RECALL = {"a": 2 / 4, "b": 1 / 3}
PRECISION = {"a": 2 / 3, "b": 1 / 3}
TOP_LABELS = ["precision@top 3", "recall@top 3", "lift@top 3"]


@pytest.fixture
def rows():
    y = np.array(LABELS["a"] + LABELS["b"])
    score = np.concatenate([np.arange(20, 10, -1), np.arange(10, 0, -1)]).astype(float)
    return y, score, np.repeat(["a", "b"], 10)


def evaluate(rows, **options):
    y, score, by = rows
    return uc.evaluate(y, score, by=by, unlabeled=0, unlabeled_prevalence=0.0, **options)


@pytest.mark.parametrize("top", [3, 0.3])
def test_each_segment_has_its_own_highest_rows(rows, top):
    found = evaluate(rows, top=top)
    place = "top 3" if top == 3 else "top 30%"
    assert found.metrics[-3:] == tuple(
        f"{metric}@{place}" for metric in ("precision", "recall", "lift")
    )
    for segment in ("a", "b"):
        recall = found.estimates(f"recall@{place}")[segment]
        assert recall.value == pytest.approx(RECALL[segment])
        row = next(r for r in found.row(segment).rows if r.label == f"precision@{place}")
        assert row.naive == pytest.approx(PRECISION[segment])
        assert row.estimate.value == pytest.approx(PRECISION[segment])
        alone = {r.label: r.estimate.value for r in found[segment].top_rows}
        assert alone[f"recall@{place}"] == pytest.approx(RECALL[segment])
    overall = {row.metric: row.estimate.value for row in found.overall.top_rows}
    # All rows: the highest three are those of "a"; of 30 %, six rows, there are three labels.
    assert overall["recall"] == pytest.approx((2 if top == 3 else 3) / 7)


def test_they_stand_in_every_form(rows, tmp_path):
    found = evaluate(rows, threshold=8.0, top=3)
    text = str(found)
    for label in TOP_LABELS:
        assert label in text
        assert label in found.to_markdown()
    assert "0.500" in next(line for line in text.splitlines() if line.startswith(" a "))
    facts = json.loads(found.to_json())
    cells = {(row["segment"], row["metric"]): row["estimate"] for row in facts["segments"]}
    assert cells["a", "recall@top 3"] == pytest.approx(RECALL["a"])
    assert cells["b", "precision@top 3"] == pytest.approx(PRECISION["b"])
    assert set(TOP_LABELS) <= set(facts["tests"])
    assert found.table()["metric"].count("lift@top 3") == 2
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for label in TOP_LABELS:
        assert f">{label}<" in page
    said = "top 3 means the highest rows of each segment"
    for form in (" ".join(text.split()), found.to_markdown(), page):
        assert said in form


def test_values_of_many_weighted_rows_are_those_of_plain_numpy():
    rng = np.random.default_rng(5)
    n = 4000
    truth = rng.random(n) < 0.25
    y = (truth & (rng.random(n) < 0.5)).astype(int)
    score, weight = rng.normal(1.5 * truth), rng.gamma(2.0, 1.0, n)
    by = rng.integers(0, 4, n)
    for weights in (None, weight):
        found = uc.evaluate(
            y, score, by=by, unlabeled=0, sample_weight=weights, prevalence=0.25, top=120
        )
        held = np.ones(n) if weights is None else weights
        for segment in range(4):
            here = np.flatnonzero(by == segment)
            highest = here[np.argsort(-score[here])[:120]]
            labelled = held[highest] * y[highest]
            recall = labelled.sum() / (held[here] * y[here]).sum()
            assert found.estimates("recall@top 120")[segment].value == pytest.approx(recall)
            row = next(r for r in found.row(segment).rows if r.metric == "precision")
            assert row.naive == pytest.approx(labelled.sum() / held[highest].sum())
            assert len(found.differences("recall@top 120")) == 4


def test_a_segment_of_fewer_rows_keeps_its_other_metrics(rows):
    y, score, by = rows
    by = by.astype(object)
    by[[9, 19]] = "few"
    y[9] = 1
    found = uc.evaluate(y, score, by=by, unlabeled=0, unlabeled_prevalence=0.0, top=3)
    row = found.row("few")
    assert "it has only 2 rows, fewer than the 3 asked for" in row.note
    values = {each.label: each.estimate.value for each in row.rows}
    assert np.isnan(values["recall@top 3"])
    assert np.isfinite(values["roc_auc"])
    assert found["few"].top_rows == ()
    verdict = found.require("recall >= 0.2")
    outcomes = {each.subject: each.outcome for each in verdict.judgements}
    assert outcomes["score, segment few"] == "inconclusive"
    assert "it has only 2 rows, fewer than the 3 asked for" in str(verdict)


def test_the_command_shows_them(rows, tmp_path, capsys):
    y, score, by = rows
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y": y, "s": score, "country": by}).to_csv(path, index=False)
    asked = ["--label", "y", "--unlabeled", "0", "--score", "s", "--unlabeled-prevalence", "0%"]
    files = ["--json", str(tmp_path / "found.json")]
    assert main(["evaluate", str(path), *asked, "--by", "country", "--top", "3", *files]) == 0
    assert "recall@top 3" in capsys.readouterr().out
    facts = json.loads((tmp_path / "found.json").read_text())
    cells = {(row["country"], row["metric"]): row["estimate"] for row in facts["segments"]}
    assert cells["b", "recall@top 3"] == pytest.approx(RECALL["b"])
