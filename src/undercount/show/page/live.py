"""What the page's script needs besides the facts: cells of counts, and how intervals are made."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from undercount.count.kernel.table import Table, coarsen, concatenate
from undercount.counts import CLASSES, ScoreCounts
from undercount.errors import collect_warnings
from undercount.estimate import Estimate
from undercount.infer.heads import threshold_of_top
from undercount.infer.metric_name import place_words, short_number, short_threshold
from undercount.infer.metric_row import MetricRow
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.metric_facts import FACTS
from undercount.read.evaluation import POINT_METRICS, Evaluation
from undercount.show.document import DOCUMENT_POINTS, plain
from undercount.show.text import main_row, share_doubt_words, support_words
from undercount.show.verdict_words import condition_form, condition_words

# Digits of thresholds on the page, more only where two scores would become one; and of weights.
PAGE_DIGITS, WEIGHT_DIGITS = 6, 6
MASS_ROUNDING = 1e-12
ALL_DIGITS = 17
# Points at which Student's quantile is given where the script must find it at other levels.
STUDENT_POINTS = 12
# Of the curve that reviews found: its points, those with intervals, and their digits.
REVIEW_POINTS, REVIEW_INTERVALS, REVIEW_DIGITS = 96, 20, 10
# Rows of the page's table: metrics at a threshold, then areas.
PAGE_METRICS = (*POINT_METRICS, *SWEPT_AREAS)


def start_threshold(evaluation: Evaluation) -> float:
    """Return the threshold the page opens with: the one asked for, else that of the best F1.

    Of the highest rows it is the score of the last, or the end of the cell that holds it. Without
    a share of hidden positives the F1 is that of labels alone, as if none were hidden.
    """
    if evaluation.threshold is not None:
        return evaluation.threshold
    if evaluation.top is not None and evaluation.shares.sampling == "single-sample":
        return threshold_of_top(evaluation.recovery.counts_for_top, evaluation.top)[0]
    if evaluation.unknowns.range_only:
        naive = evaluation.naive_curve
        return float(naive.threshold[1 + int(np.nanargmax(naive.f1[1:]))])
    return evaluation.best_threshold("f1").threshold


def page_rows(evaluation: Evaluation, threshold: float) -> list[MetricRow]:
    """Return the table in the script's order: metrics at a threshold, then areas."""
    # Of several thresholds the first is the main one.
    rows = {row.metric: row for row in reversed(evaluation.rows)}
    if evaluation.threshold is None:
        with collect_warnings():  # the checks say it already
            rows |= {row.metric: row for row in evaluation.at(threshold)}
    return [rows[metric] for metric in PAGE_METRICS]


def script_facts() -> dict[str, dict[str, Any]]:
    """Return what the script must know of each metric, in the order of the page's table."""
    return {
        name: {
            "title": facts.title,
            "area": facts.family == "area",
            "least": facts.range[0],
            "prevalence": facts.needs_prevalence,
            "grows": facts.grows,
        }
        for name, facts in ((name, FACTS[name]) for name in PAGE_METRICS)
    }


def fixed_words(evaluations: Sequence[Evaluation]) -> str:
    """Say why the sliders are off: the script repeats intervals of independent rows alone."""
    source = next(
        (
            evaluation.basis.determined_by
            for evaluation in evaluations
            if evaluation.basis.determined_by
        ),
        "",
    )
    if source:
        return (
            f"The sliders are off: the {source} determine the share of hidden positives, and "
            "this page has their numbers for the reported threshold alone. Evaluate again for "
            "another threshold."
        )
    if any(evaluation.recovery.clusters is not None for evaluation in evaluations):
        return (
            "The sliders are off: rows come in clusters, and this page has their intervals for "
            "the reported threshold and assumptions alone. Evaluate again for others."
        )
    return ""


def live_facts(evaluation: Evaluation, threshold: float) -> dict[str, Any]:
    """Return what the script needs to repeat the library's intervals."""
    counts, shares = evaluation.counts, evaluation.shares
    cuts = page_cuts(evaluation, threshold)
    upper = (1 + evaluation.confidence_level) / 2
    size = counts.effective_size("positive")
    pairs = zip(
        (counts.n_positive, counts.n_unlabeled, counts.n_negative),
        (counts.squared_weight[kind] for kind in (0, 2, 1)),
        strict=True,
    )
    rows = page_rows(evaluation, threshold)
    largest = evaluation.unknowns.largest_share
    own = abs(2 * counts.auc("positive", "unlabeled") - 1)
    return {
        "given": shares.given,
        "share_given": evaluation.unknowns.given,
        "estimated": evaluation.recovery.share_estimated,
        # Labels and scores point to no share: where nobody moved one, only ranges are shown.
        "range_only": evaluation.unknowns.range_only,
        "share": shares.unlabeled_prevalence,
        "condition": _condition(evaluation),
        "support": support_words(evaluation),
        **({"doubt": doubt} if (doubt := share_doubt_words(evaluation)) else {}),
        # The purity less this is the share at which an AUC would be 1, of all models on the rows.
        "separation": shares.label_purity - largest if largest > 0 else own,
        "area_bound": evaluation.unknowns.area_bound,
        "errors": [shares.unlabeled_prevalence_error, shares.label_purity_error],
        "units": [squares / total if total > 0 else 1.0 for total, squares in pairs],
        "z": float(ndtri(upper)),
        "t": float(stdtrit(max(size - 1, 1.0), upper)),
        "students": _student_quantiles(evaluation, size),
        "start": _cells_above(counts, cuts, threshold),
        "claim_at": _claim_place(evaluation, cuts),
        "cut": plain(threshold),
        "cut_words": short_number(short_threshold(threshold, counts)),
        "rows": [
            [plain(v) for v in (r.naive, r.estimate.value, r.estimate.low, r.estimate.high)]
            for r in rows
        ],
        "top": _top_lead(evaluation),
        "fixed": bool(fixed_words([evaluation])),
        **({"found": review_curve(evaluation, threshold)} if evaluation.basis.review else {}),
        **({"bands": own_bands(evaluation, threshold)} if fixed_words([evaluation]) else {}),
    }


def _condition(evaluation: Evaluation) -> str:
    """Say what was given, with a place for its value if the script can say that at other claims."""
    rows = evaluation.shares.given == "positives"
    return condition_words(evaluation) if rows else condition_form(evaluation)


def review_curve(evaluation: Evaluation, threshold: float) -> dict[str, Any]:
    """Return points of the curve that reviews found, at ends of cells.

    Between the points the script draws straight lines; the threshold is one of them.
    """
    ends, places = _curve_places(evaluation, threshold)
    curve = evaluation.curve
    return {
        "at": (ends + 1).tolist(),
        "tpr": [float(f"{value:.{REVIEW_DIGITS}g}") for value in curve.tpr[places + 1]],
        "prevalence": curve.prevalence,
    }


def own_bands(evaluation: Evaluation, threshold: float) -> dict[str, dict[str, list[float | int]]]:
    """Return the library's limits of recall and precision at ends of some of the page's cells."""
    counts = evaluation.counts
    ends, places = _curve_places(evaluation, threshold)
    read = [k for k, place in enumerate(places) if not (counts.compact and counts.merged[place])]
    read = [read[k] for k in np.unique(np.linspace(0, len(read) - 1, REVIEW_INTERVALS).astype(int))]
    with collect_warnings():
        estimates = {
            name: [evaluation.estimate(name, float(counts.score[places[k]])) for k in read]
            for name in ("recall", "precision")
        }
    return {name: _band(ends[read] + 1, band) for name, band in estimates.items()}


def _curve_places(evaluation: Evaluation, threshold: float) -> tuple[Any, Any]:
    """Return cells of the page, that of the threshold too, and the counts' cells that end there."""
    counts = evaluation.counts
    cuts = page_cuts(evaluation, threshold)
    rows = np.cumsum(np.add.reduce(concatenate(*_split_cells(counts, cuts)).classes))
    start = _cells_above(counts, cuts, threshold)
    own = np.cumsum(np.add.reduce(counts.table.classes))
    even = np.linspace(0, rows.size - 1, min(REVIEW_POINTS, rows.size)).round().astype(int)
    ends = np.union1d(even, max(start - 1, 0))
    return ends, np.searchsorted(own, rows[ends] * (1 - MASS_ROUNDING))


def _band(places: Any, estimates: list[Estimate]) -> dict[str, list[float | int]]:
    """Return limits where they exist: no interval is made where nothing was reviewed."""
    parts = [
        (int(place), _shorten(estimate.low), _shorten(estimate.high))
        for place, estimate in zip(places, estimates, strict=True)
        if np.isfinite(estimate.low) and np.isfinite(estimate.high)
    ]
    return {name: [row[k] for row in parts] for k, name in enumerate(("at", "low", "high"))}


def _student_quantiles(evaluation: Evaluation, size: float) -> list[list[float]]:
    """Return normal quantiles between those of a one- and a two-sided interval, and Student's.

    Between these points, which are Chebyshev's, the script interpolates where a range was given.
    """
    shares, level = evaluation.shares, evaluation.confidence_level
    if not (shares.unlabeled_prevalence_interval or shares.label_purity_interval):
        return []
    low, high = float(ndtri(level)), float(ndtri((1 + level) / 2))
    nodes = np.cos(np.pi * (np.arange(STUDENT_POINTS) + 0.5) / STUDENT_POINTS)
    at = (low + high) / 2 + (high - low) / 2 * nodes
    return [at.tolist(), stdtrit(max(size - 1, 1.0), ndtr(at)).tolist()]


def _top_lead(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return the precision of the highest rows, if it leads; the page follows thresholds alone."""
    row = main_row(evaluation)
    if evaluation.top is None or row is None or row.top is None:
        return None
    estimate = row.estimate
    values = {
        "naive": row.naive,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
    }
    return {
        "place": place_words(None, row.top),
        **{name: plain(value) for name, value in values.items()},
    }


def page_cuts(evaluation: Evaluation, threshold: float) -> list[float]:
    """Return the thresholds at which cells must end: the page's, and that of the claim."""
    claim = evaluation.verdict.claim
    own = None if claim is None else claim.threshold
    return sorted({threshold} if own is None else {threshold, own}, reverse=True)


def _claim_place(evaluation: Evaluation, cuts: list[float]) -> int | None:
    """Return the cells above the claim's own threshold, -1 if it has none.

    None if it has a top, or is about another prevalence: the sliders then do not follow it.
    """
    claim = evaluation.verdict.claim
    if claim is not None and claim.deploy_prevalence is not None:
        return None
    if claim is None or claim.metric in SWEPT_AREAS:
        return -1
    if claim.name.top is not None:
        return None
    if claim.threshold in (None, evaluation.threshold):
        return -1
    return _cells_above(evaluation.counts, cuts, claim.threshold)


def _cells_above(counts: ScoreCounts, cuts: list[float], threshold: float | None) -> int:
    """Return how many cells lie at or above one of the cuts."""
    parts = _split_cells(counts, cuts)
    return sum(
        part.score.size
        for part, cut in zip(parts[:-1], cuts, strict=True)
        if threshold is not None and cut >= threshold
    )


def page_cells(counts: ScoreCounts, *cuts: float) -> dict[str, list[float | None]]:
    """Return scores and rows of at most `DOCUMENT_POINTS` cells, some of which end at the cuts."""
    cells = concatenate(*_split_cells(counts, sorted(cuts, reverse=True)))
    short: dict[str, list[float | None]] = {
        name: [_shorten(value) for value in column]
        for name, column in zip(CLASSES, cells.classes, strict=True)
    }
    if not cells.negative.any():
        short["negative"] = []  # the script puts the zeros back
    return {"threshold": _shorten_scores(cells.score), **short}


def _split_cells(counts: ScoreCounts, cuts: list[float]) -> list[Table]:
    """Return cells at or above the highest threshold, between the others, and below all."""
    places = [int(np.searchsorted(-counts.score, -cut, side="right")) for cut in cuts]
    edges = [0, *places, len(counts.score)]
    parts, left, least = [], DOCUMENT_POINTS, DOCUMENT_POINTS // 8
    for k, (start, end) in enumerate(pairwise(edges)):
        # About as many cells each as the parts have rows of the labelled and the unlabeled.
        shares = (
            counts.positive[start:end].sum() / counts.n_positive,
            counts.unlabeled[start:end].sum() / counts.n_unlabeled,
        )
        rest = len(cuts) - k
        room = min(max(round(DOCUMENT_POINTS * sum(shares) / 2), least), left - least * rest)
        room = room if rest else left
        left -= room
        part = _coarsen(counts.table.part(slice(start, end)), room)
        if rest and part.score.size:  # no row lies between the threshold and the lowest score above
            part = part._replace(score=np.append(part.score[:-1], cuts[k]))
        parts.append(part)
    return parts


def _coarsen(table: Table, n_bins: int) -> Table:
    """Merge cells that hold rows into at most `n_bins`; of empty ones the last is left."""
    filled = np.add.reduce(table.classes) > 0
    return coarsen(table.part(filled), n_bins) if filled.any() else table.part(slice(-1, None))


def _shorten_scores(scores: Any) -> list[float | None]:
    """Shorten scores, but never so far that two become one."""
    finite = scores[np.isfinite(scores)]
    for digits in range(PAGE_DIGITS, ALL_DIGITS + 1):
        short = [float(f"{score:.{digits}g}") for score in finite]
        if len(set(short)) == len(short):
            break
    shortened = dict(zip(finite.tolist(), short, strict=True)) if len(finite) else {}
    return [shortened.get(float(score)) for score in scores]


def _shorten(value: float) -> float | int:
    """Write whole numbers without a point, weights shortened."""
    return int(value) if float(value).is_integer() else float(f"{value:.{WEIGHT_DIGITS}g}")
