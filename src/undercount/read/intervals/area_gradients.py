"""Areas and mean losses of recovered masses, each with its gradient beside its value.

Each is a smooth function of the distributions of positives (P), negatives (N) and all rows (E);
its derivative towards a point mass gives every variance (`variance.Spread`). Values of whole areas
are those of the `OperatingCurve` that the masses make. The partial area is an estimate of its own:
recovered rates go up and down by chance, and a curve that does so has no part up to a rate.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from undercount.assume.mixture import Mixing
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import InputError, keep_scores
from undercount.read.intervals.variance import CellRows, Influence

# Like scikit-learn, so that a probability of exactly 0 or 1 has a finite loss.
_SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Recovered:
    """Hold the masses of positives, negatives and all rows in each cell, some perhaps negative."""

    positive: FloatArray
    negative: FloatArray
    everyone: FloatArray
    prevalence: float

    @cached_property
    def curve(self) -> OperatingCurve:
        """The curve of the running sums, by falling score; its thresholds are places."""
        tpr, fpr, flagged = (
            np.append(0.0, np.cumsum(mass))
            for mass in (self.positive, self.negative, self.everyone)
        )
        return OperatingCurve(
            -np.arange(float(len(tpr))), tpr, fpr, self.prevalence, flagged=flagged
        )


def cell_rows(counts: ScoreCounts) -> CellRows:
    """Return each kind's distribution over the cells."""
    masses = np.stack([counts.positive, counts.unlabeled, counts.negative])
    totals = masses.sum(axis=1, keepdims=True)
    return CellRows(masses / np.where(totals > 0, totals, 1.0))


def recovered(rows: CellRows, mixing: Mixing) -> Recovered:
    """Return the distributions of positives, negatives and all rows."""
    return Recovered(
        mixing.positive @ rows.masses,
        mixing.negative @ rows.masses,
        mixing.everyone @ rows.masses,
        float(mixing.prevalence),
    )


def area_influence(
    rows: CellRows, mixing: Mixing, name: str, max_fpr: float | None = None
) -> Influence:
    """Return an area with its influence functions."""
    mass = recovered(rows, mixing)
    if name != "partial_roc_auc":
        return AREA_GRADIENTS[name](mass)
    if max_fpr is None or not 0 < max_fpr <= 1:
        raise InputError(f"max_fpr must be in (0, 1]; got {max_fpr}")
    return partial_roc_auc(mass, max_fpr)


def with_borders(rows: CellRows) -> CellRows:
    """Return the cells with an empty one above, below and between them.

    Influence functions go one way inside a cell of unlabeled rows, so that with its borders a
    merged cell has the same extremes as the cells it was made of.
    """
    masses = np.zeros((len(rows.masses), 2 * rows.masses.shape[1] + 1))
    masses[:, 1::2] = rows.masses
    return CellRows(masses)


def roc_auc(mass: Recovered) -> Influence:
    """Area under the ROC curve, P(positive above negative) with ties ½.

    With pure or impure labels this is ½ + (A - ½)/(κ - a), Jain et al. 2017, eq. 4.
    """
    tpr, fpr = _middle(mass.curve.tpr), _middle(mass.curve.fpr)
    return Influence(mass.curve.roc_auc, positive=1 - fpr, negative=tpr)


def lift_auc(mass: Recovered) -> Influence:
    """Area under recall against predicted-positive rate (AUL), a row against itself counting ½."""
    tpr, flagged = _middle(mass.curve.tpr), _middle(mass.curve.predicted_positive_rate)
    return Influence(mass.curve.lift_auc, positive=1 - flagged, everyone=tpr)


def partial_roc_auc(mass: Recovered, max_fpr: float) -> Influence:
    """Area under the ROC curve up to a false-positive rate, on McClish's scale.

    Chance makes the recovered false-positive rate go up and down along the thresholds; the end of
    the range lies where its isotonic regression crosses `max_fpr`, which is where the sum of its
    distances is least. The end moves with the data so that its own effect cancels, hence the
    derivative is ∫ (dTPR dFPR - dFPR dTPR) over the range, the same form as the whole area's.
    """
    fpr, tpr = _middle(mass.curve.fpr), _middle(mass.curve.tpr)
    distance = np.cumsum(mass.everyone * (mass.curve.fpr[1:] - max_fpr))
    # Cells wholly inside the range; one without weight changes no distance and belongs to it too.
    end = len(distance) - int(np.argmin(np.append(0.0, distance)[::-1]))
    inside = np.arange(len(fpr)) < end
    tpr_end = float(mass.positive[inside].sum())
    area = float((mass.negative * tpr)[inside].sum())
    scale = 0.5 / (max_fpr - max_fpr * max_fpr / 2)
    rest = max_fpr - float(mass.negative[inside].sum())
    slope, width = 0.0, 0.0
    if end < len(fpr) and mass.negative[end] > 0:
        # The last cell is cut: the curve is straight inside it.
        width = float(mass.negative[end])
        slope = float(mass.positive[end]) / width
    area += rest * tpr_end + rest * rest * slope / 2
    positive = np.where(inside, max_fpr - fpr, 0.0)
    negative = np.where(inside, tpr - tpr_end - rest * slope, 0.0)
    if width > 0:
        positive[end] = rest * rest / (2 * width)
        negative[end] = -rest * rest * slope / (2 * width)
    chance = max_fpr * max_fpr / 2
    value = 0.5 * (1 + (area - chance) / (max_fpr - chance))
    return Influence(value, positive=scale * positive, negative=scale * negative)


def no_area(max_fpr: float | None) -> float:
    """Return McClish's value of a curve without any area up to the false-positive rate."""
    end = max_fpr or 1.0
    chance = end * end / 2
    return 0.5 * (1 - chance / (end - chance))


def average_precision(mass: Recovered) -> Influence:
    """Precision summed over the steps of recall: Σ dTPR · π TPR / Q.

    The plug-in value; `average_precision.unbiased_average_precision` corrects it for pure labels.
    """
    prevalence, curve = mass.prevalence, mass.curve
    tpr, flagged = curve.tpr[1:], curve.predicted_positive_rate[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(flagged > 0, 1 / flagged, 0.0)
    # Positives drawn apart may lie above every row of the target: precision is 1 where no row is
    # flagged, and stays so.
    precision = np.where(flagged > 0, prevalence * tpr * inverse, tpr > 0)
    value = curve.average_precision
    # A row adds to recall and flagged share at its own cell and all lower ones.
    lower_recall = _reverse_sum(prevalence * inverse * mass.positive)
    lower_flagged = _reverse_sum(precision * inverse * mass.positive)
    return Influence(
        value,
        positive=precision + lower_recall,
        everyone=-lower_flagged,
        prevalence=value / prevalence if prevalence > 0 else 0.0,
    )


AREA_GRADIENTS = {"roc_auc": roc_auc, "lift_auc": lift_auc, "average_precision": average_precision}


def mean_loss(counts: ScoreCounts, mass: Recovered, name: str) -> Influence:
    """Mean loss R = π E₁[ℓ₁ - ℓ₀] + E[ℓ₀] of scores that are probabilities."""
    if counts.compact:
        raise InputError(f"{name} needs every score; {keep_scores('count with compact=False')}")
    probability, prevalence = counts.score, mass.prevalence
    if probability[0] > 1 or probability[-1] < 0:
        wrong = probability[0] if probability[0] > 1 else probability[-1]
        raise InputError(
            f"{name} needs scores that are probabilities in [0, 1]; got {wrong:.6g}. "
            "Calibrate them first"
        )
    if name == "log_loss":
        edge = _SMALLEST_PROBABILITY
        inner = np.clip(probability, edge, 1 - edge)
        if_positive, if_negative = -np.log(inner), -np.log1p(-inner)
    else:
        if_positive, if_negative = (1 - probability) ** 2, probability**2
    difference = if_positive - if_negative
    among_positives = float(mass.positive @ difference)
    return Influence(
        prevalence * among_positives + float(mass.everyone @ if_negative),
        positive=prevalence * difference,
        everyone=if_negative,
        prevalence=among_positives,
    )


def _middle(rate: FloatArray) -> FloatArray:
    """Return the rate in the middle of each cell, where half of its rows are flagged."""
    middle = rate[1:] + rate[:-1]
    middle /= 2
    return middle


def _reverse_sum(values: FloatArray) -> FloatArray:
    return np.cumsum(values[::-1])[::-1]
