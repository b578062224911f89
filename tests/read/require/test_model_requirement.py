"""Requirements on two models: names with dots, margins, verdicts by the interval."""

import re

import numpy as np
import pytest

import undercount as uc
from undercount.read.require.model_requirement import ModelRequirement, parse_model_requirement

MODELS = ["new", "old", "v1.2", "v1.2.roc_auc"]


def test_names_metrics_and_margins_are_read():
    assert parse_model_requirement("new.precision > old.precision", MODELS) == ModelRequirement(
        "precision", "new", "old", ">"
    )
    assert parse_model_requirement("new.recall >= old.recall - 2%", MODELS).margin == -0.02
    assert parse_model_requirement("new.ROC AUC≥v1.2.roc_auc", MODELS).other == "v1.2"
    assert parse_model_requirement("v1.2.roc_auc.f1 > old.F1 + .1", MODELS).one == "v1.2.roc_auc"
    assert parse_model_requirement("new.f1 > old.f1 + 0.1", MODELS).words == "new.f1 > old.f1 + 0.1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("new.precision", "reads like"),
        ("new.precison > old.precision", "did you mean 'precision'"),
        ("newer.precision > old.precision", "models are new, old"),
        ("new.precision > old.recall", "one metric"),
        ("new.precision > new.precision", "two models"),
    ],
)
def test_what_is_no_requirement_is_said(text, said):
    with pytest.raises(uc.InputError, match=said):
        parse_model_requirement(text, MODELS)


def test_the_whole_interval_decides():
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.3
    y = np.where(truth & (rng.random(2000) < 0.5), 1, -1)
    scores = {"new": rng.normal(2 * truth), "old": rng.normal(truth)}
    found = uc.compare(y, scores, unlabeled=-1, prevalence=0.3)
    low = found["new", "old"]["roc_auc"].difference.low
    assert low > 0

    def verdict(text):
        return found.require(text).outcome

    assert verdict("new.roc_auc > old.roc_auc") == "met"
    assert verdict("old.roc_auc > new.roc_auc") == "failed"
    assert verdict(f"new.roc_auc > old.roc_auc + {low + 0.001:.4f}") == "inconclusive"
    assert verdict("new.roc_auc > old.roc_auc + 0.9") == "failed"
    with pytest.raises(uc.InputError, match="others need a threshold"):
        verdict("new.recall > old.recall")
    # The other way round, a value, a value of each model, and several at once.
    assert verdict("old.roc_auc < new.roc_auc") == "met"
    assert verdict("new.ROC AUC >= 50%") == "met"
    assert [each.subject for each in found.require("roc_auc > 0.4").judgements] == ["new", "old"]
    assert verdict("new.roc_auc > old.roc_auc and old.roc_auc > 0.99") == "failed"
    with pytest.raises(uc.InputError, match="models are new, old"):
        verdict("nobody.roc_auc > 0.5")
    with pytest.raises(uc.InputError, match="needs a threshold"):
        verdict("new.recall > 0.5")


def test_a_difference_that_an_estimated_share_may_turn_is_neither_met_nor_failed():
    """The rule of one model: what hangs on an estimated share is so only if it is so at all."""
    rng = np.random.default_rng(3)
    truth = rng.random(4000) < 0.5
    score = rng.normal(3 * truth)
    y = (truth & (rng.random(4000) < 0.3)).astype(int)
    options = {"scores": {"strict": score, "lax": score + 1}, "unlabeled": 0, "threshold": 2.5}
    estimated, given = uc.compare(y, **options), uc.compare(y, **options, prevalence=0.5)
    along = estimated.across_shares("f1")
    ahead = along["lax"] - along["strict"]
    assert ahead.min() < 0.05 < estimated.difference("f1", "lax", "strict").difference.low

    for asked, sure in [
        ("lax.f1 > strict.f1 + 0.05", "met"),
        ("strict.f1 > lax.f1 - 0.05", "failed"),
    ]:
        assert given.require(asked).outcome == sure
        judgement = estimated.require(asked).judgements[0]
        assert judgement.outcome == "inconclusive"
        assert "which is only estimated: the difference passes" in judgement.why
        passed = float(re.search(r"passes -?0.05 at ([0-9.]+) %", judgement.why)[1]) / 100
        there = np.interp(passed, along["unlabeled_prevalence"], ahead)
        assert there == pytest.approx(0.05, abs=0.005)
    # What no share turns is decided all the same.
    assert estimated.require("lax.f1 > strict.f1").outcome == "met"
    assert estimated.require("lax.f1 < strict.f1").outcome == "failed"
