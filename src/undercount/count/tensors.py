"""Count tensors where they live: PyTorch, CuPy, JAX, whatever speaks the array API or DLPack.

Memory that the host reads is counted there, without a copy. On a device the rows are sorted and
searched by their own library, and only the table travels to the host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from undercount.count.arrays import check_unlabeled, read_labels, read_scores
from undercount.count.kernel.array_library import (
    ARRAY_FLOATS,
    ArrayLibrary,
    JaxLibrary,
    adopt,
    find_library,
    is_tensor,
    library_name,
    on_host,
    take_over,
    tensor_to_host,
)
from undercount.count.kernel.device import (
    DeviceTable,
    LabelledScores,
    count_compactly,
    count_every_score,
)
from undercount.count.kernel.packed import ROWS_BEYOND_32_BITS
from undercount.count.kernel.rows import round_up_knots
from undercount.count.kernel.table import FloatArray, Table, insert_knots
from undercount.errors import InputError

Squares = tuple[float, float, float]


@dataclass(frozen=True)
class DeviceRows:
    """Labels and scores of rows on one device, and the library that they belong to."""

    y: Any
    score: Any
    library: ArrayLibrary

    def copy(self) -> "DeviceRows":
        """Copy the rows where they are."""
        return replace(self, y=self.library.copy(self.y), score=self.library.copy(self.score))

    def count(
        self, unlabeled: float | None, *, compact: bool, knots: Sequence[float]
    ) -> tuple[Table, Squares]:
        """Count the rows on their device; return the table, and the rows of the three classes."""
        library, n_rows = self.library, self.score.shape[0]
        found, totals = self.table_on_device(unlabeled, compact=compact, knots=knots)

        def travel(column: Any) -> FloatArray:
            """Move numbers of rows, narrow where they fit."""
            column = library.cast(column, "int32") if n_rows < ROWS_BEYOND_32_BITS else column
            return library.to_host(column).astype(np.float64)

        score = library.to_host(found.score).astype(np.float64)
        score += 0.0  # -0.0 is 0.0
        positive, unknown = travel(found.positive), travel(found.unlabeled)
        negative = np.zeros(score.size) if found.negative is None else travel(found.negative)
        table = Table(score, positive, negative, unknown, library.to_host(found.merged))
        return insert_knots(table, knots), (*totals, n_rows - sum(totals))

    def table_on_device(
        self, unlabeled: float | None, *, compact: bool, knots: Sequence[float]
    ) -> tuple[DeviceTable, tuple[float, float]]:
        """Count the rows; return the table where it is, and the rows of the labelled classes."""
        library = self.library
        positive, negative, totals = self._read_labels(unlabeled)
        if np.isnan(library.largest(self.score)):
            read_scores(library.to_host(self.score))  # raises, and says where
        labelled = LabelledScores(
            self._sorted(positive), None if negative is None else self._sorted(negative)
        )
        if not compact:
            return count_every_score(library, self.score, labelled), totals
        kind = np.dtype(library.dtype_name(labelled.positive))
        rounded = round_up_knots(np.asarray(knots, np.float64), kind)
        return count_compactly(library, self.score, labelled, rounded.tolist()), totals

    def _sorted(self, mask: Any) -> Any:
        """Sort the scores of some rows."""
        library = self.library
        chosen = library.take(self.score, library.places(mask))
        return library.sort(library.widen(chosen))

    def _read_labels(self, unlabeled: float | None) -> tuple[Any, Any | None, tuple[float, float]]:
        """Return which rows are labelled positive and negative, and how many of each."""
        check_unlabeled(unlabeled)
        library, y = self.library, self.y
        if library.dtype_name(y) == "bool":
            y = library.cast(y, "int8")
        positive, zero = y == 1, y == 0
        numbers = [library.count(positive), library.count(zero)]
        n_known = sum(numbers)
        if unlabeled not in (None, 0) and (value := _as_element(library, y, unlabeled)) is not None:
            n_known += library.count(y == value)
        if n_known < y.shape[0] and library.dtype_name(y) in ARRAY_FLOATS:
            n_known += library.count(library.is_nan(y))
        if n_known < y.shape[0]:
            read_labels(library.to_host(self.y), unlabeled)  # raises, and says what it found
        if unlabeled == 0 or numbers[1] == 0:
            return positive, None, (float(numbers[0]), 0.0)
        return positive, zero, (float(numbers[0]), float(numbers[1]))


def device_rows(y: Any, score: Any, sample_weight: Any) -> DeviceRows | None:
    """Take rows that are counted on their device; None if they are to be counted on the host.

    Weights and whole numbers are counted on the host: sums of weights would depend on the order
    of adding, and whole numbers may not fit into the floats of a device.
    """
    given = {"y": y, "score": score, "sample_weight": sample_weight}
    present = {name: values for name, values in given.items() if values is not None}
    on_device = {name: values for name, values in present.items() if _on_device(values)}
    if not on_device:
        return None
    _check_one_device(present, on_device)
    if sample_weight is not None:
        return None
    pairs = [_with_library(values) for values in (y, score)]
    library = find_library(pairs[1])
    assert library is not None  # noqa: S101 - just found
    rows = DeviceRows(library.detach(pairs[0]), library.detach(pairs[1]), library)
    if library.dtype_name(rows.score) not in ARRAY_FLOATS:
        return None
    return _check_shapes(rows)


def rows_to_host(
    y: Any, scores: Mapping[str, Any], sample_weight: Any
) -> tuple[Any, Mapping[str, Any]]:
    """Move labels and the scores of several models to the host, each but once.

    Two models are compared row by row, so that no table says it.
    """
    if not any(is_tensor(values) for values in (y, *scores.values())):
        return y, scores
    for score in scores.values():
        device_rows(y, score, sample_weight)  # raises if they do not lie together
    labels = tensor_to_host(y) if is_tensor(y) else y
    return labels, {
        name: tensor_to_host(score) if is_tensor(score) else score for name, score in scores.items()
    }


def _as_element(library: ArrayLibrary, y: Any, value: Any) -> float | None:
    """Return a number as an element of an array; None if it cannot be one."""
    kind = library.dtype_name(y)
    if kind in ARRAY_FLOATS:
        return float(value)
    fits = float(value).is_integer() and (value >= 0 or not kind.startswith("uint"))
    return int(value) if fits else None


def _with_library(values: Any) -> Any:
    """Return an array of a library that counts well where the memory is."""
    library = find_library(values)
    if isinstance(library, JaxLibrary):
        try:
            taken = take_over(values)
        except (RuntimeError, ValueError, BufferError):  # spread over several devices
            taken = None
        return values if taken is None else taken
    return adopt(values) if library is None else values


def _on_device(values: Any) -> bool:
    return is_tensor(values) and not on_host(values)


def _check_one_device(held: dict[str, Any], away: dict[str, Any]) -> None:
    """Raise unless all arrays are on one device and of one library."""
    homes = {name: _home(values) for name, values in held.items()}
    if len(set(homes.values())) == 1:
        return
    words = ", ".join(f"{name} on {home}" for name, home in homes.items())
    raise InputError(
        f"labels, scores and weights must be on one device and of one library; got {words}. Move "
        f"them together, for example y = torch.as_tensor(y, device=score.device), or "
        f"{' and '.join(away)} to the host"
    )


def _home(values: Any) -> str:
    """Name the library and the device of an array."""
    if not is_tensor(values):
        return "the host"
    return f"{getattr(values, 'device', 'a device')} ({library_name(values)})"


def _check_shapes(rows: DeviceRows) -> DeviceRows:
    for name, values in (("y", rows.y), ("score", rows.score)):
        if len(values.shape) != 1:
            shape = tuple(values.shape)
            hint = ""
            if name == "score" and shape[1:] == (2,):
                hint = ". For predict_proba pass the column of the positive class, score[:, 1]"
            raise InputError(f"{name} must be 1-D; got shape {shape}{hint}")
    if rows.y.shape[0] != rows.score.shape[0]:
        raise InputError(
            f"y and score must have the same length; got {rows.y.shape[0]} and "
            f"{rows.score.shape[0]} rows"
        )
    if rows.score.shape[0] == 0:
        raise InputError("y and score must hold at least one row; got none")
    return rows
