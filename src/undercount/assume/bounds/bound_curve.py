"""The worst and the best curve that the labels leave possible (Claesen et al. 2015)."""

from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np

from undercount.assume.bounds.attainable import HiddenPath, Side, path_stops, path_tables, tighten
from undercount.assume.bounds.hidden_limits import (
    Rounding,
    check_setting,
    hidden_limits,
    hidden_rows,
    share_ends,
    warn_misfit,
)
from undercount.assume.bounds.tables import ContingencyTables, sorted_curve
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, OperatingCurve
from undercount.errors import InputError, check_choice, named
from undercount.shares import Shares
from undercount.theory.bands import ENDLESS, Band, CdfBand, cdf_band

Basis: TypeAlias = Literal["positive", "negative", "tightest"]
BOUND_BASES = get_args(Basis)
SIDES: tuple[Side, ...] = get_args(Side)


class _BoundOptions(NamedTuple):
    """What `bound_curve` was asked for."""

    confidence_level: float
    band: Band
    simultaneous: bool
    rounding: Rounding
    random_state: Any


def bound_curve(
    counts: ScoreCounts,
    shares: Shares,
    *,
    confidence_level: float = 0.95,
    band: Band = "hypergeometric",
    simultaneous: bool = True,
    rounding: Rounding = "sharp",
    basis: Basis = "positive",
    random_state: Any = None,
) -> CurveBounds:
    """Bound the curve of this data set by the worst and the best that the labels leave possible.

    A band around the rank distribution of the labelled positives says how many hidden positives
    can stand above each score (Claesen et al. 2015, sections 4 and 5).

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows (Claesen's β). Of a range the low end serves
        the pessimistic and the high end the optimistic curve; below the diagonal, where the
        prevalence works the other way (Lemma 4), it is the reverse. It misfits if both ends do.
    confidence_level : float
        Level of the band.
    band : {"hypergeometric", "binomial", "dkw", "bootstrap"}
        See `cdf_band`. Only "hypergeometric" and "dkw" cover the hidden positives.
    simultaneous : bool
        True: the level holds along the whole curve, and the curves are the tight ones, each
        reached by one labelling of the rows. False: the level holds at each score alone, and the
        curves go through the tables of Theorem 1, as in the paper.
    rounding : {"sharp", "paper", "none"}
        See `bound_tables`.
    basis : {"positive", "negative", "tightest"}
        Whose ranks the band is made of: the labelled positives', the labelled negatives' (the
        flip: β becomes 1 - β), or whichever gives narrower bounds.
    random_state : int or numpy.random.Generator, optional
        Seed of the bootstrap band.

    Returns
    -------
    CurveBounds
        Pessimistic and optimistic curve.

    Notes
    -----
    Assumes: the labelled rows of the basis are a random sample of their class, and wrong labels one
    of the negatives; the prevalence, or its range, and the purity are right. For an interval of the
    AUC alone `roc_auc` is narrower.
    Wrong when: some positives are more likely to be labelled than others. A band that leaves no
    possible table at some score is reported by a `MisfitWarning` with its size in rows. In
    large tables of merged cells the average precision counts some neighbouring positives as tied.
    Of impure labels the bounds forget that labelled rows are among those bounded: they are wide.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(2000) < 600
    >>> score = rng.normal(positive, 1)
    >>> y = np.where(positive & (rng.random(2000) < 0.5), 1.0, np.nan)
    >>> counts = uc.ScoreCounts.from_rows(y, score, compact=True)
    >>> bounds = uc.bound_curve(counts, uc.Shares.from_positives(counts, 600))
    >>> round(bounds.roc_auc.low, 2), round(bounds.roc_auc.high, 2)
    (0.7, 0.82)
    """
    check_setting(counts, shares, rounding)
    check_choice("basis", basis, BOUND_BASES)
    options = _BoundOptions(confidence_level, band, simultaneous, rounding, random_state)
    if basis == "tightest":
        bounds, misfit = _bound_tightest(counts, shares, options)
    else:
        bounds, misfit = _bound_by(counts, shares, basis, options)
    warn_misfit(misfit, stacklevel=2)
    return bounds


def _bound_tightest(
    counts: ScoreCounts, shares: Shares, options: _BoundOptions
) -> tuple[CurveBounds, float]:
    """Return the bounds of the better basis.

    Simultaneous bounds choose by the numbers of rows alone, not by the result, so that choosing
    costs no coverage: in rows, a band is as wide as m √(1/n + 1/m) for n labelled and m hidden.
    Pointwise ones choose the narrower area, as the paper does (appendix C).
    """
    if not options.simultaneous:
        bounds = [_bound_by(counts, shares, side, options) for side in SIDES]
        return min(bounds, key=lambda pair: pair[0].roc_auc.width)
    counts.require(*SIDES)
    hidden = hidden_rows(counts, shares.unlabeled_prevalence, options.rounding)
    missing = {"positive": hidden, "negative": counts.n_unlabeled - hidden}
    width = {
        side: missing[side] ** 2 / counts.effective_size(side) + missing[side] for side in SIDES
    }
    return _bound_by(counts, shares, min(SIDES, key=lambda side: width[side]), options)


class _ShareEnd(NamedTuple):
    """The two paths at one share of positives among the unlabeled rows."""

    n_hidden: float
    pessimistic: HiddenPath
    optimistic: HiddenPath
    misfit: float


def _bound_by(
    counts: ScoreCounts, shares: Shares, basis: Side, options: _BoundOptions
) -> tuple[CurveBounds, float]:
    """Return the curves and the misfit in rows."""
    counts.require(basis)
    low, high = share_ends(shares)
    if low < high and counts.n_negative == 0:
        high = min(high, 1 - 1 / counts.n_unlabeled)  # a range must leave a negative row
    every = [Setting.of(counts, shares, share) for share in sorted({low, max(low, high)})]
    ends = [_paths_at(setting, basis, options) for setting in every]
    curves = []
    for worse in (True, False):
        paths = [end.pessimistic if worse else end.optimistic for end in ends]
        stops = path_stops(paths, row_by_row=not options.simultaneous)
        pairs = zip(paths, ends, strict=True)
        tables = [path_tables(path, shares, end.n_hidden, stops) for path, end in pairs]
        curves.append(_outer_curve(tables, worse=worse))
    return CurveBounds(curves[0], curves[1]), min(end.misfit for end in ends)


class Setting(NamedTuple):
    """Hold the rows whose positives are sought, and how many there are.

    Attributes
    ----------
    labels, rows : ScoreCounts
        Counts with the labels, and those in which the rows to sort out are unlabeled: if labels
        may be wrong, all rows that are not known to be negative.
    share, purity : float
        Share of positives among these rows, and among the labelled ones.
    """

    labels: ScoreCounts
    rows: ScoreCounts
    share: float
    purity: float
    apart: bool

    @classmethod
    def of(cls, counts: ScoreCounts, shares: Shares, share: float) -> Self:
        """Take a share of positives among the unlabeled rows."""
        purity, apart = shares.label_purity, shares.sampling == "case-control"
        if purity == 1:
            return cls(counts, counts, share, purity, apart)
        labelled = counts.positive * (0.0 if apart else 1.0)
        unlabeled, squares = counts.unlabeled + labelled, counts.squared_weight
        rows = replace(
            counts,
            positive=np.zeros(len(counts.score)),
            unlabeled=unlabeled,
            squared_weight=(0.0, squares[1], squares[2] + (0.0 if apart else squares[0])),
            rows=None,
        )
        positives = purity * labelled.sum() + share * counts.n_unlabeled
        return cls(counts, rows, float(positives / unlabeled.sum()), purity, apart)

    def band_of_positives(self, options: _BoundOptions) -> CdfBand:
        """Return the band of the positives, with whom labelled rows hold some negatives.

        Positives and negatives were labelled at random each, in the proportion κ to 1 - κ, so that
        g = κ F1 + (1-κ) F0 is known within the band of so many labelled rows: drawn from each
        class by itself they vary less than drawn at once. And Q = π F1 + (1-π) F0 is counted.
        """
        labels, kappa, share = self.labels, self.purity, self.share
        size = labels.effective_size("positive")
        others = ENDLESS * size
        if self.apart:  # the curve is that of the unlabeled rows, which vary themselves
            effective = labels.effective_size("unlabeled")
            others = effective * min(share / kappa, (1 - share) / (1 - kappa))
        band = cdf_band(
            labels.positive,
            n_hidden=max(round(others), 1),
            confidence_level=options.confidence_level,
            band=options.band,
            simultaneous=options.simultaneous,
            effective_size=size if labels.weighted else None,
            random_state=options.random_state,
        )
        everyone = np.cumsum(self.rows.unlabeled) / self.rows.n_unlabeled
        lower, upper = (
            ((1 - share) * limit - (1 - kappa) * everyone) / (kappa - share)
            for limit in (band.lower, band.upper)
        )
        return CdfBand(lower, upper, band.local_level)


def _paths_at(setting: Setting, basis: Side, options: _BoundOptions) -> _ShareEnd:
    counts, share = setting.rows, setting.share
    n_hidden = hidden_rows(counts, share, options.rounding)
    if n_hidden >= counts.n_unlabeled and counts.n_negative == 0:
        raise InputError(
            f"no negative row is left: {named('unlabeled_prevalence')} {share:.6g} makes all "
            f"{counts.n_unlabeled:,.6g} unlabeled rows positive and none is labelled negative"
        )
    if setting.purity < 1 and basis == "positive":
        limits = setting.band_of_positives(options)
    else:
        limits = _hidden_band(counts, n_hidden, basis, options)
    limits_at = hidden_limits(counts, share, limits.lower, limits.upper, options.rounding)
    if options.simultaneous:
        least, most, misfit = tighten(counts, limits_at)
    else:
        least, most, misfit = (
            limits_at.clip(limits_at.low),
            limits_at.clip(limits_at.high),
            limits_at.misfit,
        )
    return _ShareEnd(
        n_hidden,
        HiddenPath.follow(counts, least, limits_at.low, basis),
        HiddenPath.follow(counts, most, limits_at.high, basis),
        misfit,
    )


def _hidden_band(
    counts: ScoreCounts, n_hidden: float, basis: Side, options: _BoundOptions
) -> CdfBand:
    """Return the band of the hidden positives, read off either class."""
    same = n_hidden if basis == "positive" else counts.n_unlabeled - n_hidden
    scale = counts.effective_size("unlabeled") / counts.n_unlabeled
    band = cdf_band(
        getattr(counts, basis),
        n_hidden=round(same * scale),
        confidence_level=options.confidence_level,
        band=options.band,
        simultaneous=options.simultaneous,
        effective_size=counts.effective_size(basis) if counts.weighted else None,
        random_state=options.random_state,
    )
    if basis == "positive" or n_hidden == 0:
        return band
    # head = hidden positives + hidden negatives, so few of the one are many of the other.
    heads = counts.cumulative()[2][1:]
    lower, upper = (heads - same * limit for limit in (band.upper, band.lower))
    return CdfBand(lower / n_hidden, upper / n_hidden, band.local_level)


def _outer_curve(ends: list[ContingencyTables], *, worse: bool) -> OperatingCurve:
    """Take at each score the end of the prevalence range with the worse (or better) FPR.

    Above the diagonal that is the low (high) one. Where the ends change over, the true-positive
    rate is kept monotone on the safe side.
    """
    if len(ends) == 1:
        return ends[0].curve
    chosen, other = ends if worse else ends[::-1]
    fpr, tpr, other_fpr, other_tpr = chosen.fpr, chosen.tpr, other.fpr, other.tpr
    swap = other_fpr > fpr if worse else other_fpr < fpr
    fpr, tpr = np.where(swap, other_fpr, fpr), np.where(swap, other_tpr, tpr)
    tpr = np.minimum.accumulate(tpr[::-1])[::-1] if worse else np.maximum.accumulate(tpr)
    return sorted_curve(chosen, tpr, fpr)
