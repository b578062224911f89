"""Areas and mean losses of recovered masses, each with its gradient beside its value.

Each is a smooth function of the distributions of positives (P), negatives (N) and all rows (E);
its derivative towards a point mass gives every variance (`variance.Spread`). Values of whole areas
equal those of the `OperatingCurve` that the masses make. The partial area is an estimate of its
own: recovered rates go up and down by chance, and a curve that does so has no part up to a rate.

Average precision has an estimator of its own, without the bias of plugging in.
A labelled row is surely above or at its own score, so the plain share of labelled rows there
overstates recall; leaving the row itself out and scaling up the others does not.

Weights say how much a row matters, not how often it was seen: a labelled row of any weight is one
row that was drawn, and its own weight is what is left out. So only ratios of weights count, and a
row of weight 2 is not two rows (which would be two draws); counted repetitions go into
`ScoreCounts.from_counts`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve, blocks, dot
from undercount.errors import MISSING_DATA, InputError, keep_scores, real_number
from undercount.infer.mixture import (
    LABELLED,
    NEGATIVE,
    UNLABELED,
    Mixing,
    MixtureDesign,
    kind_sizes,
)
from undercount.infer.variance import CellRows, Influence, Spread, row_weights, score_link

_FEWEST = 2  # rows that leave one, which has no pair
_NO_POSITIVES = 1e-9  # a share of positives that is hardly any
_CLASS = {LABELLED: "positive", UNLABELED: "unlabeled", NEGATIVE: "negative"}


def unbiased_average_precision(
    counts: ScoreCounts, design: MixtureDesign, prevalence: float | None = None
) -> float:
    """Return mean over labelled rows of [1 + (S1 - 1)(P - 1)/(S - 1)] / M1.

    Its mean over all choices of the labelled rows is exactly the average precision of the data
    set (ties included, a row's M1 counting all rows at least as high). NaN with a single label,
    which says nothing about the others.

    With weights w the same sum over rows and pairs of rows is
    Σ w [w + (S1 - w)(P - u)/(S - u)] / M1 / S, sums of weights in place of numbers and
    u = Σw²/Σw, since pairs of labelled rows weigh S(S - u) in all and pairs of positives P(P - u).

    Labelled rows drawn apart do not know how many hidden positives stand among the U1 rows above
    them, and that number goes with U1: (S1 - 1)(P - 1)/(S - 1) is divided by U1 + 2 instead of
    U1 + 1, since E[μ/(X + 2)] = E[X/(X + 1)] for a Poisson number X of mean μ. (Without it the
    mean over 1,000 rows is .02 too high at a share of .05.)

    With impure labels each row stands for an unbiased number of positives, negative for unlabeled
    rows; a row's square is not the product of two rows, so it is left out of the pairs and its
    number counted once.

    Where another share of rows is positive (`prevalence`), positives and negatives among the rows
    above each are weighed anew.

    Notes
    -----
    Assumes: any positive is as likely to be labelled, whatever its weight.
    Wrong when: a few rows carry most of the weight and weights go with the score: S and u then
    stand for P and its u with an error that goes with the estimate (a bias of order 1/S).
    """
    if prevalence is not None and not design.mixing.positives > 0:  # in the limit of hardly any
        design = replace(design, given="unlabeled_prevalence", value=_NO_POSITIVES)
    here = float(design.mixing.prevalence)
    if not design.pure:
        if here <= 0:
            return 0.0  # the share of positives among any rows
        pairs, unit = _Pairs.of(counts, design), float(design.units[UNLABELED])
        return precision_there(
            lambda there: replace(pairs, there=there).value(counts, unit), here, prevalence
        )
    if prevalence is not None:
        return precision_there(_labels_of(counts, design).precision, here, prevalence)
    if counts.thinned is not counts and design.sampling == "single-sample":
        # Rows without weights, in a table too long to be made anything of.
        total, unit, single = counts.n_positive, 1.0, counts.walked.inverse
        summed, positives = counts.walked.precision - single, float(design.mixing.positives)
    else:
        labels = _labels_of(counts, design)
        total, unit, positives = labels.total, labels.unit, labels.positives
        single, summed = labels.sums()
    others = max(positives - unit, 0.0)
    if total <= unit * (1 + 1e-9):
        return float("nan") if others > 0 else single / total
    return (single + summed * others / (total - unit)) / total


def average_precisions(
    counts: ScoreCounts, design: MixtureDesign, shares: FloatArray, purities: FloatArray
) -> FloatArray:
    """Return the unbiased average precision at many shares of positives among the unlabeled rows.

    With pure labels it is a line in the number of positives.
    """

    def at(share: Any, purity: Any) -> MixtureDesign:
        given = {"given": "unlabeled_prevalence", "value": share, "label_purity": purity}
        return replace(design, **given)

    values, pure = np.empty(len(shares)), purities == 1
    for place in np.flatnonzero(~pure):
        values[place] = unbiased_average_precision(counts, at(shares[place], purities[place]))
    if pure.any():
        ends = at(0.25, 1.0), at(0.5, 1.0)
        few, many = (unbiased_average_precision(counts, each) for each in ends)
        less, more = (float(each.mixing.positives) for each in ends)
        positives = np.asarray(at(shares[pure], 1.0).mixing.positives)
        values[pure] = few + (many - few) * (positives - less) / (more - less)
    return values


class RowCounts(NamedTuple):
    """Say what a positive and a negative row count where another share of rows is positive.

    Attributes
    ----------
    positive, negative : float
    capped : bool
        Whether there are no more positives above a row than rows, as by chance there may seem.
    """

    positive: float = 1.0
    negative: float = 1.0
    capped: bool = False


HERE = RowCounts()


def precision_there(
    read: Callable[[RowCounts], float], here: float, prevalence: float | None
) -> float:
    """Return an average precision where another share of rows is positive.

    Parameters
    ----------
    read : callable
        Reads it where rows count so much.
    here, prevalence : float
        Share of positives here and there; None: here.

    Notes
    -----
    Where positives are more frequent, rows that seem to have more positives above them than rows
    would count for too much. Without them it moves by the odds that it has without them.
    """
    if prevalence is None:
        return read(HERE)
    there = RowCounts(prevalence / here, (1 - prevalence) / (1 - here))
    if prevalence <= here:
        return read(there)
    value = read(HERE)
    if not 0 < value < 1:
        return value
    moved, own = (read(counts._replace(capped=True)) for counts in (there, HERE))
    odds = [part / max(1 - part, _NO_POSITIVES) for part in (value, moved, own)]
    found = odds[0] * odds[1] / odds[2]
    return found / (1 + found)


def row_precision(
    own: Any, others: Any, flagged: Any, beside: Any, counts: RowCounts = HERE
) -> FloatArray:
    """Return the precision at the score of a labelled row, which itself is surely positive.

    Parameters
    ----------
    own, others : array
        The row, and the other positives at least as high.
    flagged, beside : array
        All rows at least as high; and what the other positives are divided by.
    counts : RowCounts
        What a positive and a negative count.
    """
    if counts.capped:
        others = np.minimum(others, np.maximum(flagged - own, 0.0))
    if counts[:2] == HERE[:2]:
        return np.asarray(own / flagged + others / beside)
    rise, fall, _ = counts
    rows = fall * flagged + (rise - fall) * np.minimum(own + others, flagged)
    return np.asarray(rise * (own / rows + others / (rows + rise * (beside - flagged))))


def jackknife_variance(counts: ScoreCounts, design: MixtureDesign) -> float:
    """Return the jackknife's variance, before the finite-population correction.

    The estimate is a mean of pairs, so each leave-one-out value follows from the sums of the
    pairs that a row belongs to: no loop.
    """
    labels = _labels_of(counts, design)
    if labels.total <= _FEWEST * labels.unit:
        return float("nan")
    single, pairs = labels.sums()
    below = _reverse_sum(labels.weight / labels.flagged)  # of each row's inverse, at most as high
    below = below - labels.beside_own / labels.flagged
    left_out, number = np.empty(len(below)), np.empty(len(below))
    for part in blocks(len(below)):
        own, inverse = labels.own[part], 1 / labels.flagged[part]
        beside = below[part] + (labels.head[part] - 2 * own) * inverse
        total = labels.total - own
        unit = (labels.unit * labels.total - own * own) / total
        others = np.maximum(labels.positives - unit, 0.0) / (total - unit)
        alone = single - own * own * inverse
        left_out[part] = (alone + others * (pairs - own * beside)) / total
        number[part] = labels.weight[part] / own
    size = float(number.sum())
    left_out -= dot(number, left_out) / size
    return (size - 1) / size * float(sum(number[p] @ left_out[p] ** 2 for p in blocks(len(number))))


def pairwise_precision(counts: ScoreCounts, design: MixtureDesign, value: float) -> Influence:
    """Return the unbiased average precision with the influences of its rows and pairs of rows.

    A label's own row is counted once, not as often as the positives that it stands for, as in
    the plug-in value: with few of many positives labelled that makes its influences far too large.
    """
    pairs = _Pairs.of(counts, design)
    precision, inverse = pairs.precision(pairs.own, pairs.stands, pairs.flagged), 1 / pairs.flagged
    below = _reverse_sum(pairs.positives * inverse)
    below = below - (pairs.stands * pairs.own + pairs.beside_own) * inverse
    lowered = precision * inverse * (pairs.everyone / pairs.total)
    return Influence(
        value,
        positive=precision + pairs.scale * below,
        everyone=-_lower_sum(lowered, pairs.positives, pairs.beside_own),
        prevalence=value / max(float(design.mixing.prevalence), 1e-300),
    )


def interval_variance(counts: ScoreCounts, pairwise: float, plug_in: float) -> float:
    """Return the variance for the interval, between that of pairs and that of the plug-in value.

    The first is right on average, but small whenever the estimate is small, so that its intervals
    miss above; the other is too large with few labels. Their mean keeps the promise, unless
    weights go with the score: then a few rows carry the estimate, and its intervals miss above
    the more, so that the larger variance is taken as far as the rows show it.
    """
    link = 0.0
    if counts.weighted:
        labelled = counts.positive[counts.positive > 0]
        link = score_link(row_weights(labelled, counts.squared_weight[0]))
    return ((1 - link) * pairwise + (1 + link) * plug_in) / 2


@dataclass(frozen=True)
class _Labels:
    """Labelled rows by falling score, in cells; all in the weights of the rows of the target."""

    weight: FloatArray  # of all labelled rows in a cell
    own: FloatArray  # of one of them
    head: FloatArray  # of the labelled rows at least as high
    flagged: FloatArray  # of all rows at least as high
    beside: FloatArray  # of all rows, for the pairs: one more if the labels were drawn apart
    positives: float  # of all positives
    total: float  # of all labelled rows
    unit: float  # mean weight of a labelled row, each counted as often as it weighs
    # Half of the others in a cell of several scores, in whose middle its rows lie on average.
    beside_own: FloatArray

    @classmethod
    def of(cls, counts: ScoreCounts, design: MixtureDesign) -> "_Labels":
        at = np.flatnonzero(counts.positive)
        weight = counts.positive[at]
        own = row_weights(weight, counts.squared_weight[0])
        head, known, others = counts.cumulative()
        head, unlabeled, known = head[at + 1], others[at + 1], known[at + 1]
        beside_own = np.zeros(1)
        if (several := counts.merged[at]).any():
            beside_own = np.where(several, (weight - own) / 2, 0.0)
            head, unlabeled = head - beside_own, unlabeled - several * counts.unlabeled[at] / 2
            known = known - several * counts.negative[at] / 2
        if design.sampling == "case-control":
            # The labelled rows were drawn apart, so their weights have a scale of their own. Each
            # takes the place of an unlabeled row.
            scale = float(design.units[UNLABELED] / design.units[LABELLED])
            weight, own, head = weight * scale, own * scale, head * scale
            beside_own = beside_own * scale
            rest = np.maximum(1 - own / counts.n_unlabeled, 0.0)
            flagged = own + unlabeled * rest
            beside = flagged + own
        else:
            beside = flagged = head + unlabeled
            if counts.n_negative > 0:
                flagged += known
        total = float(weight.sum())
        unit = dot(weight, own) / total
        positives = float(design.mixing.positives)
        return cls(weight, own, head, flagged, beside, positives, total, unit, beside_own)

    def sums(self) -> tuple[float, float]:
        """Return Σ w w/M1 over rows and Σ w w'/M1 over pairs, the other row at least as high."""
        single = pairs = 0.0
        for part in blocks(len(self.weight)):
            weight, own = self.weight[part], self.own[part]
            single += float((weight / self.flagged[part]) @ own)
            pairs += float((weight / self.beside[part]) @ (self.head[part] - own))
        return single, pairs

    def precision(self, there: RowCounts) -> float:
        """Return the average precision where positives and negatives count so much."""
        # Labels drawn apart may weigh more than all positives of the target: one is a part of them.
        part = min(self.positives / self.unit, 1.0)
        others = max(self.positives - part * self.unit, 0.0)
        if self.total <= self.unit * (1 + 1e-9):
            return float("nan") if others > 0 else 1.0
        above = (self.head - self.own) * (others / (self.total - self.unit))
        precision = row_precision(part * self.own, above, self.flagged, self.beside, there)
        return dot(self.weight, precision) / self.total


@dataclass(frozen=True)
class _Pairs:
    """Rows in cells by falling score, and how many positives each stands for."""

    own: FloatArray  # weight of one labelled row; 0 where there is none
    stands: float  # positives for which a labelled row of weight 1 stands
    positives: FloatArray  # recovered in each cell
    beside_own: FloatArray  # half of the other positives in a cell of several scores with labels
    flagged: FloatArray  # all rows at least as high, a labelled one of the cell among them
    apart: bool  # whether the labelled rows were drawn apart
    total: float  # of all positives
    everyone: float  # of all rows of the target
    scale: float  # what products of two rows are multiplied by, since rows are drawn but once
    there: RowCounts = HERE

    @classmethod
    def of(cls, counts: ScoreCounts, design: MixtureDesign) -> "_Pairs":
        mixing, apart = design.mixing, design.sampling == "case-control"
        unit, unlabeled_unit = (float(design.units[kind]) for kind in (LABELLED, UNLABELED))
        # Labels drawn apart have weights on a scale of their own.
        own = row_weights(counts.positive, counts.squared_weight[0])
        total, labelled = float(mixing.positives), float(design.sizes[LABELLED])
        stands = total * float(mixing.positive[LABELLED]) / labelled
        lacks = total * float(mixing.positive[UNLABELED]) / float(design.sizes[UNLABELED])
        flagged, everyone = np.cumsum(counts.unlabeled), float(design.sizes[UNLABELED])
        blended = counts.merged & (counts.positive > 0)
        flagged -= blended * counts.unlabeled / 2
        if apart:
            own = own * (unlabeled_unit / unit)
            stands *= unit / unlabeled_unit
            flagged = own + flagged * np.maximum(1 - own / everyone, 0.0)
            scale = max(1 - unlabeled_unit / total, 0.0) / max(1 - unit / labelled, 1e-9)
            cells = counts.positive * (unlabeled_unit / unit)
        else:
            flagged += np.cumsum(counts.positive) - blended * (counts.positive - own) / 2
            flagged += np.cumsum(counts.negative) - blended * counts.negative / 2
            everyone, cells = float(design.sizes.sum()), counts.positive
            frequency = min(float(design.label_purity) * labelled / total, 1.0)
            lost = (stands - lacks) ** 2 * frequency * (1 - frequency)
            scale = 1 / max(1 - lost * unit / max(total - unit, 1e-300), 1e-9)
        found = stands * cells + lacks * counts.unlabeled
        flagged = np.where(flagged > 0, flagged, 1.0)  # a threshold above all rows flags none
        beside = blended * (found - stands * own) / 2
        return cls(own, stands, found, beside, flagged, apart, total, everyone, scale)

    def precision(self, own: Any, stands: float, flagged: FloatArray) -> FloatArray:
        """Return the precision at the score of a row, which itself counts once.

        `stands` is the number of positives that a row of weight 1 stands for.
        """
        others = self.scale * (np.cumsum(self.positives) - self.beside_own - stands * own)
        beside = flagged + own if self.apart else flagged
        return row_precision(own, others, flagged, beside, self.there)

    def value(self, counts: ScoreCounts, unit: float) -> float:
        """Return the average precision; `unit` is the weight of an unlabeled row."""
        lacking = self.positives - self.stands * self._cells(counts)
        area = (self.positives - lacking) @ self.precision(self.own, self.stands, self.flagged)
        at = counts.unlabeled > 0
        if np.any(lacking[at]):
            lacks = float(lacking.sum() / counts.n_unlabeled)
            rows = np.cumsum(counts.unlabeled) if self.apart else self.flagged
            precision = self.precision(unit, lacks, np.where(at, rows, 1.0))
            area += lacking[at] @ precision[at]
        return float(area / self.total)

    def _cells(self, counts: ScoreCounts) -> FloatArray:
        """Return the weights of the labelled rows in each cell, on the scale of the target's."""
        own = row_weights(counts.positive, counts.squared_weight[0])
        scale = float(self.own.max() / own.max()) if self.apart else 1.0
        return counts.positive * scale


# Like scikit-learn, so that a probability of exactly 0 or 1 has a finite loss.
_LEAST_FPR = 1e-12
_SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Recovered:
    """Hold the masses of positives, negatives and all rows in each cell, some perhaps negative.

    Areas of ranks can be read of several sets at once, a row of `positive` each.
    """

    positive: FloatArray
    negative: FloatArray
    everyone: FloatArray
    prevalence: Any  # a number, or one a set
    heads: tuple[FloatArray, ...] | None = None  # of the three, above each border between cells
    # Of positives and all rows, half of the others in a row's cell, if it holds several scores.
    beside: tuple[FloatArray, FloatArray] | None = None

    @cached_property
    def curve(self) -> OperatingCurve:
        """The curve of the running sums, by falling score; its thresholds are places."""
        masses = self.positive, self.negative, self.everyone
        tpr, fpr, flagged = self.heads or map(_heads, masses)
        places = np.arange(0.0, -tpr.shape[-1], -1.0)
        return OperatingCurve(places, tpr, fpr, self.prevalence, flagged=flagged)

    @cached_property
    def middle_tpr(self) -> FloatArray:
        """True-positive rate in the middle of each cell, where half of its rows are flagged."""
        return _middle(self.curve.tpr)


# What was last made of a table: three areas share it, and it is as long as the table.
_CELLS: "WeakKeyDictionary[ScoreCounts, CellRows]" = WeakKeyDictionary()
_RECOVERED: "WeakKeyDictionary[CellRows, tuple[Mixing, Recovered]]" = WeakKeyDictionary()
_LABELS_BY_COUNTS: "WeakKeyDictionary[ScoreCounts, tuple[MixtureDesign, _Labels]]" = (
    WeakKeyDictionary()
)


def forget_cells() -> None:
    """Let go of what areas of one table share, which is several times as long as the table."""
    for cache in (_CELLS, _RECOVERED, _LABELS_BY_COUNTS):
        cache.clear()


def cell_rows(counts: ScoreCounts) -> CellRows:
    """Return each kind's distribution over the cells."""
    rows = _CELLS.get(counts)
    if rows is None:
        columns = counts.positive, counts.unlabeled, counts.negative
        masses, heads = (np.zeros((3, len(counts.score) + more)) for more in (0, 1))
        positive, negative, unlabeled = counts.cumulative()  # rows add up more exactly than shares
        above = positive, unlabeled, negative
        for kind, total in enumerate(kind_sizes(counts)):
            if total > 0:
                np.divide(columns[kind], total, out=masses[kind])
                np.divide(above[kind], total, out=heads[kind])
        blended = counts.merged & (counts.positive > 0)
        several = blended if blended.any() else None
        rows = CellRows(
            masses,
            weighted=counts.weighted,
            counted=heads,
            blended=several,
            labelled_row=1 / counts.effective_size("positive") if several is not None else 0.0,
        )
        forget_cells()
        _CELLS[counts] = rows
    return rows


def recovered(rows: CellRows, mixing: Mixing) -> Recovered:
    """Return the distributions of positives, negatives and all rows."""
    cached = _RECOVERED.get(rows)
    if cached is None or cached[0] is not mixing:
        kinds = mixing.positive, mixing.negative, mixing.everyone
        positive, negative, everyone = map(rows.mixed, kinds)
        heads = tuple(map(rows.mixed_heads, kinds))
        prevalence = float(mixing.prevalence)
        beside = None
        if rows.blended is not None:
            own = [
                kind[LABELLED] * rows.labelled_row for kind in (mixing.positive, mixing.everyone)
            ]
            beside = (
                rows.blended * (positive - own[0]) / 2,
                rows.blended * (everyone - own[1]) / 2,
            )
        mass = Recovered(positive, negative, everyone, prevalence, heads, beside)
        _RECOVERED[rows] = cached = mixing, mass
    return cached[1]


def _labels_of(counts: ScoreCounts, design: MixtureDesign) -> _Labels:
    """Return the labelled rows as a design sees them."""
    cached = _LABELS_BY_COUNTS.get(counts)
    if cached is None or cached[0] is not design:
        _LABELS_BY_COUNTS.clear()
        _LABELS_BY_COUNTS[counts] = cached = design, _Labels.of(counts, design)
    return cached[1]


def area_influence(
    rows: CellRows, mixing: Mixing, name: str, max_fpr: float | None = None
) -> Influence:
    """Return an area with its influence functions."""
    mass = recovered(rows, mixing)
    if name != "partial_roc_auc":
        return AREA_GRADIENTS[name](mass)
    return partial_roc_auc(mass, read_max_fpr(max_fpr))


def read_max_fpr(max_fpr: float | None) -> float:
    """Return the end of a range of false positive rates as a float, or refuse it."""
    end = real_number(max_fpr)
    if not _LEAST_FPR <= end <= 1:
        raise InputError(f"max_fpr must be in (0, 1], {_LEAST_FPR:g} at least; got {max_fpr!r}")
    return end


def ranked_area(counts: ScoreCounts, mixing: Mixing, name: str) -> float:
    """Return the area under the ROC or the lift curve from those between the kinds of rows.

    Both are shares of pairs, so that they are sums over pairs of kinds: a weight of positives, one
    of negatives (or all rows), and the area of the one kind against the other.
    """
    others = mixing.negative if name == "roc_auc" else mixing.everyone
    kinds = [kind for kind, size in enumerate(kind_sizes(counts)) if size > 0]
    return sum(
        float(mixing.positive[one] * others[other])
        * (0.5 if one == other else counts.auc(_CLASS[one], _CLASS[other]))
        for one in kinds
        for other in kinds
        if mixing.positive[one] != 0 and others[other] != 0
    )


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
    below = _middle(mass.curve.fpr)
    np.subtract(1, below, out=below)
    value = _dots(mass.negative, mass.middle_tpr)
    return Influence(value, positive=below, negative=mass.middle_tpr)


def lift_auc(mass: Recovered) -> Influence:
    """Area under recall against predicted-positive rate (AUL), a row against itself counting ½."""
    below = _middle(mass.curve.predicted_positive_rate)
    np.subtract(1, below, out=below)
    value = _dots(mass.everyone, mass.middle_tpr)
    return Influence(value, positive=below, everyone=mass.middle_tpr)


def partial_roc_auc(mass: Recovered, max_fpr: float) -> Influence:
    """Area under the ROC curve up to a false-positive rate, on McClish's scale.

    Chance makes the recovered false-positive rate go up and down along the thresholds; the end of
    the range lies where its isotonic regression crosses `max_fpr`, which is where the sum of its
    distances is least. The end moves with the data so that its own effect cancels, hence the
    derivative is ∫ (dTPR dFPR - dFPR dTPR) over the range, the same form as the whole area's.
    """
    fpr, tpr = _middle(mass.curve.fpr), mass.middle_tpr
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


# Gauss and Legendre's three points: means of squares and cubes of a uniform number are exact.
_GAUSS_NODES = 0.5 + np.array([-1.0, 0.0, 1.0]) * 0.15**0.5
_NODE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18


def perfect_ranks(design: MixtureDesign, name: str, max_fpr: float | None) -> Spread:
    """Return how an area of ranks would vary if all positives lay above all others.

    Labelled rows are then anywhere among the highest, so that the estimate varies around 1.
    """
    above, below = np.append(_GAUSS_NODES, np.ones(3)), np.append(np.zeros(3), _GAUSS_NODES)
    if name == "lift_auc":
        prevalence = float(design.mixing.prevalence)
        flagged = prevalence * above + (1 - prevalence) * below
        influence = Influence(1 - prevalence / 2, positive=1 - flagged, everyone=above)
    else:
        end = 1.0 if name == "roc_auc" or max_fpr is None else max_fpr
        scale = 1.0 if name == "roc_auc" else 0.5 / (end - end * end / 2)
        inside = np.maximum(end - below, 0.0)
        influence = Influence(1.0, positive=scale * inside, negative=scale * above)
    share = float(design.mixing.unlabeled_prevalence)
    positives = np.array([[float(design.label_purity)], [share], [0.0]])
    present = (design.sizes > 0)[:, None]
    masses = np.hstack([positives * _NODE_WEIGHTS, (1 - positives) * _NODE_WEIGHTS])
    return Spread(design, CellRows(masses * present, weighted=False), influence)


def no_area(max_fpr: float | None) -> float:
    """Return McClish's value of a curve without any area up to the false-positive rate."""
    end = max_fpr or 1.0
    chance = end * end / 2
    return 0.5 * (1 - chance / (end - chance))


def average_precision(mass: Recovered) -> Influence:
    """Precision summed over the steps of recall: Σ dTPR · π TPR / Q.

    The plug-in value; `average_precision.unbiased_average_precision` corrects it for pure labels.
    """
    curve, prevalence = mass.curve, np.asarray(mass.prevalence)[..., None]
    tpr, flagged = curve.tpr[..., 1:], curve.predicted_positive_rate[1:]
    if mass.beside is not None:  # rows lie in the middle of such a cell on average
        tpr, flagged = tpr - mass.beside[0], flagged - mass.beside[1]
    some = flagged > 0
    inverse = np.divide(prevalence, flagged, out=np.zeros(tpr.shape), where=some)
    # Positives drawn apart may lie above every row of the target: precision is 1 where no row is
    # flagged, and stays so.
    precision = inverse * tpr
    np.greater(tpr, 0, out=precision, where=~some)
    value = curve.average_precision if tpr.ndim == 1 else _areas_of_steps(mass, precision)
    # A row adds to recall and flagged share at its own cell and all lower ones.
    beside = None if mass.beside is None else mass.beside[0]
    lower_recall = _lower_sum(inverse, mass.positive, beside)
    inverse *= precision
    lower_flagged = _lower_sum(inverse, mass.positive, beside)
    lower_flagged /= np.where(prevalence > 0, -prevalence, -1.0)
    lower_recall += precision
    return Influence(
        value,
        positive=lower_recall,
        everyone=lower_flagged,
        prevalence=value / np.where(mass.prevalence > 0, mass.prevalence, np.inf),
    )


def _areas_of_steps(mass: Recovered, precision: FloatArray) -> FloatArray:
    """Return precision summed over the steps of recall, for each of several sets."""
    tpr = mass.curve.tpr
    return np.asarray(((tpr[..., 1:] - tpr[..., :-1]) * precision).sum(axis=-1))


AREA_GRADIENTS = {"roc_auc": roc_auc, "lift_auc": lift_auc, "average_precision": average_precision}


def losses_of(probability: FloatArray, name: str) -> tuple[FloatArray, FloatArray]:
    """Return the loss of each score if its row is positive, and if it is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.area_gradients import losses_of
    >>> [loss.tolist() for loss in losses_of(np.array([0.5, 1.0]), "brier_score")]
    [[0.25, 0.0], [0.25, 1.0]]
    """
    least, most = float(probability.min()), float(probability.max())
    if most > 1 or least < 0:
        raise InputError(
            f"{name} needs scores that are probabilities in [0, 1]; got "
            f"{most if most > 1 else least:.6g}. Calibrate them first"
        )
    if name == "log_loss":
        edge = _SMALLEST_PROBABILITY
        inner = np.clip(probability, edge, 1 - edge)
        return -np.log(inner), -np.log1p(-inner)
    return (1 - probability) ** 2, probability**2


def mean_loss(counts: ScoreCounts, mass: Recovered, name: str) -> Influence:
    """Mean loss R = π E₁[ℓ₁ - ℓ₀] + E[ℓ₀] of scores that are probabilities."""
    if counts.compact:
        raise InputError(
            f"{name} needs every score; {keep_scores('count with compact=False')}",
            code=MISSING_DATA,
        )
    prevalence = mass.prevalence
    if_positive, if_negative = losses_of(counts.score, name)
    difference = if_positive - if_negative
    among_positives = mass.positive @ difference
    return Influence(
        prevalence * among_positives + mass.everyone @ if_negative,
        positive=np.multiply.outer(prevalence, difference),
        everyone=if_negative,
        prevalence=among_positives,
    )


def _dots(mass: FloatArray, value: FloatArray) -> Any:
    """Return the sum of products along a long array, or along each of several sets."""
    return dot(mass, value) if value.ndim == 1 else (mass * value).sum(axis=-1)


def _middle(rate: FloatArray) -> FloatArray:
    """Return the rate in the middle of each cell, where half of its rows are flagged."""
    middle = rate[..., 1:] + rate[..., :-1]
    middle /= 2
    return middle


def _heads(mass: FloatArray) -> FloatArray:
    """Return the mass above each border between cells, from 0 to all."""
    heads = np.zeros((*mass.shape[:-1], mass.shape[-1] + 1))
    np.cumsum(mass, axis=-1, out=heads[..., 1:])
    return heads


def _lower_sum(values: FloatArray, mass: FloatArray, beside: FloatArray | None) -> FloatArray:
    """Return sums of a value over a row's cell and all lower ones, less what lies beside it."""
    sums = _reverse_sum(values * mass)
    return sums if beside is None else sums - values * beside


def _reverse_sum(values: FloatArray) -> FloatArray:
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
