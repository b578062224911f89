"""Exact and score limits of shares, and of the number of true positives.

Labels are a random subset of the positives, so where their number is known the number of labelled
rows predicted positive is hypergeometric with one unknown integer, the number of positives
predicted positive.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtri

from undercount.assume.mixture import LABELLED
from undercount.curve import FloatArray
from undercount.read.intervals.threshold_gradients import HeadCounts

IntervalKind = Literal["exact", "mid-p", "wilson"]

# Standard deviations after which a hypergeometric tail is below double precision.
_REACH = 12.0
# By Cantelli's inequality at most 1/10 of a distribution lies this far above its mean.
_FAR = 3.0


def two_sided_z(confidence_level: float) -> float:
    """Return the normal quantile of a two-sided interval, 1.96 at 95 %."""
    return float(ndtri((1 + confidence_level) / 2))


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
    counts: HeadCounts, confidence_level: float, kind: IntervalKind
) -> tuple[FloatArray, FloatArray]:
    """Limits of the number of hits in the pool of positives that the labelled were drawn from.

    In case-control sampling the labelled rows and the positives among the unlabeled ones are
    exchangeable, so the labelled are a random subset of both together.
    """
    design = counts.design
    drawn, positives = design.sizes[LABELLED], np.asarray(design.mixing.positives, dtype=float)
    pool = positives + drawn if design.sampling == "case-control" else np.maximum(positives, drawn)
    if np.all(design.units == 1):
        whole = pool if kind == "wilson" else np.maximum(np.rint(pool), drawn)
        low, high = hits_interval(
            counts.heads[LABELLED], drawn, whole, confidence_level=confidence_level, kind=kind
        )
        return low * pool / whole, high * pool / whole
    with np.errstate(divide="ignore"):
        size = design.effective[LABELLED] / (1 - drawn / pool)
    low, high = wilson_share(counts.rates[LABELLED], size, two_sided_z(confidence_level))
    return low * pool, high * pool


def dataset_recall(
    counts: HeadCounts, confidence_level: float, kind: IntervalKind
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
