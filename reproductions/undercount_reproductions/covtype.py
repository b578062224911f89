"""Claesen et al. (2015), Figure 5: rank distribution, ROC and PR curves of covtype."""

import warnings
from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.drawing import Line, Panel, roc_line
from undercount_reproductions.result import Result
from undercount_reproductions.running import Draw, Request, Setting, column, mean_and_sd

KNOWN = 1000  # 5 % of the positives
PAPER_BAND: dict[str, Any] = {"band": "binomial", "simultaneous": False}
# Name of the bounds → options of `bound_curve`, and factors on the true share.
KINDS: dict[str, tuple[dict[str, Any], float, float]] = {
    "paper, β": ({**PAPER_BAND, "rounding": "paper"}, 1.0, 1.0),
    "paper, .8β-1.2β": ({**PAPER_BAND, "rounding": "paper"}, 0.8, 1.2),
    "sharp, β": ({**PAPER_BAND, "rounding": "sharp"}, 1.0, 1.0),
    "simultaneous, β": ({}, 1.0, 1.0),
}
READ = {"paper, β": (0.70, 0.79), "paper, .8β-1.2β": (0.67, 0.84)}
BANDS: dict[str, dict[str, Any]] = {
    "paper": {"band": "binomial", "simultaneous": False},
    "simultaneous": {"band": "hypergeometric"},
}


def figure5(request: Request) -> Result:
    """Bound the curves of the published covtype scores from 5 % of the positive labels."""
    data = request.data("covtype_scores_claesen")
    score, truth = data.features[:, 0], data.y
    draws = request.draws(_label, [{"known": KNOWN}], score, truth, block=10)[0]
    complete = uc.labelled_curve(uc.ScoreCounts.from_rows(truth, score))
    rows: list[Any] = [("all labels", complete.roc_auc, complete.roc_auc, 0.7456, 0.7456, None)]
    naive = mean_and_sd(draws, "naive")[0]
    rows.append(("β̂ = 0", naive, naive, 0.63, 0.63, None))
    for name in KINDS:
        low, high = column(draws, f"{name} low"), column(draws, f"{name} high")
        covers = float(((low <= complete.roc_auc) & (complete.roc_auc <= high)).mean())
        rows.append((name, low.mean(), high.mean(), *READ.get(name, (None, None)), covers))
    notes = [
        f"The {name} band of the rank distribution holds all hidden positives' ranks at once in "
        f"{mean_and_sd(draws, f'{name} band')[0]:.0%} of the draws (nominal 95 %)."
        for name in BANDS
    ]
    notes.append(
        "Published values are read off the figure and its text; 'covers' is the share of draws "
        "whose bounds hold the true AUC. The paper's band holds at each rank alone."
    )
    return Result(
        request.paper,
        request.item,
        "covtype: bounds on the AUC from 1,000 of 20,000 positive labels",
        ("bounds", "low", "high", "published low", "published high", "covers"),
        tuple((row[0], *(None if v is None else float(v) for v in row[1:])) for row in rows),
        tuple(notes),
        request.runs,
        request.seed,
        _panels(request, score, truth),
    )


def _counts(truth: Any, score: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    labelled = rng.choice(np.flatnonzero(truth == 1), KNOWN, replace=False)
    y = np.full(len(truth), np.nan)
    y[labelled] = 1.0
    counts = uc.ScoreCounts.from_rows(y, score)
    hidden = uc.ScoreCounts.from_rows(np.where(np.isnan(y), truth, np.nan), score)
    return counts, hidden


def _label(setting: Setting, rng: np.random.Generator, score: Any, truth: Any) -> Draw:
    counts, hidden = _counts(truth, score, rng)
    beta = hidden.n_positive / counts.n_unlabeled
    draw: Draw = {"naive": uc.naive_curve(counts).roc_auc, "known": setting["known"]}
    for name, (options, low, high) in KINDS.items():
        share = beta if low == high else (low * beta, high * beta)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uc.MisfitWarning)  # pointwise bands miss some rows
            found = uc.bound_curve(counts, uc.Shares(share), **options).roc_auc
        draw |= {f"{name} low": found.low, f"{name} high": found.high}
    ranks = np.cumsum(hidden.positive) / hidden.n_positive
    for name, options in BANDS.items():
        band = uc.theory.cdf_band(counts.positive, n_hidden=int(hidden.n_positive), **options)
        inside = (band.lower <= ranks + 1e-9) & (ranks <= band.upper + 1e-9)
        draw[f"{name} band"] = float(inside.all())
    return draw


def _panels(request: Request, score: Any, truth: Any) -> tuple[Panel, ...]:
    """Draw the first draw."""
    counts, hidden = _counts(truth, score, request.generator({"known": KNOWN}))
    rank = np.cumsum(counts.positive + counts.unlabeled) / counts.n_rows
    ranks = [Line.of("hidden positives", rank, np.cumsum(hidden.positive) / hidden.n_positive)]
    for name, options in BANDS.items():
        band = uc.theory.cdf_band(counts.positive, n_hidden=int(hidden.n_positive), **options)
        style = "--" if name == "paper" else ":"
        ranks.append(Line.of(f"{name} band", rank, band.lower, style))
        ranks.append(Line.of("", rank, band.upper, style))
    complete = uc.labelled_curve(uc.ScoreCounts.from_rows(truth, score))
    roc, pr = [roc_line("true", complete)], [_pr_line("true", complete)]
    beta = hidden.n_positive / counts.n_unlabeled
    for name, style in (("paper, β", "--"), ("simultaneous, β", ":")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uc.MisfitWarning)
            found = uc.bound_curve(counts, uc.Shares(beta), **KINDS[name][0])
        for label, curve in ((name, found.pessimistic), ("", found.optimistic)):
            roc.append(roc_line(label, curve, style))
            pr.append(_pr_line(label, curve, style))
    naive = uc.naive_curve(counts)
    roc.append(roc_line("β̂ = 0", naive, "-."))
    pr.append(_pr_line("β̂ = 0", naive, "-."))
    return (
        Panel("Rank distribution", "rank (normalised)", "share of positives", tuple(ranks)),
        Panel("ROC", "FPR", "TPR", tuple(roc)),
        Panel("Precision and recall", "recall", "precision", tuple(pr)),
    )


def _pr_line(label: str, curve: Any, style: str = "-") -> Line:
    flagged = curve.predicted_positive_rate > 0
    return Line.of(label, curve.recall[flagged], curve.precision[flagged], style)
