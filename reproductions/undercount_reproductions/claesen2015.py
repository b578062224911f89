"""Claesen et al. (2015), bounds from positive and unlabeled data: Tables 1-2, Figures 1-5."""

import warnings
from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.claesen_figures import (
    AS_PUBLISHED,
    SIMULTANEOUS,
    coverage,
    figure1,
    figure2,
    figure3,
    figure4,
)
from undercount_reproductions.covtype import figure5
from undercount_reproductions.published import published
from undercount_reproductions.result import Result
from undercount_reproductions.running import Draw, Request, Setting, column, mean_and_sd

__all__ = ["figure1", "figure2", "figure3", "figure4", "figure5", "table1", "table2"]

PAPER = "claesen2015"
N_POSITIVE, N_NEGATIVE = 2000, 10000
FACTORS = ("0.8", "1.0", "1.2")
MISPRINTS = (
    "Published Table 1 has misprints: the upper ends of (.1, .6, 1.0) and (.1, .8, 1.0), the row "
    "(.5, 0, 1.0), and the widths of the rows .5 and .7 at 1.2."
)


def table1(request: Request) -> Result:
    """Reproduce Table 1: bounds on the AUC from the known positives."""
    return _bounds_table(request, "positive", (MISPRINTS,))


def table2(request: Request) -> Result:
    """Reproduce Table 2: bounds from known positives or known negatives, whichever are tighter."""
    return _bounds_table(request, "tightest", ())


def _bounds_table(request: Request, basis: str, notes: tuple[str, ...]) -> Result:
    cells = published(PAPER)[request.item]
    settings = [
        {"positive": cell["known_positive"], "negative": cell["known_negative"], "basis": basis}
        for cell in cells
    ]
    found = request.draws(_bounds, settings, block=10)
    rows: list[Any] = []
    outside = 0
    for cell, draws in zip(cells, found, strict=True):
        for factor in FACTORS:
            row = [cell["known_positive"], cell["known_negative"], factor]
            for end, printed in zip(("low", "high"), cell["bounds"][factor], strict=True):
                mean, spread = mean_and_sd(draws, f"{end} {factor}")
                row += [mean, spread, printed, (printed - mean) / spread]
                outside += abs(printed - mean) > 2 * spread
            same = cell["basis"] == "pos"
            row.append(float((column(draws, f"basis {factor}") == same).mean()))
            exact = factor == "1.0"
            row += [mean_and_sd(draws, name)[0] if exact else None for name in SIMULTANEOUS]
            row.append(coverage(draws, "low 1.0", "high 1.0") if exact else None)
            row.append(coverage(draws, *SIMULTANEOUS) if exact else None)
            rows.append(tuple(row))
    columns = [f"{end}{part}" for end in ("low", "high") for part in ("", " sd", " publ.", " z")]
    return Result(
        PAPER,
        request.item,
        f"bounds on the AUC, basis {basis}",
        (
            *("known +", "known -", "β̂/β", *columns, "same basis"),
            *(*SIMULTANEOUS, "covers", "sim. covers"),
        ),
        tuple(rows),
        (
            (
                f"{outside} of {2 * len(rows)} published ends lie more than 2 sd from our mean; "
                "the published table is one draw of one data set, whose rows all share its luck."
            ),
            (
                "'same basis': share of draws whose narrower bounds come from the class that the "
                "paper's come from. "
                "'sim.' is our default: the simultaneous hypergeometric band with sharp rounding. "
                "'covers' is the share of draws whose bounds hold the AUC of all rows (known β)."
            ),
            *notes,
        ),
        request.runs,
        request.seed,
    )


def _bounds(setting: Setting, rng: np.random.Generator) -> Draw:
    score = np.append(rng.normal(1, 1, N_POSITIVE), rng.normal(0, 1, N_NEGATIVE))
    truth = np.arange(len(score)) < N_POSITIVE
    known = round(setting["positive"] * N_POSITIVE), round(setting["negative"] * N_NEGATIVE)
    y = np.full(len(score), np.nan)
    y[: known[0]] = 1.0  # the rows are in random order within their class
    y[N_POSITIVE : N_POSITIVE + known[1]] = 0.0
    counts = uc.ScoreCounts.from_rows(y, score)
    beta = (N_POSITIVE - known[0]) / counts.n_unlabeled
    draw: Draw = {"truth": uc.labelled_curve(uc.ScoreCounts.from_rows(truth, score)).roc_auc}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.MisfitWarning)  # a wrong β need not fit
        both = setting["basis"] == "tightest" and known[1] > 0
        for factor in FACTORS:
            shares = uc.Shares(float(factor) * beta)
            found = {
                basis: uc.bound_curve(counts, shares, basis=basis, **AS_PUBLISHED).roc_auc
                for basis in (("positive", "negative") if both else ("positive",))
            }
            basis = min(found, key=lambda side: found[side].width)
            draw |= {f"low {factor}": found[basis].low, f"high {factor}": found[basis].high}
            draw[f"basis {factor}"] = float(basis == "positive")
        ours = uc.bound_curve(
            counts, uc.Shares(beta), basis="tightest" if both else "positive"
        ).roc_auc
    return draw | {"sim. low": ours.low, "sim. high": ours.high}
