"""`undercount explain`: words explained offline."""

import pytest

from undercount.cli.main import main
from undercount.curve import metric_names
from undercount.errors import CHECKS
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.metric_facts import FACTS
from undercount.show.terms import explanation


def test_explain_lists_and_explains(capsys):
    assert main(["explain"]) == 0
    assert main(["explain", "auc"]) == 0
    printed = capsys.readouterr().out
    assert "average precision" in printed
    assert "eq. 4" in printed


def test_every_metric_that_may_be_required_is_explained():
    for name in (*SWEPT_AREAS, *metric_names()):
        assert main(["explain", name]) == 0


@pytest.mark.parametrize(
    "term",
    [
        *(facts.title for facts in FACTS.values()),
        *FACTS,
        *(code for code, _ in CHECKS.values()),
        *("at least", "calibrated", "bootstrap", "combined", "needs", "unlabeled = negative"),
        *("true value", "hidden positives", "random labels", "purity", "single-sample", "Γ"),
        *("case-control", "data set", "population", "flagged", "ruled out", "weakest link"),
        *("robust", "depends on the prevalence", "not supported", "labelling bias", "top", "gain"),
        *("met", "failed", "inconclusive", "net benefit", "expected cost", "label frequency"),
    ],
)
def test_every_word_that_is_printed_is_explained(term):
    assert len(explanation(term).splitlines()) >= 5
