"""Refuse parameters and features that cannot be learnt from."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from undercount.errors import InputError

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn 1.5

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        """Call the method that became a function in scikit-learn 1.6."""
        return estimator._validate_data(X, **options)  # noqa: SLF001


SAMPLINGS = ("single-sample", "case-control")
BASES = ("gaussian", "linear")
# A linear basis needs a dense square table of the features.
MOST_FEATURES = 10_000


def validated(estimator: Any, X: Any, *, reset: bool) -> Any:
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


def check_parameters(estimator: Any) -> None:
    """Raise an InputError for the first parameter that breaks its rule."""
    _one_of("basis", estimator.basis, BASES)
    _one_of("sampling", estimator.sampling, SAMPLINGS)
    _whole("n_centres", estimator.n_centres, 1)
    _whole("n_folds", estimator.n_folds, 2)
    for name in ("width", "penalty"):
        value = getattr(estimator, name)
        if value is None:
            continue
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name} must be a number above zero, or None; got {value!r}")


def share(name: str, value: Any) -> float:
    """Return a share of positives as a float in [0, 1); an Estimate gives its value."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not 0 <= found < 1:
        raise InputError(f"{name} must be a share of at least 0 and below 1; got {value!r}")
    return found


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} must be one of {allowed}; got {value!r}")


def _whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}")
