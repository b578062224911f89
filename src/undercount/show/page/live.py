"""What the page's script needs besides the facts: cells of counts, and how intervals are made."""

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from undercount.count.kernel.table import Table, coarsen, concatenate
from undercount.counts import CLASSES, ScoreCounts
from undercount.errors import collect_warnings
from undercount.metric_facts import FACTS
from undercount.read.evaluation import POINT_METRICS, Evaluation, MetricRow
from undercount.read.sensitivity import AREAS
from undercount.show.document import N_POINTS, plain
from undercount.show.verdict_words import condition_words

# Digits of thresholds on the page, more only where two scores would become one; and of weights.
SHORT_DIGITS, WEIGHT_DIGITS = 6, 6
ALL_DIGITS = 17
# Points at which Student's quantile is given where the script must find it at other levels.
STUDENT_POINTS = 12
# Rows of the page's table: metrics at a threshold, then areas.
PAGE_METRICS = (*POINT_METRICS, *AREAS)


def start_threshold(evaluation: Evaluation) -> float:
    """Return the threshold the page opens with: the one asked for, else that of the best F1."""
    if evaluation.threshold is not None:
        return evaluation.threshold
    return evaluation.best_threshold("f1").threshold


def page_rows(evaluation: Evaluation, threshold: float) -> list[MetricRow]:
    """Return the table in the script's order: metrics at a threshold, then areas."""
    rows = {row.metric: row for row in evaluation.rows}
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


def live_facts(evaluation: Evaluation, threshold: float) -> dict[str, Any]:
    """Return what the script needs to repeat the library's intervals."""
    counts, shares = evaluation.counts, evaluation.shares
    upper = (1 + evaluation.confidence_level) / 2
    size = counts.effective_size("positive")
    pairs = zip(
        (counts.n_positive, counts.n_unlabeled, counts.n_negative),
        (counts.squared_weight[kind] for kind in (0, 2, 1)),
        strict=True,
    )
    rows = page_rows(evaluation, threshold)
    largest = evaluation.largest_share
    own = abs(2 * counts.auc("positive", "unlabeled") - 1)
    return {
        "given": shares.given,
        "share_given": evaluation.share_given,
        "condition": condition_words(evaluation),
        # The purity less this is the share at which an AUC would be 1, of all models on the rows.
        "separation": shares.label_purity - largest if largest > 0 else own,
        "errors": [shares.unlabeled_prevalence_error, shares.label_purity_error],
        "units": [squares / total if total > 0 else 1.0 for total, squares in pairs],
        "z": float(ndtri(upper)),
        "t": float(stdtrit(max(size - 1, 1.0), upper)),
        "students": _student_quantiles(evaluation, size),
        "start": _split_cells(counts, threshold)[0].score.size,
        "cut": plain(threshold),
        "rows": [
            [plain(v) for v in (r.naive, r.estimate.value, r.estimate.low, r.estimate.high)]
            for r in rows
        ],
    }


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


def page_cells(counts: ScoreCounts, threshold: float) -> dict[str, list[float | None]]:
    """Return scores and rows of at most `N_POINTS` cells, one of which ends at the threshold."""
    cells = concatenate(*_split_cells(counts, threshold))
    short: dict[str, list[float | None]] = {
        name: [_shorten(value) for value in column]
        for name, column in zip(CLASSES, cells.classes, strict=True)
    }
    if not cells.negative.any():
        short["negative"] = []  # the script puts the zeros back
    return {"threshold": _shorten_scores(cells.score), **short}


def _split_cells(counts: ScoreCounts, threshold: float) -> tuple[Table, Table]:
    """Return cells at or above the threshold and cells below it."""
    split = int(np.searchsorted(-counts.score, -threshold, side="right"))
    # About as many cells each as the sides have rows of the labelled and the unlabeled.
    shares = (
        counts.positive[:split].sum() / counts.n_positive,
        counts.unlabeled[:split].sum() / counts.n_unlabeled,
    )
    room = min(max(round(N_POINTS * sum(shares) / 2), N_POINTS // 8), N_POINTS - N_POINTS // 8)
    above = _coarsen(counts.table.part(slice(split)), room)
    if above.score.size:  # no row lies between the threshold and the lowest score above
        above = above._replace(score=np.append(above.score[:-1], threshold))
    return above, _coarsen(counts.table.part(slice(split, None)), N_POINTS - room)


def _coarsen(table: Table, n_bins: int) -> Table:
    """Merge cells that hold rows into at most `n_bins`; of empty ones the last is left."""
    held = np.add.reduce(table.classes) > 0
    return coarsen(table.part(held), n_bins) if held.any() else table.part(slice(-1, None))


def _shorten_scores(scores: Any) -> list[float | None]:
    """Shorten scores, but never so far that two become one."""
    finite = scores[np.isfinite(scores)]
    for digits in range(SHORT_DIGITS, ALL_DIGITS + 1):
        short = [float(f"{score:.{digits}g}") for score in finite]
        if len(set(short)) == len(short):
            break
    shortened = dict(zip(finite.tolist(), short, strict=True)) if len(finite) else {}
    return [shortened.get(float(score)) for score in scores]


def _shorten(value: float) -> float | int:
    """Write whole numbers without a point, weights shortened."""
    return int(value) if float(value).is_integer() else float(f"{value:.{WEIGHT_DIGITS}g}")
