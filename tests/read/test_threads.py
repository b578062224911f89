"""Evaluations on several threads: the checks of one never reach another, nor the filters."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import undercount as uc


def evaluated(seed):
    """An evaluation with checks of its own: few labels, 0/0, a share that hardly fits."""
    rng = np.random.default_rng(seed)
    truth = rng.random(300) < 0.2
    y = np.where(truth & (rng.random(300) < 0.15 + 0.2 * (seed % 3)), 1.0, np.nan)
    y[:2] = 1.0, np.nan
    score = rng.normal((1 + seed % 4) * truth)
    threshold = (1.0, 50.0, None)[seed % 3]
    try:
        return uc.evaluate(y, score, prevalence=0.22, threshold=threshold).to_json()
    except uc.InputError as error:
        return str(error)


def test_threads_find_what_one_thread_finds_and_leave_the_filters():
    seeds = range(200)
    alone = [evaluated(seed) for seed in seeds]
    assert sum('"UC012"' in found for found in alone) > 20
    filters = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(evaluated, seeds))
    assert together == alone
    assert warnings.filters == filters
