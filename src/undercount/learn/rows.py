"""The rows to learn from: checked, labelled, and handed out in blocks that fit in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from undercount.counts import BoolArray
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.learn.basis import GaussianBasis, LinearBasis
from undercount.learn.pairs import PairMoments

Block = tuple[slice, FloatArray]

CLASS_ROWS = 2  # rows of a kind, so that one can be held out
# A linear basis needs a dense square table of the features.
MOST_FEATURES = 10_000
PREDICTED_ROWS_PER_BLOCK = 8192
# Values of basis functions kept rather than computed again: 128 MB.
KEPT_VALUES = 2**24


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X checked by scikit-learn; remember its features if reset, else compare them."""
    X = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
    )
    if reset and estimator.basis == "linear" and X.shape[1] > MOST_FEATURES:
        raise InputError(
            f"basis='linear' takes at most {MOST_FEATURES} features; got {X.shape[1]}: use"
            " basis='gaussian' or reduce them first"
        )
    return X


def read_classes(y: Any, n_rows: int) -> tuple[NDArray[Any], BoolArray]:
    """Return (the two labels ascending, which rows hold the larger one, the positive label).

    Examples
    --------
    >>> from undercount.learn.rows import read_classes
    >>> classes, labelled = read_classes([1, -1, -1, 1], 4)
    >>> classes.tolist(), labelled.tolist()
    ([-1, 1], [True, False, False, True])
    """
    if y is None:
        raise InputError("fit requires y to be passed, but the target y is None")
    labels = column_or_1d(y, warn=True)
    if labels.size != n_rows:
        raise InputError(f"X and y must have the same length; got {n_rows} and {labels.size} rows")
    if _has_missing(labels):
        raise InputError("Input y contains NaN or None. Write 1 for positive and -1 for unlabeled")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). Write 1 for"
            " positive and -1 for unlabeled"
        )
    check_classification_targets(labels)
    classes, place = np.unique(labels, return_inverse=True)
    if classes.size != 2:  # noqa: PLR2004 - positive, and not
        raise InputError(
            "Only binary classification is supported: y must hold two labels, 1 for positive and"
            f" -1 for unlabeled; got {classes.size} class{'es' * (classes.size != 1)}:"
            f" {', '.join(map(str, classes[:5]))}{_hint(classes)}"
        )
    if classes.dtype.kind in "if" and classes[1] == 0:
        raise InputError(
            f"y must hold the positive label 1; got only {classes[0]} and {classes[1]}"
        )
    return classes, place == 1


def _hint(classes: NDArray[Any]) -> str:
    if set(classes.tolist()) == {-1, 0, 1}:
        return "; write -1 for known negatives as well: they are rows without a positive label"
    return ""


def _has_missing(labels: NDArray[Any]) -> bool:
    if labels.dtype.kind == "f":
        return bool(np.isnan(labels).any())
    return labels.dtype.kind == "O" and any(label is None or label != label for label in labels)  # noqa: PLR0124 - NaN


def check_sizes(labelled: BoolArray, weight: FloatArray) -> None:
    """Refuse weights below zero, and fewer than two rows of either kind."""
    if np.any(weight < 0):
        raise InputError(f"sample_weight must not be negative; got {weight.min():g}")
    n_labelled = int(labelled.sum())
    n_others = labelled.size - n_labelled
    if min(n_labelled, n_others) < CLASS_ROWS:
        raise InputError(
            f"there must be at least {CLASS_ROWS} rows of either class with a weight above zero; "
            f"got {n_labelled} positive and {n_others} unlabeled (n_samples = {labelled.size})"
        )


def draw_folds(labelled: BoolArray, n_folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Assign each row to a fold at random, labelled rows and others evenly.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn.rows import draw_folds
    >>> labelled = np.arange(8) < 2
    >>> fold = draw_folds(labelled, 2, np.random.default_rng(0))
    >>> sorted(fold[labelled].tolist()), sorted(fold[~labelled].tolist())
    ([0, 1], [0, 0, 0, 1, 1, 1])
    """
    fold = np.empty(labelled.size, np.intp)
    for kind in (labelled, ~labelled):
        fold[kind] = rng.permutation(np.arange(kind.sum()) % n_folds)
    return fold


def fit_scaler(X: Any, weight: FloatArray, *, standardise: bool) -> StandardScaler:
    """Learn mean and spread of the features, a block at a time."""
    # Sparse rows stay sparse; every loss here is of differences, so a shift changes nothing.
    scaler = StandardScaler(with_mean=not sparse.issparse(X), with_std=standardise)
    for part in slices(X.shape[0]):
        scaler.partial_fit(X[part], sample_weight=weight[part])
    return scaler


def slices(n_rows: int) -> Iterator[slice]:
    """Cut 0 … n_rows into blocks."""
    for start in range(0, n_rows, PREDICTED_ROWS_PER_BLOCK):
        yield slice(start, min(start + PREDICTED_ROWS_PER_BLOCK, n_rows))


def basis_blocks(X: Any, scaler: Any, basis: GaussianBasis | LinearBasis) -> Iterator[Block]:
    """Yield the values of the basis functions, block by block."""
    for part in slices(X.shape[0]):
        yield part, basis.values(scaler.transform(X[part]))


@dataclass(frozen=True)
class TrainingRows:
    """Features, labels, weights, and the fold in which each row is held out."""

    X: Any
    labelled: BoolArray
    weight: FloatArray
    fold: NDArray[np.intp]
    n_folds: int
    scaler: Any

    def blocks(self, basis: GaussianBasis | LinearBasis) -> Iterable[Block]:
        """Return the blocks: a list if they fit in memory, else made anew at each pass."""
        if self.labelled.size * basis.n_functions <= KEPT_VALUES:
            return list(basis_blocks(self.X, self.scaler, basis))
        return _BlocksAnew(self, basis)

    def moments(
        self, blocks: Iterable[Block], n_functions: int
    ) -> list[tuple[PairMoments, PairMoments]]:
        """Return (labelled, other) moments of each fold, in one pass."""
        group = 2 * self.fold + self.labelled
        folds = [PairMoments.none(n_functions) for _ in range(2 * self.n_folds)]
        for part, values in blocks:
            for place in range(2 * self.n_folds):
                chosen = np.flatnonzero(group[part] == place)
                if chosen.size:
                    folds[place] += PairMoments.of(values[chosen], self.weight[part][chosen])
        return [(folds[2 * fold + 1], folds[2 * fold]) for fold in range(self.n_folds)]

    def held_out_scores(
        self, blocks: Iterable[Block], solved: list[tuple[FloatArray, FloatArray]]
    ) -> FloatArray:
        """Score each row by the fold that held it out: a column for each of its solutions.

        A fold is solved by coefficients, one column a solution, and one intercept each.
        """
        scores = np.empty((self.labelled.size, solved[0][1].size))
        for part, values in blocks:
            for fold in range(self.n_folds):
                chosen = np.flatnonzero(self.fold[part] == fold)
                coefficients, intercepts = solved[fold]
                scores[part][chosen] = values[chosen] @ coefficients + intercepts
        return scores


@dataclass(frozen=True)
class _BlocksAnew:
    rows: TrainingRows
    basis: GaussianBasis | LinearBasis

    def __iter__(self) -> Iterator[Block]:
        return basis_blocks(self.rows.X, self.rows.scaler, self.basis)
