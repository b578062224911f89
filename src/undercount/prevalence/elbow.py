"""Where a falling curve bends: two lines under it, left and right (Jain et al. 2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from undercount.prevalence.ranks import Array, Places

WINDOW = 10
NEIGHBOURS = 5
FLAT = 1e-9
NO_GAIN = 1e-6


def likelihood_elbow(share: Array, log_likelihood: Array, *, highest: float = np.inf) -> float:
    """Return the share where a non-increasing likelihood starts to fall.

    The curve is turned upside down, smoothed by medians of five and scaled to [0, 1]. A line that
    stays under the whole curve is fitted to each window of ten; the elbow has the largest gain of
    slope from the window on its left to the one on its right, relative to the height reached.
    A bend whose left window lies higher than ``highest`` does not count.
    A curve that never falls gives 1, one that falls ever more slowly the smallest share.
    """
    loss = -np.minimum.accumulate(log_likelihood)
    loss = np.median(loss[_neighbours(share)], axis=1)
    span = loss.max() - loss.min()
    if span <= FLAT:
        return 1.0
    loss = (loss - loss.min()) / span
    slope = _slopes_below(share, loss)
    height = np.median(np.lib.stride_tricks.sliding_window_view(loss, WINDOW), axis=1)
    n_places = share.size - 2 * WINDOW + 1
    gain = (slope[WINDOW : WINDOW + n_places] - slope[:n_places]) / (height[:n_places] + 0.01)
    # Many places may share the largest gain; the last of them is where the curve leaves its floor.
    best = int(np.flatnonzero(gain >= gain.max() * (1 - 1e-9) - 1e-12)[-1])
    # A curve that only flattens has no elbow: it falls from the start. (The published rule picks
    # rounding noise there.)
    found = gain[best] > NO_GAIN and height[best] <= highest
    return float(share[best + WINDOW - 1] if found else share[0])


def _neighbours(share: Array) -> Places:
    distance = np.abs(share[:, None] - share)
    return np.argsort(distance, axis=1, kind="stable")[:, :NEIGHBOURS]


def _slopes_below(x: Array, y: Array) -> Array:
    """Return the slope of the least-squares line of each window among lines under the curve.

    The slope is also at least a hundredth of the curve's mean slope. Where the plain line
    crosses the curve the best one touches its lower hull, at a vertex or along an edge.
    """
    least = (y[-1] - y[0]) / (x[-1] - x[0]) / 100
    xs = np.lib.stride_tricks.sliding_window_view(x, WINDOW)
    ys = np.lib.stride_tricks.sliding_window_view(y, WINDOW)
    x_mean, y_mean = xs.mean(axis=1), ys.mean(axis=1)
    x_spread = np.sum((xs - x_mean[:, None]) ** 2, axis=1)
    shared = np.sum((xs - x_mean[:, None]) * ys, axis=1)
    free = np.maximum(shared / x_spread, least)
    is_under = np.min(y - free[:, None] * x, axis=1) >= y_mean - free * x_mean - 1e-12
    hull = _lower_hull(x, y)
    edge = np.diff(y[hull]) / np.diff(x[hull])
    low = np.maximum(np.concatenate([[-np.inf], edge]), least)
    high = np.concatenate([edge, [np.inf]])
    right, up = x_mean[:, None] - x[hull], y_mean[:, None] - y[hull]
    best = (shared[:, None] + WINDOW * right * up) / (x_spread[:, None] + WINDOW * right**2)
    best = np.clip(best, low, np.maximum(high, low))
    # Squared error of a line through a hull vertex, up to what all lines of a window share.
    error = best**2 * (x_spread[:, None] + WINDOW * right**2)
    error += WINDOW * up**2 - 2 * best * (shared[:, None] + WINDOW * right * up)
    error[:, high < least] = np.inf  # no allowed line touches the hull there
    touching = best[np.arange(len(best)), np.argmin(error, axis=1)]
    return np.asarray(np.where(is_under, free, touching))


def _lower_hull(x: Array, y: Array) -> list[int]:
    """Return the places of the vertices of the lower convex hull of a curve (Andrew's scan)."""
    hull: list[int] = []
    for place in range(x.size):
        while len(hull) > 1 and _turns_right(x, y, hull[-2], hull[-1], place):
            hull.pop()
        hull.append(place)
    return hull


def _turns_right(x: Array, y: Array, first: int, second: int, third: int) -> bool:
    area = (x[second] - x[first]) * (y[third] - y[first])
    return bool(area <= (y[second] - y[first]) * (x[third] - x[first]))
