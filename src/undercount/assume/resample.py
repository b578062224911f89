"""Bootstrap of a selection model: refit on rows drawn with replacement."""

from collections.abc import Callable

import numpy as np

from undercount.assume.spread import Reader, Span
from undercount.errors import InputError
from undercount.rates import FloatArray

FEWEST = 20
# So many resamples must have a maximum; else the data are too thin for the model.
ENOUGH = 0.8


def bootstrap_span(
    refit: Callable[[FloatArray], Reader],
    weight: FloatArray,
    read: Callable[[Reader], float],
    value: float,
    level: float,
    n_resamples: int,
    random_state: int | np.random.Generator | None,
) -> Span:
    """Percentile interval of a metric over refitted resamples.

    Parameters
    ----------
    refit : callable
        From weights of the rows to a reader.
    weight : array
        How many rows each row stands for.
    read : callable
        From a reader to the metric.
    value : float
        The metric on the data themselves.
    level : float
        Confidence level.
    n_resamples : int
        How often to resample.
    random_state : int, generator or None
        Seed.
    """
    if n_resamples < FEWEST:
        raise InputError(f"n_resamples must be at least {FEWEST}; got {n_resamples}")
    generator = np.random.default_rng(random_state)
    total = round(float(weight.sum()))
    found = []
    for _ in range(n_resamples):
        drawn = generator.multinomial(total, weight / weight.sum()).astype(float)
        try:
            found.append(read(refit(drawn)))
        except InputError:  # a resample without one class, or separated
            continue
    if len(found) < ENOUGH * n_resamples:
        raise InputError(
            f"only {len(found)} of {n_resamples} resamples could be fitted; too few labels for a "
            "bootstrap. Use method='delta' or look at more rows"
        )
    tail = (1 - level) / 2
    low, high = (float(end) for end in np.quantile(found, [tail, 1 - tail]))
    return Span(value, min(low, value), max(high, value), float(np.std(found)))
