"""Areas and losses of counted rows with their intervals."""

import math
import warnings
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from undercount.counts import ScoreCounts
from undercount.errors import InputError, SmallSampleWarning
from undercount.uncertainty import areas
from undercount.uncertainty.average_precision import (
    jackknife_variance,
    unbiased_average_precision,
)
from undercount.uncertainty.design import LABELLED, Design
from undercount.uncertainty.found import Found, Question
from undercount.uncertainty.scales import delta_interval
from undercount.uncertainty.variance import CellRows, Influence, Spread, spread

# Below this the intervals of average precision keep their promise no longer.
FEW_LABELS = 30
TOLERANCE = 1e-9


def area_value(
    counts: ScoreCounts, design: Design, question: Question, errors: tuple[float, float]
) -> Found:
    """Return an area or a loss with its interval; `errors` are those of share and purity."""
    rows = areas.cell_rows(counts)
    influence = _influence(counts, design, question, rows)
    moves = spread(design, rows, influence)
    method = "delta"
    if question.kind.name == "average_precision":
        influence, moves, method = _average_precision(counts, design, influence, moves)
    size = float(design.effective[LABELLED])
    # Variances were taken around estimated means.
    variance = float(moves.variance) * (size / (size - 1) if size > 1 and method == "delta" else 1)
    variance += (float(moves.share_slope) * errors[0]) ** 2
    variance += (float(moves.purity_slope) * errors[1]) ** 2
    value, error = float(influence.value), math.sqrt(variance)
    least, most = question.kind.range
    inside = min(max(value, least), most)
    low, high = _interval(value, error, question, size)
    found = Found(inside, low, high, error, method)
    beyond = abs(value - inside)
    if beyond <= TOLERANCE or math.isnan(value):
        return found
    return replace(
        found,
        misfit=beyond / max(error, 1e-300),
        outside=(question.kind.name, value),
        largest_share=_largest_share(counts, design),
    )


def _influence(
    counts: ScoreCounts, design: Design, question: Question, rows: CellRows
) -> Influence:
    mixing = design.mixing()
    mass = areas.recovered(rows, mixing)
    prevalence = float(mixing.prevalence)
    name = question.kind.name
    if name == "roc_auc":
        return areas.roc_auc(mass)
    if name == "lift_auc":
        return areas.lift_auc(mass)
    if name == "average_precision":
        return areas.average_precision(mass, prevalence)
    if name == "partial_roc_auc":
        if question.max_fpr is None or not 0 < question.max_fpr <= 1:
            raise InputError(f"max_fpr must be in (0, 1]; got {question.max_fpr}")
        return areas.partial_roc_auc(mass, question.max_fpr)
    return areas.mean_loss(counts, mass, prevalence, name)


def _average_precision(
    counts: ScoreCounts, design: Design, influence: Influence, moves: Spread
) -> tuple[Influence, Spread, str]:
    """Replace the plug-in by the unbiased estimate, and its variance by the jackknife's."""
    if design.effective[LABELLED] < FEW_LABELS:
        warnings.warn(
            f"average_precision rests on {float(design.effective[LABELLED]):.0f} labels; with "
            f"fewer than {FEW_LABELS} its interval is too narrow",
            SmallSampleWarning,
            stacklevel=5,
        )
    if np.asarray(design.label_purity) != 1:
        return influence, moves, "delta"
    influence = replace(influence, value=unbiased_average_precision(counts, design))
    known = design.given != "label_frequency" and np.all(design.units == 1)
    if design.target != "dataset" or design.sampling == "case-control" or not known:
        return influence, moves, "delta"
    unlabelled = 1 - min(float(design.sizes[LABELLED] / design.mixing().positives), 1.0)
    variance = unlabelled * jackknife_variance(counts, design)
    return influence, replace(moves, variance=np.asarray(variance)), "jackknife"


def _interval(value: float, error: float, question: Question, size: float) -> tuple[float, float]:
    """Return the interval on the metric's scale, with Student's quantile for few labels."""
    least, most = question.kind.range
    if math.isnan(value) or math.isnan(error):
        return least, most
    t = float(stdtrit(max(size - 1, 1.0), (1 + question.confidence_level) / 2))
    if least < value < most:
        low, high = delta_interval(value, error, question.kind.scale, t)
        return float(low), float(high)
    if error > 0:
        return max(value - t * error, least), min(value + t * error, most)
    # All labelled rows are on one side of all others: as for k of k successes.
    edge = (1 - ((1 - question.confidence_level) / 2) ** (1 / max(size, 1.0))) * (most - least)
    return (value - edge, value) if value == most else (value, value + edge)


def _largest_share(counts: ScoreCounts, design: Design) -> float:
    """Return the largest share of positives among the unlabeled for which the AUC is at most 1."""
    labelled = counts.positive / counts.n_positive
    unlabeled = counts.unlabeled / counts.n_unlabeled
    area = float(labelled @ (1 - (np.cumsum(unlabeled) - unlabeled / 2)))
    return float(design.label_purity) - abs(2 * area - 1)
