"""Values that nobody should pass and somebody does."""

import decimal
import fractions
import math
import random
import traceback
from typing import Any

import numpy as np
import pandas as pd

from undercount.errors import InputError

ODD: tuple[Any, ...] = (
    None,
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    1,
    2,
    0.5,
    -0.0,
    1e-320,
    1e160,
    1e300,
    10**400,
    2**53 + 1,
    True,
    1j,
    "",
    "0",
    "0.5",
    "x",
    b"0",
    [],
    [0],
    [0.2, 0.4],
    (0.4, 0.2),
    (math.nan, 1),
    {},
    {0.5},
    decimal.Decimal("0.5"),
    decimal.Decimal("sNaN"),
    fractions.Fraction(1, 3),
    np.float32(0.5),
    np.float16(0.1),
    np.int8(-3),
    np.array(0.5),
    np.array([]),
    np.ma.masked,
    np.datetime64("2024-01-01"),
    pd.NA,
    pd.NaT,
    object,
    lambda value: value,
)
CHANCE = 0.15


def replace_some(dice: random.Random, arguments: dict[str, Any], but: str = "") -> None:
    """Put an odd value in the place of an argument now and then, at times of two.

    Not of a switch, of which only the truth is asked.
    """
    while arguments and dice.random() < CHANCE:
        name = dice.choice(sorted(arguments))
        arguments[name] = arguments[name] if name == but else dice.choice(ODD)


def refusal(error: InputError) -> str:
    """Say that a case was refused; ends in the wrong order are our own fault, not the user's."""
    frames = traceback.extract_tb(error.__traceback__)
    if frames[-1].name == "__post_init__" and frames[-1].filename.endswith("estimate.py"):
        raise AssertionError(str(error)) from error
    return "refused"
