"""Whole numbers of reviews for each stratum, and the order in which they come."""

from typing import Any

import numpy as np

from undercount.curve import FloatArray
from undercount.infer.reviews.verdicts import IntArray

# Part of the budget that is spread over all rows, so that every metric can be estimated.
EVEN_PART = 0.1


def spread_evenly(parts: FloatArray, even: FloatArray) -> FloatArray:
    """Return parts that add up to one, some of the budget being spread over all rows."""
    total = float(parts.sum())
    return np.asarray((1 - EVEN_PART) * parts / total + EVEN_PART * even if total > 0 else even)


def allocate(wanted: FloatArray, rows: FloatArray, budget: int) -> IntArray:
    """Share the budget as wanted, in whole numbers, at least two a stratum where that is possible.

    A stratum is never asked for more rows than it has; what is left goes to the others.
    """
    least = np.minimum(rows, 2.0 if budget >= 2 * len(rows) else 1.0)
    if least.sum() > budget:
        least = np.zeros(len(rows))
    return fill(wanted, least, rows, budget)


def fill(wanted: FloatArray, least: Any, rows: Any, budget: int) -> IntArray:
    """Share a budget in proportion to what is wanted, between what must be and what can be."""
    least, rows = np.asarray(least, dtype=float), np.asarray(rows, dtype=float)
    low, high = 0.0, float(rows.max()) / max(float(wanted[wanted > 0].min()), 1e-12) + 1
    while low < (scale := (low + high) / 2) < high:  # until they are neighbours
        short = np.minimum(np.maximum(scale * wanted, least), rows).sum() < budget
        low, high = (scale, high) if short else (low, scale)
    real = np.clip(high * wanted, least, rows)
    sizes = np.floor(real + 1e-9)
    # Whole rows go where most of one is missing, and where one is left.
    for _ in range(len(rows)):
        lacking = int(budget - sizes.sum())
        if lacking <= 0:
            break
        missing = np.where(sizes < rows, real - sizes, -np.inf)
        chosen = np.argsort(-missing, kind="stable")[:lacking]
        sizes[chosen[np.isfinite(missing[chosen])]] += 1
    return sizes.astype(np.intp)


def interleave(sizes: IntArray, seed: int) -> IntArray:
    """Order strata so that every beginning of the plan has about the shares of the whole."""
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.arange(len(stratum)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    when = (turn + 0.5) / sizes[stratum]
    tie = np.random.default_rng(seed).random(len(stratum))
    return np.asarray(stratum[np.lexsort((tie, when))], dtype=np.intp)
