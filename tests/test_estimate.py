"""Ends of intervals that are but a point, and what an estimate says of itself."""

import math

import pytest

import undercount as uc
from undercount.estimate import round_outward


def test_a_point_holds_what_its_sums_round_to() -> None:
    # 0.1 added up ten times is not 1, nor are the thirds of a whole.
    for total, truth in ((sum([0.1] * 10), 1.0), (0.1 + 0.2, 0.3), (1 - 2 / 3, 1 / 3)):
        assert total != truth
        low, high = round_outward(total, total)
        assert low < truth < high
        assert high - low < 1e-11


def test_what_is_no_point_stays() -> None:
    assert round_outward(0.2, 0.2 + 1e-8) == (0.2, 0.2 + 1e-8)
    assert all(map(math.isnan, round_outward(math.nan, math.nan)))
    assert round_outward(-math.inf, math.inf) == (-math.inf, math.inf)


def test_a_point_stays_inside_the_range_of_its_metric() -> None:
    assert round_outward(1.0, 1.0, 0.0, 1.0)[1] == 1.0
    assert round_outward(0.0, 0.0, 0.0, 1.0)[0] == 0.0


@pytest.mark.parametrize("error", [0.0, math.nan])
def test_no_standard_error_is_shown_where_there_is_none(error: float) -> None:
    shown = repr(uc.Estimate(0.5, 0.5, 0.5, error))
    assert "standard_error" not in shown
    assert "value=0.5" in shown
    assert "standard_error=0.02" in repr(uc.Estimate(0.5, 0.46, 0.54, 0.02))
