"""Rows of segments in parts by score, in which segments can be compared."""

from collections.abc import Hashable, Mapping

import numpy as np

from undercount.count.kernel.rows import POSITIVE, UNLABELED
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer.scored_rows import RecountableRows, ScoredRows

# Parts of the rows by score in which segments are compared.
STRATA = 20


def score_edges(counts: ScoreCounts) -> FloatArray:
    """Return scores that cut the rows into about equal parts."""
    score = counts.score[::-1]
    before = np.cumsum((counts.positive + counts.unlabeled)[::-1])
    place = np.searchsorted(before, before[-1] * np.arange(1, STRATA) / STRATA)
    return np.unique(score[place])


def label_edges(counts: ScoreCounts) -> FloatArray:
    """Return scores that cut the labelled rows into about equal parts."""
    before = np.cumsum(counts.positive)
    place = np.searchsorted(before, before[-1] * np.arange(1, STRATA + 1) / STRATA - 1e-9)
    return np.unique(counts.score[place.clip(max=len(before) - 1)])


def frequency_edges(counts: ScoreCounts) -> FloatArray:
    """Return the scores at which segments are asked whether they are labelled alike."""
    return np.union1d(score_edges(counts), label_edges(counts))


def keeps_apart(counts: ScoreCounts, edges: FloatArray) -> bool:
    """Tell whether no merged cell has rows on both sides of any edge.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> from undercount.infer.segment_tables import keeps_apart
    >>> y, score = [1, None, None, None], [4.0, 3.0, 2.0, 1.0]
    >>> some = uc.ScoreCounts.from_rows(y, score, compact=True)
    >>> more = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[2.0])
    >>> [keeps_apart(counts, np.array([2.0])) for counts in (some, more)]
    [False, True]
    """
    size = len(counts.score)
    stop = size - np.searchsorted(counts.score[::-1], edges)
    exact = (stop > 0) & (counts.score[stop - 1] == edges)
    inside = (stop < size) & counts.merged[np.minimum(stop, size - 1)] & ~exact
    return not inside.any()


def join_cells(
    tables: Mapping[Hashable, FloatArray], edges: FloatArray, kept: FloatArray
) -> dict[Hashable, FloatArray]:
    """Return the same tables between fewer edges.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.segment_tables import join_cells
    >>> join_cells({"a": np.array([[1, 2, 4]])}, np.array([0.1, 0.5]), np.array([0.5]))
    {'a': array([[3, 4]])}
    """
    starts = np.append(0, np.searchsorted(edges, kept) + 1)
    return {key: np.add.reduceat(table, starts, axis=1) for key, table in tables.items()}


def tabulate(
    edges: FloatArray, score: FloatArray, labelled: FloatArray, unlabeled: FloatArray
) -> FloatArray:
    """Return the labelled and the unlabeled rows between each two edges.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.segment_tables import tabulate
    >>> tabulate(np.array([0.5]), np.array([0.9, 0.5, 0.1]), np.array([1, 0, 0]), np.ones(3))
    array([[0., 1.],
           [1., 2.]])
    """
    place = np.searchsorted(edges, score, side="right")
    return np.stack([np.bincount(place, each, len(edges) + 1) for each in (labelled, unlabeled)])


def tables_of(
    parts: Mapping[Hashable, ScoredRows], edges: FloatArray
) -> dict[Hashable, FloatArray]:
    """Return each segment's labelled and unlabeled rows between edges; nothing if unknown."""
    tables = {}
    for key, model in parts.items():
        rows, counts = model.recount, model.counts
        if isinstance(rows, RecountableRows):  # already read: 1 positive, -1 unlabeled
            weights = 1.0 if rows.weights is None else rows.weights
            kinds = [(rows.labels == kind) * weights for kind in (POSITIVE, UNLABELED)]
            tables[key] = tabulate(edges, rows.scores, *kinds)
        elif not keeps_apart(counts, edges):
            return {}
        else:
            tables[key] = tabulate(edges, counts.score, counts.positive, counts.unlabeled)
    return tables
