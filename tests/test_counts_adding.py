"""Adding tables of parts: as good as counting all rows at once, or refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc


def test_a_label_at_the_low_end_of_a_merged_cell_is_refused_on_equal_grids():
    # Both tables have the scores .9 and .5, but on the left .5 stands for .5 and .7.
    left = uc.ScoreCounts.from_rows([None, None, 1], [0.5, 0.7, 0.9], compact=True)
    right = uc.ScoreCounts.from_rows([1, 1], [0.9, 0.5], compact=True)
    assert np.array_equal(left.score, right.score)
    for one, other in ((left, right), (right, left)):
        with pytest.raises(uc.InputError, match=r"count the parts with compact=False$"):
            _ = one + other


def test_parts_merged_alike_add_cell_by_cell():
    y, score = [1, None, None, None, 1], [9, 7, 6, 5, 1]
    part = uc.ScoreCounts.from_rows(y, score, compact=True)
    total = part + part
    assert total.unlabeled.tolist() == [0, 6, 0]
    assert total.positive.tolist() == [2, 0, 2]
    assert total.auc_error == 0


def test_a_threshold_that_all_parts_kept_can_be_asked_of_their_sum():
    y, score = [1, None, None, None, 1], [9, 6, 5, 4, 1]
    left = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[5.5])
    right = uc.ScoreCounts.from_rows([1, None, 1], [9, 5.2, 1], compact=True, knots=[5.5])
    curve = uc.naive_curve(left + right)
    # Of the four unlabeled rows only that with score 6 is flagged, of four labelled ones two.
    assert (curve.at(5.5).fpr, curve.at(5.5).tpr) == (1 / 4, 1 / 2)
    with pytest.raises(uc.InputError, match="merged cell"):
        curve.at(4.5)


def test_rows_inside_a_coarse_cell_widen_its_guarantee():
    # Both positives are above both unlabeled rows, but of the left one cell is left.
    left = uc.ScoreCounts.from_rows([1, 1, None], [0.9, 0.8, 0.5]).coarsened(1)
    total = left + uc.ScoreCounts.from_rows([None], [0.7])
    assert abs(uc.naive_curve(total).roc_auc - 1) <= total.auc_error


@st.composite
def part(draw):
    size = draw(st.integers(1, 8))
    score = np.array(draw(st.lists(st.integers(0, 8), min_size=size, max_size=size)), float)
    y = draw(st.lists(st.sampled_from([1.0, np.nan, np.nan, 0.0]), min_size=size, max_size=size))
    knots = draw(st.lists(st.integers(0, 8), max_size=3))
    kind = draw(st.sampled_from(["full", "compact", "compact", "coarse"]))
    counts = uc.ScoreCounts.from_rows(y, score, compact=kind == "compact", knots=knots)
    if kind == "coarse":
        counts = counts.coarsened(draw(st.integers(1, 4)))
    return np.array(y), score, counts


@settings(deadline=None, max_examples=50)
@given(part(), part())
def test_a_sum_says_what_counting_all_says_or_nothing(first, second):
    # Rows that every table can place: one of each kind above all others.
    ends = uc.ScoreCounts.from_rows([1, None], [99, 98])
    try:
        total = first[2] + second[2] + ends
    except uc.InputError:
        return
    y = np.concatenate([first[0], second[0], [1, np.nan]])
    score = np.concatenate([first[1], second[1], [99, 98]])
    positive, others = score[y == 1], score[y != 1]
    pairs = (positive[:, None] > others) + 0.5 * (positive[:, None] == others)
    assert abs(uc.naive_curve(total).roc_auc - pairs.mean()) <= total.auc_error + 1e-12
    for threshold in np.arange(-0.5, 9, 0.5):
        try:
            point = uc.naive_curve(total).at(threshold)
        except uc.InputError:
            continue
        assert point.tpr == pytest.approx(np.mean(positive >= threshold))
        assert point.fpr == pytest.approx(np.mean(others >= threshold))
