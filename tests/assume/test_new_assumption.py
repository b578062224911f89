"""A new assumption is a few lines, and all that asks a recovery works on the day it lands."""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.assume.base import Assumption, Basis
from undercount.assume.propensity.assumption import LabelPropensity
from undercount.assume.standing.recovery import recover_weights


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


@dataclass(frozen=True, eq=False)
class FiledDesks(Assumption):
    """The same, written from nothing: what a label stands for, and what that rests on.

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
        found = np.where(np.asarray(self.desk) == 1, *self.finds)
        about = Basis(
            determined_by="shares that desks find",
            source="what each desk finds",
            limited=False,
            premise="If each desk finds the share it says, ",
            question="Does each desk find the share it says?",
            reviewable=False,
            sliders=False,
        )
        # One of 1/f is found, with a variance of (1 - f)/f².
        return recover_weights(models, 1 / found, np.sqrt(1 - found) / found, wanted, about)


N, THRESHOLD = 4000, 1.0
rng = np.random.default_rng(5)
TRUTH = rng.random(N) < 0.2
DESK = rng.integers(0, 2, N)
SCORE = rng.normal(2.0 * TRUTH + 0.5 * DESK * TRUTH)
OTHER = SCORE + 0.7 * rng.normal(size=N)
Y = (TRUTH & (rng.random(N) < np.where(DESK == 1, 0.6, 0.2))).astype(int)
CLUSTER, COUNTRY = np.arange(N) // 4, np.where(np.arange(N) % 3, "DE", "FR")
WORDS = {TwoDesks: "chances of a label", FiledDesks: "shares that desks find"}


@pytest.fixture(scope="module", params=WORDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def assumed(kind):
    return {"assume": kind(DESK, (0.6, 0.2)), "unlabeled": 0}


@pytest.fixture(scope="module")
def evaluation(assumed):
    return uc.evaluate(Y, SCORE, threshold=THRESHOLD, top=300, **assumed)


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


def test_comparison_segments_and_clusters(assumed):
    models = {"one": SCORE, "other": OTHER}
    pair = uc.compare(Y, models, threshold=THRESHOLD, top=300, **assumed)
    itself = uc.compare(Y, {"one": SCORE, "same": SCORE}, threshold=THRESHOLD, **assumed)
    assert itself.difference("f1").difference.interval.width < 1e-9
    gap = (SCORE[TRUTH] >= THRESHOLD).mean() - (OTHER[TRUTH] >= THRESHOLD).mean()
    assert holds(pair.difference("recall").difference, gap)
    assert {found.metric for found in pair.workload.differences} == {"precision", "recall"}
    by = uc.evaluate(Y, SCORE, by=COUNTRY, threshold=THRESHOLD, **assumed)
    for country in ("DE", "FR"):
        rows = (SCORE >= THRESHOLD) & (country == COUNTRY)
        assert holds(by[country]["precision"], TRUTH[rows].mean())
    wide = uc.evaluate(Y, SCORE, cluster=CLUSTER, threshold=THRESHOLD, **assumed)
    assert holds(wide["recall"], (SCORE[TRUTH] >= THRESHOLD).mean())
    both = uc.evaluate(Y, SCORE, by=COUNTRY, cluster=CLUSTER, threshold=THRESHOLD, **assumed)
    assert both["DE"]["recall"].low < both["DE"]["recall"].high


def test_band_page_document_requirement_and_plan(kind, assumed, evaluation, tmp_path):
    band = uc.displays.RocDisplay.from_evaluation(evaluation).band()
    assert np.all(np.asarray(band["low"]) <= np.asarray(band["high"]))
    evaluation.to_html(tmp_path / "page.html")
    assert WORDS[kind] in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert json.loads(evaluation.to_json())["models"]
    assert evaluation.require("precision >= 0.05").outcome == "met"
    assert evaluation.require("recall >= 0.99").outcome == "failed"
    plan = uc.plan_reviews(Y, SCORE, budget=30, threshold=THRESHOLD, **assumed)
    assert len(plan.rows) == 30


def test_a_column_of_a_frame_and_one_metric(kind, assumed):
    frame = pd.DataFrame({"y": Y, "s": SCORE, "where": DESK})
    desks = kind("where", (0.6, 0.2))
    asked = {"assume": desks, "unlabeled": 0, "threshold": THRESHOLD}
    found = uc.evaluate(frame, "s", label="y", **asked)
    alone = uc.metrics.recall(Y, SCORE, threshold=THRESHOLD, **assumed)
    assert found["recall"] == alone


def test_what_is_written_from_nothing_says_the_same_as_known_chances(evaluation):
    alike = uc.LabelPropensity(np.where(DESK == 1, 0.6, 0.2))
    known = uc.evaluate(Y, SCORE, assume=alike, unlabeled=0, threshold=THRESHOLD, top=300)
    for name in ("precision", "recall", "f1", "roc_auc", "average_precision", "recall@top 300"):
        one, other = evaluation[name], known[name]
        found, wanted = ([e.value, e.low, e.high] for e in (one, other))
        assert found == pytest.approx(wanted, abs=1e-12)
