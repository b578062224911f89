"""What the consensus looks at: several methods' answers, the shape of the ROC, the sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit, ndtr, ndtri

from undercount.prevalence.alpha_max import AlphaMax
from undercount.prevalence.best_bin import BestBin
from undercount.prevalence.dedpul import Dedpul
from undercount.prevalence.patra_sen import QuickPatraSen
from undercount.prevalence.ranks import merge_cells
from undercount.prevalence.roc_slope import RocSlope
from undercount.prevalence.upper_bound import effective_sizes

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.curve import FloatArray

# Shares of labelled rows at which the share of unlabeled rows above them is read.
UPPER_HEADS = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3)
LOWER_HEADS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
EVIDENCE_HEADS = np.array(UPPER_HEADS + LOWER_HEADS)
EVIDENCE_METHODS = {
    "Dedpul": Dedpul(),
    "Dedpul, monotone": Dedpul(monotone=True),
    "BestBin": BestBin(),
    "RocSlope": RocSlope(),
    "AlphaMax": AlphaMax(),
    "PatraSen": QuickPatraSen(n_steps=200),
}
PATRA_SEN_CELLS = 400
END_SHARE = 0.002
AUC_PLACE = 3 * len(EVIDENCE_METHODS) - 2  # of AUC^pu among the inputs, behind the methods' answers
LEAST_LABELS = np.array([3, 6, 12, 25, 50])
# Of the binormal mean and error among the inputs; before them stand the best bin's head and the
# number of distinct scores, which a correction must not read: merged cells have fewer.
BINORMAL_PLACE = -2 - LEAST_LABELS.size
HEAD_LENGTH_PLACE = BINORMAL_PLACE - 2
# The largest sizes that benchmarks/train_shapes.py simulates: beyond them the networks would guess.
SIMULATED_SIZES = (10**3.7, 10**4.3)
# Of the binormal posterior: shares of labelled rows, from the top, that cut the scores into bins,
# and the grid of shares, distances and spreads of the negatives.
UPPER_CUTS = (0.005, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2)
LOWER_CUTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99)
CUTS = np.array(UPPER_CUTS + LOWER_CUTS)
POSTERIOR_SHARES = np.linspace(0.01, 0.99, 50)
DISTANCES = np.linspace(0.3, 5.5, 27)
SPREADS = np.exp(np.linspace(-1.1, 1.1, 12))
LEAST_BIN_SHARE = 1e-9


@dataclass(frozen=True)
class Evidence:
    """The methods' answers, and all inputs of the consensus as one vector."""

    estimates: dict[str, float]
    inputs: FloatArray
    upper_bound: float | None


def gather(counts: ScoreCounts) -> Evidence:
    """Run the methods on counts and describe the ROC of labelled against unlabeled rows."""
    fitted = {}
    for name, method in EVIDENCE_METHODS.items():
        cells = merge_cells(counts, PATRA_SEN_CELLS) if name == "PatraSen" else counts
        fitted[name] = method._estimate(cells)  # noqa: SLF001 - the hook all methods share
    estimates = {name: answer.value for name, answer in fitted.items()}
    labelled, unlabeled = (
        np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])
        for cells in (counts.positive, counts.unlabeled)
    )
    sizes = np.minimum(effective_sizes(counts), SIMULATED_SIZES)
    bounds = [fitted[name].upper_bound for name in ("BestBin", "RocSlope")]
    head = fitted["BestBin"].diagnostics["head"]
    distinct = min(np.count_nonzero(counts.positive + counts.unlabeled), np.sum(sizes))
    answers = np.array(list(estimates.values()))
    inputs = np.concatenate(
        [
            _logit(answers),
            answers,
            np.sort(answers)[1:-1],
            _logit(np.array([counts.auc("positive", "unlabeled")])),
            np.log10(sizes),
            sizes**-0.5,
            np.minimum(np.interp(EVIDENCE_HEADS, labelled, unlabeled) / EVIDENCE_HEADS, 1.5),
            np.array(bounds, float),
            [head, np.log10(distinct)],
            binormal_share(np.interp(CUTS, labelled, unlabeled), 1 / np.sum(1 / sizes)),
            _least_ratios(labelled, unlabeled, sizes[0]),
        ]
    )
    return Evidence(estimates, inputs, fitted["RocSlope"].upper_bound)


def _least_ratios(labelled: FloatArray, unlabeled: FloatArray, n_labelled: float) -> FloatArray:
    """Return the least ratio of head shares among heads of at least so many labelled rows."""
    positive = labelled > 0
    ratio = np.minimum(unlabeled[positive] / labelled[positive], 1.5)
    least = np.minimum.accumulate(ratio[::-1])[::-1]
    place = np.searchsorted(labelled[positive], LEAST_LABELS / n_labelled)
    return np.asarray(least[np.minimum(place, least.size - 1)])


def _logit(share: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(share, END_SHARE, 1 - END_SHARE)))


def binormal_share(above: FloatArray, n_effective: float) -> tuple[float, float]:
    """Return mean and standard deviation of the share under a binormal ROC, on a flat grid.

    On the scale that makes the labelled scores normal, the negatives are taken as normal with
    unknown mean and spread; the posterior of the share then is a sum over a fixed grid.

    Parameters
    ----------
    above : ndarray
        Shares of the unlabeled rows above each of `CUTS`.
    n_effective : float
        Rows the shares count for.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import ndtr, ndtri
    >>> from undercount.prevalence.consensus.evidence import CUTS, binormal_share
    >>> mean, error = binormal_share(0.3 * CUTS + 0.7 * ndtr(ndtri(CUTS) - 2), 1000)
    >>> round(mean, 1), error < 0.1
    (0.3, True)
    """
    weight = np.maximum(np.diff(above, prepend=0.0, append=1.0), 0)
    fit = n_effective * (_log_chances() @ weight)
    posterior = np.exp(fit - fit.max()).reshape(POSTERIOR_SHARES.size, -1).sum(axis=1)
    posterior /= posterior.sum()
    mean = float(posterior @ POSTERIOR_SHARES)
    return mean, float(np.sqrt(posterior @ (POSTERIOR_SHARES - mean) ** 2))


@cache
def _log_chances() -> FloatArray:
    """Return the log chance of each bin for each share, distance and spread (shares first)."""
    edge = ndtri(1 - CUTS)
    distance, spread = (axis.ravel()[:, None] for axis in np.meshgrid(DISTANCES, SPREADS))
    negative = ndtr(-(edge + distance) / spread)
    chance = (
        POSTERIOR_SHARES[:, None, None] * CUTS + (1 - POSTERIOR_SHARES[:, None, None]) * negative
    )
    bins = np.diff(chance, axis=-1, prepend=0.0, append=1.0)
    return np.asarray(np.log(np.maximum(bins, LEAST_BIN_SHARE))).reshape(-1, CUTS.size + 1)
