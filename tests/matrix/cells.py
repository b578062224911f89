"""What every cell gives: the numbers of a feature under an assumption, or why it is refused."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
from tests.matrix.assumptions import assumptions
from tests.matrix.features import FEATURES
from tests.matrix.refusals import refusal_code

import undercount as uc

GOLDEN = Path(__file__).with_name("golden.json")
DIGITS, TOLERANCE = 12, 1e-9


def answer(assumption, feature):
    """Return the numbers of a cell by name, or {"refused": code}; a crash is a code as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _flatten(FEATURES[feature](assumptions()[assumption]))
        except Exception as error:  # noqa: BLE001 - a crash is what a cell gives
            return {"refused": refusal_code(error) or f"crash: {type(error).__name__}"}


def answer_all():
    return {f"{a} | {f}": answer(a, f) for a in assumptions() for f in FEATURES}


def moved_answers(before, after):
    """Return what differs between two answers of a cell: name → was, is."""
    names = [name for name in before | after if not _agree(before.get(name), after.get(name))]
    return {name: (before.get(name), after.get(name)) for name in names}


def _agree(one, other):
    if not (isinstance(one, list) and isinstance(other, list)):
        return one == other
    if len(one) != len(other):
        return False
    return np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def _flatten(value, name=""):
    """Return lists of numbers, or codes, by names of any depth."""
    if isinstance(value, dict):
        found = {}
        for key, part in value.items():
            found |= _flatten(part, f"{name} / {key}" if name else str(key))
        return found
    if isinstance(value, str):
        return {name: value}
    if isinstance(value, uc.Estimate):
        value = [value.value, value.low, value.high]
    elif isinstance(value, uc.Interval):
        value = [value.low, value.high]
    numbers = [math.nan if part is None else float(part) for part in np.atleast_1d(value)]
    return {name: [float(f"{number:.{DIGITS}g}") for number in numbers]}


def read_golden():
    return json.loads(GOLDEN.read_text())


def write_golden(answers):
    """Write one line for each cell, sorted, so that a diff shows which of them moved."""
    lines = [f"{json.dumps(cell)}: {json.dumps(answers[cell])}" for cell in sorted(answers)]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
