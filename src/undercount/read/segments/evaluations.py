"""One evaluation a segment (country, month), their shares pooled, and whether they differ."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from undercount.assume.segments import PooledShares
from undercount.errors import InputError, check_choice, check_name, collect_warnings
from undercount.estimate import Estimate
from undercount.infer.difference import TARGET_OF, Question
from undercount.infer.metric_name import parse_metric
from undercount.infer.metric_row import MetricRow
from undercount.metric_facts import FACTS
from undercount.read.evaluation import Evaluation, render
from undercount.read.require.requirement import Judgement, Requirement, Verdict, parse_requirements
from undercount.read.segments.lines import (
    UNLIKE,
    SegmentRow,
    few_rows_words,
    fits_top,
    is_untested,
    rest_on_alike_labels,
)
from undercount.read.segments.spread_tests import (
    Deviation,
    Heterogeneity,
    SegmentTests,
    Trend,
    is_ordered,
    read_points,
)

if TYPE_CHECKING:
    from pathlib import Path


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
    tests: dict[tuple[str, str], SegmentTests] = field(default_factory=dict, repr=False)
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
        return self.shared_out and any(map(is_untested, self.overall.checks))

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
        return self._tests_of(metric, question).heterogeneity

    def differences(self, metric: str, question: Question = "population") -> tuple[Deviation, ...]:
        """Compare each segment with the mean of the others, adjusted for their number."""
        return self._tests_of(metric, question).deviations

    def trend(self, metric: str, question: Question = "population") -> Trend | None:
        """Lay a line through ordered segments; None where they have no order or are too few."""
        return self._tests_of(metric, question).trend if self.ordered else None

    def _tests_of(self, metric: str, question: Question) -> SegmentTests:
        check_choice("question", question, tuple(TARGET_OF))
        wanted = _find_label(metric, self.metrics)
        if (wanted, question) not in self.tests:
            self.tests[wanted, question] = SegmentTests(self._points(wanted, question))
        return self.tests[wanted, question]

    def _points(self, wanted: str, question: Question) -> Any:
        of_question = self.of_population if question == "population" else None
        estimates = _take_metric(of_question() if of_question else self.rows, wanted).items()
        ordered = self.ordered
        usable = [(key, value) for key, value in estimates if not (ordered and key is None)]
        return read_points(wanted.split("@", maxsplit=1)[0], usable)

    def deployed(self, prevalence: float | None = None) -> dict[Hashable, tuple[MetricRow, ...]]:
        """Return the metrics of each segment where another share of its rows is positive.

        Those of the table, as far as they carry over; see `Evaluation.deployed`. What rests on
        shares that the scores contradict is left out.
        """
        unknown = [label for label in self.metrics if self.unlike_labels and _rests_on_share(label)]
        kept = set(self.metrics) - set(unknown)
        with collect_warnings():  # of single rates that leave their range by chance
            return {
                segment: tuple(row for row in evaluation.deployed(prevalence) if row.label in kept)
                for segment, evaluation in self.items()
            }

    def table(self) -> dict[str, list[Any]]:
        """Return one line a segment and metric as columns, ready for any data frame.

        A segment of which nothing can be said has one line without a metric, and its note.
        """
        lines = [(row, metric) for row in self.rows for metric in (row.rows or (None,))]
        nan = math.nan
        return {
            self.column: [row.segment for row, _ in lines],
            "rows": [row.counts.n_rows for row, _ in lines],
            "labelled": [row.counts.n_positive for row, _ in lines],
            "own_share": [_own_value(row) for row, _ in lines],
            "share": [row.share.value if row.share else nan for row, _ in lines],
            "share_low": [row.share.low if row.share else nan for row, _ in lines],
            "share_high": [row.share.high if row.share else nan for row, _ in lines],
            "metric": [metric.label if metric else None for _, metric in lines],
            "naive": [metric.naive if metric else nan for _, metric in lines],
            "estimate": [metric.estimate.value if metric else nan for _, metric in lines],
            "low": [metric.estimate.low if metric else nan for _, metric in lines],
            "high": [metric.estimate.high if metric else nan for _, metric in lines],
            "note": [row.note for row, _ in lines],
        }

    def judge(self, requirement: Requirement) -> Verdict:
        """Judge each segment by one requirement; one that cannot be evaluated is inconclusive.

        Each is judged by its own interval: of many segments that just fail, a few are met by
        chance, and the other way round.
        """
        own = replace(requirement, name=replace(requirement.name, model=None))
        model = requirement.name.model
        if model not in (None, self.overall.name):
            raise InputError(
                f"{requirement.words!r} is about {model!r}; this is {self.overall.name!r}"
            )
        return Verdict(tuple(self._judge_segment(row, own) for row in self.rows))

    def _judge_segment(self, row: SegmentRow, requirement: Requirement) -> Judgement:
        facts, top = FACTS[requirement.metric], requirement.name.top
        unlike = self.unlike_labels and facts.needs_prevalence
        small = row.rows and top is not None and not fits_top(self[row.segment], top)
        if row.rows and not unlike and not small:
            judgement = self[row.segment].judge(requirement)
            if not (self.shared_out and facts.needs_prevalence):
                return judgement
            return rest_on_alike_labels(judgement, untested=self.untested_labels)
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
        requirements_read = [
            requirement for text in requirements for requirement in parse_requirements(text, *place)
        ]
        return sum((self.judge(requirement) for requirement in requirements_read), Verdict(()))

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


def _rests_on_share(label: str) -> bool:
    return FACTS[label.partition("@")[0]].needs_prevalence


def _take_metric(rows: Sequence[SegmentRow], label: str) -> dict[Hashable, Estimate]:
    """Return the estimate of each segment for a metric."""
    return {
        segment_row.segment: row.estimate
        for segment_row in rows
        for row in segment_row.rows
        if row.label == label
    }


def _find_label(metric: str, labels: Sequence[str]) -> str:
    """Return the label of the table that a metric's name means."""
    check_name("metric", metric)
    name = metric if metric in labels else parse_metric(metric).metric
    matches = [label for label in labels if name in (label, label.split("@")[0])]
    if not matches:
        raise InputError(f"metric must be one of the table, {', '.join(labels)}; got {metric!r}")
    return matches[0]


def _own_value(row: SegmentRow) -> float:
    """Return a segment's own share; NaN where it has none, or a range without a value is left."""
    if row.own_share is None or (row.share is not None and row.share.range_only):
        return math.nan
    return row.own_share.value
