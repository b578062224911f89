"""AUL is a better optimization metric in PU learning (2021): Figure 1."""

from typing import Any

import numpy as np

import undercount as uc
from undercount.papers.drawing import Line, Panel, roc_line
from undercount.papers.published import published
from undercount.papers.result import Result
from undercount.papers.running import Request

PAPER = "aul2021"
# Figure 1a: 20 rows by falling score, their classes, and which positives carry a label.
SCORE = (0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43)
SCORE += (0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1)
POSITIVE = (0, 1, 3, 4, 5, 6, 10, 12, 13, 17)
LABELLED = (0, 3, 6, 10, 17)


def figure1(request: Request) -> Result:
    """Reproduce Figure 1: AUC and AUL of twenty rows, all labels and half of the positives'."""
    row = np.arange(len(SCORE))
    complete = uc.ScoreCounts.from_rows(np.isin(row, POSITIVE), SCORE)
    counts = uc.ScoreCounts.from_rows(np.where(np.isin(row, LABELLED), 1, np.nan), SCORE)
    truth, naive, lift = uc.labelled_curve(complete), uc.naive_curve(counts), uc.lift_curve(counts)
    ours = (truth.roc_auc, naive.roc_auc, truth.lift_auc, lift.area)
    printed: dict[str, Any] = published(PAPER)["figure1"]
    rows = [(name, round(value, 12), printed[name]) for name, value in zip(printed, ours, strict=True)]
    recovered = uc.direct_auc(counts, uc.Shares.from_prevalence(counts, 0.5))
    rows.append(("AUC recovered at the true prevalence", recovered, None))
    lines = (
        Line.of("all labels", truth.predicted_positive_rate, truth.recall),
        Line.of("half of the labels", lift.predicted_positive_rate, lift.recall, "--"),
    )
    roc = (roc_line("all labels", truth), roc_line("half of the labels", naive, "--"))
    return Result(
        PAPER,
        request.item,
        "AUC and AUL of twenty rows",
        ("what", "ours", "published"),
        tuple(rows),
        ("Exact. The last row is AUL of the labels in AUC units: the same statistic.",),
        1,
        request.seed,
        (Panel("ROC", "FPR", "TPR", roc), Panel("Lift", "share flagged", "TPR", lines)),
    )
