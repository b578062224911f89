"""pen-L1: the share that fits without exceeding the unlabeled density [du Plessis 2015]."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.prevalence.base import FeatureEstimator, Fitted, estimator

MAX_BASES = 200
# Tuned, once: see the class's Notes.
KERNEL_WIDTH = 0.25
PENALTY = 0.001
NOISE = 0.05
DISTANCE_ROWS_PER_BLOCK = 4096
DISTANCE_MEDIAN_ROWS = 2000


@dataclass(frozen=True)
class BasisMeans:
    """Means of the basis functions over one sample, and the squared errors of these means."""

    mean: FloatArray
    squared_error: FloatArray


def penalised_share(labelled: BasisMeans, unlabeled: BasisMeans, penalty: float) -> float:
    """Return the share θ that minimises the penalised L1 divergence (du Plessis et al. 2015).

    Parameters
    ----------
    labelled, unlabeled : BasisMeans
    penalty : float
        λ of the quadratic penalty, as a share of Σ labelled², so that it suits any number and
        width of basis functions.

    Notes
    -----
    The inner maximum is closed form, max(0, β)/λ with β = θ·labelled - unlabeled, so the
    divergence Σ max(0, β)²/λ - θ + 1 is convex in θ and its derivative has one root. Noise alone
    makes some β positive, so a share of the excess that it would make is forgiven; without it
    the published estimate falls short when labels are few.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.pen_l1 import BasisMeans, penalised_share
    >>> positive = BasisMeans(np.array([0.5, 0.1]), np.zeros(2))
    >>> rest = BasisMeans(np.array([0.15, 0.6]), np.zeros(2))
    >>> round(penalised_share(positive, rest, 1e-6), 3)
    0.3
    """
    forgiven = penalty / 2 * float(labelled.mean @ labelled.mean)

    def slope(share: float) -> float:
        excess = np.maximum(share * labelled.mean - unlabeled.mean, 0)
        noise = np.sqrt(share**2 * labelled.squared_error + unlabeled.squared_error)
        return float((excess - NOISE * noise) @ labelled.mean - forgiven)

    return 1.0 if slope(1.0) <= 0 else float(brentq(slope, 0.0, 1.0))


def _squared_distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    square = np.square(rows).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.asarray(np.maximum(square - 2 * rows @ centres.T, 0))


def _basis_means(rows: FloatArray, centres: FloatArray, squared_width: float) -> BasisMeans:
    """Average each Gaussian basis function, a block of rows at a time."""
    total, squares = np.zeros(len(centres)), np.zeros(len(centres))
    for start in range(0, len(rows), DISTANCE_ROWS_PER_BLOCK):
        squared = _squared_distances(rows[start : start + DISTANCE_ROWS_PER_BLOCK], centres)
        value = np.exp(-squared / (2 * squared_width))
        total += value.sum(axis=0)
        squares += np.square(value).sum(axis=0)
    mean = total / len(rows)
    return BasisMeans(mean, np.maximum(squares / len(rows) - mean**2, 0) / len(rows))


@estimator
class PenL1(FeatureEstimator):
    """Estimate the share of positives among the unlabeled by a penalised L1 divergence.

    The positives' density times the share may nowhere exceed the unlabeled density; the
    divergence charges an excess heavily and a shortfall lightly, and is estimated with Gaussian
    basis functions (du Plessis, Niu, Sugiyama 2015, "Class-prior estimation for learning from
    positive and unlabeled data").

    Parameters
    ----------
    width : float
        Width of the basis functions in medians of the distances between rows.
    penalty : float
        λ of the quadratic penalty, relative to the squared means of the basis functions.
    max_bases : int
        Rows drawn as centres.

    Attributes
    ----------
    interval_ : Interval or None
        Sampling noise only; the smoothing's upward bias is not in it.
    diagnostics_ : dict
        ``width`` of the basis functions.

    Notes
    -----
    Assumes: labels given at random among the positives, some region without negatives, and
    features of comparable scales.
    Wrong when: classes overlap much or features are many; the basis functions then average over
    both classes and the share comes out too high; with under 50 labels it comes out too low.

    What was tuned: ``width`` (among .15 to .7 medians), ``penalty`` (1e-5 to 1e-2) and the share
    of noise forgiven (0 to .4), all three at once, for a small mean error on simulated normals
    and uniforms (separation 1 to 4, 100 to 1,000 labels) with a look at real data sets that also
    stand in the benchmark. Its real errors there are therefore not out of sample.

    Where it differs from the published code: (1) width and penalty are constants, relative to the
    median distance and to the squared means of the basis functions; the paper chooses both by
    cross-validation, whose criterion always prefers the smallest penalty. (2) A part of the
    excess that noise alone would make is forgiven; the published objective charges it in full.
    (3) The minimum is found by a root of the derivative instead of a grid of shares in steps of
    .05. On six problems its answers differ from the published code's by .12 in the median, by .51
    on one with 20 labels, and are nearer to the truth in four of the six: a relative of that
    method, not a reproduction.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import PenL1
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(np.where(np.arange(1200) < 500, 4, 0)[:, None], 1, (1200, 2))
    >>> y = np.repeat([1.0, np.nan], [200, 1000])  # 300 of 1000 are positive
    >>> round(PenL1(n_resamples=0, random_state=0).fit(y, X).unlabeled_prevalence_, 1)
    0.3
    """

    width: float = KERNEL_WIDTH
    penalty: float = PENALTY
    max_bases: int = MAX_BASES
    n_resamples: int = 50

    def _estimate(
        self, labelled: FloatArray, unlabeled: FloatArray, rng: np.random.Generator
    ) -> Fitted:
        if not (self.width > 0 and self.penalty > 0):
            raise InputError(
                f"width and penalty must be positive; got {self.width} and {self.penalty}"
            )
        rows = np.concatenate([labelled, unlabeled])
        # Distances do not change, and their rounding shrinks, when the mean is taken off.
        centre = rows.mean(axis=0)
        rows = rows - centre
        order = rng.permutation(len(rows))
        bases = rows[order[: self.max_bases]]
        median = np.median(_squared_distances(rows[order[:DISTANCE_MEDIAN_ROWS]], bases))
        squared_width = float(self.width**2 * median)
        if squared_width == 0:
            raise InputError("most rows of X are equal; PenL1 needs features that vary")
        share = penalised_share(
            _basis_means(labelled - centre, bases, squared_width),
            _basis_means(unlabeled - centre, bases, squared_width),
            self.penalty,
        )
        return Fitted(share, diagnostics={"width": float(np.sqrt(squared_width))})
