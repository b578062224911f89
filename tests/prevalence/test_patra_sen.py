import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import PatraSen
from undercount.prevalence.patra_sen import distances


def test_published_value(published):
    found = PatraSen(n_resamples=0).fit(published.counts).unlabeled_prevalence_
    assert found == pytest.approx(published.values["C_PatraSen_port"], abs=1e-9)


def test_distance_by_hand():
    # Unlabeled at 1 and 2, half each; labelled all at 1. With all rows negative the curve is the
    # empirical CDF itself; with half of them it is (.5 - .5, 1 - .5) / .5 = (0, 1): both are CDFs.
    # With a quarter: (.5 - .75, 1 - .75) / .25 = (-1, 1), off by 1 at half of the rows.
    found = distances(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([0.25, 0.5, 1.0]))
    assert found == pytest.approx([0.25 * np.sqrt(0.5), 0, 0])


def test_upper_bound_lies_above_the_estimate(normals):
    found = PatraSen(n_resamples=0).fit(normals)
    assert 0.3 < found.upper_bound_ < 0.6


def test_too_coarse_grid_is_refused(normals):
    with pytest.raises(uc.InputError, match="n_steps must be at least 3"):
        PatraSen(n_steps=2).fit(normals)
