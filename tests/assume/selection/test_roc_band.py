"""Confidence bands of the ROC curve of all rows."""

import numpy as np
import pytest

METHODS = ["own-score", "observed-score", "begg-greenes", "ipw", "doubly-robust"]


@pytest.mark.parametrize("method", [*METHODS, "unobserved"])
def test_band_contains_the_curve_and_a_simultaneous_one_is_wider(fitted, method):
    model = fitted(method)
    band, point = model.band(), model.band(simultaneous=False)
    grid = band.pessimistic.fpr[2:-2]
    middle = np.clip(np.interp(grid, model.curve.fpr, model.curve.tpr), 0, 1)
    assert np.all(band.pessimistic.tpr[2:-2] <= middle + 1e-9)
    assert np.all(band.optimistic.tpr[2:-2] >= middle - 1e-9)
    assert band.roc_auc.width >= point.roc_auc.width
    for curve in (band.pessimistic, band.optimistic):
        assert np.all(np.diff(curve.tpr) >= -1e-12)
        assert (curve.tpr[0], curve.tpr[-1]) == (0.0, 1.0)
