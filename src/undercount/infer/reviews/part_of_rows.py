"""Verdicts of a plan for all rows, as they speak of a part of them: a segment.

Which rows of a stratum were drawn is chance, and of those in a segment too: given how many they
are, they are a random sample of the segment's rows in that stratum.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from undercount.curve import FloatArray
from undercount.errors import InputError, named
from undercount.infer.reviews.stratum_shares import StratumShares
from undercount.infer.reviews.verdicts import (
    SHIFT,
    SLOPE,
    IntArray,
    ReviewedCells,
    Reviews,
    check_unchanged,
    places_in,
)

# Verdicts that a group of strata should have: with one, all of its rows are as that one was.
MIN_VERDICTS_PER_GROUP = 4


def reviews_of_part(reviews: Reviews, place: IntArray, unlabeled_scores: FloatArray) -> Reviews:
    """Return the verdicts on some rows as reviews of these rows.

    Parameters
    ----------
    reviews : Reviews
        Of all rows.
    place : array of int
        Positions of the rows of the part among all, ascending.
    unlabeled_scores : array
        Scores of those without a label.
    """
    if reviews.rows is None:
        raise InputError(
            f"{named('by')} needs {named('reviews')} that know which rows were reviewed",
            argument="by",
        )
    design, inside = reviews.design, np.isin(reviews.rows, place)
    if not np.any(inside & reviews.answered):
        raise InputError(
            "none of its rows has a verdict: review some of them, or ask for fewer segments",
            argument="reviews",
        )
    stratum = reviews.stratum[inside]
    rows = np.bincount(design.stratum_of(unlabeled_scores), minlength=design.n_strata)
    return Reviews(
        np.searchsorted(place, reviews.rows[inside]),
        reviews.verdict[inside],
        reviews.score[inside],
        stratum,
        replace(design, n_unlabeled=rows, order=stratum),
        None if reviews.weight is None else reviews.weight[inside],
    )


@dataclass(frozen=True, eq=False)
class PartCells(ReviewedCells):
    """Hold what verdicts say of the cells of a part of the rows.

    Where a stratum has no verdict in the part it joins a neighbour on the same side of the plan's
    threshold, and the guess with which verdicts are compared there is what all rows showed.

    Attributes
    ----------
    whole : ReviewedCells
        The cells of all rows, each of which holds cells of the part.
    """

    whole: ReviewedCells = field(kw_only=True)

    def __post_init__(self) -> None:
        check_unchanged(self.counts, self.reviews)
        group, joined = _join_few(self.reviews, self.whole)
        object.__setattr__(self, "group", group)
        if joined.any():
            place = places_in(self.whole.counts, self.counts)
            shown = StratumShares.of(self.whole).share[place]
            guess = np.where(joined[self.stratum], shown, self.posterior)
            object.__setattr__(self, "posterior", guess)

    @property
    def has_all(self) -> bool:
        """Whether all verdicts are on rows of the part."""
        return self.reviews.n_answered == self.whole.reviews.n_answered

    @cached_property
    def recalibrated(self) -> FloatArray:
        """How likely each unit is positive after a look at all verdicts, and at those of the part.

        A part may have more positives, or fewer, than all rows of the same scores.
        """
        shown = self.whole.recalibrated[places_in(self.whole.counts, self.counts)]
        if self.has_all:
            return np.asarray(shown)
        columns = np.stack([np.ones(len(shown)), logit(shown)], axis=1)
        return self.fit_verdicts(columns, np.array([0.0, 1.0]), np.array([SHIFT, SLOPE]))


def _join_few(reviews: Reviews, whole: ReviewedCells) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return the group of each stratum, and which of these groups join several of the plan's.

    From the highest scores on, groups of the plan join until they have verdicts enough, if there
    are so many on their side of the plan's threshold.
    """
    design, group = reviews.design, whole.group
    number = np.bincount(group, reviews.sizes)
    needed = np.minimum(MIN_VERDICTS_PER_GROUP, whole.reviewed_rows)
    flagged = np.zeros(len(number), dtype=bool)
    if design.threshold is not None:
        np.logical_or.at(flagged, group, design.edges >= design.threshold)
    sides = [side for side in (flagged, ~flagged) if number[side].any()]
    if len(sides) == 1:  # the other side has no verdict, or no stratum
        joins = _runs(number, needed)
    else:
        above, below = (_runs(number[side], needed[side]) for side in sides)
        joins = np.append(above, above[-1] + 1 + below)
    return joins[group], np.bincount(joins) > 1


def _runs(number: IntArray, needed: FloatArray) -> IntArray:
    """Return runs of neighbours that have enough together; too few at the end join the last."""
    run, seen, runs = 0, 0.0, []
    for has, needs in zip(number, needed, strict=True):
        runs.append(run)
        seen += has
        if seen >= needs:
            run, seen = run + 1, 0.0
    return np.minimum(runs, max(run - 1, 0))
