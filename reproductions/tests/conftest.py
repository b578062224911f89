"""Stand-ins for the papers' data, whose answers are known, and the real files where they are."""

import csv
import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = pathlib.Path(os.environ.get("UNDERCOUNT_DATA", ROOT.parent / "shared" / "data"))
SIZES = {
    "pima": (240, 3),
    "airfoil": (240, 3),
    "wine_white_cook": (4898, 3),
    "covtype_scores_claesen": (4000, 1),
    "heart_cleveland": (120, 3),
}


@pytest.fixture(scope="session")
def small_data(tmp_path_factory):
    """Half of the rows are positive; each feature is N(1, 1) for them and N(0, 1) for the others.

    The best score of k features, their sum, has the AUC Φ(√(k/2)): .7602 of one, .8897 of three.
    """
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for name, (n_rows, n_features) in SIZES.items():
        y = (rng.random(n_rows) < 0.5).astype(int)
        features = rng.normal(y[:, None], 1, (n_rows, n_features)).round(4)
        with (folder / f"{name}.csv").open("w") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"x{i}" for i in range(n_features)), "y"])
            writer.writerows(np.column_stack([features, y]).tolist())
    return folder


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """Folder of finished draws, so that a table and its figure make them once."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def real_data():
    """Return a function that names the folder of the papers' data, or skips without a file."""

    def folder(*names):
        for name in names:
            if not (FOLDER / f"{name}.parquet").exists():
                pytest.skip(f"needs {name}.parquet in UNDERCOUNT_DATA")
        return FOLDER

    return folder


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("UNDERCOUNT_DATA", raising=False)


@pytest.fixture(scope="session")
def cells():
    """Return a function that reads one column of a result, for the rows that begin as given."""

    def read(result, name, *beginning):
        place = result.columns.index(name)
        assert all(len(row) == len(result.columns) for row in result.rows)
        return [row[place] for row in result.rows if row[: len(beginning)] == beginning]

    return read
