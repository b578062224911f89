"""Draws behind the figures and tables of Tabatabaei et al. (2020): data, classifiers, labels."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount_reproductions.data import have
from undercount_reproductions.drawing import Panel
from undercount_reproductions.result import Result
from undercount_reproductions.running import Request, Setting

PAPER = "tabatabaei2020"
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
ROWS, LINES, PLANES, FORESTS = 200, 100, 200, 100
PRIVATE = "The health data are private and not available."


class Predictions(NamedTuple):
    """Hold true classes and one row of predictions a classifier."""

    truth: Flags
    predicted: Flags


class Estimates(NamedTuple):
    """Hold true F1, estimated F1 and LL of each classifier."""

    true_f1: Floats
    f1: Floats
    lee_liu: Floats


def estimates(sample: Predictions, labelled: Flags, label_frequency: float) -> Estimates:
    """Compute true and estimated scores of many classifiers at once (section 4.1)."""
    rho, n_labelled = label_frequency, labelled.sum()
    flagged = sample.predicted.sum(axis=1)  # M1
    hits = (sample.predicted & labelled).sum(axis=1)  # S1
    right = (sample.predicted & sample.truth).sum(axis=1)  # P1
    with np.errstate(divide="ignore", invalid="ignore"):
        lee_liu = (hits / n_labelled) ** 2 * len(labelled) / flagged
    f1 = 2 * hits / (rho * flagged + n_labelled)
    return Estimates(2 * right / (flagged + sample.truth.sum()), f1, np.nan_to_num(lee_liu))


def generated(rng: np.random.Generator) -> tuple[Floats, Flags]:
    """Draw 200 points of the unit square; positive above the line x + .2 = y."""
    points = rng.random((ROWS, 2))
    return points, points[:, 0] + 0.2 < points[:, 1]


def random_lines(points: Floats, rng: np.random.Generator) -> Flags:
    """Predict by 100 lines, each through a uniform point at a uniform angle."""
    angle = rng.random(LINES) * np.pi
    normal = np.column_stack([np.sin(angle), -np.cos(angle)])
    offset = (normal * rng.random((LINES, 2))).sum(axis=1)
    above: Flags = normal @ points.T > offset[:, None]
    return above


def random_planes(features: Floats, rng: np.random.Generator) -> Flags:
    """Predict by 200 hyperplanes with weights U(-3, 3) on min-max features, both classes there."""
    low, high = features.min(axis=0), features.max(axis=0)
    design = np.column_stack([(features - low) / (high - low), np.ones(len(features))])
    kept: list[Flags] = []
    while len(kept) < PLANES:
        predicted = design @ rng.uniform(-3, 3, design.shape[1]) > 0
        if 0 < predicted.sum() < len(predicted):
            kept.append(predicted)
    return np.array(kept)


def draw_sample(
    setting: Setting, rng: np.random.Generator, given: Any
) -> tuple[Predictions, Flags]:
    """Draw classifiers, and which positives carry a label, each with the label frequency."""
    if setting["data"] == "generated":
        points, truth = generated(rng)
        predicted = random_lines(points, rng)
    elif setting["data"] == "iris":
        truth = given[1]
        predicted = random_planes(given[0], rng)
    else:
        predicted, truth = given
    labelled = truth & (rng.random(len(truth)) < setting["label_frequency"])
    if not labelled.any():  # no estimate exists without a label
        labelled[rng.choice(np.flatnonzero(truth))] = True
    if setting["data"] == "generated":
        recall = (predicted & labelled).sum(axis=1) / labelled.sum()
        predicted = np.where((recall < 0.5)[:, None], ~predicted, predicted)  # noqa: PLR2004 - half
    return Predictions(truth, predicted), labelled


def load_given(request: Request, data: str) -> Any:
    """Return what a draw needs: features and classes, predictions, nothing, or None: no data."""
    if data == "generated":
        return ()
    if data == "iris":
        iris = request.data("iris")
        return iris.features, iris.y == 1
    if data == "heart" and have("heart_cleveland", request.data_dir):
        return _forests(request)
    return None


def _forests(request: Request) -> tuple[Flags, Flags]:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - slow to import

    heart = request.data("heart_cleveland")
    whole = ~np.isnan(heart.features).any(axis=1)
    features, truth = heart.features[whole], heart.y[whole] == 1
    rng = request.generator({"data": "heart"})
    test = rng.permutation(len(truth)) < len(truth) // 2
    predicted = []
    for _ in range(FORESTS):
        forest = RandomForestClassifier(
            n_estimators=int(rng.integers(1, 100)),
            max_depth=int(rng.integers(1, 10)),
            random_state=int(rng.integers(2**31)),
        )
        predicted.append(forest.fit(features[~test], truth[~test]).predict(features[test]))
    return np.array(predicted, dtype=bool), truth[test]


def result(
    request: Request,
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[Any],
    notes: tuple[str, ...],
    panels: tuple[Panel, ...] = (),
    runs: int | None = None,
) -> Result:
    """Return a result of this paper."""
    number = request.runs if runs is None else runs
    item, seed = request.item, request.seed
    return Result(PAPER, item, title, columns, tuple(rows), notes, number, seed, panels)
