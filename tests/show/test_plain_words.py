"""Plain words round to no certainty, and say where a number supports no claim."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercount as uc
from undercount.show.text import SHARE_DOUBTS, case_words, plain_words
from undercount.show.verdict_words import change_words, light_words


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted))
def test_no_share_of_cases_rounds_to_all_or_none(ends):
    low, value, high = ends
    words = case_words(uc.Estimate(value, low, high))
    if words.startswith(("All", "No")):
        assert low > 1 - 1e-5 or high < 1e-5
        return
    of = int(re.search(r"of every (\d+)", words)[1])
    said = [int(n) for n in re.findall(r"\d+", words.replace(f"of every {of}", ""))]
    if words.startswith("About"):
        assert 0 < said[0] < of
        assert abs(said[0] / of - value) <= 0.5 / of + 1e-12
    if words.startswith("At least"):
        assert said[0] / of <= low
    if words.startswith("At most"):
        assert said[0] / of >= high
    for number in said:
        assert number < of or high > 1 - 1e-5
        assert number > 0 or low < 1e-5


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.918, 0.957, 0.979), "About 96 of every 100 flagged cases are real (92 to 98)"),
        ((0.039, 0.067, 0.116), "About 7 of every 100 flagged cases are real (4 to 12)"),
        ((0.413, 0.838, 0.971), "Between 41 and 97 of every 100 flagged cases are real"),
        ((0.08, 0.11, 0.14), "About 1 of every 10 flagged cases is real"),
        ((0.945, 1.0, 1.0), "At least 9 of every 10 flagged cases are real"),
        ((0.71, 0.78, 0.86), "About 8 of every 10 flagged cases are real (7 to 9)"),
    ],
)
def test_cases_are_counted_as_people_say(ends, words):
    low, value, high = ends
    assert case_words(uc.Estimate(value, low, high)) == words


def test_a_number_that_hangs_on_an_estimated_share_is_said_as_a_range():
    y, score, truth = simulate(2.0)
    fair = "If the known positives are a fair sample, "
    for share, first in ((None, f"{fair}between"), (float(truth.mean()), "About")):
        found = uc.evaluate(y, score, unlabeled=0, threshold=1.0, prevalence=share)
        assert plain_words(found).startswith(first)
        ranked = plain_words(uc.evaluate(y, score, unlabeled=0, prevalence=share))
        assert (" to " in ranked) == (share is None)


def simulate(shift, *, label_frequency=0.4, n=3000, share=0.3):
    rng = np.random.default_rng(5)
    truth = rng.random(n) < share
    y = (truth & (rng.random(n) < label_frequency)).astype(int)
    return y, rng.normal(shift * truth), truth


def test_noise_suggests_no_target():
    y, score, _ = simulate(0.0)
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.0)
    assert evaluation.verdict.light == "none"
    assert evaluation.verdict.claim is None
    assert not evaluation.require("precision >= 0.6")


def test_rows_worse_than_random_are_not_called_as_good():
    y, score, truth = simulate(-0.8)
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.5, prevalence=truth.mean())
    assert truth[score >= 1.5].mean() < truth.mean()
    assert evaluation.verdict.claim is None or evaluation.verdict.reason is not None
    if evaluation.verdict.reason is None:
        assert "rows flagged at random are real more often" in change_words(evaluation)


def test_a_claim_that_is_not_supported_is_said_beside_the_number():
    y, score, truth = simulate(1.5)
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.0, prevalence=truth.mean())
    high = evaluation["precision"].high
    claimed = evaluation.claiming(f"precision >= {high + 0.05:.2f}")
    assert "The number does not support precision ≥" in plain_words(claimed)
    assert "support" not in plain_words(evaluation)
    # The claim is about another number than the sentence.
    assert "support" not in plain_words(evaluation.claiming("recall >= 0.999"))


def test_machines_read_what_a_light_rests_on():
    y, score, truth = simulate(2.0, label_frequency=0.6)
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.0)
    evaluation = evaluation.claiming("precision >= 0.3")
    assert evaluation.verdict.light == "robust"
    found = json.loads(evaluation.to_json())["models"][0]["verdict"]
    assert found["words"] == light_words(evaluation) == "robust if labels are fair and right"
    assert found["rests_on"] == ["random labels", "right labels", "out-of-fold scores"]
    # No share matters to the claim, though one does to the number.
    assert "whatever the prevalence (the value needs it)" in change_words(evaluation)
    given = uc.evaluate(y, score, unlabeled=0, threshold=1.0, prevalence=truth.mean())
    found = json.loads(given.to_json())["models"][0]["verdict"]
    assert "prevalence" in found["rests_on"]
    assert found["words"].startswith("if ")


def test_the_share_given_and_the_least_that_will_do_never_cross():
    """Whatever share is given: a claim that holds there is said to hold from no larger one on."""
    y, score, _ = simulate(1.5)
    for share in np.linspace(0.16, 0.36, 21):
        evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.0, prevalence=float(share))
        goal = evaluation["precision"].low - 1e-4  # just met
        claimed = evaluation.claiming(f"precision >= {goal:.4f}")
        light, change = light_words(claimed), change_words(claimed)
        if not light.startswith("if "):
            continue
        (taken,) = re.findall(r"([\d.]+) %", light)
        least = re.search(r"at least ([\d.]+) % of all rows", change)
        assert least is not None, (light, change)
        assert float(least[1]) <= float(taken), (light, change)


def test_a_threshold_of_many_digits_has_a_short_name_that_flags_the_same_rows():
    y, score, truth = simulate(1.5)
    threshold = float(np.quantile(score, 0.8))
    evaluation = uc.evaluate(
        y, score, unlabeled=0, threshold=threshold, prevalence=float(truth.mean())
    )
    (name,) = set(re.findall(r"recall@([\d.]+)", str(evaluation)))
    assert len(name) < len(repr(threshold))
    assert ((score >= float(name)) == (score >= threshold)).all()
    assert f"threshold={threshold!r}" in str(evaluation)  # a command keeps every digit


@pytest.mark.parametrize("threshold", [1.0, None])
def test_what_hangs_on_a_doubted_share_is_said_with_the_doubt(threshold):
    y, score, truth = simulate(0.7)
    assume = uc.RandomLabels(interval="bootstrap", n_resamples=20)
    found = uc.evaluate(y, score, assume=assume, unlabeled=0, threshold=threshold)
    assert found.shares.unlabeled_prevalence_interval.low > 0  # chance alone
    doubts = [c.code for c in found.checks if c.code in SHARE_DOUBTS and c.level == "warn"]
    assert doubts
    said = f", if the estimated share is right, which {doubts[0]} doubts."
    assert said in plain_words(found)
    given = uc.evaluate(y, score, unlabeled=0, threshold=threshold, prevalence=truth.mean())
    assert "doubts" not in plain_words(given)
    sure, score, _ = simulate(4.0)
    assert "doubts" not in plain_words(uc.evaluate(sure, score, unlabeled=0, threshold=2.0))
