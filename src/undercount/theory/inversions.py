"""How often an estimated score puts two models in the wrong order (Tabatabaei et al. 2020, 5.2)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import wilcoxon

from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.theory.numbers import read_numbers


@dataclass(frozen=True)
class Inversions:
    """Hold how many pairs of models an estimated score puts in the wrong order.

    Parameters
    ----------
    inverted : int
        Pairs whose truly better model gets the lower estimate.
    undecided : int
        Pairs whose models truly differ but get the same estimate.
    pairs : int
        Pairs whose models truly differ; the others have no order to get wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> uc.theory.inversions([0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.3, 0.3]).share
    0.4
    """

    inverted: int
    undecided: int
    pairs: int

    @property
    def share(self) -> float:
        """Inverted pairs over the pairs that have an order; 0 if none has."""
        return self.inverted / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class PairedTest:
    """Hold the outcome of a paired test.

    Parameters
    ----------
    statistic : float
        Wilcoxon's sum of the ranks of the positive differences.
    p_value : float
        How likely a statistic at least as extreme is if neither of the two is better.
    n_pairs : int
        Pairs that differ; equal pairs say nothing and are left out.

    Examples
    --------
    >>> import undercount as uc
    >>> uc.theory.paired_wilcoxon([1, 2, 3, 4], [3, 3, 3, 5])
    PairedTest(statistic=0.0, p_value=0.25, n_pairs=3)
    """

    statistic: float
    p_value: float
    n_pairs: int


def inversions(estimated: Any, true: Any) -> Inversions:
    """Count the pairs of models that an estimated score puts in the wrong order.

    Parameters
    ----------
    estimated, true : array-like
        One number a model: the score that would choose among them, and the true one.

    Returns
    -------
    Inversions

    Examples
    --------
    >>> import undercount as uc
    >>> uc.theory.inversions([0.3, 0.5, 0.4], [0.2, 0.4, 0.6])
    Inversions(inverted=1, undecided=0, pairs=3)
    """
    first, second = _read_pair(estimated, true, "estimated", "true")
    # Equal truths in ascending order of the estimate cannot look inverted.
    order = np.lexsort((first, second))
    every = len(first) * (len(first) - 1) // 2
    same_truth = _equal_pairs(second)
    both = np.unique(np.stack([first, second]), axis=1, return_counts=True)[1]
    undecided = _equal_pairs(first) - int(np.sum(both * (both - 1) // 2))
    return Inversions(_descents(first[order]), undecided, every - same_truth)


def paired_wilcoxon(
    first: Any, second: Any, *, alternative: Literal["two-sided", "less", "greater"] = "two-sided"
) -> PairedTest:
    """Test whether two scores differ over the same repetitions, by Wilcoxon's signed ranks.

    Parameters
    ----------
    first, second : array-like
        One number a repetition, for example the share of inversions of two scores.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        ``"less"`` asks whether `first` is smaller.

    Returns
    -------
    PairedTest
        The p-value is 1 if no pair differs.

    Notes
    -----
    Assumes: the repetitions are independent and their differences symmetric about one centre.
    Wrong when: the repetitions share rows, so that they do not count as separate evidence.

    Examples
    --------
    >>> import undercount as uc
    >>> of_f1, of_lee_liu = [0.10, 0.12, 0.08, 0.11, 0.07], [0.15, 0.13, 0.14, 0.19, 0.10]
    >>> uc.theory.paired_wilcoxon(of_f1, of_lee_liu, alternative="less").p_value
    0.03125
    """
    one, two = _read_pair(first, second, "first", "second")
    if not isinstance(alternative, str) or alternative not in ("two-sided", "less", "greater"):
        raise InputError(
            f"alternative must be 'two-sided', 'less' or 'greater'; got {alternative!r}"
        )
    difference = one - two
    difference = difference[difference != 0]
    if not difference.size:
        return PairedTest(0.0, 1.0, 0)
    ranks = np.unique(np.abs(difference), return_inverse=True, return_counts=True)
    midrank = (np.cumsum(ranks[2]) - (ranks[2] - 1) / 2)[ranks[1]]
    result = wilcoxon(difference, alternative=alternative)
    return PairedTest(
        float(midrank[difference > 0].sum()), float(result.pvalue), int(difference.size)
    )


def _read_pair(one: Any, two: Any, *names: str) -> tuple[FloatArray, FloatArray]:
    arrays = []
    for name, values in zip(names, (one, two), strict=True):
        array = read_numbers(name, values)
        if array.ndim != 1 or not np.isfinite(array).all():
            raise InputError(f"{name} must be a list of finite numbers; got {values!r}")
        arrays.append(array)
    if len(arrays[0]) != len(arrays[1]):
        raise InputError(
            f"{names[0]} and {names[1]} must have the same length; "
            f"got {len(arrays[0])} and {len(arrays[1])}"
        )
    return arrays[0], arrays[1]


def _equal_pairs(values: FloatArray) -> int:
    size = np.unique(values, return_counts=True)[1]
    return int(np.sum(size * (size - 1) // 2))


def _descents(values: FloatArray) -> int:
    """Count pairs i < j with values[i] > values[j], by merging sorted halves."""
    if len(values) < 2:  # noqa: PLR2004 - a single value makes no pair
        return 0
    half = len(values) // 2
    left, right = np.sort(values[:half]), values[half:]
    across = len(left) * len(right) - int(np.searchsorted(left, right, side="right").sum())
    return _descents(values[:half]) + _descents(right) + across
