"""Share the hidden positives of all rows out among segments, by one label frequency."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scipy.special import ndtri

from undercount.assume.base import ReportOptions, Unknowns
from undercount.assume.random_labels.hidden_share import UNASKED, fit_share
from undercount.assume.random_labels.segments.one_label_frequency import (
    RuledOut,
    find_doubtful,
    frequency_check,
    percent,
    rule_out,
    shares_by_scores,
)
from undercount.assume.random_labels.segments.shares import Models, SegmentShares, first_of
from undercount.assume.segments import SegmentDoubt
from undercount.checks.fair_sample import mature_checks
from undercount.counts import ScoreCounts
from undercount.errors import Check
from undercount.estimate import Estimate
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.segment_tables import frequency_edges, join_cells, score_edges, tables_of
from undercount.infer.segmented_rows import why_not
from undercount.shares import Shares

if TYPE_CHECKING:
    from undercount.assume.random_labels.assumption import RandomLabels


@dataclass(frozen=True)
class KnownShare:
    """Hold what is known of all rows together, and of no segment by itself."""

    shares: Shares
    counts: ScoreCounts


@dataclass(frozen=True, eq=False)
class SharedOutShares(SegmentShares):
    """The share of all rows, shared out among segments by one label frequency.

    Attributes
    ----------
    known : KnownShare
        Of all rows.
    alike : Check
        Whether one label frequency may be theirs.
    fitted : mapping
        Segment → its part, where that had to be fitted into its scores.
    ruled_out : mapping
        Segment → why its scores allow no such part.
    """

    known: KnownShare
    alike: Check
    fitted: Mapping[Hashable, Estimate] = field(default_factory=dict)
    ruled_out: Mapping[Hashable, RuledOut] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        labels: "RandomLabels",
        wanted: ReportOptions,
        parts: Mapping[Hashable, Models],
        known: KnownShare,
        rows: Mapping[str, Mapping[Hashable, ScoredRows]],
        sharpest: str,
    ) -> "SharedOutShares":
        """Ask the scores of each segment whether its part of the hidden positives may be right.

        `rows` are the rows of each segment, by model; `sharpest` is the model that is asked.
        """
        level, purity = wanted.confidence_level, known.shares.label_purity
        shared = {
            segment: share_out(known.shares, known.counts, first_of(models), level)
            for segment, models in parts.items()
            if not why_not(first_of(models))
        }
        counts = {segment: parts[segment][sharpest] for segment in shared}
        edges, strata = frequency_edges(known.counts), score_edges(known.counts)
        tables = tables_of(rows[sharpest], edges)
        sizes = {segment: part.effective_size("positive") for segment, part in counts.items()}
        doubtful = find_doubtful(tables, shared, purity, sizes) if tables else list(shared)
        asked = {segment: shared[segment] for segment in doubtful}
        ruled_out = rule_out(counts, asked, purity, len(shared))
        # The chance of its labels may explain what does not fit.
        fitted = {
            segment: fit_share(
                parts[segment],
                _capped(share, purity),
                label_purity=labels.purity,
                sampling=labels.sampling,
                target=wanted.target or "dataset",
                confidence_level=level,
            )
            for segment, share in asked.items()
        }
        possible = {key: share for key, share in shared.items() if share.value < purity}
        joined = join_cells(tables, edges, strata)
        scored = shares_by_scores(joined, possible, known.shares) if tables else []
        sized = [
            segment.of_size(counts[segment.segment].effective_size("unlabeled"))
            for segment in scored
        ]
        alike = frequency_check(sized, list(ruled_out.values()), merged=not tables)
        return cls(labels, wanted, parts, known, alike, fitted, ruled_out)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Whether segments are labelled alike."""
        return (self.alike,)

    @property
    def unlike(self) -> bool:
        """Whether the scores contradict the one label frequency by which shares are known."""
        return self.alike.level == "fail"

    def find(self, segment: Hashable, *, limits: bool = True) -> dict[str, Unknowns]:
        """Return a segment's part of the hidden positives that all rows are known to have."""
        own = self.fitted.get(segment) or self._part_of(segment)
        labels = self.labels.with_shares(unlabeled_prevalence=own)
        unasked = None if limits else UNASKED
        given = self.known.shares.given.replace("_", " ")
        source = f"{given} of all rows given, shared out"
        checks = (*mature_checks(self.labels.hidden), *((self.alike,) if self.unlike else ()))
        return {
            name: replace(known, source=source, checks=checks)
            for name, known in labels.find_shares(self.parts[segment], self.wanted, unasked).items()
        }

    def _part_of(self, segment: Hashable) -> Estimate:
        """Return the share that one label frequency gives a segment, inside what a share may be."""
        shares, counts = self.known.shares, self.known.counts
        part, level = first_of(self.parts[segment]), self.wanted.confidence_level
        return _capped(share_out(shares, counts, part, level), shares.label_purity)

    def doubt(self, segment: Hashable) -> SegmentDoubt:
        """Say what the share of a segment rests on, and withhold what the scores contradict."""
        if self.unlike:
            wrong = self.ruled_out.get(segment)
            return SegmentDoubt(wrong.message if wrong else "", withheld=True)
        cut = self.fitted.get(segment)
        own = None if cut is None else self._part_of(segment).value
        if cut is None or own is None or own <= cut.value:
            return SegmentDoubt()
        return SegmentDoubt(
            f"one label frequency gives it {percent(own)} hidden positives, within the chance of "
            f"its labels; {percent(cut.value)}, the most that fits its scores, is used"
        )


def _capped(share: Estimate, purity: float) -> Estimate:
    """Return a share inside what a share may be."""
    ends = {end: min(getattr(share, end), purity) for end in ("value", "low", "high")}
    return replace(share, **ends)


def share_out(
    shares: Shares, whole: ScoreCounts, part: ScoreCounts, confidence_level: float = 0.95
) -> Estimate:
    """Return the share of hidden positives of one segment, if that of all rows is known.

    A segment with a tenth of the labels has a tenth of the hidden positives. Whose labels were
    found is chance, and an error of its own: of L labels among P positives, H of them hidden, a
    segment's part w of the labels tells its hidden positives with variance P·H·w·(1 - w) / L
    (hypergeometric), beside the error of H itself. A range stays one: its ends move apart. What
    comes out may be more than the segment's rows or scores allow.

    Parameters
    ----------
    shares : Shares
        Of all rows.
    whole, part : ScoreCounts
        Of all rows and of the segment.
    confidence_level : float
        Of the interval.

    Notes
    -----
    Assumes: a positive is as likely to be labelled in each segment.
    Wrong when: labels were sought in some segments more than in others; give each its own share.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.assume.random_labels.segments.shared_out import share_out
    >>> part = uc.ScoreCounts.from_counts([2, 1], [20, 10], [0, 0], [20, 80])
    >>> rest = uc.ScoreCounts.from_counts([2, 1], [8, 2], [0, 0], [50, 350])
    >>> whole = part + rest
    >>> found = share_out(uc.Shares.from_label_frequency(whole, 0.5), whole, part)
    >>> round(found.value, 3), round(found.standard_error, 3)
    (0.3, 0.039)
    """
    weight = min(part.n_positive / whole.n_positive, 1.0)  # rounding may go beyond
    turn = weight * whole.n_unlabeled / part.n_unlabeled
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    known = shares.label_purity * whole.n_positive
    labels = part.effective_size("positive")

    def chance(share: float) -> float:
        """Return the error of the segment's share, were that of all rows known."""
        return turn * math.sqrt(share * (share + known / whole.n_unlabeled) * (1 - weight) / labels)

    z = float(ndtri((1 + confidence_level) / 2))
    error = shares.unlabeled_prevalence_error
    if span is None or error > 0:
        own = math.hypot(turn * error, chance(value))
        below = above = z * own
        if span is not None:  # an interval that is skew stays so
            below = math.hypot(turn * (value - span.low), z * chance(value))
            above = math.hypot(turn * (span.high - value), z * chance(value))
    else:
        own = math.nan
        below = turn * (value - span.low) + z * chance(span.low)
        above = turn * (span.high - value) + z * chance(span.high)
    centre = turn * value
    return Estimate(centre, max(centre - below, 0.0), centre + above, own, confidence_level)
