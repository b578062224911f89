"""Arrays of another library, against NumPy's."""

import random
from pathlib import Path

import array_api_strict as xp
import numpy as np

import undercount as uc
from undercount.errors import InputError

TYPES = ("float16", "float32", "float32", "float64", "float64", "int8", "bool", "complex64")


def draw(dice: random.Random) -> tuple[list[int], list[float], str]:
    """Roll labels and scores for an array library."""
    n = dice.choice([0, 1, 2, 5, 12, 30])
    rng = np.random.default_rng(dice.getrandbits(32))
    labels = rng.integers(-1 if dice.random() < 0.2 else 0, 2, n).tolist()
    scores = np.round(2 * rng.normal(size=n), dice.choice([0, 2]))
    if n and dice.random() < 0.2:
        scores[dice.randrange(n)] = dice.choice([np.nan, np.inf, -np.inf, -0.0, 1e5])
    return labels, scores.tolist(), dice.choice(TYPES)


def knock(case: tuple[list[int], list[float], str], _folder: Path) -> str:
    """Count arrays of another library; the counts must be those of NumPy, or both be refused."""
    labels, scores, kind = case
    with np.errstate(all="ignore"):
        whole = kind in ("int8", "bool")
        score = np.nan_to_num(np.array(scores), posinf=9) if whole else np.array(scores)
        score = score.astype(kind)
    y = np.array(labels, dtype=np.int8)
    strict = (y, score) if kind == "float16" else (xp.asarray(y), xp.asarray(score))
    ends = []
    for given in ((y, score), strict):
        try:
            ends.append(uc.ScoreCounts.from_rows(*given, unlabeled=0, compact=True))
        except InputError:
            ends.append(None)
    expected, found = ends
    assert (found is None) == (expected is None), ends
    if found is None or expected is None:
        return "refused"
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    return "counted"
