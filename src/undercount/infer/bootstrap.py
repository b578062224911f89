"""Resampling of cells, for what has no closed form: never rows, all resamples as one matrix."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named
from undercount.estimate import Interval
from undercount.infer.mixture import LABELLED, NEGATIVE, UNLABELED, MixtureDesign, Target, design_of
from undercount.shares import Shares

# Entries of the matrix of one block: large enough to be fast, small enough to stay in cache.
_BLOCK = 1 << 20
Statistic = Callable[[ScoreCounts, Shares], float]


def bootstrap_interval(
    counts: ScoreCounts,
    shares: Shares,
    statistic: Statistic,
    *,
    target: Target = "dataset",
    n_resamples: int = 500,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
) -> tuple[Interval, float]:
    """Return the percentile interval and the standard error of any statistic of counted rows.

    Parameters
    ----------
    counts, shares : ScoreCounts, Shares
        What was counted and what is known. The share that was given stays; the others follow
        from each resample, as they would in another sample.
    statistic : callable
        Takes (counts, shares) and returns a number.
    target : {"dataset", "population"}
        Whether only the choice of labelled rows is random, or all rows are.
    n_resamples : int
        Number of resamples.
    confidence_level : float
        Probability with which the interval shall cover.
    random_state : int or None
        Seed; None for another result each time.

    Returns
    -------
    (Interval, float)

    Notes
    -----
    Assumes: rows are independent, labels random among positives.
    Wrong when: the statistic is not smooth, or rests on a handful of labels.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.bootstrap import bootstrap_interval
    >>> score = list(range(40))
    >>> counts = uc.ScoreCounts.from_rows([0, 0, 0, 1] * 10, score, unlabeled=0)
    >>> interval, error = bootstrap_interval(
    ...     counts, uc.Shares(0.0), lambda counts, shares: counts.positive[:20].sum() / 10,
    ...     target="population",
    ... )
    >>> 0.1 < error < 0.25
    True
    """
    if n_resamples < 2:  # noqa: PLR2004 - no spread from one
        raise InputError(f"{named('n_resamples')} must be at least 2; got {n_resamples}")
    values = np.array(
        [
            statistic(other, moved)
            for other, moved in resampled(
                counts, shares, target=target, n_resamples=n_resamples, random_state=random_state
            )
        ]
    )
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high)), float(values.std(ddof=1))


def resampled(
    counts: ScoreCounts,
    shares: Shares,
    *,
    target: Target = "dataset",
    n_resamples: int = 500,
    random_state: int | None = 0,
) -> Iterator[tuple[ScoreCounts, Shares]]:
    """Yield counts as they might have been, with the shares that follow from the one given.

    For the population, cells are multinomial (the three sizes as well in a single sample). For
    these very rows, a row more with a label is a row less without, and deviations are shrunk as
    drawing without replacement does. Sums of weights are drawn at Kish's effective size.
    """
    design = design_of(counts, shares, shares.sampling, target)
    rng = np.random.default_rng(random_state)
    per_block = max(1, _BLOCK // max(len(counts.score), 1))
    for start in range(0, n_resamples, per_block):
        size = min(per_block, n_resamples - start)
        blocks = _drawn(counts, design, size, rng)
        for labelled, unlabeled, negative in zip(*blocks, strict=True):
            other = replace(counts, positive=labelled, unlabeled=unlabeled, negative=negative)
            yield other, _moved_shares(other, shares, design)


def _drawn(
    counts: ScoreCounts, design: MixtureDesign, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    kinds = (counts.positive, counts.unlabeled, counts.negative)
    if design.target == "population":
        effective = np.maximum(np.rint(design.effective), 0).astype(np.int64)
        trials = np.tile(effective, (size, 1))
        if design.sampling == "single-sample":
            trials = rng.multinomial(effective.sum(), effective / effective.sum(), size)
        drawn = [
            _cells(cells, trials[:, kind], float(design.units[kind]), rng)
            for kind, cells in enumerate(kinds)
        ]
        return drawn[LABELLED], drawn[UNLABELED], drawn[NEGATIVE]
    fixed = [np.broadcast_to(cells, (size, len(cells))) for cells in kinds]
    change = _label_change(counts, design, size, rng)
    unlabeled = fixed[UNLABELED] - (change if design.sampling == "single-sample" else 0.0)
    return fixed[LABELLED] + change, unlabeled, fixed[NEGATIVE]


def _cells(
    cells: FloatArray, trials: NDArray[np.int64], unit: float, rng: np.random.Generator
) -> FloatArray:
    total = cells.sum()
    if total == 0:
        return np.zeros((len(trials), len(cells)))
    return rng.multinomial(trials, cells / total).astype(np.float64) * unit


def _label_change(
    counts: ScoreCounts, design: MixtureDesign, size: int, rng: np.random.Generator
) -> FloatArray:
    """Return deviations of the labelled cells, shrunk or stretched to the target's variance."""
    unit = float(design.units[LABELLED])
    mixing = design.mixing
    labelled = float(design.sizes[LABELLED])
    if design.sampling == "case-control":
        hidden = float(mixing.unlabeled_prevalence) * float(design.effective[UNLABELED])
        factor = 1 + float(design.effective[LABELLED]) / hidden if hidden > 0 else 1.0
    else:
        frequency = float(design.label_purity) * labelled / float(mixing.positives)
        factor = max(1 - frequency, 0.0)
    if design.given == "label_frequency":
        drawn = rng.poisson(counts.positive / unit, (size, len(counts.positive))) * unit
    else:
        trials = np.full(size, round(float(design.effective[LABELLED])))
        drawn = _cells(counts.positive, trials, unit, rng)
    change: FloatArray = np.sqrt(factor) * (drawn - counts.positive)
    return change


def _moved_shares(counts: ScoreCounts, shares: Shares, design: MixtureDesign) -> Shares:
    """Return the shares that follow from the given one in a resample."""
    if shares.sampling == "case-control" or shares.given == "unlabeled_prevalence":
        return shares
    if design.target == "dataset" and shares.given != "label_frequency":
        return shares
    sizes = np.array([counts.n_positive, counts.n_unlabeled, counts.n_negative])
    moved = replace(design, sizes=sizes)
    if shares.given == "positives":
        # The number of positives in another sample is unknown; their share in the unlabeled stays.
        return shares
    share = float(moved.mixing.unlabeled_prevalence)
    return shares.exact(shares.clip(share))
