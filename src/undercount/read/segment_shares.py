"""The hidden share of each segment: given for each, shared out, or estimated and pooled."""

import heapq
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from undercount.assume.base import Unknowns, Wanted
from undercount.assume.random_labels.hidden_share import (
    UNASKED,
    ShareLimits,
    fit_share,
    shared_share,
)
from undercount.checks.fair_sample import mature_checks
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import Check, InputError, collect_warnings, named
from undercount.estimate import Estimate
from undercount.prevalence.pooled import PooledShares, SegmentShare, pool_shares
from undercount.read.one_label_frequency import (
    RuledOut,
    find_doubtful,
    frequency_check,
    frequency_edges,
    join_cells,
    known_frequency_check,
    percent,
    rule_out,
    score_edges,
    shares_by_scores,
)
from undercount.read.segments import (
    FEWEST_LABELS,
    MOST_ESTIMATED,
    SegmentRow,
    why_not,
    withhold,
)
from undercount.read.share_out import share_out
from undercount.shares import Shares

GIVEN = ("prevalence", "unlabeled_prevalence", "label_frequency")
# The rows that a share is a share of: what weighs a segment's share in that of all.
PARTS: dict[str, Callable[[ScoreCounts], float]] = {
    "prevalence": lambda counts: counts.n_rows,
    "unlabeled_prevalence": lambda counts: counts.n_unlabeled,
}
# What a share is fitted by into the scores of a segment.
FITTED = ("label_purity", "sampling", "target", "confidence_level")
# Labelled and unlabeled rows of each segment between some scores.
TablesAt: TypeAlias = Callable[[FloatArray], Mapping[Hashable, FloatArray]]


@dataclass(frozen=True)
class KnownShare:
    """Hold what is known of all rows together, and of no segment by itself."""

    shares: Shares
    counts: ScoreCounts


@dataclass(frozen=True)
class SegmentShares:
    """Hold how to find the share of any segment, and what was pooled."""

    options: Mapping[str, Any]
    parts: Mapping[Hashable, ScoreCounts]
    pooled: PooledShares | None
    overall: "KnownShare | None" = None  # shared out among segments
    alike: Check | None = None  # whether one label frequency may be theirs
    fitted: Mapping[Hashable, Estimate] = field(default_factory=dict)  # into a segment's scores
    ruled_out: Mapping[Hashable, RuledOut] = field(default_factory=dict)

    @classmethod
    def of(
        cls, parts: Mapping[Hashable, ScoreCounts], known: KnownShare, options: Mapping[str, Any]
    ) -> "SegmentShares":
        """Pool the shares of all segments, unless they were given."""
        overall = known.shares
        estimator = options["unlabeled_prevalence"]
        unfitted = hasattr(estimator, "fit") and not hasattr(estimator, "unlabeled_prevalence_")
        if not unfitted and any(options[name] is not None for name in GIVEN):
            of_all = any(options[name] is not None for name in PARTS) and not any(
                isinstance(options[name], Mapping) for name in PARTS
            )
            alike = None if of_all else _known_frequencies(options, parts)
            return cls(options, parts, None, known if of_all else None, alike)
        own = {}
        for segment in _largest(parts):
            try:
                with collect_warnings():  # the segment's evaluation tells them
                    hidden = shared_share({"": parts[segment]}, **options)[""]
            except InputError:  # its row will say so
                continue
            own[segment] = as_estimate(hidden.shares, options["confidence_level"])
        others = tuple(segment for segment in parts if segment not in own)
        level = options["confidence_level"]
        whole = as_estimate(overall, level)
        labels = {segment: parts[segment].effective_size("positive") for segment in own}
        found = pool_shares(own, labels, whole, others, confidence_level=level)
        return cls(options, parts, found)

    @property
    def unlike(self) -> bool:
        """Whether the scores contradict the one label frequency by which shares are known."""
        failed = self.alike is not None and self.alike.level == "fail"
        return failed and self.overall is not None

    def own(self, segment: Hashable) -> Estimate | None:
        """Return what a segment says of its share by itself."""
        return self.pooled.own.get(segment) if self.pooled else None

    def find(self, segment: Hashable, name: str, *, limits: bool = True) -> Unknowns:
        """Return the share of one segment; the limits that its scores set cost most of it."""
        if self.overall is not None:
            return self._shared_out(segment, name, None if limits else UNASKED)
        options = {**self.options, **{each: self._given(each, segment) for each in GIVEN}}
        if self.pooled is None:
            return shared_share({name: self.parts[segment]}, **options)[name]
        options["unlabeled_prevalence"] = SegmentShare(self.pooled.pooled[segment])
        options["prevalence_interval"] = None  # the pooled one is used
        found = shared_share({name: self.parts[segment]}, **options)[name]
        return replace(found, label_part=self.pooled.label_parts.get(segment))

    def _shared_out(self, segment: Hashable, name: str, limits: ShareLimits | None) -> Unknowns:
        """Return a segment's part of the hidden positives that all rows are known to have."""
        known, part = cast("KnownShare", self.overall), self.parts[segment]
        own = self.fitted.get(segment) or self._part_of(segment, known)
        options = {**self.options, **dict.fromkeys(GIVEN), "unlabeled_prevalence": own}
        found = shared_share({name: part}, **options, limits=limits)[name]
        given = known.shares.given.replace("_", " ")
        source, late = (
            f"{given} of all rows given, shared out",
            self.options["unlabeled_prevalence"],
        )
        failed = (self.alike,) if self.alike is not None and self.unlike else ()
        return replace(found, source=source, checks=(*mature_checks(late), *failed))

    def _part_of(self, segment: Hashable, known: KnownShare) -> Estimate:
        """Return the share that one label frequency gives a segment, inside what a share may be."""
        level, purity = self.options["confidence_level"], known.shares.label_purity
        own = share_out(known.shares, known.counts, self.parts[segment], level)
        ends = {end: min(getattr(own, end), purity) for end in ("value", "low", "high")}
        return replace(own, **ends)

    def ask_scores(self, tables_at: TablesAt) -> "SegmentShares":
        """Ask the scores of each segment whether its part of the hidden positives may be right."""
        if self.overall is None:
            return self
        known, level = self.overall, self.options["confidence_level"]
        purity = known.shares.label_purity
        shared = {
            segment: share_out(known.shares, known.counts, part, level)
            for segment, part in self.parts.items()
            if not why_not(part)
        }
        strata = score_edges(known.counts)
        edges = frequency_edges(known.counts)
        tables = tables_at(edges)
        sizes = {segment: self.parts[segment].effective_size("positive") for segment in shared}
        doubtful = find_doubtful(tables, shared, purity, sizes) if tables else list(shared)
        asked = {segment: shared[segment] for segment in doubtful}
        ruled_out = rule_out(self.parts, asked, purity, len(shared))
        about = {name: self.options[name] for name in FITTED}
        # The chance of its labels may explain what does not fit.
        fitted = {
            segment: fit_share(self.parts[segment], self._part_of(segment, known), **about)
            for segment in doubtful
        }
        possible = {key: share for key, share in shared.items() if share.value < purity}
        joined = join_cells(tables, edges, strata)
        scored = shares_by_scores(joined, possible, known.shares) if tables else []
        worth = {key: part.effective_size("unlabeled") for key, part in self.parts.items()}
        sized = [each.of_size(worth[each.segment]) for each in scored]
        return replace(
            self,
            alike=frequency_check(sized, list(ruled_out.values()), merged=not tables),
            fitted=fitted,
            ruled_out=ruled_out,
        )

    def finish(self, row: SegmentRow) -> SegmentRow:
        """Say in a segment's line what its share rests on, and withhold what that contradicts."""
        if self.overall is None or not row.rows:
            return row
        if self.unlike:
            wrong = self.ruled_out.get(row.segment)
            return withhold(row, wrong.message if wrong else "")
        cut = self.fitted.get(row.segment)
        own = math.nan if cut is None else self._part_of(row.segment, self.overall).value
        if cut is None or own <= cut.value:
            return row
        words = (
            f"one label frequency gives it {percent(own)} hidden positives, within the chance of "
            f"its labels; {percent(cut.value)}, the most that fits its scores, is used"
        )
        return replace(row, note="; ".join(filter(None, (row.note, words))))

    def _given(self, name: str, segment: Hashable) -> Any:
        value = self.options[name]
        if not isinstance(value, Mapping):
            return value
        if segment not in value:
            raise InputError(f"{named(name)} has no value for this segment, {segment!r}")
        return value[segment]


def split_shares(given: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    """Return what `shared_share` takes for each segment."""
    return {
        **{name: given.get(name) for name in (*GIVEN, "prevalence_interval")},
        "label_purity": given.get("label_purity", 1.0),
        "sampling": given.get("sampling", "single-sample"),
        "n_resamples": given.get("n_resamples", 200),
        "target": wanted.target,
        "confidence_level": wanted.confidence_level,
        "random_state": wanted.random_state,
        "progress": wanted.progress,
    }


def overall_options(
    options: Mapping[str, Any], parts: Mapping[Hashable, ScoreCounts]
) -> dict[str, Any]:
    """Return the options for all rows: shares of segments become the share of all."""
    found = dict(options)
    for name in GIVEN:
        value = options.get(name)
        if not isinstance(value, Mapping):
            continue
        known = {key: parts[key] for key in parts if key in value and not why_not(parts[key])}
        if not known or not all(isinstance(value[key], int | float) for key in known):
            raise InputError(
                f"a mapping for {named(name)} must hold a number for each segment; got {value!r}",
                argument=name,
            )
        if name == "label_frequency":
            labelled = {key: counts.n_positive for key, counts in known.items()}
            positives = sum(labelled[key] / value[key] for key in known)
            found[name] = sum(labelled.values()) / positives
            continue
        sizes = {key: PARTS[name](counts) for key, counts in known.items()}
        found[name] = sum(sizes[key] * value[key] for key in known) / sum(sizes.values())
    return found


def _known_frequencies(
    options: Mapping[str, Any], parts: Mapping[Hashable, ScoreCounts]
) -> Check | None:
    """Ask the shares that were given of each segment whether all are labelled alike."""
    name = next((each for each in GIVEN if isinstance(options[each], Mapping)), None)
    if name is None or options.get("sampling", "single-sample") != "single-sample":
        return None
    usable = {key: part for key, part in parts.items() if not why_not(part)}
    known = {key: part for key, part in usable.items() if key in options[name]}
    labels = {key: part.n_positive for key, part in known.items()}
    positives = {}
    for key, part in known.items():
        share = options[name][key]
        if name == "label_frequency":
            positives[key] = part.n_positive / share
        else:
            labelled = part.n_positive if name == "unlabeled_prevalence" else 0.0
            positives[key] = labelled + share * PARTS[name](part)
    return known_frequency_check(labels, positives, len(usable))


def _largest(parts: Mapping[Hashable, ScoreCounts]) -> list[Hashable]:
    """Return the segments whose own share is estimated: those of most labels."""
    labels = {
        segment: counts.effective_size("positive")
        for segment, counts in parts.items()
        if not why_not(counts)
    }
    enough = [segment for segment, number in labels.items() if number >= FEWEST_LABELS]
    chosen = set(heapq.nlargest(MOST_ESTIMATED, enough, key=labels.__getitem__))
    return [segment for segment in enough if segment in chosen]


def as_estimate(shares: Shares, confidence_level: float) -> Estimate:
    """Return the share of hidden positives with its interval, and an error if it is no range."""
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    if span is None:
        return Estimate(value, value, value, confidence_level=confidence_level)
    error = shares.unlabeled_prevalence_error
    return Estimate(value, span.low, span.high, error, confidence_level)
