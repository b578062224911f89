"""The text of a comparison: every pair has its p-value, and what does not exist is said so."""

import itertools
import math

import numpy as np
import pytest

import undercount as uc
from undercount.show.comparison import difference_words


def difference(metric="roc_auc", value=0.01, error=0.01, p=0.3, adjusted=0.3, better=0.85):
    gap = uc.Estimate(value, value - 2 * error, value + 2 * error, error)
    return uc.Difference(metric, "a", "b", gap, better, p, adjusted, False, math.nan)


def compared(names):
    rng = np.random.default_rng(4)
    truth = rng.random(600) < 0.3
    y = np.where(truth & (rng.random(600) < 0.5), 1.0, np.nan)
    shift = dict(zip("abc", (1.5, 1.4, 0.0), strict=True))
    scores = {name: rng.normal(shift[name] * truth) for name in names}
    return uc.compare(y, scores, prevalence=0.3, threshold=0.8, n_resamples=20)


def test_every_pair_has_its_adjusted_p_value():
    found = compared("abc")
    # Holm by hand, of the most to the least clear difference in the ROC AUC.
    raw = {(d.one, d.other): d.p_value for d in found.differences if d.metric == "roc_auc"}
    adjusted, largest = {}, 0.0
    for rank, (pair, p) in enumerate(sorted(raw.items(), key=lambda item: item[1])):
        largest = adjusted[pair] = max(largest, min(1.0, (3 - rank) * p))
    printed = str(found)
    assert printed.count(", p ") == len(found.differences) == 3 * 8
    for one, other in itertools.combinations("abc", 2):
        part = printed.partition(f" {one} minus {other}\n")[2]
        line = next(line for line in part.splitlines() if line.startswith(" ROC AUC"))
        p = adjusted[one, other]
        assert f", p {p:.2g} " in line if p >= 0.0001 else ", p < 0.0001 " in line
    assert printed.endswith("\n p: two-sided, adjusted for the number of pairs (Holm)")
    assert min(raw.values()) < 0.0001 < max(raw.values())  # both kinds were looked at


def test_one_pair_has_its_plain_p_value():
    found = compared("ab")
    printed = str(found)
    p = found.difference("roc_auc").p_value
    assert p >= 0.0001
    line = next(line for line in printed.splitlines()[-10:] if line.startswith(" ROC AUC"))
    assert f", p {p:.2g} " in line
    assert printed.endswith("\n p: two-sided")
    assert "Holm" not in printed


@pytest.mark.parametrize(
    ("p", "told"),
    [(1.0, "p 1 "), (0.046, "p 0.046 "), (0.0001, "p 0.0001 "), (9e-42, "p < 0.0001 ")],
)
def test_small_p_values_have_no_more_digits_than_they_deserve(p, told):
    assert told in difference_words(difference(p=p / 3, adjusted=p))


def test_what_does_not_exist_has_no_p_value():
    nothing = difference("precision", math.nan, math.nan, 0.0, 0.0, math.nan)
    assert difference_words(nothing).endswith("– (does not exist here)")
    unknown = difference("precision", -0.068, math.nan, 0.0, 0.0, math.nan)
    told = difference_words(unknown)
    assert "-0.068 (no interval)" in told
    for line in map(difference_words, (nothing, unknown)):
        assert "nan" not in line
        assert "p <" not in line


LONG = (
    "gradient boosting with monotone constraints, March",
    "logistic_regression_on_all_features_2",
)


@pytest.mark.parametrize("question", ["population", "rows"])
def test_long_names_fit_the_line_and_the_question_is_said(question):
    rng = np.random.default_rng(4)
    truth = rng.random(600) < 0.3
    y = np.where(truth & (rng.random(600) < 0.5), 1.0, np.nan)
    names = [*LONG, "c", "d"]
    scores = {name: rng.normal(1.0 * truth) for name in names}
    found = uc.compare(y, scores, prevalence=0.3, threshold=-0.8, question=question)
    printed = str(found)
    assert max(map(len, printed.splitlines())) <= 100
    flat = " ".join(printed.split())
    assert all(f"{name} minus" in flat for name in LONG)
    assert f"(question: {question};" in flat
    said = {"population": "where these rows come from", "rows": "on these very rows"}
    assert said[question] in flat
    # Every model has its own number of every metric.
    for evaluation in found.evaluations.values():
        for row in evaluation.rows:
            assert f"{row.estimate.value:.3f} ({row.estimate.low:.3f}" in flat
