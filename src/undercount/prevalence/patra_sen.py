"""Patra-Sen: how far the implied negatives are from being a distribution (Patra, Sen 2016)."""

from numbers import Integral

import numpy as np
from scipy.optimize import isotonic_regression

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, check_choice
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.ranks import merge_cells, rank_shares
from undercount.prevalence.upper_bound import effective_sizes

MAX_CELLS = 10_000
MAX_GRID_STEPS = 1000
STEPS_PER_ROOT = 10
# Points projected together where cells are few: calls would cost more than their work.
AT_ONCE = 1 << 14
LEAST_STEPS = 3  # a second difference needs three
LEAST_ROWS = 3  # the least with a positive log log
PATRA_SEN_RULES = ("elbow", "constant")
# 95 % point of the L2 distance of an empirical CDF, times √n (root of the Cramér-von Mises law).
DISTANCE_95 = 0.6792


@estimator
class PatraSen(ScoreEstimator):
    """Estimate the share of positives by the distance of the implied negatives from a CDF.

    Were γ the share of negatives, their distribution would be (F_U - (1 - γ) F_L) / γ. The
    distance of that curve from the nearest distribution function, as a function of γ, is large up
    to the smallest feasible γ and noise after it; the elbow (the largest second difference) gives
    the estimate 1 - γ.

    Parameters
    ----------
    n_steps : int or None
        Steps of the grid of γ, at least 3. None takes ten times the root of the number of
        unlabeled rows, at most 1,000: a grid much finer than sampling noise finds the kinks that
        single rows make.
    rule : {"elbow", "constant"}
        "elbow", or the smallest γ whose distance is at most c_n √(1 / n_U + 1 / n_L) with
        c_n = .1 log log n, the default of the authors' package (their F_L is known, their n_L
        infinite). It leans upward more than the elbow.

    Attributes
    ----------
    upper_bound_ : float
        1 - γ at the smallest γ whose distance is within the 95 % point of sampling noise of both
        samples (Patra, Sen 2016, theorem 5, widened for the estimated F_L).

    Notes
    -----
    Assumes: labels are a random sample of the positives, and nearly only positives reach the
    highest scores.
    Wrong when: there are few labels (the elbow is then noise) or negatives resemble positives
    (too high).

    References
    ----------
    Patra, Sen (2016), Estimation of a two-component mixture model with applications to multiple
    testing.
    """

    _by_order = True
    _resample_cells = 256
    _at_once = False

    n_steps: int | None = None
    rule: str = "elbow"
    n_resamples: int = 100

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        check_choice("rule", self.rule, PATRA_SEN_RULES)
        m, n = effective_sizes(counts)
        steps = self._steps(n)
        shares = rank_shares(merge_cells(counts, MAX_CELLS))
        negative = np.arange(1, steps + 1) / steps
        distance = distances(shares.labelled, shares.unlabeled, negative, at_once=self._at_once)
        noise = float(np.sqrt(1 / n + 1 / m))
        feasible = distance <= DISTANCE_95 * noise
        if self.rule == "elbow":
            share = negative[1:-1][np.argmax(np.diff(distance, 2))]
        else:
            share = negative[np.argmax(distance <= _constant(n) * noise)]
        return Fitted(
            1 - float(share),
            upper_bound=1 - float(negative[np.argmax(feasible)]) if feasible.any() else None,
            diagnostics={"negative_share": negative, "distance": distance},
        )

    def _steps(self, n_unlabeled: float) -> int:
        """Return the steps of the grid: given, or fitted to the number of unlabeled rows.

        The distance is a root of squares, so where one last row leaves the distribution function
        it falls to 0 with slope n^-1/2 and stops: a kink, which outgrows every smooth bend once
        steps are small. Steps of a tenth of n^-1/2 keep it below the bends looked for.
        """
        if self.n_steps is None:
            return int(
                np.clip(
                    np.round(STEPS_PER_ROOT * np.sqrt(n_unlabeled)), LEAST_STEPS, MAX_GRID_STEPS
                )
            )
        whole = isinstance(self.n_steps, Integral) and not isinstance(self.n_steps, bool)
        if not whole or self.n_steps < LEAST_STEPS:
            raise InputError(
                f"n_steps must be an integer of at least {LEAST_STEPS}, or None for a grid that"
                f" follows the number of unlabeled rows; got {self.n_steps!r}"
            )
        return int(self.n_steps)

    def _resampling_method(self, counts: ScoreCounts, _rng: np.random.Generator) -> ScoreEstimator:
        """Return the method on the grid of the estimate: on another one the elbow is another."""
        steps = self._steps(effective_sizes(counts)[1])
        return QuickPatraSen(n_steps=steps, rule=self.rule)


class QuickPatraSen(PatraSen):
    """The same, many shares projected at once: exact but for rounding."""

    _at_once = True


def _constant(n_unlabeled: float) -> float:
    """Return c_n = .1 log log n, the default of the authors' package."""
    return 0.1 * float(np.log(np.log(max(n_unlabeled, LEAST_ROWS))))


def distances(
    labelled: FloatArray, unlabeled: FloatArray, negative: FloatArray, *, at_once: bool = False
) -> FloatArray:
    """Return γ d(F_s^γ, nearest CDF) for each share γ of negatives (Patra, Sen 2016, eq. 6).

    Both are scaled by γ before projecting, which saves the division: isotonic projection is
    homogeneous. ``at_once`` projects many shares in one call, quicker and exact but for rounding.
    """
    rows = unlabeled > 0
    weight = unlabeled[rows]
    f_labelled, f_unlabeled = np.cumsum(labelled)[rows], np.cumsum(unlabeled)[rows]
    project = _project_at_once if at_once else _project
    distance = np.empty(negative.size)
    together = max(1, AT_ONCE // weight.size)
    for start in range(0, negative.size, together):
        share = negative[start : start + together, None]
        curve = f_unlabeled - (1 - share) * f_labelled  # within (-1, 1]
        gap = curve - np.minimum(np.maximum(project(curve, weight), 0), share)
        distance[start : start + together] = np.sqrt((gap * gap) @ weight)
    return distance


def _project(curves: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the nearest non-decreasing curve of each row."""
    return np.array([isotonic_regression(curve, weights=weight).x for curve in curves])


def _project_at_once(curves: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the same, each curve lifted above the one before so that no block joins two."""
    lift = 3.0 * np.arange(len(curves))[:, None]
    weights = np.tile(weight, len(curves))
    nearest = isotonic_regression((curves + lift).ravel(), weights=weights).x
    return np.asarray(nearest.reshape(curves.shape) - lift)
