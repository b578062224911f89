"""Metrics of many segments at once: a thousand thresholds cost what one does.

What `Evaluation.metric_rows` says of one segment, in arrays over segments. Only the plain case is
made here, pure labels and metrics at one threshold; other segments are evaluated one by one.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from undercount.assume.base import Unknowns
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, metric_names
from undercount.errors import UndefinedMetricWarning, collect_warnings
from undercount.estimate import Estimate
from undercount.infer.estimated_share import READ_SHARES, leaves_room
from undercount.infer.heads import FlaggedCounts, head_spread, two_sided_z
from undercount.infer.labelled import naive_area, naive_point
from undercount.infer.metric_row import MetricRow, grows
from undercount.infer.mixture import RATE_TOLERANCE, MixtureDesign, Target, stack_designs
from undercount.infer.sensitivity import CHANCE_AUC
from undercount.infer.shared_labels import SharedLabels, cut_sides
from undercount.infer.threshold_intervals import certain_limits, method_name, threshold_interval
from undercount.metric_facts import FACTS, RIGHT_LABELS
from undercount.shares import Shares


@dataclass(frozen=True, eq=False)
class LineTable:
    """Hold the rows of many segments above one threshold, and what is known of their positives."""

    segments: tuple[Hashable, ...]
    counts: tuple[ScoreCounts, ...]
    hidden: tuple[Unknowns, ...]
    heads: FloatArray  # of shape (3, segments)
    threshold: float
    target: Target
    confidence_level: float

    @classmethod
    def of(
        cls,
        parts: Mapping[Hashable, ScoreCounts],
        hidden: Mapping[Hashable, Unknowns],
        threshold: float,
        target: Target,
        confidence_level: float,
    ) -> "LineTable":
        """Take the segments that are of the plain case."""
        kept = [key for key, held in hidden.items() if _is_plain(held)]
        kinds = {_kind(hidden[key]) for key in kept}
        kept = kept if len(kinds) == 1 else []
        heads = np.array([parts[key].heads_at(threshold) for key in kept]).reshape(-1, 3)
        return cls(
            tuple(kept),
            tuple(parts[key] for key in kept),
            tuple(hidden[key] for key in kept),
            heads[:, (0, 2, 1)].T,
            threshold,
            target,
            confidence_level,
        )

    def rows(self, metrics: Sequence[str]) -> dict[Hashable, tuple[MetricRow, ...]]:
        """Return the metric rows of the segments whose numbers exist without a doubt."""
        if not self.segments or not all(map(self._fits_metric, metrics)):
            return {}
        with collect_warnings(UndefinedMetricWarning):
            points = [naive_point(each, self.threshold) for each in self.counts]
            naive = {name: [float(getattr(each, name)) for each in points] for name in metrics}
        columns = [self._metric_rows(name, naive[name]) for name in metrics]
        fits = self._fits()
        return {
            segment: tuple(column[i] for column in columns)
            for i, segment in enumerate(self.segments)
            if fits[i]
        }

    def _fits_metric(self, metric: str) -> bool:
        """Whether a metric is one at a threshold, and has its variance from the cells alone."""
        # The share flagged has a variance of its own in a population.
        own = metric == "predicted_positive_rate" and self.target == "population"
        return not own and metric in metric_names()

    def _design(self, shares: Sequence[Shares]) -> MixtureDesign:
        """Return one design for all segments."""
        return stack_designs(self.counts, shares, self.target)

    @cached_property
    def _now(self) -> FlaggedCounts:
        """The rows above the threshold, and the design at the shares in use."""
        return FlaggedCounts(
            self.heads, self._design([held.shares.exact() for held in self.hidden])
        )

    @cached_property
    def _ends(self) -> tuple[FlaggedCounts, FlaggedCounts]:
        """The same at the lower and at the upper ends of the shares' intervals."""
        low, high = zip(*(_share_ends(held.shares) for held in self.hidden), strict=True)
        return FlaggedCounts(self.heads, self._design(low)), FlaggedCounts(
            self.heads, self._design(high)
        )

    @cached_property
    def _shares_below(self) -> list[FlaggedCounts]:
        """The same at the shares below the estimates that `estimate_end_by_end` looks at."""
        found = []
        for part in np.linspace(0, 1, READ_SHARES)[:-1].tolist():
            moved = []
            for held in self.hidden:
                low, _ = _share_ends(held.shares)
                value = held.shares.unlabeled_prevalence
                start = low.unlabeled_prevalence
                moved.append(held.shares.exact(start + part * (value - start)))
            found.append(FlaggedCounts(self.heads, self._design(moved)))
        return found

    def _fits(self) -> Any:
        """Tell the segments whose rates lie inside [0, 1], so that nothing has to be said."""
        point = self._now.point
        rates = np.stack(np.broadcast_arrays(point.tpr, point.fpr))
        return ((rates >= -RATE_TOLERANCE) & (rates <= 1 + RATE_TOLERANCE)).all(axis=0)

    @cached_property
    def _bounded(self) -> list[bool]:
        """Whether naive values of metrics that grow with the share are below the true ones."""
        return [
            each.n_negative == 0 and naive_area(each, "roc_auc") >= CHANCE_AUC
            for each in self.counts
        ]

    def _metric_rows(self, metric: str, values: Sequence[float]) -> list[MetricRow]:
        found = self._estimate(metric)
        rows = []
        for value, bounded, held, estimate in zip(
            values, self._bounded, self.hidden, found, strict=True
        ):
            bound = value if bounded and grows(metric, value, held.shares) else None
            certain = bound is not None and metric == "precision" and self.target == "dataset"
            if certain:
                ends = {end: max(getattr(estimate, end), value) for end in ("value", "low", "high")}
                estimate = replace(estimate, **ends)  # noqa: PLW2901 - cut where rows are certain
            rows.append(MetricRow(metric, self.threshold, value, estimate, bound, certain))
        return rows

    def _estimate(self, metric: str) -> list[Estimate]:
        """Estimate a metric of every segment, as `estimate_end_by_end` does one by one."""
        facts, by_share = FACTS[metric], any(held.interval for held in self.hidden)
        given = None if by_share or not facts.needs_prevalence else self._given_errors
        value, low, high, error = self._at(metric, self._now, given)
        method = method_name(self._now.design, "wilson")
        if by_share and facts.needs_prevalence:
            method = f"{method}, share end by end"
            raw = np.stack([each.point.metric(metric) for each in self._ends])
            ends = np.stack([each.point.capped().metric(metric) for each in self._ends])
            down, up = value - ends.min(axis=0), ends.max(axis=0) - value
            below, above = cut_sides(raw, ends)
            low, high = self._widened(metric, value, low, high)
            reach = two_sided_z(self.confidence_level)
            parts = [held.label_part for held in self.hidden]
            both = SharedLabels.of(self._now, metric, parts, reach)
            low = value - both.reach(value - low, down, cut=below)
            high = value + both.reach(high - value, up, cut=above)
            limits: tuple[Any, Any] = facts.range
            if self._now.design.counted and self._now.design.pure:  # whatever the shares
                limits = certain_limits(self._now, metric)
            low = np.fmin(np.maximum(low, limits[0]), value)
            high = np.fmax(np.minimum(high, limits[1]), value)
            half = np.abs(ends[1] - ends[0]) / 2
            error = both.reach(reach * error, half, cut=below | above) / reach
        elif by_share or (self._given_errors is not None and not facts.needs_prevalence):
            # Its value is the same there, and the end that widens most is taken.
            there = [self._at(metric, each) for each in self._ends]
            low = np.minimum.reduce([low, *(each[1] for each in there)])
            high = np.maximum.reduce([high, *(each[2] for each in there)])
        level, four = self.confidence_level, np.stack([value, low, high, error], axis=1).tolist()
        needs = (*facts.needs, RIGHT_LABELS) if facts.needs else ()
        found = [Estimate(a, b, c, d, level, needs, method) for a, b, c, d in four]
        if not facts.needs_prevalence:
            return found
        return [held.leave_open(each) for each, held in zip(found, self.hidden, strict=True)]

    def _widened(
        self, metric: str, value: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Let labels reach as far as at any share from the lower end, where they have no room."""
        below, above = value - low, high - value
        room = leaves_room(self._now, two_sided_z(self.confidence_level))
        if room.all():
            return low, high
        for heads in self._shares_below:
            there, least, most, _ = self._at(metric, heads)
            below, above = np.fmax(below, there - least), np.fmax(above, most - there)
        return np.where(room, low, value - below), np.where(room, high, value + above)

    @cached_property
    def _given_errors(self) -> FloatArray | None:
        """The shares' standard errors, if they were given or follow from what was."""
        errors = np.array([held.shares.unlabeled_prevalence_error for held in self.hidden])
        by_share = any(held.interval for held in self.hidden)
        return None if by_share or not errors.any() else errors

    def _at(
        self, metric: str, heads: FlaggedCounts, errors: FloatArray | None = None
    ) -> tuple[FloatArray, ...]:
        """Return value, ends and standard error; without errors shares are known exactly."""
        (least, most), level = FACTS[metric].range, self.confidence_level
        both = (0.0 if errors is None else errors, 0.0)
        value, low, high = threshold_interval(heads, metric, confidence_level=level, errors=both)
        moves = head_spread(heads, metric)
        added = 0.0 if errors is None else (moves.share_slope * errors) ** 2
        error = np.sqrt(moves.variance + added)
        gone = np.isnan(value)
        low = np.where(gone, least, np.fmin(low, value))
        return value, low, np.where(gone, most, np.fmax(high, value)), error + 0.0 * value


def _share_ends(shares: Shares) -> tuple[Shares, Shares]:
    """Return the shares at the lower and at the upper end of their interval."""
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    low, high = (span.low, span.high) if span else (value, value)
    return shares.exact(min(low, value)), shares.exact(float(shares.clip(max(high, value))))


def _is_plain(held: Unknowns) -> bool:
    """Tell whether labels are pure, and the share is a number or has an error, and is no range."""
    shares = held.shares
    span, error = shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence_error
    pure = shares.label_purity == 1 and shares.label_purity_interval is None
    known = math.isfinite(error) and (error > 0 or not held.interval)
    return pure and (span is None) == (error == 0) and known


def _kind(held: Unknowns) -> tuple[str, bool, bool]:
    """Say what was given, and whether the share has an error, an estimator's or another."""
    return held.shares.given, bool(held.interval), held.shares.unlabeled_prevalence_error > 0
