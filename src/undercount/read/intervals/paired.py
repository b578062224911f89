"""Differences of two scores on the same rows: standard errors that use the pairing.

What a row adds to a difference is what it adds to the one estimate minus what it adds to the
other, so the variance of a difference follows from its influence like that of a single estimate,
for every way of drawing rows. What a row adds to an estimate depends on its cell in that model's
table alone, so a model is counted once, and a pair of models is where its rows lie in both tables.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.assume.mixture import KINDS, LABELLED, UNLABELED, MixtureDesign
from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.read.intervals import area_gradients as areas
from undercount.read.intervals.clusters import ClusterRows, with_effect
from undercount.read.intervals.heads import HeadCounts, head_spread
from undercount.read.intervals.variance import CellRows, Influence, Spread

# A jackknife of fewer labels says nothing: leaving one out leaves no pair.
FEWEST = 3
# Rows looked at at once, so that what is added up stays in the processor's cache.
CHUNK = 1 << 15
# Rows added to each of the four ways in which two models may flag a row (Agresti and Min 2005):
# with few labels none may tell the models apart, which is no proof that none would.
HALF_ROW = 0.5


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Hold the rows of one model: its table, and where in it the rows of each kind lie.

    Parameters
    ----------
    counts : ScoreCounts
        The table; cells without a label may be merged.
    scores : sequence of three arrays
        Scores of the labelled positive, unlabeled and labelled negative rows, each in an order
        that all models share.
    design : MixtureDesign
        How the rows were drawn, what is known of the positives, what the metric is a metric of.
    threshold : float
        Rows with at least this score are predicted positive.
    clusters : ClusterRows, optional
        The same rows by cluster.
    """

    counts: ScoreCounts
    scores: Sequence[NDArray[Any]]
    design: MixtureDesign
    threshold: float = math.inf
    clusters: ClusterRows | None = None
    _places: dict[int, NDArray[np.intp]] = field(default_factory=dict, init=False, repr=False)
    _influences: dict[str, Influence] = field(default_factory=dict, init=False, repr=False)

    def places(self, kind: int) -> NDArray[np.intp]:
        """Return the cell of each row of a kind; looked up once, and only if somebody asks."""
        if kind not in self._places:
            self._places[kind] = cell_places(self.counts.score, self.scores[kind])
        return self._places[kind]

    @cached_property
    def cells(self) -> CellRows:
        """Each kind's distribution over the cells."""
        return areas.cell_rows(self.counts)

    @cached_property
    def flags(self) -> list[NDArray[np.bool_]]:
        """Which rows of each kind are predicted positive."""
        return [score >= self.threshold for score in self.scores]

    @cached_property
    def heads(self) -> FloatArray:
        """How many rows of each kind are predicted positive."""
        return np.array([float(np.count_nonzero(flag)) for flag in self.flags])

    def influence(self, metric: str, *, at_threshold: bool) -> Influence:
        """Return what a row of each cell adds; at a threshold the cells are the two answers."""
        if metric not in self._influences:
            if at_threshold:
                found = head_spread(HeadCounts(self.heads, self.design), metric).influence
                found = _of_flagged(found)
            elif metric == "average_precision":
                found = _average_precision(self._mass, self.design)
            else:
                found = areas.AREA_GRADIENTS[metric](self._mass)
            self._influences[metric] = found
        return self._influences[metric]

    @cached_property
    def _mass(self) -> areas.Recovered:
        return areas.recovered(self.cells, self.design.mixing)

    @cached_property
    def left_out(self) -> "Jackknife":
        """The unbiased average precision without a row of each cell."""
        return Jackknife.of(self.counts, self.design)


class JointRows:
    """Rows in the cells of two models at once.

    A function of a row has one value a cell of the first model, then one a cell of the second; at
    a row it is the sum of the two. `Spread` reads these rows like those of a single model.
    """

    centred = True

    def __init__(self, one: ModelRows, other: ModelRows) -> None:
        self.models = one, other
        self.masses = [model.cells.masses for model in self.models]

    def means(self, value: FloatArray) -> FloatArray:
        """Return the mean among the rows of each kind."""
        parts = zip(self.masses, self._parts(value), strict=True)
        return np.asarray(sum(masses @ part for masses, part in parts))

    def moments(self, value: FloatArray, weights: Any) -> tuple[float, float]:
        """Return mean and variance under a mixture; `weights` has one entry a kind."""
        means, weights = self.means(value), np.asarray(weights)
        mean, kinds = float(weights @ means), np.flatnonzero(weights)
        # Around the mean of all: nothing is lost where rows of one kind hardly vary.
        squares = (self.variance(value, int(k)) + (means[k] - mean) ** 2 for k in kinds)
        return mean, max(float(weights[kinds] @ list(squares)), 0.0)

    def variance(self, value: FloatArray, kind: int) -> float:
        """Return the variance among the rows of a kind; 0 if there are none."""
        one, other = self._parts(value)
        one = one - self.means(value)[kind]  # squares of what is left lose nothing by rounding
        places = [model.places(kind) for model in self.models]
        total, squares, size = 0.0, 0.0, len(places[0])
        for start in range(0, size, CHUNK):
            found = one.take(places[0][start : start + CHUNK])
            found += other.take(places[1][start : start + CHUNK])
            total += float(found.sum())
            squares += float(np.square(found, out=found).sum())
        return max(squares / size - (total / size) ** 2, 0.0) if size else 0.0

    def of_rows(self, value: FloatArray, kind: int) -> FloatArray:
        """Return the value of each row of a kind."""
        one, other = self._parts(value)
        places = [self.cells_of(model, kind) for model in self.models]
        return np.asarray(one.take(places[0]) + other.take(places[1]))

    def cells_of(self, model: ModelRows, kind: int) -> NDArray[Any]:
        """Return the cell of each row of a kind in the table of a model."""
        return model.places(kind)

    def _parts(self, value: FloatArray) -> list[FloatArray]:
        return np.split(value, [self.masses[0].shape[1]])


class JointFlags(JointRows):
    """Rows by what two models say at their thresholds: the cells are no and yes."""

    def __init__(self, one: ModelRows, other: ModelRows) -> None:
        self.models = one, other
        sizes = one.design.sizes[:, np.newaxis]
        shares = [model.heads[:, np.newaxis] / np.maximum(sizes, 1) for model in self.models]
        self.masses = [np.hstack([(sizes > 0) - share, share]) for share in shares]
        # Rows of each kind that neither, only the other, only the one, both of them flag.
        both = np.array(
            [np.count_nonzero(a & b) for a, b in zip(one.flags, other.flags, strict=True)]
        )
        only = [other.heads - both, one.heads - both]
        number = np.stack([sizes[:, 0] - both - only[0] - only[1], *only, both], axis=1)
        self._number = number + HALF_ROW * (np.any(only) and sizes > 0)

    def variance(self, value: FloatArray, kind: int) -> float:
        """Return the variance among the rows of a kind; 0 if there are none."""
        one, other = self._parts(value)
        number, found = self._number[kind], np.add.outer(one, other).ravel()
        total = float(number.sum())
        if total == 0:
            return 0.0
        mean = float(number @ found) / total
        return float(number @ (found - mean) ** 2) / total

    def cells_of(self, model: ModelRows, kind: int) -> NDArray[Any]:
        """Return what a model says of each row of a kind, 1 or 0."""
        return model.flags[kind].astype(np.intp)


class ModelPair:
    """Two models on the same rows, and the standard errors of their differences.

    Notes
    -----
    Assumes: rows (or, where they are named, clusters) are independent, and labelled rows a random
    sample of the positives (and, at 1 - purity, negatives).
    Wrong when: so few rows decide that the metric is not straight within its error.
    """

    def __init__(self, one: ModelRows, other: ModelRows) -> None:
        self.one, self.other = one, other

    @cached_property
    def _rows(self) -> JointRows:
        return JointRows(self.one, self.other)

    @cached_property
    def _flags(self) -> JointFlags:
        return JointFlags(self.one, self.other)

    def error(self, metric: str, *, at_threshold: bool) -> float:
        """Return the standard error of the difference in a metric."""
        return self.chance(metric, at_threshold=at_threshold).error

    def chance(self, metric: str, *, at_threshold: bool) -> "Chance":
        """Return how a difference varies: its standard error and its degrees of freedom.

        Average precision of pure labels is compared by its unbiased estimate, whose error is that
        of the jackknife (`Jackknife`); the other metrics by their influences.
        """
        by_jackknife = metric == "average_precision" and self.one.design.pure
        clusters = self.one.clusters
        if by_jackknife and clusters is None:
            return Chance(jackknife_error(self._rows), self.one.design.freedom)
        joint = self._flags if at_threshold else self._rows
        one, other = (m.influence(metric, at_threshold=at_threshold) for m in joint.models)
        sizes = [masses.shape[1] for masses in joint.masses]
        gap = Influence(
            one.value - other.value,
            _joined(one.positive, other.positive, sizes),
            _joined(one.negative, other.negative, sizes),
            _joined(one.everyone, other.everyone, sizes),
            one.prevalence - other.prevalence,
        )
        moves = Spread(self.one.design, joint, gap)
        error = jackknife_error(self._rows) if by_jackknife else math.sqrt(float(moves.variance))
        if clusters is None:
            return Chance(error, moves.design.freedom)
        design = with_effect(moves, joint.of_rows, clusters)
        return Chance(error * math.sqrt(design.cluster_effect), design.freedom)


@dataclass(frozen=True)
class Chance:
    """Say how a difference varies: standard error, and degrees of freedom of Student's quantile."""

    error: float
    freedom: float


def _joined(one: Any, other: Any, sizes: list[int]) -> FloatArray:
    """Put the cells of two models after one another, those of the second taken off."""
    return np.concatenate([np.broadcast_to(one, sizes[0]), -np.broadcast_to(other, sizes[1])])


def _of_flagged(influence: Influence) -> Influence:
    """Give an influence on rows predicted positive one value for each answer, no and yes."""
    names = ("positive", "negative", "everyone")
    parts = {name: np.array([0.0, float(getattr(influence, name))]) for name in names}
    return replace(influence, **parts)


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


@dataclass(frozen=True)
class Jackknife:
    """Hold the unbiased average precision of one model without a row of each cell.

    Each row is left out of both models' estimates at once, so that what they share cancels. For
    these very rows only labels are left out (their rows stay). The estimate is a mean of pairs of
    labelled rows, so all leave-one-out values follow from running sums over the cells: no loop.

    Parameters
    ----------
    whole : float
        The estimate with all rows.
    without : sequence of arrays
        Without a labelled row of each cell, an unlabeled one, a known negative.

    Notes
    -----
    Assumes: pure labels, random labels.
    Wrong when: there are very few labels.
    """

    whole: float
    without: Sequence[FloatArray]

    @classmethod
    def of(cls, counts: ScoreCounts, design: MixtureDesign) -> "Jackknife":
        """Leave out each row, or for these very rows each label."""
        sums, lost = _PrecisionSums(counts, design), _lost_positives(design)
        positives = float(design.mixing.positives)
        whole = float(sums.without(positives, sums.flagged, sums.flagged, own=0)[0])
        if design.target == "dataset":
            fewer = positives - lost[LABELLED] * design.frequency_known
            return cls(whole, [sums.without(fewer, sums.flagged, sums.flagged, own=1)])
        without = [
            sums.without(positives - lost[kind], *sums.flagged_without(kind), own=kind == LABELLED)
            for kind in KINDS
        ]
        return cls(whole, without)


class _PrecisionSums:
    """Running sums over the cells of a table, from which every leave-one-out value follows."""

    def __init__(self, counts: ScoreCounts, design: MixtureDesign) -> None:
        self.labelled, self.unlabeled = counts.positive, np.cumsum(counts.unlabeled)
        self.heads, self.size = np.cumsum(self.labelled), float(counts.n_positive)
        self.n_unlabeled, self.apart = counts.n_unlabeled, design.sampling == "case-control"
        if self.apart:
            self.flagged = self._beside_itself(self.unlabeled, self.n_unlabeled)
        else:
            self.flagged = self.heads + self.unlabeled + np.cumsum(counts.negative)

    @staticmethod
    def _beside_itself(unlabeled: FloatArray, total: float) -> FloatArray:
        """Return the rows of the target above a labelled row, which takes the place of one."""
        return np.asarray(1 + unlabeled * max(1 - 1 / total, 0.0))

    def flagged_without(self, kind: int) -> tuple[FloatArray, FloatArray]:
        """Return the rows flagged at each cell without a row below it, and without one above."""
        if not self.apart:
            return self.flagged, self.flagged - 1
        if kind != UNLABELED:
            return self.flagged, self.flagged
        total = max(self.n_unlabeled - 1, 1.0)
        return self._beside_itself(self.unlabeled, total), self._beside_itself(
            self.unlabeled - 1, total
        )

    def without(
        self, positives: float, flagged: FloatArray, fewer: FloatArray, *, own: int
    ) -> FloatArray:
        """Return the estimate without a row of each cell, a labelled one if `own` is 1.

        Labelled rows above the row have `flagged` rows above them, those of its cell and below
        `fewer`; the row itself is none of those that are left, if it is labelled.
        """
        inverse, less = _safe_inverse(flagged), _safe_inverse(fewer)
        single = self._above(inverse) + self._from(less) - own * less
        lower = (self.heads - 1 - own) * less
        pairs = self._above((self.heads - 1) * inverse) + self._from(lower) - own * lower
        left = self.size - own
        return np.asarray((single + max(positives - 1, 0.0) / (left - 1) * pairs) / left)

    def _above(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labelled rows above each cell."""
        return np.append(0.0, np.cumsum(self.labelled * values)[:-1])

    def _from(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labelled rows of each cell and below."""
        return np.cumsum((self.labelled * values)[::-1])[::-1]


def _lost_positives(design: MixtureDesign) -> list[float]:
    """Return the positives that go with a row of each kind, if the share that was given stays."""
    positives, share = float(design.mixing.positives), float(design.mixing.unlabeled_prevalence)
    if design.sampling == "case-control":
        return [0.0, share, 0.0]
    if design.given == "prevalence":
        return [positives / float(design.sizes.sum())] * 3
    if design.given == "label_frequency":
        return [positives / float(design.sizes[LABELLED]), 0.0, 0.0]
    return [1.0, share, 0.0]


def _safe_inverse(values: FloatArray) -> FloatArray:
    """Return 1/x, and 0 where no row is left (never asked for but in its own place)."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def jackknife_error(rows: JointRows) -> float:
    """Return the standard error of a difference in average precision.

    For these very rows the variance over labels is multiplied by the share of positives without
    a label. If the label frequency is known, the number of labels is random too, so that
    deviations are those from the estimate itself and not from their mean.
    """
    one, other = rows.models
    design = one.design
    size = float(design.sizes[LABELLED])
    if size < FEWEST:
        return math.nan
    pairs = zip(one.left_out.without, other.left_out.without, strict=True)
    left = [np.append(first, -second) for first, second in pairs]
    variances = np.array([rows.variance(value, kind) for kind, value in enumerate(left)])
    if design.target == "dataset":
        if design.frequency_known:
            mean = float(rows.means(left[LABELLED])[LABELLED])
            off = mean - (one.left_out.whole - other.left_out.whole)
            return math.sqrt(_hidden(design) * size * (variances[LABELLED] + off**2))
        return math.sqrt(_hidden(design) * (size - 1) * variances[LABELLED])
    sizes = design.sizes
    if design.sampling == "case-control":
        return math.sqrt(float(np.maximum(sizes - 1, 0.0) @ variances))
    means, n = np.array([rows.means(value)[kind] for kind, value in enumerate(left)]), sizes.sum()
    means = means - sizes @ means / n
    return math.sqrt(float(sizes @ (variances + means**2)) * (n - 1) / n)


def _hidden(design: MixtureDesign) -> float:
    """Return what is left of the labels' variance for these very rows.

    Positives with a label are certain. Labels drawn apart stand for hidden positives that are a
    sample of their own.
    """
    if design.sampling == "single-sample":
        return float(design.unlabelled_share)
    hidden = float(design.mixing.positives)
    return 1 + float(design.sizes[LABELLED]) / hidden if hidden > 0 else 1.0
