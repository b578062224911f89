"""Labelled rows that stand for positives: one for each, or for several where labels are rare.

The positives' scores are those of the labelled rows so weighted, and all rows are themselves, so
that every metric is read as from labels that were drawn apart. Its variance is that of the labels
(each drawn by itself) and, for the population, of the rows. An assumption says for how many
positives each label stands, and what part of that chance decides.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import InputError, real_number
from undercount.estimate import Estimate, Interval, delta_interval
from undercount.infer.area_gradients import (
    RowCounts,
    area_influence,
    cell_rows,
    losses_of,
    precision_there,
    row_precision,
)
from undercount.infer.area_intervals import area_estimate
from undercount.infer.difference import Contributions
from undercount.infer.heads import (
    FlaggedCounts,
    RatePoint,
    TopRows,
    head_spread,
    student_level,
    top_heads,
    top_parts,
)
from undercount.infer.mixture import (
    LABELLED,
    RATE_TOLERANCE,
    UNLABELED,
    Misfit,
    MixtureDesign,
    Target,
    mixture_curve,
)
from undercount.infer.sensitivity import BreakEven
from undercount.infer.threshold_intervals import (
    certain_limits,
    threshold_estimate,
    threshold_interval,
)
from undercount.infer.variance import Found, Spread
from undercount.metric_facts import FACTS
from undercount.shares import Shares

_TINY = 1e-12
# Scores at which bounds turn the odds round, at most.
N_BORDERS = 65
# Step of a numerical derivative, as a part of the smallest share in it.
STEP = 1e-5
LARGEST_GAMMA, HALVINGS = 1000.0, 12
Limits: TypeAlias = tuple[FloatArray, FloatArray]
# Values of cells, or of flagged rows, turned into values of rows with these scores.
RowValues: TypeAlias = Callable[[Any, NDArray[Any]], FloatArray]


def _row_values(counts: ScoreCounts, of_cells: Callable[[Any], FloatArray]) -> RowValues:
    """Return what turns values of cells into values of rows."""

    def of_rows(value: Any, score: NDArray[Any]) -> FloatArray:
        return np.asarray(of_cells(value)[cell_places(counts.score, score)])

    return of_rows


@dataclass(frozen=True, eq=False)
class StandingLabels(ABC):
    """Read every metric from labels that stand for positives.

    Parameters
    ----------
    labels, score : array
        Labels (1, 0, -1 for unlabeled) and scores of all rows.
    target : {"dataset", "population"}
        What intervals speak of.
    confidence_level : float
        Of all intervals.
    place : array of int, optional
        Which rows these are among those that count, if they are a part of them.
    weight : array, optional
        Importance of each row.
    cluster : array of int, optional
        The number of each row's cluster, if rows and labels come in clusters.

    Notes
    -----
    Assumes: each positive was labelled by itself, as often as what its label stands for says; with
    clusters all positives of one together.
    Wrong when: some positives never carry a label, or labels stand for other numbers than is said;
    `bounds` says how far metrics go if their odds are wrong by a factor.
    """

    labels: NDArray[Any]
    score: NDArray[Any]
    _: KW_ONLY
    target: Target = "dataset"
    confidence_level: float = 0.95
    place: NDArray[Any] | None = None
    weight: FloatArray | None = None
    cluster: NDArray[Any] | None = None

    # What has one entry a row, the argument that is at fault, and how intervals are called.
    by_row: ClassVar[tuple[str, ...]] = ("labels", "score", "weight", "cluster")
    argument: ClassVar[str] = "assume"
    method: ClassVar[str] = "labels that stand for positives"

    def __post_init__(self) -> None:
        # Beside single precision NumPy would round a threshold, which counts do not.
        object.__setattr__(self, "score", np.asarray(self.score, np.float64))
        total = self.total - float(self.weights[self.labels == 0].sum())
        if not 0 < self.positives < total:
            raise InputError(
                "the labelled rows must stand for more than none and fewer than all rows; "
                f"got {self.positives:,.0f} of {total:,}",
                argument=self.argument,
            )

    @property
    @abstractmethod
    def stands_for(self) -> FloatArray:
        """For how many positives each labelled row stands."""

    @property
    @abstractmethod
    def kept_back(self) -> FloatArray:
        """The part of what each label stands for that chance decides on, as a standard error."""

    @property
    @abstractmethod
    def needs(self) -> tuple[str, ...]:
        """What the numbers rest on."""

    def lie_like(self, counts: ScoreCounts) -> ScoreCounts:
        """Return counts of these rows whose labelled positives lie as the hidden ones do.

        A label that stands for w positives stands for w - 1 hidden ones; together they count as
        many rows as labels of equal chance that tell as much (Kish).
        """
        hidden = self.stands_for / self.weights[self.labelled] - 1
        if not hidden.any():
            return counts
        place = np.searchsorted(-counts.score, -self.score[self.labelled])
        place = np.minimum(place, len(counts.score) - 1)
        parts = hidden * (hidden.sum() / float(hidden @ hidden))
        mass = np.bincount(place, parts, len(counts.score)).astype(float)
        squares = (float(mass.sum()), *counts.squared_weight[1:])
        return replace(counts, positive=mass, squared_weight=squares)

    def weight_variance(self, adds: FloatArray) -> float:  # noqa: ARG002 - weights are known
        """Return the variance of what labels add that errors of what they stand for make."""
        return 0.0

    def take(self, place: NDArray[Any], target: Target | None = None) -> Self:
        """Return the same of some of the rows, perhaps for another target."""
        columns = {name: getattr(self, name) for name in self.by_row}
        some: dict[str, Any] = {
            name: None if column is None else column[place] for name, column in columns.items()
        }
        whole = place if self.place is None else self.place[place]
        return replace(self, **some, target=target or self.target, place=whole)

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each row."""
        return np.ones(len(self.labels)) if self.weight is None else self.weight

    @cached_property
    def total(self) -> float:
        """Number of all rows, or the sum of their weights."""
        return float(self.weights.sum())

    def by_unit(self, rows: FloatArray) -> FloatArray:
        """Return what each independent unit adds: a row, or all rows of a cluster together."""
        return rows if self.cluster is None else np.bincount(self.cluster, rows).astype(float)

    def by_label(self, labels: FloatArray) -> FloatArray:
        """Return what each unit with a label adds, from what its labels do."""
        if self.cluster is None:
            return labels
        _, codes = np.unique(self.cluster[self.labelled], return_inverse=True)
        return np.asarray(np.bincount(codes, labels), float)

    @cached_property
    def n_units(self) -> int:
        """Number of labels, or of clusters with one."""
        return len(self.by_label(np.ones(np.count_nonzero(self.labelled))))

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows are labelled positive."""
        return np.asarray(self.labels == 1)

    @cached_property
    def positives(self) -> float:
        """Estimated number of positives."""
        return float(self.stands_for.sum())

    @cached_property
    def effective_size(self) -> float:
        """How many labels of equal chance tell as much (Kish): (Σw)²/Σw²."""
        units = self.by_label(self.stands_for)
        return self.positives**2 / float(units @ units)

    @property
    def share(self) -> Estimate:
        """What follows for the unlabeled rows, with the chance of the labels as its error."""
        sizes = [float(self.weights[self.labels == label].sum()) for label in (1, -1)]
        n_labelled, hidden = sizes
        units = self.by_label(self.stands_for * self.kept_back)
        drawn = float(units @ units)
        error = math.sqrt(drawn + self.weight_variance(self.stands_for)) / hidden
        value = (self.positives - n_labelled) / hidden
        z = float(ndtri((1 + self.confidence_level) / 2))
        span = max(value - z * error, 0.0), min(value + z * error, 1.0 - _TINY)
        return Estimate(value, *span, error, self.confidence_level, method=self.method)

    def counts_at(self, threshold: float | None = None) -> ScoreCounts:
        """Count what labelled rows stand for as positives, and all rows as unlabeled ones."""
        return self._counts(self.stands_for, () if threshold is None else (threshold,))

    def search_counts(self, threshold: float | None = None) -> ScoreCounts:
        """Return counts that tell as much as there are clusters, were labels of one all alike."""
        counts, units = self.counts_at(threshold), self.by_label(self.stands_for)
        if self.cluster is None:
            return counts
        effect = float(units @ units / (self.stands_for @ self.stands_for))
        labelled, negative, unlabeled = counts.squared_weight
        return replace(counts, squared_weight=(labelled * effect, negative, unlabeled))

    def clustered_design(self) -> MixtureDesign:
        """Return what was drawn at random, with the effect of clusters alone on the ROC AUC."""
        _, moves, _ = self._moves("roc_auc")
        together, alone = (
            each.influence("roc_auc") for each in (self, replace(self, cluster=None))
        )
        effect = float(together @ together / (alone @ alone))
        return replace(moves.design, cluster_effect=effect, clusters=self.effective_size)

    def _counts(
        self, stands_for: FloatArray, knots: tuple[float, ...] = (), *, compact: bool = True
    ) -> ScoreCounts:
        rows = np.append(self.score[self.labelled], self.score)
        labels = np.append(np.ones(len(stands_for)), np.full(len(self.score), -1.0))
        weight = np.append(stands_for, self.weights)
        return ScoreCounts.from_rows(
            labels, rows, unlabeled=-1, sample_weight=weight, compact=compact, knots=knots
        )

    def possible_counts(self) -> ScoreCounts:
        """Count what labelled rows stand for beside the rows that may be positive."""
        possible = self.labels != 0
        score = np.append(self.score[self.labelled], self.score[possible])
        labels = np.append(np.ones(len(self.stands_for)), np.full(possible.sum(), -1.0))
        weight = np.append(self.stands_for, self.weights[possible])
        return ScoreCounts.from_rows(
            labels, score, unlabeled=-1, sample_weight=weight, compact=True
        )

    def curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the recovered curve, which answers at a threshold."""
        counts = self.counts_at(threshold)
        return mixture_curve(counts, Shares(self.prevalence, 1.0, "case-control"), clean=False)

    @property
    def prevalence(self) -> float:
        """Estimated share of positives among all rows."""
        return self.positives / self.total

    def design(self, counts: ScoreCounts) -> MixtureDesign:
        """Return labelled rows drawn apart from all rows, whose share of positives is known."""
        squares = counts.squared_weight
        return MixtureDesign(
            np.array([counts.n_positive, counts.n_unlabeled, 0.0]),
            np.array([squares[0] / counts.n_positive, squares[2] / counts.n_unlabeled, 1.0]),
            "unlabeled_prevalence",
            counts.n_positive / counts.n_unlabeled,
            1.0,
            "case-control",
            "population",
        )

    def estimate(
        self,
        metric: str,
        threshold: float | None = None,
        *,
        top: float | None = None,
        beta: float = 1.0,
    ) -> Estimate:
        """Estimate a metric with its interval."""
        family = FACTS[metric].family
        if top is not None:
            found = self._at_top(metric, top, beta)
        elif family == "loss":
            found = self._loss(metric)
        elif family == "threshold":
            if threshold is None:
                raise InputError(f"{metric} needs a threshold; rows with at least this score count")
            found = self._at_threshold(metric, threshold, beta)
        else:
            found = self._area(metric)
        self._report(found, metric)
        low, high = min(found.low, found.value), max(found.high, found.value)
        return Estimate(
            found.value,
            low,
            high,
            found.standard_error,
            self.confidence_level,
            self.needs,
            self.method,
        )

    def _report(self, found: Found, metric: str) -> None:
        """Warn of a value that was pulled into what is possible."""
        misfit = found.misfit
        if misfit is None:
            return
        quantity = "{metric}" if misfit.quantity == metric else misfit.quantity
        firm = misfit.contradicts(self.confidence_level)
        what = f"{quantity} would be {misfit.value:.4g} by what these labels stand for"
        misfit.warn_of(what, metric, self.argument, firm=firm, stacklevel=4)

    def certain_limits(
        self, metric: str, threshold: float | FloatArray, beta: float = 1.0
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return what a metric of these rows is at least and at most, whatever the chances.

        In place of a threshold there may be the part of each row that is flagged.

        Rows labelled positive are positive, those found negative are not. Of a population that
        says nothing.
        """
        if self.target != "dataset":
            return None
        kinds = [self.labels == label for label in (1, -1, 0)]
        flagged = threshold if isinstance(threshold, np.ndarray) else self.score >= threshold
        sizes, heads = (
            np.array([float((self.weights * some)[kind].sum()) for kind in kinds])
            for some in (np.ones(len(self.score)), flagged)
        )
        design = MixtureDesign(
            sizes, np.ones(3), "unlabeled_prevalence", 0.0, 1.0, "single-sample", "dataset"
        )
        return certain_limits(FlaggedCounts(heads, design), metric, beta)

    def _at_threshold(self, metric: str, threshold: float, beta: float) -> Found:
        counts, moves, of_rows = self._moves(metric, threshold, beta)
        design = self._with_variance(moves, of_rows)
        return threshold_estimate(
            counts,
            design,
            metric,
            threshold=threshold,
            beta=beta,
            confidence_level=student_level(
                self.confidence_level, min(design.freedom, self.freedom)
            ),
            kind="wilson",
            errors=(0.0, 0.0),
            known=self.certain_limits(metric, threshold, beta),
        )

    def _at_top(self, metric: str, top: float, beta: float) -> Found:
        """Return a metric of so many rows of the highest scores; tied rows by chance."""
        heads, taken = self._top(top)
        moves, of_rows = self._top_moves(metric, top, beta)
        variance = self._variance(moves, of_rows)
        if self.target == "population":
            rows = self.top_influence(metric, top, beta)
            variance = float(rows @ rows) + self.weight_variance(self.top_adds(metric, top, beta))
        design = self._scaled(moves, variance)
        level = student_level(self.confidence_level, min(design.freedom, self.freedom))
        value, low, high = threshold_interval(
            FlaggedCounts(heads.heads, design),
            metric,
            confidence_level=level,
            beta=beta,
            known=self.certain_limits(metric, taken, beta),
        )
        return Found(float(value), float(low), float(high), math.sqrt(variance), self.method)

    def _top_moves(self, metric: str, top: float, beta: float) -> tuple[Spread, RowValues]:
        """Return how a metric of the highest rows moves, and what turns that into values of rows.

        Values are those of labelled rows, or of all.
        """
        heads, taken = self._top(top)

        def of_rows(value: Any, score: NDArray[Any]) -> FloatArray:
            every = len(score) == len(self.score)
            return np.asarray(value * (taken if every else taken[self.labelled]))

        return head_spread(heads, metric, beta), of_rows

    def top_adds(self, metric: str, top: float, beta: float = 1.0) -> FloatArray:
        """Return what each label adds to a metric of the highest rows."""
        return self._label_moves(*self._top_moves(metric, top, beta))[0]

    def _top(self, top: float) -> tuple[FlaggedCounts, FloatArray]:
        """Return the rows of each kind among the highest, and the part of each row among them."""
        everyone = ScoreCounts.from_rows(
            np.full(len(self.score), -1.0), self.score, unlabeled=-1, sample_weight=self.weight
        )
        parts = top_parts(everyone, top, apart=True)
        taken = parts[cell_places(everyone.score, self.score)]
        design = self.design(self.counts_at())
        flagged = float(self.weights @ taken)
        heads = np.array([float(self.stands_for @ taken[self.labelled]), flagged, 0.0])
        return FlaggedCounts(heads, design), taken

    def top_influence(self, metric: str, top: float, beta: float = 1.0) -> FloatArray:
        """Return by what each unit moves a metric of so many rows of the highest scores.

        How many rows are flagged is given. In another sample of a population the same share of
        rows would end at another score, so that each row moves that too.
        """
        if self.target == "dataset":
            moved = self._row_moves(*self._top_moves(metric, top, beta))
            return self.by_unit(moved) * self._of_few
        _, taken = self._top(top)
        mass = np.zeros(len(self.score))
        mass[self.labelled] = self.stands_for / self.total
        hits, share = float(mass @ taken), self.prevalence
        weight, part = self.weights / self.total, float(self.weights @ taken) / self.total
        slopes = _table_slopes(metric, hits, share, part, beta)
        ranked, rows = self._recall_slope(taken), 1 / len(self.score)
        beyond = rows * (taken - taken.mean())
        by_hits = mass * taken - weight * hits - share * ranked * beyond
        by_flagged = weight * (taken - part) - beyond
        moved = slopes[0] * by_hits + slopes[1] * (mass - weight * share) + slopes[2] * by_flagged
        return self.by_unit(moved) * self._of_few

    def _recall_slope(self, taken: FloatArray) -> float:
        """Return how fast recall grows with the share of rows that are flagged, at the last row."""
        top = float(np.count_nonzero(taken > 0) - np.count_nonzero((taken > 0) & (taken < 1)) / 2)
        counts = self._counts(self.stands_for, compact=False)
        found = top_heads(counts, self.design(counts), max(top, 1.0)).top
        return float(cast("TopRows", found).slope)

    def _area(self, metric: str) -> Found:
        counts, moves, of_rows = self._moves(metric)
        level, design = self.confidence_level, self._with_variance(moves, of_rows)
        found = area_estimate(
            counts, design, metric, max_fpr=None, confidence_level=level, errors=(0.0, 0.0)
        )
        if metric != "average_precision":
            return found
        raw, t = self.average_precision(), float(stdtrit(design.freedom, (1 + level) / 2))
        value, error = min(raw, 1.0), found.standard_error
        ends = delta_interval(value, error, "log", t)
        misfit = None
        if raw > value + RATE_TOLERANCE:
            misfit = Misfit(metric, raw, (raw - value) / max(error, _TINY), lambda: math.nan)
        return replace(
            found, value=value, low=float(ends[0]), high=min(float(ends[1]), 1.0), misfit=misfit
        )

    def _loss(self, metric: str) -> Found:
        """Return the mean loss: of all rows as if negative, and what labels stand for beside it."""
        value, moves = float(self._mean_loss(metric, self.stands_for)), self.influence(metric)
        error, (least, most) = math.sqrt(float(moves @ moves)), FACTS[metric].range
        t = float(stdtrit(self.freedom, (1 + self.confidence_level) / 2))
        low, high = least, value + t * error
        if value > least:  # but for a few heavy labels of high scores
            low, high = (float(end) for end in delta_interval(value, error, "log", t))
        return Found(value, low, min(high, most), error, self.method)

    def _mean_loss(self, metric: str, stands_for: FloatArray) -> Any:
        if_positive, if_negative = losses_of(self.score, metric)
        more = (if_positive - if_negative)[self.labelled]
        return (self.weights @ if_negative + more @ stands_for) / self.total

    def _loss_moves(self, metric: str) -> FloatArray:
        """Return the error that each row brings to the mean loss."""
        if_positive, if_negative = losses_of(self.score, metric)
        total, rows = self.total, np.zeros(len(self.score))
        adds = self.stands_for * (if_positive - if_negative)[self.labelled] / total
        if self.target == "dataset":
            rows[self.labelled] = self.kept_back * adds
            return rows
        rows[self.labelled] = adds
        mean = float(self._mean_loss(metric, self.stands_for))
        return rows + self.weights * (if_negative - mean) / total

    def _moves(
        self, metric: str, threshold: float | None = None, beta: float = 1.0
    ) -> tuple[ScoreCounts, Spread, RowValues]:
        """Return weighted counts, how a metric moves with them, and what turns that into rows'."""
        counts = self.counts_at(threshold)
        design = self.design(counts)
        if threshold is not None:
            heads = FlaggedCounts.at(counts, design, threshold)
            return counts, head_spread(heads, metric, beta), lambda v, s: v * (s >= threshold)
        rows = cell_rows(counts)

        def of_rows(value: Any, score: NDArray[Any]) -> FloatArray:
            cells = np.broadcast_to(value, counts.score.shape)
            return np.asarray(cells[cell_places(counts.score, score)])

        return counts, Spread(design, rows, area_influence(rows, design.mixing, metric)), of_rows

    def average_precision(self, prevalence: float | None = None) -> float:
        """Return Σ w (1 + Σ of the other w at least as high)/M1 over Σ w; w = 1/e.

        Labels are independent, so that the mean of each product of two is that of two positives;
        a row is surely as high as itself, and counts once.
        """
        order = np.argsort(-self.score[self.labelled], kind="stable")
        scores, stands_for = self.score[self.labelled][order], self.stands_for[order]
        flagged, others = self._ranks_above(scores, stands_for)
        own = self.weights[self.labelled][order]

        def read(counts: RowCounts) -> float:
            precision = row_precision(own, others, flagged, flagged, counts)
            return float(stands_for @ precision / self.positives)

        return precision_there(read, self.prevalence, prevalence)

    def _with_variance(self, moves: Spread, of_rows: RowValues) -> MixtureDesign:
        """Return the design whose errors are scaled to those of labels of these chances."""
        return self._scaled(moves, self._variance(moves, of_rows))

    def _scaled(self, moves: Spread, variance: float) -> MixtureDesign:
        """Return the design whose errors are scaled to this variance of what moves an estimate."""
        independent = float(moves.variance)
        kept, every = self.by_label(self.stands_for * self.kept_back), self.stands_for
        alike = float(kept @ kept / (every @ every))  # if all labels add the same
        ratio = variance / independent if independent > _TINY**2 else alike
        ratio = max(ratio, _TINY)
        return replace(moves.design, cluster_effect=ratio, clusters=self.effective_size)

    def with_effect(
        self, counts: ScoreCounts, moves: Spread, of_cells: Callable[[Any], FloatArray]
    ) -> MixtureDesign:
        """Return the design with the effect of the chances, of what moves weighted counts."""
        found = self._with_variance(moves, _row_values(counts, of_cells))
        return replace(found, clusters=min(found.clusters, self.freedom + 1))

    @property
    def freedom(self) -> float:
        """How many labels of equal weight tell a variance (Satterthwaite 1946), less one."""
        units = self.stands_for
        adds = self.by_label(units * self.kept_back if self.target == "dataset" else units) ** 2
        total = float(adds.sum())
        return max(total**2 / float(adds @ adds) - 1, 1.0) if total > 0 else math.inf

    def influence(self, metric: str, threshold: float | None = None) -> FloatArray:
        """Return by what each row, or cluster, moves a metric; its variance is their squares' sum.

        Two models of the same rows have that of their difference from the difference of these.
        """
        if metric == "average_precision":
            rows = self._precision_moves()
        elif FACTS[metric].family == "loss":
            rows = self._loss_moves(metric)
        else:
            _, moves, of_rows = self._moves(metric, threshold)
            rows = self._row_moves(moves, of_rows)
        return self.by_unit(rows) * self._of_few

    def influence_of(
        self, counts: ScoreCounts, moves: Spread, of_cells: Callable[[Any], FloatArray]
    ) -> FloatArray:
        """Return the same of anything that moves with weighted counts."""
        return self.by_unit(self._row_moves(moves, _row_values(counts, of_cells))) * self._of_few

    def contributions(self, units: FloatArray, labels: FloatArray) -> Contributions:
        """Return what units and labels add to an estimate, with the error of estimated delays."""
        return Contributions(units, self.freedom, labels, self.weight_variance)

    def label_adds(self, metric: str, threshold: float | None = None) -> FloatArray:
        """Return what each label adds to a metric, through which the error of delays reaches it."""
        if metric == "average_precision":
            return self._precision_adds[0]
        _, moves, of_rows = self._moves(metric, threshold)
        return self._label_moves(moves, of_rows)[0]

    def label_adds_of(
        self, counts: ScoreCounts, moves: Spread, of_cells: Callable[[Any], FloatArray]
    ) -> FloatArray:
        """Return the same of anything that moves with weighted counts."""
        return self._label_moves(moves, _row_values(counts, of_cells))[0]

    @property
    def _of_few(self) -> float:
        """What errors are multiplied by because they are taken around the labels' own mean."""
        n_labels = self.n_units
        return math.sqrt(n_labels / max(n_labels - 1, 1))

    @cached_property
    def _precision_adds(self) -> tuple[FloatArray, FloatArray]:
        """What each label adds to average precision, in which it counts once, and each row takes.

        The derivative of Σ w (1 + T)/M over Σ w, where T is the sum of the other w at least as
        high and M the rows so high, by each w and by each row.
        """
        order = np.argsort(-self.score[self.labelled], kind="stable")
        scores, weight = self.score[self.labelled][order], self.stands_for[order]
        flagged, others = self._ranks_above(scores, weight)
        precision = (self.weights[self.labelled][order] + others) / flagged
        value = float(weight @ precision) / self.positives
        # What a label adds to the precision of the labels at most as high, itself left out.
        share = weight / flagged
        above = np.searchsorted(-scores, -scores, side="left")
        lower = share.sum() - np.append(0.0, np.cumsum(share))[above] - share
        adds = np.empty(len(weight))
        adds[order] = weight * (precision + lower - value) / self.positives
        tail = np.append(np.cumsum((share * precision / self.positives)[::-1])[::-1], 0.0)
        takes = self.weights * tail[np.searchsorted(-scores, -self.score, side="left")]
        return adds, np.asarray(takes)

    def _precision_moves(self) -> FloatArray:
        """Return the error that each row brings to average precision."""
        (adds, takes), rows = self._precision_adds, np.zeros(len(self.score))
        if self.target == "dataset":
            rows[self.labelled] = self.kept_back * adds
            return rows
        rows -= takes
        rows[self.labelled] += adds
        return rows

    def _ranks_above(self, scores: NDArray[Any], weight: FloatArray) -> tuple[FloatArray, Any]:
        """Return how many rows score at least as high, and the weight of the other labels there.

        Scores are those of labelled rows, the highest first; tied rows are as high.
        """
        last = np.searchsorted(-scores, -scores, side="right") - 1
        place = np.argsort(-self.score, kind="stable")
        every, rows = -self.score[place], np.append(0.0, np.cumsum(self.weights[place]))
        flagged = rows[np.searchsorted(every, -scores, side="right")]
        return np.asarray(flagged, float), np.cumsum(weight)[last] - weight

    def _label_moves(self, moves: Spread, of_rows: RowValues) -> tuple[FloatArray, float]:
        """Return what each label adds to an estimate, and the mean of φ over the positives.

        A label at row i adds δ = [(φ - its mean)/P + slope/n]/e.
        """
        value = of_rows(moves.phi[LABELLED], self.score[self.labelled])
        mean, slope = float(self.stands_for @ value) / self.positives, float(moves.share_slope)
        each = (value - mean) / self.positives + slope / self.total
        return self.stands_for * each, mean

    def _row_moves(self, moves: Spread, of_rows: RowValues) -> FloatArray:
        """Return the error that each row brings: by its label and, for the population, by itself.

        A label of chance e has a variance of (1 - e) δ².
        """
        adds, _ = self._label_moves(moves, of_rows)
        if self.target == "dataset":
            rows = np.zeros(len(self.score))
            rows[self.labelled] = self.kept_back * adds
            return rows
        every = of_rows(moves.phi[UNLABELED], self.score)
        slope, mean = float(moves.share_slope) * self.prevalence, self.weights @ every / self.total
        rows = np.asarray(self.weights * (every - mean - slope) / self.total)
        rows[self.labelled] += adds
        return rows

    def _variance(self, moves: Spread, of_rows: RowValues) -> float:
        """Return the variance of an estimate over labels and, for the population, rows.

        Half a label of either kind is added where rows are flagged or not, as to other rates.
        """
        rows, n_labels = self.by_unit(self._row_moves(moves, of_rows)), self.n_units
        adds, mean = self._label_moves(moves, of_rows)
        found, delays = float(rows @ rows), self.weight_variance(adds)
        if moves.rows.centred:
            return found * n_labels / max(n_labels - 1, 1) + delays
        slope, own = float(moves.share_slope), self.positives / n_labels
        labelled = float(self.weights[self.labelled].sum())
        factor = 1 - labelled / self.positives if self.target == "dataset" else 1.0
        for flagged in (0.0, 1.0):
            one = (
                float(moves.phi[LABELLED]) * flagged - mean
            ) / self.positives + slope / self.total
            found += factor * (one * own) ** 2 / 2
        return found * n_labels / (n_labels + 1) + delays

    def bounds(self, metric: str, gamma: float, threshold: float | None = None) -> Interval:
        """Bound a metric if the odds of each chance are wrong by a factor of at most gamma.

        Extremes have the odds wrong one way above some score and the other way below; every such
        score is tried. Chance of the labels is not in the bounds.
        """
        if not 1 <= real_number(gamma) < math.inf:
            raise InputError(f"gamma must be at least 1; got {gamma!r}")
        found = self._values(self._tilted(gamma), metric, threshold)
        return Interval(float(found.min()), float(found.max()))

    def _tilted(self, gamma: float) -> FloatArray:
        """Return what labels stand for if the odds are wrong on either side of each border.

        One column a border and way, without those that stand for all rows.
        """
        own, scores = self.weights[self.labelled], self._label_scores
        extra = self.stands_for - own
        ends = own + extra / gamma, own + extra * gamma
        borders = np.append(np.unique(scores), np.inf)
        if len(borders) > N_BORDERS:
            borders = np.quantile(scores, np.linspace(0, 1, N_BORDERS))
        above = scores[:, None] >= borders
        both = [np.where(above, one[:, None], other[:, None]) for one, other in (ends, ends[::-1])]
        tilted = np.concatenate(both, axis=1)
        return np.asarray(tilted[:, tilted.sum(axis=0) < self.total])

    def break_even(self, metric: str, value: float, threshold: float | None) -> BreakEven:
        """Find the largest factor of wrong odds at which metric >= value, chance included.

        The chances determine the share of hidden positives, so that there is no least one.
        """
        estimate = self.estimate(metric, threshold)
        chance = estimate.value - estimate.low

        def holds(gamma: float) -> bool:
            return self.bounds(metric, gamma, threshold).low - chance >= value

        if not holds(1.0):
            return BreakEven(metric, value, math.nan, math.nan)
        low, high = 0.0, math.log(LARGEST_GAMMA)
        if holds(LARGEST_GAMMA):
            return BreakEven(metric, value, math.nan, math.inf)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(math.exp(middle)) else (low, middle)
        return BreakEven(metric, value, math.nan, math.exp(low))

    def _values(self, stands_for: FloatArray, metric: str, threshold: float | None) -> FloatArray:
        """Return a metric if labelled rows stood for so many positives each, column by column."""
        total, positives = self.total, stands_for.sum(axis=0)
        share = positives / total
        if FACTS[metric].family == "threshold":
            flagged, limits = self._told_at(metric, cast("float", threshold))
            hits = (self._label_scores >= threshold) @ stands_for
            fpr = (flagged - hits) / (total - positives)
            found = RatePoint(hits / positives, fpr, share).metric(metric)
            found = found if limits is None else np.clip(found, *limits)
        elif metric in ("roc_auc", "lift_auc"):
            found = self._places @ stands_for / positives
            if metric == "roc_auc":  # AUL = π/2 + (1 - π) AUC
                found = (found - share / 2) / (1 - share)
        elif FACTS[metric].family == "loss":
            found = self._mean_loss(metric, stands_for)
        else:
            found = np.array([self._of_curve(column, metric) for column in stands_for.T])
        return np.asarray(np.clip(found, *FACTS[metric].range))

    def _of_curve(self, stands_for: FloatArray, metric: str) -> float:
        """Read an area of the curve if labelled rows stood for so many positives each."""
        shares = Shares(float(stands_for.sum()) / self.total, 1.0, "case-control")
        curve = mixture_curve(self._counts(stands_for), shares, clean=False)
        return float(getattr(curve, metric))

    @cached_property
    def _label_scores(self) -> NDArray[Any]:
        """Score of each labelled row, which a search for bounds asks for a thousand times."""
        return np.asarray(self.score[self.labelled])

    @cached_property
    def _told(self) -> dict[tuple[str, float], tuple[float, Limits | None]]:
        """What all rows say at a threshold, kept for that search."""
        return {}

    def _told_at(self, metric: str, threshold: float) -> tuple[float, Limits | None]:
        """Return the flagged rows, and the limits of a metric whatever the chances."""
        key = metric, threshold
        if key not in self._told:
            flagged = float(self.weights[self.score >= threshold].sum())
            self._told[key] = flagged, self.certain_limits(metric, threshold)
        return self._told[key]

    @cached_property
    def _places(self) -> FloatArray:
        """Share of all rows below each labelled one, tied ones counted half."""
        order, scores = np.argsort(self.score, kind="stable"), self.score[self.labelled]
        every, rows = self.score[order], np.append(0.0, np.cumsum(self.weights[order]))
        below, up_to = (
            rows[np.searchsorted(every, scores, side=side)] for side in ("left", "right")
        )
        return np.asarray((below + up_to) / (2 * self.total))


@dataclass(frozen=True, eq=False)
class LabelWeights(StandingLabels):
    """Labels of which an assumption says, row by row, for how many positives each stands.

    Parameters
    ----------
    positives_by_row : array
        For how many positives each row stands, were it labelled.
    error_by_row : array
        The standard error of that number, by which positives were labelled.
    rests_on : tuple of str
        What the numbers rest on, in words.
    """

    positives_by_row: FloatArray
    error_by_row: FloatArray
    rests_on: tuple[str, ...] = ()

    by_row: ClassVar[tuple[str, ...]] = (*StandingLabels.by_row, "positives_by_row", "error_by_row")

    @cached_property
    def stands_for(self) -> FloatArray:
        """For how many positives each labelled row stands."""
        return np.asarray((self.weights * self.positives_by_row)[self.labelled])

    @cached_property
    def kept_back(self) -> FloatArray:
        """The part of that which chance decides on, as a standard error."""
        return np.asarray((self.error_by_row / self.positives_by_row)[self.labelled])

    @property
    def needs(self) -> tuple[str, ...]:
        """What the numbers rest on."""
        return self.rests_on


def _table_slopes(
    metric: str, hits: float, share: float, flagged: float, beta: float
) -> tuple[float, float, float]:
    """Return how a metric moves with true positives, positives and flagged rows, as shares."""
    step = STEP * max(min(hits, share - hits, flagged - hits), STEP)

    def at(place: tuple[float, float, float]) -> float:
        true, positive, predicted = place
        point = RatePoint(
            np.asarray(true / positive),
            np.asarray((predicted - true) / (1 - positive)),
            np.asarray(positive),
            np.asarray(predicted),
        )
        return float(point.metric(metric, beta))

    here, slopes = (hits, share, flagged), []
    for k in range(len(here)):
        more, less = list(here), list(here)
        more[k] += step
        less[k] -= step
        slopes.append((at(tuple(more)) - at(tuple(less))) / (2 * step))  # type: ignore[arg-type]
    return slopes[0], slopes[1], slopes[2]
