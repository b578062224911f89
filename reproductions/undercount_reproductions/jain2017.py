"""Jain et al. (2017), recovering true performance: figures, tables and sign tests."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.drawing import Line, Panel, roc_line
from undercount_reproductions.jain_tables import figure2, known, our_tests, table1, table2
from undercount_reproductions.published import published
from undercount_reproductions.result import Result
from undercount_reproductions.running import Request

__all__ = ["figure1", "figure2", "figure3", "figure4", "known", "signtests", "table1", "table2"]

PAPER = "jain2017"
# Figure 1A: eight rows by falling score.
SCORE = (0.986, 0.943, 0.863, 0.789, 0.699, 0.473, 0.211, 0.009)
TRUTH = (1, 1, 1, 0, 1, 0, 0, 0)
LABELLED = (1, 0, 1, 0, 1, 0, 0, 0)
GRID = np.linspace(0.0, 1.0, 101)


def figure1(request: Request) -> Result:
    """Reproduce Figure 1: areas of eight rows against unlabeled and against negative rows."""
    complete = uc.ScoreCounts.from_rows(TRUTH, SCORE)
    counts = uc.ScoreCounts.from_rows(LABELLED, SCORE, unlabeled=0)
    truth, naive = uc.labelled_curve(complete), uc.naive_curve(counts)
    indirect = uc.mixture_curve(counts, uc.Shares(0.2), monotone="cummax")
    rows = (
        ("positive against unlabeled", round(naive.roc_auc, 12), 0.8),
        ("positive against negative", truth.roc_auc, 0.9375),
        ("recovered directly (eq. 4)", uc.theory.direct_auc(counts, uc.Shares(0.2)), None),
        ("recovered by Algorithm 1", indirect.roc_auc, None),
    )
    panels = (
        Panel("Positive against unlabeled", "η", "γ", (roc_line("", naive),)),
        Panel("Positive against negative", "η", "γ", (roc_line("", truth),)),
    )
    notes = (
        (
            "Exact; the areas are those of the boxes drawn (12/15 and 15/16). The recovered areas "
            "are not in the paper; Algorithm 1 has the ends (0,0) and (1,1) added."
        ),
    )
    title = "areas of eight rows"
    return _result(request, title, ("what", "ours", "published"), rows, notes, panels)


def figure3(request: Request) -> Result:
    """Reproduce Figure 3: error of the recovered AUC over wrong shares, 27 settings."""
    rows, panels = [], []
    for auc, alpha, beta in product((0.65, 0.80, 0.95), (0.05, 0.25, 0.50), (0.75, 0.95, 1.00)):
        surface, panel = _surface(alpha, beta, auc)
        half = 2 * auc - 1
        infeasible = 1 - (1 - (beta - alpha) * half) ** 2
        rows.append((alpha, beta, auc, float(np.isnan(surface).mean()), infeasible))
        panels.append(panel)
    notes = (
        (
            "The figure prints no numbers. The grey band is where the recovered area leaves [0, "
            "1]: |β̂ - α̂| < (β - α)(2 AUC - 1), which takes 1 - (1 - (β - α)(2 AUC - 1))² of the "
            "square."
        ),
    )
    columns = ("α", "β", "AUC", "infeasible share of the grid", "by the formula")
    title = "error of the recovered AUC over assumed shares"
    return _result(request, title, columns, tuple(rows), notes, tuple(panels))


def figure4(request: Request) -> Result:
    """Reproduce Figure 4: the lines of the error surface, and its misprinted box."""
    alpha, beta, auc = 0.25, 0.75, 0.90
    _, panel = _surface(alpha, beta, auc)
    gap = beta - alpha
    naive = 0.5 + gap * (auc - 0.5)

    def error(assumed_alpha: float, assumed_beta: float) -> float:
        return float(uc.theory.recovery_error((alpha, beta), (assumed_alpha, assumed_beta), auc))

    rows = (
        ("AUC^pu", auc - error(0.0, 1.0), 0.80),
        ("error at the true shares", error(alpha, beta), 0.0),
        ("error on β̂ = α̂ + (β - α)", error(0.4, 0.4 + gap), 0.0),
        ("error on β̂ = α̂ + (β - α)(2 AUC - 1)", error(0.3, 0.3 + gap * 0.8), 1 - auc),
        ("error on β̂ = α̂ - (β - α)", error(0.6, 0.6 - gap), 2 * auc - 1),
        ("error at α̂ = 1, β̂ = 0", error(1.0, 0.0), auc - (1 - naive)),
    )
    lines = tuple(
        Line.of(label, GRID, np.clip(GRID + shift, 0, 1), "-")
        for label, shift in (("AUC", gap), ("1", 0.8 * gap), ("0", -0.8 * gap), ("1-AUC", -gap))
    )
    notes = (
        (
            "The box prints AUC^pu = .80; eq. 4 gives ½ + (β - α)(AUC - ½) = .70. The other "
            "'published' values are the box's equations."
        ),
    )
    panel = Panel(panel.title, panel.x_label, panel.y_label, lines, panel.surface)
    columns = ("what", "ours", "published")
    return _result(request, "the error surface at AUC .90", columns, rows, notes, (panel,))


def _surface(alpha: float, beta: float, auc: float) -> tuple[np.ndarray, Panel]:
    middle = (GRID[1:] + GRID[:-1]) / 2  # centres of cells, so that each stands for its area
    surface = uc.theory.recovery_error((alpha, beta), (middle[None, :], middle[:, None]), auc)
    title = f"α={alpha}, β={beta}, AUC={auc}"
    marks = (Line("", [alpha, alpha], [0, 1], ":"), Line("", [0, 1], [beta, beta], ":"))
    return surface, Panel(title, "α̂", "β̂", marks, np.round(surface[::2, ::2], 4).tolist())


def signtests(request: Request) -> Result:
    """Reproduce the sign tests of indirect against direct recovery, and make them on our draws."""
    printed = published(PAPER)
    cells = {
        name: [row[i] for row in printed["table1"]] for i, name in enumerate(printed["columns1"])
    }
    rows: list[tuple[Any, ...]] = []
    for kind in "RE":
        indirect, direct = np.array(cells[f"I{kind}"]), np.array(cells[f"D{kind}"])
        found = [int(n.sum()) for n in (indirect < direct, indirect > direct, indirect == direct)]
        *counted, p_value = printed["sign_tests"][kind]
        ours = uc.theory.sign_test(found[0], found[1], ties=found[2])
        rows.append((f"I{kind} against D{kind}", *found, *counted, ours, p_value))
    rows += our_tests(request)
    columns = ("test", "wins", "losses", "ties", "publ. wins", "publ. losses", "publ. ties")
    notes = (
        (
            "Counted from the printed cells of Table 1, which are rounded; in IE against DE one "
            "published loss is a tie there, and half of the ties, rounded down, count as wins. "
            "'ours' are counted from our own draws, where the data are at hand (K: shares by "
            "NoisyComposition, C: by NoisyConsensus)."
        ),
        (
            "The 36 experiments share twelve data sets, so the p-values are smaller than they "
            "should be."
        ),
    )
    title = "indirect against direct recovery"
    result = _result(request, title, (*columns, "p", "publ. p"), tuple(rows), notes, ())
    return replace(result, runs=request.runs if len(rows) > len("RE") else 1)


def _result(
    request: Request,
    title: str,
    columns: tuple[str, ...],
    rows: tuple[Any, ...],
    notes: tuple[str, ...],
    panels: tuple[Panel, ...],
) -> Result:
    item, seed = request.item, request.seed
    return Result(PAPER, item, title, columns, rows, notes, 1, seed, panels)
