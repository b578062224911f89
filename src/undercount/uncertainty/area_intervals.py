"""Areas and losses of counted rows with their intervals."""

import math
import warnings
from dataclasses import replace

import numpy as np

from undercount.counts import ScoreCounts
from undercount.errors import InputError, SmallSampleWarning
from undercount.uncertainty import areas
from undercount.uncertainty.area_ends import area_ends, least_error
from undercount.uncertainty.average_precision import (
    jackknife_variance,
    unbiased_average_precision,
)
from undercount.uncertainty.design import LABELLED, Design
from undercount.uncertainty.found import Found, Question
from undercount.uncertainty.variance import CellRows, Influence, Spread

# Below this the intervals of average precision keep their promise no longer.
FEW_LABELS = 30
TOLERANCE = 1e-9


def area_value(
    counts: ScoreCounts, design: Design, question: Question, errors: tuple[float, float]
) -> Found:
    """Return an area or a loss with its interval; `errors` are those of share and purity."""
    rows = areas.cell_rows(counts)
    influence = _influence(counts, design, question, rows)
    moves = Spread(design, rows, influence)
    variance = wide = float(moves.variance)
    value, method = float(influence.value), "delta"
    if question.kind.name == "average_precision":
        value, variance, wide, method = _average_precision(counts, design, value, wide)
    from_shares = moves.from_shares(errors)
    error = math.sqrt(variance + from_shares)
    least, most = question.kind.range
    inside = min(max(value, least), most) if not math.isnan(value) else value
    low, high = area_ends(moves, value, math.sqrt(wide + from_shares), question)
    found = Found(inside, low, high, error, method)
    beyond = abs(value - inside)
    if beyond <= TOLERANCE or math.isnan(value):
        return found
    return replace(
        found,
        misfit=beyond / max(error, least_error(moves), 1e-300),
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
    counts: ScoreCounts, design: Design, plug_in: float, variance: float
) -> tuple[float, float, float, str]:
    """Return the unbiased estimate, its variance, the variance for its interval, and the method.

    The jackknife's variance is right on average, but small whenever the estimate is small, so that
    its intervals miss above (coverage .88 with 40 labels); the plug-in's is too large with few
    labels. Their mean keeps the promise.
    """
    if design.effective[LABELLED] < FEW_LABELS:
        warnings.warn(
            f"average_precision rests on {float(design.effective[LABELLED]):.0f} labels; with "
            f"fewer than {FEW_LABELS} its interval is too narrow",
            SmallSampleWarning,
            stacklevel=6,
        )
    if np.asarray(design.label_purity) != 1:
        return plug_in, variance, variance, "delta"
    value = unbiased_average_precision(counts, design)
    known = design.given != "label_frequency" and np.all(design.units == 1)
    if design.target != "dataset" or design.sampling == "case-control" or not known:
        return value, variance, variance, "delta"
    unlabelled = 1 - min(float(design.sizes[LABELLED] / design.mixing().positives), 1.0)
    jackknife = unlabelled * jackknife_variance(counts, design)
    if math.isnan(jackknife):  # from two labels
        return value, variance, variance, "delta"
    return value, jackknife, (jackknife + variance) / 2, "jackknife"


def _largest_share(counts: ScoreCounts, design: Design) -> float:
    """Return the largest share of positives among the unlabeled for which the AUC is at most 1."""
    labelled = counts.positive / counts.n_positive
    unlabeled = counts.unlabeled / counts.n_unlabeled
    area = float(labelled @ (1 - (np.cumsum(unlabeled) - unlabeled / 2)))
    return float(design.label_purity) - abs(2 * area - 1)
