"""Slopes by the prevalence, and the prevalence that labels of both classes reveal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.shares import Shares
from undercount.theory.wrong_prevalence import identified_prevalence, prevalence_slopes

rows = st.lists(st.integers(0, 5), min_size=6, max_size=6).filter(any)


@settings(deadline=None, max_examples=40)
@given(positive=rows, negative=rows, share=st.integers(1, 9))
def test_the_prevalence_is_identified_from_both_kinds_of_label(positive, negative, share):
    upper, lower = np.array(positive) / sum(positive), np.array(negative) / sum(negative)
    mixed = share / 10 * upper + (1 - share / 10) * lower
    counts = ScoreCounts.from_counts(np.arange(6, 0, -1), positive, negative, mixed)
    above = np.cumsum(upper) - upper / 2
    if abs(np.sum(above * lower) - 0.5) < 1e-6:
        return
    assert identified_prevalence(counts) == pytest.approx(share / 10, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: prevalence_slopes(ScoreCounts.from_rows([1, None], [1, 2]), Shares(0.5), [0.5]),
            "one value a distinct score, 2",
        ),
        (
            lambda: identified_prevalence(ScoreCounts.from_rows([1, None], [1, 2])),
            "labelled negative",
        ),
        (
            lambda: identified_prevalence(ScoreCounts.from_rows([1, 0, None], [1, 1, 2])),
            "not identified",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
