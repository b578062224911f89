"""How close an estimate came, for the bundled case whose truth is known."""

from collections.abc import Sequence

import numpy as np

from undercount.assume.labelled import labelled_curve
from undercount.cli.inputs import read_counted
from undercount.count.files import read_columns
from undercount.counts import ScoreCounts
from undercount.data.fraud import fraud_path, fraud_truth_path
from undercount.read.evaluate import evaluate
from undercount.read.evaluation import Evaluation
from undercount.show import words

# Thresholds at which somebody might look at payments; points are whole numbers.
THRESHOLDS = {"p_fraud": 0.5, "rule_points": 7.0}


def demonstrated() -> tuple[list[Evaluation], list[str]]:
    """Evaluate the two models of the bundled case, nothing told but the labels."""
    evaluations = []
    for name, threshold in THRESHOLDS.items():
        reading = read_counted([str(fraud_path())], "is_fraud", [name], knots=[threshold])
        evaluations.append(evaluate(reading.counts[name], threshold=threshold, name=name))
    return evaluations, reading.notes


def truth_words(evaluations: Sequence[Evaluation]) -> str:
    """Compare each row of the tables with what the hidden truth gives."""
    names = [evaluation.name for evaluation in evaluations]
    scores = read_columns([str(fraud_path())], names)
    truth = read_columns([str(fraud_truth_path())], ["truth"])["truth"]
    lines = ["", f" {'The hidden truth':<34}{'naive':>8}{'estimate':>10}{'truth':>8}   inside?"]
    for evaluation in evaluations:
        curve = labelled_curve(ScoreCounts.from_rows(truth, scores[evaluation.name]))
        for row in evaluation.rows:
            reading = curve if row.threshold is None else curve.at(row.threshold)
            value = float(getattr(reading, row.metric))
            inside = "yes" if value in row.estimate.interval else "no"
            name = f"{evaluation.name} {words.title(row)}"
            numbers = f"{row.naive:>8.3f}{row.estimate.value:>10.3f}{value:>8.3f}"
            lines.append(f" {name:<34}{numbers}   {inside}")
    hidden = float(np.sum(truth == 1) - evaluations[0].counts.n_positive)
    share = hidden / evaluations[0].counts.n_unlabeled
    lines.append(f" hidden positives among the unlabeled: {words.percent(share)} in truth")
    return "\n".join(lines)
