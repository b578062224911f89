"""AUL is a better optimization metric in PU learning (2021): Figures 1-3, Table 1, times."""

import time
from functools import partial
from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.aul_learners import figure3
from undercount_reproductions.aul_tables import (
    PAPER,
    default,
    estimators,
    figure2,
    fit,
    result,
    table1,
)
from undercount_reproductions.drawing import Line, Panel, roc_line
from undercount_reproductions.published import published
from undercount_reproductions.result import Result
from undercount_reproductions.running import Draw, Request, Setting, column

__all__ = ["figure1", "figure2", "figure3", "table1", "timing"]

# Figure 1a: 20 rows by falling score, their classes, and which positives carry a label.
SCORE: tuple[float, ...] = (0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43)
SCORE += (0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1)
POSITIVE = (0, 1, 3, 4, 5, 6, 10, 12, 13, 17)
LABELLED = (0, 3, 6, 10, 17)


def figure1(request: Request) -> Result:
    """Reproduce Figure 1: AUC and AUL of twenty rows, all labels and half of the positives'."""
    row = np.arange(len(SCORE))
    complete = uc.ScoreCounts.from_rows(np.isin(row, POSITIVE), SCORE)
    counts = uc.ScoreCounts.from_rows(np.where(np.isin(row, LABELLED), 1, np.nan), SCORE)
    truth, naive, lift = (
        uc.labelled_curve(complete),
        uc.naive_curve(counts),
        uc.theory.lift_curve(counts),
    )
    ours = (truth.roc_auc, naive.roc_auc, truth.lift_auc, lift.area)
    printed: dict[str, Any] = published(PAPER)["figure1"]
    rows = [
        (name, round(value, 12), printed[name]) for name, value in zip(printed, ours, strict=True)
    ]
    recovered = uc.theory.direct_auc(counts, uc.Shares.from_prevalence(counts, 0.5))
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


SIZES = (1000, 2000, 4000, 8000)
KM_FEATURES = "KM1 and KM2, features"
OOF = "out-of-fold scores"


def timing(request: Request) -> Result:
    """Reproduce the times of section 4.2: estimators of the prevalence against AUL."""
    found = request.draws(_seconds, [{"rows": n} for n in SIZES], block=1)
    names = [KM_FEATURES, *estimators(0), OOF, "default", "AUL"]
    times = published(PAPER)["timing"]
    printed = {(name, n): seconds for name, pairs in times.items() for n, seconds in pairs}
    rows: list[Any] = []
    for n, draws in zip(SIZES, found, strict=True):
        ours = [float(np.median(column(draws, name))) for name in names]
        rows.append((n, *ours, printed.get(("KM", n)), printed.get(("Distance", n))))
    notes = (
        (
            "Medians of processor seconds over the draws, one thread, on simulated data of 117 "
            "features, 30 % positive, a fifth of them labelled. The published KM and our first "
            "column read the features; the others read one score a row, whose making is listed "
            f"apart as '{OOF}'. 'default' is everything from features and scores to the share."
        ),
        "The paper says of AUL only that it takes less than a second.",
    )
    columns = ("rows", *(f"{name} (s)" for name in names), "publ. KM (s)", "publ. Distance (s)")
    lines = tuple(
        Line.of(name, SIZES, [row[1 + i] for row in rows], "-o") for i, name in enumerate(names)
    )
    printed_line = Line("KM, published", [1000, 8000], [4, 2000], "x--")
    panel = Panel("", "rows", "seconds", (*lines, printed_line), log_x=True, log_y=True)
    return result(request, "time of an estimate", columns, rows, notes, (panel,))


def _seconds(setting: Setting, rng: np.random.Generator) -> Draw:
    from undercount.prevalence import KernelMean, out_of_fold_scores  # noqa: PLC0415 - slow

    n_rows = int(setting["rows"])
    truth = np.arange(n_rows) < 0.3 * n_rows
    features = rng.normal(0.15 * truth[:, None], 1, (n_rows, 117))
    y = np.where(truth & (rng.random(n_rows) < 0.2), 1.0, np.nan)  # noqa: PLR2004 - labelled
    score = features.sum(axis=1)
    tasks: dict[str, Any] = {
        name: partial(fit, make, y, score) for name, make in estimators(0).items()
    }
    whole = partial(KernelMean, "KM1", max_rows=n_rows, n_resamples=0, random_state=0)
    tasks[KM_FEATURES] = partial(fit, whole, y, features)  # one fit makes both
    tasks[OOF] = lambda: out_of_fold_scores(y, features, random_state=0)
    tasks["default"] = partial(fit, partial(default, 0), y, features, score)
    tasks["AUL"] = lambda: uc.theory.lift_curve(uc.ScoreCounts.from_rows(y, score)).area
    seconds = {}
    for name, task in tasks.items():
        start = time.process_time()
        task()
        seconds[name] = time.process_time() - start
    return seconds
