"""What weights and clusters say nothing of is left out where rows are counted."""

import numpy as np
import pytest

import undercount as uc
from undercount.errors import MISSING_DATA
from undercount.infer.scored_rows import ScoredRows, count_model

Y, SCORE = [1, 1, 0, 0, 0, 0], [6.0, 5, 5, 3, 2, 1]


def model(weight=None, **more):
    options = {"threshold": None, "compact": False, **more}
    return count_model(Y, SCORE, 0, weight, **options)


@pytest.mark.parametrize("weight", [0.1, 1.0, 7.0])
def test_equal_weights_are_none(weight):
    plain, found = model(), model(np.full(6, weight))
    assert not found.counts.weighted
    assert found.recount.weights is None
    assert found.counts.positive.tolist() == plain.counts.positive.tolist()
    rows = uc.ScoreCounts.from_rows(Y, SCORE, unlabeled=0, sample_weight=np.full(6, weight))
    counted = ScoredRows.of_counts(rows, None).counts
    assert not counted.weighted
    assert counted.unlabeled.tolist() == plain.counts.unlabeled.tolist()


def test_other_weights_stay():
    weight = np.array([1.0, 1, 1, 1, 1, 2])
    assert model(weight).counts.weighted
    rows = uc.ScoreCounts.from_rows(Y, SCORE, unlabeled=0, sample_weight=weight)
    assert ScoredRows.of_counts(rows, None).counts is rows


def test_sums_of_weights_alone_do_not_say_whether_they_are_equal():
    counts = uc.ScoreCounts.from_counts([2, 1], [4, 0], [0, 0], [0, 8], squared_weight=(8, 0, 16))
    assert ScoredRows.of_counts(counts, None).counts is counts


def test_rows_that_are_a_cluster_each_are_independent():
    assert model().with_clusters(np.arange(6)).clusters is None
    assert model().with_clusters(list("abcdef")).clusters is None
    assert model().with_clusters([1, 1, 2, 3, 4, 5]).clusters.n_clusters == 5


@pytest.mark.filterwarnings("ignore:the oldest rows")  # two labels say little of delays
@pytest.mark.parametrize(
    ("argument", "assume"),
    [
        ("chance", uc.LabelPropensity(np.full(6, 0.5))),
        ("found", uc.DelayedLabels(np.zeros(6), [1, 2, *[np.nan] * 4], until=900)),
    ],
)
def test_counts_alone_lack_the_rows_that_columns_are_of(argument, assume):
    counts = uc.ScoreCounts.from_rows(Y, SCORE, unlabeled=0)
    with pytest.raises(uc.InputError, match="do not say which rows they are of") as refusal:
        uc.evaluate(counts, assume=assume)
    assert (refusal.value.code, refusal.value.argument) == (MISSING_DATA, argument)
