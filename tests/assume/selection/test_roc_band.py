"""Confidence bands of the ROC curve of all rows."""

import numpy as np
import pytest

from undercount.assume.selection.roc_band import BAND_FPR, _bounds
from undercount.curve import OperatingCurve

METHODS = ["own-score", "observed-score", "begg-greenes", "ipw", "doubly-robust"]


@pytest.mark.parametrize("method", [*METHODS, "unobserved"])
def test_band_contains_the_curve_and_rises(fitted, method):
    model = fitted(method)
    band = model.band()
    grid = band.pessimistic.fpr[2:-2]
    middle = np.clip(np.interp(grid, model.curve.fpr, model.curve.tpr), 0, 1)
    assert np.all(band.pessimistic.tpr[2:-2] <= middle + 1e-9)
    assert np.all(band.optimistic.tpr[2:-2] >= middle - 1e-9)
    for curve in (band.pessimistic, band.optimistic):
        assert np.all(np.diff(curve.tpr) >= -1e-12)
        assert (curve.tpr[0], curve.tpr[-1]) == (0.0, 1.0)


def test_limits_of_a_point_hold_of_points_beside_it():
    """Of a curve that rises, each point is at least as high as those to its left."""
    curve = OperatingCurve([np.inf, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.5, 1.0], 0.5)
    tpr, low, high = BAND_FPR.copy(), BAND_FPR - 0.1, BAND_FPR + 0.1
    low[40:50], high[20:30] = 0.0, 1.0  # points of which little is known by themselves
    band = _bounds(curve, tpr, low, high)
    assert band.pessimistic.tpr[2 + 45] == pytest.approx(low[39])
    assert band.optimistic.tpr[2 + 25] == pytest.approx(high[30])
    assert band.pessimistic.tpr[2 + 60] == pytest.approx(low[60])
