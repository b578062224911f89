"""Ends of the interval of a metric of reviewed rows, found by moving what the strata hide.

Near an end of its range, or with a handful of positives found, a metric is neither normal nor
linear in what verdicts show. So the hidden positives are moved, as far as verdicts leave it open,
and the metric is read again there.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, betaln

from undercount.curve import FloatArray
from undercount.infer.reviews.stratum_shares import StratumShares
from undercount.infer.reviews.verdicts import IntArray, ReviewedCells, sum_by

# A metric need not be monotone in what is hidden: it is read at these parts of the whole way.
PATH = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
# Part of a verdict that the end of a share's interval counts more, by the risk of one end: 1 in the
# exact interval, which holds whatever the share is, and too often on average; 1/2 in Jeffreys',
# which holds as often as it says on average over the shares, and less for some. At 95 % and above
# an interval is meant for all shares, at 90 % and below for the average.
RISKS, VERDICT_PARTS = (0.025, 0.05), (0.75, 0.5)
HALF_ROW = 0.5
# Where so many times the verdicts are more than the rows that have none, these count one by one.
TIMES_LEFT = 10
# Of more rows than this, whole ones are no other than parts of rows.
MOST_COUNTED = 10_000
# Whole numbers of rows, and shares of half of them, are what they are but for rounding, whatever
# the order in which they were summed up.
ROUNDING, NEARLY_WHOLE = 1e-9, 1e-6


@dataclass(frozen=True, eq=False)
class Side:
    """Hold the rows that nobody looked at among which a positive more moves a metric the same way.

    The sum over them of hidden positives, each counting what it moves, is a share of the most it
    can be. Its variance gives the number of verdicts that a plain sample would need for as much
    (Korn and Graubard 1998), and that number the ends, as for a share of so many rows.

    Attributes
    ----------
    moves : array
        How far a positive in each unit moves the metric; 0 in the units of the other side.
    more, fewer : array
        Variance that each unit adds to the sum, as it matters for the upper and the lower end. In
        a stratum of few positives there may be many more of them (by the smooth share, since it
        may have shown none), but only fewer of those that were seen; where negatives are few, the
        other way round. A posterior that is off adds to both.
    found, likely, most : array
        The sum by the verdicts, by the smooth shares, and if all these rows were positive.

    row_weight : array
        Weight of a row of each unit, if rows have weights.

    Of several sets of verdicts the last axis is that of the units.
    """

    moves: FloatArray
    more: FloatArray
    fewer: FloatArray
    found: FloatArray
    likely: FloatArray
    most: FloatArray
    row_weight: FloatArray | float = 1.0

    def steps(self, risk: float, widened: FloatArray | float) -> Iterator[FloatArray]:
        """Return how many positives each unit gets more at the upper end, and at the lower one.

        `risk` is that of one end, and variances are taken `widened` times as large.
        """
        most = np.where(self.most > 0, self.most, 1.0)
        share = np.clip(self.found / most, 0.0, 1.0)
        smooth = np.clip(self.likely / most, 1e-12, 1 - 1e-12)
        for up, side in ((True, self.more), (False, self.fewer)):
            open_ = (side.sum(axis=-1) > 0) & (self.most > 0)
            total = np.where(open_, side.sum(axis=-1), 1.0)
            # The end beyond which nothing was seen rests on the smooth share.
            middle = np.where(
                (share < HALF_ROW - ROUNDING) == up, smooth, np.clip(share, 1e-12, 1 - 1e-12)
            )
            number, usual = (p * (1 - p) * most**2 / (total * widened) for p in (middle, smooth))
            heavy = (side * self.moves * self.row_weight).sum(axis=-1)
            rows = most * total / np.where(heavy > 0, heavy, 1.0)  # as heavy as those that vary
            end = _share_end(share, number, risk, up=up)
            few = open_ & (usual * TIMES_LEFT > rows) & (rows < MOST_COUNTED - HALF_ROW)
            if np.any(few):
                counted = _counted_ends(share, number, np.where(few, rows, 1.0), risk, up=up)
                end = np.where(few, counted, end)
            gap = end * most - self.found
            gap = np.where(open_ & ((gap > 0) == up), gap, 0.0)
            if np.any(gap):
                by_unit = np.divide(
                    side, self.moves, out=np.zeros(side.shape), where=self.moves > 0
                )
                yield by_unit / total[..., None] * gap[..., None]


def _share_end(share: FloatArray, number: FloatArray, risk: float, *, up: bool) -> FloatArray:
    """Return an end of the interval of a share of a number of verdicts, whole or not."""
    yes, no, more = share * number, (1 - share) * number, part_more(risk)
    if up:
        return np.where(no <= 0, 1.0, betaincinv(yes + more, no + 1 - more, 1 - risk))
    return np.where(yes <= 0, 0.0, betaincinv(yes + 1 - more, no + more, risk))


def _counted_ends(
    share: FloatArray, number: FloatArray, rows: FloatArray, risk: float, *, up: bool
) -> FloatArray:
    """Return the same where few rows are left, set by set."""
    given = np.broadcast_arrays(share, number, rows)
    sets = zip(*(column.ravel().tolist() for column in given), strict=True)
    ends = [_counted_end(p, verdicts, many, risk, up=up) for p, verdicts, many in sets]
    return np.reshape(np.array(ends), given[0].shape)


def _counted_end(share: float, number: float, rows: float, risk: float, *, up: bool) -> float:
    """Return the same for a number of rows so small that positives among them are whole ones.

    Of 7 rows 2 % are none or one. If n verdicts on other rows tell of these m, they are known as by
    n m / (n + m) verdicts on what these are drawn from. The n leave open a beta distribution of the
    share, and that share how many of the m are positive. With a whole verdict more this is the
    exact end for a population of so many rows (hypergeometric probabilities are those of the
    beta-binomial distribution).
    """
    seen = rows * number / max(rows - number, 1e-6 * rows)
    many, more = math.ceil(rows - NEARLY_WHOLE), part_more(risk) if up else 1 - part_more(risk)
    yes, no = share * seen + more, (1 - share) * seen + 1 - more
    positive = np.arange(many + 1.0)
    log = betaln(positive + yes, many - positive + no) - betaln(yes, no)
    log -= betaln(positive + 1, many - positive + 1) + math.log(many + 1)
    place = int(np.searchsorted(np.cumsum(np.exp(log)), 1 - risk if up else risk))
    # Which rows they are moves a metric as well, by about what half a row does.
    return (min(place, many) + (HALF_ROW if up else -HALF_ROW)) / many


def part_more(risk: float) -> float:
    """Return the part of a verdict that an end counts more, by its risk of missing the truth."""
    return float(np.interp(risk, RISKS, VERDICT_PARTS))


def sides_of(
    cells: ReviewedCells, shares: StratumShares, turned: FloatArray, *, spread: bool = False
) -> Iterator[Side]:
    """Split units by whether a positive more raises or lowers a metric.

    Parameters
    ----------
    cells, shares
        What was found, and how likely each unit is positive after that.
    turned : array
        How far the metric moves if a row of each unit turns out to be positive.
    spread : bool
        Whether verdicts count where their whole stratum is, not where they are.
    """
    unlabeled, stratum, own = cells.unlabeled, cells.stratum, cells.verdict_stratum
    rows, drawn = cells.unlabeled_rows, cells.reviewed_rows
    n_strata = len(rows)
    left = rows * np.maximum(rows - drawn, 0.0) / drawn
    seen = sum_by(own, cells.verdict, n_strata) / drawn
    few = seen <= HALF_ROW
    # Verdicts of the rarer kind, each of which counts for what it is seen to add.
    rarer = np.where(few[..., own], cells.verdict, 1 - cells.verdict)
    rarer = rarer * np.where(few, 1 - seen, seen)[..., own]
    rarer = rarer * (left / np.maximum(drawn - 1, 1))[own] * cells.weight**2
    for sign in (1.0, -1.0):
        moves = np.where(sign * turned > 0, np.abs(turned), 0.0)
        most = (moves * cells.unseen).sum(axis=-1)
        if not np.any(most > 0):
            continue
        outer = left * shares.variance(moves, n_strata) * shares.correction(drawn)
        outer = _spread(outer * cells.squared_weight, unlabeled * moves**2 * shares.spread, stratum)
        weight = unlabeled * moves**2
        inner = _spread(
            left * shares.flat_mismatch(moves, n_strata) * cells.squared_weight, weight, stratum
        )
        moved = cells.at_verdicts(moves)
        # Spread over a stratum, verdicts say nothing of where in it its positives are.
        inner = outer if spread else inner + cells.sum_verdicts(rarer * moved**2)
        if spread:
            found = (moves * cells.spread_unseen).sum(axis=-1)
        else:
            found = moves @ (unlabeled * cells.posterior) - (moves * cells.found).sum(axis=-1)
            found = found + (moved * cells.excess).sum(axis=-1)
        yield Side(
            moves,
            np.where(few[..., stratum], outer, inner),
            np.where(few[..., stratum], inner, outer),
            found,
            (moves * cells.unseen * shares.share).sum(axis=-1),
            most,
            np.sqrt(cells.squared_weight)[stratum],
        )


def open_variance(cells: ReviewedCells, shares: StratumShares) -> FloatArray:
    """Return the variance that each unit adds to the number of positives."""
    rows, drawn = cells.unlabeled_rows, cells.reviewed_rows
    left = rows * np.maximum(rows - drawn, 0.0) / drawn
    by_stratum = left * shares.variance(np.ones(len(cells.unlabeled)), len(rows))
    by_stratum = by_stratum * shares.correction(drawn) * cells.squared_weight
    return _spread(by_stratum, cells.unlabeled * shares.spread, cells.stratum)


def _spread(total: FloatArray, weight: FloatArray, stratum: IntArray) -> FloatArray:
    """Spread what each stratum has over its units, by their weights."""
    sums = sum_by(stratum, weight, total.shape[-1])
    shares = np.divide(total, sums, out=np.zeros(total.shape), where=sums > 0)
    return np.asarray(weight * shares[..., stratum])


class Gaps(NamedTuple):
    """How far a metric may lie below and above its value: a number, or one a set of verdicts."""

    low: Any
    high: Any


def moved_interval(
    sides: Iterator[Side],
    read: Callable[[FloatArray], FloatArray],
    risk: float,
    widened: FloatArray | float,
    further: tuple[float, float] = (0.0, 0.0),
) -> Gaps:
    """Return how far a metric may lie below and above its value, for each set of verdicts.

    Parameters
    ----------
    sides
        Which positives are open, and how far.
    read : callable
        How far the metric moves at each place of `PATH`, if units have so many more positives at
        its end.
    risk : float
        Chance of missing the truth at one end.
    widened : float
        By what variances are multiplied.
    further : pair of float
        What other sources of error add below and above.

    Notes
    -----
    Distances of the parts are added in squares (MOVER; Zou and Donner 2008).

    Assumes: rows were drawn by the plan; verdicts are right.
    Wrong when: a metric bends between the places of `PATH`; or a stratum hides positives of a kind
    that neither its verdicts nor the working posterior show, which a handful of verdicts cannot
    exclude.
    """
    below, above = (np.asarray(end**2) for end in further)
    for side in sides:
        for step in side.steps(risk, widened):
            moved = read(step)
            low, high = np.fmin.reduce(moved, axis=-1), np.fmax.reduce(moved, axis=-1)
            # Where it cannot be read anywhere on the way, it may be anything.
            below = below + np.where(np.isnan(low), np.inf, np.minimum(low, 0.0)) ** 2
            above = above + np.where(np.isnan(high), np.inf, np.maximum(high, 0.0)) ** 2
    return Gaps(-np.sqrt(below), np.sqrt(above))
