"""The whole calculation resampled: counts, the estimated share, and every metric together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from undercount.count.kernel.table import find_cells
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, collect_warnings, named
from undercount.estimate import Estimate, Interval
from undercount.infer.area_gradients import losses_of
from undercount.infer.bootstrap import resampled
from undercount.infer.clusters import ClusterRows
from undercount.infer.estimate_metric import range_at
from undercount.infer.heads import ranked_rows, top_rows
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import design_of, kind_cells, mixture_curve
from undercount.infer.sensitivity import metric_value
from undercount.metric_facts import FACTS
from undercount.shares import Shares, reads_scores

PrevalenceInterval: TypeAlias = Literal["calibrated", "bootstrap", "combined"]
RESAMPLED_INTERVALS = ("calibrated", "bootstrap", "combined")
Progress: TypeAlias = Callable[[float], None]
# A resample shows sampling noise only, which cells of a thousandth of the rows show as well.
MOST_RESAMPLED_CELLS = 1024
# An estimator that reads scores is told more of them.
SCORE_CELLS = 2**13
MIN_RESAMPLES = 20
# Reads one metric of a resample, at a share.
Reader: TypeAlias = Callable[[ScoreCounts, Shares], float]


@dataclass(frozen=True)
class Resamples:
    """Hold counts as they might have been and the share estimated on each.

    Attributes
    ----------
    cells : ScoreCounts
        The counts in cells of neighbouring scores, as they were resampled.
    drawn : tuple of ScoreCounts
        The resamples.
    estimated : array
        The share of hidden positives that the estimator found on each.
    shares : Shares
        The share used, its purity and sampling.
    used : array
        The share of each resample that the metrics are computed with.
    """

    cells: ScoreCounts
    drawn: Sequence[ScoreCounts]
    estimated: FloatArray
    shares: Shares
    used: FloatArray

    def estimate(self, counts: ScoreCounts, found: Estimate, at: MetricAt) -> Estimate:
        """Replace an estimate's interval and standard error by those of the resamples.

        `counts` can be split at the threshold; the resamples' cells need not.

        A metric that needs no prevalence keeps its own. Deviations are taken from the mean of the
        resamples at one fixed share, so that what resampling itself adds (a labelled row that
        was drawn twice stands above itself) does not shift the interval.
        """
        if "prevalence" not in found.needs or np.isnan(found.value):
            return found
        share, read = self.shares.unlabeled_prevalence, self._reader(counts, at)
        values = self._values(read, self.used)
        fixed = self._values(read, np.full(len(self.used), share))
        values = values[np.isfinite(values)] - np.mean(fixed[np.isfinite(fixed)])
        least, most = range_at(FACTS[at.metric], at.beta)
        tail = (1 - found.confidence_level) / 2
        low, high = np.clip(found.value + np.quantile(values, [tail, 1 - tail]), least, most)
        return replace(
            found,
            low=min(float(low), found.value),
            high=max(float(high), found.value),
            standard_error=float(np.std(values, ddof=1)),
            method="bootstrap of the whole calculation",
        )

    def _values(self, read: Reader, shares: FloatArray) -> FloatArray:
        with collect_warnings():  # a resample may be 0/0; the evaluation itself warned
            pairs = zip(self.drawn, shares, strict=True)
            values = [read(drawn, self.shares.with_unlabeled_prevalence(s)) for drawn, s in pairs]
        return np.array(values)

    def _reader(self, counts: ScoreCounts, at: MetricAt) -> Reader:
        """Return what reads a metric of a resample, at a share."""
        metric, family, cells = at.metric, FACTS[at.metric].family, self.cells
        if family == "loss":
            return _MeanLosses.of(counts, cells, metric)
        if family == "area":
            return lambda drawn, shares: float(
                getattr(mixture_curve(drawn, shares, clean=False), metric)
            )
        if at.top is not None:
            top, whole = _share_of_rows(counts, at.top, self.shares), np.zeros_like(cells.merged)
            # Inside a cell the last of the rows stands where its part of the cell's rows ends.
            return lambda drawn, shares: metric_value(
                replace(drawn, merged=whole), shares, metric, top=top, beta=at.beta
            )
        split = _Split(counts, cells, at.threshold)
        return lambda drawn, shares: metric_value(
            split.two_cells(drawn), shares, metric, 1.0, beta=at.beta
        )


def _share_of_rows(counts: ScoreCounts, top: float, shares: Shares) -> float:
    """Return the share of rows that so many are, below 1, which would be one row."""
    apart = shares.sampling == "case-control"
    rows = top_rows(counts, top, apart=apart)
    share = rows / float(ranked_rows(counts, apart=apart).sum())
    return min(share, float(np.nextafter(1.0, 0.0)))


@dataclass(frozen=True)
class _MeanLosses:
    """Read a mean loss of resamples, whose cells hold the mean losses of the rows in them.

    Attributes
    ----------
    if_positive, if_negative : array
        Mean loss of the rows of each kind, in the order of a design, in each cell.
    """

    if_positive: FloatArray
    if_negative: FloatArray

    @classmethod
    def of(cls, counts: ScoreCounts, cells: ScoreCounts, metric: str) -> "_MeanLosses":
        """Average the losses of the scores in each cell."""
        place, size = find_cells(cells.score, counts.score), len(cells.score)
        losses = losses_of(counts.score, metric)
        columns: list[list[FloatArray]] = [[], []]
        for rows in kind_cells(counts):
            total = np.bincount(place, rows, size)
            for column, loss in zip(columns, losses, strict=True):
                column.append(np.bincount(place, rows * loss, size) / np.where(total > 0, total, 1))
        return cls(*(np.array(column) for column in columns))

    def __call__(self, drawn: ScoreCounts, shares: Shares) -> float:
        """Return the mean loss R = π E₁[ℓ₁ - ℓ₀] + E[ℓ₀] of a resample."""
        mixing = design_of(drawn, shares, shares.sampling, "dataset").mixing
        rows = np.array(kind_cells(drawn))
        rates = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
        if_positive, if_negative = (
            np.sum(rates * losses, axis=1) for losses in (self.if_positive, self.if_negative)
        )
        among_positives = mixing.positive @ (if_positive - if_negative)
        return float(mixing.prevalence * among_positives + mixing.everyone @ if_negative)


class _Split:
    """Split resampled cells at a threshold; the cell it falls into as the rows themselves are."""

    def __init__(self, counts: ScoreCounts, cells: ScoreCounts, threshold: float | None) -> None:
        if threshold is None:
            raise InputError("a metric at a threshold needs one; pass threshold=")
        self.place = int(np.searchsorted(-cells.score, -threshold, side="right"))
        above = counts.score >= threshold
        self.part = []
        for name in ("positive", "negative", "unlabeled"):
            rows = getattr(cells, name)
            rest = float(getattr(counts, name)[above].sum() - rows[: self.place].sum())
            inside = float(rows[self.place]) if self.place < len(rows) else 0.0
            self.part.append(min(max(rest / inside, 0.0), 1.0) if inside > 0 else 0.0)

    def two_cells(self, counts: ScoreCounts) -> ScoreCounts:
        """Return rows at or above the threshold (score 1) and rows below (score 0)."""
        columns = []
        for name, part in zip(("positive", "negative", "unlabeled"), self.part, strict=True):
            rows = getattr(counts, name)
            head = rows[: self.place].sum()
            head += part * rows[self.place] if self.place < len(rows) else 0.0
            columns.append(np.array([head, rows.sum() - head]))
        return ScoreCounts.from_counts(
            np.array([1.0, 0.0]), *columns, squared_weight=counts.squared_weight
        )


def resample_calculation(
    counts: ScoreCounts,
    estimator: Any,
    shares: Shares,
    *,
    kind: PrevalenceInterval,
    n_resamples: int,
    confidence_level: float,
    random_state: int | None,
    progress: Progress | None = None,
    clusters: ClusterRows | None = None,
) -> Resamples:
    """Resample the counts and estimate the share on each resample.

    Parameters
    ----------
    counts, shares : ScoreCounts, Shares
        What was counted, and the estimated share with its own interval.
    estimator : estimator of `undercount.prevalence`
        Not fitted; it must answer on counts.
    kind : {"bootstrap", "combined"}
        Whether the metrics use the shares as the resamples give them (sampling noise alone), or
        spread as widely as the estimator's own interval, in the order of the resamples.
    n_resamples, confidence_level, random_state
        As in `evaluate`.
    progress : callable, optional
        Told the share of resamples done.
    clusters : ClusterRows, optional
        The same rows by cluster: clusters are drawn, and not rows.

    Notes
    -----
    Assumes: rows, or clusters, are independent draws; the rows themselves are resampled for either
    target, so for these very rows the intervals are on the wide side.
    Wrong when: kind is "bootstrap" and the estimator is biased, which no resample shows.
    """
    if n_resamples < MIN_RESAMPLES:
        raise InputError(
            f"{named('n_resamples')} must be at least {MIN_RESAMPLES}; got {n_resamples}"
        )
    every = reads_scores(estimator)
    cells = (
        counts.coarsened(SCORE_CELLS) if every else counts.canonical.coarsened(MOST_RESAMPLED_CELLS)
    )
    if clusters is not None and clusters.weight is None:  # counts as many as their rows are worth
        cells = replace(cells, rows=np.array(cells.table.classes))
    elif counts.rows is not None:
        cells = counts.in_cells(cells.table)
    drawn, estimated = [], []
    for done, found in enumerate(_draws(cells, shares, clusters, n_resamples, random_state), 1):
        other = replace(found, squared_weight=_squares(cells, found), rows=_rows(cells, found))
        share = _share(estimator, other)
        if np.isfinite(share):
            drawn.append(other)
            estimated.append(share)
        if progress is not None:
            progress(done / n_resamples)
    if len(drawn) < max(MIN_RESAMPLES, n_resamples // 2):
        raise InputError(
            f"the share could be estimated on {len(drawn)} of {n_resamples} resamples only: there "
            "are too few labels for a bootstrap; use "
            f"{named('interval', repr('calibrated'))}"
        )
    values = np.array(estimated)
    used = values if kind == "bootstrap" else _spread_out(values, shares, confidence_level)
    used = shares.clip(used)
    return Resamples(cells, tuple(drawn), values, shares, used)


def _draws(
    cells: ScoreCounts,
    shares: Shares,
    clusters: ClusterRows | None,
    n_resamples: int,
    random_state: int | None,
) -> Iterator[ScoreCounts]:
    """Yield counts as they might have been, rows being drawn anew, or clusters of them."""
    if clusters is not None:
        yield from clusters.resampled(cells, n_resamples=n_resamples, random_state=random_state)
        return
    pairs = resampled(
        cells,
        shares.exact(),
        target="population",
        n_resamples=n_resamples,
        random_state=random_state,
    )
    yield from (counts for counts, _ in pairs)


def _squares(cells: ScoreCounts, drawn: ScoreCounts) -> tuple[float, float, float]:
    """Return the sums of squared weights that the rows of a resample have."""
    names = ("n_positive", "n_negative", "n_unlabeled")
    found = [
        getattr(drawn, name) * squares / getattr(cells, name) if squares > 0 else 0.0
        for name, squares in zip(names, cells.squared_weight, strict=True)
    ]
    return found[0], found[1], found[2]


def _rows(cells: ScoreCounts, drawn: ScoreCounts) -> FloatArray | None:
    """Return how many rows of each class weigh as much as those of a resample, cell by cell."""
    if cells.rows is None:
        return None
    weights, own = (np.array(counts.table.classes) for counts in (drawn, cells))
    return np.asarray(cells.rows * weights / np.where(own > 0, own, 1.0))


def _share(estimator: Any, counts: ScoreCounts) -> float:
    from sklearn.base import clone  # noqa: PLC0415 - heavy, only when needed

    with collect_warnings():  # the fit on the rows themselves has warned
        try:
            fitted = clone(estimator).set_params(n_resamples=0).fit(counts)
        except InputError:
            return float("nan")
    return float(fitted.unlabeled_prevalence_)


def _spread_out(found: FloatArray, shares: Shares, confidence_level: float) -> FloatArray:
    """Spread shares as widely as the estimator's own interval, in part in their own order.

    The interval holds sampling noise and the estimator's bias. The noise moves with the rows, so
    its part of the spread follows the order of the resamples; the rest is independent of them.
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy, only when needed

    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    noise = float(np.std(found, ddof=1))
    if span is None or noise == 0:
        return found
    z = float(ndtri((1 + confidence_level) / 2))
    below, above = max(value - span.low, 0.0) / z, max(span.high - value, 0.0) / z
    both = np.hypot(below, above) / np.sqrt(2)
    follow = min(1.0, noise / both) if both > 0 else 1.0
    # Normal scores of the ranks, mixed with those of another order that is fixed.
    size = len(found)
    grid = ndtri((np.arange(size) + 0.5) / size)
    own = grid[rankdata(found, method="ordinal") - 1]
    other = np.random.default_rng(size).permutation(grid)
    mixed = follow * own + np.sqrt(1 - follow**2) * other
    score = grid[rankdata(mixed, method="ordinal") - 1]
    wider = max(1.0, noise / both) if both > 0 else 1.0
    return np.asarray(value + score * np.where(score < 0, below, above) * wider)


def share_interval(
    found: FloatArray, own: Interval | None, kind: PrevalenceInterval, confidence_level: float
) -> Interval:
    """Return the interval of the share: of the resamples, or whichever of the two is wider."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    if kind == "combined" and own is not None:
        low, high = min(low, own.low), max(high, own.high)
    return Interval(float(low), float(high))
