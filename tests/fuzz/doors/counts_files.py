"""Counts files, made by any engine, and what they say of themselves."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.doors.odd import refusal
from tests.fuzz.doors.rows import check_estimate

import undercount as uc
from undercount.errors import InputError

NAMES = ("score", "positive", "negative", "unlabeled")
KEYS = ("version", "squared_weight", "auc_error", "sampling", "source", "parts", "grid", "kind")
KEYS = (*KEYS, "score")
VALUES: tuple[Any, ...] = (
    None,
    0,
    1,
    2,
    -1,
    True,
    0.5,
    math.nan,
    math.inf,
    10**400,
    "",
    "a",
    "single-sample",
    [],
    [1, 2, 3],
    [1, -2, 3],
    [1, math.nan, 1],
    ["a"],
    [["a"]],
    {},
    {"a": 1},
)
ODD = (math.nan, math.inf, -1.0, 1e200, -0.0, 0.5)


def draw(dice: random.Random) -> tuple[dict[str, list[Any]], Any]:
    """Roll the columns of a counts file and what it says of itself."""
    rng = np.random.default_rng(dice.getrandbits(32))
    n = dice.choice([0, 2, 5, 20, 40])
    columns: dict[str, Any] = {"score": np.sort(rng.normal(size=n))[::-1].tolist()}
    columns |= {name: rng.integers(0, 9, n).astype(float).tolist() for name in NAMES[1:]}
    if dice.random() < 0.1:
        columns["merged"] = (rng.random(n) < 0.5).tolist()
        if dice.random() < 0.2:  # as text, of which any would be true
            columns["merged"] = [str(each).lower() for each in columns["merged"]]
    if n and dice.random() < 0.2:
        columns[dice.choice(NAMES)][dice.randrange(n)] = dice.choice([*ODD, None])
    if dice.random() < 0.05:
        del columns[dice.choice(NAMES)]
    meta: Any = {"version": 1, "kind": "exact", "cells": n, "auc_error": 0.0, "grid": None}
    meta |= {"squared_weight": None, "source": [], "parts": [], "sampling": None, "clusters": None}
    while dice.random() < 0.25:
        meta[dice.choice(KEYS)] = dice.choice(VALUES)
    if dice.random() < 0.1:
        meta.pop(dice.choice(sorted(meta)))
    return columns, dice.choice([meta] * 20 + [None, [], "x"])


def knock(case: tuple[dict[str, list[Any]], Any], folder: Path) -> str:
    """Load a counts file and evaluate it."""
    columns, meta = case
    path = folder / "fuzzed.parquet"
    types = {name: pa.float64() for name in columns}
    words = "false" in columns.get("merged", ()) or "true" in columns.get("merged", ())
    types["merged"] = pa.string() if words else pa.bool_()
    table = pa.table({name: pa.array(columns[name], types[name]) for name in columns})
    if meta is not None:
        table = table.replace_schema_metadata({"undercount": json.dumps(meta)})
    pq.write_table(table, path)
    try:
        counts = uc.load_counts(path)
        found = uc.evaluate(counts, unlabeled_prevalence=0.1)
    except InputError as error:
        return refusal(error)
    assert not words, columns["merged"]
    for row in found.rows:
        check_estimate(row.metric, row.estimate)
    return "evaluated"
