"""Sort unsigned integers by counting their digits.

NumPy's sort of 32- and 64-bit integers compares; on some processors its vector code is several
times slower than on others. Its stable sort of 16-bit integers counts, everywhere, and is used
here digit by digit on blocks that fit into the processor's cache.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGIT = 16
# Up to this many keys NumPy's own sort is faster.
FEW = 1 << 13
# Keys sorted at once.
BLOCK = 1 << 16
# Most ranges of keys that are sorted one after the other; a range's number is one byte.
MOST_RANGES = 256


def sort_keys(keys: NDArray[Any], n_bits: int) -> NDArray[Any]:
    """Return the keys, all below ``2**n_bits``, in ascending order; the array given is reused."""
    if keys.size <= FEW:
        keys.sort()
        return keys
    if keys.size <= 2 * BLOCK:
        return _by_digits(keys, n_bits)
    at = 0
    for block in _ranges(keys, n_bits):
        keys[at : at + block.size] = _by_digits(block, n_bits)
        at += block.size
    return keys


def _by_digits(keys: NDArray[Any], n_bits: int) -> NDArray[Any]:
    """Sort by each digit in turn, the lowest first; each sort keeps the order of the last."""
    for shift in range(0, n_bits, DIGIT):
        digit = (keys >> keys.dtype.type(shift)).astype(np.uint16)
        keys = keys.take(np.argsort(digit, kind="stable"))
    return keys


def _ranges(keys: NDArray[Any], n_bits: int) -> Iterator[NDArray[Any]]:
    """Copy keys into consecutive ranges of about equal size; all are copied before the first."""
    size = max(BLOCK, -(-keys.size // MOST_RANGES))
    n_ranges = -(-keys.size // size)
    shift = keys.dtype.type(max(0, n_bits - DIGIT))
    range_of = _range_of_digit(keys[:: max(1, keys.size >> 14)] >> shift, n_ranges)
    parts, ends = [], []
    for start in range(0, keys.size, size):
        part = keys[start : start + size]
        number = range_of.take((part >> shift).astype(np.intp))
        parts.append(part.take(np.argsort(number, kind="stable")))
        ends.append(np.cumsum(np.bincount(number, minlength=n_ranges)))
    borders = np.insert(np.array(ends), 0, 0, axis=1).T.tolist()
    for first, last in pairwise(borders):
        yield np.concatenate([part[i:j] for part, i, j in zip(parts, first, last, strict=True)])


def _range_of_digit(sample: NDArray[Any], n_ranges: int) -> NDArray[np.uint8]:
    """Assign each highest digit to a range so that a sample falls evenly on all ranges."""
    number = np.bincount(sample.astype(np.intp), minlength=1 << DIGIT)
    below = np.cumsum(number) - number
    return (below * n_ranges // (sample.size + 1)).astype(np.uint8)
