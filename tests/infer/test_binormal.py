"""The area of normal scores from a few places among the negatives."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from undercount.infer.binormal import binormal_end


@pytest.mark.parametrize(("mean", "spread"), [(2.5, 1.0), (1.0, 0.6), (2.0, 1.4), (-0.5, 1.0)])
def test_many_normal_labels_have_the_area_of_their_distribution(mean, spread):
    place = mean + spread * ndtri((np.arange(20_000) + 0.5) / 20_000)
    area, end = binormal_end(ndtr(place), np.full(20_000, 1 / 20_000), 20_000.0, 0.0)
    assert area == end == pytest.approx(float(ndtr(mean / np.hypot(1, spread))), abs=2e-5)


def test_places_cut_off_above_all_negatives_lose_no_spread():
    place = 2.5 + ndtri((np.arange(20_000) + 0.5) / 20_000)
    mass = np.full(20_000, 1 / 20_000)
    whole, cut = (binormal_end(ndtr(p), mass, 2e4, 0.0)[0] for p in (place, np.minimum(place, 3)))
    plain = float(ndtr(np.minimum(place, 3).mean() / np.hypot(1, np.minimum(place, 3).std())))
    # A lower mean makes the area smaller, the lost spread larger by more than that.
    assert cut < whole < plain


def test_the_end_is_as_far_as_areas_of_samples_vary():
    rng = np.random.default_rng(0)
    mass = np.full(200, 1 / 200)
    found = [binormal_end(ndtr(rng.normal(2, 1, 200)), mass, 200.0, 1.0) for _ in range(1500)]
    areas, ends = ndtri(np.array(found)).T
    # The spread is the larger of two, which varies a little more than either.
    assert np.std(areas) == pytest.approx(np.mean(areas - ends), rel=0.15)


def test_rows_alike_have_their_own_place():
    area, end = binormal_end(np.full(3, 0.9), np.full(3, 1 / 3), 3.0, 1.96)
    assert area == end == pytest.approx(0.9, abs=1e-12)
