"""Tables add up: a commutative monoid, and parts counted apart are the whole (29).

Everything that is read from a table inherits this; order, repetition and weights of rows are laws
of each metric (`test_metric_laws.py`).
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc

EXACT = {"rel": 1e-12, "abs": 1e-12}
law = settings(deadline=None, max_examples=40)
EMPTY = uc.ScoreCounts.from_counts([], [], [], [])


@st.composite
def rows(draw):
    n_rows = draw(st.integers(1, 25))
    y = draw(st.lists(st.sampled_from([1.0, 0.0, np.nan]), min_size=n_rows, max_size=n_rows))
    tied = st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows)
    score = draw(tied | st.permutations(range(n_rows)))
    weight = None
    if draw(st.booleans()):
        weight = np.array(draw(st.lists(st.floats(0.1, 3), min_size=n_rows, max_size=n_rows)))
    return np.array(y), np.array(score, dtype=float), weight


def count(y, score, weight):
    return uc.ScoreCounts.from_rows(y, score, sample_weight=weight)


def same(one, other):
    assert np.array_equal(one.score, other.score)
    for name in ("positive", "negative", "unlabeled"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), **EXACT)
    assert one.squared_weight == pytest.approx(other.squared_weight, **EXACT)


@law
@given(rows(), rows(), rows())
def test_29_counts_are_a_commutative_monoid(first, second, third):
    a, b, c = count(*first), count(*second), count(*third)
    same(a + b, b + a)
    same((a + b) + c, a + (b + c))
    same(a + EMPTY, a)
    same(EMPTY + a, a)


@law
@given(rows(), st.integers(2, 4), st.randoms(use_true_random=False))
def test_29_counting_parts_and_adding_is_counting_all(data, n_parts, random):
    part = np.array([random.randrange(n_parts) for _ in data[0]])
    total = EMPTY
    for k in range(n_parts):
        if (part == k).any():
            total = total + count(
                *(None if column is None else column[part == k] for column in data)
            )
    same(total, count(*data))
