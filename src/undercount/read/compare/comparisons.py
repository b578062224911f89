"""Compare models segment by segment, and ask whether their difference is the same in each."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from undercount.assume.segments import SegmentRecoveries
from undercount.count.columns import make_frame
from undercount.counts import ScoreCounts
from undercount.errors import NOT_IDENTIFIED, InputError, check_name, collect_warnings
from undercount.estimate import Estimate
from undercount.infer.difference import Difference
from undercount.infer.mixture import Target
from undercount.infer.segmented_rows import why_not
from undercount.metric_facts import FACTS
from undercount.read.evaluation import NO_ESTIMATE, render
from undercount.read.require.requirement import Judgement, Verdict
from undercount.read.segments.lines import UNLIKE, is_untested, rest_on_alike_labels, small_words
from undercount.read.segments.spread_tests import (
    Deviation,
    Heterogeneity,
    SegmentTests,
    read_points,
)

if TYPE_CHECKING:
    from pathlib import Path

    from undercount.assume.base import Recovery
    from undercount.read.compare.compare import Comparison


@dataclass(frozen=True)
class ComparedSegment:
    """Hold the comparison of one segment, or why there is none.

    Attributes
    ----------
    note : str
        What cannot be said, and why; empty if everything can.
    """

    segment: Hashable
    counts: ScoreCounts = field(repr=False)
    comparison: "Comparison | None" = field(default=None, repr=False)
    note: str = ""


@dataclass(frozen=True)
class Comparisons(Mapping[Hashable, "Comparison"]):
    """Hold a comparison of each segment; made by `compare` with `by`.

    Attributes
    ----------
    overall : Comparison
        Of all rows together.
    rows : tuple of ComparedSegment
        Every segment, also those in which models cannot be compared.
    column : str
        What the segments are called together.
    shared_out : bool
        Whether a prevalence of all rows was shared out among the segments.
    unlike_labels : bool
        Whether the scores contradict that segments are labelled alike, on which shares rest: then
        differences that need a segment's share are not said.

    Notes
    -----
    Assumes: what the assumption supposes of all rows, of each segment; segments are independent.
    Wrong when: labels within a segment prefer some positives, or a cluster lies in several.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(4000) < 0.3
    >>> y = truth & (rng.random(4000) < 0.5)
    >>> models = {"good": rng.normal(2 * truth), "poor": rng.normal(truth)}
    >>> country = np.arange(4000) % 2
    >>> found = uc.compare(y, models, by=country, unlabeled=0, prevalence=0.3)
    >>> list(found), found.heterogeneity("roc_auc").p_value > 0.05
    ([0, 1], True)
    """

    overall: "Comparison"
    rows: tuple[ComparedSegment, ...]
    column: str
    shared_out: bool = False
    unlike_labels: bool = False

    def __getitem__(self, segment: Hashable) -> "Comparison":
        """Return the comparison of a segment."""
        row = self.row(segment)
        if row.comparison is None:
            raise InputError(f"segment {segment!r} cannot be compared: {row.note}")
        return row.comparison

    def __iter__(self) -> Iterator[Hashable]:
        return (row.segment for row in self.rows if row.comparison is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __hash__(self) -> int:
        return id(self)

    def row(self, segment: Hashable) -> ComparedSegment:
        """Return the row of a segment, also of one that cannot be compared."""
        row = next((row for row in self.rows if row.segment == segment), None)
        if row is None:
            raise KeyError(f"no segment {segment!r}")
        return row

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics in which models are compared."""
        return tuple(dict.fromkeys(gap.metric for gap in self.overall.differences))

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of models, as differences are taken."""
        return tuple(dict.fromkeys((gap.one, gap.other) for gap in self.overall.differences))

    def difference(
        self, segment: Hashable, metric: str, one: str | None = None, other: str | None = None
    ) -> Difference:
        """Return the difference of two models in a segment; one that is not known has no value."""
        gap = self[segment].difference(metric, one, other)
        if not (self.unlike_labels and FACTS[metric].needs_prevalence):
            return gap
        nothing = replace(NO_ESTIMATE, needs=gap.difference.needs)
        nan = math.nan
        return replace(
            gap, difference=nothing, better_probability=nan, p_value=nan, adjusted_p_value=nan
        )

    def heterogeneity(
        self, metric: str, one: str | None = None, other: str | None = None
    ) -> Heterogeneity:
        """Tell whether a difference varies between segments more than chance explains.

        Errors that segments have in common, as that of a prevalence that is shared out, make the
        test cautious.
        """
        return SegmentTests(self._points(metric, one, other)).heterogeneity

    def deviations(
        self, metric: str, one: str | None = None, other: str | None = None
    ) -> tuple[Deviation, ...]:
        """Compare the difference in each segment with the mean of the others."""
        return SegmentTests(self._points(metric, one, other)).deviations

    def _points(self, metric: str, one: str | None, other: str | None) -> Any:
        check_name("metric", metric)
        self.overall.difference(metric, one, other)  # says which there are
        gaps = [(key, self.difference(key, metric, one, other).difference) for key in self]
        usable = [(key, gap) for key, gap in gaps if not math.isnan(gap.value)]
        return read_points(metric, usable, scale="plain")

    def require(self, *conditions: str) -> Verdict:
        """Judge conditions such as "new.recall > old.recall" in each segment.

        Each is judged by its own interval: of many segments that just fail, a few are met by
        chance, and the other way round.
        """
        return sum((self._judge_segment(row, conditions) for row in self.rows), Verdict(()))

    def _judge_segment(self, row: ComparedSegment, conditions: Sequence[str]) -> Verdict:
        judge = (row.comparison or self.overall).require
        judgements = [
            self._placed(judgement, row)
            for text in conditions
            for judgement in judge(text).judgements
        ]
        return Verdict(tuple(judgements))

    def _placed(self, judgement: Judgement, row: ComparedSegment) -> Judgement:
        """Name the segment of a judgement, and leave it open where nothing is known."""
        subject = f"{self.column} {row.segment}, {judgement.subject}"
        rests = self.shared_out and FACTS[judgement.requirement.metric].needs_prevalence
        if row.comparison is not None and not (rests and self.unlike_labels):
            judgement = replace(judgement, subject=subject)
            untested = any(map(is_untested, self.overall.first.checks))
            return rest_on_alike_labels(judgement, untested=untested) if rests else judgement
        why = row.note if row.comparison is None else UNLIKE
        nothing = Estimate(math.nan, math.nan, math.nan)
        return Judgement(subject, judgement.requirement, "inconclusive", nothing, why)

    def table(self) -> dict[str, list[Any]]:
        """Return one line for each segment, metric and pair of models, as columns.

        A segment in which models cannot be compared has one line without a metric, and its note.
        """
        lines: list[tuple[ComparedSegment, Difference | None]] = []
        for row in self.rows:
            if row.comparison is None:
                lines.append((row, None))
                continue
            lines += [
                (row, self.difference(row.segment, gap.metric, gap.one, gap.other))
                for gap in row.comparison.differences
            ]
        nan = math.nan
        columns: dict[str, list[Any]] = {
            self.column: [row.segment for row, _ in lines],
            "rows": [row.counts.n_rows for row, _ in lines],
            "labelled": [row.counts.n_positive for row, _ in lines],
        }
        for name in ("metric", "one", "other"):
            columns[name] = [getattr(gap, name) if gap else None for _, gap in lines]
        for name, end in (("difference", "value"), ("low", "low"), ("high", "high")):
            columns[name] = [getattr(gap.difference, end) if gap else nan for _, gap in lines]
        for name in ("better_probability", "p_value", "adjusted_p_value"):
            columns[name] = [getattr(gap, name) if gap else nan for _, gap in lines]
        return columns | {"note": [row.note for row, _ in lines]}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a frame: pandas, polars or pyarrow."""
        columns = self.table()
        columns[self.column] = [None if key is None else str(key) for key in columns[self.column]]
        return make_frame(columns, backend or self.overall.first.backend)

    def to_json(self) -> str:
        """Write every segment's differences and the tests as JSON."""
        return str(render("comparisons json", self))

    def to_markdown(self) -> str:
        """Write the table as Markdown."""
        return str(render("comparisons markdown", self))

    def to_html(self, path: "str | Path") -> None:
        """Write a page with a row for each segment, whole or not at all."""
        render("comparisons html", self, path)

    def __str__(self) -> str:
        return str(render("comparisons text", self))

    def __repr__(self) -> str:
        return str(self)


def compare_segments(
    segments: SegmentRecoveries,
    column: str,
    target: Target | None,
    compare_recoveries: "Callable[[Mapping[str, Recovery]], Comparison]",
) -> Comparisons:
    """Compare the models on all rows and in each segment, by what puts recoveries side by side."""
    overall = compare_recoveries(segments.whole)
    aimed = target or overall.first.target
    evaluations = {
        name: replace(evaluation, checks=(*evaluation.checks, *segments.checks))
        for name, evaluation in overall.evaluations.items()
    }
    rows = []
    for segment, part in segments.segments.items():
        counts, note = part.rows.counts, why_not(part.rows.counts)
        comparison = None
        try:
            if not note:
                with collect_warnings():  # the segment's evaluations have them as checks
                    comparison = compare_recoveries(segments.recover(segment, aimed))
                pooled = segments.pooled is not None
                words = small_words(counts, pooled=pooled), segments.doubt(segment).words
                note = "; ".join(filter(None, words))
        except InputError as error:
            if error.code == NOT_IDENTIFIED:  # of no segment
                raise
            note = error.message
        rows.append(ComparedSegment(segment, counts, comparison, note))
    overall = replace(overall, evaluations=evaluations)
    about = segments.shared_out, segments.unlike_labels
    return Comparisons(overall, tuple(rows), column, *about)
