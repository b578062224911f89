"""Data sets of the papers: from a folder of files, or from OpenML when there is a network."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.errors import InputError

Floats = NDArray[np.float64]
VARIABLE = "UNDERCOUNT_DATA"


@dataclass(frozen=True, eq=False)
class Data:
    """Hold one data set: features and the class, 1 or 0."""

    features: Floats
    y: Floats


def _is(value: str) -> Callable[[Any], Any]:
    return lambda target: target == value


# Name of the file → number on OpenML and what is positive there. Only sets whose columns are all
# numbers and whose classes are those of the paper.
OPENML: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "pageblock_aul": (30, _is("1")),
    "pageblock_jain": (30, lambda target: target != "1"),
    "pendigit": (32, lambda target: np.isin(target, ["0", "1", "2"])),
    "pima": (37, _is("tested_positive")),
    "shuttle": (40685, _is("4")),
    "spambase": (44, _is("1")),
    # Its classes 1 to 7 are the qualities 3 to 9; a good wine has 6 or more.
    "wine_white_cook": (40498, lambda target: target.astype(int) >= 4),  # noqa: PLR2004
}


def load(name: str, data_dir: Path | None = None) -> Data:
    """Load a data set by the name of its file.

    Looks for ``name.parquet`` or ``name.csv`` in `data_dir`, then in the folder that
    ``UNDERCOUNT_DATA`` names, then on OpenML. The file has numeric columns and ``y`` (1 or 0).
    Iris comes with scikit-learn.

    Examples
    --------
    >>> from undercount_reproductions.data import load
    >>> iris = load("iris")
    >>> iris.features.shape, int(iris.y.sum())
    ((150, 4), 50)
    """
    if name == "iris":
        return _iris()
    folders = [Path(folder) for folder in (data_dir, os.environ.get(VARIABLE)) if folder]
    for folder in folders:
        for ending in ("parquet", "csv"):
            path = folder / f"{name}.{ending}"
            if path.exists():
                return _read(path)
    return _fetch(name, folders)


def have(name: str, data_dir: Path | None = None) -> bool:
    """Say whether a data set is in a folder or comes with scikit-learn."""
    folders = [Path(folder) for folder in (data_dir, os.environ.get(VARIABLE)) if folder]
    endings = ("parquet", "csv")
    return name == "iris" or any((f / f"{name}.{e}").exists() for f in folders for e in endings)


def _iris() -> Data:
    from sklearn.datasets import load_iris  # noqa: PLC0415 - slow to import

    features, target = load_iris(return_X_y=True)
    return Data(features, (target == 2).astype(float))  # noqa: PLR2004 - virginica


def _read(path: Path) -> Data:
    import duckdb  # noqa: PLC0415 - slow to import

    columns = duckdb.read_parquet if path.suffix == ".parquet" else duckdb.read_csv
    found = columns(str(path)).fetchnumpy()
    if "y" not in found:
        raise InputError(f"{path.name} must have a column y of 1 and 0; got {sorted(found)[:8]}")
    arrays: dict[str, Floats] = {
        key: np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
        for key, values in found.items()
    }
    y = arrays.pop("y")
    if not np.isin(y, [0, 1]).all():
        raise InputError(f"column y of {path.name} must hold 1 and 0; got {np.unique(y)[:5]}")
    return Data(np.column_stack(list(arrays.values())), y)


def _fetch(name: str, folders: list[Path]) -> Data:
    looked = f"looked in {', '.join(map(str, folders))}" if folders else "no folder was given"
    missing = (
        f"the file {name}.parquet (or .csv) is missing: {looked}; name its folder by --data-dir "
        f"or {VARIABLE}"
    )
    if name not in OPENML:
        raise InputError(missing)
    from sklearn.datasets import fetch_openml  # noqa: PLC0415 - slow to import

    number, positive = OPENML[name]
    # Nothing is kept: no files but those that the user names.
    options = {"as_frame": False, "cache": False, "n_retries": 1, "delay": 0.1}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it tries again
            found = fetch_openml(data_id=number, **options)
    except OSError as error:
        raise InputError(f"{missing}. OpenML's copy (number {number}) failed: {error}") from None
    features = np.asarray(found.data, dtype=float)
    return Data(features, np.asarray(positive(found.target), dtype=float))
