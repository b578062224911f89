"""Bands around the rank distribution of the positives that nobody has labelled."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from undercount.curve import FloatArray
from undercount.errors import InputError, check_choice
from undercount.estimate import check_confidence_level
from undercount.theory.hidden_heads import IntArray, hidden_heads, local_level
from undercount.theory.numbers import read_numbers

Band: TypeAlias = Literal["hypergeometric", "binomial", "dkw", "bootstrap"]
BANDS = get_args(Band)
RESAMPLES = 2000  # Claesen et al. 2015, section 6.3
# A sample this many times the labels stands for an endless population.
ENDLESS = 20


@dataclass(frozen=True)
class CdfBand:
    """Hold lower and upper limits of a rank distribution, one pair a score.

    Examples
    --------
    >>> from undercount.theory.bands import cdf_band
    >>> band = cdf_band([1, 0, 1], band="dkw")
    >>> band.lower.round(3), band.upper.round(3)
    (array([0.   , 0.   , 0.04]), array([1., 1., 1.]))
    """

    lower: FloatArray
    upper: FloatArray
    local_level: float


def cdf_band(
    labelled: ArrayLike,
    *,
    n_hidden: int | None = None,
    confidence_level: float = 0.95,
    band: Band = "hypergeometric",
    simultaneous: bool = True,
    effective_size: float | None = None,
    n_resamples: int | None = None,
    random_state: Any = None,
) -> CdfBand:
    """Bound the share of the hidden positives above each score by what the labelled ones show.

    Parameters
    ----------
    labelled : array-like
        Labelled rows at each score, highest score first; scores without one may be left in.
    n_hidden : int, optional
        Number of hidden rows of the same class. The hypergeometric band needs it. The DKW band is
        wide enough for them if it is given, and for an endless population if not.
    confidence_level : float
        Level of the band: at all scores at once, or at each alone.
    band : {"hypergeometric", "binomial", "dkw", "bootstrap"}
        "hypergeometric": exact for hidden positives, with equal local levels. "binomial": what the
        bootstrap of Claesen et al. (2015, section 4.2) tends to, in closed form. "bootstrap": that
        bootstrap itself. "dkw": Dvoretzky-Kiefer-Wolfowitz, the same width everywhere.
    simultaneous : bool
        Whether the level holds at all scores at once or, as in the paper, at each alone.
    effective_size : float, optional
        Kish's effective number of labelled rows, if `labelled` holds sums of weights.
    n_resamples : int, optional
        Resamples of "bootstrap": 2,000 as in the paper, or as many as a simultaneous level needs.
    random_state : int or numpy.random.Generator, optional
        Seed of "bootstrap".

    Returns
    -------
    CdfBand
        Limits at each score, that score included.

    Notes
    -----
    Assumes: the labelled rows are a random sample of all rows of their class.
    Wrong when: some were more likely to be labelled than others. The binomial and bootstrap bands
    also ignore that the hidden rows vary themselves and have no width above the first label, so
    they do not cover the hidden rows' distribution at any simultaneous level.

    Examples
    --------
    >>> from undercount.theory.bands import cdf_band
    >>> band = cdf_band([1, 1, 0, 1, 0, 1], n_hidden=12)
    >>> (band.lower * 12).round(), (band.upper * 12).round()
    (array([0., 0., 0., 1., 1., 4.]), array([11., 12., 12., 12., 12., 12.]))
    """
    rows = _read(labelled, band)
    confidence_level = check_confidence_level(confidence_level)
    heads, total = np.cumsum(rows), float(rows.sum())
    size = round(total) if effective_size is None else max(1, int(effective_size))
    if band == "dkw":
        if not simultaneous:
            raise InputError("the DKW band is simultaneous; pass simultaneous=True or another band")
        return _dkw(heads / total, size, n_hidden, 1 - confidence_level)
    if band == "hypergeometric" and n_hidden is None:
        raise InputError("the hypergeometric band needs n_hidden, the number of hidden rows")
    level = 1 - confidence_level
    if simultaneous:
        others = ENDLESS * size if band != "hypergeometric" or n_hidden is None else n_hidden
        level = local_level(size, others, confidence_level)
    if band == "hypergeometric":
        return _hypergeometric(heads / total, size, n_hidden or 0, level)
    if band == "binomial":
        return _binomial(heads / total, size, level)
    return _bootstrap(rows, size, level, n_resamples, random_state)


def _read(labelled: ArrayLike, band: str) -> FloatArray:
    rows = read_numbers("labelled", labelled, "numbers of rows")
    if rows.ndim != 1 or not (rows >= 0).all():
        raise InputError(
            "labelled must be one non-negative number of rows a score; got an array of shape "
            f"{rows.shape} with minimum {np.min(rows, initial=0)}"
        )
    if rows.sum() == 0:
        raise InputError("a band needs at least one labelled row; got none")
    check_choice("band", band, BANDS)
    return rows


def _dkw(share: FloatArray, size: int, n_hidden: int | None, error: float) -> CdfBand:
    # Two samples of n and m differ as one of n m / (n + m) from its distribution.
    effective = float(size) if n_hidden is None else size * n_hidden / (size + n_hidden)
    margin = np.sqrt(np.log(2 / error) / (2 * effective)) if effective > 0 else 1.0
    return CdfBand(np.maximum(share - margin, 0), np.minimum(share + margin, 1), error)


def _whole(share: FloatArray, size: int) -> tuple[IntArray, IntArray]:
    """Labelled rows above each score; rounded outward where weights make them fractions."""
    heads = share * size
    return np.floor(heads + 1e-6).astype(np.int64), np.ceil(heads - 1e-6).astype(np.int64)


def _hypergeometric(share: FloatArray, size: int, n_hidden: int, level: float) -> CdfBand:
    if n_hidden == 0:
        return CdfBand(np.zeros_like(share), np.ones_like(share), level)
    least, most = hidden_heads(size, n_hidden, level)
    below, above = _whole(share, size)
    return CdfBand(least[below] / n_hidden, most[above] / n_hidden, level)


def _binomial(share: FloatArray, size: int, level: float) -> CdfBand:
    below, above = _whole(share, size)
    # One table serves both ends: the upper quantile is the mirrored lower one.
    needed = np.zeros(size + 1, dtype=bool)
    needed[below] = needed[size - above] = True
    heads = np.flatnonzero(needed)
    quantile = np.zeros(size + 1)
    quantile[heads] = _binomial_quantile(heads, size, level / 2) / size
    return CdfBand(quantile[below], (1 - quantile[::-1])[above], level)


def _binomial_quantile(heads: IntArray, size: int, tail: float) -> FloatArray:
    """Quantile of Binomial(size, heads / size): Cornish-Fisher start, then exact single steps."""
    share = heads / size
    z = special.ndtri(tail)
    spread = np.sqrt(size * share * (1 - share))
    start = heads + z * spread + (1 - 2 * share) * (z * z - 1) / 6 - 0.5
    quantile = np.clip(np.ceil(start), 0, size)
    short = np.flatnonzero(special.bdtr(quantile, size, share) < tail)
    high = np.flatnonzero((quantile > 0) & (special.bdtr(quantile - 1, size, share) >= tail))
    while len(short):
        quantile[short] += 1
        short = short[special.bdtr(quantile[short], size, share[short]) < tail]
    while len(high):
        quantile[high] -= 1
        high = high[quantile[high] > 0]
        high = high[special.bdtr(quantile[high] - 1, size, share[high]) >= tail]
    return quantile


def _bootstrap(
    rows: FloatArray, size: int, level: float, n_resamples: int | None, random_state: Any
) -> CdfBand:
    drawn = max(RESAMPLES, int(np.ceil(4 / level))) if n_resamples is None else n_resamples
    if drawn * level / 2 < 1:
        raise InputError(
            f"n_resamples must be at least {int(np.ceil(2 / level))} for this level; got {drawn}"
        )
    kept = rows > 0  # the distribution rises only where a labelled row is
    chance = rows[kept] / rows.sum()
    resampled = np.random.default_rng(random_state).multinomial(size, chance, drawn)
    lower, upper = percentile_band(np.cumsum(resampled, axis=1), level)
    place = np.cumsum(kept)
    ends = [np.append(0.0, limit)[place] / size for limit in (lower, upper)]
    return CdfBand(ends[0], ends[1], level)


def percentile_band(heads: ArrayLike, level: float) -> tuple[FloatArray, FloatArray]:
    """Read the two order statistics of resampled heads (resamples × scores) that bound `level`."""
    resampled = np.asarray(heads, dtype=np.float64)
    first = int(len(resampled) * level / 2 + 1e-9)
    last = min(len(resampled) - first, len(resampled) - 1)
    ordered = np.partition(resampled, (first, last), axis=0)
    return ordered[first], ordered[last]
