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
    >>> held.label_effect(np.ones(3))  # (2² + 1²)/3, of two clusters
    3.3333333333333335
    """

    labels: NDArray[Any]  # 1 positive, 0 negative, -1 unlabeled
    score: NDArray[Any]
    cluster: IntArray
    reviewed: IntArray  # position of each row with a verdict

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

    @property
    def labelled_score(self) -> NDArray[Any]:
        """Score of each row labelled positive."""
        return np.asarray(self.score[self.labels == 1])

    @property
    def n_labelled(self) -> int:
        """Number of clusters with a labelled positive row."""
        return len(np.unique(self.cluster[self.labels == 1]))

    def label_effect(self, adds: FloatArray) -> float:
        """Return how many times larger the variance of a sum over labelled rows is by cluster."""
        squares = float(adds @ adds)
        if squares <= 0:
            return 1.0
        sums = np.bincount(self.cluster[self.labels == 1], adds)
        number = self.n_labelled
        return float(sums @ sums) / squares * number / max(number - 1, 1)

    def label_freedom(self, adds: FloatArray) -> float:
        """Return how many clusters of equal weight tell that variance, less one."""
        sums = np.bincount(self.cluster[self.labels == 1], adds) ** 2
        return max(float(sums.sum()) ** 2 / max(float(sums @ sums), 1e-300) - 1, 1.0)

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
        beyond that, times the rows it stands for: products of two rows are right on average,
        since one row of a stratum is drawn nearly independently of another.
        """
        squares = float(adds @ adds)
        squares += float(np.sum(found * (2 * adds[self.reviewed] + found)))
        sums = np.bincount(self.cluster, adds)
        sums = sums + np.bincount(self.cluster[self.reviewed], found, len(sums))
        own = sums**2
        freedom = max(float(own.sum()) ** 2 / max(float(own @ own), 1e-300) - 1, 1.0)
        return max(float(own.sum()) - squares, 0.0), freedom
