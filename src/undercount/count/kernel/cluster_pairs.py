"""Which rows belong together, as counts can say it: pairs of rows of one cluster, bin by bin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from undercount.curve import FloatArray
from undercount.errors import InputError

# Bins of labelled scores; within a bin rows of a cluster are taken to lie as all others do.
LABELLED_BINS = 24
N_KINDS = 3  # labelled positive, unlabeled, labelled negative
POWERS = np.arange(1, 5)


@dataclass(frozen=True, eq=False)
class ClusterPairs:
    """Hold how many pairs of rows share a cluster, by kind of label and bin of the score.

    A variance by clusters is Σ over clusters of (Σ of what its rows add)²: a sum over pairs of
    rows, for which the number of pairs in each two bins is all there is to know.

    Attributes
    ----------
    edges : array
        Lowest score of each bin, ascending, the first -inf.
    pairs : array
        Pairs of rows of one cluster, a row with itself included; kinds side by side, each by bin:
        labelled positive, unlabeled, labelled negative.
    labelled_pairs : array
        The same, each pair times the labelled rows of its cluster.
    labels, rows : array
        Σ over clusters of the number of labelled rows (of all rows), of its square, cube and
        fourth power.
    n_clusters, n_labelled : int
        Clusters with any row, and with a labelled one.

    Examples
    --------
    >>> import pandas as pd
    >>> import undercount as uc
    >>> frame = pd.DataFrame({"y": [1, None, None], "s": [0.9, 0.2, 0.3], "who": ["a", "a", "b"]})
    >>> held = uc.count_scores(frame, label="y", score="s", cluster="who").clusters
    >>> float(held.pairs[1, 2]), held.n_labelled  # the labelled row of a, and its unlabeled one
    (1.0, 1)
    """

    edges: FloatArray
    pairs: FloatArray
    labelled_pairs: FloatArray
    labels: FloatArray
    rows: FloatArray
    n_clusters: int
    n_labelled: int

    @classmethod
    def from_sums(
        cls,
        edges: ArrayLike,
        pairs: ArrayLike,
        labelled_pairs: ArrayLike,
        labels: FloatArray,
        rows: FloatArray,
    ) -> "ClusterPairs":
        """Take sums of pairs, and how many rows each cluster has."""
        moments = [
            (sums[:, np.newaxis].astype(float) ** POWERS).sum(axis=0) for sums in (labels, rows)
        ]
        return cls(
            np.asarray(edges, np.float64),
            np.asarray(pairs, np.float64),
            np.asarray(labelled_pairs, np.float64),
            moments[0],
            moments[1],
            len(rows),
            int(np.count_nonzero(labels)),
        )

    def to_document(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        above = np.triu_indices(len(self.pairs))
        return {
            "edges": self.edges[1:].tolist(),
            "pairs": self.pairs[above].tolist(),
            "labelled_pairs": self.labelled_pairs[above].tolist(),
            "labels": self.labels.tolist(),
            "rows": self.rows.tolist(),
            "n_clusters": self.n_clusters,
            "n_labelled": self.n_labelled,
        }

    @classmethod
    def from_document(cls, held: dict[str, Any]) -> "ClusterPairs":
        """Read what `to_document` wrote; what cannot be true is a ValueError."""
        edges = np.append(-np.inf, np.asarray(held["edges"], np.float64))
        size = N_KINDS * len(edges)
        above = np.triu_indices(size)
        tables = []
        for name in ("pairs", "labelled_pairs"):
            values = np.asarray(held[name], np.float64)
            if values.shape != above[0].shape or not (values >= 0).all():
                raise ValueError(name)
            table = np.zeros((size, size))
            table[above] = values
            tables.append(table + np.triu(table, 1).T)
        labels, rows = (np.asarray(held[name], np.float64) for name in ("labels", "rows"))
        if (
            labels.shape != POWERS.shape
            or rows.shape != POWERS.shape
            or (np.diff(edges) <= 0).any()
        ):
            raise ValueError(labels)
        numbers = int(held["n_clusters"]), int(held["n_labelled"])
        return cls(edges, tables[0], tables[1], labels, rows, *numbers)


def choose_edges(score: FloatArray, positive: FloatArray, knots: ArrayLike) -> FloatArray:
    """Return the lowest score of each bin: at labelled scores, which no merged cell crosses.

    Parameters
    ----------
    score, positive : array
        Falling scores, and the labelled positive rows at each.
    knots : array-like
        Thresholds that will be asked for.
    """
    if not positive.any():
        raise InputError(
            "cluster goes with labels: no row is labelled positive", argument="cluster"
        )
    rising = np.flatnonzero(positive)[::-1]
    share = np.cumsum(positive[rising]) / positive.sum()
    at = np.searchsorted(share, np.arange(1, LABELLED_BINS) / LABELLED_BINS)
    inner = np.unique([*score[rising][at], *np.asarray(knots, np.float64)])
    return np.append(-np.inf, inner[np.isfinite(inner)])
