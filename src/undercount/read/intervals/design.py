"""What was drawn at random, and how positives and negatives are mixed from the kinds of rows.

Three kinds of rows, always in the order labelled positive, unlabeled, labelled negative. The
distribution of positives (and of negatives) is a weighted sum, with weights of both signs, of the
three observed distributions; everything else here is bookkeeping for those weights.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.shares import Given, Sampling, Shares

Target: TypeAlias = Literal["dataset", "population"]
TARGETS = ("dataset", "population")
LABELLED, UNLABELED, NEGATIVE = 0, 1, 2
# Step of the complex-step derivative, exact to rounding however small.
_STEP = 1e-30


@dataclass(frozen=True)
class Mixing:
    """Hold the weights that make distributions of the three observed ones, and the shares.

    Parameters
    ----------
    positive, negative, everyone : array of shape (3, ...)
        Weights that give the positives, the negatives and all rows of the target.
    unlabeled_prevalence, prevalence, positives : array
        a, π, and the number of positives in the data set (among the unlabeled in case-control).
    """

    positive: NDArray[Any]
    negative: NDArray[Any]
    everyone: NDArray[Any]
    unlabeled_prevalence: Any
    prevalence: Any
    positives: Any


@dataclass(frozen=True)
class Design:
    """Say which numbers were given, how rows were drawn, and what the metric is a metric of.

    Parameters
    ----------
    sizes : array of shape (3, ...)
        Rows (sums of weights) that are labelled positive, unlabeled, labelled negative.
    units : array of shape (3, ...)
        Kish's variance inflation of each kind: sum of squared weights over sum of weights.
    given : str
        Which share was given exactly; the others move when the sizes move.
    value : array
        The value of that share.
    label_purity : array
        Share of the rows labelled positive that are positive.
    sampling, target : str
        How the rows were drawn; whether the metric of these rows or of their population is meant.
    share_known : bool
        False if no prevalence was given, so that nothing is known about the number of positives.
    """

    sizes: NDArray[Any]
    units: FloatArray
    given: Given
    value: Any
    label_purity: Any
    sampling: Sampling
    target: Target
    share_known: bool = True

    @property
    def effective(self) -> FloatArray:
        """Kish's effective numbers of rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.units > 0, self.sizes / self.units, 0.0)

    def mixing(self) -> Mixing:
        """Return the weights at the given share."""
        return self._mixing

    @cached_property
    def _mixing(self) -> Mixing:
        return _mix(self.sizes, self.given, self.value, self.label_purity, self.sampling)

    def size_slopes(self) -> list[Mixing]:
        """Return derivatives of the weights by each of the three sizes."""
        slopes = []
        for kind in (LABELLED, UNLABELED, NEGATIVE):
            sizes = self.sizes.astype(complex)
            sizes[kind] += 1j * _STEP
            slopes.append(
                _imaginary(_mix(sizes, self.given, self.value, self.label_purity, self.sampling))
            )
        return slopes

    def share_slope(self) -> Mixing:
        """Return derivatives of the weights by the share of positives among the unlabeled rows."""
        share = self.mixing().unlabeled_prevalence + 1j * _STEP
        mixed = _mix(self.sizes, "unlabeled_prevalence", share, self.label_purity, self.sampling)
        return _imaginary(mixed)

    def purity_slope(self) -> Mixing:
        """Return derivatives of the weights by the purity, the given share held fast."""
        purity = self.label_purity + 1j * _STEP
        return _imaginary(_mix(self.sizes, self.given, self.value, purity, self.sampling))


def design_of(
    counts: ScoreCounts, shares: Shares | None, sampling: Sampling, target: Target
) -> Design:
    """Return the design of counted rows; without shares the labels are pure."""
    if target not in TARGETS:
        raise InputError(f"target must be one of {TARGETS}; got {target!r}")
    counts.require("positive", "unlabeled")
    sizes = np.array([counts.n_positive, counts.n_unlabeled, counts.n_negative])
    squares = np.array([counts.squared_weight[i] for i in (0, 2, 1)])
    units = np.where(sizes > 0, squares / np.where(sizes > 0, sizes, 1.0), 1.0)
    if shares is None:
        # Any share gives the metrics that need none; 0 makes all weights simplest.
        return Design(sizes, units, "unlabeled_prevalence", 0.0, 1.0, sampling, target, False)  # noqa: FBT003 - share_known
    value = {
        "unlabeled_prevalence": lambda: shares.unlabeled_prevalence,
        "prevalence": lambda: shares.prevalence(counts),
        "label_frequency": lambda: shares.label_frequency(counts),
        "positives": lambda: shares.positives(counts),
    }[shares.given]()
    return Design(sizes, units, shares.given, value, shares.label_purity, shares.sampling, target)


def _mix(sizes: Any, given: Given, value: Any, purity: Any, sampling: Sampling) -> Mixing:
    labelled, unlabeled, negative = sizes[0], sizes[1], sizes[2]
    total = labelled + unlabeled + negative
    if sampling == "case-control":
        # The target is what lies behind the unlabeled rows; the labelled ones were drawn apart.
        share, known, everyone = value + 0 * total, 0 * total, np.stack(
            [0 * total, 1 + 0 * total, 0 * total]
        )  # fmt: skip
        positives = share * unlabeled
        prevalence = share
    else:
        share = _unlabeled_share(sizes, given, value, purity)
        positives = purity * labelled + share * unlabeled
        prevalence = positives / total
        # Known negatives are part of the data set: they join the negatives that are recovered.
        known = negative / (total - positives)
        everyone = np.stack([labelled, unlabeled, negative]) / total
    gap = purity - share  # Jain et al. 2017, eqs 1-2
    zero = 0 * gap
    return Mixing(
        np.stack([(1 - share) / gap, -(1 - purity) / gap + zero, zero]),
        np.stack([-(1 - known) * share / gap, (1 - known) * purity / gap, known + zero]),
        everyone,
        share,
        prevalence,
        positives,
    )


def _unlabeled_share(sizes: Any, given: Given, value: Any, purity: Any) -> Any:
    labelled, unlabeled = sizes[0], sizes[1]
    if given == "prevalence":
        return (value * (sizes[0] + sizes[1] + sizes[2]) - purity * labelled) / unlabeled
    if given == "positives":
        return (value - purity * labelled) / unlabeled
    if given == "label_frequency":
        return purity * labelled * (1 / value - 1) / unlabeled
    return value + 0 * unlabeled


def _imaginary(mixing: Mixing) -> Mixing:
    return Mixing(
        *(
            np.imag(getattr(mixing, name)) / _STEP
            for name in (
                "positive",
                "negative",
                "everyone",
                "unlabeled_prevalence",
                "prevalence",
                "positives",
            )
        )
    )
