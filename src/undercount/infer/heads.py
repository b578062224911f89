"""Threshold metrics from six counts, with their gradients; one threshold, or many at once."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, get_args
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtr, ndtri, stdtrit

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, Rates, read_metric
from undercount.errors import InputError, keep_scores, named, real_number
from undercount.infer.mixture import LABELLED, MixtureDesign
from undercount.infer.variance import HeadRows, Influence, Spread

# Rates are kept this far (in rows) from 0 and 1 where a slope is taken.
_HALF_ROW = 0.5
_RELATIVE_STEP = 1e-4
# So many labelled rows at one score tell how fast recall grows there.
ENOUGH_TIED = 5
# The counts at the threshold that was last asked for: metrics are read one by one.
_LAST: "WeakKeyDictionary[ScoreCounts, tuple[float, FlaggedCounts]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class RatePoint(Rates[FloatArray]):
    """Hold rates and prevalence as arrays of any shape; every metric is a property."""

    tpr: FloatArray
    fpr: FloatArray
    prevalence: Any
    flagged: Any = None
    continued: ClassVar[bool] = True

    def metric(self, name: str, beta: float = 1.0) -> FloatArray:
        """Read a metric by its name; 0/0 is NaN without a warning."""
        return read_metric([self], name, beta)[0]

    def capped(self) -> "RatePoint":
        """Return the nearest rates inside [0, 1]."""
        return RatePoint(np.clip(self.tpr, 0, 1), np.clip(self.fpr, 0, 1), self.prevalence)


class TopRows(NamedTuple):
    """Say of the highest rows how they are spread; a tied row counts by its chance of being one.

    Attributes
    ----------
    slope : float
        How fast recall grows with the share of rows that are flagged.
    labelled, everyone : float
        Variance of what a labelled row, and any row, counts.
    rows : float, optional
        All rows that were ranked, if they carry weights; else the design has their number.
    """

    slope: float
    labelled: float
    everyone: float
    rows: float | None = None


@dataclass(frozen=True, eq=False)
class FlaggedCounts:
    """Hold the rows predicted positive at one threshold or many, and the design they come from.

    `heads` has shape (3, ...): labelled positive, unlabeled, labelled negative.
    """

    heads: NDArray[np.float64]
    design: MixtureDesign
    # Of the highest rows alone.
    top: "TopRows | None" = None
    # What `threshold_intervals` found of them: many metrics ask for the same limits.
    limits: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def at(cls, counts: ScoreCounts, design: MixtureDesign, threshold: float) -> "FlaggedCounts":
        """Count the rows of each kind with at least a score; the last answer is kept."""
        cached = _LAST.get(counts)
        if cached is None or cached[0] != threshold or cached[1].design is not design:
            positive, negative, unlabeled = counts.heads_at(threshold)
            heads = cls(np.array([positive, unlabeled, negative]), design)
            _LAST[counts] = cached = threshold, heads
        return cached[1]

    @cached_property
    def sizes(self) -> FloatArray:
        """All rows of each kind, in the shape of the heads."""
        return np.asarray(fit(self.design.sizes, self.heads) + 0.0 * self.heads)

    @cached_property
    def rates(self) -> FloatArray:
        """Share predicted positive of each kind; 0 where there are no rows."""
        sizes = self.sizes
        return np.divide(self.heads, sizes, out=np.zeros(sizes.shape), where=sizes > 0)

    def at_rates(self, rates: FloatArray) -> "FlaggedCounts":
        """Return the same rows with other shares predicted positive."""
        return FlaggedCounts(rates * self.sizes, self.design)

    def with_sizes(self, sizes: FloatArray) -> "FlaggedCounts":
        """Return other numbers of rows with the same shares predicted positive."""
        return FlaggedCounts(self.rates * sizes, replace(self.design, sizes=sizes))

    @cached_property
    def point(self) -> RatePoint:
        """The recovered rates, which chance may push outside [0, 1]."""
        mixing = self.design.mixing
        tpr, fpr, flagged = mixing.exact_rates(*self.rates)
        return RatePoint(tpr, fpr, mixing.prevalence, flagged)

    @cached_property
    def smoothed(self) -> "FlaggedCounts":
        """The counts half a row away from 0 and from all, where no rate is 0 or 1."""
        sizes, units = self.sizes, fit(self.design.units, self.heads)
        share = np.where(sizes > 0, (self.heads + _HALF_ROW * units) / (sizes + units), 0.0)
        return self.at_rates(share)

    @cached_property
    def smooth_point(self) -> RatePoint:
        """The rates at which slopes are taken, half a row inside (0, 1)."""
        raw, sizes = self.smoothed.point, self.design.sizes
        # Rows, not their weights: Kish's effective number.
        rows = sizes.sum(axis=0) / ((sizes * self.design.units).sum(axis=0) / sizes.sum(axis=0))
        prevalence = np.asarray(raw.prevalence, dtype=float)
        return RatePoint(
            _inside(raw.tpr, _HALF_ROW / (np.maximum(prevalence * rows, 1.0) + 1)),
            _inside(raw.fpr, _HALF_ROW / (np.maximum((1 - prevalence) * rows, 1.0) + 1)),
            prevalence,
        )


def top_rows(counts: ScoreCounts, top: float, *, apart: bool = False) -> float:
    """Return how many rows of the target the highest ones are; `top` below 1 is a share."""
    total = float(ranked_rows(counts, apart=apart).sum())
    size = real_number(top)
    check_top_size(top)
    rows = size * total if size < 1 else size
    if not 0 < rows <= total:
        kind = "unlabeled rows" if apart else "rows"
        raise InputError(
            f"{named('top')} must be above 0 and at most the number of {kind}, "
            f"{total:,.10g}; got {top!r}",
            argument="top",
        )
    return rows


def ranked_rows(counts: ScoreCounts, *, apart: bool = False) -> FloatArray:
    """Return how many rows of the target each cell holds, one for one whatever they weigh.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.heads import ranked_rows
    >>> weights = [10, 10, 0.5]
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [2, 2, 1], sample_weight=weights)
    >>> ranked_rows(counts), ranked_rows(counts, apart=True)
    (array([2., 1.]), array([1., 1.]))
    """
    positive, negative, unlabeled = counts.cell_rows
    return unlabeled if apart else np.asarray(positive + negative + unlabeled)


def check_last_cell(counts: ScoreCounts, last: int, taken: float) -> None:
    """Raise where the last of the highest rows lies inside a merged cell of rows of any weight."""
    if counts.weighted and counts.merged[last] and taken < 1:
        raise InputError(
            f"the last of the {named('top')} rows lies inside a merged cell of compact counts, "
            "where only the sum of the weights is known",
            argument="top",
            hint=f"keep every score: {keep_scores('count with compact=False')}",
        )


def check_top_size(top: Any) -> None:
    """Refuse 1.0, which is one row where 0.99 is a share of them."""
    if isinstance(top, float | np.floating) and top == 1:
        raise InputError(
            f"{named('top')} must be a whole number of rows or a share below 1; 1.0 may mean one "
            "row (pass 1) or all of them, of which no score chooses any",
            argument="top",
        )


def threshold_of_top(counts: ScoreCounts, top: float) -> tuple[float, float]:
    """Return the score of the last of so many highest rows, and how many rows reach it.

    Those are more where others are tied with the last one. Counts must hold every score.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.heads import threshold_of_top
    >>> counts = uc.ScoreCounts.from_counts([3, 2, 1], [1, 0, 0], [0, 0, 0], [1, 3, 5])
    >>> threshold_of_top(counts, 4)
    (2.0, 5.0)
    """
    ranked = np.cumsum(ranked_rows(counts))
    # Sums of shares of rows are whole but for rounding.
    last = int(np.searchsorted(ranked, top_rows(counts, top) * (1 - 1e-12)))
    return float(counts.score[last]), float(ranked[last])


def top_parts(counts: ScoreCounts, top: float, *, apart: bool = False) -> FloatArray:
    """Return the part of each cell that is among so many highest rows; ties are cut by chance."""
    ranked, rows = ranked_rows(counts, apart=apart), top_rows(counts, top, apart=apart)
    above = np.cumsum(ranked) - ranked
    parts = np.clip((rows - above) / np.where(ranked > 0, ranked, 1.0), 0.0, 1.0)
    for cell in np.flatnonzero((parts > 0) & (parts < 1)).tolist():
        check_last_cell(counts, cell, float(parts[cell]))
    return parts


def top_heads(counts: ScoreCounts, design: MixtureDesign, top: float) -> FlaggedCounts:
    """Count the rows of each kind among so many of the highest scores.

    One row is one row, whatever it weighs; weights weigh what the rows add to the heads. Where the
    last of them is tied with others, chance decides, and each tied row counts by its
    chance f of being taken: what follows is the mean over all ways of taking. Its square counts
    f², so that the labelled rows say more than as many counted rows, by the factor taken off the
    design's units. A merged cell holds no labelled row: wherever inside the last row stands, the
    labelled rows above it are the same.
    """
    kinds = (counts.positive, counts.unlabeled, counts.negative)
    apart = design.sampling == "case-control"
    ranked = np.cumsum(ranked_rows(counts, apart=apart))
    rows = top_rows(counts, top, apart=apart)
    last = min(int(np.searchsorted(ranked, rows)), len(ranked) - 1)
    before = float(ranked[last - 1]) if last else 0.0
    taken = min((rows - before) / float(ranked[last] - before), 1.0)
    check_last_cell(counts, last, taken)
    heads = np.array([cells[:last].sum() + taken * cells[last] for cells in kinds])
    ranked_share = before / ranked[-1], (ranked[last] - before) / ranked[-1]
    labelled = (
        counts.positive[:last].sum() / counts.n_positive,
        (counts.positive[last] / counts.n_positive),
    )
    units = design.units.copy()
    units[LABELLED] *= _tie_factor(labelled, taken, design)
    top_spread = TopRows(
        _recall_slope(counts, ranked, rows, last),
        _variance(labelled, taken),
        _variance(ranked_share, taken),
        float(ranked[-1]) if counts.weighted else None,
    )
    return FlaggedCounts(heads, replace(design, units=units), top_spread)


def _variance(shares: tuple[float, float], taken: float) -> float:
    """Return the variance of 1 for a share of rows, of a chance for another, and of 0."""
    above, tied = shares
    return float(above + taken**2 * tied - (above + taken * tied) ** 2)


def _tie_factor(labelled: tuple[float, float], taken: float, design: MixtureDesign) -> float:
    """Return the variance of what labelled rows count, over that of rows which count 0 or 1."""
    above, tied = labelled
    rate = above + taken * tied
    if tied == 0 or not 0 < rate < 1:
        return 1.0
    if design.frequency_known:  # their number is random as well, on either side
        square, missed = above + taken**2 * tied, 1 - above - tied + (1 - taken) ** 2 * tied
        return float(max(square / rate, missed / (1 - rate)))
    return _variance(labelled, taken) / (rate * (1 - rate))


def _recall_slope(counts: ScoreCounts, ranked: FloatArray, rows: float, last: int) -> float:
    """Return how fast recall grows with the flagged share, from the labelled rows around.

    √n of them on either side, by their places among the ranked rows; if as many are tied with the
    last row, from those.
    """
    labelled = counts.positive > 0
    reach = max(math.ceil(math.sqrt(np.count_nonzero(labelled))), 1)
    tied = float(ranked[last] - (ranked[last - 1] if last else 0.0))
    if counts.cell_rows[0][last] >= max(reach, ENOUGH_TIED):
        return float(counts.positive[last] / counts.n_positive * ranked[-1] / tied)
    # The middle of a cell is the place of its labelled rows.
    places = (np.append(0.0, ranked[:-1]) + ranked)[labelled] / 2
    recall = np.append(0.0, np.cumsum(counts.positive[labelled]) / counts.n_positive)
    at = int(np.searchsorted(places, rows))
    low, high = max(at - reach, 0), min(at + reach, len(places))
    start = float(places[low]) if low else 0.0
    end = float(places[high]) if high < len(places) else float(ranked[-1])
    if end <= start:
        return 0.0
    return float((recall[high] - recall[low]) * ranked[-1] / (end - start))


def fit(weights: Any, like: FloatArray) -> Any:
    """Give weights of shape (3,) or (3, ...) the dimensions of the heads."""
    array = np.asarray(weights)
    return array.reshape(array.shape + (1,) * (like.ndim - array.ndim))


def head_spread(counts: FlaggedCounts, names: str | Sequence[str], beta: float = 1.0) -> Spread:
    """Return variance and slopes of metrics by the delta method, half a row from the edges."""
    by_tpr, by_fpr, by_prevalence = rate_slopes(counts.smooth_point, names, beta)
    influence = Influence(0.0, positive=by_tpr, negative=by_fpr, prevalence=by_prevalence)
    return Spread(counts.design, HeadRows(counts.smoothed.rates), influence)


def _inside(rate: FloatArray, margin: Any) -> FloatArray:
    return np.clip(rate, margin, 1 - margin)


def rate_slopes(point: RatePoint, names: str | Sequence[str], beta: float) -> list[FloatArray]:
    """Return derivatives by the two rates and the prevalence, by central differences."""
    arguments = np.broadcast_arrays(
        *(np.asarray(v, dtype=float) for v in (point.tpr, point.fpr, point.prevalence))
    )
    steps = [_RELATIVE_STEP * np.minimum(argument, 1 - argument) for argument in arguments]
    moved = []
    for place, sign in itertools.product(range(3), (1, -1)):
        ends = list(arguments)
        ends[place] = arguments[place] + sign * steps[place]
        moved.append(RatePoint(*ends))
    values = read_metric(moved, names, beta)
    with np.errstate(invalid="ignore", divide="ignore"):
        return [
            np.where(step > 0, (up - down) / (2 * step), 0.0)
            for step, up, down in zip(steps, values[::2], values[1::2], strict=True)
        ]


IntervalKind = Literal["exact", "mid-p", "wilson"]
INTERVAL_KINDS = get_args(IntervalKind)

# Standard deviations after which a hypergeometric tail is below double precision.
_REACH = 12.0
# By Cantelli's inequality at most 1/10 of a distribution lies this far above its mean.
_FAR = 3.0


def two_sided_z(confidence_level: float) -> float:
    """Return the normal quantile of a two-sided interval, 1.96 at 95 %."""
    return float(ndtri((1 + float(confidence_level)) / 2))  # a Fraction is a number too


def student_level(confidence_level: float, freedom: float) -> float:
    """Return the level whose normal quantile is Student's at the level asked for."""
    t = float(stdtrit(freedom, (1 + confidence_level) / 2))
    return float(ndtr(t) - ndtr(-t))


def wilson_share(share: ArrayLike, trials: ArrayLike, z: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of an estimated share; `trials` may be an effective size.

    Wilson 1927: the shares whose distance from the estimate is at most `z` of *their own*
    standard errors. An infinite number of trials gives the share itself.
    """
    p, n = np.asarray(share, dtype=float), np.asarray(trials, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        pull = z * z / n
        centre = (p + pull / 2) / (1 + pull)
        half = np.sqrt(np.maximum(p * (1 - p) * pull + pull * pull / 4, 0.0)) / (1 + pull)
    # Rounding must not push an end past the estimate when the estimate is 0 or 1.
    return np.minimum(np.maximum(centre - half, 0.0), p), np.maximum(
        np.minimum(centre + half, 1.0), p
    )


def finite_size(drawn: ArrayLike, pool: ArrayLike) -> FloatArray:
    """Return how many independent draws are worth `drawn` of `pool` without replacement.

    n_eff = S (P-1)/(P-S): its binomial variance is the hypergeometric one.
    """
    n, size = np.asarray(drawn, dtype=float), np.asarray(pool, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > n, n * np.maximum(size - 1, 0.0) / (size - n), np.inf)


def hits_interval(
    hits: ArrayLike,
    drawn: ArrayLike,
    pool: ArrayLike,
    *,
    confidence_level: float,
    kind: IntervalKind = "mid-p",
) -> tuple[FloatArray, FloatArray]:
    """Return an interval for how many of `pool` are hits, from `hits` seen among `drawn` of them.

    Parameters
    ----------
    hits, drawn, pool : array-like
        Labelled positives predicted positive (S1), labelled positives (S), all positives (P);
        they broadcast and are rounded to integers for "exact" and "mid-p".
    confidence_level : float
        Probability with which the interval shall cover.
    kind : {"mid-p", "exact", "wilson"}
        "exact" inverts the two one-sided hypergeometric tests (Clopper-Pearson's idea) and covers
        at least as often as promised; "mid-p" counts the observed value one half and covers about
        as often; "wilson" is Wilson's interval at the effective size S(P-1)/(P-S), not rounded.
    """
    k, n, size = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (hits, drawn, pool)))
    if kind == "wilson":
        low, high = wilson_share(k / n, finite_size(n, size), two_sided_z(confidence_level))
        return low * size, high * size
    k, n, size = np.rint(k), np.rint(n), np.rint(size)
    weight = 0.5 if kind == "mid-p" else 1.0
    tail = (1 - confidence_level) / 2
    high = _largest_plausible(k, n, size, tail, weight)
    # Hits and misses change places: the least number of hits leaves the most misses.
    low = size - _largest_plausible(n - k, n, size, tail, weight)
    return np.minimum(low, high), high


def pool_hits(
    counts: FlaggedCounts, confidence_level: float, kind: IntervalKind
) -> tuple[FloatArray, FloatArray]:
    """Limits of the number of hits in the pool of positives that the labelled were drawn from.

    In case-control sampling the labelled rows and the positives among the unlabeled ones are
    exchangeable, so the labelled are a random subset of both together.
    """
    design = counts.design
    drawn, positives = design.sizes[LABELLED], np.asarray(design.mixing.positives, dtype=float)
    pool = positives + drawn if design.sampling == "case-control" else np.maximum(positives, drawn)
    if design.counts_rows:
        whole = pool if kind == "wilson" else np.maximum(np.rint(pool), drawn)
        low, high = hits_interval(
            counts.heads[LABELLED], drawn, whole, confidence_level=confidence_level, kind=kind
        )
        return low * pool / whole, high * pool / whole
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(drawn < pool, design.effective[LABELLED] / (1 - drawn / pool), np.inf)
    low, high = wilson_share(counts.rates[LABELLED], size, two_sided_z(confidence_level))
    return low * pool, high * pool


def dataset_recall(
    counts: FlaggedCounts, confidence_level: float, kind: IntervalKind
) -> tuple[FloatArray, FloatArray]:
    """Limits of the recall of these rows, of which the labelled positives are a sample."""
    design = counts.design
    if design.share_known and design.given != "label_frequency":
        hits = pool_hits(counts, confidence_level, kind)
        positives = np.asarray(design.mixing.positives, dtype=float)
        taken = counts.heads[LABELLED] if design.sampling == "case-control" else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = [np.clip((end - taken) / positives, 0.0, 1.0) for end in hits]
        return ends[0], ends[1]
    size = design.effective[LABELLED]
    if design.share_known:
        with np.errstate(divide="ignore"):
            size = size / np.asarray(1 - np.asarray(design.value, dtype=float))
    return wilson_share(counts.rates[LABELLED], size, two_sided_z(confidence_level))


def _largest_plausible(
    k: FloatArray, n: FloatArray, size: FloatArray, tail: float, weight: float
) -> FloatArray:
    """Return the largest number of hits whose lower tail at the observed value exceeds `tail`."""
    low, high = k.copy(), size - (n - k)
    while (low < high).any():
        middle = np.ceil((low + high) / 2)
        plausible = _lower_tail(k, n, size, middle, weight) > tail
        low = np.where(plausible, middle, low)
        high = np.where(plausible, high, np.maximum(middle - 1, low))
    return low


def _lower_tail(
    k: FloatArray, n: FloatArray, size: FloatArray, total: FloatArray, weight: float
) -> FloatArray:
    """P(X < k) + weight P(X = k) for X hypergeometric: `n` draws from `size` with `total` hits."""
    log_at_k = (
        gammaln(total + 1) - gammaln(k + 1) - gammaln(total - k + 1)
        + gammaln(size - total + 1) - gammaln(n - k + 1) - gammaln(size - total - n + k + 1)
        - gammaln(size + 1) + gammaln(n + 1) + gammaln(size - n + 1)
    )  # fmt: skip
    share = total / np.maximum(size, 1)
    spread = np.sqrt(n * share * (1 - share) * (1 - n / np.maximum(size, 1)))
    steps = int(min(k.max(initial=0.0), np.ceil(_REACH * spread.max(initial=0.0)) + 20))
    down = k[..., None] - np.arange(steps)  # k, k-1, …: ratio P(X = j-1) / P(X = j)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (
            down * ((size - total - n)[..., None] + down)
            / ((total[..., None] - down + 1) * (n[..., None] - down + 1))
        )  # fmt: skip
    # Far above the mean the tail is nearly 1 and the terms of its sum would overflow.
    far = k > n * share + _FAR * spread + 1
    ratios = np.where((down > 0) & ~far[..., None], np.maximum(ratios, 0.0), 0.0)
    below = np.cumprod(ratios, axis=-1).sum(axis=-1)
    return np.where(far, 1.0, np.exp(log_at_k) * (weight + below))
