import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

import undercount as uc
from undercount.prevalence.ranks import (
    effective_sizes,
    labelled_auc,
    merged,
    on_scale,
    rank_bins,
    ranked_shares,
)

tied_scores = st.lists(st.integers(0, 6), min_size=2, max_size=30)


def counts_of(labelled, unlabeled):
    y = np.repeat([1, -1], [len(labelled), len(unlabeled)])
    return uc.ScoreCounts.from_rows(y, np.array([*labelled, *unlabeled], float), unlabeled=-1)


@settings(deadline=None, max_examples=50)
@given(tied_scores, tied_scores)
def test_ranks_are_mean_mid_ranks_of_both_samples(labelled, unlabeled):
    shares = ranked_shares(counts_of(labelled, unlabeled))
    for place, score in enumerate(np.unique([*labelled, *unlabeled])):
        each = [
            (np.mean(np.less(s, score)) + np.mean(np.less_equal(s, score))) / 2
            for s in (labelled, unlabeled)
        ]
        assert shares.rank[place] == pytest.approx(np.mean(each))


@settings(deadline=None, max_examples=50)
@given(tied_scores, tied_scores)
def test_auc_is_scikit_learns(labelled, unlabeled):
    y = np.repeat([1, 0], [len(labelled), len(unlabeled)])
    expected = roc_auc_score(y, [*labelled, *unlabeled])
    assert labelled_auc(counts_of(labelled, unlabeled)) == pytest.approx(expected)


def test_balanced_samples_have_plain_ranks():
    labelled, unlabeled = [5.0, 3.0, 1.0], [4.0, 2.0, 0.0]
    shares = ranked_shares(counts_of(labelled, unlabeled))
    assert shares.rank == pytest.approx((rankdata(range(6)) - 0.5) / 6)


def test_bins_hold_all_shares(normals):
    centre, labelled, unlabeled = rank_bins(normals, 64)
    assert labelled.sum() == pytest.approx(1)
    assert unlabeled.sum() == pytest.approx(1)
    assert np.all(np.diff(centre) >= 1 / 64 - 1e-12)


def test_merging_keeps_totals_and_nearly_the_auc(normals):
    few = merged(normals, 100)
    assert few.score.size <= 100
    assert (few.n_positive, few.n_unlabeled) == (normals.n_positive, normals.n_unlabeled)
    assert labelled_auc(few) == pytest.approx(labelled_auc(normals), abs=0.005)
    assert merged(few, 100) is few


@pytest.mark.parametrize("weight", [100.0, 0.01])
def test_merging_keeps_effective_sizes(weight):
    # Equal weights, so Kish's sizes are the numbers of rows.
    y, score = np.repeat([1, -1], [30, 70]), np.random.default_rng(0).normal(size=100)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, sample_weight=np.full(100, weight))
    few = merged(counts, 20)
    assert few.score.size <= 20
    assert effective_sizes(few) == pytest.approx((30, 70))


def test_ranks_stay_inside_zero_and_one():
    # In floating point 57 times 1/57 is 1 + 1.6e-15, and the last cell is too light to weigh.
    cells = np.append(np.ones(57), 1e-20)
    rank = ranked_shares(uc.ScoreCounts.from_counts(-np.arange(58), cells, 0 * cells, cells)).rank
    assert rank[:2] == pytest.approx([0, 0.5 / 57])
    counts = uc.ScoreCounts.from_counts(np.arange(58), cells, 0 * cells, cells)
    rank = ranked_shares(counts).rank
    assert rank == pytest.approx(np.append((np.arange(57) + 0.5) / 57, 1))
    assert rank.max() <= 1


def test_infinite_scores_need_ranks():
    counts = counts_of([np.inf, 1.0], [0.0, 2.0])
    assert on_scale(counts, "rank")[0].size == 4
    with pytest.raises(uc.InputError, match="must be finite"):
        on_scale(counts, "score")
