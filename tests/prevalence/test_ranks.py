import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

import undercount as uc
from undercount.prevalence.ranks import merge_cells, on_scale, rank_shares, split_merged_cells
from undercount.prevalence.upper_bound import effective_sizes

tied_scores = st.lists(st.integers(0, 6), min_size=2, max_size=30)


def counts_of(labelled, unlabeled):
    y = np.repeat([1, -1], [len(labelled), len(unlabeled)])
    return uc.ScoreCounts.from_rows(y, np.array([*labelled, *unlabeled], float), unlabeled=-1)


@settings(deadline=None, max_examples=50)
@given(tied_scores, tied_scores)
def test_ranks_are_mean_mid_ranks_of_both_samples(labelled, unlabeled):
    shares = rank_shares(counts_of(labelled, unlabeled))
    for place, score in enumerate(np.unique([*labelled, *unlabeled])):
        each = [
            (np.mean(np.less(s, score)) + np.mean(np.less_equal(s, score))) / 2
            for s in (labelled, unlabeled)
        ]
        assert shares.rank[place] == pytest.approx(np.mean(each))


def test_balanced_samples_have_plain_ranks():
    labelled, unlabeled = [5.0, 3.0, 1.0], [4.0, 2.0, 0.0]
    shares = rank_shares(counts_of(labelled, unlabeled))
    assert shares.rank == pytest.approx((rankdata(range(6)) - 0.5) / 6)


def test_merging_keeps_totals_and_nearly_the_auc(normals):
    few = merge_cells(normals, 100)
    assert few.score.size <= 100
    assert (few.n_positive, few.n_unlabeled) == (normals.n_positive, normals.n_unlabeled)
    assert few.auc("positive", "unlabeled") == pytest.approx(
        normals.auc("positive", "unlabeled"), abs=0.005
    )
    assert merge_cells(few, 100) is few


@pytest.mark.parametrize("weight", [100.0, 0.01])
def test_merging_keeps_effective_sizes(weight):
    # Equal weights, so Kish's sizes are the numbers of rows.
    y, score = np.repeat([1, -1], [30, 70]), np.random.default_rng(0).normal(size=100)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, sample_weight=np.full(100, weight))
    few = merge_cells(counts, 20)
    assert few.score.size <= 20
    assert effective_sizes(few) == pytest.approx((30, 70))


def test_ranks_stay_inside_zero_and_one():
    # In floating point 57 times 1/57 is 1 + 1.6e-15, and the last cell is too light to weigh.
    cells = np.append(np.ones(57), 1e-20)
    rank = rank_shares(uc.ScoreCounts.from_counts(-np.arange(58), cells, 0 * cells, cells)).rank
    assert rank[:2] == pytest.approx([0, 0.5 / 57])
    counts = uc.ScoreCounts.from_counts(np.arange(58), cells, 0 * cells, cells)
    rank = rank_shares(counts).rank
    assert rank == pytest.approx(np.append((np.arange(57) + 0.5) / 57, 1))
    assert rank.max() <= 1


def test_infinite_scores_need_ranks():
    counts = counts_of([np.inf, 1.0], [0.0, 2.0])
    assert on_scale(counts, "rank")[0].size == 4
    with pytest.raises(uc.InputError, match="must be finite"):
        on_scale(counts, "score")


def test_ranks_come_back_exactly():
    rng = np.random.default_rng(0)
    y, score = np.repeat([1, -1], [20, 500]), rng.normal(size=520)
    full = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    compact = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
    found, expected = rank_shares(split_merged_cells(compact)), rank_shares(full)
    assert np.allclose(found.rank, expected.rank, atol=1e-12)
    assert np.allclose(found.unlabeled, expected.unlabeled, atol=1e-12)


def test_full_counts_come_back_themselves(normals):
    assert split_merged_cells(normals) is normals


def test_infinite_scores_and_totals():
    y = [1, -1, -1, -1, 1, -1, -1]
    score = [5, np.inf, 7, 6, 3, -np.inf, 1]
    compact = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
    found = split_merged_cells(compact)
    assert (found.n_positive, found.n_unlabeled) == (2, 5)
    assert found.unlabeled[found.score > 5].sum() == 3
