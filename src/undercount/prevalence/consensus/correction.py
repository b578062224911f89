"""The correction of the consensus: how far the truth lies from a robust answer, in log odds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit, ndtri

from undercount.prevalence.consensus.evidence import (
    AUC_PLACE,
    BINORMAL_PLACE,
    HEAD_LENGTH_PLACE,
    Evidence,
    gather,
)
from undercount.prevalence.networks import TrainedNetworks, load_quantile_net
from undercount.prevalence.upper_bound import effective_sizes

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts
    from undercount.curve import FloatArray

CORRECTION_FILE = "consensus/correction.json"
FIRST_FILE = "consensus/consensus.json"  # of the networks that read the evidence first
# Shares below are not told from 0; rare positives need a finer end than `EDGE` of the evidence.
LEAST_CORRECTED_SHARE = 1e-4
# Shares of labelled rows at which the share of unlabeled rows above them is read, and those of
# them at which the noise of the reading is told too.
CORRECTION_HEADS = np.array(
    (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
)
NOISE_HEADS = np.searchsorted(CORRECTION_HEADS, (0.02, 0.1, 0.2, 0.5, 0.8))
LEAST_RATIO, MOST_RATIO = -3.0, 6.0
# The largest sizes that benchmarks/train_unseen.py simulates: beyond them networks would guess.
LARGEST_SIZES = (10**3.2, 10**4.2)
BASE_PLACE = 6  # of the robust answer among the inputs, behind the methods' answers
SIZE_PLACE = 10  # of the logarithm of the unlabeled rows
HEAD_PLACE = 12  # of the first of the ratios at `CORRECTION_HEADS`
# Standardised inputs beyond this are as unlike the simulated ones as these.
FARTHEST_CORRECTION_INPUT = 4.0


def base_place(estimates: dict[str, float]) -> float:
    """Return the log odds of a robust answer: Dedpul's, unless two others both lie below it.

    Among scores of which only the top tells something, Dedpul errs least; with rare positives it
    may answer twenty times too much, which ROC slope and Patra-Sen then both see.

    Examples
    --------
    >>> from undercount.prevalence.consensus.correction import base_place
    >>> base_place({"Dedpul": 0.5, "RocSlope": 0.6, "PatraSen": 0.3})
    0.0
    """
    others = max(estimates["RocSlope"], estimates["PatraSen"])
    return float(_log_odds(min(estimates["Dedpul"], others)))


def gather_relative(counts: ScoreCounts) -> Evidence:
    """Gather the evidence; its inputs are what the correction reads, relative to the base."""
    evidence = gather(counts)
    base = base_place(evidence.estimates)
    m, n = np.minimum(effective_sizes(counts), LARGEST_SIZES)
    labelled, unlabeled = (
        np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])
        for cells in (counts.positive, counts.unlabeled)
    )
    above = np.interp(CORRECTION_HEADS, labelled, unlabeled)
    ratio = np.log(np.maximum(above, 0.5 / n) / CORRECTION_HEADS) - base
    answers = _log_odds(np.array(list(evidence.estimates.values())))
    bound = 1.0 if evidence.upper_bound is None else evidence.upper_bound
    first = _log_odds(load_quantile_net(FIRST_FILE).quantiles(evidence.inputs))
    binormal, error = evidence.inputs[BINORMAL_PLACE : BINORMAL_PLACE + 2]
    inputs = np.concatenate(
        [
            answers - base,
            [base, _log_odds(bound) - base, evidence.inputs[AUC_PLACE]],
            [np.log10(m), np.log10(n), np.log(n) + base],
            np.clip(ratio, LEAST_RATIO, MOST_RATIO),
            np.maximum(above * n, 0.5)[NOISE_HEADS] ** -0.5,
            [m**-0.5, n**-0.5],
            [_log_odds(binormal) - base, error, evidence.inputs[HEAD_LENGTH_PLACE]],
            [answers.std()],
            [first[4] - base, first[8] - first[0], first[6] - first[2]],
        ]
    )
    return replace(evidence, inputs=inputs)


def _log_odds(share: FloatArray | float) -> FloatArray:
    return np.asarray(logit(np.clip(share, LEAST_CORRECTED_SHARE, 1 - LEAST_CORRECTED_SHARE)))


def head_rise(inputs: FloatArray) -> float:
    """Return by how much the log ratio of head shares rises from a tenth to four tenths.

    It does not rise where the top belongs to positives alone.
    """
    low, high = HEAD_PLACE + np.searchsorted(CORRECTION_HEADS, (0.1, 0.4))
    return float(inputs[high] - inputs[low])


@dataclass(frozen=True)
class Correction(TrainedNetworks):
    """Networks that answer with quantiles of the truth's log odds less those of the base.

    Attributes
    ----------
    levels : ndarray
        Levels of the quantiles, ascending, ½ among them.
    scale : ndarray
        Factors of the distances from the median, below and above it, by which coverage comes out
        on designs of scores that were not trained on.
    """

    levels: FloatArray
    scale: FloatArray

    def quantiles(self, inputs: FloatArray) -> FloatArray:
        """Return ascending quantiles of the correction, for one vector or each row of a matrix."""
        outputs = np.sort(np.mean(self.outputs(inputs, FARTHEST_CORRECTION_INPUT), axis=0), axis=-1)
        middle = outputs[..., [self.levels.size // 2]]
        side = np.where(self.levels < 0.5, self.scale[0], self.scale[1])  # noqa: PLR2004 - the median
        return np.asarray(middle + side * (outputs - middle))

    def at(self, quantiles: FloatArray, level: float) -> float:
        """Return a vector's quantile at any level; beyond the ends the tail is taken as normal."""
        inside = min(max(level, self.levels[0]), self.levels[-1])
        quantile = float(np.interp(ndtri(inside), ndtri(self.levels), quantiles))
        middle = float(quantiles[self.levels.size // 2])
        return (
            quantile
            if inside == level
            else middle + (quantile - middle) * float(ndtri(level) / ndtri(inside))
        )

    def likeness(self, inputs: FloatArray) -> float:
        """Return 1 where the inputs look like simulated ones, less the farther they lie off."""
        farthest = np.max(np.abs((inputs - self.centre) / self.spread))
        return float(min(1.0, FARTHEST_CORRECTION_INPUT / farthest))


@cache
def load_correction() -> Correction:
    """Return the networks that benchmarks/train_consensus.py fitted to simulated problems."""
    return Correction.from_file(CORRECTION_FILE)
