"""Rows and labels that come in clusters: how much larger that makes a variance.

What a row adds to an estimate is its gradient. Rows of one customer, patient or document are
alike and are labelled together, so that what they add is summed up within a cluster before it is
squared. The ratio to the squares of single rows, the design effect, divides every effective number
of rows, and Student's quantile counts clusters instead of rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.rows import cell_places
from undercount.count.keys import code_keys, missing_rows, read_keys
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named
from undercount.infer.area_gradients import area_influence, cell_rows, mean_loss, recovered
from undercount.infer.heads import (
    FlaggedCounts,
    TopRows,
    head_spread,
    ranked_rows,
    top_heads,
    top_parts,
    top_rows,
)
from undercount.infer.mixture import LABELLED, ROW_KINDS, UNLABELED, MixtureDesign, kind_cells
from undercount.infer.variance import Spread
from undercount.metric_facts import FACTS, LOSSES

Codes = NDArray[np.intp]
# How labels say labelled positive, unlabeled and labelled negative, in the order of a design.
KIND_LABELS = (1, -1, 0)
_DIFFERENCE_ROUNDING = 1e-12
MIN_CLUSTERS = 2  # clusters with a label that have any spread
# The cells of rows by cluster in the counts that were last asked for: metrics are read one by one.
_PLACES: "WeakKeyDictionary[ScoreCounts, tuple[ClusterRows, list[Codes]]]" = WeakKeyDictionary()


def read_clusters(cluster: Any, n_rows: int) -> Codes:
    """Return a number for the cluster of each row; any values will do, none may be missing."""
    keys = read_keys(cluster, "cluster")
    if keys.shape != (n_rows,):
        raise InputError(
            f"{named('cluster')} must name a cluster for each of {n_rows:,} rows; "
            f"got shape {keys.shape}",
            argument="cluster",
        )
    codes, names = code_keys(keys, "cluster")
    sure = keys.dtype.kind in "biuSU"  # types without a missing value
    missing = 0 if sure else missing_rows(codes, names)
    if missing:
        raise InputError(
            f"{named('cluster')} must be known for every row; it is missing in "
            f"{missing:,}. Give rows that belong to nobody a cluster each",
            argument="cluster",
        )
    return codes


class Clusters(ABC):
    """Say how much larger a variance is because rows belong together."""

    @property
    @abstractmethod
    def n_clusters(self) -> int:
        """Number of clusters with any row."""

    @property
    @abstractmethod
    def n_labelled(self) -> int:
        """Number of clusters with a labelled positive row."""

    @abstractmethod
    def with_cell_parts(
        self, counts: ScoreCounts, design: MixtureDesign, parts: Sequence[FloatArray]
    ) -> MixtureDesign:
        """Return a design with the effect that clusters have, from what a row of a cell adds."""

    def design(
        self, counts: ScoreCounts, design: MixtureDesign, name: str, **options: Any
    ) -> MixtureDesign:
        """Return the design of independent rows with the effect of the clusters on a metric."""
        return self.with_cell_parts(counts, design, cell_parts(counts, design, name, **options))

    def with_effect(
        self, counts: ScoreCounts, moves: Spread, at_cells: Callable[[Any], FloatArray]
    ) -> MixtureDesign:
        """Return the design of an estimate with the effect that clusters have on it."""
        return self.with_cell_parts(counts, moves.design, centred_parts(counts, moves, at_cells))

    def discounted(
        self, counts: ScoreCounts, design: MixtureDesign, name: str, **options: Any
    ) -> ScoreCounts:
        """Return counts whose effective sizes are those of independent rows for a metric.

        What estimates the share of hidden positives, checks or searches reads its errors there.
        """
        return self.shrunk(counts, self.design(counts, design, name, **options))

    def shrunk(self, counts: ScoreCounts, clustered: MixtureDesign) -> ScoreCounts:
        """Return counts whose effective sizes are those that a design with clusters has."""
        squares = [clustered.cluster_effect * square for square in counts.squared_weight]
        return replace(counts, squared_weight=(squares[0], squares[1], squares[2]))


@dataclass(frozen=True, eq=False)
class ClusterRows(Clusters):
    """Hold the rows of each kind, labelled positive, unlabeled, labelled negative, by cluster.

    Parameters
    ----------
    score, cluster : sequence of three arrays
        Score of each row and the number of its cluster.
    weight : sequence of three arrays, optional
        Weight of each row.
    by_row : array, optional
        The number of the cluster of each row, in the order of the data.

    Notes
    -----
    Assumes: clusters are independent of each other, and labels were drawn by cluster: somebody
    looked at a customer, and then all positives of that customer got their label.
    Wrong when: clusters share something (one branch, one day), or fewer than about 20 of them
    carry a label. If labels were drawn row by row, intervals for these very rows are too wide.
    """

    score: Sequence[NDArray[Any]]
    cluster: Sequence[Codes]
    weight: Sequence[FloatArray] | None = None
    by_row: Codes | None = None

    @classmethod
    def of(
        cls, labels: NDArray[Any], scores: NDArray[Any], cluster: Codes, weights: FloatArray | None
    ) -> "ClusterRows":
        """Sort rows by their kind."""
        kinds = [labels == label for label in KIND_LABELS]
        return cls(
            [scores[kind] for kind in kinds],
            [cluster[kind] for kind in kinds],
            None if weights is None else [weights[kind] for kind in kinds],
            cluster,
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters with any row."""
        return len(np.unique(np.concatenate(list(self.cluster))))

    @property
    def n_labelled(self) -> int:
        """Number of clusters with a labelled positive row."""
        return len(np.unique(self.cluster[LABELLED]))

    def parts(
        self, counts: ScoreCounts, design: MixtureDesign, name: str, **options: Any
    ) -> list[FloatArray]:
        """Return what each row of a kind that chance chose moves a metric by.

        Those of two models on the same rows, one less the other, are those of their difference.
        """
        return self.of_rows(counts, cell_parts(counts, design, name, **options))

    def with_cell_parts(
        self, counts: ScoreCounts, design: MixtureDesign, parts: Sequence[FloatArray]
    ) -> MixtureDesign:
        """Return a design with the effect that clusters have, from what a row of a cell adds."""
        return self.with_parts(design, self.of_rows(counts, parts))

    def of_rows(self, counts: ScoreCounts, parts: Sequence[FloatArray]) -> list[FloatArray]:
        """Return what each row adds, from what a row of its cell does."""
        cached = _PLACES.get(counts)
        if cached is None or cached[0] is not self:
            places = [cell_places(counts.score, score) for score in self.score]
            _PLACES[counts] = cached = self, places
        return [_weights(self, kind) * part[cached[1][kind]] for kind, part in enumerate(parts)]

    def resampled(
        self, cells: ScoreCounts, *, n_resamples: int, random_state: int | None
    ) -> Iterator[ScoreCounts]:
        """Yield counts as they might have been, whole clusters being drawn with replacement."""
        rng = np.random.default_rng(random_state)
        places = [cell_places(cells.score, score) for score in self.score]
        codes, cluster = np.unique(np.concatenate(list(self.cluster)), return_inverse=True)
        by_kind = np.split(cluster, np.cumsum([len(own) for own in self.cluster])[:-1])
        chance = np.full(len(codes), 1 / len(codes))
        for _ in range(n_resamples):
            times = rng.multinomial(len(codes), chance)
            labelled, unlabeled, negative = (
                np.asarray(
                    np.bincount(place, times[own] * _weights(self, kind), len(cells.score)),
                    dtype=np.float64,
                )
                for kind, (place, own) in enumerate(zip(places, by_kind, strict=True))
            )
            yield replace(cells, positive=labelled, unlabeled=unlabeled, negative=negative)

    def with_parts(self, design: MixtureDesign, parts: Sequence[FloatArray]) -> MixtureDesign:
        """Return a design with the effect that clusters have on the sum of these parts."""
        every, codes = np.concatenate(parts), np.concatenate(self.cluster[: len(parts)])
        labels: FloatArray = np.bincount(self.cluster[LABELLED], _weights(self, LABELLED)).astype(
            float
        )
        effect = _effect(every, codes, labels, len(parts[LABELLED]))
        # By the number of labels in each, and by what all rows add, where others than labels count.
        freedom = _freedom(_weights(self, LABELLED), self.cluster[LABELLED], effect)
        if every.any():
            freedom = max(freedom, _freedom(every, codes, effect))
        return replace(design, cluster_effect=effect, clusters=freedom)


def cell_parts(
    counts: ScoreCounts,
    design: MixtureDesign,
    name: str,
    *,
    threshold: float | None = None,
    top: float | None = None,
    beta: float = 1.0,
    max_fpr: float | None = None,
    **_: Any,
) -> list[FloatArray]:
    """Return what a row of each kind that chance chose moves a metric by, cell by cell."""
    if FACTS[name].family == "threshold":
        if top is not None:
            return _top_cell_parts(counts, design, top)
        if threshold is None:
            raise InputError(f"{name} is read at a {named('threshold')}", argument="threshold")
        moves = head_spread(FlaggedCounts.at(counts, design, threshold), name, beta)
        flagged = counts.score >= threshold
        return centred_parts(counts, moves, lambda value: np.asarray(value * flagged))
    rows = cell_rows(counts)
    if name in LOSSES:
        influence = mean_loss(counts, recovered(rows, design.mixing), name)
    else:
        influence = area_influence(rows, design.mixing, name, max_fpr)
    moves = Spread(design, rows, influence)
    return centred_parts(counts, moves, lambda value: np.broadcast_to(value, counts.score.shape))


def _top_cell_parts(counts: ScoreCounts, design: MixtureDesign, top: float) -> list[FloatArray]:
    """Return what a row moves the recall of the highest rows by.

    How many rows are flagged is given, so that every metric follows from recall. In another sample
    the same share of rows would end at another score: of a population each row moves that too, by
    the slope of recall.
    """
    apart = design.sampling == "case-control"
    cells = kind_cells(counts)
    target = [kind for kind in ROW_KINDS if kind == UNLABELED or not apart]
    everyone = ranked_rows(counts, apart=apart)
    number = top_rows(counts, top, apart=apart)
    taken = top_parts(counts, top, apart=apart)
    parts = [_centred(taken, cells[LABELLED], 0.0)]
    if design.target == "dataset":
        return parts
    slope = cast("TopRows", top_heads(counts, design, top).top).slope
    total = float(everyone.sum())
    parts += [np.zeros(len(taken)) for _ in ROW_KINDS[1:]]
    for kind in target:
        parts[kind] = parts[kind] - slope * (taken - number / total) / total
    return parts


def centred_parts(
    counts: ScoreCounts, moves: Spread, at_cells: Callable[[Any], FloatArray]
) -> list[FloatArray]:
    """Return what a row of each kind moves an estimate by; `at_cells` gives a function by cell."""
    held = zip(_moving(moves), _shifts(moves), kind_cells(counts), strict=False)
    return [_centred(at_cells(value), rows, shift) for value, shift, rows in held]


def _centred(value: NDArray[Any], rows: FloatArray, shift: Any) -> FloatArray:
    """Return what a row of a kind moves the estimate by, as a share of all rows of it."""
    total = float(rows.sum())
    if total == 0:
        return np.zeros(len(value))
    apart = value - rows @ value / total
    # Rows that are all alike differ by rounding alone, of which clusters say nothing.
    apart[np.abs(apart) <= _DIFFERENCE_ROUNDING * np.abs(value).max(initial=0.0)] = 0.0
    return np.asarray((apart + shift) / total)


def _moving(moves: Spread) -> list[Any]:
    """Return what a row of each kind that chance chose adds to an estimate."""
    if moves.design.counted:
        return [moves.moved]
    return [moves.phi[LABELLED]] if moves.design.target == "dataset" else moves.phi


def _shifts(moves: Spread) -> list[Any]:
    """Return what the number of rows of each kind adds, if it is random too, per share of rows."""
    design = moves.design
    if design.counted:
        slope = moves.number_slope if design.frequency_known else 0.0
        return [slope * design.sizes[LABELLED]]
    if "rows and numbers" not in design.sources:
        return [0.0] * len(ROW_KINDS)
    mean = sum(design.sizes[k] * moves.size_slopes[k] for k in ROW_KINDS) / design.sizes.sum()
    return [design.sizes[k] * (moves.size_slopes[k] - mean) for k in ROW_KINDS]


def _weights(rows: ClusterRows, kind: int) -> FloatArray:
    if rows.weight is not None:
        return rows.weight[kind]
    return np.ones(len(rows.cluster[kind]))


def _effect(parts: FloatArray, codes: Codes, labels: FloatArray, n_labelled: int) -> float:
    """Return the variance by clusters over that of independent rows, below 1 if they differ.

    A cluster's square is divided by what is left of it after the mean, to which it belongs, was
    taken off: 1 - 2h + Σh² for its share h of the labelled rows, if its rows are all alike.
    Where no row differs from another, rows of a cluster count as one.
    """
    share = labels[labels > 0] / labels.sum()
    alike = float(share @ share) * n_labelled
    squares = float(parts @ parts) * n_labelled / max(n_labelled - 1, 1)
    if len(share) < MIN_CLUSTERS or squares <= 0:
        return alike
    sums = np.bincount(codes, parts)
    effects = np.zeros(len(sums))
    effects[: len(labels)] = labels / labels.sum()
    left = 1 - 2 * effects + float(share @ share)
    return max(float((sums * sums / left).sum()) / squares, 1 / n_labelled)


def _freedom(parts: FloatArray, codes: Codes, effect: float) -> float:
    """Return how many clusters of equal weight tell the variance (Satterthwaite 1946).

    A cluster adds the squares of its rows, and products of two rows as far as rows of a cluster
    are alike, which the design effect shows: n (1 + (n - 1) ρ) for n rows that add the same.
    """
    parts = parts / (np.abs(parts).max(initial=0.0) or 1.0)  # squares of squares must have room
    squares = np.bincount(codes, parts * parts)
    products = np.bincount(codes, np.abs(parts)) ** 2 - squares
    more = float(products.sum())
    alike = min(max((effect - 1) * float(squares.sum()) / more, 0.0), 1.0) if more > 0 else 0.0
    adds = squares + alike * products
    return float(adds.sum()) ** 2 / float(adds @ adds)
