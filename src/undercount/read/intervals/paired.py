"""Differences of two scores on the same rows: standard errors that use the pairing.

What a row adds to a difference is what it adds to the one estimate minus what it adds to the
other, so the variance of a difference follows from its influence like that of a single estimate,
for every way of drawing rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.assume.mixture import LABELLED
from undercount.assume.mixture_design import MixtureDesign
from undercount.curve import FloatArray
from undercount.read.intervals import area_gradients as areas
from undercount.read.intervals.threshold_gradients import HeadCounts, head_spread
from undercount.read.intervals.variance import CellRows, Influence, Spread
from undercount.shares import Shares

# How labels say labelled positive, unlabeled and labelled negative, in the order of a design.
LABELS = (1, -1, 0)


@dataclass(frozen=True)
class PairedRows:
    """Hold rows that several models have scored.

    Parameters
    ----------
    design : MixtureDesign
        How the rows were drawn, what is known of the positives, what the metric is a metric of.
    rows : CellRows
        Each row in a cell of its own.
    """

    design: MixtureDesign
    rows: CellRows

    @classmethod
    def of(cls, labels: NDArray[np.int8], design: MixtureDesign) -> "PairedRows":
        """Take labels as `rows.read_labels` returns them."""
        kinds = np.stack([labels == label for label in LABELS])
        return cls(design, CellRows(kinds / np.maximum(kinds.sum(axis=1, keepdims=True), 1)))

    def heads(self, flagged: NDArray[np.bool_]) -> FloatArray:
        """Return the rows of each kind that are predicted positive."""
        return np.rint(self.design.sizes * self.rows.means(flagged))

    def influence(self, score: FloatArray, metric: str, threshold: float | None) -> Influence:
        """Return what each row adds to a metric of one model; an area has no threshold."""
        if threshold is not None:
            flagged = score >= threshold
            counts = HeadCounts(self.heads(flagged), self.design)
            found = head_spread(counts, metric).influence
            return _of_rows(found, lambda if_flagged: if_flagged * flagged)
        cells, place = np.unique(-score, return_inverse=True)
        masses = [np.bincount(place, kind, len(cells)) for kind in self.rows.masses]
        rows = CellRows(np.array(masses, dtype=np.float64))
        mass = areas.recovered(rows, self.design.mixing)
        if metric == "average_precision":
            found = _average_precision(mass, self.design)
        else:
            found = {"roc_auc": areas.roc_auc, "lift_auc": areas.lift_auc}[metric](mass)
        return _of_rows(found, lambda cell: cell[place] if np.ndim(cell) else cell)

    def error(self, one: Influence, other: Influence) -> float:
        """Return the standard error of the difference of two models in a metric.

        Notes
        -----
        Assumes: rows are independent, and labelled rows a random sample of the positives (and, at
        1 - purity, negatives).
        Wrong when: so few rows decide that the metric is not straight within its error.
        """
        gap = Influence(*(getattr(one, name) - getattr(other, name) for name in vars(one)))
        return float(np.sqrt(Spread(self.design, self.rows, gap).variance))


def _average_precision(mass: areas.Recovered, design: MixtureDesign) -> Influence:
    """Return what one labelled row more adds, its own place above itself counting once.

    Average precision sums products of two rows, so its derivative counts that place twice: with
    200 labels standard errors would be a quarter too large. If the row is one more row of the
    target as well, it takes about as much off again.
    """
    mixing, flagged = design.mixing, np.cumsum(mass.everyone)
    found = areas.average_precision(mass)
    if design.target == "population" and design.sampling == "single-sample":
        return found
    own = mixing.prevalence * mixing.positive[LABELLED] / design.sizes[LABELLED]
    own = np.divide(own, flagged, out=np.zeros_like(flagged), where=flagged > 0)
    return replace(found, positive=found.positive - own)


def _of_rows(influence: Influence, read: Callable[[Any], Any]) -> Influence:
    """Give an influence on cells, or on rows predicted positive, one value a row."""
    parts = {name: read(getattr(influence, name)) for name in ("positive", "negative", "everyone")}
    return replace(influence, **parts)


BoolArray = NDArray[np.bool_]
# A jackknife of fewer labels says nothing: leaving one out leaves no pair.
FEWEST = 3


@dataclass(frozen=True)
class _Ranked:
    """Labelled rows by falling score: rows at or above each, and where its ties begin."""

    order: NDArray[np.intp]
    first: NDArray[np.intp]  # place of the first row with the same score
    labelled: FloatArray  # labelled rows at least as high
    flagged: FloatArray  # all rows at least as high

    @classmethod
    def of(cls, score: FloatArray, labelled: BoolArray) -> "_Ranked":
        inside = score[labelled]
        order = np.argsort(-inside, kind="stable")
        falling = -inside[order]
        first = np.searchsorted(falling, falling, side="left")
        heads = np.searchsorted(falling, falling, side="right")
        everyone = np.sort(-score)
        flagged = np.searchsorted(everyone, falling, side="right")
        return cls(order, first, heads.astype(np.float64), flagged.astype(np.float64))

    def in_rows(self, values: FloatArray) -> FloatArray:
        """Put values of the ranking back into the order of the labelled rows."""
        found = np.empty_like(values)
        found[self.order] = values
        return found


def precision_error(
    one: FloatArray,
    other: FloatArray,
    labelled: BoolArray,
    unlabeled: BoolArray,
    shares: Shares,
    *,
    labels_only: bool,
) -> float:
    """Return the standard error of the difference of two unbiased average precisions.

    Each row is left out of both models' estimates at once, so that what they share cancels. For
    these very rows only labels are left out (their rows stay), and the variance is multiplied by
    the share of positives without a label. If the label frequency is known, the number of labels
    is random too, so that deviations are those from the estimate itself and not from their mean.
    The estimate is a mean of pairs of labelled rows, so all leave-one-out values follow from
    running sums: no loop.

    Notes
    -----
    Assumes: a single sample, pure labels, random labels.
    Wrong when: there are very few labels.
    """
    n_labelled, n_rows = int(labelled.sum()), len(labelled)
    if n_labelled < FEWEST:
        return float("nan")
    positives = n_labelled + shares.unlabeled_prevalence * float(unlabeled.sum())
    rankings = [_Ranked.of(score, labelled) for score in (one, other)]
    lost = _lost(shares, positives, n_labelled, n_rows)
    if labels_only:
        frequency_known = shares.given == "label_frequency"
        fewer = positives - lost["labelled"] if frequency_known else positives
        gaps = [_without_label(ranking, fewer) for ranking in rankings]
        left = gaps[0] - gaps[1]
        chance = max(1 - n_labelled / positives, 0.0)
        if frequency_known:
            whole = _whole(rankings[0], positives) - _whole(rankings[1], positives)
            return float(np.sqrt(chance * np.sum((left - whole) ** 2)))
        return float(np.sqrt(chance * (n_labelled - 1) / n_labelled * _squares(left)))
    labelled_gaps = [_without_row(ranking, positives - lost["labelled"]) for ranking in rankings]
    left = np.empty(n_rows)
    left[labelled] = labelled_gaps[0] - labelled_gaps[1]
    negative = ~(labelled | unlabeled)
    for rows, kind in ((unlabeled, "unlabeled"), (negative, "negative")):
        found = [
            _without_other(ranking, score[labelled], score[rows], positives - lost[kind])
            for ranking, score in zip(rankings, (one, other), strict=True)
        ]
        left[rows] = found[0] - found[1]
    return float(np.sqrt((n_rows - 1) / n_rows * _squares(left)))


def _lost(shares: Shares, positives: float, n_labelled: int, n_rows: int) -> dict[str, float]:
    """Return the positives that go with a row of each kind, if the share that was given stays."""
    if shares.given == "prevalence":
        return dict.fromkeys(("labelled", "unlabeled", "negative"), positives / n_rows)
    if shares.given == "label_frequency":
        return {"labelled": positives / n_labelled, "unlabeled": 0.0, "negative": 0.0}
    return {"labelled": 1.0, "unlabeled": shares.unlabeled_prevalence, "negative": 0.0}


def _squares(left_out: FloatArray) -> float:
    return float(np.sum((left_out - left_out.mean()) ** 2))


def _whole(ranking: _Ranked, positives: float) -> float:
    """Return the estimate from all rows."""
    size = len(ranking.order)
    found = 1 + (ranking.labelled - 1) * (positives - 1) / (size - 1)
    return float(np.mean(found / ranking.flagged))


def _without_label(ranking: _Ranked, positives: float) -> FloatArray:
    """Return the estimate without each label in turn, its row staying as an unlabeled one."""
    size = len(ranking.order)
    inverse = 1 / ranking.flagged
    above = (ranking.labelled - 1) * inverse
    # Other labelled rows at least as low lose this one from their heads.
    lower = _from(inverse, ranking.first) - inverse
    pairs = above.sum() - above - lower
    scale = (positives - 1) / (size - 2)
    return ranking.in_rows((inverse.sum() - inverse + scale * pairs) / (size - 1))


def _without_row(ranking: _Ranked, positives: float) -> FloatArray:
    """Return the estimate without each labelled row in turn."""
    size = len(ranking.order)
    inverse, fewer = 1 / ranking.flagged, _safe_inverse(ranking.flagged - 1)
    above, less = (ranking.labelled - 1) * inverse, (ranking.labelled - 2) * fewer
    single = _until(inverse, ranking.first) + _from(fewer, ranking.first) - fewer
    pairs = _until(above, ranking.first) + _from(less, ranking.first) - less
    scale = (positives - 1) / (size - 2)
    return ranking.in_rows((single + scale * pairs) / (size - 1))


def _without_other(
    ranking: _Ranked, inside: FloatArray, outside: FloatArray, positives: float
) -> FloatArray:
    """Return the estimate without each row that carries no positive label."""
    size = len(ranking.order)
    inverse, fewer = 1 / ranking.flagged, _safe_inverse(ranking.flagged - 1)
    above, less = (ranking.labelled - 1) * inverse, (ranking.labelled - 1) * fewer
    # The first labelled row that is not above the row left out.
    place = np.searchsorted(-inside[ranking.order], -outside, side="left")
    single = _until(inverse, place) + _from(fewer, place)
    pairs = _until(above, place) + _from(less, place)
    return np.asarray((single + (positives - 1) / (size - 1) * pairs) / size)


def _until(values: FloatArray, place: NDArray[np.intp]) -> FloatArray:
    return np.append(0.0, np.cumsum(values))[place]


def _from(values: FloatArray, place: NDArray[np.intp]) -> FloatArray:
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)[place]


def _safe_inverse(values: FloatArray) -> FloatArray:
    """Return 1/x, and 0 where no row is left (never asked for but in its own place)."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
