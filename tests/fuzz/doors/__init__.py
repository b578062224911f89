"""What is thrown at each door, and what must hold of whatever comes out.

A door is one way in: rows, metrics, frames, functions, questions, files, parts (of Parquet),
options, counts files, requirements, review files, tensors. Each has a file with two functions:
`draw` rolls a case with dice, `knock` takes it to the door and says how it ended. Bad input may be
refused by `InputError` (Python) or exit code 2 (command line), and nothing else may be raised. The
dice are those of
`random`, which cost little, so that `make fuzz` can roll a million cases; in every test run they
are rolled by hypothesis, which makes what fails small.
"""

import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.doors import (
    counts_files,
    files,
    frames,
    functions,
    metrics,
    options,
    parts,
    questions,
    requirements,
    reviews,
    rows,
    tensors,
)

PATIENCE = 10.0  # seconds of one case


class Door(NamedTuple):
    """How a case is rolled, how it is taken to its door, and its part of a million cases."""

    draw: Callable[[random.Random], Any]
    knock: Callable[[Any, Path], str]
    part: int


# Parts of a thousand, such that every door gets a like time: a review file costs as much as 2,700
# requirements, of which more than this would only be a larger number.
DOORS = {
    "requirements": Door(requirements.draw, requirements.knock, 400),
    "tensors": Door(tensors.draw, tensors.knock, 230),
    "metrics": Door(metrics.draw, metrics.knock, 200),
    "functions": Door(functions.draw, functions.knock, 45),
    "questions": Door(questions.draw, questions.knock, 5),
    "frames": Door(frames.draw, frames.knock, 100),
    "rows": Door(rows.draw, rows.knock, 10),
    "counts files": Door(counts_files.draw, counts_files.knock, 4),
    "files": Door(files.draw, files.knock, 2),
    "parts": Door(parts.draw, parts.knock, 2),
    "options": Door(options.draw, options.knock, 3),
    "reviews": Door(reviews.draw, reviews.knock, 1),
}


def knock(door: str, case: Any, folder: Path) -> str:
    """Take one case to its door; warnings of the library are no failures."""
    begin = time.monotonic(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", module="undercount|hypothesis|tests", category=UserWarning
        )
        end = DOORS[door].knock(case, folder)
    # Of a machine that has other work, only what the case itself used counts; a wait does not.
    used = min(time.monotonic() - begin[0], time.process_time() - begin[1])
    assert used < PATIENCE, f"{door} took {used:.1f} s"
    return end
