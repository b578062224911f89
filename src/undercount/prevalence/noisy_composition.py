"""Share and purity when some labelled rows are negative: two runs with the roles swapped."""

from dataclasses import field
from typing import Any

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Interval
from undercount.prevalence.alpha_max import AlphaMax
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.inputs import MIN_LABELS
from undercount.prevalence.kernel_mean.kernel_mean import (
    RESAMPLE_BINS,
    SCORE_BINS,
    score_kernel_means,
)
from undercount.prevalence.upper_bound import effective_sizes


@estimator
class _TwoRuns(ScoreEstimator):
    """Run a method in both directions and compose the two answers; see its two subclasses."""

    _by_order = True
    _resample_cells = 512
    _reverse = True

    n_resamples: int = 100

    def _run(self, counts: ScoreCounts, n_bins: int) -> float:
        raise NotImplementedError

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        value, purity, runs = self._compose(counts, SCORE_BINS)
        diagnostics: dict[str, Any] = {"first": runs[0], "second": runs[1]}
        resampled = self._resample_pairs(counts)
        if not resampled.size:
            return Fitted(value, label_purity=purity, diagnostics=diagnostics)
        tail = (1 - self.confidence_level) / 2
        low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
        # Resamples have coarser bins, so that both ends may lie on one side of the estimate.
        low, high = np.minimum(low, (value, purity)), np.maximum(high, (value, purity))
        diagnostics["label_purity_interval"] = Interval(float(low[1]), float(high[1]))
        return Fitted(
            value,
            interval=Interval(float(low[0]), float(high[0])),
            standard_error=float(np.std(resampled[:, 0], ddof=1)),
            label_purity=purity,
            diagnostics=diagnostics,
        )

    def _resample_pairs(self, counts: ScoreCounts) -> FloatArray:
        """Return (share, purity) on resampled counts."""
        draws = self._draw_counts(counts, self._rng())
        return np.array([self._compose(draw, RESAMPLE_BINS)[:2] for draw in draws], float)

    def _compose(
        self, counts: ScoreCounts, n_bins: int
    ) -> tuple[float, float, tuple[float, float]]:
        check_both_ways(counts)
        first = self._run(counts, n_bins)
        second = self._run(swap_roles(counts, reverse=self._reverse), n_bins)
        # Both runs at 1 mean one distribution for all: nothing tells purity from share.
        purity = (1 - second) / max(1 - first * second, 1e-12)
        return first * purity, purity, (first, second)


@estimator
class NoisyComposition(_TwoRuns):
    """Estimate the share of positives among the unlabeled and the purity of the labels.

    With U as the mixture and L as the component a method gives a1 = a / κ; with the roles swapped
    it gives a2 = (1 - κ) / (1 - a). Both together give κ = (1 - a2) / (1 - a1 a2) and a = a1 κ
    (Jain, White, Radivojac 2016).

    Parameters
    ----------
    base : ScoreEstimator, optional
        The method of both runs; by default KM1 on binned ranks, which measured best.

    Attributes
    ----------
    unlabeled_prevalence_, label_purity_ : float
    interval_ : Interval
        Of the share.
    diagnostics_ : dict
        ``label_purity_interval``; ``first`` and ``second``: the two runs' a1 and a2.

    Notes
    -----
    Assumes: labelled rows are drawn at random from positives (share κ) and negatives (the rest);
    some scores belong to positives only, others to negatives only.
    Wrong when: labelling errors are not random among the negatives, or the classes overlap
    everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import NoisyComposition
    >>> rng = np.random.default_rng(0)
    >>> labelled = [rng.normal(4, 1, 450), rng.normal(0, 1, 50)]  # one label in ten is wrong
    >>> score = np.concatenate([*labelled, rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> y = np.repeat([1, -1], [500, 1000])
    >>> noisy = NoisyComposition(n_resamples=0).fit(y, score, unlabeled=-1)
    >>> round(noisy.unlabeled_prevalence_, 1), round(noisy.label_purity_, 1)
    (0.3, 0.9)
    """

    base: ScoreEstimator | None = field(default=None, kw_only=False)

    def _run(self, counts: ScoreCounts, n_bins: int) -> float:
        if self.base is None:
            return float(score_kernel_means(counts, n_bins=n_bins).km1)
        if not isinstance(self.base, ScoreEstimator):
            raise InputError(f"base must be a ScoreEstimator or None; got {self.base!r}")
        return float(self.base._estimate(counts).value)  # noqa: SLF001 - the hook all methods share


@estimator
class AlphaMaxN(_TwoRuns):
    """Estimate share and purity by AlphaMax-N: the composition with AlphaMax in both runs.

    Kept as published for comparison; `NoisyComposition` with its default base is much more
    accurate.

    Parameters
    ----------
    scale : {"rank", "score"}
        As in `AlphaMax`.

    Attributes
    ----------
    unlabeled_prevalence_, label_purity_ : float

    Notes
    -----
    Assumes: as `NoisyComposition`.
    Wrong when: labels are pure (κ = 1): the elbow rule cannot answer below .10, so the purity is
    too low.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import AlphaMaxN
    >>> rng = np.random.default_rng(0)
    >>> labelled = [rng.normal(4, 1, 375), rng.normal(0, 1, 125)]  # one label in four is wrong
    >>> score = np.concatenate([*labelled, rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> y = np.repeat([1, -1], [500, 1000])
    >>> noisy = AlphaMaxN(n_resamples=0).fit(y, score, unlabeled=-1)
    >>> 0.2 < noisy.unlabeled_prevalence_ < 0.4
    True
    """

    _reverse = False  # as published: histograms have no direction, and start at the lowest score

    scale: str = "rank"

    def _run(self, counts: ScoreCounts, n_bins: int) -> float:  # noqa: ARG002 - it has its own bins
        return float(AlphaMax(scale=self.scale)._estimate(counts).value)  # noqa: SLF001 - the hook


def check_both_ways(counts: ScoreCounts) -> None:
    """Raise unless the unlabeled rows can take the part of the labels."""
    rows = effective_sizes(counts)[1]
    if rows < MIN_LABELS:
        raise InputError(
            f"share and purity together need at least {MIN_LABELS} unlabeled rows, which take the "
            f"part of the labels in the second run; got {rows:g}"
        )


def swap_roles(counts: ScoreCounts, *, reverse: bool = True) -> ScoreCounts:
    """Return counts with labelled and unlabeled rows in each other's place, order reversed."""
    positive, negative, unlabeled = counts.squared_weight
    return ScoreCounts.from_counts(
        -counts.score if reverse else counts.score,
        counts.unlabeled,
        counts.negative,
        counts.positive,
        squared_weight=(unlabeled, negative, positive),
    )
