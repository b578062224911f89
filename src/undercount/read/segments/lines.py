"""The line of one segment in a table, and what cannot be said of it."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from undercount.assume.base import ReportOptions
from undercount.assume.segments import SegmentDoubt
from undercount.counts import ScoreCounts
from undercount.errors import CODES, NOT_IDENTIFIED, Check, InputError, collect_warnings
from undercount.estimate import Estimate
from undercount.infer.heads import ranked_rows
from undercount.infer.labelled import labelled_curve
from undercount.infer.metric_name import parse_metric, short_number
from undercount.infer.metric_row import MetricRow
from undercount.infer.segmented_rows import FEWEST_LABELS, why_not
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.metric_facts import FACTS
from undercount.read.evaluation import TOP_METRICS, Evaluation
from undercount.read.require.requirement import Judgement

POINT_COLUMNS = ("recall", "precision")
AREA_COLUMNS = ("roc_auc", "average_precision")

UNLIKE = (
    "segments are not labelled alike (UC022), and its share is not known; give each its own "
    "prevalence, or review some rows of each"
)
UNTESTED = (
    "whether segments are labelled alike cannot be tested (UC022), and its share rests on that; "
    "give each its own prevalence, or review some rows of each"
)


@dataclass(frozen=True)
class SegmentRow:
    """Hold what the table says of one segment.

    Attributes
    ----------
    counts : ScoreCounts
    own_share : Estimate, optional
        The share of hidden positives that the segment's own scores tell.
    share : Estimate, optional
        The share that is used: pooled over segments, or given.
    rows : tuple of MetricRow
        The metrics; empty if nothing can be said.
    note : str
        What cannot be said, and why; empty if everything can.
    """

    segment: Hashable
    counts: ScoreCounts = field(repr=False)
    own_share: Estimate | None = None
    share: Estimate | None = None
    rows: tuple[MetricRow, ...] = ()
    note: str = ""


def segment_metrics(wanted: ReportOptions, threshold: float | None) -> Sequence[str]:
    """Return the metrics of the table: those asked for, or the few that a line has room for.

    Those at further thresholds and of the highest rows follow; metrics without a place of their
    own are read there alone if there is no threshold.
    """
    usual = AREA_COLUMNS if threshold is None else POINT_COLUMNS
    chosen = list(usual if wanted.metrics is None else wanted.metrics)
    names = [name for name in map(parse_metric, chosen) if not name.placed]
    moved = [name.metric for name in names if name.metric not in SWEPT_AREAS]
    further = [f"{metric}@{at:.17g}" for at in wanted.thresholds for metric in moved]
    tops = [top for top in (wanted.top, *wanted.tops) if top is not None]
    if tops and threshold is None:
        chosen = [text for text in chosen if parse_metric(text).placed]
    # All digits, of which a label may show fewer.
    places = [repr(float(top)) if top < 1 else f"{float(top):.17g}" for top in tops]
    highest = [f"{metric}@top {place}" for place in places for metric in TOP_METRICS]
    return [*chosen, *further, *highest]


def labelled_words(counts: ScoreCounts, metrics: Sequence[str], threshold: float | None) -> str:
    """Write what labels say of a segment in which every row has one; empty if both kinds are not.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.read.segments.lines import labelled_words
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    >>> labelled_words(counts, ["recall", "roc_auc"], 0.6)
    'recall@0.6 0.500, ROC AUC 0.750'
    """
    if counts.n_unlabeled > 0 or min(counts.n_positive, counts.n_negative) == 0:
        return ""
    curve, words = labelled_curve(counts), []
    for text in metrics:
        name = parse_metric(text)
        at = threshold if name.threshold is None else name.threshold
        if name.top is not None:
            return ""
        if FACTS[name.metric].family != "threshold":
            words.append(f"{FACTS[name.metric].title} {getattr(curve, name.metric):.3f}")
        elif at is not None:
            value = getattr(curve.at(at), name.metric)
            words.append(f"{FACTS[name.metric].title}@{short_number(at)} {value:.3f}")
    return ", ".join(words)


def small_words(counts: ScoreCounts, *, pooled: bool) -> str:
    """Say that a segment has few labels, and whose share it has if shares were pooled."""
    labels = counts.effective_size("positive")
    if labels >= FEWEST_LABELS:
        return ""
    only = f"only {labels:.0f} labelled row{'' if round(labels) == 1 else 's'}"
    share = "its hidden share is that of the other segments, " if pooled else ""
    return f"{only}: {share}its interval{'' if pooled else ' is'} a rough one"


def unsure_words(rows: Sequence[MetricRow]) -> str:
    """Name the metrics that do not exist in a segment."""
    absent = [row for row in rows if not row.estimate.exists and row.top is None]
    gone = [FACTS[row.metric] for row in absent]
    why = {"threshold": "no row is flagged"}
    reasons = {why.get(facts.family, "too few labels") for facts in gone}
    names = ", ".join(facts.title for facts in gone)
    return f"{names} does not exist: {' or '.join(sorted(reasons))}" if gone else ""


def hidden_share(evaluation: Evaluation) -> Estimate:
    """Return the share of hidden positives that an evaluation uses, with its interval.

    The range alone where labels and scores point to no value in it.
    """
    shares, level = evaluation.shares, evaluation.confidence_level
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    low, high = (span.low, span.high) if span else (value, value)
    found = Estimate(value, low, high, confidence_level=level)
    return found.without_value() if evaluation.unknowns.range_only else found


def make_row(
    segment: Hashable,
    counts: ScoreCounts,
    own: Estimate | None,
    evaluate: Callable[[], Evaluation],
    metrics: Sequence[str],
    *,
    threshold: float | None,
    pooled: bool,
) -> SegmentRow:
    """Make the line of one segment; what is wrong with it becomes its note."""
    note = why_not(counts)
    if note:
        known = labelled_words(counts, metrics, threshold)
        note = f"{note}: {known}" if known else note
        return SegmentRow(segment, counts, own, None, (), note)
    try:
        with collect_warnings():  # the segment's evaluation has them as checks
            made = evaluate()
            rows = tuple(row for text in metrics for row in _rows_of(made, text))
    except InputError as error:
        if error.code == NOT_IDENTIFIED:  # of no segment
            raise
        return SegmentRow(segment, counts, own, None, (), error.message)
    return fill_row(segment, counts, own, hidden_share(made), rows, pooled=pooled)


def _rows_of(evaluation: Evaluation, text: str) -> tuple[MetricRow, ...]:
    """Return the rows of a metric; of more highest rows than the segment has there is no number."""
    name = parse_metric(text)
    if name.top is None or fits_top(evaluation, name.top):
        return evaluation.chosen_rows([text])
    nothing = Estimate(math.nan, *FACTS[name.metric].range)
    return (MetricRow(name.metric, None, math.nan, nothing, top=name.top),)


def fits_top(evaluation: Evaluation, top: float) -> bool:
    """Whether a segment has as many rows as the highest ones shall be."""
    if top < 1:
        return True
    apart = evaluation.shares.sampling == "case-control"
    return top <= float(ranked_rows(evaluation.recovery.counts_for_top, apart=apart).sum())


def fill_row(
    segment: Hashable,
    counts: ScoreCounts,
    own: Estimate | None,
    used: Estimate,
    rows: tuple[MetricRow, ...],
    *,
    pooled: bool,
) -> SegmentRow:
    """Make the line of a segment whose metrics are known, with what cannot be said."""
    words = [small_words(counts, pooled=pooled), unsure_words(rows)]
    short = [row.top for row in rows if row.top is not None and not row.estimate.exists]
    words += [few_rows_words(counts, short[0])] if short else []
    used = used.without_value() if pooled and _names_no_share(used, rows) else used
    return SegmentRow(segment, counts, own, used, rows, "; ".join(filter(None, words)))


def _names_no_share(pooled: Estimate, rows: Sequence[MetricRow]) -> bool:
    """Whether scores leave a pooled share of 0 possible, so that they point to no value.

    Known negatives point to one all the same, and then metrics that need the share have a value.
    """
    needing = [row.estimate for row in rows if FACTS[row.metric].needs_prevalence]
    return pooled.low <= 0 and all(math.isnan(estimate.value) for estimate in needing)


def few_rows_words(counts: ScoreCounts, top: float) -> str:
    """Say that a segment has fewer rows than the highest ones shall be."""
    rows = int(counts.cell_rows.sum())
    return (
        f"it has only {rows:,} row{'' if rows == 1 else 's'}, fewer than the {top:,.15g} asked for"
    )


def is_untested(check: Check) -> bool:
    """Whether a check says that nothing could tell if segments are labelled alike."""
    return check.code == CODES["fair-sample"] and check.level == "info"


def rest_on_alike_labels(judgement: Judgement, *, untested: bool) -> Judgement:
    """Name that a judgement rests on segments labelled alike, and open it if nothing tested it."""
    needs = (*judgement.estimate.needs, "segments labelled alike")
    judgement = replace(judgement, estimate=replace(judgement.estimate, needs=needs))
    if not untested or judgement.outcome == "inconclusive":
        return judgement
    return replace(judgement, outcome="inconclusive", why=UNTESTED)


def doubt_row(row: SegmentRow, doubt: SegmentDoubt) -> SegmentRow:
    """Say in a segment's line what its share rests on, and withhold what that contradicts."""
    if doubt.withheld:
        return withhold(row, doubt.words)
    return replace(row, note="; ".join(filter(None, (row.note, doubt.words))))


def withhold(row: SegmentRow, why: str) -> SegmentRow:
    """Take away a segment's share and the numbers that rest on it; the bounds that hold stay."""
    note = "; ".join(filter(None, (why, small_words(row.counts, pooled=False))))
    return replace(row, share=None, rows=tuple(map(_without_share, row.rows)), note=note)


def _without_share(row: MetricRow) -> MetricRow:
    facts = FACTS[row.metric]
    if not facts.needs_prevalence:
        return row
    least, most = facts.range
    bound = row.lower_bound if row.certain and row.lower_bound is not None else least
    held = replace(row.estimate, value=math.nan, low=bound, high=most, standard_error=math.nan)
    return replace(row, estimate=held)
