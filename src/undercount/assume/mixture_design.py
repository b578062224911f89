"""What was drawn at random when labels are random among positives: the sources of every error.

The assumption is that of `mixture`, whose weights say how positives and negatives are mixed from
the three kinds of rows; here stand the sizes and shares they come from, and their slopes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from undercount.assume.mixture import KINDS, LABELLED, Mixing, kind_sizes, mix
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.shares import Given, Sampling, Shares

Target: TypeAlias = Literal["dataset", "population"]
TARGETS = ("dataset", "population")
# What chance had a hand in: which rows were drawn, how many of each kind, how many of them are
# positive, which positives carry a label, how many do, and which rows the hidden positives are.
Source: TypeAlias = Literal[
    "rows", "rows and numbers", "composition", "labels", "labels and number", "hidden positives"
]
# Step of the complex-step derivative, exact to rounding however small.
_STEP = 1e-30
# The design that was last asked for, since a dozen metrics of one table are read one by one.
_LAST: "WeakKeyDictionary[ScoreCounts, tuple[Any, MixtureDesign]]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class MixtureDesign:
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

    @cached_property
    def effective(self) -> FloatArray:
        """Kish's effective numbers of rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.units > 0, self.sizes / self.units, 0.0)

    @cached_property
    def effective_total(self) -> Any:
        """Kish's effective number of all rows."""
        total = self.sizes.sum(axis=0)
        return total**2 / (self.sizes * self.units).sum(axis=0)

    @cached_property
    def pure(self) -> bool:
        """Whether every label is right."""
        return bool(np.all(np.asarray(self.label_purity) == 1))

    @cached_property
    def counted(self) -> bool:
        """Whether these very rows are meant, all of them."""
        return self.target == "dataset" and self.sampling == "single-sample"

    @cached_property
    def frequency_known(self) -> bool:
        """Whether each positive was labelled by itself, with a chance that was given."""
        return self.share_known and self.given == "label_frequency"

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """The sources of error: what was drawn at random, and how.

        For a population the rows of each kind are independent draws, and in a single sample the
        numbers of each kind are multinomial, unless the number of positives is known. For these
        very rows only the labels are random: drawn without replacement among the positives, or
        given to each with a known chance. Labelled rows drawn apart stand for the positives among
        these very unlabeled rows, which are a sample of the same population.
        """
        if self.target == "population":
            if self.sampling == "case-control":
                return ("rows",)
            return ("rows", "composition") if self.given == "positives" else ("rows and numbers",)
        if self.sampling == "case-control":
            return ("hidden positives",)
        return ("labels and number",) if self.frequency_known else ("labels",)

    @cached_property
    def mixing(self) -> Mixing:
        """The weights at the given share."""
        return mix(self.sizes, self.given, self.value, self.label_purity, self.sampling)

    @cached_property
    def unlabelled_shares(self) -> tuple[Any, Any]:
        """The finite-population corrections: shares of positives and negatives not labelled.

        With P positives, S of them labelled, (1 - S/P) P/(P-1) times the variance with divisor P.
        """
        if not self.share_known:
            return 1.0, 1.0
        positives = np.maximum(self.mixing.positives, 1e-300)
        labelled = self.sizes[LABELLED]
        hidden_negatives = self.sizes.sum(axis=0) - positives
        impure = (1 - self.label_purity) * labelled
        first = np.clip(1 - self.label_purity * labelled / positives, 0.0, 1.0)
        second = np.clip(1 - impure / np.maximum(hidden_negatives, 1e-300), 0.0, 1.0)
        return first, second

    @cached_property
    def unlabelled_share(self) -> Any:
        """The finite-population correction of a mean over labelled rows."""
        positive, negative = self.unlabelled_shares
        return self.label_purity * positive + (1 - self.label_purity) * negative

    def size_slopes(self) -> list[Mixing]:
        """Return derivatives of the weights by each of the three sizes."""
        slopes = []
        for kind in KINDS:
            sizes = self.sizes.astype(complex)
            sizes[kind] += 1j * _STEP
            slopes.append(
                _imaginary(mix(sizes, self.given, self.value, self.label_purity, self.sampling))
            )
        return slopes

    def share_slope(self) -> Mixing:
        """Return derivatives of the weights by the share of positives among the unlabeled rows."""
        share = self.mixing.unlabeled_prevalence + 1j * _STEP
        mixed = mix(self.sizes, "unlabeled_prevalence", share, self.label_purity, self.sampling)
        return _imaginary(mixed)

    def purity_slope(self) -> Mixing:
        """Return derivatives of the weights by the purity, the given share held fast."""
        purity = self.label_purity + 1j * _STEP
        return _imaginary(mix(self.sizes, self.given, self.value, purity, self.sampling))


def _imaginary(mixing: Mixing) -> Mixing:
    return Mixing(*(np.imag(part) / _STEP for part in vars(mixing).values()))


def design_of(
    counts: ScoreCounts, shares: Shares | None, sampling: Sampling, target: Target
) -> MixtureDesign:
    """Return the design of counted rows; without shares the labels are pure."""
    asked = shares, sampling, target
    known = _LAST.get(counts)
    if known is None or known[0] != asked:
        _LAST[counts] = known = asked, _design_of(counts, *asked)
    return known[1]


def _design_of(
    counts: ScoreCounts, shares: Shares | None, sampling: Sampling, target: Target
) -> MixtureDesign:
    if target not in TARGETS:
        raise InputError(f"target must be one of {TARGETS}; got {target!r}")
    counts.require("positive", "unlabeled")
    sizes = np.array(kind_sizes(counts))
    squares = np.array([counts.squared_weight[i] for i in (0, 2, 1)])
    units = np.where(sizes > 0, squares / np.where(sizes > 0, sizes, 1.0), 1.0)
    if shares is None:
        # Any share gives the metrics that need none; 0 makes all weights simplest.
        return MixtureDesign(
            sizes, units, "unlabeled_prevalence", 0.0, 1.0, sampling, target, share_known=False
        )
    value = shares.unlabeled_prevalence
    if shares.given != "unlabeled_prevalence":
        value = getattr(shares, shares.given)(counts)
    purity = shares.label_purity
    return MixtureDesign(sizes, units, shares.given, value, purity, shares.sampling, target)
