"""Requirements on two models: names with dots, margins, verdicts by the interval."""

import numpy as np
import pytest

import undercount as uc
from undercount.read.contest import Contest, parse_contest

MODELS = ["new", "old", "v1.2", "v1.2.roc_auc"]


def test_names_metrics_and_margins_are_read():
    assert parse_contest("new.precision > old.precision", MODELS) == Contest(
        "precision", "new", "old", ">"
    )
    assert parse_contest("new.recall >= old.recall - 2%", MODELS).margin == -0.02
    assert parse_contest("new.ROC AUC≥v1.2.roc_auc", MODELS).other == "v1.2"
    assert parse_contest("v1.2.roc_auc.f1 > old.F1 + .1", MODELS).one == "v1.2.roc_auc"
    assert parse_contest("new.f1 > old.f1 + 0.1", MODELS).words == "new.f1 > old.f1 + 0.1"


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
        parse_contest(text, MODELS)


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
