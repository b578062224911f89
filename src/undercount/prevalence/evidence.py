"""What the consensus looks at: several methods' answers, the shape of the ROC, the sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from undercount.prevalence.alpha_max import AlphaMax
from undercount.prevalence.best_bin import BestBin
from undercount.prevalence.dedpul import Dedpul
from undercount.prevalence.kernel_mean import score_kernel_means
from undercount.prevalence.patra_sen import PatraSen
from undercount.prevalence.ranks import effective_sizes, labelled_auc, merged
from undercount.prevalence.roc_slope import RocSlope

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.prevalence.ranks import Array

# Shares of labelled rows at which the share of unlabeled rows above them is read.
HEADS = np.array(
    [0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98]
)
METHODS = {
    "Dedpul": Dedpul(),
    "BestBin": BestBin(),
    "RocSlope": RocSlope(),
    "AlphaMax": AlphaMax(),
    "PatraSen": PatraSen(n_steps=200),
}
PATRA_SEN_CELLS = 400
KERNEL_BINS = 64
EDGE = 0.002
# Beyond these sizes the simulations say nothing, so more rows do not narrow the answer.
LARGEST = (1e4, 5e4)


@dataclass(frozen=True)
class Evidence:
    """The methods' answers, and all inputs of the consensus as one vector."""

    estimates: dict[str, float]
    inputs: Array
    upper_bound: float | None


def gather(counts: ScoreCounts) -> Evidence:
    """Run the methods on counts and describe the ROC of labelled against unlabeled rows."""
    fitted = {}
    for name, method in METHODS.items():
        cells = merged(counts, PATRA_SEN_CELLS) if name == "PatraSen" else counts
        fitted[name] = method._estimate(cells)  # noqa: SLF001 - the hook all methods share
    estimates = {name: found.value for name, found in fitted.items()}
    estimates["KernelMean"] = float(score_kernel_means(counts, n_bins=KERNEL_BINS).km1)
    answers = np.array(list(estimates.values()))
    labelled, unlabeled = (
        np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])
        for cells in (counts.positive, counts.unlabeled)
    )
    slope = np.minimum(np.interp(HEADS, labelled, unlabeled) / HEADS, 1.5)
    size = np.log10(np.minimum(effective_sizes(counts), LARGEST))
    inputs = np.concatenate(
        [
            _logit(answers),
            answers,
            _logit(np.array([labelled_auc(counts)])),
            size,
            10 ** (-size / 2),
            slope,
            np.sort(answers)[1:-1],
        ]
    )
    return Evidence(estimates, inputs, fitted["RocSlope"].upper_bound)


def _logit(share: Array) -> Array:
    return np.asarray(logit(np.clip(share, EDGE, 1 - EDGE)))
