"""Evaluate each segment under an assumption; whole evaluations are made when asked for."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cache, partial

from undercount.assume.base import Assumption, ReportOptions
from undercount.assume.segments import SegmentRecoveries
from undercount.infer.mixture import Target
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.segmented_rows import Segmentation
from undercount.read.evaluate_models import check_wanted, make_bare, make_whole
from undercount.read.evaluation import Evaluation
from undercount.read.segments.evaluations import Evaluations
from undercount.read.segments.lines import (
    SegmentRow,
    doubt_row,
    fill_row,
    fits_top,
    make_row,
    segment_metrics,
)


def evaluate_segments(
    name: str,
    model: ScoredRows,
    segmentation: Segmentation,
    assumption: Assumption,
    wanted: ReportOptions,
    deploy_prevalence: float | None = None,
) -> Evaluations:
    """Evaluate all rows and each segment.

    Parameters
    ----------
    name : str
        Of the score.
    model, segmentation : ScoredRows, Segmentation
        All rows, and how they fall into segments.
    assumption : Assumption
    wanted : ReportOptions
        What is asked of every segment.
    deploy_prevalence : float, optional
        Share of positives where the classifier will work; the lines are those of these rows.
    """
    check_wanted(wanted)
    assumption.check_rows(model)
    segments = assumption.recover_segments({name: model}, segmentation, wanted)
    overall = make_whole(name, segments.whole[name], wanted)
    if deploy_prevalence is not None:
        deploy_prevalence = overall.recovery.read_prevalence(deploy_prevalence)
    overall = replace(
        overall, deploy_prevalence=deploy_prevalence, checks=(*overall.checks, *segments.checks)
    )
    wanted = wanted._replace(target=overall.target, confidence_level=overall.confidence_level)
    reader = SegmentReader(segments, overall, wanted, segmentation.column)
    read_rows = cache(reader.rows)
    return Evaluations(
        overall,
        read_rows(overall.target),
        segments.pooled,
        segmentation.column,
        reader.evaluate,
        shared_out=segments.shared_out,
        unlike_labels=segments.unlike_labels,
        of_population=partial(read_rows, "population"),
    )


@dataclass(frozen=True, eq=False)
class SegmentReader:
    """Read lines and evaluations of segments from their recoveries."""

    segments: SegmentRecoveries
    overall: Evaluation
    wanted: ReportOptions
    column: str

    def evaluate(self, segment: Hashable) -> Evaluation:
        """Return the whole evaluation of a segment."""
        wanted, bare = self.wanted, self._bare(segment, self.overall.target)
        tops = [top for top in (wanted.top, *wanted.tops) if top and fits_top(bare, top)]
        wanted = wanted._replace(top=tops[0] if tops else None, tops=tuple(tops[1:]))
        there = self.overall.deploy_prevalence
        return replace(make_whole(bare.name, bare.recovery, wanted), deploy_prevalence=there)

    def _bare(self, segment: Hashable, target: Target) -> Evaluation:
        """Return the evaluation of a segment without table and checks."""
        recovery = self.segments.recover(segment, target)[self.overall.name]
        words = f"{self.overall.name}, {self.column} {segment}"
        return make_bare(words, recovery, self.wanted)

    def rows(self, target: Target) -> tuple[SegmentRow, ...]:
        """Return the line of every segment: most at once, the others one by one."""
        wanted, threshold = self.wanted, self.overall.threshold
        metrics = segment_metrics(wanted, threshold)
        lines, pooled = self.segments.lines(metrics, target), self.segments.pooled
        rows = []
        for segment, part in self.segments.segments.items():
            counts = part.rows.counts
            own = None if pooled is None else pooled.own.get(segment)
            if segment in lines:
                row = fill_row(segment, counts, own, *lines[segment], pooled=pooled is not None)
            else:
                row = make_row(
                    segment, counts, own, partial(self._bare, segment, target), metrics,
                    threshold=threshold, pooled=pooled is not None,
                )  # fmt: skip
            rows.append(doubt_row(row, self.segments.doubt(segment)) if row.rows else row)
        return tuple(rows)
