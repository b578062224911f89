"""Labels given at random among positives, possibly impure (Jain, White and Radivojac 2017).

Three kinds of rows, always in the order labelled positive, unlabeled, labelled negative. The
distribution of positives (and of negatives) is a weighted sum, with weights of both signs, of the
three observed distributions. Those weights make the curve, and they make every interval:
`MixtureDesign` says which rows were drawn at random, and how.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, LeftOut, OperatingCurve, precision_steps
from undercount.errors import CONTRADICTED, InputError, MisfitWarning, check_choice, named, warn
from undercount.shares import Given, Sampling, Shares
from undercount.shares import Target as Target  # noqa: PLC0414 - this module is where others look

Monotone: TypeAlias = Literal["cummax", "isotonic", "hull"]
LABELLED, UNLABELED, NEGATIVE = 0, 1, 2
ROW_KINDS = (LABELLED, UNLABELED, NEGATIVE)
# Rates within this of [0, 1] are rounding, not misfit.
RATE_TOLERANCE = 1e-9
# A value this many standard errors outside its range is a misfit, not the chance of the sample.
MISFIT_ERRORS = 5.0


@dataclass(frozen=True)
class Mixing:
    """Hold the weights that make distributions of the three observed ones, and the shares.

    Parameters
    ----------
    positive, negative, everyone : array of shape (3, ...)
        Weights that give the positives, the negatives and all rows of the target; each sums to 1.
    unlabeled_prevalence, label_purity, prevalence, positives : array
        a, κ, π, and the number of positives in the data set (among the unlabeled in case-control).
    """

    positive: NDArray[Any]
    negative: NDArray[Any]
    everyone: NDArray[Any]
    unlabeled_prevalence: Any
    label_purity: Any
    prevalence: Any
    positives: Any

    def rates(self, labelled: Any, unlabeled: Any, negative: Any) -> tuple[Any, Any]:
        """Return true- and false-positive rate from the rates of the three kinds of rows.

        The weights applied to whole tables, which may be as long as the rows: a weight of 0 costs
        no pass over them, and pure labels return their rate as it is.
        """
        alpha, beta = self.unlabeled_prevalence, self.label_purity  # Jain et al. 2017, eqs 1-2
        tpr = labelled
        if beta != 1:
            tpr = (1 - alpha) * labelled
            tpr -= (1 - beta) * unlabeled
            tpr /= beta - alpha
        fpr = beta * unlabeled
        fpr -= alpha * labelled
        fpr /= beta - alpha
        negatives = self.negative[NEGATIVE]
        if negatives != 0:
            fpr *= 1 - negatives
            fpr += negatives * negative
        return tpr, fpr

    def exact_rates(self, labelled: Any, unlabeled: Any, negative: Any) -> tuple[Any, Any, Any]:
        """Return true-positive, false-positive and flagged rate at one threshold, or at many.

        Weights sum to 1. Written as distances from one of the rates, the sums are exactly 0 or 1
        where no or all rows are flagged, and what is 0/0 there stays so.
        """
        return (
            labelled + self.positive[UNLABELED] * (unlabeled - labelled),
            unlabeled
            + self.negative[LABELLED] * (labelled - unlabeled)
            + self.negative[NEGATIVE] * (negative - unlabeled),
            unlabeled
            + self.everyone[LABELLED] * (labelled - unlabeled)
            + self.everyone[NEGATIVE] * (negative - unlabeled),
        )


def mix(sizes: Any, given: Given, value: Any, purity: Any, sampling: Sampling) -> Mixing:
    """Make the weights from the sizes of the three kinds and one share that is given.

    Arguments may be complex, so that slopes are exact, and arrays of one shape.
    """
    labelled, unlabeled, negative = sizes[0], sizes[1], sizes[2]
    total = labelled + unlabeled + negative
    if sampling == "case-control":
        # The target is what lies behind the unlabeled rows; the labelled ones were drawn apart.
        share, known = value + 0 * total, 0 * total
        everyone = np.array([known, 1 + known, known])
        positives, prevalence = share * unlabeled, share
    else:
        share = _unlabeled_share(sizes, given, value, purity)
        positives = purity * labelled + share * unlabeled
        prevalence = positives / total
        # Known negatives are part of the data set: they join the negatives that are recovered.
        known = negative / (total - positives) if np.count_nonzero(negative) else 0 * total
        everyone = np.array([labelled, unlabeled, negative]) / total
    gap = purity - share  # Jain et al. 2017, eqs 1-2
    zero = 0 * gap
    return Mixing(
        np.array([(1 - share) / gap, -(1 - purity) / gap + zero, zero]),
        np.array([-(1 - known) * share / gap, (1 - known) * purity / gap, known + zero]),
        everyone,
        share,
        purity,
        prevalence,
        positives,
    )


def kind_sizes(counts: ScoreCounts) -> tuple[float, float, float]:
    """Return the rows that are labelled positive, unlabeled and labelled negative."""
    return counts.n_positive, counts.n_unlabeled, counts.n_negative


def _unlabeled_share(sizes: Any, given: Given, value: Any, purity: Any) -> Any:
    labelled, unlabeled = sizes[0], sizes[1]
    if given == "prevalence":
        return (value * (sizes[0] + sizes[1] + sizes[2]) - purity * labelled) / unlabeled
    if given == "positives":
        return (value - purity * labelled) / unlabeled
    if given == "label_frequency":
        return purity * labelled * (1 / value - 1) / unlabeled
    return value + 0 * unlabeled


def mixture_curve(
    counts: ScoreCounts, shares: Shares, *, clean: bool = True, monotone: Monotone | None = None
) -> OperatingCurve:
    """Recover the curve of positives against negatives from labelled and unlabeled rows.

    The unlabeled rows are a mixture of positives and negatives in known shares, so the rates of
    the negatives follow by subtraction at every threshold (Jain et al. 2017, eqs 1-2).

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows, purity of the labels, sampling.
    clean : bool
        Drop points outside the unit square and sort the rest by their rates (Algorithm 1, with
        the ends (0, 0) and (1, 1) added); `at` refuses the thresholds of points that were
        dropped, and its points are not in the order of their thresholds. Shares that the scores
        rule out are an error. The uncleaned curve keeps every threshold in order, and its area is
        exactly the direct estimate of eq. 4.
    monotone : {"cummax", "isotonic", "hull"}, optional
        Make recall rise with the false-positive rate on the cleaned curve: by the largest value
        to the left (the last step of Algorithm 1, biased upward), by least squares, or by the
        upper concave hull.

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> y = [1, None, 1, None, 1, None, None, None]
    >>> score = [0.986, 0.943, 0.863, 0.789, 0.699, 0.473, 0.211, 0.009]
    >>> counts = uc.ScoreCounts.from_rows(y, score)
    >>> round(uc.mixture_curve(counts, uc.Shares(0.2), clean=False).roc_auc, 4)
    0.875
    >>> round(uc.mixture_curve(counts, uc.Shares(0.2), monotone="cummax").roc_auc, 4)
    0.9028
    """
    counts.require("positive", "unlabeled")
    named_form = isinstance(monotone, str) and monotone in ("cummax", "isotonic", "hull")
    if monotone is not None and not (clean and named_form):
        raise InputError(
            "monotone must be 'cummax', 'isotonic', 'hull' or None, and needs clean=True; "
            f"got {monotone!r} with clean={clean}"
        )
    points = _recovered(counts, _mixing_of(counts, shares), clean=clean)
    if clean:
        _check_area_possible(counts, shares, points.area)
        return _cleaned(counts, points, monotone)
    threshold = np.append(np.inf, counts.score)
    merged = np.append(False, counts.merged) if counts.compact else None
    return OperatingCurve(threshold, points.tpr, points.fpr, points.prevalence, merged)


class _Points(NamedTuple):
    """Recovered rates by falling threshold, and what was found in the same walk.

    `kept` says which points were, if not all; `area` is that of labelled against unlabeled rows.
    """

    tpr: FloatArray
    fpr: FloatArray
    prevalence: float
    kept: NDArray[np.bool_] | None
    area: float
    average_precision: float


def _mixing_of(counts: ScoreCounts, shares: Shares) -> Mixing:
    given: Given = "unlabeled_prevalence"
    value = shares.unlabeled_prevalence
    if shares.population_prevalence is not None:  # by chance fewer positives than labels
        given, value = "prevalence", shares.population_prevalence
    return mix(kind_sizes(counts), given, value, shares.label_purity, shares.sampling)


def _recovered(counts: ScoreCounts, mixing: Mixing, *, clean: bool) -> _Points:
    """Recover the rates part by part, so that little as long as the table is made.

    A clean curve has the points inside the unit square, and the last one, which is pulled there.
    """
    size, prevalence = len(counts.score) + 1, float(mixing.prevalence)
    tpr, fpr, kept = np.empty(size), np.empty(size), np.ones(size, bool)
    tpr[0] = fpr[0] = pairs = precision = 0.0
    done = 1
    for part, heads in counts.head_blocks():
        pairs += float((heads[0] - counts.positive[part] / 2) @ counts.unlabeled[part])
        for rows, total in zip(heads, counts.totals, strict=True):
            if total > 0:
                rows /= total  # noqa: PLW2901 - in place
        points = mixing.rates(heads[0], heads[2], heads[1])
        if clean and _leave_square(*points):
            inside = _inside(*points, last=part.stop == size - 1)
            kept[part.start + 1 : part.stop + 1] = inside
            # Were one pulled in later, the sort could put it before (0, 0) or after (1, 1).
            points = tuple(np.clip(rate[inside], 0, 1) for rate in points)
        line = slice(done - 1, done + len(points[0]))
        tpr[line][1:], fpr[line][1:] = points
        done = line.stop
        if clean:
            flagged = (1 - prevalence) * fpr[line]
            flagged += prevalence * tpr[line]
            precision += precision_steps(tpr[line], flagged, prevalence)
    area = pairs / (counts.n_positive * counts.n_unlabeled)
    some = kept if done < size else None
    return _Points(tpr[:done], fpr[:done], prevalence, some, area, precision)


def _leave_square(tpr: FloatArray, fpr: FloatArray) -> bool:
    """Whether a point lies outside the unit square, be it by rounding."""
    return bool(min(tpr.min(), fpr.min()) < 0 or max(tpr.max(), fpr.max()) > 1)


def _inside(tpr: FloatArray, fpr: FloatArray, *, last: bool) -> NDArray[np.bool_]:
    """Return which points are inside the unit square, but for rounding, or the last of all."""
    low, high = np.minimum(tpr, fpr), np.maximum(tpr, fpr)
    inside: NDArray[np.bool_] = (low >= -RATE_TOLERANCE) & (high <= 1 + RATE_TOLERANCE)
    inside[-1] |= last
    return inside


def _cleaned(counts: ScoreCounts, points: _Points, monotone: Monotone | None) -> OperatingCurve:
    """Return the curve of points by rising rates (Algorithm 1)."""
    tpr, fpr = points.tpr, points.fpr
    if np.all(tpr[1:] >= tpr[:-1]):
        # With pure labels recall only grows, so one stable sort of long runs does what two would.
        order = np.argsort(fpr, kind="stable")
    else:
        order = np.lexsort((tpr, fpr))
    tpr, fpr = (rate.take(order, mode="clip") for rate in (tpr, fpr))  # the fastest way
    kept = order if points.kept is None else np.flatnonzero(points.kept)[order]
    gone = None if points.kept is None else ~points.kept
    if monotone is not None:
        tpr, corners = _monotone(tpr, fpr, monotone)
        tpr, fpr, kept = tpr[corners], fpr[corners], kept[corners]
        gone = np.ones(len(counts.score) + 1, bool)
        gone[kept] = False
    left_out = None
    if gone is not None and gone.any():
        left_out = LeftOut(*_places(counts, np.flatnonzero(gone)))
    threshold, merged = _places(counts, kept)
    curve = OperatingCurve(threshold, tpr, fpr, points.prevalence, merged, left_out)
    if monotone is None:
        # What the property would find, had it sorted the points back by their thresholds.
        vars(curve)["average_precision"] = points.average_precision
    return curve


def _places(
    counts: ScoreCounts, points: NDArray[np.intp]
) -> tuple[FloatArray, NDArray[np.bool_] | None]:
    """Return thresholds of some points, and which of them have merged cells, if any cell has."""
    cells = np.maximum(points - 1, 0)
    threshold = counts.score.take(cells, mode="clip")
    merged = counts.merged.take(cells, mode="clip") if counts.compact else None
    if points[0] == 0:  # the first of all, where nothing is flagged, stays the first
        threshold[0] = np.inf
        if merged is not None:
            merged[0] = False
    return threshold, merged


def recovered_rates(
    labelled_rate: FloatArray, unlabeled_rate: FloatArray, shares: Shares
) -> tuple[FloatArray, FloatArray]:
    """Solve the two mixtures for the true- and false-positive rate (Jain et al. 2017, eqs 1-2).

    Known negatives are left out; `mixture_curve` lets them join those that are recovered.
    """
    share, purity = shares.unlabeled_prevalence, shares.label_purity
    mixing = mix((1.0, 1.0, 0.0), "unlabeled_prevalence", share, purity, "case-control")
    return mixing.rates(labelled_rate, unlabeled_rate, 0.0)


def _check_area_possible(counts: ScoreCounts, shares: Shares, area: float) -> None:
    """Raise if eq. 4 leaves [0, 1] by more than the chance of the sample explains.

    `area` is that of labelled against unlabeled rows.
    """
    gap = shares.label_purity - shares.unlabeled_prevalence
    fewest = min(counts.effective_size("positive"), counts.effective_size("unlabeled"))
    # No AUC has a larger variance than AUC (1 - AUC)/min(n); at the limit it is (1 ± gap)/2.
    chance = MISFIT_ERRORS * np.sqrt((1 - gap**2) / 4 / fewest)
    if abs(area - 0.5) > gap / 2 + chance + RATE_TOLERANCE:
        raise InputError(misfit_words(counts, area, 0.5 + (area - 0.5) / gap, shares))


def misfit_words(counts: ScoreCounts, area: float, auc: float, shares: Shares) -> str:
    """Say why shares do not fit the scores, and which would, by the argument that was given."""
    least = abs(2 * area - 1)
    share, purity = shares.unlabeled_prevalence, shares.label_purity
    if shares.given != "unlabeled_prevalence" and purity >= least:
        given, value = shares.stated(counts)
        return (
            f"{named(given)} {value:.6g} and {named('purity')} {purity:.6g} do not fit these "
            f"scores: they make the ROC AUC {auc:.6g}. The AUC of labelled against unlabeled rows "
            f"is {area:.6g}; {largest_words(counts, shares, purity - least)}"
        )
    room = (
        f"at this purity {named('unlabeled_prevalence')} may be at most {purity - least:.6g}"
        if purity >= least
        else (
            f"no {named('unlabeled_prevalence')} fits this purity, which must be at least "
            f"{least:.6g}"
        )
    )
    return (
        f"{named('unlabeled_prevalence')} {share:.6g} and {named('purity')} {purity:.6g} do "
        f"not fit these scores: they make the ROC AUC {auc:.6g}. The AUC of labelled against "
        f"unlabeled rows is {area:.6g}, so {named('purity')} - "
        f"{named('unlabeled_prevalence')} must be at least |2 · {area:.6g} - 1| = {least:.6g}; "
        f"{room}"
    )


def largest_words(counts: ScoreCounts, shares: Shares, share: float) -> str:
    """Say how large a share fits, as the argument that was given: the label frequency falls."""
    given, value = shares.stated(counts, max(share, 0.0))
    end = "least" if given == "label_frequency" else "largest"
    return f"the {end} {named(given)} that fits is {value:.4g}"


@dataclass(frozen=True)
class Misfit:
    """Say how badly shares misfit: what had to be pulled into its range, and how far it was.

    Attributes
    ----------
    quantity, value : str, float
        What lies outside its range, and the value that it would have.
    errors : float
        Its distance from the range, in standard errors.
    find_largest : callable
        Finds the largest share of positives among the unlabeled rows at which it would fit.
    refused : bool
        Whether it is an error if chance does not explain it.
    """

    quantity: str
    value: float
    errors: float
    find_largest: Callable[[], float]
    refused: bool = True

    def contradicts(self, confidence_level: float) -> bool:
        """Whether the whole interval of an unrestricted estimate lies outside the range."""
        return self.errors > float(ndtri((1 + confidence_level) / 2))

    def warn_of(
        self, what: str, metric: str, argument: str, *, firm: bool, stacklevel: int
    ) -> None:
        """Warn of a value that was pulled into its range: by chance, or by what it rests on."""
        why = ", within the chance of the sample"
        if firm:
            why = (
                f", {self.errors:.1f} standard errors outside what is possible, which chance hardly"
                f" explains: the {named(argument)} or how rows were labelled is not as supposed"
            )
        message = f"{what}{why}; {{metrics}} reported for the nearest possible value"
        code = CONTRADICTED if firm else "outside"
        warn(
            MisfitWarning(message, code=code, argument=argument, metric=metric),
            stacklevel=stacklevel + 1,
        )

    def report(
        self, metric: str, counts: ScoreCounts, shares: Shares, *, firm: bool, stacklevel: int
    ) -> None:
        """Warn of a value that was pulled into its range; refuse one that chance does not explain.

        It is said by the argument that was given, never by one that follows from it. `firm` says
        that chance alone hardly explains it.
        """
        quantity = "{metric}" if self.quantity == metric else self.quantity
        given, value = shares.stated(counts)
        span, within = shares.unlabeled_prevalence_interval, ""
        if span is not None:
            low, high = sorted(shares.stated(counts, end)[1] for end in (span.low, span.high))
            within = f" (of {low:.6g} to {high:.6g})"
        what = (
            f"{quantity} would be {self.value:.4g} at {named(given)} "
            f"{value:.6g}{within} and {named('purity')} {shares.label_purity:.6g}"
        )
        if self.refused and self.errors > MISFIT_ERRORS:
            hint = largest_words(counts, shares, self.find_largest())
            raise InputError(
                f"{what}, {self.errors:.1f} standard errors outside its range, so the shares do "
                f"not fit these scores; {hint}. If the share is right, the labels are no random "
                "sample of the positives, which is the usual cause",
                code="misfit",
                argument=given,
                metric=metric,
                hint=hint,
            )
        self.warn_of(what, metric, given, firm=firm, stacklevel=stacklevel + 1)


def _monotone(
    tpr: FloatArray, fpr: FloatArray, method: Monotone
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return a recall that does not fall, and the indices of the points that stay."""
    every = np.arange(len(tpr))
    if method == "cummax":
        return np.maximum.accumulate(tpr), every
    if method == "hull":
        return tpr, _upper_hull(fpr, tpr)
    # Least squares: the slopes of the convex minorant of the running sums.
    sums = np.append(0.0, np.cumsum(tpr))
    corners = _upper_hull(np.arange(len(sums), dtype=float), -sums)
    slopes = np.diff(sums[corners]) / np.diff(corners)
    return np.clip(np.repeat(slopes, np.diff(corners)), 0, 1), every


def _upper_hull(x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
    """Find the corners of the concave hull from above; points are sorted by (x, y)."""
    across, up = x.tolist(), y.tolist()
    stack: list[int] = []
    for point in range(len(across)):
        while len(stack) > 1:
            first, second = stack[-2], stack[-1]
            turn = (across[second] - across[first]) * (up[point] - up[first])
            turn -= (up[second] - up[first]) * (across[point] - across[first])
            if turn < 0:
                break
            stack.pop()
        stack.append(point)
    return np.array(stack, dtype=np.intp)


TARGETS = ("dataset", "population")
# What chance had a hand in: which rows were drawn, how many of each kind, how many of them are
# positive, which positives carry a label, how many do, and which rows the hidden positives are.
Source: TypeAlias = Literal[
    "rows", "rows and numbers", "composition", "labels", "labels and number", "hidden positives"
]
# Step of the complex-step derivative, exact to rounding however small; relative to all rows, whose
# weights may be of any size.
_COMPLEX_STEP = 1e-30
# The designs that were last asked for, since a dozen metrics of one table are read one by one, of
# these rows and of their population by turns.
_LAST: "WeakKeyDictionary[ScoreCounts, tuple[tuple[Any, MixtureDesign], ...]]"
_LAST, KEPT = WeakKeyDictionary(), 3


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
    cluster_effect : float
        How many times larger the variance is because rows and labels come in clusters.
    clusters : float
        How many clusters of equal weight tell that; infinite if rows are independent.
    """

    sizes: NDArray[Any]
    units: FloatArray
    given: Given
    value: Any
    label_purity: Any
    sampling: Sampling
    target: Target
    share_known: bool = True
    cluster_effect: float = 1.0
    clusters: float = math.inf

    def at_shares(self, share: FloatArray) -> "MixtureDesign":
        """Return the same rows at many shares of positives among the unlabeled, all at once."""
        pure, total = self.label_purity * self.sizes[LABELLED], self.sizes.sum()
        positives = pure + share * self.sizes[UNLABELED]
        value = share
        if self.sampling == "single-sample" and self.given != "unlabeled_prevalence":
            value = {
                "prevalence": positives / total,
                "positives": positives,
                "label_frequency": pure / positives,
            }[self.given]
        sizes, units = (
            np.repeat(column[:, None], len(share), 1) for column in (self.sizes, self.units)
        )
        return replace(self, sizes=sizes, units=units, value=value)

    @cached_property
    def inflation(self) -> FloatArray:
        """Variance inflation of each kind of rows, by their weights and by their clusters."""
        return self.units * self.cluster_effect

    @cached_property
    def effective(self) -> FloatArray:
        """Effective numbers of independent rows, Kish's if rows are independent."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.units > 0, self.sizes / self.inflation, 0.0)

    @cached_property
    def effective_total(self) -> Any:
        """Effective number of all rows."""
        total = self.sizes.sum(axis=0)
        return total**2 / (self.sizes * self.inflation).sum(axis=0)

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of Student's quantile: labels are what there is least of."""
        return max(min(float(self.effective[LABELLED]), self.clusters) - 1, 1.0)

    @cached_property
    def counts_rows(self) -> bool:
        """Whether labelled rows are independent draws of weight 1, which exact forms need."""
        return bool(np.all(self.units == 1)) and self.clusters == math.inf

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

    @cached_property
    def size_slopes(self) -> list[Mixing]:
        """Derivatives of the weights by each of the three sizes; every pair of models asks."""
        slopes = []
        step = _COMPLEX_STEP * self.sizes.sum(axis=0)
        for kind in ROW_KINDS:
            sizes = self.sizes.astype(complex)
            sizes[kind] += 1j * step
            mixed = mix(sizes, self.given, self.value, self.label_purity, self.sampling)
            slopes.append(_imaginary(mixed, step))
        return slopes

    def share_slope(self) -> Mixing:
        """Return derivatives of the weights by the share of positives among the unlabeled rows."""
        share = self.mixing.unlabeled_prevalence + 1j * _COMPLEX_STEP
        mixed = mix(self.sizes, "unlabeled_prevalence", share, self.label_purity, self.sampling)
        return _imaginary(mixed)

    def purity_slope(self) -> Mixing:
        """Return derivatives of the weights by the purity, the given share held fast."""
        purity = self.label_purity + 1j * _COMPLEX_STEP
        return _imaginary(mix(self.sizes, self.given, self.value, purity, self.sampling))


def _imaginary(mixing: Mixing, step: FloatArray | float = _COMPLEX_STEP) -> Mixing:
    return Mixing(*(np.imag(part) / step for part in vars(mixing).values()))


def kind_cells(counts: ScoreCounts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rows of each kind in each cell, in the order of a design."""
    return counts.positive, counts.unlabeled, counts.negative


def design_of(
    counts: ScoreCounts, shares: Shares | None, sampling: Sampling, target: Target
) -> MixtureDesign:
    """Return the design of counted rows; without shares the labels are pure."""
    question = shares, sampling, target
    cached = _LAST.get(counts, ())
    for before, design in cached:
        if before == question:
            return design
    design = _design_of(counts, *question)
    _LAST[counts] = ((question, design), *cached[: KEPT - 1])
    return design


def _design_of(
    counts: ScoreCounts, shares: Shares | None, sampling: Sampling, target: Target
) -> MixtureDesign:
    check_choice("target", target, TARGETS)
    counts.require("positive", "unlabeled")
    sizes, units = _sizes_and_units([counts])
    sizes, units = sizes[:, 0], units[:, 0]
    if shares is None:
        # Any share gives the metrics that need none; 0 makes all weights simplest.
        return MixtureDesign(
            sizes, units, "unlabeled_prevalence", 0.0, 1.0, sampling, target, share_known=False
        )
    value, purity = _given_value(counts, shares), shares.label_purity
    return MixtureDesign(sizes, units, shares.given, value, purity, shares.sampling, target)


def stack_designs(
    counts: Sequence[ScoreCounts], shares: Sequence[Shares], target: Target
) -> MixtureDesign:
    """Return one design for many tables of like shares: sizes of shape (3, tables) and values."""
    sizes, units = _sizes_and_units(counts)
    value = np.array([_given_value(*pair) for pair in zip(counts, shares, strict=True)])
    like = shares[0]
    return MixtureDesign(sizes, units, like.given, value, like.label_purity, like.sampling, target)


def _sizes_and_units(counts: Sequence[ScoreCounts]) -> tuple[FloatArray, FloatArray]:
    """Return the rows of each kind and the weight of one, a column a table."""
    sizes = np.array([kind_sizes(table) for table in counts]).T
    squares = np.array([table.squared_weight for table in counts]).T[[0, 2, 1]]
    return sizes, np.where(sizes > 0, squares / np.where(sizes > 0, sizes, 1.0), 1.0)


def _given_value(counts: ScoreCounts, shares: Shares) -> float:
    """Return the number that was given, as these rows have it."""
    if shares.given == "unlabeled_prevalence":
        return shares.unlabeled_prevalence
    return float(getattr(shares, shares.given)(counts))
