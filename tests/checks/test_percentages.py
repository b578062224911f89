"""Percentages are rounded so that what is said of them stays true."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercount.checks.percentages import percent, percents_beside

SHARES = st.floats(1e-4, 0.9999)


def read(text):
    return float(text.removesuffix(" %")) / 100


@given(SHARES, SHARES, st.sampled_from(["least", "most", "above", ""]), st.booleans())
def test_a_share_stays_on_its_side_of_an_end(share, end, kind, was_given):
    (shown,), (said,) = percents_beside([share], [(end, kind)], given=was_given)
    if abs(share - end) < 1e-9:
        return
    if kind == "least":
        assert (share >= end) == (read(shown) >= read(said))
        assert read(said) >= end - 1e-11
    elif kind in ("most", "above"):
        assert (share <= end) == (read(shown) <= read(said))
        assert read(said) <= end + 1e-11 if kind == "most" else read(said) >= end - 1e-11
    else:
        assert (share < end) == (read(shown) < read(said))


@given(SHARES)
def test_nothing_rounds_to_all(share):
    assert read(percent(share)) < 1
    assert len(re.sub(r"^0\.|[^0-9]", "", percent(share))) <= max(3, 12 * (share > 0.995))


@pytest.mark.parametrize(
    ("share", "end", "said"),
    [
        # A claim that holds at the share given was said to hold "if 24 %" and from "25 %" on.
        (0.242, 0.2406, ("24.2 %", "24.1 %")),
        (0.33335, 0.3318, ("33.3 %", "33.2 %")),
        (0.5, 0.31, ("50 %", "31 %")),
        (0.07, 0.0561, ("7.0 %", "5.7 %")),
    ],
)
def test_the_least_share_is_rounded_up_beside_the_one_given(share, end, said):
    (shown,), (least,) = percents_beside([share], [(end, "least")], given=True)
    assert (shown, least) == said
