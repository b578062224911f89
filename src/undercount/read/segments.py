"""One evaluation a segment (country, month), their shares pooled, and whether they differ."""

import datetime as dt
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from undercount.count.arrays import is_missing
from undercount.count.keys import read_keys, split_places
from undercount.counts import ScoreCounts
from undercount.errors import (
    CODES,
    InputError,
    check_choice,
    check_name,
    collect_warnings,
    named,
)
from undercount.estimate import Estimate
from undercount.infer.difference import TARGET_OF, Question
from undercount.infer.heads import ranked_rows
from undercount.infer.labelled import labelled_curve
from undercount.infer.metric_name import parse_metric, short_number
from undercount.infer.metric_row import MetricRow
from undercount.metric_facts import FACTS
from undercount.prevalence.pooled import PooledShares
from undercount.read.evaluation import TOP_METRICS, Evaluation, render
from undercount.read.require.requirement import Judgement, Requirement, Verdict, parse_requirements
from undercount.read.segment_tests import (
    Deviation,
    Heterogeneity,
    Trend,
    find_deviations,
    find_heterogeneity,
    find_trend,
    is_ordered,
    read_points,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

POINT_COLUMNS = ("recall", "precision")
AREA_COLUMNS = ("roc_auc", "average_precision")
# Labels from which a segment's own share is estimated, and its interval is known to hold.
FEWEST_LABELS = 20
# Segments whose own share is estimated, those of most labels; the others get the distribution of
# these. With so many its centre and spread are known better than any one share.
MOST_ESTIMATED = 32

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


@dataclass(frozen=True)
class Evaluations(Mapping[Hashable, Evaluation]):
    """Hold one evaluation a segment; made by `evaluate` with `by`, or of a mapping of counts.

    Attributes
    ----------
    overall : Evaluation
        Of all rows together.
    rows : tuple of SegmentRow
        The table: every segment has a row, also those of which little can be said.
    shares : PooledShares, optional
        The segments' own and pooled shares of hidden positives, if they were estimated.
    column : str
        What the segments are called together.
    shared_out : bool
        Whether a prevalence of all rows was shared out among the segments.
    unlike_labels : bool
        Whether the scores contradict the one label frequency by which it was shared out: what
        rests on a segment's share is then not said, and not compared.
    of_population : callable
        The same table for the population behind these rows, of which the tests speak.

    Notes
    -----
    Assumes: within each segment labelled positives are a random sample of its positives.
    Wrong when: labels within a segment prefer some positives. That one segment is labelled more
    than another does no harm, unless a prevalence of all rows is shared out.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.2
    >>> y = truth & (rng.random(5000) < 0.5)
    >>> found = uc.evaluate(
    ...     y, rng.normal(2.0 * truth), by=np.arange(5000) % 3, unlabeled=0, threshold=1.0
    ... )
    >>> list(found), found[2].rows[0].label
    ([0, 1, 2], 'recall@1')
    """

    overall: Evaluation
    rows: tuple[SegmentRow, ...]
    shares: PooledShares | None
    column: str
    make: Callable[[Hashable], Evaluation] = field(repr=False)
    made: dict[Hashable, Evaluation] = field(default_factory=dict, repr=False)
    shared_out: bool = False
    unlike_labels: bool = False
    of_population: "Callable[[], tuple[SegmentRow, ...]] | None" = field(default=None, repr=False)

    def __getitem__(self, segment: Hashable) -> Evaluation:
        """Return the whole evaluation of a segment, with its checks."""
        row = self.row(segment)
        if not row.rows:
            raise InputError(f"segment {segment!r} cannot be evaluated: {row.note}")
        if segment not in self.made:
            self.made[segment] = self.make(segment)
        return self.made[segment]

    def __iter__(self) -> Iterator[Hashable]:
        return (row.segment for row in self.rows if row.rows)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def untested_labels(self) -> bool:
        """Whether nothing could tell if segments are labelled alike, though shares rest on it."""
        untold = (CODES["fair-sample"], "info")
        return self.shared_out and untold in [(c.code, c.level) for c in self.overall.checks]

    def row(self, segment: Hashable) -> SegmentRow:
        """Return the row of a segment, also of one that cannot be evaluated."""
        found = next((row for row in self.rows if row.segment == segment), None)
        if found is None:
            shown = ", ".join(repr(row.segment) for row in self.rows[:10])
            more = ", …" if len(self.rows) > 10 else ""  # noqa: PLR2004 - a line
            raise KeyError(f"no segment {segment!r}; there are {shown}{more}")
        return found

    @property
    def ordered(self) -> bool:
        """Whether the segments stand in an order: numbers, dates, text like 2024-03."""
        return is_ordered([row.segment for row in self.rows])

    @property
    def metrics(self) -> tuple[str, ...]:
        """Labels of the metrics in the table."""
        return next((tuple(row.label for row in each.rows) for each in self.rows if each.rows), ())

    def estimates(self, metric: str) -> dict[Hashable, Estimate]:
        """Return the estimate of each segment for a metric of the table."""
        return _take_metric(self.rows, _find_label(metric, self.metrics))

    def heterogeneity(self, metric: str, question: Question = "population") -> Heterogeneity:
        """Tell whether segments differ in a metric more than chance explains.

        Asked of the population behind these rows; with ``question="rows"`` of these rows alone,
        which differ by chance wherever labels tell them well enough.
        """
        return find_heterogeneity(self._points(metric, question))

    def differences(self, metric: str, question: Question = "population") -> tuple[Deviation, ...]:
        """Compare each segment with the mean of the others, adjusted for their number."""
        return find_deviations(self._points(metric, question))

    def trend(self, metric: str, question: Question = "population") -> Trend | None:
        """Lay a line through ordered segments; None where they have no order or are too few."""
        return find_trend(self._points(metric, question)) if self.ordered else None

    def _points(self, metric: str, question: Question) -> Any:
        check_choice("question", question, tuple(TARGET_OF))
        wanted = _find_label(metric, self.metrics)
        asked = self.of_population if question == "population" else None
        found = _take_metric(asked() if asked else self.rows, wanted).items()
        ordered = self.ordered
        usable = [(key, value) for key, value in found if not (ordered and key is None)]
        return read_points(wanted.split("@")[0], usable)

    def table(self) -> dict[str, list[Any]]:
        """Return one line a segment and metric as columns, ready for any data frame.

        A segment of which nothing can be said has one line without a metric, and its note.
        """
        lines = [(each, metric) for each in self.rows for metric in (each.rows or (None,))]
        nan = math.nan
        return {
            self.column: [each.segment for each, _ in lines],
            "rows": [each.counts.n_rows for each, _ in lines],
            "labelled": [each.counts.n_positive for each, _ in lines],
            "own_share": [_own_value(each) for each, _ in lines],
            "share": [each.share.value if each.share else nan for each, _ in lines],
            "share_low": [each.share.low if each.share else nan for each, _ in lines],
            "share_high": [each.share.high if each.share else nan for each, _ in lines],
            "metric": [metric.label if metric else None for _, metric in lines],
            "naive": [metric.naive if metric else nan for _, metric in lines],
            "estimate": [metric.estimate.value if metric else nan for _, metric in lines],
            "low": [metric.estimate.low if metric else nan for _, metric in lines],
            "high": [metric.estimate.high if metric else nan for _, metric in lines],
            "note": [each.note for each, _ in lines],
        }

    def judge(self, requirement: Requirement) -> Verdict:
        """Judge each segment by one requirement; one that cannot be evaluated is inconclusive.

        Each is judged by its own interval: of many segments that just fail, a few are met by
        chance, and the other way round.
        """
        wanted = replace(requirement, name=replace(requirement.name, model=None))
        asked = requirement.name.model
        if asked not in (None, self.overall.name):
            raise InputError(
                f"{requirement.words!r} is about {asked!r}; this is {self.overall.name!r}"
            )
        return Verdict(tuple(self._judge_segment(row, wanted) for row in self.rows))

    def _judge_segment(self, row: SegmentRow, requirement: Requirement) -> Judgement:
        facts, top = FACTS[requirement.metric], requirement.name.top
        unlike = self.unlike_labels and facts.needs_prevalence
        small = row.rows and top is not None and not fits_top(self[row.segment], top)
        if row.rows and not unlike and not small:
            found = self[row.segment].judge(requirement)
            if not (self.shared_out and facts.needs_prevalence):
                return found
            needs = (*found.estimate.needs, "segments labelled alike")
            found = replace(found, estimate=replace(found.estimate, needs=needs))
            if not self.untested_labels or found.outcome == "inconclusive":
                return found
            return replace(found, outcome="inconclusive", why=UNTESTED)
        subject = f"{self.overall.name}, {self.column} {row.segment}"
        nothing = Estimate(math.nan, *facts.range)
        note = UNLIKE if row.rows else row.note
        note = few_rows_words(row.counts, top) if small and top is not None else note
        return Judgement(subject, requirement, "inconclusive", nothing, note)

    def require(self, *requirements: str) -> Verdict:
        """Judge each segment by requirements such as "precision@0.7 >= 0.8".

        Examples
        --------
        >>> import numpy as np
        >>> import undercount as uc
        >>> rng = np.random.default_rng(0)
        >>> truth = rng.random(5000) < 0.2
        >>> y = truth & (rng.random(5000) < 0.5)
        >>> found = uc.evaluate(y, rng.normal(3.0 * truth), by=np.arange(5000) % 3, unlabeled=0)
        >>> [each.outcome for each in found.require("roc_auc >= 0.9").judgements]
        ['met', 'met', 'met']
        """
        place = self.overall.threshold, self.overall.top
        asked = [each for text in requirements for each in parse_requirements(text, *place)]
        return sum((self.judge(each) for each in asked), Verdict(()))

    def to_json(self) -> str:
        """Write every segment's facts and the tests as JSON."""
        return str(render("segments json", self))

    def to_markdown(self) -> str:
        """Write the table as Markdown."""
        return str(render("segments markdown", self))

    def to_html(self, path: "str | Path") -> None:
        """Write a page with a row a segment, whole or not at all."""
        render("segments html", self, path)

    def __str__(self) -> str:
        return str(render("segments text", self))

    def __repr__(self) -> str:
        return str(self)

    def __hash__(self) -> int:
        return id(self)


def _take_metric(rows: Sequence[SegmentRow], label: str) -> dict[Hashable, Estimate]:
    """Return the estimate of each segment for a metric."""
    return {each.segment: row.estimate for each in rows for row in each.rows if row.label == label}


def _find_label(metric: str, labels: Sequence[str]) -> str:
    """Return the label of the table that a metric's name means."""
    check_name("metric", metric)
    name = metric if metric in labels else parse_metric(metric).metric
    found = [label for label in labels if name in (label, label.split("@")[0])]
    if not found:
        raise InputError(f"metric must be one of the table, {', '.join(labels)}; got {metric!r}")
    return found[0]


def segment_metrics(
    metrics: Sequence[str] | None, threshold: float | None, top: float | None = None
) -> Sequence[str]:
    """Return the metrics of the table: those asked for, or the few that a line has room for.

    Those of the `top` rows follow; metrics without a place of their own are read there alone if
    there is no threshold.
    """
    usual = AREA_COLUMNS if threshold is None else POINT_COLUMNS
    if top is None:
        return usual if metrics is None else metrics
    chosen = usual if metrics is None else metrics
    if threshold is None:
        chosen = [text for text in chosen if parse_metric(text).placed]
    # All digits, of which a label may show fewer.
    place = repr(float(top)) if top < 1 else f"{float(top):.17g}"
    return [*chosen, *(f"{metric}@top {place}" for metric in TOP_METRICS)]


def split_rows(by: Any, n_rows: int) -> "dict[Hashable, NDArray[np.intp]]":
    """Return the rows of each segment, in the order of the segments.

    `by` is one value a row; every kind of missing is one segment, None.

    Examples
    --------
    >>> from undercount.read.segments import split_rows
    >>> {key: rows.tolist() for key, rows in split_rows(["b", "a", None, "b"], 4).items()}
    {'a': [1], 'b': [0, 3], None: [2]}
    """
    columns = by if isinstance(by, list) and by and isinstance(by[0], np.ndarray) else [by]
    keys = [read_keys(each, "by") for each in columns]
    for each in keys:
        if each.ndim != 1:
            raise InputError(
                f"{named('by')} must hold one value a row; got shape {each.shape}", argument="by"
            )
        if len(each) != n_rows:
            raise InputError(
                f"{named('by')} must hold one value a row; got {len(each):,} for {n_rows:,} rows",
                argument="by",
            )
    parts = split_places(keys, name_segments, "by")
    return {key: parts[key] for key in sort_segments(list(parts))}


def name_segments(values: Sequence[Any]) -> list[Hashable]:
    """Return values as segments are called: all that is missing None, midnights dates.

    Of several columns each has its own names.

    Examples
    --------
    >>> import datetime as dt
    >>> from undercount.read.segments import name_segments
    >>> name_segments([("a", float("nan")), ("b", dt.datetime(2024, 3, 1))])
    [('a', None), ('b', datetime.date(2024, 3, 1))]
    """
    if values and all(isinstance(each, tuple) for each in values):
        return list(zip(*map(name_segments, zip(*values, strict=True)), strict=True))
    return _without_midnight([_plain(each) for each in values])


def _plain(value: Any) -> Hashable:
    """Return a value as Python has it, and None for what is missing."""
    if is_missing(value):
        return None
    kept = isinstance(value, str | int | float | dt.date | tuple)
    found: Hashable = value if kept else str(value)
    return found


def _without_midnight(values: list[Hashable]) -> list[Hashable]:
    """Turn times into dates if all of them are at midnight."""
    times = [each for each in values if isinstance(each, dt.datetime)]
    if any(each.time() != dt.time() for each in times):
        return values
    return [each.date() if isinstance(each, dt.datetime) else each for each in values]


def sort_segments(segments: Sequence[Hashable]) -> list[Hashable]:
    """Sort segments as their values do, text that cannot be compared by its words, None last."""
    held: list[Any] = [each for each in segments if each is not None]
    try:
        held = sorted(held)
    except TypeError:
        held = sorted(held, key=str)
    return held + [None] * (len(segments) - len(held))


def why_not(counts: ScoreCounts) -> str:
    """Say why a segment cannot be evaluated at all; empty if it can."""
    if counts.n_rows == 0:
        return "all of its rows are too recent: their labels have had no time to arrive"
    if counts.n_positive == 0:
        return "no row is labelled positive: neither recall nor what follows from it is known"
    if counts.n_unlabeled == 0:
        return "no row is unlabeled: nothing is hidden, and its labels speak for themselves"
    return ""


def labelled_words(counts: ScoreCounts, metrics: Sequence[str], threshold: float | None) -> str:
    """Write what labels say of a segment in which every row has one; empty if both kinds are not.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.read.segments import labelled_words
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


def withhold(row: SegmentRow, why: str) -> SegmentRow:
    """Take away a segment's share and the numbers that rest on it; the bounds that hold stay."""
    note = "; ".join(filter(None, (why, small_words(row.counts, pooled=False))))
    return replace(row, share=None, rows=tuple(map(_without_share, row.rows)), note=note)


def _own_value(row: SegmentRow) -> float:
    """Return a segment's own share; NaN where it has none, or a range without a value is left."""
    if row.own_share is None or (row.share is not None and row.share.range_only):
        return math.nan
    return row.own_share.value


def _without_share(row: MetricRow) -> MetricRow:
    facts = FACTS[row.metric]
    if not facts.needs_prevalence:
        return row
    least, most = facts.range
    bound = row.lower_bound if row.certain and row.lower_bound is not None else least
    held = replace(row.estimate, value=math.nan, low=bound, high=most, standard_error=math.nan)
    return replace(row, estimate=held)
