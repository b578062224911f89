"""The same numbers under other numbers of threads, on 32-bit scores and under other versions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.golden.results import compute

KEPT = json.loads(Path(__file__).with_name("results.json").read_text())
TOLERANCE = 1e-9


def agree(found):
    assert found.keys() == KEPT.keys()
    for name, value in KEPT.items():
        assert found[name] == pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE), name


@pytest.mark.filterwarnings("ignore")
def test_the_results_are_those_that_were_kept():
    agree(compute())


@pytest.mark.filterwarnings("ignore")
def test_scores_of_32_bits_give_the_same():
    agree(compute(np.float32))


def test_another_number_of_threads_gives_the_same():
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "3")
    found = subprocess.run(
        [sys.executable, "-m", "tests.golden.results"],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **threads},
    )
    agree(json.loads(found.stdout))
