"""A plan of reviews: which unlabeled rows to look at, and what that buys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import read_labels
from undercount.count.draw import DrawnRows
from undercount.count.review_file import ReviewSheet, write_review_file
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import Check, InputError
from undercount.estimate import Interval
from undercount.infer.reviews.sheet import join_rounds, make_sheet
from undercount.infer.reviews.verdicts import IntArray, ReviewDesign, Reviews
from undercount.read.evaluation import render
from undercount.read.plan.expected_width import ExpectedWidths

# Budgets of which a plan says what they buy, beside the one asked for.
BUDGETS = (25, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True, eq=False)
class ReviewPlan:
    """Hold which rows to look at, best first, and what that buys.

    Attributes
    ----------
    design : ReviewDesign
        Strata and order.
    drawn : DrawnRows
        The rows in that order: their places in the data, scores, and the columns that were kept.
    counts : ScoreCounts
        Counts of all rows by the score that makes the strata.
    widths : ExpectedWidths
        Answers what any number of reviews buys.
    earlier : Reviews or None
        What was found before this round.
    earlier_sheet : ReviewSheet or None
        The file in which that was answered.
    weight : array or None
        Weights of the rows.
    cluster : array or None
        Whose each row is. Rows are drawn one by one, not by cluster: a verdict on each is worth
        as much whoever else is in the plan.
    checks : tuple of Check
        Whether rows score just what a threshold is in single precision (UC024).
    columns : mapping
        Names of the columns, for the file to answer in.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.1
    >>> y = np.where(truth & (rng.random(5000) < 0.3), 1, 0)
    >>> plan = uc.plan_reviews(y, rng.normal(2 * truth), unlabeled=0, budget=50, threshold=1.5)
    >>> len(plan.rows), plan.expected[100]["f1"] < plan.expected[50]["f1"]
    (50, True)
    """

    design: ReviewDesign
    drawn: DrawnRows = field(repr=False)
    counts: ScoreCounts = field(repr=False)
    widths: ExpectedWidths = field(repr=False)
    earlier: Reviews | None = field(default=None, repr=False)
    earlier_sheet: ReviewSheet | None = field(default=None, repr=False)
    weight: FloatArray | None = None
    cluster: NDArray[Any] | None = field(default=None, repr=False)
    checks: tuple[Check, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return str(render("plan text", self))

    @property
    def confidence_level(self) -> float:
        """Of the intervals that are foretold."""
        return self.widths.confidence_level

    @property
    def rows(self) -> IntArray | None:
        """Positions in the data, best first; None where rows of an engine have no order."""
        ordered = bool((self.drawn.row > 0).all())
        return self.drawn.row.astype(np.intp) - 1 if ordered else None

    @property
    def score(self) -> FloatArray:
        """Scores of the rows by the model whose scores make the strata."""
        return next(iter(self.drawn.scores.values()))

    @property
    def stratum(self) -> IntArray:
        """Stratum of each row."""
        return self.design.order

    @property
    def chance(self) -> FloatArray:
        """Chance that each row had of being chosen."""
        share = self.design.sizes() / np.maximum(self.design.n_unlabeled, 1)
        return np.asarray(share[self.stratum])

    @property
    def budgets(self) -> list[int]:
        """Numbers of reviews of which is said what they buy."""
        seen = 0 if self.earlier is None else self.earlier.n_answered
        left = int(self.design.n_unlabeled.sum()) - seen
        return sorted({*(b for b in BUDGETS if b < left), len(self.stratum)})

    @cached_property
    def expected(self) -> dict[int, dict[str, float]]:
        """Budget → goal → expected half-width of its interval; worked out when it is read."""
        return self.widths.table(self.budgets)

    @cached_property
    def expected_range(self) -> dict[int, dict[str, Interval]]:
        """Budget → goal → least and largest half-width that may well be.

        Labels may prefer some positives, the hidden share is not known, and which rows are drawn
        is left to chance.
        """
        return self.widths.ranges(self.budgets)

    def budget_for(self, metric: str, half_width: float) -> int:
        """Return how many reviews make the interval of a goal that narrow."""
        return self.widths.budget_for(metric, half_width)

    def to_frame(self) -> dict[str, Any]:
        """Return the plan as columns, ready for any data frame's constructor."""
        return {
            "row": self.rows,
            "score": self.score,
            "stratum": self.stratum,
            "chance": self.chance,
            **({} if self.cluster is None else {"cluster": self.cluster}),
        }

    def answered(self, verdicts: Any) -> Reviews:
        """Join verdicts, in the order of the plan: 1, 0, or missing; the last may be left out.

        Those of earlier rounds that the plan was made with are among them.
        """
        answers = np.full(len(self.stratum), -1, dtype=np.int8)
        given = read_labels(verdicts, -1)
        if len(given) > len(answers):
            raise InputError(f"{len(given)} verdicts for a plan of {len(answers)} rows")
        answers[: len(given)] = given
        now = Reviews(self.rows, answers, self.score, self.stratum, self.design, self.weight)
        return now if self.earlier is None else self.earlier + now

    @cached_property
    def sheet(self) -> ReviewSheet:
        """The file in which people answer; cases answered before stand first."""
        sheet = make_sheet(self.design, self.drawn, self.counts, self.columns)
        return sheet if self.earlier_sheet is None else join_rounds(self.earlier_sheet, sheet)

    def to_csv(self, path: str | Path) -> None:
        """Write the file in which people answer, whole or not at all."""
        write_review_file(self.sheet, path)
