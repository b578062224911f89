"""Average precision from a sample of the positives, without the bias of plugging in.

A labelled row is surely above or at its own score, so the plain share of labelled rows there
overstates recall; leaving the row itself out and scaling up the others does not.

Weights say how much a row matters, not how often it was seen: a labelled row of any weight is one
row that was drawn, and its own weight is what is left out. So only ratios of weights count, and a
row of weight 2 is not two rows (which would be two draws); counted repetitions go into
`ScoreCounts.from_counts`.
"""

from dataclasses import dataclass

import numpy as np

from undercount.assume.mixture import LABELLED, UNLABELED
from undercount.assume.mixture_design import MixtureDesign
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.read.intervals.variance import row_weights, score_link

_FEWEST = 2  # rows that leave one, which has no pair


def unbiased_average_precision(counts: ScoreCounts, design: MixtureDesign) -> float:
    """Return mean over labelled rows of [1 + (S1 - 1)(P - 1)/(S - 1)] / M1.

    Its mean over all choices of the labelled rows is exactly the average precision of the data
    set (ties included, a row's M1 counting all rows at least as high). NaN with a single label,
    which says nothing about the others.

    With weights w the same sum over rows and pairs of rows is
    Σ w [w + (S1 - w)(P - u)/(S - u)] / M1 / S, sums of weights in place of numbers and
    u = Σw²/Σw, since pairs of labelled rows weigh S(S - u) in all and pairs of positives P(P - u).

    Notes
    -----
    Assumes: any positive is as likely to be labelled, whatever its weight.
    Wrong when: a few rows carry most of the weight and weights go with the score: S and u then
    stand for P and its u with an error that goes with the estimate (a bias of order 1/S).
    """
    labels = _Labels.of(counts, design)
    others = max(labels.positives - labels.unit, 0.0)
    single, pairs = labels.sums()
    if labels.total <= labels.unit * (1 + 1e-9):
        return float("nan") if others > 0 else single / labels.total
    return (single + pairs * others / (labels.total - labels.unit)) / labels.total


def jackknife_variance(counts: ScoreCounts, design: MixtureDesign) -> float:
    """Return the jackknife's variance, before the finite-population correction.

    The estimate is a mean of pairs, so each leave-one-out value follows from the sums of the
    pairs that a row belongs to: no loop.
    """
    labels = _Labels.of(counts, design)
    if labels.total <= _FEWEST * labels.unit:
        return float("nan")
    own, inverse, number = labels.own, 1 / labels.flagged, labels.weight / labels.own
    as_upper = np.cumsum((labels.weight * inverse)[::-1])[::-1] - own * inverse
    as_lower = (labels.head - own) * inverse
    single, pairs = labels.sums()
    total = labels.total - own
    unit = (labels.unit * labels.total - own * own) / total
    others = np.maximum(labels.positives - unit, 0.0) / (total - unit)
    left_out = single - own * own * inverse + others * (pairs - own * (as_lower + as_upper))
    left_out /= total
    size = number.sum()
    mean = (number * left_out).sum() / size
    return float((size - 1) / size * (number * (left_out - mean) ** 2).sum())


def interval_variance(counts: ScoreCounts, jackknife: float, influence: float) -> float:
    """Return the variance for the interval, between the jackknife's and that of the influences.

    The jackknife's is right on average, but small whenever the estimate is small, so that its
    intervals miss above; the other is too large with few labels. Their mean keeps the promise,
    unless weights go with the score: then a few rows carry the estimate, and its intervals miss
    above the more, so that the larger variance is taken as far as the rows show it.
    """
    labelled = counts.positive[counts.positive > 0]
    link = score_link(row_weights(labelled, counts.squared_weight[0]))
    return ((1 - link) * jackknife + (1 + link) * influence) / 2


@dataclass(frozen=True)
class _Labels:
    """Labelled rows by falling score, in cells; all in the weights of the rows of the target."""

    weight: FloatArray  # of all labelled rows in a cell
    own: FloatArray  # of one of them
    head: FloatArray  # of the labelled rows at least as high
    flagged: FloatArray  # of all rows at least as high
    positives: float  # of all positives
    total: float  # of all labelled rows
    unit: float  # mean weight of a labelled row, each counted as often as it weighs

    @classmethod
    def of(cls, counts: ScoreCounts, design: MixtureDesign) -> "_Labels":
        at = counts.positive > 0
        weight = counts.positive[at]
        own = row_weights(weight, counts.squared_weight[0])
        unlabeled = np.cumsum(counts.unlabeled)[at]
        if design.sampling == "case-control":
            # The labelled rows were drawn apart, so their weights have a scale of their own. Each
            # takes the place of an unlabeled row.
            scale = float(design.units[UNLABELED] / design.units[LABELLED])
            weight, own = weight * scale, own * scale
            rest = np.maximum(1 - own / counts.n_unlabeled, 0.0)
            flagged = own + unlabeled * rest
        else:
            flagged = np.cumsum(weight) + unlabeled + np.cumsum(counts.negative)[at]
        total = float(weight.sum())
        unit = float(weight @ own) / total
        positives = float(design.mixing.positives)
        return cls(weight, own, np.cumsum(weight), flagged, positives, total, unit)

    def sums(self) -> tuple[float, float]:
        """Return Σ w w/M1 over rows and Σ w w'/M1 over pairs, the other row at least as high."""
        over = self.weight / self.flagged
        return float(over @ self.own), float(over @ (self.head - self.own))
