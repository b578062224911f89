"""Areas and losses of counted rows with their intervals."""

import math
from dataclasses import replace

import numpy as np

from undercount.counts import ScoreCounts
from undercount.errors import SmallSampleWarning, warn
from undercount.read.intervals import areas
from undercount.read.intervals.area_ends import area_ends, least_error
from undercount.read.intervals.average_precision import (
    interval_variance,
    jackknife_variance,
    unbiased_average_precision,
)
from undercount.read.intervals.design import LABELLED, Design
from undercount.read.intervals.found import Found, Question
from undercount.read.intervals.scales import LOSS_METRICS
from undercount.read.intervals.variance import CellRows, Influence, Spread

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
        # A single label has no spread of its own.
        misfit=beyond / max(0.0 if math.isnan(error) else error, least_error(moves, question)),
        outside=(question.kind.name, value),
        largest_share=_largest_share(counts, design),
    )


def _influence(
    counts: ScoreCounts, design: Design, question: Question, rows: CellRows
) -> Influence:
    mixing, name = design.mixing(), question.kind.name
    if name in LOSS_METRICS:
        mass = areas.recovered(rows, mixing)
        return areas.mean_loss(counts, mass, float(mixing.prevalence), name)
    return areas.area_influence(rows, mixing, name, question.max_fpr)


def _average_precision(
    counts: ScoreCounts, design: Design, plug_in: float, variance: float
) -> tuple[float, float, float, str]:
    """Return the unbiased estimate, its variance, the variance for its interval, and the method.

    The jackknife's variance alone covers .88 with 40 labels; see `interval_variance`.
    """
    if design.effective[LABELLED] < FEW_LABELS:
        message = (
            f"{{metric}} rests on {float(design.effective[LABELLED]):.0f} labels; with "
            f"fewer than {FEW_LABELS} its interval is too narrow"
        )
        warn(SmallSampleWarning(message, metric="average_precision"), stacklevel=6)
    if np.asarray(design.label_purity) != 1:
        return plug_in, variance, variance, "delta"
    value = unbiased_average_precision(counts, design)
    known = design.given != "label_frequency"
    if design.target != "dataset" or design.sampling == "case-control" or not known:
        return value, variance, variance, "delta"
    unlabelled = 1 - min(float(design.sizes[LABELLED] / design.mixing().positives), 1.0)
    jackknife = unlabelled * jackknife_variance(counts, design)
    if math.isnan(jackknife):  # from two labels
        return value, variance, variance, "delta"
    return value, jackknife, interval_variance(counts, jackknife, variance), "jackknife"


def _largest_share(counts: ScoreCounts, design: Design) -> float:
    """Return the largest share of positives among the unlabeled for which the AUC is at most 1."""
    labelled = counts.positive / counts.n_positive
    unlabeled = counts.unlabeled / counts.n_unlabeled
    area = float(labelled @ (1 - (np.cumsum(unlabeled) - unlabeled / 2)))
    return float(design.label_purity) - abs(2 * area - 1)
