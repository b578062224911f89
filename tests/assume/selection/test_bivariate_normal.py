"""The bivariate normal CDF against SciPy and numerical integration."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from undercount.assume.selection.bivariate_normal import binormal_cdf, log_binormal_cdf

limits = st.one_of(st.just(0.0), st.floats(-6, 6))


@settings(deadline=None, max_examples=50)
@given(limits, limits, st.floats(-0.999, 0.999))
@example(1e-210, -1e-210, 0.0)
@example(-1e-300, -1e-300, 0.5)
def test_binormal_cdf_is_scipys(x, y, r):
    expected = multivariate_normal.cdf([x, y], cov=[[1, r], [r, 1]])
    found = binormal_cdf(np.array([x]), np.array([y]), r)[0]
    assert found == pytest.approx(expected, abs=1e-10)


def test_binormal_cdf_with_infinite_limits():
    infinite = np.array([np.inf, -np.inf, np.inf])
    found = binormal_cdf(infinite, np.array([1.0, 1.0, np.inf]), 0.5)
    assert found == pytest.approx([ndtr(1.0), 0.0, 1.0])


@pytest.mark.parametrize(
    ("x", "y", "r"),
    [(-3, -4, 0.2), (-6, -5, -0.5), (-10, 3, 0.7), (-5.5, 1, -0.95), (-8, -2, 0.999)],
)
def test_tiny_probabilities_keep_their_digits(x, y, r):
    root = np.sqrt(1 - r * r)

    def integrand(t):
        return np.exp(-t * t / 2) / np.sqrt(2 * np.pi) * ndtr((y - r * t) / root)

    pieces = x - np.concatenate([[0], np.geomspace(0.01, 14, 60)])
    parts = [
        quad(integrand, low, high, epsabs=0, epsrel=1e-10)[0] for high, low in pairwise(pieces)
    ]
    found = log_binormal_cdf(np.array([float(x)]), np.array([float(y)]), np.array([r]))
    assert found[0] == pytest.approx(np.log(sum(parts)), abs=1e-6)
