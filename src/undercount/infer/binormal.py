"""The area that a few labels stand for if scores are normal, and how far down it may lie."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from undercount.curve import FloatArray, dot


def binormal_end(
    below: FloatArray, mass: FloatArray, size: float, quantile: float
) -> tuple[float, float]:
    """Return the area under the ROC curve of normal scores, and its lower end.

    Few labels of a strong score that stand above nearly all negatives show neither the positives
    that do not nor a spread, and both are missed together. On the scale on which negatives are
    normal labels have a spread all the same, and with it goes how many positives lie further down.

    Parameters
    ----------
    below : array
        Share of the negatives below each labelled row, inside (0, 1).
    mass : array
        Share that each of these rows has of all labels.
    size : float
        Effective number of labels, more than one.
    quantile : float
        How many standard errors away the end is.

    Returns
    -------
    tuple of floats
        Φ(μ/√(1 + σ²)) for positives with mean μ and variance σ² (Dorfman and Alf 1969), and the
        end by the delta method on the scale of Φ⁻¹.

    Notes
    -----
    Assumes: some increasing function of the score is normal among negatives, and among positives
    below their median.
    Wrong when: positives reach further down than that, as with Student's t or if some look like
    negatives; the end is then too high.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.binormal import binormal_end
    >>> area, end = binormal_end(np.array([0.99, 0.98, 0.9]), np.full(3, 1 / 3), 3.0, 1.96)
    >>> end < area < 0.99
    True
    """
    place = ndtri(below)
    mean = dot(mass, place)
    rising = np.argsort(place)
    half_way = np.cumsum(mass[rising]) - mass[rising] / 2
    middle = float(np.interp(0.5, half_way, place[rising]))
    # Above all negatives places are cut off, so the lower half may show the spread better.
    lower_half = 2 * dot(mass, np.minimum(place - middle, 0.0) ** 2)
    variance = max(dot(mass, (place - mean) ** 2), lower_half) * size / (size - 1)
    both = 1 + variance
    index = mean / math.sqrt(both)
    error = math.sqrt(
        variance / (size * both) + (mean * variance) ** 2 / (2 * (size - 1) * both**3)
    )
    return float(ndtr(index)), float(ndtr(index - quantile * error))
