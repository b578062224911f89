"""Ends of the interval of a metric of reviewed rows, found by moving what the strata hide.

Near an end of its range, or with a handful of positives found, a metric is neither normal nor
linear in what verdicts show. So the hidden positives are moved, as far as verdicts leave it open,
and the metric is read again there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from undercount.assume.reviews import IntArray, ReviewedCells, sum_by
from undercount.curve import FloatArray
from undercount.read.intervals.stratum_shares import StratumShares

# A metric need not be monotone in what is hidden: it is read at these parts of the whole way.
PATH = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
# Part of a verdict that the end of a share's interval counts more, by the risk of one end: 1 in the
# exact interval, which holds whatever the share is, and too often on average; 1/2 in Jeffreys',
# which holds as often as it says on average over the shares, and less for some. At 95 % and above
# an interval is meant for all shares, at 90 % and below for the average.
RISKS, PARTS = (0.025, 0.05), (0.75, 0.5)
HALF = 0.5


@dataclass(frozen=True, eq=False)
class Side:
    """Hold the unlabeled rows among which a positive more moves a metric the same way.

    The sum over them of hidden positives, each counting what it moves, is a share of the most it
    can be. Its variance gives the number of verdicts that a plain sample would need for as much
    (Korn and Graubard 1998), and that number the exact ends, as for a share.

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
        The sum by the verdicts, by the smooth shares, and if all rows were positive.

    Of several sets of verdicts the last axis is that of the units.
    """

    moves: FloatArray
    more: FloatArray
    fewer: FloatArray
    found: FloatArray
    likely: FloatArray
    most: FloatArray

    def steps(self, risk: float, widened: FloatArray | float) -> Iterator[FloatArray]:
        """Return how many positives each unit gets more at the upper end, and at the lower one.

        `risk` is that of one end, and variances are taken `widened` times as large.
        """
        most = np.where(self.most > 0, self.most, 1.0)
        share = self.found / most
        for up, each in ((True, self.more), (False, self.fewer)):
            open_ = (each.sum(axis=-1) > 0) & (self.most > 0)
            total = np.where(open_, each.sum(axis=-1), 1.0)
            # The end beyond which nothing was seen rests on the smooth share.
            middle = np.where((share < HALF) == up, self.likely / most, share)
            middle = np.clip(middle, 1e-12, 1 - 1e-12)
            number = middle * (1 - middle) * most**2 / (total * widened)
            gap = (_share_end(share, number, risk, up=up) - share) * most
            gap = np.where(open_ & ((gap > 0) == up), gap, 0.0)
            if np.any(gap):
                by_unit = np.divide(
                    each, self.moves, out=np.zeros(each.shape), where=self.moves > 0
                )
                yield by_unit / total[..., None] * gap[..., None]


def _share_end(share: FloatArray, number: FloatArray, risk: float, *, up: bool) -> FloatArray:
    """Return an end of the interval of a share of a number of verdicts, whole or not."""
    yes, no, more = share * number, (1 - share) * number, part_more(risk)
    if up:
        return np.where(no <= 0, 1.0, betaincinv(yes + more, no + 1 - more, 1 - risk))
    return np.where(yes <= 0, 0.0, betaincinv(yes + 1 - more, no + more, risk))


def part_more(risk: float) -> float:
    """Return the part of a verdict that an end counts more, by its risk of missing the truth."""
    return float(np.interp(risk, RISKS, PARTS))


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
    few = seen <= HALF
    # Verdicts of the rarer kind, each of which counts for what it is seen to add.
    rarer = np.where(few[..., own], cells.verdict, 1 - cells.verdict)
    rarer = rarer * np.where(few, 1 - seen, seen)[..., own]
    rarer = rarer * (left / np.maximum(drawn - 1, 1))[own] * cells.weight**2
    for sign in (1.0, -1.0):
        moves = np.where(sign * turned > 0, np.abs(turned), 0.0)
        most = moves @ unlabeled
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
        found = moves @ (unlabeled * cells.posterior) + (moved * cells.excess).sum(axis=-1)
        yield Side(
            moves,
            np.where(few[..., stratum], outer, inner),
            np.where(few[..., stratum], inner, outer),
            np.clip(found, 0.0, most),
            (moves * unlabeled * shares.share).sum(axis=-1),
            most,
        )


def _spread(total: FloatArray, weight: FloatArray, stratum: IntArray) -> FloatArray:
    """Spread what each stratum has over its units, by their weights."""
    sums = sum_by(stratum, weight, total.shape[-1])
    each = np.divide(total, sums, out=np.zeros(total.shape), where=sums > 0)
    return np.asarray(weight * each[..., stratum])


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
