"""Which rows carry a positive label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.curve import FloatArray

Mask = NDArray[np.bool_]
LEAST = 2  # rows of a kind, so that one can be held out


def read_classes(y: Any, n_rows: int) -> tuple[NDArray[Any], Mask]:
    """Return (the two labels ascending, which rows hold the larger one, the positive label).

    Examples
    --------
    >>> from undercount.learn.labels import read_classes
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
    return labels.dtype.kind == "O" and any(each is None or each != each for each in labels)  # noqa: PLR0124 - NaN


def check_sizes(labelled: Mask, weight: FloatArray) -> None:
    """Refuse weights below zero, and fewer than two rows of either kind."""
    if np.any(weight < 0):
        raise InputError(f"sample_weight must not be negative; got {weight.min():g}")
    n_labelled = int(labelled.sum())
    n_others = labelled.size - n_labelled
    if min(n_labelled, n_others) < LEAST:
        raise InputError(
            f"there must be at least {LEAST} rows of either class with a weight above zero; got"
            f" {n_labelled} positive and {n_others} unlabeled (n_samples = {labelled.size})"
        )
