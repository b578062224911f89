"""The share of positives if positives and negatives were normal on one common scale."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from undercount.prevalence.ranks import Array

# Shares of labelled rows, from the top, that cut the scores into bins.
HIGH = (0.005, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2)
LOW = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99)
CUTS = np.array(HIGH + LOW)
SHARES = np.linspace(0.01, 0.99, 50)
DISTANCES = np.linspace(0.3, 5.5, 27)
SPREADS = np.exp(np.linspace(-1.1, 1.1, 12))
FLOOR = 1e-9


def binormal_share(above: Array, n_effective: float) -> tuple[float, float]:
    """Return mean and standard deviation of the share under a binormal ROC, on a flat grid.

    On the scale that makes the labelled scores normal, the negatives are taken as normal with
    unknown mean and spread; the posterior of the share then is a sum over a fixed grid.

    Parameters
    ----------
    above : ndarray
        Shares of the unlabeled rows above each of `CUTS`.
    n_effective : float
        Rows the shares count for.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import ndtr, ndtri
    >>> from undercount.prevalence.binormal import CUTS, binormal_share
    >>> mean, error = binormal_share(0.3 * CUTS + 0.7 * ndtr(ndtri(CUTS) - 2), 1000)
    >>> round(mean, 1), error < 0.1
    (0.3, True)
    """
    weight = np.maximum(np.diff(above, prepend=0.0, append=1.0), 0)
    fit = n_effective * (_log_chances() @ weight)
    posterior = np.exp(fit - fit.max()).reshape(SHARES.size, -1).sum(axis=1)
    posterior /= posterior.sum()
    mean = float(posterior @ SHARES)
    return mean, float(np.sqrt(posterior @ (SHARES - mean) ** 2))


@cache
def _log_chances() -> Array:
    """Return the log chance of each bin for each share, distance and spread (shares first)."""
    edge = ndtri(1 - CUTS)
    distance, spread = (each.ravel()[:, None] for each in np.meshgrid(DISTANCES, SPREADS))
    negative = ndtr(-(edge + distance) / spread)
    chance = SHARES[:, None, None] * CUTS + (1 - SHARES[:, None, None]) * negative
    bins = np.diff(chance, axis=-1, prepend=0.0, append=1.0)
    return np.asarray(np.log(np.maximum(bins, FLOOR))).reshape(-1, CUTS.size + 1)
