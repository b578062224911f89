"""`explain` knows each word that an output prints."""

import re

import numpy as np
import pytest

import undercount as uc
from undercount.assume.selection.assumption import METHODS as SELECTIONS
from undercount.errors import CHECKS
from undercount.read.estimator_table import ESTIMATOR_BY_METHOD
from undercount.show.terms import explanation, read_terms
from undercount.show.verdict_words import CONDITION_BY_GIVEN, LIGHT_WORDS

# Words of tables, verdicts and pages that name something; the rest is plain English.
PRINTED = (
    *LIGHT_WORDS.values(), "claim", "verdict", "threshold", "flagged", "at least",
    "unlabeled = negative",
    "true value", "needs", "ruled out", "hidden positives", "label purity", "Γ", "labelling bias",
    "random labels", "prevalence", "purity", "single-sample", "case-control", "calibration", "if",
    "interval", "naive", "if the audit was random", "random audit", "extrapolation", "normal-shape",
)  # fmt: skip


@pytest.mark.parametrize(
    "word", [*PRINTED, *(code for code, _ in CHECKS.values()), *CONDITION_BY_GIVEN]
)
def test_words_that_are_printed_are_explained(word):
    assert "Formula" in explanation(word)


@pytest.mark.parametrize("method", SELECTIONS)
def test_methods_of_select_are_explained(method):
    assert "A method of select" in explanation(method)


def test_every_row_need_and_code_of_an_evaluation_is_explained():
    rng = np.random.default_rng(1)
    truth = rng.random(800) < 0.3
    y = np.where(truth & (rng.random(800) < 0.5), 1.0, np.nan)
    score = rng.normal(1.5 * truth)
    for options in ({"prevalence": 0.3}, {}, {"assume": uc.RandomLabels(0.3, purity=0.95)}):
        evaluation = uc.evaluate(y, score, threshold=1.0, **options)
        printed = {row.metric for row in evaluation.rows}
        printed |= {need for row in evaluation.rows for need in row.estimate.needs}
        printed |= set(re.findall(r"UC\d{3}", str(evaluation) + evaluation.to_json()))
        printed |= {evaluation.shares.sampling}
        for word in printed:
            assert explanation(word)


@pytest.mark.parametrize("method", ESTIMATOR_BY_METHOD)
def test_methods_of_the_prevalence_are_explained(method):
    assert explanation(method)


def test_every_section_of_the_file_is_whole():
    """A field that is misspelt would vanish from the explanation."""
    terms = read_terms()
    assert len(terms) > 100
    for term in terms.values():
        assert (
            {"Formula", "Reference"}
            <= set(term.fields)
            <= {"Formula", "Needs", "Reference", "Also"}
        )
        assert term.needs
