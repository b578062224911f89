"""Reviewed rows that come in clusters: what that adds to the error of labels and of rows.

A review draws rows one by one, so that for these very rows the verdicts' error is the same however
rows belong together. Labels given to all positives of a customer at once are fewer than they look,
and a population of customers varies more than one of rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named
from undercount.infer.reviews.verdicts import Reviews

IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ReviewClusters:
    """Hold label, score and cluster of every row, and which rows have a verdict.

    Notes
    -----
    Assumes: clusters are independent of each other, and labels were given to all positives of a
    cluster at once.
    Wrong when: a whole cluster was reviewed because one of its rows was drawn: then rows were not
    drawn one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.reviews.clusters import ReviewClusters
    >>> labels, cluster = np.array([1, 1, 1, -1]), np.array([0, 0, 1, 1])
    >>> held = ReviewClusters(labels, np.arange(4.0), cluster, np.array([3]))
    >>> held.label_effect(np.ones(3))  # (2² + 1²)/3, of two clusters in place of three rows
    2.2222222222222223
    """

    labels: NDArray[Any]  # 1 positive, 0 negative, -1 unlabeled
    score: NDArray[Any]
    cluster: IntArray
    reviewed: IntArray  # position of each row with a verdict
    drawn_whole: bool = False  # whether clusters were drawn, and all rows of each looked at

    @classmethod
    def of(
        cls, labels: NDArray[Any], score: NDArray[Any], cluster: IntArray, reviews: Reviews
    ) -> "ReviewClusters":
        """Find the rows with a verdict."""
        if reviews.rows is None:
            raise InputError(
                f"{named('cluster')} needs {named('reviews')} that know which rows were reviewed",
                argument="cluster",
            )
        return cls(labels, score, cluster, reviews.rows[reviews.answered])

    @classmethod
    def of_audit(
        cls, labels: NDArray[Any], score: NDArray[Any], cluster: IntArray, *, drawn_whole: bool
    ) -> "ReviewClusters":
        """Take the known rows for those with a verdict: beside them no label says anything."""
        nothing, seen = np.full(len(labels), -1, dtype=np.int8), np.flatnonzero(labels != -1)
        known = np.zeros(int(cluster.max(initial=-1)) + 1, dtype=bool)
        known[cluster[seen]] = True
        partly = known[cluster] & (labels == -1)
        if drawn_whole and partly.any():
            raise InputError(
                f"{named('drawn', repr('clusters'))} means that all rows of an audited cluster are "
                f"known; {np.count_nonzero(partly):,} rows are not, though others of their cluster "
                f"are. If rows were drawn one by one, say {named('drawn', repr('rows'))}",
                argument="drawn",
            )
        return cls(nothing, score, cluster, seen, drawn_whole)

    def verdict_sums(self, by_verdict: FloatArray) -> FloatArray:
        """Sum up over the verdicts of each cluster, if whole clusters were drawn."""
        if not self.drawn_whole:
            return by_verdict
        _, codes = np.unique(self.cluster[self.reviewed], return_inverse=True)
        return np.bincount(codes, by_verdict).astype(float)

    def draw_effect(self, by_verdict: FloatArray) -> tuple[float, float]:
        """Return how many times larger a sum of what verdicts add varies; its freedom."""
        squares, rows = float(by_verdict @ by_verdict), len(by_verdict)
        sums = self.verdict_sums(by_verdict)
        if squares <= 0 or not self.drawn_whole:
            return 1.0, np.inf
        own, drawn = sums**2, len(sums)
        return max(_spread_ratio(float(own.sum()) / squares, drawn, rows), 1.0), _freedom(own)

    @property
    def labelled_score(self) -> NDArray[Any]:
        """Score of each row labelled positive."""
        return np.asarray(self.score[self.labels == 1])

    @property
    def n_labelled(self) -> int:
        """Number of clusters with a labelled positive row."""
        return len(np.unique(self.cluster[self.labels == 1]))

    @property
    def n_reviewed(self) -> int:
        """Number of clusters with a row that has a verdict."""
        return len(np.unique(self.cluster[self.reviewed]))

    def label_effect(self, adds: FloatArray) -> float:
        """Return how many times larger the variance of a sum over labelled rows is by cluster."""
        squares = float(adds @ adds)
        if squares <= 0:
            return 1.0
        sums, rows = np.bincount(self.cluster[self.labels == 1], adds), len(adds)
        return _spread_ratio(float(sums @ sums) / squares, self.n_labelled, rows)

    def label_freedom(self, adds: FloatArray) -> float:
        """Return how many clusters of equal weight tell that variance, less one."""
        sums = np.bincount(self.cluster[self.labels == 1], adds)
        return _freedom(np.asarray(sums**2, dtype=float))

    def stand_for(self, rows: FloatArray) -> FloatArray | float:
        """Return for how many rows each verdict stands beside others of its cluster."""
        return 1.0 if self.drawn_whole else rows

    def row_chance(self, share: FloatArray) -> FloatArray:
        """Return how likely each row is positive; `share` is that of rows without a label."""
        chance = np.where(self.labels == 1, 1.0, 0.0)
        chance[self.labels == -1] = share
        return chance

    def row_cells(self, counts: ScoreCounts) -> IntArray:
        """Return the cell of each row."""
        return np.asarray(cell_places(counts.score, self.score))

    def widened(
        self, variance: float, freedom: float, adds: FloatArray, found: FloatArray
    ) -> tuple[float, float]:
        """Return a variance of independent rows with what clusters add, and its freedom."""
        more, by_cluster = self.between(adds, found)
        total = variance + more
        parts = variance**2 / freedom + more**2 / by_cluster
        return total, total**2 / parts if parts > 0 else freedom

    def between(self, adds: FloatArray, found: FloatArray) -> tuple[float, float]:
        """Return what products of rows of one cluster add to a variance; its degrees of freedom.

        `adds` is what each row is expected to add to an estimate, `found` what each verdict adds
        beyond that, times the rows it stands for (`stand_for`): products of two rows are right on
        average, since one row of a stratum is drawn nearly independently of another.
        """
        if self.drawn_whole:  # all pairs of rows of a cluster are seen, or none
            known = adds[self.reviewed] + found
            own = self.verdict_sums(known) ** 2
            more = float(own.sum() - known @ known) * len(adds) / len(known)
            return max(more, 0.0), _freedom(own)
        squares = float(adds @ adds)
        squares += float(np.sum(found * (2 * adds[self.reviewed] + found)))
        sums = np.bincount(self.cluster, adds).astype(float)
        sums = sums + np.bincount(self.cluster[self.reviewed], found, len(sums))
        own = sums**2
        return max(float(own.sum()) - squares, 0.0), _freedom(own)


def _spread_ratio(ratio: float, clusters: int, rows: int) -> float:
    """Return a ratio of sums of squares as one of variances, of so many clusters and rows."""
    return ratio * (clusters / max(clusters - 1, 1)) / (rows / max(rows - 1, 1))


def _freedom(squares: FloatArray) -> float:
    """Return how many clusters of equal weight tell a sum of squares, less one."""
    return max(float(squares.sum()) ** 2 / max(float(squares @ squares), 1e-300) - 1, 1.0)
