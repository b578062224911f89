"""The effect of clusters on a variance, from pairs of rows that counts have kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from undercount.count.kernel.cluster_pairs import N_KINDS, ClusterPairs
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer.clusters import MIN_CLUSTERS, Clusters
from undercount.infer.mixture import MixtureDesign


@dataclass(frozen=True, eq=False)
class CountedClusters(Clusters):
    """Tell the effect of clusters from how many pairs of rows share one, bin by bin.

    A row's own square is known exactly. Of a pair of rows what both add is multiplied, each at the
    mean of its bin: exact for a metric at a threshold where a bin ends, and near it for areas.

    Notes
    -----
    Assumes: within a bin of the score rows of a cluster lie as all others do; and what
    `ClusterRows` assumes.
    Wrong when: a threshold falls into a bin in which scores of a cluster are nearly equal. Name
    it as a knot when counting.
    """

    held: ClusterPairs

    @property
    def n_clusters(self) -> int:
        """Number of clusters with any row."""
        return self.held.n_clusters

    @property
    def n_labelled(self) -> int:
        """Number of clusters with a labelled positive row."""
        return self.held.n_labelled

    def with_cell_parts(
        self, counts: ScoreCounts, design: MixtureDesign, parts: Sequence[FloatArray]
    ) -> MixtureDesign:
        """Return a design with the effect that clusters have, from what a row of a cell adds."""
        effect = self._effect(counts, parts)
        freedom = _freedom(self.held.labels, effect)
        if len(parts) > 1:  # others than labels count
            freedom = max(freedom, _freedom(self.held.rows, effect))
        return replace(design, cluster_effect=effect, clusters=freedom)

    def _effect(self, counts: ScoreCounts, parts: Sequence[FloatArray]) -> float:
        """Return the variance by clusters over that of independent rows.

        As for rows in memory: a cluster's square over what is left of it after the mean was taken
        off, 1 - 2h + Σh² for its share h of the labels, here to the first order.
        """
        labels = self.held.labels
        alike = labels[1] / labels[0] ** 2  # Σh²
        middle, number = self._bin_means(counts, parts)
        cells = (counts.positive, counts.unlabeled, counts.negative)
        rows = sum(float(cells[kind] @ part**2) for kind, part in enumerate(parts))
        squares = rows * labels[0] / max(labels[0] - 1, 1)
        if self.n_labelled < MIN_CLUSTERS or squares <= 0:
            return float(alike * labels[0])
        pairs = rows + float(middle @ self.held.pairs @ middle) - float(number @ middle**2)
        weighted = float(middle @ self.held.labelled_pairs @ middle) / labels[0]
        total = pairs * (1 - alike) + 2 * weighted
        return max(float(total / squares), 1 / max(counts.n_positive, 1.0))

    def _bin_means(
        self, counts: ScoreCounts, parts: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean of what a row adds in each bin of each kind, and the rows there."""
        bins = len(self.held.edges)
        place = np.searchsorted(self.held.edges, counts.score, side="right") - 1
        cells = (counts.positive, counts.unlabeled, counts.negative)
        middle, number = np.zeros((N_KINDS, bins)), np.zeros((N_KINDS, bins))
        for kind, part in enumerate(parts):
            number[kind] = np.bincount(place, cells[kind], bins)
            sums = np.bincount(place, cells[kind] * part, bins)
            np.divide(sums, number[kind], out=middle[kind], where=number[kind] > 0)
        return middle.ravel(), number.ravel()


def _freedom(moments: FloatArray, effect: float) -> float:
    """Return how many clusters of equal weight tell the variance, if all rows add the same.

    As for rows in memory (Satterthwaite 1946): n rows of a cluster add n + (n² - n) ρ.
    """
    first, second, third, fourth = moments
    more = second - first
    alike = min(max((effect - 1) * first / more, 0.0), 1.0) if more > 0 else 0.0
    total = first + alike * more
    squares = (1 - alike) ** 2 * second + 2 * alike * (1 - alike) * third + alike**2 * fourth
    return float(total**2 / squares)
