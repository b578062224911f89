"""AlphaMax: the largest share that the likelihood still bears (Jain et al. 2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from undercount.prevalence.base import Fitted, ScoreEstimator
from undercount.prevalence.elbow import likelihood_elbow
from undercount.prevalence.ranks import effective_sizes, on_scale, summed

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.prevalence.ranks import Array

GRID = np.arange(1, 100) / 100
FLOOR = 1e-15
HALVINGS = 44  # to 5e-12; further ones move the curve by no more than its rounding
WIDEST = 40.0  # the multiplier is searched up to ± sinh(40) = 1e17
ALIVE = 1e-9
# A bend after a quarter of the fall is none: the curve falls from the start, so the share is ~0.
HIGHEST = 0.25


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
    sampling, confidence_level, n_resamples, random_state
        As in every prevalence estimator.

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

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import AlphaMax
    >>> rng = np.random.default_rng(0)
    >>> score = np.concatenate([rng.normal(4, 1, 700), rng.normal(0, 1, 700)])
    >>> y = np.where(np.arange(1400) < 400, 1, -1)  # 300 of the 1,000 unlabeled are positive
    >>> alpha_max = AlphaMax(n_resamples=0).fit(y, score, unlabeled=-1)
    >>> round(alpha_max.unlabeled_prevalence_, 1)
    0.3
    """

    def __init__(
        self,
        *,
        scale: str = "rank",
        sampling: str = "single-sample",
        confidence_level: float = 0.95,
        n_resamples: int = 200,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            sampling=sampling,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        self.scale = scale

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        position, labelled, unlabeled = on_scale(counts, self.scale)
        component, mixture, width = histograms(
            position, labelled, unlabeled, effective_sizes(counts)[0]
        )
        curve = likelihood_curve(component, mixture, width)
        highest = HIGHEST if self.scale == "rank" else np.inf
        value = likelihood_elbow(GRID, curve, highest=highest)
        return Fitted(
            value,
            diagnostics={
                "share": GRID,
                "log_likelihood": curve,
                "at_edge": value <= 0.1 + ALIVE or value >= 0.89 - ALIVE,
            },
        )


def histograms(
    position: Array, labelled: Array, unlabeled: Array, n_labelled: float
) -> tuple[Array, Array, float]:
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
    return summed(bins, labelled, n_bins), summed(bins, unlabeled, n_bins), width


def round_width(width: float) -> float:
    """Round a bin width to 1, 2, 3, 5 or 10 times a power of ten, as MATLAB's histogram does."""
    power = 10.0 ** np.floor(np.log10(width))
    steps = np.array([1.0, 2.0, 3.0, 5.0, 10.0])
    return float(power * steps[np.searchsorted([1.5, 2.5, 4.0, 7.5], width / power, "right")])


def likelihood_curve(component: Array, mixture: Array, width: float) -> Array:
    """Return the maximal log likelihood at each share of GRID (Jain et al. 2016, eq. 6).

    Maximise Σ c log(b / a) + Σ w log(w - b + a c) over 0 ≤ b ≤ w with Σ b = a. Given the
    multiplier μ of the sum each b solves a quadratic, so one bisection on μ serves all shares.
    """
    used = (component + mixture) > 0
    share, c, w = GRID[:, None], component[used], mixture[used]
    whole = w + share * c
    owned = _OwnedParts(c, w, whole)
    low, high = np.full((GRID.size, 1), -WIDEST), np.full((GRID.size, 1), WIDEST)
    with np.errstate(divide="ignore", invalid="ignore"):  # in the form that is not used
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            too_much = owned.at(np.sinh(middle)).sum(axis=1, keepdims=True) > share
            np.copyto(low, middle, where=too_much)
            np.copyto(high, middle, where=~too_much)
    first = np.log(np.maximum(owned.value / share, FLOOR)) @ c
    second = np.log(np.maximum(whole - owned.value, FLOOR)) @ w
    return np.asarray(first + second - 2 * np.log(width))


class _OwnedParts:
    """The b with c / b - w / (w + a c - b) = μ, clipped to [0, w], for one μ a share.

    With few bins the time is that of making arrays, so three serve all calls.
    """

    def __init__(self, c: Array, w: Array, whole: Array) -> None:
        self.top, self.whole, self.both = w, whole, c + w
        self.product, self.double = c * whole, 2 * c * whole
        self.slope, self.root, self.value = (np.empty_like(whole) for _ in range(3))

    def at(self, multiplier: Array) -> Array:
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
