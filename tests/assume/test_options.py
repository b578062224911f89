"""The options of a command say what an object says, and may contradict each other."""

import numpy as np
import pytest
from tests.matrix import rows

import undercount as uc
from undercount.assume.options import assumption_by_options
from undercount.cli.evaluate import evaluate
from undercount.cli.wording import say

CHANCES = np.full(4, 0.5)
REVIEWS = rows.make_reviews(0.25, 1)
VERDICTS = {"verdicts": REVIEWS}


def assume(words, chances=None, **more):
    """Return the assumption that the options of a command make."""
    options = evaluate.make_context("evaluate", words.split()).params
    return assumption_by_options({**options, **more}, "single-sample", chances)


STATED = [
    ("", {}, uc.RandomLabels()),
    ("--prevalence 3%", {}, uc.RandomLabels(0.03)),
    ("--unlabeled-prevalence 1%-2%", {}, uc.RandomLabels(unlabeled_prevalence=(0.01, 0.02))),
    ("--label-frequency 0.5", {}, uc.RandomLabels(label_frequency=0.5)),
    (
        "--prevalence 0.3 --label-purity 0.9 --sampling case-control",
        {},
        uc.RandomLabels(0.3, purity=0.9, sampling="case-control"),
    ),
    (
        "--interval bootstrap --resamples 30",
        {},
        uc.RandomLabels(interval="bootstrap", n_resamples=30),
    ),
    ("--audited", {}, uc.RandomAudit()),
    ("--audited --sequential", {}, uc.RandomAudit(sequential=True)),
    ("", VERDICTS, uc.Reviewed(REVIEWS)),
    (
        "--labels random --sequential",
        VERDICTS,
        uc.Reviewed(REVIEWS, labels="random", sequential=True),
    ),
    (
        "--sampling case-control",
        VERDICTS,
        uc.Reviewed(REVIEWS, sampling="case-control"),
    ),
    ("", {"chances": CHANCES}, uc.LabelPropensity(CHANCES)),
]


@pytest.mark.parametrize(("words", "more", "expected"), STATED)
def test_options_make_the_object(words, more, expected):
    made = assume(words, **more)
    assert type(made) is type(expected)
    assert vars(made) == vars(expected)


def test_dates_make_delayed_labels():
    late = uc.prevalence.LateLabels()
    made = assume("", chances=late)
    assert isinstance(made, uc.DelayedLabels)
    assert made.late is late


REFUSED = [
    ("--labels any", {}, "--labels and --sequential go with --reviews"),
    ("--sequential", {}, "--labels and --sequential go with --reviews"),
    ("--label-frequency 0.3", VERDICTS, "--reviews tell how many positives are hidden; leave"),
    ("--audited --label-frequency 0.3", {}, "hidden; leave --label-frequency out"),
    ("--label-purity 0.9", VERDICTS, "cannot tell which labels are wrong; leave --label-purity"),
    ("--audited", VERDICTS, "--audited rows are a random sample of all rows: pass neither"),
    ("--audited --sampling case-control", {}, "nor --sampling case-control"),
    ("--prevalence 0.3", {"chances": CHANCES}, "--chance tells how many positives there are"),
    ("--label-purity 0.9", {"chances": CHANCES}, "leave out --label-purity"),
    ("--sampling case-control", {"chances": CHANCES}, "leave out --sampling"),
    ("--audited", {"chances": CHANCES}, "leave out --reviews"),
    (
        "--prevalence 0.3",
        {"chances": uc.prevalence.LateLabels()},
        "dates tell how many positives there are",
    ),
]


@pytest.mark.parametrize(("words", "more", "message"), REFUSED)
def test_options_that_contradict_each_other_are_refused(words, more, message):
    with pytest.raises(uc.InputError) as refused:
        assume(words, **more)
    assert message in say(refused.value.message, evaluate)
