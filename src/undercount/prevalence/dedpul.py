"""DEDPUL: posteriors from a ratio of two densities (Ivanov 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from undercount.errors import InputError
from undercount.prevalence.base import Fitted, ScoreEstimator
from undercount.prevalence.density_ratio import TREND_POINTS, density_ratio
from undercount.prevalence.ranks import effective_sizes, on_scale

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.prevalence.ranks import Array

MAX_POINTS = 20_000
STEP = 0.001
MAX_GAP = 0.05
MAX_ROUNDS = 1000
TOLERANCE = 1e-5


class Dedpul(ScoreEstimator):
    """Estimate the share of positives by the fixed point of their posterior.

    Kernel densities of labelled and unlabeled scores on the logit scale give r = f_L / f_U at
    the unlabeled scores, smoothed by running medians. Were a the share of positives, a row
    would be negative with chance max(0, 1 - a r); the estimate is the a at which these chances
    average to 1 - a, found by expectation maximisation, or the elbow of the gap when that slides
    to the trivial answer.

    Parameters
    ----------
    monotone : bool
        Also force a monotone trend on the ratio, as published. Without it the method is faster
        and its measured error is smaller.
    scale : {"rank", "score"}
        Balanced mid-ranks (any increasing transform gives the same answer), or the scores
        themselves, which must then be probabilities of a class-balanced classifier.
    bandwidths : (float, float)
        Of the labelled and the unlabeled kernel, in standard deviations.
    sampling, confidence_level, n_resamples, random_state
        As in every prevalence estimator.

    Attributes
    ----------
    unlabeled_prevalence_ : float
    diagnostics_ : dict
        ``converged`` says which of the two rules gave the answer.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and nearly only positives reach the
    highest scores.
    Wrong when: negatives resemble positives everywhere (too high) or labels prefer some
    positives (too low); in-sample scores send it to 0.

    References
    ----------
    Ivanov (2020), DEDPUL: difference-of-estimated-densities-based positive-unlabeled learning.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import Dedpul
    >>> rng = np.random.default_rng(0)
    >>> score = np.concatenate([rng.normal(4, 1, 700), rng.normal(0, 1, 700)])
    >>> y = np.where(np.arange(1400) < 400, 1, -1)  # 300 of the 1,000 unlabeled are positive
    >>> dedpul = Dedpul(n_resamples=0).fit(y, score, unlabeled=-1)
    >>> round(dedpul.unlabeled_prevalence_, 1)
    0.3
    """

    def __init__(
        self,
        *,
        monotone: bool = False,
        scale: str = "rank",
        bandwidths: tuple[float, float] = (0.1, 0.05),
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
        self.monotone = monotone
        self.scale = scale
        self.bandwidths = bandwidths

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        position, labelled, unlabeled = on_scale(counts, self.scale)
        if position[0] < 0 or position[-1] > 1:
            raise InputError(
                f"with scale='score' scores must be probabilities; got {position[0]:g} to"
                f" {position[-1]:g}: use scale='rank'"
            )
        n_labelled, n_unlabeled = effective_sizes(counts)
        limit = TREND_POINTS if self.monotone else MAX_POINTS
        ratio = density_ratio(
            1 - position[::-1],
            labelled[::-1],
            unlabeled[::-1],
            n_labelled=n_labelled,
            bandwidths=self.bandwidths,
            n_points=min(max(round(n_unlabeled), 1), limit),
            monotone=self.monotone,
        )
        value, converged = posterior_share(ratio)
        return Fitted(value, diagnostics={"converged": converged})


def posterior_share(ratio: Array) -> tuple[float, bool]:
    """Return (share of positives, whether the fixed point gave it) from descending ratios."""
    ratio = ratio[::-1]
    heads = np.concatenate([[0.0], np.cumsum(ratio)])

    def mean_negative(positive: Any) -> Any:
        """Mean of max(0, 1 - positive · ratio): only ratios below 1 / positive contribute."""
        alive = np.searchsorted(ratio, 1 / np.maximum(positive, 1e-12))
        return (alive - positive * heads[alive]) / ratio.size

    fixed = _fixed_point(mean_negative, float(ratio[-1]))
    grid = np.arange(0, 1, STEP)
    gap = mean_negative(1 - grid) - grid
    inside = gap[1:-1] < MAX_GAP
    if not inside.any():
        return 1 - fixed, True
    elbow = float(grid[1:-1][inside][np.argmax(np.diff(gap, 2)[inside])])
    crosses = np.count_nonzero(gap < 0) > 1 and fixed < 1 - STEP
    return (1 - fixed, True) if elbow >= fixed or crosses else (1 - elbow, False)


def _fixed_point(mean_negative: Any, largest: float) -> float:
    """Iterate the share of negatives from 0, as published, until it reproduces itself."""
    if largest < 1:  # labelled rows are nowhere dense among the unlabeled: each round loses some
        return 1.0
    negative = 0.0
    for _ in range(MAX_ROUNDS):
        found = float(mean_negative(1 - negative))
        if abs(found - negative) < TOLERANCE or 1 - largest * (1 - negative) > 0:
            break
        negative = found
    return negative
