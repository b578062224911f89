"""A new assumption is a few lines, and all that asks a recovery works on the day it lands."""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.assume.base import Assumption
from undercount.assume.propensity.assumption import LabelPropensity


@dataclass(frozen=True, eq=False)
class TwoDesks(Assumption):
    """Two desks label positives: each row went to one of them, and each finds a known share.

    Notes
    -----
    Assumes: a desk finds each of its positives with the same chance.
    Wrong when: a desk finds the easy ones.
    """

    desk: Any
    finds: tuple[float, float]

    @property
    def columns(self):
        return {"desk": self.desk}

    def with_columns(self, columns):
        return replace(self, **columns)

    def recover(self, models, wanted):
        chance = np.where(np.asarray(self.desk) == 1, *self.finds)
        return LabelPropensity(chance).recover(models, wanted)


N, THRESHOLD = 4000, 1.0
rng = np.random.default_rng(5)
TRUTH = rng.random(N) < 0.2
DESK = rng.integers(0, 2, N)
SCORE = rng.normal(2.0 * TRUTH + 0.5 * DESK * TRUTH)
OTHER = SCORE + 0.7 * rng.normal(size=N)
Y = (TRUTH & (rng.random(N) < np.where(DESK == 1, 0.6, 0.2))).astype(int)
CLUSTER, COUNTRY = np.arange(N) // 4, np.where(np.arange(N) % 3, "DE", "FR")
ASSUMED = {"assume": TwoDesks(DESK, (0.6, 0.2)), "unlabeled": 0}


@pytest.fixture(scope="module")
def evaluation():
    return uc.evaluate(Y, SCORE, threshold=THRESHOLD, top=300, **ASSUMED)


def holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


def test_table_and_interval(evaluation):
    flagged = SCORE >= THRESHOLD
    assert holds(evaluation["precision"], TRUTH[flagged].mean())
    assert holds(evaluation["recall"], flagged[TRUTH].mean())
    naive = uc.evaluate(Y, SCORE, unlabeled=0, prevalence=0.2, threshold=THRESHOLD)
    assert not holds(naive["recall"], flagged[TRUTH].mean())  # which random labels miss
    assert "precision@1" in str(evaluation)


def test_highest_rows_cost_and_another_prevalence(evaluation):
    highest = np.argsort(-SCORE)[:300]
    assert holds(evaluation["precision@top 300"], TRUTH[highest].mean())
    cost = evaluation.cost(false_positive=1, false_negative=5)
    flagged = SCORE >= THRESHOLD
    assert holds(cost, (np.sum(flagged & ~TRUTH) + 5 * np.sum(~flagged & TRUTH)) / N)
    there = {row.metric: row.estimate for row in evaluation.deployed(0.05)}
    assert there["precision"].high < evaluation["precision"].value
    assert evaluation.best_threshold("f1").gain.low < evaluation.best_threshold("f1").gain.high


def test_comparison_segments_and_clusters():
    models = {"one": SCORE, "other": OTHER}
    pair = uc.compare(Y, models, threshold=THRESHOLD, top=300, **ASSUMED)
    gap = (SCORE[TRUTH] >= THRESHOLD).mean() - (OTHER[TRUTH] >= THRESHOLD).mean()
    assert holds(pair.difference("recall").difference, gap)
    assert {found.metric for found in pair.workload.differences} == {"precision", "recall"}
    by = uc.evaluate(Y, SCORE, by=COUNTRY, threshold=THRESHOLD, **ASSUMED)
    for country in ("DE", "FR"):
        rows = (SCORE >= THRESHOLD) & (country == COUNTRY)
        assert holds(by[country]["precision"], TRUTH[rows].mean())
    wide = uc.evaluate(Y, SCORE, cluster=CLUSTER, threshold=THRESHOLD, **ASSUMED)
    assert holds(wide["recall"], (SCORE[TRUTH] >= THRESHOLD).mean())
    both = uc.evaluate(Y, SCORE, by=COUNTRY, cluster=CLUSTER, threshold=THRESHOLD, **ASSUMED)
    assert both["DE"]["recall"].low < both["DE"]["recall"].high


def test_band_page_document_requirement_and_plan(evaluation, tmp_path):
    band = uc.displays.RocDisplay.from_evaluation(evaluation).band()
    assert np.all(np.asarray(band["low"]) <= np.asarray(band["high"]))
    evaluation.to_html(tmp_path / "page.html")
    assert "chances of a label" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert json.loads(evaluation.to_json())["models"]
    assert evaluation.require("precision >= 0.05").outcome == "met"
    assert evaluation.require("recall >= 0.99").outcome == "failed"
    plan = uc.plan_reviews(Y, SCORE, budget=30, threshold=THRESHOLD, **ASSUMED)
    assert len(plan.rows) == 30


def test_a_column_of_a_frame_and_one_metric():
    frame = pd.DataFrame({"y": Y, "s": SCORE, "where": DESK})
    desks = TwoDesks("where", (0.6, 0.2))
    asked = {"assume": desks, "unlabeled": 0, "threshold": THRESHOLD}
    found = uc.evaluate(frame, "s", label="y", **asked)
    alone = uc.metrics.recall(Y, SCORE, threshold=THRESHOLD, **ASSUMED)
    assert found["recall"] == alone
