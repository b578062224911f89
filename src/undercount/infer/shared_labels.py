"""Errors that the share of hidden positives and a metric owe to the same labels.

By chance more labels than usual stand above a threshold: recall comes out too high. The share,
which is told by how far the scores of unlabeled rows look like those of labelled ones, comes out
too low by the same labels. In precision, their product, most of that is gone again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from undercount.curve import FloatArray
from undercount.infer.heads import FlaggedCounts
from undercount.infer.mixture import LABELLED, UNLABELED

# Shares nearer to 0 or 1 have no log odds that an error could be told on.
LEAST_LOG_ODDS_SHARE = 1e-4
# Steps over which slopes are taken, in log odds of the share and in rows above the threshold.
LOG_ODDS_STEP, HALF_A_ROW = 0.05, 0.5


class LabelPart(NamedTuple):
    """Say how far the chance of a segment's own labels is in its share.

    Attributes
    ----------
    variance : float
        Of the log odds of the segment's own estimate, by that chance.
    kept : float
        Part of it that pooling left: 1 of a share that nothing was drawn into.
    """

    variance: float
    kept: float


@dataclass(frozen=True)
class SharedLabels:
    """Hold how far a metric moves with the chance of the labels through the share.

    Attributes
    ----------
    square : array
        Square of that reach, at the confidence level.
    opposed : array
        Part of it that recall's own error takes back; below 0 if the two go the same way.
    """

    square: FloatArray
    opposed: FloatArray

    @classmethod
    def of(
        cls, heads: FlaggedCounts, metric: str, parts: Sequence[LabelPart | None], quantile: float
    ) -> "SharedLabels":
        """Look at one threshold of one set of rows, or of as many as there are parts.

        Notes
        -----
        Assumes: the share comes from the rows of the highest scores, so that its covariance with
        the logarithm of recall is the smaller of the two variances.
        Wrong when: the share comes from elsewhere; then pass no parts.
        """
        given_parts = [part or LabelPart(0.0, 0.0) for part in parts]
        variance, kept = np.array([(part.variance, part.kept) for part in given_parts]).T
        share = np.clip(
            np.asarray(heads.design.value, float), LEAST_LOG_ODDS_SHARE, 1 - LEAST_LOG_ODDS_SHARE
        )
        design, place = heads.design, logit(share)

        def at(by_share: float, by_label: float) -> Any:
            moved = np.array(heads.heads)
            moved[LABELLED] += by_label
            moved[UNLABELED] -= by_label  # as many rows are flagged
            there = replace(design, given="unlabeled_prevalence", value=expit(place + by_share))
            return FlaggedCounts(moved, there).point.metric(metric)

        slope = (at(LOG_ODDS_STEP, 0.0) - at(-LOG_ODDS_STEP, 0.0)) / (2 * LOG_ODDS_STEP)
        way = np.sign(slope) * np.sign(at(0.0, HALF_A_ROW) - at(0.0, -HALF_A_ROW))
        square = np.nan_to_num((quantile * slope) ** 2 * variance)
        return cls(square, np.nan_to_num(way * kept))

    def reach(self, by_chance: Any, by_share: Any, *, cut: Any = False) -> FloatArray:
        """Return how far an end lies from the value: both errors in squares, less what is common.

        `by_chance` is the distance that the chance of the labels makes, `by_share` that of the
        share's interval. Where the metric's range `cut` it, neither is as long as the error is,
        and nothing is taken off: two ends cut at 1 would leave no interval at all.
        """
        chance, share = np.maximum(by_chance, 0.0) ** 2, np.maximum(by_share, 0.0) ** 2
        common = self.opposed * np.minimum(np.minimum(self.square, chance), share)
        common = np.where(cut, np.minimum(common, 0.0), common)
        return np.asarray(np.sqrt(np.maximum(chance + share - 2 * common, 0.0)))


# A share from elsewhere, which the labels' own chance is not in.
NOT_SHARED = SharedLabels(np.zeros(()), np.zeros(()))


def over_share(
    value: Any,
    interval: tuple[Any, Any],
    ends: Sequence[Any],
    shared: SharedLabels = NOT_SHARED,
    cut: tuple[Any, Any] = (False, False),
) -> tuple[FloatArray, FloatArray]:
    """Return an interval that holds the error of an estimated share too, of one value or many.

    The distance to the value at either end of the share's interval and that to the end of the
    interval at the share itself add in squares, each side by itself (Zou and Donner's MOVER). A
    slope would carry a wide interval of the share far outside what its ends allow.

    Parameters
    ----------
    value, interval : array, pair of arrays
        The estimate at the share in use, with the interval that it has there.
    ends : pair of arrays
        The values at both ends of the share's interval, in any order.
    shared : SharedLabels
        What the labels do to share and value alike.
    cut : pair
        Whether the lower and the upper end had to be pulled into the metric's range.

    Notes
    -----
    Assumes: the error of the share is independent of the chance of the labels but for what is
    `shared`, and its interval has the same confidence level.
    Wrong when: few rows are labelled and the share hangs on the same few.

    Examples
    --------
    >>> from undercount.infer.shared_labels import over_share
    >>> [round(float(end), 4) for end in over_share(0.5, (0.47, 0.54), (0.46, 0.53))]
    [0.45, 0.55]
    """
    moves = value - np.fmin(*ends), np.fmax(*ends) - value
    falls, rises = (np.where(np.isnan(move), 0.0, move) for move in moves)  # nowhere to go
    low, high = interval
    return (
        value - shared.reach(value - low, falls, cut=cut[0]),
        value + shared.reach(high - value, rises, cut=cut[1]),
    )


def cut_sides(raw: Any, ends: Any) -> tuple[Any, Any]:
    """Tell whether the lower and the upper of a metric's two ends had to be pulled into its range.

    `raw` holds the metric at both ends of a share's interval, `ends` the same of rates inside
    [0, 1].

    Examples
    --------
    >>> from undercount.infer.shared_labels import cut_sides
    >>> [bool(side) for side in cut_sides([0.6, 1.2], [0.6, 1.0])]
    [False, True]
    """
    first, last = ~np.isclose(raw, ends, rtol=1e-9, atol=1e-12)
    rises = np.asarray(ends[1]) >= np.asarray(ends[0])
    return np.where(rises, first, last), np.where(rises, last, first)
