"""Greedy matching of drawn points with the nearest remaining ones: the curve of DistCurve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

N_PERCENTILES = 100


def matched_distances(labelled: Array, unlabeled: Array, draws: NDArray[np.integer]) -> Array:
    """Return the distance of each drawn labelled point to the nearest unlabeled one still free.

    Parameters
    ----------
    labelled : ndarray
    unlabeled : ndarray, ascending
    draws : ndarray of int
        Which labelled point is drawn; one draw for each unlabeled point.

    Notes
    -----
    A union-find forest over the gaps between neighbouring free points: taking a point merges the
    gaps on both its sides, and a gap knows the free points at its ends, so a curve costs almost
    constant time a draw. A tie between both sides takes the lower one.
    """
    place: list[float] = [-np.inf, *unlabeled.tolist(), np.inf]
    # Gap g ends below at point g - 1 and above at point g.
    parent = list(range(len(place) + 1))
    below, above = [gap - 1 for gap in parent], parent.copy()
    start = (np.searchsorted(unlabeled, labelled) + 1)[draws].tolist()
    found = []
    for point, first in zip(labelled[draws].tolist(), start, strict=True):
        gap = first
        while parent[gap] != gap:  # path halving
            parent[gap] = gap = parent[parent[gap]]
        lower, upper = point - place[below[gap]], place[above[gap]] - point
        # The large gap among the taken points stays the root, so paths are short.
        if lower <= upper:
            found.append(lower)
            side = below[gap]
            while parent[side] != side:
                side = parent[side]
            below[gap] = below[side]
        else:
            found.append(upper)
            side = above[gap] + 1
            while parent[side] != side:
                side = parent[side]
            above[gap] = above[side]
        parent[side] = gap
    return np.array(found)


def matching_curve(labelled: Array, unlabeled: Array, draws: NDArray[np.integer]) -> Array:
    """Return the percentiles of the mean matched distances, scaled to sum 1.

    Parameters
    ----------
    labelled, unlabeled : ndarray
    draws : ndarray of int, shape (n_runs, n_unlabeled)

    Returns
    -------
    ndarray of length 100
        Percentiles 0, 1, … 99; zeros when every labelled point meets an equal one.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.matching import matching_curve
    >>> curve = matching_curve(np.array([0.0]), np.array([0.0, 1.0]), np.array([[0, 0]]))
    >>> bool(curve[0] == 0), round(float(curve.sum()), 6)
    (True, 1.0)
    """
    ordered = np.sort(unlabeled)
    mean = np.mean([matched_distances(labelled, ordered, run) for run in draws], axis=0)
    curve = np.quantile(mean, np.arange(N_PERCENTILES) / N_PERCENTILES)
    total = curve.sum()
    return np.asarray(curve / total if total > 0 else curve)
