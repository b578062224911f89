"""Plan reviews of rows where they live: count once, choose strata, draw in one more pass."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from undercount.count.draw import draw_rows, sample_models, sample_scores
from undercount.count.frames import count_scores
from undercount.count.knots import knots_at
from undercount.count.review_file import ReviewSheet, write_review_file
from undercount.counts import ScoreCounts
from undercount.errors import Check
from undercount.estimate import Interval
from undercount.infer.reviews.sheet import join_rounds, make_sheet, sheet_reviews
from undercount.infer.reviews.verdicts import ReviewDesign
from undercount.read.plan import BUDGETS, check_places, design_reviews, with_goal
from undercount.read.prices import Prices
from undercount.read.rival import Rival
from undercount.read.supposed_share import suppose_share
from undercount.read.unlabeled_rows import knots_of


@dataclass(frozen=True, eq=False)
class RowPlan:
    """Hold the rows to look at, best first, and what looking at them buys.

    Attributes
    ----------
    sheet : ReviewSheet
        The rows with the columns that were kept.
    design : ReviewDesign
        Strata and order.
    counts : ScoreCounts
        Counts of all rows by the score that makes the strata.
    expected : dict
        Budget → goal → expected half-width of its interval.
    prices : Prices
        Answers what any other budget buys.
    expected_range : dict
        Budget → goal → least and largest half-width that may well be.
    checks : tuple of Check
        Whether rows score just what a threshold is in single precision (UC024).
    """

    sheet: ReviewSheet
    design: ReviewDesign
    counts: ScoreCounts
    expected: dict[int, dict[str, float]]
    prices: Prices
    expected_range: dict[int, dict[str, Interval]] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    def to_csv(self, path: str | Path) -> None:
        """Write the file in which people answer, whole or not at all."""
        write_review_file(self.sheet, path)


def plan_rows(
    frame: Any,
    *,
    label: str,
    score: str | Sequence[str],
    budget: int,
    goal: str | Sequence[str] = "f1",
    threshold: float | None = None,
    other_threshold: float | None = None,
    unlabeled: float | None = None,
    keep: Sequence[str] = (),
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    random_state: int = 0,
    confidence_level: float = 0.95,
) -> RowPlan:
    """Plan which rows of a data frame to look at, where they live.

    Parameters
    ----------
    frame : pandas, polars (eager or lazy), pyarrow, DuckDB, Ibis, Dask, PySpark
        Three passes; only counts and the rows of the plan leave the engine.
    label, unlabeled
        Column of labels, and its value that means unlabeled.
    score : str or sequence of str
        Column of scores; of several the first makes the strata, the second is the other model of a
        goal "difference", and all are written down.
    budget : int
        Number of rows that somebody can look at.
    goal : str or sequence of str
        Metrics to make sharp, or "prevalence".
    threshold : float, optional
        At which goals that need one are meant.
    other_threshold : float, optional
        The second model's threshold, by default the same.
    keep : sequence of str
        Columns that the people who answer shall see.
    prevalence, unlabeled_prevalence : number, (low, high) or Estimate, optional
        What is supposed of the share of positives among all rows, or among the unlabeled ones;
        None: estimated as in `evaluate`. A wrong one makes the plan less sharp and nothing wrong.
    random_state : int
        Seed of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([1, np.nan], 500, p=[0.1, 0.9])
    >>> frame = pd.DataFrame({"y": y, "s": rng.random(500)})
    >>> plan = uc.plan_rows(frame, label="y", score="s", budget=20, goal="prevalence")
    >>> len(plan.sheet.row), sorted(plan.expected)
    (20, [20, 25, 50, 100, 200])
    """
    names = [score] if isinstance(score, str) else list(score)
    sample = sample_scores(frame, label=label, score=names[0], unlabeled=unlabeled)
    knots = [*knots_of(sample), *knots_at(threshold)]
    counts = count_scores(
        frame, label=label, score=names[0], unlabeled=unlabeled, compact=True, knots=knots
    )
    counts.require("positive", "unlabeled")
    at = threshold if other_threshold is None else other_threshold
    rival = count_rival(frame, label, names, at, unlabeled)
    supposed = suppose_share(
        {names[0]: counts}, prevalence=prevalence, unlabeled_prevalence=unlabeled_prevalence
    )
    design = design_reviews(
        counts,
        budget=budget,
        goal=goal,
        threshold=threshold,
        unlabeled_prevalence=supposed.value,
        random_state=random_state,
        rival=rival,
    )
    return draw_plan(
        frame,
        design,
        counts,
        label=label,
        score=names,
        unlabeled=unlabeled,
        keep=keep,
        confidence_level=confidence_level,
        rival=rival,
        span=supposed.span,
    )


def count_rival(
    frame: Any,
    label: str,
    names: Sequence[str],
    threshold: float | None = None,
    unlabeled: float | None = None,
) -> Rival | None:
    """Count the scores of the second model, and sample rows by both; None if there is but one."""
    if len(names) == 1:
        return None
    first, own = sample_models(frame, label, names[:2], unlabeled)
    knots = [*knots_of(np.sort(own)), *knots_at(threshold)]
    counts = count_scores(
        frame, label=label, score=names[1], unlabeled=unlabeled, compact=True, knots=knots
    )
    return Rival(counts, threshold, first, own)


def draw_plan(
    frame: Any,
    design: ReviewDesign,
    counts: ScoreCounts,
    *,
    label: str,
    score: Sequence[str],
    unlabeled: float | None = None,
    keep: Sequence[str] = (),
    confidence_level: float = 0.95,
    earlier: ReviewSheet | None = None,
    rival: Rival | None = None,
    span: Interval | None = None,
) -> RowPlan:
    """Draw the rows of a design, and say what they buy.

    Rows that have a verdict in an earlier sheet are not drawn, and stand before the new ones.
    """
    reviews, skip = None, None
    if earlier is not None:
        done, known = ~np.isnan(earlier.verdict), next(iter(earlier.scores.values()))
        skip = dict(zip(earlier.row[done].tolist(), known[done].tolist(), strict=True))
        reviews = with_goal(sheet_reviews(earlier), design.goal)
    drawn = draw_rows(
        frame,
        label=label,
        score=score,
        edges=design.edges,
        n_unlabeled=design.n_unlabeled,
        sizes=design.sizes(),
        unlabeled=unlabeled,
        keep=keep,
        seed=design.seed,
        skip=skip,
    )
    columns = {"label": label, "unlabeled": unlabeled, "keep": list(keep)}
    prices = Prices.of(counts, design, confidence_level, reviews, rival, span)
    n = len(design.order)
    budgets = sorted({*(b for b in BUDGETS if b < counts.n_unlabeled), n})
    sheet = make_sheet(design, drawn, counts, columns)
    sheet = sheet if earlier is None else join_rounds(earlier, sheet)
    found = prices.table(budgets), prices, prices.ranges(budgets)
    return RowPlan(sheet, design, counts, *found, check_places(counts, design, rival))
