"""What reviews would buy an evaluation: how wide an interval is, and would be."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undercount.errors import InputError, collect_warnings
from undercount.infer.heads import threshold_of_top
from undercount.read.plan.expected_width import ExpectedWidths
from undercount.read.plan.goals import read_goals
from undercount.read.plan.hidden_positives import HiddenPositives
from undercount.read.plan.strata import first_design, with_goal
from undercount.read.plan.width_formula import formula_half_width

if TYPE_CHECKING:
    from undercount.infer.metric_row import MetricRow
    from undercount.read.evaluation import Evaluation

USUAL_BUDGET = 100
# Metrics of which both answers of reviews are shown, beside those of the table.
BOTH_ANSWERS = ("precision", "recall", "f1", "roc_auc", "average_precision")
# How sharp an answer is worth asking for where nothing can be said yet.
WORTH = 0.1


@dataclass(frozen=True)
class ReviewGain:
    """Hold half the width of a metric's interval without reviews, and what some would make it.

    Examples
    --------
    >>> from undercount.read.plan.review_gain import ReviewGain
    >>> ReviewGain("precision", 0.7, 100, 0.3, 0.07).helps
    True
    """

    metric: str
    threshold: float | None
    budget: int
    before: float
    after: float

    @property
    def helps(self) -> bool:
        """Whether the interval would be clearly narrower."""
        return self.after < 0.9 * self.before


def gain_of(evaluation: "Evaluation", budget: int = USUAL_BUDGET) -> ReviewGain | None:
    """Say what reviews would buy; nothing where rows have weights or were drawn apart."""
    counts, shares = evaluation.counts, evaluation.shares
    threshold, top = evaluation.threshold, evaluation.top
    metric = "roc_auc" if threshold is None and top is None else "precision"
    rows = evaluation.rows if top is None else evaluation.top_rows
    row = next((row for row in rows if row.metric == metric), None)
    single = shares.sampling == "single-sample" and shares.label_purity == 1
    if row is None or not row.estimate.exists or counts.weighted or not single:
        return None
    if evaluation.recovery.clusters is not None or not evaluation.basis.reviewable:
        return None
    before = (row.estimate.high - row.estimate.low) / 2
    if top is not None:  # where cells end: near enough
        threshold = threshold_of_top(counts, top)[0]
    budget = min(budget, int(counts.n_unlabeled))
    about = metric, threshold, budget, evaluation.confidence_level
    try:
        with collect_warnings():
            after = formula_half_width(counts, _hidden(evaluation), *about)
    except InputError:  # nothing is flagged, say: then no review tells its precision
        return None
    return ReviewGain(metric, row.threshold, budget, before, after)


def _hidden(evaluation: "Evaluation") -> HiddenPositives:
    return HiddenPositives.of(evaluation.recovery, by_labels=not evaluation.unknowns.given)


@dataclass(frozen=True)
class LackingReviews:
    """Hold the metrics of which verdicts say too little, and how many more would do.

    Attributes
    ----------
    silent, wide : tuple of MetricRow
        Rows of the table of which nothing can be said, and those that leave a wide range.
    row : MetricRow
        The one of them that needs the most reviews.
    needed : pair of int, optional
        So many are likely to do, and so many did in most draws; None: unknown.
    same_plan : bool
        Whether they are a further round of the same plan.
    """

    silent: "tuple[MetricRow, ...]"
    wide: "tuple[MetricRow, ...]"
    row: "MetricRow"
    needed: tuple[int, int] | None
    same_plan: bool


def lacking_reviews(evaluation: "Evaluation") -> LackingReviews | None:
    """Say which rows of the table lack verdicts, and how many more would do."""
    if evaluation.basis.review is None:
        return None
    silent = tuple(row for row in evaluation.rows if row.estimate.open)
    wide = tuple(
        row
        for row in evaluation.rows
        if row.estimate.wide and row.estimate.exists and row.metric in BOTH_ANSWERS
    )
    if not silent and not wide:
        return None
    needed = {row: reviews_for(evaluation, row, WORTH) for row in (*silent, *wide)}
    row, number = max(needed.items(), key=lambda pair: pair[1] or (0, 0))
    return LackingReviews(silent, wide, row, number, can_go_on(evaluation))


def reviews_for(
    evaluation: "Evaluation", row: "MetricRow", half_width: float
) -> tuple[int, int] | None:
    """Say how many more reviews, planned for it, would make a metric that sharp; None: unknown.

    The first number is what the verdicts so far make likeliest: with so many the interval was a
    tenth to a half wider in most draws. The second did in most. Reckoned as a plan with these
    reviews does. By another threshold than theirs, or another model's scores, no such plan is
    made: then it is how many a plan of its own would need.
    """
    try:
        with collect_warnings():
            widths = _planned_widths(evaluation, row.metric)
    except InputError:  # nothing is flagged, say: then no review tells its precision
        return None
    most = widths.budget_at_worst(row.metric, half_width)  # reads what is likely along with it
    usual = widths.budget_for(row.metric, half_width)
    return usual, max(usual, most)


def can_go_on(evaluation: "Evaluation") -> bool:
    """Say whether a further round of the same plan can be made for what is evaluated."""
    plan = evaluation.recovery.further_plan
    return plan is not None and plan.design.threshold == evaluation.threshold


def _planned_widths(evaluation: "Evaluation", metric: str) -> ExpectedWidths:
    """Return what a further round planned for a metric buys, or a plan of its own."""
    counts, level = evaluation.counts, evaluation.confidence_level
    plan, threshold = evaluation.recovery.further_plan, evaluation.threshold
    if plan is not None and can_go_on(evaluation):
        reviews = with_goal(plan, metric)
        return ExpectedWidths.of_further(counts, reviews.design, reviews, level)
    hidden, budget = _hidden(evaluation), min(USUAL_BUDGET, int(counts.n_unlabeled))
    design = first_design(counts, hidden, read_goals(metric, threshold), threshold, budget, 0)
    return ExpectedWidths.of_first(counts, design, hidden, level)
