import numpy as np
import pytest

import undercount as uc
from undercount.learn.rows import check_sizes, draw_folds, read_classes


@pytest.mark.parametrize(
    ("y", "classes", "labelled"),
    [
        ([1, -1], [-1, 1], [True, False]),
        ([1, 0], [0, 1], [True, False]),
        ([True, False], [False, True], [True, False]),
        (["no", "yes"], ["no", "yes"], [False, True]),
    ],
)
def test_the_last_label_is_positive(y, classes, labelled):
    found = read_classes(y, 2)
    assert found[0].tolist() == classes
    assert found[1].tolist() == labelled


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, -1, 0], "write -1 for known negatives"),
        ([1, 1, 1], "got 1 class: 1"),
        ([1, 2, 3], "got 3 classes: 1, 2, 3"),
        ([0, -1, -1], "must hold the positive label 1; got only -1 and 0"),
        ([1, np.nan, 1], "contains NaN or None. Write 1 for positive and -1 for unlabeled"),
        (np.array([1, None, 1], object), "contains NaN or None"),
        ([1, np.inf, 1], "contains infinity"),
        ([1, -1], "same length; got 3 and 2 rows"),
        (None, "requires y"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(uc.InputError, match=message):
        read_classes(y, 3)


def test_bad_weights():
    labelled = np.array([True, True, False, False])
    with pytest.raises(uc.InputError, match="must not be negative; got -1"):
        check_sizes(labelled, np.array([1.0, 1.0, -1.0, 1.0]))
    with pytest.raises(uc.InputError, match="got 2 positive and 1 unlabeled"):
        check_sizes(labelled[:3], np.ones(3))


def test_folds_are_even():
    fold = draw_folds(np.arange(103) < 23, 5, np.random.default_rng(0))
    assert np.ptp(np.bincount(fold[:23])) <= 1
    assert np.ptp(np.bincount(fold[23:])) <= 1
