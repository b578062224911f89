"""The front page and its picture say what the library says today."""

import re

import pytest
from docs.examples import ROOT

import undercount as uc
from undercount.cli.demo import evaluate_fraud, find_truth, review_fraud
from undercount.data.fraud import simulate_fraud

FRONT = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
PICTURE = (ROOT / "docs" / "images" / "problem.svg").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def evaluation():
    """What the second command of the page gives."""
    fraud = simulate_fraud()
    return uc.evaluate(
        fraud["is_fraud"], fraud["p_fraud"], unlabeled=0, threshold=0.5, prevalence=0.04
    )


@pytest.mark.parametrize(
    ("words", "metric"), [("recall", "recall"), ("precision", "precision"), ("ROC AUC", "roc_auc")]
)
def test_table(evaluation, words, metric):
    (line,) = re.findall(rf"^\| {words} \|.*$", FRONT, re.MULTILINE)
    row = next(row for row in evaluation.rows if row.metric == metric)
    estimate = evaluation[metric]
    shown = re.findall(r"\d\.(\d+)", line)
    values = (row.naive, estimate.value, estimate.low, estimate.high)
    today = [f"{value:.{len(digits)}f}"[2:] for digits, value in zip(shown, values, strict=True)]
    assert today == shown


def test_sentence(evaluation):
    quote = " ".join(re.findall(r"^> (.*)$", FRONT, re.MULTILINE))
    assert quote in " ".join(str(evaluation).split())


def test_picture():
    """``python docs/pictures.py problem`` draws it anew."""
    evaluations, _ = evaluate_fraud()
    rows = evaluations[0].rows
    place = [row.metric for row in rows].index("precision")
    alone = evaluations[0]["precision"]
    assert alone.range_only
    assert f">{alone.low:.2f} – {alone.high:.2f}</text>" in PICTURE
    values = (
        rows[place].naive,
        review_fraud()["precision"].value,
        find_truth(evaluations)[0][0][place],
    )
    shown = re.findall(r">(?:the truth: )?(0\.\d\d)</text>", PICTURE)
    assert sorted(shown) == sorted(f"{value:.2f}" for value in values)
