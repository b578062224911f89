"""AlphaMax: the largest share that the likelihood still bears (Jain et al. 2016)."""

from functools import lru_cache

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.ranks import Places, on_scale, sum_in_bins
from undercount.prevalence.upper_bound import effective_sizes

SHARE_GRID = np.arange(1, 100) / 100
LEAST_LIKELIHOOD = 1e-15
MULTIPLIER_HALVINGS = 44  # to 5e-12; further ones move the curve by no more than its rounding
WIDEST_MULTIPLIER = 40.0  # the multiplier is searched up to ± sinh(40) = 1e17
ALIVE = 1e-9
# A bend after a quarter of the fall is none: the curve falls from the start, so the share is ~0.
HIGHEST = 0.25
# Of the elbow: shares a line is fitted to, shares a median is taken of, a fall that is rounding,
# and a gain of slope that is.
WINDOW = 10
GRAPH_NEIGHBOURS = 5
FLAT_SLOPE = 1e-9
NO_GAIN = 1e-6


@estimator
class AlphaMax(ScoreEstimator):
    """Estimate the share of positives where the constrained likelihood starts to fall.

    Histograms stand for the densities. For each share on a grid the part of every unlabeled bin
    that positives own is chosen to maximise the joint likelihood; the curve of maxima is flat up
    to the largest feasible share and falls after it. The elbow is the estimate.

    Parameters
    ----------
    scale : {"rank", "score"}
        Balanced mid-ranks (any increasing transform gives the same answer), or the scores
        themselves, as published. With ranks a curve that falls from the start gives .01, where
        the published rule takes a late bend (.87, say) for the elbow.

    Attributes
    ----------
    unlabeled_prevalence_ : float
        A multiple of .01; the elbow rule can only answer .01 or from .10 to .89.
    diagnostics_ : dict
        ``share`` and ``log_likelihood``: the curve; ``at_edge``: whether the answer lies at an
        end of what the rule can say.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and some scores belong to negatives
    only.
    Wrong when: the true share is between .01 and .1 or above .89, or few rows make the curve's
    elbow noise.

    References
    ----------
    Jain, White, Trosset, Radivojac (2016), Nonparametric semi-supervised learning of class
    proportions; Jain, White, Radivojac (2016), Estimating the class prior and posterior.
    """

    _by_order = True

    scale: str = "rank"

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        position, labelled, unlabeled = on_scale(counts, self.scale)
        component, mixture, width = histograms(
            position, labelled, unlabeled, effective_sizes(counts)[0]
        )
        curve = likelihood_curve(component, mixture, width)
        highest = HIGHEST if self.scale == "rank" else np.inf
        value = likelihood_elbow(SHARE_GRID, curve, highest=highest)
        return Fitted(
            value,
            diagnostics={
                "share": SHARE_GRID,
                "log_likelihood": curve,
                "at_edge": value <= 0.1 + ALIVE or value >= 0.89 - ALIVE,
            },
        )


def histograms(
    position: FloatArray, labelled: FloatArray, unlabeled: FloatArray, n_labelled: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return labelled and unlabeled shares in equal bins, and the bins' width."""
    mean = labelled @ position
    variance = float(labelled @ (position - mean) ** 2)
    if n_labelled > 1:  # a single row has no variance
        variance = variance * n_labelled / (n_labelled - 1)
    if variance <= 0 or n_labelled <= 1:  # all labelled rows at one score
        variance = float(np.ptp(position)) ** 2 / 12
    width = round_width(3.5 * float(np.sqrt(variance)) * n_labelled ** (-1 / 3))
    bins = ((position - position[0]) / width).astype(int)
    n_bins = int(bins[-1]) + 1
    return sum_in_bins(bins, labelled, n_bins), sum_in_bins(bins, unlabeled, n_bins), width


def round_width(width: float) -> float:
    """Round a bin width to 1, 2, 3, 5 or 10 times a power of ten, as MATLAB's histogram does."""
    power = 10.0 ** np.floor(np.log10(width))
    steps = np.array([1.0, 2.0, 3.0, 5.0, 10.0])
    return float(power * steps[np.searchsorted([1.5, 2.5, 4.0, 7.5], width / power, "right")])


def likelihood_curve(component: FloatArray, mixture: FloatArray, width: float) -> FloatArray:
    """Return the maximal log likelihood at each share of SHARE_GRID (Jain et al. 2016, eq. 6).

    Maximise Σ c log(b / a) + Σ w log(w - b + a c) over 0 ≤ b ≤ w with Σ b = a. Given the
    multiplier μ of the sum each b solves a quadratic, so one bisection on μ serves all shares.
    """
    used = (component + mixture) > 0
    share, c, w = SHARE_GRID[:, None], component[used], mixture[used]
    whole = w + share * c
    owned = _OwnedParts(c, w, whole)
    low, high = (
        np.full((SHARE_GRID.size, 1), -WIDEST_MULTIPLIER),
        np.full((SHARE_GRID.size, 1), WIDEST_MULTIPLIER),
    )
    with np.errstate(divide="ignore", invalid="ignore"):  # in the form that is not used
        for _ in range(MULTIPLIER_HALVINGS):
            middle = (low + high) / 2
            too_much = owned.at(np.sinh(middle)).sum(axis=1, keepdims=True) > share
            np.copyto(low, middle, where=too_much)
            np.copyto(high, middle, where=~too_much)
    first = np.log(np.maximum(owned.value / share, LEAST_LIKELIHOOD)) @ c
    second = np.log(np.maximum(whole - owned.value, LEAST_LIKELIHOOD)) @ w
    return np.asarray(first + second - 2 * np.log(width))


class _OwnedParts:
    """The b with c / b - w / (w + a c - b) = μ, clipped to [0, w], for one μ a share.

    With few bins the time is that of making arrays, so three serve all calls.
    """

    def __init__(self, c: FloatArray, w: FloatArray, whole: FloatArray) -> None:
        self.top, self.whole, self.both = w, whole, c + w
        self.product, self.double = c * whole, 2 * c * whole
        self.slope, self.root, self.value = (np.empty_like(whole) for _ in range(3))

    def at(self, multiplier: FloatArray) -> FloatArray:
        """Return b at the multipliers; the next call overwrites it."""
        slope, root, value = self.slope, self.root, self.value
        np.multiply(multiplier, self.whole, out=slope)
        slope += self.both
        np.multiply(slope, slope, out=root)
        root -= np.multiply(4 * multiplier, self.product, out=value)
        np.sqrt(np.maximum(root, 0, out=root), out=root)
        # Of the two forms of a quadratic's root the one without cancellation.
        np.subtract(slope, root, out=value)
        value /= 2 * multiplier
        root += slope
        np.divide(self.double, root, out=value, where=slope > 0)
        return np.minimum(np.maximum(value, 0, out=value), self.top, out=value)


def likelihood_elbow(
    share: FloatArray, log_likelihood: FloatArray, *, highest: float = np.inf
) -> float:
    """Return the share where a non-increasing likelihood starts to fall.

    The curve is turned upside down, smoothed by medians of five and scaled to [0, 1]. A line that
    stays under the whole curve is fitted to each window of ten; the elbow has the largest gain of
    slope from the window on its left to the one on its right, relative to the height reached.
    A bend whose left window lies higher than ``highest`` does not count.
    A curve that never falls gives 1, one that falls ever more slowly the smallest share.
    """
    loss = -np.minimum.accumulate(log_likelihood)
    loss = np.median(loss[_neighbours(tuple(share.tolist()))], axis=1)
    span = loss.max() - loss.min()
    if span <= FLAT_SLOPE:
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
    bends = gain[best] > NO_GAIN and height[best] <= highest
    return float(share[best + WINDOW - 1] if bends else share[0])


@lru_cache(maxsize=2)
def _neighbours(places: tuple[float, ...]) -> Places:
    """Return the nearest places of each; nearly all calls ask for those of one grid."""
    share = np.array(places)
    distance = np.abs(share[:, None] - share)
    return np.argsort(distance, axis=1, kind="stable")[:, :GRAPH_NEIGHBOURS]


def _slopes_below(x: FloatArray, y: FloatArray) -> FloatArray:
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


def _lower_hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the places of the vertices of the lower convex hull of a curve (Andrew's scan)."""
    hull: list[int] = []
    across, up = x.tolist(), y.tolist()  # single numbers of lists are read faster
    for place in range(x.size):
        while len(hull) > 1 and _turns_right(across, up, hull[-2], hull[-1], place):
            hull.pop()
        hull.append(place)
    return hull


def _turns_right(x: list[float], y: list[float], first: int, second: int, third: int) -> bool:
    area = (x[second] - x[first]) * (y[third] - y[first])
    return area <= (y[second] - y[first]) * (x[third] - x[first])
