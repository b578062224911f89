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
    Two union-find forests over the sorted unlabeled points skip the taken ones, so a curve costs
    almost constant time a draw. A tie between both sides takes the lower one.
    """
    drawn = labelled[draws]
    place: list[float] = [-np.inf, *unlabeled.tolist(), np.inf]
    up = list(range(len(place)))  # the first free position at or above
    down = up.copy()  # the last free position at or below
    found = []
    for point, start in zip(
        drawn.tolist(), (np.searchsorted(unlabeled, drawn) + 1).tolist(), strict=True
    ):
        above = start
        while up[above] != above:  # path halving
            up[above] = above = up[up[above]]
        below = start - 1
        while down[below] != below:
            down[below] = below = down[down[below]]
        lower, upper = point - place[below], place[above] - point
        if lower <= upper:
            found.append(lower)
            taken = below
        else:
            found.append(upper)
            taken = above
        up[taken] = taken + 1
        down[taken] = taken - 1
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
