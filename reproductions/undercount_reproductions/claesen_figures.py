"""Claesen et al. (2015), Figures 1-4: rank distributions, and what the assumed share does."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

import undercount as uc
from undercount_reproductions.drawing import Line, Panel, roc_line
from undercount_reproductions.published import published
from undercount_reproductions.result import Result
from undercount_reproductions.running import Draw, Request, Setting, column, mean_and_sd

PAPER = "claesen2015"
AUC = 0.7602499  # of N(1, 1) against N(0, 1): Φ(1/√2)
# The paper's band: at each rank alone, rounded outward. "binomial" is what its bootstrap of 2,000
# resamples tends to.
AS_PUBLISHED: dict[str, Any] = {"band": "binomial", "simultaneous": False, "rounding": "paper"}
SIMULTANEOUS = ("sim. low", "sim. high")


def coverage(draws: Sequence[Draw], low: str, high: str) -> float:
    """Return the share of draws whose bounds hold the truth."""
    truth = column(draws, "truth")
    return float(((column(draws, low) <= truth) & (truth <= column(draws, high))).mean())


def figure1(request: Request) -> Result:
    """Reproduce Figure 1: rank distributions of two sets of positives, by hand."""
    ranking, sets = "BEDGHAFCI", {"P1": "BDAC", "P2": "EGF"}
    lines, rows = [], []
    for name, members in sets.items():
        counts = uc.ScoreCounts.from_rows(
            [1.0 if row in members else np.nan for row in ranking], -np.arange(len(ranking))
        )
        heads = uc.theory.lift_curve(counts)
        lines.append(Line.of(name, heads.predicted_positive_rate * 9, heads.recall, "-o"))
        by_hand = [sum(row in members for row in ranking[:rank]) for rank in range(10)]
        for rank in range(10):
            share = by_hand[rank] / len(members)
            rows.append((name, rank, float(heads.recall[rank]), share))
    return _figure(
        request,
        "rank distributions of two sets of positives",
        ("set", "rank", "ours", "counted by hand"),
        rows,
        ("The figure prints no numbers; they are counted from the ranking B E D G H A F C I.",),
        (Panel("Figure 1", "rank", "share of the set", tuple(lines)),),
        runs=1,
    )


SIZES = (50, 100, 200, 500, 1000, 2000, 5000)


def figure2(request: Request) -> Result:
    """Reproduce Figure 2: bounds on the AUC against the number of known positives."""
    settings = [{"known": size} for size in SIZES]
    found = request.draws(_convergence, settings, block=5)
    columns = ("low", "high", *SIMULTANEOUS)
    rows = [
        (size, *(mean_and_sd(draws, name)[0] for name in columns), coverage(draws, "low", "high"))
        for size, draws in zip(SIZES, found, strict=True)
    ]
    names = ("paper's band, low", "paper's band, high", "simultaneous, low", "simultaneous, high")
    lines = tuple(
        Line.of(name, SIZES, [row[i + 1] for row in rows], "-o" if i < 2 else "--o")  # noqa: PLR2004
        for i, name in enumerate(names)
    )
    return _figure(
        request,
        "bounds on the AUC against the number of known positives",
        ("known +", *columns, "covers"),
        rows,
        (
            (
                "100,000 unlabeled rows, a fifth of them positive. The paper does not print its "
                "model of scores; ours is N(1, 1) against N(0, 1), so widths compare and heights "
                "do not."
            ),
        ),
        (Panel("Figure 2", "known positives", "AUC", lines, log_x=True),),
    )


def _convergence(setting: Setting, rng: np.random.Generator) -> Draw:
    hidden, negative = 20_000, 80_000
    sizes = (setting["known"] + hidden, negative)
    score = np.append(rng.normal(1, 1, sizes[0]), rng.normal(0, 1, sizes[1]))
    truth = np.arange(len(score)) < sizes[0]
    y = np.where(np.arange(len(score)) < setting["known"], 1.0, np.nan)
    counts = uc.ScoreCounts.from_rows(y, score, compact=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.MisfitWarning)  # a pointwise band may miss by a row
        paper = uc.bound_curve(counts, uc.Shares(0.2), **AS_PUBLISHED).roc_auc
        ours = uc.bound_curve(counts, uc.Shares(0.2)).roc_auc
    return {
        "truth": uc.labelled_curve(uc.ScoreCounts.from_rows(truth, score)).roc_auc,
        "low": paper.low,
        "high": paper.high,
        "sim. low": ours.low,
        "sim. high": ours.high,
    }


def figure3(request: Request) -> Result:
    """Reproduce Figure 3: estimated ROC curves against the assumed share β."""
    rng = request.generator({"figure": 3})
    score = np.append(rng.normal(1, 1, 32_000), rng.normal(0, 1, 70_000))
    y = np.where(np.arange(len(score)) < 2000, 1.0, np.nan)  # noqa: PLR2004 - known positives
    counts = uc.ScoreCounts.from_rows(y, score)
    rows, lines = [], []
    for beta in (0.0, 0.15, 0.3, 0.45):
        curve = uc.mixture_curve(counts, uc.Shares(beta), clean=False)
        rows.append((beta, curve.roc_auc, 0.5 + (AUC - 0.5) * 0.7 / (1 - beta)))
        lines.append(roc_line(f"β̂ = {beta}", curve))
    return _figure(
        request,
        "estimated ROC curves against the assumed share of positives, true share .3",
        ("β̂", "ours", "expected"),
        rows,
        (
            (
                "The figure prints no numbers. 'expected' is the population value, "
                "½ + (AUC - ½)(1 - β)/(1 - β̂), of N(1, 1) against N(0, 1); with 2,000 known "
                "positives one draw strays from it by about .006 to .010 (one sd, rising with β̂)."
            ),
        ),
        (Panel("Figure 3", "FPR", "TPR", tuple(lines)),),
        runs=1,
    )


def figure4(request: Request) -> Result:
    """Reproduce Figure 4: two models whose order seems to depend on β, and why it does not."""
    rng = request.generator({"figure": 4})
    unlabeled, known, top = 45_000, 5000, 0.464
    smooth = np.append(rng.normal(float(ndtri(0.725)) * np.sqrt(2), 1, known), np.zeros(unlabeled))
    smooth[known:] = rng.normal(0, 1, unlabeled)
    # The second model puts part of the positives above everything and the others anywhere.
    steep = np.append(rng.random(known) + (rng.random(known) < top), rng.random(unlabeled))
    y = np.where(np.arange(known + unlabeled) < known, 1.0, np.nan)
    models = [uc.ScoreCounts.from_rows(y, score) for score in (smooth, steep)]
    rows, lines = [], []
    for beta in (0.0, 0.1):
        printed = published(PAPER)["figure4"][str(beta)]
        for name, counts, value in zip(("model 1", "model 2"), models, printed, strict=True):
            clipped, bounds = _clipped(counts, beta)
            direct = uc.theory.direct_auc(counts, uc.Shares(beta))
            rows.append((name, beta, clipped.roc_auc, bounds.clipped, direct, value))
            lines.append(roc_line(f"{name}, β̂ = {beta}", clipped))
    return _figure(
        request,
        "two models whose order changes with the assumed share",
        ("model", "β̂", "clipped AUC", "rows clipped", "direct AUC", "published"),
        rows,
        (
            (
                "The published models are not given; ours have the published AUCs at β̂ = 0 and no "
                "hidden positives."
            ),
            (
                "The order changes only because eq. 11 clips model 2, that is, because β̂ = .1 is "
                "impossible for it: unclipped ('direct'), one increasing map holds for all models "
                "and their order cannot change. The clipped rows are the warning."
            ),
        ),
        (Panel("Figure 4", "FPR", "TPR", tuple(lines)),),
        runs=1,
    )


def _clipped(counts: uc.ScoreCounts, beta: float) -> tuple[Any, Any]:
    """Return the curve of eq. 11 with the labelled positives' own distribution as T."""
    cdf = np.cumsum(counts.positive) / counts.n_positive
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.MisfitWarning)
        bounds = uc.bound_tables(
            counts, uc.Shares(beta), lower_cdf=cdf, upper_cdf=cdf, rounding="none"
        )
    return bounds.optimistic.curve, bounds


def _figure(
    request: Request,
    title: str,
    columns: tuple[str, ...],
    rows: list[Any],
    notes: tuple[str, ...],
    panels: tuple[Panel, ...],
    runs: int | None = None,
) -> Result:
    return Result(
        PAPER,
        request.item,
        title,
        columns,
        tuple(rows),
        notes,
        request.runs if runs is None else runs,
        request.seed,
        panels,
    )
