"""Frames of several libraries and types of columns, against rows in plain arrays."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import undercount as uc
from undercount.errors import InputError

LABEL_TYPES = ("float", "integer", "nullable", "boolean", "categories", "text")
LIBRARIES = ("pandas", "polars", "pyarrow")


def draw(dice: random.Random) -> dict[str, Any]:
    """Roll labels with missing values, scores, a library and types of columns."""
    n = dice.choice([0, 1, 3, 8, 25])
    rng = np.random.default_rng(dice.getrandbits(32))
    labels = [None if u < 0.4 else int(u < 0.7) for u in rng.random(n).tolist()]
    # Without -0.0, which pandas does not tell from 0.0 among categories.
    scores = (np.round(rng.normal(size=n), dice.choice([0, 3])) + 0.0).tolist()
    missing = dice.random() < 0.1
    return {
        "library": dice.choice(LIBRARIES),
        "labels": labels,
        "type": dice.choice(LABEL_TYPES),
        "scores": [None, *scores[1:]] if missing and n else scores,
        "score type": dice.choice(["float64", "float32", "categories"]),
        "unlabeled": dice.choice([None, 0]),
        "weights": rng.integers(0, 4, n).tolist() if dice.random() < 0.3 else None,
    }


def knock(case: dict[str, Any], _folder: Path) -> str:
    """Count a frame; the counts must be those of plain rows, or both be refused."""
    weight = {} if case["weights"] is None else {"weight": "w"}
    frame = make_frame(case)
    text = case["type"] == "text" and any(label is not None for label in case["labels"])
    scores = np.array([np.nan if s is None else s for s in case["scores"]], float)
    scores = scores.astype(np.float32) if case["score type"] == "float32" else scores
    labels = np.array([np.nan if label is None else label for label in case["labels"]], float)
    common = {"unlabeled": case["unlabeled"], "compact": False}
    ends: list[uc.ScoreCounts | None] = []
    for count in (
        lambda: uc.count_scores(frame, label="y", score="s", **weight, **common),
        lambda: uc.ScoreCounts.from_rows(labels, scores, sample_weight=case["weights"], **common),
    ):
        try:
            ends.append(count())
        except InputError:
            ends.append(None)
    found, expected = ends
    if text or found is None:
        assert found is None, found
        # Types that cannot hold what is missing, or are no numbers, may be refused besides.
        plain = case["type"] in ("float", "nullable") and case["score type"] != "categories"
        assert expected is None or not plain, case
        return "refused"
    assert expected is not None, found
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    return "counted"


def make_frame(case: dict[str, Any]) -> Any:
    """Make the frame of a case."""
    columns = {"y": _labels(case), "s": _scores(case)}
    if case["weights"] is not None:
        columns["w"] = pa.array(case["weights"], pa.float64())
    table = pa.table(columns)
    if case["library"] == "pyarrow":
        return table
    if case["library"] == "polars":
        return pl.from_arrow(table)
    if case["type"] == "nullable":
        return pd.DataFrame({name: table[name].to_pandas() for name in table.column_names}).assign(
            y=pd.array(case["labels"], dtype="Int8")
        )
    return table.to_pandas()


def _labels(case: dict[str, Any]) -> Any:
    labels = case["labels"]
    if case["type"] in ("integer", "nullable"):
        return pa.array(labels, pa.int8())
    if case["type"] == "boolean":
        return pa.array([None if each is None else bool(each) for each in labels], pa.bool_())
    if case["type"] == "categories":
        return pa.array(labels, pa.int64()).dictionary_encode()
    if case["type"] == "text":
        return pa.array([None if each is None else f"{each}" for each in labels], pa.string())
    return pa.array(labels, pa.float64())


def _scores(case: dict[str, Any]) -> Any:
    if case["score type"] == "categories":
        return pa.array(case["scores"], pa.float64()).dictionary_encode()
    return pa.array(case["scores"], getattr(pa, case["score type"])())
