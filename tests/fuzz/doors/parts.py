"""Several Parquet files, whose columns have types, orders and names of their own, against rows."""

import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import undercount as uc
from undercount.errors import InputError

# What a column may hold, by the type of its file.
SCORES = {
    "int8": (0, 1, -3, 100),
    "int32": (0, 1, 2**24 + 1, 2**24),
    "int64": (0, 1, 2**53, 2**40 + 1, 2**53 + 1),
    "uint64": (0, 1, 2**63),
    "float32": (0.5, 1.0, 0.1, float("inf"), -0.0),
    "double": (0.5, 1.0, 0.1, 0.1 + 1e-12, 1e-300, -0.0),
    "bool": (True, False),
    "string": ("0.4", "1", "1e3", "x"),
    "decimal": (Decimal(1), Decimal(2**53), Decimal(2**53 + 1)),
}
TYPES = {"decimal": pa.decimal128(38, 0)}
LABELS = {
    "int8": (0, 1, None),
    "int64": (0, 1),
    "double": (0.0, 1.0, 0.5),
    "bool": (True, False),
    "string": ("0", "1", None),
    "null": (None,),
}
ODD_NAMES = ("S", "s_1", "s", "Y", "t")
Part = dict[str, Any]


def draw(dice: random.Random) -> list[Part]:
    """Roll up to four files of a few rows."""
    return [_draw_part(dice) for _ in range(dice.randint(1, 4))]


def _draw_part(dice: random.Random) -> Part:
    rows = dice.choice([1, 2, 5])
    types = {"y": dice.choice([*LABELS, "int64", "int64"]), "s": dice.choice(list(SCORES))}
    values = {"y": LABELS[types["y"]], "s": SCORES[types["s"]]}
    odd = -1 if dice.random() < 0.2 else None  # the last value of some types is no good one
    columns = [
        (name, types[name], [dice.choice(values[name][:odd] or values[name]) for _ in range(rows)])
        for name in dice.sample(["y", "s"], 2)
    ]
    if dice.random() < 0.1:
        columns.append((dice.choice(ODD_NAMES), "double", [9.0] * rows))
    return {"columns": columns}


def knock(parts: list[Part], folder: Path) -> str:
    """Count the files; what is not refused must be what each file holds, value by value."""
    paths, expected = [], Counter[tuple[float, float]]()
    for place, part in enumerate(parts):
        paths.append(folder / f"part{place}.parquet")
        arrays = [
            pa.array(held, TYPES.get(kind) or pa.type_for_alias(kind))
            for _, kind, held in part["columns"]
        ]
        names = [name for name, *_ in part["columns"]]
        pq.write_table(pa.table(arrays, names=names), paths[-1])
        held = {name: array.to_pylist() for name, array in zip(names, arrays, strict=True)}
        expected.update(zip(held["y"], held["s"], strict=True))
    try:
        found = uc.read_counts(paths, label="y", score="s", unlabeled=0, compact=False)
    except InputError:
        return "refused"
    wanted = Counter[tuple[bool, float]]()
    for (label, score), number in expected.items():
        assert isinstance(score, str) or float(score) == score, score  # no neighbour of it
        wanted[label is not None and float(label) == 1, float(score)] += number
    got = Counter[tuple[bool, float]]()
    for score, positive, negative, unlabeled in zip(
        found.score, found.positive, found.negative, found.unlabeled, strict=True
    ):
        got[True, float(score)] += int(positive)
        got[False, float(score)] += int(negative + unlabeled)
    assert +got == +wanted, (+got, +wanted)
    return "counted"
