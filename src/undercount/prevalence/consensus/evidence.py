"""What the consensus looks at: several methods' answers, the shape of the ROC, the sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from undercount.prevalence.alpha_max import AlphaMax
from undercount.prevalence.best_bin import BestBin
from undercount.prevalence.binormal import CUTS, binormal_share
from undercount.prevalence.dedpul import Dedpul
from undercount.prevalence.patra_sen import PatraSen
from undercount.prevalence.ranks import effective_sizes, labelled_auc, merged
from undercount.prevalence.roc_slope import RocSlope

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.prevalence.ranks import Array

# Shares of labelled rows at which the share of unlabeled rows above them is read.
TOP = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3)
BOTTOM = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
HEADS = np.array(TOP + BOTTOM)
METHODS = {
    "Dedpul": Dedpul(),
    "Dedpul, monotone": Dedpul(monotone=True),
    "BestBin": BestBin(),
    "RocSlope": RocSlope(),
    "AlphaMax": AlphaMax(),
    "PatraSen": PatraSen(n_steps=200),
}
PATRA_SEN_CELLS = 400
EDGE = 0.002
AUC_PLACE = 3 * len(METHODS) - 2  # of AUC^pu among the inputs, behind the methods' answers
LEAST_LABELS = np.array([3, 6, 12, 25, 50])
# The largest sizes that benchmarks/train_shapes.py simulates: beyond them the networks would guess.
LARGEST = (10**3.7, 10**4.3)


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
    labelled, unlabeled = (
        np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])
        for cells in (counts.positive, counts.unlabeled)
    )
    sizes = np.minimum(effective_sizes(counts), LARGEST)
    bounds = [fitted[name].upper_bound for name in ("BestBin", "RocSlope")]
    head = fitted["BestBin"].diagnostics["head"]
    distinct = min(np.count_nonzero(counts.positive + counts.unlabeled), np.sum(sizes))
    answers = np.array(list(estimates.values()))
    inputs = np.concatenate(
        [
            _logit(answers),
            answers,
            np.sort(answers)[1:-1],
            _logit(np.array([labelled_auc(counts)])),
            np.log10(sizes),
            sizes**-0.5,
            np.minimum(np.interp(HEADS, labelled, unlabeled) / HEADS, 1.5),
            np.array(bounds, float),
            [head, np.log10(distinct)],
            binormal_share(np.interp(CUTS, labelled, unlabeled), 1 / np.sum(1 / sizes)),
            _least_ratios(labelled, unlabeled, sizes[0]),
        ]
    )
    return Evidence(estimates, inputs, fitted["RocSlope"].upper_bound)


def _least_ratios(labelled: Array, unlabeled: Array, n_labelled: float) -> Array:
    """Return the least ratio of head shares among heads of at least so many labelled rows."""
    positive = labelled > 0
    ratio = np.minimum(unlabeled[positive] / labelled[positive], 1.5)
    least = np.minimum.accumulate(ratio[::-1])[::-1]
    place = np.searchsorted(labelled[positive], LEAST_LABELS / n_labelled)
    return np.asarray(least[np.minimum(place, least.size - 1)])


def _logit(share: Array) -> Array:
    return np.asarray(logit(np.clip(share, EDGE, 1 - EDGE)))
