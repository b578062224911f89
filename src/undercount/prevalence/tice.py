"""TIcE: label frequency from subdomains of a decision tree [Bekker 2018]."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.prevalence.base import FeatureEstimator, Fitted, estimator

N_FOLDS = 5
N_ITERATIONS = 2
# Each feature's range is cut into this many equal parts.
N_PARTS = 4
MAX_SPLITS = 500
MIN_ROWS = 10
# Bekker and Davis's smoothing of a part's labelled share when split features are compared.
SMOOTHING = 5
FIRST_GUESS = 0.5


@dataclass(order=True)
class _Domain:
    """A subdomain, by the rows in it; the best labelled share comes first."""

    priority: tuple[float, float]
    order: int
    tree: NDArray[np.intp] = field(compare=False)
    rest: NDArray[np.intp] = field(compare=False)
    features: tuple[int, ...] = field(compare=False)


class _Problem(NamedTuple):
    """Part of each row and feature, and whether the row is labelled."""

    parts: NDArray[np.intp]
    labelled: FloatArray


def feature_parts(features: FloatArray) -> NDArray[np.intp]:
    """Return in which of the equal parts of its feature's range each value lies."""
    low, high = features.min(axis=0), features.max(axis=0)
    scaled = (features - low) / np.where(high > low, high - low, 1)
    borders = np.linspace(0, 1, N_PARTS + 1)[1:-1]
    return np.asarray(np.searchsorted(borders, scaled, side="right"))


def label_frequency(
    features: FloatArray, labelled: FloatArray, folds: NDArray[np.integer]
) -> float:
    """Estimate the share of positives that carry a label (Bekker and Davis 2018).

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
    labelled : ndarray
        1 where the row is labelled, else 0.
    folds : ndarray of int
        A tree grows on each fold in turn, and the other folds estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.tice import label_frequency
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20000) < 0.5
    >>> labelled = (positive & (rng.random(20000) < 0.4)).astype(float)
    >>> found = label_frequency(positive[:, None] + 0.0, labelled, np.arange(20000) % 5)
    >>> 0.35 < found < 0.4
    True
    """
    problem = _Problem(feature_parts(features), labelled)
    guess = FIRST_GUESS
    for _ in range(N_ITERATIONS):
        frequencies = [
            _best_bound(
                problem, np.flatnonzero(folds == fold), np.flatnonzero(folds != fold), guess
            )
            for fold in range(int(folds.max()) + 1)
        ]
        guess = float(np.mean(frequencies))
    return guess


def _best_bound(
    problem: _Problem, tree: NDArray[np.intp], rest: NDArray[np.intp], guess: float
) -> float:
    """Return the largest lower bound of the label frequency over the tree's subdomains."""
    # δ of Bekker and Davis 2018: the chance of an error falls with the sample.
    error = max(0.025, 1 / (1 + 0.004 * rest.size))
    best = float(problem.labelled[rest].mean())
    for domain in _subdomains(problem, tree, rest, guess, error):
        if domain.size >= MIN_ROWS:
            best = max(best, _bound(problem.labelled[domain].sum(), domain.size, error, guess))
    return best


def _bound(n_labelled: float, n_rows: int, error: float, guess: float) -> float:
    """Return the one-sided Chebyshev bound: labelled share - √(c(1-c)(1-δ)/(δ T))."""
    spread = guess * (1 - guess) * (1 - error) / (error * n_rows)
    return float(n_labelled / n_rows - np.sqrt(spread))


def _subdomains(
    problem: _Problem, tree: NDArray[np.intp], rest: NDArray[np.intp], guess: float, error: float
) -> Iterator[NDArray[np.intp]]:
    """Grow a tree, best labelled share first, and yield the other folds' rows in each node."""
    yield rest
    order = 0
    queue = [_Domain((0.0, 0.0), order, tree, rest, tuple(range(problem.parts.shape[1])))]
    for _ in range(MAX_SPLITS):
        if not queue:
            return
        node = heapq.heappop(queue)
        feature, features = _split(problem, node)
        if feature is None:
            continue
        tree_part = problem.parts[node.tree, feature]
        rest_part = problem.parts[node.rest, feature]
        for part in range(N_PARTS):
            inside, estimating = node.tree[tree_part == part], node.rest[rest_part == part]
            yield estimating
            if inside.size > MIN_ROWS:
                order += 1
                n_labelled = problem.labelled[inside].sum()
                first = -_bound(n_labelled, inside.size, error, guess), -n_labelled
                heapq.heappush(queue, _Domain(first, order, inside, estimating, features))


def _split(problem: _Problem, node: _Domain) -> tuple[int | None, tuple[int, ...]]:
    """Return the feature with the part richest in labels, and the features left for later."""
    best, chosen, useful = -1.0, None, []
    labelled = problem.labelled[node.tree]
    for feature in node.features:
        part = problem.parts[node.tree, feature]
        n_rows = np.bincount(part, minlength=N_PARTS)
        if n_rows.max() == node.tree.size:
            continue
        useful.append(feature)
        richest = (np.bincount(part, labelled, N_PARTS) / (n_rows + SMOOTHING)).max()
        if richest > best:
            best, chosen = float(richest), feature
    return chosen, tuple(feature for feature in useful if feature != chosen)


@estimator
class TIcE(FeatureEstimator):
    """Estimate the share of positives among the unlabeled by tree-induced label frequencies.

    In a subdomain of positives only, the labelled share is the label frequency; nowhere is it
    larger. A decision tree looks for subdomains rich in labels on one part of the rows, the
    other parts give a lower bound of the label frequency there, and the largest bound counts
    (Bekker, Davis 2018, "Estimating the class prior in positive and unlabeled data through
    decision tree induction").

    Parameters
    ----------
    n_folds : int
        Parts of the rows; rows are shuffled first.

    Attributes
    ----------
    interval_ : Interval or None
        Sampling noise only; the bound's upward bias is not in it. A resample costs as much as the
        estimate.
    diagnostics_ : dict
        ``label_frequency``, the bound found.

    Notes
    -----
    Assumes: labels given at random among the positives, and a box of features with positives only.
    Wrong when: samples are small. The label frequency is bounded from below, so the prevalence
    comes out too high, by √(39 c(1-c)/T)/c of itself at T rows in the best box (a quarter at
    1,000 rows).

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import TIcE
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(30000) < 12000
    >>> X = rng.normal(np.where(positive, 6, 0)[:, None], 1, (30000, 2))
    >>> y = np.where(np.arange(30000) < 6000, 1.0, np.nan)  # 6000 of 24000 are hidden positives
    >>> round(TIcE(n_resamples=0, random_state=0).fit(y, X).unlabeled_prevalence_, 1)
    0.3
    """

    n_folds: int = N_FOLDS
    n_resamples: int = 50

    def _estimate(
        self, labelled: FloatArray, unlabeled: FloatArray, rng: np.random.Generator
    ) -> Fitted:
        if self.n_folds < 2:  # noqa: PLR2004 - one part grows, another estimates
            raise InputError(f"n_folds must be at least 2; got {self.n_folds}")
        features = np.concatenate([labelled, unlabeled])
        is_labelled = (np.arange(len(features)) < len(labelled)).astype(float)
        folds = rng.permutation(len(features)) % self.n_folds
        frequency = label_frequency(features, is_labelled, folds)
        hidden = len(labelled) * (1 / frequency - 1) / len(unlabeled)
        return Fitted(
            float(np.clip(hidden, 0, 1)), diagnostics={"label_frequency": float(frequency)}
        )
